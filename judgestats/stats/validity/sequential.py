"""Running averages, drift by anchors, tests in a fixed order, and e-processes of changes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Bools, Floats, Ints, as_numbers, check_lengths
from judgestats.errors import InputError
from judgestats.stats.inference import Estimate, Sample, cluster_codes
from judgestats.stats.validity import inputs
from judgestats.stats.validity.calibration import clustering, error_limit, least_trials

FIRST_LOOK = 20
"""The asymptotic sequence starts after this many clusters."""
TUNED_TO = 200
"""Number of clusters at which the asymptotic sequence is tightest."""
PRIOR = 16.0
"""Clusters of the greatest variance (1/4) that the running variance begins with: with one, streams
that begin at rates of .9 and .95 are missed in 20% at 400 looks, with 16 in 2 to 4%."""


def sequence_bound(t: float, alpha: float = 0.05) -> float:
    r"""Bound for z after t clusters in an asymptotic confidence sequence; infinite below 20.

    Notes
    -----
    :math:`\sqrt{\frac{2(r+1)}{r} \log\frac{\sqrt{r+1}}{\alpha}}`, :math:`r = t \rho^2`.

    References
    ----------
    Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), Ann. Statist. 52, 2613-2640.

    Examples
    --------
    >>> round(sequence_bound(100), 3), sequence_bound(10)
    (3.084, inf)
    """
    if t < FIRST_LOOK:
        return math.inf
    a = -2 * math.log(alpha)
    r = t * ((a + math.log(a + 1)) / TUNED_TO)
    return math.sqrt(2 * (r + 1) / r * math.log(math.sqrt(r + 1) / alpha))


@dataclasses.dataclass(frozen=True)
class RunningAverage:
    r"""An asymptotic confidence sequence that keeps sums only: for a stream without an end.

    Notes
    -----
    Limits of the running average of the expectations at each time, which may change. They hold at
    every update from 20 clusters on, as averages become normal:
    :math:`\hat\mu_t \pm \sqrt{\frac{2(t\hat\sigma_t^2\rho^2+1)}{t^2\rho^2}
    \log\frac{\sqrt{t\hat\sigma_t^2\rho^2+1}}{\alpha}}`.

    References
    ----------
    Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), Ann. Statist. 52, 2613-2640.

    Examples
    --------
    >>> state = RunningAverage()
    >>> for i in range(40):
    ...     state = state.add([1.0, float(i % 2)])
    >>> state.n, round(state.average, 2), RunningAverage(**state.to_dict()) == state
    (80.0, 0.75, True)
    """

    t: int = 0
    n: float = 0.0
    total: float = 0.0
    total_squared: float = 0.0
    total_by_size: float = 0.0
    size_squared: float = 0.0

    def add(self, cluster: ArrayLike) -> RunningAverage:
        """The state after one more whole cluster of values in 0-1."""
        x = as_numbers(cluster, "cluster", "RunningAverage.add").reshape(-1)
        x = x[~np.isnan(x)]
        if np.any((x < 0) | (x > 1)):
            raise InputError("RunningAverage.add: values must be within 0 to 1.")
        sums = map(dataclasses.astuple, (self, self.from_clusters([x.size], [x.sum()])))
        return RunningAverage(*map(sum, zip(*sums, strict=True)))

    @classmethod
    def from_clusters(cls, sizes: ArrayLike, totals: ArrayLike) -> RunningAverage:
        """The state after complete clusters of values in 0-1, by their numbers and sums of values.

        Parameters
        ----------
        sizes : array_like
            Values read per cluster; a cluster with none is left out.
        totals : array_like
            Their sums.

        Examples
        --------
        >>> sums = RunningAverage.from_clusters([2, 1], [1.0, 1.0])
        >>> sums == RunningAverage().add([1.0, 0.0]).add([1.0])
        True
        """
        m, s = np.asarray(sizes, dtype=float), np.asarray(totals, dtype=float)
        m, s = m[m > 0], s[m > 0]
        return cls(
            t=m.size,
            n=float(m.sum()),
            total=float(s.sum()),
            total_squared=float((s * s).sum()),
            total_by_size=float((s * m).sum()),
            size_squared=float((m * m).sum()),
        )

    @property
    def average(self) -> float:
        """Running average, NaN before the first value."""
        return self.total / self.n if self.n else math.nan

    def _sd(self, prior: float) -> float:
        mu = self.average
        squares = self.total_squared - 2 * mu * self.total_by_size + mu**2 * self.size_squared
        variance = max(squares, 0.0) / (self.n / self.t) ** 2
        return math.sqrt((variance + prior / 4) / (self.t + prior))

    def limits(self, *, level: float = 0.95, n_quantities: int = 1) -> tuple[float, float]:
        """Limits that hold at every update; NaN before 20 clusters."""
        if self.t < FIRST_LOOK:
            return math.nan, math.nan
        bound = sequence_bound(self.t, (1 - level) / n_quantities)
        half = self._sd(PRIOR) * bound / math.sqrt(self.t)
        return max(self.average - half, 0.0), min(self.average + half, 1.0)

    def fixed_limits(self, *, level: float = 0.95) -> tuple[float, float]:
        """The interval for one look at a number of items fixed before: not for looking again."""
        if self.t < 2:
            return math.nan, math.nan
        spread, variance = self.average * (1 - self.average), self._sd(0.0) ** 2 / self.t
        # Without variation so far, each cluster is one independent look.
        n = spread / variance if variance > 0 and spread > 0 else float(self.t)
        return inputs.wilson_limits(self.average, n, level=level)

    def to_dict(self) -> Mapping[str, Any]:
        """Plain values, for a file."""
        return dataclasses.asdict(self)


def anchored_change(
    before: ArrayLike,
    before_again: ArrayLike,
    after: ArrayLike,
    *,
    cluster_before: ArrayLike | None = None,
    cluster_after: ArrayLike | None = None,
    level: float = 0.95,
) -> dict[str, Estimate]:
    r"""Split a change of a judged average into the judge's and the system's, by anchors.

    Parameters
    ----------
    before : array-like, shape (N,)
        Scores (or 0 / 1) of the earlier answers by the judge of then.
    before_again : array-like, shape (N,)
        The same answers judged by today's judge: the anchors, drawn at random; NaN for others.
    after : array-like, shape (M,)
        Today's answers by today's judge.
    cluster_before, cluster_after : array-like, optional
        Question of each answer; the same questions may be on both sides.
    level : float

    Returns
    -------
    dict of str to Estimate
        ``total``, ``judge`` (on unchanged answers) and ``system`` (as today's judge sees it);
        judge and system add up to the total. Without anchors these two are NaN with the reason.

    Raises
    ------
    InputError
        If shapes differ, or a period has no judgments.

    Notes
    -----
    The judge's part is the mean difference of the anchors, the system's the rest of the total. By
    sums of influence over clusters, with the effective number of clusters (of the anchors; of the
    smaller side for the total) minus 1 degrees of freedom.

    Examples
    --------
    >>> out = anchored_change([6, 7, 5, 6], [7, 8, 6, None], [9, 8, 8, 9])
    >>> [round(out[k].estimate, 2) for k in ("total", "judge", "system")]
    [2.5, 1.0, 1.5]
    """
    where = "anchored_change"
    old, again, new = (
        as_numbers(v, n, where)
        for v, n in ((before, "before"), (before_again, "before_again"), (after, "after"))
    )
    check_lengths(where, before=old, before_again=again)
    values = np.concatenate([old, new])
    read, later = ~np.isnan(values), np.arange(values.size) >= old.size
    anchors = read[: old.size] & ~np.isnan(again)
    if not (read & later).any() or not (read & ~later).any():
        raise InputError(f"{where}: no answer was read before or after. Give judged answers.")
    codes = _codes(cluster_before, cluster_after, old.size, new.size, where)
    total, total_influence, df = inputs.mean_difference(values, read & later, read & ~later, codes)
    clustered = cluster_before is not None or cluster_after is not None
    sample = Sample(
        n_items=int(read.sum()),
        n_clusters=int(np.unique(codes).size) if clustered else None,
        n_excluded=int(np.sum(~read)),
    )

    def estimate(
        name: str, label: str, value: float, influence: Floats, df: float, of: Sample
    ) -> Estimate:
        variance = inputs.cluster_variance(influence, codes) if np.any(influence != 0) else 0.0
        varies = variance > 1e-18
        return inputs.t_estimate(
            value, math.sqrt(variance) if varies else 0.0, df, name=name, label=label,
            estimator="difference of means" if varies else "", sample=of, level=level,
            method="t, effective df", details={"df": df} if varies else {},
        )  # fmt: skip

    out = {"total": estimate("total_change", "Change", total, total_influence, df, sample)}
    if anchors.sum() < 2:
        reason = "fewer than two earlier answers were rejudged: without anchors no part is known"
        for name, label in _PARTS.items():
            out[name] = Estimate(name=f"{name}_change", label=label, sample=sample, reason=reason)
        return out
    d = again[anchors] - old[anchors]
    own = np.zeros(codes.size)
    own[: old.size][anchors] = (d - d.mean()) / d.size
    df_anchor = max(inputs.effective_clusters(codes[: old.size][anchors]) - 1.0, 1.0)
    judge, of = float(d.mean()), Sample(n_items=int(anchors.sum()))
    rest, df_rest = total - judge, min(df, df_anchor)
    label = _PARTS["system"]
    out["judge"] = estimate("judge_change", _PARTS["judge"], judge, own, df_anchor, of)
    out["system"] = estimate("system_change", label, rest, total_influence - own, df_rest, sample)
    return out


_PARTS = {"judge": "Change of the judge", "system": "Change of the system (today's judge)"}


def _codes(before: ArrayLike | None, after: ArrayLike | None, n: int, m: int, where: str) -> Ints:
    """Clusters of both sides; a question on both sides is one."""
    if before is None and after is None:
        return np.arange(n + m)
    sides = (("before", before, n), ("after", after, m))
    names = [
        f"{side} {i}" if given is None else str(name)
        for side, given, size in sides
        for i, name in enumerate(range(size) if given is None else np.asarray(given))
    ]
    return cluster_codes(np.array(names), n + m, where=where)


FEW_DISTINCT, FEW_UNLABELLED = 25, 200
STARTS, SHARES = (2, 4, 8), (0.5, 0.25, 0.25)
"""Multiples of the least number of labels at which a test starts, and the level of each."""
FIXED = (0.99, 0.98, 0.95, 0.90, 0.85, 0.80, 0.75, 0.70, 0.60, 0.50)
LOWER = (0.4, 0.3, 0.2, 0.1, 0.0)
"""Candidates where few items are unlabelled."""


def candidates(
    unlabelled: ArrayLike, labelled_values: ArrayLike = (), every: ArrayLike = ()
) -> Floats:
    """Thresholds to test, the strictest first, from confidences of unlabelled items only.

    Parameters
    ----------
    unlabelled : array-like
        Confidences of items without a label.
    labelled_values : array-like
        Possible confidences where they are few and known beforehand (votes of k): all of them are
        candidates.
    every : array-like
        Confidences of all items, whose largest scales fixed values where it is above 1.

    Returns
    -------
    ndarray
        The confidences of rank ceil(i M / 20), i = 1..20. All values, where at most 25 differ.
        Fixed values, where fewer than 200 items are unlabelled.

    Examples
    --------
    >>> candidates(np.arange(400) / 400).round(3).tolist()[:3]
    [0.95, 0.9, 0.85]
    """
    own = np.asarray(unlabelled, float)
    own = np.sort(own[~np.isnan(own)])[::-1]
    known = np.unique(np.asarray(labelled_values, float))
    if known.size:
        return known[::-1]
    if own.size < FEW_UNLABELLED:
        largest = float(np.fmax.reduce(np.asarray(every, float), initial=1.0))
        # Of a probability, half is no confidence; of points or percent, nothing is.
        return np.array(FIXED) if largest == 1 else largest * np.array([*FIXED, *LOWER])
    distinct = np.unique(own)
    if distinct.size <= FEW_DISTINCT:
        return distinct[::-1]
    ranks = [math.ceil(i * own.size / 20) - 1 for i in range(1, 21)]
    return np.unique(own[ranks])[::-1]


def error_p(errors: ArrayLike, n: ArrayLike, error: float) -> Floats:
    """Exact p of the hypothesis that the error rate exceeds `error`, for real-valued counts.

    Parameters
    ----------
    errors, n : array-like of float
        Divided by a design effect where items are clustered.
    error : float

    Returns
    -------
    ndarray
        P(Bin(n, error) <= errors) = 1 - BetaCDF(error; errors + 1, n - errors).

    Examples
    --------
    >>> float(error_p(4, 200, .05).round(4))
    0.0264
    """
    x, size = np.broadcast_arrays(np.asarray(errors, float), np.asarray(n, float))
    tail = special.betaincc(x + 1, np.maximum(size - x, 1e-12), error)
    return np.where(x >= size, 1.0, tail)


BETS = np.concatenate([[0.98], 0.9 * 0.8 ** np.arange(16)])
"""Bets of the mixture, as shares of the largest that a loss of 1 allows."""


def betting_p(losses: Floats, error: float, effect: float = 1.0) -> float:
    r"""P of the hypothesis that the mean of losses within 0 to 1 is at least `error`.

    Parameters
    ----------
    losses : ndarray
    error : float
    effect : float
        Design effect of clusters, which divides the log of each product.

    Returns
    -------
    float
        1 over the mean of :math:`\prod_i (1 - \lambda (x_i - \varepsilon))` over `BETS`, which is
        an e-value in which no order of the items matters.

    References
    ----------
    Waudby-Smith, I., & Ramdas, A. (2024). Estimating means of bounded random variables by betting.
    *Journal of the Royal Statistical Society B, 86*, 1-27.

    Examples
    --------
    >>> losses = np.tile([0.0, 0.0, 0.1, 0.05], 50)
    >>> round(betting_p(losses, .1), 5), betting_p(losses, .03)
    (3e-05, 1.0)
    """
    logs = np.log1p(np.outer(BETS / (1 - error), error - losses)).sum(axis=1) / effect
    return float(min(1.0, np.exp(math.log(BETS.size) - special.logsumexp(logs))))


def least_losses(error: float, delta: float) -> int:
    """Fewest items without any loss that `betting_p` can pass at level delta.

    Examples
    --------
    >>> least_losses(.05, .05), least_losses(.1, .05)
    (99, 48)
    """

    def lacking(m: float) -> float:
        logs = m * np.log1p(BETS / (1 - error) * error)
        return float(math.log(BETS.size / delta) - special.logsumexp(logs))

    return math.ceil(scipy.optimize.brentq(lacking, 0.0, 1e7))


def loss_limit(losses: Floats, delta: float, effect: float = 1.0) -> float:
    """Upper limit of the mean of losses within 0 to 1: the largest that `betting_p` leaves.

    Examples
    --------
    >>> round(loss_limit(np.tile([0.0, 0.0, 0.1, 0.05], 50), .05), 3)
    0.062
    """

    def excess(error: float) -> float:
        return betting_p(losses, error, effect) - delta

    mean = float(losses.mean())
    return float(scipy.optimize.brentq(excess, mean, 1 - 1e-9)) if excess(1 - 1e-9) < 0 else 1.0


@dataclass(frozen=True)
class Candidate:
    """One tested threshold: labelled items at or above it, errors, p, and the level it had.

    Of losses that are not 0 or 1, `x` is their sum.
    """

    threshold: float
    m: int
    x: float
    p: float
    level: float


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What a fallback test certifies.

    Attributes
    ----------
    error, delta : float
    candidates : tuple of Candidate
        The strictest first.
    place : int
        Of the last candidate that passed; -1: none did.
    least : int
        Fewest labelled items that can pass.
    upper : float
        Upper limit of the error rate, or of the mean loss, there, as description.
    """

    error: float
    delta: float
    candidates: tuple[Candidate, ...]
    place: int
    least: int
    upper: float = math.nan

    @property
    def passed(self) -> Candidate | None:
        """The least strict threshold that is certified."""
        return self.candidates[self.place] if self.place >= 0 else None

    @property
    def threshold(self) -> float:
        """Infinite if nothing is certified."""
        return self.passed.threshold if self.passed else math.inf


def fallback_test(
    m: Sequence[float], p: Sequence[float], *, least: int, delta: float
) -> list[float]:
    """Levels of nested sets in a fallback test with up to three starts.

    Parameters
    ----------
    m : sequence of float
        Effective labelled items of each set, the strictest set first.
    p : sequence of float
    least : int
        Fewest items that can pass at level `delta`.
    delta : float
        Level of the whole.

    Returns
    -------
    list of float
        Level of each set; 0: it is not tested. A set passes if its p does not exceed its level.

    Notes
    -----
    The first sets with 2, 4 and 8 times `least` items bring a half, a quarter and a quarter of the
    level. With fewer than 8 times as many in all, one start brings it whole. A set that passes
    hands its level on; after a failure it is lost.

    References
    ----------
    Wiens, B. L., & Dmitrienko, A. (2005). The fallback procedure for evaluating a single family of
    hypotheses. *Journal of Biopharmaceutical Statistics, 15*, 929-942. Angelopoulos, A. N., et al.
    (2021). Learn then test. arXiv:2110.01052.

    Examples
    --------
    >>> fallback_test([50, 130, 300, 500], [1, .01, .2, .005], least=59, delta=.05)
    [0.0, 0.025, 0.037500000000000006, 0.0125]
    """
    top = max(m, default=0)
    if top >= STARTS[-1] * least:
        pending = [(k * least, share * delta) for k, share in zip(STARTS, SHARES, strict=True)]
    else:
        pending = [((STARTS[0] if top >= STARTS[0] * least else 1) * least, delta)]
    levels, carried = [], 0.0
    for size, own in zip(m, p, strict=True):
        level = carried + sum(share for start, share in pending if size >= start)
        pending = [one for one in pending if size < one[0]]
        levels.append(level)
        if level > 0:
            carried = level if own <= level else 0.0
    return levels


@dataclass(frozen=True)
class SetTest:
    """Labelled items, their errors or losses, effective number of items, and p."""

    m: int
    x: float
    effective: float
    p: float


def set_test(
    wrong: Bools | Floats, codes: Ints | None, error: float, *, correlation: float | None = None
) -> SetTest:
    """Test that the error rate, or the mean loss, of some items is at most `error`.

    Parameters
    ----------
    wrong : ndarray of bool, or of losses within 0 to 1
    codes : ndarray of int or None
        Clusters: counts are divided by the design effect.
    error : float
    correlation : float, optional
        ICC of the errors; by default that of these items.

    Examples
    --------
    >>> set_test(np.arange(200) < 4, None, .05).p.__round__(4)
    0.0264
    """
    m, x, effect = wrong.size, wrong.sum().item(), 1.0
    if codes is not None and m:
        sizes = np.bincount(np.unique(codes, return_inverse=True)[1])
        icc = clustering(wrong.astype(float), codes).icc if correlation is None else correlation
        effect = 1 + (float((sizes**2).sum() / m) - 1) * icc
    if wrong.dtype != np.bool_:
        p = betting_p(wrong.astype(float), error, effect)
    else:
        p = float(error_p(x / effect, m / effect, error))
    return SetTest(m, x, m / effect, p)


def certify(
    confidence: Floats,
    wrong: Bools | Floats,
    thresholds: Floats,
    *,
    error: float,
    delta: float,
    codes: Ints | None = None,
    correlation: float | None = None,
) -> Certificate:
    """Largest set of confident items whose error rate is established to be at most `error`.

    Parameters
    ----------
    confidence : ndarray, shape (n,)
        Of labelled items; NaN: never decided.
    wrong : ndarray of bool, shape (n,)
        Or losses within 0 to 1, whose mean is bounded: see `betting_p`.
    thresholds : ndarray
        Candidates, the strictest first, chosen without labels: see `candidates`.
    error : float
        Largest error rate allowed.
    delta : float
    codes : ndarray of int, optional
        Clusters: counts are divided by the design effect of each set.
    correlation : float, optional
        ICC of the errors; by default of all items given.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> c = np.repeat([.9, .6], 200)
    >>> found = certify(c, np.arange(400) >= 250, np.array([.9, .6]), error=.05, delta=.05)
    >>> found.threshold, found.passed.m
    (0.9, 200)
    """
    usable = ~np.isnan(confidence)
    icc = correlation
    if codes is not None and icc is None:
        icc = clustering(wrong[usable].astype(float), codes[usable]).icc
    sets = []
    for threshold in thresholds.tolist():
        held = usable & (confidence >= threshold)
        own = None if codes is None else codes[held]
        sets.append(set_test(wrong[held], own, error, correlation=icc))
    bets = wrong.dtype != np.bool_
    least = least_losses(error, delta) if bets else least_trials(error, delta)
    levels = fallback_test(
        [one.effective for one in sets], [one.p for one in sets], least=least, delta=delta
    )
    tested = tuple(
        Candidate(t, one.m, one.x, one.p, level)
        for t, one, level in zip(thresholds.tolist(), sets, levels, strict=True)
    )
    passed = [i for i, one in enumerate(tested) if one.level > 0 and one.p <= one.level]
    made = Certificate(
        error=error, delta=delta, candidates=tested, place=passed[-1] if passed else -1, least=least
    )
    if made.passed is None:
        return made
    if not bets:
        return dataclasses.replace(
            made, upper=float(error_limit(made.passed.x, made.passed.m, delta))
        )
    losses = wrong[usable & (confidence >= made.threshold)].astype(float)
    top = sets[made.place]
    return dataclasses.replace(made, upper=loss_limit(losses, delta, top.m / top.effective))


SCALES = (0.05, 0.1, 0.2)
"""Standard deviations of the normal mixture over shifts, in units of the score's range."""
CHANGE_PRIOR = 4.0
"""Anchors of variance 1/4 that the running variance begins with."""
LEAST = 20
"""Anchors, and new answers, in a window before it counts."""
_SMALLEST = 1e-9


def log_mixture(shift: ArrayLike, variance: ArrayLike) -> Floats:
    """Log Bayes factor of a shift against none, for an estimate with some variance.

    Parameters
    ----------
    shift, variance : array-like

    Returns
    -------
    ndarray
        Mean over normal mixtures with `SCALES`.

    References
    ----------
    Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm. *Annals
    of Mathematical Statistics, 41*, 1397-1409.

    Examples
    --------
    >>> round(float(log_mixture(.1, .0005)), 4)
    7.733
    """
    theta, v = np.broadcast_arrays(np.asarray(shift, float), np.asarray(variance, float))
    squares = np.square(np.array(SCALES)).reshape((-1,) + (1,) * theta.ndim)
    factors = 0.5 * np.log(v / (v + squares)) + theta**2 * squares / (2 * v * (v + squares))
    return np.asarray(special.logsumexp(factors, axis=0) - math.log(len(SCALES)))


def anchor_shift(n: Floats, total: Floats, base: Floats, repeats: Floats) -> tuple[Floats, Floats]:
    """Shift on anchors and its variance.

    Parameters
    ----------
    n, total : ndarray, shape (..., anchors)
        New judgments of each anchor, and their sum.
    base, repeats : ndarray, shape (anchors,)
        Mean of the old judgments, and their number: an anchor never says more than these.

    Returns
    -------
    shift, variance : ndarray, shape (...)

    Examples
    --------
    >>> n, total = np.ones(40), np.zeros(40)
    >>> shift, variance = anchor_shift(n, total, np.full(40, .5), np.full(40, 3.0))
    >>> float(shift), bool(variance > 0)
    (-0.5, True)
    """
    h = repeats * n / (repeats + n)
    d = np.where(n > 0, total / np.maximum(n, 1), 0) - base
    whole = h.sum(-1)
    shift = (h * d).sum(-1) / np.maximum(whole, 1e-12)
    seen = (n > 0).sum(-1)
    squares = (h**2 * np.square(d - shift[..., None])).sum(-1)
    first = (h**2 * (1 + 1 / repeats)).sum(-1) / np.maximum(seen, 1)
    variance = (squares + CHANGE_PRIOR / 4 * first) / np.maximum(whole, 1e-12) ** 2
    return np.asarray(shift), np.asarray(variance * seen / np.maximum(seen - 1, 1))


def cluster_shift(
    n: Floats, total: Floats, base: Floats, repeats: Floats, members: Floats
) -> tuple[Floats, Floats]:
    """Shift on anchors whose changes are averaged within clusters first, and its variance.

    Parameters
    ----------
    n, total : ndarray, shape (..., anchors)
    base, repeats : ndarray, shape (anchors,)
    members : ndarray, shape (anchors, clusters)
        1 where an anchor is in a cluster.

    Examples
    --------
    >>> members = np.repeat(np.eye(20), 2, axis=0)
    >>> n = np.ones(40)
    >>> shift, _ = cluster_shift(n, n * 0, np.full(40, .5), np.full(40, 3.0), members)
    >>> float(shift)
    -0.5
    """
    seen = (n > 0).astype(float)
    d = np.where(n > 0, total / np.maximum(n, 1) - base, 0.0)
    count = seen @ members
    mean = (d @ members) / np.maximum(count, 1)
    held = count > 0
    g = held.sum(-1)
    shift = mean.sum(-1) / np.maximum(g, 1)
    squares = (held * np.square(mean - shift[..., None])).sum(-1)
    first = CHANGE_PRIOR / 4 * (1 + 1 / float(np.mean(repeats)))
    variance = (squares + first) / np.maximum(g, 1) ** 2 * g / np.maximum(g - 1, 1)
    return np.asarray(shift), np.asarray(variance)


def mixed_over_starts(log_e: Floats) -> Floats:
    """Log of the mixture over the period in which a change began, from those of each start.

    Parameters
    ----------
    log_e : ndarray, shape (..., starts)

    References
    ----------
    Shin, J., Ramdas, A., & Rinaldo, A. (2024). E-detectors. *New England Journal of Statistics in
    Data Science, 2*.

    Examples
    --------
    >>> round(float(np.exp(mixed_over_starts(np.zeros(3)))), 6)
    1.0
    """
    b = log_e.shape[-1]
    i = np.arange(1, b + 1)
    tail = np.full((*log_e.shape[:-1], 1), -math.log(b + 1))
    parts = np.concatenate([log_e - np.log(i * (i + 1)), tail], axis=-1)
    return np.asarray(special.logsumexp(parts, axis=-1))


@dataclass(frozen=True, kw_only=True)
class ChangeProcess:
    """One e-process at one look.

    Attributes
    ----------
    shift, variance : ndarray
        Since each start period.
    judgments : ndarray
        What is tested since each start.
    is_counted : ndarray of bool
        Starts with enough judgments.
    """

    shift: Floats
    variance: Floats
    judgments: Floats
    is_counted: Bools

    def _by_start(self, without: Floats | float = 0.0) -> Floats:
        log_e = log_mixture(self.shift - without, np.maximum(self.variance, _SMALLEST))
        return np.where(self.is_counted, log_e, -np.inf)

    @property
    def since(self) -> int:
        """Start period that speaks most for a change; 0: none does."""
        return int(np.argmax(self._by_start())) + 1 if self.is_counted.any() else 0

    @property
    def log_e(self) -> float:
        """Log of the e-process."""
        return float(mixed_over_starts(self._by_start()))

    def step(self, level: float) -> tuple[float, float, float]:
        """Shift since period `since`, with the sizes of such a change that are not excluded.

        Parameters
        ----------
        level : float
            Log threshold. Limits exclude 0 where the process reaches it.

        Returns
        -------
        shift, low, high : float
            Limits are NaN where no single change fits, and all where no start is counted.
        """
        start = self.since - 1
        centre = float(self.shift[start]) if start >= 0 else math.nan
        part = np.minimum(self.judgments[start] / np.maximum(self.judgments, 1), 1)

        def excess(size: float) -> float:
            return float(mixed_over_starts(self._by_start(size * part))) - level

        if start < 0 or excess(centre) >= 0:
            return centre, math.nan, math.nan
        ends = [centre + sign * (10 + 100 * math.sqrt(self.variance.max())) for sign in (-1, 1)]
        if excess(0.0) >= 0:
            ends[centre < 0] = 0.0
        low, high = (scipy.optimize.brentq(excess, centre, end) for end in ends)
        return centre, low, high


class ChangeLook(NamedTuple):
    """Both e-processes at one look."""

    judge: ChangeProcess
    system: ChangeProcess


def change_look(
    n: Floats,
    total: Floats,
    base: Floats,
    repeats: Floats,
    new_n: Floats,
    new_sum: Floats,
    new_squares: Floats | None,
    old: tuple[float, float],
    members: Floats | None = None,
) -> ChangeLook:
    r"""Both e-processes from all periods so far.

    Parameters
    ----------
    n, total : ndarray, shape (periods, anchors)
        New judgments of each anchor in each period, and their sums.
    base, repeats : ndarray, shape (anchors,)
        Mean and number of old judgments.
    new_n, new_sum : ndarray, shape (periods,)
        New answers in each period, and the sum of their values.
    new_squares : ndarray, shape (periods,), or None
        Sum of squares of values that are not shares; None for pass and fail.
    old : (float, float)
        Mean of the old answers, and its variance.
    members : ndarray, shape (anchors, clusters), optional
        Clusters of anchors: see `cluster_shift`.

    Returns
    -------
    ChangeLook

    Notes
    -----
    For each start period b, all data since b give a normal mixture over shifts. The sum of the
    mixtures with weights 1 / (b (b + 1)) is an e-process. The judge's shift is the mean change on
    anchors with weights r n / (r + n); the system's is new minus old minus the judge's.

    Examples
    --------
    >>> ones = np.ones((3, 60))
    >>> made = change_look(ones, ones * 0, np.full(60, .8), np.full(60, 3.0), np.full(3, 60.0),
    ...     np.full(3, 0.0), None, (.8, .0001))
    >>> made.judge.log_e > 3.689, made.system.log_e > 3.689
    (True, False)
    """
    since = slice(None, None, -1)
    counts, sums = (np.cumsum(x[since], axis=0)[since] for x in (n, total))
    if members is None:
        shift, variance = anchor_shift(counts, sums, base, repeats)
    else:
        shift, variance = cluster_shift(counts, sums, base, repeats, members)
    seen = counts.sum(-1)
    z_n, z_sum = (np.cumsum(x[since])[since] for x in (new_n, new_sum))
    z = z_sum / np.maximum(z_n, 1)
    if new_squares is None:
        smooth = (z_sum + 0.5) / (z_n + 1)
        spread = smooth * (1 - smooth)
    else:
        squares = np.cumsum(new_squares[since])[since]
        spread = (squares - z_n * z**2 + 0.25) / np.maximum(z_n, 1)
    mean, error = old
    system = z - mean - shift
    system_variance = variance + spread / np.maximum(z_n, 1) + error
    return ChangeLook(
        ChangeProcess(shift=shift, variance=variance, judgments=seen, is_counted=seen >= LEAST),
        ChangeProcess(
            shift=system, variance=system_variance, judgments=z_n,
            is_counted=(seen >= LEAST) & (z_n >= LEAST),
        ),
    )  # fmt: skip


def mixture_limits(shift: float, variance: float, level: float) -> tuple[float, float]:
    """Shifts that the mixture does not exclude, an interval valid at every update.

    Parameters
    ----------
    shift, variance : float
    level : float
        Log threshold of one process.

    Examples
    --------
    >>> [round(v, 3) for v in mixture_limits(-.13, .0005, 3.689)]
    [-0.205, -0.055]
    """
    v = max(variance, _SMALLEST)
    half = scipy.optimize.brentq(
        lambda d: float(log_mixture(d, v)) - level, 0.0, 10 + 100 * math.sqrt(v)
    )
    return shift - half, shift + half


def detection_delay(
    shift: float, *, within: float, reference: float, log_threshold: float, start: int = 1
) -> float:
    """Anchors from a change to its alarm, about; infinite below the floor.

    Parameters
    ----------
    shift : float
    within : float
        Variance of one judgment of an anchor before the change, to which half of that of a
        verdict that flips with probability `shift` is added.
    reference : float
        Old judgments of all anchors together.
    log_threshold : float
        ln(2 / alpha).
    start : int
        Period of the change, whose weight in the mixture is 1 / (start (start + 1)).

    Examples
    --------
    >>> round(detection_delay(.2, within=.11, reference=600, log_threshold=3.689))
    73
    """
    least = log_threshold + math.log(start * (start + 1))
    after = within + shift * (1 - shift) / 2

    def lacking(n: float) -> float:
        variance = (after + CHANGE_PRIOR / (4 * n)) / n + within / reference
        return least - float(log_mixture(shift, variance))

    if lacking(1e7) > 0:
        return math.inf
    return float(scipy.optimize.brentq(lacking, 1.0, 1e7)) if lacking(1.0) > 0 else 1.0


def detection_floor(within: float, reference: float) -> float:
    """Smallest shift that can raise an alarm at all, about 4.4 root(within / reference).

    Examples
    --------
    >>> round(detection_floor(.11, 600), 2)
    0.06
    """
    return 4.4 * math.sqrt(within / reference)
