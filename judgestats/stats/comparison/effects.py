"""Effect sizes of means, of ranks, and of matched pairs."""

from __future__ import annotations

import math
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.stats.designs.groups import read_two_samples
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_bootstrap
from judgestats.stats.inference.distributions import t_noncentrality
from judgestats.stats.inference.estimate import Estimate, Interval, Note, Sample
from judgestats.stats.inference.keywords import Resampled, Seeded, with_keywords
from judgestats.stats.inference.rank_distributions import level_ranks, noise_free

Spread = Literal["pooled", "average"]


def hedges_correction(df: float) -> float:
    r"""Hedges' exact small-sample factor J.

    Parameters
    ----------
    df : float
        Degrees of freedom, above 1.

    Returns
    -------
    float
        :math:`J = \Gamma(m/2) / (\sqrt{m/2}\,\Gamma((m-1)/2))`.

    Raises
    ------
    InputError
        If df is at most 1.

    Notes
    -----
    effsize uses the approximation 1 - 3 / (4 df - 1).

    Examples
    --------
    >>> round(hedges_correction(10), 6)
    0.922746
    """
    if not df > 1:
        raise InputError(f"hedges_correction: df must exceed 1, got {df}. Use more values.")
    return math.exp(
        float(special.gammaln(df / 2)) - 0.5 * math.log(df / 2)
        - float(special.gammaln((df - 1) / 2))
    )  # fmt: skip


def _noncentral_interval(
    t: float, df: float, scale: float, factor: float, level: float
) -> Interval:
    """Limits of a standardised difference: noncentralities times the scale (and Hedges' J)."""
    tail = (1 - level) / 2
    low, high = (t_noncentrality(t, df, p) * scale * factor for p in (1 - tail, tail))
    return Interval(low=low, high=high, level=level, method="noncentral t")


def _two_sample(
    x: ArrayLike | str,
    y: object,
    *,
    spread: Spread,
    corrected: bool,
    name: str,
    label: str,
    **inference: Unpack[Seeded],
) -> Estimate:
    data = read_two_samples(x, y, where=name, cluster=inference["cluster"])
    first, second = data.group_values()
    n, m = first.size, second.size
    reason = "" if min(n, m) >= 2 else "a sample has fewer than 2 values"
    estimator = {
        "pooled": "pooled standard deviation",
        "average": "root of the mean of both variances",
    }[spread]
    value, interval = math.nan, None
    notes: tuple[Note, ...] = data.notes
    if not reason:
        value = _d(first, second, spread)
        if math.isnan(value):
            reason = "the values do not vary"
    if not reason:
        v, w = float(first.var(ddof=1)), float(second.var(ddof=1))
        df, scale, standard_error = float(n + m - 2), math.sqrt(1 / n + 1 / m), math.nan
        if spread == "pooled":
            pooled = math.sqrt(((n - 1) * v + (m - 1) * w) / df)
            standard_error = pooled * scale
        else:
            standard_error = math.sqrt(v / n + w / m)
        if spread == "average":
            df = standard_error**4 / ((v / n) ** 2 / (n - 1) + (w / m) ** 2 / (m - 1))
            scale = math.sqrt(2 * (m * v + n * w) / (n * m * (v + w)))
        factor = hedges_correction(df) if corrected else 1.0
        if data.cluster is None:
            t = (float(first.mean()) - float(second.mean())) / standard_error
            interval = _noncentral_interval(t, df, scale, factor, inference["level"])
        else:
            codes = np.concatenate([data.cluster[data.codes == g] for g in (0, 1)])
            side = np.repeat([0.0, 1.0], [n, m])
            boot = cluster_bootstrap(
                (np.concatenate([first, second]), side),
                lambda z, s: factor * _d(z[s == 0], z[s == 1], spread),
                cluster=codes,
                level=inference["level"],
                seed=inference["seed"],
                names=(label,),
            )
            notes += boot.notes
            interval = boot.interval if math.isfinite(boot.interval.low) else None
        value *= factor
    return Estimate(
        name=name,
        label=label,
        estimator=estimator + (", exact small-sample factor" if corrected else ""),
        estimate=value,
        interval=interval,
        sample=data.sample,
        notes=notes,
        reason=reason,
    )


