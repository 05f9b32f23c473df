"""Cronbach's alpha of repeats, from covariances and from sums."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.designs.score_matrix import (
    MeanSquares,
    mean_squares_of_sums,
    row_sums,
)
from judgestats.stats.inference.estimate import Estimate, Sample
from judgestats.stats.inference.jackknife import cluster_sums
from judgestats.stats.reliability.intraclass import (
    FORMS,
    IccForm,
    icc_value,
)
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio


def alpha_from_covariance(covariance: Floats) -> Floats:
    r"""Alpha of one or a stack of covariance (or correlation) matrices.

    Parameters
    ----------
    covariance : ndarray, shape (..., k, k)

    Returns
    -------
    ndarray, shape (...)
        :math:`\frac{k}{k-1}\left(1 - \frac{\mathrm{tr}\,S}{1'S1}\right)`; NaN where the sum has
        no variance.

    Examples
    --------
    >>> import numpy as np
    >>> alpha_from_covariance(np.array([[2.0, 1.0], [1.0, 2.0]])).round(6)
    np.float64(0.666667)
    """
    k = covariance.shape[-1]
    trace = np.trace(covariance, axis1=-2, axis2=-1)
    total = covariance.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = k / (k - 1) * (1 - trace / total)
    # Columns that cancel leave a total of rounding errors: no variance, hence no reliability.
    out: Floats = np.where(total > 1e-12 * trace, value, np.nan)
    return out


@dataclasses.dataclass(kw_only=True)
class TwoWaySums:
    """Sums over the complete items of one condition; items with a gap are counted and left out.

    Attributes
    ----------
    k : int
        Replications.
    n_clusters : int
    shift : float
        Taken from every score first (any value inside the scale): with whole-number scores the
        sums are then exact whole numbers, whatever their order.
    clustered : bool
        Whether items share clusters (else ICC(2) has its F interval).

    Examples
    --------
    >>> x = np.array([[2.0, 3, 2], [5, 4, 5], [8, 8, 9], [4, 4, 3]])
    >>> sums = TwoWaySums(k=3, n_clusters=4, shift=5.0, clustered=False)
    >>> sums.add(x[:2], np.array([0, 1])); sums.add(x[2:], np.array([2, 3]))
    >>> round(sums.alpha().estimate, 4), round(sums.icc("ICC(3,k)").estimate, 4)
    (0.9776, 0.9776)
    """

    k: int
    n_clusters: int
    shift: float
    clustered: bool
    n_all: int = 0

    def __post_init__(self) -> None:
        if self.k < 1 or self.n_clusters < 1 or not math.isfinite(self.shift):
            raise InputError(
                f"TwoWaySums: k and n_clusters must be at least 1 and shift finite, got {self.k}, "
                f"{self.n_clusters}, {self.shift}."
            )
        # By cluster: items, sums of columns, squared row sums, squares.
        self._by_cluster: Floats = np.zeros((self.n_clusters, self.k + 3))
        self._cross: Floats = np.zeros((self.k, self.k))
        self._low: Floats = np.full(self.k, math.inf)
        self._high: Floats = np.full(self.k, -math.inf)

    def add(self, x: ArrayLike, cluster: ArrayLike) -> None:
        """Take in a block of items.

        Parameters
        ----------
        x : array-like, shape (n, k)
            NaN = missing.
        cluster : array-like of int, shape (n,)
            0 .. n_clusters - 1.

        Raises
        ------
        InputError
            If the shapes do not fit or a cluster is unknown.
        """
        scores, codes = np.asarray(x, dtype=float), np.asarray(cluster)
        if scores.ndim != 2 or scores.shape[1] != self.k or codes.shape != scores.shape[:1]:
            raise InputError(
                f"TwoWaySums.add: x must be items x {self.k} replications with one cluster an "
                f"item, got shapes {scores.shape} and {codes.shape}."
            )
        if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < self.n_clusters:
            raise InputError(
                f"TwoWaySums.add: cluster must hold codes from 0 to {self.n_clusters - 1}, got "
                f"{int(codes.min())} to {int(codes.max())}."
            )
        self.n_all += scores.shape[0]
        complete = ~np.isnan(scores).any(axis=1)
        scores, codes = scores[complete] - self.shift, codes[complete]
        if not codes.size:
            return
        self._low = np.minimum(self._low, scores.min(axis=0))
        self._high = np.maximum(self._high, scores.max(axis=0))
        present, local = np.unique(codes, return_inverse=True)
        self._by_cluster[present] += cluster_sums(row_sums(scores), local.reshape(-1))
        self._cross += scores.T @ scores

    @property
    def n(self) -> int:
        """Complete items."""
        return int(self._by_cluster[:, 0].sum())

    @property
    def sample(self) -> Sample:
        """Items, clusters and what was left out."""
        lost = self.n_all - self.n
        filled = int(np.sum(self._by_cluster[:, 0] > 0))
        return Sample(
            n_items=self.n,
            n_clusters=filled,
            n_replications=self.k,
            excluded={"a missing judgment (listwise deletion)": lost},
        )

    def covariance(self) -> Floats:
        """Covariance matrix of the replications (divisor n - 1), shape (k, k)."""
        total = self._by_cluster.sum(axis=0)
        sums = total[1 : self.k + 1]
        out: Floats = (self._cross - np.outer(sums, sums) / total[0]) / (total[0] - 1)
        constant = self._low == self._high
        out[constant, :] = 0.0
        out[:, constant] = 0.0
        return out

    def mean_squares(self) -> MeanSquares:
        """Mean squares of the two-way layout."""
        return mean_squares_of_sums(self._by_cluster.sum(axis=0))

    def _reason(self) -> str:
        if self.k < 2:
            return f"2 replications are needed, {self.k} given"
        if self.n < 2:
            return f"2 complete items are needed, {self.n} given"
        return ""

    def icc(self, form: IccForm = "ICC(1,1)", *, level: float = 0.95) -> Estimate:
        """Intraclass correlation: `judgestats.stats.icc` with ``missing="listwise"``.

        Parameters
        ----------
        form : str
            One of Shrout and Fleiss's six.
        level : float

        Returns
        -------
        Estimate
            With the intervals of `judgestats.stats.icc`.
        """
        one_of("TwoWaySums.icc", "form", form, FORMS)
        name, meaning = FORMS[form]
        base = Estimate(
            name=name,
            label=form,
            estimator=f"{meaning}, by ANOVA mean squares",
            estimate=math.nan,
            sample=self.sample,
            reason=self._reason(),
        )
        if base.reason:
            return base
        ms = self.mean_squares()
        value = float(icc_value(form, ms))
        if math.isnan(value):
            return base.replace(reason="no score varies, so there is no variance to be reliable")
        base = base.replace(
            estimate=value,
            details={
                "k": ms.k,
                "ms_items": ms.items,
                "ms_replications": ms.replications,
                "ms_residual": ms.residual,
                "ms_within": ms.within,
            },
        )
        ratio, single = self.ratio(residual="(1," not in form), form.endswith(",1)")
        if form[4] in "2A":
            interval, notes = ratio.judges_interval(
                fixed=form[4] == "A", single=single, level=level
            )
        else:
            interval, notes = ratio.icc_interval(single=single, level=level)
        return base.replace(interval=interval, notes=notes)

    def ratio(self, *, residual: bool) -> MeanSquareRatio:
        """Mean squares of all items and without each cluster.

        Parameters
        ----------
        residual : bool
            Whether the error is the residual, or that within items.
        """
        filled = self._by_cluster[self._by_cluster[:, 0] > 0]
        return MeanSquareRatio.from_sums(filled, residual=residual)

    def alpha(self, *, level: float = 0.95) -> Estimate:
        """Raw alpha of the mean of all replications, which is parallel omega and ICC(3,k).

        Parameters
        ----------
        level : float

        Returns
        -------
        Estimate
            As `judgestats.stats.omega_total` of the parallel model.
        """
        base = Estimate(
            name="alpha",
            label="Cronbach's alpha",
            estimator="alpha on the covariances",
            estimate=math.nan,
            sample=self.sample,
            reason=self._reason(),
        )
        if base.reason:
            return base
        value = float(alpha_from_covariance(self.covariance()))
        if math.isnan(value):
            return base.replace(reason="the sum of the replications has no variance")
        base = base.replace(estimate=value, details={"k": self.k, "n": self.n})
        interval, notes = self.ratio(residual=True).icc_interval(single=False, level=level)
        return base.replace(interval=interval, notes=notes)
