"""Error of repeats: SEM, its core, the share of far pairs, and what unseen replies could add."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints, distinct_rows
from judgestats.errors import InputError
from judgestats.stats.designs.score_matrix import score_matrix
from judgestats.stats.inference import cluster_codes, distributions, jackknife
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.result import Limits
from judgestats.stats.reliability.mean_square_ratio import MeanSquareRatio

ONE_SIDED, REFUSED = 0.5, 0.8
"""Shares of one score from which an ICC has a lower limit only, and from which it has none."""


def far_distance(scale: tuple[float, float]) -> float:
    """Distance from which a pair of repeats of one item counts as far: 30% of the scale, in points.

    Parameters
    ----------
    scale : (float, float)

    Examples
    --------
    >>> far_distance((1, 10)), far_distance((1, 5)), far_distance((0, 100))
    (3.0, 2.0, 30.0)
    """
    return float(max(1, math.ceil(0.3 * (scale[1] - scale[0]) - 1e-9)))


@dataclass(frozen=True, kw_only=True)
class RepeatPairs:
    r"""Differences of the repeats of each item, and the errors that follow from them.

    Attributes
    ----------
    n : ndarray of int, shape (N,)
        Repeats of each item, at least two.
    mean, within : ndarray, shape (N,)
        Mean of the repeats, and their sum of squares about it.
    difference : ndarray, shape (N,)
        Mean absolute difference of two repeats.
    core, n_core : ndarray, shape (N,)
        Sum of squared differences of the pairs less than `far_distance` apart, and their number.
    n_equal : ndarray, shape (N,)
        Number of pairs that do not differ.
    far : ndarray, shape (N,)
        Sum of squared differences of the other pairs.
    jump : ndarray, shape (N,)
        Mean squared distance of the item's median from the scale's levels that are far from it.
    codes : ndarray of int, shape (N,)
        Cluster of each item.
    scale : (float, float)
    mode : float
        The most frequent score.
    mode_share : float
        Its share of all scores.

    Notes
    -----
    SEM: root of the mean within-item variance W; jackknife of log W with
    :math:`(\sum a)^2 / \sum a^2 - 1` degrees of freedom over the clusters' sums of squares a.
    The mean difference of repeats has an interval by the same method. The core SEM leaves far pairs
    out. The far share is the mean over items of the share of far pairs. Its limits are Clopper and
    Pearson's on an effective number of pairs (Korn & Graubard, 1998). No interval covers replies
    that were not seen. The tail bound adds the upper limit of the far share times the squared
    distance that a far reply has or would have.

    References
    ----------
    Korn & Graubard (1998), Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data. Survey Methodology 24, 193-201.
    """

    n: Ints
    mean: Floats
    within: Floats
    difference: Floats
    core: Floats
    n_core: Floats
    n_equal: Floats
    far: Floats
    jump: Floats
    codes: Ints
    scale: tuple[float, float]
    mode: float
    mode_share: float

    @cached_property
    def _sizes(self) -> Floats:
        return self._sums(np.ones(self.n.size))

    @cached_property
    def _log_variance(self) -> jackknife.LogRatio:
        return jackknife.log_jackknife(
            self._sums(self.within), self._sums(self.n - 1.0), self._sizes
        )

    @cached_property
    def _log_core(self) -> jackknife.LogRatio:
        return jackknife.log_jackknife(
            self._sums(self.core), self._sums(2 * self.n_core), self._sizes
        )

    @cached_property
    def _ratio(self) -> MeanSquareRatio:
        return MeanSquareRatio.one_way(
            n=self.n.astype(float), mean=self.mean, within=self.within, codes=self.codes
        )

    def _sums(self, values: NDArray[np.floating[Any]]) -> Floats:
        return jackknife.cluster_sums(np.asarray(values, dtype=float), self.codes)

    @property
    def _half(self) -> float:
        """The largest SEM that the scale allows."""
        return (self.scale[1] - self.scale[0]) / 2

    @property
    def lacks_clusters(self) -> str:
        """Why clusters are too few for any interval; empty where they are enough."""
        if not self.n.size:
            return "no item has two scores"
        return jackknife.few_questions(self._sizes)

    def _limits(
        self, ratio: jackknife.LogRatio, level: float, *, most: float, degree: int = 1
    ) -> Limits:
        """Limits of the root of this degree of a ratio, as far as the scale goes."""
        estimate = math.exp(ratio.log / degree) if not math.isnan(ratio.log) else math.nan
        reason = self.lacks_clusters or ratio.reason
        interval = None if reason else ratio.interval(level)
        if interval is None:
            return Limits(estimate=estimate, level=level, reason=reason)
        low, high = (end ** (1 / degree) for end in (interval.low, interval.high))
        return Limits(estimate=estimate, low=low, high=min(high, most), level=level, df=ratio.df)

    def sem(self, level: float = 0.95) -> Limits:
        """Standard error of measurement, in points, with its plain interval.

        Parameters
        ----------
        level : float
        """
        return self._limits(self._log_variance, level, most=self._half, degree=2)

    def gmd(self, level: float = 0.95) -> Limits:
        """Mean absolute difference of two repeats of an item, in points.

        Parameters
        ----------
        level : float
        """
        ratio = jackknife.log_jackknife(self._sums(self.difference), self._sizes, self._sizes)
        return self._limits(ratio, level, most=self.scale[1] - self.scale[0])

    def core_sem(self, level: float = 0.95) -> Limits:
        """SEM without the far pairs of repeats, in points.

        Parameters
        ----------
        level : float
        """
        return self._limits(self._log_core, level, most=math.inf, degree=2)

    def far_share(self, level: float = 0.95) -> Limits:
        """Share of far pairs of repeats.

        Parameters
        ----------
        level : float
        """
        return self._share_beyond(self.n_core, level)

    def flip_rate(self, level: float = 0.95) -> Limits:
        """Share of pairs of repeats that differ.

        Parameters
        ----------
        level : float
        """
        return self._share_beyond(self.n_equal, level)

    def _share_beyond(self, within: Floats, level: float) -> Limits:
        """Share of pairs not counted in `within`, with limits on an effective number of pairs."""
        if self.lacks_clusters:
            return Limits(estimate=math.nan, level=level, reason=self.lacks_clusters)
        pairs = self.n * (self.n - 1) / 2
        share = 1 - within / pairs
        p, sizes, items = float(share.mean()), self._sizes, self.n.size
        clustered = sizes.size < items
        n = float(sizes.size if clustered else items)
        if p == 0:
            effective = jackknife.effective_clusters(sizes) if clustered else n
        else:
            left = (share.sum() - self._sums(share)) / (items - sizes)
            error = jackknife.jackknife_error(left, sizes)[0]
            most = float(np.maximum(self.n // 2, 1).sum())
            effective = min(max(p * (1 - p) / error**2, 1.0), most) if error > 0 else most
            upper = (1 + level) / 2
            t = [float(distributions.t.ppf(upper, max(d - 1, 1))) for d in (most, n)]
            effective *= (t[0] / t[1]) ** 2
        low, high = distributions.proportion_limits(
            effective * p, effective, level=level, method="clopper-pearson"
        )
        return Limits(estimate=p, low=low, high=high, level=level, df=effective)

    @property
    def n_far(self) -> Floats:
        """Number of far pairs of each item."""
        return np.asarray(self.n * (self.n - 1) / 2 - self.n_core)

    @property
    def jump2(self) -> float:
        """Mean squared distance of a far reply: as seen, or as a canned reply would be."""
        n_far = float(self.n_far.sum())
        seen = float(self.far.sum()) / n_far if n_far else 0.0
        return max(seen, float(self.jump.mean()))

    def sem_tail(self, level: float = 0.95, *, least: float = 0.0) -> Limits:
        """SEM with an upper limit that allows for far replies not seen, in points.

        Parameters
        ----------
        level : float
        least : float
            Upper limit of the SEM in other runs, where runs are random.

        Returns
        -------
        Limits
            ``high`` is the tail bound; ``low`` that of `sem`.
        """
        plain, core, far = self.sem(level), self.core_sem(level), self.far_share(level)
        if reason := plain.reason or core.reason or far.reason:
            return Limits(estimate=plain.estimate, level=level, reason=reason)
        unseen = core.high**2 * (1 - far.high) + far.high * self.jump2 / 2
        high = min(max(plain.high, least, math.sqrt(unseen)), self._half)
        return Limits(estimate=plain.estimate, low=plain.low, high=high, level=level, df=plain.df)

    @property
    def icc_refusal(self) -> str:
        """Why an interval of the ICC would not cover; empty where it does."""
        if self.mode_share < REFUSED:
            return ""
        flips = self.flip_rate()
        parts = [100 * round(v, 2) for v in (flips.estimate, flips.low, flips.high)]
        ends = f" [{parts[1]:.0f}, {parts[2]:.0f}]" if not flips.reason else ""
        rate = f"flip rate {parts[0]:.0f}%{ends}" if self.n.size else "flip rate"
        return (
            f"{100 * self.mode_share:.0f}% of scores are {self.mode:g}: an ICC interval does not "
            f"cover; see {rate} and far share"
        )

    def icc(self, level: float = 0.95, *, tail: bool = False) -> Limits:
        """ICC(1,1), plain or with a lower limit that allows for far replies not seen.

        Parameters
        ----------
        level : float
        tail : bool
            Whether the lower limit allows for them.

        Returns
        -------
        Limits
            Also where `icc_refusal` says that the limits do not cover.
        """
        if self.lacks_clusters:
            return Limits(estimate=math.nan, level=level, reason=self.lacks_clusters)
        inflation = 1.0
        if tail:
            plain, bound = self.sem(level), self.sem_tail(level)
            if bound.reason:
                return replace(self.icc(level), low=math.nan, high=math.nan, reason=bound.reason)
            inflation = max(1.0, (bound.high / plain.high) ** 2)
        return self._ratio.limits(level, inflation=inflation)


@with_keywords()
def repeat_pairs(
    scores: ArrayLike, *, scale: tuple[float, float], **inference: Unpack[Clustered]
) -> RepeatPairs:
    """Compare the repeats of each item: SEM, core SEM, far share, and bounds for unseen replies.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_repeats)
        Scores of one judge in points; NaN where missing. Items with one score are left out.
    scale : (float, float)
        Ends of the scale.
    level : float
        Not used here: each statistic of the result takes its own.

    Returns
    -------
    RepeatPairs

    Raises
    ------
    InputError
        If the scores are not a finite matrix, or the scale is not ascending.

    Examples
    --------
    >>> x = [[9, 9, 8], [4, 5, 4], [7, 7, 6], [2, 2, 3], [5, 5, 5], [8, 9, 9]]
    >>> pairs = repeat_pairs(x, scale=(1, 10))
    >>> round(pairs.sem().estimate, 2), round(pairs.sem().high, 2), round(pairs.sem_tail().high, 2)
    (0.53, 0.68, 2.47)
    """
    where = "repeat_pairs"
    x = score_matrix(scores, where=where)
    codes = cluster_codes(inference["cluster"], x.shape[0], where=where)
    values, places = np.unique(x[~np.isnan(x)], return_counts=True)
    ordered = np.sort(x, axis=1)
    first, same = distinct_rows(ordered)
    if not (math.isfinite(scale[0]) and math.isfinite(scale[1]) and scale[0] < scale[1]):
        raise InputError(f"{where}: scale must be two ascending ends, got {scale}. Use (1, 10).")
    parts = {name: column[same] for name, column in _pair_sums(ordered[first], scale).items()}
    used = parts["n"] >= 2
    own = {name: column[used] for name, column in parts.items()}
    n = own.pop("n").astype(np.int64)
    total = float(np.sum(places))
    most = int(np.argmax(places)) if total else 0
    return RepeatPairs(
        n=n,
        codes=np.unique(codes[used], return_inverse=True)[1],
        scale=scale,
        mode=float(values[most]) if total else math.nan,
        mode_share=float(places[most]) / total if total else math.nan,
        **own,
    )


_MOST_LEVELS = 1_001
"""Levels of a scale that a far reply is spread over; a finer scale is taken at this many points."""


def _pair_sums(ordered: Floats, scale: tuple[float, float]) -> dict[str, Floats]:
    """Per item, from ascending scores with NaN last."""
    far_from = far_distance(scale) - 1e-9
    n = (~np.isnan(ordered)).sum(axis=1)
    size = np.maximum(n, 1)
    mean = np.where(np.isnan(ordered), 0.0, ordered).sum(axis=1) / size
    deviations = np.where(np.isnan(ordered), 0.0, ordered - mean[:, None])
    within = np.sum(deviations**2, axis=1)
    rounding = 1e-26 * np.nansum(ordered**2, axis=1)
    core, n_core, n_equal, far, total = np.zeros((5, len(ordered)))
    for lag in range(1, ordered.shape[1]):
        apart = ordered[:, lag:] - ordered[:, :-lag]
        total += np.nansum(apart, axis=1)
        near = apart < far_from  # NaN is neither near nor far
        core += np.sum(np.where(near, apart, 0.0) ** 2, axis=1)
        n_core += near.sum(axis=1)
        n_equal += (apart <= 0).sum(axis=1)
        far += np.sum(np.where(apart >= far_from, apart, 0.0) ** 2, axis=1)
    rows = np.arange(len(ordered))
    median = mean
    if ordered.size:
        median = (ordered[rows, (size - 1) // 2] + ordered[rows, size // 2]) / 2
    if scale[1] - scale[0] > _MOST_LEVELS:
        levels = np.linspace(*scale, _MOST_LEVELS)
    else:
        levels = np.arange(scale[0], scale[1] + 1)  # size: at most 1,001
    away = np.abs(levels[None, :] - median[:, None])
    is_far = away >= far_from
    jump = np.sum(np.where(is_far, away, 0.0) ** 2, axis=1)
    return {
        "n": n.astype(float),
        "mean": mean,
        "within": np.where(within > rounding, within, 0.0),
        "core": core,
        "n_core": n_core,
        "n_equal": n_equal,
        "far": far,
        "difference": total / np.maximum(n * (n - 1) / 2, 1),
        "jump": jump / np.maximum(is_far.sum(axis=1), 1),
    }
