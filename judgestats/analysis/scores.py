"""Scores by condition: reliability, scale use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis import repeats
from judgestats.analysis.coefficients import (
    computed,
    condition_metrics,
    declared_for,
    described,
    named_result,
)
from judgestats.analysis.conversion import Ends, clip_interval, clip_or_drop_interval, possible
from judgestats.analysis.families import AnalysisPlan, request_order
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.arrays import Floats
from judgestats.data.columns import INTERLEAVED
from judgestats.data.parse import ScoreArray, kept_rows, lost_shares, score_array
from judgestats.engine import WORTH_THREADS, run_threads
from judgestats.protocols.base import Scale
from judgestats.results import About, Condition, Quantity, bounds_of, quantity_of
from judgestats.stats.designs.cells import Cells, cell_statistics
from judgestats.stats.dispersion.condition_summary import ConditionRow, condition_summary
from judgestats.stats.inference import Estimate, RunComponent, run_component
from judgestats.stats.reliability import repeat_pairs


def on_one_scale(frame: pd.DataFrame, conditions: pd.DataFrame, scale: Ends | None) -> pd.DataFrame:
    """The judgments, with the scores of every condition in points of the run's scale.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments.
    conditions : DataFrame
        Those asked on another scale say so in the column ``scale`` (``"1-5"``).
    scale : (float, float) or None
        Ends of the run's.

    Returns
    -------
    DataFrame
        `frame` itself where all conditions were asked on one scale.
    """
    if "scale" not in conditions or scale is None or "score" not in frame:
        return frame
    low, high = scale
    scores = frame["score"].astype(float).copy()
    for name, ends in run_scales(conditions, None).items():
        if ends is not None:
            own = frame["condition"] == name
            scores[own] = low + (scores[own] - ends[0]) / (ends[1] - ends[0]) * (high - low)
    return frame.assign(score=scores)


def clip_to_scale(analysis: Analysis, scale: Ends | None) -> Analysis:
    """An analysis whose intervals in points hold nothing that its scale rules out.

    Parameters
    ----------
    analysis : Analysis
    scale : (float, float) or None
        Ends of the run's scale; conditions that were asked on another name it in the column
        ``scale`` of the table.

    Returns
    -------
    Analysis
        Estimates, the table of conditions, and the metrics, clipped to the same limits. A note
        ``not_estimable`` replaces the interval of a mean that would span nearly the whole scale.
    """
    scales = run_scales(analysis.conditions, scale)
    cut: dict[tuple[str, str], Ends] = {}

    def on_scale(result: NamedResult) -> NamedResult:
        about, value = result.about.conditions, result.result
        own = scales.get(about[0]) if len(about) == 1 else None
        if own is None or not isinstance(value, Estimate) or value.interval is None:
            return result
        ends = possible(value.name, own)
        if ends == possible(value.name):
            return result
        interval = clip_interval(value.interval, ends, value.estimate)
        is_mean = value.name == "mean"
        kept, lost = (
            clip_or_drop_interval(interval, ends, value.estimate) if is_mean else (interval, ())
        )
        cut[about[0], value.name] = bounds_of(kept)
        return replace(result, result=value.replace(interval=kept, notes=(*value.notes, *lost)))

    results, described = (tuple(map(on_scale, r)) for r in (analysis.results, analysis.described))
    table = analysis.conditions.copy()
    metrics = {name: dict(values) for name, values in analysis.condition_metrics.items()}
    for (condition, estimand), (low, high) in cut.items():
        column, metric = quantity_of(estimand).name, quantity_of(estimand).metric
        columns = [f"{column}_low", f"{column}_high"]
        if columns[0] in table:
            table.loc[table["condition"] == condition, columns] = low, high
        if f"ci/{metric}.lo" in metrics.get(condition, {}):
            metrics[condition] |= {f"ci/{metric}.lo": low, f"ci/{metric}.hi": high}
    return replace(
        analysis, results=results, described=described, conditions=table, condition_metrics=metrics
    )


def run_scales(table: pd.DataFrame, scale: Ends | None) -> Mapping[str, Ends | None]:
    """The scale of every condition.

    Parameters
    ----------
    table : DataFrame
        Of conditions; those that were asked on another scale name it in the column ``scale``.
    scale : (float, float) or None
        Of the run.
    """
    if "condition" not in table:
        return {}
    asked = table["scale"] if "scale" in table else [""] * len(table)
    own = {
        str(name): Scale.parse(text) if isinstance(text, str) and text else None
        for name, text in zip(table["condition"], asked, strict=True)
    }
    return {name: (s.low, s.high) if s else scale for name, s in own.items()}


def scale_end_shares(frame: pd.DataFrame, scale: tuple[float, float] | None) -> pd.DataFrame:
    """The share of each condition's scores that are at an end of the scale.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": "a", "score": [1, 5, 3, 10]})
    >>> scale_end_shares(frame, (1, 10)).to_dict("records")
    [{'condition': 'a', 'share': 0.5}]
    """
    if scale is None or "score" not in frame or not frame["score"].notna().any():
        return pd.DataFrame()
    scored = frame.loc[frame["score"].notna(), ["condition", "score"]]
    ends = scored["score"].le(scale[0]) | scored["score"].ge(scale[1])
    shares = ends.groupby(scored["condition"], sort=False).mean()
    return pd.DataFrame({"condition": [*shares.index], "share": shares.to_numpy(float)})


MOST_PERMUTED = 10_000_000
"""Scores drawn for one null reference; about a second's work."""


