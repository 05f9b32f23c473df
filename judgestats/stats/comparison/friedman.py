"""Friedman's test, its pairs, and Kendall's W."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.comparison.effects import undercoverage
from judgestats.stats.designs.blocks import read_blocks
from judgestats.stats.designs.groups import Missing, level_label
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_bootstrap
from judgestats.stats.inference.distributions import (
    f_noncentrality,
    studentized_range_isf,
    studentized_range_sf,
)
from judgestats.stats.inference.estimate import Estimate, Interval, Note, Sample
from judgestats.stats.inference.keywords import Permutations, Permuted, Resampled, with_keywords
from judgestats.stats.inference.multiplicity import Adjustment, p_adjust
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.rank_distributions import (
    friedman_null,
    level_ranks,
    rank_difference_null,
)
from judgestats.stats.inference.result import Comparison, Comparisons, TestResult

_SYMBOLS = {"conover": "t", "nemenyi": "q", "siegel": "z", "versus_control": "z"}
"""Of the statistics of the tests that follow; a difference has none of its own."""


def nemenyi_critical_difference(k: int, n_blocks: int, *, alpha: float = 0.05) -> float:
    r"""Least difference of two mean ranks that Nemenyi's test tells apart.

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
    if n_blocks < 1:
        raise InputError(
            f"nemenyi_critical_difference: n_blocks must be at least 1, got {n_blocks}. Give the "
            "number of items."
        )
    q = studentized_range_isf(alpha, k=k) / math.sqrt(2)
    return q * math.sqrt(k * (k + 1) / (6 * n_blocks))


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

    ranks: Floats = dataclasses.field(repr=False, compare=False)
    conditions: tuple[str, ...]
    cluster: Ints | None = dataclasses.field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values without the rank matrix (it is as large as the data)."""
        slim = dataclasses.replace(self, ranks=np.empty((0, 0)), cluster=None)
        plain = super(FriedmanResult, slim).to_dict()
        return {k: v for k, v in plain.items() if k not in {"ranks", "cluster"}}

    @property
    def mean_ranks(self) -> Floats:
        """Mean rank of each condition."""
        result: Floats = self.ranks.mean(axis=0)
        return result

    @property
    def iman_davenport(self) -> TestResult:
        """Iman and Davenport's F from the same ranks."""
        return dataclasses.replace(
            self,
            **iman_davenport_f(self.details["chi_squared"], self.ranks),
            name="iman_davenport_test",
            method="Friedman test, Iman-Davenport F",
            details={k: v for k, v in self.details.items() if k not in {"n_permutations", "seed"}},
        )

    def critical_difference(self, *, alpha: float = 0.05) -> float:
        """Nemenyi's critical difference of mean ranks at this k and N."""
        n, k = self.ranks.shape
        return nemenyi_critical_difference(k, n, alpha=alpha)

    def nemenyi(self, *, level: float = 0.95) -> Comparisons:
        """All pairs by Nemenyi's test: adjusted by construction, simultaneous intervals."""
        if self.reason:
            return self._undefined(
                "nemenyi",
                "Nemenyi's all-pairs test after Friedman's",
                "single-step (studentised range)",
            )
        n, k = self.ranks.shape
        half = nemenyi_critical_difference(k, n, alpha=1 - level)
        a, b = np.triu_indices(k, 1)
        means = self.mean_ranks
        difference = means[a] - means[b]
        q = math.sqrt(2) * difference / math.sqrt(k * (k + 1) / (6 * n))
        p = studentized_range_sf(np.abs(q), k=k)
        intervals = [
            Interval(low=d - half, high=d + half, level=level, method="Nemenyi, simultaneous")
            for d in difference.tolist()
        ]
        return self._family(
            "nemenyi",
            "Nemenyi's all-pairs test after Friedman's (studentised range)",
            "single-step (studentised range)",
            (a, b, difference, q, p, p),
            intervals=intervals,
            details={"critical_difference": half, "alpha": 1 - level},
        )

    def conover(self, *, adjust: Adjustment | Literal["single-step"] = "holm") -> Comparisons:
        """All pairs by Conover's t test on ranks, which uses the ties; df (N - 1)(k - 1).

        ``single-step`` refers sqrt(2) |t| to the studentised range with infinite df, as PMCMRplus.
        """
        if self.reason:
            return self._undefined("conover", "Conover's all-pairs test after Friedman's", adjust)
        n, k = self.ranks.shape
        totals = self.ranks.sum(axis=0)
        df = (n - 1) * (k - 1)
        spread = 2 * (n * np.sum(self.ranks**2) - np.sum(totals**2)) / df if df else math.nan
        a, b = np.triu_indices(k, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (totals[a] - totals[b]) / math.sqrt(max(spread, 0.0))
        if adjust == "single-step":
            raw = adjusted = studentized_range_sf(math.sqrt(2) * np.abs(t), k=k)
        else:
            raw = 2 * distributions.t.sf(np.abs(t), df)
            adjusted = p_adjust(raw, method=adjust)
        difference = (totals[a] - totals[b]) / n
        return self._family(
            "conover",
            "Conover's all-pairs test after Friedman's (t on ranks)",
            adjust,
            (a, b, difference, t, raw, adjusted),
            df=df,
        )

    def siegel(self, *, adjust: Adjustment = "holm") -> Comparisons:
        """All pairs by the normal test on mean ranks (Siegel and Castellan, 1988)."""
        a, b = np.triu_indices(self.ranks.shape[1], 1)
        return self._normal_family(
            "siegel", "Siegel-Castellan all-pairs test after Friedman's (normal)", adjust, a, b
        )

    def versus(self, control: object, *, adjust: Adjustment = "holm") -> Comparisons:
        """Every condition against one control by the normal test on mean ranks (Demsar, 2006)."""
        label = level_label(control)
        one_of("versus", "control", label, self.conditions)
        c = self.conditions.index(label)
        a = np.array([j for j in range(len(self.conditions)) if j != c])
        return self._normal_family(
            "versus_control",
            f"Many-to-one test against {label} after Friedman's (normal)",
            adjust,
            a,
            np.full(a.size, c),
        )

    def exact_pairs(self, *, adjust: Adjustment = "holm") -> Comparisons:
        """All pairs by the exact distribution of a rank-sum difference (Eisinga et al., 2017).

        The distribution is that of untied ranks; with ties it is an approximation, as in PMCMRplus.
        """
        if self.reason:
            return self._undefined(
                "friedman_exact_pairs", "Exact all-pairs test after Friedman's", adjust
            )
        n, k = self.ranks.shape
        null = rank_difference_null(k, n)
        upper = np.cumsum(null[::-1])[::-1]
        totals = self.ranks.sum(axis=0)
        a, b = np.triu_indices(k, 1)
        difference = totals[a] - totals[b]
        steps = np.ceil(np.abs(difference) - 1e-9).astype(int) + n * (k - 1)
        raw = np.where(np.abs(difference) < 1e-9, 1.0, np.minimum(1.0, 2 * upper[steps]))
        return self._family(
            "friedman_exact_pairs",
            "Exact all-pairs test of rank-sum differences after Friedman's",
            adjust,
            (a, b, difference / n, difference, raw, p_adjust(raw, method=adjust)),
        )

    @with_keywords()
    def permutation_pairs(self, **inference: Unpack[Permutations]) -> Comparisons:
        """All pairs against the permutation distribution of the largest mean-rank difference.

        Conditions are exchanged within blocks, jointly for the blocks of one cluster, so that the
        single-step p-values hold under any dependence within clusters.
        """
        if self.reason:
            return self._undefined(
                "permutation_pairs", "All-pairs permutation test of mean ranks", "single-step"
            )
        rows = cluster_totals(self.ranks, self.cluster)
        n = self.ranks.shape[0]
        null = permutation_distribution(
            rows,
            lambda x: np.ptp(x.sum(axis=1), axis=1) / n,
            scheme="cells",
            **inference,
            vectorized=True,
        )
        a, b = np.triu_indices(rows.shape[1], 1)
        difference = self.mean_ranks[a] - self.mean_ranks[b]
        largest = np.sort(null.distribution)
        reached = largest.size - np.searchsorted(largest, np.abs(difference) - 1e-10)
        p = (reached + 1) / (inference["n_permutations"] + 1)
        return self._family(
            "permutation_pairs",
            "All-pairs permutation test of mean ranks (largest difference)",
            "single-step (permutation of the largest difference)",
            (a, b, difference, difference, p, p),
            details={"n_permutations": inference["n_permutations"], "seed": inference["seed"]},
        )

    def _undefined(self, name: str, method: str, adjust: str) -> Comparisons:
        """The family where the omnibus test has a reason not to exist."""
        a, b = np.triu_indices(len(self.conditions), 1)
        nothing = np.full(a.size, math.nan)
        return self._family(name, method, adjust, (a, b, nothing, nothing, nothing, nothing))

    def _normal_family(
        self, name: str, method: str, adjust: Adjustment, a: Ints, b: Ints
    ) -> Comparisons:
        if self.reason:
            return self._undefined(name, method, adjust)
        n, k = self.ranks.shape
        difference = self.mean_ranks[a] - self.mean_ranks[b]
        z = difference / math.sqrt(k * (k + 1) / (6 * n))
        raw = 2 * distributions.norm.sf(np.abs(z))
        return self._family(
            name, method, adjust, (a, b, difference, z, raw, p_adjust(raw, method=adjust))
        )

    def _family(
        self,
        name: str,
        method: str,
        adjust: str,
        columns: tuple[Any, Any, Any, Any, Any, Any],
        *,
        df: float = math.nan,
        intervals: Sequence[Interval] | None = None,
        details: dict[str, Any] | None = None,
    ) -> Comparisons:
        """Comparisons from parallel columns (a, b, estimate, statistic, p, adjusted p)."""
        reason, drawn = self.reason, (details or {}).get("n_permutations", 0)
        floor = 1 / (drawn + 1) * (1 + 1e-9) if drawn else 0.0
        rows = []
        for i, (a, b, estimate, statistic, p, adjusted) in enumerate(zip(*columns, strict=True)):
            undefined = bool(reason) or math.isnan(statistic)
            rows.append(
                Comparison(
                    a=self.conditions[int(a)],
                    b=self.conditions[int(b)],
                    estimate=float(estimate),
                    estimate_name="mean_rank_difference",
                    statistic=math.nan if undefined else float(statistic),
                    df=df,
                    p_value=math.nan if undefined else float(p),
                    p_adjusted=math.nan if undefined else float(adjusted),
                    p_bound=not undefined and bool(adjusted <= floor),
                    interval=None if undefined or intervals is None else intervals[i],
                    reason=(reason or "the ranks do not vary") if undefined else "",
                )
            )
        notes = list(self.notes)
        if self.cluster is not None and name != "permutation_pairs":
            message = (
                "These p-values take blocks as independent, but blocks share clusters: use "
                "permutation_pairs()."
            )
            notes.append(Note(code="clusters_ignored", message=message))
        share = self.details.get("tied_share", 0.0)
        if name in {"nemenyi", "siegel", "versus_control"} and share > 0.25:
            message = (
                f"{share:.0%} of the scores are tied within their block. The standard error "
                "assumes no ties, so this test is conservative; conover() uses the ties."
            )
            notes.append(Note(code="ties_ignored", message=message))
        return Comparisons(
            name=name,
            symbol=_SYMBOLS.get(name, ""),
            method=method,
            adjust=adjust,
            family=f"{'pairs' if name != 'versus_control' else 'contrasts'} of "
            f"{len(self.conditions)} conditions",
            rows=tuple(rows),
            sample=self.sample,
            notes=tuple(notes),
            details=MappingProxyType(details or {}),
        )


def cluster_totals(ranks: Floats, cluster: Ints | None) -> Floats:
    """Rank sums by cluster: blocks of a cluster are exchanged together, so only sums matter."""
    if cluster is None:
        return ranks
    out = np.zeros((int(cluster.max()) + 1, ranks.shape[1]))
    np.add.at(out, cluster, ranks)
    return out


def iman_davenport_f(chi_squared: float, ranks: Floats) -> dict[str, Any]:
    """Iman and Davenport's F with its df and p."""
    n, k = ranks.shape
    df = MappingProxyType({"num df": float(k - 1), "denom df": float((k - 1) * (n - 1))})
    rest = n * (k - 1) - chi_squared
    if math.isnan(chi_squared):
        f = p = math.nan
    elif rest <= 1e-10 * n * (k - 1):
        # Every block has the same order: F is infinite and p that arrangement's probability.
        f, p = math.inf, math.exp(_log_chance_of_agreement(ranks))
    else:
        f = (n - 1) * chi_squared / rest
        p = float(distributions.f.sf(f, k - 1, (k - 1) * (n - 1)))
    return {"statistic": f, "statistic_name": "F", "df": df, "p_value": p}


def _log_chance_of_agreement(ranks: Floats) -> float:
    """Log probability that all later blocks fall in the first one's order, given their ties."""
    k = ranks.shape[1]
    total = 0.0
    for row in ranks[1:]:
        ties = np.unique(row, return_counts=True)[1]
        total += sum(math.lgamma(t + 1) for t in ties) - math.lgamma(k + 1)
    return total


IntervalMethod = Literal["f", "bootstrap", "none"]


def _w(ranks: Floats, weights: Floats | None = None) -> Floats:
    """Tie-corrected W; with weights (B, N) one value per row of item counts."""
    n, k = ranks.shape
    centred = ranks - (k + 1) / 2
    counts = np.ones((1, n)) if weights is None else weights
    between = np.sum((counts @ centred) ** 2, axis=1)
    within = counts @ np.sum(centred**2, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = between / (counts.sum(axis=1) * within)
    return result


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
    low, high = (f_noncentrality(f, k - 1.0, df, p) * share for p in (1 - tail, tail))
    return min(low, 1.0), min(max(high, w), 1.0)


def concordance_of_ranks(
    ranks: Floats,
    *,
    cluster: Ints | None,
    sample: Sample,
    level: float,
    seed: int | None,
    interval: IntervalMethod | None = None,
    n_resamples: int = 2000,
) -> Estimate:
    """Kendall's W of a rank matrix, with its interval (see `kendalls_w`)."""
    n = ranks.shape[0]
    reason = ""
    if n < 2:
        reason = f"at least 2 complete blocks are required, got {n}"
    elif np.ptp(ranks) == 0:
        reason = "all scores are tied within every block"
    w = math.nan if reason else float(_w(ranks)[0])
    chosen = interval or "f"
    bounds_found: Interval | None = None
    notes: list[Note] = []
    corrected = math.nan
    if not reason:
        corrected = (n * w - 1) / (n - 1)
        if chosen == "f":
            limits = _f_interval(ranks, cluster, w, level)
            method = "noncentral F inversion" + ("" if cluster is None else " over clusters")
            if limits is None:
                where = "every item orders the conditions alike" if w >= 1 else "W is 0"
                where = where if w in {0.0, 1.0} else "there are fewer than 3 items or clusters"
                message = f"No interval: {where}, so the F inversion has no two limits."
                notes.append(Note(code="boundary", message=message))
            else:
                bounds_found = Interval(low=limits[0], high=limits[1], level=level, method=method)
        elif chosen == "bootstrap":
            boot = cluster_bootstrap(
                ranks, _w, cluster=cluster, n_resamples=n_resamples, level=level, seed=seed,
                vectorized=True, names=("W",), method="bca",
            )  # fmt: skip
            notes += boot.notes
            notes += undercoverage("The bootstrap of Kendall's W", w < 0.4)
            bounds_found = boot.interval if math.isfinite(boot.interval.low) else None
    return Estimate(
        name="kendalls_w",
        label="Kendall's W",
        estimator="tie-corrected chi-squared / (N (k - 1))",
        estimate=w,
        interval=bounds_found,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
        details={"mean_rank_correlation": corrected},
    )


@with_keywords()
def kendalls_w(
    scores: object,
    data: object = None,
    *,
    names: Any = None,
    interval: IntervalMethod | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Resampled],
) -> Estimate:
    r"""Kendall's coefficient of concordance of items that order the same conditions.

    Parameters
    ----------
    scores : array-like of shape (N, k), DataFrame, or str
        Items in rows, conditions in columns; or ``"score ~ condition | item"``.
    data : DataFrame, optional
        The long frame of the formula.
    names : sequence, optional
        Labels of the conditions.
    interval : {"f", "bootstrap", "none"}, optional
        Inversion of the noncentral F (default; with `cluster` over the clusters' mean rank
        profiles), or the BCa bootstrap over items or clusters, which misses small concordances
        (docs/simulations/coverage_ranks.csv).
    missing : {"drop", "raise"}
        What to do with items that lack a score.

    Returns
    -------
    Estimate
        ``details["mean_rank_correlation"]`` is the mean Spearman correlation of two items,
        (N W - 1) / (N - 1) without ties, which has no upward bias.

    Raises
    ------
    InputError
        If the data cannot be read as blocks.

    Notes
    -----
    :math:`W = \chi^2_F / (N (k - 1))`, tie-corrected as ``irr::kendall(correct = TRUE)``. With
    nothing to find W averages 1 / N, not 0. The interval is for the concordance of the population
    of items, :math:`\omega = \lim_{N\to\infty} W = \sum_j \tau_j^2 / T`, :math:`\tau_j` the mean
    centred rank of condition j and T the mean within-item sum of squares. Iman and Davenport's F is
    about noncentral F with :math:`\lambda = N \sum \tau_j^2 / s^2`, :math:`s^2` the residual
    variance of the ranks; the limits are :math:`\lambda s^2 / (N T)` at the two :math:`\lambda` for
    which the observed F is a tail quantile, the upper one never below W itself. Its coverage and
    that of the bootstrap, which resamples W's upward bias and misses small concordances, are in
    docs/simulations/coverage_ranks.csv.

    References
    ----------
    Kendall & Babington Smith (1939), Ann. Math. Statist. 10, 275-287.

    Examples
    --------
    >>> w = kendalls_w([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    >>> round(w.estimate, 4), round(w.interval.low, 3), round(w.interval.high, 3)
    (0.5625, 0.0, 1.0)
    """
    where = "kendalls_w"
    one_of(where, "interval", interval, (None, "f", "bootstrap", "none"))
    blocks = read_blocks(
        scores, data, where=where, names=names, cluster=inference["cluster"], missing=missing
    )
    ranks = level_ranks(blocks.scores, axis=1)
    return concordance_of_ranks(
        ranks,
        cluster=blocks.cluster,
        sample=blocks.sample,
        level=inference["level"],
        seed=inference["seed"],
        interval=interval,
        n_resamples=inference["n_resamples"],
    )


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
