"""Labels next: which items to label, with known chances, and the bound on what that saves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from judgestats.analysis.decisions import record
from judgestats.analysis.decisions.operating_point import UNDEFINED, Bounded
from judgestats.analysis.decisions.record import Decision
from judgestats.arrays import Floats, Ints, as_numbers
from judgestats.errors import InputError
from judgestats.results.records import Number, Part
from judgestats.results.verdict import Caveat, Measure, Subject
from judgestats.stats.validity import label_plan
from judgestats.stats.validity.inputs import verdict_values
from judgestats.stats.validity.label_plan import LabelMoments

BATCHES, LEAST, MOST_PER_CLUSTER = 4, 8, 3
WORTH = 0.15
"""Share of labels from which choosing items is proposed."""
_QUANTITIES = {"pass_rate": "pass rate", "mean_score": "mean score"}
_NAMES = {False: {0.0: "fail", 1.0: "pass"}, True: {0.0: "low", 0.5: "middle", 1.0: "high"}}
"""Names of strata by the judge's verdict, or by the third of its scores."""
_ASSUMED = {False: (0.8, 0.9, 0.95), True: (0.5, 0.7, 0.9)}
"""TPR and TNR, or correlations with human scores, for the bound before the first label."""


@dataclass(frozen=True, kw_only=True)
class Stratum(Part):
    """Verdict and part of the confidence: items, labels, labels in the next batch.

    `passes` is None where labels are scores; `mean` and `sd` are of the labels.
    """

    name: str
    size: int
    labels: int
    passes: int | None
    next: int
    mean: Number = math.nan
    sd: Number = math.nan


@dataclass(frozen=True, kw_only=True)
class LabelBounds(Part):
    """Labels needed for equal variance, as a share of those needed without a judge.

    `assumed` holds 1 - R squared by TPR and TNR, or by correlation, before the first label.
    """

    people_only: Number = 1.0
    verdict: Number = math.nan
    strata: Number = math.nan
    neyman: Number = math.nan
    assumed: Mapping[str, float] = field(default_factory=dict)


def _estimated(labels: int) -> str:
    """That a bound is an estimate, and of what."""
    return f"(no CI: estimated from {labels:,} labels)"


@dataclass(frozen=True, kw_only=True)
class ChoiceGain(Decision):
    """What choosing the next items would save over random labels.

    Attributes
    ----------
    bound : LabelBounds
    adaptive_gain : float
        Share of labels saved over random labels with the same strata, at most.
    """

    kind: ClassVar[str] = "labels"
    word: ClassVar[str] = "LABELS"
    bound: LabelBounds
    adaptive_gain: Number

    def sentences(self) -> list[str]:
        """The gain, the bound, and the command."""
        gain, best, random = map(
            record.percent, (self.adaptive_gain, self.bound.neyman, self.bound.strata)
        )
        claim = f"Choosing the items saves at most {gain} of the labels: {best} of those needed"
        other = f"without a judge, random labels {random} {_estimated(self.n_labels)}."
        return [f"{claim} {other}", "For a new sample: judgestats labels next FILE"]


