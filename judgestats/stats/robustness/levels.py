"""How many levels of its scale a judge really uses, and how few would do."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Bools, Floats, as_numbers
from judgestats.errors import InputError
from judgestats.stats.inference.bootstrap import Scale
from judgestats.stats.inference.estimate import Estimate, Note, Sample
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Estimates
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums

BETWEEN = "between_whole_numbers"
"""Of the note on half and quarter points."""
MANY = 20
"""Levels from which a scale is interpreted as a number line, on which scores heap at multiples of
5."""
NO_LEVELS = "no_levels"
"""Of the note that the scores lie too far apart for levels of a scale."""
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
        ``effective_levels``, exp of the entropy of the shares; ``mode_share``, ``ceiling_share``
        and ``floor_share``; ``heaping``, the share of scores on round values (whole numbers where
        the step is less than 1, else multiples of 5 on 20 levels or more) less the share of the
        scale's levels that are round. ``details``: ``levels`` and ``shares``, ``n_levels`` of the
        scale. A note says what half and quarter points mean: how often they are given, and how
        often two scores of an item differ by one (``differ_again``). What a shorter scale would
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
        raise InputError(
            f"{where}: a score of {read.min() if read.min() < low else read.max():g} is outside "
            f"the scale {low:g} to {high:g}. Give the scale that the judge was given."
        )
    levels = np.unique(read)
    counts = np.stack([(x == v).sum(axis=1) for v in levels], axis=1).astype(float)
    sample = Sample(
        n_items=int((counts.sum(axis=1) > 0).sum()),
        excluded={"not read": int(np.isnan(x).sum())},
    )
    apart = _step(levels)
    far = high - low > _SPAN if scale is None else high - low > (_POINTS - 1) * (apart or 1)
    whole = round((high - low) / apart) + 1 if apart > 0 and not far else 0
    notes = [] if scale else [_unknown_scale(low, high)]
    if far:
        notes.append(_no_levels(levels))
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


def _entropy(sums: NDArray[Any]) -> NDArray[Any]:
    p = sums / sums.sum(axis=-1, keepdims=True)
    safe = np.where(p == 0, 1.0, p)
    return np.asarray(np.exp(-np.sum(safe * np.log(safe) * (p != 0), axis=-1)))


_ENTROPY = SumStatistic(per_item=lambda x: x, combine=_entropy)


def _share_of(at: Bools) -> SumStatistic:
    return SumStatistic(
        per_item=lambda x: x, combine=lambda s: (s * at).sum(axis=-1) / s.sum(axis=-1)
    )


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
        reason = (
            "the scores are multiples of no usual step"
            if not step
            else f"on {whole} whole levels none is rounder than another"
        )
        return Estimate(
            name="heaping", label=label, estimate=math.nan, sample=sample, reason=reason
        )
    scale: Floats = low + step * np.arange(whole, dtype=np.float64)
    share = float(np.mean(_multiple(scale, round_at)))
    estimate: Estimate = term(
        "heaping", label, _share_of(_multiple(levels, round_at)), "logit", True
    )
    iv = estimate.interval
    return estimate.replace(
        estimate=estimate.estimate - share,
        interval=None if iv is None else type(iv)(
            low=iv.low - share, high=iv.high - share, level=iv.level, method=iv.method
        ),
        estimator=f"share on multiples of {round_at:g} less their share of the scale, {share:.2f}",
        details={"round": round_at, "share_of_scale": share},
    )  # fmt: skip


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
    """What half points mean: how often they are given, and what repetition does to them."""
    given = 1 - float(counts.sum(axis=0) @ _multiple(levels, 1.0)) / float(counts.sum())
    scale: Floats = low + step * np.arange(whole, dtype=np.float64)
    there = 1 - float(np.mean(_multiple(scale, 1.0)))
    asked = (
        "no item was judged twice, so that what such a step is worth is not known"
        if again is None
        else f"two scores of one item differ by {step:g} or more in {100 * again:.0f}% of cases"
    )
    return Note(
        code=BETWEEN,
        message=f"{100 * given:.0f}% of the scores and {100 * there:.0f}% of the levels lie "
        f"between whole numbers; {asked}.",
    )


def _multiple(values: Floats, of: float) -> Bools:
    return np.isclose(values / of, np.round(values / of), atol=1e-6)


def _no_levels(levels: Floats) -> Note:
    return Note(
        code=NO_LEVELS,
        message=f"The scores run from {levels[0]:.15g} to {levels[-1]:.15g}, too far apart for "
        "levels of a scale, so heaping is not computed.",
    )


def _unknown_scale(low: float, high: float) -> Note:
    return Note(
        code="scale_unknown",
        message=f"The scale is not given: ceiling and floor are the highest and lowest score "
        f"seen, {high:g} and {low:g}.",
    )
