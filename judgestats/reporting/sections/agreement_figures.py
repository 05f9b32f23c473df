"""Figures of agreement, calibration, nulls, and conditions compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judgestats.reporting import plots
from judgestats.reporting.display import Captioned, Showable
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections import data
from judgestats.reporting.sections.measures import extremes_title, measured
from judgestats.reporting.sections.result_tables import subject_of
from judgestats.reporting.tables import Column, Table, filled
from judgestats.results import (
    CONDITIONS,
    Comparison,
    Estimate,
    Results,
    ResultSet,
    Test,
    quantity_of,
)
from judgestats.results import Table as ResultsTable
from judgestats.results.numbers import bounds_of
from judgestats.results.records import rows_of_table

_MOST_ROWS = 36
FILLED = "Filled squares: significant after adjustment for all pairs. Intervals are not adjusted."


_JOINED = (
    " Bars join conditions within the critical difference (CD) of Nemenyi's comparisons: no "
    "difference is significant, which does not show that they are equal."
)


def critical_differences(run: Run) -> list[Captioned]:
    """Mean ranks of spread with Nemenyi's critical difference, a diagram a judge."""
    records = run.records
    shown: list[Captioned] = []
    for record in records.select(ResultSet, top=True):
        if record.name != "nemenyi":
            continue
        pairs = [r for r in records.members(record) if isinstance(r, Comparison)]
        judge = record.about.stratum or record.about.judge or "all conditions"
        ranks = _mean_ranks(record, pairs, records)
        if len(ranks) < 2:
            continue
        apart = tuple((r.a, r.b) for r in pairs if r.p_adjusted < 0.05)
        number = len(shown) + 1
        spread = record.hypothesis == "spread"
        ends = ("steadier", "more spread") if spread else ("low", "high")
        what = "Mean ranks of spread" if spread else "Mean ranks"
        shown.append(
            Captioned(
                figure=plots.CriticalDifference(
                    labels=tuple(ranks), mean_ranks=tuple(ranks.values()), told_apart=apart,
                    low_label=ends[0], high_label=ends[1],
                    critical_difference=number_of(record.details.get("critical_difference")),
                ),
                label=f"fig-ranks-{number}",
                caption=f"{what}, {judge}.{_JOINED if number == 1 else ''}",
            )
        )  # fmt: skip
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
    """A record as a row of a figure, beside its null where it has one."""
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


def variance_ratios(run: Run) -> Captioned | None:
    """Ratios of within-item variances with intervals, by judge."""
    rows = []
    for whole, pair in _pairs(run, "ratio"):
        if pair.estimate > 0:
            verdict = verdict_of(pair, run.records)
            rows.append(effect_of(pair, f"{pair.a} / {pair.b}", whole.title, verdict=verdict))
    if not rows:
        return None
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows[:_MOST_ROWS]), reference=1.0, log=True, level=run.level,
            x_label="Ratio of within-item variances",
        ),
        label="fig-ratios",
        caption=(
            "A ratio of 1 means equal variance of repeats. Ratios of pooled within-item variances "
            "with intervals over clusters, on a log axis. "
            f"{FILLED} Pairs with a variance of 0 have no ratio and are not shown."
        ),
    )  # fmt: skip


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


def verdict_of(pair: Comparison, results: Results) -> plots.Verdict:
    """What the declared tests of a pair say, adjusted in their families.

    That a pair is alike stands where its test of equivalence shows it; else it is told apart or
    not by the test of its difference.
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
    for whole in run.named(kind):
        if isinstance(whole, ResultSet):
            for pair in run.records.members(whole):
                if isinstance(pair, Comparison):
                    yield whole, pair


_MOST_AGREEMENT_ROWS = 44


def alignment(run: Run) -> Captioned | None:
    """Agreement with people by condition, baselines last, the people's own as a line."""
    if "alignment" not in run.conditions:
        return None
    rows = [
        _effect_in(
            row, "alignment", data.short_condition(row, run),
            str(row.get("judge", "")) if run.by_judge else "",
        )
        for row in run.described
    ][:_MOST_AGREEMENT_ROWS]  # fmt: skip
    people = math.nan
    for record in run.named("alignment"):
        kind = record.id.partition(".")[2]
        if not isinstance(record, Estimate):
            continue
        if kind == "people":
            people = record.estimate
        elif kind in {"always_tie", "random"}:
            name = kind.replace("_", " ")
            rows.append(effect_of(replace(record, null=None), name, "Baselines" * run.by_judge))
    if not any(math.isfinite(r.estimate) for r in rows):
        return None
    has_ceiling = math.isfinite(people)
    line = f"The line is the human ceiling ({people:.3f})." if has_ceiling else "The line is .5."
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows),
            x_label="Agreement with humans (1 / .5 / 0)",
            reference=people if has_ceiling else 0.5,
            level=run.level,
        ),
        label="fig-alignment",
        caption=f"{_extremes(rows, 'Agreement with humans')} Intervals are over clusters. {line}",
    )