@dataclass(frozen=True, kw_only=True)
class NextLabels(Decision):
    """Items to label next, and the human pass rate or mean score estimated from available labels.

    Attributes
    ----------
    strata : tuple of Stratum
    quantity : {"pass_rate", "mean_score"}
    estimate : Bounded
        Human pass rate, or mean human score, over all items.
    bound : LabelBounds
        From available labels; NaN before the first batch.
    adaptive_gain : float
        Largest share of labels that choosing items saves over random labels with the same strata.
    seed, batch : int
    budget : int
    chosen : tuple of int
        Positions of the next items.
    chance : tuple of float
        Share of the stratum that is labelled after this batch, one per chosen item.
    """

    kind: ClassVar[str] = "labels"
    word: ClassVar[str] = "READY"
    required: ClassVar[tuple[str, ...]] = ("pass_rate", "mean_score")
    strata: tuple[Stratum, ...]
    quantity: str = "pass_rate"
    estimate: Bounded = UNDEFINED
    bound: LabelBounds
    adaptive_gain: Number = math.nan
    seed: int = 0
    batch: int = 1
    budget: int = 0
    chosen: tuple[int, ...] = ()
    chance: tuple[Number, ...] = ()

    def measures(self, subject: Subject) -> Iterator[Measure]:
        """The human pass rate, or the mean human score."""
        made = self.estimate
        yield Measure(
            key=self.quantity, subject=subject, estimate=made.estimate, low=made.low,
            high=made.high, n=self.n_labels, n_clusters=self.n_labels, reason=self.reason,
        )  # fmt: skip

    def sentences(self) -> list[str]:
        """The bound first, then the estimate, then the next batch."""
        if not math.isnan(self.bound.strata):
            head = (
                f"Bound: {record.percent(self.bound.strata)} of the labels that people alone need, "
                f"with random labels and these strata; {record.percent(self.bound.neyman)} at best "
                f"{_estimated(self.n_labels)}."
            )
        elif self.n_labels:
            head = "No bound can be estimated: labels do not vary, or a stratum has one label."
        else:
            head = f"Without labels no bound can be estimated: batch 1 is the pilot.{self._if()}"
        out = [head]
        if self.certified:
            made = self.estimate
            name = f"Human {_QUANTITIES[self.quantity]}"
            of_scores = self.quantity != "pass_rate"
            shown = [
                f"{v:.2f}".replace("-", "−") if of_scores else record.number(v, 3)
                for v in (made.estimate, made.low, made.high)
            ]
            size = f"({self.n_labels:,} labels of {self.n_items:,} items)"
            limits = f"{record.level_text(self.level)} CI [{shown[1]}, {shown[2]}]"
            out.append(f"{name} {shown[0]}, {limits} {size}.")
        if self.adaptive_gain < WORTH:
            gain = record.percent(max(round(self.adaptive_gain, 3), 0))
            out.append(
                f"Choosing items saves {gain} at most. Random labels do as well: "
                f"{record.plan_command(self.budget, self.n_items)}"
            )
        batch = f"Batch {self.batch} of {BATCHES}: {len(self.chosen)} items to label."
        given = f"All {self.budget:,} labels of the budget are given."
        return [*out, batch if self.chosen else given]

    def _if(self) -> str:
        """The bound before the first label, under assumed rates of the judge."""
        if not self.bound.assumed:
            return ""
        is_scored = any(one.name.startswith(tuple(_NAMES[True].values())) for one in self.strata)
        what = "its r with human scores is" if is_scored else "its TPR and TNR are"
        values = ", ".join(record.number(float(k)) for k in self.bound.assumed)
        shares = ", ".join(map(record.percent, self.bound.assumed.values()))
        return f" With this judge, if {what} {values}: {shares} of the labels needed without it."


