"""Mean squares of an items x replications layout: the raw material of ICCs and components."""

from __future__ import annotations

import dataclasses

import numpy as np

from judgestats.arrays import Floats


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


def resampled_mean_squares(x: Floats, weights: Floats) -> MeanSquares:
    """Mean squares of resamples of the items of a complete layout, from item counts (B, n).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    >>> ms = resampled_mean_squares(x, np.ones((1, 3)))
    >>> bool(np.isclose(ms.items[0], mean_squares(x).items))
    True
    """
    k = x.shape[1]
    x = x - x.mean()
    rows = x.mean(axis=1)
    deviations = x - rows[:, None]
    n = weights.sum(axis=1)
    grand = weights @ rows / n
    between = k * np.maximum(weights @ rows**2 - n * grand**2, 0.0)
    inside = weights @ (deviations**2).sum(axis=1)
    shift_means = weights @ deviations / n[:, None]
    shifts = n * (shift_means**2).sum(axis=1)
    left = np.maximum(inside - shifts, 0.0)
    tiny = 1e-13 * (between + inside)
    left, between = np.where(left > tiny, left, 0.0), np.where(between > tiny, between, 0.0)
    return MeanSquares(
        items=between / (n - 1),
        replications=shifts / (k - 1),
        residual=left / ((n - 1) * (k - 1)),
        within=inside / (n * (k - 1)),
        n=n,
        k=float(k),
        df_within=n * (k - 1),
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
