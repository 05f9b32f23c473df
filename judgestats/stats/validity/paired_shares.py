"""The difference of two shares on the same items: Tango's score interval."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.result import Estimate, Interval, Sample
from judgestats.stats.validity.inputs import score_values


def tango_limits(b: int, c: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    r"""Tango's score limits of (b - c) / n, from b and c discordant pairs of n.

    Parameters
    ----------
    b, c : int
        Pairs in which only the first, only the second passes.
    n : int
        All pairs.
    level : float

    Returns
    -------
    tuple of float

    Raises
    ------
    InputError
        If the counts are no counts of n pairs.

    Notes
    -----
    The limits :math:`\delta` solve :math:`(b - c - n\delta) = \pm z \sqrt{n (2 \hat q_{21} +
    \delta (1 - \delta))}` with :math:`\hat q_{21}` the constrained maximum likelihood estimate in
    closed form. Without a discordant pair the width is not 0: none of 20 gives +-.161.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908.

    Examples
    --------
    >>> [round(v, 4) for v in tango_limits(36, 12, 120)], round(tango_limits(0, 0, 20)[1], 3)
    ([0.0903, 0.3068], 0.161)
    """
    if min(b, c) < 0 or b + c > n or n < 1 or not 0 < level < 1:
        raise InputError(
            f"tango_limits: b and c must be counts among n pairs, got b={b}, c={c}, n={n}."
        )
    z = float(distributions.norm.isf((1 - level) / 2))

    def score(delta: float) -> float:
        linear = (2 * n - b + c) * delta - b - c
        root = math.sqrt(max(linear**2 + 8 * n * c * delta * (1 - delta), 0.0))
        q = max((root - linear) / (4 * n), 0.0)
        variance = n * (2 * q + delta * (1 - delta))
        return (b - c - n * delta) / math.sqrt(max(variance, 1e-300))

    observed = (b - c) / n
    edge = 1 - 1e-12
    low = -1.0 if score(-edge) < z else float(brentq(lambda d: score(d) - z, -edge, observed))
    high = 1.0 if score(edge) > -z else float(brentq(lambda d: score(d) + z, observed, edge))
    return low, high


def paired_share_difference(
    one: ArrayLike, two: ArrayLike, *, level: float = 0.95
) -> Estimate:  # fmt: skip
    """Difference of two pass shares on the same independent items, with Tango's interval.

    Parameters
    ----------
    one, two : array-like, shape (N,)
        0 and 1 of each item; items with a NaN on either side are left out and counted.
    level : float

    Returns
    -------
    Estimate
        Undefined where no item has both.

    Raises
    ------
    InputError
        If shapes differ or a value is neither 0 nor 1.

    Notes
    -----
    Items of one question are not independent: with clusters use `corrected_differences`.

    Examples
    --------
    >>> out = paired_share_difference([1, 1, 1, 0] * 10, [1, 0, 1, 0] * 10)
    >>> round(out.estimate, 2), round(out.interval.low, 3)
    (0.25, 0.14)
    """
    where = "paired_share_difference"
    x, y = (score_values(v, where=where, name=n) for v, n in ((one, "one"), (two, "two")))
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(
            f"{where}: one and two must be one value an item, got {x.shape}, {y.shape}."
        )
    present = ~(np.isnan(x) | np.isnan(y))
    if not set(np.unique(np.r_[x[present], y[present]])) <= {0.0, 1.0}:
        raise InputError(f"{where}: values must be 0 or 1. Scores have mean_shift.")
    n, lost = int(present.sum()), int(np.sum(~present))
    sample = Sample(n_items=n, excluded={"not known on both sides": lost})
    common: dict[str, Any] = {
        "name": "rate_difference",
        "label": "Difference of shares",
        "sample": sample,
    }
    if not n:
        return Estimate(**common, estimate=math.nan, reason="no item is known on both sides")
    b, c = int(np.sum(present & (x > y))), int(np.sum(present & (x < y)))
    low, high = tango_limits(b, c, n, level=level)
    return Estimate(
        **common,
        estimate=(b - c) / n,
        estimator="difference of shares, paired by item",
        interval=Interval(low=low, high=high, level=level, method="score (Tango)"),
        details={"only_first": b, "only_second": c},
    )
