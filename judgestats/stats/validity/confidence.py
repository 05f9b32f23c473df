"""Stated confidences against people's labels: Brier's score and its parts, calibration error."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import optimize

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError
from judgestats.stats.inference import distributions
from judgestats.stats.inference.cluster_jackknife import mean_over_clusters
from judgestats.stats.inference.keywords import Seeded, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import (
    Estimate,
    Note,
    NullReference,
    Result,
    Sample,
)
from judgestats.stats.inference.result_parts import notes_block
from judgestats.stats.validity.clustered_share import share_over_clusters
from judgestats.stats.validity.inputs import FAIL_PASS, score_values, verdict_values

FOLDS = 5


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConfidenceCalibration(Result):
    """How far stated confidences are chances.

    Attributes
    ----------
    brier : Estimate
        Mean squared distance of confidence and label. ``details``: ``reliability``,
        ``resolution``, ``uncertainty`` over the distinct confidences (they add up to it), the same
        in bins with ``within_bin_variance`` and ``within_bin_covariance``, ``after_recalibration``
        (isotonic, cross-fitted over folds of clusters) and ``skill`` against the base rate.
    calibration_error : Estimate
        Expected calibration error in equally wide bins; its null is what a perfectly calibrated
        judge with these confidences would show.
    area : float
        Area under the ROC curve; NaN where people give one verdict only.
    diagram : DataFrame
        Reliability diagram: one row per bin that holds items.
    sample : Sample
    notes : tuple of Note
    """

    brier: Estimate
    calibration_error: Estimate
    area: float
    diagram: pd.DataFrame
    sample: Sample
    notes: tuple[Note, ...] = ()

    def tidy(self) -> pd.DataFrame:
        """One row per score."""
        return pd.DataFrame([self.brier.row(), self.calibration_error.row()])

    def sentence(self) -> str:
        """Brier's score and calibration error, the latter beside its null."""
        ece = self.calibration_error
        if math.isnan(ece.estimate):
            return f"The confidences cannot be judged: {ece.reason}."
        null = ece.null
        beside = f", a perfectly calibrated judge would show {null.mean:.3f}" if null else ""
        return (
            f"Brier score {self.brier.estimate:.3f} (always the base rate: "
            f"{self.brier.details['uncertainty']:.3f}); calibration error {ece.estimate:.3f}"
            f"{beside} ({self.sample})."
        )

    def __str__(self) -> str:
        table = self.diagram.to_string(index=False, float_format=lambda v: f"{v:.3f}")
        lines = ["", "\tStated confidence against people", "", self.sentence(), table]
        return "\n".join([*lines, *notes_block(self.notes), ""])