def next_labels(
    verdicts: ArrayLike,
    confidence: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    *,
    budget: int,
    chance: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    level: float = 0.95,
    seed: int = 0,
    subject: str = "",
) -> NextLabels:
    r"""Choose the items to label next, with a known chance given their stratum.

    Parameters
    ----------
    verdicts : array-like, shape (N,)
        Pass and fail as words, booleans or 1 and 0, or scores; None where unparsed.
    confidence : array-like, shape (N,), optional
    labels : array-like, shape (N,) or (N, raters), optional
        Labels of earlier batches of the same seed, pass / fail or scores; None without a label.
    budget : int
        Labels in all, in four batches.
    chance : array-like, shape (N,), optional
        Chances of the labelled items, as `NextLabels.chance` gave them: they are checked.
    cluster : array-like, shape (N,), optional
        At most three items per cluster.
    level : float
    seed : int
        Of the order inside strata, which stays the same over batches.
    subject : str

    Returns
    -------
    NextLabels

    Raises
    ------
    InputError
        The budget is too small, clusters are too large, or labels are not those of earlier batches.

    Notes
    -----
    Strata are verdict times thirds of the confidence; of scores thirds of the score times halves of
    the confidence, or of the score without one. The first batch is proportional with at least 8
    labels per stratum, later ones are Neyman's. Variances take two prior labels: one pass and one
    fail, or two at the SD of the first batch. Inside a stratum the order is a seeded permutation,
    so the stratified mean is unbiased given the allocation.

    References
    ----------
    Neyman (1934), JRSS 97, 558-625; Hahn, Hirano & Karlan (2011), J. Bus. Econ. Stat. 29, 96-108;
    Zrnic & Candes (2024), arXiv:2403.03208.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> v, c = (rng.random(900) < .6).astype(float), rng.random(900)
    >>> first = next_labels(v, c, budget=200)
    >>> y = np.full(900, np.nan)
    >>> y[list(first.chosen)] = v[list(first.chosen)]
    >>> then = next_labels(v, c, y, budget=200)
    >>> len(first.chosen), then.batch, set(first.chosen) & set(then.chosen)
    (50, 2, set())
    """
    where = "labels next"
    record.check_level(where, level=level)
    judge, is_scored = _numbers(verdicts, "verdicts", where)
    n = judge.size
    classes = _thirds(judge) if is_scored else judge
    sure = judge if is_scored else np.zeros(n)
    if confidence is not None:
        sure = record.aligned(confidence, n, where=where, name="confidence")
    given, is_mean = _numbers(np.full(n, np.nan) if labels is None else labels, "labels", where)
    judged = record.labelled(given, cluster, where=where, is_scored=is_mean)
    human = judged.human
    if judged.clustered and np.bincount(np.unique(judged.codes, return_inverse=True)[1]).max() > (
        MOST_PER_CLUSTER
    ):
        raise InputError(
            f"{where}: a cluster has more than {MOST_PER_CLUSTER} items, for which this was not "
            f"studied. Draw labels at random: judgestats labels plan my.csv --labels {budget}"
        )
    strata = label_plan.label_strata(classes, sure, 2 if is_scored else 3)
    sizes = np.bincount(strata)
    order = [np.random.default_rng([seed, h]).permutation(np.flatnonzero(strata == h))
             for h in range(sizes.size)]  # fmt: skip
    order = [own[~judged.tied[own]] for own in order]
    have = np.array([int(judged.used[own].sum()) for own in order])
    _check_order(where, order, have, human)
    if chance is not None:
        _check_chances(where, order, have, sizes, np.asarray(chance, float))
    left = np.array([own.size for own in order])
    floor = np.minimum(LEAST, left)
    if budget < floor.sum() or budget > left.sum():
        least, most = int(floor.sum()), int(left.sum())
        raise InputError(
            f"{where}: the budget must be between {least} ({LEAST} labels per stratum) and {most} "
            f"items, got {budget}. Use --budget {min(max(budget, least), most)}."
        )
    pilot = _wanted(sizes, left, have * 0, np.ones(sizes.size), floor, budget)[1]
    found = label_plan.label_moments(
        [human[own[:k]] for own, k in zip(order, have, strict=True)], pilot, is_mean
    )
    batch, want = _wanted(sizes, left, have, np.sqrt(found.prior), floor, budget)
    more = want - have
    chosen = np.concatenate([own[h : h + m] for own, h, m in zip(order, have, more, strict=True)])
    shares = (want / sizes)[strata[chosen]]
    shuffled = np.random.default_rng([seed, 1_000_000 + batch]).permutation(chosen.size)
    estimate = label_plan.stratified_mean(sizes, have, found.mean, found.prior, level)
    bound, gain = _bounds(judge, strata, sizes, have, found, human)
    if not have.any():
        bound = LabelBounds(assumed=_assumed(judge, is_scored))
    known = not math.isnan(estimate[1])
    quantity = "mean_score" if is_mean or (is_scored and not have.any()) else "pass_rate"
    names = _stratum_names(classes, strata, _NAMES[is_scored])
    unserved = "TPR, TNR, and cut-offs" if quantity == "pass_rate" else "other statistics"
    return NextLabels(
        subject=subject, certified=known, level=level, n_labels=int(have.sum()), n_items=n,
        n_ties=judged.n_ties, n_unparsed=int(np.isnan(judge).sum()), seed=seed, batch=batch,
        assumptions=("Labels are those that labels next chose, of whole batches.",),
        quantity=quantity, budget=budget, bound=bound, adaptive_gain=gain,
        caveats=(Caveat(
            code="unequal_chances", severity="minor", about="labels",
            text=f"These labels serve the {_QUANTITIES[quantity]}: for {unserved} chances are "
            "unequal.",
            action=f"For those: {record.plan_command(budget, n)}",
        ),),
        strata=tuple(
            Stratum(name=name, size=int(sizes[h]), labels=int(have[h]), next=int(more[h]),
                    passes=None if is_mean else round(found.total[h]), mean=float(found.mean[h]),
                    sd=math.sqrt(found.prior[h]))
            for h, name in enumerate(names)
        ),
        estimate=Bounded(estimate=estimate[0], low=estimate[1], high=estimate[2],
                         method="stratified, t with Satterthwaite's df"),
        chosen=tuple(chosen[shuffled].tolist()), chance=tuple(shares[shuffled].tolist()),
        reason="" if known else "labels do not vary" if have.any() else "there are no labels yet",
        method="strata of verdict and confidence; Neyman's allocation in batches",
    )  # fmt: skip


