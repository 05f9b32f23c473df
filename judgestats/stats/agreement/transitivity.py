"""Pairwise verdicts from scores, and whether pairwise verdicts form an order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.errors import InputError, one_of
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.stats.inference.sum_statistics import (
    IntervalMethod,
    SumStatistic,
    estimate_from_sums,
)
from judgestats.stats.layouts.count_table import encode_verdicts


def pairwise_from_scores(
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    margin: float = 0.0,
    ties: Literal["tie", "missing", "random"] = "tie",
    seed: int | None = 0,
) -> NDArray[Any]:
    """Turn pointwise scores of two responses into a pairwise verdict, from the same judgments.

    Parameters
    ----------
    score_a, score_b : array-like, shape (n_pairs,) or (n_pairs, n_replications)
        Scores of both responses; replications are averaged (those read). NaN where not read.
    margin : float
        Differences of the means up to this are ties (score points).
    ties : {"tie", "missing", "random"}
        What equal scores become: the verdict ``"tie"``, no verdict (None), or ``"a"`` or ``"b"`` by
        a fair seeded coin.
    seed : int or None

    Returns
    -------
    ndarray of object, shape (n_pairs,)
        ``"a"``, ``"b"``, ``"tie"`` or None (a score is missing).

    Raises
    ------
    InputError
        If the shapes, the margin or the policy are unusable.

    Notes
    -----
    Integer scores tie often; averaging replications breaks most ties. State the policy with every
    accuracy made from it.

    References
    ----------
    STATISTICS section 7 of the project's design.

    Examples
    --------
    >>> pairwise_from_scores([8, 7, 9, float("nan")], [7, 7, 9.5, 6]).tolist()
    ['a', 'tie', 'b', None]
    >>> pairwise_from_scores([[8, 9]], [[8, 8]], margin=0.5).tolist()
    ['tie']
    """
    where = "pairwise_from_scores"
    a, b = np.asarray(score_a, dtype=float), np.asarray(score_b, dtype=float)
    a, b = (x[:, None] if x.ndim == 1 else x for x in (a, b))
    if a.ndim != 2 or b.ndim != 2 or a.shape[0] != b.shape[0]:
        raise InputError(
            f"{where}: score_a and score_b must hold the same pairs, got shapes {a.shape} and "
            f"{b.shape}. Align them by pair."
        )
    one_of(where, "ties", ties, ("tie", "missing", "random"))
    if not margin >= 0:
        raise InputError(f"{where}: margin must be 0 or more, got {margin}. The default is 0.")
    read_a, read_b = np.isfinite(a).sum(axis=1), np.isfinite(b).sum(axis=1)
    gap = np.nansum(a, axis=1) / np.maximum(read_a, 1) - np.nansum(b, axis=1) / np.maximum(
        read_b, 1
    )
    # Means of equal scores can differ in the last bit: that is a tie.
    tied = np.abs(gap) <= margin + 1e-9
    verdict = np.where(gap > 0, "a", "b").astype(object)
    if ties == "tie":
        verdict[tied] = "tie"
    elif ties == "missing":
        verdict[tied] = None
    else:
        coin = np.random.default_rng(seed).integers(2, size=int(tied.sum()))
        verdict[tied] = np.array(["a", "b"], dtype=object)[coin]
    verdict[(read_a == 0) | (read_b == 0)] = None
    return verdict


def _beats(i: Hashable, j: Hashable, verdict: int, seen: dict[Any, set[int]]) -> None:
    """Record what was said of a pair: 1 first wins, -1 second wins, 0 tie."""
    key, sign = ((i, j), verdict) if str(i) <= str(j) else ((j, i), -verdict)
    seen.setdefault(key, set()).add(sign)


def intransitive_triads(
    question: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    verdict: ArrayLike,
    *,
    ties: Literal["exclude", "weak"] = "exclude",
    level: float = 0.95,
    interval: IntervalMethod = "jackknife",
    n_resamples: int = 2000,
    seed: int | None = 0,
) -> Estimate:
    r"""Share of triads of responses on which pairwise verdicts go in a circle.

    Parameters
    ----------
    question : array-like, shape (n_verdicts,)
        The question; triads lie within one, and questions are the clusters.
    first, second : array-like, shape (n_verdicts,)
        Names of the two responses compared.
    verdict : array-like, shape (n_verdicts,)
        ``"a"`` (first wins), ``"b"`` (second wins), ``"tie"``; None, NaN or empty where not read.
    ties : {"exclude", "weak"}
        ``exclude``: triads with a tie are left out (counted). ``weak``: a triad is transitive if
        some ranking with ties fits it (x = y and y = z ask for x = z).
    level : float
        Confidence level.
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        Over questions.
    n_resamples : int
    seed : int or None

    Returns
    -------
    Estimate
        ``details``: triads counted, circular, left out, and ``chance`` (independent fair verdicts:
        1/4 without ties, 14/27 for three equally likely outcomes under ``weak``).

    Raises
    ------
    InputError
        If the lengths differ, a response is compared with itself, or a verdict is unknown.

    Notes
    -----
    A pair judged more than once with different outcomes is left out as contradictory: take the
    majority first, or swap consistency will be counted as intransitivity.

    References
    ----------
    Kendall & Babington Smith (1940), On the method of paired comparisons. Biometrika 31, 324-345.

    Examples
    --------
    >>> q = ["q1"] * 3 + ["q2"] * 3
    >>> first, second = ["x", "y", "x"] * 2, ["y", "z", "z"] * 2
    >>> verdict = ["a", "a", "b", "a", "a", "a"]
    >>> intransitive_triads(q, first, second, verdict).estimate
    0.5
    """
    where = "intransitive_triads"
    columns = [np.asarray(v, dtype=object) for v in (question, first, second)]
    codes = encode_verdicts(verdict, categories=("a", "b", "tie"), where=where)[0]
    if codes.ndim != 1 or any(c.shape != codes.shape for c in columns) or codes.size == 0:
        raise InputError(
            f"{where}: question, first, second and verdict must have the same length, got "
            f"{[c.shape for c in columns]} and {codes.shape}. Give one row for each verdict."
        )
    one_of(where, "ties", ties, ("exclude", "weak"))
    preferred_over: dict[Any, dict[Any, set[int]]] = {}
    for q, i, j, code in zip(*columns, codes.tolist(), strict=True):
        if i == j:
            raise InputError(
                f"{where}: first and second must differ, got {i!r} twice (question {q!r}). Drop "
                "comparisons of a response with itself."
            )
        pairs = preferred_over.setdefault(q, {})
        if code >= 0:
            _beats(i, j, (1, -1, 0)[code], pairs)
    counted, circular, left_out = np.zeros(len(preferred_over)), np.zeros(len(preferred_over)), 0
    for g, pairs in enumerate(preferred_over.values()):
        names = sorted({name for pair in pairs for name in pair}, key=str)
        for triad in itertools.combinations(names, 3):
            x, y, z = triad
            sides = [pairs.get(pair) for pair in ((x, y), (y, z), (x, z))]
            if any(s is None for s in sides):
                continue
            usable = [s for s in sides if s is not None and len(s) == 1]
            if len(usable) < 3 or (ties == "exclude" and any(0 in s for s in usable)):
                left_out += 1
                continue
            xy, yz, xz = (next(iter(s)) for s in usable)
            counted[g] += 1
            circular[g] += not _fits_a_ranking(xy, yz, xz)
    judged = int(np.sum(counted > 0))
    return estimate_from_sums(
        SumStatistic(per_item=lambda s: s, combine=lambda s: np.asarray(s[..., 1] / s[..., 0])),
        np.column_stack([counted, circular]),
        name=where,
        label="Share of intransitive triads",
        estimator=f"triads judged in all three pairs; ties: {ties}",
        sample=Sample(
            n_items=judged,
            n_excluded=len(preferred_over) - judged,
            excluded={"no complete triad": len(preferred_over) - judged}
            if len(preferred_over) > judged
            else {},
        ),
        reason="no question has a triad judged in all three pairs",
        where=where,
        level=level,
        interval=interval,
        scale="logit",
        n_resamples=n_resamples,
        seed=seed,
        proportion=True,
        details={
            "triads": int(counted.sum()),
            "circular": int(circular.sum()),
            "left_out": left_out,
            "chance": 0.25 if ties == "exclude" else 14 / 27,
        },
    )


def _fits_a_ranking(xy: int, yz: int, xz: int) -> bool:
    """Whether some ranking with ties gives these three signs."""
    for x, y, z in itertools.product(range(3), repeat=3):
        signs = tuple(int(math.copysign(1, v)) if v else 0 for v in (x - y, y - z, x - z))
        if signs == (xy, yz, xz):
            return True
    return False
