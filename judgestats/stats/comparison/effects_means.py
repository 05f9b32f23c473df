"""Standardised mean differences: Cohen's d and Hedges' g."""

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
from judgestats.stats.layouts.groups import read_two_samples

Spread = Literal["pooled", "average"]


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
    As R's effectsize. pingouin's interval is not the noncentral t.

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
