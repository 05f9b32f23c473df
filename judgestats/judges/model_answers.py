"""Answers of models, asked for through the same client, journal and budget as judgments.

`collect_answers` is for any experiment whose items still have to be answered, or need further
answers: options to choose from, a crowd to compare with, samples to rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from judgestats.items.schema import Item, Response
from judgestats.judges.account import Collected
from judgestats.judges.answer_forecast import ANSWER_TOKENS, foreseen_answers, price_answers
from judgestats.judges.answer_plan import AnswerPlan, answer_task, stage_of
from judgestats.judges.ask import Ask
from judgestats.judges.collect import collect_judgments
from judgestats.judgments.design import Task
from judgestats.protocols.answer_prompt import answer_status
from judgestats.protocols.base import ReplyMode

__all__ = [
    "ANSWER_TOKENS",
    "AnswerPlan",
    "Answered",
    "collect_answers",
    "foreseen_answers",
    "price_answers",
]


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Items with the answers that came.

    Attributes
    ----------
    items : tuple of Item
        All items, in their order, each with the answers that were given to it (perhaps none) in the
        order of `AnswerPlan.authors`; labels of earlier responses are dropped.
    table : DataFrame
        One row an answer: ``item_id``, ``author``, ``answer``, ``turns`` (answers to all turns),
        ``model``, ``answerer``, ``temperature``, ``sample``, ``status``, ``reason``,
        ``model_reported``, ``tokens_out``, ``cost_usd``, ``cached``, ``asked_at``. As JSONL it can
        be given as ``answers=``.
    collected : Collected
        Account, and why it stopped if not all was asked.
    planned : int
        Answers that were to be given: items x authors.
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


def collect_answers(
    items: Sequence[Item],
    plan: AnswerPlan,
    ask: Ask | None = None,
    **options: Any,
) -> Answered:
    """Have models answer items.

    A question of several turns is answered turn by turn, as one conversation. Answers are kept in
    the journal, so that a second call asks only for what is missing; an answer that is cut off,
    refused or empty stays what the model said, with its status in the table.

    Parameters
    ----------
    items : sequence of Item
        Responses they have already are replaced.
    plan : AnswerPlan
    ask : Ask, optional
        Of it judges, seed and settings are the plan's.
    **options
        Fields of `judgestats.judges.ask.Ask` that replace those of `ask`.

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
    >>> answered = collect_answers([question], AnswerPlan.of(["sim-answerer-2"], temperatures=(0,)))
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

    first = list(_first_turns(items, plan))
    collected = collect_judgments(
        first,
        Ask.of(ask, **options),
        judges=dict(plan.answerers),
        experiment="answers",
        reply_mode=ReplyMode.TEXT,
        seed=plan.seed,
        settings=plan.settings,
        follow_up=next_turn if any(len(item.turns) > 1 for item in items) else None,
    )
    table = _table(collected.read(), by_id, plan)
    return Answered(
        items=_with_answers(items, table),
        table=table,
        collected=collected,
        planned=len(first),
    )


def _first_turns(items: Sequence[Item], plan: AnswerPlan) -> Iterator[Task]:
    for voice in plan.voices:
        for item in items:
            yield answer_task(plan, item, *voice)


_COLUMNS = (
    "item_id",
    "author",
    "answer",
    "turns",
    "model",
    "answerer",
    "temperature",
    "sample",
    "status",
    "reason",
    "model_reported",
    "tokens_out",
    "cost_usd",
    "cached",
    "asked_at",
)


def _table(frame: pd.DataFrame, items: Mapping[str, Item], plan: AnswerPlan) -> pd.DataFrame:
    """One row an answer to an item's last turn, in the order of items, then authors."""
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
                {
                    "item_id": item_id,
                    "author": author,
                    "answer": turns[-1],
                    "turns": turns,
                    "model": plan.answerers[answerer].model,
                    "answerer": answerer,
                    "temperature": temperature,
                    "sample": sample,
                    "status": status.value,
                    "reason": reason,
                    **{c: last[c] for c in _COLUMNS[10:]},
                }
            )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _with_answers(items: Sequence[Item], table: pd.DataFrame) -> tuple[Item, ...]:
    given: dict[str, list[Response]] = {item.id: [] for item in items}
    for row in table.to_dict("records"):
        response = Response(turns=tuple(row["turns"]), author=row["author"])
        given[row["item_id"]].append(response)
    return tuple(replace(i, responses=tuple(given[i.id]), labels=()) for i in items)
