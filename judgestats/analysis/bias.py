"""Length, place, authorship and scale: a selection of the probes, and what else their data tell.

What moves a judge is answered by `judgestats.analysis.probe`. Beside it stand the place apart from
repetition, length among real answers, and the spread, mean and shape of scores on every scale.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis import probe
from judgestats.analysis.asked_rows import asked_row
from judgestats.analysis.bias_tests import (
    OF_JUDGES,
    VARIANCE_RATIO,
    length_results,
    place_results,
    scales_described,
    scales_results,
    shapes_results,
    unread_results,
)
from judgestats.analysis.outcome import Analysis
from judgestats.analysis.pair_shares import own_authors
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.probe_judges import ProbedJudge, probed_judges
from judgestats.analysis.selections import add_estimate, in_order, metrics_of
from judgestats.items.schema import Item
from judgestats.judgments.design import Condition
from judgestats.protocols.probes import PAIRS
from judgestats.results import Row
from judgestats.stats.inference.result import Estimate


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan of the probes chosen, with what is further asked of their data."""
    declared = probe.plan(parameters, conditions)
    further = {
        "position": Hypothesis(
            id="position",
            role="secondary",
            question="How often is the first place chosen, and does a verdict survive a swap?",
            test="exact sign test of leaning; share of pairs whose orders agree; place apart from "
            "repetition noise",
        ),
        "length": Hypothesis(
            id="length",
            role="secondary",
            question="Among real answers: does the judge prefer longer ones that people like "
            "alike?",
            test="regression of the judge's preference on people's, the log length ratio and "
            f"authorship; two one-sided tests within {declared.margins['verdicts']:g}",
            family=OF_JUDGES,
            adjustment="holm",
        ),
        "spread": Hypothesis(
            id="spread",
            role="secondary",
            question="Does the scale change the spread relative to its width?",
            test="blocked F on cells of scores in points of a 1-10 scale; ratios of variances, and "
            f"whether they lie within 1/{VARIANCE_RATIO} to {VARIANCE_RATIO}",
            family=OF_JUDGES,
            adjustment="holm",
        ),
        "shift": Hypothesis(
            id="shift",
            role="secondary",
            question="Does the scale change the mean?",
            test="mean shift in points of a 1-10 scale, paired by answer",
            family=f"pairs of scales, {OF_JUDGES}",
            adjustment="holm",
        ),
        "shape": Hypothesis(
            id="shape",
            role="secondary",
            question="Are repeated scores normally distributed?",
            test="excess kurtosis and skewness of scores centred by item, with intervals over "
            "questions; D'Agostino-Pearson beside them",
            family="not adjusted: the sizes are to be read",
        ),
    }
    chosen = parameters["probes"]
    scaled = any(p.kind == "scale" for p in chosen)
    asked = {"spread": scaled, "shift": scaled, "shape": any(p.asks == "scores" for p in chosen)}
    asked |= dict.fromkeys(("position", "length"), any(p.asks == "pairs" for p in chosen))
    return dataclasses.replace(
        declared,
        experiment="bias",
        question=(
            "Do length, place, authorship or the scale move a judge's verdicts, and are its scores "
            "normally distributed?"
        ),
        margins={**declared.margins, "variance_ratio": VARIANCE_RATIO},
        hypotheses=(*declared.hypotheses, *(h for k, h in further.items() if asked[k])),
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
    given = {k.removeprefix("own."): v for k, v in declared.options.items() if k.startswith("own.")}
    own = own_authors(frame, items, given)
    judges = probed_judges(frame, items, own)
    scales = scales_described(frame, declared)
    further = [
        *place_results(judges, declared),
        *length_results(judges, declared),
        *scales_results(judges, declared),
        *shapes_results(judges, declared),
        *scales.results,
    ]
    if (frame["status"] != "ok").any():
        further += unread_results(judges, declared)
    table, metrics = _with_orders(probed.conditions, judges, further)
    metrics |= scales.metrics
    table = pd.DataFrame(
        [{**r, **scales.rows.get(r["condition"], {})} for r in table.to_dict("records")]
    )
    return dataclasses.replace(
        probed,
        experiment="bias",
        question=declared.question,
        results=tuple(in_order([*probed.results, *further], declared)),
        conditions=table,
        condition_metrics={
            k: {**probed.condition_metrics.get(k, {}), **metrics.get(k, {})}
            for k in dict.fromkeys((*probed.condition_metrics, *metrics))
        },
        limitations=(*probed.limitations, *_limits(own, table)),
        rows=_rows([j.where for j in judges], probed.rows),
    )


def _with_orders(
    table: pd.DataFrame, judges: Sequence[ProbedJudge], further: Sequence[Any]
) -> tuple[pd.DataFrame, dict[str, dict[str, float]]]:
    """The table with what both orders of the pairs say, and the same as metrics."""
    by_id = {r.id: r.result for r in further}
    rows: dict[str, dict[str, Any]] = {
        str(r["condition"]): {str(k): v for k, v in r.items()} for r in table.to_dict("records")
    }
    metrics = {}
    for judge in judges:
        name = judge.conditions.get(PAIRS, "")
        swap, lean = (by_id.get(f"position.{k}{judge.where}") for k in ("swap.", ""))
        if name not in rows or not isinstance(swap, Estimate) or lean is None:
            continue
        add_estimate(rows[name], "swap_consistency", swap)
        add_estimate(rows[name], "first_place", lean.effects[1])
        metrics[name] = metrics_of(
            rows[name],
            {"swap_consistency": "order/swap_consistency",
             "first_place": "order/first_place_share"},
        )  # fmt: skip
    return pd.DataFrame(list(rows.values())), metrics


_OWN_ROWS = {"fair_padding", "fair_position", "fair_own answer"}


def _rows(where: Sequence[str], probed: Sequence[Row]) -> tuple[Row, ...]:
    """By how much each judge follows padding, place and authorship; then the other probes.

    What is claimed of place is the number of its row; of pairs asked for another probe's sake,
    the share of first places.
    """
    if any(row.key == "fair_position" for row in probed):
        place = asked_row(
            "position", "first place adds", "first place", "preference_shift",
            "instrument.position.{}/preference_shift", where,
        )  # fmt: skip
    else:
        place = asked_row(
            "position", "first place preferred", "first place", "first_position_share",
            "position.{}/first_position_share", where, note="(.50: no preference)",
        )  # fmt: skip
    own = (
        asked_row(
            "padding", "empty words add", "empty words", "probe_shift",
            "instrument.padding.{}/probe_shift", where,
        ),
        place,
        asked_row(
            "swap", "same when shown swapped", "same if swapped", "swap_consistency",
            "position.swap.{}", where,
        ),
        asked_row(
            "own", "its own answers gain", "own answers", "preference_shift",
            "instrument.own answer.{}/preference_shift", where,
        ),
    )  # fmt: skip
    return (*own, *(r for r in probed if r.key not in _OWN_ROWS))


def _limits(own: Mapping[str, str], table: pd.DataFrame) -> list[str]:
    limits = []
    if own:
        text = ", ".join(f"{j} (answers of {a})" for j, a in own.items())
        limits.append(
            f"Own answers: {text}. People's preference is held constant as far as their labels "
            "go; with few labels a pair it is known with error, and a judge that sees quality "
            "better than they do can seem partial."
        )
    related = table.get("mean_spread_correlation")
    if related is not None and float(related.min()) < -0.3:
        limits.append(
            "Answers with high means scatter less (correlation down to "
            f"{related.min():.2f}): read mean and spread of the scales together."
        )
    return limits
