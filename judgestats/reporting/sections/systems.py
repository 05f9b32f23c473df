"""Systems in order: by pairwise verdicts, and beside by scores."""

from __future__ import annotations

from typing import Any

from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.estimate_tables import subject_of
from judgestats.reporting.shown import Measured, Shown, address, column, label
from judgestats.reporting.tables import Column, Table
from judgestats.results import Table as TableRecord

__all__ = ["systems"]

_ORDERS = (
    ("strength", "Strength (log odds)", "low", "high", ("best_rank", "worst_rank")),
    ("points", "Points by scores", "points_low", "points_high",
     ("best_rank_points", "worst_rank_points")),
)  # fmt: skip


def systems(run: Run) -> Table | None:
    """A row a system, the strongest by pairwise verdicts first; None where no order was made."""
    boards = [
        r for r in run.records.results
        if isinstance(r, TableRecord) and {"system", "strength"} <= {c.key for c in r.columns}
    ]  # fmt: skip
    rows: list[dict[str, Any]] = []
    for board in boards:
        rows += _rows(run, board)
    if not rows:
        return None
    columns = [Column(key="system", label="System")]
    for key, name, *_ in _ORDERS:
        if any(key in row for row in rows):
            columns.append(Column(key=key, label=name, align="right"))
            columns.append(Column(key=f"{key}_rank", label="Rank", align="right"))
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group" if len(boards) > 1 else "",
        caption="Systems in order of the verdicts on pairs, from their mean. The intervals of "
        "ranks hold for all systems at once.",
        label="tbl-systems",
    )


def _rows(run: Run, board: TableRecord) -> list[dict[str, Any]]:
    keys = [c.key for c in board.columns]
    values = [dict(zip(keys, row, strict=True)) for row in board.rows]
    rows: list[dict[str, Any]] = [
        {"group": subject_of(board), "system": str(v["system"])} for v in values
    ]

    def at(i: int, key: str) -> str:
        return address(board.id, f"rows.{i}.{key}")

    for key, _, low, high, (best, worst) in _ORDERS:
        if key not in keys:
            continue
        numbers = [
            Measured(
                value=number_of(v[key]), low=number_of(v[low]), high=number_of(v[high]),
                at=(at(i, key), at(i, low), at(i, high), ""),
            )
            for i, v in enumerate(values)
        ]  # fmt: skip
        for i, (row, shown) in enumerate(zip(rows, column(numbers), strict=True)):
            row[key] = shown
            first, last = (label(run.records, at(i, c)) for c in (best, worst))
            row[f"{key}_rank"] = first if str(first) == str(last) else _to(first, last)
    return rows


def _to(first: Shown, last: Shown) -> Shown:
    return first + " to " + last
