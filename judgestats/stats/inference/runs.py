"""Shifts that the repeats of one run share: test, component, and their part in an error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Bools, Floats, Ints, as_numbers, check_axes
from judgestats.results.numbers import apa_number, count_noun
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.jackknife import MeanOverClusters, cluster_sums
from judgestats.stats.inference.result import Note

COVERAGE = 0.8
"""Share of the items that a repeat index covers where it numbers runs."""
FEW, MANY = 4, 10
"""Degrees of freedom from which runs are identified, and from which they may be pooled."""
ENOUGH = 5
"""Runs of each judge that are advised."""
POOL = 0.25
"""p of the run test above which `MANY` degrees of freedom or more are pooled (Bancroft, 1944)."""
SHOWN = 0.05
"""p of the run test up to which runs differ significantly."""
_EXACT = 8
"""Clusters below which run labels are permuted."""
_DRAWS = 999


@dataclass(frozen=True, kw_only=True)
class RunSums:
    """Sums over the items of one judge that its runs are tested by.

    Attributes
    ----------
    shifts : ndarray, shape (G, R)
        Deviations of each run's scores from their item means, summed by cluster.
    design : ndarray, shape (R, R)
        Normal equations of the runs with items taken out.
    within : float
        Sum of squares within items.
    df_within : int
        Judgments minus items.
    judged : ndarray of bool, shape (G,)
        Whether a cluster has repeated judgments.
    """

    shifts: Floats
    judged: Bools
    design: Floats
    within: float
    df_within: int

    @classmethod
    def from_scores(cls, scores: Floats, codes: Ints, n_clusters: int) -> RunSums:
        """Of items x runs, NaN where a run misses an item.

        Parameters
        ----------
        scores : ndarray, shape (N, R)
        codes : ndarray of int, shape (N,)
        n_clusters : int

        Returns
        -------
        RunSums
        """
        present = ~np.isnan(scores)
        n = present.sum(axis=1)
        used = n >= 2
        x, here, n = scores[used], present[used].astype(float), n[used]
        means = np.where(here > 0, x, 0.0).sum(axis=1) / n
        deviations = np.where(here > 0, x - means[:, None], 0.0)
        return cls(
            shifts=cluster_sums(deviations, codes[used], n_clusters),
            judged=np.bincount(codes[used], minlength=n_clusters) > 0,
            design=np.diag(here.sum(axis=0)) - (here / n[:, None]).T @ here,
            within=float(np.sum(deviations**2)),
            df_within=int(n.sum() - n.size),
        )


@dataclass(frozen=True, kw_only=True)
class RunTest:
    """Test of the runs of one judge.

    Attributes
    ----------
    statistic : float
        Raw-score Friedman statistic of its runs.
    df : float
        0 if nothing varies within items.
    drawn : ndarray
        The statistic under permuted runs; empty where chi-squared stands for it.
    """

    statistic: float = 0.0
    df: float = 0.0
    drawn: Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, kw_only=True)
class RunComponent:
    r"""Variance between runs of a judge, pooled over judges.

    Attributes
    ----------
    df, df_residual : float
        Of runs over all judges, and of the residual.
    ms_run, ms_residual : float
        Two-way mean squares, pooled with weights R - 1.
    k : float
        Items per run, in effect.
    runs : tuple of int
        Runs of each judge (0: its repeats are in no runs).
    tests : tuple of RunTest
        Of the judges that are compared. Whether runs are random is decided on these alone: no
        other judge, or a copy of one, changes it.
    interleaved : bool
        Whether requests of all repeats were sent in one random order: no run effect is possible.

    Notes
    -----
    :math:`Q = \sum_j (R_j - 1) \sum_r C_{jr}^2 / \sum_{gr} c_{jgr}^2`, c the deviations of run r
    from the item means summed over cluster g and C their sum over clusters; chi-squared with
    :math:`\nu = \sum_j (R_j - 1)` df, below 8 clusters by permuting the run labels of whole
    clusters. :math:`s^2_{run} = \max(0, (MS_{run} - MS_e) / k)`.

    References
    ----------
    Bancroft (1944), On biases in estimation due to the use of preliminary tests of significance.
    Annals of Mathematical Statistics 15, 190-204.
    """

    df: float
    ms_run: float
    ms_residual: float
    df_residual: float
    k: float
    runs: tuple[int, ...]
    tests: tuple[RunTest, ...]
    interleaved: bool = False

    @property
    def statistic(self) -> float:
        """Q: the raw-score Friedman statistic of the runs, summed over the judges."""
        return math.fsum(test.statistic for test in self.tests) if self.nu else math.nan

    @property
    def nu(self) -> float:
        """Degrees of freedom of `statistic`."""
        return math.fsum(test.df for test in self.tests)

    @cached_property
    def p_value(self) -> float:
        """Of `statistic`."""
        own = [test for test in self.tests if test.df]
        if not own:
            return math.nan
        if own[0].drawn.size:
            drawn = np.sum([test.drawn for test in own], axis=0)
            more = int(np.sum(drawn >= self.statistic * (1 - 1e-9)))
            return float((1 + more) / (drawn.size + 1))
        return float(distributions.chi2.sf(self.statistic, self.nu))

    @property
    def variance(self) -> float:
        """Of the shifts of runs, in squared points; 0 where it is estimated below 0."""
        return max(0.0, (self.ms_run - self.ms_residual) / self.k) if self.df > 0 else math.nan

    @property
    def sd(self) -> float:
        """Standard deviation of the shifts of runs, in points."""
        return math.sqrt(self.variance)

    def sd_upper(self, level: float = 0.95) -> float:
        """Upper limit of `sd`, in points.

        Parameters
        ----------
        level : float
            One-sided.
        """
        if not self.df > 0:
            return math.nan
        least = float(distributions.chi2.ppf(1 - level, self.df))
        return math.sqrt(max(0.0, (self.ms_run * self.df / least - self.ms_residual) / self.k))

    @property
    def is_identified(self) -> bool:
        """Whether there are enough runs to say how much they shift."""
        return self.nu >= FEW and min(self.runs) >= 2

    @property
    def is_random(self) -> bool:
        """Whether the variance between runs is part of the errors of these judges' means."""
        return (
            not self.interleaved and self.is_identified and (self.nu < MANY or self.p_value <= POOL)
        )

    @cached_property
    def pairs(self) -> tuple[RunComponent, ...]:
        """The component of every two of the judges, on which their contrasts are decided."""
        places = itertools.combinations(range(len(self.runs)), 2)
        return tuple(self.for_judges(*pair) for pair in places) or (self,)

    @property
    def target(self) -> str:
        """What intervals of means hold for, ``these runs`` where no runs can be distinguished.

        A judge without variance within items has no shift of its runs; one with one run may have.
        """
        known = self.interleaved or self.is_identified or not (self.nu or 1 in self.runs)
        return "" if known else "these runs"

    @property
    def target_of_dispersion(self) -> str:
        """What a ratio of dispersions holds for: shifts of runs are in no error of it.

        Notes
        -----
        With shifts of SD .4 of the noise in 10 runs, equal judges' GMD ratios leave out 1 in .115
        (docs/simulations/declared_design.csv).
        """
        calm = self.is_identified and self.p_value > SHOWN
        return "" if self.interleaved or not self.nu or calm else "these runs"

    @property
    def text(self) -> str:
        """The finding on runs, as a line of the design says it."""
        if self.interleaved:
            return "repeats interleaved: no run effect within this collection"
        upper = apa_number(self.sd_upper())
        if not self.is_identified:
            size = f" of SD up to {upper}" if self.sd_upper() >= 0.005 else ""
            return f"a run shift{size} cannot be excluded"
        if self.is_random and self.variance > 0:
            return f"runs differ by SD {apa_number(self.sd)} (included)"
        return f"no run effect found (SD at most {upper})"

    @property
    def note(self) -> str:
        """What intervals of means hold for, as a sentence; empty where there are no runs."""
        if len(self.runs) > 2:
            rank = [(p.is_identified, not p.is_random) for p in self.pairs]
            return self.pairs[rank.index(min(rank))].note
        if self.interleaved:
            return f"{self.text[0].upper()}{self.text[1:]}."
        if not (self.nu or self.target):
            return ""
        if self.is_identified:
            return f"{self.text[0].upper()}{self.text[1:]}."
        judges = count_noun(len(self.runs), "judge", "judges")
        return (
            f"{judges} x {count_noun(max(self.runs), 'run', 'runs')} do not identify "
            "between-run noise; the interval holds for these runs only "
            f"({self.text}). Interleave repeats or make 5 runs."
        )

    @property
    def facts(self) -> dict[str, float | str]:
        """Target, runs, and component, as the details of a result."""
        if not self.nu > 0:
            return {"target": self.target} if self.target else {}
        return {
            "target": self.target,
            "n_runs": min(self.runs),
            "run_sd": self.sd if self.is_random else 0.0,
            "run_sd_upper": self.sd_upper(),
            "run_p": self.p_value,
        }

    def for_judges(self, *places: int) -> RunComponent:
        """The same component for a quantity of some of the judges.

        Parameters
        ----------
        *places : int
            Places of the judges in `runs`.

        Returns
        -------
        RunComponent
        """
        runs = tuple(self.runs[p] for p in places)
        return replace(self, runs=runs, tests=tuple(self.tests[p] for p in places))

    def share(self, weights: Iterable[float] = (1.0, 1.0)) -> float:
        """Factor of `variance` in the variance of a contrast of the judges' means.

        Parameters
        ----------
        weights : iterable of float
            Squared weight of each judge's mean.

        Returns
        -------
        float
            The weights divided by the judges' numbers of runs, summed.
        """
        return sum(w / max(r, 1) for w, r in zip(weights, self.runs, strict=True))

    def advise_runs(self, mean: MeanOverClusters) -> tuple[Note, ...]:
        """Note by how much `ENOUGH` runs would narrow the interval of a difference of two means.

        Parameters
        ----------
        mean : MeanOverClusters
            With the error of the items alone.

        Returns
        -------
        tuple of Note
            Empty where as many were made, or runs are not random in any case.
        """
        if not self.is_random or self.nu >= MANY or math.isnan(mean.std_error):
            return ()
        runs = tuple(max(r, ENOUGH) for r in self.runs)
        more = replace(self, runs=runs, df=self.df + sum(runs) - sum(self.runs))
        now, then = (own.widen(mean, own.share()).interval(0.95) for own in (self, more))
        saved = 1 - (then.high - then.low) / (now.high - now.low) if now and then else 0.0
        text = f"{ENOUGH} runs per judge would narrow this interval by {100 * saved:.0f}%."
        return (Note(code="more_runs", message=text),) if saved >= 0.005 else ()

    def widen(self, mean: MeanOverClusters, share: float) -> MeanOverClusters:
        """A mean over items with the variance between runs in its error.

        Parameters
        ----------
        mean : MeanOverClusters
            With the error of the items alone.
        share : float
            Factor of the run variance (`share`).

        Returns
        -------
        MeanOverClusters
            Degrees of freedom by Satterthwaite; `mean` itself where the run variance is 0.
            `is_random` says whether the error must include runs at all.

        References
        ----------
        Satterthwaite (1946), An approximate distribution of estimates of variance components.
        Biometrics Bulletin 2, 110-114.
        """
        added = self.variance * share
        if not added > 0 or math.isnan(mean.std_error):
            return mean
        items = mean.std_error**2
        squares = self.ms_run**2 / self.df + self.ms_residual**2 / self.df_residual
        df = (items + added) ** 2 / (items**2 / mean.df + (share / self.k) ** 2 * squares)
        return replace(mean, std_error=math.sqrt(items + added), df=max(1.0, df))


