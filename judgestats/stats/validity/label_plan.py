"""Label plans: widths, allocation, draws with known chances, and what a judge adds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Bools, Floats, Ints, check_between
from judgestats.errors import InputError
from judgestats.results.numbers import count_noun
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.distributions import t
from judgestats.stats.inference.jackknife import jackknife_error, lack_note
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample
from judgestats.stats.validity.inputs import FEW_LABELS, Report, critical_value, labelled_items

LEAST_PER_CLASS = 10


@dataclasses.dataclass(frozen=True, kw_only=True)
class LabelPlan(Report):
    """How many labels reach a width.

    Attributes
    ----------
    labels : float
        Labels needed with the judge; infinite where no number of labels suffices.
    people_only : float
        Labels needed without it.
    half_width : float
    n_items : int
        Items judged.
    saved : float
        Share of the labels that the judge saves per label: the squared correlation of judge and
        label.
    by_verdict : mapping of str to int
        Labels for each verdict of the judge, where these are the best allocation of `labels`.
    cost, cost_people_only : float
        Price of the labels, NaN where a label has none.
    notes : tuple of Note
    """

    labels: float
    people_only: float
    half_width: float
    n_items: int
    saved: float
    by_verdict: Mapping[str, int] = dataclasses.field(default_factory=dict)
    cost: float = math.nan
    cost_people_only: float = math.nan
    TITLE = "Labels needed"

    def tidy(self) -> pd.DataFrame:
        """One row."""
        row = dataclasses.asdict(self)
        del row["notes"], row["by_verdict"]
        row |= {f"labels_{k}": v for k, v in self.by_verdict.items()}
        return pd.DataFrame([row])

    def sentence(self) -> str:
        """The number of labels, with and without the judge."""
        if math.isinf(self.labels):
            judged = f"with {self.n_items} items judged: judge more items"
            return f"No number of labels reaches ±{self.half_width:g} {judged}."
        text = (
            f"±{self.half_width:g} takes {self.labels:.0f} labels with the judge, "
            f"{self.people_only:.0f} without"
        )
        if not math.isnan(self.cost):
            text += f" (a cost of {self.cost:g} instead of {self.cost_people_only:g})"
        if self.by_verdict:
            parts = ", ".join(f"{v} {k}" for k, v in self.by_verdict.items())
            text += f"; best spread over the judge's verdicts: {parts}"
        return text + "."


def labels_needed(
    half_width: float,
    *,
    n_items: int,
    prevalence: float | None = None,
    sensitivity: float | None = None,
    specificity: float | None = None,
    sd: float | None = None,
    correlation: float | None = None,
    level: float = 0.95,
    price: float = math.nan,
) -> LabelPlan:
    r"""How many labels give the corrected score an interval of +- `half_width`?

    Parameters
    ----------
    half_width : float
    n_items : int
        Items judged.
    prevalence, sensitivity, specificity : float, optional
        Of a pass rate: from a pilot, or as stated.
    sd, correlation : float, optional
        Of a mean score: standard deviation of human scores, and their correlation with the judge's.
    level : float
    price : float
        Of one label.

    Returns
    -------
    LabelPlan

    Raises
    ------
    InputError
        If neither or both kinds of rates are given, or one is outside its range.

    Notes
    -----
    :math:`n = V / (h^2 / z^2 - B / N)` with V the variance of a label within the judge's verdicts,
    :math:`V = \theta(1-\theta)(1-\rho^2)`, and B the variance between them. A judge saves the share
    :math:`\rho^2` of the labels and no more. By verdict the numbers go with
    :math:`w_v\sqrt{p_v(1-p_v)}`, at least 10 each.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 5.5.

    Examples
    --------
    >>> plan = labels_needed(0.05, n_items=2000, prevalence=0.7, sensitivity=0.9, specificity=0.8)
    >>> plan.labels, plan.people_only, round(plan.saved, 2)
    (182.0, 323.0, 0.48)
    """
    where = "labels_needed"
    rates = [prevalence, sensitivity, specificity]
    scores = [sd, correlation]
    if half_width <= 0 or n_items < 1:
        raise InputError(f"{where}: half_width and n_items must be positive.")
    given = [v is not None for v in rates], [v is not None for v in scores]
    if not ((all(given[0]) and not any(given[1])) or (all(given[1]) and not any(given[0]))):
        raise InputError(
            f"{where}: for a pass rate give prevalence, sensitivity, and specificity (--rates "
            "prevalence=.7,sensitivity=.9,specificity=.8). For a mean score give sd and "
            "correlation."
        )
    z = critical_value(level, math.inf)
    by_verdict: dict[str, int] = {}
    youden = math.inf
    if prevalence is not None and sensitivity is not None and specificity is not None:
        if not (0 < prevalence < 1 and 0 <= sensitivity <= 1 and 0 <= specificity <= 1):
            raise InputError(f"{where}: rates must be within 0-1, the prevalence inside.")
        w, ppv, fo = verdict_shares(prevalence, sensitivity, specificity)
        inside = w * ppv * (1 - ppv) + (1 - w) * fo * (1 - fo)
        between = (ppv - fo) ** 2 * w * (1 - w)
        alone = prevalence * (1 - prevalence)
        spread: tuple[float, float] | None = (math.sqrt(ppv * (1 - ppv)), math.sqrt(fo * (1 - fo)))
        weights = (w, 1 - w)
        youden = sensitivity + specificity - 1
    else:
        if sd is None or correlation is None or sd <= 0 or not -1 <= correlation <= 1:
            raise InputError(f"{where}: sd must be positive and the correlation within -1 to 1.")
        alone = sd**2
        inside, between = alone * (1 - correlation**2), alone * correlation**2
        spread, weights = None, (1.0, 0.0)
    room = (half_width / z) ** 2 - between / n_items
    n = math.inf if room <= 0 else float(math.ceil(inside / room - 1e-9))
    people = float(math.ceil(alone / (half_width / z) ** 2 - 1e-9))
    message = "Sensitivity + specificity is at most 1: the judge does not help."
    notes = Note.where(youden <= 0, "useless_judge", message)
    if math.isfinite(n):
        n = max(n, 2.0)
        message = f"That is more than the {n_items} items judged: label them all."
        notes += Note.where(n > n_items, "all_items", message)
        if spread is not None and n >= 2 * LEAST_PER_CLASS:
            counts = allocate_labels(int(min(n, n_items)), weights, spread)
            by_verdict = {"pass": int(counts[0]), "fail": int(counts[1])}
    return LabelPlan(
        labels=n,
        people_only=people,
        half_width=half_width,
        n_items=n_items,
        saved=between / alone,
        by_verdict=by_verdict,
        cost=n * price,
        cost_people_only=people * price,
        notes=notes,
    )


def verdict_shares(prevalence: float, se: float, sp: float) -> tuple[float, float, float]:
    """Share of pass verdicts, and human pass rate after a pass and after a fail verdict.

    Examples
    --------
    >>> [round(v, 3) for v in verdict_shares(0.7, 0.9, 0.8)]
    [0.69, 0.913, 0.226]
    """
    w = prevalence * se + (1 - prevalence) * (1 - sp)
    ppv = prevalence * se / w if w > 0 else 0.0
    fo = prevalence * (1 - se) / (1 - w) if w < 1 else 0.0
    return w, ppv, fo


def allocate_labels(
    n: int,
    weights: Sequence[float],
    sds: Sequence[float],
    *,
    available: Sequence[int] | None = None,
    least: int | Sequence[int] = LEAST_PER_CLASS,
) -> Ints:
    r"""Spread labels over classes for the least variance (Neyman), with a least number each.

    Parameters
    ----------
    n : int
        Labels in all.
    weights, sds : sequence of float
        Share of the items and standard deviation of the labels of each class.
    available : sequence of int, optional
        Items of each class: no more can be labelled.
    least : int or sequence of int
        Labels of each class at least (as far as available).

    Returns
    -------
    ndarray of int

    Raises
    ------
    InputError
        If the least numbers exceed n, or n exceeds what is available.

    Notes
    -----
    :math:`n_v \propto w_v s_v` above the least number.

    References
    ----------
    Neyman (1934), JRSS 97, 558-625.

    Examples
    --------
    >>> allocate_labels(100, [0.7, 0.3], [0.28, 0.42]).tolist()
    [61, 39]
    """
    where = "allocate_labels"
    w, s = np.asarray(weights, dtype=float), np.asarray(sds, dtype=float)
    top = np.full(w.size, n) if available is None else np.asarray(available, dtype=np.int64)
    if w.shape != s.shape or w.ndim != 1 or top.shape != w.shape or np.any(w < 0) or np.any(s < 0):
        raise InputError(f"{where}: weights and sds must be non-negative lists of one length.")
    floor = np.minimum(np.asarray(least, dtype=np.int64), top)
    if floor.sum() > n or top.sum() < n:
        raise InputError(
            f"{where}: {n} labels cannot give {w.size} classes at least {least} each, of "
            f"{int(top.sum())} items available."
        )
    size = w * s if np.any(w * s > 0) else w
    counts = floor.astype(float)
    free = np.ones(w.size, dtype=bool)
    for _ in range(2 * w.size + 1):
        rest = n - counts[~free].sum()
        total = size[free].sum()
        part = np.where(
            free, rest * size / total if total > 0 else rest / max(free.sum(), 1), counts
        )
        low, high = free & (part < floor), free & (part > top)
        if not (low.any() or high.any()):
            counts = part
            break
        # Classes short of their least number are settled first, then those beyond what there is.
        settled = low if low.any() else high
        counts[settled] = np.where(low, floor, top)[settled]
        free &= ~settled
    whole = np.floor(counts + 1e-9).astype(np.int64)
    order = np.argsort(-(counts - whole), kind="stable")
    while whole.sum() < n:  # what rounding left, and what classes without items left to others
        more = order[(whole < top)[order]][: n - int(whole.sum())]
        whole[more] += 1
    return np.asarray(whole)


def draw_labels(classes: ArrayLike, counts: Mapping[str, int], *, seed: int) -> tuple[Ints, Floats]:
    """Draw items to label, fixed numbers from each class, with the chance of every item.

    Parameters
    ----------
    classes : array-like, shape (N,)
        Class of each item: the judge's verdict, a stratum, or one name for all.
    counts : mapping of str to int
        Items to draw from each class.
    seed : int

    Returns
    -------
    chosen : ndarray of int
        Positions of the drawn items, in random order: what is labelled first is random too.
    chance : ndarray, shape (N,)
        The chance with which each item was to be drawn.

    Raises
    ------
    InputError
        If a class has too few items or none.

    Examples
    --------
    >>> chosen, chance = draw_labels(["pass"] * 6 + ["fail"] * 3, {"pass": 2, "fail": 2}, seed=1)
    >>> len(chosen), [round(float(c), 2) for c in chance[[0, 8]]]
    (4, [0.33, 0.67])
    """
    names = np.asarray(classes, dtype=object).astype(str)
    rng = np.random.default_rng(seed)
    chance = np.zeros(names.size)
    chosen = []
    for name, k in counts.items():
        here = np.flatnonzero(names == str(name))
        if k < 0 or k > here.size:
            raise InputError(f"draw_labels: {k} items of class {name!r}: there are {here.size}.")
        chosen.append(rng.choice(here, k, replace=False))
        chance[here] = k / here.size if here.size else 0.0
    drawn = np.concatenate(chosen) if chosen else np.empty(0, dtype=np.int64)
    return np.asarray(rng.permutation(drawn), dtype=np.int64), chance


def split_labels(
    n_items: int, *, cluster: ArrayLike | None = None, validation: float = 0.5, seed: int
) -> Bools:
    """Split labelled items into a tuning and a validation part that keep questions together.

    Parameters
    ----------
    n_items : int
    cluster : array-like, shape (n_items,), optional
        Question of each item: all of a question go to one part.
    validation : float
        Share of the items to validate on, as near as whole questions allow.
    seed : int

    Returns
    -------
    ndarray of bool, shape (n_items,)
        True for the validation part.

    Raises
    ------
    InputError
        If the share is outside 0-1 or there are fewer than two questions.

    Examples
    --------
    >>> part = split_labels(6, cluster=["a", "a", "b", "b", "c", "c"], validation=0.33, seed=0)
    >>> int(part.sum())
    2
    """
    check_between("split_labels", "validation", validation)
    codes = cluster_codes(cluster, n_items, where="split_labels")
    sizes = np.bincount(codes)
    if sizes.size < 2:
        raise InputError("split_labels: fewer than two questions cannot be split.")
    want = validation * n_items
    order = np.random.default_rng(seed).permutation(sizes.size)
    filled = np.cumsum(sizes[order])
    k = int(np.argmin(np.abs(filled[:-1] - want))) + 1
    return np.asarray(np.isin(codes, order[:k]))


@with_keywords()
def labels_gained(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    **inference: Unpack[Clustered],
) -> Estimate:
    r"""Effective extra labels that a judge of all items adds to the labels of some.

    Parameters
    ----------
    judge : array-like, shape (N,) or (N, repeats)
        Scores of all items, or verdicts as 1 and 0; repeats are averaged first.
    human : array-like, shape (N,)
        Labels, NaN where there is none; drawn at random, or at random within strata.
    stratum : array-like, shape (N,), optional
        The correlation is pooled within strata.

    Returns
    -------
    Estimate
        ``labels_extra``, in labels. NaN with its reason for fewer than 20 labels, and where
        judge or labels do not vary. ``details``: ``correlation``, ``n_labels``, ``n_judged``.

    Raises
    ------
    InputError
        If a value is not a number or shapes differ.

    Notes
    -----
    :math:`n \{1 / (1 - r^2 (1 - n/N)) - 1\}`: the labels that people alone would need beyond n
    for the same error as labels and judge together. Limits: :math:`\tanh(z \mp t_{n-1} s)`, z
    Fisher's transform of r and s the larger of its jackknife error over clusters and
    :math:`1/\sqrt{n-3}`, squared (0 where they differ in sign) and put into the formula. Coverage
    .954 to .988 with 30 to 200 labels; Fisher's error alone covers .77 to .94 for pass / fail.

    References
    ----------
    Fisher (1921), Metron 1, 3-32; Angelopoulos et al. (2023), Science 382, 669-674.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> people = rng.normal(size=300)
    >>> judge = people + rng.normal(size=300)
    >>> out = labels_gained(judge, np.where(np.arange(300) < 60, people, np.nan))
    >>> round(out.estimate), round(out.interval.low), round(out.interval.high)
    (51, 24, 88)
    """
    items = labelled_items(
        judge, human, kind="score", cluster=inference["cluster"], stratum=stratum,
        where="labels_gained",
    )  # fmt: skip
    judged = ~np.isnan(items.judge)
    used = judged & items.labelled
    n, n_all = int(used.sum()), int(judged.sum())
    estimate = Estimate(
        name="labels_extra", label="Effective extra labels",
        estimator="labels that people alone would need more for the same error",
        sample=Sample.from_mask(used, "not labelled", items.codes if items.clustered else None),
        details={"n_labels": n, "n_judged": n_all},
    )  # fmt: skip
    if n < FEW_LABELS:
        few = f"{count_noun(n, 'label', 'labels')} {'is' if n == 1 else 'are'} too few"
        return estimate.replace(reason=few)
    if n == n_all:
        return estimate.replace(reason="every judged item is labelled")
    r, left, sizes = _left_out_correlations(
        items.judge[used], items.human[used], items.stratum[used], items.codes[used]
    )
    if math.isnan(r):
        return estimate.replace(reason="judge or labels do not vary")
    if lack := lack_note(sizes):
        return estimate.replace(estimate=_extra(r * r, n, n_all), notes=lack)
    with np.errstate(divide="ignore", invalid="ignore"):
        error, df = jackknife_error(np.arctanh(left), sizes)
        centre = float(np.arctanh(r))
    error = max(error, 1 / math.sqrt(n - 3)) if math.isfinite(error) else math.inf
    half = float(t.ppf((1 + inference["level"]) / 2, df)) * error
    # A correlation of 1, here or without one cluster, bounds nothing from below.
    low, high = np.tanh([centre - half, centre + half]) if math.isfinite(half) else (-1.0, 1.0)
    least = 0.0 if low * high < 0 else min(low * low, high * high)
    return estimate.replace(
        estimate=_extra(r * r, n, n_all),
        interval=Interval(
            low=_extra(least, n, n_all),
            high=_extra(max(low * low, high * high), n, n_all),
            level=inference["level"],
            method="jackknife of Fisher's z, t",
        ),
        details={**estimate.details, "correlation": r},
    )


def _extra(r2: float, n: int, n_all: int) -> float:
    remaining = 1 - r2 * (1 - n / n_all)
    return float(n * (1 / remaining - 1)) if remaining > 0 else math.inf


def _left_out_correlations(
    f: Floats, y: Floats, stratum: Ints, codes: Ints
) -> tuple[float, Floats, Ints]:
    """The correlation pooled within strata, without each cluster, and the clusters' sizes."""
    f, y = f - f.mean(), y - y.mean()
    present, place = np.unique(codes, return_inverse=True)
    of_stratum, layer = np.unique(stratum, return_inverse=True)
    sums = np.zeros((present.size, of_stratum.size, 6))
    np.add.at(
        sums,
        (place.reshape(-1), layer.reshape(-1)),
        np.stack([np.ones(f.size), f, y, f * f, y * y, f * y], axis=1),
    )

    def pooled(total: Floats) -> Floats:
        n, sf, sy, sff, syy, sfy = np.moveaxis(total, -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [
                np.where(n > 0, s - a * b / n, 0.0).sum(axis=-1)
                for s, a, b in ((sff, sf, sf), (syy, sy, sy), (sfy, sf, sy))
            ]
            vanishing = 1e-12 * np.maximum(sff.sum(axis=-1), 1e-300)
            r = parts[2] / np.sqrt(parts[0] * parts[1])
            varies = (parts[0] > vanishing) & (parts[1] > 1e-12 * syy.sum(axis=-1))
        return np.where(varies, np.clip(r, -1.0, 1.0), np.nan)

    whole = sums.sum(axis=0)
    return float(pooled(whole)), pooled(whole - sums), sums[:, :, 0].sum(axis=1).astype(int)


def gain_phrase(extra: Estimate) -> str:
    """The labels gained with their interval, or that no gain is shown."""
    if extra.interval is None or math.isnan(extra.estimate):
        return ""
    low, high = round(extra.interval.low), round(extra.interval.high)
    if low < 1:
        return f"0 to {high} extra labels: no gain is shown"
    return f"Effective extra labels {extra.estimate:.0f} [{low}, {high}]"


SMALLEST = 0.05
"""Share of the items below which a stratum is merged with its neighbour."""


def label_strata(verdicts: Floats, confidence: Floats, parts: int = 3) -> Ints:
    """Strata: the judge's verdict times parts of its confidence inside the verdict, by rank.

    Parameters
    ----------
    verdicts : ndarray, shape (N,)
        1 pass, 0 fail; NaN (unparsed) is a separate stratum.
    confidence : ndarray, shape (N,)
    parts : int

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> label_strata(np.repeat([0.0, 1.0], 30), np.tile(np.arange(30.0), 2)).tolist()[::10]
    [0, 1, 2, 3, 4, 5]
    """
    out = np.zeros(verdicts.size, dtype=np.int64)
    codes = np.where(np.isnan(verdicts), 2.0, verdicts)
    first = 0
    for value in np.unique(codes):
        here = np.flatnonzero(codes == value)
        own = confidence[here]
        own = np.where(np.isnan(own), np.fmin.reduce(own, initial=0.0) - 1, own)
        group = np.zeros(here.size, dtype=np.int64)
        if np.unique(own).size > 1 and value != 2:
            cuts = np.unique(np.quantile(own, np.arange(1, parts) / parts))
            group = np.searchsorted(cuts, own, "right")
        group = np.unique(group, return_inverse=True)[1]
        sizes = np.bincount(group)
        while sizes.size > 1 and sizes.min() < SMALLEST * verdicts.size:
            j = int(np.argmin(sizes))
            group[group == j] = j - 1 if j else 1
            group = np.unique(group, return_inverse=True)[1]
            sizes = np.bincount(group)
        out[here] = first + group
        first += int(group.max()) + 1
    return out


def label_bounds(
    shares: Floats, means: Floats, variances: Floats | None = None, whole: float = math.nan
) -> tuple[float, float]:
    """Labels needed as a share of those without a judge: at random, and by the best allocation.

    Parameters
    ----------
    shares : ndarray
        Of the items in each stratum.
    means : ndarray
        Human pass rate, or mean human score, in each.
    variances : ndarray, optional
        Of labels in each; by default those of pass rates.
    whole : float
        Variance of all labels; by default that of their pass rate.

    Returns
    -------
    random, best : float
        1 - R squared, and (sum W s) squared over the whole variance: no method that uses this judge
        alone gets below it.

    Examples
    --------
    >>> [round(v, 2) for v in label_bounds(np.array([.5, .5]), np.array([.1, .9]))]
    [0.36, 0.36]
    """
    inside = means * (1 - means) if variances is None else variances
    if variances is None:
        theta = float(np.sum(shares * means))
        whole = theta * (1 - theta)
    if not whole > 0:
        return math.nan, math.nan
    return (
        float(np.sum(shares * inside)) / whole, float(np.sum(shares * np.sqrt(inside))) ** 2 / whole
    )  # fmt: skip


def pass_variances(labels: Ints, passes: Ints) -> Floats:
    """Variances of pass / fail labels with one pass and one fail more.

    Examples
    --------
    >>> pass_variances(np.array([8]), np.array([8])).round(4).tolist()
    [0.09]
    """
    smooth = (passes + 1) / (labels + 2)
    return np.asarray(smooth * (1 - smooth))


@dataclasses.dataclass(frozen=True)
class LabelMoments:
    """Labels of each stratum: sum, mean, unbiased variance, and variance with two prior labels."""

    total: Floats
    mean: Floats
    variance: Floats
    prior: Floats


def label_moments(labels: Sequence[Floats], pilot: Ints, is_scored: bool) -> LabelMoments:
    """Moments of the labels of each stratum.

    Parameters
    ----------
    labels : sequence of ndarray
    pilot : ndarray of int
        Labels of each stratum, from the first on, whose SD two prior labels have.
    is_scored : bool
        Whether labels are scores; prior labels are one pass and one fail otherwise.

    Examples
    --------
    >>> label_moments([np.array([4.0, 6.0])], np.array([2]), True).prior.tolist()
    [2.0]
    """
    have = np.array([own.size for own in labels])
    total, squares = (np.array([np.sum(own**k) for own in labels]) for k in (1, 2))
    mean = total / np.where(have > 0, have, np.nan)
    spread = np.where(have > 0, np.maximum(squares - total * np.nan_to_num(mean), 0), 0.0)
    prior = pass_variances(have, total)
    if is_scored:
        first = np.concatenate([own[:k] for own, k in zip(labels, pilot, strict=True)])
        two = 2 * float(first.var(ddof=1)) if first.size > 1 else 0.0
        prior = (spread + two) / (np.maximum(have, 1) + 1)
    return LabelMoments(total, mean, spread / np.maximum(have - 1, 1), prior)


def stratified_mean(
    sizes: Ints, labels: Ints, means: Floats, variances: Floats, level: float = 0.95
) -> tuple[float, float, float]:
    """Stratified mean of labels over all items, with limits.

    Parameters
    ----------
    sizes, labels : ndarray of int
        Items and labels of each stratum.
    means, variances : ndarray
        Of its labels; variances with two prior labels, so that a stratum of equal labels varies.
    level : float

    Returns
    -------
    estimate, low, high : float
        NaN if a stratum has no label; limits also if labels do not vary. t with Satterthwaite's
        degrees of freedom, and the finite population.

    Examples
    --------
    >>> labels, passes = np.array([10, 10]), np.array([2, 9])
    >>> made = stratified_mean(
    ...     np.array([50, 50]), labels, passes / labels, pass_variances(labels, passes))
    >>> [round(v, 2) for v in made]
    [0.55, 0.38, 0.72]
    """
    if np.any(labels == 0):
        return math.nan, math.nan, math.nan
    weights = sizes / sizes.sum()
    estimate = float(np.sum(weights * means))
    if not np.any(variances > 0):
        return estimate, math.nan, math.nan
    spread = np.where(labels < sizes, variances, 0.0)
    parts = weights**2 * spread / labels * np.maximum(0.0, 1 - labels / sizes)
    variance = float(parts.sum())
    below = float((parts**2 / np.maximum(labels - 1, 1)).sum())
    df = variance**2 / below if below > 0 else 1e9
    half = float(special.stdtrit(max(df, 2.0), (1 + level) / 2)) * math.sqrt(variance)
    return estimate, estimate - half, estimate + half
