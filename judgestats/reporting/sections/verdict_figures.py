"""Figures of verdicts: their coefficients, and the place at which the preferred one was shown."""

from __future__ import annotations

import math

import numpy as np

from judgestats.reporting import plots
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.data import coefficients_of, full_condition
from judgestats.reporting.sections.measures import measured
from judgestats.reporting.show import Captioned
from judgestats.results import CONDITIONS

__all__ = ["coefficients", "positions"]

_MOST_ROWS = 24
_MOST_PLACES = 28


def coefficients(run: Run) -> Captioned | None:
    """Coefficients of verdicts with intervals, grouped by coefficient.

    Agreement with people has a figure of its own, with the baselines.
    """
    every = range(len(run.table(CONDITIONS)))
    names = {
        k: v for k, v in coefficients_of(run).items()
        if not k.startswith("alignment")
        and all(measured(run, i, k).bounded for i in every)  # points have another axis
    }  # fmt: skip
    rows = [
        plots.EffectRow(
            label=full_condition(row, run),
            estimate=number_of(row.get(key)),
            low=number_of(row.get(f"{key}_low")), high=number_of(row.get(f"{key}_high")),
            group=label,
        )
        for key, label in names.items()
        for row in run.compared
        if not math.isnan(number_of(row.get(key)))
    ]  # fmt: skip
    while len(rows) > _MOST_ROWS and len({r.group for r in rows}) > 1:
        rows = [r for r in rows if r.group != rows[-1].group]  # the first are the main ones
    if not rows or len(rows) > 2 * _MOST_ROWS:
        return None
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows), x_label="Estimate", level=run.level, reference=math.nan, bounded=True
        ),
        label="fig-coefficients",
        caption=f"Coefficients of verdicts with {100 * run.level:g} % intervals.",
    )


def positions(run: Run) -> Captioned | None:
    """How often the response shown first, the one shown second, or neither was chosen."""
    rows = run.table("places.pairs")
    if not rows or len(rows) > _MOST_PLACES:  # the table of verdicts says it; no page holds so many
        return None
    names = [str(row["condition"]) for row in rows]
    shares = np.array([[number_of(row["first"]), number_of(row["second"])] for row in rows])
    return Captioned(
        figure=plots.PositionHeatMap(
            labels=tuple(names), shares=shares, positions=("shown first", "shown second"),
            x_label="Preferred",
        ),
        label="fig-positions",
        caption=(
            "Which response was preferred, by the place at which it was shown, both orders of each "
            "pair taken together and ties left out: a judge without a preference for a place "
            "prefers both equally often."
        ),
    )  # fmt: skip