@dataclass(frozen=True, kw_only=True)
class ScoreConditions:
    """The descriptive part of an analysis of scores.

    Attributes
    ----------
    table : DataFrame
        One row per condition: counts by status, mean, spread, SEM, ICC(1) and alpha with intervals
        and nulls.
    results : tuple of NamedResult
        The reliability estimates behind the table.
    metrics : mapping of condition to mapping
        For the MLflow UI.
    estimates : tuple of NamedResult
        The other estimates of the table: mean, spread, SEM.
    conditions : tuple of Condition
        The table as records: factors, counts, and the ids of the estimates.
    cells : Cells
        Of items and conditions.
    """

    table: pd.DataFrame
    results: tuple[NamedResult, ...]
    metrics: Mapping[str, Mapping[str, float]]
    estimates: tuple[NamedResult, ...] = ()
    conditions: tuple[Condition, ...] = ()
    cells: Cells


_ABOUT = {"judge", "temperature", "status", "cost_usd", "tokens_in", "tokens_out", "latency_s"}


def score_conditions(
    frame: pd.DataFrame,
    array: ScoreArray,
    *,
    level: float = 0.95,
    n_permutations: int = 999,
    seed: int = 0,
    omega_model: str = "parallel",
) -> ScoreConditions:
    """Describe every condition of a frame of scores.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    array : ScoreArray
        The same, spread out.
    level : float
        Of the intervals.
    n_permutations, seed : int
        Of the null references.
    omega_model : {"parallel", "tau-equivalent", "congeneric"}
        Its omega is given in addition to alpha, which exchangeable replications imply.

    Returns
    -------
    ScoreConditions
    """
    n_permutations = affordable(n_permutations, array.scores[:, 0, :].size)
    options = {} if omega_model == "parallel" else {"omega_model": omega_model}
    runs = runs_of(frame, array)
    cells = cells_of(array)
    summary = condition_summary(cells, runs=runs, level=level)
    all_statuses = sorted(set(frame["status"].unique()))
    # Rows are picked a condition, which costs every column of texts.
    about = frame[[c for c in frame if c in _ABOUT or str(c).startswith("factor_")]]
    codes = np.unique(array.clusters.astype(str), return_inverse=True)[1]

    def condition_parts(
        place: int, name: str
    ) -> tuple[dict[str, Any], list[NamedResult], list[NamedResult], Condition]:
        scores = array.condition(name)
        asked = kept_rows(about, frame["condition"] == name)
        coefficients = [
            (
                q,
                computed(
                    q,
                    scores,
                    cluster=array.clusters,
                    level=level,
                    seed=seed,
                    n_permutations=n_permutations,
                ),
            )
            for q in declared_for("scores", options=options)
        ]
        own_runs = runs.for_judges(place)
        ratio = repeats.two_way_squares(scores, codes) if own_runs.is_random else None
        ends = repeats.assumed_scale(scores[~np.isnan(scores)])
        pairs = repeat_pairs(scores, scale=ends, cluster=array.clusters.astype(str))
        subject = _subject(name, asked)
        statuses = {s: int(asked["status"].eq(s).sum()) for s in all_statuses}
        coefficients = [
            (
                q,
                repeats.icc_by_design(v, own_runs, ratio, pairs, level)
                if q.key == "icc_1_1"
                else v,
            )
            for q, v in coefficients
        ]
        sem = repeats.sem_by_design(summary[name].sem, own_runs, ratio, level)
        line = replace(summary[name], sem=sem)
        needed = repeats.repeats_needed(next(v for q, v in coefficients if q.key == "icc_1_1"))
        values = (line.mean, line.variance, line.sem, line.between_item_variance, needed)
        shown = [described(value, subject) for value in values]
        shown += repeats.consistency_without_runs(subject, own_runs, ratio, level)
        named = (named_result(q, value, subject) for q, value in coefficients)
        own = [replace(r, role="descriptive") for r in named]
        condition = Condition(
            label=name, judge=subject.judge, factors=subject.factors,
            counts={"asked": len(asked), **statuses},
            estimates={
                r.result.name: r.id for r in (*own, *shown) if isinstance(r.result, Estimate)
            },
        )  # fmt: skip
        return condition_row(line, asked, statuses, coefficients), own, shown, condition

    jobs = list(enumerate(array.conditions))
    large = array.scores.size > WORTH_THREADS
    rows, results, estimates, conditions = zip(
        *run_threads(condition_parts, jobs, large=large, most=2), strict=True
    )
    return ScoreConditions(
        table=pd.DataFrame(rows),
        results=tuple(chain(*results)),
        metrics={row["condition"]: condition_metrics(row) for row in rows},
        estimates=tuple(chain(*estimates)),
        conditions=conditions,
        cells=cells,
    )


