"""Cells and tables of the worked examples."""

from __future__ import annotations

import math

from judgestats.results.numbers import format_p
from judgestats.stats.inference.result import Comparison, Comparisons, Estimate, Interval


def cell(estimate: Estimate) -> str:
    """``.81 [.75, .86]``, or why there is not a number."""
    if math.isnan(estimate.estimate):
        return f"undefined: {estimate.reason.split('(')[0].split(':')[0].strip()}"
    return interval_text(estimate.estimate, estimate.interval)


def interval_text(value: float, interval: Interval | None, *, digits: int = 3) -> str:
    """A number with its interval."""
    text = f"{value:.{digits}f}"
    if interval:
        text += f" [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
    return text


def markdown(rows: list[dict[str, object]]) -> str:
    """Rows as a pipe table."""
    head = list(rows[0])
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(row[h]) for h in head) + " |" for row in rows]
    return "\n".join(lines)


def p_text(p: float) -> str:
    """A p-value for a table."""
    return format_p(p).removeprefix("= ")


def pair(family: Comparisons | None, a: str, b: str) -> Comparison:
    """The comparison of `a` with `b`."""
    if family is None:
        raise KeyError(f"no comparison of {a} and {b}")
    return next(r for r in family.rows if (r.a, r.b) == (a, b))