def choice_gain(
    verdicts: Floats, confidence: Floats | None, labels: Floats, *, cluster: ArrayLike | None = None
) -> ChoiceGain | None:
    """What choosing items would save, from labels drawn at random; None where it is below 15%.

    Parameters
    ----------
    verdicts : ndarray, shape (N,)
        1 pass, 0 fail, NaN unparsed.
    confidence : ndarray, shape (N,), optional
    labels : ndarray, shape (N, raters)
        1, 0, and NaN without a label.
    cluster : array-like, shape (N,), optional
    """
    where = "labels next"
    judged = record.labelled(labels, cluster, where=where)
    codes = np.unique(judged.codes, return_inverse=True)[1]
    sure = np.zeros(verdicts.size) if confidence is None else confidence
    strata = label_plan.label_strata(verdicts, sure)
    sizes, have = np.bincount(strata), np.bincount(strata[judged.used], minlength=strata.max() + 1)
    most = np.bincount(codes).max()
    if have.min() < LEAST or have.sum() == sizes.sum() or most > MOST_PER_CLUSTER:
        return None
    given = [judged.human[(strata == h) & judged.used] for h in range(sizes.size)]
    found = label_plan.label_moments(given, have, is_scored=False)
    bound, gain = _bounds(verdicts, strata, sizes, have, found, judged.human)
    if not gain >= WORTH:
        return None
    return ChoiceGain(
        certified=False, bound=bound, adaptive_gain=gain, n_labels=int(have.sum()),
        n_items=verdicts.size, n_unparsed=int(np.isnan(verdicts).sum()),
        reason="an estimate of what labels next saves",
        method="strata of verdict and confidence; Neyman's allocation",
    )  # fmt: skip


def _numbers(values: ArrayLike, name: str, where: str) -> tuple[Floats, bool]:
    """Verdicts or labels as numbers, and whether they are scores: numbers other than 0 and 1."""
    array = np.asarray(values)
    if array.dtype.kind in "iuf" and not np.isin(array[~np.isnan(array)], (0, 1)).all():
        return as_numbers(array, name, where), True
    return verdict_values(array, where=where, name=name), False


def _thirds(scores: Floats) -> Floats:
    """0, .5 and 1 for the lowest, the middle and the highest third of scores, by rank."""
    cuts = np.unique(np.nanquantile(scores, (1 / 3, 2 / 3)))
    return np.where(np.isnan(scores), np.nan, np.searchsorted(cuts, scores, "right") / 2)


