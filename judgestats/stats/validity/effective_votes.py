"""Effective votes of judges whose errors are correlated, and what k such judges reach."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from judgestats.arrays import Floats, Ints


def effective_judges(errors: Floats) -> float:
    """Mean variance of the judges' errors over the variance of their mean.

    Parameters
    ----------
    errors : ndarray, shape (items, judges)

    Returns
    -------
    float
        k / (1 + (k - 1) rho); NaN where the mean error does not vary.

    References
    ----------
    Kish (1965), *Survey sampling*; Kohli (2026), arXiv:2605.29800.

    Examples
    --------
    >>> round(effective_judges(np.eye(4)[:, :2]), 6)
    3.0
    """
    whole = float(np.var(errors.mean(axis=1), ddof=1))
    each = float(np.mean(np.var(errors, axis=0, ddof=1)))
    return each / whole if whole > 0 else math.nan


def effective_judges_limits(
    errors: Floats, codes: Ints | None = None, level: float = 0.95
) -> tuple[float, float]:
    """Limits of the effective number of judges, by influence on its logarithm.

    Parameters
    ----------
    errors : ndarray, shape (items, judges)
    codes : ndarray of int, optional
        Clusters, over which influence is summed.
    level : float

    Returns
    -------
    low, high : float
        With t of 2 G / (kurtosis - 1) degrees of freedom, at most G - 1.

    Examples
    --------
    >>> e = (np.random.default_rng(0).random((100, 3)) < .2).astype(float)
    >>> low, high = effective_judges_limits(e)
    >>> bool(low < effective_judges(e) < high)
    True
    """
    mean = errors.mean(axis=1)
    centred = np.square(errors - errors.mean(axis=0)).mean(axis=1)
    u = centred / errors.var(axis=0).mean() - np.square(mean - mean.mean()) / mean.var()
    if codes is not None:
        u = np.bincount(np.unique(codes, return_inverse=True)[1], u)
    g = u.size
    squares = float(np.square(u - u.mean()).sum())
    if g < 2 or squares <= 0:
        return math.nan, math.nan
    error = math.sqrt(g / (g - 1) * squares) / errors.shape[0]
    kurtosis = g * float(((u - u.mean()) ** 4).sum()) / squares**2
    df = max(1.0, min(g - 1, 2 * g / max(kurtosis - 1, 1e-9)))
    middle = math.log(effective_judges(errors))
    half = float(special.stdtrit(df, (1 + level) / 2)) * error
    return math.exp(middle - half), math.exp(min(middle + half, 700.0))


def vote_variance(votes: Floats) -> float:
    """Mean of v (1 - v) over items, v the share of pass votes: it needs no label.

    Examples
    --------
    >>> vote_variance(np.array([[1.0, 0.0], [1.0, 1.0]]))
    0.125
    """
    share = votes.mean(axis=1)
    return float(np.mean(share * (1 - share)))


def subset_credit(errors: Floats, k: int) -> Floats:
    """Of each item the share of subsets of k judges whose majority is correct, a tie half.

    Parameters
    ----------
    errors : ndarray of 0 and 1, shape (items, judges)
    k : int

    Examples
    --------
    >>> subset_credit(np.array([[0.0, 0.0, 1.0]]), 1).round(4).tolist()
    [0.6667]
    """
    wrong = errors.sum(axis=1).astype(int)
    judges = errors.shape[1]
    x = np.arange(k + 1)
    credit = np.where(2 * x < k, 1.0, np.where(2 * x == k, 0.5, 0.0))
    table = np.array([
        float(np.sum(credit * special.comb(w, x) * special.comb(judges - w, k - x)))
        for w in range(judges + 1)
    ]) / special.comb(judges, k)  # fmt: skip
    return np.asarray(table[wrong])


def modelled_accuracy(error: float, correlation: float, k: int) -> float:
    """Accuracy of the majority of k judges with beta-binomial errors; ties half.

    Parameters
    ----------
    error, correlation : float
        Mean error rate, and mean correlation of two judges' errors.
    k : int

    References
    ----------
    Williams (1975), Biometrics 31, 949-952; Ladha (1992), Am. J. Political Science 36, 617-634.

    Examples
    --------
    >>> round(modelled_accuracy(.2, 0.0, 3), 3), round(modelled_accuracy(.2, .5, 25), 3)
    (0.896, 0.829)
    """
    x = np.arange(k + 1)
    choose = special.gammaln(k + 1) - special.gammaln(x + 1) - special.gammaln(k - x + 1)
    if correlation < 1e-9:
        logs = choose + special.xlogy(x, error) + special.xlog1py(k - x, -error)
    else:
        a, b = (p * (1 - correlation) / correlation for p in (error, 1 - error))
        logs = choose + special.betaln(x + a, k - x + b) - special.betaln(a, b)
    weights = np.exp(logs)
    return float(weights[2 * x < k].sum() + 0.5 * weights[2 * x == k].sum())


def independent_accuracy(error_rates: Floats) -> float:
    """Accuracy of the majority if judges with these error rates erred independently; ties half.

    Examples
    --------
    >>> round(independent_accuracy(np.array([.2, .2, .2])), 3)
    0.896
    """
    weights = np.array([1.0])
    for rate in error_rates:
        weights = np.convolve(weights, [1 - rate, rate])
    x, k = np.arange(weights.size), weights.size - 1
    return float(weights[2 * x < k].sum() + 0.5 * weights[2 * x == k].sum())
