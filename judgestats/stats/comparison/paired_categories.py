"""McNemar's, Cochran's, and marginal symmetry tests of paired verdicts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import count_noun
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.paired import tail_p
from judgestats.stats.designs.blocks import read_blocks
from judgestats.stats.designs.count_table import square_table
from judgestats.stats.designs.groups import Missing
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.distributions import proportion_limits
from judgestats.stats.inference.estimate import Estimate, Interval, Note, Sample
from judgestats.stats.inference.jackknife import MeanOverClusters, mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, Permuted, with_keywords
from judgestats.stats.inference.multiplicity import Adjustment, with_adjusted
from judgestats.stats.inference.rank_distributions import signed_rank_null
from judgestats.stats.inference.result import Comparison, Comparisons, TestResult

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


Distribution = Literal["chi2", "exact", "permutation"]


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

    def mcnemar(
        self,
        *,
        adjust: Adjustment = "holm",
        distribution: McNemarP = "exact",
        level: float = 0.95,
    ) -> Comparisons:
        """All pairs by McNemar's test (exact over sign changes of clusters where there are any).

        With clusters the statistic is the number of items with 1 in the first only, less those
        with 1 in the second only, and the interval Student's t over clusters.
        """
        a, b = np.triu_indices(len(self.conditions), 1)
        results = [
            mcnemar_test(
                self.verdicts[:, i],
                self.verdicts[:, j],
                distribution=distribution,
                cluster=self.cluster,
                level=level,
            )
            for i, j in zip(a, b, strict=True)
        ]
        rates = self.verdicts.sum(axis=0) / (len(self.verdicts) or math.nan)
        rows = []
        for i, j, test in zip(a, b, results, strict=True):
            interval = test.effects[1].interval
            if interval is not None:
                # mcnemar_test counts the smaller label (0); the rates here are those of 1.
                interval = dataclasses.replace(interval, low=-interval.high, high=-interval.low)
            rows.append(
                Comparison(
                    a=self.conditions[int(i)],
                    b=self.conditions[int(j)],
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
            adjust=adjust,
            family=f"pairs of {len(self.conditions)} conditions",
            rows=with_adjusted(rows, adjust),
            sample=self.sample,
            notes=self.notes,
        )


@with_keywords()
def cochran_q_test(
    verdicts: object,
    data: object = None,
    *,
    names: Sequence[Any] | None = None,
    distribution: Distribution | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Permuted],
) -> CochranResult:
    r"""Cochran's Q test of several yes / no verdicts on the same items.

    Parameters
    ----------
    verdicts : array-like of shape (N, k), DataFrame, or str
        0 / 1 (or booleans), items in rows; or ``"correct ~ judge | item"``.
    data, names, missing
        See `friedman_test`.
    distribution : {"chi2", "exact", "permutation"}, optional
        Chi-squared (default), the exact distribution (at most 7 conditions, few items), or
        permutation within items (default with `cluster`, jointly in a cluster).

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
    one_of(where, "distribution", distribution, (None, "chi2", "exact", "permutation"))
    blocks = read_blocks(
        verdicts, data, where=where, names=names, cluster=inference["cluster"], missing=missing
    )
    matrix = blocks.scores
    strange = matrix[~np.isin(matrix, (0.0, 1.0))]
    if strange.size:
        raise InputError(
            f"{where}: verdicts must be 0 or 1, got {strange[0]:g}. Code the verdict that counts "
            "as 1 and every other as 0."
        )
    ranked = friedman_test(
        matrix,
        names=blocks.conditions,
        cluster=blocks.cluster,
        distribution=distribution,
        level=inference["level"],
        n_permutations=inference["n_permutations"],
        seed=inference["seed"],
    )
    reason = ranked.reason
    if reason.startswith("all scores"):
        reason = "every item has the same verdict under all conditions"
    q = ranked.statistic
    p = ranked.p_value
    if not math.isnan(q) and blocks.cluster is None and distribution is None:
        p = float(distributions.chi2.sf(q, matrix.shape[1] - 1))
    informative = int(np.sum(np.ptp(matrix, axis=1) > 0)) if matrix.size else 0
    notes = list(blocks.notes)
    if not reason and informative * matrix.shape[1] < 24:
        message = (
            f"Only {count_noun(informative, 'item tells', 'items tell')} the conditions apart: "
            "chi-squared is rough there; ask "
            "for distribution='exact' or 'permutation'."
        )
        notes.append(Note(code="few_informative_items", message=message))
    suffix = ranked.method.removeprefix("Friedman rank sum test").removeprefix("Exact ")
    prefix = "Exact " if ranked.method.startswith("Exact") else ""
    return CochranResult(
        name=where,
        method=f"{prefix}Cochran's Q test" + (suffix if "permutation" in suffix else ""),
        statistic=q,
        statistic_name="Cochran's Q",
        df=ranked.df,
        p_value=p,
        sample=blocks.sample,
        null_hypothesis="the conditions have the same rate",
        why="Cochran's Q was used because several yes / no verdicts are about the same items.",
        effects=ranked.effects,
        estimates=MappingProxyType(
            {
                f"rate {c}": float(m)
                for c, m in zip(
                    blocks.conditions,
                    matrix.mean(axis=0) if matrix.size else [],
                    strict=bool(matrix.size),
                )
            }
        ),
        data_name=blocks.data_name,
        notes=tuple(notes),
        reason=reason,
        details=MappingProxyType({"informative_items": informative}),
        verdicts=matrix,
        conditions=blocks.conditions,
        cluster=blocks.cluster,
    )


