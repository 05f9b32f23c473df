"""Confidence limits of a shift by inverting a rank test: where its statistic crosses a quantile."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize

from judgestats.arrays import Floats, Ints
from judgestats.stats.inference import distributions


def paired_limits(
    z: Callable[[float], float],
    low: float,
    high: float,
    level: float,
    jumps: Floats | None,
) -> tuple[float, float, float]:
    """Where the standardised statistic crosses its quantiles, as R's uniroot finds it.

    Returns both limits and the level reached: R doubles alpha until both crossings exist.
    """
    alpha = 1 - level
    top, bottom = z(low), z(high)
    if not (math.isfinite(top) and math.isfinite(bottom)):
        return math.nan, math.nan, level
    while alpha < 1:
        q = float(distributions.norm.isf(alpha / 2))
        if top - q >= 0 >= bottom + q:
            break
        alpha *= 2
    if alpha >= 1:
        return math.nan, math.nan, 0.0
    lower, upper = (
        crossing(lambda d, c=c: z(d) - c, low, high, jumps)  # type: ignore[misc]
        for c in (q, -q)
    )
    return lower, upper, 1 - alpha


def crossing(
    f: Callable[[float], float], low: float, high: float, jumps: Floats | None = None
) -> float:
    """Root of a decreasing step function: the point where it changes sign.

    With `jumps` (sorted, distinct: where the function can change) the jump itself is found by
    bisection over them; a step at exactly 0 is left to the root search, as in R.
    """
    if f(low) == 0:
        return low
    if f(high) == 0:
        return high
    if jumps is not None and jumps.size > 1:
        first, last = 0, jumps.size - 1
        flat = False
        while first < last and not flat:
            middle = (first + last) // 2
            value = f(float(jumps[middle] + jumps[middle + 1]) / 2)
            flat = value == 0
            first, last = (middle + 1, last) if value > 0 else (first, middle)
        if not flat:
            return float(jumps[first])
    return float(optimize.brentq(f, low, high, xtol=1e-12, rtol=1e-14))


def snap_to_jump(limits: tuple[float, float], x: Floats, y: Floats | None) -> tuple[float, float]:
    """Limits moved to the jump they were found at: an average x (or difference x - y) nearby.

    The standardised statistic is a step function, so a root search stops a rounding error beside
    one of its jumps; this takes the rounding error off (at most 1e-9 of the data's size).
    """
    scale = 1e-9 * max(float(np.max(np.abs(x))), 1e-300)
    out = []
    for limit in limits:
        near = limit
        if math.isfinite(limit):
            # The partner of each value that would make the jump, and the closest one there is.
            partners = np.sort(x if y is None else y)
            wanted = 2 * limit - x if y is None else x - limit
            place = np.clip(np.searchsorted(partners, wanted), 0, partners.size - 1)
            jumps = []
            for step in (0, -1):
                other = partners[np.maximum(place + step, 0)]
                jumps.append((x + other) / 2 if y is None else x - other)
            candidates = np.concatenate(jumps)
            best = float(candidates[np.argmin(np.abs(candidates - limit))])
            near = best if abs(best - limit) <= scale else limit
        out.append(near)
    return out[0], out[1]


def paired_z(d: Floats, correct: bool, cluster: Ints | None) -> Callable[[float], float]:
    """The standardised signed-rank statistic of d - shift, as a function of the shift."""

    def z(shift: float) -> float:
        moved = d - shift
        keep = moved != 0
        moved = moved[keep]
        ranks = np.sign(moved) * distributions.ranks(np.abs(moved))
        if cluster is None:
            spread = math.sqrt(float(np.sum(ranks**2)) / 4)
        else:
            totals = np.bincount(cluster[keep], weights=ranks)
            spread = math.sqrt(float(np.sum(totals**2)) / 4)
        centred = float(ranks.sum()) / 2
        step = math.copysign(0.5, centred) if correct and centred != 0 else 0.0
        return (centred - step) / spread if spread > 0 else math.nan

    return z


def shift_z(x: Floats, y: Floats, correct: bool) -> Callable[[float], float]:
    """The standardised rank-sum statistic of x - shift against y, as a function of the shift."""
    n, m = x.size, y.size

    def z(shift: float) -> float:
        ranks = distributions.ranks(np.concatenate([x - shift, y]))
        centred = float(ranks[:n].sum()) - n * (n + m + 1) / 2
        centre = (n + m + 1) / 2
        spread = math.sqrt(n * m / ((n + m) * (n + m - 1)) * float(np.sum((ranks - centre) ** 2)))
        step = math.copysign(0.5, centred) if correct and centred != 0 else 0.0
        return (centred - step) / spread if spread > 0 else math.nan

    return z


def order_limits(
    place: Callable[[int], float], size: int, null: Floats, level: float
) -> tuple[float, float, float]:
    """Confidence limits among ordered averages or differences, and the level they reach.

    R's qsignrank / qwilcox rule; with very few values even the outermost pair falls short. `place`
    gives the k-th smallest (from 1) of the `size` values.
    """
    alpha = 1 - level
    lower = int(np.searchsorted(np.cumsum(null), alpha / 2 * (1 - 1e-12)))
    reached = level if lower >= 1 else 1 - 2 * float(null[0])
    lower = max(lower, 1)
    return place(lower), place(size - lower + 1), reached


def shift_limits(
    z: Callable[[float], float],
    low: float,
    high: float,
    level: float,
    jumps: Floats | None,
) -> tuple[float, float]:
    """R's two-sample limits: the end of the range where the crossing lies beyond it."""
    q = float(distributions.norm.isf((1 - level) / 2))
    out = []
    for target in (q, -q):
        if not z(low) - target > 0:
            out.append(low)
        elif not z(high) - target < 0:
            out.append(high)
        else:
            out.append(crossing(lambda d, t=target: z(d) - t, low, high, jumps))  # type: ignore[misc]
    return out[0], out[1]
