"""Information about the true score that a shorter scale loses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, as_numbers
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.distributions import t
from judgestats.stats.inference.estimate import Estimate, Interval, Note, Sample
from judgestats.stats.inference.jackknife import (
    cluster_sums,
    effective_clusters,
    few_questions,
    jackknife_error,
)
from judgestats.stats.inference.keywords import Clustered, with_keywords

MAPS = ("pairs", "thirds")
"""Declared maps: neighbours in pairs, and three groups of levels."""
LEAST_LOSS = 0.05
"""Loss up to which a shorter scale would do, by the interval's upper end."""
SHORTER = "fewer_levels_do"
"""Of the note that says so."""
_MOST_LEVELS = 200
"""Distinct scores beyond which they are not levels."""


@with_keywords()
def recoding_loss(
    scores: ArrayLike,
    groups: str | Sequence[Sequence[float]] = "pairs",
    **inference: Unpack[Clustered],
) -> Estimate:
    r"""Share of a score's information about its item that a declared shorter scale loses.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_replications)
        NaN where unparsed; items with one score show nothing.
    groups : {"pairs", "thirds"} or sequence of sequences of float
        Levels that become one, declared beforehand and never chosen on these scores: neighbours
        in pairs, three groups, or one's own. Each group is coded by its mean score.

    Returns
    -------
    Estimate
        ``recoding_loss``, from 0 (nothing is lost) to 1. NaN with its reason if nothing was
        repeated, scores do not vary, or repeats of an item share nothing. ``details``: ``groups``.
        A note says where the shorter scale would do: the interval's upper end is at most .05.

    Raises
    ------
    InputError
        If scores are not items x replications, or groups leave out a score or overlap.

    Notes
    -----
    .. math:: 1 - \frac{\mathrm{Cov}(Z, X')^2 / \mathrm{Var} Z}{\mathrm{Cov}(X, X')^2 /
        \mathrm{Var} X}

    with Z the recoded score and X' another repeat of the same item; covariances are over all
    ordered pairs of different repeats. 1 minus the loss is the factor on the number of repeats.
    Interval: jackknife of log(1 - loss) over clusters, t. For declared maps it covers .946 to
    .968; for one chosen on the same scores .71 to .92.

    References
    ----------
    Cochran (1968), Biometrics 24, 295-313 (information lost by grouping).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> true = rng.normal(6, 1.6, (200, 1))
    >>> x = np.clip(np.round(true + rng.normal(0, 0.8, (200, 4))), 1, 10)
    >>> out = recoding_loss(x)
    >>> round(out.estimate, 2), out.interval.low > 0, out.details["groups"][0]
    (0.06, True, [1.0, 2.0])
    """
    where = "recoding_loss"
    x = as_numbers(scores, "scores", where)
    if x.ndim != 2 or x.size == 0:
        raise InputError(f"{where}: scores must be items x replications, got shape {x.shape}.")
    read = ~np.isnan(x)
    used = read.sum(axis=1) > 1
    estimate = Estimate(
        name="recoding_loss", label="Loss by a shorter scale", estimate=math.nan,
        estimator="1 minus the ratio of informations about the item",
        sample=Sample.from_mask(used, "fewer than two scores"),
    )  # fmt: skip
    if not used.any():
        return estimate.replace(reason="no item has two scores: a loss needs repeats")
    codes = cluster_codes(inference["cluster"], len(x), where=where)[used]
    x, read = x[used], read[used]
    if np.unique(x[read]).size > _MOST_LEVELS:
        return estimate.replace(reason=f"more than {_MOST_LEVELS} different scores are not levels")
    parts, coded = _groups(x[read], groups, where)
    if len(parts) < 2:
        return estimate.replace(reason="the scores fall into one group")
    z = np.full(x.shape, np.nan)
    z[read] = coded
    n = read.sum(axis=1)
    own = np.column_stack([np.ones(n.size), *_item_means(z, x, n)])
    sums = cluster_sums(own, codes)
    whole = sums.sum(axis=0)
    estimate = estimate.replace(details={"groups": parts})
    value = float(_log_information(whole))
    if not math.isfinite(value):
        return estimate.replace(reason="repeats of an item share nothing that could be lost")
    sizes = sums[:, 0]
    if effective_clusters(sizes) < 2:
        return estimate.replace(
            estimate=-math.expm1(value), notes=(few_questions(sizes.size, sizes),)
        )
    left = whole - sums
    quantile = float(t.ppf((1 + inference["level"]) / 2, max(effective_clusters(sizes) - 1, 1)))
    shared, _ = jackknife_error(_shared(left), sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        error, _ = jackknife_error(_log_information(left), sizes)
    if _shared(whole) <= quantile * shared or not math.isfinite(error):
        return estimate.replace(reason="repeats of an item are not shown to share anything")
    ends = -np.expm1([value + quantile * error, value - quantile * error])
    interval = Interval(
        low=float(ends[0]), high=float(ends[1]), level=inference["level"],
        method="jackknife of log(1 - loss), t",
    )  # fmt: skip
    notes: tuple[Note, ...] = ()
    if interval.high <= LEAST_LOSS:
        lost = math.ceil(100 * max(interval.high, 0) - 1e-9)
        message = (
            f"A {len(parts)}-level scale would do (loses at most {lost}%): recoded; a judge asked "
            f"on {len(parts)} levels may differ."
        )
        notes = (Note(code=SHORTER, message=message),)
    return estimate.replace(estimate=-math.expm1(value), interval=interval, notes=notes)


def recode_scores(scores: Floats, groups: str | Sequence[Sequence[float]] = "pairs") -> Floats:
    """Scores on a declared shorter scale, each group of levels coded by its mean score.

    Parameters
    ----------
    scores : ndarray
        NaN where unparsed.
    groups : {"pairs", "thirds"} or sequence of sequences of float
        As `recoding_loss` takes them.

    Returns
    -------
    ndarray

    Raises
    ------
    InputError
        If groups leave out a score or overlap.

    Examples
    --------
    >>> recode_scores(np.array([1.0, 2.0, np.nan, 3.0, 4.0, 4.0])).round(2).tolist()
    [1.5, 1.5, nan, 3.67, 3.67, 3.67]
    """
    read = ~np.isnan(scores)
    out = np.full(scores.shape, np.nan)
    out[read] = _groups(scores[read], groups, "recode_scores")[1]
    return out


def _groups(
    scores: Floats, groups: str | Sequence[Sequence[float]], where: str
) -> tuple[list[list[float]], Floats]:
    """The groups of levels that hold a score, and each score coded by its group's mean."""
    levels, place = np.unique(scores, return_inverse=True)
    if isinstance(groups, str):
        one_of(where, "groups", groups, MAPS)
        of_level = np.arange(levels.size) // 2
        if groups == "thirds":
            parts = np.array_split(np.arange(levels.size), 3)
            of_level = np.repeat(np.arange(3), [p.size for p in parts])
    else:
        stated = {float(v): k for k, group in enumerate(groups) for v in group}
        if len(stated) != sum(len(g) for g in groups):
            raise InputError(f"{where}: a level occurs in two groups. Give each level once.")
        lost = [v for v in levels.tolist() if v not in stated]
        if lost:
            raise InputError(f"{where}: no group holds the score {lost[0]:g}. Add it to one.")
        of_level = np.array([stated[v] for v in levels.tolist()])
    _, of_level = np.unique(of_level, return_inverse=True)
    group = of_level.reshape(-1)[place.reshape(-1)]
    means = np.bincount(group, weights=scores) / np.bincount(group)
    parts_of = [levels[of_level.reshape(-1) == k].tolist() for k in range(means.size)]
    return parts_of, means[group]


def _item_means(z: Floats, x: Floats, n: Floats) -> tuple[Floats, ...]:
    """Of each item the mean products over pairs of its repeats, and the mean values and squares."""
    sum_x, sum_z = np.nansum(x, axis=1), np.nansum(z, axis=1)
    sum_xx, sum_zz = np.nansum(x * x, axis=1), np.nansum(z * z, axis=1)
    pairs = n * (n - 1)
    return (
        (sum_z * sum_x - np.nansum(z * x, axis=1)) / pairs,
        (sum_x**2 - sum_xx) / pairs,
        sum_x / n,
        sum_z / n,
        sum_xx / n,
        sum_zz / n,
    )


def _shared(sums: Floats) -> Floats:
    """Covariance of two repeats of an item, from sums over items."""
    n = sums[..., 0]
    return np.asarray(sums[..., 2] / n - (sums[..., 3] / n) ** 2)


def _log_information(sums: Floats) -> Floats:
    """Log of 1 minus the loss, from sums over items; NaN where repeats share nothing."""
    n, zx, _, x, z, xx, zz = np.moveaxis(sums, -1, 0)
    c_zx, c_xx = zx / n - x * z / n**2, _shared(sums)
    v_x, v_z = xx / n - (x / n) ** 2, zz / n - (z / n) ** 2
    defined = (c_zx > 0) & (c_xx > 0) & (v_x > 0) & (v_z > 0)
    safe = [np.where(defined, v, 1.0) for v in (c_zx, c_xx, v_x, v_z)]
    ratio = 2 * np.log(safe[0] / safe[1]) - np.log(safe[3] / safe[2])
    return np.asarray(np.where(defined, ratio, np.nan))
