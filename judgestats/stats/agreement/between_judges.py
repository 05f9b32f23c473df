"""Agreement across judges within each replication, as one number a replication and its summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.errors import InputError
from judgestats.stats.inference.keywords import ON_DEMAND, SumInference, with_keywords
from judgestats.stats.inference.result import Estimate, Sample
from judgestats.stats.inference.sum_statistics import (
    SumStatistic,
    estimate_from_sums,
)
from judgestats.stats.layouts.count_table import counts_of_codes, encode_verdicts


@with_keywords(permutations=ON_DEMAND)
def agreement_across_judges(
    verdicts: ArrayLike,
    *,
    categories: Sequence[Any] | None = None,
    **inference: Unpack[SumInference],
) -> Estimate:
    """Share of pairs of judges that give the same verdict, in each replication and overall.

    Parameters
    ----------
    verdicts : array-like, shape (n_judges, n_items, n_replications)
        None, NaN or empty text where nothing was read. Replication r of one judge is compared
        with replication r of another.
    categories : sequence, optional
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
    codes, named = encode_verdicts(verdicts, categories=categories, where=where)
    if codes.ndim != 3 or codes.shape[0] < 2 or codes.shape[1] == 0:
        raise InputError(
            f"{where}: verdicts must have shape (judges, items, replications) with at least two "
            f"judges, got {codes.shape}. Stack the judges' tables on the first axis."
        )
    # (items, replications, judges): pairs of judges within a cell.
    counts = counts_of_codes(np.moveaxis(codes, 0, 2), len(named))
    judged = counts.sum(axis=-1)
    pairs = judged * (judged - 1) / 2
    same = np.sum(counts * (counts - 1), axis=-1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        per_replication = same.sum(axis=0) / pairs.sum(axis=0)
        per_item = same.sum(axis=1) / pairs.sum(axis=1)
    data = np.column_stack([pairs.sum(axis=1), same.sum(axis=1)])
    n_out = int(np.sum(pairs.sum(axis=1) == 0))
    sample = Sample(
        n_items=codes.shape[1] - n_out,
        n_replications=codes.shape[2],
        excluded={"no two judges gave a verdict in the same replication": n_out},
    )
    return estimate_from_sums(
        SumStatistic(per_item=lambda x: x, combine=lambda s: np.asarray(s[..., 1] / s[..., 0])),
        data,
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