def _check_order(where: str, order: list[Ints], have: Ints, human: Floats) -> None:
    """Labels must be those of earlier batches: the first of each stratum's order."""
    before = np.concatenate([own[:count] for own, count in zip(order, have, strict=True)])
    if missing := int(np.isnan(human[before]).sum()):
        raise InputError(
            f"{where}: {missing} items that come before labelled ones in the order of this seed "
            "have no label, so chances are not known. Label the whole batch, and give the seed "
            "that chose it. For other labels: judgestats labels plan my.csv --labels 200"
        )


def _check_chances(where: str, order: list[Ints], have: Ints, sizes: Ints, chance: Floats) -> None:
    """Check that chance times stratum size is a whole number, at least the item's rank."""
    for own, count, size in zip(order, have, sizes, strict=True):
        counts = chance[own[:count]] * size
        places = np.arange(1, count + 1)
        whole = np.abs(counts - np.round(counts)) < 1e-6
        if not np.all(whole & (np.round(counts) >= places) & (np.round(counts) <= size)):
            raise InputError(
                f"{where}: the column chance is not what labels next wrote. Give its files as they "
                "were, with labels filled in."
            )


def _wanted(
    sizes: Ints, left: Ints, have: Ints, sds: Floats, floor: Ints, budget: int
) -> tuple[int, Ints]:
    """Batch, and labels of each stratum after it."""
    ends = [budget * b // BATCHES for b in range(1, BATCHES + 1)]
    batch = 1 + sum(int(have.sum()) >= end for end in ends[:-1])
    total = max(ends[batch - 1], int(np.maximum(have, floor).sum()))
    shares = sizes / sizes.sum()
    if not have.any():
        sds = np.ones(sizes.size)
    want = label_plan.allocate_labels(
        total, shares.tolist(), sds.tolist(), available=left.tolist(),
        least=np.maximum(have, floor).tolist(),
    )  # fmt: skip
    return batch, np.maximum(want, have)


def _bounds(
    judge: Floats, strata: Ints, sizes: Ints, have: Ints, found: LabelMoments, human: Floats
) -> tuple[LabelBounds, float]:
    """Bounds from available labels, and the gain of chosen over random labels."""
    if np.any(have < 2):
        return LabelBounds(), math.nan
    shares = sizes / sizes.sum()
    inside = found.variance * (1 - 1 / sizes)
    known = ~np.isnan(human)
    weight = (shares / have)[strata[known]]
    y = human[known]
    whole = float(weight @ y**2 - (weight @ y) ** 2)
    random, best = label_plan.label_bounds(shares, found.mean, inside, whole)
    read = ~np.isnan(judge[known])
    alone = math.nan
    if np.unique(judge[known][read]).size > 1 and np.unique(y[read]).size > 1:
        covariance = np.cov(judge[known][read], y[read], aweights=weight[read])
        alone = 1 - float(covariance[0, 1] ** 2 / (covariance[0, 0] * covariance[1, 1]))
    made = LabelBounds(verdict=alone, strata=random, neyman=best)
    return made, 1 - best / random if random > 0 else math.nan


def _assumed(judge: Floats, is_scored: bool) -> dict[str, float]:
    """1 - R squared before the first label, by TPR and TNR, or by r with human scores."""
    out = {}
    passed = float(np.nanmean(judge)) if np.isfinite(judge).any() else math.nan
    for value in _ASSUMED[is_scored]:
        r2 = value**2
        if not is_scored:
            theta = (passed - (1 - value)) / (2 * value - 1)
            whole = passed * (1 - passed) * theta * (1 - theta)
            r2 = (theta * (value - passed)) ** 2 / whole if 0 < theta < 1 and whole else math.nan
        if math.isfinite(r2):
            out[f"{value:g}"] = 1 - r2
    return out


def _stratum_names(classes: Floats, strata: Ints, names: Mapping[float, str]) -> Iterator[str]:
    """Verdict or third of the score, and place, of each stratum, the least confident first."""
    seen: Counter[str] = Counter()
    for h in np.unique(strata):
        word = names.get(float(classes[strata == h][0]), "unparsed")
        seen[word] += 1
        yield f"{word} {seen[word]}"