def _d(x: Floats, y: Floats, spread: Spread) -> float:
    """Mean difference over the chosen standard deviation, NaN where that is 0 or undefined."""
    n, m = x.size, y.size
    if n < 2 or m < 2:
        return math.nan
    v, w = float(x.var(ddof=1)), float(y.var(ddof=1))
    squared = {
        "pooled": ((n - 1) * v + (m - 1) * w) / (n + m - 2),
        "average": (v + w) / 2,
    }[spread]
    gap = float(x.mean()) - float(y.mean())
    size = max(float(np.max(np.abs(x))), float(np.max(np.abs(y))))
    return gap / math.sqrt(squared) if squared > (1e-14 * size) ** 2 else math.nan


@with_keywords()
def cohens_d(
    x: ArrayLike | str, y: object = None, *, pooled: bool = True, **inference: Unpack[Seeded]
) -> Estimate:
    r"""Cohen's d of two independent samples, with the noncentral t interval.

    Parameters
    ----------
    x, y : array-like, or formula and frame
        See `mann_whitney_test`.
    pooled : bool
        Divide by the pooled standard deviation; otherwise by the root of the mean of both
        variances (Welch's df).
    cluster : array-like or str, optional
        Cluster of each value: bootstrap interval over clusters.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    Notes
    -----
    As R's effectsize. pingouin's interval is not the noncentral t.

    References
    ----------
    Cohen (1988); Steiger & Fouladi (1997).

    Examples
    --------
    >>> round(cohens_d([5, 6, 7, 8, 9], [4, 5, 6, 6, 7]).estimate, 4)
    1.0157
    """
    return _two_sample(
        x,
        y,
        spread="pooled" if pooled else "average",
        corrected=False,
        **inference,
        name="cohens_d",
        label="Cohen's d",
    )


@with_keywords()
def hedges_g(
    x: ArrayLike | str, y: object = None, *, pooled: bool = True, **inference: Unpack[Seeded]
) -> Estimate:
    """Hedges' g: Cohen's d times the exact small-sample factor.

    Parameters
    ----------
    x, y, pooled
        See `cohens_d`.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    Examples
    --------
    >>> round(hedges_g([5, 6, 7, 8, 9], [4, 5, 6, 6, 7]).estimate, 4)
    0.9168
    """
    return _two_sample(
        x,
        y,
        spread="pooled" if pooled else "average",
        corrected=True,
        **inference,
        name="hedges_g",
        label="Hedges' g",
    )


MAX_MATRIX = 2_000_000
"""Largest matrix of pairwise signs that a bootstrap multiplies 2,000 times (seconds)."""


def fisher_interval(r: float, se: float, level: float, method: str) -> Interval:
    """Interval on Fisher's z scale; `se` is the standard error on that scale."""
    z = math.atanh(r)
    half = float(distributions.norm.isf((1 - level) / 2)) * se
    return Interval(low=math.tanh(z - half), high=math.tanh(z + half), level=level, method=method)


def undercoverage(method: str, here: bool) -> list[Note]:
    """The warning that a method is known to cover less than .93 of the time in such a case."""
    if not here:
        return []
    message = f"{method} covers less than .93 here; see docs/simulations/coverage_ranks.csv."
    return [Note(code="undercoverage", message=message)]


def _matched_r(d: Floats) -> float:
    ranks = np.sign(d) * distributions.ranks(np.abs(d))
    return float(ranks.sum() / np.abs(ranks).sum())


