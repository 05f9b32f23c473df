"""Error rates against labels, overall and by slice."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Bools, Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.multiplicity import Adjustment, with_adjusted
from judgestats.stats.inference.result import Comparison, Comparisons, Estimate, Note, Sample
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums
from judgestats.stats.validity import inputs
from judgestats.stats.validity.label_draws import LabelsDrawn

FEW_IN_CLASS = 10
_TIED = 2
"""Code of items whose repeats tie; verdicts have the codes 0 and 1."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ErrorRates(inputs.Report):
    """A judge's error rates against human labels.

    Attributes
    ----------
    table : mapping of str to int
        Counts ``tp``, ``fp``, ``fn``, ``tn``, and ``tied_positive``, ``tied_negative`` (repeats
        that tie), ``unread_positive``, ``unread_negative``: labels of items on which the judge
        could not be read, which are in no rate.
    rates : mapping of str to Estimate
        ``sensitivity``, ``specificity``, ``precision``, ``negative_predictive_value``,
        ``accuracy``, ``balanced_accuracy``, ``matthews_correlation``, ``cohen_kappa``.
    constant : mapping of str to float
        Rates of a judge that always gives the more common human verdict: ``accuracy``,
        ``balanced_accuracy``, ``matthews_correlation`` (0 by convention), ``cohen_kappa``.
    sample : Sample
    notes : tuple of Note
    """

    table: Mapping[str, int]
    rates: Mapping[str, Estimate]
    constant: Mapping[str, float]
    sample: Sample
    TITLE = "Judge against human labels"

    def tidy(self) -> pd.DataFrame:
        """One row per rate, with the value of the constant judge."""
        frame = pd.DataFrame([e.row() for e in self.rates.values()])
        return frame.assign(constant=frame["term"].map(dict(self.constant)))

    def sentence(self) -> str:
        """The two rates that matter, and what a constant judge would reach."""
        se, sp, acc = (self.rates[k] for k in ("sensitivity", "specificity", "accuracy"))
        return (
            f"Against human labels the judge has sensitivity {se.short()} and specificity "
            f"{sp.short()}; accuracy {acc.short()}, where a judge that always says the same "
            f"reaches {self.constant['accuracy']:.2f} ({self.sample})."
        )

    def lines(self) -> list[str]:
        """The table and the rates."""
        t = self.table
        lines = [
            "             people: pass  people: fail",
            f"judge pass   {t['tp']:>12}  {t['fp']:>12}",
            f"judge fail   {t['fn']:>12}  {t['tn']:>12}",
        ]
        for kind in ("tied", "unread"):
            if t[f"{kind}_positive"] or t[f"{kind}_negative"]:
                lines.append(f"{kind:<12} {t[f'{kind}_positive']:>12}  {t[f'{kind}_negative']:>12}")
        lines += ["", *(f"{e.label}: {e.reason or e.short()}" for e in self.rates.values())]
        return [*lines, f"({self.sample})"]


_SHARES = (
    # name, label, of which items, that are
    ("sensitivity", "Sensitivity", "people", 1.0, "people never say pass"),
    ("specificity", "Specificity", "people", 0.0, "people never say fail"),
    ("precision", "Precision", "judge", 1.0, "the judge never says pass"),
    (
        "negative_predictive_value",
        "Negative predictive value",
        "judge",
        0.0,
        "the judge never says fail",
    ),
)


