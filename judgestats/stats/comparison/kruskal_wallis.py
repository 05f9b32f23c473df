"""Kruskal and Wallis' test of independent groups with Dunn's and Conover's post hoc tests."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.comparison.group_permutation import group_permutation_p
from judgestats.stats.comparison.kruskal_effects import rank_share_effects
from judgestats.stats.inference import distributions
from judgestats.stats.inference.adjust import Adjustment, p_adjust
from judgestats.stats.inference.keywords import Clustered, Permuted, with_keywords
from judgestats.stats.inference.result import (
    Comparison,
    Comparisons,
    Estimate,
    Note,
    TestResult,
)
from judgestats.stats.inference.rounding_noise import level_ranks
from judgestats.stats.inference.studentized_range import studentized_range_sf
from judgestats.stats.layouts.formula import Missing
from judgestats.stats.layouts.groups import read_groups

_SYMBOLS = {"conover": "t", "dunn": "z", "nemenyi": "q"}
"""Of the statistics of the tests that follow."""

Distribution = Literal["chi2", "permutation"]

_WHY = (
    "The Kruskal-Wallis test was used because the groups are independent and only the order of "
    "the values is compared."
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class KruskalResult(TestResult):
    """Kruskal and Wallis' test with what its post hoc tests need.

    Attributes
    ----------
    groups : tuple of str
    sizes, mean_ranks : ndarray, shape (k,)
    rank_variance : float
        Variance of the pooled ranks (n - 1 divisor), which holds the ties.
    h : float
        The tie-corrected H, whatever the p-value came from.
    """

    groups: tuple[str, ...]
    sizes: Ints = dataclasses.field(compare=False)
    mean_ranks: Floats = dataclasses.field(compare=False)
    rank_variance: float
    h: float

    def dunn(self, *, adjust: Adjustment = "holm") -> Comparisons:
        """All pairs by Dunn's normal test on mean ranks, tie-corrected, two-sided."""
        difference, scale, a, b = self._pairs()
        with np.errstate(divide="ignore", invalid="ignore"):
            z = difference / np.sqrt(self.rank_variance * scale)
        raw = 2 * distributions.norm.sf(np.abs(z))
        return self._family(
            "dunn", "Dunn's all-pairs test after Kruskal-Wallis", adjust, (a, b, difference, z, raw)
        )

    def conover(self, *, adjust: Adjustment = "holm") -> Comparisons:
        """All pairs by Conover and Iman's t test on ranks, df n - k; for after a rejection only."""
        difference, scale, a, b = self._pairs()
        n, k = int(self.sizes.sum()), len(self.groups)
        rest = (n - 1 - self.h) / (n - k) if n > k else math.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            t = difference / np.sqrt(self.rank_variance * max(rest, 0.0) * scale)
        raw = 2 * distributions.t.sf(np.abs(t), n - k)
        return self._family(
            "conover",
            "Conover-Iman all-pairs test after Kruskal-Wallis",
            adjust,
            (a, b, difference, t, raw),
            df=float(n - k),
        )

    def nemenyi(self) -> Comparisons:
        """All pairs by Nemenyi's test (studentised range, no tie correction, as PMCMRplus)."""
        difference, scale, a, b = self._pairs()
        n, k = int(self.sizes.sum()), len(self.groups)
        q = difference / np.sqrt(n * (n + 1) / 12 * scale / 2)
        raw = studentized_range_sf(np.abs(q), k=k)
        return self._family(
            "nemenyi",
            "Nemenyi's all-pairs test after Kruskal-Wallis",
            "single-step (studentised range)",
            (a, b, difference, q, raw),
        )

    def _pairs(self) -> tuple[Floats, Floats, Ints, Ints]:
        """Mean-rank differences, 1/n_a + 1/n_b and the index pairs."""
        a, b = np.triu_indices(len(self.groups), 1)
        scale = 1 / self.sizes[a] + 1 / self.sizes[b]
        return self.mean_ranks[a] - self.mean_ranks[b], scale, a, b

    def _family(
        self,
        name: str,
        method: str,
        adjust: str,
        columns: tuple[Any, Any, Any, Any, Any],
        *,
        df: float = math.nan,
    ) -> Comparisons:
        a, b, difference, statistic, raw = columns
        raw = np.where(np.isnan(statistic) | bool(self.reason), np.nan, raw)
        adjusted = raw if name == "nemenyi" else p_adjust(raw, method=adjust)  # type: ignore[arg-type]
        notes = list(self.notes)
        if self.sample.n_clusters is not None:
            message = "These p-values take values as independent, but values share clusters."
            notes.append(Note(code="clusters_ignored", message=message))
        return Comparisons(
            name=name,
            symbol=_SYMBOLS[name],
            method=method,
            adjust=adjust,
            family=f"pairs of {len(self.groups)} groups",
            rows=tuple(
                Comparison(
                    a=self.groups[int(i)],
                    b=self.groups[int(j)],
                    estimate=float(d),
                    estimate_name="difference of mean ranks",
                    statistic=float(s) if not math.isnan(p) else math.nan,
                    df=df,
                    p_value=float(p),
                    p_adjusted=float(q),
                    n=int(self.sizes[int(i)] + self.sizes[int(j)]),
                    reason=(self.reason or "the ranks do not vary") if math.isnan(p) else "",
                )
                for i, j, d, s, p, q in zip(a, b, difference, statistic, raw, adjusted, strict=True)
            ),
            sample=self.sample,
            notes=tuple(notes),
        )