def matched_estimate(
    differences: Floats,
    *,
    sample: Sample,
    cluster: Ints | None,
    level: float,
) -> Estimate:
    r"""The matched-pairs rank-biserial correlation of differences (Kerby's simple difference).

    :math:`r = (W^+ - W^-) / (W^+ + W^-)`, zero differences dropped; equal to the mean sign of the
    Walsh averages. The interval is a jackknife over pairs (or clusters) on Fisher's z, t quantile:
    in docs/simulations/coverage_ranks.csv it covers .93 to 1.00 at 10 to 200 pairs.

    References
    ----------
    Kerby (2014), Comprehensive Psychology 3, 11.IT.3.1.
    """
    keep = differences != 0
    d = differences[keep]
    n = d.size
    codes = None if cluster is None else cluster[keep]
    reason = "" if n else "all differences are zero"
    r = _matched_r(d) if n else math.nan
    notes: list[Note] = []
    limits: Interval | None = None
    if n:
        if abs(r) == 1 or n < 3:
            why = "all differences have one sign" if n >= 3 else "fewer than 3 differ"
            notes.append(Note(code="boundary", message=f"No interval: {why}."))
        else:
            limits = _matched_jackknife(d, r, level, codes)
            if limits is None:
                message = "No interval: the jackknife is undefined with so few pairs or clusters."
                notes.append(Note(code="no_interval", message=message))
    return Estimate(
        name="rank_biserial_paired",
        label="matched rank-biserial correlation",
        estimator="(W+ - W-) / (W+ + W-), zeros dropped",
        estimate=r,
        interval=limits,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
    )


def _row_signs(d: Floats) -> Floats:
    """Sum over j of the sign of d_i + d_j, for every i (itself included), by sorting."""
    ordered = np.sort(d)
    above = d.size - np.searchsorted(ordered, -d, "right")
    return np.asarray(above - np.searchsorted(ordered, -d, "left"), dtype=float)


def _matched_jackknife(d: Floats, r: float, level: float, cluster: Ints | None) -> Interval | None:
    """Leave one pair (or cluster) out of the mean sign of Walsh averages, on Fisher's z scale.

    The t quantile has one degree of freedom less than there are pairs (or clusters).
    """
    n = d.size
    codes = np.arange(n) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    n_groups = int(codes.max()) + 1
    if n_groups < 3:
        return None
    own, rows = np.sign(d), _row_signs(d)
    total = (rows.sum() + own.sum()) / 2
    # Pairs with a member in the group: its rows, less what they count twice inside the group.
    inside = own.copy()
    if cluster is not None:
        for g in np.flatnonzero(np.bincount(codes) > 1):
            here = codes == g
            inside[here] = _row_signs(d[here])
    lost = np.bincount(codes, weights=rows - (inside - own) / 2)
    left = n - np.bincount(codes)
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = (total - lost) / (left * (left + 1) / 2)
        z = np.arctanh(np.clip(left_out, -1, 1))
    if not np.isfinite(z).all():
        # Leaving a group out reaches the boundary: the delta method on the same scale.
        z = left_out / (1 - r**2)
    if not np.isfinite(z).all():
        return None
    se = math.sqrt((n_groups - 1) / n_groups * float(np.sum((z - z.mean()) ** 2)))
    if se == 0:
        return None
    half = float(distributions.t.isf((1 - level) / 2, n_groups - 1)) * se
    centre = math.atanh(r)
    what = "jackknife" if cluster is None else "cluster jackknife"
    return Interval(
        low=math.tanh(centre - half),
        high=math.tanh(centre + half),
        level=level,
        method=f"{what} on Fisher z",
    )


IndependentInterval = Literal["cliff", "fisher", "bootstrap", "none"]


