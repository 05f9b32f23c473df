"""Standardised mean differences: Cohen's d, Hedges' g, Glass' delta, and d_z of pairs."""

from __future__ import annotations

import math
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Floats
from judgestats.errors import InputError
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.inference.noncentral import t_noncentrality
from judgestats.stats.inference.resampling import cluster_bootstrap
from judgestats.stats.inference.result import Estimate, Interval, Note
from judgestats.stats.layouts.blocks import as_paired
from judgestats.stats.layouts.groups import read_two_samples

Spread = Literal["pooled", "average", "second"]


def hedges_correction(df: float) -> float:
    r"""Hedges' exact small-sample factor J.

    Parameters
    ----------
    df : float
        Degrees of freedom, above 1.

    Returns
    -------
    float
        :math:`J = \Gamma(m/2) / (\sqrt{m/2}\,\Gamma((m-1)/2))`.

    Raises
    ------
    InputError
        If df is at most 1.

    Notes
    -----
    effsize uses the approximation 1 - 3 / (4 df - 1).

    Examples
    --------
    >>> round(hedges_correction(10), 6)
    0.922746
    """
    if not df > 1:
        raise InputError(f"hedges_correction: df must exceed 1, got {df}. Use more values.")
    return math.exp(
        float(special.gammaln(df / 2)) - 0.5 * math.log(df / 2)
        - float(special.gammaln((df - 1) / 2))
    )  # fmt: skip


def _noncentral_interval(
    t: float, df: float, scale: float, factor: float, level: float
) -> Interval:
    """Limits of a standardised difference: noncentralities times the scale (and Hedges' J)."""
    tail = (1 - level) / 2
    low, high = (t_noncentrality(t, df, p) * scale * factor for p in (1 - tail, tail))
    return Interval(low=low, high=high, level=level, method="noncentral t")


def _two_sample(
    x: ArrayLike | str,
    y: object,
    *,
    spread: Spread,
    corrected: bool,
    name: str,
    label: str,
    **inference: Unpack[Seeded],
) -> Estimate:
    data = read_two_samples(x, y, where=name, cluster=inference["cluster"])
    first, second = data.split()
    n, m = first.size, second.size
    reason = "" if min(n, m) >= 2 else "a sample has fewer than 2 values"
    estimator = {
        "pooled": "pooled standard deviation",
        "average": "root of the mean of both variances",
        "second": "standard deviation of the second sample",
    }[spread]
    value, interval = math.nan, None
    notes: tuple[Note, ...] = data.notes
    if not reason:
        value = _d(first, second, spread)
        if math.isnan(value):
            reason = "the values do not vary"
    if not reason:
        v, w = float(first.var(ddof=1)), float(second.var(ddof=1))
        df, scale, standard_error = float(n + m - 2), math.sqrt(1 / n + 1 / m), math.nan
        if spread == "pooled":
            pooled = math.sqrt(((n - 1) * v + (m - 1) * w) / df)
            standard_error = pooled * scale
        else:
            standard_error = math.sqrt(v / n + w / m)
        if spread == "average":
            df = standard_error**4 / ((v / n) ** 2 / (n - 1) + (w / m) ** 2 / (m - 1))
            scale = math.sqrt(2 * (m * v + n * w) / (n * m * (v + w)))
        elif spread == "second":
            df, scale = float(m - 1), math.sqrt(1 / m + v / (n * w))
        factor = hedges_correction(df) if corrected else 1.0
        if data.cluster is None:
            t = (float(first.mean()) - float(second.mean())) / standard_error
            interval = _noncentral_interval(t, df, scale, factor, inference["level"])
        else:
            codes = np.concatenate([data.cluster[data.codes == g] for g in (0, 1)])
            side = np.repeat([0.0, 1.0], [n, m])
            boot = cluster_bootstrap(
                (np.concatenate([first, second]), side),
                lambda z, s: factor * _d(z[s == 0], z[s == 1], spread),
                cluster=codes,
                level=inference["level"],
                seed=inference["seed"],
                names=(label,),
            )
            notes += boot.notes
            interval = boot.interval if math.isfinite(boot.interval.low) else None
        value *= factor
    return Estimate(
        name=name,
        label=label,
        estimator=estimator + (", exact small-sample factor" if corrected else ""),
        estimate=value,
        interval=interval,
        sample=data.sample,
        notes=notes,
        reason=reason,
    )


def _d(x: Floats, y: Floats, spread: Spread) -> float:
    """Mean difference over the chosen standard deviation, NaN where that is 0 or undefined."""
    n, m = x.size, y.size
    if n < 2 or m < 2:
        return math.nan
    v, w = float(x.var(ddof=1)), float(y.var(ddof=1))
    squared = {
        "pooled": ((n - 1) * v + (m - 1) * w) / (n + m - 2),
        "average": (v + w) / 2,
        "second": w,
    }[spread]
    gap = float(x.mean()) - float(y.mean())
    size = max(float(np.max(np.abs(x))), float(np.max(np.abs(y))))
    return gap / math.sqrt(squared) if squared > (1e-14 * size) ** 2 else math.nan


