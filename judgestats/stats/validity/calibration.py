"""Scores and confidences as evidence: calibration, separation, and cut-offs."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Bools, Floats, Ints, as_numbers, check_lengths
from judgestats.errors import InputError
from judgestats.stats.inference import cluster_codes, distributions
from judgestats.stats.inference.jackknife import cluster_sums, effective_clusters
from judgestats.stats.inference.keywords import Clustered, Seeded, with_keywords
from judgestats.stats.inference.result import Estimate, Interval, Note, NullReference, Sample
from judgestats.stats.validity import inputs
from judgestats.stats.validity.inputs import cluster_variance
from judgestats.stats.validity.panels import folds

FOLDS = 5
BINS = 10
"""Equally wide bins [k/10, (k+1)/10), the last closed, on which the calibration error depends."""
DRAWS = 1000
"""Draws of labels from the confidences for the null of the calibration error."""
_BLOCK = 4_000_000
"""Labels drawn at once."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConfidenceCalibration(inputs.Report):
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
    TITLE = "Stated confidence against human labels"

    def tidy(self) -> pd.DataFrame:
        """One row per score."""
        return pd.DataFrame([self.brier.row(), self.calibration_error.row()])

    def sentence(self) -> str:
        """Brier's score, and the calibration error with its null."""
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

    def lines(self) -> list[str]:
        """The sentence and the diagram."""
        table = self.diagram.to_string(index=False, float_format=lambda v: f"{v:.3f}")
        return [self.sentence(), table]


