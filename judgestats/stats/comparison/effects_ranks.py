"""Effects of two independent samples: Cliff's delta and Vargha-Delaney A."""

from __future__ import annotations

import math
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import one_of
from judgestats.stats.comparison.matched_effects import (
    MAX_MATRIX,
    fisher_interval,
    undercoverage,
)
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import Resampled, with_keywords
from judgestats.stats.inference.resampling import cluster_bootstrap
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample
from judgestats.stats.inference.rounding_noise import level_ranks, noise_free
from judgestats.stats.layouts.groups import read_two_samples

IndependentInterval = Literal["cliff", "fisher", "bootstrap", "none"]


def dominance(
    x: Floats,
    y: Floats,
    *,
    sample: Sample,
    interval: IndependentInterval | None,
    cluster: Ints | None,
    level: float,
    n_resamples: int = 2000,
    seed: int | None = 0,
    name: str = "rank_biserial",
    label: str = "rank-biserial correlation",
) -> Estimate:
    """P(x > y) - P(x < y) and its interval; `cluster` holds the codes of x, then of y."""
    n, m = x.size, y.size
    reason = "" if n and m else "a sample is empty"
    ranks = level_ranks(np.concatenate([x, y]))
    x, y = noise_free(x), noise_free(y)
    delta = math.nan
    if not reason:
        delta = float(2 * (ranks[:n].sum() - n * (n + 1) / 2) / (n * m) - 1)
    chosen = interval or "cliff"
    notes: list[Note] = []
    if chosen == "bootstrap" and n * m > MAX_MATRIX:
        message = f"{n} x {m} pairs are too many to resample: Cliff's interval is given instead."
        notes.append(Note(code="cliff_instead", message=message))
        chosen = "cliff"
    limits: Interval | None = None
    if not reason and chosen != "none":
        if abs(delta) == 1 or min(n, m) < 2:
            why = "the samples do not overlap" if abs(delta) == 1 else "a sample has one value"
            notes.append(Note(code="boundary", message=f"No interval: {why}."))
        elif chosen == "fisher":
            se = math.sqrt((n + m + 1) / (3 * n * m))
            limits = fisher_interval(delta, se, level, "Fisher z, null standard error")
            notes += undercoverage("Fisher's z with the null standard error", abs(delta) > 0.3)
        elif chosen == "cliff":
            limits = _cliff_interval(x, y, delta, level, cluster)
            if limits is None:
                message = "No interval: there are too few clusters."
                notes.append(Note(code="no_interval", message=message))
        else:
            signs = np.sign(x[:, None] - y[None])

            def statistic(_: Floats, w: Floats) -> Floats:
                wx, wy = w[:, :n], w[:, n:]
                with np.errstate(divide="ignore", invalid="ignore"):
                    result: Floats = np.sum((wx @ signs) * wy, axis=1) / (
                        wx.sum(axis=1) * wy.sum(axis=1)
                    )
                return result

            boot = cluster_bootstrap(
                np.concatenate([x, y]),
                statistic,
                cluster=cluster,
                n_resamples=n_resamples,
                level=level,
                seed=seed,
                vectorized=True,
                names=(label,),
            )
            notes += boot.notes
            limits = boot.interval if math.isfinite(boot.interval.low) else None
    return Estimate(
        name=name,
        label=label,
        estimator="P(x > y) - P(x < y)",
        estimate=delta,
        interval=limits,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
    )


def _cliff_interval(
    x: Floats, y: Floats, delta: float, level: float, cluster: Ints | None
) -> Interval | None:
    """Cliff's asymmetric interval; rows and columns by sorting, without the n x m matrix.

    The variance is Cliff's unbiased one, or with clusters that of the clusters' linearised sums.
    """
    n, m = x.size, y.size
    ys, xs = np.sort(y), np.sort(x)
    left, right = np.searchsorted(ys, x, "left"), np.searchsorted(ys, x, "right")
    rows = (left + right - m) / m
    columns = (n - np.searchsorted(xs, y, "right") - np.searchsorted(xs, y, "left")) / n
    if cluster is None:
        squares = n * m - float(np.sum(right - left))
        row_part = float(np.sum((rows - delta) ** 2))
        column_part = float(np.sum((columns - delta) ** 2))
        cells = squares - n * m * delta**2
        variance = (m**2 * row_part + n**2 * column_part - cells) / (n * m * (n - 1) * (m - 1))
        variance = max(variance, (1 - delta**2) / (n * m - 1))
        df, method = n + m - 2, "Cliff (1996), asymmetric"
    else:
        n_clusters = int(cluster.max()) + 1
        if n_clusters < 3:
            return None
        parts = np.concatenate([(rows - delta) / n, (columns - delta) / m])
        sums = np.bincount(cluster, weights=parts, minlength=n_clusters)
        variance = n_clusters / (n_clusters - 1) * float(np.sum(sums**2))
        df, method = n_clusters - 1, "Cliff, asymmetric, variance over clusters"
    t = float(distributions.t.isf((1 - level) / 2, df))
    root = t * math.sqrt(variance) * math.sqrt((1 - delta**2) ** 2 + t**2 * variance)
    scale = 1 - delta**2 + t**2 * variance
    low, high = ((delta - delta**3 + s * root) / scale for s in (-1, 1))
    return Interval(low=max(low, -1.0), high=min(high, 1.0), level=level, method=method)