@with_keywords()
def cohens_d(
    x: ArrayLike | str, y: object = None, *, pooled: bool = True, **inference: Unpack[Seeded]
) -> Estimate:
    r"""Cohen's d of two independent samples, with the noncentral t interval.

    Parameters
    ----------
    x, y : array-like, or formula and frame
        See `mann_whitney_test`.
    pooled : bool
        Divide by the pooled standard deviation; otherwise by the root of the mean of both
        variances (Welch's df).
    cluster : array-like or str, optional
        Cluster of each value: bootstrap interval over clusters.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    Notes
    -----
    As R's effectsize. pingouin's interval is not the noncentral t. For pairs use `cohens_dz`.

    References
    ----------
    Cohen (1988); Steiger & Fouladi (1997).

    Examples
    --------
    >>> round(cohens_d([5, 6, 7, 8, 9], [4, 5, 6, 6, 7]).estimate, 4)
    1.0157
    """
    return _two_sample(
        x,
        y,
        spread="pooled" if pooled else "average",
        corrected=False,
        **inference,
        name="cohens_d",
        label="Cohen's d",
    )


@with_keywords()
def hedges_g(
    x: ArrayLike | str, y: object = None, *, pooled: bool = True, **inference: Unpack[Seeded]
) -> Estimate:
    """Hedges' g: Cohen's d times the exact small-sample factor.

    Parameters
    ----------
    x, y, pooled
        See `cohens_d`.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    Examples
    --------
    >>> round(hedges_g([5, 6, 7, 8, 9], [4, 5, 6, 6, 7]).estimate, 4)
    0.9168
    """
    return _two_sample(
        x,
        y,
        spread="pooled" if pooled else "average",
        corrected=True,
        **inference,
        name="hedges_g",
        label="Hedges' g",
    )


@with_keywords()
def glass_delta(x: ArrayLike | str, y: object = None, **inference: Unpack[Seeded]) -> Estimate:
    """Glass' delta: the mean difference over the second sample's standard deviation.

    Parameters
    ----------
    x, y
        See `cohens_d`; y is the control.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    Examples
    --------
    >>> round(glass_delta([5, 6, 7, 8, 9], [4, 5, 6, 6, 7]).estimate, 4)
    1.2279
    """
    return _two_sample(
        x,
        y,
        spread="second",
        corrected=False,
        **inference,
        name="glass_delta",
        label="Glass' delta",
    )


@with_keywords()
def cohens_dz(
    x: ArrayLike | str, y: object = None, *, corrected: bool = False, **inference: Unpack[Seeded]
) -> Estimate:
    r"""Cohen's d_z of pairs: mean difference over the standard deviation of the differences.

    Parameters
    ----------
    x, y : array-like of shape (n,), or formula and frame
        See `wilcoxon_signed_rank`.
    corrected : bool
        Times Hedges' exact factor (df n - 1).
    cluster : array-like or str, optional
        Cluster of each pair: bootstrap interval over clusters.

    Returns
    -------
    Estimate
        ``details["d_av"]`` holds the mean difference over the root mean variance of x and y, which
        is comparable to an unpaired d.

    Raises
    ------
    InputError
        If the data cannot be read as pairs.

    Notes
    -----
    As effectsize's ``cohens_d(paired = TRUE)``; pingouin's paired d is d_av.

    Examples
    --------
    >>> e = cohens_dz([5.0, 6.5, 7.2, 8.0, 9.1], [4.0, 6.0, 6.5, 6.1, 7.0])
    >>> round(e.estimate, 4), round(e.details["d_av"], 4)
    (1.7229, 0.9117)
    """
    where = "cohens_dz"
    blocks = as_paired(x, y, where=where, cluster=inference["cluster"])
    first, second = blocks.scores[:, 0], blocks.scores[:, 1]
    d = first - second
    n = d.size
    reason = "" if n >= 2 else "fewer than 2 complete pairs"
    size = float(np.max(np.abs(blocks.scores), initial=0.0))
    spread = float(d.std(ddof=1)) if n >= 2 else 0.0
    if not reason and spread <= 1e-14 * size:
        reason = "the differences do not vary"
    value = average = math.nan
    interval = None
    notes = blocks.notes
    if not reason:
        both = float(first.var(ddof=1) + second.var(ddof=1)) / 2
        average = float(d.mean()) / math.sqrt(both) if both > 0 else math.nan
        factor = hedges_correction(n - 1) if corrected and n > 2 else 1.0
        value = float(d.mean()) / spread
        if blocks.cluster is None:
            interval = _noncentral_interval(
                value * math.sqrt(n), n - 1, 1 / math.sqrt(n), factor, inference["level"]
            )
        else:

            def statistic(z: Floats, w: Floats) -> Floats:
                total = w.sum(axis=1)
                mean = w @ z / total
                variance = (w @ z**2 - total * mean**2) / (total - 1)
                with np.errstate(divide="ignore", invalid="ignore"):
                    result: Floats = factor * mean / np.sqrt(np.maximum(variance, 0.0))
                return result

            boot = cluster_bootstrap(
                d,
                statistic,
                cluster=blocks.cluster,
                level=inference["level"],
                seed=inference["seed"],
                vectorized=True,
                names=("d_z",),
            )
            notes += boot.notes
            interval = boot.interval if math.isfinite(boot.interval.low) else None
        value *= factor
    return Estimate(
        name=where if not corrected else "hedges_gz",
        label="Cohen's d_z" if not corrected else "Hedges' g_z",
        estimator="mean difference / standard deviation of the differences"
        + (", exact small-sample factor" if corrected else ""),
        estimate=value,
        interval=interval,
        sample=blocks.sample,
        notes=notes,
        reason=reason,
        details={"d_av": average},
    )
