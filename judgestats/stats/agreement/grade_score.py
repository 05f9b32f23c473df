"""The Grade Score of selections, overall and by item."""

from __future__ import annotations

import dataclasses
import itertools
import math
from functools import cache
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints, check_axes, check_least, check_lengths
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.keywords import SumResampled, with_keywords
from judgestats.stats.inference.result import Estimate, NullReference, Sample
from judgestats.stats.inference.sum_statistics import share_estimate

LARGEST_ENUMERATION = 1_000_000
"""Completions of the unparsed rotations (or random judges) up to which all are listed."""
JUDGES_DRAWN = 400_000
"""Random judges drawn where there are more of them."""


def _scores(positions: NDArray[Any], n_options: int) -> tuple[Floats, Floats, Floats]:
    """LLM score, choice score and Grade Score of complete or partial rows, -1 = unparsed.

    `positions[..., s]` is the position chosen in rotation s, where position p shows option
    (p + s) mod N.
    """
    n = n_options
    read = positions >= 0
    m = read.sum(axis=-1)
    options = np.where(read, (positions + np.arange(positions.shape[-1])) % n, -1)
    at = np.stack([np.sum(positions == p, axis=-1) for p in range(n)], axis=-1)
    of = np.stack([np.sum(options == o, axis=-1) for o in range(n)], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = at / m[..., None]
        bits = -np.sum(np.where(at > 0, p * np.log2(np.where(at > 0, p, 1.0)), 0.0), axis=-1)
        llm = np.where(m > 0, np.abs(bits) / math.log2(n), np.nan)
        choice = np.where(m > 0, of.max(axis=-1) / m, np.nan)
        grade = np.where(llm + choice > 0, 2 * llm * choice / (llm + choice), 0.0)
    return np.asarray(llm), np.asarray(choice), np.where(m > 0, grade, np.nan)


@cache
def chance_grade_score(n_options: int) -> float:
    """Mean Grade Score of a judge that picks a position at random in every rotation.

    Parameters
    ----------
    n_options : int
        Options shown, at least 2.

    Returns
    -------
    float
        By enumeration of all N**N judges for N <= 7, else from 400,000 drawn by seed.

    Raises
    ------
    InputError
        If there are fewer than two options.

    Notes
    -----
    The mean of per-item Grade Scores, as the score itself is averaged.

    References
    ----------
    arXiv 2406.12043 defines the score, without this reference.

    Examples
    --------
    >>> [round(chance_grade_score(n), 4) for n in (2, 3, 4, 5, 6)]
    [0.5, 0.58, 0.571, 0.5395, 0.5054]
    """
    return float(np.mean(uniform_judge_scores(n_options)[2]))


@cache
def uniform_judge_scores(n_options: int) -> tuple[Floats, Floats, Floats]:
    """LLM, choice and Grade Scores of one item under judges that pick positions at random.

    Parameters
    ----------
    n_options : int
        Options shown, at least 2.

    Returns
    -------
    tuple of ndarray
        Equally probable values: all N**N judges for N <= 7, else 400,000 of them.

    Examples
    --------
    >>> sorted(uniform_judge_scores(2)[2].tolist())
    [0.0, 0.0, 1.0, 1.0]
    """
    check_least("chance_grade_score", "n_options", n_options, 2)
    if n_options**n_options <= LARGEST_ENUMERATION:
        every = np.indices((n_options,) * n_options).reshape(n_options, -1).T
        return _scores(every, n_options)
    rng = np.random.default_rng(0)
    return _scores(rng.integers(n_options, size=(JUDGES_DRAWN, n_options)), n_options)


def _positions(positions: ArrayLike, where: str) -> Ints:
    """Positions as whole numbers, -1 where unparsed."""
    values = np.asarray(positions, dtype=float)
    check_axes(where, "positions", values, "items x rotations", (1, 2))
    read = ~np.isnan(values)
    if np.isinf(values).any() or np.any(values[read] % 1 != 0) or np.any(values[read] < -1):
        raise InputError(
            f"{where}: positions must be whole numbers from 0 (shown first), NaN where unparsed."
        )
    return np.asarray(np.where(read, values, -1), dtype=np.int64)


def _options_per_item(n_options: ArrayLike | None, chosen: Ints, where: str) -> Ints:
    """Number of options of each item."""
    n_items, width = chosen.shape
    per_item = np.broadcast_to(np.asarray(width if n_options is None else n_options), (n_items,))
    if np.any(per_item < 2) or np.any(per_item > width):
        raise InputError(
            f"{where}: n_options must be between 2 and the number of rotation columns {width}, "
            f"got {np.unique(per_item).tolist()}."
        )
    if np.any(chosen >= per_item[:, None]):
        raise InputError(
            f"{where}: positions must be below the item's number of options, got {chosen.max()}."
        )
    outside = np.arange(width) >= per_item[:, None]
    if np.any(chosen[outside] >= 0):
        raise InputError(f"{where}: an item with N options has verdicts in later columns than N.")
    return np.asarray(per_item, dtype=np.int64)


def _bounds(row: Ints, n: int) -> tuple[float, float]:
    """Least and greatest Grade Score that one item's unparsed rotations allow."""
    unread = np.flatnonzero(row < 0)
    if unread.size == n or n**unread.size > LARGEST_ENUMERATION:
        return 0.0, 1.0  # always first, and perfectly consistent, both remain possible
    filled = np.tile(row, (n**unread.size, 1))
    filled[:, unread] = np.array(list(itertools.product(range(n), repeat=unread.size)))
    grades = _scores(filled, n)[2]
    return float(grades.min()), float(grades.max())


def grade_score_items(
    positions: ArrayLike, *, n_options: ArrayLike | None = None
) -> dict[str, NDArray[Any]]:
    """Grade Score of every item, with its parts, its bounds and its chance value.

    Parameters
    ----------
    positions : array-like, shape (n_items, n_rotations)
        Position chosen (0 = shown first) in rotation s, in which position p shows option
        (p + s) mod N; NaN or -1 where the reply was not read.
    n_options : int or array-like of int, shape (n_items,), optional
        N of each item; by default the number of columns. Columns beyond an item's N stay NaN.

    Returns
    -------
    dict of ndarray, each of shape (n_items,)
        ``llm_score``, ``choice_score``, ``grade_score`` (over the rotations read, NaN if none),
        ``n_read``, ``complete``, ``low`` and ``high`` (what the unparsed rotations allow),
        ``chance`` (uniform random judge), ``corrected`` ((score - chance) / (1 - chance)),
        ``n_options``.

    Raises
    ------
    InputError
        If the positions are not positions.

    Notes
    -----
    LLM score: entropy of the chosen positions / log2 N. Choice score: share of the most chosen
    option. Grade Score: their harmonic mean, 0 where the entropy is 0. Over 4 of 5
    rotations a perfect judge has .93: compare complete items, or the bounds.

    References
    ----------
    arXiv 2406.12043.

    Examples
    --------
    >>> out = grade_score_items([[0, 2, 1], [0, 0, 0], [0, 2, float("nan")]])
    >>> out["grade_score"].round(3).tolist(), out["low"].round(3).tolist()
    ([1.0, 0.0, 0.774], [1.0, 0.0, 0.62])
    """
    where = "grade_score_items"
    chosen = _positions(positions, where)
    per_item = _options_per_item(n_options, chosen, where)
    out = {
        name: np.full(chosen.shape[0], np.nan)
        for name in ("llm_score", "choice_score", "grade_score", "low", "high", "chance")
    }
    for n in np.unique(per_item):
        rows = np.flatnonzero(per_item == n)
        part = chosen[rows][:, :n]
        llm, choice, grade = _scores(part, int(n))
        out["llm_score"][rows], out["choice_score"][rows] = llm, choice
        out["grade_score"][rows] = out["low"][rows] = out["high"][rows] = grade
        for at in np.flatnonzero((part < 0).any(axis=1)):
            out["low"][rows[at]], out["high"][rows[at]] = _bounds(part[at], int(n))
        out["chance"][rows] = chance_grade_score(int(n))
    n_read = np.sum(chosen >= 0, axis=1)
    return {
        **out,
        "corrected": (out["grade_score"] - out["chance"]) / (1.0 - out["chance"]),
        "n_read": n_read,
        "complete": n_read == per_item,
        "n_options": per_item,
    }


def exceeds_grade_score_bound(
    grade: float, llm_score: float, choice_score: float, *, slack: float = 0.0
) -> bool:
    """Whether a published Grade Score exceeds the harmonic mean of its published parts.

    Parameters
    ----------
    grade, llm_score, choice_score : float
        Averages over items as printed.
    slack : float
        Allowance for rounding in print (5e-5 for four decimals).

    Returns
    -------
    bool
        True for a row that cannot be a mean of per-item harmonic means.

    Notes
    -----
    The harmonic mean is concave, so the mean of harmonic means is at most the harmonic mean of the
    averages.

    References
    ----------
    Jensen's inequality.

    Examples
    --------
    >>> exceeds_grade_score_bound(0.80, 0.70, 0.85), exceeds_grade_score_bound(0.75, 0.70, 0.85)
    (True, False)
    """
    if llm_score + choice_score <= 0:
        return grade > slack
    return grade > 2 * llm_score * choice_score / (llm_score + choice_score) + slack


_AT_ONCE = 200
"""Draws of all items at one time: 3,500 items take some 6 MB."""


@with_keywords()
def grade_score(
    positions: ArrayLike,
    *,
    n_options: ArrayLike | None = None,
    score: Literal["grade", "corrected"] = "grade",
    n_draws: int = 0,
    **inference: Unpack[SumResampled],
) -> Estimate:
    r"""Grade Score averaged over items, with its reference values.

    Parameters
    ----------
    positions : array-like, shape (n_items, n_rotations)
        Position chosen (0 = shown first) in rotation s, in which position p shows option
        (p + s) mod N; NaN or -1 where the reply was not read.
    n_options : int or array-like of int, shape (n_items,), optional
        N of each item; by default the number of columns.
    score : {"grade", "corrected"}
        ``corrected``: per item (score - chance) / (1 - chance), to compare conditions in which
        the number of options differs.
    n_draws : int
        If above 0, the null: a judge that selects uniformly at random, on the same items, drawn
        this many times.

    Returns
    -------
    Estimate
        Over the items whose rotations were all read: a part of them understates a consistent judge
        (.93 for 4 of 5 rotations). ``details``: ``llm_score``, ``choice_score``,
        ``harmonic_of_means`` (its upper bound), ``chance``, ``always_first`` (0), ``consistent``
        (1), ``corrected``. ``low`` and ``high`` are bounds of the mean over *all* items, for any
        choice in the unparsed replies.

    Raises
    ------
    InputError
        If the positions are not positions.

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
    one_of(where, "score", score, ("grade", "corrected"))
    items = grade_score_items(positions, n_options=n_options)
    used = items["complete"]
    values = items["corrected" if score == "corrected" else "grade_score"]

    def mean(key: str) -> float:
        return float(np.mean(items[key][used])) if used.any() else math.nan

    llm, choice = mean("llm_score"), mean("choice_score")
    details: dict[str, Any] = {
        "always_first": 0.0,
        "consistent": 1.0,
        "low": float(np.mean(items["low"])),
        "high": float(np.mean(items["high"])),
        "items": values,
        "n_read": int(items["n_read"].sum()),
        "n_asked": int(items["n_options"].sum()),
        "llm_score": llm,
        "choice_score": choice,
        "harmonic_of_means": 2 * llm * choice / (llm + choice),
        "chance": mean("chance"),
        "corrected": mean("corrected"),
    }
    widths = items["n_options"][used]
    # A corrected score lies between its least value (always first) and 1. Brought to [0, 1] it is a
    # proportion like the others, and its interval the others': near 1 no other scale has one.
    least = 0.0
    if score == "corrected" and used.any():
        least = float(np.min(-items["chance"][used] / (1 - items["chance"][used])))
    estimate = share_estimate(
        used,
        np.where(used, (values - least) / (1 - least), 0.0),
        name=f"{score}_score" if score != "corrected" else "grade_score_corrected",
        label="Grade Score" if score != "corrected" else "Grade Score, chance-corrected",
        estimator="per item, then averaged; complete rotations",
        sample=Sample.from_mask(
            used,
            "some rotations were not read",
            n_replications=int(widths.min()) if used.any() else 0,
            n_replications_max=int(widths.max()) if used.any() else 0,
            repeated="rotation",
        ),
        reason="no item has all its rotations read",
        where=where,
        **inference,
        details=details,
    )
    if least:
        width, interval = 1 - least, estimate.interval
        if interval is not None:
            low, high = (least + width * bound for bound in (interval.low, interval.high))
            interval = dataclasses.replace(interval, low=low, high=high)
        estimate = estimate.replace(
            estimate=least + width * estimate.estimate,
            std_error=width * estimate.std_error,
            interval=interval,
        )
    if n_draws and math.isfinite(estimate.estimate):
        null = _uniform_judge(
            estimate.estimate, widths, score=score, n_draws=n_draws, seed=inference["seed"]
        )
        estimate = estimate.replace(null=null)
    return estimate


def _uniform_judge(
    observed: float, n_options: NDArray[Any], *, score: str, n_draws: int, seed: int | None
) -> NullReference:
    """The mean score of a judge that selects any option with the same probability."""
    rng = np.random.default_rng(seed)
    total = np.zeros(n_draws)
    for n, count in zip(*np.unique(n_options, return_counts=True), strict=True):
        possible = uniform_judge_scores(int(n))[2]
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
    **inference: Unpack[SumResampled],
) -> Estimate:
    """Difference of two conditions' Grade Scores, paired by item.

    Parameters
    ----------
    first, second : array-like, shape (n_items, n_rotations)
        Positions chosen on the same items (rows) in two conditions, such as without and with a
        random extra option; see `grade_score`.
    n_options_first, n_options_second : int or array-like of int, optional

    Returns
    -------
    Estimate
        Mean of second minus first, both corrected for chance, over items complete in both: adding
        an option changes N and hence chance.

    Raises
    ------
    InputError
        If the items differ or the positions are not positions.

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
    >>> round(grade_score_difference(a, b).estimate, 3)
    1.417
    """
    where = "grade_score_difference"
    a = grade_score_items(first, n_options=n_options_first)
    b = grade_score_items(second, n_options=n_options_second)
    check_lengths(where, first=a["complete"], second=b["complete"])
    used = a["complete"] & b["complete"]
    gap = b["corrected"] - a["corrected"]
    return share_estimate(
        used,
        np.where(used, gap, 0.0),
        name=where,
        label="Difference of chance-corrected Grade Scores",
        estimator="paired by item, second minus first; complete rotations in both",
        sample=Sample.from_mask(used, "some rotations were not read"),
        reason="no item has all its rotations read in both conditions",
        signed=True,
        **inference,
        details={"differences": np.where(used, gap, np.nan)},
    )
