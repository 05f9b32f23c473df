"""Distribution functions, the studentized range, and intervals of proportions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgestats.arrays import Floats, check_between, check_least
from judgestats.errors import InputError, one_of

Numbers = float | np.floating[Any] | NDArray[Any]
_MOST_STEPS = 200
_TOLERANCE = 1e-13


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
    """Student's t with `df` degrees of freedom, not necessarily an integer; NaN where df <= 0.

    Examples
    --------
    >>> round(float(2 * t.sf(2.2, 10)), 4)
    0.0524
    """

    @staticmethod
    def cdf(x: Numbers, df: Numbers) -> Any:
        """P(X <= x)."""
        return _mask_df(df, special.stdtr(df, x))

    @staticmethod
    def sf(x: Numbers, df: Numbers) -> Any:
        """P(X > x)."""
        return _mask_df(df, special.stdtr(df, -x))

    @staticmethod
    def ppf(q: Numbers, df: Numbers) -> Any:
        """The x of which P(X <= x) = q."""
        q = np.asarray(q)
        return _mask_df(df, np.where(q == 0, -np.inf, special.stdtrit(df, q)))

    @staticmethod
    def isf(q: Numbers, df: Numbers) -> Any:
        """The x of which P(X > x) = q."""
        return -t.ppf(q, df)


class f:  # noqa: N801
    """Fisher's F with `dfn` and `dfd` degrees of freedom; NaN where either is not above 0."""

    @staticmethod
    def sf(x: Numbers, dfn: Numbers, dfd: Numbers) -> Any:
        """P(X > x)."""
        return _mask_df(dfn, _mask_df(dfd, special.fdtrc(dfn, dfd, np.maximum(x, 0.0))))

    @staticmethod
    def ppf(q: Numbers, dfn: Numbers, dfd: Numbers) -> Any:
        """The x of which P(X <= x) = q."""
        return _mask_df(dfn, _mask_df(dfd, special.fdtri(dfn, dfd, q)))


class chi2:  # noqa: N801
    """Chi-squared with `df` degrees of freedom; NaN where df <= 0."""

    @staticmethod
    def sf(x: Numbers, df: Numbers) -> Any:
        """P(X > x)."""
        return _mask_df(df, special.chdtrc(df, np.maximum(x, 0.0)))

    @staticmethod
    def ppf(q: Numbers, df: Numbers) -> Any:
        """The x of which P(X <= x) = q."""
        return _mask_df(df, special.chdtri(df, 1 - np.asarray(q)))


class binom:  # noqa: N801
    """How many of `n` independent trials succeed, each with probability `p`."""

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


def _mask_df(df: Numbers, value: Any) -> Any:
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


def fisher_exact(passed: Sequence[int], failed: Sequence[int]) -> tuple[float, float]:
    """Test two groups' odds by Fisher's exact test, two-sided.

    Parameters
    ----------
    passed, failed : sequence of 2 int
        Counts of each group.

    Returns
    -------
    odds_ratio, p : float
        The sample odds ratio; p sums the tables at most as probable as the one observed, with the
        relative tolerance of R's ``fisher.test``. NaN and 1 where a row or column is empty.

    Examples
    --------
    >>> odds, p = fisher_exact([9, 2], [1, 8])
    >>> round(odds, 4), round(p, 4)
    (36.0, 0.0055)
    """
    (a, c), (b, d) = passed, failed
    if not (a + b and c + d and a + c and b + d):
        return math.nan, 1.0
    low, high = max(0, a - d), min(a + b, a + c)
    k = np.arange(low, high + 1)  # size: at most the number of items
    cells = np.stack([k, a + b - k, a + c - k, d - a + k])
    logs = -special.gammaln(cells + 1.0).sum(axis=0)
    mass = np.exp(logs - logs.max())
    p = float(mass[mass <= mass[a - low] * (1 + 1e-7)].sum() / mass.sum())
    return (math.inf if not b * c else a * d / (b * c)), min(p, 1.0)


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


_HALF_WIDTH = 12.0
"""Beyond this distance from its peak the range integrand is below exp(-144) of the peak."""


