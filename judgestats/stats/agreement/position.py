"""Verdicts in several orders: repetition within orders, consistency, and position."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Bools, Floats, Ints, check_axes, check_items
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement import kappa as chance_corrected
from judgestats.stats.agreement.human import outcome_codes
from judgestats.stats.agreement.kappa import cohen_kappa
from judgestats.stats.agreement.raw_agreement import (
    disagreements,
    judgments_needed,
    mean_over_items,
    pair_terms,
    pairs_that_agree,
)
from judgestats.stats.designs.count_table import (
    CountTable,
    count_table,
    encode_verdicts,
    rare_category_notes,
)
from judgestats.stats.inference import (
    NULL,
    ON_DEMAND,
    Estimate,
    Interval,
    Sample,
    TestResult,
    cluster_codes,
    distributions,
    permutation_distribution,
    proportion_limits,
)
from judgestats.stats.inference.keywords import Clustered, Permutations, SumInference, with_keywords
from judgestats.stats.inference.result import Estimates, NullReference
from judgestats.stats.inference.sum_statistics import (
    SHARE,
    CountedCodes,
    SumStatistic,
    counts_of_codes,
    estimate_from_sums,
    share_estimate,
)

ONE_ORDER = "no verdict in one of the orders"

Repetition = Literal[
    "fleiss_kappa", "gwet_ac1", "vote_share_reliability", "percent_agreement", "flip_rate"
]  # fmt: skip


class _Coefficient(NamedTuple):
    """What an order adds to a ratio; `one_minus` takes the ratio from 1."""

    label: str
    per_item: Callable[[Floats], Floats]
    ratio: Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]
    one_minus: bool = True
    least: Callable[[Floats, int], float] = lambda _r, _q: 0.0


def _scaled_disagreement(
    label: str, chance: chance_corrected.Chance, least: Callable[[Floats, int], float]
) -> _Coefficient:
    """Disagreement in the unit of that by chance, (1 - p_a) / (1 - p_e)."""

    def ratio(s: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        pe = chance(s[..., 3:] / s[..., :1])
        return 1.0 - s[..., 2] / s[..., 1], 1.0 - pe

    return _Coefficient(label, chance_corrected.agreement_terms, ratio, least=least)


def _mean(label: str, value: Callable[[Floats], Floats]) -> _Coefficient:
    """The mean of a share over the items with two verdicts in an order."""
    per_item = mean_over_items(value).per_item
    return _Coefficient(label, per_item, lambda s: (s[..., 1], s[..., 0]), one_minus=False)


_COEFFICIENTS: dict[str, _Coefficient] = {
    "fleiss_kappa": _scaled_disagreement(
        "Fleiss' kappa",
        chance_corrected.chance_fleiss,
        lambda r, _: chance_corrected.least_fleiss_kappa(r),
    ),
    "gwet_ac1": _scaled_disagreement(
        "Gwet's AC1",
        chance_corrected.chance_gwet,
        lambda r, q: chance_corrected.least_against_even_chance(r, n_categories=q),
    ),
    "vote_share_reliability": _Coefficient(
        "Vote-share reliability",
        pair_terms,
        disagreements,
        least=lambda r, _: chance_corrected.least_vote_share(r, estimator="anova"),
    ),
    "percent_agreement": _mean("Pairs of replications that agree", pairs_that_agree),
    "flip_rate": _mean(
        "Flip rate: two judgments of an item differ", lambda counts: 1.0 - pairs_that_agree(counts)
    ),
}


@with_keywords(permutations=ON_DEMAND)
def repetition_over_orders(
    orders: Sequence[ArrayLike | CountTable],
    *,
    coefficient: Repetition,
    **inference: Unpack[SumInference],
) -> Estimate:
    r"""Agreement of repetitions within each order of presentation, over all orders.

    Parameters
    ----------
    orders : sequence of array-like, shape (n_items, n_replications), or of CountTable
        The verdicts of the same items, one table an order; None, NaN or empty text if nothing was
        read.
    coefficient : str
        The function of that name for one order: ``fleiss_kappa``, ``gwet_ac1``,
        ``vote_share_reliability``, ``percent_agreement`` or ``flip_rate``.

    Returns
    -------
    Estimate
        Of one order it is that function's value.

    Raises
    ------
    InputError
        If the orders are not of the same items, or the coefficient is unknown.

    Notes
    -----
    With observed and expected disagreement :math:`d_o, e_o` in each order,
    :math:`1 - \sum_o d_o / \sum_o e_o`. Means and rates are those over items and orders. Chance
    agreement is computed within each order. A judge that always takes the first position then
    agrees with itself no more than by chance. Verdicts of two orders are never compared; for that
    see `swap_consistency`.

    References
    ----------
    Barlow, Lai & Azen (1991), A comparison of methods for calculating a stratified kappa. Stat Med
    10, 1465-1472 (which weighs strata; here each order counts by what it can disagree).

    Examples
    --------
    >>> ab = [["a", "a"], ["a", "b"], ["b", "b"]]
    >>> ba = [["a", "a"], ["b", "b"], ["b", "b"]]
    >>> round(repetition_over_orders([ab, ba], coefficient="flip_rate").estimate, 4)
    0.1667
    >>> one = repetition_over_orders([ab, ba], coefficient="fleiss_kappa").estimate
    >>> round(one, 4), one == repetition_over_orders([ba, ab], coefficient="fleiss_kappa").estimate
    (0.6471, True)
    """
    where = "repetition_over_orders"
    one_of(where, "coefficient", coefficient, _COEFFICIENTS)
    tables = _tables(orders, where=where)
    own = _COEFFICIENTS[coefficient]
    data = np.concatenate([t.counts for t in tables], axis=1)
    q, n_orders = len(tables[0].categories), len(tables)
    width = own.per_item(np.zeros((1, q))).shape[-1]

    def per_item(counts: NDArray[Any]) -> Floats:
        parts = [own.per_item(counts[..., o * q : (o + 1) * q]) for o in range(n_orders)]
        return np.concatenate(parts, axis=-1)

    def combine(s: NDArray[Any]) -> NDArray[Any]:
        parts = [own.ratio(s[..., o * width : (o + 1) * width]) for o in range(n_orders)]
        ratio = sum(p[0] for p in parts) / sum(p[1] for p in parts)
        return np.asarray(1.0 - ratio if own.one_minus else ratio)

    coded = [t.codes for t in tables if t.codes is not None]
    names = tables[0].categories
    pooled = CountTable(counts=np.sum([t.counts for t in tables], axis=0), categories=names)
    of_orders = [t.sample() for t in tables]
    estimate = estimate_from_sums(
        SumStatistic(per_item=per_item, combine=combine),
        data,
        name=coefficient,
        label=own.label,
        estimator=f"within each of {n_orders} orders, over all",
        sample=replace(
            pooled.sample(),
            n_replications=min(s.n_replications or 0 for s in of_orders),
            n_replications_max=max(s.n_replications_max or 0 for s in of_orders),
        ),
        reason=_reason(tables),
        where=where,
        scale="log_ratio" if own.one_minus else "logit",
        least=own.least(np.concatenate([t.per_item for t in tables]), q),
        codes=np.concatenate(coded, axis=1) if len(coded) == n_orders else None,
        from_codes=CountedCodes(q, columns=tuple(c.shape[1] for c in coded)),
        proportion=not own.one_minus,
        alternative="less" if coefficient == "flip_rate" else "greater",
        notes=rare_category_notes(pooled.counts) if own.one_minus else (),
        **inference,
    )
    if coefficient != "vote_share_reliability":
        return estimate
    return estimate.replace(
        details={f"k_for_{t}": judgments_needed(estimate.estimate, t / 100) for t in (80, 90)}
        | {"rho_1": estimate.estimate, "k": 1.0, "categories": pooled.categories}
    )


def _tables(orders: Sequence[ArrayLike | CountTable], *, where: str) -> list[CountTable]:
    """The orders' tables, all with the same categories."""
    first = [count_table(o, where=where) for o in orders]
    if not first or len({t.n_items for t in first}) > 1:
        found = [t.n_items for t in first]
        raise InputError(f"{where}: orders must be tables of the same items, got {found} items.")
    names = sorted({c for t in first for c in t.categories}, key=str)
    out = []
    for table in first:
        counts = np.zeros((table.n_items, len(names)))
        place = np.array([names.index(c) for c in table.categories], dtype=np.int64)
        counts[:, place] = table.counts
        codes = table.codes
        if codes is not None and place.size:
            codes = np.where(codes < 0, -1, place[np.maximum(codes, 0)])
        out.append(CountTable(counts=counts, categories=tuple(names), codes=codes))
    return out


