"""Where judge and people differ most: the first of the list, and where all of it is."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from judgestats.reporting.formats import is_missing
from judgestats.reporting.runs import Run
from judgestats.reporting.show import Markdown, Showable
from judgestats.reporting.shown import NOTHING, Measured, Shown, address
from judgestats.reporting.tables import Column, Table
from judgestats.results import Table as TableRecord

__all__ = ["disagreements", "linked"]

_MOST = 10
_CUT = 120
_ID = "disagreements"
_FILE = Path("tables", "disagreements.csv")
_TEXTS = ("question", "answer", "judge_says")


def disagreements(run: Run) -> list[Showable]:
    """The items on which judge and people lie furthest apart, widest gap first.

    Parameters
    ----------
    run : Run
        Its record ``disagreements`` holds the first of each condition, its tables all of them.
    """
    if _ID not in run.records or not isinstance(record := run.records[_ID], TableRecord):
        return []
    keys = [c.key for c in record.columns]
    listed = [(i, dict(zip(keys, row, strict=True))) for i, row in enumerate(record.rows)]
    listed.sort(key=lambda r: -_gap(r[1]))
    rows = [
        {
            "condition": run.called(str(row["condition"])),
            "item": str(row["item_id"]),
            **{k: _number(row, k, i) for k in ("judge", "people")},
            **{k: _cut(row.get(k)) for k in _TEXTS},
        }
        for i, row in listed[:_MOST]
    ]
    if not rows:
        return []
    columns = (
        Column(key="condition", label="Condition"),
        Column(key="item", label="Item"),
        Column(key="judge", label="Judge", align="right"),
        Column(key="people", label="People", align="right"),
        Column(key="question", label="Question"),
        Column(key="answer", label="Answer"),
        Column(key="judge_says", label="The judge says"),
    )
    table = Table(
        columns=tuple(c for c in columns if any(r[c.key] for r in rows)),
        rows=tuple(rows),
        caption="Where judge and people differ most, the widest gaps of all conditions first.",
        note="Long texts are cut." * any(r[k] for r in rows for k in _TEXTS),
        label="tbl-disagreements",
    )
    return [table, *_link(run)]


def _gap(row: dict[str, Any]) -> float:
    return 0.0 if is_missing(row["gap"]) else float(row["gap"])


def _number(row: dict[str, Any], key: str, place: int) -> Shown:
    if is_missing(row[key]):
        return NOTHING
    where = address(_ID, f"rows.{place}.{key}")
    if isinstance(row[key], str):  # a verdict in words
        return Shown(((" ".join(row[key].split()), where),))
    return Measured(value=float(row[key]), at=(where, "", "", "")).shown()


def _cut(text: Any) -> str:
    words = "" if is_missing(text) else " ".join(str(text).split())
    return words if len(words) <= _CUT else words[: _CUT - 1].rstrip() + "…"


def linked(run: Run) -> bool:
    """Put the run's file of all of them beside the report, wherever that is written; if any."""
    whole = run.folder / _FILE
    if not whole.is_file():
        return False
    if whole.resolve() != _FILE.resolve():
        _FILE.parent.mkdir(exist_ok=True)
        shutil.copyfile(whole, _FILE)
    return True


def _link(run: Run) -> list[Markdown]:
    """Where all of them are."""
    if not linked(run):
        return []
    return [
        Markdown(f"::: {{.files}}\n\nAll of them: [{_FILE.as_posix()}]({_FILE.as_posix()}).\n\n:::")
    ]