def _two_samples(
    x: ArrayLike | str, y: object, cluster: object, where: str
) -> tuple[Floats, Floats, Ints | None, Sample]:
    """Both samples, cluster codes (x first, then y) and the sample record."""
    groups = read_two_samples(x, y, where=where, cluster=cluster)
    first, second = groups.split()
    codes = None
    if groups.cluster is not None:
        codes = np.concatenate([groups.cluster[groups.codes == g] for g in (0, 1)])
    return first, second, codes, groups.sample


@with_keywords()
def cliffs_delta(
    x: ArrayLike | str,
    y: object = None,
    *,
    interval: IndependentInterval | None = None,
    **inference: Unpack[Resampled],
) -> Estimate:
    """Cliff's delta: P(x > y) - P(x < y), the same number as the rank-biserial correlation.

    Parameters
    ----------
    x, y : array-like, or formula and frame
        Two samples; or ``"score ~ group"`` and the frame, first level against second.
    interval : {"cliff", "fisher", "bootstrap", "none"}, optional
        ``cliff`` (default): Cliff's asymmetric interval from the unbiased variance, or with
        `cluster` from the clusters' linearised sums; ``fisher``: Fisher's z with the null standard
        error, as effectsize (it knows no clusters); ``bootstrap``: BCa over values or clusters.
    cluster : array-like or str, optional
        Cluster of each value (x first, then y).

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    References
    ----------
    Cliff (1996), Multivariate Behavioral Research 31, 331-350 (t quantile on n + m - 2
    df; effsize's variance miscounts pairs and differs).

    Examples
    --------
    >>> cliffs_delta([2, 3, 4], [1, 2, 3]).estimate.__round__(4)
    0.5556
    """
    first, second, codes, sample = _two_samples(x, y, inference["cluster"], "cliffs_delta")
    one_of("cliffs_delta", "interval", interval, (None, "cliff", "fisher", "bootstrap", "none"))
    return dominance(
        first,
        second,
        sample=sample,
        interval=interval,
        cluster=codes,
        level=inference["level"],
        n_resamples=inference["n_resamples"],
        seed=inference["seed"],
        name="cliffs_delta",
        label="Cliff's delta",
    )


@with_keywords()
def vargha_delaney_a(
    x: ArrayLike | str,
    y: object = None,
    *,
    interval: IndependentInterval | None = None,
    **inference: Unpack[Resampled],
) -> Estimate:
    """Vargha and Delaney's A: P(x > y) + P(x = y) / 2, that is (1 + Cliff's delta) / 2.

    Parameters
    ----------
    x, y, interval
        See `cliffs_delta`; the interval is that of Cliff's delta, moved.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    References
    ----------
    Vargha & Delaney (2000), J. Educ. Behav. Statist. 25, 101-132.

    Examples
    --------
    >>> round(vargha_delaney_a([2, 3, 4], [1, 2, 3]).estimate, 4)
    0.7778
    """
    first, second, codes, sample = _two_samples(x, y, inference["cluster"], "vargha_delaney_a")
    one_of("vargha_delaney_a", "interval", interval, (None, "cliff", "fisher", "bootstrap", "none"))
    delta = dominance(
        first,
        second,
        sample=sample,
        interval=interval,
        cluster=codes,
        level=inference["level"],
        n_resamples=inference["n_resamples"],
        seed=inference["seed"],
    )
    moved = delta.interval and Interval(
        low=(1 + delta.interval.low) / 2,
        high=(1 + delta.interval.high) / 2,
        level=delta.interval.level,
        method=delta.interval.method,
        n_resamples=delta.interval.n_resamples,
        seed=delta.interval.seed,
    )
    return delta.replace(
        name="vargha_delaney_a",
        label="Vargha-Delaney A",
        estimator="P(x > y) + P(x = y) / 2",
        estimate=(1 + delta.estimate) / 2,
        interval=moved,
    )
