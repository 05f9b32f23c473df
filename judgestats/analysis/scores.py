"""Scores by condition: reliability, scale use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis import repeats
from judgestats.analysis.coefficients import (
    computed,
    condition_metrics,
    declared_for,
    described,
    named_result,
)
from judgestats.analysis.conversion import (
    Ends,
    clip_interval,
    clip_or_drop_interval,
    possible,
)
from judgestats.analysis.families import AnalysisPlan, request_order
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.data.columns import INTERLEAVED
from judgestats.data.parse import ScoreArray, kept_rows, lost_shares, score_array
from judgestats.engine import WORTH_THREADS, run_threads
from judgestats.protocols.base import Scale
from judgestats.results import About, Condition, Quantity, bounds_of, quantity_of
from judgestats.stats.designs.cells import Cells, cell_statistics
from judgestats.stats.dispersion.condition_summary import ConditionRow, condition_summary
from judgestats.stats.inference import Estimate, RunComponent, run_component
from judgestats.stats.reliability import MeanSquareRatio, RepeatPairs, repeat_pairs


def on_one_scale(
    frame: pd.DataFrame, conditions: pd.DataFrame, scale: tuple[float, float] | None
) -> pd.DataFrame:
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
    for row in conditions.to_dict("records"):
        if not isinstance(row["scale"], str) or not row["scale"]:
            continue
        asked = Scale.parse(row["scale"])
        own = frame["condition"] == str(row["condition"])
        share = (scores[own] - asked.low) / (asked.high - asked.low)
        scores[own] = low + share * (high - low)
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
        if f"{column}_low" in table:
            table.loc[table["condition"] == condition, [f"{column}_low", f"{column}_high"]] = (
                low, high,
            )  # fmt: skip
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
    runs = runs_of(frame, array)
    cells = cells_of(array)
    summary = condition_summary(cells, runs=runs, level=level)
    all_statuses = sorted(set(frame["status"].unique()))
    # Rows are picked a condition, which costs every column of texts.
    about = frame[[c for c in frame if c in _ABOUT or str(c).startswith("factor_")]]
    codes = np.unique(array.clusters.astype(str), return_inverse=True)[1]

    def described(
        place: int, name: str
    ) -> tuple[dict[str, Any], list[NamedResult], list[NamedResult], Condition]:
        scores = array.condition(name)
        asked = kept_rows(about, frame["condition"] == name)
        coefficients = score_coefficients(
            scores, omega_model=omega_model, cluster=array.clusters,
            level=level, n_permutations=n_permutations, seed=seed,
        )  # fmt: skip
        own_runs = runs.for_judges(place)
        ratio = repeats.two_way_squares(scores, codes) if own_runs.is_random else None
        ends = repeats.assumed_scale(scores[~np.isnan(scores)])
        pairs = repeat_pairs(scores, scale=ends, cluster=array.clusters.astype(str))
        subject = _subject(name, asked)
        statuses = {s: int(asked["status"].eq(s).sum()) for s in all_statuses}
        row, found, shown = described_condition(
            summary[name], coefficients, runs=own_runs, ratio=ratio, pairs=pairs, subject=subject,
            about=_about(asked), statuses=statuses, level=level,
        )  # fmt: skip
        own = [replace(r, role="descriptive") for r in found]
        every = (*own, *shown)
        return (
            row,
            own,
            shown,
            Condition(
                label=name,
                judge=subject.judge,
                factors=subject.factors,
                counts={"asked": len(asked), **statuses},
                estimates={r.result.name: r.id for r in every if isinstance(r.result, Estimate)},
            ),
        )

    jobs = list(enumerate(array.conditions))
    large = array.scores.size > WORTH_THREADS
    rows, results, estimates, conditions = zip(
        *run_threads(described, jobs, large=large, most=2), strict=True
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


def score_coefficients(
    scores: NDArray[np.float64], *, omega_model: str, **inference: Any
) -> Coefficients:
    """The declared coefficients of repeated scores, and of the omega model that was chosen."""
    options = {} if omega_model == "parallel" else {"omega_model": omega_model}
    return [(q, computed(q, scores, **inference)) for q in declared_for("scores", options=options)]


def described_condition(
    line: ConditionRow,
    coefficients: Coefficients,
    *,
    runs: RunComponent | None,
    ratio: MeanSquareRatio | None,
    pairs: RepeatPairs,
    subject: About,
    about: Mapping[str, Any],
    statuses: Mapping[str, int],
    level: float,
) -> tuple[dict[str, Any], list[NamedResult], list[NamedResult]]:
    """One condition, of judgments in memory or counted, with the limits that its design allows.

    Parameters
    ----------
    line : ConditionRow
    coefficients : list of (Quantity, Estimate)
        ICC(1,1) among them.
    runs : RunComponent or None
        Of the condition; None where repeats are not distinguished.
    ratio : MeanSquareRatio or None
        Of items x runs, where runs are random.
    pairs : RepeatPairs
    subject : About
    about, statuses
        As `condition_row` takes them.
    level : float

    Returns
    -------
    tuple
        Its row in the table of conditions, its coefficients, and its other estimates. These are
        mean, spread, SEM, the judgments that its reliability needs, and consistency without runs.
    """
    coefficients = [
        (q, repeats.icc_by_design(v, runs, ratio, pairs, level) if q.key == "icc_1_1" else v)
        for q, v in coefficients
    ]
    line = replace(line, sem=repeats.sem_by_design(line.sem, runs, ratio, level))
    row = condition_row(line, about=about, statuses=statuses, coefficients=coefficients)
    reliability = next(value for q, value in coefficients if q.key == "icc_1_1")
    shown = (line.mean, line.variance, line.sem, line.between_item_variance)
    return (
        row,
        [named_result(q, value, subject) for q, value in coefficients],
        [
            *(described(value, subject) for value in (*shown, repeats.repeats_needed(reliability))),
            *repeats.consistency_without_runs(subject, runs, ratio, level),
        ],
    )


def omega_declared(
    scores: NDArray[np.float64], model: str, **inference: Any
) -> tuple[Estimate, ...]:
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
    first = asked.iloc[0]
    factors = {
        column.removeprefix("factor_"): str(first[column])
        for column in asked.columns
        if column.startswith("factor_")
    }
    return subject_of(name, str(first["judge"]), float(first["temperature"]), factors)


def subject_of(
    name: str, judge: str, temperature: float | None, factors: Mapping[str, str]
) -> About:
    """A condition of this judge, temperature and levels as the subject of a result."""
    has_temperature = temperature is not None and not math.isnan(temperature)
    return About(
        judge=judge,
        conditions=(name,),
        factors={"temperature": temperature if has_temperature else None, **factors},
    )


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


def _about(asked: pd.DataFrame) -> dict[str, Any]:
    """The condition of some judgments, and what they cost."""
    first = asked.iloc[0]
    costs = asked["cost_usd"]
    return {
        "judge": str(first["judge"]),
        "temperature": float(first["temperature"]),
        **{c: str(first[c]) for c in asked.columns if c.startswith("factor_")},
        "cost_usd": float(costs.sum()) if costs.notna().all() else math.nan,
        "tokens_in_mean": float(asked["tokens_in"].mean()),
        "tokens_out_mean": float(asked["tokens_out"].mean()),
        "latency_mean_s": float(asked["latency_s"].mean()),
    }


def condition_row(
    line: ConditionRow,
    *,
    about: Mapping[str, Any],
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
    costs = ("cost_usd", "tokens_in_mean", "tokens_out_mean", "latency_mean_s")
    n = int(sum(statuses.values()))
    row: dict[str, Any] = {
        "condition": line.condition,
        **{name: value for name, value in about.items() if name not in costs},
        "n": n,
        "n_items": line.sample.n_items,
        "n_clusters": line.sample.n_clusters,
        "n_replications": line.sample.n_replications,
        "n_ok": 0,
        **{f"n_{status}": int(count) for status, count in statuses.items()},
        **lost_shares(statuses),
        "mean": line.mean.estimate,
        "sd_between": math.sqrt(max(line.between_item_variance.estimate, 0.0))
        if not math.isnan(line.between_item_variance.estimate)
        else math.nan,
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
            row[f"{column}_null_mean"], row[f"{column}_null_q95"] = null.mean, null.q95
            row[f"{column}_null_p"], row[f"{column}_null_p_smallest"] = (
                null.p_value, null.p_smallest,
            )  # fmt: skip
        if quantity.needs is not None:
            row[f"{column}_reason"] = estimate.reason
    return row | {name: about[name] for name in costs}
