"""Page's test of ordered conditions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import one_of
from judgestats.results.numbers import count_noun
from judgestats.stats.comparison.friedman import cluster_totals
from judgestats.stats.comparison.paired import normal_p, tail_p
from judgestats.stats.designs.blocks import read_blocks
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_bootstrap
from judgestats.stats.inference.estimate import Estimate, Note, Sample
from judgestats.stats.inference.keywords import Permuted, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.rank_distributions import MAX_WORK, level_ranks, page_null
from judgestats.stats.inference.result import TestResult

_SIDE = {"two-sided": "falls or rises", "greater": "rises"}


def _page_exact_is_cheap(n: int, k: int) -> bool:
    """Whether Page's exact distribution takes about a second at most."""
    length = n * k * (k + 1) * (2 * k + 1) / 3
    rows = min(n, 40) * 2.0**k * k * (k + 1) * (2 * k + 1) / 3
    return k <= 11 and n <= 50 and length**2 + rows < MAX_WORK / 4


@with_keywords()
def page_trend_test(
    scores: object,
    *,
    alternative: Literal["greater", "two-sided"] = "greater",
    names: Sequence[Any] | None = None,
    **inference: Unpack[Permuted],
) -> TestResult:
    r"""Page's test: do the scores rise with ordered conditions, within items?

    Parameters
    ----------
    scores : array-like of shape (N, k), or DataFrame
        Items in rows, conditions in columns, from the least to the greatest. Items with a missing
        score are left out and counted.
    alternative : {"greater", "two-sided"}
        ``greater``: scores rise along the order.
    names : sequence, optional
        Labels of the conditions of an array.
    cluster : array-like of shape (N,), optional
        Cluster of each item: p by permuting conditions jointly for the items of a cluster.

    Returns
    -------
    TestResult
        Effect: the mean Spearman correlation of scores with the order over items.

    Raises
    ------
    InputError
        If the data cannot be interpreted as blocks.

    Notes
    -----
    :math:`L = \sum_j j R_j`, mean :math:`N k (k+1)^2/4`, variance
    :math:`\sum_i \sum_j (j-\bar j)^2 \sum_j (r_{ij}-\bar r)^2/(k-1)`. The p-value is exact, given
    the ties, where that is cheap (up to 11 conditions and 50 items), else normal. PMCMRplus
    subtracts .5 from L and ignores ties in the variance; DescTools' exact p is that of untied
    ranks. scipy's ``page_trend_test`` has no tie-aware exact p.

    References
    ----------
    Page (1963), JASA 58, 216-230.

    Examples
    --------
    >>> scores = [[1, 2, 4], [2, 3, 3], [1, 3, 2], [2, 4, 5]]
    >>> result = page_trend_test(scores, names=[0, 0.5, 1])
    >>> result.statistic, round(result.p_value, 6), round(result.effect.estimate, 4)
    (54.5, 0.010802, 0.8415)
    """
    where = "page_trend_test"
    one_of(where, "alternative", alternative, _SIDE)
    blocks = read_blocks(
        scores, where=where, names=names, cluster=inference["cluster"], min_conditions=3
    )
    n, k = blocks.scores.shape
    ranks = level_ranks(blocks.scores, axis=1)
    reason = "there are no complete blocks" if n == 0 else ""
    if n and np.ptp(ranks) == 0:
        reason = "all scores are tied within every block, so there is no order to compare"
    steps = np.arange(1, k + 1)
    slope = steps - steps.mean()
    statistic, p, z = math.nan, math.nan, math.nan
    method = "Page's trend test"
    details: dict[str, Any] = {}
    if not reason:
        statistic = float((ranks * steps).sum())
        per_block = ranks @ slope
        variance = float(np.sum(slope**2) * np.sum((ranks - (k + 1) / 2) ** 2) / (k - 1))
        z = float(per_block.sum()) / math.sqrt(variance)
        if blocks.cluster is not None:
            null = permutation_distribution(
                cluster_totals(ranks, blocks.cluster),
                lambda x: x.sum(axis=1) @ slope,
                scheme="cells",
                n_permutations=inference["n_permutations"],
                seed=inference["seed"],
                alternative=alternative,
                vectorized=True,
            )
            p = null.null.p_value
            method += f" ({inference['n_permutations']} permutations within clusters)"
            details = {
                "n_permutations": inference["n_permutations"],
                "seed": inference["seed"],
                "p_floor": null.null.p_smallest,
            }
        elif _page_exact_is_cheap(n, k):
            distribution = page_null(np.rint(2 * ranks).astype(np.int64))
            observed, centre = round(2 * statistic), n * k * (k + 1) ** 2 / 2
            p = tail_p(distribution, observed, centre)
            if alternative == "greater":
                p = float(min(1.0, distribution[observed:].sum()))
            method = "Exact " + method
        else:
            p = normal_p(z) if alternative == "two-sided" else float(distributions.norm.sf(z))
            method += " (normal)"
    means = ranks.mean(axis=0).tolist() if n else []
    return TestResult(
        name=where,
        method=method,
        statistic=statistic,
        statistic_name="L",
        p_value=p,
        sample=blocks.sample,
        null_hypothesis="the scores do not depend on the order of the conditions",
        alternative=f"the score {_SIDE[alternative]} along {' < '.join(blocks.conditions)}",
        why=(
            "Page's test was used because the conditions are ordered and every item is scored "
            "under each of them."
        ),
        effects=(
            _mean_rank_trend(
                ranks,
                slope,
                blocks.cluster,
                blocks.sample,
                inference["level"],
                inference["seed"],
                reason,
            ),
        ),
        estimates=MappingProxyType(
            {f"mean rank {c}": m for c, m in zip(blocks.conditions, means, strict=bool(n))}
        ),
        data_name=blocks.data_name,
        notes=blocks.notes,
        reason=reason,
        details=MappingProxyType({"z": z, **details}),
    )


def _mean_rank_trend(
    ranks: Floats,
    slope: Floats,
    cluster: Ints | None,
    sample: Sample,
    level: float,
    seed: int | None,
    reason: str,
) -> Estimate:
    """Mean over items of the Spearman correlation with the order; tied-out items are left out."""
    notes: list[Note] = []
    estimate, interval = math.nan, None
    if not reason:
        spread = np.sqrt(np.sum((ranks - ranks.mean(axis=1, keepdims=True)) ** 2, axis=1))
        some = spread > 0
        rho = (ranks[some] @ slope) / (spread[some] * math.sqrt(float(np.sum(slope**2))))
        estimate = float(rho.mean())
        if not some.all():
            flat = count_noun(int((~some).sum()), "item has", "items have")
            message = (
                f"{flat} the same score under every condition and no correlation; left out of "
                "the mean."
            )
            notes.append(Note(code="flat_items", message=message))
        if rho.size > 1:
            boot = cluster_bootstrap(
                rho,
                lambda x, w: w @ x / w.sum(axis=1),
                cluster=None if cluster is None else cluster[some],
                level=level,
                seed=seed,
                vectorized=True,
                names=("mean correlation",),
            )
            notes += boot.notes
            interval = boot.interval if math.isfinite(boot.interval.low) else None
    return Estimate(
        name="mean_rank_trend",
        label="mean Spearman correlation with the order",
        estimator="mean over items",
        estimate=estimate,
        interval=interval,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
    )
