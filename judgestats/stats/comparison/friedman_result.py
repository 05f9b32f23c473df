"""What Friedman's test returns: the omnibus result, from which the post hoc tests follow."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.inference import distributions
from judgestats.stats.inference.adjust import Adjustment, p_adjust
from judgestats.stats.inference.keywords import Permutations, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.rank_distributions import rank_difference_null
from judgestats.stats.inference.result import Comparison, Comparisons, Interval, Note, TestResult
from judgestats.stats.inference.studentized_range import studentized_range_isf, studentized_range_sf
from judgestats.stats.layouts.formula import level_label

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
                    estimate_name="difference of mean ranks",
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