@functools.cache
def _nodes(n: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on [-1, 1]."""
    x, w = np.polynomial.legendre.leggauss(n)
    return x, w


def _range_sf(q: Floats, k: int) -> Floats:
    r"""P(range of k standard normals > q), by quadrature over the smallest of them.

    With a = P(Z > z) and d = P(Z > z + q), the density of the smallest being k phi(z) a^(k-1),
    P = k \int phi(z) [a^(k-1) - (a - d)^(k-1)] dz; the bracket is written with expm1 and log1p,
    so nothing cancels.
    """
    x, w = _nodes(120 if k <= 10 else 200)  # more groups, a narrower peak
    flat = q.reshape(-1)
    # The integrand lies between the normal bulk (small q) and a peak at -q/2 (large q).
    centre = -flat / 2
    z = centre[:, None] + _HALF_WIDTH * x
    log_a = special.log_ndtr(-z)
    log_d = special.log_ndtr(-(z + flat[:, None]))
    m = k - 1
    with np.errstate(divide="ignore"):
        share = np.exp(np.minimum(log_d - log_a, 0.0))
        bracket = -np.expm1(m * np.log1p(-np.minimum(share, 1.0)))
    density = np.exp(-0.5 * z**2 + m * log_a) / math.sqrt(2 * math.pi)
    total = k * _HALF_WIDTH * np.sum(w * density * bracket, axis=1)
    result: Floats = np.clip(total, 0.0, 1.0).reshape(q.shape)
    return result


def _studentized_sf(q: float, k: int, df: float) -> float:
    """P(Q > q) for finite df: the range's tail averaged over s, s^2 being chi-square(df) / df."""
    log_constant = math.log(2) + (df / 2) * math.log(df / 2) - special.gammaln(df / 2)

    def log_weight(u: Floats) -> Floats:
        # Density of u = log s times the Jacobian, on the log scale.
        result: Floats = log_constant + df * u - 0.5 * df * np.exp(2 * u)
        return result

    # Coarse look at the integrand for where it lives: the range's tail is at most this.
    width = 14.0 / math.sqrt(df)
    lowest, highest = -max(width, 40.0 / df), max(width, 3.0)

    def log_tail(u: Floats) -> Floats:
        by_pair = special.log_ndtr(-q * np.exp(u) / math.sqrt(2))
        result: Floats = np.minimum(0.0, math.log(k * (k - 1)) + by_pair)
        return result

    grid = np.linspace(lowest, highest, 800)
    level = log_weight(grid) + log_tail(grid)
    if not level[0] < np.max(level) - 45.0:  # far q: s of about 1 / q counts too
        grid = np.linspace(lowest - math.log(max(q, 1.0)), highest, 3200)
        level = log_weight(grid) + log_tail(grid)
    alive = np.flatnonzero(level > np.max(level) - 45.0)
    low, high = grid[max(alive[0] - 1, 0)], grid[min(alive[-1] + 1, grid.size - 1)]
    x, w = _nodes(160)
    u = (low + high) / 2 + (high - low) / 2 * x
    value = (high - low) / 2 * np.sum(w * np.exp(log_weight(u)) * _range_sf(q * np.exp(u), k))
    return float(min(max(value, 0.0), 1.0))


def studentized_range_sf(q: ArrayLike, *, k: int, df: float = math.inf) -> Floats:
    r"""Upper tail P(Q > q) of the studentised range of k groups.

    Parameters
    ----------
    q : array-like
        Quantiles; a negative q has probability 1, NaN stays NaN.
    k : int
        Number of groups, at least 2.
    df : float
        Degrees of freedom of the variance; infinite for rank tests.

    Returns
    -------
    ndarray
        Probabilities, shape of `q`.

    Raises
    ------
    InputError
        If `k` or `df` is out of range.

    Notes
    -----
    :math:`P(Q > q) = k \int \phi(z) [\bar\Phi(z)^{k-1} - (\bar\Phi(z) -
    \bar\Phi(z + q))^{k-1}] dz` for infinite df. scipy and R compute one minus the lower tail and
    lose digits below about 1e-9; this form keeps about twelve at any size.

    References
    ----------
    Copenhaver & Holland (1988), J. Statist. Comput. Simul. 30, 1-15 (the distribution).

    Examples
    --------
    >>> [f"{p:.4g}" for p in studentized_range_sf([3.314493, 12.0], k=3)]
    ['0.05', '6.456e-17']
    """
    _check("studentized_range_sf", k, df)
    values = np.asarray(q, dtype=float)
    flat = np.atleast_1d(values).reshape(-1)
    out = np.full(flat.size, np.nan)
    out[flat <= 0] = 1.0
    inside = (flat > 0) & np.isfinite(flat)
    out[flat == np.inf] = 0.0
    if math.isinf(df):
        out[inside] = _range_sf(flat[inside], k)
    else:
        distinct, index = np.unique(flat[inside], return_inverse=True)
        out[inside] = np.array([_studentized_sf(v, k, df) for v in distinct])[index]
    return out.reshape(values.shape)


@functools.lru_cache(maxsize=256)
def studentized_range_isf(p: float, *, k: int, df: float = math.inf) -> float:
    """The q with P(Q > q) = p: the studentised range's upper quantile.

    Parameters
    ----------
    p : float
        Upper tail probability in (0, 1).
    k : int
        Number of groups, at least 2.
    df : float
        Degrees of freedom; infinite for rank tests.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> round(studentized_range_isf(0.05, k=5) / 2**0.5, 6)  # Demsar's q_.05 for 5 methods
    2.727774
    """
    _check("studentized_range_isf", k, df)
    check_between("studentized_range_isf", "p", p)
    if k == 2:  # the range of two is their absolute difference
        t = special.ndtri(p / 2) if math.isinf(df) else special.stdtrit(df, p / 2)
        return -math.sqrt(2) * float(t)

    def gap(q: float) -> float:
        tail = float(studentized_range_sf(q, k=k, df=df))
        return math.log(max(tail, 1e-300)) - math.log(p)

    high = 4.0
    while gap(high) > 0:
        high *= 2
    return _root(gap, 1e-9, high)


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    """The root between two points at which a function has other signs."""
    return float(scipy.optimize.brentq(f, low, high, xtol=_TOLERANCE, maxiter=_MOST_STEPS))


def _check(where: str, k: int, df: float) -> None:
    check_least(where, "k", k, 2)
    if not df > 0:
        raise InputError(f"{where}: df must be positive, got {df}. Use math.inf for rank tests.")


ProportionInterval = Literal["wilson", "clopper-pearson"]


def proportion_limits(
    successes: float, n: float, *, level: float = 0.95, method: ProportionInterval = "wilson"
) -> tuple[float, float]:
    """Confidence limits of a binomial proportion.

    Parameters
    ----------
    successes, n : float
        Number of successes and of trials.
    level : float
    method : {"wilson", "clopper-pearson"}
        Wilson's is close to nominal on average; Clopper and Pearson's is never liberal.

    Returns
    -------
    low, high : float

    Raises
    ------
    InputError
        If the counts or the method cannot be used.

    References
    ----------
    Wilson (1927), JASA 22, 209-212; Brown, Cai & DasGupta (2001), Statist. Sci. 16, 101-133.

    Examples
    --------
    >>> [round(v, 4) for v in proportion_limits(20, 40)]
    [0.352, 0.648]
    """
    one_of("proportion_limits", "method", method, get_args(ProportionInterval))
    if not (n > 0 and 0 <= successes <= n):
        raise InputError(f"proportion_limits: {successes} of {n} are no counts.")
    alpha = 1 - level
    z = float(norm.isf(alpha / 2))
    p = successes / n
    x, rest = float(successes), float(n - successes)
    if method == "clopper-pearson":
        low = float(special.betaincinv(x, rest + 1, alpha / 2)) if x > 0 else 0.0
        high = float(special.betaincinv(x + 1, rest, 1 - alpha / 2)) if rest > 0 else 1.0
        return low, high
    centre = (x + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * math.sqrt(n * p * (1 - p) + z**2 / 4)
    return (max(centre - half, 0.0) if x > 0 else 0.0), (min(centre + half, 1.0) if rest else 1.0)


def f_noncentrality(f: float, dfn: float, dfd: float, p: float) -> float:
    """The noncentrality at which P(F <= f) = p; 0 where even the central F is below p.

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
    return _root(gap, 0.0, high)


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
    return _root(gap, low, high)


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
