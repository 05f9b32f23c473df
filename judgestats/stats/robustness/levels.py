"""Levels of the scale that a judge uses, and what a shorter scale loses."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Bools, Floats, as_numbers
from judgestats.errors import InputError, one_of
from judgestats.stats.inference import jackknife
from judgestats.stats.inference.bootstrap import Scale, cluster_codes
from judgestats.stats.inference.distributions import t
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Estimate, Estimates, Interval, Note, Sample
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums

BETWEEN = "between_whole_numbers"
"""Of the note on half and quarter points."""
MANY = 20
"""Levels from which a scale is interpreted as a number line, on which scores heap at multiples of
5."""
NO_LEVELS = "no_levels"
"""Of the note that the range of the scores is too wide for levels of a scale."""
_SPAN = 1_000
"""Points from the lowest to the highest score, at most, where no scale is stated."""
_POINTS = 100_001
"""Levels of a stated scale, at most."""


@with_keywords()
def levels_used(
    scores: ArrayLike,
    *,
    scale: tuple[float, float] | None = None,
    **inference: Unpack[Clustered],
) -> Estimates:
    r"""How many levels of its scale a judge uses, and where the scores pile up.

    Parameters
    ----------
    scores : array-like, shape (n_items,) or (n_items, n_replications)
        NaN where unparsed.
    scale : tuple of float, optional
        Lowest and highest score that the judge may give. None: the lowest and highest given, and
        said.

    Returns
    -------
    Estimates
        ``effective_levels``, exp of the entropy of the shares, ``mode_share``, ``ceiling_share``,
        ``floor_share``, and ``heaping``. Heaping is the share of scores on round values (whole
        numbers where the step is below 1, else multiples of 5 on 20 levels or more) minus the share
        of the scale's levels that are round. ``details``: ``levels`` and ``shares``, ``n_levels``
        of the scale. A note says what half and quarter points mean: how often they are given, and
        how often two scores of an item differ by one (``differ_again``). What a shorter scale would
        lose: `recoding_loss`.

    Raises
    ------
    InputError
        If no score can be read, or one is outside the scale.

    Notes
    -----
    :math:`\exp(-\sum p_k \log p_k)` is the number of equally used levels with the same entropy. The
    plug-in entropy is too small by about (K - 1) / (2 n) for n scores on K levels. Intervals:
    jackknife over clusters.

    References
    ----------
    Jost (2006), Oikos 113, 363-375.

    Examples
    --------
    >>> out = levels_used([7, 7, 8, 7, 8, 9, 7, 8, 7, 7] * 4, scale=(1, 10))
    >>> round(out["effective_levels"].estimate, 2), out["mode_share"].estimate
    (2.45, 0.6)
    """
    where = "levels_used"
    x = as_numbers(scores, "scores", where)
    x = x[:, None] if x.ndim == 1 else x
    read = x[~np.isnan(x)] if x.ndim == 2 else np.empty(0)
    if x.ndim != 2 or read.size == 0:
        raise InputError(
            f"{where}: scores must be items, or items x replications, with at least one score, "
            f"got shape {x.shape}."
        )
    low, high = (float(read.min()), float(read.max())) if scale is None else scale
    if read.min() < low or read.max() > high or not low <= high:
        stray = read.min() if read.min() < low else read.max()
        raise InputError(f"{where}: a score of {stray:g} is outside the scale {low:g} to {high:g}.")
    levels = np.unique(read)
    counts = np.stack([(x == v).sum(axis=1) for v in levels], axis=1).astype(float)
    sample = Sample(
        n_items=int((counts.sum(axis=1) > 0).sum()),
        excluded={"not read": int(np.isnan(x).sum())},
    )
    apart = _step(levels)
    far = high - low > _SPAN if scale is None else high - low > (_POINTS - 1) * (apart or 1)
    whole = round((high - low) / apart) + 1 if apart > 0 and not far else 0
    message = f"The scale is not given: the highest and lowest score seen are {high:g} and {low:g}."
    notes = [*Note.where(not scale, "scale_unknown", message)]
    ends = f"{levels[0]:.15g} to {levels[-1]:.15g}"
    message = f"Scores from {ends} are too wide a range for levels of a scale."
    notes += Note.where(far, NO_LEVELS, message)
    details: dict[str, Any] = {
        "levels": levels.tolist(),
        "shares": (counts.sum(axis=0) / counts.sum()).tolist(),
        "n_levels": whole or None,
    }
    if whole and apart in _FINE:
        details["differ_again"] = _differ(counts)
        notes.append(_half_point_note(levels, counts, apart, low, details["differ_again"], whole))

    def term(name: str, label: str, how: SumStatistic, scale: Scale, share: bool) -> Estimate:
        return estimate_from_sums(
            how, counts, name=name, label=label, estimator="shares of all scores", sample=sample,
            reason="no score was read", where=where, scale=scale, proportion=share,
            cluster=inference["cluster"], level=inference["level"],
        )  # fmt: skip

    terms = [term("effective_levels", "Effective levels", _ENTROPY, "identity", False)]
    mode = int(np.argmax(counts.sum(axis=0)))
    for name, label, at in (
        ("mode_share", f"Share of the commonest score, {levels[mode]:g}", levels == levels[mode]),
        ("ceiling_share", f"Share at the ceiling, {high:g}", levels == high),
        ("floor_share", f"Share at the floor, {low:g}", levels == low),
    ):
        terms.append(term(name, label, _share_of(at), "logit", True))
    terms.append(_heaping(levels, 0.0 if far else apart, low, whole, term, sample))
    return Estimates(
        name=where, label="Levels used", terms=tuple(terms), sample=terms[0].sample,
        notes=tuple(notes), details=details,
    )  # fmt: skip


def _share_of(at: Bools) -> SumStatistic:
    return SumStatistic(
        per_item=lambda x: x, combine=lambda s: (s * at).sum(axis=-1) / s.sum(axis=-1)
    )


def _entropy(sums: NDArray[Any]) -> NDArray[Any]:
    p = sums / sums.sum(axis=-1, keepdims=True)
    safe = np.where(p == 0, 1.0, p)
    return np.asarray(np.exp(-np.sum(safe * np.log(safe) * (p != 0), axis=-1)))


_ENTROPY = SumStatistic(per_item=lambda x: x, combine=_entropy)


def _step(levels: Floats) -> float:
    """The largest usual step that all scores are multiples of; 0 where there is none."""
    for step in (1.0, 0.5, 0.25, 0.1, 0.01):
        if np.allclose(levels / step, np.round(levels / step), atol=1e-6):
            return step
    return 0.0


def _heaping(
    levels: Floats, step: float, low: float, whole: int, term: Any, sample: Sample
) -> Estimate:
    label = "Heaping on round scores"
    round_at = 1.0 if 0 < step < 1 else 5.0 if step == 1 and whole >= MANY else 0.0
    if not round_at:
        reason = f"on {whole} whole levels none is rounder than another"
        reason = reason if step else "the scores are multiples of no usual step"
        return Estimate(name="heaping", label=label, sample=sample, reason=reason)
    scale: Floats = low + step * np.arange(whole, dtype=np.float64)
    share = float(np.mean(_multiple(scale, round_at)))
    at = _share_of(_multiple(levels, round_at))
    estimate: Estimate = term("heaping", label, at, "logit", True)
    iv = estimate.interval
    if iv is not None:
        iv = dataclasses.replace(iv, low=iv.low - share, high=iv.high - share)
    return estimate.replace(
        estimate=estimate.estimate - share,
        interval=iv,
        estimator=f"share on multiples of {round_at:g} minus their share of the scale, {share:.2f}",
        details={"round": round_at, "share_of_scale": share},
    )


_FINE = (0.5, 0.25)


def _differ(counts: Floats) -> float | None:
    """How often two scores of one item differ, over items asked about twice or more."""
    n = counts.sum(axis=1)
    pairs, alike = n * (n - 1), np.sum(counts * (counts - 1), axis=1)
    again = pairs > 0
    return 1 - float(np.mean(alike[again] / pairs[again])) if again.any() else None


def _half_point_note(
    levels: Floats, counts: Floats, step: float, low: float, again: float | None, whole: int
) -> Note:
    """Note on half points: how often they occur, and how often repeats differ by one."""
    given = 1 - float(counts.sum(axis=0) @ _multiple(levels, 1.0)) / float(counts.sum())
    scale: Floats = low + step * np.arange(whole, dtype=np.float64)
    there = 1 - float(np.mean(_multiple(scale, 1.0)))
    asked = "no item was judged twice, so the noise of such a step is not known"
    if again is not None:
        asked = f"two scores of one item differ by {step:g} or more in {100 * again:.0f}% of cases"
    message = (
        f"{100 * given:.0f}% of the scores and {100 * there:.0f}% of the levels are between whole "
        f"numbers; {asked}."
    )
    return Note(code=BETWEEN, message=message)


def _multiple(values: Floats, of: float) -> Bools:
    return np.isclose(values / of, np.round(values / of), atol=1e-6)


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
    codes = cluster_codes(inference["cluster"], len(x), where=where)
    given = None if inference["cluster"] is None else codes
    estimate = Estimate(
        name="recoding_loss", label="Loss by a shorter scale",
        estimator="1 minus the ratio of informations about the item",
        sample=Sample.from_mask(used, "fewer than two scores", given),
    )  # fmt: skip
    if not used.any():
        return estimate.replace(reason="no item has two scores: a loss needs repeats")
    x, read, codes = x[used], read[used], codes[used]
    if np.unique(x[read]).size > _MOST_LEVELS:
        return estimate.replace(reason=f"there are more than {_MOST_LEVELS} distinct scores")
    parts, coded = _groups(x[read], groups, where)
    if len(parts) < 2:
        return estimate.replace(reason="the scores fall into one group")
    z = np.full(x.shape, np.nan)
    z[read] = coded
    n = read.sum(axis=1)
    own = np.column_stack([np.ones(n.size), *_item_means(z, x, n)])
    sums = jackknife.cluster_sums(own, codes)
    whole = sums.sum(axis=0)
    estimate = estimate.replace(details={"groups": parts})
    value = float(_log_information(whole))
    if not math.isfinite(value):
        return estimate.replace(reason="repeats of an item share nothing that could be lost")
    sizes = sums[:, 0]
    if lack := jackknife.lack_note(sizes):
        return estimate.replace(estimate=-math.expm1(value), notes=lack)
    left = whole - sums
    effective = max(jackknife.effective_clusters(sizes) - 1, 1)
    quantile = float(t.ppf((1 + inference["level"]) / 2, effective))
    shared, _ = jackknife.jackknife_error(_shared(left), sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        error, _ = jackknife.jackknife_error(_log_information(left), sizes)
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


def recode_scores(scores: Floats) -> Floats:
    """Scores on a shorter scale, each pair of neighbouring levels coded by its mean score.

    Parameters
    ----------
    scores : ndarray
        NaN where unparsed.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> recode_scores(np.array([1.0, 2.0, np.nan, 3.0, 4.0, 4.0])).round(2).tolist()
    [1.5, 1.5, nan, 3.67, 3.67, 3.67]
    """
    read = ~np.isnan(scores)
    out = np.full(scores.shape, np.nan)
    out[read] = _groups(scores[read], "pairs", "recode_scores")[1]
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