@with_keywords()
def confidence_calibration(
    confidence: ArrayLike,
    human: ArrayLike,
    *,
    categories: Sequence[str] = FAIL_PASS,
    bins: int = 10,
    n_draws: int = 1000,
    **inference: Unpack[Seeded],
) -> ConfidenceCalibration:
    r"""Are a judge's confidences chances?

    Parameters
    ----------
    confidence : array-like, shape (N,)
        The judge's chance that people say the positive verdict, in 0-1 (stated, or from token
        probabilities); NaN where there is none.
    human : array-like, shape (N,)
    categories : sequence of two str
    bins : int
        Equally wide bins [k/m, (k+1)/m), the last closed. The calibration error depends on them.
    n_draws : int
        Draws of labels from the confidences for the null of the calibration error.

    Returns
    -------
    ConfidenceCalibration

    Raises
    ------
    InputError
        If a confidence lies outside 0-1, a label is none of the words, or lengths differ.

    Notes
    -----
    Brier = reliability - resolution + uncertainty over distinct confidences; in bins the variance
    within bins is added and twice their covariance with the labels taken off. The calibration error
    is above 0 for a perfect judge: its null draws every label with the stated chance. Isotonic
    recalibration scored on its own rows is optimistic, so it is cross-fitted.

    References
    ----------
    Murphy (1973), J. Appl. Meteorol. 12, 595-600; Stephenson, Coelho & Jolliffe (2008), Weather and
    Forecasting 23, 752-757; Dimitriadis, Gneiting & Jordan (2021), PNAS 118.

    Examples
    --------
    >>> out = confidence_calibration([0.9, 0.8, 0.3, 0.2], [1, 1, 0, 1], n_draws=50)
    >>> round(out.brier.estimate, 4), out.area
    (0.195, 0.6666666666666666)
    """
    where = "confidence_calibration"
    p = score_values(confidence, where=where, name="confidence")
    y = verdict_values(human, categories=categories, where=where, name="human")
    if p.ndim != 1 or p.shape != y.shape:
        raise InputError(
            f"{where}: confidence and human must hold one entry for each item, got shapes "
            f"{p.shape} and {y.shape}."
        )
    if np.any((p < 0) | (p > 1)):
        raise InputError(f"{where}: confidence must lie in 0-1. Divide percentages by 100.")
    if bins < 1:
        raise InputError(f"{where}: bins must be at least 1, got {bins}.")
    codes = cluster_codes(inference["cluster"], p.size, where=where)
    used = ~np.isnan(p) & ~np.isnan(y)
    n_out = int(np.sum(~used))
    p, y, codes = p[used], y[used], codes[used]
    sample = Sample(
        n_items=p.size,
        n_clusters=int(np.unique(codes).size) if inference["cluster"] is not None else None,
        excluded={"no confidence or no label": n_out},
    )
    if p.size == 0:
        nothing = Estimate(
            name="brier", label="Brier score", estimate=math.nan, sample=sample,
            reason="no item has both a confidence and a label",
        )  # fmt: skip
        return ConfidenceCalibration(
            brier=nothing, calibration_error=nothing.replace(name="calibration_error"),
            area=math.nan, diagram=pd.DataFrame(), sample=sample,
        )  # fmt: skip
    place = np.minimum(np.floor(p * bins + 1e-9).astype(np.int64), bins - 1)
    squared = (p - y) ** 2
    over = mean_over_clusters(squared, codes)
    details = _parts(p, y, np.unique(p, return_inverse=True)[1].reshape(-1))
    binned = _parts(p, y, place)
    details = {k: details[k] for k in ("reliability", "resolution", "uncertainty")} | {
        f"binned_{k}": v for k, v in binned.items()
    }
    details["after_recalibration"] = _cross_fitted(p, y, codes, inference["seed"])
    base = details["uncertainty"]
    details["skill"] = 1 - over.mean / base if base > 0 else math.nan
    iv = over.interval(inference["level"])
    notes: tuple[Note, ...] = ()
    if iv is None:
        notes = (Note(code="no_interval", message=f"No interval: {over.reason}."),)
    return ConfidenceCalibration(
        brier=Estimate(
            name="brier",
            label="Brier score",
            estimator="mean squared distance of confidence and label",
            estimate=over.mean,
            std_error=over.std_error,
            interval=iv,
            sample=sample,
            notes=notes,
            details=details,
        ),
        calibration_error=Estimate(
            name="calibration_error",
            label="Expected calibration error",
            estimator=f"{bins} equally wide bins",
            estimate=_ece(p, y[None, :], place, bins)[0],
            sample=sample,
            null=_null(p, y, place, bins, n_draws, inference["seed"]) if n_draws else None,
        ),
        area=_area(p, y),
        diagram=_diagram(
            p, y, place, codes, bins, inference["cluster"] is not None, inference["level"]
        ),
        sample=sample,
        notes=notes,
    )


