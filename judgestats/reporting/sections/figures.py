"""The figures of a report; those of scores and their spread are made here."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from judgestats.reporting import plots
from judgestats.reporting.runs import Run, number_of, rows_of
from judgestats.reporting.sections.agreement_figures import alignment, costs
from judgestats.reporting.sections.comparison_figures import (
    critical_differences,
    equivalence,
    variance_ratios,
)
from judgestats.reporting.sections.data import full_condition, short_condition
from judgestats.reporting.sections.null_figure import null_strip
from judgestats.reporting.sections.verdict_figures import coefficients, positions
from judgestats.reporting.show import Captioned
from judgestats.reporting.tables import Table

__all__ = [
    "centred",
    "coefficients",
    "critical_differences",
    "equivalence",
    "mean_against_spread",
    "null_strip",
    "of_hypothesis",
    "positions",
    "reliability_by_k",
    "scores",
    "spread",
    "variance_ratios",
]

_CENTRED = "published.centred"
_MOST_ROWS = 36
_MOST_NAMED = 14
"""Points that a figure of mean beside spread names."""


def _judges(run: Run) -> list[str]:
    if "judge" not in run.conditions:
        return [""]
    return list(dict.fromkeys(run.conditions["judge"].astype(str)))


def of_hypothesis(run: Run, name: str) -> list[Captioned | Table]:
    """The figures, and the table of costs, that belong to a hypothesis of the plan."""
    if name == "spread":
        return [*critical_differences(run)]
    if name == "equivalence":
        return [*equivalence(run)]
    if name == "alignment":
        return [part for part in (alignment(run), costs(run)) if part is not None]
    figure = variance_ratios(run) if name == "ratio" else None
    return [figure] if figure else []


def scores(run: Run) -> Captioned | None:
    """Distribution of scores by condition."""
    from judgestats.analysis.scale_use import on_one_scale  # with all that it computes by

    frame = on_one_scale(run.finals, run.conditions, run.scale)
    if frame.empty or "score" not in frame or not frame["score"].notna().any():
        return None
    scored = frame[frame["score"].notna()]
    names = list(dict.fromkeys(scored["condition"].astype(str)))[:_MOST_ROWS]
    named = {str(r["condition"]): full_condition(r, run) for r in rows_of(run.conditions)}
    values = tuple(
        scored.loc[scored["condition"] == n, "score"].to_numpy(dtype=float) for n in names
    )
    return Captioned(
        figure=plots.ScoreDistribution(
            labels=tuple(named.get(n, n) for n in names), scores=values, scale=run.scale
        ),
        label="fig-scores",
        caption=(
            "Distribution of scores by condition. A judge that uses few of the scale's points can "
            "neither scatter much nor tell items apart."
            + (
                " Scores of every scale are drawn in points of one."
                if "scale" in run.conditions
                else ""
            )
        ),
    )


def centred(run: Run) -> list[Captioned]:
    """Scores less their item's mean by condition, where a run repeats the study that shows them."""
    table = pd.DataFrame(run.table(_CENTRED))
    if table.empty:
        return []
    named = {str(r["condition"]): full_condition(r, run) for r in rows_of(run.conditions)}
    own = dict(tuple(table.groupby("condition", sort=False)))
    return [
        Captioned(
            figure=plots.ScoreDistribution(
                labels=tuple(named.get(str(name), str(name)) for name in own),
                scores=tuple(
                    np.repeat(
                        rows["score_less_item_mean"].to_numpy(float), rows["count"].to_numpy(int)
                    )
                    for rows in own.values()
                ),
                x_label="Score less the item's mean",
            ),
            label="fig-centred",
            caption="Scores centred by item, as the study shows them: a wider row scatters more.",
        )
    ]


