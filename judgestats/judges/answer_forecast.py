"""Answers that are not there yet: their price, and what stands in for them in a dry run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgestats.items.schema import Item, Response
from judgestats.judges.answer_plan import AnswerPlan, answer_task
from judgestats.judges.ask import Ask
from judgestats.judges.journal import Journal
from judgestats.judges.journal_view import journal_view
from judgestats.judges.plan import PricePlan, price_plan
from judgestats.judges.request import Encoded, Sampling, judgment_keys
from judgestats.protocols.base import ReplyMode

ANSWER_TOKENS = (30, 700)
"""An answer's tokens in the low and the high estimate of a price."""
_FORESEEN_CHARACTERS = 1200
"""Of an answer that is not there yet: some 300 tokens."""


def price_answers(
    items: Sequence[Item],
    plan: AnswerPlan,
    ask: Ask | None = None,
    **options: Any,
) -> PricePlan:
    """Calls, tokens and price range of `collect_answers`; sends nothing.

    A later turn's request holds the earlier answers: where the journal has them they are counted as
    they are, else as 300 tokens each.

    Parameters
    ----------
    items : sequence of Item
    plan : AnswerPlan
    ask : Ask, optional
        As `collect_answers` takes it.
    **options
        Fields of `judgestats.judges.ask.Ask` that replace those of `ask`.

    Returns
    -------
    PricePlan
    """
    ask = Ask.of(ask, **options)
    tasks = []
    for voice, item, answers in _answers_held(items, plan, ask.journal):
        turns = [*answers, *[_foreseen(voice[0])] * len(item.turns)]
        tasks += [
            answer_task(plan, item, *voice, answers=tuple(turns[:turn]))
            for turn in range(len(item.turns))
        ]
    price = price_plan(
        tasks,
        ask,
        judges=dict(plan.answerers),
        seed=plan.seed,
        settings=plan.settings,
        reply_mode=ReplyMode.TEXT,
        reply_tokens=ANSWER_TOKENS,
    )
    return replace(price, what=("model", "answers"))


def foreseen_answers(
    items: Sequence[Item], plan: AnswerPlan, *, journal: str | Path | None = None
) -> tuple[Item, ...]:
    """Items with the answers that the journal holds, and with a stand-in for every other.

    With them a design can be checked and its judgments priced before anybody has answered.

    Parameters
    ----------
    items : sequence of Item
    plan : AnswerPlan
    journal : path or None

    Returns
    -------
    tuple of Item

    Examples
    --------
    >>> question = Item(id="q", cluster="q", turns=("2+2?",), responses=())
    >>> [item] = foreseen_answers([question], AnswerPlan.of(["sim-answerer-2"]))
    >>> item.responses[0].author, len(item.responses[0].text)
    ('sim-answerer-2', 1200)
    """
    voices = plan.voices
    answered: dict[str, list[Response]] = {item.id: [] for item in items}
    for voice, item, answers in _answers_held(items, plan, journal):
        author = voices[voice]
        turns = (*answers, *[_foreseen(author)] * (len(item.turns) - len(answers)))
        answered[item.id].append(Response(turns=turns, author=author))
    return tuple(replace(i, responses=tuple(answered[i.id]), labels=()) for i in items)


def _answers_held(
    items: Sequence[Item], plan: AnswerPlan, journal: Journal | str | Path | None
) -> Iterator[tuple[tuple[str, float | None, int], Item, tuple[str, ...]]]:
    """For every voice and item, the answers to its turns that the journal holds."""
    sampling = Sampling(seed=plan.seed, settings=plan.settings)
    with journal_view(journal) as journal_now:
        for voice in plan.voices:
            spec = plan.answerers[voice[0]]
            for item in items:
                answers: list[str] = []
                for _ in item.turns:
                    task = answer_task(plan, item, *voice, answers=tuple(answers))
                    encoded = Encoded(task.build(ReplyMode.TEXT))
                    stored = journal_now.get(judgment_keys(spec, [task], encoded, sampling)[0])
                    if stored is None:
                        break
                    answers.append(stored.text)
                yield voice, item, tuple(answers)


def _foreseen(author: str) -> str:
    words = f"(the answer of {author}, not given yet) "
    return (words * (_FORESEEN_CHARACTERS // len(words) + 1))[:_FORESEEN_CHARACTERS]
