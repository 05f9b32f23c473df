"""Raters: leniency of judges, alternative annotators, and ceilings of agreement."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Bools, Floats, Ints, as_numbers, check_axes, check_finite
from judgestats.errors import InputError, one_of
from judgestats.stats.inference import RunComponent, cluster_codes, jackknife
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.multiplicity import p_adjust
from judgestats.stats.inference.result import Estimate, Estimates, Note, Sample, adjusted_interval
from judgestats.stats.validity.inputs import Report, mean_estimate


@with_keywords()
def leniency(
    scores: ArrayLike,
    *,
    judges: ArrayLike | None = None,
    runs: RunComponent | None = None,
    **inference: Unpack[Clustered],
) -> Estimates:
    r"""How much higher each judge scores than all judges do of the same items.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_judges) or (n_items, n_judges, n_replications)
        NaN where unparsed. Repeats of an item are averaged.
    judges : array-like of str, optional
        Their names; ``1``, ``2`` and so on by default.
    runs : RunComponent, optional
        Of these judges: its variance is added to the errors where runs are random
        (`RunComponent.is_random`).

    Returns
    -------
    Estimates
        ``leniency`` of each judge, in points; they sum to 0. The intervals hold for all judges
        at once, at the level given. ``details``: ``p_values``, of each judge by itself.

    Raises
    ------
    InputError
        There are fewer than two judges, no two of them scored one item, or judges fall into
        groups that share no item.

    Notes
    -----
    Least squares of :math:`m_{ji} = a_i + l_j` over the cells present, m the mean over repeats;
    with complete data the judge's mean minus the mean of all. Error: jackknife over clusters of
    the refit, t with effective df; with random runs plus :math:`s^2_{run} (1/R_j - 2/(J R_j) +
    \sum_k 1/(J^2 R_k))`. Level of each of the J intervals: 1 - (1 - level)/J (Bonferroni). Any of
    them leaves out 0 for equal judges in .005 to .052 of samples.

    References
    ----------
    Linacre (1989), Many-facet Rasch measurement (the additive model in points).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(6, 1, (40, 1, 1)) + np.array([0.5, 0, -0.5])[:, None]
    >>> out = leniency(x + rng.normal(0, 0.5, (40, 3, 2)))
    >>> [round(e.estimate, 1) for e in out.terms], out.terms[0].interval.low > 0
    ([0.5, 0.0, -0.5], True)
    """
    where = "leniency"
    x = as_numbers(scores, "scores", where)
    if x.ndim == 2:
        x = x[:, :, None]
    check_axes(where, "scores", x, "items x judges x replications", (0, 2))
    n_judges = x.shape[1]
    names = [str(n) for n in (range(1, n_judges + 1) if judges is None else np.asarray(judges))]
    read = ~np.isnan(x)
    n_read = read.sum(axis=2)
    means = np.where(n_read > 0, np.where(read, x, 0.0).sum(axis=2) / np.maximum(n_read, 1), np.nan)
    present = n_read > 0
    shared = present.sum(axis=1) > 1
    alone = int((present.sum(axis=1) == 1).sum())
    if not shared.any():
        raise InputError(f"{where}: no item was scored by two judges. Let them score the same.")
    every = cluster_codes(inference["cluster"], len(x), where=where)
    codes = every[shared]
    normal, right = _equations(means[shared], present[shared])
    normal = jackknife.cluster_sums(normal.reshape(len(normal), -1), codes).reshape(
        -1, n_judges, n_judges
    )
    right = jackknife.cluster_sums(right, codes)
    whole = normal.sum(axis=0)
    if not _connected(whole[None])[0]:
        raise InputError(
            f"{where}: the judges fall into groups that share no item, so they cannot be compared. "
            "Let them score some of the same items."
        )
    values = _solved(whole[None], right.sum(axis=0)[None])[0]
    sizes = np.bincount(np.unique(codes, return_inverse=True)[1].reshape(-1))
    sample = Sample.from_mask(
        shared, "scored by one judge", None if inference["cluster"] is None else every,
        n_replications=n_judges, repeated="judge",
    )  # fmt: skip
    message = f"{alone} items were scored by one judge only, so they do not measure leniency."
    notes = Note.where(alone, "scored_once", message)
    left_out = whole - normal
    why = jackknife.lack_note(sizes)
    if not why and not _connected(left_out).all():
        why = Note.no_interval("without one cluster the judges share no item")
    left = _solved(left_out, right.sum(axis=0) - right) if not why else np.empty((0, n_judges))
    level = 1 - (1 - inference["level"]) / n_judges
    widened = runs if runs and any(pair.is_random for pair in runs.pairs) else None
    target = max(pair.target for pair in runs.pairs) if runs else ""
    terms, p_values = [], []
    for j, name in enumerate(names):
        estimate = Estimate(
            name="leniency", label=f"Leniency of {name} vs. panel", estimate=float(values[j]),
            estimator="least squares of item and judge", sample=sample, notes=why,
            details={"target": target} if target else {},
        )  # fmt: skip
        if not why:
            error, df = jackknife.jackknife_error(left[:, j], sizes)
            mean = jackknife.MeanOverClusters(mean=float(values[j]), std_error=error, df=df)
            if widened is not None:
                weights = np.full(n_judges, 1 / n_judges**2)
                weights[j] = (1 - 1 / n_judges) ** 2
                mean = widened.widen(mean, widened.share(weights.tolist()))
            constant = mean.std_error <= 1e-12 * max(1.0, float(np.nanmax(np.abs(means))))
            alike = Note.no_interval("the judge differs by the same amount on every item")
            own = None if constant else mean.interval(level)
            estimate = estimate.replace(
                interval=adjusted_interval(own, inference["level"]),
                std_error=math.nan if constant else mean.std_error,
                notes=alike if constant else (),
            )
            p_values.append(math.nan if constant else mean.p_value())
        terms.append(estimate)
    return Estimates(
        name=where, label="Leniency vs. panel", terms=tuple(terms), sample=sample, notes=notes,
        details={"judges": names, "p_values": p_values},
    )  # fmt: skip


def _equations(means: Floats, present: Bools) -> tuple[Floats, Floats]:
    """Each item's part in the normal equations of the judges, the item's effect taken out."""
    here = present.astype(float)
    n = here.sum(axis=1)
    normal = (
        here[:, :, None] * np.eye(here.shape[1])
        - here[:, :, None] * here[:, None] / (n[:, None, None])
    )
    filled = np.where(present, means, 0.0)
    return normal, here * (filled - (filled.sum(axis=1) / n)[:, None])


def _connected(normal: Floats) -> Bools:
    """Whether all judges can be compared: the equations lack one rank, that of the level."""
    roots = np.linalg.eigvalsh(normal)
    return np.asarray(roots[:, 1] > 1e-9 * np.maximum(roots[:, -1], 1e-300))


def _solved(normal: Floats, right: Floats) -> Floats:
    """Effects of the judges that sum to 0."""
    n = normal.shape[-1]
    return np.asarray(np.linalg.solve(normal + 1.0 / n, right[..., None])[..., 0])


Scoring = Literal["accuracy", "neg_rmse"]
ALPHA = 0.05
"""Significance level of the family of annotators."""

LEAST_ITEMS = 30
SWEEP = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnnotatorTest:
    """The judge against one annotator, both measured by the other annotators."""

    annotator: str
    n: int
    judge_share: float
    """Share of items on which the judge is at least as close to the others."""
    annotator_share: float
    mean_difference: float
    sd_difference: float
    p_value: float
    p_adjusted: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlternativeAnnotator(Report):
    """Result of the alternative annotator test.

    Attributes
    ----------
    winning_rate : float
        omega: share of the annotators against whom the judge is not inferior by epsilon.
    advantage : float
        rho: mean over annotators of the share of items on which the judge is at least as close to
        the others.
    passed : bool
        Whether omega is at least .5.
    epsilon : float
    annotators : tuple of AnnotatorTest
    sweep : mapping of float to float
        omega by epsilon.
    beside : mapping of str to AlternativeAnnotator
        The best constant judge and the majority of the people, tested alike.
    power : float
        Share of resamples in which a person put in the judge's place passes; NaN with fewer than
        three annotators.
    sample : Sample
    skipped : tuple of str
        Annotators with too few items.
    notes : tuple of Note
    reason : str
        Why there is no test.
    """

    winning_rate: float
    advantage: float
    passed: bool
    epsilon: float
    annotators: tuple[AnnotatorTest, ...]
    sweep: Mapping[float, float]
    sample: Sample
    beside: Mapping[str, AlternativeAnnotator] = dataclasses.field(default_factory=dict)
    power: float = math.nan
    skipped: tuple[str, ...] = ()
    reason: str = ""
    TITLE = "Alternative annotator test"

    def tidy(self) -> pd.DataFrame:
        """One row per annotator."""
        return pd.DataFrame([dataclasses.asdict(a) for a in self.annotators])

    def sentence(self) -> str:
        """Whether the judge may replace a person, and what else would."""
        if self.reason:
            return f"The alternative annotator test is not computed: {self.reason}."
        verb = "passes" if self.passed else "does not pass"
        text = (
            f"The judge {verb} the alternative annotator test: not inferior by epsilon "
            f"{self.epsilon:g} to {self.winning_rate:.0%} of {len(self.annotators)} annotators "
            f"(at least .5 is needed), advantage probability {self.advantage:.2f}"
        )
        others = [f"{k} {v.winning_rate:.0%}" for k, v in self.beside.items() if not v.reason]
        if others:
            text += f"; for comparison: {', '.join(others)}"
        if self.power == self.power:
            text += f"; a human rater would pass in {self.power:.0%} of such samples"
        listed = ", ".join(f"{k:g}: {v:.0%}" for k, v in self.sweep.items())
        return f"{text} ({self.sample}). Won by epsilon: {listed}."

    def lines(self) -> list[str]:
        """The sentence and the annotators."""
        if not self.annotators:
            return [self.sentence()]
        table = self.tidy().to_string(index=False, float_format=lambda v: f"{v:.4g}")
        return [self.sentence(), table]


def alternative_annotator_test(
    judge: ArrayLike,
    labels: ArrayLike,
    *,
    annotators: Sequence[str] | None = None,
    scoring: Scoring = "accuracy",
    epsilon: float = 0.1,
    cluster: ArrayLike | None = None,
    n_resamples: int = 100,
    seed: int | None = 0,
) -> AlternativeAnnotator:
    r"""May the judge replace an annotator?

    Parameters
    ----------
    judge : array-like, shape (N,)
        Labels or scores; None or NaN where the judge gave none.
    labels : array-like, shape (N, annotators)
        Human labels; None or NaN where an annotator gave none.
    annotators : sequence of str, optional
        Names of the columns.
    scoring : {"accuracy", "neg_rmse"}
        How close a label is to the others': share of equal labels, or minus the root mean squared
        difference of scores.
    epsilon : float
        Margin of non-inferiority: how much closer a person may be and still be replaced. .2 for
        experts, .15 for trained, .1 for crowd annotators (the authors' advice).
    cluster : array-like, shape (N,), optional
        Cluster of each item, such as its text: jackknife over clusters with effective degrees of
        freedom.
    n_resamples : int
        Resamples of the power; 0 for none.
    seed : int or None

    Returns
    -------
    AlternativeAnnotator

    Raises
    ------
    InputError
        If shapes differ, the scoring is unknown, or scores are not numbers.

    Notes
    -----
    For annotator j and item i, :math:`D = [j \ge judge] - [judge \ge j]` by closeness to the other
    annotators of the item. The test is a one-sided t of mean D < epsilon, at .05 by
    Benjamini-Yekutieli over annotators. Items with fewer than two annotators and annotators with
    fewer than 30 items are left out and counted. If D is constant, p is 0 below epsilon, else 1.
    Ties count for both, so the advantage is high and a constant can win. The result therefore
    includes the best constant and the human majority. The majority contains each rater's own vote.

    References
    ----------
    Calderon, Reichart & Dror (2025), The Alternative Annotator Test, ACL, arXiv 2501.10970.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 3, 200)
    >>> people = np.where(rng.random((200, 3)) < 0.3, rng.integers(0, 3, (200, 3)), truth[:, None])
    >>> out = alternative_annotator_test(truth, people, n_resamples=0)
    >>> out.passed, out.winning_rate
    (True, 1.0)
    """
    where = "alternative_annotator_test"
    one_of(where, "scoring", scoring, ("accuracy", "neg_rmse"))
    f, y = coded_labels(judge, labels, scoring, where)
    codes = cluster_codes(cluster, f.size, where=where)
    numbered = tuple(f"annotator {j + 1}" for j in range(y.shape[1]))
    names = tuple(annotators) if annotators is not None else numbered
    if len(names) != y.shape[1]:
        raise InputError(f"{where}: {len(names)} names for {y.shape[1]} annotators.")
    enough = np.sum(~np.isnan(y), axis=1) >= 2
    used = enough & ~np.isnan(f)
    out = {
        "fewer than two annotators": int(np.sum(~enough)),
        "no label of the judge": int(np.sum(enough & np.isnan(f))),
    }
    sample = Sample.from_mask(used, out, None if cluster is None else codes)
    f, y, codes = f[used], y[used], codes[used]
    test = partial(_test, scoring=scoring, epsilon=epsilon, sample=sample)
    result = test(f, y, codes, names)
    if result.reason:
        return result
    constants = [test(np.full(f.size, v), y, codes, names) for v in np.unique(y[~np.isnan(y)])]
    beside = {
        "the best constant label": max(constants, key=lambda r: (r.winning_rate, r.advantage)),
        "the human majority": test(_majority(y, scoring), y, codes, names),
    }
    message = "Two annotators: each is measured by one other, there is no consensus."
    notes = (*result.notes, *Note.where(y.shape[1] == 2, "two_annotators", message))
    power = _power(y, codes, names, test, n_resamples, seed)
    return dataclasses.replace(result, beside=beside, power=power, notes=notes)


def coded_labels(
    judge: ArrayLike, labels: ArrayLike, scoring: Scoring, where: str
) -> tuple[Floats, Floats]:
    """Labels as numbers: codes of words, or the scores themselves."""
    f, y = np.asarray(judge, dtype=object), np.asarray(labels, dtype=object)
    if f.ndim != 1 or y.ndim != 2 or y.shape[0] != f.size or f.size == 0 or y.shape[1] < 2:
        raise InputError(
            f"{where}: judge must have one entry and labels one row for each item, with at least "
            f"two annotators, got shapes {f.shape} and {y.shape}."
        )
    both = np.column_stack([f, y])
    absent = np.array([v is None or v == "" or v != v for v in both.reshape(-1)])  # noqa: PLR0124
    if scoring == "neg_rmse":
        try:
            numbers = np.where(absent, np.nan, both.reshape(-1)).astype(float)
        except (TypeError, ValueError) as error:
            raise InputError(f"{where}: neg_rmse needs scores: {error}.") from error
    else:
        kinds = {v: i for i, v in enumerate(sorted({_key(v) for v in both.reshape(-1)[~absent]}))}
        numbers = np.full(both.size, np.nan)
        numbers[~absent] = [kinds[_key(v)] for v in both.reshape(-1)[~absent]]
    numbers = numbers.reshape(both.shape)
    check_finite(where, "labels", numbers)
    return numbers[:, 0], numbers[:, 1:]


def _key(value: object) -> str:
    """A label as text, 1 and 1.0 being one."""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (int, float, np.number)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _closeness(mine: Floats, others: Floats, scoring: Scoring) -> Floats:
    """How close each label is to the others' of its item."""
    present = ~np.isnan(others)
    count = present.sum(axis=1)
    if scoring == "accuracy":
        return np.asarray(np.sum(present & (others == mine[:, None]), axis=1) / count)
    squared = np.where(present, (np.nan_to_num(others) - mine[:, None]) ** 2, 0.0)
    return np.asarray(-np.sqrt(squared.sum(axis=1) / count))


