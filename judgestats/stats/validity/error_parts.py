"""Bias and variance of a judge together, and what repeating it buys in accuracy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.cluster_jackknife import mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Interval, Note, Result, Sample
from judgestats.stats.inference.result_parts import notes_block
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums
from judgestats.stats.validity.inputs import FAIL_PASS, score_values, verdict_values


@with_keywords()
def error_parts(
    scores: ArrayLike, human: ArrayLike, *, k: int = 1, **inference: Unpack[Clustered]
) -> dict[str, Estimate]:
    r"""Mean squared error against people, split into bias, items and replicates.

    Parameters
    ----------
    scores : array-like, shape (N, repeats)
        The judge's, NaN where unread.
    human : array-like, shape (N,)
        People's scores, NaN where there is none.
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
    x, y = (
        score_values(scores, where=where, name="scores"),
        score_values(human, where=where, name="human"),
    )
    if x.ndim != 2 or y.shape != x.shape[:1] or k < 1:
        raise InputError(
            f"{where}: scores must have one row for each label and k be at least 1, got shapes "
            f"{x.shape} and {y.shape}."
        )
    read = np.sum(~np.isnan(x), axis=1)
    used = (read >= 2) & ~np.isnan(y)
    if not used.any():
        raise InputError(
            f"{where}: no item has a label and two read judgments. Repeat the judge, or use "
            "graded_agreement."
        )
    e = x[used] - y[used][:, None]
    r = read[used].astype(float)
    mean = np.nansum(e, axis=1) / r
    inside = np.nansum((e - mean[:, None]) ** 2, axis=1) / (r - 1)
    # Errors that are all the same differ from their mean by rounding alone.
    inside[np.nanmax(e, axis=1) == np.nanmin(e, axis=1)] = 0.0
    terms = np.column_stack([np.ones(r.size), mean, mean**2 - inside / r, inside])
    n_out = int(np.sum(~used))
    sample = Sample(
        n_items=r.size,
        n_clusters=None
        if inference["cluster"] is None
        else int(np.unique(np.asarray(inference["cluster"])[used]).size),
        n_replications=int(r.min()),
        n_replications_max=int(r.max()),
        excluded={"no label or fewer than two judgments": n_out},
    )
    codes = cluster_codes(inference["cluster"], y.size, where=where)[used]

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
            cluster=codes,
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
    if out["between_items"].estimate < 0:
        note = Note(
            code="negative_part",
            message="The items' part is below 0: replicate noise explains all differences.",
        )
        out["between_items"] = out["between_items"].replace(notes=(note,))
    return {name: _floored(e) for name, e in out.items()}


