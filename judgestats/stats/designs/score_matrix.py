"""Score matrices: items x repeats, complete blocks, and independent groups."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints, as_numbers, check_axes, check_lengths
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.result import Note, Sample


def level_label(value: Any) -> str:
    """A level as text: 0.5 as ``0.5``, 1.0 as ``1``."""
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Groups:
    """Independent samples by name; missing values and empty samples are left out.

    Attributes
    ----------
    samples : tuple of ndarray
    names : tuple of str
    sample : Sample
    notes : tuple of Note
    """

    samples: tuple[Floats, ...]
    names: tuple[str, ...]
    sample: Sample
    notes: tuple[Note, ...] = ()


def read_groups(values: object, *, where: str, names: Sequence[Any] | None = None) -> Groups:
    """Independent groups from a mapping, or from a list of samples.

    Parameters
    ----------
    values : mapping, or sequence of arrays
        Name -> sample, or one sample per group. Missing values are left out and counted; a group of
        which nothing is left is gone, as in R.
    where : str
        Calling function, for messages.
    names : sequence, optional
        Names of the samples of a list.

    Returns
    -------
    Groups

    Raises
    ------
    InputError
        If the data cannot be read so.

    Examples
    --------
    >>> found = read_groups([[1.0, 2.0], [3.0, None], [None]], where="f", names=["a", "b", "c"])
    >>> found.names, [s.tolist() for s in found.samples], found.sample.n_excluded
    (('a', 'b'), [[1.0, 2.0], [3.0]], 2)
    """
    if isinstance(values, Mapping):
        levels = tuple(values)
        samples = [as_numbers(v, f"group {k!r}", where) for k, v in values.items()]
    elif isinstance(values, (list, tuple)) and all(np.ndim(v) == 1 for v in values) and values:
        samples = [as_numbers(v, f"group {i + 1}", where) for i, v in enumerate(values)]
        levels = tuple(names or range(1, len(samples) + 1))
    else:
        raise InputError(
            f"{where}: give a mapping from name to sample, or a list of samples; got "
            f"{type(values).__name__}."
        )
    if len(levels) != len(samples) or any(s.ndim != 1 for s in samples):
        raise InputError(
            f"{where}: one name and one one-dimensional sample per group are required, got "
            f"{len(levels)} names for {len(samples)} samples."
        )
    read = [(level_label(k), s[~np.isnan(s)]) for k, s in zip(levels, samples, strict=True)]
    kept = [(name, s) for name, s in read if s.size]
    if len(kept) < 2:
        raise InputError(f"{where}: at least 2 groups with values are required, got {len(kept)}.")
    n_given, n_kept = sum(s.size for s in samples), sum(s.size for _, s in kept)
    n_lost = n_given - n_kept
    verb = "is" if n_lost == 1 else "are"
    message = f"{n_lost} of {n_given} values {verb} missing and left out."
    return Groups(
        samples=tuple(s for _, s in kept),
        names=tuple(name for name, _ in kept),
        sample=Sample(n_items=n_kept, excluded={"missing value": n_lost}),
        notes=Note.where(n_lost, "missing_values", message),
    )


def read_two_samples(
    x: ArrayLike, y: ArrayLike, *, where: str, names: Sequence[Any] | None = None
) -> Groups:
    """Two groups from two arrays."""
    parts = [as_numbers(x, "x", where), as_numbers(y, "y", where)]
    if any(part.ndim != 1 for part in parts):
        shapes = f"{parts[0].shape} and {parts[1].shape}"
        raise InputError(f"{where}: x and y must be one-dimensional, got shapes {shapes}.")
    return read_groups(parts, where=where, names=names or ("x", "y"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Blocks:
    """Complete blocks: one row per block (item), one column per condition.

    Attributes
    ----------
    scores : ndarray, shape (N, k)
    conditions : tuple of str
        Column labels.
    cluster : ndarray of int, shape (N,), or None
        Cluster codes 0 .. G-1.
    sample : Sample
    data_name : str
        How the result names the data.
    notes : tuple of Note
    """

    scores: Floats
    conditions: tuple[str, ...]
    cluster: Ints | None
    sample: Sample
    data_name: str
    notes: tuple[Note, ...] = ()


def read_blocks(
    scores: object,
    *,
    where: str,
    names: Sequence[Any] | None = None,
    cluster: object = None,
    min_conditions: int = 2,
) -> Blocks:
    """Complete blocks from an array (N, k) or a wide frame.

    Parameters
    ----------
    scores : array-like of shape (N, k), or DataFrame
        Blocks in rows, conditions in columns. Blocks with a missing score are left out and counted,
        as in R.
    where : str
        Calling function, for messages.
    names : sequence, optional
        Labels of the conditions of an array.
    cluster : array-like of shape (N,), optional
        Cluster of each block.
    min_conditions : int
        Least number of conditions.

    Returns
    -------
    Blocks

    Raises
    ------
    InputError
        If the data cannot be read so.

    Examples
    --------
    >>> found = read_blocks([[1.0, 2], [3, 4], [5, None]], where="f", names=["T=0", "T=1"])
    >>> found.scores.tolist(), found.conditions, found.sample.n_excluded
    ([[1.0, 2.0], [3.0, 4.0]], ('T=0', 'T=1'), 1)
    """
    matrix = as_numbers(scores, "scores", where)
    check_axes(where, "scores", matrix, "blocks x conditions")
    n_given, k = matrix.shape
    columns = list(scores.columns) if isinstance(scores, pd.DataFrame) else None
    levels = tuple(names or columns or range(1, k + 1))
    if len(levels) != k:
        raise InputError(
            f"{where}: names must have one label for each of {k} conditions, got {len(levels)}."
        )
    if k < min_conditions:
        raise InputError(f"{where}: at least {min_conditions} conditions are required, got {k}.")
    codes = None
    if cluster is not None:
        codes = cluster_codes(np.asarray(cluster), n_given, where=where)
    whole = ~np.isnan(matrix).any(axis=1)
    n_lost = int(n_given - whole.sum())
    if n_lost:
        matrix = matrix[whole]
        if codes is not None:
            codes = np.unique(codes[whole], return_inverse=True)[1].astype(np.int64)
    verb = "has a missing score and is" if n_lost == 1 else "have a missing score and are"
    message = f"{n_lost} of {n_given} blocks {verb} left out."
    sample = Sample(
        n_items=matrix.shape[0],
        n_clusters=None if codes is None else int(np.unique(codes).size),
        n_excluded=n_lost,
        excluded={"missing score": n_lost} if n_lost else {},
    )
    return Blocks(
        scores=matrix,
        conditions=tuple(level_label(v) for v in levels),
        cluster=codes,
        sample=sample,
        data_name="scores" if columns is None else "frame",
        notes=Note.where(n_lost, "incomplete_blocks", message),
    )


def as_paired(
    x: ArrayLike,
    y: ArrayLike | None,
    *,
    where: str,
    names: Sequence[Any] | None = None,
    cluster: object = None,
) -> Blocks:
    """Two columns of paired values from two arrays, or an (n, 2) array.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Both values of every pair; or an array (n, 2) and None.
    where : str
        Calling function, for messages.
    names : sequence, optional
        Labels of the two columns.
    cluster : array-like, optional
        Cluster of each pair.

    Returns
    -------
    Blocks
        With exactly two conditions.

    Raises
    ------
    InputError
        If there are not two conditions, or lengths differ.

    Examples
    --------
    >>> as_paired([1.0, 2.0], [0.0, 5.0], where="f").scores.tolist()
    [[1.0, 0.0], [2.0, 5.0]]
    """
    if y is None:
        blocks = read_blocks(x, where=where, names=names, cluster=cluster)
    else:
        first, second = as_numbers(x, "x", where), as_numbers(y, "y", where)
        check_lengths(where, x=first, y=second)
        both = np.column_stack([first, second])
        blocks = read_blocks(both, where=where, names=names or ("x", "y"), cluster=cluster)
    if len(blocks.conditions) != 2:
        names = ", ".join(blocks.conditions)
        raise InputError(
            f"{where}: exactly 2 conditions are required, got {len(blocks.conditions)} ({names}). "
            "Choose two, or use friedman_test."
        )
    return blocks


Missing = Literal["refuse", "listwise", "pairwise"]


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
    x = as_numbers(scores, "scores", where)
    check_axes(where, "scores", x, "items x replications")
    return x


@dataclasses.dataclass(frozen=True, kw_only=True)
class Prepared:
    """A score matrix after the policy for missing values, with what was lost on the way.

    `reason` is not empty if nothing can be computed. `x` may still hold NaN under the policy
    ``pairwise``.
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
    min_replications: int = 2,
) -> Prepared:
    """Check a score matrix and apply the policy for missing judgments.

    Parameters
    ----------
    scores : array-like, shape (n_items, n_replications)
    where : str
        Name of the calling function.
    cluster : array-like, shape (n_items,), optional
    missing : {"refuse", "listwise", "pairwise"}
        ``refuse``: a missing judgment leaves a reason. ``listwise``: items with one are dropped and
        counted. ``pairwise``: only items without any judgment are dropped.
    min_replications : int
        Fewer, or fewer than 2 items, leave a reason.

    Returns
    -------
    Prepared

    Raises
    ------
    InputError
        If the scores are not a finite matrix, or `missing` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> out = prepare_scores([[1, 2], [3, np.nan], [5, 5]], where="f", missing="listwise")
    >>> out.x.shape, out.sample.n_excluded
    ((2, 2), 1)
    """
    x = score_matrix(scores, where=where)
    one_of(where, "missing", missing, get_args(Missing))
    codes = None if cluster is None else cluster_codes(cluster, x.shape[0], where=where)
    n_all = x.shape[0]
    absent = np.isnan(x)
    excluded: dict[str, int] = {}
    reason = ""
    if absent.any():
        drop = absent.any(axis=1) if missing == "listwise" else absent.all(axis=1)
        if drop.any():
            why = "no judgment"
            if missing == "listwise":
                why = "a missing judgment (listwise deletion)"
            excluded[why] = int(drop.sum())
            x = x[~drop]
            codes = None if codes is None else np.unique(codes[~drop], return_inverse=True)[1]
        if missing == "refuse" and np.isnan(x).any():
            holes = int(np.isnan(x).any(axis=1).sum())
            reason = (
                f"{holes} of {n_all} items {'has' if holes == 1 else 'have'} a missing judgment; "
                "choose missing='listwise', or a coefficient for unequal replications: ICC(1)"
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
        elif x.shape[0] < 2:
            reason = f"2 items are needed, {x.shape[0]} given"
        elif x.shape[1] < min_replications:
            reason = f"{min_replications} replications are needed, {x.shape[1]} given"
    return Prepared(x=x, cluster=codes, sample=sample, reason=reason)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanSquares:
    """Mean squares of one layout, or of a stack (then its fields are arrays).

    Attributes
    ----------
    items : float or ndarray
        Between items, on `n` - 1 degrees of freedom.
    replications : float or ndarray
        Between columns, on `k` - 1.
    residual : float or ndarray
        Items x columns, on (n - 1)(k - 1).
    within : float or ndarray
        Within items (columns and residual pooled), on n (k - 1).
    n : float or ndarray
        Items.
    k : float or ndarray
        Columns; n0 where items have unequal numbers of judgments.
    df_within : float or ndarray
        Degrees of freedom of `within`.
    """

    items: float | Floats
    replications: float | Floats
    residual: float | Floats
    within: float | Floats
    n: float | Floats
    k: float | Floats
    df_within: float | Floats


def mean_squares(x: Floats) -> MeanSquares:
    """Mean squares of complete layouts, shape (n, k) or a stack (B, n, k).

    Examples
    --------
    >>> import numpy as np
    >>> ms = mean_squares(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]]))
    >>> round(float(ms.items), 6), round(float(ms.residual), 6)
    (15.5, 1.5)
    """
    n, k = x.shape[-2:]
    grand = x.mean(axis=(-2, -1), keepdims=True)
    rows = x.mean(axis=-1, keepdims=True)
    columns = x.mean(axis=-2, keepdims=True)
    between = k * ((rows - grand) ** 2).sum(axis=(-2, -1))
    shifts = n * ((columns - grand) ** 2).sum(axis=(-2, -1))
    # Residuals are formed before they are squared: no cancellation where judges agree perfectly.
    deviations = x - rows
    inside = (deviations**2).sum(axis=(-2, -1))
    left = ((deviations - (columns - grand)) ** 2).sum(axis=(-2, -1))
    scale = 1e-26 * (x**2).sum(axis=(-2, -1))
    inside, left, between, shifts = (
        np.where(part > scale, part, 0.0) for part in (inside, left, between, shifts)
    )
    return MeanSquares(
        items=between / (n - 1),
        replications=shifts / (k - 1),
        residual=left / ((n - 1) * (k - 1)),
        within=inside / (n * (k - 1)),
        n=float(n),
        k=float(k),
        df_within=float(n * (k - 1)),
    )


def one_way_mean_squares(x: Floats) -> MeanSquares:
    """Mean squares between and within items that may have unequal numbers of judgments.

    `k` is n0 = (sum n_i - sum n_i^2 / sum n_i) / (N - 1); columns play no part, so the two-way
    fields are NaN. Items without a judgment are left out.

    Parameters
    ----------
    x : ndarray, shape (n, k) or a stack (B, n, k)

    Examples
    --------
    >>> import numpy as np
    >>> ms = one_way_mean_squares(np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 9.0]]))
    >>> round(float(ms.k), 6), float(ms.df_within)
    (1.6, 2.0)
    """
    present = ~np.isnan(x)
    counts = present.sum(axis=-1)
    filled = np.where(present, x, 0.0)
    n, total = (counts > 0).sum(axis=-1), counts.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = filled.sum(axis=-1) / np.maximum(counts, 1)
        grand = filled.sum(axis=(-2, -1)) / total
        inside = np.where(present, (filled - means[..., None]) ** 2, 0.0).sum(axis=(-2, -1))
        inside = np.where(inside > 1e-26 * (filled**2).sum(axis=(-2, -1)), inside, 0.0)
        df = np.asarray(total - n, dtype=float)
        return MeanSquares(
            items=(counts * (means - grand[..., None]) ** 2).sum(axis=-1) / (n - 1),
            replications=np.nan,
            residual=np.nan,
            within=np.where(df > 0, inside / df, np.nan),
            n=np.asarray(n, dtype=float),
            k=(total - (counts**2).sum(axis=-1) / total) / (n - 1),
            df_within=df,
        )


def row_sums(x: Floats) -> Floats:
    """What `mean_squares_of_sums` needs of each item: 1, scores, squared sum, sum of squares.

    Parameters
    ----------
    x : ndarray, shape (n, k)
        Complete; a value inside the scale is best taken off before.

    Returns
    -------
    ndarray, shape (n, k + 3)

    Examples
    --------
    >>> import numpy as np
    >>> row_sums(np.array([[1.0, 2.0]])).tolist()
    [[1.0, 1.0, 2.0, 9.0, 5.0]]
    """
    squares = np.einsum("ij,ij->i", x, x)
    return np.column_stack([np.ones(x.shape[0]), x, x.sum(axis=1) ** 2, squares])


def mean_squares_of_sums(sums: Floats) -> MeanSquares:
    """Mean squares of complete layouts from `row_sums` added up over items.

    Parameters
    ----------
    sums : ndarray, shape (..., k + 3)
        Of one layout or a stack.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> ms = mean_squares_of_sums(row_sums(x).sum(axis=0))
    >>> bool(np.isclose(ms.residual, mean_squares(x).residual))
    True
    """
    k = sums.shape[-1] - 3
    n = sums[..., 0]
    columns, squared_rows, squares = sums[..., 1 : k + 1], sums[..., -2], sums[..., -1]
    grand = columns.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correction = grand**2 / (n * k)
        between = np.maximum(squared_rows / k - correction, 0.0)
        shifts = np.maximum((columns**2).sum(axis=-1) / n - correction, 0.0)
        inside = np.maximum(squares - squared_rows / k, 0.0)
        left = np.maximum(inside - shifts, 0.0)
        # What is left of a difference of equal sums is rounding, not variation.
        scale = 1e-13 * squares
        between, inside, left = (
            np.where(part > scale, part, 0.0) for part in (between, inside, left)
        )
        out = {
            "items": between / (n - 1),
            "replications": shifts / (k - 1) if k > 1 else np.full_like(n, np.nan),
            "residual": left / ((n - 1) * (k - 1)),
            "within": inside / (n * (k - 1)),
        }
    if sums.ndim == 1:
        single = {name: float(value) for name, value in out.items()}
        return MeanSquares(**single, n=float(n), k=float(k), df_within=float(n * (k - 1)))
    return MeanSquares(**out, n=n, k=float(k), df_within=n * (k - 1))


AGGREGATES = ("mean", "median", "mode")


def aggregate_replications(scores: ArrayLike, *, k: int, how: str = "mean") -> NDArray[np.float64]:
    """Aggregate disjoint groups of k replications.

    Parameters
    ----------
    scores : array-like, shape (N, R)
        Items x replications, NaN = missing.
    k : int
        Replications in a group, 1 to R; what is left over at the end is not used.
    how : {"mean", "median", "mode"}
        Of several modes the mean is taken.

    Returns
    -------
    ndarray, shape (N, R // k)
        NaN where a group has no score. A group with some missing scores uses the others.

    Raises
    ------
    InputError
        If the scores are not a matrix, or k or the aggregate cannot be used.

    Examples
    --------
    >>> x = [[1, 1, 4, 9, 9, 2]]
    >>> aggregate_replications(x, k=3).tolist()
    [[2.0, 6.666666666666667]]
    >>> aggregate_replications(x, k=3, how="mode").tolist()
    [[1.0, 9.0]]
    """
    where = "aggregate_replications"
    x = np.asarray(scores, dtype=float)
    if x.ndim != 2 or not 1 <= k <= max(x.shape[1], 1):
        raise InputError(
            f"{where}: scores must be items x replications and k a whole number of 1 to R, got "
            f"shape {x.shape} and k = {k}."
        )
    one_of(where, "how", how, AGGREGATES)
    groups = x[:, : x.shape[1] // k * k].reshape(x.shape[0], -1, k)
    reduce: Callable[[NDArray[np.float64]], float] = {
        "mean": lambda v: float(np.mean(v)),
        "median": lambda v: float(np.median(v)),
        "mode": _mode,
    }[how]
    out = np.full(groups.shape[:2], np.nan)
    for i, j in np.ndindex(*out.shape):
        present = groups[i, j][~np.isnan(groups[i, j])]
        if present.size:
            out[i, j] = reduce(present)
    return out


def _mode(values: NDArray[np.float64]) -> float:
    levels, counts = np.unique(values, return_counts=True)
    return float(levels[counts == counts.max()].mean())
