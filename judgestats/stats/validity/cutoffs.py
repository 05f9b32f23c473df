"""Cut-offs of a score: limits of error rates, the certified window, and expected cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Bools, Floats, Ints
from judgestats.stats.validity.inputs import cluster_variance
from judgestats.stats.validity.panels import folds


def error_limit(errors: ArrayLike, n: ArrayLike, delta: float) -> Floats:
    """One-sided upper Clopper-Pearson limit of an error rate, for real-valued counts.

    Parameters
    ----------
    errors, n : array-like of float
        Errors and trials, divided by a design effect where items are clustered.
    delta : float
        One-sided error of the limit.

    Returns
    -------
    ndarray
        BetaInv(1 - delta, errors + 1, n - errors); 1 where every trial is an error.

    References
    ----------
    Korn, E. L., & Graubard, B. I. (1998). Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data. *Survey Methodology, 24*, 193-201.

    Examples
    --------
    >>> error_limit([0, 8], [59, 298], .05).round(4).tolist()
    [0.0495, 0.0479]
    """
    x, size = np.broadcast_arrays(np.asarray(errors, float), np.asarray(n, float))
    inside = special.betaincinv(x + 1, np.maximum(size - x, 1e-12), 1 - delta)
    return np.where(x >= size, 1.0, inside)


def least_trials(error: float, delta: float) -> int:
    """Fewest trials, all without an error, that show an error rate of at most `error`.

    Examples
    --------
    >>> least_trials(.05, .05)
    59
    """
    return math.ceil(math.log(delta) / math.log1p(-error))


@dataclass(frozen=True)
class Clustering:
    """Correlation within clusters, and the mean size that it inflates a variance by.

    Attributes
    ----------
    icc : float
        By one-way analysis of variance, at least 0; 1 where all items are in one cluster.
    size : float
        Sum of squared sizes over the sum of sizes.
    """

    icc: float
    size: float

    @property
    def design_effect(self) -> float:
        """1 + (size - 1) icc."""
        return 1 + (self.size - 1) * self.icc


def clustering(values: Floats, codes: Ints) -> Clustering:
    """ICC of values within clusters and mean cluster size.

    Parameters
    ----------
    values : ndarray, shape (n,)
    codes : ndarray of int, shape (n,)
        Cluster of each.

    Returns
    -------
    Clustering

    References
    ----------
    Kish, L. (1965). *Survey sampling*. Donner, A., & Klar, N. (2000). *Design and analysis of
    cluster randomization trials*.

    Examples
    --------
    >>> made = clustering(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1]))
    >>> made.icc, made.size, made.design_effect
    (1.0, 2.0, 2.0)
    """
    _, place = np.unique(codes, return_inverse=True)
    m = np.bincount(place)
    n, groups = values.size, m.size
    size = float((m**2).sum() / n) if n else 1.0
    if groups < 2 or n == groups:  # items of one cluster count as one
        return Clustering(1.0 if groups == 1 else 0.0, size)
    means = np.bincount(place, values) / m
    between = float((m * (means - values.mean()) ** 2).sum() / (groups - 1))
    within = float(((values - means[place]) ** 2).sum() / (n - groups))
    total = between + ((n - size) / (groups - 1) - 1) * within
    return Clustering(max(0.0, (between - within) / total) if total > 0 else 0.0, size)


def joint_share(delta: float, claims: int, *, independent: bool) -> float:
    """Level of each of several claims made at once.

    Examples
    --------
    >>> round(joint_share(.05, 2, independent=True), 6), joint_share(.05, 2, independent=False)
    (0.025321, 0.025)
    """
    return float(-np.expm1(np.log1p(-delta) / claims)) if independent else delta / claims


@dataclass(frozen=True, kw_only=True)
class ErrorCounts:
    """Misses and false passes at every observed score, with the sizes that limits rest on.

    Attributes
    ----------
    cutoffs : ndarray
        Observed scores, ascending; an item passes from the cut-off on.
    misses, false_passes : ndarray of int
        Passes below each cut-off, and fails at or above it.
    n_pass, n_fail : int
    effects : (float, float)
        Design effects among passes and among fails.
    delta : float
        One-sided error of each of both limits.
    """

    cutoffs: Floats
    misses: Ints
    false_passes: Ints
    n_pass: int
    n_fail: int
    effects: tuple[float, float] = (1.0, 1.0)
    delta: float = 0.025

    @property
    def tpr_lower(self) -> Floats:
        """Lower limits of the TPR, one per cut-off."""
        effect = self.effects[0]
        return 1 - error_limit(self.misses / effect, self.n_pass / effect, self.delta)

    @property
    def tnr_lower(self) -> Floats:
        """Lower limits of the TNR."""
        effect = self.effects[1]
        return 1 - error_limit(self.false_passes / effect, self.n_fail / effect, self.delta)

    def window(self, tpr: float, tnr: float) -> tuple[float, float]:
        """First cut-off that keeps the TNR and last one that keeps the TPR.

        Parameters
        ----------
        tpr, tnr : float
            Required rates.

        Returns
        -------
        low, high : float
            Every cut-off between them keeps both, on one event of probability 1 - 2 delta or more.
            ``low > high``: none does. Infinite where no observed score keeps a side.

        References
        ----------
        Wilks, S. S. (1941). *Annals of Mathematical Statistics, 12*, 91-96. Tong, X., Feng, Y., &
        Li, J. J. (2018). Neyman-Pearson classification algorithms. *Science Advances, 4*.

        Examples
        --------
        >>> scores, passed = np.arange(200.0), np.arange(200) >= 100
        >>> error_counts(scores, passed).window(.9, .9)
        (96.0, 104.0)
        """
        first, last = self.tnr_lower >= tnr, self.tpr_lower >= tpr
        low = float(self.cutoffs[first].min()) if first.any() else math.inf
        high = float(self.cutoffs[last].max()) if last.any() else -math.inf
        return low, high

    @property
    def youden(self) -> float:
        """Cut-off of largest TPR + TNR - 1, the lowest of ties."""
        return float(self.cutoffs[int(np.argmin(np.round(
            self.misses / max(self.n_pass, 1) + self.false_passes / max(self.n_fail, 1), 12
        )))])  # fmt: skip

    def counts_at(self, cutoff: float) -> tuple[int, int]:
        """Misses and false passes at any cut-off, observed or not."""
        i = int(np.searchsorted(self.cutoffs, cutoff, "left"))
        if i == self.cutoffs.size:
            return self.n_pass, 0
        return int(self.misses[i]), int(self.false_passes[i])


def error_counts(
    scores: Floats, passed: Bools, codes: Ints | None = None, *, delta: float = 0.025
) -> ErrorCounts:
    """Count misses and false passes at every observed score.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        The higher the better.
    passed : ndarray of bool, shape (n,)
        The labels.
    codes : ndarray of int, optional
        Cluster of each item: counts are then divided by the design effect of scores in each class.
    delta : float
        One-sided error of a limit.

    Returns
    -------
    ErrorCounts

    Examples
    --------
    >>> made = error_counts(np.array([1.0, 2.0, 3.0]), np.array([False, True, True]))
    >>> made.misses.tolist(), made.false_passes.tolist(), made.youden
    ([0, 0, 1], [1, 0, 0], 2.0)
    """
    cutoffs = np.unique(scores)
    good, bad = np.sort(scores[passed]), np.sort(scores[~passed])
    effects = (1.0, 1.0)
    if codes is not None:
        first, second = (
            clustering(scores[kind], codes[kind]).design_effect if kind.any() else 1.0
            for kind in (passed, ~passed)
        )
        effects = (first, second)
    return ErrorCounts(
        cutoffs=cutoffs,
        misses=np.searchsorted(good, cutoffs, "left"),
        false_passes=bad.size - np.searchsorted(bad, cutoffs, "left"),
        n_pass=good.size,
        n_fail=bad.size,
        effects=effects,
        delta=delta,
    )


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Expected cost per item at the cut-off that is cheapest.

    Attributes
    ----------
    cutoff : float
        Infinite where it is cheapest to pass nothing.
    same_labels : float
        Cost on the labels that chose the cut-off, which is too low.
    estimate, std_error : float
        Cross-fitted, with its standard error over clusters.
    """

    cutoff: float
    same_labels: float
    estimate: float
    std_error: float