def dominance(
    x: Floats,
    y: Floats,
    *,
    sample: Sample,
    interval: IndependentInterval | None,
    cluster: Ints | None,
    level: float,
    n_resamples: int = 2000,
    seed: int | None = 0,
    name: str = "rank_biserial",
    label: str = "rank-biserial correlation",
) -> Estimate:
    """P(x > y) - P(x < y) and its interval; `cluster` holds the codes of x, then of y."""
    n, m = x.size, y.size
    reason = "" if n and m else "a sample is empty"
    ranks = level_ranks(np.concatenate([x, y]))
    x, y = noise_free(x), noise_free(y)
    delta = math.nan
    if not reason:
        delta = float(2 * (ranks[:n].sum() - n * (n + 1) / 2) / (n * m) - 1)
    chosen = interval or "cliff"
    notes: list[Note] = []
    if chosen == "bootstrap" and n * m > MAX_MATRIX:
        message = f"{n} x {m} pairs are too many to resample: Cliff's interval is given instead."
        notes.append(Note(code="cliff_instead", message=message))
        chosen = "cliff"
    limits: Interval | None = None
    if not reason and chosen != "none":
        if abs(delta) == 1 or min(n, m) < 2:
            why = "the samples do not overlap" if abs(delta) == 1 else "a sample has one value"
            notes.append(Note(code="boundary", message=f"No interval: {why}."))
        elif chosen == "fisher":
            se = math.sqrt((n + m + 1) / (3 * n * m))
            limits = fisher_interval(delta, se, level, "Fisher z, null standard error")
            notes += undercoverage("Fisher's z with the null standard error", abs(delta) > 0.3)
        elif chosen == "cliff":
            limits = _cliff_interval(x, y, delta, level, cluster)
            if limits is None:
                message = "No interval: there are too few clusters."
                notes.append(Note(code="no_interval", message=message))
        else:
            signs = np.sign(x[:, None] - y[None])

            def statistic(_: Floats, w: Floats) -> Floats:
                wx, wy = w[:, :n], w[:, n:]
                with np.errstate(divide="ignore", invalid="ignore"):
                    result: Floats = np.sum((wx @ signs) * wy, axis=1) / (
                        wx.sum(axis=1) * wy.sum(axis=1)
                    )
                return result

            boot = cluster_bootstrap(
                np.concatenate([x, y]),
                statistic,
                cluster=cluster,
                n_resamples=n_resamples,
                level=level,
                seed=seed,
                vectorized=True,
                names=(label,),
            )
            notes += boot.notes
            limits = boot.interval if math.isfinite(boot.interval.low) else None
    return Estimate(
        name=name,
        label=label,
        estimator="P(x > y) - P(x < y)",
        estimate=delta,
        interval=limits,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
    )


def _cliff_interval(
    x: Floats, y: Floats, delta: float, level: float, cluster: Ints | None
) -> Interval | None:
    """Cliff's asymmetric interval; rows and columns by sorting, without the n x m matrix.

    The variance is Cliff's unbiased one, or with clusters that of the clusters' linearised sums.
    """
    n, m = x.size, y.size
    ys, xs = np.sort(y), np.sort(x)
    left, right = np.searchsorted(ys, x, "left"), np.searchsorted(ys, x, "right")
    rows = (left + right - m) / m
    columns = (n - np.searchsorted(xs, y, "right") - np.searchsorted(xs, y, "left")) / n
    if cluster is None:
        squares = n * m - float(np.sum(right - left))
        row_part = float(np.sum((rows - delta) ** 2))
        column_part = float(np.sum((columns - delta) ** 2))
        cells = squares - n * m * delta**2
        variance = (m**2 * row_part + n**2 * column_part - cells) / (n * m * (n - 1) * (m - 1))
        variance = max(variance, (1 - delta**2) / (n * m - 1))
        df, method = n + m - 2, "Cliff (1996), asymmetric"
    else:
        n_clusters = int(cluster.max()) + 1
        if n_clusters < 3:
            return None
        parts = np.concatenate([(rows - delta) / n, (columns - delta) / m])
        sums = np.bincount(cluster, weights=parts, minlength=n_clusters)
        variance = n_clusters / (n_clusters - 1) * float(np.sum(sums**2))
        df, method = n_clusters - 1, "Cliff, asymmetric, variance over clusters"
    t = float(distributions.t.isf((1 - level) / 2, df))
    root = t * math.sqrt(variance) * math.sqrt((1 - delta**2) ** 2 + t**2 * variance)
    scale = 1 - delta**2 + t**2 * variance
    low, high = ((delta - delta**3 + s * root) / scale for s in (-1, 1))
    return Interval(low=max(low, -1.0), high=min(high, 1.0), level=level, method=method)


