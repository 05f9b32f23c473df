"""Bias probes of length, position, authorship, and scale."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgestats import stats
from judgestats.analysis import probe
from judgestats.analysis.coefficients import condition_metrics, declared_row, results_row
from judgestats.analysis.families import AnalysisPlan, Hypothesis, one_family
from judgestats.analysis.probe_tests import (
    ProbedJudge,
    on_another_scale,
    probed_judges,
    variant_scale,
)
from judgestats.analysis.records import (
    Analysis,
    Found,
    NamedResult,
    named_results,
    results_by_subject,
)
from judgestats.analysis.scores import ScoreConditions, declared_conditions
from judgestats.analysis.selections import add_estimate, sort_results
from judgestats.arrays import Floats
from judgestats.data.columns import Condition
from judgestats.items.records import Item
from judgestats.protocols import ORIGINAL, PAIRS, PROBES, Scale
from judgestats.results import About, Row
from judgestats.stats.agreement.preference import equivalence_of_effects, preference_effects
from judgestats.stats.inference.result import Comparisons, Estimate, TestResult

OF_JUDGES = "judges and temperatures"
POINTS = Scale(low=1, high=10)
"""Scores of every scale are reported in points of this one, so that scales can be compared."""
VARIANCE_RATIO = 1.5
"""Declared margin: variances on two scales within 1/1.5 to 1.5 of each other."""


def rescale_points(scores: Floats, scale: Scale) -> Floats:
    """Scores of a scale in points of `POINTS`."""
    share = (scores - scale.low) / (scale.high - scale.low)
    return np.asarray(POINTS.low + share * (POINTS.high - POINTS.low))


def _positions(judges: Sequence[ProbedJudge], declared: AnalysisPlan) -> list[NamedResult]:
    """First-position bias, verdicts that survive a swap, and position beyond repetition."""
    results: list[NamedResult] = []
    for judge in (j for j in judges if PAIRS in j.verdicts):
        ab, ba = judge.verdicts[PAIRS]
        common: dict[str, Any] = {"cluster": judge.cluster["pairs"], "level": declared.level}
        first = stats.first_position_preference(ab, ba, **common)
        own: Found = [
            ("position", "Preference for the first position", first),
            ("position.swap", "Both orders agree", stats.swap_consistency(ab, ba, **common)),
        ]
        if ab.shape[1] > 1:
            apart = stats.position_and_noise(ab, ba, **{**common, **declared.resampling})
            own.append(("position.noise", "Place and noise apart", apart))
        about = About(judge=judge.judge, stratum=judge.where, conditions=(judge.conditions[PAIRS],))
        results += named_results(judge.where, "secondary", *own, about=about)
    return results


def _lengths(judges: Sequence[ProbedJudge], declared: AnalysisPlan) -> list[NamedResult]:
    """Length among real answers, human preference and authorship held constant."""
    effects: dict[str, Comparisons] = {}
    for judge in judges:
        labelled = judge.labelled
        if labelled is None or PAIRS not in judge.verdicts:
            continue
        effects[judge.where] = preference_effects(
            judge.preferences()[PAIRS][:, 0],
            labelled.human,
            log_length_ratio=labelled.log_length_ratio,
            cluster=judge.cluster["pairs"],
            own=labelled.own if labelled.own.any() else None,
            level=declared.level,
        )["length"]
    if not effects:
        return []
    family = one_family(effects, family=f"length: {OF_JUDGES}")
    small = equivalence_of_effects(family, margin=declared.margins["verdicts"])
    return [
        NamedResult("length", "A response twice as long, human preference held constant",
              "secondary", family),
        NamedResult("equivalence.length", "Is the effect of length small", "secondary", small),
    ]  # fmt: skip


def _scale_of(variant: str, declared: AnalysisPlan) -> Scale:
    """The scale whose points a variant's scores have."""
    return Scale.parse(variant_scale(variant) or declared.options["scale"].replace(" ", "-"))


def _on_scales(judge: ProbedJudge) -> dict[str, Floats]:
    """Scores of the unchanged answers, by scale: the run's own first."""
    return {
        name: scores
        for name, scores in judge.scores.items()
        if (name == ORIGINAL or on_another_scale(name)) and not np.isnan(scores).all()
    }


def _label(variant: str, declared: AnalysisPlan) -> str:
    return f"scale {_scale_of(variant, declared)}" if variant == ORIGINAL else variant


