"""Accuracy by position of the options, and of orders."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints, check_axes, check_labels, check_lengths
from judgestats.errors import InputError
from judgestats.stats.agreement.human import outcome_codes
from judgestats.stats.agreement.position import ONE_ORDER, both_orders, order_sample
from judgestats.stats.designs.count_table import encode_verdicts
from judgestats.stats.inference import cluster_codes, permutation_distribution
from judgestats.stats.inference.keywords import Clustered, Permuted, SumResampled, with_keywords
from judgestats.stats.inference.result import Estimate, Note, Sample, TestResult
from judgestats.stats.inference.sum_statistics import share_estimate


@with_keywords()
def position_test(
    positions: ArrayLike,
    *,
    n_options: int | None = None,
    orders: ArrayLike | None = None,
    **inference: Unpack[Permuted],
) -> TestResult:
    r"""Test whether some positions are chosen more often than their options explain.

    Parameters
    ----------
    positions : array-like, shape (n_items, n_orders)
        Position chosen (0 = shown first) in each order; NaN or -1 where not read.
    n_options : int, optional
        Options shown, the same for all items; by default the number of orders.
    orders : array-like of int, shape (n_items, n_orders, n_options), optional
        The option at each position; by default the cyclic rotations: in order s position p shows
        option (p + s) mod N.
    cluster : array-like, shape (n_items,), optional
        Cluster of each item; items of one cluster share their permutation, intervals resample
        clusters.
    level : float
        Confidence level of the shares' intervals.

    Returns
    -------
    TestResult
        ``effects``: the share of each position with its interval. ``estimates``: the shares.

    Raises
    ------
    InputError
        If positions and orders do not fit.

    Notes
    -----
    The statistic is Pearson's :math:`X^2 = \sum_p (O_p - M/N)^2 / (M/N)`. Its chi-squared
    p-value would treat the orders of one item as independent; here the *options* chosen for an item
    are exchanged between its orders, which leaves a judge without position preference unchanged
    in distribution, and the positions follow.

    References
    ----------
    STATISTICS sections 3 and 8 of the project's design.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> follows_option = (rng.integers(3, size=(30, 1)) - np.arange(3)) % 3
    >>> always_first = np.zeros((30, 3))
    >>> p = [position_test(x, n_permutations=199).p_value for x in (follows_option, always_first)]
    >>> p
    [1.0, 0.005]
    """
    where = "position_test"
    values = np.asarray(positions, dtype=float)
    check_axes(where, "positions", values, "items x orders", (1, 2))
    n_items, n_orders = values.shape
    q = n_orders if n_options is None else int(n_options)
    chosen = np.nan_to_num(values, nan=-1, posinf=-2, neginf=-2).astype(np.int64)
    if q < 2 or np.any(chosen >= q) or np.any(chosen < -1):
        raise InputError(
            f"{where}: positions must be whole numbers from 0 to n_options - 1 = {q - 1}, NaN "
            "where unparsed. Pass n_options=."
        )
    # Without orders column s is rotation s: it shows option (p + s) mod N at position p.
    cyclic = (np.arange(q) + np.arange(n_orders)[:, None]) % q
    given: ArrayLike = np.broadcast_to(cyclic, (n_items, n_orders, q)) if orders is None else orders
    shown = np.asarray(given, dtype=np.int64)
    if shown.shape != (n_items, n_orders, q) or np.any(np.sort(shown, axis=-1) != np.arange(q)):
        raise InputError(
            f"{where}: orders must give, for each item and order, the options 0 to {q - 1} by "
            f"position, got shape {shown.shape}."
        )
    place = np.argsort(shown, axis=-1)  # position of each option
    options = np.where(
        chosen >= 0, np.take_along_axis(shown, np.maximum(chosen, 0)[..., None], -1)[..., 0], -1
    )

    def counts(opts: Ints) -> Floats:
        """Chosen positions counted: (..., n_items, q) for options (..., n_items, n_orders)."""
        index = np.broadcast_to(place, (*opts.shape, q))
        at = np.take_along_axis(index, np.maximum(opts, 0)[..., None], -1)[..., 0]
        at = np.where(opts >= 0, at, -1)
        return np.stack([np.sum(at == p, axis=-1) for p in range(q)], axis=-1).astype(float)

    def statistic(opts: Ints) -> Floats:
        total = counts(opts).sum(axis=-2)
        expected = total.sum(axis=-1, keepdims=True) / q
        return np.asarray(np.sum((total - expected) ** 2 / expected, axis=-1))

    per_item = counts(options)
    m = float(per_item.sum())
    read = per_item.sum(axis=1) > 0
    groups = cluster_codes(inference["cluster"], n_items, where=where)
    n_unread = int(np.sum(options < 0))
    clusters = None if inference["cluster"] is None else groups
    sample = Sample.from_mask(
        read, "no order was read", clusters, n_replications=n_orders, repeated="order"
    )
    result = TestResult(
        name=where,
        method="Permutation test of the chosen positions (items as clusters)",
        statistic_name="X-squared",
        sample=sample,
        null_hypothesis="the order in which options are shown does not matter",
        alternative="some positions are chosen more often",
        why="verdicts on one item in several orders are not independent, so whole items are the "
        "unit and chosen options are exchanged between the orders of an item",
    )
    if m == 0:
        return result.replace(reason="no verdict was read")
    message = (
        f"{n_unread} of {n_items * n_orders} orders {'was' if n_unread == 1 else 'were'} not read: "
        "an option missing in some positions can imitate a position effect."
    )
    notes = Note.where(n_unread, "unread_orders", message)
    null = permutation_distribution(
        options,
        statistic,
        scheme="positions",
        cluster=inference["cluster"],
        n_permutations=inference["n_permutations"],
        seed=inference["seed"],
        vectorized=True,
    )
    effects = tuple(
        share_estimate(
            per_item.sum(axis=1),
            per_item[:, p],
            name=f"position_{p + 1}_share",
            label=f"Share of verdicts for position {p + 1}",
            estimator="verdicts read, cluster jackknife",
            sample=sample,
            reason="no verdict was read",
            where=where,
            cluster=inference["cluster"],
            level=inference["level"],
        )
        for p in range(q)
    )
    return result.replace(
        statistic=float(null.observed),
        p_value=null.null.p_value,
        effects=effects,
        estimates={f"position {p + 1}": e.estimate for p, e in enumerate(effects)},
        notes=(*notes, *null.notes),
        details={
            "expected_share": 1 / q,
            "null_mean": null.null.mean,
            "null_q95": null.null.q95,
            "n_permutations": inference["n_permutations"],
            "seed": inference["seed"],
        },
    )


@with_keywords()
def option_win_rate(
    verdicts: ArrayLike,
    *,
    option: Any,
    n_options: int | None = None,
    **inference: Unpack[SumResampled],
) -> Estimate:
    """How often one option (a random extra answer, say) is chosen.

    Parameters
    ----------
    verdicts : array-like, shape (n_items,) or (n_items, n_orders)
        The option chosen (not its position); None, NaN or empty text where not read.
    option : object
        The option whose wins are counted; an array of shape (n_items,) where it differs by item.
    n_options : int, optional
        Options shown: its inverse is reported as the chance reference.

    Returns
    -------
    Estimate
        Share of the verdicts read. ``details``: wins, verdicts, chance.

    Raises
    ------
    InputError
        If the shape does not fit.

    Notes
    -----
    A ratio of sums over clusters; verdicts of one item are not assumed independent.

    References
    ----------
    STATISTICS section 8 of the project's design.

    Examples
    --------
    >>> out = option_win_rate([["A", "A"], ["X", "B"], ["B", None]], option="X", n_options=3)
    >>> out.estimate, round(out.details["chance"], 4)
    (0.2, 0.3333)
    """
    where = "option_win_rate"
    codes, named = encode_verdicts(verdicts, where=where)
    if codes.ndim == 1:
        codes = codes[:, None]
    check_axes(where, "options", codes, "items x orders", (1,))
    if isinstance(option, (np.ndarray, list, tuple)):
        if len(option) != codes.shape[0]:
            raise InputError(
                f"{where}: option must be one value or one per item ({codes.shape[0]}), got "
                f"{len(option)}."
            )
        wanted = np.array([named.index(o) if o in named else -2 for o in option])[:, None]
    else:
        wanted = np.array([[named.index(option) if option in named else -2]])
    data = np.column_stack([np.sum(codes >= 0, axis=1), np.sum(codes == wanted, axis=1)])
    n_read = data[data[:, 0] > 0, 0]
    n_out = int(np.sum(data[:, 0] == 0))
    return share_estimate(
        data[:, 0],
        data[:, 1],
        name=where,
        label="Share of verdicts for the option",
        estimator="verdicts read",
        sample=Sample(
            n_items=codes.shape[0] - n_out,
            n_replications=int(n_read.min()) if n_read.size else 0,
            n_replications_max=int(n_read.max()) if n_read.size else 0,
            excluded={"no verdict was read": n_out},
            repeated="verdict",
        ),
        reason="no verdict was read",
        **inference,
        details={
            "wins": int(data[:, 1].sum()),
            "verdicts": int(data[:, 0].sum()),
            "chance": 1 / n_options if n_options else math.nan,
        },
    )


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
        If a verdict is not one of the three, or the shapes differ.

    Notes
    -----
    A judge that always prefers the first response is correct in one order of every pair, which is
    half of all judgments. It is correct in both orders of no pair.

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
    right = outcome_codes(gold, where)
    check_labels(where, "verdicts", a, right)
    present = both & (right >= 0)
    counts = [np.sum(v >= 0, axis=1) for v in (a, b)]
    hits = [np.sum(v == right[:, None], axis=1) for v in (a, b)]
    combinations = np.maximum(counts[0] * counts[1], 1)
    share = np.where(present, hits[0] * hits[1] / combinations, 0.0)
    judged = (counts[0] + counts[1])[present].sum()
    one = float((hits[0] + hits[1])[present].sum() / judged) if judged else math.nan
    missing = {ONE_ORDER: int(np.sum(~both)), "no label": int(np.sum(both & ~present))}
    return share_estimate(
        present,
        share,
        name=where,
        label="Share of pairs judged right in both orders",
        estimator="mean over pairs; right only where both orders are",
        sample=order_sample(present, a, b, missing),
        reason="no pair has a verdict in both orders and a label",
        **inference,
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
    r"""Test whether accuracy depends on the position of the correct option.

    Parameters
    ----------
    positions : array-like, shape (n,)
        Position chosen in each judgment, 0 = shown first; NaN or -1 where not read.
    gold : array-like of int, shape (n,)
        Position of the correct option.
    item : array-like, shape (n,)
        The item of each judgment. Items judged with the correct option at several positions are
        compared with themselves.
    n_options : int, optional
        Options shown; by default one more than the largest position.
    cluster : array-like, shape (n,), optional
        The question of each judgment; by default its item.

    Returns
    -------
    TestResult
        ``effects``: accuracy by position of the correct option, then the share of choices of each
        position, all with intervals. ``estimates``: the same by name.

    Raises
    ------
    InputError
        If lengths differ or a position is out of range.

    Notes
    -----
    :math:`X^2 = \sum_s n_s (a_s - a)^2 / (a (1 - a))` with the accuracies :math:`a_s` by position.
    The permutation exchanges the positions of the correct option between the judgments of an item.
    If no item had it at several positions, it exchanges them between all judgments, with a note.

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
    check_lengths(where, least=1, chosen=picked, gold=right)
    picked = np.nan_to_num(picked, nan=-1, posinf=-0.5, neginf=-0.5)  # no place is a half
    right = np.nan_to_num(right, nan=-0.5, posinf=-0.5, neginf=-0.5)
    k = int(max(picked.max(), right.max()) + 1) if n_options is None else n_options
    read = picked >= 0
    whole = np.all(picked % 1 == 0) and np.all(right % 1 == 0)
    if not (k >= 2 and whole and right.min() >= 0 and max(picked.max(), right.max()) < k):
        raise InputError(
            f"{where}: places must be whole numbers from 0 to n_options - 1 = {k - 1}, and two or "
            "more; NaN where no choice was read, gold never missing."
        )
    items = cluster_codes(item, picked.size, where=where)
    groups = items
    if inference["cluster"] is not None:
        groups = cluster_codes(inference["cluster"], picked.size, where=where)
    slot, choice = right[read].astype(np.int64), picked[read].astype(np.int64)
    items, groups = items[read], groups[read]
    correct = (slot == choice).astype(float)
    sample = Sample(
        n_items=int(np.unique(items).size),
        n_clusters=int(np.unique(groups).size) if inference["cluster"] is not None else None,
        excluded={"judgments without a verdict": int(np.sum(~read))},
    )
    result = TestResult(
        name=where,
        method="Permutation test of the correct option's position",
        statistic_name="X-squared",
        sample=sample,
        null_hypothesis="the position of the correct option does not matter",
        alternative="accuracy differs between positions",
        why="judgments of one item are not independent, so positions are exchanged within items",
    )
    if not read.any() or np.ptp(correct) == 0:
        alike = "every judgment is correct" if correct.any() else "no judgment is correct"
        return result.replace(reason=alike if read.any() else "no judgment was read")
    everywhere = np.ones(slot.size)
    columns: list[tuple[str, str, int, NDArray[Any], NDArray[Any]]] = [
        ("accuracy", "Accuracy with the correct option at", s, slot == s,
         correct * (slot == s)) for s in range(k)
    ]  # fmt: skip
    columns += [("choices", "Share of choices of", s, everywhere, choice == s) for s in range(k)]
    effects = tuple(
        share_estimate(
            there,
            hit,
            name=f"{kind}_place_{s + 1}",
            label=f"{words} place {s + 1}",
            estimator="judgments read",
            sample=sample,
            reason="the correct option was never at this position",
            where=where,
            cluster=groups,
            level=inference["level"],
        )
        for kind, words, s, there, hit in columns
    )
    several = np.bincount(np.unique(np.column_stack([items, slot]), axis=0)[:, 0]).max() > 1
    message = (
        "No item was judged with the correct option at several positions, so these are compared "
        "between items, which may differ in difficulty."
    )
    notes = Note.where(not several, "between_items", message)
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
    names = [f"{words} place {s + 1}" for words in ("accuracy at", "choices of") for s in range(k)]
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
