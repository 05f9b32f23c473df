"""Quade's test: Friedman's with items weighted by how far their scores spread."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from judgestats.arrays import Floats
from judgestats.stats.inference import distributions
from judgestats.stats.inference.adjust import Adjustment, with_adjusted
from judgestats.stats.inference.keywords import ClusterPermutations, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.result import Comparison, Comparisons, Estimate, Note, TestResult
from judgestats.stats.inference.rounding_noise import level_ranks, noise_free
from judgestats.stats.layouts.blocks import read_blocks
from judgestats.stats.layouts.formula import Missing


@dataclasses.dataclass(frozen=True, kw_only=True)
class QuadeResult(TestResult):
    """Quade's test with what its post hoc test needs.

    Attributes
    ----------
    sums : ndarray, shape (k,)
        Weighted rank sums S_j.
    total : float
        Sum of squares of all weighted ranks (A).
    n_blocks : int
    conditions : tuple of str
    """

    sums: Floats = dataclasses.field(compare=False)
    total: float
    n_blocks: int
    conditions: tuple[str, ...]

    def pairs(self, *, adjust: Adjustment = "holm") -> Comparisons:
        """All pairs by the t test on weighted rank sums, df (N - 1)(k - 1)."""
        n, k = self.n_blocks, len(self.conditions)
        df = (n - 1) * (k - 1)
        rest = self.total - float(np.sum(self.sums**2)) / n
        spread = math.sqrt(max(2 * n * rest / df, 0.0)) if df > 0 else math.nan
        a, b = np.triu_indices(k, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (self.sums[a] - self.sums[b]) / spread
        raw = np.where(np.isnan(t), np.nan, 2 * distributions.t.sf(np.abs(t), df))
        return Comparisons(
            name="quade_pairs",
            symbol="t",
            method="Quade's all-pairs test (t on weighted rank sums)",
            adjust=adjust,
            family=f"pairs of {k} conditions",
            rows=with_adjusted(
                (
                    Comparison(
                        a=self.conditions[int(i)],
                        b=self.conditions[int(j)],
                        estimate=float(self.sums[i] - self.sums[j]),
                        estimate_name="difference of weighted rank sums",
                        statistic=float(t[row]),
                        df=float(df),
                        p_value=float(raw[row]),
                        reason=self.reason,
                    )
                    for row, (i, j) in enumerate(zip(a, b, strict=True))
                ),
                adjust,
            ),
            sample=self.sample,
            notes=self.notes,
        )


@with_keywords()
def quade_test(
    scores: object,
    data: object = None,
    *,
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
    **inference: Unpack[ClusterPermutations],
) -> QuadeResult:
    r"""Quade's test of conditions within items, items weighted by the rank of their range.

    Parameters
    ----------
    scores, data, names, missing
        See `friedman_test`.
    cluster : array-like of shape (N,) or str, optional
        Cluster of each item: p by permuting conditions jointly for the items of a cluster.

    Returns
    -------
    QuadeResult
        With `.pairs()`.

    Raises
    ------
    InputError
        If the data cannot be read as blocks.

    Notes
    -----
    :math:`S_{ij} = Q_i (r_{ij} - (k+1)/2)` with Q_i the rank of the item's range;
    :math:`F = (N-1) B / (A - B)`, :math:`A = \sum S_{ij}^2`, :math:`B = \sum_j S_j^2 / N`, on k-1
    and (N-1)(k-1) df. As R's ``quade.test``. Scores must be on one scale: it compares ranges
    between items, so a monotone transform can change it.

    References
    ----------
    Quade (1979), JASA 74, 680-683.

    Examples
    --------
    >>> result = quade_test([[5, 4, 7], [1, 3, 1], [16, 12, 22], [5, 4, 3], [10, 9, 18]])
    >>> round(result.statistic, 4), round(result.p_value, 4)
    (2.4693, 0.1462)
    """
    where = "quade_test"
    blocks = read_blocks(
        scores, data, where=where, names=names, cluster=inference["cluster"], missing=missing
    )
    n, k = blocks.scores.shape
    ranks = level_ranks(blocks.scores, axis=1)
    reason = ""
    if n < 2:
        reason = f"at least 2 complete blocks are required, got {n}"
    elif np.ptp(ranks) == 0:
        reason = "all scores are tied within every block"
    f = p = math.nan
    sums, total = np.full(k, math.nan), math.nan
    method = "Quade test"
    notes: list[Note] = list(blocks.notes)
    details: dict[str, Any] = {}
    if not reason:
        weights = level_ranks(noise_free(np.ptp(blocks.scores, axis=1)))
        weighted = weights[:, None] * (ranks - (k + 1) / 2)
        sums = weighted.sum(axis=0)
        total = float(np.sum(weighted**2))
        between = float(np.sum(sums**2)) / n
        df1, df2 = k - 1, (n - 1) * (k - 1)
        if total - between <= 1e-12 * total:
            f, p = math.inf, math.exp(-(n - 1) * math.lgamma(k + 1))
        else:
            f = (n - 1) * between / (total - between)
            p = float(distributions.f.sf(f, df1, df2))
        if blocks.cluster is not None:
            rows = np.zeros((int(blocks.cluster.max()) + 1, k))
            np.add.at(rows, blocks.cluster, weighted)
            null = permutation_distribution(
                rows,
                lambda x: np.sum(x.sum(axis=1) ** 2, axis=1),
                scheme="cells",
                n_permutations=inference["n_permutations"],
                seed=inference["seed"],
                vectorized=True,
            ).null
            p, details = null.p_value, {"p_floor": null.p_smallest}
            method += f" ({inference['n_permutations']} permutations within clusters)"
    share = (float(np.sum(sums**2)) / n) / total if not reason and total > 0 else math.nan
    effect = Estimate(
        name="weighted_concordance",
        label="weighted concordance (B / A)",
        estimator="share of the weighted ranks' variance between conditions",
        estimate=share,
        sample=blocks.sample,
        reason=reason,
        notes=(Note(code="no_interval", message="No interval is defined here."),),
    )
    return QuadeResult(
        name=where,
        method=method,
        statistic=f,
        statistic_name="Quade F",
        df=MappingProxyType({"num df": float(k - 1), "denom df": float((n - 1) * (k - 1))}),
        p_value=p,
        sample=blocks.sample,
        null_hypothesis="the conditions are alike",
        why=(
            "Quade's test was used because every item is scored under every condition and items "
            "whose scores spread further tell more."
        ),
        effects=(effect,),
        data_name=blocks.data_name,
        notes=tuple(notes),
        reason=reason,
        details=MappingProxyType(details),
        sums=sums,
        total=total,
        n_blocks=n,
        conditions=blocks.conditions,
    )
