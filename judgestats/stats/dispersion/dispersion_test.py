"""Test of equal dispersion across conditions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats
from judgestats.results.numbers import adjusted_p, apa_estimate, apa_p
from judgestats.results.text import hangs_on
from judgestats.stats.comparison.blocked_f import blocked_f_test
from judgestats.stats.comparison.friedman import FriedmanResult, friedman_test
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.designs.cells import Cells
from judgestats.stats.dispersion.condition_summary import (
    ConditionSummary,
    condition_summary,
    mean_shift,
)
from judgestats.stats.dispersion.exchange import gmd_ratio
from judgestats.stats.dispersion.ratios import (
    need_two_conditions,
    variance_cells,
    variance_ratio,
)
from judgestats.stats.dispersion.trend import spread_trend
from judgestats.stats.inference.estimate import Note, Result, Sample
from judgestats.stats.inference.keywords import Inference, with_keywords
from judgestats.stats.inference.result import Comparisons, TestResult
from judgestats.stats.inference.runs import RunComponent

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
        The primary test; its p comes from exchanging cells within items.
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
    def p_value(self) -> float:
        """The primary p-value: blocked F by permutation of cells."""
        return self.blocked_f.p_value

    @property
    def tests(self) -> tuple[TestResult, ...]:
        """Every test, the primary one first."""
        more = (self.iman_davenport,) if self.iman_davenport else ()
        return (self.blocked_f, self.rank_test, *more, *self.trend)

    def tidy(self) -> pd.DataFrame:
        """One row per pair: the ratio of pooled variances."""
        return self.ratios.tidy()

    def glance(self) -> pd.DataFrame:
        """One row a test."""
        return pd.concat([test.glance() for test in self.tests], ignore_index=True)

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values of every part (not of the cell values)."""
        return {
            "type": "SpreadResult",
            "conditions": list(self.conditions),
            "statistic": self.statistic,
            "tests": [test.to_dict() for test in self.tests],
            "post_hoc": [family.to_dict() for family in self.post_hoc],
            "ratios": self.ratios.to_dict(),
            "gmd_ratios": self.gmd_ratios.to_dict() if self.gmd_ratios else None,
            "shifts": self.shifts.to_dict() if self.shifts else None,
            "summary": self.summary.to_dict() if self.summary else None,
            "notes": [{"code": n.code, "message": n.message} for n in self.notes],
        }

    def apa(self, *, digits: int = 2) -> str:
        """The primary test: see `Result.apa`. The ratios are ``result.ratios.apa()``."""
        return self.blocked_f.apa(digits=digits)

    def sentence(self) -> str:
        """What was found, with effect and mean shift, and what was not shown."""
        f = self.blocked_f
        if f.reason:
            return f"Spread could not be compared: {f.reason} ({self.sample})."
        p = apa_p(f.p_value, smallest=f.p_floor)
        test = f"blocked F test on {self.statistic}, {f.statistic_text()}, {p}"
        if f.p_value < 0.05:
            text = f"The spread of repeated judgments differs between the conditions ({test})"
        else:
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
        parts = [str(test) for test in self.tests]
        parts += [str(f) for f in (self.gmd_ratios, self.ratios, *self.post_hoc) if f]
        beside = (self.shifts, self.summary)
        parts += [str(part) for part in beside if part]
        return "\n".join([*parts, *(f"warning: {n.message}" for n in self.notes)])


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
    return (
        f"{lead}{what} {row.a} {joint} {row.b} {apa_estimate(row.estimate, row.interval)}"
        f"{hangs_on(row.details)}, "
        f"{adjusted} {adjusted_p(row)}"
    )


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
    sample = _sample(cells, complete, why)
    codes = cells.cluster
    clustered = cells.n_clusters < cells.cluster.size

    # Every test leaves incomplete items out by itself, and says why where too few are left.
    blocked = blocked_f_test(
        values,
        conditions=names,
        cluster=codes,
        n_permutations=inference["n_permutations"],
        n_comparisons=n_comparisons,
        level=inference["level"],
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
            values[:, ::-1],
            names=names[::-1],
            cluster=codes if clustered else None,
            level=inference["level"],
        )
    else:
        friedman = friedman_test(
            values,
            names=names,
            cluster=codes if clustered else None,
            n_permutations=inference["n_permutations"] or 9999,
            level=inference["level"],
            seed=inference["seed"],
        )
        rank, iman = friedman, friedman.iman_davenport
        post_hoc = _post_hoc(
            friedman,
            clustered,
            inference["level"],
            inference["n_permutations"] or 9999,
            inference["seed"],
        )
    trend: tuple[TestResult, ...] = ()
    if ordered is not False:
        at = None if ordered is True else ordered
        trend = spread_trend(
            values,
            at=at,
            conditions=names,
            cluster=codes if clustered else None,
            n_resamples=inference["n_resamples"],
            n_permutations=inference["n_permutations"],
            level=inference["level"],
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
        ratios=variance_ratio(cells, reference=reference, level=inference["level"]),
        gmd_ratios=gmd_ratio(
            cells, reference=reference, runs=runs, level=inference["level"], seed=inference["seed"]
        )
        if scored
        else None,
        shifts=mean_shift(cells, reference=reference, runs=runs, level=inference["level"])
        if scored
        else None,
        summary=condition_summary(cells, runs=runs, level=inference["level"]) if scored else None,
        sample=sample,
        values=values[complete],
        notes=_warnings(cells, complete, why),
    )


def _sample(cells: Cells, complete: Bools, why: str) -> Sample:
    sample = cells.sample(complete, reason=why)
    if cells.n_scores.any():
        return sample
    return dataclasses.replace(sample, n_replications=None, n_replications_max=None)


def _warnings(cells: Cells, complete: Bools, why: str) -> tuple[Note, ...]:
    notes = []
    lost = int(np.sum(~complete))
    if lost:
        message = (
            f"{lost} of {complete.size} items {'is' if lost == 1 else 'are'} left out of the "
            f"tests: {why}."
        )
        notes.append(Note(code="items_excluded", message=message))
    if cells.n_scores.any() and not cells.equal_r:
        message = (
            f"Cells hold {int(cells.n_scores.min())} to {int(cells.n_scores.max())} scores: mean "
            f"distances are stated for {cells.common_r} scores. Rank tests of tied scores reject "
            "too often where one condition lost more scores than another (up to .17 for a nominal "
            ".05): conclude from the F test."
        )
        notes.append(Note(code="unequal_replications", message=message))
    return tuple(notes)


def _post_hoc(
    friedman: FriedmanResult, clustered: bool, level: float, n_permutations: int, seed: int | None
) -> tuple[Comparisons, ...]:
    """All pairs after Friedman's test, one verdict each; with clusters one that respects them."""
    if friedman.reason:
        return ()
    if clustered:
        return (friedman.permutation_pairs(n_permutations=n_permutations, seed=seed),)
    return (friedman.nemenyi(level=level),)