def run_columns(scores: Floats, coverage: float = COVERAGE) -> Ints:
    """The columns that cover enough of the items judged to be runs; one of several is none.

    Parameters
    ----------
    scores : ndarray, shape (N, R)
    coverage : float

    Examples
    --------
    >>> run_columns(np.array([[1.0, 2, np.nan], [2, 2, np.nan], [3, 4, 5]])).tolist()
    [0, 1]
    """
    present = ~np.isnan(scores)
    judged = int(present.any(axis=1).sum())
    covering = np.flatnonzero(present.sum(axis=0) >= coverage * max(judged, 1) - 1e-9)
    alone = covering.size == 1 and present.any(axis=0).sum() > 1
    return covering[:0] if alone else covering


def run_component(
    scores: ArrayLike,
    *,
    cluster: ArrayLike | None = None,
    interleaved: bool = False,
    seed: int = 0,
) -> RunComponent:
    """Test whether the repeats of one run share a shift, and estimate its variance.

    Parameters
    ----------
    scores : array-like, shape (N, k, R)
        Items x judges x runs, in points; NaN = missing.
    cluster : array-like, shape (N,), optional
        Cluster of each item.
    interleaved : bool
        Whether the requests of all repeats were sent in one random order.
    seed : int
        Of the permutations that replace chi-squared below 8 clusters.

    Returns
    -------
    RunComponent
        Judges without variance within items, or with one run, count for nothing in it.

    Raises
    ------
    InputError
        If the scores have not three axes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(40, 2, 6)) + rng.normal(size=(1, 2, 6))
    >>> found = run_component(x)
    >>> found.df, found.p_value < 0.001, found.is_random
    (10.0, True, True)
    """
    x = as_numbers(scores, "scores", "run_component")
    check_axes("run_component", "scores", x, "items x judges x runs", (1, 1, 1))
    codes = cluster_codes(cluster, x.shape[0], where="run_component")
    n = int(codes.max()) + 1
    listed = []
    for j in range(x.shape[1]):
        scored = x[:, j, :]
        listed.append(RunSums.from_scores(scored[:, run_columns(scored)], codes, n))
    permuted = max((int(own.judged.sum()) for own in listed), default=0) < _EXACT
    rng = np.random.default_rng(seed)
    df, ms_run, ms_residual, k, df_residual = np.zeros(5)
    tests = []
    for own in listed:
        tests.append(RunTest())
        # A sum of rounding errors is no variance.
        if own.design.shape[0] < 2 or own.within <= 1e-20 * max(own.df_within, 1):
            continue
        total = own.shifts.sum(axis=0)
        rank = int(np.linalg.matrix_rank(own.design))
        between = float(total @ np.linalg.pinv(own.design) @ total)
        left = own.df_within - rank
        squares = float(np.sum(own.shifts**2))
        if rank < 1 or left < 1 or squares <= 0:
            continue
        tests[-1] = RunTest(statistic=rank * float(np.sum(total**2)) / squares, df=float(rank))
        df, df_residual = df + rank, df_residual + left
        ms_run += between
        ms_residual += rank * max(own.within - between, 0.0) / left
        k += float(np.trace(own.design))
    if permuted:
        # In the order of what they hold: the order of judges draws nothing else.
        for j in sorted(range(len(tests)), key=lambda j: float(np.sum(listed[j].shifts ** 2))):
            if tests[j].df:
                shifts = listed[j].shifts[listed[j].judged]
                shifts = shifts[np.lexsort(shifts.T)]
                every = np.broadcast_to(shifts, (_DRAWS, *shifts.shape))
                moved = np.sum(rng.permuted(every, axis=2).sum(axis=1) ** 2, axis=1)
                drawn = tests[j].df * moved / np.sum(shifts**2)
                tests[j] = replace(tests[j], drawn=drawn)
    return RunComponent(
        df=float(df),
        ms_run=float(ms_run / df) if df else math.nan,
        ms_residual=float(ms_residual / df) if df else math.nan,
        df_residual=float(df_residual),
        k=float(k / df) if df else math.nan,
        runs=tuple(own.design.shape[0] for own in listed),
        tests=tuple(tests),
        interleaved=interleaved,
    )