@with_keywords()
def error_rates(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    chance: ArrayLike | None = None,
    labels_drawn: LabelsDrawn | None = None,
    **inference: Unpack[Clustered],
) -> ErrorRates:
    r"""Confusion table of a judge against human labels, and the rates read off it.

    Parameters
    ----------
    judge : array-like, shape (N,) or (N, repeats)
        Verdicts of all items judged (see `verdict_values`); of repeats the majority counts, a tie
        is unparsed.
    human : array-like, shape (N,)
        Labels, None or NaN where there is none.
    stratum : array-like, shape (N,), optional
        For ``labels_drawn="stratified"``: the stratum of each item, weighted by its share.
    chance : array-like, shape (N,), optional
        Known probability of the label of each item, where it is unequal.
    labels_drawn : {"random", "stratified", "by-verdict", "convenience"}, optional
        How the labelled items were chosen. ``by-verdict``: fixed numbers for each verdict of the
        judge; sensitivity and specificity are then weighted by the verdicts' shares, for the
        unweighted table shows other rates (.75 and .90 where .92 and .70 are true).

    Returns
    -------
    ErrorRates

    Raises
    ------
    InputError
        If a value is not one of the verdicts' words, nothing is labelled, or shapes differ.

    Notes
    -----
    Limits of shares are Clopper and Pearson's, as verdicts use them. Clusters and weights make
    labels an effective number, :math:`p(1-p)/V` with V from sums of influence over the clusters, at
    most the number of labels. The squared ratio of Student's critical values lowers it. Balanced
    accuracy, kappa and Matthews' correlation: jackknife over clusters. All rates are of the
    labelled items that have a verdict: unparsed items are in the table but in no rate. Repeats that
    tie count half for either verdict in every rate. If ties counted as wrong, sensitivity and
    specificity of a good judge could add up to less than 1.

    References
    ----------
    Clopper & Pearson (1934), Biometrika 26, 404-413.
    Korn & Graubard (1998), Survey Methodology 24, 193-201.
    Chicco & Jurman (2020), BMC Genomics 21, 6.

    Examples
    --------
    >>> judge = ["pass"] * 50 + ["fail"] * 30
    >>> human = ["pass"] * 45 + ["fail"] * 30 + ["pass"] * 5
    >>> found = error_rates(judge, human, labels_drawn="random")
    >>> found.table["tp"], found.rates["sensitivity"].short(), found.rates["specificity"].short()
    (45, '.90 [.78, .97]', '.83 [.65, .94]')
    """
    where = "error_rates"
    judged = inputs.labelled_items(
        judge, human, kind="verdict", cluster=inference["cluster"], stratum=stratum, where=where
    )
    read = ~np.isnan(judged.judge)
    items = judged.only(read)
    notes = [*judged.notes, *inputs.policy_notes(labels_drawn, where=where)]
    if judged.n == 0:
        raise InputError(f"{where}: no item has a label. Label some of the items judged first.")
    if items.n == 0:
        return _nothing_read(judged, tuple(notes))
    if labels_drawn == "stratified" and stratum is None:
        raise InputError(f"{where}: labels_drawn='stratified' needs the stratum of every item.")
    verdict = majority(items)
    part = _parts(items, verdict, labels_drawn)
    by_verdict = labels_drawn == "by-verdict"
    weight, reason = _weights(items, part, spared=_TIED if by_verdict else None)
    own = None if chance is None else np.asarray(chance)[read]
    weights = inputs.chance_weights(items, own, where)
    if weights is not None:
        weight = weight * weights * (items.n / weights.sum())
    lab = items.labelled
    # 1, 0, and .5 where the repeats tie.
    voted = np.where(items.judge == 0.5, 0.5, verdict)
    y, f, w, codes = items.human[lab], voted[lab], weight[lab], items.codes[lab]
    lost = judged.human[~read]
    drawn_in_parts = part[lab] if part is not None else None
    table = _table(y, f, lost)
    excluded = {"not labelled": judged.n_items - judged.n, "unparsed": int(np.sum(~np.isnan(lost)))}
    sample = Sample.from_mask(lab, excluded, items.codes if items.clustered else None)
    weighted = part is not None or weights is not None

    def share(name: str, label: str, success: Floats, trial: Floats, none: str) -> Estimate:
        found = inputs.share_over_clusters(
            success, trial, codes, clustered=items.clustered, level=inference["level"],
            stratum=drawn_in_parts, exact=True,
        )  # fmt: skip
        return found.estimate(
            name=name,
            label=label,
            estimator="share of the labels" + (", weighted" if weighted else ""),
            sample=Sample(n_items=int(found.n), n_clusters=sample.n_clusters),
            reason=reason or (none if math.isnan(found.share) else ""),
            details={"effective_n": found.effective_n},
        )

    passes, fails, people = f, 1 - f, y
    rates: dict[str, Estimate] = {}
    for name, label, given, value, none in _SHARES:
        judge = passes if value == 1 else fails
        same = (people == value).astype(float)
        base = same if given == "people" else judge
        rates[name] = share(name, label, judge * same * w, base * w, none)
    right = np.where(people == 1, passes, fails)
    rates["accuracy"] = share("accuracy", "Accuracy", right * w, w, "")
    cells = np.column_stack(
        [people * passes, (1 - people) * passes, people * (1 - passes), (1 - people) * (1 - passes)]
    )
    for name, label, combine, undefined in _COEFFICIENTS:
        out = estimate_from_sums(
            SumStatistic(per_item=lambda x: x, combine=combine),
            cells * w[:, None] * (items.n / w.sum()),
            name=name,
            label=label,
            estimator="from the table" + (", weighted" if weighted else ""),
            sample=sample,
            reason=reason or undefined,
            where=where,
            cluster=codes,
            level=inference["level"],
            scale="identity",
        )
        if reason:
            out = out.replace(estimate=math.nan, interval=None, reason=reason)
        rates[name] = out if reason else inputs.clip_limits(out)
    notes += _class_notes(y)
    tied = int(np.sum(f == 0.5))
    message = f"The repeats tie on {tied} labelled items: these count half for either verdict."
    notes += Note.where(tied, "tied_votes", message)
    notes += _no_better(rates)
    common = float(np.sum(w * y) / w.sum())
    constant = {**_CONSTANT, "accuracy": max(common, 1 - common)}
    return ErrorRates(
        table=table, rates=rates, constant=constant, sample=sample, notes=tuple(notes)
    )