@with_keywords()
def kruskal_test(
    values: object,
    groups: object = None,
    *,
    distribution: Distribution | None = None,
    ties: Literal["rounded", "exact"] = "rounded",
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Permuted],
) -> KruskalResult:
    r"""Kruskal and Wallis' test: do independent groups differ in location?

    Parameters
    ----------
    values : array-like of shape (n,), mapping, list of samples, or str
        Values with their labels in `groups`; or name -> sample; or samples; or
        ``"score ~ group"``.
    groups : array-like of shape (n,) or DataFrame, optional
        Group labels, or the frame of the formula.
    distribution : {"chi2", "permutation"}, optional
        Chi-squared as R (default), or permutation (default with `cluster`): labels are exchanged
        within clusters where a cluster holds several groups, otherwise between whole clusters.
    ties : {"rounded", "exact"}
        Which values are tied: those equal to 12 digits (0.1 + 0.2 and 0.3 are), or bit for bit, as
        scipy and R rank them and hence the studies that used them: for replications.
    names : sequence, optional
        Names of the samples of a list.
    cluster : array-like of shape (n,) or str, optional
        Cluster of each value.
    missing : {"drop", "raise"}
        Missing values are left out and counted, or refused.

    Returns
    -------
    KruskalResult
        With `.dunn()`, `.conover()` and `.nemenyi()`. Effects: rank epsilon squared, rank eta
        squared.

    Raises
    ------
    InputError
        If the data cannot be read as groups.

    Notes
    -----
    :math:`H = (n-1) \sum_j n_j (\bar R_j - \bar R)^2 / \sum_i (r_i - \bar R)^2`, tie-corrected as
    R's ``kruskal.test``. scipy's ``kruskal`` gives the same H; pingouin's has no effect size. Rank
    eta squared may be negative (rstatix); effectsize cuts it at 0. The interval is for the share of
    the variance of the ranks that lies between the groups, by inverting the noncentral F of the
    ranks; with `cluster` it is a BCa bootstrap over clusters, which cannot reach 0. On paired items
    `friedman_test` is primary.

    References
    ----------
    Kruskal & Wallis (1952), JASA 47, 583-621; Dunn (1964), Technometrics 6, 241-252; Conover &
    Iman (1979), LA-7677-MS.

    Examples
    --------
    >>> result = kruskal_test({"a": [1, 2, 3, 4], "b": [3, 5, 6, 7], "c": [6, 8, 9, 9]})
    >>> round(result.statistic, 4), round(result.p_value, 5)
    (8.1723, 0.0168)
    >>> [(r.a, r.b, round(r.p_adjusted, 4)) for r in result.dunn().rows][1]
    ('a', 'c', 0.0128)
    """
    where = "kruskal_test"
    one_of(where, "distribution", distribution, (None, "chi2", "permutation"))
    data = read_groups(
        values, groups, where=where, names=names, cluster=inference["cluster"], missing=missing
    )
    n, k = data.values.size, len(data.names)
    if k < 2:
        raise InputError(
            f"{where}: at least 2 groups with values are required, got {k}. Check the labels."
        )
    one_of(where, "ties", ties, ("rounded", "exact"))
    ranks = level_ranks(data.values) if ties == "rounded" else distributions.ranks(data.values)
    variance = float(ranks.var(ddof=1)) if n > 1 else 0.0
    reason = "all values are equal" if variance == 0 else ""
    sizes = data.sizes
    means = np.bincount(data.codes, weights=ranks, minlength=k) / sizes
    h = math.nan if reason else float(np.sum(sizes * (means - (n + 1) / 2) ** 2) / variance)
    chosen = distribution or ("chi2" if data.cluster is None else "permutation")
    method = "Kruskal-Wallis rank sum test"
    notes = list(data.notes)
    p = math.nan
    details: dict[str, Any] = {"distribution": chosen, "ties": ties}
    if not reason and chosen == "chi2":
        p = float(distributions.chi2.sf(h, k - 1))
        if data.cluster is not None:
            message = "This p-value takes values as independent, but values share clusters."
            notes.append(Note(code="clusters_ignored", message=message))
    elif not reason:
        p, what = group_permutation_p(
            ranks - (n + 1) / 2,
            data,
            n_permutations=inference["n_permutations"],
            seed=inference["seed"],
            side="two-sided",
        )
        method += f" ({inference['n_permutations']} permutations of labels {what})"
        details |= {"n_permutations": inference["n_permutations"], "seed": inference["seed"]}
    return KruskalResult(
        name=where,
        method=method,
        statistic=h,
        statistic_name="Kruskal-Wallis chi-squared",
        df=MappingProxyType({"df": float(k - 1)}),
        p_value=p,
        sample=data.sample,
        null_hypothesis="the groups are alike",
        why=_WHY,
        effects=rank_share_effects(data, ranks, h, reason, inference["level"], inference["seed"]),
        estimates=MappingProxyType(
            {f"mean rank {g}": float(m) for g, m in zip(data.names, means, strict=True)}
        ),
        data_name=data.data_name,
        notes=tuple(notes),
        reason=reason,
        details=MappingProxyType(details),
        groups=data.names,
        sizes=sizes,
        mean_ranks=means,
        rank_variance=variance,
        h=h,
    )


@with_keywords()
def epsilon_squared(
    values: object, groups: object = None, **inference: Unpack[Clustered]
) -> Estimate:
    """Rank epsilon squared, H / (n - 1): the share of rank variance between groups.

    Parameters
    ----------
    values, groups
        See `kruskal_test`.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as groups.

    Examples
    --------
    >>> round(epsilon_squared([[1, 2, 3, 4], [3, 5, 6, 7], [6, 8, 9, 9]]).estimate, 4)
    0.7429
    """
    return kruskal_test(values, groups, **inference, distribution="chi2").effects[0]