def cells_of(array: ScoreArray) -> Cells:
    """The cells of items and conditions."""
    return cell_statistics(array.scores, conditions=array.conditions, cluster=array.clusters)


def declared_conditions(
    frame: pd.DataFrame, declared: AnalysisPlan
) -> tuple[ScoreConditions, ScoreArray]:
    """Every condition of a frame of scores described as the plan says, and the scores."""
    array, model = score_array(frame), declared.options.get("omega_model", "parallel")
    return score_conditions(frame, array, **declared.resampling, omega_model=model), array


def runs_of(
    frame: pd.DataFrame, array: ScoreArray, places: Sequence[int] | None = None
) -> RunComponent:
    """The variance between the runs of these conditions.

    Parameters
    ----------
    frame : DataFrame
        Says whether requests were interleaved.
    array : ScoreArray
    places : sequence of int, optional
        Of the conditions; all by default.

    Returns
    -------
    RunComponent
    """
    scores = array.scores if places is None else array.scores[:, list(places)]
    interleaved = request_order(frame) == INTERLEAVED
    return run_component(scores, cluster=array.clusters, interleaved=interleaved)


Coefficients = list[tuple[Quantity, Estimate]]


def omega_declared(scores: Floats, model: str, **inference: Any) -> tuple[Estimate, ...]:
    """Omega under the declared model; empty if that is the parallel model.

    Parameters
    ----------
    scores : ndarray, shape (N, R)
    model : {"parallel", "tau-equivalent", "congeneric"}
    **inference
        cluster, level, n_permutations and seed.

    Returns
    -------
    tuple of Estimate
        At most one.
    """
    if model == "parallel":
        return ()
    quantities = declared_for("scores", options={"omega_model": model})
    return tuple(computed(q, scores, **inference) for q in quantities if q.key == "omega_total")


