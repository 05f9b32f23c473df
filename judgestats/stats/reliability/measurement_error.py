"""Error of a score in score points: standard error of measurement, smallest detectable change."""

from __future__ import annotations

import math
from typing import Any, Literal

from numpy.typing import ArrayLike
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats.inference.result import Estimate, Interval, Note
from judgestats.stats.layouts.mean_squares import mean_squares, one_way_mean_squares
from judgestats.stats.layouts.score_matrix import prepare_scores

__all__ = ["smallest_detectable_change", "standard_error_of_measurement"]

Kind = Literal["absolute", "relative"]


def standard_error_of_measurement(
    scores: ArrayLike,
    *,
    kind: Kind = "absolute",
    n_averaged: int = 1,
    level: float = 0.95,
    missing: Literal["refuse", "listwise"] = "refuse",
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
    level : float
    missing : {"refuse", "listwise"}
        For ``relative``; ``absolute`` takes unequal numbers as they are.

    Returns
    -------
    Estimate
        In score points; the interval inverts the chi-squared distribution of the sum of squares
        (normal errors of one size; scores at the end of a scale have smaller ones).

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
        level=level,
        missing=missing,
        factor=1.0,
        name="sem",
        label="Standard error of measurement",
    )


def smallest_detectable_change(
    scores: ArrayLike,
    *,
    kind: Kind = "absolute",
    n_averaged: int = 1,
    confidence: float = 0.95,
    level: float = 0.95,
    missing: Literal["refuse", "listwise"] = "refuse",
) -> Estimate:
    r"""Smallest difference between two scores that is more than error: z sqrt(2) SEM.

    Parameters
    ----------
    scores, kind, n_averaged, level, missing
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
        level=level,
        missing=missing,
        factor=float(stats.norm.ppf((1 + confidence) / 2)) * math.sqrt(2),
        name="sdc",
        label="Smallest detectable change",
    )


def _error(
    where: str,
    scores: ArrayLike,
    *,
    kind: Kind,
    n_averaged: int,
    level: float,
    missing: Literal["refuse", "listwise"],
    factor: float,
    name: str,
    label: str,
) -> Estimate:
    """A multiple of the root error mean square."""
    if kind not in {"absolute", "relative"} or n_averaged < 1:
        raise InputError(
            f"{where}: kind must be absolute or relative and n_averaged at least 1, got {kind!r} "
            f"and {n_averaged}. Choose one of these."
        )
    if missing not in {"refuse", "listwise"}:
        raise InputError(
            f"{where}: missing must be refuse or listwise, got {missing!r}. Choose one of these."
        )
    unequal = kind == "absolute" and missing == "refuse"
    prepared = prepare_scores(
        scores, where=where, missing="pairwise" if unequal else missing, min_items=1
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
    if kind == "relative":
        ms = mean_squares(x)
        variance, df = float(ms.residual), (x.shape[0] - 1) * (x.shape[1] - 1)
    elif x.shape[0] == 1:
        row = x[0][x[0] == x[0]]
        df = row.size - 1
        variance = float(row.var(ddof=1)) if df else math.nan
    else:
        one_way = one_way_mean_squares(x)
        variance, df = float(one_way.within), int(float(one_way.df_within))
    if df < 1:
        reason = "no item has two judgments, so that error cannot be seen"
        return Estimate(estimate=math.nan, reason=reason, **common)
    scale = factor / math.sqrt(n_averaged)
    value = scale * math.sqrt(variance)
    bounds: Interval | None = None
    notes: tuple[Note, ...] = ()
    if variance > 0:
        tail = (1 - level) / 2
        ends = [
            scale * math.sqrt(df * variance / float(stats.chi2.ppf(q, df)))
            for q in (1 - tail, tail)
        ]
        bounds = Interval(low=ends[0], high=ends[1], level=level, method="chi-squared")
    else:
        message = (
            "No interval: the replications of every item agree exactly, as they do when one draw "
            "is repeated at temperature 0."
        )
        notes = (Note(code="no_within_item_variance", message=message),)
    return Estimate(
        estimate=value, interval=bounds, notes=notes, details={"df": df, "n": n_averaged}, **common
    )
