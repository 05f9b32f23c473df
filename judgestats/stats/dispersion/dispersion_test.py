"""Tests of dispersion: equality across conditions, and trend along ordered ones."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import adjusted_p, apa_estimate, apa_p, count_noun
from judgestats.results.text import hangs_on
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.comparison.matched import friedman_test
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.comparison.rank_correlation import kendall_of_stack, page_trend_test
from judgestats.stats.designs.cells import Cells, check_scores
from judgestats.stats.dispersion.condition_summary import (
    ConditionSummary,
    condition_summary,
    mean_shift,
)
from judgestats.stats.dispersion.ratios import (
    exchange_test,
    gmd_ratio,
    need_two_conditions,
    variance_cells,
    variance_ratio,
)
from judgestats.stats.inference import RunComponent, distributions, permutation_distribution
from judgestats.stats.inference.bootstrap import cluster_bootstrap, cluster_codes
from judgestats.stats.inference.keywords import (
    P_VALUE,
    Inference,
    Permutations,
    Permuted,
    with_keywords,
)
from judgestats.stats.inference.rank_distributions import level_ranks, noise_free
from judgestats.stats.inference.result import (
    Comparisons,
    Estimate,
    Note,
    Result,
    Sample,
    TestResult,
    notes_block,
)

KENDALL_PERMUTATIONS = 999
"""Kendall's tau over all cells is slow; more permutations are spent on Spearman's rho."""


def _positions(at: Sequence[float] | None, names: tuple[str, ...], *, function: str) -> Floats:
    """Values of the conditions along the order; 1..k where none are given."""
    if at is None:
        return np.arange(1.0, len(names) + 1)
    values = np.asarray(at, dtype=float)
    if values.shape != (len(names),) or not np.all(np.diff(values) > 0):
        raise InputError(
            f"{function}: the ordered conditions need {len(names)} strictly increasing values, got "
            f"{list(at)}."
        )
    return values


def _cell_correlation(y: Floats, at: Floats, kind: str) -> Callable[..., Floats]:
    """Spearman's rho or Kendall's tau-b between condition and value over all cells.

    Parameters
    ----------
    y : ndarray, shape (n, k)
        In increasing order of `at`.
    at : ndarray, shape (k,)
    kind : {"spearman", "kendall"}

    Returns
    -------
    callable
        Of the items (not used: their cells are sorted once) and their weights, shape (B, n), how
        often each is held; gives shape (B,).
    """
    k = y.shape[1]
    values = noise_free(y.ravel())
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(values[order]) > 0])
    item, condition = np.divmod(order, k)
    along = distributions.ranks(at)
    along -= along.mean()

    def level_sums(w: Floats) -> Floats:
        return np.asarray(np.add.reduceat(w, starts, axis=1))

    def spearman(_: Floats, weights: Floats) -> Floats:
        w = weights[:, item]
        counts = level_sums(w)
        cells = counts.sum(axis=1, keepdims=True)
        ranks = np.cumsum(counts, axis=1) - counts / 2 - cells / 2  # ties averaged, less their mean
        crossed = np.sum(level_sums(w * along[condition]) * ranks, axis=1)
        scale = np.sum(counts * ranks**2, axis=1) * cells[:, 0] / k * np.sum(along**2)
        return np.asarray(crossed / np.sqrt(np.where(scale > 0, scale, np.nan)))

    def kendall(_: Floats, weights: Floats) -> Floats:
        w = weights[:, item]
        earlier, score = np.zeros((len(w), starts.size)), np.zeros(len(w))
        for c in range(k):  # against the values under earlier conditions, below it and above it
            here = level_sums(w * (condition == c))
            up_to = np.cumsum(earlier, axis=1)
            score += np.sum(here * (2 * up_to - earlier - up_to[:, -1:]), axis=1)
            earlier += here
        items = weights.sum(axis=1)
        cells = k * items
        pairs, tied_at = cells * (cells - 1) / 2, k * items * (items - 1) / 2
        tied_y = np.sum(earlier * (earlier - 1) / 2, axis=1)
        scale = (pairs - tied_at) * (pairs - tied_y)
        return np.asarray(score / np.sqrt(np.where(scale > 0, scale, np.nan)))

    return spearman if kind == "spearman" else kendall


@with_keywords()
def trend_over_cells(
    Y: ArrayLike,
    *,
    at: Sequence[float] | None = None,
    conditions: Sequence[object] | None = None,
    kind: str = "spearman",
    **inference: Unpack[Inference],
) -> TestResult:
    r"""Rank correlation between condition and cell value over all cells, items kept together.

    Parameters
    ----------
    Y : array-like, shape (N, k)
        One value per cell (a variance, a mean distance); items with a missing cell are left out.
    at : sequence of float, length k, optional
        Increasing values of the conditions (temperatures); default 1..k. Only their order counts.
    conditions : sequence, optional
    cluster : array-like, shape (N,), optional
        Cluster of each item: resampled whole and permuted jointly.
    kind : {"spearman", "kendall"}
        Spearman's rho or Kendall's tau-b.
    n_resamples : int
        Cluster bootstrap of the interval (BCa).
    n_permutations : int
        Exchanges of cells within items for the two-sided p.

    Returns
    -------
    TestResult

    Raises
    ------
    InputError

    Notes
    -----
    The coefficient is the one that published studies print over all N k cells; their p-value takes
    the cells of an item as independent. Here p exchanges cells within items. Because items differ
    in level, the coefficient stays well below 1 even where every item rises: Page's L looks
    within items.

    Examples
    --------
    >>> Y = [[0, 1, 2], [1, 2, 4], [3, 5, 6], [2, 3, 3], [0, 2, 3], [1, 1, 5]]
    >>> out = trend_over_cells(Y, at=[0.1, 0.5, 1.0], n_resamples=199)
    >>> round(out.statistic, 3), out.p_value < 0.01
    (0.667, True)
    """
    function = "trend_over_cells"
    y, names = check_scores(Y, function=function, conditions=conditions, ndims=(2,))
    one_of(function, "kind", kind, ("spearman", "kendall"))
    places = _positions(at, names, function=function)
    codes = cluster_codes(inference["cluster"], y.shape[0], where=function)
    used = ~np.isnan(y).any(axis=1)
    sample = Sample.from_mask(used, "a missing cell", codes)
    y, codes = y[used], codes[used]
    symbol, label = ("rho", "Spearman's rho") if kind == "spearman" else ("tau", "Kendall's tau-b")
    reason = ""
    if y.shape[0] < 2:
        held = count_noun(y.shape[0], "item holds", "items hold")
        reason = f"{held} all conditions; at least 2 are required"
    elif np.ptp(y) == 0:
        reason = "all cells are equal"
    elif np.ptp(places) == 0:
        reason = "one condition has no others to be ordered with"
    result = TestResult(
        name=f"{kind}_trend",
        method=f"{label} between condition and cell value over cells",
        statistic_name=symbol,
        null_hypothesis="the condition does not matter",
        alternative="cell values rise or fall along the conditions",
        why="it is what published studies print; p exchanges cells within items",
        sample=sample,
        reason=reason,
    )
    if reason:
        return result
    coefficient = _cell_correlation(y, places, kind)
    value = float(coefficient(y, np.ones((1, y.shape[0])))[0])
    boot = cluster_bootstrap(
        y,
        coefficient,
        vectorized=True,
        cluster=codes,
        n_resamples=inference["n_resamples"],
        level=inference["level"],
        seed=inference["seed"],
        names=(label,),
    )
    p, n_drawn = math.nan, 0
    if inference["n_permutations"]:
        n_drawn = inference["n_permutations"]
        if kind == "kendall":
            n_drawn = min(n_drawn, KENDALL_PERMUTATIONS)
        exchanged, statistic, cluster = _trend_null(y, places, codes, kind)
        p = permutation_distribution(
            exchanged,
            statistic,
            scheme="cells",
            cluster=cluster,
            n_permutations=n_drawn,
            seed=inference["seed"],
            vectorized=True,
        ).null.p_value
    effect = Estimate(
        name=f"{kind}_{symbol}",
        label=label,
        estimator="over all cells",
        estimate=value,
        interval=boot.interval if math.isfinite(boot.interval.low) else None,
        sample=sample,
    )
    return result.replace(
        statistic=value,
        p_value=p,
        effects=(effect,),
        notes=boot.notes,
        details={"n_permutations": n_drawn, "seed": inference["seed"]},
    )


def _trend_null(
    y: Floats, places: Floats, codes: Ints, kind: str
) -> tuple[Floats, Callable[[Floats], Floats], Ints | None]:
    """What is exchanged, the statistic of a stack of it, and what moves together."""
    if kind == "kendall":
        order = np.tile(places, y.shape[0])

        def kendall(stack: Floats) -> Floats:
            return np.asarray(np.abs(kendall_of_stack(stack.reshape(len(stack), -1), order)))

        return noise_free(y), kendall, codes
    # Exchanging cells leaves all ranks in place: only the cross product moves. The items of a
    # cluster move together, so that their ranks can be summed first.
    ranks = level_ranks(y.ravel()).reshape(y.shape)
    sums = np.zeros((int(codes.max()) + 1, y.shape[1]))  # size: clusters
    np.add.at(sums, codes, ranks - ranks.mean())
    along = distributions.ranks(places)
    along = (along - along.mean()) / (np.linalg.norm(along - along.mean()) or 1.0)
    sums /= np.linalg.norm(ranks - ranks.mean())
    return sums, lambda stack: np.abs(stack.sum(axis=1) @ along), None


@with_keywords()
def spread_trend(
    scores: ArrayLike,
    *,
    at: Sequence[float] | None = None,
    conditions: Sequence[object] | None = None,
    **inference: Unpack[Inference],
) -> tuple[TestResult, ...]:
    """Page's L within items, and Spearman's rho and Kendall's tau over cells; all two-sided.

    Parameters
    ----------
    scores, at, conditions
        As in `trend_over_cells`.

    Returns
    -------
    tuple of TestResult
        Page (for three or more conditions), Spearman, Kendall.

    Raises
    ------
    InputError

    Examples
    --------
    >>> Y = [[0, 1, 2], [1, 2, 4], [3, 5, 6], [2, 3, 3], [0, 2, 3], [1, 1, 5]]
    >>> [t.name for t in spread_trend(Y, n_resamples=199, n_permutations=199)]
    ['page_trend_test', 'spearman_trend', 'kendall_trend']
    """
    y, names = check_scores(scores, function="spread_trend", conditions=conditions, ndims=(2,))
    over_cells = tuple(
        trend_over_cells(y, at=at, conditions=names, kind=kind, **inference)
        for kind in ("spearman", "kendall")
    )
    if len(names) < 3:
        return over_cells
    page = page_trend_test(
        y,
        names=names,
        cluster=inference["cluster"],
        alternative="two-sided",
        n_permutations=inference["n_permutations"] or 9999,
        level=inference["level"],
        seed=inference["seed"],
    )
    return (page, *over_cells)


FROM_MEAN, OF_VARIANCES = "mean |x - cell mean|", "cell standard deviation"
"""The cell statistic of scores, and of a table of variances."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpreadResult(Result):
    """Comparison of spread: tests, ratios, and shifts.

    Attributes
    ----------
    conditions : tuple of str
    statistic : str
        The cell statistic compared, as text.
    blocked_f : TestResult
        The primary test of more than two; its p comes from exchanging cells within items.
    rank_test : TestResult
        Friedman's test on the cell statistic (k > 2), Wilcoxon's signed-rank test (k = 2).
    iman_davenport : TestResult or None
        The less conservative form of Friedman's test.
    post_hoc : tuple of Comparisons
        Nemenyi (k > 2); with clusters the permutation of the largest difference.
    trend : tuple of TestResult
        Page's L, Spearman and Kendall, where the conditions were declared ordered.
    ratios : Comparisons
        Ratios of pooled variances with intervals: the effect.
    gmd_ratios : Comparisons or None
        Ratios of the mean difference of two repeats, with the test by exchange that their
        intervals invert (not where only variances are given).
    shifts : Comparisons or None
        Shifts of the mean (not where only variances are given).
    summary : ConditionSummary or None
        Means, SEM, ICC and scale use by condition (not where only variances are given).
    values : ndarray, shape (n_items, k)
        The cell statistic of the items compared.
    """

    conditions: tuple[str, ...]
    statistic: str
    blocked_f: TestResult
    rank_test: TestResult
    iman_davenport: TestResult | None
    post_hoc: tuple[Comparisons, ...]
    trend: tuple[TestResult, ...]
    ratios: Comparisons
    gmd_ratios: Comparisons | None
    shifts: Comparisons | None
    summary: ConditionSummary | None
    sample: Sample
    values: Floats = dataclasses.field(repr=False, compare=False)
    notes: tuple[Note, ...] = ()

    @property
    def primary(self) -> TestResult:
        """Of two conditions the test whose inversion limits their GMD ratio, else blocked F."""
        if len(self.conditions) > 2 or self.gmd_ratios is None:
            return self.blocked_f
        return exchange_test(self.gmd_ratios, "conditions")

    @property
    def p_value(self) -> float:
        """The p of the primary test."""
        return self.primary.p_value

    @property
    def tests(self) -> tuple[TestResult, ...]:
        """Every test, the primary one first."""
        first = {id(t): t for t in (self.primary, self.blocked_f)}.values()
        more = (self.iman_davenport,) if self.iman_davenport else ()
        return (*first, self.rank_test, *more, *self.trend)

    def tidy(self) -> pd.DataFrame:
        """One row per pair: the ratio of pooled variances."""
        return self.ratios.tidy()

    def glance(self) -> pd.DataFrame:
        """One row a test."""
        return pd.concat([test.glance() for test in self.tests], ignore_index=True)

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values of every part (not of the cell values)."""
        parts = ("gmd_ratios", "shifts", "summary")
        single = {name: getattr(self, name) for name in parts}
        return {
            "type": "SpreadResult",
            "conditions": list(self.conditions),
            "statistic": self.statistic,
            "tests": [test.to_dict() for test in self.tests],
            "post_hoc": [family.to_dict() for family in self.post_hoc],
            "ratios": self.ratios.to_dict(),
            **{name: part.to_dict() if part else None for name, part in single.items()},
            "notes": [{"code": n.code, "message": n.message} for n in self.notes],
        }

    def apa(self, *, digits: int = 2) -> str:
        """The primary test: see `Result.apa`. The ratios are ``result.ratios.apa()``."""
        return self.primary.apa(digits=digits)

    def sentence(self) -> str:
        """What was found, with effect and mean shift, and what was not shown."""
        f = self.primary
        if f.reason:
            return f"Spread could not be compared: {f.reason} ({self.sample})."
        p = apa_p(f.p_value, smallest=f.p_floor)
        test = f"blocked F test on {self.statistic}, {f.statistic_text()}, {p}"
        if f is not self.blocked_f:
            test = f"GMD ratio, cells exchanged within clusters, {p}"
        text = f"The spread of repeated judgments differs between the conditions ({test})"
        if not f.p_value <= 0.05:
            text = (
                f"No difference in the spread of repeated judgments was found ({test}), which "
                "does not show that the conditions are equal"
            )
        for family in (self.gmd_ratios, self.ratios):
            widest = _largest(family) if family else ""
            text += f"; {widest}" if widest else ""
        moved = _largest(self.shifts) if self.shifts else ""
        if moved:
            text += f"; of the means, {moved}"
        return f"{text} ({self.sample})."

    def __str__(self) -> str:
        families = (self.gmd_ratios, self.ratios, *self.post_hoc, self.shifts, self.summary)
        parts = [str(part) for part in (*self.tests, *families) if part]
        return "\n".join([*parts, *notes_block(self.notes)])


_RATIOS = {"variance_ratio": "variance ratio", "gmd_ratio": "GMD ratio"}


def _largest(family: Comparisons) -> str:
    """The comparison with the largest effect, as text."""
    ratio = family.name in _RATIOS
    usable = [row for row in family.rows if not math.isnan(row.p_value)]
    if not usable:
        return ""
    row = max(usable, key=lambda r: abs(math.log(r.estimate) if ratio else r.estimate))
    what, joint = (_RATIOS[family.name], "/") if ratio else ("mean shift", "minus")
    lead = "largest " if len(family.rows) > 1 else ""
    adjusted = f"{family.adjust}-adjusted p" if len(family.rows) > 1 else "p"
    found = f"{apa_estimate(row.estimate, row.interval)}{hangs_on(row.details)}"
    return f"{lead}{what} {row.a} {joint} {row.b} {found}, {adjusted} {adjusted_p(row)}"


@with_keywords()
def spread_test(
    scores: ArrayLike | Cells,
    *,
    conditions: Sequence[object] | None = None,
    ordered: bool | Sequence[float] = False,
    reference: object | None = None,
    n_comparisons: int = 1,
    runs: RunComponent | None = None,
    **inference: Unpack[Inference],
) -> SpreadResult:
    r"""Test whether the spread of repeated scores differs between conditions, within items.

    Parameters
    ----------
    scores : array-like, shape (N, k, R) or (N, k), or Cells
        Scores: items x conditions x replications, NaN = missing, unequal R allowed; or a table of
        cell variances as published studies give it. Items with fewer than two scores in some
        condition are left out and counted.
    conditions : sequence, optional
        Names of the k conditions of an array.
    cluster : array-like, shape (N,), optional
        Cluster of each item (the question): aggregated and permuted jointly.
    ordered : bool or sequence of float
        True: the conditions are ordered as given, adds tests of trend. A sequence gives their
        values (temperatures), used by Spearman and Kendall.
    reference : optional
        Condition with which ratios and shifts are formed; default every pair.
    n_permutations : int
        Exchanges of cells within items.
    n_comparisons : int
        Size of the family in which the primary p will be adjusted (see `blocked_f_test`).
    n_resamples : int
        Cluster bootstrap of the trend's correlations.
    runs : RunComponent, optional
        Variance between runs, for the shifts of the mean and what GMD ratios hold for.

    Returns
    -------
    SpreadResult

    Raises
    ------
    InputError

    Notes
    -----
    Of two conditions, the primary test is that of the GMD ratio: the ratio's interval inverts it.
    Of more, it is the F test.

    The F test, the rank tests and the trend take each cell's mean distance from its mean, of a
    table of variances their roots. With normal scores distances from the median, variances and
    their roots do alike; where items differ much in spread the variance loses power (N = 40, R = 3:
    .27 against .49); with scores of two values the median does (R = 10: .42 against .52); with long
    tails the median gains (.93 against .86). Judges give few values and many ties, hence the mean.
    Sizes: docs/simulations/size_spread.csv.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = 7 + rng.normal(size=(40, 3, 8)) * np.array([0.5, 0.6, 1.0])[:, None]
    >>> out = spread_test(X, conditions=["T=0.2", "T=0.6", "T=1"], n_permutations=999)
    >>> out.p_value, out.rank_test.p_value < 1e-6
    (0.001, True)
    >>> [round(r.estimate, 2) for r in out.ratios.rows]
    [1.45, 3.68, 2.54]
    """
    function = "spread_test"
    cells = variance_cells(
        scores, function=function, conditions=conditions, cluster=inference["cluster"]
    )
    need_two_conditions(cells.conditions, function=function)
    scored = bool(cells.n_scores.any())
    values = cells.from_mean if scored else np.sqrt(cells.variance)
    statistic = FROM_MEAN if scored else OF_VARIANCES
    names, k = cells.conditions, len(cells.conditions)
    complete: Bools = np.logical_not(np.isnan(values).any(axis=1))
    why = "fewer than 2 scores in some condition" if scored else "a missing variance"
    sample = cells.sample(complete, reason=why)
    if not scored:
        sample = dataclasses.replace(sample, n_replications=None, n_replications_max=None)
    codes = cells.cluster
    clustered = cells.n_clusters < cells.cluster.size
    level = inference["level"]
    of_clusters: Inference = {**inference, "cluster": codes if clustered else None}
    drawn: Permuted = {
        "cluster": of_clusters["cluster"],
        "n_permutations": inference["n_permutations"] or P_VALUE,
        "level": level,
        "seed": inference["seed"],
    }
    # Every test leaves incomplete items out by itself, and says why where too few are left.
    blocked = blocked_f_test(
        values,
        conditions=names,
        cluster=codes,
        n_permutations=inference["n_permutations"],
        n_comparisons=n_comparisons,
        level=level,
        seed=inference["seed"],
    ).replace(
        name="spread_blocked_f",
        method=f"Blocked F test of spread: {statistic}, cells exchanged within items",
        null_hypothesis="the condition does not matter for the spread of judgments",
        alternative="the spread of judgments differs between some conditions",
        sample=sample,
    )
    post_hoc: tuple[Comparisons, ...] = ()
    iman: TestResult | None = None
    if k == 2:
        # The later condition first, as in the ratios: a positive effect is a larger spread.
        rank: TestResult = wilcoxon_signed_rank(
            values[:, ::-1], names=names[::-1], cluster=drawn["cluster"], level=level
        )
    else:
        friedman = friedman_test(values, names=names, **drawn)
        rank, iman = friedman, friedman.iman_davenport
        if not friedman.reason and clustered:  # a test of all pairs that respects clusters
            draws: Permutations = {"n_permutations": drawn["n_permutations"], "seed": drawn["seed"]}
            post_hoc = (friedman.permutation_pairs(**draws),)
        elif not friedman.reason:
            post_hoc = (friedman.nemenyi(level=level),)
    trend: tuple[TestResult, ...] = ()
    if ordered is not False:
        at = None if ordered is True else ordered
        trend = spread_trend(values, at=at, conditions=names, **of_clusters)
    ratios: Comparisons | None = None
    if scored:
        ratios = gmd_ratio(
            cells,
            reference=reference,
            runs=runs,
            n_comparisons=n_comparisons,
            level=level,
            seed=inference["seed"],
        )
    return SpreadResult(
        conditions=names,
        statistic=statistic,
        blocked_f=blocked,
        rank_test=rank,
        iman_davenport=iman,
        post_hoc=post_hoc,
        trend=trend,
        ratios=variance_ratio(cells, reference=reference, level=level),
        gmd_ratios=ratios,
        shifts=mean_shift(cells, reference=reference, runs=runs, level=level) if scored else None,
        summary=condition_summary(cells, runs=runs, level=level) if scored else None,
        sample=sample,
        values=values[complete],
        notes=_warnings(cells, complete, why),
    )


def _warnings(cells: Cells, complete: Bools, why: str) -> tuple[Note, ...]:
    lost = int(np.sum(~complete))
    verb = "is" if lost == 1 else "are"
    message = f"{lost} of {complete.size} items {verb} left out of the tests: {why}."
    notes = Note.where(lost, "items_excluded", message)
    least, most = int(cells.n_scores.min()), int(cells.n_scores.max())
    message = (
        f"Cells hold {least} to {most} scores: mean distances are for {cells.common_r}. Rank "
        "tests of tied scores can then reject too often: conclude from the F test."
    )
    is_unequal = cells.n_scores.any() and not cells.equal_r
    return notes + Note.where(is_unequal, "unequal_replications", message)