def _parts(p: Floats, y: Floats, group: Ints) -> dict[str, float]:
    """Murphy's parts of the Brier score over groups, with what is left within them."""
    n = np.bincount(group).astype(float)
    held = n > 0
    share = n[held] / p.size
    mean_p = np.bincount(group, p)[held] / n[held]
    mean_y = np.bincount(group, y)[held] / n[held]
    full_p, full_y = np.zeros(n.size), np.zeros(n.size)
    full_p[held], full_y[held] = mean_p, mean_y
    dp, dy = p - full_p[group], y - full_y[group]
    base = float(y.mean())
    return {
        "reliability": float(share @ (mean_p - mean_y) ** 2),
        "resolution": float(share @ (mean_y - base) ** 2),
        "uncertainty": base * (1 - base),
        "within_bin_variance": float(np.mean(dp**2)),
        "within_bin_covariance": float(2 * np.mean(dp * dy)),
    }


def _ece(p: Floats, y: Floats, place: Ints, bins: int) -> Floats:
    """Expected calibration error of each row of labels."""
    member = (place[:, None] == np.arange(bins)[None, :]).astype(float)
    return np.asarray(np.abs(y @ member - (p @ member)[None, :]).sum(axis=1) / p.size)


def _null(
    p: Floats, y: Floats, place: Ints, bins: int, n_draws: int, seed: int | None
) -> NullReference:
    rng = np.random.default_rng(seed)
    drawn = _ece(p, (rng.random((n_draws, p.size)) < p).astype(float), place, bins)
    value = _ece(p, y[None, :], place, bins)[0]
    return NullReference(
        hypothesis="the confidences are chances",
        permuted="labels from the confidences",
        mean=float(drawn.mean()),
        q95=float(np.quantile(drawn, 0.95)),
        p_value=float((np.sum(drawn >= value - 1e-12) + 1) / (n_draws + 1)),
        n_permutations=n_draws,
        seed=seed,
        drawn=True,
    )


def isotonic_steps(p: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Distinct confidences and the calibrated chance at each (pool adjacent violators).

    Examples
    --------
    >>> isotonic_steps(np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 0.0]))[1].tolist()
    [0.0, 0.5, 0.5]
    """
    at, group = np.unique(p, return_inverse=True)
    n = np.bincount(group.reshape(-1)).astype(float)
    fit = optimize.isotonic_regression(np.bincount(group.reshape(-1), y) / n, weights=n)
    return at, np.asarray(fit.x)


def _cross_fitted(p: Floats, y: Floats, codes: Ints, seed: int | None) -> float:
    """Brier score after isotonic recalibration fitted on the other folds."""
    kinds = np.unique(codes)
    if kinds.size < 2 * FOLDS:
        return math.nan
    fold = np.random.default_rng(seed).permutation(np.arange(kinds.size) % FOLDS)
    of = fold[np.searchsorted(kinds, codes)]
    moved = np.empty(p.size)
    for k in range(FOLDS):
        out = of == k
        at, fit = isotonic_steps(p[~out], y[~out])
        moved[out] = fit[np.clip(np.searchsorted(at, p[out], side="right") - 1, 0, None)]
    return float(np.mean((moved - y) ** 2))


def _area(p: Floats, y: Floats) -> float:
    ones, zeros = int(y.sum()), int(y.size - y.sum())
    if not ones or not zeros:
        return math.nan
    ranks = distributions.ranks(p)
    return float((ranks[y == 1].sum() - ones * (ones + 1) / 2) / (ones * zeros))


def _diagram(
    p: Floats,
    y: Floats,
    place: Ints,
    codes: Ints,
    bins: int,
    clustered: bool,
    level: float,
) -> pd.DataFrame:
    rows = []
    for k in np.unique(place):
        here = place == k
        share = share_over_clusters(
            y[here], np.ones(int(here.sum())), codes[here], clustered=clustered, level=level
        )
        rows.append(
            {
                "from": k / bins,
                "to": (k + 1) / bins,
                "n": int(here.sum()),
                "confidence": float(p[here].mean()),
                "share": share.share,
                "conf_low": share.low,
                "conf_high": share.high,
            }
        )
    return pd.DataFrame(rows)
