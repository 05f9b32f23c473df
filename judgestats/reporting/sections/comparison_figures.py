"""Figures of conditions compared: ranks, ratios of variances, equivalence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from judgestats.reporting import plots
from judgestats.reporting.display import Captioned
from judgestats.reporting.runs import Run, number_of
from judgestats.results import Comparison, Estimate, Results, ResultSet, Test, quantity_of
from judgestats.results.numbers import bounds_of

_MOST_ROWS = 36
FILLED = (
    "Filled squares: told apart by the test of the pair, adjusted for all pairs; the intervals "
    "are not adjusted."
)


_JOINED = (
    " Bars join conditions which lie within the critical difference (CD) of Nemenyi's comparisons: "
    "not told apart, which does not show that they are equal."
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
            "Ratios of pooled within-item variances with intervals over questions, on a log axis. "
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
                    "Is a difference shown to be small? Only an interval inside the declared "
                    f"margin can say so; one that merely includes {neutral} does not. The verdicts "
                    "beside are those of the tests, adjusted for all pairs."
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
