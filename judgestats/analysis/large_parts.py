"""What audits from counts share: named results, and what one pass over judgments leaves out."""

from __future__ import annotations

import pandas as pd

from judgestats.analysis.outcome import NamedResult
from judgestats.judgments.large.reduced import ReducedJudgments
from judgestats.results import About
from judgestats.stats.inference.result import Result

SHOWN_ITEMS = 2_000
"""Items whose cells figures show."""


def whole_counts(table: pd.DataFrame) -> pd.DataFrame:
    """A status that does not occur under a condition is counted 0 there."""
    counted = [c for c in table.columns if c.startswith("n_")]
    return table.assign(**{c: table[c].fillna(0).astype(int) for c in counted})


_LEADING = {"icc1", "alpha", "fleiss_kappa", "ac1", "vote_share", "flip_rate"}
"""What an audit in memory tells of every condition; what else counts give stands beside."""


def named(
    kind: str, title: str, condition: str, result: Result, about: About | None = None
) -> NamedResult:
    """A reliability of one condition under its name; the leading coefficients are headlines."""
    return NamedResult(
        id=f"reliability.{kind}.{condition}",
        title=f"{title} ({condition})",
        role="primary" if kind in _LEADING else "secondary",
        result=result,
        about=about or About(conditions=(condition,)),
        headline=kind in _LEADING,
    )


def left_out(reduced: ReducedJudgments, more: list[str]) -> list[str]:
    """What one pass cannot give, and why."""
    out = [
        (
            f"The {reduced.n_rows:,} judgments were counted in one pass and are not kept in this "
            "run. Left out: null references of reliabilities, bootstrap intervals and ordinal "
            "models, which read every judgment many times (the jackknife over clusters "
            "stands in for the bootstrap), and the judge as an instrument "
            "(severity, levels used, fit)."
        )
    ]
    if reduced.board is None:
        out.append(
            "Left out: alpha, lambda-2 and the two-way ICCs, and the check that no judgment "
            f"stands twice: {reduced.board_reason}."
        )
    if len(reduced.items) > SHOWN_ITEMS:
        out.append(f"Figures of cells show {SHOWN_ITEMS:,} items at even distances.")
    return [*out, *(f"Left out: {text[0].lower()}{text[1:]}" for text in more)]