def stuart_maxwell_test(
    x: object, y: object = None, *, categories: Sequence[Any] | None = None
) -> TestResult:
    r"""Stuart and Maxwell's test: do two paired verdicts use the categories equally often?

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Verdicts of the same items; or a square table alone.
    categories : sequence, optional

    Returns
    -------
    TestResult

    Raises
    ------
    InputError
        If the shapes do not fit.

    Notes
    -----
    :math:`\chi^2 = d' S^- d` with d the differences of the margins, :math:`S_{ii} = n_{i.} + n_{.i}
    - 2 n_{ii}`, :math:`S_{ij} = -(n_{ij} + n_{ji})`; df the rank of S (K - 1 where the categories
    are connected by changes). As ``irr::stuart.maxwell.mh``, which drops unused categories too.

    References
    ----------
    Stuart (1955), Biometrika 42, 412-416; Maxwell (1970), Br. J. Psychiatry 116, 651-655.

    Examples
    --------
    >>> result = stuart_maxwell_test([[20, 5, 3], [9, 15, 4], [1, 8, 12]])
    >>> round(result.statistic, 4), result.df["df"]
    (0.3824, 2.0)
    """
    where = "stuart_maxwell_test"
    table, labels, n_excluded = square_table(x, y, where=where, categories=categories)
    d = table.sum(axis=1) - table.sum(axis=0)
    spread = -(table + table.T)
    np.fill_diagonal(spread, table.sum(axis=1) + table.sum(axis=0) - 2 * np.diag(table))
    df = int(np.linalg.matrix_rank(spread, tol=1e-9 * max(float(table.sum()), 1.0)))
    reason = "" if df else "the two verdicts never differ"
    statistic = math.nan
    if not reason:
        inverse = np.linalg.pinv(spread, rcond=1e-10, hermitian=True)
        statistic = float(d @ inverse @ d)
    notes: tuple[Note, ...] = ()
    if not reason and df < table.shape[0] - 1:
        message = f"Changes connect the categories incompletely: {df} degrees of freedom."
        notes = (Note(code="reduced_df", message=message),)
    return _table_result(
        where,
        "Stuart-Maxwell test of marginal homogeneity",
        statistic,
        float(df),
        table,
        n_excluded,
        notes,
        reason,
        null="both verdicts use every category equally often",
        why="The Stuart-Maxwell test was used because two verdicts with several categories are "
        "paired and their rates are compared.",
        labels=labels,
        data_name="x and y" if y is not None else "table",
    )


def _table_result(
    name: str,
    method: str,
    statistic: float,
    df: float,
    table: Floats,
    n_excluded: int,
    notes: tuple[Note, ...],
    reason: str,
    *,
    null: str,
    why: str,
    labels: tuple[str, ...],
    data_name: str,
) -> TestResult:
    sample = Sample(
        n_items=int(table.sum()),
        excluded={"missing verdict": n_excluded},
    )
    n = float(table.sum())
    moved = 1 - float(np.trace(table)) / n if n else math.nan
    low, high = proportion_limits(n - float(np.trace(table)), n) if n else (math.nan, math.nan)
    rates = {}
    # Without a single pair there are no categories either, only an empty 1 x 1 table.
    for label, row, column in zip(labels, table.sum(axis=1), table.sum(axis=0), strict=bool(n)):
        rates[f"rate of {label}, first minus second"] = float(row - column) / n if n else math.nan
    return TestResult(
        name=name,
        method=method,
        statistic=statistic,
        statistic_name="chi-squared",
        df=MappingProxyType({"df": df}),
        p_value=math.nan if reason else float(distributions.chi2.sf(statistic, df)),
        sample=sample,
        null_hypothesis=null,
        why=why,
        effects=(
            Estimate(
                name="share_changed",
                label="share of items on which the verdicts differ",
                estimator="1 - raw agreement, Wilson interval",
                estimate=moved,
                interval=Interval(low=low, high=high, level=0.95, method="wilson") if n else None,
                sample=sample,
                reason="" if n else "there are no pairs",
            ),
        ),
        estimates=MappingProxyType(rates),
        data_name=data_name,
        notes=notes,
        reason=reason,
    )
