"""The figures of a report, made from a run's conditions, cells, scores and results."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from judgestats.reporting import plots
from judgestats.reporting.runs import Run, number_of, rows_of
from judgestats.reporting.sections.agreement_figures import alignment, costs
from judgestats.reporting.sections.data import coefficients_of, short_condition
from judgestats.reporting.sections.scales import on_one_scale
from judgestats.reporting.show import Captioned
from judgestats.reporting.tables import Table

__all__ = [
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

_MOST_ROWS = 36
_MOST_PLACES = 28


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
    frame = on_one_scale(run)
    if frame.empty or "score" not in frame or not frame["score"].notna().any():
        return None
    scored = frame[frame["score"].notna()]
    names = list(dict.fromkeys(scored["condition"].astype(str)))[:_MOST_ROWS]
    values = tuple(
        scored.loc[scored["condition"] == n, "score"].to_numpy(dtype=float) for n in names
    )
    return Captioned(
        figure=plots.ScoreDistribution(labels=tuple(names), scores=values, scale=run.scale),
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


def spread(run: Run) -> Captioned | None:
    """Each item's spread under each condition, a panel a judge."""
    arrays: dict[str, Any] = dict(run.results.get("arrays") or {})
    if "cell_variances" not in arrays:
        return None
    values = np.sqrt(
        np.array([[number_of(v) for v in row] for row in arrays["cell_variances"]], dtype=float)
    )
    names = [str(c) for c in arrays["conditions"]]
    rows = {str(r["condition"]): r for r in rows_of(run.conditions)}
    panels = []
    only_temperature = True
    if len(_judges(run)) == len(names) > 1:  # one condition a judge: compare them in one panel
        panels.append(plots.SpreadPanel(name="", conditions=tuple(names), values=values))
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
        panels.append(
            plots.SpreadPanel(name=judge, conditions=tuple(bare), values=values[:, chosen])
        )
    if not panels:
        return None
    return Captioned(
        figure=plots.SpreadByCondition(
            panels=tuple(panels), x_label="Temperature" if only_temperature else ""
        ),
        label="fig-spread",
        caption=(
            "Spread of repeated scores, item by item. Each thin line is an item over the "
            "conditions; the points are means over items with a 95% bootstrap interval."
        ),
    )


def mean_against_spread(run: Run) -> Captioned | None:
    """Mean score beside within-item variance, a line a judge."""
    table = run.conditions
    if not {"mean", "within_variance"} <= set(table.columns):
        return None
    rows = rows_of(table)
    several = run.several_judges
    return Captioned(
        figure=plots.MeanAgainstSpread(
            mean=tuple(number_of(r["mean"]) for r in rows),
            spread=tuple(number_of(r["within_variance"]) for r in rows),
            series_name=tuple(str(r.get("judge", "")) for r in rows),
            point_label=tuple(
                short_condition(r, run) if several else _without_judge(r) for r in rows
            ),
        ),
        label="fig-mean-spread",
        caption=(
            "Mean score beside within-item variance. Near an end of the scale both move together: "
            "less spread there may only be less room."
        ),
    )


def _without_judge(row: dict[str, Any]) -> str:
    name, judge = str(row.get("condition", "")), str(row.get("judge", ""))
    return name.removeprefix(f"{judge}, ") if judge else name


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
                    name=str(r["condition"]),
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


