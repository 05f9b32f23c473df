"""Scores by condition: reliability, scale use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.analysis.conversion import Ends, held, possible
from judgestats.analysis.recommendation import repeats_needed
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.data.matrices import ScoreArray, lost_shares
from judgestats.protocols.base import Scale
from judgestats.results import About, Condition, Figure
from judgestats.results.numbers import bounds_of
from judgestats.results.records import plain
from judgestats.stats.agreement.human import share_of_sums
from judgestats.stats.designs.cells import cell_statistics
from judgestats.stats.dispersion.condition_summary import ConditionRow, condition_summary
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Estimate, Sample
from judgestats.stats.inference.sum_statistics import estimate_from_sums
from judgestats.stats.reliability.intraclass import icc
from judgestats.stats.reliability.omega import omega_total
from judgestats.stats.reliability.one_factor import Model


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


def held_to_scale(analysis: Analysis, scale: Ends | None) -> Analysis:
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
        Estimates, the table of conditions and the metrics, cut alike; an interval that would be
        nearly all that is possible is missing, with a note ``not_estimable``.
    """
    scales = _scales(analysis.conditions, scale)
    cut: dict[tuple[str, str], Ends] = {}

    def on_scale(result: NamedResult) -> NamedResult:
        about, value = result.about.conditions, result.result
        own = scales.get(about[0]) if len(about) == 1 else None
        if own is None or not isinstance(value, Estimate) or value.interval is None:
            return result
        ends = possible(value.name, own)
        if ends == possible(value.name):
            return result
        kept, lost = held(value.interval, ends, value.estimate)
        cut[about[0], value.name] = bounds_of(kept)
        return replace(result, result=value.replace(interval=kept, notes=(*value.notes, *lost)))

    results, described = (tuple(map(on_scale, r)) for r in (analysis.results, analysis.described))
    table = analysis.conditions.copy()
    metrics = {name: dict(values) for name, values in analysis.condition_metrics.items()}
    for (condition, estimand), (low, high) in cut.items():
        column, metric = _SHOWN_AS.get(estimand, ("", ""))
        if f"{column}_low" in table:
            table.loc[table["condition"] == condition, [f"{column}_low", f"{column}_high"]] = (
                low, high,
            )  # fmt: skip
        if f"ci/{metric}.lo" in metrics.get(condition, {}):
            metrics[condition] |= {f"ci/{metric}.lo": low, f"ci/{metric}.hi": high}
    return replace(
        analysis, results=results, described=described, conditions=table, condition_metrics=metrics
    )


_SHOWN_AS = {
    "mean": ("mean", "score/mean"),
    "pooled_within_variance": ("within_variance", "spread/variance"),
}
"""Column of the table of conditions, and metric, of the estimates that stand there too."""


def _scales(table: pd.DataFrame, scale: Ends | None) -> Mapping[str, Ends | None]:
    """The scale of every condition."""
    if "condition" not in table:
        return {}
    asked = table["scale"] if "scale" in table else [""] * len(table)
    own = {
        str(name): Scale.parse(text) if isinstance(text, str) and text else None
        for name, text in zip(table["condition"], asked, strict=True)
    }
    return {name: (s.low, s.high) if s else scale for name, s in own.items()}


def at_the_ends(frame: pd.DataFrame, scale: tuple[float, float] | None) -> pd.DataFrame:
    """The share of each condition's scores that stand at an end of the scale.

    Examples
    --------
    >>> frame = pd.DataFrame({"condition": "a", "score": [1, 5, 3, 10]})
    >>> at_the_ends(frame, (1, 10)).to_dict("records")
    [{'condition': 'a', 'share': 0.5}]
    """
    if scale is None or "score" not in frame or not frame["score"].notna().any():
        return pd.DataFrame()
    scored = frame.loc[frame["score"].notna(), ["condition", "score"]]
    ends = scored["score"].le(scale[0]) | scored["score"].ge(scale[1])
    shares = ends.groupby(scored["condition"].astype(str), sort=False).mean()
    return pd.DataFrame({"condition": shares.index, "share": shares.to_numpy(float)})


