"""RewardBench results: whether a judge or reward model preferred the chosen response."""

from __future__ import annotations

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.grades import grade, unread
from judgestats.judgments.readers.logs import Log, Reader, Rows
from judgestats.judgments.readers.untrusted import number, text

_CHOICE = {1.0: "a", 0.0: "b", 0.5: "tie"}


def _fits(log: Log) -> bool:
    return log.kind == "json" and log.has("id", "subset", "results", "model") and isinstance(
        log.first["results"], list
    )  # fmt: skip


def _read(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    columns = {name: log.first[name] for name in ("id", "subset", "results")}
    if len({len(c) if isinstance(c, list) else -1 for c in columns.values()}) != 1:
        raise InputError(f"{log.path}: id, subset and results must be lists of one length.")
    judge = log.judge or text(log.first["model"], 200)
    for identity, subset, result in zip(*columns.values(), strict=True):
        choice = _CHOICE.get(number(result))
        name = text(subset, 200)
        item = f"{name}/{text(identity, 200)}"
        rows.add(
            **(grade(choice) if choice else unread("", "no result for this pair")),
            judge=judge,
            item_id=item,
            cluster=item,
            category=name,
            label="a",
            replicate=-1,
        )
    rows.note(
        "Response a is the one that RewardBench's authors chose. RewardBench draws the order shown "
        "and does not record it: a preference for a place cannot be seen."
    )
    return rows.frame()


REWARDBENCH = Reader(
    name="rewardbench",
    about="RewardBench eval-set-scores: columns id, subset, results, with the model",
    item="subset / pair",
    fits=_fits,
    read=_read,
)