def null_strip(run: Run) -> Captioned | None:
    """Coefficients beside their null: ICC by condition, or all that carry a null reference."""
    table = run.conditions
    kind = "reliability" if "reliability_null_q95" in table else "icc1"
    if f"{kind}_null_q95" in table:
        rows = [
            plots.NullRow(
                label=str(r["condition"]),
                estimate=number_of(r.get(kind)),
                low=number_of(r.get(f"{kind}_low")),
                high=number_of(r.get(f"{kind}_high")),
                null_mean=number_of(r.get(f"{kind}_null_mean")),
                null_q95=number_of(r.get(f"{kind}_null_q95")),
            )
            for r in run.described[:_MOST_ROWS]
            if math.isfinite(number_of(r.get(kind)))
        ]
        what, name, also = (
            ("Reliability of one judgment", "ICC(1,1)", "")
            if kind == "icc1"
            else ("Reliability", "Reliability", " So are those behind every mean, median and mode.")
        )
    else:
        rows = [
            plots.NullRow(
                label=str(result.get("title", line.get("term", ""))),
                estimate=number_of(line.get("estimate")),
                low=number_of(line.get("conf_low")),
                high=number_of(line.get("conf_high")),
                null_mean=number_of(line.get("null_mean")),
                null_q95=number_of(line.get("null_q95")),
            )
            for result in run.results.get("results") or []
            for line in result.get("tidy") or []
            if line.get("null_q95") is not None and line.get("null_mean") is not None
        ][:_MOST_ROWS]
        what, name = "Coefficients", "Coefficient"
        also = " For order, positions are exchanged within items."
    if not rows:
        return None
    return Captioned(
        figure=plots.NullStrip(rows=tuple(rows), x_label=name),
        label="fig-null",
        caption=(
            f"{what} beside what the same computation yields when there is nothing to find: "
            "every replication's judgments are shuffled over items, so that the item cannot "
            f"matter.{also}"
        ),
    )


def coefficients(run: Run) -> Captioned | None:
    """Coefficients of verdicts with intervals, grouped by coefficient.

    Agreement with people has a figure of its own, with the baselines.
    """
    names = {k: v for k, v in coefficients_of(run).items() if not k.startswith("alignment")}
    rows = [
        plots.EffectRow(
            label=_full_name(row, run),
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
        caption=f"Coefficients of verdicts with {100 * run.level:g}% intervals.",
    )


def _full_name(row: dict[str, Any], run: Run) -> str:
    """A condition's name where no heading says the judge."""
    short = short_condition(row, run)
    if not run.several_judges:
        return short
    return f"{row['judge']}, {short}" if run.by_judge else str(row["condition"])


_FIRST = {"ab", "original", "orig", "0", "false", "1"}


def positions(run: Run) -> Captioned | None:
    """How often the response shown first, the one shown second, or neither was chosen."""
    frame = run.finals
    if frame.empty or not {"order", "choice"} <= set(frame.columns):
        return None
    orders = list(dict.fromkeys(frame["order"].astype(str)))
    if len(orders) != 2:
        return None
    first = next((o for o in orders if o.lower() in _FIRST), orders[0])
    read = frame[frame["choice"].isin(["a", "b", "tie"])]
    if read.empty:
        return None
    swapped = read["order"].astype(str) != first
    place = read["choice"].where(~swapped, read["choice"].map({"a": "b", "b": "a", "tie": "tie"}))
    names = list(dict.fromkeys(read["condition"].astype(str)))
    if len(names) > _MOST_PLACES:
        return None  # the table of verdicts says it; so many rows would not fit a page
    decided = place.ne("tie")
    shares = np.full((len(names), 2), np.nan)
    for i, name in enumerate(names):
        mine = place[decided & (read["condition"] == name)]
        if len(mine):
            shares[i] = [float((mine == "a").mean()), float((mine == "b").mean())]
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


def critical_differences(run: Run) -> list[Captioned]:
    """Mean ranks of spread with Nemenyi's critical difference, a diagram a judge."""
    results = {str(r["id"]): r for r in run.results.get("results") or []}
    shown: list[Captioned] = []
    for identity, result in results.items():
        if not identity.startswith("posthoc.nemenyi."):
            continue
        judge = identity.removeprefix("posthoc.nemenyi.")
        ranks = _mean_ranks(results.get(f"ranks.{judge}", {}).get("print", ""))
        rows = result.get("tidy") or []
        if len(ranks) < 2:
            continue
        apart = tuple((str(r["a"]), str(r["b"])) for r in rows if number_of(r["p_adjusted"]) < 0.05)
        number = len(shown) + 1
        shown.append(
            Captioned(
                figure=plots.CriticalDifference(
                    labels=tuple(ranks), mean_ranks=tuple(ranks.values()), told_apart=apart,
                    from_pairs=True, low_label="steadier", high_label="more spread",
                ),
                label=f"fig-ranks-{number}",
                caption=(
                    f"Mean ranks of spread, {judge}. A bar joins conditions that Nemenyi's "
                    "comparisons do not tell apart; that does not show that they are equal."
                ),
            )
        )  # fmt: skip
    return shown


def _mean_ranks(text: str) -> dict[str, float]:
    """Mean ranks out of a printed Friedman test (``mean rank T=0.5    3.14``)."""
    ranks: dict[str, float] = {}
    for line in text.splitlines():
        head, _, tail = line.strip().rpartition(" ")
        if head.startswith("mean rank "):
            try:
                ranks[head.removeprefix("mean rank ").strip()] = float(tail)
            except ValueError:
                continue
    return ranks


def variance_ratios(run: Run) -> Captioned | None:
    """Ratios of within-item variances with intervals, by judge."""
    rows = []
    for result in run.with_prefix("ratio"):
        group = str(result.get("title", ""))
        for line in result.get("tidy") or []:
            estimate = number_of(line.get("estimate"))
            if not estimate > 0:
                continue
            rows.append(
                plots.EffectRow(
                    label=f"{line['a']} / {line['b']}", estimate=estimate,
                    low=number_of(line.get("conf_low")), high=number_of(line.get("conf_high")),
                    group=group,
                )
            )  # fmt: skip
    if not rows:
        return None
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows[:_MOST_ROWS]), reference=1.0, log=True, level=run.level,
            x_label="Ratio of within-item variances",
        ),
        label="fig-ratios",
        caption=(
            "Ratios of pooled within-item variances with intervals over questions, on a log axis. "
            "Filled squares: the interval leaves out 1. Pairs with a variance of 0 have no ratio "
            "and are not shown."
        ),
    )  # fmt: skip


