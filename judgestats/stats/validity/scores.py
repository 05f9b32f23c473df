"""Scores against human scores: bias, limits of agreement, error by number of repeats."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from itertools import combinations
from math import comb
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgestats.arrays import Bools, Floats, Ints, as_numbers, check_labels
from judgestats.errors import InputError
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Estimate, Note, Sample
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums
from judgestats.stats.validity import inputs

MOST_LEVELS = 12


@dataclasses.dataclass(frozen=True, kw_only=True)
class GradedAgreement(inputs.Report):
    """A judge's scores against human labels.

    Attributes
    ----------
    estimates : mapping of str to Estimate
        ``bias`` (judge minus people), ``lower_limit`` and ``upper_limit`` of agreement,
        ``concordance`` (Lin), ``pearson_correlation``, ``slope`` (of human scores on the judge's).
    curve : DataFrame
        Mean human score by score of the judge: one row for each level, or tenth of items.
    sample : Sample
    notes : tuple of Note
    """

    estimates: Mapping[str, Estimate]
    curve: pd.DataFrame
    sample: Sample
    TITLE = "Scores of judge and people"

    def tidy(self) -> pd.DataFrame:
        """One row per estimate."""
        return pd.DataFrame([e.row() for e in self.estimates.values()])

    def sentence(self) -> str:
        """Bias, limits of agreement and concordance."""
        bias, ccc = self.estimates["bias"], self.estimates["concordance"]
        low, high = self.estimates["lower_limit"], self.estimates["upper_limit"]
        if math.isnan(bias.estimate):
            return f"Judge and human scores cannot be compared: {bias.reason}."
        text = (
            f"Bias vs. humans is {bias.short()}. The 95% limits of agreement are "
            f"{low.estimate:.2f} and {high.estimate:.2f}"
        )
        if not math.isnan(ccc.estimate):
            text += f". Concordance correlation: {ccc.short()}"
        return f"{text} ({self.sample})."

    def lines(self) -> list[str]:
        """The estimates."""
        each = (
            f"{e.label}: {e.reason if math.isnan(e.estimate) else e.short()}"
            for e in self.estimates.values()
        )
        return [*each, f"({self.sample})"]


@with_keywords()
def graded_agreement(
    judge: ArrayLike, human: ArrayLike, **inference: Unpack[Clustered]
) -> GradedAgreement:
    r"""Bias, limits of agreement, concordance and calibration of a judge's scores.

    Parameters
    ----------
    judge : array-like, shape (N,) or (N, repeats)
        Repeats are averaged first.
    human : array-like, shape (N,)
        Human scores on the same scale, NaN where there is none.

    Returns
    -------
    GradedAgreement

    Raises
    ------
    InputError
        If shapes differ, a score is not a number or no item has both.

    Notes
    -----
    Limits of agreement are bias plus and minus 1.96 standard deviations of the differences, each
    with standard error :math:`s\sqrt{1/n + 1.96^2 / (2(n-1))}`, n the effective number of labels.
    Lin's concordance :math:`2 s_{xy} / (s_x^2 + s_y^2 + (\bar x - \bar y)^2)`, sums over n - 1 as
    epiR. A judge that gives half of the human score plus 3 has correlation 1 and concordance .10.

    References
    ----------
    Bland & Altman (1986), Lancet 327, 307-310; Lin (1989), Biometrics 45, 255-268.

    Examples
    --------
    >>> out = graded_agreement([5, 6, 8, 9, 7], [4, 6, 7, 8, 7])
    >>> round(out.estimates["bias"].estimate, 2), round(out.estimates["concordance"].estimate, 3)
    (0.6, 0.872)
    """
    where = "graded_agreement"
    items = inputs.labelled_items(
        judge, human, kind="score", cluster=inference["cluster"], where=where
    )
    used = items.labelled & ~np.isnan(items.judge)
    if not used.any():
        raise InputError(f"{where}: no item has both a judge score and a human score.")
    x, y, codes = items.judge[used], items.human[used], items.codes[used]
    sample = Sample.from_mask(
        used, "no score or no label", items.codes if items.clustered else None
    )
    out = _bias(x - y, codes, items, sample, inference["level"])
    for name, label, combine, reason in _COEFFICIENTS:
        estimate = estimate_from_sums(
            SumStatistic(per_item=_moments, combine=combine),
            np.column_stack([x, y]),
            name=name, label=label, estimator="moments over items", sample=sample, reason=reason,
            where=where, cluster=codes, level=inference["level"], scale="identity",
        )  # fmt: skip
        out[name] = estimate if name == "slope" else inputs.clip_limits(estimate)
    ends = np.isin(y, (y.min(), y.max()))
    message = "More than half of the human scores are at an end of their scale: read the table."
    notes = Note.where(np.ptp(y) > 0 and ends.mean() > 0.5, "scale_ends", message)
    return GradedAgreement(
        estimates=out,
        curve=_curve(x, y, codes, items.clustered, inference["level"]),
        sample=sample,
        notes=(*items.notes, *notes),
    )


def _bias(
    d: Floats, codes: Ints, items: inputs.LabelledItems, sample: Sample, level: float
) -> dict[str, Estimate]:
    """The mean difference and the limits of agreement, as far as the differences vary."""
    mean = float(d.mean())
    variance = inputs.cluster_variance((d - mean) / d.size, codes) if d.size > 1 else math.nan
    varies = variance > 1e-18
    sd = float(d.std(ddof=1)) if d.size > 1 else math.nan
    df = max(inputs.effective_clusters(codes) - 1, 1.0) if items.clustered else d.size - 1.0
    se = of_limits = 0.0
    if varies:
        effective = min(sd**2 / variance, float(d.size))
        se = math.sqrt(variance)
        of_limits = sd * math.sqrt(1 / effective + 1.96**2 / (2 * max(effective - 1, 1.0)))
    out: dict[str, Estimate] = {}
    for name, label, sign, error in (
        ("bias", "Bias (judge - people)", 0.0, se),
        ("lower_limit", "Lower limit of agreement", -1.96, of_limits),
        ("upper_limit", "Upper limit of agreement", 1.96, of_limits),
    ):
        if sign and d.size < 2:
            reason = "one label shows no variation"
            out[name] = Estimate(name=name, label=label, sample=sample, reason=reason)
            continue
        how = "mean difference +- 1.96 sd" if sign else "mean difference"
        out[name] = inputs.t_estimate(
            mean + sign * sd if varies else mean, error, df, name=name, label=label,
            estimator=how if varies else "", sample=sample, level=level,
            method="t over clusters, effective df" if items.clustered else "t",
        )  # fmt: skip
    return out


def _moments(data: NDArray[Any]) -> Floats:
    x, y = data[..., 0], data[..., 1]
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1)


def _centred(s: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    n, x, y, xx, yy, xy = (s[..., i] for i in range(6))
    return n, x / n, y / n, xx - x * x / n, yy - y * y / n, xy - x * y / n


def _concordance(s: NDArray[Any]) -> NDArray[Any]:
    n, mx, my, sxx, syy, sxy = _centred(s)
    return np.asarray(2 * sxy / (sxx + syy + (n - 1) * (mx - my) ** 2))


def _pearson(s: NDArray[Any]) -> NDArray[Any]:
    _, _, _, sxx, syy, sxy = _centred(s)
    return np.asarray(sxy / np.sqrt(sxx * syy))


def _slope(s: NDArray[Any]) -> NDArray[Any]:
    _, _, _, sxx, _, sxy = _centred(s)
    return np.asarray(sxy / sxx)


_COEFFICIENTS = (
    ("concordance", "Lin's concordance", _concordance, "all scores are one and the same"),
    ("pearson_correlation", "Pearson's r", _pearson, "judge or people give one score only"),
    ("slope", "Slope of the human score on the judge's", _slope, "the judge gives one score only"),
)


def _curve(x: Floats, y: Floats, codes: Ints, clustered: bool, level: float) -> pd.DataFrame:
    """Human mean where the judge gives a score."""
    levels = np.unique(x)
    if levels.size <= MOST_LEVELS:
        group = np.searchsorted(levels, x)
    else:
        cuts = np.unique(np.quantile(x, np.arange(1, 10) / 10))
        group = np.searchsorted(cuts, x, side="right")
    rows = []
    for k in np.unique(group):
        here = group == k
        v, c = y[here], codes[here]
        mean = float(v.mean())
        variance = inputs.cluster_variance((v - mean) / v.size, c) if v.size > 1 else math.nan
        df = max(inputs.effective_clusters(c) - 1, 1.0) if clustered else v.size - 1.0
        half = inputs.critical_value(level, df) * math.sqrt(variance) if variance > 0 else math.nan
        rows.append(
            {"judge": float(x[here].mean()), "n": int(here.sum()), "people": mean,
             "conf_low": mean - half, "conf_high": mean + half}
        )  # fmt: skip
    return pd.DataFrame(rows)


@with_keywords()
def error_parts(
    scores: ArrayLike, human: ArrayLike, *, k: int = 1, **inference: Unpack[Clustered]
) -> dict[str, Estimate]:
    r"""Mean squared error against human labels, split into bias, items and replicates.

    Parameters
    ----------
    scores : array-like, shape (N, repeats)
        The judge's, NaN where unparsed.
    human : array-like, shape (N,)
        Human scores, NaN where there is none.
    k : int
        Judgments that are averaged in use.

    Returns
    -------
    dict of str to Estimate
        ``mean_squared_error`` (of the mean of k), ``squared_bias``, ``between_items``,
        ``replicates`` (variance of one judgment, divided by k).

    Raises
    ------
    InputError
        If shapes differ, k is below 1, or no item has a label and two read judgments.

    Notes
    -----
    :math:`MSE_k = bias^2 + \sigma_{items}^2 + \sigma_{rep}^2 / k` with the items' part free of
    replicate noise. The squared bias is that of these items. Jackknife over clusters. Repeating
    removes the last part only: a judge that is steadily wrong stays so.

    Examples
    --------
    >>> out = error_parts([[6, 8], [5, 5], [7, 9], [4, 6]], [6, 5, 7, 4], k=2)
    >>> {name: round(e.estimate, 3) for name, e in out.items()}
    {'mean_squared_error': 0.75, 'squared_bias': 0.562, 'between_items': -0.562, 'replicates': 0.75}
    """
    where = "error_parts"
    x, y = as_numbers(scores, "scores", where), as_numbers(human, "human", where)
    if x.ndim != 2 or y.shape != x.shape[:1] or k < 1:
        raise InputError(
            f"{where}: scores must have one row for each label and k be at least 1, got shapes "
            f"{x.shape} and {y.shape}."
        )
    read = np.sum(~np.isnan(x), axis=1)
    used = (read >= 2) & ~np.isnan(y)
    if not used.any():
        how = "Repeat the judge, or use graded_agreement."
        raise InputError(f"{where}: no item has a label and two read judgments. {how}")
    e = x[used] - y[used][:, None]
    r = read[used].astype(float)
    mean = np.nansum(e, axis=1) / r
    inside = np.nansum((e - mean[:, None]) ** 2, axis=1) / (r - 1)
    # Errors that are all the same differ from their mean by rounding alone.
    inside[np.nanmax(e, axis=1) == np.nanmin(e, axis=1)] = 0.0
    terms = np.column_stack([np.ones(r.size), mean, mean**2 - inside / r, inside])
    codes = cluster_codes(inference["cluster"], y.size, where=where)
    sample = Sample.from_mask(
        used,
        "no label or fewer than two judgments",
        None if inference["cluster"] is None else codes,
        n_replications=int(r.min()),
        n_replications_max=int(r.max()),
    )

    def part(name: str, label: str, combine: Any) -> Estimate:
        return estimate_from_sums(
            SumStatistic(per_item=lambda t: t, combine=combine),
            terms,
            name=name,
            label=label,
            estimator=f"mean of {k} judgments",
            sample=sample,
            reason="undefined",
            where=where,
            cluster=codes[used],
            level=inference["level"],
            scale="identity",
        )

    def bias2(s: NDArray[Any]) -> NDArray[Any]:
        return np.asarray((s[..., 1] / s[..., 0]) ** 2)

    def items(s: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(s[..., 2] / s[..., 0] - bias2(s))

    def replicates(s: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(s[..., 3] / s[..., 0] / k)

    out = {
        "mean_squared_error": part(
            "mean_squared_error",
            "Mean squared error",
            lambda s: s[..., 2] / s[..., 0] + replicates(s),
        ),
        "squared_bias": part("squared_bias", "Squared bias", bias2),
        "between_items": part("between_items", "Variance of errors between items", items),
        "replicates": part("replicates", "Variance between replicates", replicates),
    }
    message = "The items' part is below 0: replicate noise explains all differences."
    if below := Note.where(out["between_items"].estimate < 0, "negative_part", message):
        out["between_items"] = out["between_items"].replace(notes=below)
    # No variance and no square lies below 0.
    return {
        n: e if e.estimate < 0 else inputs.clip_limits(e, 0.0, math.inf) for n, e in out.items()
    }


@dataclasses.dataclass(frozen=True, kw_only=True)
class AccuracyByK(inputs.Report):
    """Accuracy of the majority of k verdicts, and which k pays.

    Attributes
    ----------
    accuracy : mapping of int to Estimate
        By k.
    against_most : mapping of int to Estimate
        Accuracy with the most verdicts minus accuracy with k, on the same items.
    recommended : int
        The fewest verdicts shown to lose less than `margin`; the most where none is shown.
    shown : bool
        Whether fewer than the most were shown to lose less than the margin.
    margin : float
    sample : Sample
    notes : tuple of Note
    """

    accuracy: dict[int, Estimate]
    against_most: dict[int, Estimate]
    recommended: int
    shown: bool
    margin: float
    sample: Sample
    TITLE = "Accuracy by number of judgments"

    def tidy(self) -> pd.DataFrame:
        """One row per k."""
        frame = pd.DataFrame([e.row() for e in self.accuracy.values()])
        loss = [e.estimate for e in self.against_most.values()]
        return frame.assign(k=list(self.accuracy), loss=loss)

    def sentence(self) -> str:
        """The gain by repeats, and the fewest judgments that suffice."""
        most = max(self.accuracy)
        one, top = self.accuracy[min(self.accuracy)], self.accuracy[most]
        text = f"Accuracy {one.short()} with one judgment, {top.short()} with {most}"
        if self.shown:
            text += f"; with {self.recommended} it is non-inferior (margin {self.margin:g})"
        else:
            text += f"; fewer are not non-inferior (margin {self.margin:g})"
        return f"{text} ({self.sample})."

    def lines(self) -> list[str]:
        """The sentence and the accuracies."""
        return [self.sentence(), *(f"k = {k}: {e.short()}" for k, e in self.accuracy.items())]


MARGIN = 0.01
"""Loss of accuracy that is accepted for fewer judgments: all cost alike, so the fewest within it
are the cheapest."""


@with_keywords()
def accuracy_by_k(
    verdicts: ArrayLike, human: ArrayLike, **inference: Unpack[Clustered]
) -> AccuracyByK:
    r"""Accuracy of the majority of k of a judge's verdicts against human labels.

    Parameters
    ----------
    verdicts : array-like, shape (N, repeats)
        None where unparsed.
    human : array-like, shape (N,)

    Returns
    -------
    AccuracyByK
        For the odd numbers of verdicts and the most; the margin is .01.

    Raises
    ------
    InputError
        If shapes differ or no item has a label and all verdicts.

    Notes
    -----
    Over all subsets of k verdicts (hypergeometric, exact); a tie counts half. Items with an
    unparsed verdict are left out and counted.

    Examples
    --------
    >>> out = accuracy_by_k([[1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0]], [1, 0, 1, 0])
    >>> {k: round(e.estimate, 3) for k, e in out.accuracy.items()}
    {1: 0.75, 3: 1.0}
    """
    where = "accuracy_by_k"
    v = inputs.verdict_values(verdicts, where=where, name="verdicts")
    y = inputs.verdict_values(human, where=where, name="human")
    if v.ndim != 2 or y.shape != v.shape[:1] or v.size == 0:
        shapes = f"{v.shape} and {y.shape}"
        raise InputError(
            f"{where}: verdicts must have one row for each label, got shapes {shapes}."
        )
    most = v.shape[1]
    used = ~np.isnan(v).any(axis=1) & ~np.isnan(y)
    if not used.any():
        raise InputError(f"{where}: no item has a label and all {most} verdicts read.")
    right = np.sum(v[used] == y[used][:, None], axis=1)
    codes = cluster_codes(inference["cluster"], y.size, where=where)
    clusters = None if inference["cluster"] is None else codes
    sample = Sample.from_mask(used, "unparsed or no label", clusters, n_replications=most)
    by_k = {k: majority_credit(right, most, k) for k in sorted({*range(1, most + 1, 2), most})}
    return accuracy_of_credits(by_k, codes[used], sample, level=inference["level"])


def accuracy_of_credits(
    by_k: Mapping[int, Floats],
    codes: Ints,
    sample: Sample,
    *,
    level: float,
) -> AccuracyByK:
    """Accuracy by k from the items' credits, and the fewest judgments within the margin.

    Parameters
    ----------
    by_k : mapping of int to ndarray
        Credit of each item in 0-1 with k judgments.
    codes : ndarray of int
        Cluster of each item.
    sample : Sample
    level : float

    Returns
    -------
    AccuracyByK
    """
    most = max(by_k)

    def mean(values: Floats, name: str, label: str, least: float, top: float) -> Estimate:
        return inputs.mean_estimate(
            values, codes, name=name, label=label, sample=sample, level=level, least=least,
            most=top, estimator="mean over items, all subsets of verdicts",
        )  # fmt: skip

    inf = math.inf
    accuracy = {k: mean(c, f"accuracy_of_{k}", f"Accuracy of {k}", 0, 1) for k, c in by_k.items()}
    loss = {
        k: mean(by_k[most] - c, f"accuracy_loss_{k}", f"Accuracy lost by {k}", -inf, inf)
        for k, c in by_k.items()
    }
    ends = {k: math.inf if e.interval is None else e.interval.high for k, e in loss.items()}
    enough = [k for k in sorted(by_k) if k < most and ends[k] < MARGIN]
    return AccuracyByK(
        accuracy=accuracy,
        against_most=loss,
        recommended=enough[0] if enough else most,
        shown=bool(enough),
        margin=MARGIN,
        sample=sample,
    )


def majority_credit(right: Ints, most: int, k: int) -> Floats:
    """Chance that the majority of k of `most` verdicts is correct, where `right` are correct.

    Examples
    --------
    >>> majority_credit(np.array([2, 0]), 3, 1).round(3).tolist()
    [0.667, 0.0]
    """
    j = np.arange(k + 1)
    r = np.asarray(right, dtype=float)[:, None]
    ways = special.comb(r, j) * special.comb(most - r, k - j) / special.comb(most, k)
    credit = np.where(2 * j > k, 1.0, np.where(2 * j == k, 0.5, 0.0))
    return np.asarray(ways @ credit)


MOST_SUBSETS = 100


def choice_accuracy_by_k(
    scores: ArrayLike,
    correct: ArrayLike,
    question: ArrayLike,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> AccuracyByK:
    r"""Accuracy of taking the answer with the highest mean of k scores.

    Parameters
    ----------
    scores : array-like, shape (N, repeats)
        Of every answer, NaN where unparsed.
    correct : array-like of bool, shape (N,)
        Whether an answer is the right one of its question.
    question : array-like, shape (N,)
    level : float
    seed : int
        Of the subsets, where there are more than 100.

    Returns
    -------
    AccuracyByK
        For 1, 2, 3, 5 scores and the most; the margin is .01.

    Raises
    ------
    InputError
        If shapes differ, or no question has one correct answer among several whose scores were all
        read.

    Notes
    -----
    Mean over subsets of k replications, the same for all answers of a question; answers that share
    the highest mean share the credit, as a draw among them would.

    Examples
    --------
    >>> scores = [[6, 5, 7], [5, 6, 4], [3, 9, 8], [4, 4, 4]]
    >>> out = choice_accuracy_by_k(scores, [1, 0, 1, 0], ["p", "p", "q", "q"])
    >>> {k: round(e.estimate, 3) for k, e in out.accuracy.items()}
    {1: 0.667, 2: 0.917, 3: 1.0}
    """
    where = "choice_accuracy_by_k"
    x = as_numbers(scores, "scores", where)
    right = np.asarray(correct, dtype=bool)
    check_labels(where, "scores", x, right)
    codes = cluster_codes(question, right.size, where=where)
    most = x.shape[1]
    whole = np.bincount(codes, np.isnan(x).any(axis=1)) == 0
    usable = whole & (np.bincount(codes, right) == 1) & (np.bincount(codes) > 1)
    kept = usable[codes]
    if not kept.any():
        raise InputError(
            f"{where}: no question has exactly one correct answer among several with all {most} "
            "scores read."
        )
    order = np.argsort(codes[kept], kind="stable")
    x, right, codes = x[kept][order], right[kept][order], codes[kept][order]
    start = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
    sizes = np.diff(np.r_[start, codes.size])
    by_k = {k: _credit(x, right, start, sizes, k, seed) for k in numbers_of_scores(most)}
    excluded = {"not one correct answer, or a score not read": int(np.sum(~usable))}
    sample = Sample(n_items=start.size, n_replications=most, excluded=excluded)
    return accuracy_of_credits(by_k, np.arange(start.size), sample, level=level)


def _credit(
    x: Floats,
    right: Bools,
    start: Ints,
    sizes: Ints,
    k: int,
    seed: int,
) -> Floats:
    """Credit of each question, averaged over subsets of k scores."""
    sums = np.round(x @ subset_weights(x.shape[1], k, seed), 9)
    top = np.repeat(np.maximum.reduceat(sums, start, axis=0), sizes, axis=0)
    at_top = sums == top
    shared = np.add.reduceat(at_top.astype(float), start, axis=0)
    credit = np.add.reduceat((at_top & right[:, None]).astype(float), start, axis=0) / shared
    return np.asarray(credit.mean(axis=1))


def numbers_of_scores(most: int) -> list[int]:
    """Numbers of scores whose mean is compared with that of the most.

    Examples
    --------
    >>> numbers_of_scores(8)
    [1, 2, 3, 5, 8]
    """
    return sorted({*(k for k in (1, 2, 3, 5) if k < most), most})


def subset_weights(most: int, k: int, seed: int) -> Floats:
    """A column for each subset of k of `most`: all, or 100 drawn ones.

    Examples
    --------
    >>> subset_weights(3, 2, seed=0).T.tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    if comb(most, k) <= MOST_SUBSETS:
        subsets = list(combinations(range(most), k))
    else:
        rng = np.random.default_rng(seed)
        subsets = [tuple(rng.permutation(most)[:k]) for _ in range(MOST_SUBSETS)]
    weights = np.zeros((most, len(subsets)))
    for column, subset in enumerate(subsets):
        weights[list(subset), column] = 1.0
    return weights