def _reason(tables: Sequence[CountTable]) -> str:
    """Why the coefficient is undefined, where it is."""
    if not any((t.per_item >= 2).any() for t in tables):
        return "no item has two verdicts in one order"
    if all((t.counts.sum(axis=0) > 0).sum() <= 1 for t in tables):
        return "every verdict is the same within an order (observed agreement is 1)"
    return "some order has no item with two verdicts"


@with_keywords(permutations=ON_DEMAND)
def agreement_across_judges(
    verdicts: ArrayLike,
    **inference: Unpack[SumInference],
) -> Estimate:
    """Share of pairs of judges that give the same verdict, in each replication and overall.

    Parameters
    ----------
    verdicts : array-like, shape (n_judges, n_items, n_replications)
        None, NaN or empty text if nothing was read. Replication r of one judge is compared with
        replication r of another.
    interval : {"jackknife", "linearised", "bca", "percentile", "none"}
        Over items (clusters); replications of one item are not independent evidence.
    n_permutations : int
        If above 0, the null: what the judges agree on has nothing to do with the item. Each
        judge's items are permuted as a whole, with all its replications, so that its own
        consistency and its liking for some verdicts stay.

    Returns
    -------
    Estimate
        The share over all items, replications and pairs. ``details``: ``per_replication`` (share
        of pairs agreeing over all items), its ``five_numbers`` (minimum, quartiles, maximum), and
        the same per item (``per_item``, ``five_numbers_items``).

    Raises
    ------
    InputError
        If the shape is not three-dimensional or there is one judge only.

    Notes
    -----
    Every pair of judges that both gave a verdict on an item in a replication weighs the same.
    Quartiles are numpy's default (R's type 7). Published summaries do not always say whether the
    five numbers are over replications or over items; both are given.

    References
    ----------
    arXiv 2412.12509 prints such a five-number summary over its replications.

    Examples
    --------
    >>> a, b, c = [["A", "A"], ["B", "B"]], [["A", "B"], ["B", "B"]], [["A", "A"], ["C", "B"]]
    >>> out = agreement_across_judges([a, b, c])
    >>> round(out.estimate, 4), out.details["per_replication"].round(4).tolist()
    (0.6667, [0.6667, 0.6667])
    """
    where = "agreement_across_judges"
    codes, named = encode_verdicts(verdicts, where=where)
    check_axes(where, "verdicts", codes, "judges x items x replications", (2, 1))
    # (items, replications, judges): pairs of judges within a cell.
    counts = counts_of_codes(np.moveaxis(codes, 0, 2), len(named))
    judged = counts.sum(axis=-1)
    pairs = judged * (judged - 1) / 2
    same = np.sum(counts * (counts - 1), axis=-1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        per_replication = same.sum(axis=0) / pairs.sum(axis=0)
        per_item = same.sum(axis=1) / pairs.sum(axis=1)
    sample = Sample.from_mask(
        pairs.sum(axis=1) > 0,
        "no two judges gave a verdict in the same replication",
        n_replications=codes.shape[2],
    )
    return estimate_from_sums(
        SHARE,
        np.column_stack([pairs.sum(axis=1), same.sum(axis=1)]),
        name=where,
        label="Pairs of judges that agree",
        estimator="pairs of judges within a replication, each weighs the same",
        sample=sample,
        reason="no two judges gave a verdict on the same item in the same replication",
        where=where,
        scale="logit",
        codes=np.tile(np.arange(codes.shape[1])[:, None], (1, codes.shape[0])),
        from_codes=_paired(codes, len(named)),
        **inference,
        proportion=True,
        details={
            "n_judges": codes.shape[0],
            "per_replication": per_replication,
            "five_numbers": _five_numbers(per_replication),
            "per_item": per_item,
            "five_numbers_items": _five_numbers(per_item),
        },
    )


def _paired(codes: NDArray[Any], q: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Pairs of judges and pairs that agree, from which item each judge's row is taken.

    Only the rows that are taken are compared: a table of every two items would grow with their
    square.
    """
    valid_codes = np.where((codes >= 0) & (codes < q), codes, -1).astype(np.int16)
    couples = list(combinations(range(len(codes)), 2))

    def data(rows: NDArray[Any]) -> NDArray[Any]:
        pairs = np.zeros(rows.shape[:-1])
        same = np.zeros(rows.shape[:-1])
        for i, j in couples:
            one, other = valid_codes[i][rows[..., i]], valid_codes[j][rows[..., j]]
            read = (one >= 0) & (other >= 0)
            pairs += read.sum(axis=-1)
            same += ((one == other) & read).sum(axis=-1)
        return np.stack([pairs, same], axis=-1)

    return data


def _five_numbers(values: Any) -> dict[str, float]:
    """Minimum, quartiles and maximum of the defined values."""
    defined = values[np.isfinite(values)]
    names = ("min", "q1", "median", "q3", "max")
    if defined.size == 0:
        return dict.fromkeys(names, float("nan"))
    return dict(zip(names, map(float, np.quantile(defined, [0, 0.25, 0.5, 0.75, 1])), strict=True))


def clopper_pearson(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Exact interval of a proportion of independent trials.

    Parameters
    ----------
    successes, trials : int
    level : float

    Returns
    -------
    Interval
        (0, 1) for no trials.

    Raises
    ------
    InputError
        If the counts do not fit.

    Notes
    -----
    Quantiles of the beta distribution; never covers less than its level.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404-413.

    Examples
    --------
    >>> clopper_pearson(14, 25).low.__round__(6)
    0.349282
    """
    if not 0 <= successes <= trials:
        raise InputError(f"clopper_pearson: {successes} of {trials} are no counts.")
    low, high = 0.0, 1.0
    if trials:
        low, high = proportion_limits(successes, trials, level=level, method="clopper-pearson")
    return Interval(low=low, high=high, level=level, method="Clopper-Pearson (exact)")


def both_orders(first: ArrayLike, second: ArrayLike, where: str) -> tuple[Ints, Ints, Bools]:
    """Codes (0 = a, 1 = b, 2 = tie) of both orders as (items, repetitions), and who has both.

    Raises
    ------
    InputError
        If a verdict is not one of the three, or the items differ.
    """
    a, b = (outcome_codes(v, where) for v in (first, second))
    a, b = (v[:, None] if v.ndim == 1 else v for v in (a, b))
    check_items(where, least=1, ndim=2, first_order=a, second_order=b)
    return a, b, np.any(a >= 0, axis=1) & np.any(b >= 0, axis=1)


def order_sample(both: Bools, a: Ints, b: Ints, why: str | Mapping[str, int] = ONE_ORDER) -> Sample:
    """Items with verdicts in both orders, repetitions and exclusions."""
    width = (a.shape[1], b.shape[1])
    return Sample.from_mask(both, why, n_replications=min(width), n_replications_max=max(width))


def pair_agreement(x: Floats, y: Floats) -> Floats:
    """Share of pairs (one judgment of each order) that agree, from counts (..., items, 3)."""
    return np.asarray(np.sum(x * y, axis=-1) / (x.sum(axis=-1) * y.sum(axis=-1)))


@with_keywords()
def swap_consistency(
    first_order: ArrayLike, second_order: ArrayLike, **inference: Unpack[Clustered]
) -> Estimate:
    """Share of items on which the judge prefers the same response in both orders.

    Parameters
    ----------
    first_order, second_order : array-like, shape (n_items,) or (n_items, n_repetitions)
        Response preferred, ``"a"``, ``"b"`` or ``"tie"``, with a shown first and with b shown
        first; None, NaN or empty text where not read. With repetitions: the share of all pairs of
        one judgment from each order, averaged over items. A tie in both orders is consistency.

    Returns
    -------
    Estimate
        ``details``: Cohen's kappa of the two orders (for one repetition), share of ties.

    Raises
    ------
    InputError
        If a verdict is not one of the three, or the shapes differ.

    Notes
    -----
    The interval is Clopper-Pearson's for independent items judged once in each order, else a
    jackknife over clusters.

    Inconsistency mixes a preference for a position with plain noise: `position_and_noise` takes
    them apart from repeated judgments.

    References
    ----------
    STATISTICS section 8 of the project's design.

    Examples
    --------
    >>> out = swap_consistency(["a", "a", "b", "tie"], ["a", "b", "b", "tie"])
    >>> out.estimate, out.interval.method
    (0.75, 'Clopper-Pearson (exact)')
    """
    where = "swap_consistency"
    a, b, both = both_orders(first_order, second_order, where)
    n_ties = int(np.sum(a == 2) + np.sum(b == 2))
    n_read = int(np.sum(a >= 0) + np.sum(b >= 0))
    once = a.shape[1] == b.shape[1] == 1
    exact = once and inference["cluster"] is None
    with np.errstate(divide="ignore", invalid="ignore"):
        same = pair_agreement(counts_of_codes(a, 3), counts_of_codes(b, 3))
    same = np.where(both, same, 0.0)
    details: dict[str, Any] = {"tie_share": n_ties / n_read if n_read else math.nan}
    if once:
        kappa = cohen_kappa(
            np.where(both, a[:, 0], np.nan), np.where(both, b[:, 0], np.nan), interval="none"
        )
        details |= {"kappa": kappa.estimate, "consistent": int(same.sum())}
    result = share_estimate(
        both,
        same,
        name=where,
        label="Same response preferred in both orders",
        estimator="pairs of one judgment from each order; a tie is a verdict",
        sample=order_sample(both, a, b),
        reason="no item has a verdict in both orders",
        interval="none" if exact else "jackknife",
        **inference,
        details=details,
    )
    if exact and math.isfinite(result.estimate):
        limits = clopper_pearson(int(same.sum()), int(both.sum()), level=inference["level"])
        result = result.replace(interval=limits)
    return result


def _parts(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Disagreement within orders and between them, from counts (..., items, 3)."""
    within = ((1.0 - pairs_that_agree(a)) + (1.0 - pairs_that_agree(b))) / 2
    return within, 1.0 - pair_agreement(a, b)


@with_keywords(permutations=NULL)
def position_and_noise(
    first_order: ArrayLike, second_order: ArrayLike, **inference: Unpack[SumInference]
) -> Estimates:
    r"""Take the effect of position apart from repetition noise, by repeating both orders.

    Parameters
    ----------
    first_order, second_order : array-like, shape (n_items, n_repetitions)
        Response preferred, ``"a"``, ``"b"`` or ``"tie"``, with a shown first and with b shown
        first; at least two repetitions read in each order (other items are left out, counted).
    n_permutations : int
        Permutations of the null of ``position_effect``: an item's verdicts exchanged between its
        orders.

    Returns
    -------
    Estimates
        Terms ``repetition_noise`` and ``order_disagreement``, the chance that two judgments in the
        *same* and in *opposite* orders differ. ``position_effect`` is their difference, and
        ``noise_share`` their ratio: the part that repeat noise explains.

    Raises
    ------
    InputError
        If a verdict is not one of the three or the shapes do not fit.

    Notes
    -----
    With verdict probabilities :math:`\pi_1, \pi_2` in the two orders, two judgments in opposite
    orders differ with probability :math:`1 - \pi_1 \pi_2`, two in the same order with
    :math:`1 - (|\pi_1|^2 + |\pi_2|^2) / 2`; the difference is :math:`|\pi_1 - \pi_2|^2 / 2`,
    which is 0 when order does not matter. All three are estimated without bias from pairs of
    distinct judgments, so ``position_effect`` can come out slightly negative.

    References
    ----------
    STATISTICS section 8 of the project's design.

    Examples
    --------
    >>> first = [["a", "a", "a"], ["a", "b", "a"], ["b", "b", "b"]]
    >>> second = [["b", "b", "b"], ["a", "b", "b"], ["b", "b", "b"]]
    >>> out = position_and_noise(first, second, n_permutations=99, interval="none")
    >>> [round(e.estimate, 4) for e in out.terms[:3]]
    [0.2222, 0.5185, 0.2963]
    """
    where = "position_and_noise"
    n_permutations = inference.pop("n_permutations")
    a, b, _ = both_orders(first_order, second_order, where)
    used = (np.sum(a >= 0, axis=1) >= 2) & (np.sum(b >= 0, axis=1) >= 2)
    ca, cb = counts_of_codes(a, 3), counts_of_codes(b, 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        noise, between = (np.where(used, v, 0.0) for v in _parts(ca, cb))
    sample = order_sample(used, a, b, "fewer than two verdicts in one of the orders")
    none = "the orders never disagree" if used.any() else "no item has two verdicts in each order"
    data = np.column_stack([used, noise, between]).astype(float)

    def estimate(name: str, label: str, combine: Any, *, signed: bool = False) -> Estimate:
        return estimate_from_sums(
            SumStatistic(per_item=lambda x: x, combine=lambda s: np.asarray(combine(s))),
            data,
            name=name,
            label=label,
            estimator="pairs of distinct judgments, items weigh equally",
            sample=sample,
            reason=none,
            where=where,
            scale="identity" if signed else "logit",
            proportion=not signed,
            **inference,
        )

    noise_share = estimate(
        "noise_share",
        "Noise as a share of the disagreement between orders",
        lambda s: s[..., 1] / s[..., 2],
        signed=True,
    )
    position = estimate(
        "position_effect",
        "Disagreement that order adds",
        lambda s: (s[..., 2] - s[..., 1]) / s[..., 0],
        signed=True,
    )
    if n_permutations and math.isfinite(position.estimate):
        null = _position_null(
            a[used], b[used], n_permutations=n_permutations, seed=inference["seed"]
        )
        position = position.replace(null=null)
    repetition = estimate(
        "repetition_noise",
        "Two judgments in the same order differ",
        lambda s: s[..., 1] / s[..., 0],
    )
    opposite = estimate(
        "order_disagreement",
        "Two judgments in opposite orders differ",
        lambda s: s[..., 2] / s[..., 0],
    )
    return Estimates(
        name=where,
        label="Position apart from repetition noise",
        terms=(repetition, opposite, position, noise_share),
        sample=position.sample,
    )


def _position_null(a: Ints, b: Ints, **inference: Unpack[Permutations]) -> NullReference:
    """Null of the position effect: an item's verdicts exchanged between its orders."""
    split = a.shape[1]

    def statistic(x: Ints) -> Floats:
        ca, cb = counts_of_codes(x[..., :split], 3), counts_of_codes(x[..., split:], 3)
        noise, between = _parts(ca, cb)
        gap = between - noise
        # Missing verdicts can leave an order with fewer than two: such items drop out.
        return np.asarray(np.nanmean(np.where(np.isfinite(gap), gap, np.nan), axis=-1))

    return permutation_distribution(
        np.hstack([a, b]),
        statistic,
        scheme="positions",
        **inference,
        vectorized=True,
    ).null


@with_keywords()
def first_position_preference(
    first_order: ArrayLike, second_order: ArrayLike, **inference: Unpack[Clustered]
) -> TestResult:
    r"""Does the judge lean to the response shown first, or to the one shown second?

    Parameters
    ----------
    first_order, second_order : array-like, shape (n_items,) or (n_items, n_repetitions)
        Response preferred, ``"a"``, ``"b"`` or ``"tie"``, with a shown first and with b shown
        first; None, NaN or empty text where not read.
    cluster : array-like, shape (n_items,), optional
        Cluster of each item: clusters are then the unit of the exact test.

    Returns
    -------
    TestResult
        Exact sign test. ``effects``: the share leaning to the first position among units that
        lean at all (Clopper-Pearson), and the share of all decided verdicts for the response shown
        first (jackknife over clusters). ``details``: the counts behind them.

    Raises
    ------
    InputError
        If a verdict is not one of the three or the shapes differ.

    Notes
    -----
    A unit's lean is (share of its verdicts for the first position) - (share for the second), each
    order weighing the same. Without clusters, repetitions and ties this is McNemar's exact test on
    the items whose verdict follows the order. Only items with verdicts in both orders enter, so
    that the quality of the responses cancels.

    References
    ----------
    Clopper & Pearson (1934); McNemar (1947).

    Examples
    --------
    >>> first = ["a"] * 12 + ["b"] * 3 + ["a"] * 5
    >>> second = ["b"] * 12 + ["a"] * 3 + ["a"] * 5
    >>> out = first_position_preference(first, second)
    >>> round(out.p_value, 4), out.effect.estimate, round(out.effects[1].estimate, 4)
    (0.0352, 0.8, 0.725)
    """
    where = "first_position_preference"
    a, b, both = both_orders(first_order, second_order, where)
    groups = cluster_codes(inference["cluster"], a.shape[0], where=where)
    # Counts by place (first, second, tie): in the second order, b stands first.
    ca, cb = counts_of_codes(a, 3), counts_of_codes(b, 3)[:, [1, 0, 2]]
    with np.errstate(divide="ignore", invalid="ignore"):
        places = (ca / ca.sum(axis=1, keepdims=True) + cb / cb.sum(axis=1, keepdims=True)) / 2
    places = np.where(both[:, None], places, 0.0)
    lean = np.zeros(int(groups.max()) + 1)  # size: clusters
    np.add.at(lean, groups, places[:, 0] - places[:, 1])
    first = int(np.sum(lean > 1e-12))
    second = int(np.sum(lean < -1e-12))
    units = np.unique(groups[both]).size
    sample = order_sample(both, a, b)
    if inference["cluster"] is not None:
        sample = replace(sample, n_clusters=int(units))
    unit = "item" if inference["cluster"] is None else "cluster"
    share = share_estimate(
        places[:, 0] + places[:, 1],
        places[:, 0],
        name="first_position_share",
        label="Share of decided verdicts for the response shown first",
        estimator="items with both orders, orders weigh equally, ties left out",
        sample=sample,
        reason="no decided verdict",
        where=where,
        **inference,
    )
    leaning = first + second
    conditional = Estimate(
        name="first_position_preference",
        label=f"Share leaning to the first position among {unit}s that lean",
        estimate=first / leaning if leaning else math.nan,
        estimator=f"{unit}s whose verdicts follow the order",
        interval=clopper_pearson(first, leaning, level=inference["level"]) if leaning else None,
        sample=replace(sample, n_items=leaning),
        reason="" if leaning else f"no {unit}'s verdict follows the order",
    )
    result = TestResult(
        name=where,
        method=f"Exact sign test of position preference ({unit}s as units)",
        statistic=float(first),
        statistic_name=f"{unit}s leaning first",
        sample=sample,
        null_hypothesis="the first and the second position are preferred equally often",
        alternative="one position is preferred",
        why="both orders of the same pair are compared, so the quality of the responses cancels",
        effects=(conditional, share),
        details={
            "leaning_first": first,
            "leaning_second": second,
            "no_lean": int(units) - leaning,
            "tie_share": float(places[both, 2].mean()) if both.any() else math.nan,
        },
    )
    if not both.any():
        return result.replace(statistic=math.nan, reason="no item has a verdict in both orders")
    p = distributions.sign_test(first, leaning - first)
    return result.replace(p_value=p)
