"""Judge or system: two e-processes on anchors and new answers, valid at every update."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Floats

SCALES = (0.05, 0.1, 0.2)
"""Standard deviations of the normal mixture over shifts, in units of the score's range."""
PRIOR = 4.0
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
    variance = (squares + PRIOR / 4 * first) / np.maximum(whole, 1e-12) ** 2
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
    first = PRIOR / 4 * (1 + 1 / float(np.mean(repeats)))
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
class ChangeLook:
    """Both e-processes at one look, with shifts over all periods.

    Attributes
    ----------
    log_e_judge, log_e_system : float
    judge, system : float
        Shift since the first period.
    judge_variance, system_variance : float
    since : (int, int)
        Start period that speaks most for a change, of judge and of system; 0: none does.
    """

    log_e_judge: float
    log_e_system: float
    judge: float
    system: float
    judge_variance: float
    system_variance: float
    since: tuple[int, int] = (0, 0)


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
    >>> made.log_e_judge > 3.689, made.log_e_system > 3.689
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
    of_judge = np.where(seen >= LEAST, log_mixture(shift, np.maximum(variance, _SMALLEST)), -np.inf)
    of_system = np.where(
        (seen >= LEAST) & (z_n >= LEAST),
        log_mixture(system, np.maximum(system_variance, _SMALLEST)), -np.inf,
    )  # fmt: skip
    starts = tuple(
        int(np.argmax(e)) + 1 if np.isfinite(e).any() else 0 for e in (of_judge, of_system)
    )
    return ChangeLook(
        log_e_judge=float(mixed_over_starts(of_judge)),
        log_e_system=float(mixed_over_starts(of_system)),
        judge=float(shift[0]), system=float(system[0]), judge_variance=float(variance[0]),
        system_variance=float(system_variance[0]), since=(starts[0], starts[1]),
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
        variance = (after + PRIOR / (4 * n)) / n + within / reference
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
