"""Tests of matched samples: Friedman's with its pairs and Kendall's W, McNemar's, Cochran's."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints, check_least, check_lengths
from judgestats.errors import InputError
from judgestats.results.numbers import count_noun
from judgestats.stats.comparison.paired import tail_p
from judgestats.stats.designs.score_matrix import read_blocks
from judgestats.stats.inference import cluster_codes, distributions, permutation_distribution
from judgestats.stats.inference.jackknife import MeanOverClusters, mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, Permutations, Permuted, with_keywords
from judgestats.stats.inference.multiplicity import with_adjusted
from judgestats.stats.inference.rank_distributions import level_ranks, signed_rank_null
from judgestats.stats.inference.result import (
    Comparison,
    Comparisons,
    Estimate,
    Interval,
    Note,
    Sample,
    TestResult,
)


def nemenyi_critical_difference(k: int, n_blocks: int, *, alpha: float = 0.05) -> float:
    r"""Least difference of two mean ranks that is significant in Nemenyi's test.

    Parameters
    ----------
    k : int
        Number of conditions.
    n_blocks : int
        Number of blocks (items).
    alpha : float
        Family-wise level.

    Returns
    -------
    float
        :math:`CD = q_\alpha \sqrt{k (k + 1) / (6 N)}` with
        :math:`q_\alpha` the studentised range quantile over :math:`\sqrt 2`.

    Raises
    ------
    InputError
        If an argument is out of range.

    References
    ----------
    Demsar (2006), JMLR 7, 1-30.

    Examples
    --------
    >>> round(nemenyi_critical_difference(4, 14, alpha=0.05), 4)
    1.2536
    """
    check_least("nemenyi_critical_difference", "n_blocks", n_blocks, 1)
    q = distributions.studentized_range_isf(alpha, k=k) / math.sqrt(2)
    return q * math.sqrt(k * (k + 1) / (6 * n_blocks))


_AS_LARGE_AS_THE_DATA = {"plain": False}
"""Metadata of fields that `Result.to_dict` leaves out."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class FriedmanResult(TestResult):
    """Friedman's test with what its post hoc tests need.

    Attributes
    ----------
    ranks : ndarray, shape (N, k)
        Ranks within blocks, 1 the smallest, ties averaged.
    conditions : tuple of str
    cluster : ndarray of int, or None
        Cluster codes of the blocks.
    """

    ranks: Floats = dataclasses.field(repr=False, compare=False, metadata=_AS_LARGE_AS_THE_DATA)
    conditions: tuple[str, ...]
    cluster: Ints | None = dataclasses.field(
        default=None, repr=False, compare=False, metadata=_AS_LARGE_AS_THE_DATA
    )

    @property
    def mean_ranks(self) -> Floats:
        """Mean rank of each condition."""
        return np.asarray(self.ranks.mean(axis=0))

    @property
    def iman_davenport(self) -> TestResult:
        """Iman and Davenport's F from the same ranks, its p by F or of perfect agreement."""
        n, k = self.ranks.shape
        chi_squared = self.details["chi_squared"]
        rest = n * (k - 1) - chi_squared
        if math.isnan(chi_squared):
            f = p = math.nan
        elif rest <= 1e-10 * n * (k - 1):
            # Every block has the same order: F is infinite and p that arrangement's probability.
            f, p = math.inf, math.exp(_log_chance_of_agreement(self.ranks))
        else:
            f = (n - 1) * chi_squared / rest
            p = float(distributions.f.sf(f, k - 1, (k - 1) * (n - 1)))
        return dataclasses.replace(
            self,
            statistic=f,
            statistic_name="F",
            df={"num df": float(k - 1), "denom df": float((k - 1) * (n - 1))},
            p_value=p,
            name="iman_davenport_test",
            method="Friedman test, Iman-Davenport F",
            details={k: v for k, v in self.details.items() if k not in {"n_permutations", "seed"}},
        )

    def nemenyi(self, *, level: float = 0.95) -> Comparisons:
        """All pairs by Nemenyi's test: adjusted by construction, simultaneous intervals."""
        n, k = self.ranks.shape
        half = nemenyi_critical_difference(k, max(n, 1), alpha=1 - level)
        difference = self._differences()
        q = math.sqrt(2) * difference / math.sqrt(k * (k + 1) / (6 * max(n, 1)))
        message = "These p-values ignore clusters of blocks: use permutation_pairs()."
        notes = Note.where(self.cluster is not None, "clusters_ignored", message)
        share = self.details.get("tied_share", 0.0)
        message = (
            f"{share:.0%} of the scores are tied within their block, so this test is conservative; "
            "permutation_pairs() uses the ties."
        )
        notes += Note.where(share > 0.25, "ties_ignored", message)
        return self._family(
            (difference, q, distributions.studentized_range_sf(np.abs(q), k=k)),
            half=half,
            level=level,
            name="nemenyi",
            method="Nemenyi's all-pairs test after Friedman's (studentised range)",
            adjust="single-step (studentised range)",
            symbol="q",
            notes=(*self.notes, *notes),
            details={"critical_difference": half, "alpha": 1 - level},
        )

    @with_keywords()
    def permutation_pairs(self, **inference: Unpack[Permutations]) -> Comparisons:
        """All pairs against the permutation distribution of the largest mean-rank difference.

        Conditions are exchanged within blocks, jointly for the blocks of one cluster, so that the
        single-step p-values hold under any dependence within clusters.
        """
        difference = self._differences()
        p = np.full(difference.size, math.nan)
        if not self.reason:
            n = self.ranks.shape[0]
            null = permutation_distribution(
                cluster_totals(self.ranks, self.cluster),
                lambda x: np.ptp(x.sum(axis=1), axis=1) / n,
                scheme="cells",
                **inference,
                vectorized=True,
            )
            largest = np.sort(null.distribution)
            reached = largest.size - np.searchsorted(largest, np.abs(difference) - 1e-10)
            p = (reached + 1) / (inference["n_permutations"] + 1)
        return self._family(
            (difference, difference, p),
            floor=1 / (inference["n_permutations"] + 1) * (1 + 1e-9),
            name="permutation_pairs",
            method="All-pairs permutation test of mean ranks (largest difference)",
            adjust="single-step (permutation of the largest difference)",
            notes=self.notes,
            details={"n_permutations": inference["n_permutations"], "seed": inference["seed"]},
        )

    def _differences(self) -> Floats:
        """Mean-rank differences of all pairs; NaN where the omnibus test does not exist."""
        a, b = np.triu_indices(len(self.conditions), 1)
        if self.reason:
            return np.full(a.size, math.nan)
        return self.mean_ranks[a] - self.mean_ranks[b]

    def _family(
        self,
        columns: tuple[Floats, Floats, Floats],
        *,
        half: float = math.nan,
        level: float = math.nan,
        floor: float = 0.0,
        **described: Any,
    ) -> Comparisons:
        """The pairs in the order of conditions, from differences, statistics, and p-values."""
        rows = []
        pairs = itertools.combinations(self.conditions, 2)
        for (a, b), d, statistic, p in zip(pairs, *(c.tolist() for c in columns), strict=True):
            row = Comparison(
                a=a, b=b, estimate=d, estimate_name="mean_rank_difference", reason=self.reason
            )
            if not self.reason:
                simultaneous = Interval(
                    low=d - half, high=d + half, level=level, method="Nemenyi, simultaneous"
                )
                row = dataclasses.replace(
                    row,
                    statistic=statistic,
                    p_value=p,
                    p_adjusted=p,
                    p_bound=p <= floor,
                    interval=None if math.isnan(half) else simultaneous,
                )
            rows.append(row)
        family = f"pairs of {len(self.conditions)} conditions"
        return Comparisons(family=family, rows=tuple(rows), sample=self.sample, **described)


