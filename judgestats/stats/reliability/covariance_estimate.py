"""Estimate, interval and null of any coefficient that is a function of a covariance matrix.

The public coefficients are in `internal_consistency`; this module holds what they share, so that
each is one formula there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import one_of
from judgestats.results.numbers import counted
from judgestats.stats.inference import distributions
from judgestats.stats.inference.estimable import only, useful_reliability
from judgestats.stats.inference.jackknife import cluster_jackknife
from judgestats.stats.inference.keywords import Inference
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.resampling import cluster_bootstrap
from judgestats.stats.inference.result import Estimate, Interval, Note
from judgestats.stats.layouts.score_matrix import (
    Missing,
    Prepared,
    correlations,
    em_covariance,
    pairwise_covariance,
    prepare_scores,
    resampled_covariances,
    stacked_covariances,
)
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio

Coefficient = Callable[[Floats], Floats]
"""From a stack of covariance (or correlation) matrices, shape (B, k, k), to B values."""
IntervalMethod = Literal["auto", "feldt", "bonett", "jackknife", "bca", "percentile", "none"]


def _feldt(alpha: float, n: int, k: int, level: float) -> tuple[float, float]:
    tail = (1 - level) / 2
    df1, df2 = n - 1, (n - 1) * (k - 1)
    return (
        1 - (1 - alpha) * float(distributions.f.ppf(1 - tail, df1, df2)),
        1 - (1 - alpha) * float(distributions.f.ppf(tail, df1, df2)),
    )


def _bonett(alpha: float, n: int, k: int, level: float) -> tuple[float, float]:
    z = float(distributions.norm.ppf((1 + level) / 2)) * math.sqrt(2 * k / ((k - 1) * (n - 2)))
    return -math.expm1(math.log1p(-alpha) + z), -math.expm1(math.log1p(-alpha) - z)


def _why_undefined(x: Floats, correlation_based: bool) -> str:
    spread = np.nanmax(x, axis=0) - np.nanmin(x, axis=0)
    if not np.any(spread > 0):
        return "no replication varies over items, so there is no variance to be reliable"
    present = (~np.isnan(x)).astype(float)
    if (present.T @ present).min() < 2:
        return "some replications share fewer than 2 items, so their covariance is unknown"
    if correlation_based and not np.all(spread > 0):
        constant = int(np.sum(spread == 0))
        return (
            f"{constant} of {x.shape[1]} replications {'is' if constant == 1 else 'are'} constant "
            f"and {'has' if constant == 1 else 'have'} no correlation"
        )
    return "the sum of the replications has no variance"


def _quality_notes(prepared: Prepared, value: float) -> list[Note]:
    """What a reader must know before trusting the value."""
    x = prepared.x
    notes = list(prepared.notes)
    if math.isnan(value):
        return notes
    spread = np.nanmax(x, axis=1) - np.nanmin(x, axis=1)
    if np.all(spread == 0):
        message = (
            "Every item got the same score from all its replications, as it happens at temperature "
            "0: reliability 1 then says that one draw was repeated, not that the judge is right."
        )
        notes.append(Note(code="no_within_item_variance", message=message))
    constant = int(np.sum(np.nanmax(x, axis=0) == np.nanmin(x, axis=0)))
    if constant:
        message = (
            f"{constant} of {x.shape[1]} replications "
            f"{'is constant and' if constant == 1 else 'are constant and'} kept."
        )
        notes.append(Note(code="constant_replications", message=message))
    if value < 0:
        message = "The value is negative: replications vary against each other; 0 is not a floor."
        notes.append(Note(code="negative_reliability", message=message))
    return notes


def covariance_estimate(
    scores: ArrayLike,
    coefficient: Coefficient,
    *,
    where: str,
    name: str,
    label: str,
    estimator: str,
    on: Literal["covariance", "correlation"],
    interval: IntervalMethod,
    missing: Missing,
    n_jobs: int,
    correlation_of_missing: Callable[[Floats], Floats] | None = None,
    details: Callable[[Floats, int], dict[str, Any]] | None = None,
    std_error: Callable[[Floats, int], float] | None = None,
    **inference: Unpack[Inference],
) -> Estimate:
    """Estimate, interval and null of a function of the covariance matrix (shared by this file).

    `coefficient` maps a stack of covariance (or correlation, as `on` says) matrices to values.
    """
    one_of(
        where,
        "interval",
        interval,
        ("auto", "feldt", "bonett", "jackknife", "bca", "percentile", "none"),
    )
    prepared = prepare_scores(scores, where=where, cluster=inference["cluster"], missing=missing)
    common: dict[str, Any] = {
        "name": name,
        "label": label,
        "estimator": estimator + (f"; missing: {missing}" if not prepared.complete else ""),
        "sample": prepared.sample,
    }
    if prepared.reason:
        return Estimate(estimate=math.nan, reason=prepared.reason, **common)
    x, complete = prepared.x, prepared.complete
    n, k = x.shape

    def of_covariance(covariance: Floats) -> Floats:
        return coefficient(covariance if on == "covariance" else correlations(covariance))

    def of_matrix(data: Floats) -> float:
        if np.isnan(data).any() and on == "correlation" and correlation_of_missing is not None:
            return float(coefficient(correlation_of_missing(data)[None])[0])
        return float(of_covariance(_covariance(data, missing)[None])[0])

    value = of_matrix(x)
    if math.isnan(value):
        reason = _why_undefined(x, on == "correlation")
        return Estimate(estimate=math.nan, reason=reason, **common)
    notes = _quality_notes(prepared, value)

    bounds: Interval | None = None
    method = interval
    if method == "auto":
        method = "jackknife"
    if method in {"feldt", "bonett"}:
        bounds, note = _analytic(value, n, k, inference["level"], method, prepared, name)
        notes += [note] if note else []
    elif method == "jackknife" and name == "alpha" and complete:  # ICC(3,k)
        ratio = MeanSquareRatio.of_scores(x, prepared.cluster, residual=True)
        bounds, more = ratio.icc_interval(single=False, level=inference["level"])
        notes += more
    elif method == "jackknife":
        left_out = cluster_jackknife(
            x,
            (lambda data, w: of_covariance(resampled_covariances(data, w)))
            if complete
            else of_matrix,
            cluster=prepared.cluster,
            level=inference["level"],
            vectorized=complete,
        )
        bounds, lost = useful_reliability(left_out.interval, only(left_out.n_clusters))
        notes += lost or left_out.notes
    elif method in {"bca", "percentile"}:
        boot = cluster_bootstrap(
            x,
            (lambda data, w: of_covariance(resampled_covariances(data, w)))
            if complete
            else of_matrix,
            cluster=prepared.cluster,
            method=method,
            transform="log_complement",
            level=inference["level"],
            n_resamples=inference["n_resamples"],
            seed=inference["seed"],
            n_jobs=n_jobs,
            vectorized=complete,
            names=(label,),
        )
        bounds, lost = useful_reliability(boot.interval, only(boot.n_clusters))
        notes += lost or [*boot.notes, *bootstrap_note(boot.n_clusters, method)]

    null = None
    if inference["n_permutations"] > 0:
        permuted = permutation_distribution(
            x,
            (lambda stack: of_covariance(stacked_covariances(stack))) if complete else of_matrix,
            scheme="replications",
            n_permutations=inference["n_permutations"],
            seed=inference["seed"],
            n_jobs=n_jobs,
            vectorized=complete,
        )
        null = permuted.null
        notes += permuted.notes
    covariance = _covariance(x, missing)
    return Estimate(
        estimate=value,
        interval=bounds,
        std_error=std_error(covariance, n) if std_error else math.nan,
        null=null,
        notes=tuple(notes),
        details=details(covariance, n) if details else {},
        **common,
    )


def bootstrap_note(n_clusters: int, method: str) -> tuple[Note, ...]:
    """The warning for the user's case, where the bootstrap was seen to cover below .93."""
    if n_clusters >= 100:
        return ()
    message = (
        f"With {counted(n_clusters, 'cluster', 'clusters')} the {method} bootstrap of a "
        "reliability covers below .93 for "
        "a nominal .95 (docs/simulations/coverage_scores.csv): use interval='auto'."
    )
    return (Note(code="bootstrap_undercovers", message=message),)


