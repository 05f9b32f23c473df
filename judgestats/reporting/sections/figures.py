"""Figures of scores, their dispersion, and coefficients, by condition and by pair."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.reporting import plots
from judgestats.reporting.numbers import number
from judgestats.reporting.runs import Run, number_of, rows_of
from judgestats.reporting.sections.conditions import (
    coefficients_of,
    extremes_title,
    full_condition,
    measured,
    short_condition,
    subject_of,
)
from judgestats.reporting.tables import Captioned
from judgestats.results import (
    CONDITIONS,
    Comparison,
    Estimate,
    Results,
    ResultSet,
    Test,
    quantity_of,
)
from judgestats.results import Table as TableRecord
from judgestats.results.numbers import TARGETS, bounds_of

_CENTRED = "published.centred"
_MOST_ROWS = 36
_MOST_COEFFICIENTS = 24
FILLED = "Filled squares: significant after adjustment for all pairs. Intervals are not adjusted."


def compared(run: Run) -> list[Captioned]:
    """The figures of pairs and ranks: ranks, ratios, and differences next to their margin."""
    ratios = dispersion_ratios(run)
    ranked = [*critical_differences(run), *([ratios] if ratios else [])]
    return [*ranked, *equivalence(run), *specification_curves(run)]


def _judges(run: Run) -> list[str]:
    if "judge" not in run.conditions:
        return [""]
    return list(dict.fromkeys(run.conditions["judge"].astype(str)))


def scores(run: Run) -> Captioned | None:
    """Distribution of scores by condition."""
    from judgestats.analysis.scores import on_one_scale

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
            "A judge that uses few points of the scale has a small SEM but separates few items. "
            "Scores by condition."
            + (" Scores of all scales are converted to one." if "scale" in run.conditions else "")
        ),
    )


def centred(run: Run) -> list[Captioned]:
    """Scores minus their item's mean by condition, for runs of a study that shows them."""
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
                x_label="Score minus the item's mean",
            ),
            label="fig-centred",
            caption="A wider row has a larger SEM. Scores minus the mean of their item.",
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
            "Repeats of some items vary more than those of others. Each thin line is the SD of "
            "one item over the conditions. Points are means over items with "
            f"{100 * run.level:g}% intervals over clusters."
        ),
    )


def mean_against_spread(run: Run) -> Captioned | None:
    """Within-item variance against the mean score, a line per judge."""
    table = run.conditions
    if not {"mean", "within_variance"} <= set(table.columns):
        return None
    lines: dict[str, list[plots.Point]] = {}
    for row in rows_of(table):
        point = plots.Point(x=number_of(row["mean"]), value=number_of(row["within_variance"]))
        if math.isfinite(point.x) and math.isfinite(point.value):
            lines.setdefault(str(row.get("judge", "")), []).append(point)
    if not lines:
        return None
    curves = tuple(plots.Curve(name=name, points=tuple(own)) for name, own in lines.items())
    panel = plots.CurvePanel(y_label="Within-item variance", curves=curves, from_zero=True)
    return Captioned(
        figure=plots.Curves(panels=(panel,), x_label="Mean score"),
        label="fig-mean-spread",
        caption="Variance falls near the ends of the scale, whatever the judge (ceiling effect). "
        "Within-item variance against the mean score, a point per condition in their order.",
    )


_AVERAGED = (1, 2, 3, 5, 10, 20)
_MOST_CURVES, _MOST_WITH_INTERVALS = 7, 4


