"""The items x replications matrix: what is accepted, what is missing, and its covariances."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints, too_large
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Note, Sample

Missing = Literal["refuse", "listwise", "pairwise", "em"]


def score_matrix(scores: ArrayLike, *, where: str) -> Floats:
    """Scores as a float matrix, items in rows and replications in columns, NaN where missing.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_replications)
    where : str
        Name of the calling function, for the message.

    Returns
    -------
    ndarray, shape (n_items, n_replications)

    Raises
    ------
    InputError
        If the scores are not a matrix of numbers, or hold infinite values.

    Examples
    --------
    >>> score_matrix([[1, 2], [3, None]], where="f")
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    try:
        x = np.asarray(scores, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{where}: scores must be numbers, items in rows and replications in columns, got "
            f"{type(scores).__name__} that cannot be read as such ({error}). Parse the scores "
            "first and mark what is missing as NaN."
        ) from error
    if x.ndim != 2:
        raise InputError(
            f"{where}: scores must be a matrix with items in rows and replications in columns, "
            f"got shape {x.shape}. Pivot the judgments to one row per item."
        )
    infinite = int(too_large(x).sum())
    if infinite:
        raise InputError(
            f"{where}: scores must be finite, {infinite} of {x.size} are infinite or "
            "beyond 1e50. Mark unusable "
            "judgments as NaN."
        )
    return x


