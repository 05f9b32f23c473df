"""Friedman's test with Iman and Davenport's F, an exact and a permutation p-value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import one_of
from judgestats.stats.comparison.concordance import concordance_of_ranks
from judgestats.stats.comparison.friedman_result import (
    FriedmanResult,
    cluster_totals,
    iman_davenport_f,
    nemenyi_critical_difference,
)
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import Permuted, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.rank_distributions import friedman_null
from judgestats.stats.inference.result import Note
from judgestats.stats.inference.rounding_noise import level_ranks
from judgestats.stats.layouts.blocks import read_blocks
from judgestats.stats.layouts.formula import Missing

__all__ = ["FriedmanResult", "friedman_test", "nemenyi_critical_difference"]

Distribution = Literal["chi2", "f", "exact", "permutation"]

_WHY = (
    "Friedman's test was used because every item is scored under every condition and only the "
    "order of the scores within an item is compared."
)


def _chi_squared(ranks: Floats) -> float:
    """Friedman's chi-squared with R's tie correction; NaN where no block has any order."""
    n, k = ranks.shape
    centre = (k + 1) / 2
    between = np.sum((ranks.sum(axis=0) - n * centre) ** 2)
    within = np.sum((ranks - centre) ** 2)
    return float((k - 1) * between / within) if within > 0 else math.nan


def _refusal(ranks: Floats) -> str:
    """Why the test cannot be computed, or nothing."""
    if ranks.shape[0] < 2:
        return f"at least 2 complete blocks are required, got {ranks.shape[0]}"
    if np.ptp(ranks) == 0:
        return "all scores are tied within every block, so there is no order to compare"
    return ""


@with_keywords()
def friedman_test(
    scores: object,
    data: object = None,
    *,
    names: Sequence[Any] | None = None,
    distribution: Distribution | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Permuted],
) -> FriedmanResult:
    r"""Friedman's test: do the conditions differ in location within items?

    Parameters
    ----------
    scores : array-like of shape (N, k), DataFrame, or str
        Items in rows, conditions in columns; or a formula ``"score ~ temperature | item"``.
    data : DataFrame, optional
        The long frame of the formula, one row per item and condition.
    names : sequence, optional
        Labels of the conditions of an array.
    cluster : array-like of shape (N,) or str, optional
        Cluster of each item (the question), or the frame's column.
    distribution : {"chi2", "f", "exact", "permutation"}, optional
        Where the p-value comes from: chi-squared (as R's ``friedman.test``; the default), Iman and
        Davenport's F (less conservative), the exact distribution given the ties (small cases, at
        most 7 conditions), or permutation of conditions within items (the default with `cluster`;
        blocks of one cluster are permuted jointly).
    missing : {"drop", "raise"}
        Items with a missing score are left out and counted, as in R, or refused.
    level : float
        Level of the interval of Kendall's W.

    Returns
    -------
    FriedmanResult
        With `.iman_davenport`, `.nemenyi()`, `.conover()`, `.siegel()`, `.versus(control)`,
        `.exact_pairs()`, `.permutation_pairs()` and `.critical_difference()`.

    Raises
    ------
    InputError
        If the data cannot be read as blocks, or the exact distribution is out of reach.

    Notes
    -----
    :math:`\chi^2 = (k-1) \sum_j (R_j - N(k+1)/2)^2 / \sum_{ij} (r_{ij} - (k+1)/2)^2`, corrected
    for ties as in R. :math:`F = (N-1)\chi^2 / (N(k-1) - \chi^2)` on k-1 and (k-1)(N-1) df.
    pingouin's F option uses other df. scipy's ``friedmanchisquare`` agrees but wants k >= 3 and has
    no exact p. The effect is Kendall's W = chi2 / (N (k-1)); see `kendalls_w` for its interval.

    References
    ----------
    Friedman (1937), JASA 32, 675-701; Iman & Davenport (1980), Commun. Statist. A 9, 571-595;
    Conover (1999), Practical Nonparametric Statistics; Demsar (2006), JMLR 7, 1-30.

    Examples
    --------
    >>> scores = [[7, 8, 9], [5, 6, 6], [6, 8, 9], [4, 4, 7], [5, 7, 8], [6, 7, 9]]
    >>> result = friedman_test(scores, names=["T=0", "T=0.5", "T=1"])
    >>> print(result.sentence())
    Friedman rank sum test: χ²(2, N = 6) = 11.00, p = .004, W = .92, 95% CI [.25, 1.00] (6 items)...
    >>> round(result.iman_davenport.statistic, 6)
    55.0
    >>> [(r.a, r.b, round(r.p_value, 4)) for r in result.nemenyi().rows][1]
    ('T=0', 'T=1', 0.0043)
    """
    where = "friedman_test"
    one_of(where, "distribution", distribution, (None, "chi2", "f", "exact", "permutation"))
    blocks = read_blocks(
        scores, data, where=where, names=names, cluster=inference["cluster"], missing=missing
    )
    n, k = blocks.scores.shape
    ranks = level_ranks(blocks.scores, axis=1)
    reason = _refusal(ranks)
    chi_squared = math.nan if reason else _chi_squared(ranks)
    chosen = distribution or ("chi2" if blocks.cluster is None else "permutation")
    notes = list(blocks.notes)
    outcome: dict[str, Any] = {
        "statistic": chi_squared,
        "statistic_name": "Friedman chi-squared",
        "df": MappingProxyType({"df": float(k - 1)}),
    }
    method = "Friedman rank sum test"
    details: dict[str, Any] = {"chi_squared": chi_squared, "distribution": chosen}
    if reason:
        outcome["p_value"] = math.nan
    elif chosen == "chi2":
        outcome["p_value"] = float(distributions.chi2.sf(chi_squared, k - 1))
    elif chosen == "f":
        outcome = iman_davenport_f(chi_squared, ranks)
        method = "Friedman rank sum test (Iman-Davenport F)"
    elif chosen == "exact":
        outcome["p_value"] = _exact_p(ranks, blocks.cluster)
        method = "Exact Friedman rank sum test"
    else:
        null = permutation_distribution(
            cluster_totals(ranks, blocks.cluster),
            lambda x: np.sum(x.sum(axis=1) ** 2, axis=1),
            scheme="cells",
            n_permutations=inference["n_permutations"],
            seed=inference["seed"],
            vectorized=True,
        )
        outcome["p_value"] = null.null.p_value
        details |= {"n_permutations": inference["n_permutations"], "seed": inference["seed"]}
        kept = "items" if blocks.cluster is None else "clusters"
        method = (
            f"Friedman rank sum test ({inference['n_permutations']} permutations within {kept})"
        )
    if blocks.cluster is not None and chosen in {"chi2", "f"}:
        message = "This p-value takes blocks as independent, but blocks share clusters."
        notes.append(Note(code="clusters_ignored", message=message))
    if not reason:
        details["tied_share"] = _tied_share(ranks)
    effect = concordance_of_ranks(
        ranks,
        cluster=blocks.cluster,
        sample=blocks.sample,
        level=inference["level"],
        seed=inference["seed"],
    )
    means = ranks.mean(axis=0) if n else np.full(k, math.nan)
    return FriedmanResult(
        name="friedman_test",
        method=method,
        sample=blocks.sample,
        null_hypothesis="the conditions are alike",
        why=_WHY,
        effects=(effect,),
        estimates=MappingProxyType(
            {f"mean rank {c}": float(m) for c, m in zip(blocks.conditions, means, strict=True)}
        ),
        data_name=blocks.data_name,
        notes=tuple(notes),
        reason=reason,
        details=MappingProxyType(details),
        ranks=ranks,
        conditions=blocks.conditions,
        cluster=blocks.cluster,
        **outcome,
    )


def _tied_share(ranks: Floats) -> float:
    """Share of the scores that are tied with another one of their block."""
    ordered = np.sort(ranks, axis=1)
    same = np.diff(ordered, axis=1) == 0
    edge = np.zeros((ranks.shape[0], 1), dtype=bool)
    tied = np.hstack([same, edge]) | np.hstack([edge, same])
    return float(tied.mean())


def _exact_p(ranks: Floats, cluster: Ints | None) -> float:
    rows = np.rint(2 * cluster_totals(ranks, cluster)).astype(np.int64)
    values, p = friedman_null(rows)
    observed = int(np.sum(rows.sum(axis=0) ** 2))
    return float(min(1.0, p[values >= observed].sum()))