def reliability_by_k(run: Run) -> Captioned | None:
    """Reliability of the mean of k judgments by condition."""
    table = run.conditions
    if "icc1" not in table or not np.isfinite(table["icc1"].to_numpy(dtype=float)).any():
        return None
    rows = [r for r in rows_of(table) if math.isfinite(number_of(r.get("icc1")))]
    shown = [r for r in rows if not number_of(r.get("constant_share", 0.0)) >= 0.95] or rows
    ordered = sorted(shown, key=lambda r: number_of(r["icc1"]))
    if len(shown) > _MOST_CURVES:
        named = [ordered[-1], ordered[len(ordered) // 2], ordered[0]]
    else:
        named = shown
    few = len(shown) <= _MOST_WITH_INTERVALS
    curves = tuple(
        plots.Curve(
            name=full_condition(r, run),
            points=tuple(_stepped_up(r, k, bounds=few) for k in _AVERAGED),
            quiet=r not in named,
        )
        for r in [*named, *(r for r in shown if r not in named)]
    )
    panel = plots.CurvePanel(
        y_label="Reliability of the mean of k",
        curves=curves,
        lines=tuple((number(t, leading_zero=False), t) for t in TARGETS),
    )
    return Captioned(
        figure=plots.Curves(panels=(panel,), x_label="Judgments averaged (k)", log=True),
        label="fig-by-k",
        caption=(
            "The mean of several repeats is more reliable than one score. ICC(1,k) is projected "
            "from ICC(1,1) by the Spearman-Brown formula. Conditions without variance are left "
            "out. With more than seven curves, the highest, middle, and lowest are named."
        ),
    )


def _stepped_up(row: Mapping[str, Any], k: int, *, bounds: bool) -> plots.Point:
    """The reliability of the mean of k; one below 0 is drawn as 0, where averaging cannot help."""
    singles = [number_of(row.get(f"icc1{end}")) for end in ("", "_low", "_high")]
    shown = [one if math.isnan(one) else max(0.0, one) for one in singles]
    value, low, high = (k * one / (1 + (k - 1) * one) for one in shown)
    return plots.Point(x=k, value=value, **({"low": low, "high": high} if bounds else {}))


def critical_differences(run: Run) -> list[Captioned]:
    """Mean ranks, lowest first, joined within Nemenyi's critical difference; a figure per judge."""
    records = run.records
    shown: list[Captioned] = []
    for record in records.select(ResultSet, top=True):
        if record.name != "nemenyi":
            continue
        pairs = [r for r in records.members(record) if isinstance(r, Comparison)]
        ranks = _mean_ranks(record, pairs, records)
        if len(ranks) < 2:
            continue
        apart = {frozenset((r.a, r.b)) for r in pairs if r.p_adjusted < 0.05}
        names = sorted(ranks, key=lambda name: ranks[name])
        same = np.array([[frozenset((a, b)) not in apart for b in names] for a in names])
        what = "Mean rank of dispersion" if record.hypothesis == "spread" else "Mean rank"
        distance = number(record.details.get("critical_difference"))
        points = tuple(plots.Point(value=ranks[name]) for name in names)
        whose = record.about.stratum or record.about.judge or "all conditions"
        shown.append(
            Captioned(
                figure=plots.Dots(
                    labels=tuple(names),
                    panels=(plots.DotPanel(x_label=what, points=points),),
                    brackets=tuple(plots.cliques([ranks[name] for name in names], same)),
                ),
                label=f"fig-ranks-{len(shown) + 1}",
                caption=f"{extremes_title(what, names, [ranks[n] for n in names])} {whose}. Bars "
                f"join conditions within Nemenyi's critical difference ({distance} ranks), which "
                "does not show that they are equal.",
            )
        )
    return shown


def _mean_ranks(
    compared: ResultSet, pairs: Sequence[Comparison], results: Results
) -> dict[str, float]:
    """Mean ranks of the levels that are compared, from the rank test of the same hypothesis."""
    levels = {name for pair in pairs for name in (pair.a, pair.b)}
    for test in results.select(Test, hypothesis=compared.hypothesis):
        stem = "mean rank "
        ranks = {k.removeprefix(stem): v for k, v in test.groups.items() if k.startswith(stem)}
        if test.about == compared.about and levels == set(ranks):
            return ranks
    return {}


def effect_of(
    record: Estimate | Comparison, label: str, group: str = "", *, verdict: plots.Verdict = ""
) -> plots.EffectRow:
    """A record as a row of a figure, next to its null where it has one."""
    low, high = bounds_of(record.interval)
    null = record.null if isinstance(record, Estimate) else None
    return plots.EffectRow(
        label=label,
        estimate=record.estimate,
        low=low,
        high=high,
        group=group,
        verdict=verdict,
        null_mean=null.mean if null else math.nan,
        null_q95=null.q95 if null else math.nan,
    )


_RATIOS = {
    "gmd": ("GMD ratio", "equal mean differences of repeats"),
    "ratio": ("Ratio of within-item variances", "equal variance of repeats"),
}


def dispersion_ratios(run: Run) -> Captioned | None:
    """GMD ratios of pairs with intervals, by judge; ratios of variances where there are none."""
    for kind, (what, meaning) in _RATIOS.items():
        rows = [
            effect_of(
                pair, f"{pair.a} / {pair.b}", whole.title, verdict=verdict_of(pair, run.records)
            )
            for whole, pair in _pairs(run, kind)
            if pair.estimate > 0
        ]
        if rows:
            return Captioned(
                figure=plots.Forest(
                    rows=tuple(rows[:_MOST_ROWS]), reference=1.0, log=True, level=run.level,
                    x_label=what,
                ),
                label="fig-ratios",
                caption=(
                    f"A ratio of 1 means {meaning}. {what} of pairs of conditions, on a log axis. "
                    f"{FILLED} Pairs with equal repeats have no ratio and are not shown."
                ),
            )  # fmt: skip
    return None


def equivalence(run: Run) -> list[Captioned]:
    """Ratios, and differences, against the margin declared beforehand: a figure for each."""
    kinds: dict[tuple[float, float, bool], list[plots.EffectRow]] = {}
    for _, pair in _pairs(run, "equivalence"):
        if pair.margin is None or math.isnan(pair.estimate):
            continue
        margin = (pair.margin.low, pair.margin.high)
        ratio = quantity_of(pair.margin.estimand).is_ratio
        if not margin[0] < margin[1] or (ratio and not pair.estimate > 0):
            continue
        # the rows of a family across judges say themselves whose they are
        place = f"{pair.about.judge}: " if pair.about.judge else ""
        label = f"{place}{pair.a} {'/' if ratio else '-'} {pair.b}"
        row = effect_of(pair, label, verdict=verdict_of(pair, run.records))
        kinds.setdefault((*margin, ratio), []).append(row)
    shown: list[Captioned] = []
    for (low, high, ratio), rows in kinds.items():
        number = f"-{len(shown) + 1}" if shown else ""
        neutral, what = (1, "Ratio of within-item variances") if ratio else (0, "Difference")
        shown.append(
            Captioned(
                figure=plots.Forest(
                    rows=tuple(rows[:_MOST_ROWS]),
                    margin=(low, high),
                    log=ratio,
                    x_label=what,
                    reference=neutral,
                    level=0.90,
                ),
                label=f"fig-equivalence{number}",
                caption=(
                    "An interval inside the margin shows equivalence; one that only includes "
                    f"{neutral} does not. Results of the tests are at the right, adjusted for all "
                    "pairs."
                ),
            )
        )
    return shown


_SPECS = {
    "default": "Declared analysis",
    "decides": "One change",
    "reveals": "Other clusters (does not decide)",
    "apart": "Other estimands (drawn apart)",
    "all": "All combinations, by estimate",
}
"""Groups of a specification curve, from top to bottom."""


def specification_curves(run: Run) -> list[Captioned]:
    """The specification curve of each claim on two conditions: estimate and interval, sorted."""
    shown: list[Captioned] = []
    for record in run.records.select(TableRecord, top=True):
        if not record.id.startswith("specs."):
            continue
        found = [r for r in run.table(record.id) if not math.isnan(number_of(r["estimate"]))]
        rows = [
            plots.EffectRow(
                label=f"{r['choice']}: {r['value']}" if r["choice"] != "declared" else "declared",
                estimate=number_of(r["estimate"]), low=number_of(r["low"]),
                high=number_of(r["high"]), group=_SPECS[role],
                verdict="undecided" if r["verdict"] == "open" else "different",
            )
            for role in _SPECS for r in found if r["role"] == role
        ]  # fmt: skip
        every = [r for r in found if r["role"] == "all"]
        if len(rows) < 2:
            continue
        ratio = record.id.startswith("specs.gmd")
        own = next((r["verdict"] for r in found if r["role"] == "default"), "")
        same = sum(r["verdict"] == own for r in every)
        ends = [number_of(r["estimate"]) for r in every] or [math.nan]
        shown.append(
            Captioned(
                figure=plots.Forest(
                    rows=tuple(rows[:_MOST_ROWS]), log=ratio, reference=1 if ratio else 0,
                    x_label=record.title.removeprefix("Specification curve: "),
                ),
                label=f"fig-specifications-{len(shown) + 1}",
                caption=(
                    f"Filled squares: significant. {len(every)} combinations, estimates "
                    f"{number(min(ends))} to {number(max(ends))}; {same} of {len(every)} have the "
                    "sign and verdict of the declared analysis, which stays the headline."
                ),
            )
        )  # fmt: skip
    return shown


def verdict_of(pair: Comparison, results: Results) -> plots.Verdict:
    """What the declared tests of a pair say, adjusted in their families.

    The equivalence test comes first; without equivalence the test of the difference decides.
    """
    about = (pair.about.stratum, pair.about.judge, frozenset((pair.a, pair.b)))
    beside = [
        other
        for other in results.select(Comparison)
        if other.margin is None
        and other.estimand == pair.estimand
        and (other.about.stratum, other.about.judge, frozenset((other.a, other.b))) == about
    ]
    tested = [pair, *beside] if pair.margin is None else beside
    p = _p_of(pair)
    if pair.margin is not None and p <= pair.margin.alpha:
        return "equivalent"
    if any(_p_of(one) < _level(one, results) for one in tested[:1]):
        return "different"
    return "" if math.isnan(p) else "undecided"


def _p_of(pair: Comparison) -> float:
    return pair.p_adjusted if pair.family else pair.p


def _level(pair: Comparison, results: Results) -> float:
    return results.family(pair.family).level if pair.family else 0.05


def _pairs(run: Run, kind: str) -> Iterator[tuple[ResultSet, Comparison]]:
    """The pairs of the results of a kind, each with its whole."""
    for whole in run.select_kind(kind):
        if isinstance(whole, ResultSet):
            for pair in run.records.members(whole):
                if isinstance(pair, Comparison):
                    yield whole, pair


def extremes(rows: Sequence[plots.EffectRow], what: str = "") -> str:
    """Title of a figure of effects, from its first group."""
    group = rows[0].group
    own = [r for r in rows if r.group == group and group != "Baselines"]
    names, values = [r.label for r in own], [r.estimate for r in own]
    return extremes_title(what or group or "The coefficient", names, values)


def effect_in(
    row: Mapping[str, Any], key: str, label: str, group: str = "", *, null: bool = False
) -> plots.EffectRow:
    """A column of the table of conditions as a row of a figure."""
    estimate, low, high, mean, q95 = (
        number_of(row.get(f"{key}{end}"))
        for end in ("", "_low", "_high", "_null_mean", "_null_q95")
    )
    plain = plots.EffectRow(label=label, estimate=estimate, low=low, high=high, group=group)
    return replace(plain, null_mean=mean, null_q95=q95) if null else plain


def null_strip(run: Run) -> Captioned | None:
    """Coefficients next to their null: of conditions, or all estimates that carry one."""
    table = run.conditions
    kind = "reliability" if "reliability_null_q95" in table else "icc1"
    if f"{kind}_null_q95" in table:
        rows = [
            effect_in(r, kind, full_condition(r, run), null=True)
            for r in run.described
            if math.isfinite(number_of(r.get(kind)))
        ]
        what = name = "ICC(1,1)" if kind == "icc1" else "Reliability"
    else:
        rows, what, name = _null_rows(run), "The coefficient", "Coefficient"
    if not rows:
        return None
    also = ""
    if len(rows) > _MOST_ROWS:
        also = f" The first {_MOST_ROWS} of {len(rows)} are drawn; the tables have all."
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows[:_MOST_ROWS]),
            x_label=name,
            reference=math.nan,
            level=run.level,
            bounded=True,
        ),
        label="fig-null",
        caption=f"{extremes(rows, what)} Grey: its null, from the mean (tick) to the 95th "
        f"percentile of the same coefficient with judgments shuffled.{also}",
    )


