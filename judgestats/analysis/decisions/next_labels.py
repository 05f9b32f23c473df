"""Labels next: which items to label, with known chances, and the bound on what that saves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from judgestats.analysis.decisions.operating_point import UNDEFINED, Bounded
from judgestats.analysis.decisions.record import (
    Decision,
    aligned,
    check_level,
    labelled,
    number,
    percent,
)
from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.results.records import Number, Part
from judgestats.results.verdict import Caveat
from judgestats.stats.validity.inputs import verdict_values
from judgestats.stats.validity.label_plan import (
    allocate_labels,
    label_bounds,
    label_strata,
    stratified_rate,
)

BATCHES, LEAST, MOST_PER_CLUSTER = 4, 8, 3
WORTH = 0.15
"""Share of labels from which choosing items is proposed."""
_USE = Caveat(
    code="unequal_chances", severity="minor", about="labels",
    text="These labels serve the pass rate: for TPR, TNR, and cut-offs chances are unequal.",
    action="For those: judgestats labels plan.",
)  # fmt: skip
_NAMES = ("fail", "pass", "unparsed")


@dataclass(frozen=True, kw_only=True)
class Stratum(Part):
    """Verdict and part of the confidence: items, labels, passes, and labels in the next batch."""

    name: str
    size: int
    labels: int
    passes: int
    next: int


@dataclass(frozen=True, kw_only=True)
class LabelBounds(Part):
    """Labels needed for equal variance, as a share of those needed without a judge."""

    people_only: Number = 1.0
    verdict: Number = math.nan
    strata: Number = math.nan
    neyman: Number = math.nan


@dataclass(frozen=True, kw_only=True)
class NextLabels(Decision):
    """Items to label next, and the human pass rate estimated from available labels.

    Attributes
    ----------
    strata : tuple of Stratum
    estimate : Bounded
        Human pass rate over all items.
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
    word: ClassVar[str] = "LABELS"
    strata: tuple[Stratum, ...]
    estimate: Bounded = UNDEFINED
    bound: LabelBounds
    adaptive_gain: Number = math.nan
    seed: int = 0
    batch: int = 1
    budget: int = 0
    chosen: tuple[int, ...] = ()
    chance: tuple[Number, ...] = ()

    def sentences(self) -> list[str]:
        """The bound first, then the estimate, then the next batch."""
        if math.isnan(self.bound.strata):
            head = "How much the judge saves is known after the first batch."
        else:
            head = (
                f"Bound: {percent(self.bound.strata)} of the labels that people alone need, with "
                f"random labels and these strata; {percent(self.bound.neyman)} at best."
            )
        out = [head]
        if self.certified:
            made = self.estimate
            out.append(
                f"Human pass rate {number(made.estimate, 3)} [{number(made.low, 3)}, "
                f"{number(made.high, 3)}] ({self.n_labels:,} labels of {self.n_items:,} items)."
            )
        if self.adaptive_gain < WORTH:
            gain = percent(max(round(self.adaptive_gain, 3), 0))
            out.append(
                f"Choosing items saves {gain} at most: random labels do as well "
                "(judgestats labels plan --by)."
            )
        if self.chosen:
            out.append(f"Batch {self.batch} of {BATCHES}: {len(self.chosen)} items to label.")
        return out


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
        Pass and fail as words, booleans or 1 and 0; None where unparsed.
    confidence : array-like, shape (N,), optional
    labels : array-like, shape (N,), optional
        Labels of earlier batches of the same seed; None without a label.
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
    Strata are verdict times thirds of the confidence. The first batch is proportional with at least
    8 labels per stratum, later ones are Neyman's with :math:`m_h = (passes + 1) / (labels + 2)`.
    Inside a stratum the order is a seeded permutation, so the stratified mean is unbiased given the
    allocation.

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
    check_level(where, level=level)
    judge = verdict_values(verdicts, where=where, name="verdicts")
    n = judge.size
    sure = np.zeros(n) if confidence is None else aligned(
        confidence, n, where=where, name="confidence")  # fmt: skip
    judged = labelled(np.full(n, np.nan) if labels is None else labels, cluster, where=where)
    if judged.clustered and np.bincount(np.unique(judged.codes, return_inverse=True)[1]).max() > (
        MOST_PER_CLUSTER
    ):
        raise InputError(
            f"{where}: a cluster has more than {MOST_PER_CLUSTER} items, for which this was not "
            f"studied. Draw labels at random: judgestats labels plan my.csv --labels {budget}"
        )
    strata = label_strata(judge, sure)
    sizes = np.bincount(strata)
    order = [np.random.default_rng([seed, h]).permutation(np.flatnonzero(strata == h))
             for h in range(sizes.size)]  # fmt: skip
    order = [own[~judged.tied[own]] for own in order]
    have = np.array([int(judged.used[own].sum()) for own in order])
    passes = np.array([int(np.nansum(judged.human[own])) for own in order])
    _check_order(where, order, have, judged.human)
    if chance is not None:
        _check_chances(where, order, have, sizes, np.asarray(chance, float))
    left = np.array([own.size for own in order])
    floor = np.minimum(LEAST, left)
    if budget < floor.sum() or budget > left.sum():
        raise InputError(
            f"{where}: the budget must be between {int(floor.sum())} ({LEAST} labels per stratum) "
            f"and {left.sum()} items, got {budget}."
        )
    batch, want = _wanted(sizes, left, have, passes, floor, budget)
    more = want - have
    chosen = np.concatenate([own[h : h + m] for own, h, m in zip(order, have, more, strict=True)])
    shares = (want / sizes)[strata[chosen]]
    shuffled = np.random.default_rng([seed, 1_000_000 + batch]).permutation(chosen.size)
    estimate = stratified_rate(sizes, have, passes, level)
    bound, gain = _bounds(judge, sizes, have, passes, judged.human)
    known = not math.isnan(estimate[0])
    return NextLabels(
        subject=subject, certified=known, level=level, n_labels=int(have.sum()), n_items=n,
        n_ties=judged.n_ties, n_unparsed=int(np.isnan(judge).sum()), seed=seed, batch=batch,
        assumptions=("Labels are those that labels next chose, of whole batches.",),
        caveats=(_USE,),
        budget=budget, bound=bound, adaptive_gain=gain,
        strata=tuple(
            Stratum(name=name, size=int(size), labels=int(h), passes=int(p), next=int(m))
            for name, size, h, p, m in zip(
                _stratum_names(judge, strata), sizes, have, passes, more, strict=True
            )
        ),
        estimate=Bounded(estimate=estimate[0], low=estimate[1], high=estimate[2],
                         method="stratified, t with Satterthwaite's df"),
        chosen=tuple(chosen[shuffled].tolist()), chance=tuple(shares[shuffled].tolist()),
        reason="" if known else "there are no labels yet",
        method="strata of verdict and confidence; Neyman's allocation in batches",
    )  # fmt: skip