def _extremes(rows: Sequence[plots.EffectRow], what: str = "") -> str:
    """Title of a figure of effects, from its first group."""
    group = rows[0].group
    own = [r for r in rows if r.group == group and group != "Baselines"]
    names, values = [r.label for r in own], [r.estimate for r in own]
    return extremes_title(what or group or "The coefficient", names, values)


def _effect_in(
    row: Mapping[str, Any], key: str, label: str, group: str = "", *, null: bool = False
) -> plots.EffectRow:
    """A column of the table of conditions as a row of a figure."""
    estimate, low, high, mean, q95 = (
        number_of(row.get(f"{key}{end}"))
        for end in ("", "_low", "_high", "_null_mean", "_null_q95")
    )
    plain = plots.EffectRow(label=label, estimate=estimate, low=low, high=high, group=group)
    return replace(plain, null_mean=mean, null_q95=q95) if null else plain


def costs(run: Run) -> Table | None:
    """What a score or verdict is made of, what that costs, and what it gives."""
    table = run.conditions
    asked = "k" if "k" in table else "judgments_per_pair"
    if asked not in table or "alignment" not in table:
        return None
    unit = "Judgments per answer" if asked == "k" else "Judgments per pair"
    cost = "cost_usd" if asked == "k" else "cost_per_pair"
    columns = [
        Column(key=asked, label=unit, format="number:2"),
        Column(key=cost, label="Cost", format="money"),
        Column(key="reliability", label="Reliability", format="coefficient:3"),
        Column(key="tie_share", label="Ties", format="percent:0"),
        Column(key="same_and_wrong", label="Same every time, and wrong", format="percent:0"),
        Column(key="alignment", label="Agreement with humans", format="coefficient:3"),
    ]
    return data.condition_table(
        run,
        filled(columns, run.described),
        run.described,
        caption=(
            "What each condition asks for, what that costs ("
            + ("all answers" if asked == "k" else "a pair")
            + "), and what it gives."
        ),
        label="tbl-costs",
    )


_MOST = 6


def confidences(run: Run) -> list[Showable]:
    """How often each judge was right by its stated confidence, and the calibration error in words.

    Parameters
    ----------
    run : Run
        Its tables ``people.reliability_diagram.CONDITION`` hold the bins.
    """
    diagrams = [
        r
        for r in run.records.select(ResultsTable)
        if r.id.startswith("people.reliability_diagram.")
    ]
    curves = tuple(_curve(r) for r in diagrams[:_MOST] if r.rows)
    if not curves:
        return []
    text = " ".join(f"{c.name}: {r.text}" for c, r in zip(curves, diagrams, strict=False))
    return [
        Captioned(
            figure=plots.Curves(
                panels=(plots.CurvePanel(y_label="Accuracy", curves=curves, diagonal=True),),
                x_label="Stated confidence",
            ),
            label="fig-confidences",
            caption="A calibrated judge lies on the dashed line. Accuracy by stated confidence, in "
            "bins with intervals.",
        ),
        text,
    ]


def _curve(record: ResultsTable) -> plots.Curve:
    return plots.Curve(
        name=", ".join(record.about.conditions),
        points=tuple(
            plots.Point(
                x=float(row["confidence"]), value=float(row["share"]),
                low=float(row["conf_low"]), high=float(row["conf_high"]),
            )
            for row in rows_of_table(record)
        ),
    )  # fmt: skip