def _spread_by_scale(judges: Sequence[ProbedJudge], declared: AnalysisPlan) -> list[NamedResult]:
    """Spread and mean on every scale, the same answers, in points of one scale."""
    tests: dict[str, TestResult] = {}
    ratios: dict[str, Comparisons] = {}
    shifts: dict[str, Comparisons] = {}
    small: dict[str, Any] = {}
    for judge in judges:
        scores = _on_scales(judge)
        if len(scores) < 2:
            continue
        names = [_label(s, declared) for s in scores]
        table = np.stack(
            [rescale_points(x, _scale_of(s, declared)) for s, x in scores.items()], axis=1
        )
        clusters = judge.cluster["scores"]
        spread = stats.spread_test(table, conditions=names, cluster=clusters, **declared.resampling)
        tests[judge.where], ratios[judge.where] = spread.blocked_f, spread.ratios
        if spread.shifts is not None:
            shifts[judge.where] = spread.shifts
        small[judge.where] = stats.equivalence_of_spread(
            table, conditions=names, cluster=clusters, margin=declared.margins["variance_ratio"]
        )
    if not tests:
        return []
    family, title = f"scale: {OF_JUDGES}", "Relative spread by scale"
    joint = stats.adjust_family(tests, family=family)
    return [
        *results_by_subject("spread.scale", title, "secondary", tests),
        NamedResult("spread.family", f"{title}, adjusted", "secondary", joint),
        *(
            NamedResult(identity, title, "secondary", one_family(parts, family=family))
            for identity, title, parts in (
                ("spread.ratio", "Ratios of relative variances", ratios),
                ("equivalence.spread", "Is the relative spread alike on all scales", small),
                ("shift.scale", "Mean by scale, in points of a 1-10 scale", shifts),
            )
            if parts
        ),
    ]


def _shapes(judges: Sequence[ProbedJudge], declared: AnalysisPlan) -> list[NamedResult]:
    """The shape of repeated scores on every scale, in its own points."""
    return [
        NamedResult(f"shape.{_label(s, declared)}, {j.where}",
              f"Shape of scores on {_label(s, declared)}, {j.where}", "secondary",
              stats.normality_test(x, cluster=j.cluster["scores"], level=declared.level))
        for j in judges
        for s, x in _on_scales(j).items()
    ]  # fmt: skip


def _on_other_scales(frame: pd.DataFrame, declared: AnalysisPlan) -> ScoreConditions | None:
    """Reliabilities, rows and metrics of scores on other scales, in points of a 1-10 scale."""
    own = frame[frame["factor_probe"].map(on_another_scale)]
    if own["score"].notna().sum() == 0:
        return None
    points = [
        part.assign(
            score=rescale_points(part["score"].to_numpy(float), _scale_of(str(name), declared))
        )
        for name, part in own.groupby("factor_probe", sort=False)
    ]
    return declared_conditions(pd.concat(points).loc[own.index], declared)[0]