_CONSTANT = {"balanced_accuracy": 0.5, "matthews_correlation": 0.0, "cohen_kappa": 0.0}
"""What a judge that always gives the same verdict reaches by definition."""


def _table(y: Floats, f: Floats, lost: Floats) -> dict[str, int]:
    """Counts of human verdict by the judge's: 1, 0, .5 where the repeats tie, or unparsed."""
    table = {}
    for of_people, value in (("positive", 1), ("negative", 0)):
        hit, miss = ("tp", "fn") if value else ("fp", "tn")
        for said, name in ((1, hit), (0, miss), (0.5, f"tied_{of_people}")):
            table[name] = int(np.sum((y == value) & (f == said)))
        table[f"unread_{of_people}"] = int(np.sum(lost == value))
    return table


def _nothing_read(judged: inputs.LabelledItems, notes: tuple[Note, ...]) -> ErrorRates:
    """The rates of a judge that has no verdict on any labelled item."""
    nobody = np.empty(0)
    sample = Sample(n_items=0, excluded={"unread": judged.n})
    labels = {name: label for name, label, *_ in (*_SHARES, *_COEFFICIENTS)}
    rates = {
        name: Estimate(
            name=name, label=label, sample=sample,
            reason="no labelled item has a verdict that was read",
        )
        for name, label in {**labels, "accuracy": "Accuracy"}.items()
    }  # fmt: skip
    return ErrorRates(
        table=_table(nobody, nobody, judged.human[np.isnan(judged.judge)]),
        rates=rates,
        constant=dict.fromkeys(("accuracy", *_CONSTANT), math.nan),
        sample=sample,
        notes=notes,
    )


def majority(items: inputs.LabelledItems) -> Floats:
    """The majority verdict of the repeats, which a draw by verdict goes by; a tie is NaN."""
    f = items.judge
    return np.where(np.isnan(f) | (f == 0.5), np.nan, (f > 0.5).astype(float))


