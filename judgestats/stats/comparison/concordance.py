"""Kendall's W: how far the items agree in how they order the conditions."""

from __future__ import annotations

import math
from typing import Any, Literal, Unpack

import numpy as np

from judgestats.arrays import Floats, Ints
from judgestats.errors import one_of
from judgestats.stats.comparison.matched_effects import undercoverage
from judgestats.stats.inference.keywords import Resampled, with_keywords
from judgestats.stats.inference.noncentral import f_noncentrality
from judgestats.stats.inference.resampling import cluster_bootstrap
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample
from judgestats.stats.inference.rounding_noise import level_ranks
from judgestats.stats.layouts.blocks import read_blocks
from judgestats.stats.layouts.formula import Missing

IntervalMethod = Literal["f", "bootstrap", "none"]


def _w(ranks: Floats, weights: Floats | None = None) -> Floats:
    """Tie-corrected W; with weights (B, N) one value per row of item counts."""
    n, k = ranks.shape
    centred = ranks - (k + 1) / 2
    counts = np.ones((1, n)) if weights is None else weights
    between = np.sum((counts @ centred) ** 2, axis=1)
    within = counts @ np.sum(centred**2, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = between / (counts.sum(axis=1) * within)
    return result


def _f_interval(
    ranks: Floats, cluster: Ints | None, w: float, level: float
) -> tuple[float, float] | None:
    """Limits of the population's concordance by inverting the noncentral F of the rank profiles.

    The profiles are the items' centred ranks, or their mean over each cluster.
    """
    n, k = ranks.shape
    codes = np.arange(n) if cluster is None else cluster
    n_clusters = int(codes.max()) + 1
    if n_clusters < 3 or not 0 < w < 1:
        return None
    centred = ranks - (k + 1) / 2
    profiles = np.zeros((n_clusters, k))
    np.add.at(profiles, codes, centred * n_clusters / n)
    mean = profiles.mean(axis=0)
    df = float((k - 1) * (n_clusters - 1))
    rest = float(np.sum((profiles - mean) ** 2)) / df
    if rest <= 0:
        return None
    f = n_clusters * float(np.sum(mean**2)) / (k - 1) / rest
    # A noncentrality is n_clusters * sum(tau^2) / rest; the population W is sum(tau^2) / total.
    share = rest / (n_clusters * float(np.mean(np.sum(centred**2, axis=1))))
    tail = (1 - level) / 2
    low, high = (f_noncentrality(f, k - 1.0, df, p) * share for p in (1 - tail, tail))
    return min(low, 1.0), min(max(high, w), 1.0)


def concordance_of_ranks(
    ranks: Floats,
    *,
    cluster: Ints | None,
    sample: Sample,
    level: float,
    seed: int | None,
    interval: IntervalMethod | None = None,
    n_resamples: int = 2000,
) -> Estimate:
    """Kendall's W of a rank matrix, with its interval (see `kendalls_w`)."""
    n = ranks.shape[0]
    reason = ""
    if n < 2:
        reason = f"at least 2 complete blocks are required, got {n}"
    elif np.ptp(ranks) == 0:
        reason = "all scores are tied within every block"
    w = math.nan if reason else float(_w(ranks)[0])
    chosen = interval or "f"
    bounds_found: Interval | None = None
    notes: list[Note] = []
    corrected = math.nan
    if not reason:
        corrected = (n * w - 1) / (n - 1)
        if chosen == "f":
            limits = _f_interval(ranks, cluster, w, level)
            method = "noncentral F inversion" + ("" if cluster is None else " over clusters")
            if limits is None:
                where = "every item orders the conditions alike" if w >= 1 else "W is 0"
                where = where if w in {0.0, 1.0} else "there are fewer than 3 items or clusters"
                message = f"No interval: {where}, so the F inversion has no two limits."
                notes.append(Note(code="boundary", message=message))
            else:
                bounds_found = Interval(low=limits[0], high=limits[1], level=level, method=method)
        elif chosen == "bootstrap":
            boot = cluster_bootstrap(
                ranks, _w, cluster=cluster, n_resamples=n_resamples, level=level, seed=seed,
                vectorized=True, names=("W",), method="bca",
            )  # fmt: skip
            notes += boot.notes
            notes += undercoverage("The bootstrap of Kendall's W", w < 0.4)
            bounds_found = boot.interval if math.isfinite(boot.interval.low) else None
    return Estimate(
        name="kendalls_w",
        label="Kendall's W",
        estimator="tie-corrected chi-squared / (N (k - 1))",
        estimate=w,
        interval=bounds_found,
        sample=sample,
        notes=tuple(notes),
        reason=reason,
        details={"mean_rank_correlation": corrected},
    )


@with_keywords()
def kendalls_w(
    scores: object,
    data: object = None,
    *,
    names: Any = None,
    interval: IntervalMethod | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Resampled],
) -> Estimate:
    r"""Kendall's coefficient of concordance of items that order the same conditions.

    Parameters
    ----------
    scores : array-like of shape (N, k), DataFrame, or str
        Items in rows, conditions in columns; or ``"score ~ condition | item"``.
    data : DataFrame, optional
        The long frame of the formula.
    names : sequence, optional
        Labels of the conditions.
    interval : {"f", "bootstrap", "none"}, optional
        Inversion of the noncentral F (default; with `cluster` over the clusters' mean rank
        profiles), or the BCa bootstrap over items or clusters, which misses small concordances
        (docs/simulations/coverage_ranks.csv).
    missing : {"drop", "raise"}
        What to do with items that lack a score.

    Returns
    -------
    Estimate
        ``details["mean_rank_correlation"]`` is the mean Spearman correlation of two items,
        (N W - 1) / (N - 1) without ties, which has no upward bias.

    Raises
    ------
    InputError
        If the data cannot be read as blocks.

    Notes
    -----
    :math:`W = \chi^2_F / (N (k - 1))`, tie-corrected as ``irr::kendall(correct = TRUE)``. With
    nothing to find W averages 1 / N, not 0. The interval is for the concordance of the population
    of items, :math:`\omega = \lim_{N\to\infty} W = \sum_j \tau_j^2 / T`, :math:`\tau_j` the mean
    centred rank of condition j and T the mean within-item sum of squares. Iman and Davenport's F is
    about noncentral F with :math:`\lambda = N \sum \tau_j^2 / s^2`, :math:`s^2` the residual
    variance of the ranks; the limits are :math:`\lambda s^2 / (N T)` at the two :math:`\lambda` for
    which the observed F is a tail quantile, the upper one never below W itself. Its coverage and
    that of the bootstrap, which resamples W's upward bias and misses small concordances, are in
    docs/simulations/coverage_ranks.csv.

    References
    ----------
    Kendall & Babington Smith (1939), Ann. Math. Statist. 10, 275-287.

    Examples
    --------
    >>> w = kendalls_w([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    >>> round(w.estimate, 4), round(w.interval.low, 3), round(w.interval.high, 3)
    (0.5625, 0.0, 1.0)
    """
    where = "kendalls_w"
    one_of(where, "interval", interval, (None, "f", "bootstrap", "none"))
    blocks = read_blocks(
        scores, data, where=where, names=names, cluster=inference["cluster"], missing=missing
    )
    ranks = level_ranks(blocks.scores, axis=1)
    return concordance_of_ranks(
        ranks,
        cluster=blocks.cluster,
        sample=blocks.sample,
        level=inference["level"],
        seed=inference["seed"],
        interval=interval,
        n_resamples=inference["n_resamples"],
    )
