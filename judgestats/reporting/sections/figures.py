"""Figures of scores, their dispersion, and coefficients, by condition and by pair."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judgestats.reporting import plots
from judgestats.reporting.numbers import number
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.conditions import extremes_title, level_of, p_of, subject_of
from judgestats.reporting.tables import Captioned
from judgestats.results import (
    CONDITIONS,
    Comparison,
    Estimate,
    Results,
    ResultSet,
    quantity_of,
)
from judgestats.results import Table as TableRecord
from judgestats.results.numbers import bounds_of

_MOST_ROWS = 36
FILLED = "Filled squares: significant after adjustment for all pairs. Intervals are not adjusted."


def compared(run: Run) -> list[Captioned]:
    """The figures of pairs: ratios, differences next to their margin, and specifications."""
    ratios = dispersion_ratios(run)
    return [*([ratios] if ratios else []), *equivalence(run), *specification_curves(run)]


def scores(run: Run) -> Captioned | None:
    """Distribution of scores by condition."""
    from judgestats.analysis.scores import on_one_scale

    frame = on_one_scale(run.finals, run.conditions, run.scale)
    if frame.empty or "score" not in frame or not frame["score"].notna().any():
        return None
    scored = frame[frame["score"].notna()]
    names = list(dict.fromkeys(scored["condition"].astype(str)))[:_MOST_ROWS]
    values = tuple(
        scored.loc[scored["condition"] == n, "score"].to_numpy(dtype=float) for n in names
    )
    return Captioned(
        figure=plots.ScoreDistribution(
            labels=tuple(map(run.condition_name, names)), scores=values, scale=run.scale
        ),
        label="fig-scores",
        caption=(
            "A judge that uses few points of the scale has a small SEM but separates few items. "
            "Scores by condition."
            + (" Scores of all scales are converted to one." if "scale" in run.conditions else "")
        ),
    )


def centred(run: Run) -> Captioned | None:
    """Scores minus their item's mean by condition, for runs of a study that shows them."""
    own: dict[str, list[float]] = {}
    for row in run.table("published.centred"):
        shown = own.setdefault(run.condition_name(str(row["condition"])), [])
        shown += [number_of(row["score_less_item_mean"])] * int(row["count"])
    if not own:
        return None
    return Captioned(
        figure=plots.ScoreDistribution(
            labels=tuple(own),
            scores=tuple(np.array(scores) for scores in own.values()),
            x_label="Score minus the item's mean",
        ),
        label="fig-centred",
        caption="A wider row has a larger SEM. Scores minus the mean of their item.",
    )


def mean_against_spread(run: Run) -> Captioned | None:
    """Within-item variance against the mean score, a line per judge."""
    table = run.conditions
    if not {"mean", "within_variance"} <= set(table.columns):
        return None
    lines: dict[str, list[plots.Point]] = {}
    for row in run.table(CONDITIONS):
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


def _effect(
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
            _effect(
                pair, f"{pair.a} / {pair.b}", whole.title, verdict=verdict_of(pair, run.records)
            )
            for whole, pair in _pairs(run, kind)
            if pair.estimate > 0
        ]
        if rows:
            return _forest(
                rows, "fig-ratios",
                f"A ratio of 1 means {meaning}. {what} of pairs of conditions, on a log axis. "
                f"{FILLED} Pairs with equal repeats have no ratio and are not shown.",
                reference=1.0, log=True, level=run.level, x_label=what,
            )  # fmt: skip
    return None


def _forest(rows: Sequence[plots.EffectRow], label: str, caption: str, **options: Any) -> Captioned:
    figure = plots.Forest(rows=tuple(rows[:_MOST_ROWS]), **options)
    return Captioned(figure=figure, label=label, caption=caption)


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
        row = _effect(pair, label, verdict=verdict_of(pair, run.records))
        kinds.setdefault((*margin, ratio), []).append(row)
    shown: list[Captioned] = []
    for (low, high, ratio), rows in kinds.items():
        number = f"-{len(shown) + 1}" if shown else ""
        neutral, what = (1, "Ratio of within-item variances") if ratio else (0, "Difference")
        shown.append(
            _forest(
                rows, f"fig-equivalence{number}",
                "An interval inside the margin shows equivalence; one that only includes "
                f"{neutral} does not. Results of the tests are at the right, adjusted for all "
                "pairs.",
                margin=(low, high), log=ratio, x_label=what, reference=neutral, level=0.90,
            )
        )  # fmt: skip
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
            _forest(
                rows, f"fig-specifications-{len(shown) + 1}",
                f"Filled squares: significant. {len(every)} combinations, estimates "
                f"{number(min(ends))} to {number(max(ends))}; {same} of {len(every)} have the "
                "sign and verdict of the declared analysis, which stays the headline.",
                log=ratio, reference=1 if ratio else 0,
                x_label=record.title.removeprefix("Specification curve: "),
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
    p = p_of(pair)[1]
    if pair.margin is not None and p <= pair.margin.alpha:
        return "equivalent"
    if any(p_of(one)[1] < level_of(one, results) for one in tested[:1]):
        return "different"
    return "" if math.isnan(p) else "undecided"


def _pairs(run: Run, kind: str) -> Iterator[tuple[ResultSet, Comparison]]:
    """The pairs of the results of a kind, each with its whole."""
    for whole in run.select_kind(kind):
        if isinstance(whole, ResultSet):
            for pair in run.records.members(whole):
                if isinstance(pair, Comparison):
                    yield whole, pair


def null_strip(run: Run) -> Captioned | None:
    """Coefficients next to their null; the primary ones where some of these carry one.

    The tables hold the nulls of all others, for which a page has no space.
    """
    every = [
        record for record in run.records.select(Estimate)
        if record.null is not None and not math.isnan(record.null.mean)
    ]  # fmt: skip
    rows = []
    for record in [r for r in every if r.role == "primary"] or every:
        subject = subject_of(record)
        group = quantity_of(record.estimand).heading if subject else ""
        rows.append(_effect(record, run.condition_name(subject) or record.title, group))
    groups = [g for g in dict.fromkeys(row.group for row in rows) if g]
    rows.sort(key=lambda row: groups.index(row.group) if row.group else -1)
    if len(rows) > _MOST_ROWS and rows[0].group:  # the first coefficient is the main one
        rows = [row for row in rows if row.group == rows[0].group]
    if not rows:
        return None
    shown = rows[:_MOST_ROWS]
    also = f" The first {_MOST_ROWS} of {len(rows)} are drawn; the tables have all."
    first = shown[0].group or "the coefficient"
    only = len({row.group for row in shown}) == 1
    own = [r for r in shown if r.group == shown[0].group]
    title = extremes_title(
        f"{first[0].upper()}{first[1:]}", [r.label for r in own], [r.estimate for r in own]
    )
    return _forest(
        [replace(row, group="") if only else row for row in shown], "fig-null",
        f"{title} Grey: its null, from the mean (tick) to the 95th percentile of the same "
        f"coefficient with judgments shuffled.{also * (len(rows) > _MOST_ROWS)}",
        x_label=shown[0].group if only and shown[0].group else "Coefficient",
        reference=math.nan, level=run.level, bounded=True,
    )  # fmt: skip