def _covariance(x: Floats, missing: Missing) -> Floats:
    if not np.isnan(x).any():
        out: Floats = stacked_covariances(x[None])[0]
        return out
    return em_covariance(x)[0] if missing == "em" else pairwise_covariance(x)


def _analytic(
    value: float, n: int, k: int, level: float, method: str, prepared: Prepared, name: str
) -> tuple[Interval | None, Note | None]:
    """Feldt's or Bonett's interval, or the note that says why there is none."""
    why = ""
    if name != "alpha":
        why = f"{method}'s interval is for raw alpha, not for {name}: use interval='jackknife'"
    elif not prepared.complete:
        why = f"{method}'s interval needs complete replications: use interval='jackknife'"
    elif 1 - value <= 1e-12:
        why = "a reliability of exactly 1 has no interval: nothing varied within items"
    elif method == "bonett" and n < 3:
        why = "Bonett's interval needs at least 3 items"
    if why:
        return None, Note(code="no_interval", message=f"No interval: {why}.")
    low, high = (_feldt if method == "feldt" else _bonett)(value, n, k, level)
    title = {"feldt": "Feldt F", "bonett": "Bonett ln(1 - alpha)"}[method]
    note = None
    if prepared.clustered:
        message = (
            f"{title} treats items as independent, but they share clusters: use "
            "interval='jackknife'."
        )
        note = Note(code="clusters_ignored", message=message)
    return Interval(low=low, high=high, level=level, method=title), note
