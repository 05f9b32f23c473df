"""The items x repeats matrix, its mean squares, and panels of repeats."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Floats, Ints, as_numbers, check_axes
from judgestats.errors import InputError, one_of
from judgestats.stats.inference.bootstrap import cluster_codes
from judgestats.stats.inference.estimate import Note, Sample

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
    missing : {"refuse", "listwise", "pairwise"}
        ``refuse``: a missing judgment leaves a reason; ``listwise``: items with one are dropped and
        counted; ``pairwise``: only items without any judgment are dropped.
    min_items, min_replications : int
        Fewer leave a reason.

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
        elif x.shape[0] < min_items:
            reason = f"{min_items} items are needed, {x.shape[0]} given"
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
