"""Agreement across orders of presentation and across judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, check_axes
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement import kappa as chance_corrected
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
from judgestats.stats.inference import sum_statistics
from judgestats.stats.inference.estimate import Estimate, Sample
from judgestats.stats.inference.keywords import ON_DEMAND, SumInference, with_keywords

Repetition = Literal[
    "fleiss_kappa", "gwet_ac1", "vote_share_reliability", "percent_agreement", "flip_rate"
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Coefficient:
    """What an order adds to a ratio; `one_minus` takes the ratio from 1."""

    label: str
    per_item: Callable[[Floats], Floats]
    ratio: Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]
    one_minus: bool
    least: Callable[[Floats, int], float] = lambda _r, _q: 0.0


def _scaled_disagreement(
    label: str, chance: chance_corrected.Chance, least: Callable[[Floats, int], float]
) -> _Coefficient:
    """Disagreement in the unit of that by chance, (1 - p_a) / (1 - p_e)."""

    def ratio(s: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        pe = chance(s[..., 3:] / s[..., :1])
        return 1.0 - s[..., 2] / s[..., 1], 1.0 - pe

    return _Coefficient(
        label=label,
        per_item=chance_corrected.agreement_terms,
        ratio=ratio,
        one_minus=True,
        least=least,
    )


def _mean(label: str, value: Callable[[Floats], Floats]) -> _Coefficient:
    """The mean of a share over the items with two verdicts in an order."""
    return _Coefficient(
        label=label,
        per_item=mean_over_items(value, least=2).per_item,
        ratio=lambda s: (s[..., 1], s[..., 0]),
        one_minus=False,
    )


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
        label="Vote-share reliability",
        per_item=pair_terms,
        ratio=disagreements,
        one_minus=True,
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
    pooled = CountTable(
        counts=np.sum([t.counts for t in tables], axis=0), categories=tables[0].categories
    )
    of_orders = [t.sample() for t in tables]
    estimate = sum_statistics.estimate_from_sums(
        sum_statistics.SumStatistic(per_item=per_item, combine=combine),
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
        from_codes=sum_statistics.CountedCodes(q, columns=tuple(c.shape[1] for c in coded)),
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
        raise InputError(
            f"{where}: orders must be tables of the same items, got "
            f"{[t.n_items for t in first]} items. Give one row per item in every order."
        )
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
        return (
            "every verdict is the same within an order: chance agreement is 1, so agreement beyond "
            "chance is undefined (raw agreement is 1)"
        )
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
    counts = sum_statistics.counts_of_codes(np.moveaxis(codes, 0, 2), len(named))
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
    return sum_statistics.estimate_from_sums(
        sum_statistics.SHARE,
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
