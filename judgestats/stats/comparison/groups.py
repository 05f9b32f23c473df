"""Mann-Whitney and Kruskal-Wallis tests with effect sizes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.comparison.effects import dominance
from judgestats.stats.comparison.paired import (
    ALTERNATIVES,
    Alternative,
    continuity,
    normal_p,
    shift_estimate,
    tail_p,
)
from judgestats.stats.designs.groups import Groups, Missing, read_groups, read_two_samples
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_bootstrap
from judgestats.stats.inference.distributions import share_interval, studentized_range_sf
from judgestats.stats.inference.estimate import Estimate, Interval, Note
from judgestats.stats.inference.keywords import Clustered, Permutations, Permuted, with_keywords
from judgestats.stats.inference.multiplicity import Adjustment, p_adjust, with_adjusted
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.rank_distributions import level_ranks, rank_sum_null
from judgestats.stats.inference.result import Comparison, Comparisons, TestResult


def _rank_share(counts: Floats, sums: Floats, squares: Floats, weights: Floats) -> Floats:
    """Between-group share of the rank variance for rows of cluster counts (B, G).

    `counts`, `sums` (G, k) and `squares` (G,) are the clusters' sums over their values.
    """
    size, total = weights @ counts, weights @ sums
    n = size.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = total.sum(axis=1) ** 2 / n
        between = np.sum(np.where(size > 0, total**2 / size, 0.0), axis=1)
        result: Floats = (between - middle) / (weights @ squares - middle)
    return result


def rank_share_effects(
    data: Groups, ranks: Floats, h: float, reason: str, level: float, seed: int | None
) -> tuple[Estimate, Estimate]:
    """Rank epsilon squared and rank eta squared with the interval of what both estimate."""
    n, k = data.values.size, len(data.names)
    epsilon = h / (n - 1) if not reason else math.nan
    eta = (h - k + 1) / (n - k) if not reason and n > k else math.nan
    interval: Interval | None = None
    notes: list[Note] = []
    if not reason and data.cluster is not None:
        n_clusters = int(data.cluster.max()) + 1
        centred = ranks - ranks.mean()
        counts, sums = np.zeros((2, n_clusters, k))
        np.add.at(counts, (data.cluster, data.codes), 1.0)
        np.add.at(sums, (data.cluster, data.codes), centred)
        boot = cluster_bootstrap(
            (counts, sums, np.bincount(data.cluster, weights=centred**2)),
            _rank_share,
            level=level,
            seed=seed,
            vectorized=True,
            names=("epsilon squared",),
        )
        notes += boot.notes
        interval = boot.interval if math.isfinite(boot.interval.low) else None
    elif not reason and n > k and 0 < epsilon < 1:
        f = (epsilon / (k - 1)) / ((1 - epsilon) / (n - k))
        low, high = share_interval(f, k - 1, n - k, n, level)
        interval = Interval(
            low=low, high=max(high, epsilon), level=level, method="noncentral F on ranks"
        )
    elif not reason:
        message = "No interval: the groups' ranks coincide or separate completely."
        notes.append(Note(code="boundary", message=message))
    first = Estimate(
        name="epsilon_squared",
        label="rank epsilon squared",
        estimator="H / (n - 1)",
        estimate=epsilon,
        interval=interval,
        sample=data.sample,
        notes=tuple(notes),
        reason=reason,
    )
    second = first.replace(
        name="eta_squared_ranks",
        label="rank eta squared",
        estimator="(H - k + 1) / (n - k), not cut at 0",
        estimate=eta,
        interval=interval if n > k else None,
        reason=reason or ("" if n > k else "every group holds one value, so n - k is 0"),
    )
    return first, second


def group_permutation_p(
    centred: Floats, data: Groups, *, side: str, **inference: Unpack[Permutations]
) -> tuple[float, str]:
    """Permutation p of a rank statistic of groups, and what was permuted.

    ``two-sided`` takes sum_j S_j^2 / n_j (for two groups the squared rank sum); ``greater`` and
    ``less`` take the first group's rank sum. Where a cluster holds several groups, labels move
    within clusters; otherwise whole clusters change groups, and group sizes may then vary.
    """
    k = len(data.names)
    codes, cluster = data.codes, data.cluster
    weights, sums = np.ones(codes.size), centred
    strata: Ints | None = None
    what = "over values"
    if cluster is not None:
        n_clusters = int(cluster.max()) + 1
        first = np.zeros(n_clusters, dtype=np.int64)
        first[cluster] = codes
        differs = first[cluster] != codes
        if differs.any():
            mixed = np.unique(cluster[differs]).size
            strata, what = cluster, f"within clusters, {mixed} of {n_clusters} hold several groups"
        else:
            weights = np.bincount(cluster, minlength=n_clusters).astype(float)
            sums = np.bincount(cluster, weights=centred, minlength=n_clusters).astype(float)
            codes, what = first, "over whole clusters"

    def statistic(labels: Ints) -> Floats:
        total: Floats = np.zeros(labels.shape[0])
        if side != "two-sided":
            # The mean centred rank of the first group: group sizes vary when clusters move.
            here = labels == 0
            return np.asarray((here @ sums) / (here @ weights), dtype=float)
        for g in range(k):
            here = labels == g
            total = total + np.asarray((here @ sums) ** 2 / (here @ weights), dtype=float)
        return total

    null = permutation_distribution(
        codes,
        statistic,
        scheme="labels",
        strata=strata,
        **inference,
        alternative="less" if side == "less" else "greater",
        vectorized=True,
    )
    return null.null.p_value, what


_WHY = (
    "The Mann-Whitney test was used because the two samples are independent; it asks whether a "
    "value of one tends to exceed a value of the other."
)


def mann_whitney_outcome(
    x: Floats, y: Floats, alternative: Alternative, exact: bool | None, correct: bool
) -> dict[str, Any]:
    """Statistic W (U of x), p-value and method."""
    n, m = x.size, y.size
    method = "Wilcoxon rank sum test"
    undefined = {"statistic": math.nan, "p_value": math.nan, "z": math.nan, "method": method}
    if n == 0 or m == 0:
        return undefined | {"reason": "a sample is empty"}
    ranks = level_ranks(np.concatenate([x, y]))
    if np.ptp(ranks) == 0:
        return undefined | {"reason": "all values are equal"}
    w = float(ranks[:n].sum()) - n * (n + 1) / 2
    centred = w - n * m / 2
    total = n + m
    spread = math.sqrt(
        n * m / (total * (total - 1)) * float(np.sum((ranks - (total + 1) / 2) ** 2))
    )
    untied = np.unique(ranks).size == total
    out = {"statistic": w, "z": centred / spread, "reason": ""}
    if (n < 50 and m < 50 and untied) if exact is None else exact:
        scores = np.arange(1, total + 1) if untied else np.rint(2 * ranks).astype(np.int64)
        null = rank_sum_null(scores, n)
        observed = round(float(ranks[:n].sum()) * (1 if untied else 2))
        centre = n * float(scores.sum()) / total
        p = tail_p(null, observed, centre, alternative)
        return out | {"p_value": p, "method": "Wilcoxon rank sum exact test"}
    z = (centred - continuity(centred, alternative, correct)) / spread
    method += " with continuity correction" if correct else ""
    return out | {"p_value": normal_p(z, alternative), "method": method}


@with_keywords()
def mann_whitney_test(
    x: ArrayLike | str,
    y: object = None,
    *,
    alternative: Alternative = "two-sided",
    exact: bool | None = None,
    correct: bool = True,
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Permuted],
) -> TestResult:
    r"""Mann-Whitney test: do two independent samples differ in location?

    Parameters
    ----------
    x, y : array-like
        Two samples; or ``"score ~ group"`` and a frame with two groups.
    alternative : {"two-sided", "greater", "less"}
        ``greater``: x tends to be larger than y.
    exact : bool, optional
        Default R's rule: exact where both samples are below 50 and nothing is tied. True: exact
        given the ties (shift algorithm, as exactRankTests and coin). False: normal.
    correct : bool
        Continuity correction of the normal approximation, as R's default.
    names : sequence, optional
        Names of the two samples.
    cluster : array-like or str, optional
        Cluster of each value (x first, then y), or the frame's column: p by permutation, of labels
        within clusters that hold both groups, otherwise of whole clusters.
    missing : {"drop", "raise"}
        Missing values are left out and counted, or refused.

    Returns
    -------
    TestResult
        Effects: rank-biserial correlation (Cliff's delta), Hodges-Lehmann shift.

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    Notes
    -----
    :math:`W = \sum_{i \le n} r_i - n(n+1)/2`, the number of pairs with x above y, ties half.
    scipy's ``mannwhitneyu(method="auto")`` is asymptotic with ties and exact up to 8 values
    only; own code, held to R. On paired items `wilcoxon_signed_rank` is primary.

    References
    ----------
    Mann & Whitney (1947), Ann. Math. Statist. 18, 50-60.

    Examples
    --------
    >>> result = mann_whitney_test([5.1, 6.2, 7.3, 8.4], [4.0, 4.5, 5.0, 6.0])
    >>> result.statistic, round(result.p_value, 6), round(result.effect.estimate, 3)
    (15.0, 0.057143, 0.875)
    """
    where = "mann_whitney_test"
    one_of(where, "alternative", alternative, ALTERNATIVES)
    data = read_two_samples(
        x, y, where=where, names=names, cluster=inference["cluster"], missing=missing
    )
    first, second = data.group_values()
    a, b = data.names
    outcome = mann_whitney_outcome(first, second, alternative, exact, correct)
    notes = list(data.notes)
    codes = None
    if data.cluster is not None:
        codes = np.concatenate([data.cluster[data.codes == g] for g in (0, 1)])
        if not outcome["reason"]:
            ranks = level_ranks(data.values)
            p, what = group_permutation_p(
                ranks - ranks.mean(),
                data,
                n_permutations=inference["n_permutations"],
                seed=inference["seed"],
                side=alternative,
            )
            outcome |= {
                "p_value": p,
                "method": "Wilcoxon rank sum test "
                f"({inference['n_permutations']} permutations of labels {what})",
                "p_floor": 1 / (inference["n_permutations"] + 1),
            }
    shift = shift_estimate(
        first,
        second,
        sample=data.sample,
        correct=correct,
        level=inference["level"],
    )
    if data.cluster is not None:
        message = "No interval: the shift's interval takes values as independent."
        shift = shift.replace(interval=None, notes=(Note(code="no_interval", message=message),))
    side = {"two-sided": "differs from", "greater": "tends to exceed", "less": "tends to lie below"}
    return TestResult(
        name=where,
        method=outcome["method"],
        statistic=outcome["statistic"],
        statistic_name="W",
        p_value=outcome["p_value"],
        sample=data.sample,
        null_hypothesis=f"{a} and {b} are alike",
        alternative=f"{a} {side[alternative]} {b}",
        why=_WHY,
        effects=(
            dominance(
                first,
                second,
                sample=data.sample,
                interval=None,
                cluster=codes,
                level=inference["level"],
                seed=inference["seed"],
            ),
            shift,
        ),
        data_name=data.data_name if isinstance(x, str) else f"{a} and {b}",
        notes=tuple(notes),
        reason=outcome["reason"],
        details=MappingProxyType(
            {"z": outcome["z"], "sizes": (first.size, second.size)}
            | {k: v for k, v in outcome.items() if k == "p_floor"}
        ),
    )


def pairwise_mann_whitney(
    values: object,
    groups: object = None,
    *,
    adjust: Adjustment = "holm",
    exact: bool | None = None,
    correct: bool = True,
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
    level: float = 0.95,
) -> Comparisons:
    """Mann-Whitney tests of all pairs of groups, adjusted as one family.

    Parameters
    ----------
    values, groups, names, missing
        See `kruskal_test`.
    adjust : str
        See `p_adjust`.
    exact, correct
        See `mann_whitney_test`.
    level : float
        Level of the shifts' intervals (each by itself, not simultaneous).

    Returns
    -------
    Comparisons
        Estimate: Hodges-Lehmann shift a - b; effect: Cliff's delta.

    Raises
    ------
    InputError
        If the data cannot be read as groups.

    Notes
    -----
    As R's ``pairwise.wilcox.test``. Unlike Dunn's test, every pair is ranked by itself.

    Examples
    --------
    >>> family = pairwise_mann_whitney({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8], "c": [2, 9, 10, 11]})
    >>> [round(r.p_adjusted, 4) for r in family.rows]
    [0.0857, 0.293, 0.3429]
    """
    where = "pairwise_mann_whitney"
    data = read_groups(values, groups, where=where, names=names, missing=missing)
    samples = data.group_values()
    pairs = [(i, j) for i in range(len(samples)) for j in range(i + 1, len(samples))]
    if not pairs:
        raise InputError(
            f"{where}: at least 2 groups are required, got {len(samples)}. Check the labels."
        )
    rows = []
    for i, j in pairs:
        x, y = samples[i], samples[j]
        outcome = mann_whitney_outcome(x, y, "two-sided", exact, correct)
        shift = shift_estimate(x, y, sample=data.sample, correct=correct, level=level)
        delta = dominance(
            x, y, sample=data.sample, interval="none", cluster=None, level=level
        ).estimate
        rows.append(
            Comparison(
                a=data.names[i],
                b=data.names[j],
                estimate=shift.estimate,
                estimate_name="location_shift",
                statistic=outcome["statistic"],
                p_value=outcome["p_value"],
                interval=shift.interval,
                effect=delta,
                effect_name="cliffs_delta",
                n=x.size + y.size,
                reason=outcome["reason"],
            )
        )
    return Comparisons(
        symbol="W",
        name=where,
        method="Pairwise Mann-Whitney tests",
        adjust=adjust,
        family=f"pairs of {len(samples)} groups",
        rows=with_adjusted(rows, adjust),
        sample=data.sample,
        notes=data.notes,
    )


_SYMBOLS = {"conover": "t", "dunn": "z", "nemenyi": "q"}
"""Of the statistics of the tests that follow."""

Distribution = Literal["chi2", "permutation"]

_KRUSKAL_WALLIS_WHY = (
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
                    estimate_name="mean_rank_difference",
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
        why=_KRUSKAL_WALLIS_WHY,
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