def null_strip(run: Run) -> Captioned | None:
    """Coefficients beside their null: ICC by condition, or all that carry a null reference."""
    table = run.conditions
    shuffled = (
        "every replication's judgments are shuffled over items, so that the item cannot matter."
    )
    kind = "reliability" if "reliability_null_q95" in table else "icc1"
    if f"{kind}_null_q95" in table:
        rows = [
            _effect_in(r, kind, data.full_condition(r, run), null=True)
            for r in run.described
            if math.isfinite(number_of(r.get(kind)))
        ]
        what, name, also = (
            ("ICC(1,1)", "ICC(1,1)", "")
            if kind == "icc1"
            else ("Reliability", "Reliability", " So are those behind every mean, median and mode.")
        )
    else:
        rows = _null_rows(run)
        what, name, also = "Coefficients", "Coefficient", ""
        shuffled = _null_description(run)
    if not rows:
        return None
    if len(rows) > _MOST_ROWS:
        also += f" The first {_MOST_ROWS} of {len(rows)} are drawn; the tables have all."
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows[:_MOST_ROWS]),
            x_label=name,
            reference=math.nan,
            level=run.level,
        ),
        label="fig-null",
        caption=(f"{_extremes(rows, what)} Each is drawn next to its null: {shuffled}{also}"),
    )


def _with_null(run: Run) -> list[Estimate]:
    """The estimates that carry a null reference; of primary ones where some do.

    The tables hold the nulls of all others, for which a page has no room.
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


def _null_description(run: Run) -> str:
    """What the null of each kind of result shuffles."""
    stems = {record.id.partition(".")[0] for record in _with_null(run)}
    people, order, judges = stems & {"people", "alignment"}, "order" in stems, "judges" in stems
    parts = []
    if "grade" in stems:
        parts.append("every selection is drawn at random, on the same numbers of options")
    if stems - {"people", "alignment", "order", "judges", "grade"}:
        parts.append("every replication's judgments are shuffled over items")
    if judges:
        parts.append("between judges, each judge's judgments are shuffled over items")
    if people:
        parts.append("for agreement with humans, labels are shuffled over items")
    if order:
        parts.append("for order, positions are exchanged within items")
    return "; ".join(parts) + "."


def null_heading(run: Run) -> str:
    """The heading of the section, by what stands beside its null."""
    graded = "grade_score" in run.conditions
    return "Grade Score and chance" if graded else "Reliability and its null"


def null_intro(run: Run) -> str:
    """What a null is, for the reader of the section."""
    if "grade_score" in run.conditions:
        return (
            "A Grade Score is read next to its null, which depends on the number of options. A "
            "Grade Score inside the range of a judge that selects at random shows nothing."
        )
    return (
        "A reliability is the share of the variance that belongs to the items. Each coefficient "
        "is shown next to its null: judgments of each repeat are shuffled over the items and the "
        "coefficient is computed again. The mean and the 95th percentile of the null are not 0. A "
        "coefficient inside that range shows nothing."
    )


_VERDICT_FIGURES_MOST_ROWS = 24
_MOST_PLACES = 28


def coefficients(run: Run) -> Captioned | None:
    """Coefficients of verdicts with intervals, grouped by coefficient.

    Agreement with people has a figure of its own, with the baselines.
    """
    every = range(len(run.table(CONDITIONS)))
    names = {
        k: v for k, v in data.coefficients_of(run).items()
        if not k.startswith("alignment")
        and all(measured(run, i, k).bounded for i in every)  # points have another axis
    }  # fmt: skip
    rows = [
        _effect_in(row, key, data.full_condition(row, run), label)
        for key, label in names.items()
        for row in run.compared
        if not math.isnan(number_of(row.get(key)))
    ]  # fmt: skip
    while len(rows) > _VERDICT_FIGURES_MOST_ROWS and len({r.group for r in rows}) > 1:
        rows = [r for r in rows if r.group != rows[-1].group]  # the first are the main ones
    if not rows or len(rows) > 2 * _VERDICT_FIGURES_MOST_ROWS:
        return None
    return Captioned(
        figure=plots.Forest(
            rows=tuple(rows), x_label="Estimate", level=run.level, reference=math.nan, bounded=True
        ),
        label="fig-coefficients",
        caption=(
            f"{_extremes(rows)} Coefficients of verdicts with {100 * run.level:g}% intervals."
        ),
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
            "A judge without position bias prefers both positions equally often. Share of "
            "preferences by position, over both orders of each pair, without ties."
        ),
    )  # fmt: skip
