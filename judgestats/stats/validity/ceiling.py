"""How far people agree among themselves, and with the judge, on the same items."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference.cluster_jackknife import mean_over_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Note, Sample
from judgestats.stats.validity.alternative_annotator import coded_labels

_SHARES = (
    ("judge_person_agreement", "Judge agrees with one person"),
    ("person_agreement", "Two people agree"),
    ("agreement_gap", "Judge's agreement less people's own"),
)
_DISTANCES = (
    ("judge_person_distance", "Distance of the judge from one person"),
    ("person_distance", "Distance of two people"),
    ("distance_gap", "Judge's distance less people's own"),
)


@with_keywords()
def agreement_ceiling(
    judge: ArrayLike, labels: ArrayLike, *, scores: bool = False, **inference: Unpack[Clustered]
) -> dict[str, Estimate]:
    r"""The judge's agreement with one person beside that of two people, on the same items.

    Parameters
    ----------
    judge : array-like, shape (N,)
        Verdicts or scores; None or NaN where the judge gave none.
    labels : array-like, shape (N, annotators)
        People's; None or NaN where a person did not label.
    scores : bool
        Mean absolute differences of numbers instead of shares of equal verdicts.

    Returns
    -------
    dict of str to Estimate
        ``judge``, ``people``, and ``gap``: the first less the second, paired by item.

    Raises
    ------
    InputError
        If shapes differ or no judged item has two labels.

    Notes
    -----
    Mean over items of the mean over the item's people (pairs of people), intervals by the jackknife
    over clusters. Two people who err by chance agree less than a perfect judge with one of them: a
    judge may lie above the ceiling.

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
        raise InputError(f"{where}: no judged item has the labels of two people.")
    out = {
        "fewer than two people": int(np.sum(~several)),
        "no verdict of the judge": int(np.sum(several & np.isnan(f))),
    }
    f, y, codes = f[used], y[used], codes[used]
    sample = Sample(
        n_items=f.size,
        n_clusters=int(np.unique(codes).size) if inference["cluster"] is not None else None,
        n_excluded=int(np.sum(~used)),
        excluded={k: v for k, v in out.items() if v},
    )
    pairs = itertools.combinations(range(y.shape[1]), 2)
    own = _mean([_apart(y[:, i], y[:, j], scores=scores) for i, j in pairs])
    theirs = _mean([_apart(f, y[:, j], scores=scores) for j in range(y.shape[1])])
    names = _DISTANCES if scores else _SHARES
    return {
        key: _estimate(values, codes, name, label, sample, inference["level"])
        for key, values, (name, label) in zip(
            ("judge", "people", "gap"), (theirs, own, theirs - own), names, strict=True
        )
    }


def _apart(a: Floats, b: Floats, *, scores: bool) -> Floats:
    """Distance of two columns of scores, agreement of two of verdicts; NaN where one is missing."""
    return np.abs(a - b) if scores else np.where(np.isnan(a + b), np.nan, (a == b).astype(float))


def _mean(columns: list[Floats]) -> Floats:
    """Of each item, over those known."""
    return np.asarray(np.nanmean(np.column_stack(columns), axis=1))


def _estimate(
    values: Floats, codes: Ints, name: str, label: str, sample: Sample,
    level: float,
) -> Estimate:  # fmt: skip
    over = mean_over_clusters(values, codes)
    interval = over.interval(level)
    if interval is not None and not name.endswith("gap"):
        most = 1.0 if name.endswith("agreement") else math.inf
        interval = replace(interval, low=max(interval.low, 0.0), high=min(interval.high, most))
    notes = () if interval else (Note(code="no_interval", message=f"No interval: {over.reason}."),)
    return Estimate(
        name=name, label=label, estimator="mean over items", estimate=over.mean,
        std_error=over.std_error, interval=interval, sample=sample, notes=notes,
    )  # fmt: skip