def _parts(items: inputs.LabelledItems, verdict: Floats, drawn: str | None) -> Ints | None:
    """The part of the items that each was drawn from, None under simple random sampling."""
    if drawn == "stratified":
        return items.stratum
    if drawn == "by-verdict":
        return np.where(np.isnan(verdict), _TIED, np.nan_to_num(verdict)).astype(np.int64)
    return None


def _weights(
    items: inputs.LabelledItems, part: Ints | None, *, spared: int | None = None
) -> tuple[Floats, str]:
    """Items that a label stands for, and why the weights are undefined.

    The part `spared` may be without labels: nothing stands for it.
    """
    weight = np.ones(items.n_items)
    if part is None:
        return weight, ""
    for h in np.unique(part):
        here = part == h
        n = int(np.sum(here & items.labelled))
        if n == 0 and h == spared:
            continue
        if n == 0:
            return weight, "a part of the items has no label, so its weight cannot be known"
        weight[here] = here.sum() / n
    return weight * items.n / items.n_items, ""


def _balanced(s: NDArray[Any]) -> NDArray[Any]:
    tp, fp, fn, tn = np.moveaxis(s, -1, 0)
    return np.asarray((tp / (tp + fn) + tn / (tn + fp)) / 2)


def _matthews(s: NDArray[Any]) -> NDArray[Any]:
    tp, fp, fn, tn = np.moveaxis(s, -1, 0)
    return np.asarray((tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


def _kappa(s: NDArray[Any]) -> NDArray[Any]:
    tp, fp, fn, tn = np.moveaxis(s, -1, 0)
    n = tp + fp + fn + tn
    agree = (tp + tn) / n
    chance = ((tp + fp) * (tp + fn) + (tn + fn) * (tn + fp)) / n**2
    return np.asarray((agree - chance) / (1 - chance))


_COEFFICIENTS = (
    ("balanced_accuracy", "Balanced accuracy", _balanced, "people give one verdict only"),
    (
        "matthews_correlation",
        "Matthews' correlation",
        _matthews,
        "the judge or the people give one verdict only",
    ),
    ("cohen_kappa", "Cohen's kappa", _kappa, "judge and people give one and the same verdict"),
)


def _no_better(rates: Mapping[str, Estimate]) -> tuple[Note, ...]:
    """Verdicts that say nothing, or that are coded the wrong way round, look like any others."""
    youden = rates["sensitivity"].estimate + rates["specificity"].estimate - 1
    message = (
        f"Sensitivity + specificity is {youden + 1:.2f}, not above 1: no better than a coin, or "
        "coded the other way round."
    )
    return Note.where(youden <= 0, "no_better_than_chance", message)


def _class_notes(y: Floats) -> list[Note]:
    notes: list[Note] = []
    for value, word in ((1.0, "pass"), (0.0, "fail")):
        k = int(np.sum(y == value))
        message = f"No label says {word!r}: how the judge does on such items cannot be known."
        message += " Label items until there are some."
        notes += Note.where(k == 0, "no_class", message)
        message = f"Only {k} labels say {word!r}: the rarer class decides how well rates are known."
        notes += Note.where(0 < k < FEW_IN_CLASS, "rare_class", message)
    return notes


Measure = Literal["accuracy", "sensitivity", "specificity"]
LEAST_IN_SLICE = 10
MOST_BY_HOLM = 10


@with_keywords()
def error_rates_by_slice(
    judge: ArrayLike,
    human: ArrayLike,
    slices: ArrayLike,
    *,
    measure: Measure = "accuracy",
    **inference: Unpack[Clustered],
) -> Comparisons:
    r"""Does the judge err more on some slice (category, source, length) than on the rest?

    Parameters
    ----------
    judge : array-like, shape (N,)
        Verdicts, None where unparsed.
    human : array-like, shape (N,)
        Labels drawn at random, None where there is none.
    slices : array-like, shape (N,)
        Slice of each item.
    measure : {"accuracy", "sensitivity", "specificity"}

    Returns
    -------
    Comparisons
        Each row is a slice minus the rest; p adjusted by Holm, above 10 slices by
        Benjamini-Hochberg. ``details``: ``rates`` (each slice's `Estimate`), and
        ``least``, labels below which a slice has no estimate.

    Raises
    ------
    InputError
        If shapes differ or a value is not one of the words.

    Notes
    -----
    Fisher's exact test; with clusters Student's t on sums of influence with effective degrees of
    freedom. Below 10 labels of the measure a slice borrows nothing: no estimate. Of 12 slices of 30
    labels some 95% interval misses in 37% of reports: go by the adjusted p.

    Examples
    --------
    >>> judge = [1] * 40 + [0] * 20 + [1] * 20
    >>> human = [1] * 40 + [1] * 20 + [1] * 20
    >>> out = error_rates_by_slice(judge, human, ["a"] * 40 + ["b"] * 40)
    >>> [(r.a, r.estimate, r.p_adjusted < 0.001) for r in out.rows]
    [('a', 0.5, True), ('b', -0.5, True)]
    """
    where = "error_rates_by_slice"
    items = inputs.labelled_items(
        judge, human, kind="verdict", cluster=inference["cluster"], stratum=slices, where=where
    )
    one_of(where, "measure", measure, ("accuracy", "sensitivity", "specificity"))
    y = np.where(np.isnan(items.judge), np.nan, items.human)
    base = {"accuracy": ~np.isnan(y), "sensitivity": y == 1, "specificity": y == 0}[measure]
    right = base & (items.judge == y)
    rates: dict[str, Estimate] = {}
    rows = []
    for h, name in enumerate(items.strata):
        inside = items.stratum == h
        n = int(np.sum(base & inside))
        sample = Sample(n_items=n)
        if n < LEAST_IN_SLICE:
            reason = f"only {n} labels (at least {LEAST_IN_SLICE})"
            rates[name] = Estimate(
                name=measure, label=measure.capitalize(), sample=sample,
                reason=reason,
            )  # fmt: skip
            rows.append(_no_row(name, n, reason))
            continue
        slice_rates = error_rates(
            items.judge[inside],
            items.human[inside],
            cluster=items.codes[inside] if items.clustered else None,
            labels_drawn="random",
            level=inference["level"],
        )
        rates[name] = slice_rates.rates[measure]
        rows.append(_slice_comparison(name, items, base, right, inside))
    adjust: Adjustment = "BH" if len(rows) > MOST_BY_HOLM else "holm"
    return Comparisons(
        symbol="t",
        name=where,
        method=f"{measure.capitalize()} of the judge by slice, against the rest",
        adjust=adjust,
        family="slices",
        rows=with_adjusted(rows, adjust),
        sample=Sample(n_items=int(base.sum())),
        details={"rates": rates, "least": LEAST_IN_SLICE},
    )


def _no_row(name: str, n: int, reason: str) -> Comparison:
    return Comparison(
        a=name,
        b="the rest",
        estimate=math.nan,
        n=n,
        reason=reason,
        estimate_name="slice_difference",
    )


def _slice_comparison(
    name: str, items: inputs.LabelledItems, base: Bools, right: Bools, inside: Bools
) -> Comparison:
    here, rest = base & inside, base & ~inside
    n = int(here.sum())
    if rest.sum() < LEAST_IN_SLICE:
        return _no_row(name, n, f"only {int(rest.sum())} labels outside the slice")
    values = right.astype(float)
    statistic, p, df = inputs.two_group_test(
        values, here, rest, items.codes, exact=not items.clustered
    )
    if math.isnan(p):
        return _no_row(name, n, "the judge is always right or always wrong on both sides")
    return Comparison(
        a=name, b="the rest", estimate=float(values[here].mean()) - float(values[rest].mean()),
        statistic=statistic, df=df, p_value=p, n=n, estimate_name="slice_difference",
    )  # fmt: skip
