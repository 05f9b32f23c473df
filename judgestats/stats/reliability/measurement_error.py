"""Error of a score in score points: standard error of measurement, smallest detectable change."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.errors import InputError, one_of
from judgestats.stats.designs.score_matrix import prepare_scores
from judgestats.stats.inference import distributions
from judgestats.stats.inference.estimate import Estimate, Interval, Note
from judgestats.stats.inference.jackknife import (
    cluster_sums,
    log_jackknife,
    useful_ratio,
)
from judgestats.stats.inference.keywords import Clustered, with_keywords

Kind = Literal["absolute", "relative"]


@with_keywords()
def standard_error_of_measurement(
    scores: ArrayLike,
    *,
    kind: Kind = "absolute",
    n_averaged: int = 1,
    missing: Literal["refuse", "listwise"] = "refuse",
    **inference: Unpack[Clustered],
) -> Estimate:
    r"""Standard error of measurement of one judgment, or of the mean of `n_averaged`.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_replications)
        Scores in points; NaN where missing.
    kind : {"absolute", "relative"}
        ``absolute``: spread of judgments of the same item (root mean square within items), for
        exchangeable replications, also unequal numbers of them; ``relative``: column means taken
        out (root residual mean square), which is sqrt(1 - alpha) times the standard deviation.
    n_averaged : int
        Judgments averaged; the error falls with its square root.
    missing : {"refuse", "listwise"}
        For ``relative``; ``absolute`` takes unequal numbers as they are.

    Returns
    -------
    Estimate
        In score points; the interval is the jackknife's over items or clusters, on the log scale
        (chi-squared would take all items to scatter alike).

    Raises
    ------
    InputError
        If the scores are no finite matrix or an option is unknown.

    References
    ----------
    Lord & Novick (1968), Statistical Theories of Mental Test Scores, chapter 7.

    Examples
    --------
    >>> x = [[2, 3, 2], [5, 4, 5], [8, 8, 9], [4, 4, 3]]
    >>> round(standard_error_of_measurement(x).estimate, 4)
    0.5774
    """
    return _error(
        "standard_error_of_measurement",
        scores,
        kind=kind,
        n_averaged=n_averaged,
        missing=missing,
        **inference,
        factor=1.0,
        name="sem",
        label="Standard error of measurement",
    )


@with_keywords()
def smallest_detectable_change(
    scores: ArrayLike,
    *,
    kind: Kind = "absolute",
    n_averaged: int = 1,
    confidence: float = 0.95,
    missing: Literal["refuse", "listwise"] = "refuse",
    **inference: Unpack[Clustered],
) -> Estimate:
    r"""Smallest difference between two scores that is more than error: z sqrt(2) SEM.

    Parameters
    ----------
    scores, kind, n_averaged, missing
        As for `standard_error_of_measurement`.
    confidence : float
        How sure to be that a difference is none of error (sets z).

    Returns
    -------
    Estimate
        In score points.

    Raises
    ------
    InputError
        As `standard_error_of_measurement`.

    References
    ----------
    Weir (2005), J. Strength and Conditioning Research 19, 231-240.

    Examples
    --------
    >>> x = [[2, 3, 2], [5, 4, 5], [8, 8, 9], [4, 4, 3]]
    >>> round(smallest_detectable_change(x).estimate, 4)
    1.6003
    """
    if not 0 < confidence < 1:
        raise InputError(
            f"smallest_detectable_change: confidence must lie between 0 and 1, got {confidence}. "
            "Use 0.95."
        )
    return _error(
        "smallest_detectable_change",
        scores,
        kind=kind,
        n_averaged=n_averaged,
        missing=missing,
        **inference,
        factor=float(distributions.norm.ppf((1 + confidence) / 2)) * math.sqrt(2),
        name="sdc",
        label="Smallest detectable change",
    )


def _error(
    where: str,
    scores: ArrayLike,
    *,
    kind: Kind,
    n_averaged: int,
    missing: Literal["refuse", "listwise"],
    factor: float,
    name: str,
    label: str,
    **inference: Unpack[Clustered],
) -> Estimate:
    """A multiple of the root error mean square."""
    one_of(where, "kind", kind, ("absolute", "relative"))
    if n_averaged < 1:
        raise InputError(f"{where}: n_averaged must be at least 1, got {n_averaged}.")
    one_of(where, "missing", missing, ("refuse", "listwise"))
    unequal = kind == "absolute" and missing == "refuse"
    prepared = prepare_scores(
        scores,
        where=where,
        cluster=inference["cluster"],
        missing="pairwise" if unequal else missing,
        min_items=1,
    )
    common: dict[str, Any] = {
        "name": f"{name}_{kind}" + (f"_mean_of_{n_averaged}" if n_averaged > 1 else ""),
        "label": label + (f" of the mean of {n_averaged}" if n_averaged > 1 else ""),
        "estimator": f"{kind}, root mean square "
        + ("within items" if kind == "absolute" else "residual of items x replications"),
        "sample": prepared.sample,
    }
    reason = prepared.reason
    x = prepared.x
    if not reason and kind == "relative" and x.shape[0] < 2:
        reason = "2 items are needed to take column means out, 1 given"
    if reason:
        return Estimate(estimate=math.nan, reason=reason, **common)
    judgments = (~np.isnan(x)).sum(axis=1)
    own = x - np.nanmean(x, axis=1, keepdims=True)
    if kind == "relative":
        own = own - own.mean(axis=0)
        degrees = np.full(x.shape[0], (x.shape[0] - 1) * (x.shape[1] - 1) / x.shape[0])
    else:
        degrees = judgments - 1.0
    df = round(float(degrees.sum()))
    if df < 1:
        reason = "no item has two judgments, so that error cannot be seen"
        return Estimate(estimate=math.nan, reason=reason, **common)
    squares = np.nansum(own**2, axis=1)
    # What is left of equal scores after their mean is taken off is rounding.
    squares = np.where(squares > 1e-26 * np.nansum(x**2, axis=1), squares, 0.0)
    variance = float(squares.sum()) / df
    scale = factor / math.sqrt(n_averaged)
    value = scale * math.sqrt(variance)
    bounds: Interval | None = None
    notes: tuple[Note, ...] = ()
    if variance > 0:
        codes = np.arange(x.shape[0]) if prepared.cluster is None else prepared.cluster
        parts = np.column_stack([squares, degrees, np.ones(squares.size)])
        ratio = log_jackknife(*cluster_sums(parts, codes).T)
        squared, notes = useful_ratio(
            ratio, ratio.interval(inference["level"]), ratio.notes, degree=2
        )
        if squared is not None:
            bounds = dataclasses.replace(
                squared,
                low=scale * math.sqrt(squared.low),
                high=scale * math.sqrt(squared.high),
            )
    else:
        message = (
            "No interval: the replications of every item agree exactly, as they do when one draw "
            "is repeated at temperature 0."
        )
        notes = (Note(code="no_within_item_variance", message=message),)
    return Estimate(
        estimate=value, interval=bounds, notes=notes, details={"df": df, "n": n_averaged}, **common
    )
