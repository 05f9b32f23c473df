"""A coefficient as one number an item, whose mean it is: so conditions are compared in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgestats.arrays import Floats
from judgestats.engine import map_blocks
from judgestats.judgments.shapes import ScoreArray
from judgestats.stats.agreement.vote_share import pair_statistic
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.layouts.cell_statistics import Cells, cell_statistics
from judgestats.stats.layouts.count_table import count_table

_DRAWS = 999
_MOST = 4000
"""Questions times conditions of which exchanges are drawn; with more the normal theory holds."""


@dataclass(frozen=True, kw_only=True)
class ByItem:
    """A coefficient of several conditions, item by item.

    Attributes
    ----------
    values : mapping of condition to ndarray
        What the jackknife over questions says that each item adds: leaving a question out of the
        mean leaves it out of the coefficient.
    clusters : ndarray
        Question of each item.
    null : ndarray
        Largest studentised difference of two conditions where the conditions are exchanged within
        questions: what reliabilities differ by where nothing differs. A coefficient's standard
        error hangs on the coefficient, so that the studentised range alone tells equal judges
        apart in .08 to .12 (docs/simulations/null.md). Empty where not drawn.
    """

    values: Mapping[str, Floats]
    clusters: Any
    null: Floats


def icc_by_item(scores: ScoreArray | Cells, conditions: Sequence[str]) -> ByItem | None:
    """ICC(1,1) of each condition, item by item.

    Parameters
    ----------
    scores : ScoreArray or Cells
    conditions : sequence of str
        Which are compared.

    Returns
    -------
    ByItem or None
        None where fewer than two questions were repeated under all conditions.
    """
    cells = scores
    if isinstance(cells, ScoreArray):
        cells = cell_statistics(
            cells.scores, conditions=cells.conditions, cluster=cells.clusters, ddof=1
        )
    at = {name: k for k, name in enumerate(cells.conditions)}
    columns = [at[c] for c in conditions]
    used = (cells.n_scores[:, columns] > 1).all(axis=1)
    n, mean = cells.n_scores[used][:, columns].astype(float), cells.mean[used][:, columns]
    if n.size:
        # A shift changes no reliability, but would be variance between items once exchanged.
        mean = mean - (n * mean).sum(axis=0) / n.sum(axis=0)
    within = cells.variance[used][:, columns] * (n - 1)
    parts = np.stack([np.ones_like(n), n, n**2, n * mean, n * mean**2, within], axis=-1)
    return _by_item(parts, cells.cluster[used], conditions, _icc)


def vote_share_by_item(verdicts: Mapping[str, NDArray[Any]], clusters: Any) -> ByItem | None:
    """Vote-share reliability of one verdict of each condition, item by item.

    Parameters
    ----------
    verdicts : mapping of condition to ndarray of object, shape (n_items, n_replications)
        Of the same items; empty text where nothing was read.
    clusters : sequence
        Question of each item.

    Returns
    -------
    ByItem or None
        None where fewer than two questions were repeated under all conditions.
    """
    options = sorted({str(v) for x in verdicts.values() for v in np.unique(x.astype(str)) if v})
    counts = np.stack(
        [count_table(x, categories=options, where="recommend").counts for x in verdicts.values()],
        axis=1,
    )
    used = (counts.sum(axis=-1) > 1).all(axis=1)
    statistic = pair_statistic("anova")
    parts = statistic.per_item(counts[used].astype(float))
    return _by_item(parts, np.asarray(clusters, dtype=object)[used], list(verdicts),
                    statistic.combine)  # fmt: skip


def _by_item(
    parts: Floats,
    clusters: Any,
    conditions: Sequence[str],
    coefficient: Callable[[Floats], Floats],
) -> ByItem | None:
    """From the sums that a coefficient is made of, items x conditions x sums."""
    codes = cluster_codes(clusters, len(parts), where="recommend_reliable")
    sizes = np.bincount(codes).astype(float)
    if sizes.size < 2:
        return None
    sums = np.zeros((sizes.size, *parts.shape[1:]))
    np.add.at(sums, codes, parts)
    centre, added = _added(sums, sizes, coefficient)
    null = np.empty(0)
    if sizes.size * len(conditions) <= _MOST:
        null = _null(sums, sizes, coefficient)
    values = (centre + added)[codes]
    return ByItem(
        values={name: values[:, k] for k, name in enumerate(conditions)},
        clusters=clusters,
        null=null,
    )


def _added(
    sums: Floats, sizes: Floats, coefficient: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """The coefficient of each condition, and what an item of each question adds to it."""
    n = sizes[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = sums.sum(axis=-3)
        centre = coefficient(whole)[..., None, :]
        left = coefficient(whole[..., None, :, :] - sums)
    added = (n.sum() - n) / n * (centre - left)
    return centre, added - (n * added).sum(axis=-2, keepdims=True) / n.sum()


def _null(sums: Floats, sizes: Floats, coefficient: Callable[[Floats], Floats]) -> Floats:
    """Largest studentised difference in each draw of exchanges of conditions within questions."""
    rng = np.random.default_rng(0)
    g, k = sums.shape[:2]
    # Questions in the order of what they hold: the order of rows or of names draws nothing else.
    in_order = np.lexsort((sizes, *np.round(sums, 9).reshape(g, -1).T))
    sums, sizes = sums[in_order], sizes[in_order]
    first, second = np.triu_indices(k, 1)
    block = max(1, 2_000_000 // sums.size)

    def largest(drawn: Floats) -> Floats:
        order = drawn.argsort(axis=-1)
        exchanged = np.take_along_axis(sums[None], order[..., None], axis=2)
        centre, added = _added(exchanged, sizes, coefficient)
        # Without a question the mean moves by n / (N - n) of what its items add.
        moved = (sizes / (sizes.sum() - sizes))[:, None] * added
        apart = moved[..., first] - moved[..., second]
        error = np.sqrt((g - 1) / g * (apart**2).sum(axis=-2))
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(centre[..., 0, first] - centre[..., 0, second]) / error
        return np.asarray(np.where(error > 0, t, 0.0).max(axis=-1))

    blocks = [
        (rng.random((min(block, _DRAWS - start), g, k)),) for start in range(0, _DRAWS, block)
    ]
    null = np.concatenate(map_blocks(largest, blocks, threads=True))
    return np.asarray(null[np.isfinite(null)])


def _icc(sums: Floats) -> Floats:
    """ICC(1,1) from sums over items: items, n, n squared, n mean, n mean squared, within."""
    items, n, squared, first, second, within = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = (second - first**2 / n) / (items - 1)
        error = within / (n - items)
        size = (n - squared / n) / (items - 1)
        return np.asarray((between - error) / (between + (size - 1) * error))