def _two_samples(
    x: ArrayLike | str, y: object, cluster: object, where: str
) -> tuple[Floats, Floats, Ints | None, Sample]:
    """Both samples, cluster codes (x first, then y) and the sample record."""
    groups = read_two_samples(x, y, where=where, cluster=cluster)
    first, second = groups.group_values()
    codes = None
    if groups.cluster is not None:
        codes = np.concatenate([groups.cluster[groups.codes == g] for g in (0, 1)])
    return first, second, codes, groups.sample


@with_keywords()
def cliffs_delta(
    x: ArrayLike | str,
    y: object = None,
    *,
    interval: IndependentInterval | None = None,
    **inference: Unpack[Resampled],
) -> Estimate:
    """Cliff's delta: P(x > y) - P(x < y), the same number as the rank-biserial correlation.

    Parameters
    ----------
    x, y : array-like, or formula and frame
        Two samples; or ``"score ~ group"`` and the frame, first level against second.
    interval : {"cliff", "fisher", "bootstrap", "none"}, optional
        ``cliff`` (default): Cliff's asymmetric interval from the unbiased variance, or with
        `cluster` from the clusters' linearised sums; ``fisher``: Fisher's z with the null standard
        error, as effectsize (it knows no clusters); ``bootstrap``: BCa over values or clusters.
    cluster : array-like or str, optional
        Cluster of each value (x first, then y).

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    References
    ----------
    Cliff (1996), Multivariate Behavioral Research 31, 331-350 (t quantile on n + m - 2
    df; effsize's variance miscounts pairs and differs).

    Examples
    --------
    >>> cliffs_delta([2, 3, 4], [1, 2, 3]).estimate.__round__(4)
    0.5556
    """
    first, second, codes, sample = _two_samples(x, y, inference["cluster"], "cliffs_delta")
    one_of("cliffs_delta", "interval", interval, (None, "cliff", "fisher", "bootstrap", "none"))
    return dominance(
        first,
        second,
        sample=sample,
        interval=interval,
        cluster=codes,
        level=inference["level"],
        n_resamples=inference["n_resamples"],
        seed=inference["seed"],
        name="cliffs_delta",
        label="Cliff's delta",
    )


@with_keywords()
def vargha_delaney_a(
    x: ArrayLike | str,
    y: object = None,
    *,
    interval: IndependentInterval | None = None,
    **inference: Unpack[Resampled],
) -> Estimate:
    """Vargha and Delaney's A: P(x > y) + P(x = y) / 2, that is (1 + Cliff's delta) / 2.

    Parameters
    ----------
    x, y, interval
        See `cliffs_delta`; the interval is that of Cliff's delta, moved.

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the data cannot be read as two samples.

    References
    ----------
    Vargha & Delaney (2000), J. Educ. Behav. Statist. 25, 101-132.

    Examples
    --------
    >>> round(vargha_delaney_a([2, 3, 4], [1, 2, 3]).estimate, 4)
    0.7778
    """
    first, second, codes, sample = _two_samples(x, y, inference["cluster"], "vargha_delaney_a")
    one_of("vargha_delaney_a", "interval", interval, (None, "cliff", "fisher", "bootstrap", "none"))
    delta = dominance(
        first,
        second,
        sample=sample,
        interval=interval,
        cluster=codes,
        level=inference["level"],
        n_resamples=inference["n_resamples"],
        seed=inference["seed"],
    )
    moved = delta.interval and Interval(
        low=(1 + delta.interval.low) / 2,
        high=(1 + delta.interval.high) / 2,
        level=delta.interval.level,
        method=delta.interval.method,
        n_resamples=delta.interval.n_resamples,
        seed=delta.interval.seed,
    )
    return delta.replace(
        name="vargha_delaney_a",
        label="Vargha-Delaney A",
        estimator="P(x > y) + P(x = y) / 2",
        estimate=(1 + delta.estimate) / 2,
        interval=moved,
    )