def mean_deviations(
    variances: ArrayLike, cluster: ArrayLike, *, level: float = 0.95
) -> dict[str, list[float]]:
    """The mean over items of their repeated scores' standard deviation, by condition.

    Parameters
    ----------
    variances : array-like, shape (n_items, n_conditions)
        NaN where an item has fewer than two scores.
    cluster : array-like, shape (n_items,)
    level : float
        Of the interval: the jackknife over clusters.

    Returns
    -------
    dict
        ``mean``, ``low`` and ``high``, one number a condition.

    Examples
    --------
    >>> mean_deviations([[1.0], [4.0], [9.0]], ["x", "y", "z"])["mean"]
    [2.0]
    """
    deviations = np.sqrt(np.asarray(variances, dtype=float))
    codes = cluster_codes(cluster, len(deviations), where="mean_deviations")
    out: dict[str, list[float]] = {"mean": [], "low": [], "high": []}
    for values in deviations.T:
        used = ~np.isnan(values)
        mean = estimate_from_sums(
            share_of_sums(),
            np.column_stack([np.ones(int(used.sum())), values[used]]),
            name="mean_deviation",
            label="Mean standard deviation of an item's scores",
            estimator="mean over items",
            sample=Sample(n_items=int(used.sum())),
            reason="no item has two scores",
            where="mean_deviations",
            cluster=codes[used],
            level=level,
            interval="jackknife",
            scale="identity",
        )
        low, high = bounds_of(mean.interval)
        for name, value in (("mean", mean.estimate), ("low", low), ("high", high)):
            out[name].append(float(value))
    return out


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
    """

    table: pd.DataFrame
    results: tuple[NamedResult, ...]
    metrics: Mapping[str, Mapping[str, float]]
    estimates: tuple[NamedResult, ...] = ()
    conditions: tuple[Condition, ...] = ()


_ABOUT = frozenset(
    {"judge", "temperature", "status", "cost_usd", "tokens_in", "tokens_out", "latency_s"}
)
_OMEGA_PERMUTATIONS = 199
"""Draws of an omega that is fitted anew in each; enough for an interval that stands beside."""


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
        Its omega is given next to alpha, which exchangeable replications imply.

    Returns
    -------
    ScoreConditions
    """
    n_permutations = affordable(n_permutations, array.scores[:, 0, :].size)
    summary = condition_summary(
        array.scores, conditions=array.conditions, cluster=array.clusters, level=level
    )
    all_statuses = sorted(set(frame["status"].unique()))
    clustered = len(set(array.clusters)) < len(array.items)
    rows: list[dict[str, Any]] = []
    results: list[NamedResult] = []
    metrics: dict[str, dict[str, float]] = {}
    estimates: list[NamedResult] = []
    conditions: list[Condition] = []
    # Rows are picked a condition, which costs every column of texts.
    about = frame[[c for c in frame if c in _ABOUT or str(c).startswith("factor_")]]
    for name in array.conditions:
        scores = array.condition(name)
        asked = about[frame["condition"] == name]
        reliability = icc(
            scores,
            form="ICC(1,1)",
            level=level,
            cluster=array.clusters,
            n_permutations=n_permutations,
            seed=seed,
        )
        clusters = array.clusters if clustered else None
        parallel = omega_total(
            scores,
            model="parallel",
            level=level,
            cluster=clusters,
            null=True,
            n_permutations=n_permutations,
            seed=seed,
        )
        alpha = parallel.replace(
            name="alpha", label="Cronbach's alpha"
        )  # parallel omega is raw alpha
        omega = omega_declared(
            scores, omega_model, cluster=clusters, level=level, n_permutations=n_permutations,
            seed=seed,
        )  # fmt: skip
        subject = _subject(name, asked)
        own = [
            NamedResult(
                id=f"reliability.{kind}.{name}",
                title=f"{title} ({name})",
                role="descriptive",
                result=value,
                about=subject,
            )
            for kind, title, value in (
                ("icc1", "Reliability of one judgment", reliability),
                ("alpha", ALPHA_TITLE, alpha),
                *((f"omega_{omega_model}", OMEGA_TITLE.format(omega_model), v) for v in omega),
            )
        ]
        results += own
        line = summary[name]
        shown = described_line(name, line, reliability, subject)
        estimates += shown
        statuses = {s: int(asked["status"].eq(s).sum()) for s in all_statuses}
        conditions.append(
            Condition(
                label=name,
                judge=subject.judge,
                factors=subject.factors,
                counts={"asked": len(asked), **statuses},
                estimates={
                    r.result.name: r.id for r in (*own, *shown) if isinstance(r.result, Estimate)
                },
            )
        )
        row = condition_row(
            line,
            about=_about(asked),
            statuses=statuses,
            reliability=reliability,
            alpha=alpha,
            omega=omega,
        )
        rows.append(row)
        metrics[name] = condition_metrics(row)
    return ScoreConditions(
        table=pd.DataFrame(rows),
        results=tuple(results),
        metrics=metrics,
        estimates=tuple(estimates),
        conditions=tuple(conditions),
    )


ALPHA_TITLE = "Reliability of the mean of all replications (Cronbach's alpha)"
OMEGA_TITLE = "The same under the {} model (McDonald's omega)"


def described_line(
    name: str, line: ConditionRow, reliability: Estimate, subject: About
) -> list[NamedResult]:
    """Mean, spread and SEM of a condition, and the judgments that its reliability asks for."""
    shown = [
        NamedResult(
            id=f"condition.{value.name}.{name}",
            title=f"{value.label}",
            role="descriptive",
            result=value,
            about=subject,
        )
        for value in (line.mean, line.variance, line.sem, line.between_item_variance)
    ]
    needed = NamedResult(
        id=f"repeats.needed.{name}",
        title="Judgments for a reliability of .90",
        role="descriptive",
        result=repeats_needed(reliability),
        about=subject,
    )
    return [*shown, needed]


