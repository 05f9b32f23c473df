"""McNemar's test of two paired yes-or-no verdicts, exact, mid-p, chi-squared or by cluster."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Literal, Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.comparison.wilcoxon import tail_p
from judgestats.stats.inference import distributions
from judgestats.stats.inference.cluster_jackknife import MeanOverClusters, mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.proportions import proportion_limits
from judgestats.stats.inference.rank_distributions import signed_rank_null
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample, TestResult
from judgestats.stats.layouts.square_table import square_table

McNemarP = Literal["exact", "mid-p", "chi2"]


@with_keywords()
def mcnemar_test(
    x: object,
    y: object = None,
    *,
    distribution: McNemarP = "exact",
    correct: bool = True,
    **inference: Unpack[Clustered],
) -> TestResult:
    r"""McNemar's test: do two yes / no verdicts on the same items differ in rate?

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Verdicts with two values; or a 2 x 2 table (rows x, columns y) alone.
    distribution : {"exact", "mid-p", "chi2"}
        Exact binomial (default), mid-p (less conservative, can be liberal), or chi-squared as R's
        ``mcnemar.test``.
    correct : bool
        Edwards' continuity correction of chi-squared.
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
        If there are more than two categories.

    Notes
    -----
    With b pairs (first, second category) and c pairs (second, first): b ~ Binomial(b + c, 1/2); the
    statistic printed for the exact test is b. Chi-squared: :math:`(|b-c|-1)^2/(b+c)`. The odds
    ratio is b / c as exact2x2's ``mcnemar.exact``.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157; Fagerland, Lydersen & Laake (2013), BMC Med. Res.
    Methodol. 13, 91; Bonett & Price (2012), Stat. Methods Med. Res. 21, 479-493.

    Examples
    --------
    >>> result = mcnemar_test([[22, 14], [11, 33]])
    >>> result.statistic, round(result.p_value, 6), round(result.effect.estimate, 4)
    (14.0, 0.690038, 1.2727)
    """
    where = "mcnemar_test"
    one_of(where, "distribution", distribution, ("exact", "mid-p", "chi2"))
    table, labels, n_excluded = square_table(x, y, where=where)
    if table.shape[0] > 2:
        raise InputError(
            f"{where}: two categories are required, got {table.shape[0]}: {', '.join(labels)}. Use "
            "stuart_maxwell_test."
        )
    total = float(table.sum())
    b, c = (float(table[0, 1]), float(table[1, 0])) if table.shape[0] == 2 else (0.0, 0.0)
    n = b + c
    reason = "" if n else "the two verdicts never differ"
    statistic, p, symbol, df = math.nan, math.nan, "b", {}
    method = "McNemar's exact test"
    n_clusters, rates = None, None
    if inference["cluster"] is not None:
        if y is None:
            raise InputError(
                f"{where}: cluster needs the verdicts of every pair, got a table. Give x and y."
            )
        if n_excluded:
            raise InputError(
                f"{where}: cluster with missing verdicts is not supported, got {n_excluded} "
                "missing. Drop these pairs first."
            )
        difference = _differences(x, y, labels)
        codes = cluster_codes(inference["cluster"], difference.size, where=where)
        p, b_minus_c = _cluster_p(difference, codes)
        n_clusters = int(codes.max(initial=-1)) + 1
        rates = mean_over_clusters(difference, codes) if codes.size else None
        method = "McNemar's test, exact over sign changes of clusters"
        statistic, symbol = b_minus_c, "b - c"
        p = math.nan if reason else p
    elif not reason and distribution == "chi2":
        step = 1.0 if correct and b != c else 0.0
        statistic, symbol, df = (abs(b - c) - step) ** 2 / n, "McNemar's chi-squared", {"df": 1.0}
        p = float(distributions.chi2.sf(statistic, 1))
        method = "McNemar's Chi-squared test" + (" with continuity correction" if correct else "")
    elif not reason:
        statistic = b
        small = min(b, c)
        p = min(1.0, 2 * float(distributions.binom.cdf(small, n, 0.5)))
        if distribution == "mid-p":
            p = 2 * float(distributions.binom.cdf(small, n, 0.5)) - float(
                distributions.binom.pmf(small, n, 0.5)
            )
            p, method = min(1.0, p), "McNemar's mid-p test"
    sample = Sample(
        n_items=int(total),
        n_clusters=n_clusters,
        excluded={"missing verdict": n_excluded},
    )
    first = labels[0] if labels else ""
    return TestResult(
        name=where,
        method=method,
        statistic=statistic,
        statistic_name=symbol,
        df=MappingProxyType(df),
        p_value=p,
        sample=sample,
        null_hypothesis="the two verdicts have the same rate",
        alternative=f"the rates of {first!r} differ",
        why=(
            "McNemar's test was used because both verdicts are about the same items; only items on "
            "which they differ count."
        ),
        effects=_mcnemar_effects(b, c, total, sample, inference["level"], rates, reason),
        estimates=MappingProxyType({"first only (b)": b, "second only (c)": c}),
        data_name="x and y" if y is not None else "table",
        reason=reason,
    )


def _differences(x: object, y: object, labels: tuple[str, ...]) -> Floats:
    """1 where only x has the first category, -1 where only y has it."""
    first = np.array([str(v) == labels[0] for v in np.asarray(x).tolist()], dtype=float)
    second = np.array([str(v) == labels[0] for v in np.asarray(y).tolist()], dtype=float)
    difference: Floats = first - second
    return difference


def _cluster_p(difference: Floats, codes: Ints) -> tuple[float, float]:
    """P-value over sign changes of each cluster's b - c, and the total."""
    net = np.rint(np.bincount(codes, weights=difference)).astype(np.int64)
    null = signed_rank_null(np.abs(net))
    p = tail_p(null, int(net[net > 0].sum()), float(np.abs(net).sum()) / 2, "two-sided")
    return p, float(net.sum())


def _mcnemar_effects(
    b: float,
    c: float,
    total: float,
    sample: Sample,
    level: float,
    over_clusters: MeanOverClusters | None,
    reason: str,
) -> tuple[Estimate, Estimate]:
    ratio = math.nan if reason else (b / c if c else math.inf)
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