@dataclasses.dataclass(frozen=True, kw_only=True)
class Prepared:
    """A score matrix after the policy for missing values, with what was lost on the way.

    `reason` is not empty where nothing can be computed. `x` may still hold NaN under the policies
    ``pairwise`` and ``em``.
    """

    x: Floats
    cluster: Ints | None
    sample: Sample
    reason: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether no judgment is missing."""
        return not bool(np.isnan(self.x).any())

    @property
    def clustered(self) -> bool:
        """Whether some cluster holds more than one item."""
        return self.cluster is not None and int(self.cluster.max()) + 1 < self.cluster.size


def prepare_scores(
    scores: ArrayLike,
    *,
    where: str,
    cluster: ArrayLike | None = None,
    missing: Missing = "refuse",
    min_items: int = 2,
    min_replications: int = 2,
) -> Prepared:
    """Check a score matrix and apply the policy for missing judgments.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_replications)
    where : str
        Name of the calling function.
    cluster : array-like, shape (n_items,), optional
    missing : {"refuse", "listwise", "pairwise", "em"}
        ``refuse``: a missing judgment leaves a reason; ``listwise``: items with one are dropped and
        counted; ``pairwise`` and ``em``: only items without any judgment are dropped.
    min_items, min_replications : int
        Fewer leave a reason.

    Returns
    -------
    Prepared

    Raises
    ------
    InputError
        If the scores are no finite matrix, or `missing` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> out = prepare_scores([[1, 2], [3, np.nan], [5, 5]], where="f", missing="listwise")
    >>> out.x.shape, out.sample.n_excluded
    ((2, 2), 1)
    """
    x = score_matrix(scores, where=where)
    one_of(where, "missing", missing, ("refuse", "listwise", "pairwise", "em"))
    codes = None if cluster is None else cluster_codes(cluster, x.shape[0], where=where)
    n_all = x.shape[0]
    absent = np.isnan(x)
    excluded: dict[str, int] = {}
    reason = ""
    if absent.any():
        drop = absent.all(axis=1)
        if missing == "listwise":
            drop = absent.any(axis=1)
        if drop.any():
            why = (
                "a missing judgment (listwise deletion)"
                if missing == "listwise"
                else ("no judgment")
            )
            excluded[why] = int(drop.sum())
            x = x[~drop]
            codes = None if codes is None else np.unique(codes[~drop], return_inverse=True)[1]
        if missing == "refuse" and np.isnan(x).any():
            holes = int(np.isnan(x).any(axis=1).sum())
            reason = (
                f"{holes} of {n_all} items {'has' if holes == 1 else 'have'} a missing judgment; "
                "choose missing='listwise', "
                "'pairwise' or 'em', or a coefficient for unequal replications such as ICC(1)"
            )
    counts = (~np.isnan(x)).sum(axis=1)
    low = int(counts.min()) if counts.size else 0
    high = int(counts.max()) if counts.size else 0
    sample = Sample(
        n_items=x.shape[0],
        n_clusters=None if codes is None or not codes.size else int(codes.max()) + 1,
        n_replications=low,
        n_replications_max=high if high != low else None,
        excluded=excluded,
    )
    if not reason:
        if x.size == 0:
            reason = "no judgment is left"
        elif x.shape[0] < min_items:
            reason = f"{min_items} items are needed, {x.shape[0]} given"
        elif x.shape[1] < min_replications:
            reason = f"{min_replications} replications are needed, {x.shape[1]} given"
    return Prepared(x=x, cluster=codes, sample=sample, reason=reason)


def stacked_covariances(x: Floats) -> Floats:
    """Covariance matrices (n - 1) of a stack of score matrices, shape (B, n, k) to (B, k, k).

    Examples
    --------
    >>> import numpy as np
    >>> stacked_covariances(np.array([[[0.0, 0.0], [2.0, 4.0]]]))
    array([[[2., 4.],
            [4., 8.]]])
    """
    centred = x - x.mean(axis=-2, keepdims=True)
    # A constant column has variance exactly 0, whatever its mean's rounding error.
    constant = np.ptp(x, axis=-2, keepdims=True) == 0
    if constant.any():
        centred = np.where(constant, 0.0, centred)
    out: Floats = np.swapaxes(centred, -1, -2) @ centred / (x.shape[-2] - 1)
    return out


def resampled_covariances(x: Floats, weights: Floats) -> Floats:
    """Covariance matrices of resamples given by item counts, shape (B, n) to (B, k, k).

    Two matrix products for all resamples at once, whatever the number of items.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    >>> np.allclose(resampled_covariances(x, np.ones((1, 3)))[0], np.cov(x, rowvar=False))
    True
    """
    k = x.shape[1]
    centred = x - x.mean(axis=0)
    n = weights.sum(axis=1)
    means = weights @ centred / n[:, None]
    products = (centred[:, :, None] * centred[:, None, :]).reshape(x.shape[0], k * k)
    second = (weights @ products).reshape(-1, k, k)
    second -= n[:, None, None] * means[:, :, None] * means[:, None, :]
    out: Floats = second / (n - 1)[:, None, None]
    # A column that is constant in a resample has variance exactly 0, not a rounding error.
    variances = np.einsum("bkk->bk", out)
    constant = variances < 1e-13 * np.mean(centred**2, axis=0)
    if constant.any():
        out[np.broadcast_to(constant[:, :, None] | constant[:, None, :], out.shape)] = 0.0
    return out


def correlations(covariance: Floats) -> Floats:
    """Correlation matrices of one or a stack of covariance matrices, NaN for zero variances.

    Examples
    --------
    >>> import numpy as np
    >>> correlations(np.array([[4.0, 1.0], [1.0, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
        out: Floats = covariance / (deviations[..., :, None] * deviations[..., None, :])
    return out


def _pair_moments(
    x: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Pair counts, covariances, and the variance of each column over the rows of each pair."""
    present = (~np.isnan(x)).astype(float)
    with np.errstate(invalid="ignore"):
        centre = np.nansum(x, axis=0) / np.maximum(present.sum(axis=0), 1)
    filled = np.where(present > 0, x - centre, 0.0)
    n = present.T @ present
    sums = filled.T @ present
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = (filled.T @ filled - sums * sums.T / n) / (n - 1)
        variance = ((filled**2).T @ present - sums**2 / n) / (n - 1)
    return n, covariance, variance


def pairwise_covariance(x: Floats) -> Floats:
    """Covariances from the rows in which both columns are present, as R's ``use = "pairwise"``.

    Examples
    --------
    >>> import numpy as np
    >>> pairwise_covariance(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, np.nan]]))
    array([[4., 2.],
           [2., 2.]])
    """
    covariance: Floats = _pair_moments(x)[1]
    return covariance


def pairwise_correlation(x: Floats) -> Floats:
    """Correlations from the rows in which both columns are present, as R's ``use = "pairwise"``.

    The variances, too, come from the rows of the pair (unlike the correlation matrix of
    `pairwise_covariance`, which `psych::alpha` uses).

    Examples
    --------
    >>> import numpy as np
    >>> r = pairwise_correlation(np.array([[1.0, 2.0], [3.0, 5.0], [5.0, np.nan]]))
    >>> np.allclose(r, 1.0)
    True
    """
    _, covariance, variance = _pair_moments(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        out: Floats = covariance / np.sqrt(variance * variance.T)
    return out


def em_covariance(
    x: Floats, *, tolerance: float = 1e-11, max_iterations: int = 5000
) -> tuple[Floats, bool]:
    """Maximum likelihood covariance (divisor n) of normal data with values missing at random.

    Parameters
    ----------
    x : ndarray, shape (n_items, k)
        NaN where missing; no row may be missing altogether.
    tolerance : float
        Largest change, relative to the largest variance, at which the iteration stops.
    max_iterations : int

    Returns
    -------
    covariance : ndarray, shape (k, k)
        NaN for columns that no two rows share.
    converged : bool

    References
    ----------
    Little & Rubin (2019), Statistical Analysis with Missing Data, 3rd ed., section 11.2.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0, 2.0], [3.0, 5.0], [5.0, 4.0], [2.0, np.nan]])
    >>> covariance, converged = em_covariance(x)
    >>> converged, bool(covariance[0, 0] == np.var(x[:, 0]))
    (True, True)
    """
    absent = np.isnan(x)
    seen_together = (~absent).astype(float).T @ (~absent)
    if seen_together.min() < 2:
        # Columns that no two items share have no covariance in the data: not identified.
        return np.where(seen_together < 2, np.nan, pairwise_covariance(x)), False
    patterns, member = np.unique(absent, axis=0, return_inverse=True)
    groups = [
        (pattern, x[member.reshape(-1) == g][:, ~pattern]) for g, pattern in enumerate(patterns)
    ]
    mean = np.nanmean(x, axis=0)
    covariance: Floats = np.diag(np.nanvar(x, axis=0))
    n, k = x.shape
    for _ in range(max_iterations):
        total, product = np.zeros(k), np.zeros((k, k))
        for pattern, seen in groups:
            observed, hidden = np.flatnonzero(~pattern), np.flatnonzero(pattern)
            filled = np.empty((seen.shape[0], k))
            filled[:, observed] = seen
            if hidden.size:
                # The pseudo-inverse, since constant or repeated columns make the block singular.
                inverse = np.linalg.pinv(
                    covariance[np.ix_(observed, observed)], rcond=1e-12, hermitian=True
                )
                slope = inverse @ covariance[np.ix_(observed, hidden)]
                filled[:, hidden] = mean[hidden] + (seen - mean[observed]) @ slope
                left = covariance[np.ix_(hidden, hidden)]
                left = left - covariance[np.ix_(hidden, observed)] @ slope
                product[np.ix_(hidden, hidden)] += seen.shape[0] * left
            total += filled.sum(axis=0)
            product += filled.T @ filled
        new_mean = total / n
        new: Floats = product / n - np.outer(new_mean, new_mean)
        change = np.max(np.abs(new - covariance)) / max(float(np.max(np.diag(new))), 1e-300)
        mean, covariance = new_mean, new
        if change < tolerance:
            return covariance, True
    return covariance, False