def _cheapest(scores: Floats, passed: Bools, prices: tuple[float, float]) -> tuple[float, float]:
    """Cut-off of least total cost (ties: the lowest), and that cost per item."""
    counts = error_counts(scores, passed)
    miss, false = (
        np.append(counts.misses, counts.n_pass), np.append(counts.false_passes, 0)
    )  # fmt: skip
    total = np.round(prices[0] * miss + prices[1] * false, 9)
    i = int(np.argmin(total))
    return float(np.append(counts.cutoffs, np.inf)[i]), float(total[i]) / scores.size


def expected_cost(
    scores: Floats,
    passed: Bools,
    codes: Ints,
    *,
    miss: float,
    false_pass: float,
    fold: Ints | None = None,
    seed: int = 0,
    split: bool = False,
) -> Cost:
    """Cheapest cut-off, and its cost by cross-fitting or on the other half.

    Parameters
    ----------
    scores : ndarray, shape (n,)
    passed : ndarray of bool, shape (n,)
    codes : ndarray of int, shape (n,)
        Clusters, which folds keep together.
    miss, false_pass : float
        Cost of a pass below the cut-off and of a fail from it on.
    fold : ndarray of int, optional
        Folds; by default five, drawn by cluster with `seed`.
    seed : int
    split : bool
        Whether half of the clusters choose the cut-off, and the others measure its cost.

    Returns
    -------
    Cost

    Notes
    -----
    Each item is charged at the cut-off that the other folds choose. After a split the cost is that
    of one cut-off, so it serves a requirement.

    Examples
    --------
    >>> s, y = np.arange(40.0), np.arange(40) >= 20
    >>> found = expected_cost(s, y, np.arange(40), miss=3, false_pass=1)
    >>> found.cutoff, found.same_labels, found.estimate < .2
    (20.0, 0.0, True)
    """
    prices = (miss, false_pass)
    parts = list(folds(codes, seed) if fold is None else (fold == k for k in np.unique(fold)))
    kept = np.ones(scores.size, dtype=bool)
    if split:
        names = np.random.default_rng(seed).permutation(np.unique(codes))
        kept = np.isin(codes, names[names.size // 2 :])
        parts = [kept]
    tuned = ~kept if split else kept
    cutoff, same = _cheapest(scores[tuned], passed[tuned], prices)
    every = np.empty(scores.size)
    for out in parts:
        t = _cheapest(scores[~out], passed[~out], prices)[0]
        s, y = scores[out], passed[out]
        every[out] = np.where(y, miss * (s < t), false_pass * (s >= t))
    loss = every[kept]
    _, place = np.unique(codes[kept], return_inverse=True)
    variance = cluster_variance((loss - loss.mean()) / loss.size, place)
    return Cost(
        cutoff=cutoff, same_labels=same, estimate=float(loss.mean()),
        std_error=math.sqrt(variance),
    )  # fmt: skip


MOST_LABELS = 4000
"""Labels up to which it is searched how many would decide."""


def labels_for_window(
    scores: Floats,
    passed: Bools,
    counts: ErrorCounts,
    *,
    tpr: float,
    tnr: float,
    chance: float = 0.8,
    draws: int = 200,
    seed: int = 0,
) -> int | None:
    """Smallest number of labels, in steps of 20, whose window is not empty with some chance.

    Parameters
    ----------
    scores : ndarray, shape (n,)
    passed : ndarray of bool, shape (n,)
    counts : ErrorCounts
        Whose design effects and level hold for more labels, too.
    tpr, tnr : float
    chance : float
    draws : int
        Draws from the observed items for each number.
    seed : int

    Returns
    -------
    int or None
        In all; None: more than 4,000.

    Examples
    --------
    >>> s, y = np.arange(40.0), np.arange(40) >= 20
    >>> labels_for_window(s, y, error_counts(s, y), tpr=.9, tnr=.9)
    100
    """
    good, bad = scores[passed], scores[~passed]

    def allowed(n: Ints, effect: float, error: float) -> Ints:
        """Most errors of n that the limit still forgives, by bisection; -1: not even none."""
        low, high = np.full(n.size, -1), n.copy()
        while np.any(high - low > 1):
            middle = (low + high) // 2
            kept = error_limit(middle / effect, n / effect, counts.delta) <= error
            low, high = np.where(kept, middle, low), np.where(kept, high, middle)
        return low

    def is_enough(n: int) -> bool:
        rng = np.random.default_rng([seed, n])
        n_pass = rng.binomial(n, good.size / scores.size, draws)
        most = allowed(n_pass, counts.effects[0], 1 - tpr)
        false = allowed(n - n_pass, counts.effects[1], 1 - tnr)
        found = 0
        for n1, k1, k0 in zip(n_pass.tolist(), most.tolist(), false.tolist(), strict=True):
            if k1 >= 0 and k0 >= 0:
                last = np.partition(rng.choice(good, n1), k1)[k1]
                found += int(np.sum(rng.choice(bad, n - n1) >= last) <= k0)
        return found >= chance * draws

    low, high = 0, (scores.size // 20 + 1) * 20
    while not is_enough(high):
        low, high = high, high * 2
        if low >= MOST_LABELS:
            return None
    while high - low > 20:
        middle = (low + high) // 40 * 20
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high