@with_keywords()
def confidence_calibration(
    confidence: ArrayLike, human: ArrayLike, **inference: Unpack[Seeded]
) -> ConfidenceCalibration:
    r"""Are a judge's confidences chances?

    Parameters
    ----------
    confidence : array-like, shape (N,)
        The judge's chance that people say the positive verdict, in 0-1 (stated, or from token
        probabilities); NaN where there is none.
    human : array-like, shape (N,)
        Labels, None or NaN where there is none.

    Returns
    -------
    ConfidenceCalibration

    Raises
    ------
    InputError
        If a confidence is outside 0-1, a label is not one of the words, or lengths differ.

    Notes
    -----
    Brier = reliability - resolution + uncertainty over distinct confidences; in bins the variance
    within bins is added and twice their covariance with the labels taken off. The calibration
    error, in ten bins, is above 0 for a perfect judge: its null draws each label with its chance.
    Isotonic recalibration scored on its own rows is optimistic, so it is cross-fitted.

    References
    ----------
    Murphy (1973), J. Appl. Meteorol. 12, 595-600. Stephenson, Coelho & Jolliffe (2008), Weather and
    Forecasting 23, 752-757. Dimitriadis, Gneiting & Jordan (2021), PNAS 118.

    Examples
    --------
    >>> out = confidence_calibration([0.9, 0.8, 0.3, 0.2], [1, 1, 0, 1])
    >>> round(out.brier.estimate, 4), out.area
    (0.195, 0.6666666666666666)
    """
    where = "confidence_calibration"
    p = as_numbers(confidence, "confidence", where)
    y = inputs.verdict_values(human, where=where, name="human")
    check_lengths(where, confidence=p, human=y)
    if np.any((p < 0) | (p > 1)):
        raise InputError(f"{where}: confidence must lie in 0-1. Divide percentages by 100.")
    codes = cluster_codes(inference["cluster"], p.size, where=where)
    used = ~np.isnan(p) & ~np.isnan(y)
    clustered = inference["cluster"] is not None
    sample = Sample.from_mask(used, "no confidence or no label", codes if clustered else None)
    p, y, codes = p[used], y[used], codes[used]
    if p.size == 0:
        nothing = Estimate(
            name="brier", label="Brier score", sample=sample,
            reason="no item has both a confidence and a label",
        )  # fmt: skip
        return ConfidenceCalibration(
            brier=nothing, calibration_error=nothing.replace(name="calibration_error"),
            area=math.nan, diagram=pd.DataFrame(), sample=sample,
        )  # fmt: skip
    place = np.minimum(np.floor(p * BINS + 1e-9).astype(np.int64), BINS - 1)
    details = _parts(p, y, np.unique(p, return_inverse=True)[1].reshape(-1))
    binned = {f"binned_{k}": v for k, v in _parts(p, y, place).items()}
    details = {k: details[k] for k in ("reliability", "resolution", "uncertainty")} | binned
    details["after_recalibration"] = _cross_fitted(p, y, codes, inference["seed"])
    base = details["uncertainty"]
    brier = inputs.mean_estimate(
        (p - y) ** 2,
        codes,
        name="brier",
        label="Brier score",
        estimator="mean squared distance of confidence and label",
        sample=sample,
        level=inference["level"],
    )
    details["skill"] = 1 - brier.estimate / base if base > 0 else math.nan
    rows = []
    for k in np.unique(place):
        here = place == k
        share = inputs.share_over_clusters(
            y[here],
            np.ones(int(here.sum())),
            codes[here],
            clustered=clustered,
            level=inference["level"],
        )
        rows.append(
            {
                "from": k / BINS,
                "to": (k + 1) / BINS,
                "n": int(here.sum()),
                "confidence": float(p[here].mean()),
                "share": share.share,
                "conf_low": share.low,
                "conf_high": share.high,
            }
        )
    return ConfidenceCalibration(
        brier=brier.replace(details=details),
        calibration_error=Estimate(
            name="calibration_error",
            label="Expected calibration error",
            estimator=f"{BINS} equally wide bins",
            estimate=_ece(p, y[None, :], place)[0],
            sample=sample,
            null=_null(p, y, place, inference["seed"]),
        ),
        area=_area(p, y),
        diagram=pd.DataFrame(rows),
        sample=sample,
        notes=brier.notes,
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


def _ece(p: Floats, y: Floats, place: Ints) -> Floats:
    """Expected calibration error of each row of labels."""
    member = (place[:, None] == np.arange(BINS)[None, :]).astype(float)
    return np.asarray(np.abs(y @ member - (p @ member)[None, :]).sum(axis=1) / p.size)


def _null(p: Floats, y: Floats, place: Ints, seed: int | None) -> NullReference:
    rng = np.random.default_rng(seed)
    rows = max(_BLOCK // p.size, 1)
    drawn = np.concatenate([
        _ece(p, (rng.random((min(rows, DRAWS - k), p.size)) < p).astype(float), place)
        for k in range(0, DRAWS, rows)
    ])  # fmt: skip
    value = _ece(p, y[None, :], place)[0]
    return NullReference(
        hypothesis="the confidences are chances",
        permuted="labels from the confidences",
        mean=float(drawn.mean()),
        q95=float(np.quantile(drawn, 0.95)),
        p_value=float((np.sum(drawn >= value - 1e-12) + 1) / (DRAWS + 1)),
        n_permutations=DRAWS,
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
    fit = scipy.optimize.isotonic_regression(np.bincount(group.reshape(-1), y) / n, weights=n)
    return at, np.asarray(fit.x)


def _cross_fitted(p: Floats, y: Floats, codes: Ints, seed: int | None) -> float:
    """Brier score after isotonic recalibration fitted on the other folds."""
    if np.unique(codes).size < 2 * FOLDS:
        return math.nan
    moved = np.empty(p.size)
    for out in folds(codes, seed):
        at, fit = isotonic_steps(p[~out], y[~out])
        moved[out] = fit[np.clip(np.searchsorted(at, p[out], side="right") - 1, 0, None)]
    return float(np.mean((moved - y) ** 2))


def _area(p: Floats, y: Floats) -> float:
    ones, zeros = int(y.sum()), int(y.size - y.sum())
    if not ones or not zeros:
        return math.nan
    ranks = distributions.ranks(p)
    return float((ranks[y == 1].sum() - ones * (ones + 1) / 2) / (ones * zeros))


_EDGE = 1e-9


@with_keywords()
def separation(scores: ArrayLike, passed: ArrayLike, **inference: Unpack[Clustered]) -> Estimate:
    r"""How often an item that people pass is scored above one that they fail; a tie counts half.

    Parameters
    ----------
    scores : array-like, shape (N,) or (N, repeats)
        Repeats are averaged first; NaN where unparsed.
    passed : array-like, shape (N,)
        1 where people pass the item, 0 where they fail it, NaN where nobody says.

    Returns
    -------
    Estimate
        ROC AUC: .5 if scores are uninformative, 1 if every passed item scores above every failed
        one.

    Raises
    ------
    InputError
        If shapes differ, a label is neither 0 nor 1, or no labelled item has a score.

    Notes
    -----
    :math:`A = P(S_{pass} > S_{fail}) + P(S_{pass} = S_{fail}) / 2`. The standard
    error is that of the items' structural components, summed over clusters. Limits are the outer
    of two, with t on the number of effective clusters of the rarer class minus 1. Newcombe's score
    limits (method 5), widened by the clusters' design effect, cover where A is near 1 and hardly
    any pair is reversed. The standard error on the logit covers where one class is rare.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845. Obuchowski (1997), Biometrics
    53, 567-578. Newcombe (2006), Statistics in Medicine 25, 559-573.

    Examples
    --------
    >>> out = separation([8, 7, 3, 5, 6, 2], [1, 1, 0, 0, 1, 1])
    >>> round(out.estimate, 3)
    0.75
    """
    where = "separation"
    x = as_numbers(scores, "scores", where)
    x = x[:, None] if x.ndim == 1 else x
    y = _labels(x, passed, where)
    used = ~np.isnan(x).all(axis=1) & ~np.isnan(y)
    if not used.any():
        raise InputError(f"{where}: no item has both a score and a label of pass or fail.")
    sample, codes = _sample(used, inference["cluster"], x.shape[1], where)
    mean, right = np.nanmean(x[used], axis=1), y[used] == 1
    estimate = Estimate(
        name="separation", label="Passed by people scored above failed",
        sample=sample,
    )  # fmt: skip
    if right.all() or not right.any():
        only = "pass" if right.all() else "fail"
        return estimate.replace(reason=f"people say {only} of all items")
    placed = _components(mean[:, None], right)[:, 0]
    area = float(placed[right].mean())
    spread = _spread(placed, right, codes, area)
    return estimate.replace(
        estimator="structural components",
        estimate=area,
        std_error=spread.error,
        interval=_interval(area, spread, inference["level"]),
        notes=_few(spread.rarer),
    )


def shares_on_the_right_side(scores: Floats, passed: Floats) -> Floats:
    """Of each labelled item the share of the other kind that its score stands rightly to.

    Examples
    --------
    >>> shares_on_the_right_side(np.array([8.0, 6.0, 6.0]), np.array([1.0, 1.0, 0.0])).tolist()
    [1.0, 0.5, 0.75]
    """
    used = ~np.isnan(scores) & ~np.isnan(passed)
    out = np.full(scores.size, np.nan)
    right = passed[used] == 1
    if right.any() and not right.all():
        out[used] = _components(scores[used][:, None], right)[:, 0]
    return out


def _labels(x: Floats, passed: ArrayLike, where: str) -> Floats:
    y = as_numbers(passed, "passed", where)
    if y.shape != x.shape[:1]:
        raise InputError(f"{where}: one label per row is needed, got {x.shape} and {y.shape}.")
    if not np.isin(y[~np.isnan(y)], (0.0, 1.0)).all():
        raise InputError(f"{where}: labels must be 1 (pass), 0 (fail) or NaN.")
    return y


def _sample(used: Bools, cluster: ArrayLike | None, k: int, where: str) -> tuple[Sample, Ints]:
    """The sample of the items used, and the cluster of each of them."""
    codes = cluster_codes(cluster, used.size, where=where)
    sample = Sample.from_mask(
        used, "no label, or no score", None if cluster is None else codes, n_replications=k
    )
    return sample, codes[used]


def _components(x: Floats, right: Bools) -> Floats:
    """Of each item in each column the share of the other kind on its right side, a tie half.

    Examples
    --------
    >>> _components(np.array([[8.0], [6.0], [6.0]]), np.array([True, True, False])).ravel().tolist()
    [1.0, 0.5, 0.75]
    """
    ranks = distributions.ranks(x, axis=0)
    out = np.empty_like(ranks)
    for own, place in ((right, 0), (~right, 1)):
        below = (ranks[own] - distributions.ranks(x[own], axis=0)) / float(np.sum(~own))
        out[own] = np.abs(place - below)
    return out


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Spread:
    """Standard error over clusters, its ratio to that of independent items, and sizes."""

    error: float
    design_effect: float
    rarer: float
    sizes: tuple[int, int]


def _spread(placed: Floats, right: Bools, codes: Ints, area: float) -> _Spread:
    moved = (placed - area) / np.where(right, right.sum(), (~right).sum())
    by_cluster = cluster_sums(moved, codes)
    g, n = by_cluster.size, moved.size
    kinds = [cluster_sums(own.astype(float), codes) for own in (right, ~right)]
    largest = max(float(own.sum() / effective_clusters(own[own > 0])) for own in kinds)
    within = n / (n - 1) * float(np.sum(moved**2))
    between = g / (g - 1) * float(np.sum(by_cluster**2)) if g > 1 else math.nan
    if g == n and min(right.sum(), (~right).sum()) > 1:  # DeLong's: the kinds are two samples
        within = between = math.fsum(
            own.sum() / (own.sum() - 1) * float(np.sum(moved[own] ** 2)) for own in (right, ~right)
        )
    return _Spread(
        error=math.sqrt(between),
        # Where every pair is ordered rightly no error tells how alike a cluster's items are.
        design_effect=max(between / within, 1.0) if within > 0 else largest,
        rarer=min(effective_clusters(own[own > 0]) for own in kinds),
        sizes=(int(right.sum()), int((~right).sum())),
    )


def _interval(area: float, spread: _Spread, level: float) -> Interval | None:
    if math.isnan(spread.error):
        return None
    quantile = float(distributions.t.ppf((1 + level) / 2, max(spread.rarer - 1, 1.0)))
    factor = quantile * math.sqrt(spread.design_effect)

    def limit_distance(a: float) -> float:
        return abs(area - a) - factor * _null_error(a, *spread.sizes)

    # At 0 and 1 themselves the error is 0: the limit is sought next to them.
    inner = min(max(area, _EDGE), 1 - _EDGE)
    low = 0.0 if area == 0 else float(scipy.optimize.brentq(limit_distance, 0.0, inner))
    high = 1.0 if area == 1 else float(scipy.optimize.brentq(limit_distance, inner, 1.0))
    if 0 < area < 1:
        half = quantile * spread.error / (area * (1 - area))
        low = min(low, float(special.expit(special.logit(area) - half)))
        high = max(high, float(special.expit(special.logit(area) + half)))
    method = "outer of score limits (Newcombe) and structural components on the logit, t"
    return Interval(low=low, high=high, level=level, method=method)


def _null_error(a: float, passed: int, failed: int) -> float:
    """Standard error that an area of `a` would have, Newcombe's method 5."""
    middle = (passed + failed) / 2
    pairs = 2 * middle - 1 - (3 * middle - 3) / ((2 - a) * (1 + a))
    return math.sqrt(max(a * (1 - a) * pairs / (passed * failed), 0.0))


def _few(rarer: float) -> tuple[Note, ...]:
    message = f"The rarer label is in {rarer:.3g} clusters: the interval is rough."
    return Note.where(rarer < 5, "few_clusters", message)


def error_limit(errors: ArrayLike, n: ArrayLike, delta: float) -> Floats:
    """One-sided upper Clopper-Pearson limit of an error rate, for real-valued counts.

    Parameters
    ----------
    errors, n : array-like of float
        Errors and trials, divided by a design effect where items are clustered.
    delta : float
        One-sided error of the limit.

    Returns
    -------
    ndarray
        BetaInv(1 - delta, errors + 1, n - errors); 1 where every trial is an error.

    References
    ----------
    Korn, E. L., & Graubard, B. I. (1998). Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data. *Survey Methodology, 24*, 193-201.

    Examples
    --------
    >>> error_limit([0, 8], [59, 298], .05).round(4).tolist()
    [0.0495, 0.0479]
    """
    x, size = np.broadcast_arrays(np.asarray(errors, float), np.asarray(n, float))
    inside = special.betaincinv(x + 1, np.maximum(size - x, 1e-12), 1 - delta)
    return np.where(x >= size, 1.0, inside)


def least_trials(error: float, delta: float) -> int:
    """Fewest trials, all without an error, that show an error rate of at most `error`.

    Examples
    --------
    >>> least_trials(.05, .05)
    59
    """
    return math.ceil(math.log(delta) / math.log1p(-error))


@dataclass(frozen=True)
class Clustering:
    """Correlation within clusters, and the mean size that it inflates a variance by.

    Attributes
    ----------
    icc : float
        By one-way analysis of variance, at least 0; 1 where all items are in one cluster.
    size : float
        Sum of squared sizes over the sum of sizes.
    """

    icc: float
    size: float

    @property
    def design_effect(self) -> float:
        """1 + (size - 1) icc."""
        return 1 + (self.size - 1) * self.icc


def clustering(values: Floats, codes: Ints) -> Clustering:
    """ICC of values within clusters and mean cluster size.

    Parameters
    ----------
    values : ndarray, shape (n,)
    codes : ndarray of int, shape (n,)
        Cluster of each.

    Returns
    -------
    Clustering

    References
    ----------
    Kish, L. (1965). *Survey sampling*. Donner, A., & Klar, N. (2000). *Design and analysis of
    cluster randomization trials*.

    Examples
    --------
    >>> made = clustering(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1]))
    >>> made.icc, made.size, made.design_effect
    (1.0, 2.0, 2.0)
    """
    _, place = np.unique(codes, return_inverse=True)
    m = np.bincount(place)
    n, groups = values.size, m.size
    size = float((m**2).sum() / n) if n else 1.0
    if groups < 2 or n == groups:  # items of one cluster count as one
        return Clustering(1.0 if groups == 1 else 0.0, size)
    means = np.bincount(place, values) / m
    between = float((m * (means - values.mean()) ** 2).sum() / (groups - 1))
    within = float(((values - means[place]) ** 2).sum() / (n - groups))
    total = between + ((n - size) / (groups - 1) - 1) * within
    return Clustering(max(0.0, (between - within) / total) if total > 0 else 0.0, size)


def joint_share(delta: float, claims: int, *, independent: bool) -> float:
    """Level of each of several claims made at once.

    Examples
    --------
    >>> round(joint_share(.05, 2, independent=True), 6), joint_share(.05, 2, independent=False)
    (0.025321, 0.025)
    """
    return float(-np.expm1(np.log1p(-delta) / claims)) if independent else delta / claims


@dataclass(frozen=True, kw_only=True)
class ErrorCounts:
    """Misses and false passes at every observed score, with the sizes that limits rest on.

    Attributes
    ----------
    cutoffs : ndarray
        Observed scores, ascending; an item passes from the cut-off on.
    misses, false_passes : ndarray of int
        Passes below each cut-off, and fails at or above it.
    n_pass, n_fail : int
    effects : (float, float)
        Design effects among passes and among fails.
    delta : float
        One-sided error of each of both limits.
    """

    cutoffs: Floats
    misses: Ints
    false_passes: Ints
    n_pass: int
    n_fail: int
    effects: tuple[float, float] = (1.0, 1.0)
    delta: float = 0.025

    @property
    def tpr_lower(self) -> Floats:
        """Lower limits of the TPR, one per cut-off."""
        effect = self.effects[0]
        return 1 - error_limit(self.misses / effect, self.n_pass / effect, self.delta)

    @property
    def tnr_lower(self) -> Floats:
        """Lower limits of the TNR."""
        effect = self.effects[1]
        return 1 - error_limit(self.false_passes / effect, self.n_fail / effect, self.delta)

    def window(self, tpr: float, tnr: float) -> tuple[float, float]:
        """First cut-off that keeps the TNR and last one that keeps the TPR.

        Parameters
        ----------
        tpr, tnr : float
            Required rates.

        Returns
        -------
        low, high : float
            Every cut-off between them keeps both, on one event of probability 1 - 2 delta or more.
            ``low > high``: none does. Infinite where no observed score keeps a side.

        References
        ----------
        Wilks, S. S. (1941). *Annals of Mathematical Statistics, 12*, 91-96. Tong, X., Feng, Y., &
        Li, J. J. (2018). Neyman-Pearson classification algorithms. *Science Advances, 4*.

        Examples
        --------
        >>> scores, passed = np.arange(200.0), np.arange(200) >= 100
        >>> error_counts(scores, passed).window(.9, .9)
        (96.0, 104.0)
        """
        first, last = self.tnr_lower >= tnr, self.tpr_lower >= tpr
        low = float(self.cutoffs[first].min()) if first.any() else math.inf
        high = float(self.cutoffs[last].max()) if last.any() else -math.inf
        return low, high

    @property
    def youden(self) -> float:
        """Cut-off of largest TPR + TNR - 1, the lowest of ties."""
        return float(self.cutoffs[int(np.argmin(np.round(
            self.misses / max(self.n_pass, 1) + self.false_passes / max(self.n_fail, 1), 12
        )))])  # fmt: skip

    def counts_at(self, cutoff: float) -> tuple[int, int]:
        """Misses and false passes at any cut-off, observed or not."""
        i = int(np.searchsorted(self.cutoffs, cutoff, "left"))
        if i == self.cutoffs.size:
            return self.n_pass, 0
        return int(self.misses[i]), int(self.false_passes[i])


def error_counts(
    scores: Floats, passed: Bools, codes: Ints | None = None, *, delta: float = 0.025
) -> ErrorCounts:
    """Count misses and false passes at every observed score.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        The higher the better.
    passed : ndarray of bool, shape (n,)
        The labels.
    codes : ndarray of int, optional
        Cluster of each item: counts are then divided by the design effect of scores in each class.
    delta : float
        One-sided error of a limit.

    Returns
    -------
    ErrorCounts

    Examples
    --------
    >>> made = error_counts(np.array([1.0, 2.0, 3.0]), np.array([False, True, True]))
    >>> made.misses.tolist(), made.false_passes.tolist(), made.youden
    ([0, 0, 1], [1, 0, 0], 2.0)
    """
    cutoffs = np.unique(scores)
    good, bad = np.sort(scores[passed]), np.sort(scores[~passed])
    effects = (1.0, 1.0)
    if codes is not None:
        first, second = (
            clustering(scores[kind], codes[kind]).design_effect if kind.any() else 1.0
            for kind in (passed, ~passed)
        )
        effects = (first, second)
    return ErrorCounts(
        cutoffs=cutoffs,
        misses=np.searchsorted(good, cutoffs, "left"),
        false_passes=bad.size - np.searchsorted(bad, cutoffs, "left"),
        n_pass=good.size,
        n_fail=bad.size,
        effects=effects,
        delta=delta,
    )


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Expected cost per item at the cut-off that is cheapest.

    Attributes
    ----------
    cutoff : float
        Infinite where it is cheapest to pass nothing.
    same_labels : float
        Cost on the labels that chose the cut-off, which is too low.
    estimate, std_error : float
        Cross-fitted, with its standard error over clusters.
    """

    cutoff: float
    same_labels: float
    estimate: float
    std_error: float


def _cheapest(scores: Floats, passed: Bools, prices: tuple[float, float]) -> tuple[float, float]:
    """Cut-off of least total cost (ties: the lowest), and that cost per item."""
    counts = error_counts(scores, passed)
    miss, false = (
        np.append(counts.misses, counts.n_pass), np.append(counts.false_passes, 0)
    )  # fmt: skip
    total = np.round(prices[0] * miss + prices[1] * false, 9)
    i = int(np.argmin(total))
    return float(np.append(counts.cutoffs, np.inf)[i]), float(total[i]) / scores.size


def expected_cost(
    scores: Floats,
    passed: Bools,
    codes: Ints,
    *,
    miss: float,
    false_pass: float,
    fold: Ints | None = None,
    seed: int = 0,
    split: bool = False,
) -> Cost:
    """Cheapest cut-off, and its cost by cross-fitting or on the other half.

    Parameters
    ----------
    scores : ndarray, shape (n,)
    passed : ndarray of bool, shape (n,)
    codes : ndarray of int, shape (n,)
        Clusters, which folds keep together.
    miss, false_pass : float
        Cost of a pass below the cut-off and of a fail from it on.
    fold : ndarray of int, optional
        Folds; by default five, drawn by cluster with `seed`.
    seed : int
    split : bool
        Whether half of the clusters choose the cut-off, and the others measure its cost.

    Returns
    -------
    Cost

    Notes
    -----
    Each item is charged at the cut-off that the other folds choose. After a split the cost is that
    of one cut-off, so it serves a requirement.

    Examples
    --------
    >>> s, y = np.arange(40.0), np.arange(40) >= 20
    >>> found = expected_cost(s, y, np.arange(40), miss=3, false_pass=1)
    >>> found.cutoff, found.same_labels, found.estimate < .2
    (20.0, 0.0, True)
    """
    prices = (miss, false_pass)
    parts = list(folds(codes, seed) if fold is None else (fold == k for k in np.unique(fold)))
    kept = np.ones(scores.size, dtype=bool)
    if split:
        names = np.random.default_rng(seed).permutation(np.unique(codes))
        kept = np.isin(codes, names[names.size // 2 :])
        parts = [kept]
    tuned = ~kept if split else kept
    cutoff, same = _cheapest(scores[tuned], passed[tuned], prices)
    every = np.empty(scores.size)
    for out in parts:
        t = _cheapest(scores[~out], passed[~out], prices)[0]
        s, y = scores[out], passed[out]
        every[out] = np.where(y, miss * (s < t), false_pass * (s >= t))
    loss = every[kept]
    _, place = np.unique(codes[kept], return_inverse=True)
    variance = cluster_variance((loss - loss.mean()) / loss.size, place)
    return Cost(
        cutoff=cutoff, same_labels=same, estimate=float(loss.mean()),
        std_error=math.sqrt(variance),
    )  # fmt: skip


MOST_LABELS = 4000
"""Labels up to which it is searched how many would decide."""
WINDOW_DRAWS = 200
"""Draws of items for each number of labels."""


def labels_for_window(
    scores: Floats,
    passed: Bools,
    counts: ErrorCounts,
    *,
    tpr: float,
    tnr: float,
    seed: int = 0,
) -> int | None:
    """Smallest number of labels, in steps of 20, whose window is not empty in .8 of 200 draws.

    Parameters
    ----------
    scores : ndarray, shape (n,)
    passed : ndarray of bool, shape (n,)
    counts : ErrorCounts
        Whose design effects and level hold for more labels, too.
    tpr, tnr : float
    seed : int
        Of the draws from the observed items.

    Returns
    -------
    int or None
        In all; None: more than 4,000.

    Examples
    --------
    >>> s, y = np.arange(40.0), np.arange(40) >= 20
    >>> labels_for_window(s, y, error_counts(s, y), tpr=.9, tnr=.9)
    100
    """
    good, bad = scores[passed], scores[~passed]

    def allowed(n: Ints, effect: float, error: float) -> Ints:
        """Most errors of n that the limit still forgives, by bisection; -1: not even none."""
        low, high = np.full(n.size, -1), n.copy()
        while np.any(high - low > 1):
            middle = (low + high) // 2
            kept = error_limit(middle / effect, n / effect, counts.delta) <= error
            low, high = np.where(kept, middle, low), np.where(kept, high, middle)
        return low

    def is_enough(n: int) -> bool:
        rng = np.random.default_rng([seed, n])
        n_pass = rng.binomial(n, good.size / scores.size, WINDOW_DRAWS)
        most = allowed(n_pass, counts.effects[0], 1 - tpr)
        false = allowed(n - n_pass, counts.effects[1], 1 - tnr)
        found = 0
        for n1, k1, k0 in zip(n_pass.tolist(), most.tolist(), false.tolist(), strict=True):
            if k1 >= 0 and k0 >= 0:
                last = np.partition(rng.choice(good, n1), k1)[k1]
                found += int(np.sum(rng.choice(bad, n - n1) >= last) <= k0)
        return found >= 0.8 * WINDOW_DRAWS

    low, high = 0, (scores.size // 20 + 1) * 20
    while not is_enough(high):
        low, high = high, high * 2
        if low >= MOST_LABELS:
            return None
    while high - low > 20:
        middle = (low + high) // 40 * 20
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
