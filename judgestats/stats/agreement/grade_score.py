"""The Grade Score: does a judge pick the same option wherever it stands?"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Bools, Floats
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import counted
from judgestats.stats.agreement.grade_score_items import (
    chance_grade_score,
    grade_score_items,
    uniform_judge_scores,
)
from judgestats.stats.inference.keywords import SumResampled, with_keywords
from judgestats.stats.inference.result import Estimate, Note, NullReference, Sample
from judgestats.stats.inference.sum_statistics import (
    SumStatistic,
    estimate_from_sums,
)


def _item_mean(values: Floats, used: Bools) -> tuple[SumStatistic, Floats]:
    """Mean over the used items as a statistic of sums."""
    data = np.column_stack([used, np.where(used, values, 0.0)]).astype(float)
    mean = SumStatistic(per_item=lambda x: x, combine=lambda s: np.asarray(s[..., 1] / s[..., 0]))
    return mean, data


_AT_ONCE = 200
"""Draws of all items at one time: 3,500 items take some 6 MB."""
_KEYS = {"grade": "grade_score", "llm": "llm_score", "choice": "choice_score"}


@with_keywords()
def grade_score(
    positions: ArrayLike,
    *,
    n_options: ArrayLike | None = None,
    score: Literal["grade", "llm", "choice", "corrected"] = "grade",
    unread: Literal["complete", "available"] = "complete",
    n_draws: int = 0,
    **inference: Unpack[SumResampled],
) -> Estimate:
    r"""Grade Score (or a part of it) averaged over items, beside its references.

    Parameters
    ----------
    positions : array-like, shape (n_items, n_rotations)
        Position chosen (0 = shown first) in rotation s, in which position p shows option
        (p + s) mod N; NaN or -1 where the reply was not read.
    n_options : int or array-like of int, shape (n_items,), optional
        N of each item; by default the number of columns.
    score : {"grade", "llm", "choice", "corrected"}
        ``corrected``: per item (score - chance) / (1 - chance), to compare conditions in which
        the number of options differs.
    unread : {"complete", "available"}
        ``complete`` (default): only items whose rotations were all read. ``available``: every item
        with a reply, which understates a consistent judge (.93 for 4 of 5 rotations).
    n_draws : int
        If above 0, the null: a judge that selects uniformly at random, on the same items, drawn so
        many times.

    Returns
    -------
    Estimate
        ``details``: ``llm_score``, ``choice_score``, ``harmonic_of_means`` (its upper bound),
        ``chance``, ``always_first`` (0), ``consistent`` (1), ``corrected``, and ``low`` and
        ``high``: the mean over *all* items whatever the unread replies would have said.

    Raises
    ------
    InputError
        If the positions are no positions.

    Notes
    -----
    .. math:: G = \frac1N \sum_i \frac{2 L_i C_i}{L_i + C_i}

    per item, then averaged. The mean of harmonic means cannot exceed the harmonic mean of the
    averages; nine of the 80 cells published in arXiv 2406.12043 do (`exceeds_grade_score_bound`).

    References
    ----------
    arXiv 2406.12043.

    Examples
    --------
    >>> always_first = [[0, 0, 0]] * 4
    >>> consistent = [[0, 2, 1], [1, 0, 2], [2, 1, 0], [0, 2, 1]]
    >>> grade_score(always_first).estimate, grade_score(consistent).estimate
    (0.0, 1.0)
    >>> round(grade_score(consistent).details["chance"], 4)
    0.58
    >>> print(grade_score(consistent).sample)
    4 items, 3 rotations
    """
    where = "grade_score"
    one_of(where, "score", score, (*_KEYS, "corrected"))
    one_of(where, "unread", unread, ("complete", "available"))
    items = grade_score_items(positions, n_options=n_options)
    used = items["complete"] if unread == "complete" else items["n_read"] > 0
    values = items[_KEYS.get(score, score)]
    mean, data = _item_mean(values, used)
    n_out = int(np.sum(~used))
    why = "some rotations were not read" if unread == "complete" else "no rotation was read"
    notes = []
    if unread == "available" and np.any(used & ~items["complete"]):
        partly = counted(int(np.sum(used & ~items["complete"])), "item is", "items are")
        message = (
            f"{partly} scored on some rotations only, "
            "which understates a consistent judge; details hold the bounds."
        )
        notes.append(Note(code="partial_rotations", message=message))
    details: dict[str, Any] = {
        "always_first": 0.0,
        "consistent": 1.0,
        "low": float(np.mean(items["low"])),
        "high": float(np.mean(items["high"])),
        "items": values,
        "n_read": int(items["n_read"].sum()),
        "n_asked": int(items["n_options"].sum()),
        **dict.fromkeys(("llm_score", "choice_score", "harmonic_of_means"), math.nan),
        **dict.fromkeys(("chance", "corrected"), math.nan),
    }
    if used.any():
        llm, choice = (float(np.mean(items[k][used])) for k in ("llm_score", "choice_score"))
        details |= {
            "llm_score": llm,
            "choice_score": choice,
            "harmonic_of_means": 2 * llm * choice / (llm + choice),
            "chance": float(np.mean(items["chance"][used])),
            "corrected": float(np.mean(items["corrected"][used])),
        }
    labels = {
        "grade": "Grade Score",
        "llm": "LLM score (entropy of chosen positions / log2 N)",
        "choice": "Choice score (share of the most chosen option)",
        "corrected": "Grade Score above chance",
    }
    widths = items["n_options"][used]
    # A corrected score lies between its least value (always first) and 1. Brought to [0, 1] it is a
    # proportion like the others, and its interval the others': near 1 no other scale has one.
    least = 0.0
    if score == "corrected" and used.any():
        least = float(np.min(-items["chance"][used] / (1 - items["chance"][used])))
        mean, data = _item_mean((values - least) / (1 - least), used)
    estimate = estimate_from_sums(
        mean,
        data,
        name=f"{score}_score" if score != "corrected" else "grade_score_corrected",
        label=labels[score],
        estimator=f"per item, then averaged; {unread} rotations",
        sample=Sample(
            n_items=int(used.sum()),
            n_replications=int(widths.min()) if used.any() else 0,
            n_replications_max=int(widths.max()) if used.any() else 0,
            excluded={why: n_out},
            repeated="rotation",
        ),
        reason="no item has all its rotations read"
        if unread == "complete"
        else "no rotation of any item was read",
        where=where,
        scale="logit",
        **inference,
        proportion=True,
        notes=tuple(notes),
        details=details,
    )
    if least:
        estimate = _stretched(estimate, least)
    if n_draws and math.isfinite(estimate.estimate):
        null = _uniform_judge(
            estimate.estimate, widths, score=score, n_draws=n_draws, seed=inference["seed"]
        )
        estimate = estimate.replace(null=null)
    return estimate


def _stretched(estimate: Estimate, least: float) -> Estimate:
    """From [0, 1] to the range of a score whose least value is `least`."""
    width, interval = 1 - least, estimate.interval
    if interval is not None:
        low, high = (least + width * bound for bound in (interval.low, interval.high))
        interval = dataclasses.replace(interval, low=low, high=high)
    return estimate.replace(
        estimate=least + width * estimate.estimate,
        std_error=width * estimate.std_error,
        interval=interval,
    )


def _uniform_judge(
    observed: float, n_options: NDArray[Any], *, score: str, n_draws: int, seed: int | None
) -> NullReference:
    """The mean score of a judge that selects any option with the same probability."""
    rng = np.random.default_rng(seed)
    place = {"llm": 0, "choice": 1}.get(score, 2)
    total = np.zeros(n_draws)
    for n, count in zip(*np.unique(n_options, return_counts=True), strict=True):
        possible = uniform_judge_scores(int(n))[place]
        if score == "corrected":
            chance = chance_grade_score(int(n))
            possible = (possible - chance) / (1 - chance)
        for start in range(0, n_draws, _AT_ONCE):
            size = (min(_AT_ONCE, n_draws - start), int(count))
            total[start : start + size[0]] += rng.choice(possible, size=size).sum(axis=1)
    means = total / len(n_options)
    return NullReference(
        hypothesis="every selection is a uniform draw",
        permuted="a uniform judge on these items",
        mean=float(means.mean()),
        q95=float(np.quantile(means, 0.95)),
        p_value=float((np.sum(means >= observed - 1e-12) + 1) / (n_draws + 1)),
        n_permutations=n_draws,
        seed=seed,
        drawn=True,
    )


@with_keywords()
def grade_score_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    n_options_first: ArrayLike | None = None,
    n_options_second: ArrayLike | None = None,
    corrected: bool = True,
    **inference: Unpack[SumResampled],
) -> Estimate:
    """Difference of two conditions' Grade Scores, paired by item.

    Parameters
    ----------
    first, second : array-like, shape (n_items, n_rotations)
        Positions chosen on the same items (rows) in two conditions, such as without and with a
        random extra option; see `grade_score`.
    n_options_first, n_options_second : int or array-like of int, optional
    corrected : bool
        Compare chance-corrected values (default): adding an option changes N and hence chance.

    Returns
    -------
    Estimate
        Mean of second minus first over items complete in both.

    Raises
    ------
    InputError
        If the items differ or the positions are no positions.

    Notes
    -----
    A t interval on the paired differences over clusters by default.

    References
    ----------
    STATISTICS section 8 of the project's design.

    Examples
    --------
    >>> a = [[0, 0, 0], [0, 2, 1], [0, 0, 1], [1, 1, 1]]
    >>> b = [[0, 2, 1], [0, 2, 1], [0, 2, 1], [1, 0, 2]]
    >>> round(grade_score_difference(a, b, corrected=False).estimate, 3)
    0.595
    """
    where = "grade_score_difference"
    a = grade_score_items(first, n_options=n_options_first)
    b = grade_score_items(second, n_options=n_options_second)
    if a["complete"].shape != b["complete"].shape:
        raise InputError(
            f"{where}: first and second must hold the same items, got {a['complete'].size} and "
            f"{b['complete'].size}. Align them by item."
        )
    key = "corrected" if corrected else "grade_score"
    used = a["complete"] & b["complete"]
    mean, data = _item_mean(b[key] - a[key], used)
    n_out = int(np.sum(~used))
    return estimate_from_sums(
        mean,
        data,
        name=where,
        label="Difference of Grade Scores" + (" above chance" if corrected else ""),
        estimator="paired by item, second minus first; complete rotations in both",
        sample=Sample(
            n_items=int(used.sum()),
            excluded={"some rotations were not read": n_out},
        ),
        reason="no item has all its rotations read in both conditions",
        where=where,
        scale="identity",
        **inference,
        details={"differences": np.where(used, b[key] - a[key], np.nan)},
    )
