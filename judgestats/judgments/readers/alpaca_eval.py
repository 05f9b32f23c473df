"""AlpacaEval annotations: which of two outputs is preferred, as 1 and 2 or as a number between."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from judgestats.judgments.readers.grades import grade, unread
from judgestats.judgments.readers.logs import Log, Reader, Rows, named_text
from judgestats.judgments.readers.untrusted import number, text

_CHOICE = {0.0: "tie", 1.0: "a", 1.5: "tie", 2.0: "b"}


def _fits(log: Log) -> bool:
    return log.has("instruction", "output_1", "output_2", "preference") and log.has("annotator")


def _of(record: dict[str, Any], name: str) -> object:
    """A field under the name of this version or of an older one."""
    return record.get(f"preference_{name}", record.get(name))


def _read(log: Log) -> pd.DataFrame:
    preferences = [(number(r.get("preference")), r) for _, r in log.records()]
    weighted = any(not math.isnan(p) and p not in _CHOICE for p, _ in preferences)
    rows = Rows(log.path)
    for preference, record in preferences:
        one, two = (text(record.get(f"generator_{k}"), 200) or f"output {k}" for k in (1, 2))
        cluster = named_text(text(record.get("instruction")))
        raw = text(_of(record, "raw_completion"))
        if math.isnan(preference) or not 0 <= preference <= 2 or 0 < preference < 1:
            read = unread(raw, "no preference; AlpacaEval does not keep the reason")
        elif weighted:
            read = grade(preference - 1 if preference else 0.5)
        else:
            read = grade(_CHOICE[preference])
        rows.add(
            **read,
            judge=text(record.get("annotator"), 200) or log.judge,
            item_id=f"{cluster}/{one} vs {two}",
            cluster=cluster,
            category=text(record.get("dataset"), 200),
            replicate=-1,
            raw_text=raw,
            cost_usd=number(_of(record, "price_per_example")),
            latency_s=number(_of(record, "time_per_example")),
            asked_at=text(_of(record, "date"), 40),
        )
    rows.note(
        "AlpacaEval shows the two outputs in an order it draws and does not record: a preference "
        "for a place cannot be seen in these annotations."
    )
    if weighted:
        rows.note(
            "The preferences are weighted by token probabilities: the score is the weight of "
            "output_2, from 0 to 1 (AlpacaEval's number less 1)."
        )
    return rows.frame(scale=(0.0, 1.0) if weighted else None)


ALPACA_EVAL = Reader(
    name="alpaca-eval",
    about="AlpacaEval annotations.json: instruction, output_1, output_2, annotator, preference",
    item="instruction / pair; cluster: the instruction",
    fits=_fits,
    read=_read,
)