def _test(
    f: Floats,
    y: Floats,
    codes: Ints,
    names: tuple[str, ...],
    *,
    scoring: Scoring,
    epsilon: float,
    sample: Sample,
) -> AlternativeAnnotator:
    rows: list[tuple[str, Floats, Floats, Ints]] = []
    skipped = []
    for j, name in enumerate(names):
        here = ~np.isnan(y[:, j])
        if here.sum() < LEAST_ITEMS:
            skipped.append(name)
            continue
        others = np.delete(y[here], j, axis=1)
        judge = _closeness(f[here], others, scoring)
        person = _closeness(y[here, j], others, scoring)
        rows.append((name, judge, person, codes[here]))
    if not rows:
        return AlternativeAnnotator(
            winning_rate=math.nan, advantage=math.nan, passed=False, epsilon=epsilon,
            annotators=(), sweep={}, sample=sample, skipped=tuple(skipped),
            reason=f"no annotator has {LEAST_ITEMS} items that another one labelled too",
        )  # fmt: skip
    behind = []
    for _, judge, person, own in rows:
        over = jackknife.mean_over_clusters(
            (person >= judge).astype(float) - (judge >= person), own
        )
        behind.append((over.mean, over.std_error, over.df))
    p = {eps: _p_values(behind, eps) for eps in {*SWEEP, epsilon}}
    won = {eps: float(np.mean(p_adjust(v, method="BY") <= ALPHA)) for eps, v in p.items()}
    adjusted = p_adjust(p[epsilon], method="BY")
    tests = []
    constant = False
    for (name, judge, person, _), raw, adj in zip(rows, p[epsilon], adjusted, strict=True):
        d = (person >= judge).astype(float) - (judge >= person)
        constant |= bool(np.ptp(d) == 0)
        tests.append(
            AnnotatorTest(
                annotator=name,
                n=d.size,
                judge_share=float(np.mean(judge >= person)),
                annotator_share=float(np.mean(person >= judge)),
                mean_difference=float(d.mean()),
                sd_difference=float(d.std(ddof=1)),
                p_value=float(raw),
                p_adjusted=float(adj),
            )
        )
    few = f"{len(skipped)} annotators have fewer than {LEAST_ITEMS} items and are skipped."
    alike = "Against some annotator the difference is the same on every item: p is 0 or 1."
    notes = Note.where(skipped, "annotators_skipped", few)
    notes += Note.where(constant, "constant_difference", alike)
    omega = won[epsilon]
    return AlternativeAnnotator(
        winning_rate=omega,
        advantage=float(np.mean([t.judge_share for t in tests])),
        passed=omega >= 0.5,
        epsilon=epsilon,
        annotators=tuple(tests),
        sweep={e: won[e] for e in SWEEP},
        sample=sample,
        skipped=tuple(skipped),
        notes=notes,
    )