def _with_null(run: Run) -> list[Estimate]:
    """The estimates that carry a null reference; of primary ones where some do.

    The tables hold the nulls of all others, for which a page has no space.
    """
    with_null = [
        record for record in run.records.select(Estimate)
        if record.null is not None and not math.isnan(record.null.mean)
    ]  # fmt: skip
    return [record for record in with_null if record.role == "primary"] or with_null


def _null_rows(run: Run) -> list[plots.EffectRow]:
    """A row for each result with a null, those of one coefficient together."""
    rows = []
    for record in _with_null(run):
        condition = subject_of(record)
        group = quantity_of(record.estimand).heading if condition else ""
        rows.append(effect_of(record, condition or record.title, group))
    groups = [g for g in dict.fromkeys(row.group for row in rows) if g]
    rows.sort(key=lambda row: groups.index(row.group) if row.group else -1)
    if len(rows) > _MOST_ROWS and rows[0].group:  # the first coefficient is the main one
        rows = [row for row in rows if row.group == rows[0].group]
    return rows


def coefficients(run: Run) -> Captioned | None:
    """Coefficients of verdicts with intervals, grouped by coefficient.

    Agreement with human labels has a separate figure, with the baselines.
    """
    every = range(len(run.table(CONDITIONS)))
    names = {
        k: v for k, v in coefficients_of(run).items()
        if not k.startswith("alignment")
        and all(measured(run, i, k).bounded for i in every)  # points have another axis
    }  # fmt: skip
    rows = [
        effect_in(row, key, full_condition(row, run), label)
        for key, label in names.items()
        for row in run.compared
        if not math.isnan(number_of(row.get(key)))
    ]  # fmt: skip
    while len(rows) > _MOST_COEFFICIENTS and len({r.group for r in rows}) > 1:
        rows = [r for r in rows if r.group != rows[-1].group]  # the first are the main ones
    if not rows or len(rows) > 2 * _MOST_COEFFICIENTS:
        return None
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows), x_label="Estimate", level=run.level, reference=math.nan, bounded=True
        ),
        label="fig-coefficients",
        caption=(f"{extremes(rows)} Coefficients of verdicts with {100 * run.level:g}% intervals."),
    )