def _unparsed(judges: Sequence[ProbedJudge], declared: AnalysisPlan) -> list[NamedResult]:
    """Padding and place under the other policy for what could not be read."""
    complete: dict[str, TestResult] = {}
    signs: dict[str, TestResult] = {}
    for judge in judges:
        sides = judge.paired_values(PROBES["padding"])
        if sides is not None:
            kept = ~np.isnan(np.hstack([sides.before, sides.after])).any(axis=1)
            if kept.sum() > 2:
                complete[judge.where] = stats.probe_shift(
                    sides.before[kept], sides.after[kept], margin=declared.margins["points"],
                    reach=float(declared.options["width"]), cluster=sides.cluster[kept],
                    level=declared.level,
                )  # fmt: skip
        if PAIRS in judge.verdicts:
            signs[judge.where] = stats.first_position_preference(
                *(np.where(v == "", "tie", v) for v in judge.verdicts[PAIRS]),
                cluster=judge.cluster["pairs"],
                level=declared.level,
            )
    title = "Padded minus original, completely read answers only"
    results = results_by_subject("padding.complete", title, "secondary", complete)
    if signs:
        of_signs = stats.adjust_family(signs, family="position, unparsed verdicts for neither")
        title = "Preference for the first position, unparsed verdicts for neither"
        results.append(NamedResult("position.unread", title, "secondary", of_signs))
    return results


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan of the probes chosen, with what is further asked of their data."""
    declared = probe.plan(parameters, conditions)
    further = (
        Hypothesis(
            "position", "How often is the first position chosen, and does a verdict survive a "
            "swap?",
            "exact sign test of the preference, share of pairs whose orders agree, and position "
            "effect beyond repeat noise",
        ),
        Hypothesis(
            "length", "Among real answers of equal human preference: does the judge prefer longer "
            "ones?",
            "regression of the judge's preference on the human preference, the log length ratio, "
            f"and authorship; two one-sided tests within {declared.margins['verdicts']:g}",
            OF_JUDGES,
        ),
        Hypothesis("spread", "Does the scale change the spread relative to its width?",
            "blocked F on cells of scores in points of a 1-10 scale; ratios of variances, and "
            f"their equivalence within 1/{VARIANCE_RATIO} to {VARIANCE_RATIO}", OF_JUDGES),
        Hypothesis("shift", "Does the scale change the mean?",
            "mean shift in points of a 1-10 scale, paired by answer",
            f"pairs of scales, {OF_JUDGES}"),
        Hypothesis("shape", "Are repeated scores normally distributed?",
            "excess kurtosis and skewness of scores centred by item, with intervals over "
            "questions, next to D'Agostino-Pearson's test",
            "not adjusted: the effect sizes matter", adjustment="none"),
    )  # fmt: skip
    chosen = parameters["probes"]
    scaled = any(p.kind == "scale" for p in chosen)
    asked = {"spread": scaled, "shift": scaled, "shape": any(p.asks == "scores" for p in chosen)}
    asked |= dict.fromkeys(("position", "length"), any(p.asks == "pairs" for p in chosen))
    return dataclasses.replace(
        declared,
        experiment="bias",
        margins={**declared.margins, "variance_ratio": VARIANCE_RATIO},
        hypotheses=(*declared.hypotheses, *(h for h in further if asked[h.id])),
    )


def analyse(frame: pd.DataFrame, declared: AnalysisPlan, *, items: Sequence[Item] = ()) -> Analysis:
    """Answer the plan's hypotheses: those of the probes, then the others.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments, with ``factor_probe``.
    declared : AnalysisPlan
    items : sequence of Item

    Returns
    -------
    Analysis
    """
    probed = probe.analyse(frame, declared, items=items)
    frame = frame[frame["status"] != "invalid_condition"]
    own, judges = probed_judges(frame, items, declared)
    scales = _on_other_scales(frame, declared)
    further = [
        *_positions(judges, declared),
        *_lengths(judges, declared),
        *_spread_by_scale(judges, declared),
        *_shapes(judges, declared),
        *(scales.results if scales else ()),
    ]
    if (frame["status"] != "ok").any():
        further += _unparsed(judges, declared)
    metrics = {k: dict(v) for k, v in probed.condition_metrics.items()}
    described = scales.table.to_dict("records") if scales else []
    for name, own_metrics in (scales.metrics if scales else {}).items():
        metrics[name] = {**metrics.get(name, {}), **own_metrics}
    more = {str(r["condition"]): {str(k): v for k, v in r.items()} for r in described}
    rows = [
        {**r, **more.get(str(r["condition"]), {})} for r in probed.conditions.to_dict("records")
    ]
    by_id = {r.id: r.result for r in further}
    for judge in judges:
        swap, lean = (by_id.get(f"position{k}.{judge.where}") for k in (".swap", ""))
        row = next((r for r in rows if r["condition"] == judge.conditions.get(PAIRS)), None)
        if row is None or not isinstance(swap, Estimate) or not isinstance(lean, TestResult):
            continue
        add_estimate(row, "swap_consistency", swap)
        add_estimate(row, "first_place", lean.effects[1])
        own_metrics = condition_metrics(row, _METRICS)
        metrics[row["condition"]] = {**metrics.get(row["condition"], {}), **own_metrics}
    table = pd.DataFrame(rows)
    return dataclasses.replace(
        probed,
        experiment="bias",
        question=declared.question,
        results=tuple(sort_results([*probed.results, *further], declared)),
        conditions=table,
        condition_metrics=metrics,
        limitations=(*probed.limitations, *_limits(own, table)),
        rows=_rows([j.where for j in judges], probed.rows),
    )


_METRICS = {"swap_consistency": "order/swap_consistency", "first_place": "order/first_place_share"}
_OWN_ROWS = {"fair_padding", "fair_position", "fair_own answer"}


def _rows(where: Sequence[str], probed: Sequence[Row]) -> tuple[Row, ...]:
    """By how much each judge follows padding, place and authorship; then the other probes.

    The row of position shows the shift that is claimed. Pairs that were judged for another probe
    show the share of first positions.
    """

    def shift(key: str, ask: str, short: str, probe: str, estimand: str) -> Row:
        ids = f"instrument.{probe}.{{}}/{estimand}"
        return results_row(key, ask, short, estimand, ids, where)

    place = declared_row("first_position_share", where, ids="position.{}/first_position_share")
    if any(row.key == "fair_position" for row in probed):
        place = shift("position", "Shift of the first position", "First position", "position",
                      "preference_shift")  # fmt: skip
    own = (
        shift("padding", "Shift of padding", "Padding", "padding", "probe_shift"),
        place,
        declared_row("swap_consistency", where, ids="position.swap.{}"),
        shift("own", "Self-preference", "Self-preference", "own answer", "preference_shift"),
    )
    return (*own, *(r for r in probed if r.key not in _OWN_ROWS))


def _limits(own: Mapping[str, str], table: pd.DataFrame) -> list[str]:
    limits = []
    if own:
        text = ", ".join(f"{j} (answers of {a})" for j, a in own.items())
        limits.append(
            f"Own answers: {text}. The human preference is held constant as far as labels allow. "
            "With few labels per pair it has error, and a judge that sees quality better than the "
            "labels can seem partial."
        )
    related = table.get("mean_spread_correlation")
    if related is not None and float(related.min()) < -0.3:
        limits.append(
            "Answers with high means vary less (correlation down to "
            f"{related.min():.2f}): read mean and spread of the scales together."
        )
    return limits