def _p_values(behind: Sequence[tuple[float, float, float]], eps: float) -> Floats:
    return np.array(
        [
            (0.0 if mean < eps and not math.isnan(df) else 1.0)
            if math.isnan(se) or not se > 1e-9
            else float(special.stdtr(df, (mean - eps) / se))
            for mean, se, df in behind
        ]
    )


def _majority(y: Floats, scoring: Scoring) -> Floats:
    """The most common human label (the first of equals), or the median human score."""
    if scoring == "neg_rmse":
        return np.asarray(np.nanmedian(y, axis=1))
    kinds = np.unique(y[~np.isnan(y)])
    votes = np.stack([np.sum(y == v, axis=1) for v in kinds])
    return np.asarray(kinds[np.argmax(votes, axis=0)])


def _power(
    y: Floats,
    codes: Ints,
    names: tuple[str, ...],
    test: Callable[..., AlternativeAnnotator],
    n_resamples: int,
    seed: int | None,
) -> float:
    """How often a person put in the judge's place passes, in resamples of whole clusters."""
    m = y.shape[1]
    if m < 3 or n_resamples < 1:
        return math.nan
    rng = np.random.default_rng(seed)
    kinds = np.unique(codes)
    members = [np.flatnonzero(codes == c) for c in kinds] if kinds.size < codes.size else None
    passed = []
    for b in range(n_resamples):
        drawn = rng.integers(0, kinds.size, kinds.size)
        rows = drawn if members is None else np.concatenate([members[c] for c in drawn])
        place = np.arange(drawn.size)
        if members is not None:
            place = np.repeat(place, [members[c].size for c in drawn])
        j = b % m
        panel = np.delete(y[rows], j, axis=1)
        kept = ~np.isnan(y[rows, j]) & (np.sum(~np.isnan(panel), axis=1) >= 2)
        if kept.sum() < LEAST_ITEMS:
            continue
        out = test(y[rows, j][kept], panel[kept], place[kept], names[: m - 1])
        if not out.reason:
            passed.append(out.passed)
    return float(np.mean(passed)) if passed else math.nan


