"""Shifts tested together: adjusted by what the signs of the clusters show of all of them at once.

Shifts from one original move together. Holm takes each for a test of its own; exchanging original
and changed for whole clusters, in all shifts alike, keeps what they share.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judgestats.stats.inference import distributions
from judgestats.stats.inference.cluster_jackknife import cluster_sums, effective_clusters

Floats = NDArray[np.float64]


def signed_step_down(
    shifts: Sequence[Floats],
    clusters: Sequence[NDArray[np.object_]],
    *,
    n_permutations: int,
    seed: int,
) -> tuple[Floats, Floats]:
    r"""Adjusted p of mean shifts, by Westfall and Young's step-down procedure.

    Parameters
    ----------
    shifts : sequence of ndarray
        Of each test, the difference of every item; none missing, of 2 clusters at least.
    clusters : sequence of ndarray
        The cluster of each item, named alike in all tests.
    n_permutations, seed : int

    Returns
    -------
    adjusted, own : ndarray, shape (n_tests,)
        The adjusted p; p of each test alone, t over clusters.

    Notes
    -----
    Where changes do nothing, original and changed may be exchanged within a cluster; one sign is
    drawn a cluster for all tests. The statistic is the p of t over clusters (`mean_over_clusters`),
    which puts tests of different clusters on one scale, never below :math:`2^{1-G}`. With
    :math:`p_{(1)} \le p_{(2)} \le \dots`, :math:`\tilde p_{(i)} = \max_{j \le i}
    \Pr(\min_{k \ge j} P_k \le p_{(j)})` over the draws, of which the data are one. Power and
    size: docs/simulations/null.md.

    References
    ----------
    Westfall & Young (1993), Resampling-based multiple testing, algorithm 2.8.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> original = rng.normal(size=20)
    >>> shifts = [rng.normal(size=20) - original for _ in range(30)]
    >>> shifts[0] = shifts[0] + 1.3
    >>> items = np.array([f"q{i:02d}" for i in range(20)], dtype=object)
    >>> adjusted, own = signed_step_down(shifts, [items] * 30, n_permutations=999, seed=0)
    >>> bool(adjusted[0] < 0.05 < 30 * own[0]), int((adjusted < 0.05).sum())
    (True, 1)
    """
    names = sorted({str(name) for labels in clusters for name in labels})
    place = {name: i for i, name in enumerate(names)}
    rng = np.random.default_rng(seed)
    signs = rng.choice(np.array([-1.0, 1.0]), size=(n_permutations + 1, len(names)))
    signs[0] = 1.0
    drawn = np.column_stack(
        [
            _p_under(signs, shift, np.array([place[str(name)] for name in labels]))
            for shift, labels in zip(shifts, clusters, strict=True)
        ]
    )
    own = drawn[0]
    order = np.argsort(own, kind="stable")
    smallest = np.minimum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    # p of equal data may differ in the last digit
    beaten = np.mean(smallest <= own[order] * (1 + 1e-9), axis=0)
    adjusted = np.empty(own.size)
    adjusted[order] = np.maximum.accumulate(beaten)
    return np.maximum(adjusted, own), own


def _p_under(signs: Floats, shift: Floats, codes: NDArray[np.int64]) -> Floats:
    """P of one mean shift over clusters, under every draw of signs."""
    present = np.unique(codes)
    parts = cluster_sums(np.column_stack([shift, np.ones(shift.size)]), codes)
    sums, sizes = signs[:, present] * parts[:, 0], parts[:, 1]
    g, total = present.size, shift.size
    mean = sums.sum(axis=1) / total
    left = (sums - mean[:, None] * sizes) / (total - sizes)
    error = np.sqrt((g - 1) / g * np.sum(left**2, axis=1))
    still = error <= 1e-14 * max(1.0, float(np.abs(shift).max()))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(still, np.where(np.abs(mean) > 1e-12, np.inf, 0.0), np.abs(mean) / error)
    df = max(effective_clusters(sizes) - 1.0, 1.0)
    return np.asarray(np.maximum(2 * distributions.t.sf(t, df), 2.0 ** (1 - g)))