def _check_order(where: str, order: list[Ints], have: Ints, human: Floats) -> None:
    """Labels must be those of earlier batches: the first of each stratum's order."""
    missing = sum(
        int(np.isnan(human[own[:count]]).sum()) for own, count in zip(order, have, strict=True)
    )
    if missing:
        raise InputError(
            f"{where}: {missing} items that come before labelled ones in the order of this seed "
            "have no label, so chances are not known. Label the whole batch, and give the seed "
            "that chose it. For other labels: judgestats labels plan."
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
    sizes: Ints, left: Ints, have: Ints, passes: Ints, floor: Ints, budget: int
) -> tuple[int, Ints]:
    """Batch, and labels of each stratum after it."""
    ends = [budget * b // BATCHES for b in range(1, BATCHES + 1)]
    batch = 1 + sum(int(have.sum()) >= end for end in ends[:-1])
    total = max(ends[batch - 1], int(np.maximum(have, floor).sum()))
    shares = sizes / sizes.sum()
    spread = np.ones(sizes.size)
    if have.any():
        smooth = (passes + 1) / (have + 2)
        spread = np.sqrt(smooth * (1 - smooth))
    want = allocate_labels(
        total, shares.tolist(), spread.tolist(), available=left.tolist(),
        least=np.maximum(have, floor).tolist(),
    )  # fmt: skip
    return batch, np.maximum(want, have)


def _bounds(
    judge: Floats, sizes: Ints, have: Ints, passes: Ints, human: Floats
) -> tuple[LabelBounds, float]:
    """Bounds from available labels, and the gain of chosen over random labels."""
    if np.any(have < 2):
        return LabelBounds(), math.nan
    shares = sizes / sizes.sum()
    random, best = label_bounds(shares, passes / have)
    parts, rates = [], []
    for value in (0.0, 1.0):
        own = judge == value
        known = own & ~np.isnan(human)
        if known.any():
            parts.append(float(own.mean()))
            rates.append(float(human[known].mean()))
    alone = label_bounds(np.array(parts), np.array(rates))[0]
    made = LabelBounds(verdict=alone, strata=random, neyman=best)
    return made, 1 - best / random if random > 0 else math.nan


def _stratum_names(judge: Floats, strata: Ints) -> list[str]:
    """Verdict and place of each stratum, the least confident first."""
    seen: dict[str, int] = {}
    out = []
    for h in np.unique(strata).tolist():
        value = judge[strata == h][0]
        word = _NAMES[2] if math.isnan(value) else _NAMES[int(value)]
        seen[word] = seen.get(word, 0) + 1
        out.append(f"{word} {seen[word]}")
    return out
