"""Named permuters: what each null exchanges, drawn as stacks of permuted copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgestats.arrays import Ints

AnyArray = NDArray[Any]


def _shuffle_groups(
    x: AnyArray, rng: np.random.Generator, size: int, groups: list[Ints]
) -> AnyArray:
    """`size` copies of x, each column shuffled over the rows of each group.

    A column lies together in memory while it is shuffled, which takes a sixth of the time.
    """
    out = np.repeat(np.ascontiguousarray(np.moveaxis(x, 0, -1))[None], size, axis=0)
    if len(groups) == 1:
        rng.permuted(out, axis=-1, out=out)
        return np.moveaxis(out, -1, 1)
    for rows in groups:
        out[..., rows] = rng.permuted(out[..., rows], axis=-1)
    return np.moveaxis(out, -1, 1)


def _permute_axis(
    x: AnyArray,
    rng: np.random.Generator,
    size: int,
    *,
    axis: int,
    together: tuple[int, ...] = (),
    cluster: Ints | None = None,
) -> AnyArray:
    """`size` copies of x, permuted along `axis` independently for every level of the other axes.

    Levels of the axes in `together` move as one block; items of one cluster (axis 0) share their
    permutation.
    """
    shape = [1 if k in together else n for k, n in enumerate(x.shape)]
    if cluster is not None:
        shape[0] = int(cluster.max()) + 1
    drawn = rng.random((size, *shape))
    if x.shape[axis] == 2:  # two cells are exchanged or not: no sorting
        swap = np.less(*reversed(np.split(drawn, 2, axis=axis + 1)))
        if cluster is not None:
            swap = swap[:, cluster]
        return np.where(swap, np.flip(x, axis), x)
    order = np.argsort(drawn, axis=axis + 1)
    if cluster is not None:
        order = order[:, cluster]
    full = np.broadcast_to(order, (size, *x.shape))
    return np.take_along_axis(np.broadcast_to(x, (size, *x.shape)), full, axis=axis + 1)


def _shuffle_labels(
    x: AnyArray, rng: np.random.Generator, size: int, groups: list[Ints]
) -> AnyArray:
    """`size` copies of x with whole rows exchanged within groups."""
    index = np.tile(np.arange(x.shape[0]), (size, 1))
    for rows in groups:
        index[:, rows] = rng.permuted(index[:, rows], axis=1)
    return x[index]


def draw_permutations(
    x: AnyArray,
    rng: np.random.Generator,
    size: int,
    scheme: str,
    groups: list[Ints],
    cluster: Ints | None,
    axis: int,
    together: tuple[int, ...],
) -> AnyArray:
    """`size` permuted copies of x, stacked on a new first axis."""
    if scheme == "replications":
        return _shuffle_groups(x, rng, size, groups)
    if scheme == "labels":
        return _shuffle_labels(x, rng, size, groups)
    return _permute_axis(x, rng, size, axis=axis, together=together, cluster=cluster)