def equivalence(run: Run) -> list[Captioned]:
    """Ratios, and differences, against the margin declared beforehand: a figure for each."""
    kinds: dict[tuple[float, float], list[plots.EffectRow]] = {}
    for result in run.with_prefix("equivalence"):
        _, comma, judge = str(result.get("title", "")).rpartition(", ")
        place = f"{judge}: " if comma else ""  # the rows of a family say it themselves
        for line in result.get("tidy") or []:
            margin = (number_of(line.get("margin_low")), number_of(line.get("margin_high")))
            estimate = number_of(line.get("estimate"))
            ratio = margin[0] > 0  # a margin of differences lies around 0, one of ratios around 1
            if not margin[0] < margin[1] or math.isnan(estimate) or (ratio and not estimate > 0):
                continue
            kinds.setdefault(margin, []).append(
                plots.EffectRow(
                    label=f"{place}{line['a']} {'/' if ratio else '-'} {line['b']}",
                    estimate=estimate,
                    low=number_of(line.get("conf_low")), high=number_of(line.get("conf_high")),
                )
            )  # fmt: skip
    shown: list[Captioned] = []
    for margin, rows in kinds.items():
        ratio = margin[0] > 0
        number = f"-{len(shown) + 1}" if shown else ""
        neutral, what = (1, "Ratio of within-item variances") if ratio else (0, "Difference")
        shown.append(
            Captioned(
                figure=plots.Equivalence(
                    rows=tuple(rows[:_MOST_ROWS]), margin=margin, log=ratio, x_label=what
                ),
                label=f"fig-equivalence{number}",
                caption=(
                    "Is a difference shown to be small? Only an interval that lies inside the "
                    f"declared margin says so; one that merely includes {neutral} does not."
                ),
            )
        )
    return shown