def omega_declared(
    scores: NDArray[np.float64],
    model: str,
    *,
    cluster: NDArray[np.object_] | None,
    level: float,
    n_permutations: int,
    seed: int,
) -> tuple[Estimate, ...]:
    """Omega under the model that was declared beside the parallel one; none where it is that.

    Parameters
    ----------
    scores : ndarray, shape (N, R)
    model : {"parallel", "tau-equivalent", "congeneric"}
    cluster : ndarray, optional
    level : float
    n_permutations, seed : int

    Returns
    -------
    tuple of Estimate
        At most one.
    """
    if model == "parallel":
        return ()
    return (
        omega_total(
            scores,
            model=cast("Model", model),
            level=level,
            cluster=cluster,
            null=True,
            n_permutations=min(n_permutations, _OMEGA_PERMUTATIONS),
            n_resamples=_OMEGA_PERMUTATIONS,
            seed=seed,
        ),
    )


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


def affordable(n_permutations: int, n_scores: int) -> int:
    """Fewer permutations for very many scores: the null of a large sample needs no thousand draws.

    Examples
    --------
    >>> affordable(999, 300), affordable(999, 1_000_000)
    (999, 199)
    """
    return min(n_permutations, max(199, MOST_PERMUTED // max(n_scores, 1)))


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
    reliability: Estimate,
    alpha: Estimate,
    omega: Sequence[Estimate] = (),
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
    reliability, alpha : Estimate
    omega : sequence of Estimate
        At most one: under the model that was declared.

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
        "sem": line.sem.estimate,
        "smallest_detectable_change": 1.959963984540054 * math.sqrt(2) * line.sem.estimate,
        "constant_share": line.constant_share,
        "mean_spread_correlation": line.mean_spread_correlation,
    }
    for prefix, estimate in (
        ("mean", line.mean),
        ("within_variance", line.variance),
        ("icc1", reliability),
        ("alpha", alpha),
        *(("omega", value) for value in omega),
    ):
        row[prefix] = estimate.estimate
        row[f"{prefix}_low"] = estimate.interval.low if estimate.interval else math.nan
        row[f"{prefix}_high"] = estimate.interval.high if estimate.interval else math.nan
        if estimate.null is not None:
            row[f"{prefix}_null_mean"] = estimate.null.mean
            row[f"{prefix}_null_q95"] = estimate.null.q95
            row[f"{prefix}_null_p"] = estimate.null.p_value
            row[f"{prefix}_null_p_smallest"] = estimate.null.p_smallest
        if prefix in {"icc1", "alpha", "omega"}:
            row[f"{prefix}_reason"] = estimate.reason
    return row | {name: about[name] for name in costs}


_METRIC_OF = {
    "within_variance": "spread/variance",  # first: the axis the compare page opens with
    "mean": "score/mean",
    "sem": "spread/sem",
    "sd_between": "score/sd_between_items",
    "icc1": "reliability/icc1",
    "alpha": "reliability/alpha",
    "omega": "reliability/omega_total",
    "unread_share": "quality/unread_share",
    "unanswered_share": "quality/unanswered_share",
    "cost_usd": "cost/usd",
    "latency_mean_s": "cost/latency_s",
    "tokens_out_mean": "cost/tokens_out",
}


def condition_metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """A row of the table of conditions under the names that the MLflow UI shows."""
    out: dict[str, float] = {}
    for column, metric in _METRIC_OF.items():
        if column not in row:
            continue
        out[metric] = row[column]
        if f"{column}_low" in row:
            out[f"ci/{metric}.lo"] = row[f"{column}_low"]
            out[f"ci/{metric}.hi"] = row[f"{column}_high"]
        if f"{column}_null_q95" in row:
            out[f"null/{metric}.q95"] = row[f"{column}_null_q95"]
    return out


def cell_arrays(array: ScoreArray) -> dict[str, Any]:
    """Means and variances of every item x condition cell, for figures.

    Parameters
    ----------
    array : ScoreArray

    Returns
    -------
    dict
        ``items``, ``clusters``, ``conditions``, ``cell_means`` and ``cell_variances`` of shape
        (items, conditions), and ``deviations`` (`mean_deviations`).
    """
    cells = cell_statistics(array.scores, conditions=array.conditions, cluster=array.clusters)
    return {
        "items": list(array.items),
        "clusters": [str(c) for c in array.clusters],
        "conditions": list(array.conditions),
        "cell_means": cells.mean,
        "cell_variances": cells.variance,
        "deviations": mean_deviations(cells.variance, list(array.clusters)),
    }


def cell_figures(arrays: Mapping[str, Any]) -> tuple[Figure, ...]:
    """The arrays of `cell_arrays` as records.

    Parameters
    ----------
    arrays : mapping

    Returns
    -------
    tuple of Figure
        ``cells.mean`` and ``cells.variance``, items x conditions.
    """
    axes = {"item": tuple(arrays["items"]), "condition": tuple(arrays["conditions"])}
    return tuple(
        Figure(id=f"cells.{name}", estimand=f"cell_{name}", axes=axes, values=plain(values))
        for name, values in (
            ("mean", arrays["cell_means"]),
            ("variance", arrays["cell_variances"]),
        )
    )
