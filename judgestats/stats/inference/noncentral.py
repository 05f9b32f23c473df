"""Confidence limits found by inverting a noncentral distribution (Steiger & Fouladi, 1997)."""

from __future__ import annotations

import math

from scipy import optimize, special


def f_noncentrality(f: float, dfn: float, dfd: float, p: float) -> float:
    """The noncentrality at which P(F <= f) = p; 0 where even the central F lies below p.

    Parameters
    ----------
    f, dfn, dfd : float
        Observed F and its degrees of freedom.
    p : float
        Lower tail probability.

    Returns
    -------
    float

    Examples
    --------
    >>> round(f_noncentrality(5.0, 2, 30, 0.025), 4)
    26.3747
    """

    def gap(nc: float) -> float:
        return float(special.ncfdtr(dfn, dfd, nc, f)) - p

    if float(special.fdtr(dfn, dfd, f)) <= p:
        return 0.0
    high = max(10.0, 2 * f * dfn)
    while gap(high) > 0 and high < 1e9:
        high *= 2
    if gap(high) > 0:
        return math.inf
    return float(optimize.brentq(gap, 0.0, high, xtol=1e-10))


def t_noncentrality(t: float, df: float, p: float) -> float:
    """The noncentrality at which P(T <= t) = p for the noncentral t on df degrees of freedom.

    Parameters
    ----------
    t, df : float
        Observed t and its degrees of freedom.
    p : float
        Lower tail probability.

    Returns
    -------
    float

    Examples
    --------
    >>> round(t_noncentrality(2.5, 20, 0.025), 4)
    4.5787
    """
    from scipy import stats

    def gap(nc: float) -> float:
        return float(stats.nct.cdf(t, df, nc)) - p

    low, high = t - 5.0, t + 5.0
    while gap(low) < 0:
        low -= 2 * abs(low - t)
    while gap(high) > 0:
        high += 2 * abs(high - t)
    return float(optimize.brentq(gap, low, high, xtol=1e-11, rtol=1e-13))


def share_interval(
    f: float, dfn: float, dfd: float, scale: float, level: float
) -> tuple[float, float]:
    """Limits of a population share of variance, lambda / (lambda + scale), from an observed F.

    Parameters
    ----------
    f, dfn, dfd : float
        Observed F and its degrees of freedom.
    scale : float
        What turns a noncentrality into a share: n for a one-way design.
    level : float

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> [round(v, 4) for v in share_interval(5.0, 2, 30, 33, 0.95)]
    [0.0126, 0.4442]
    """
    tail = (1 - level) / 2
    low, high = (f_noncentrality(f, dfn, dfd, p) for p in (1 - tail, tail))
    return low / (low + scale), high / (high + scale) if math.isfinite(high) else 1.0