def cluster_totals(ranks: Floats, cluster: Ints | None) -> Floats:
    """Rank sums by cluster: blocks of a cluster are exchanged together, so only sums matter."""
    if cluster is None:
        return ranks
    out = np.zeros((int(cluster.max()) + 1, ranks.shape[1]))  # size: clusters
    np.add.at(out, cluster, ranks)
    return out


def _log_chance_of_agreement(ranks: Floats) -> float:
    """Log probability that all later blocks fall in the first one's order, given their ties."""
    k = ranks.shape[1]
    total = 0.0
    for row in ranks[1:]:
        ties = np.unique(row, return_counts=True)[1]
        total += sum(math.lgamma(t + 1) for t in ties) - math.lgamma(k + 1)
    return total


def _f_interval(
    ranks: Floats, cluster: Ints | None, w: float, level: float
) -> tuple[float, float] | None:
    """Limits of the population's concordance by inverting the noncentral F of the rank profiles.

    The profiles are the items' centred ranks, or their mean over each cluster.
    """
    n, k = ranks.shape
    codes = np.arange(n) if cluster is None else cluster
    n_clusters = int(codes.max()) + 1
    if n_clusters < 3 or not 0 < w < 1:
        return None
    centred = ranks - (k + 1) / 2
    profiles = np.zeros((n_clusters, k))
    np.add.at(profiles, codes, centred * n_clusters / n)
    mean = profiles.mean(axis=0)
    df = float((k - 1) * (n_clusters - 1))
    rest = float(np.sum((profiles - mean) ** 2)) / df
    if rest <= 0:
        return None
    f = n_clusters * float(np.sum(mean**2)) / (k - 1) / rest
    # A noncentrality is n_clusters * sum(tau^2) / rest; the population W is sum(tau^2) / total.
    share = rest / (n_clusters * float(np.mean(np.sum(centred**2, axis=1))))
    tail = (1 - level) / 2
    low, high = (distributions.f_noncentrality(f, k - 1.0, df, p) * share for p in (1 - tail, tail))
    return min(low, 1.0), min(max(high, w), 1.0)


