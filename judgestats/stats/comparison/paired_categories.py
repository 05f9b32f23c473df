"""McNemar's and Cochran's tests of paired verdicts."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints, check_lengths
from judgestats.errors import InputError
from judgestats.results.numbers import count_noun
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.paired import tail_p
from judgestats.stats.designs.score_matrix import read_blocks
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.distributions import proportion_limits
from judgestats.stats.inference.jackknife import MeanOverClusters, mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, Permuted, with_keywords
from judgestats.stats.inference.multiplicity import with_adjusted
from judgestats.stats.inference.rank_distributions import signed_rank_null
from judgestats.stats.inference.result import (
    Comparison,
    Comparisons,
    Estimate,
    Interval,
    Note,
    Sample,
    TestResult,
)


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
        Effects: odds ratio of the discordant pairs (exact interval), difference of the two rates
        (Bonett and Price's adjusted Wald interval; with `cluster` Student's t over clusters, and
        no interval of the odds ratio).

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
        raise InputError(
            f"{where}: two categories are required, got {len(labels)}: "
            f"{', '.join(map(str, labels))}. Compare one category with all others."
        )
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
        p, statistic = _cluster_p(difference, codes)
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
        why=(
            "McNemar's test was used because both verdicts are about the same items; only items on "
            "which they differ count."
        ),
        effects=_mcnemar_effects(b, c, sample, inference["level"], rates, reason),
        estimates=MappingProxyType({"first only (b)": b, "second only (c)": c}),
        data_name="x and y",
        reason=reason,
    )


def _cluster_p(difference: Floats, codes: Ints) -> tuple[float, float]:
    """P-value over sign changes of each cluster's b - c, and the total."""
    net = np.rint(np.bincount(codes, weights=difference)).astype(np.int64)
    null = signed_rank_null(np.abs(net))
    p = tail_p(null, int(net[net > 0].sum()), float(np.abs(net).sum()) / 2)
    return p, float(net.sum())


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
        message = "No interval: it would take pairs as independent, but pairs share clusters."
        notes = (Note(code="no_interval", message=message),)
        rate_interval = over_clusters.interval(level)
    elif not reason:
        low, high = proportion_limits(b, b + c, level=level, method="clopper-pearson")
        odds_interval = Interval(
            low=low / (1 - low),
            high=high / (1 - high) if high < 1 else math.inf,
            level=level,
            method="exact binomial",
        )
    if total > 0 and over_clusters is None:
        up, down = (b + 1) / (total + 2), (c + 1) / (total + 2)
        half = float(distributions.norm.isf((1 - level) / 2)) * math.sqrt(
            (up + down - (up - down) ** 2) / (total + 2)
        )
        rate_interval = Interval(
            low=max(up - down - half, -1.0),
            high=min(up - down + half, 1.0),
            level=level,
            method="Bonett-Price adjusted Wald",
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

    verdicts: Floats = dataclasses.field(repr=False, compare=False)
    conditions: tuple[str, ...]
    cluster: Ints | None = dataclasses.field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values without the verdicts (they are the data)."""
        slim = dataclasses.replace(self, verdicts=np.empty((0, 0)), cluster=None)
        plain = super(CochranResult, slim).to_dict()
        return {k: v for k, v in plain.items() if k not in {"verdicts", "cluster"}}

    def mcnemar(self, *, level: float = 0.95) -> Comparisons:
        """All pairs by McNemar's test (exact over sign changes of clusters), adjusted by Holm.

        With clusters the statistic is the number of items with 1 in the first only, less those
        with 1 in the second only, and the interval Student's t over clusters.
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
        raise InputError(
            f"{where}: verdicts must be 0 or 1, got {strange[0]:g}. Code the verdict that counts "
            "as 1 and every other as 0."
        )
    ranked = friedman_test(
        matrix, names=blocks.conditions, **inference | {"cluster": blocks.cluster}
    )
    reason = ranked.reason
    if reason.startswith("all scores"):
        reason = "every item has the same verdict under all conditions"
    informative = int(np.sum(np.ptp(matrix, axis=1) > 0)) if matrix.size else 0
    notes = list(blocks.notes)
    if not reason and informative * matrix.shape[1] < 24:
        message = (
            f"Only {count_noun(informative, 'item tells', 'items tell')} the conditions apart: "
            "chi-squared is rough there."
        )
        notes.append(Note(code="few_informative_items", message=message))
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
        estimates=MappingProxyType(
            {f"rate {c}": m for c, m in zip(blocks.conditions, rates, strict=bool(rates))}
        ),
        data_name=blocks.data_name,
        notes=tuple(notes),
        reason=reason,
        details=MappingProxyType({"informative_items": informative}),
        verdicts=matrix,
        conditions=blocks.conditions,
        cluster=blocks.cluster,
    )