def spread(run: Run) -> Captioned | None:
    """Each item's spread under each condition, a panel a judge."""
    arrays = run.arrays
    if "cell_variances" not in arrays:
        return None
    values = np.sqrt(
        np.array([[number_of(v) for v in row] for row in arrays["cell_variances"]], dtype=float)
    )
    names = [str(c) for c in arrays["conditions"]]
    rows = {str(r["condition"]): r for r in rows_of(run.conditions)}
    panels = []
    means = arrays.get("deviations", {})

    def panel(name: str, labels: Sequence[str], columns: Sequence[int]) -> plots.SpreadPanel:
        mean, low, high = (
            tuple(number_of(means[key][i]) if means else math.nan for i in columns)
            for key in ("mean", "low", "high")
        )
        return plots.SpreadPanel(
            name=name, conditions=tuple(labels), values=values[:, list(columns)], mean=mean,
            low=low, high=high,
        )  # fmt: skip

    only_temperature = True
    if len(_judges(run)) == len(names) > 1:  # one condition a judge: compare them in one panel
        panels.append(panel("", names, range(len(names))))
        only_temperature = False
    for judge in _judges(run) if not panels else []:
        chosen = [i for i, n in enumerate(names) if str(rows.get(n, {}).get("judge", "")) == judge]
        if not chosen:
            continue
        labels = [short_condition({**rows[names[i]], "condition": names[i]}, run) for i in chosen]
        bare = [n.removeprefix(f"{judge}, ") for n in labels]
        if all(b.startswith("T=") and "," not in b for b in bare):
            bare = [b[2:] for b in bare]
        else:
            only_temperature = False
        panels.append(panel(judge, bare, chosen))
    if not panels:
        return None
    return Captioned(
        figure=plots.SpreadByCondition(
            panels=tuple(panels), x_label="Temperature" if only_temperature else ""
        ),
        label="fig-spread",
        caption=(
            "Spread of repeated scores, item by item. Each thin line is an item over the "
            "conditions; the points are means over items with their "
            f"{100 * run.level:g} % intervals over questions."
        ),
    )


def mean_against_spread(run: Run) -> Captioned | None:
    """Mean score beside within-item variance, a line a judge."""
    table = run.conditions
    if not {"mean", "within_variance"} <= set(table.columns):
        return None
    rows = rows_of(table)
    return Captioned(
        figure=plots.MeanAgainstSpread(
            mean=tuple(number_of(r["mean"]) for r in rows),
            spread=tuple(number_of(r["within_variance"]) for r in rows),
            series_name=tuple(str(r.get("judge", "")) for r in rows),
            point_label=tuple(short_condition(r, run) for r in rows),
        ),
        label="fig-mean-spread",
        caption=(
            "Mean score beside within-item variance. Near an end of the scale both move together: "
            "less spread there may only be less room."
            + (
                " Only the first and the last condition of each line are named where there are "
                "many; the table of conditions holds the numbers of all."
                if len(rows) > _MOST_NAMED
                else ""
            )
        ),
    )


def reliability_by_k(run: Run) -> Captioned | None:
    """Reliability of the mean of k judgments by condition."""
    table = run.conditions
    if "icc1" not in table or not np.isfinite(table["icc1"].to_numpy(dtype=float)).any():
        return None
    rows = rows_of(table)
    rows = [r for r in rows if math.isfinite(number_of(r.get("icc1")))]
    shown = [r for r in rows if not number_of(r.get("constant_share", 0.0)) >= 0.95] or rows
    return Captioned(
        figure=plots.ReliabilityByK(
            curves=tuple(
                plots.ReliabilityCurve(
                    name=full_condition(r, run),
                    single=number_of(r["icc1"]),
                    low=number_of(r.get("icc1_low")),
                    high=number_of(r.get("icc1_high")),
                )
                for r in shown
            )
        ),
        label="fig-by-k",
        caption=(
            "Reliability of the mean of k judgments, stepped up from ICC(1,1) by Spearman and "
            "Brown's formula; conditions without any spread are left out. Where there are more "
            "than seven curves, the highest, middle and lowest are named."
        ),
    )
