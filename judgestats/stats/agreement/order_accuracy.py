"""Right wherever it stands: pairs judged in both orders, accuracy by the place of the answer."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.agreement.alignment import share_of_sums
from judgestats.stats.agreement.swap import OUTCOMES, both_orders, order_sample
from judgestats.stats.inference.keywords import Clustered, Permuted, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Note, Sample, TestResult
from judgestats.stats.inference.sum_statistics import estimate_from_sums
from judgestats.stats.layouts.count_table import encode_verdicts


@with_keywords()
def pair_accuracy(
    first_order: ArrayLike, second_order: ArrayLike, gold: ArrayLike, **inference: Unpack[Clustered]
) -> Estimate:
    """Share of pairs that are judged right in both orders.

    Parameters
    ----------
    first_order, second_order : array-like, shape (n_pairs,) or (n_pairs, n_repetitions)
        Response preferred, ``"a"``, ``"b"`` or ``"tie"``, with a shown first and with b shown
        first; None, NaN or empty text where not read. With repetitions: the share of all
        combinations of one judgment from each order that are both right.
    gold : array-like, shape (n_pairs,)
        The right outcome; missing where unknown.
    cluster : array-like, shape (n_pairs,), optional
        The question of each pair.

    Returns
    -------
    Estimate
        ``details``: ``one_order``, the accuracy of single judgments, and ``chance``, what a judge
        who draws a or b at random each time would reach (1/4).

    Raises
    ------
    InputError
        If a verdict is none of the three, or the shapes differ.

    Notes
    -----
    A judge that always prefers the first response is right in one order of every pair, half of all
    judgments, and in both orders of none.

    References
    ----------
    Zheng et al. (2023), Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena (both orders).

    Examples
    --------
    >>> out = pair_accuracy(["a", "a", "b"], ["a", "b", "b"], ["a", "a", "b"])
    >>> round(out.estimate, 3), round(out.details["one_order"], 3)
    (0.667, 0.833)
    """
    where = "pair_accuracy"
    a, b, both = both_orders(first_order, second_order, where)
    right, _ = encode_verdicts(gold, categories=OUTCOMES, where=where)
    if right.shape != (a.shape[0],):
        raise InputError(
            f"{where}: gold must be one outcome for each of the {a.shape[0]} pairs, got shape "
            f"{right.shape}. Align it with the verdicts."
        )
    present = both & (right >= 0)
    counts = [np.sum(v >= 0, axis=1) for v in (a, b)]
    hits = [np.sum(v == right[:, None], axis=1) for v in (a, b)]
    combinations = np.maximum(counts[0] * counts[1], 1)
    share = np.where(present, hits[0] * hits[1] / combinations, 0.0)
    judged = (counts[0] + counts[1])[present].sum()
    one = float((hits[0] + hits[1])[present].sum() / judged) if judged else math.nan
    n_unknown = int(np.sum(both & ~present))
    sample = order_sample(present, a, b)
    if n_unknown:
        missing = {"no verdict in one of the orders": int(np.sum(~both)), "no label": n_unknown}
        sample = Sample(
            n_items=sample.n_items,
            n_replications=sample.n_replications,
            n_replications_max=sample.n_replications_max,
            excluded=missing,
        )
    return estimate_from_sums(
        share_of_sums(),
        np.column_stack([present, share]).astype(float),
        name=where,
        label="Share of pairs judged right in both orders",
        estimator="mean over pairs; right only where both orders are",
        sample=sample,
        reason="no pair has a verdict in both orders and a label",
        where=where,
        **inference,
        scale="logit",
        proportion=True,
        details={"one_order": one, "chance": 0.25},
    )


@with_keywords()
def accuracy_by_slot(
    positions: ArrayLike,
    gold: ArrayLike,
    *,
    item: ArrayLike,
    n_options: int | None = None,
    **inference: Unpack[Permuted],
) -> TestResult:
    r"""Does it matter at which place the right option stands?

    Parameters
    ----------
    positions : array-like, shape (n,)
        Place chosen in each judgment, 0 = shown first; NaN or -1 where not read.
    gold : array-like of int, shape (n,)
        Place at which the right option stood.
    item : array-like, shape (n,)
        The item of each judgment. Items judged with the right option at several places are
        compared with themselves.
    n_options : int, optional
        Options shown; by default one more than the largest place.
    cluster : array-like, shape (n,), optional
        The question of each judgment; by default its item.

    Returns
    -------
    TestResult
        ``effects``: for each place the accuracy where the right option stands there, then the share
        of choices that fall on it, each with its interval. ``estimates``: the same by name.

    Raises
    ------
    InputError
        If lengths differ or a place is out of range.

    Notes
    -----
    :math:`X^2 = \sum_s n_s (a_s - a)^2 / (a (1 - a))` with the accuracies :math:`a_s` by place. p
    exchanges the places of the right option between the judgments of an item; where no item had it
    at several places, between all judgments, noted.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> item, gold = np.repeat(np.arange(40), 3), np.tile(np.arange(3), 40)
    >>> out = accuracy_by_slot(np.zeros(120), gold, item=item, n_permutations=199)
    >>> out.p_value, [round(out.estimates[f"accuracy at place {s}"], 2) for s in (1, 2, 3)]
    (0.005, [1.0, 0.0, 0.0])
    """
    where = "accuracy_by_slot"
    picked, right = np.asarray(positions, dtype=float), np.asarray(gold, dtype=float)
    if picked.ndim != 1 or picked.shape != right.shape or picked.size == 0:
        raise InputError(
            f"{where}: chosen and gold must be one place for each judgment, got shapes "
            f"{picked.shape} and {right.shape}. Give one row a judgment."
        )
    picked = np.where(np.isnan(picked), -1, picked)
    if np.isinf(picked).any() or not np.isfinite(right).all():
        raise InputError(
            f"{where}: places must be whole numbers from 0, and gold may not be missing. Use NaN "
            "where no choice was read."
        )
    k = int(max(picked.max(), right.max()) + 1) if n_options is None else n_options
    whole = np.all(picked % 1 == 0) and np.all(right % 1 == 0)
    if k < 2 or not whole or right.min() < 0 or max(picked.max(), right.max()) >= k:
        raise InputError(
            f"{where}: places must be whole numbers from 0 to n_options - 1 = {k - 1}, "
            "and two or more. Count places from 0."
        )
    items = cluster_codes(item, picked.size, where=where)
    read = picked >= 0
    groups = (
        items
        if inference["cluster"] is None
        else cluster_codes(inference["cluster"], picked.size, where=where)
    )
    lost = int(np.sum(~read))
    slot, choice = right[read].astype(np.int64), picked[read].astype(np.int64)
    items, groups = items[read], groups[read]
    correct = (slot == choice).astype(float)
    sample = Sample(
        n_items=int(np.unique(items).size),
        n_clusters=int(np.unique(groups).size) if inference["cluster"] is not None else None,
        excluded={"judgments without a verdict": lost},
    )
    result = TestResult(
        name=where,
        method="Permutation test of the right option's place",
        statistic=math.nan,
        statistic_name="X-squared",
        p_value=math.nan,
        sample=sample,
        null_hypothesis="the place of the right option does not matter",
        alternative="accuracy differs between places",
        why="judgments of one item are not independent, so places are exchanged within items",
    )
    if not read.any() or np.ptp(correct) == 0:
        return result.replace(
            reason="no judgment was read"
            if not read.any()
            else "every judgment is alike right"
            if correct[0]
            else "no judgment is right"
        )
    everywhere = np.ones(slot.size)
    columns: list[tuple[str, int, NDArray[Any], NDArray[Any]]] = [
        ("accuracy", s, slot == s, correct * (slot == s)) for s in range(k)
    ]
    columns += [("choices", s, everywhere, choice == s) for s in range(k)]
    effects = tuple(
        _share((there, hit), groups, kind, s, sample, inference["level"])
        for kind, s, there, hit in columns
    )
    notes: list[Note] = []
    several = np.bincount(np.unique(np.column_stack([items, slot]), axis=0)[:, 0]).max() > 1
    if not several:
        message = (
            "No item was judged with the right option at several places: places are compared "
            "between items, which may differ in difficulty."
        )
        notes.append(Note(code="between_items", message=message))
    mean = float(correct.mean())

    def statistic(places: Ints, hit: Floats) -> Floats:
        total = np.zeros(places.shape[0])
        for s in range(k):
            here = places == s
            n = here.sum(-1)
            share = (here @ hit) / np.maximum(n, 1)
            total = total + n * (share - mean) ** 2
        return np.asarray(total / (mean * (1 - mean)), dtype=float)

    null = permutation_distribution(
        (slot, correct),
        statistic,
        scheme="labels",
        strata=items if several else None,
        n_permutations=inference["n_permutations"],
        seed=inference["seed"],
        vectorized=True,
    )
    names = [f"accuracy at place {s + 1}" for s in range(k)]
    names += [f"choices of place {s + 1}" for s in range(k)]
    return result.replace(
        statistic=float(null.observed),
        p_value=null.null.p_value,
        reason=null.null.reason,
        effects=effects,
        estimates={n: e.estimate for n, e in zip(names, effects, strict=True)},
        notes=(*notes, *null.notes),
        details={
            "n_permutations": inference["n_permutations"],
            "seed": inference["seed"],
            "expected_share": 1 / k,
        },
    )


def _share(
    data: tuple[Any, Any], groups: Ints, kind: str, s: int, sample: Sample, level: float
) -> Estimate:
    """One place's share with its interval over clusters."""
    labels = {
        "accuracy": f"Accuracy where the right option stands at place {s + 1}",
        "choices": f"Share of choices of place {s + 1}",
    }
    return estimate_from_sums(
        share_of_sums(),
        np.column_stack(data).astype(float),
        name=f"{kind}_place_{s + 1}",
        label=labels[kind],
        estimator="judgments read",
        sample=sample,
        reason="the right option never stood there",
        where="accuracy_by_slot",
        cluster=groups,
        level=level,
        scale="logit",
        proportion=True,
    )