def _floored(e: Estimate) -> Estimate:
    """No variance and no square lies below 0."""
    if e.interval is None or e.estimate < 0:
        return e
    return e.replace(interval=dataclasses.replace(e.interval, low=max(e.interval.low, 0.0)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class AccuracyByK(Result):
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
    of_pairs : bool
        Whether accuracy is the share of pairs of a passed and a failed item that scores order
        rightly, not of items.
    notes : tuple of Note
    """

    accuracy: dict[int, Estimate]
    against_most: dict[int, Estimate]
    recommended: int
    shown: bool
    margin: float
    sample: Sample
    of_pairs: bool = False
    notes: tuple[Note, ...] = ()

    def tidy(self) -> pd.DataFrame:
        """One row per k."""
        frame = pd.DataFrame([e.row() for e in self.accuracy.values()])
        loss = [e.estimate for e in self.against_most.values()]
        return frame.assign(k=list(self.accuracy), loss=loss)

    def sentence(self) -> str:
        """What repeating buys, and the fewest judgments that are enough."""
        most = max(self.accuracy)
        one, top = self.accuracy[min(self.accuracy)], self.accuracy[most]
        what = (
            "Pairs of a passed and a failed item ordered rightly:" if self.of_pairs else "Accuracy"
        )
        text = f"{what} {one.short()} with one judgment, {top.short()} with {most}"
        if self.shown:
            text += f"; {self.recommended} lose less than {self.margin:g}"
        else:
            text += f"; no fewer are shown to lose less than {self.margin:g}"
        return f"{text} ({self.sample})."

    def __str__(self) -> str:
        lines = ["", "\tAccuracy by number of judgments", "", self.sentence()]
        lines += [f"k = {k}: {e.short()}" for k, e in self.accuracy.items()]
        return "\n".join([*lines, *notes_block(self.notes), ""])


@with_keywords()
def accuracy_by_k(
    verdicts: ArrayLike,
    human: ArrayLike,
    *,
    ks: Sequence[int] | None = None,
    categories: Sequence[str] = FAIL_PASS,
    margin: float = 0.01,
    **inference: Unpack[Clustered],
) -> AccuracyByK:
    r"""Accuracy of the majority of k of a judge's verdicts against people.

    Parameters
    ----------
    verdicts : array-like, shape (N, repeats)
        None where unread.
    human : array-like, shape (N,)
    ks : sequence of int, optional
        Numbers of verdicts, at most the repeats; the odd ones and the most otherwise.
    categories : sequence of two str
    margin : float
        Loss of accuracy that is accepted for fewer verdicts. All k cost alike per verdict, so the
        fewest within the margin are the cheapest.

    Returns
    -------
    AccuracyByK

    Raises
    ------
    InputError
        If shapes differ, a k exceeds the repeats or no item has a label and all verdicts.

    Notes
    -----
    Over all subsets of k verdicts (hypergeometric, exact); a tie counts half. Items with an unread
    verdict are left out and counted.

    Examples
    --------
    >>> out = accuracy_by_k([[1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0]], [1, 0, 1, 0])
    >>> {k: round(e.estimate, 3) for k, e in out.accuracy.items()}
    {1: 0.75, 3: 1.0}
    """
    where = "accuracy_by_k"
    v = verdict_values(verdicts, categories=categories, where=where, name="verdicts")
    y = verdict_values(human, categories=categories, where=where, name="human")
    if v.ndim != 2 or y.shape != v.shape[:1] or v.size == 0:
        raise InputError(
            f"{where}: verdicts must have one row for each label, got shapes {v.shape} and "
            f"{y.shape}."
        )
    most = v.shape[1]
    chosen = sorted({*(ks or range(1, most + 1, 2)), most})
    if chosen[0] < 1 or chosen[-1] > most:
        raise InputError(f"{where}: ks must lie within 1 to {most} verdicts, got {chosen}.")
    used = ~np.isnan(v).any(axis=1) & ~np.isnan(y)
    if not used.any():
        raise InputError(f"{where}: no item has a label and all {most} verdicts read.")
    right = np.sum(v[used] == y[used][:, None], axis=1)
    codes = cluster_codes(inference["cluster"], y.size, where=where)[used]
    n_out = int(np.sum(~used))
    sample = Sample(
        n_items=int(used.sum()),
        n_clusters=None if inference["cluster"] is None else int(np.unique(codes).size),
        n_replications=most,
        excluded={"unread or no label": n_out},
    )
    by_k = {k: majority_credit(right, most, k) for k in chosen}
    return accuracy_of_credits(by_k, codes, sample, margin=margin, level=inference["level"])


def accuracy_of_credits(
    by_k: Mapping[int, Floats],
    codes: Ints,
    sample: Sample,
    *,
    margin: float,
    level: float,
    of_pairs: bool = False,
) -> AccuracyByK:
    """Accuracy by k from the items' credits, and the fewest judgments within the margin.

    Parameters
    ----------
    by_k : mapping of int to ndarray
        Credit of each item in 0-1 with k judgments.
    codes : ndarray of int
        Cluster of each item.
    sample : Sample
    margin, level : float
    of_pairs : bool
        What `AccuracyByK.of_pairs` says.

    Returns
    -------
    AccuracyByK
    """
    most = max(by_k)
    accuracy = {
        k: _mean(c, codes, f"accuracy_of_{k}", f"Accuracy of {k}", sample, level, bounded=True)
        for k, c in by_k.items()
    }
    top = by_k[most]
    loss = {
        k: _mean(top - c, codes, f"accuracy_loss_{k}", f"Accuracy lost by {k}", sample, level)
        for k, c in by_k.items()
    }
    enough = [k for k in sorted(by_k) if k < most and _upper(loss[k]) < margin]
    return AccuracyByK(
        accuracy=accuracy,
        against_most=loss,
        recommended=enough[0] if enough else most,
        shown=bool(enough),
        margin=margin,
        sample=sample,
        of_pairs=of_pairs,
    )


def _upper(e: Estimate) -> float:
    """Upper limit; infinite where there is none."""
    return e.interval.high if e.interval is not None else math.inf


def majority_credit(right: Ints, most: int, k: int) -> Floats:
    """Chance that the majority of k of `most` verdicts is right, `right` of them being so.

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


def _mean(
    values: Floats,
    codes: Ints,
    name: str,
    label: str,
    sample: Sample,
    level: float,
    *,
    bounded: bool = False,
) -> Estimate:
    over = mean_over_clusters(values, codes)
    interval: Interval | None = over.interval(level)
    notes: tuple[Note, ...] = ()
    if interval is None:
        notes = (Note(code="no_interval", message=f"No interval: {over.reason}."),)
    elif bounded:
        interval = dataclasses.replace(
            interval, low=max(interval.low, 0.0), high=min(interval.high, 1.0)
        )
    se = math.nan if math.isnan(over.std_error) else over.std_error
    return Estimate(
        name=name, label=label, estimator="mean over items, all subsets of verdicts",
        estimate=over.mean, std_error=se, interval=interval, sample=sample, notes=notes,
    )  # fmt: skip