def concordance_of_ranks(
    ranks: Floats, *, cluster: Ints | None, sample: Sample, level: float
) -> Estimate:
    r"""Kendall's W of a rank matrix, and the interval of the population's concordance.

    :math:`W = \chi^2_F / (N (k - 1))`, tie-corrected as ``irr::kendall(correct = TRUE)``. Under
    the null hypothesis W averages 1 / N, not 0. The interval is for the concordance of the
    population of items, :math:`\omega = \lim_{N\to\infty} W = \sum_j \tau_j^2 / T`. Here
    :math:`\tau_j` is the mean centred rank of condition j, and T the mean within-item sum of
    squares. Iman and Davenport's F is about noncentral F with
    :math:`\lambda = N \sum \tau_j^2 / s^2`, :math:`s^2` the residual variance of the
    ranks. The limits are :math:`\lambda s^2 / (N T)` at the two
    :math:`\lambda` for which the observed F is a tail quantile, the upper one never below W itself.
    Its coverage and that of the bootstrap, which resamples W's upward bias and misses small
    concordances, are in docs/simulations/coverage_ranks.csv.

    References
    ----------
    Kendall & Babington Smith (1939), Ann. Math. Statist. 10, 275-287.
    """
    n, k = ranks.shape
    reason, w = _refusal(ranks), math.nan
    interval: Interval | None = None
    notes: tuple[Note, ...] = ()
    if not reason:
        centred = ranks - (k + 1) / 2
        between = float(np.sum(centred.sum(axis=0) ** 2))
        w = between / (n * float(np.sum(centred**2)))
        limits = _f_interval(ranks, cluster, w, level)
        method = "noncentral F inversion" + ("" if cluster is None else " over clusters")
        if limits is None:
            where = "every item orders the conditions alike" if w >= 1 else "W is 0"
            where = where if w in {0.0, 1.0} else "there are fewer than 3 items or clusters"
            message = f"No interval: {where}, so the F inversion has no two limits."
            notes = Note.where(True, "boundary", message)
        else:
            interval = Interval(low=limits[0], high=limits[1], level=level, method=method)
    return Estimate(
        name="kendalls_w",
        label="Kendall's W",
        estimator="tie-corrected chi-squared / (N (k - 1))",
        estimate=w,
        interval=interval,
        sample=sample,
        notes=notes,
        reason=reason,
        details={"mean_rank_correlation": math.nan if reason else (n * w - 1) / (n - 1)},
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
    *,
    names: Sequence[Any] | None = None,
    **inference: Unpack[Permuted],
) -> FriedmanResult:
    r"""Friedman's test: do the conditions differ in location within items?

    Parameters
    ----------
    scores : array-like of shape (N, k), or DataFrame
        Items in rows, conditions in columns. Items with a missing score are left out and counted,
        as in R.
    names : sequence, optional
        Labels of the conditions of an array.
    cluster : array-like of shape (N,), optional
        Cluster of each item (the question): the p-value is then by permutation of the conditions
        within items, jointly for the items of one cluster; else from chi-squared, as R's
        ``friedman.test``.
    level : float
        Level of the interval of Kendall's W.

    Returns
    -------
    FriedmanResult
        With `.iman_davenport`, `.nemenyi()` and `.permutation_pairs()`.

    Raises
    ------
    InputError
        If the data cannot be interpreted as blocks.

    Notes
    -----
    :math:`\chi^2 = (k-1) \sum_j (R_j - N(k+1)/2)^2 / \sum_{ij} (r_{ij} - (k+1)/2)^2`, corrected
    for ties as in R. :math:`F = (N-1)\chi^2 / (N(k-1) - \chi^2)` on k-1 and (k-1)(N-1) df.
    pingouin's F option uses other df. scipy's ``friedmanchisquare`` agrees but wants k >= 3. The
    effect is Kendall's W = chi2 / (N (k-1)), whose interval inverts the noncentral F.
    ``details["mean_rank_correlation"]`` of the effect is the mean Spearman correlation of two
    items. It is (N W - 1) / (N - 1) without ties, and has no upward bias.

    References
    ----------
    Friedman (1937), JASA 32, 675-701; Iman & Davenport (1980), Commun. Statist. A 9, 571-595;
    Kendall & Babington Smith (1939), Ann. Math. Statist. 10, 275-287; Demsar (2006), JMLR 7, 1-30.

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
    blocks = read_blocks(scores, where="friedman_test", names=names, cluster=inference["cluster"])
    n, k = blocks.scores.shape
    ranks = level_ranks(blocks.scores, axis=1)
    reason = _refusal(ranks)
    chi_squared = math.nan if reason else _chi_squared(ranks)
    p = math.nan
    method = "Friedman rank sum test"
    chosen = "chi2" if blocks.cluster is None else "permutation"
    details: dict[str, Any] = {"chi_squared": chi_squared, "distribution": chosen}
    if not reason:
        details["tied_share"] = _tied_share(ranks)
    if not reason and blocks.cluster is None:
        p = float(distributions.chi2.sf(chi_squared, k - 1))
    elif not reason:
        null = permutation_distribution(
            cluster_totals(ranks, blocks.cluster),
            lambda x: np.sum(x.sum(axis=1) ** 2, axis=1),
            scheme="cells",
            n_permutations=inference["n_permutations"],
            seed=inference["seed"],
            vectorized=True,
        )
        p = null.null.p_value
        details |= {"n_permutations": inference["n_permutations"], "seed": inference["seed"]}
        method += f" ({inference['n_permutations']} permutations within clusters)"
    effect = concordance_of_ranks(
        ranks, cluster=blocks.cluster, sample=blocks.sample, level=inference["level"]
    )
    means = ranks.mean(axis=0) if n else np.full(k, math.nan)
    return FriedmanResult(
        name="friedman_test",
        method=method,
        statistic=chi_squared,
        statistic_name="Friedman chi-squared",
        df={"df": float(k - 1)},
        p_value=p,
        sample=blocks.sample,
        null_hypothesis="the conditions are alike",
        why="Friedman's test was used because every item is scored under every condition and only "
        "the order of the scores within an item is compared.",
        effects=(effect,),
        estimates={
            f"mean rank {c}": float(m) for c, m in zip(blocks.conditions, means, strict=True)
        },
        data_name=blocks.data_name,
        notes=blocks.notes,
        reason=reason,
        details=details,
        ranks=ranks,
        conditions=blocks.conditions,
        cluster=blocks.cluster,
    )


def _tied_share(ranks: Floats) -> float:
    """Share of the scores that are tied with another one of their block."""
    ordered = np.sort(ranks, axis=1)
    same = np.diff(ordered, axis=1) == 0
    edge = np.zeros((ranks.shape[0], 1), dtype=bool)
    tied = np.hstack([same, edge]) | np.hstack([edge, same])
    return float(tied.mean())


@with_keywords()
def mcnemar_test(x: ArrayLike, y: ArrayLike, **inference: Unpack[Clustered]) -> TestResult:
    r"""McNemar's test: do two yes / no verdicts on the same items differ in rate?

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Verdicts with two values; pairs with a missing one (None, "" or NaN) are left out and
        counted.
    cluster : array-like of shape (n,), optional
        Cluster of each pair: p exact over sign changes of whole clusters.

    Returns
    -------
    TestResult
        Effects: odds ratio of the discordant pairs (exact interval), and difference of the two
        rates (Bonett and Price's adjusted Wald interval). With `cluster` the difference has
        Student's t over clusters, and the odds ratio no interval.

    Raises
    ------
    InputError
        If there are more than two categories, or the lengths differ.

    Notes
    -----
    With b pairs (first, second category) and c pairs (second, first): b ~ Binomial(b + c, 1/2); the
    statistic is b. The odds ratio is b / c as exact2x2's ``mcnemar.exact``. For the chi-squared
    and the mid-p version see ``statsmodels.stats.contingency_tables.mcnemar`` and exact2x2.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157; Fagerland, Lydersen & Laake (2013), BMC Med. Res.
    Methodol. 13, 91; Bonett & Price (2012), Stat. Methods Med. Res. 21, 479-493.

    Examples
    --------
    >>> before, after = [1] * 36 + [2] * 44, [1] * 22 + [2] * 14 + [1] * 11 + [2] * 33
    >>> result = mcnemar_test(before, after)
    >>> result.statistic, round(result.p_value, 6), round(result.effect.estimate, 4)
    (14.0, 0.690038, 1.2727)
    """
    where = "mcnemar_test"
    first, second = pd.Series(list(np.asarray(x))), pd.Series(list(np.asarray(y)))
    check_lengths(where, x=first, y=second)
    present = ~(first.isna() | second.isna() | (first == "") | (second == ""))
    first, second = first[present], second[present]
    labels = sorted({*first, *second}, key=str)
    if len(labels) > 2:
        listed = ", ".join(map(str, labels))
        got = f"got {len(labels)}: {listed}. Compare one category with all others."
        raise InputError(f"{where}: two categories are required, {got}")
    total = len(first)
    # 1 where only x has the first category, -1 where only y has it.
    difference = np.zeros(total)
    if labels:
        difference = (first == labels[0]).to_numpy(float) - (second == labels[0]).to_numpy(float)
    b, c = float(np.sum(difference > 0)), float(np.sum(difference < 0))
    reason = "" if b + c else "the two verdicts never differ"
    statistic, p, symbol = math.nan, math.nan, "b"
    method = "McNemar's exact test"
    n_clusters, rates = None, None
    if inference["cluster"] is not None:
        codes = cluster_codes(inference["cluster"], present.size, where=where)[present.to_numpy()]
        codes = np.unique(codes, return_inverse=True)[1]
        # Over sign changes of each cluster's b - c.
        net = np.rint(np.bincount(codes, weights=difference)).astype(np.int64)
        centre = float(np.abs(net).sum()) / 2
        p = tail_p(signed_rank_null(np.abs(net)), int(net[net > 0].sum()), centre)
        statistic = float(net.sum())
        n_clusters = int(codes.max(initial=-1)) + 1
        rates = mean_over_clusters(difference, codes) if codes.size else None
        method, symbol = "McNemar's test, exact over sign changes of clusters", "b - c"
        p = math.nan if reason else p
    elif not reason:
        statistic = b
        p = min(1.0, 2 * float(distributions.binom.cdf(min(b, c), b + c, 0.5)))
    sample = Sample(
        n_items=total,
        n_clusters=n_clusters,
        excluded={"missing verdict": int((~present).sum())},
    )
    return TestResult(
        name=where,
        method=method,
        statistic=statistic,
        statistic_name=symbol,
        p_value=p,
        sample=sample,
        null_hypothesis="the two verdicts have the same rate",
        alternative=f"the rates of {str(labels[0]) if labels else ''!r} differ",
        why="McNemar's test was used because both verdicts are about the same items; only items on "
        "which they differ count.",
        effects=_mcnemar_effects(b, c, sample, inference["level"], rates, reason),
        estimates={"first only (b)": b, "second only (c)": c},
        data_name="x and y",
        reason=reason,
    )


def _mcnemar_effects(
    b: float,
    c: float,
    sample: Sample,
    level: float,
    over_clusters: MeanOverClusters | None,
    reason: str,
) -> tuple[Estimate, Estimate]:
    ratio = math.nan if reason else (b / c if c else math.inf)
    total = sample.n_items
    odds_interval = rate_interval = None
    notes: tuple[Note, ...] = ()
    if over_clusters is not None:
        notes = Note.no_interval("it would take pairs as independent, but pairs share clusters")
        rate_interval = over_clusters.interval(level)
    elif not reason:
        low, high = distributions.proportion_limits(b, b + c, level=level, method="clopper-pearson")
        odds_interval = Interval(
            low=low / (1 - low),
            high=high / (1 - high) if high < 1 else math.inf,
            level=level,
            method="exact binomial",
        )
    if total > 0 and over_clusters is None:
        up, down = (b + 1) / (total + 2), (c + 1) / (total + 2)
        z = float(distributions.norm.isf((1 - level) / 2))
        half = z * math.sqrt((up + down - (up - down) ** 2) / (total + 2))
        low, high = max(up - down - half, -1.0), min(up - down + half, 1.0)
        rate_interval = Interval(
            low=low, high=high, level=level, method="Bonett-Price adjusted Wald"
        )
    odds = Estimate(
        name="odds_ratio_discordant",
        label="odds ratio of discordant pairs",
        estimator="b / c",
        estimate=ratio,
        interval=odds_interval,
        sample=sample,
        notes=notes,
        reason=reason,
    )
    rates = Estimate(
        name="rate_difference",
        label="difference of the two rates",
        estimator="(b - c) / n",
        estimate=(b - c) / total if total else math.nan,
        interval=rate_interval,
        notes=() if over_clusters is None else over_clusters.notes,
        sample=sample,
        reason="" if total else "there are no pairs",
    )
    return odds, rates


@dataclasses.dataclass(frozen=True, kw_only=True)
class CochranResult(TestResult):
    """Cochran's Q with what its post hoc tests need.

    Attributes
    ----------
    verdicts : ndarray, shape (N, k)
        0 / 1.
    conditions : tuple of str
    cluster : ndarray of int, or None
    """

    verdicts: Floats = dataclasses.field(repr=False, compare=False, metadata=_AS_LARGE_AS_THE_DATA)
    conditions: tuple[str, ...]
    cluster: Ints | None = dataclasses.field(
        default=None, repr=False, compare=False, metadata=_AS_LARGE_AS_THE_DATA
    )

    def mcnemar(self, *, level: float = 0.95) -> Comparisons:
        """All pairs by McNemar's test (exact over sign changes of clusters), adjusted by Holm.

        With clusters the statistic is the number of items with 1 in the first only, minus those
        with 1 in the second only. The interval is then Student's t over clusters.
        """
        rates = self.verdicts.sum(axis=0) / (len(self.verdicts) or math.nan)
        rows = []
        for i, j in itertools.combinations(range(len(self.conditions)), 2):
            test = mcnemar_test(
                self.verdicts[:, i], self.verdicts[:, j], cluster=self.cluster, level=level
            )
            interval = test.effects[1].interval
            if interval is not None:
                # mcnemar_test counts the smaller label (0); the rates here are those of 1.
                interval = dataclasses.replace(interval, low=-interval.high, high=-interval.low)
            rows.append(
                Comparison(
                    a=self.conditions[i],
                    b=self.conditions[j],
                    estimate=float(rates[i] - rates[j]),
                    estimate_name="rate_difference",
                    statistic=test.statistic if self.cluster is None else -test.statistic,
                    # No evidence at all where a pair never differs: p is 1, as in R's loop.
                    p_value=1.0 if test.reason else test.p_value,
                    interval=interval,
                    n=self.sample.n_items,
                )
            )
        return Comparisons(
            name="pairwise_mcnemar",
            symbol="b - c",
            method="Pairwise McNemar tests after Cochran's Q"
            + ("" if self.cluster is None else ", exact over sign changes of clusters"),
            adjust="holm",
            family=f"pairs of {len(self.conditions)} conditions",
            rows=with_adjusted(rows, "holm"),
            sample=self.sample,
            notes=self.notes,
        )


@with_keywords()
def cochran_q_test(
    verdicts: object, *, names: Sequence[Any] | None = None, **inference: Unpack[Permuted]
) -> CochranResult:
    r"""Cochran's Q test of several yes / no verdicts on the same items.

    Parameters
    ----------
    verdicts : array-like of shape (N, k), or DataFrame
        0 / 1 (or booleans), items in rows. Items that lack a verdict are left out and counted.
    names : sequence, optional
        Labels of the conditions of an array.
    cluster : array-like of shape (N,), optional
        Cluster of each item: p by permutation within items, jointly in a cluster; else chi-squared.

    Returns
    -------
    CochranResult
        With `.mcnemar()`. Effect: Q / (N' (k - 1)), Kendall's W of the verdicts.

    Raises
    ------
    InputError
        If a verdict is neither 0 nor 1.

    Notes
    -----
    :math:`Q = (k-1)\,[k \sum C_j^2 - T^2] / [k T - \sum R_i^2]`; it is Friedman's tie-corrected
    chi-squared of the verdicts, and McNemar's without correction for k = 2.

    References
    ----------
    Cochran (1950), Biometrika 37, 256-266.

    Examples
    --------
    >>> right = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]
    >>> result = cochran_q_test(right, names=["a", "b", "c"])
    >>> round(result.statistic, 4), round(result.p_value, 4)
    (6.4, 0.0408)
    """
    where = "cochran_q_test"
    blocks = read_blocks(verdicts, where=where, names=names, cluster=inference["cluster"])
    matrix = blocks.scores
    strange = matrix[~np.isin(matrix, (0.0, 1.0))]
    if strange.size:
        raise InputError(f"{where}: verdicts must be 0 or 1, got {strange[0]:g}. Code them so.")
    keywords = inference | {"cluster": blocks.cluster}
    ranked = friedman_test(matrix, names=blocks.conditions, **keywords)
    reason = ranked.reason
    if reason.startswith("all scores"):
        reason = "every item has the same verdict under all conditions"
    informative = int(np.sum(np.ptp(matrix, axis=1) > 0)) if matrix.size else 0
    told = count_noun(informative, "item tells", "items tell")
    message = f"Only {told} the conditions apart: chi-squared is rough there."
    is_rough = not reason and informative * matrix.shape[1] < 24
    notes = (*blocks.notes, *Note.where(is_rough, "few_informative_items", message))
    rates = matrix.mean(axis=0).tolist() if len(matrix) else []
    return CochranResult(
        name=where,
        method="Cochran's Q test" + ranked.method.removeprefix("Friedman rank sum test"),
        statistic=ranked.statistic,
        statistic_name="Cochran's Q",
        df=ranked.df,
        p_value=ranked.p_value,
        sample=blocks.sample,
        null_hypothesis="the conditions have the same rate",
        why="Cochran's Q was used because several yes / no verdicts are about the same items.",
        effects=ranked.effects,
        estimates={f"rate {c}": m for c, m in zip(blocks.conditions, rates, strict=bool(rates))},
        data_name=blocks.data_name,
        notes=notes,
        reason=reason,
        details={"informative_items": informative},
        verdicts=matrix,
        conditions=blocks.conditions,
        cluster=blocks.cluster,
    )