_SHARES = (
    ("judge_person_agreement", "Agreement of the judge with one human rater"),
    ("person_agreement", "Agreement of two human raters"),
    ("agreement_gap", "Judge's agreement minus human agreement"),
)
_DISTANCES = (
    ("judge_person_distance", "Distance of the judge from one human rater"),
    ("person_distance", "Distance of two human raters"),
    ("distance_gap", "Judge's distance minus human distance"),
)


@with_keywords()
def agreement_ceiling(
    judge: ArrayLike, labels: ArrayLike, *, scores: bool = False, **inference: Unpack[Clustered]
) -> dict[str, Estimate]:
    r"""Agreement of the judge with one human rater, and of two human raters, on the same items.

    Parameters
    ----------
    judge : array-like, shape (N,)
        Verdicts or scores; None or NaN where the judge gave none.
    labels : array-like, shape (N, annotators)
        Human labels; None or NaN where an annotator gave none.
    scores : bool
        Mean absolute differences of numbers instead of shares of equal verdicts.

    Returns
    -------
    dict of str to Estimate
        ``judge``, ``people``, and ``gap``: the first minus the second, paired by item.

    Raises
    ------
    InputError
        If shapes differ or no judged item has two labels.

    Notes
    -----
    Mean over items of the mean over the item's raters (pairs of raters), intervals by the jackknife
    over clusters. Two human raters who err by chance agree with one another less than a perfect
    judge agrees with one of them. A judge may therefore be above the ceiling.

    Examples
    --------
    >>> out = agreement_ceiling(["a", "b", "a"], [["a", "a"], ["b", "a"], ["a", None]])
    >>> out["judge"].estimate, out["people"].estimate, out["gap"].estimate
    (0.75, 0.5, 0.25)
    """
    where = "agreement_ceiling"
    f, y = coded_labels(judge, labels, "neg_rmse" if scores else "accuracy", where)
    codes = cluster_codes(inference["cluster"], f.size, where=where)
    several = np.sum(~np.isnan(y), axis=1) >= 2
    used = several & ~np.isnan(f)
    if not used.any():
        raise InputError(f"{where}: no judged item has the labels of two human raters.")
    out = {
        "fewer than two human raters": int(np.sum(~several)),
        "no verdict of the judge": int(np.sum(several & np.isnan(f))),
    }
    sample = Sample.from_mask(used, out, None if inference["cluster"] is None else codes)
    f, y, codes = f[used], y[used], codes[used]
    pairs = itertools.combinations(range(y.shape[1]), 2)
    own = _mean([_column_distance(y[:, i], y[:, j], scores=scores) for i, j in pairs])
    theirs = _mean([_column_distance(f, y[:, j], scores=scores) for j in range(y.shape[1])])
    names = _DISTANCES if scores else _SHARES
    most = math.inf if scores else 1.0
    return {
        key: mean_estimate(
            values, codes, name=name, label=label, estimator="mean over items", sample=sample,
            level=inference["level"], least=-math.inf if key == "gap" else 0.0,
            most=math.inf if key == "gap" else most,
        )
        for key, values, (name, label) in zip(
            ("judge", "people", "gap"), (theirs, own, theirs - own), names, strict=True
        )
    }  # fmt: skip


def _column_distance(a: Floats, b: Floats, *, scores: bool) -> Floats:
    """Distance of two columns of scores, agreement of two of verdicts; NaN where one is missing."""
    return np.abs(a - b) if scores else np.where(np.isnan(a + b), np.nan, (a == b).astype(float))


def _mean(columns: list[Floats]) -> Floats:
    """Of each item, over those known."""
    return np.asarray(np.nanmean(np.column_stack(columns), axis=1))
