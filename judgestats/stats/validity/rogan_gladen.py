"""A pass rate from error rates measured elsewhere: Rogan and Gladen, Lang and Reiczigel."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from judgestats.errors import InputError
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample
from judgestats.stats.validity.clustered_share import (
    critical_value,
    share_over_clusters,
    wilson_limits,
)


def effective_passes(
    passed: NDArray[np.float64], codes: NDArray[np.int64], *, level: float = 0.95
) -> tuple[float, float]:
    """Passes and items for `corrected_by_rates` where the items judged come in clusters.

    Parameters
    ----------
    passed : ndarray, shape (N,)
        Pass verdict of each item, or the share of its repeats.
    codes : ndarray of int, shape (N,)
        Cluster of each item.
    level : float

    Returns
    -------
    passes, n : float
        The independent items that would have the variance over clusters, fewer by the square of
        the normal over Student's critical value.

    Examples
    --------
    >>> passed = np.repeat([1.0, 0.0], 20)
    >>> effective_passes(passed, np.arange(40))
    (20.0, 40.0)
    >>> [round(v, 1) for v in effective_passes(passed, np.arange(40) // 4)]
    [3.4, 6.8]
    """
    clustered = np.unique(codes).size < codes.size
    share = share_over_clusters(passed, np.ones(passed.size), codes, clustered=clustered)
    z, t = critical_value(level, math.inf), critical_value(level, share.df)
    n = share.effective_n * (z / t) ** 2
    return share.share * n, n


def lang_reiczigel_limits(
    passes: float, n: float, tp: float, positives: float, tn: float, negatives: float, *,
    level: float = 0.95,
) -> tuple[float, float]:  # fmt: skip
    """Lang and Reiczigel's limits of a prevalence with estimated sensitivity and specificity.

    Parameters
    ----------
    passes, n : float
        Pass verdicts of the judge, and items judged.
    tp, positives, tn, negatives : float
        Counts of the calibration study.
    level : float

    Returns
    -------
    low, high : float
        Within 0-1, in order wherever the sensitivity and specificity exceed 1 together.

    References
    ----------
    Lang & Reiczigel (2014), Prev. Vet. Med. 113, 13-22. The function published by Lee et al. (2026)
    gives the same digits.

    Examples
    --------
    >>> low, high = lang_reiczigel_limits(555, 800, 137, 149, 43, 51)
    >>> round(low, 4), round(high, 4)
    (0.6272, 0.7721)
    """
    z = critical_value(level, math.inf)
    p = (passes + z * z / 2) / (n + z * z)
    se, sp = (tp + 1) / (positives + 2), (tn + 1) / (negatives + 2)
    youden = se + sp - 1
    t = (p + sp - 1) / youden
    of_se, of_sp = se * (1 - se) / (positives + 2), sp * (1 - sp) / (negatives + 2)
    centre = t + 2 * z * z * (t * of_se - (1 - t) * of_sp)
    half = z * math.sqrt(p * (1 - p) / (n + z * z) + t * t * of_se + (1 - t) ** 2 * of_sp)
    half /= abs(youden)
    return min(max(centre - half, 0.0), 1.0), min(max(centre + half, 0.0), 1.0)


def corrected_by_rates(
    passes: float,
    n: float,
    *,
    tp: float,
    positives: float,
    tn: float,
    negatives: float,
    level: float = 0.95,
) -> Estimate:
    r"""People's pass rate from the judge's, with error rates measured on *other* items.

    Parameters
    ----------
    passes, n : float
        Pass verdicts of the judge, and items judged.
    tp, positives : float
        Of the items that people passed in the other study, how many the judge passed.
    tn, negatives : float
        Of those that people failed, how many the judge failed.
    level : float

    Returns
    -------
    Estimate
        NaN with the reason where sensitivity + specificity - 1 may be 0. ``details``: ``raw``, the
        value before it is cut to 0-1, ``youden`` with its limits.

    Raises
    ------
    InputError
        If the counts cannot be.

    Notes
    -----
    :math:`(p + sp - 1) / (se + sp - 1)`, Lang and Reiczigel's interval, which takes the rates as
    estimated (``epi.prev`` takes them as known). Both rates move with the difficulty of the items:
    labels of the items judged are better used by `corrected_rate` (standard deviation .034 against
    .050 with 100 labels, prevalence .7, rates .9 and .8).

    References
    ----------
    Rogan & Gladen (1978), Am. J. Epidemiol. 107, 71-76; Lang & Reiczigel (2014), Prev. Vet. Med.
    113, 13-22.

    Examples
    --------
    >>> out = corrected_by_rates(555, 800, tp=137, positives=149, tn=43, negatives=51)
    >>> round(out.estimate, 4), round(out.interval.low, 4)
    (0.704, 0.6272)
    """
    where = "corrected_by_rates"
    if not (n > 0 and 0 <= passes <= n and 0 <= tp <= positives and 0 <= tn <= negatives):
        raise InputError(
            f"{where}: counts must lie within their numbers, got {passes} of {n}, {tp} of "
            f"{positives}, {tn} of {negatives}."
        )
    name, label = "rogan_gladen", "Corrected pass rate (rates measured elsewhere)"
    sample = Sample(n_items=int(n))
    note = Note(
        code="assumes_equal_rates",
        message="Takes for granted that the judge errs on these items as in the other study.",
    )
    none = "" if positives and negatives else "one of people's verdicts never occurs in the study"
    if none:
        return Estimate(name=name, label=label, estimate=math.nan, sample=sample, reason=none)
    se, sp = tp / positives, tn / negatives
    youden = se + sp - 1
    (l1, u1), (l0, u0) = (
        wilson_limits(se, positives, level=level),
        wilson_limits(sp, negatives, level=level),
    )
    low = youden - math.hypot(se - l1, sp - l0)
    high = youden + math.hypot(u1 - se, u0 - sp)
    details = {"youden": youden, "youden_low": low, "youden_high": high}
    if low <= 0:
        return Estimate(
            name=name,
            label=label,
            estimate=math.nan,
            sample=sample,
            notes=(note,),
            details=details,
            reason=(
                f"sensitivity + specificity - 1 is {youden:.2f} [{low:.2f}, {high:.2f}]: a judge "
                "that may say pass as often of failures as of passes cannot be corrected"
            ),
        )
    raw = (passes / n + sp - 1) / youden
    limits = lang_reiczigel_limits(passes, n, tp, positives, tn, negatives, level=level)
    notes = [note]
    if not 0 <= raw <= 1:
        message = f"The estimate before it is cut to 0-1 is {raw:.3f}: the rates do not fit."
        notes.append(Note(code="outside", message=message))
    return Estimate(
        name=name,
        label=label,
        estimator="(p + sp - 1) / (se + sp - 1)",
        estimate=min(max(raw, 0.0), 1.0),
        interval=Interval(low=limits[0], high=limits[1], level=level, method="Lang-Reiczigel"),
        sample=sample,
        notes=tuple(notes),
        details={"raw": raw, **details},
    )
