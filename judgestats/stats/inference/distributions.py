"""Tails and quantiles of the distributions that tests refer to, without ``scipy.stats``.

``scipy.stats`` takes half a second to import, longer than most analyses; its distributions call the
functions of ``scipy.special`` used here, so that the numbers are the same to the last digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgestats.arrays import Floats

Numbers = float | np.floating[Any] | NDArray[Any]


class norm:  # noqa: N801 (named as in scipy.stats, as are the next)
    """The standard normal distribution.

    Examples
    --------
    >>> round(float(norm.ppf(0.975)), 4)
    1.96
    """

    @staticmethod
    def cdf(x: Numbers) -> Any:
        """P(X <= x)."""
        return special.ndtr(x)

    @staticmethod
    def sf(x: Numbers) -> Any:
        """P(X > x)."""
        return special.ndtr(-x)

    @staticmethod
    def ppf(q: Numbers) -> Any:
        """The x of which P(X <= x) = q."""
        return special.ndtri(q)

    @staticmethod
    def isf(q: Numbers) -> Any:
        """The x of which P(X > x) = q."""
        return -special.ndtri(q)


class t:  # noqa: N801
    """Student's t with `df` degrees of freedom, which need not be whole; NaN where df <= 0.

    Examples
    --------
    >>> round(float(2 * t.sf(2.2, 10)), 4)
    0.0524
    """

    @staticmethod
    def cdf(x: Numbers, df: Numbers) -> Any:
        """P(X <= x)."""
        return _where(df, special.stdtr(df, x))

    @staticmethod
    def sf(x: Numbers, df: Numbers) -> Any:
        """P(X > x)."""
        return _where(df, special.stdtr(df, -x))

    @staticmethod
    def ppf(q: Numbers, df: Numbers) -> Any:
        """The x of which P(X <= x) = q."""
        q = np.asarray(q)
        return _where(df, np.where(q == 0, -np.inf, special.stdtrit(df, q)))

    @staticmethod
    def isf(q: Numbers, df: Numbers) -> Any:
        """The x of which P(X > x) = q."""
        return -t.ppf(q, df)


class f:  # noqa: N801
    """Fisher's F with `dfn` and `dfd` degrees of freedom; NaN where either is not above 0."""

    @staticmethod
    def cdf(x: Numbers, dfn: Numbers, dfd: Numbers) -> Any:
        """P(X <= x)."""
        return _where(dfn, _where(dfd, special.fdtr(dfn, dfd, np.maximum(x, 0.0))))

    @staticmethod
    def sf(x: Numbers, dfn: Numbers, dfd: Numbers) -> Any:
        """P(X > x)."""
        return _where(dfn, _where(dfd, special.fdtrc(dfn, dfd, np.maximum(x, 0.0))))

    @staticmethod
    def ppf(q: Numbers, dfn: Numbers, dfd: Numbers) -> Any:
        """The x of which P(X <= x) = q."""
        return _where(dfn, _where(dfd, special.fdtri(dfn, dfd, q)))


class chi2:  # noqa: N801
    """Chi-squared with `df` degrees of freedom; NaN where df <= 0."""

    @staticmethod
    def sf(x: Numbers, df: Numbers) -> Any:
        """P(X > x)."""
        return _where(df, special.chdtrc(df, np.maximum(x, 0.0)))


class binom:  # noqa: N801
    """How many of `n` independent trials succeed, each with probability `p`."""

    @staticmethod
    def pmf(k: Numbers, n: Numbers, p: Numbers) -> Any:
        """P(X = k)."""
        k, n, p = np.broadcast_arrays(k, n, p)
        whole = (k >= 0) & (k <= n) & (k == np.floor(k))
        at = np.where(whole, k, 0)
        logs = special.gammaln(n + 1) - special.gammaln(at + 1) - special.gammaln(n - at + 1)
        logs = logs + special.xlogy(at, p) + special.xlog1py(n - at, -p)
        return np.where(whole, np.exp(logs), 0.0)[()]

    @staticmethod
    def cdf(k: Numbers, n: Numbers, p: Numbers) -> Any:
        """P(X <= k)."""
        below = np.floor(k)
        inside = special.betaincc(np.clip(below, 0, n) + 1, n - np.clip(below, 0, n), p)
        return np.where(below < 0, 0.0, np.where(below >= n, 1.0, inside))[()]

    @staticmethod
    def sf(k: Numbers, n: Numbers, p: Numbers) -> Any:
        """P(X > k)."""
        below = np.floor(k)
        inside = special.betainc(np.clip(below, 0, n) + 1, n - np.clip(below, 0, n), p)
        return np.where(below < 0, 1.0, np.where(below >= n, 0.0, inside))[()]


def _where(df: Numbers, value: Any) -> Any:
    """`value`, NaN where there are no degrees of freedom."""
    return np.where(np.asarray(df) > 0, value, np.nan)[()]


def sign_test(first: int, second: int) -> float:
    """Two-sided p of the exact sign test: `first` successes against `second`; 1 without any.

    Examples
    --------
    >>> round(sign_test(9, 1), 4)
    0.0215
    """
    return min(1.0, 2 * float(binom.cdf(min(first, second), first + second, 0.5)))


def ranks(values: ArrayLike, *, axis: int | None = None) -> Floats:
    """Ranks from 1 upwards, tied values averaged; NaN where the values hold one.

    Parameters
    ----------
    values : array_like
    axis : int, optional
        Along which is ranked; by default all values as one row.

    Returns
    -------
    ndarray of float
        Of the shape of `values`; flat without an axis.

    Examples
    --------
    >>> ranks([30, 10, 20, 20]).tolist()
    [4.0, 1.0, 2.5, 2.5]
    """
    given = np.asarray(values)
    rows = given.ravel() if axis is None else np.moveaxis(given, axis, -1)
    n = rows.shape[-1]
    if rows.size == 0:
        return np.empty(given.shape if axis is not None else 0)
    order = np.argsort(rows, axis=-1, kind="stable")
    by_size = np.take_along_axis(rows, order, axis=-1)
    place = np.arange(1.0, n + 1)
    new = by_size[..., 1:] != by_size[..., :-1]
    edge = np.ones((*rows.shape[:-1], 1), dtype=bool)
    first = np.maximum.accumulate(
        np.where(np.concatenate([edge, new], axis=-1), place, 0.0), axis=-1
    )
    ends = np.where(np.concatenate([new, edge], axis=-1), place, np.inf)
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    out = np.empty(rows.shape)
    np.put_along_axis(out, order, (first + last) / 2, axis=-1)
    out[np.isnan(rows.astype(float)).any(axis=-1)] = np.nan
    return out if axis is None else np.moveaxis(out, -1, axis)
