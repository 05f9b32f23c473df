"""Answers of models: who answers what, and at what price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.collection.account import Collected
from judgestats.collection.ask import CollectionRequest
from judgestats.collection.journal import Journal, journal_view
from judgestats.collection.plan import price_plan
from judgestats.collection.prices import PricePlan
from judgestats.collection.request import Encoded, Sampling, judgment_keys
from judgestats.collection.single_answers import collect_judgments
from judgestats.collection.spec import JudgeSpec, parse_judge
from judgestats.data.columns import Condition, Task, label
from judgestats.errors import InputError
from judgestats.items.records import Item, Response
from judgestats.protocols.base import ReplyMode
from judgestats.protocols.explained import AnswerPrompt, answer_status

_STAGE = "answer"


@dataclass(frozen=True, kw_only=True)
class AnswerPlan:
    """Who answers, how hot, how often, and how it is asked.

    Attributes
    ----------
    answerers : mapping of str to JudgeSpec
        Models by name, as `parse_judge` reads them (`AnswerPlan.from_names` does it).
    temperatures : tuple of float or None
        Every model answers every item once at each of them, or `samples` times.
    samples : int
    protocol : AnswerPrompt
    settings, seed
        As in `collect`.
    """

    answerers: Mapping[str, JudgeSpec]
    temperatures: tuple[float | None, ...] = (0.75,)
    samples: int = 1
    protocol: AnswerPrompt
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        if not self.answerers or not self.temperatures or self.samples < 1:
            got = f"{len(self.answerers)}, {len(self.temperatures)} and {self.samples}"
            needed = "at least one model, one temperature and one sample"
            raise InputError(f"answerers: a plan needs {needed}, got {got}.")

    @property
    def foreseen_tokens(self) -> int:
        """Tokens of an answer that is not there yet, as a price counts them."""
        return min(_FORESEEN_TOKENS, self.settings.get("max_tokens") or _FORESEEN_TOKENS)

    @classmethod
    def from_names(
        cls,
        answerers: Iterable[str],
        *,
        base_url: str | None = None,
        environ: Mapping[str, str] | None = None,
        protocol: AnswerPrompt | None = None,
        **options: Any,
    ) -> AnswerPlan:
        """The plan for models by name (``m``, ``m@http://host/v1``, ``sim-answerer-1``).

        Examples
        --------
        >>> AnswerPlan.from_names(["sim-answerer-1"], temperatures=(0.2, 1.0)).authors
        ('sim-answerer-1, T=0.2', 'sim-answerer-1, T=1')
        """
        specs = {
            name: parse_judge(name, base_url=base_url, environ=environ, answers=True)
            for name in answerers
        }
        return cls(answerers=specs, protocol=protocol or AnswerPrompt(), **options)

    @property
    def voices(self) -> dict[tuple[str, float | None, int], str]:
        """The author's name of each (answerer, temperature, sample).

        The model's name (as written, endpoint included, where two endpoints serve the same model),
        with its temperature and the sample's number where there are several.
        """
        models = [s.model for s in self.answerers.values()]
        out = {}
        for name, spec in self.answerers.items():
            base = spec.model if models.count(spec.model) == 1 else name
            for temperature in self.temperatures:
                several = len(self.temperatures) > 1
                heat = f", {label('temperature', temperature)}" if several else ""
                for sample in range(self.samples):
                    number = f" #{sample + 1}" if self.samples > 1 else ""
                    out[name, temperature, sample] = f"{base}{heat}{number}"
        return out

    @property
    def authors(self) -> tuple[str, ...]:
        """The authors' names, in the order in which their answers stand."""
        return tuple(self.voices.values())


def answer_task(
    plan: AnswerPlan,
    item: Item,
    answerer: str,
    temperature: float | None,
    sample: int,
    *,
    answers: tuple[str, ...] = (),
) -> Task:
    """An item's next turn, asked of an answerer: the turns before it have `answers`."""
    return Task(
        condition=Condition(judge=answerer, temperature=temperature),
        item_id=item.id,
        cluster=item.cluster,
        category=item.category,
        replicate=sample,
        stage=stage_of(len(answers) + 1),
        build=partial(plan.protocol.prompt, item, answers),
    )


def stage_of(turn: int) -> str:
    """The stage of a task that asks for the answer to a turn, counted from 1.

    Examples
    --------
    >>> stage_of(1), stage_of(2)
    ('answer', 'answer 2')
    """
    return _STAGE if turn == 1 else f"{_STAGE} {turn}"


ANSWER_TOKENS = (30, 700)
"""An answer's tokens in the low and the high estimate of a price."""
_FORESEEN_TOKENS, _TOKEN_CHARACTERS = 300, 4
"""Of an answer that is not there yet."""


def price_answers(items: Sequence[Item], plan: AnswerPlan, **options: Any) -> PricePlan:
    """Calls, tokens and price range of `collect_answers`; sends nothing.

    A later turn's request holds the earlier answers. Those of the journal are counted as they are,
    others as 300 tokens each, or as their limit of tokens where that is lower.

    Parameters
    ----------
    items : sequence of Item
    plan : AnswerPlan
    **options
        Fields of `judgestats.collection.ask.CollectionRequest`.

    Returns
    -------
    PricePlan
    """
    ask = CollectionRequest.from_options(**options)
    tasks = []
    for voice, item, answers in _journal_answers(items, plan, ask.journal):
        turns = [*answers, *[_foreseen(voice[0], plan)] * len(item.turns)]
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
    >>> [item] = foreseen_answers([question], AnswerPlan.from_names(["sim-answerer-2"]))
    >>> item.responses[0].author, len(item.responses[0].text)
    ('sim-answerer-2', 1200)
    """
    voices = plan.voices
    answered = []
    for voice, item, answers in _journal_answers(items, plan, journal):
        author = voices[voice]
        turns = (*answers, *[_foreseen(author, plan)] * (len(item.turns) - len(answers)))
        answered.append((item.id, author, turns))
    return _with_answers(items, answered)


def _journal_answers(
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


def _foreseen(author: str, plan: AnswerPlan) -> str:
    words = f"(the answer of {author}, not given yet) "
    characters = plan.foreseen_tokens * _TOKEN_CHARACTERS
    return (words * (characters // len(words) + 1))[:characters]


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Items with the answers that came.

    Attributes
    ----------
    items : tuple of Item
        All items, in their order, each with the answers that were given to it (perhaps none) in the
        order of `AnswerPlan.authors`; labels of earlier responses are dropped.
    table : DataFrame
        One row per answer: ``item_id``, ``author``, ``answer``, ``turns`` (answers to all turns),
        ``model``, ``answerer``, ``temperature``, ``sample``, ``status``, ``reason``,
        ``model_reported``, ``tokens_out``, ``cost_usd``, ``cached``, ``asked_at``. As JSONL it can
        be given as ``answers=``.
    collected : Collected
        Account, and why it stopped if not all was asked.
    planned : int
        Answers planned: items x authors.
    """

    items: tuple[Item, ...]
    table: pd.DataFrame
    collected: Collected
    planned: int

    @property
    def complete(self) -> bool:
        """Whether every model answered every item."""
        return len(self.table) == self.planned

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Ids of the items that lack an answer of at least one author."""
        most = self.planned // max(len(self.items), 1)
        return tuple(item.id for item in self.items if len(item.responses) < most)


def collect_answers(items: Sequence[Item], plan: AnswerPlan, **options: Any) -> Answered:
    """Have models answer items.

    A question of several turns is answered turn by turn, as one conversation. Answers are kept in
    the journal, so that a second call asks only for what is missing; an answer that is cut off,
    refused or empty stays what the model said, with its status in the table.

    Parameters
    ----------
    items : sequence of Item
        Responses they have already are replaced.
    plan : AnswerPlan
    **options
        Fields of `judgestats.collection.ask.CollectionRequest`; judges, seed and settings are the
        plan's.

    Returns
    -------
    Answered

    Raises
    ------
    InputError, JudgeError, BudgetError, StoreError
        As `collect`.

    Examples
    --------
    >>> question = Item(id="q", cluster="q", turns=("2+2?",), responses=())
    >>> answered = collect_answers([question],
    ...     AnswerPlan.from_names(["sim-answerer-2"], temperatures=(0,)))
    >>> [(r.author, r.quality) for r in answered.items[0].responses], answered.complete
    ([('sim-answerer-2', None)], True)
    """
    by_id = {item.id: item for item in items}
    given: dict[tuple[str, float | None, int, str], list[str]] = {}

    def next_turn(row: Mapping[str, Any]) -> Iterator[Task]:
        if row["transport"] != "answered":
            return
        voice = (row["judge"], row["temperature"], row["replicate"], row["item_id"])
        answers = given.setdefault(voice, [])
        answers.append(row["raw_text"])
        item = by_id[row["item_id"]]
        if len(answers) < len(item.turns):
            yield answer_task(plan, item, *voice[:3], answers=tuple(answers))

    first = [answer_task(plan, item, *voice) for voice in plan.voices for item in items]
    collected = collect_judgments(
        first,
        CollectionRequest.from_options(**options),
        judges=dict(plan.answerers),
        experiment="answers",
        reply_mode=ReplyMode.TEXT,
        seed=plan.seed,
        settings=plan.settings,
        follow_up=next_turn if any(len(item.turns) > 1 for item in items) else None,
    )
    table = _table(collected.read(), by_id, plan)
    answers = table[["item_id", "author", "turns"]].itertuples(index=False, name=None)
    return Answered(
        items=_with_answers(items, answers), table=table, collected=collected, planned=len(first)
    )


_COPIED = ("model_reported", "tokens_out", "cost_usd", "cached", "asked_at")
_COLUMNS = (
    "item_id", "author", "answer", "turns", "model", "answerer", "temperature", "sample", "status",
    "reason", *_COPIED,
)  # fmt: skip


def _table(frame: pd.DataFrame, items: Mapping[str, Item], plan: AnswerPlan) -> pd.DataFrame:
    """One row per answer to an item's last turn, in the order of items, then authors."""
    texts: dict[tuple[str, str, float | None, int], dict[str, Mapping[str, Any]]] = {}
    for row in frame.to_dict("records"):
        if row["transport"] == "answered":
            temperature = None if pd.isna(row["temperature"]) else row["temperature"]
            voice = (row["item_id"], row["judge"], temperature, row["replicate"])
            texts.setdefault(voice, {})[row["stage"]] = {str(k): v for k, v in row.items()}
    rows = []
    for item_id, item in items.items():
        for (answerer, temperature, sample), author in plan.voices.items():
            stages = texts.get((item_id, answerer, temperature, sample), {})
            if len(stages) < len(item.turns):
                continue
            asked = [stages[stage_of(turn)] for turn in range(1, len(item.turns) + 1)]
            last = asked[-1]
            turns = [str(stage["raw_text"]) for stage in asked]
            status, reason = answer_status(turns[-1], finish_reason=str(last["finish_reason"]))
            rows.append(
                (
                    item_id, author, turns[-1], turns, plan.answerers[answerer].model, answerer,
                    temperature, sample, status.value, reason, *(last[c] for c in _COPIED),
                )
            )  # fmt: skip
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _with_answers(
    items: Sequence[Item], answers: Iterable[tuple[str, str, Iterable[str]]]
) -> tuple[Item, ...]:
    """Items with their answers, given as (item's id, author, turns)."""
    given: dict[str, list[Response]] = {item.id: [] for item in items}
    for item_id, author, turns in answers:
        given[item_id].append(Response(turns=tuple(turns), author=author))
    return tuple(replace(i, responses=tuple(given[i.id]), labels=()) for i in items)
