"""JudgeBench outputs: pairs judged in both orders, with the objectively right response."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from judgestats.judgments.readers.grades import failed, grade, unread
from judgestats.judgments.readers.logs import Log, Reader, Rows
from judgestats.judgments.readers.untrusted import text

_DECISION = {"A>B": "a", "B>A": "b", "A=B": "tie"}
_TURNED = {"a": "b", "b": "a", "tie": "tie"}
_MODEL = re.compile(r"judge_model=([^,]+?)(?:\.jsonl)?(?:\.gz)?$")


def _fits(log: Log) -> bool:
    return log.has("pair_id", "judge_name", "judgments", "label")


def _read(log: Log) -> pd.DataFrame:
    rows = Rows(log.path)
    named = _MODEL.search(log.path.name)
    model = log.judge or (named[1] if named else "")
    if not model:
        rows.note(
            "The judge's model stands in the name of JudgeBench's files, and not in this one's "
            "(--judge NAME)."
        )
    for _, record in log.records():
        judgments = record.get("judgments")
        for k, judgment in enumerate(judgments[:2] if isinstance(judgments, list) else []):
            rows.add(
                **_verdict(judgment, later=k == 1),
                judge=model or text(record.get("judge_name"), 200),
                scorer=text(record.get("judge_name"), 200),
                item_id=text(record.get("pair_id"), 200),
                cluster=text(record.get("original_id") or record.get("pair_id"), 200),
                category=text(record.get("source"), 200),
                answerer=text(record.get("response_model"), 200),
                label=_DECISION.get(text(record.get("label"), 10), ""),
                order="ba" if k else "ab",
                replicate=-1,
            )
    return rows.frame()


def _verdict(judgment: object, *, later: bool) -> dict[str, Any]:
    """The decision, in the second order turned back to the response it means."""
    if not isinstance(judgment, dict):
        return failed("JudgeBench could not get a judgment")
    inner = judgment.get("judgment")
    reply = text(inner.get("response") if isinstance(inner, dict) else inner)
    choice = _DECISION.get(text(judgment.get("decision"), 10))
    if choice is None:
        return {**unread(reply, "no decision in the reply"), "raw_text": reply}
    return {**grade(_TURNED[choice] if later else choice), "raw_text": reply}


JUDGEBENCH = Reader(
    name="judgebench",
    about="JudgeBench outputs/*.jsonl: pair_id, judge_name, judgments with a decision",
    item="pair; cluster: its original",
    fits=_fits,
    read=_read,
)
