"""The Skillings-Mack test: Friedman's for items that lack some conditions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np

from judgestats.arrays import Bools, Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import ON_DEMAND, ClusterPermutations, with_keywords
from judgestats.stats.inference.result import Estimate, Note, TestResult
from judgestats.stats.inference.rounding_noise import level_ranks
from judgestats.stats.layouts.blocks import read_incomplete_blocks

Ties = Literal["adjust", "ignore"]


def _scores(matrix: Floats) -> tuple[Floats, Floats]:
    """Standardised centred ranks (0 where missing) and the number of scores of each block."""
    present = ~np.isnan(matrix)
    sizes = present.sum(axis=1).astype(float)
    ranks = np.zeros(matrix.shape)
    for row, here in enumerate(present):
        ranks[row, here] = level_ranks(matrix[row, here])
    scale = np.sqrt(12 / (sizes + 1))
    centred = np.where(present, ranks - ((sizes + 1) / 2)[:, None], 0.0)
    return centred * scale[:, None], sizes


def _covariance(centred: Floats, present: Bools, sizes: Floats, ties: str) -> Floats:
    """Covariance of the weighted sums when the scores present are exchanged within blocks."""
    # Without ties each block of size m contributes m I - J on the conditions it holds.
    amount = np.sum(centred**2, axis=1) / (sizes - 1) if ties == "adjust" else sizes
    here = present.astype(float)
    cross = (here * (amount / sizes)[:, None]).T @ here
    return np.asarray(np.diag((here * amount[:, None]).sum(axis=0)) - cross, dtype=float)


@with_keywords(permutations=ON_DEMAND)
def skillings_mack_test(
    scores: object,
    data: object = None,
    *,
    names: Sequence[Any] | None = None,
    ties: Ties = "adjust",
    **inference: Unpack[ClusterPermutations],
) -> TestResult:
    r"""Skillings and Mack's test of conditions within items where scores are missing.

    Parameters
    ----------
    scores : array-like of shape (N, k), DataFrame, or str
        Items in rows, conditions in columns, NaN where missing; or ``"score ~ condition | item"``.
    data : DataFrame, optional
    names : sequence, optional
        Labels of the conditions of an array.
    ties : {"adjust", "ignore"}
        Variance from the ranks at hand, or that of untied ranks (the published statistic). The two
        agree without ties.
    cluster : array-like of shape (N,) or str, optional
        Cluster of each item. Scores missing in different places cannot be exchanged jointly, so the
        statistic then takes its variance from the clusters' sums (sandwich), chi-squared.
    n_permutations : int, optional
        If given, p by exchanging the scores present within items.

    Returns
    -------
    TestResult

    Raises
    ------
    InputError
        If the data cannot be read, or the conditions fall into parts that no item connects.

    Notes
    -----
    :math:`A_j = \sum_i \sqrt{12/(k_i + 1)}\,(r_{ij} - (k_i+1)/2)`, :math:`T = A' \Sigma^- A` on
    k - 1 df. On complete data T with ``ties="adjust"`` is Friedman's chi-squared with R's tie
    correction. Items with one score tell nothing and are left out, counted. Scores must be missing
    for reasons unrelated to what they would have been.

    References
    ----------
    Skillings & Mack (1981), Technometrics 23, 171-177; Chatfield & Mander (2009), Stata J. 9,
    299-305 (permutation with ties).

    Examples
    --------
    The assembly times of Skillings and Mack (1981), T = 15.49:

    >>> nan = float("nan")
    >>> times = [
    ...     [3.2, 4.1, 3.8, 4.2], [3.1, 3.9, 3.4, 4.0], [4.3, 3.5, 4.6, 4.8], [3.5, 3.6, 3.9, 4.0],
    ...     [3.6, 4.2, 3.7, 3.9], [4.5, 4.7, 3.7, nan], [nan, 4.2, 3.4, nan], [4.3, 4.6, 4.4, 4.9],
    ...     [3.5, nan, 3.7, 3.9],
    ... ]
    >>> result = skillings_mack_test(times)
    >>> round(result.statistic, 6), round(result.p_value, 9)
    (15.493049, 0.001440296)
    """
    where = "skillings_mack_test"
    one_of(where, "ties", ties, ("adjust", "ignore"))
    blocks = read_incomplete_blocks(
        scores, data, where=where, names=names, cluster=inference["cluster"]
    )
    matrix = blocks.scores
    present = ~np.isnan(matrix)
    k = matrix.shape[1]
    reason = ""
    seen = np.asarray(present.any(axis=0)).tolist()
    if matrix.shape[0] < 2:
        reason = f"at least 2 items with two scores are required, got {matrix.shape[0]}"
    elif not all(seen):
        empty = [c for c, some in zip(blocks.conditions, seen, strict=True) if not some]
        raise InputError(
            f"{where}: every condition needs a score beside another one, got none for "
            f"{', '.join(empty)}. Leave these conditions out."
        )
    statistic = p = math.nan
    method = "Skillings-Mack test"
    estimates: dict[str, float] = {}
    drawn = 0
    if not reason:
        centred, sizes = _scores(matrix)
        links = _covariance(centred, present, sizes, "ignore")
        if np.linalg.matrix_rank(links) < k - 1:
            raise InputError(
                f"{where}: the conditions fall into parts that no item connects, got "
                f"{k - int(np.linalg.matrix_rank(links))} parts. Compare each part by itself."
            )
        sums = centred.sum(axis=0)
        if blocks.cluster is None:
            covariance = _covariance(centred, present, sizes, ties)
        else:
            totals = np.zeros((int(blocks.cluster.max()) + 1, k))
            np.add.at(totals, blocks.cluster, centred)
            covariance = totals.T @ totals
            method += ", variance from clusters"
        inverse = np.asarray(
            np.linalg.pinv(covariance, rcond=1e-10, hermitian=True), dtype=np.float64
        )
        if np.linalg.matrix_rank(covariance, tol=1e-9) < k - 1:
            reason = (
                "the clusters are too few for the number of conditions"
                if blocks.cluster is not None
                else "scores are tied within every item of some condition"
            )
        else:
            statistic = float(sums @ inverse @ sums)
            p = float(distributions.chi2.sf(statistic, k - 1))
            estimates = {
                f"weighted sum of centred ranks {c}": float(s)
                for c, s in zip(blocks.conditions, sums, strict=True)
            }
        if inference["n_permutations"] and not reason and blocks.cluster is None:
            drawn = inference["n_permutations"]
            p = _permutation_p(centred, present, inverse, statistic, drawn, inference["seed"])
            method += f" ({drawn} permutations within items)"
    return TestResult(
        name=where,
        method=method,
        statistic=statistic,
        statistic_name="Skillings-Mack chi-squared",
        df=MappingProxyType({"df": float(k - 1)}),
        p_value=p,
        sample=blocks.sample,
        null_hypothesis="the conditions are alike",
        why=(
            "The Skillings-Mack test was used because items are scored under several conditions "
            "and some scores are missing."
        ),
        effects=(
            Estimate(
                name="concordance_incomplete",
                label="concordance (T over its largest possible value)",
                estimator="T / (sum of (k_i - 1) over items)",
                estimate=statistic / float(np.sum(present.sum(axis=1) - 1)) if not reason else p,
                sample=blocks.sample,
                reason=reason,
                notes=(Note(code="no_interval", message="No interval is defined here."),),
            ),
        ),
        estimates=MappingProxyType(estimates),
        data_name=blocks.data_name,
        notes=blocks.notes,
        reason=reason,
        details=MappingProxyType({"n_permutations": drawn} if drawn else {}),
    )


def _permutation_p(
    centred: Floats,
    present: Bools,
    inverse: Floats,
    observed: float,
    n_permutations: int,
    seed: int | None,
) -> float:
    """Exchange the scores present within each item; the covariance does not change."""
    rng = np.random.default_rng(seed)
    reached = 0
    columns = [np.flatnonzero(row) for row in present]
    n_blocks = centred.shape[0]
    done = 0
    while done < n_permutations:
        size = min(500, n_permutations - done)
        sums = np.zeros((size, centred.shape[1]))
        for i in range(n_blocks):
            held = columns[i]
            sums[:, held] += rng.permuted(np.tile(centred[i, held], (size, 1)), axis=1)
        values = np.einsum("bi,ij,bj->b", sums, inverse, sums)
        reached += int(np.sum(values >= observed - 1e-10 * max(1.0, observed)))
        done += size
    return (reached + 1) / (n_permutations + 1)