def _subject(name: str, asked: pd.DataFrame) -> About:
    """A condition as the subject of a result: its judge and the levels of its factors."""
    first, heat = asked.iloc[0], float(asked["temperature"].iloc[0])
    settings = {
        c.removeprefix("factor_"): str(first[c]) for c in asked.columns if c.startswith("factor_")
    }
    factors = {"temperature": None if math.isnan(heat) else heat, **settings}
    return About(judge=str(first["judge"]), conditions=(name,), factors=factors)


LEAST_PERMUTED = 199
"""Fewest draws of a null reference."""


def affordable(n_permutations: int, n_scores: int) -> int:
    """Fewer permutations for many scores; none where not even a few hundred can be drawn.

    Examples
    --------
    >>> affordable(999, 300), affordable(999, 50_000), affordable(999, 60_000)
    (999, 200, 0)
    """
    most = MOST_PERMUTED // max(n_scores, 1)
    return min(n_permutations, most) if most >= LEAST_PERMUTED else 0


def condition_row(
    line: ConditionRow,
    asked: pd.DataFrame,
    statuses: Mapping[str, int],
    coefficients: Coefficients,
) -> dict[str, Any]:
    """One row of the table of conditions.

    Parameters
    ----------
    line : ConditionRow
    about : mapping
        ``judge``, ``temperature``, ``factor_*``, and ``cost_usd``, ``tokens_in_mean``,
        ``tokens_out_mean`` and ``latency_mean_s`` (NaN where not known).
    statuses : mapping of status to int
        Judgments by status.
    coefficients : list of (Quantity, Estimate)

    Returns
    -------
    dict
    """
    first, costs, between = asked.iloc[0], asked["cost_usd"], line.between_item_variance.estimate
    row: dict[str, Any] = {
        "condition": line.condition,
        "judge": str(first["judge"]),
        "temperature": float(first["temperature"]),
        **{c: str(first[c]) for c in asked.columns if c.startswith("factor_")},
        "n": sum(statuses.values()),
        "n_items": line.sample.n_items,
        "n_clusters": line.sample.n_clusters,
        "n_replications": line.sample.n_replications,
        "n_ok": 0,
        **{f"n_{status}": count for status, count in statuses.items()},
        **lost_shares(statuses),
        "mean": line.mean.estimate,
        "sd_between": between if math.isnan(between) else math.sqrt(max(between, 0.0)),
        "within_variance": line.variance.estimate,
        "smallest_detectable_change": 1.959963984540054 * math.sqrt(2) * line.sem.estimate,
        "constant_share": line.constant_share,
        "mean_spread_correlation": line.mean_spread_correlation,
    }
    shown = [(quantity_of(v.name), v) for v in (line.mean, line.variance, line.sem)]
    for quantity, estimate in [*shown, *coefficients]:
        column, interval, null = quantity.name, estimate.interval, estimate.null
        row[column] = estimate.estimate
        if interval is not None or quantity.primary or quantity.needs is None:
            row[f"{column}_low"], row[f"{column}_high"] = bounds_of(interval)
        if null is not None:
            values = (null.mean, null.q95, null.p_value, null.p_smallest)
            for end, value in zip(("mean", "q95", "p", "p_smallest"), values, strict=True):
                row[f"{column}_null_{end}"] = value
        if quantity.needs is not None:
            row[f"{column}_reason"] = estimate.reason
    return row | {
        "cost_usd": float(costs.sum()) if costs.notna().all() else math.nan,
        "tokens_in_mean": float(asked["tokens_in"].mean()),
        "tokens_out_mean": float(asked["tokens_out"].mean()),
        "latency_mean_s": float(asked["latency_s"].mean()),
    }
