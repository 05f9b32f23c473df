"""Agreement weights between categories: how much credit a near miss earns."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.layouts.count_table import CountTable

WeightName = Literal["unweighted", "linear", "quadratic", "ordinal"]


def agreement_weights(values: ArrayLike, *, kind: WeightName | str = "unweighted") -> Floats:
    r"""Weight matrix over ordered categories, 1 on the diagonal.

    Parameters
    ----------
    values : array-like, shape (q,)
        Numeric values of the categories, increasing.
    kind : {"unweighted", "linear", "quadratic", "ordinal"}
        linear: 1 - |v_k - v_l| / range; quadratic (Fleiss-Cohen): its square; ordinal: by ranks,
        1 - C(|k - l| + 1, 2) / C(q, 2).

    Returns
    -------
    ndarray, shape (q, q)

    Raises
    ------
    InputError
        If the kind is unknown or the values do not increase.

    Notes
    -----
    The range is that of all categories given. irrCAC uses only the categories that occur, which
    changes linear and quadratic coefficients when an end of the scale was never used.

    References
    ----------
    Gwet (2021), Handbook of Inter-Rater Reliability, 5th ed., chapter 3.

    Examples
    --------
    >>> agreement_weights([1, 2, 3], kind="linear")
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    v = np.asarray(values, dtype=float)
    one_of(
        "agreement_weights",
        "kind",
        kind,
        ("unweighted", "linear", "quadratic", "ordinal"),
        advice="Choose one, or give a weight matrix.",
    )
    if v.ndim != 1 or np.any(np.diff(v) <= 0):
        raise InputError(
            "agreement_weights: values must be one increasing number per category, got "
            f"{v.tolist()}. Sort the categories."
        )
    q = v.size
    if kind == "unweighted" or q < 2:
        return np.eye(q)
    if kind == "ordinal":
        steps = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
        return np.asarray(1.0 - steps * (steps + 1) / (q * (q - 1)))
    distance = np.abs(np.subtract.outer(v, v)) / (v[-1] - v[0])
    return np.asarray(1.0 - (distance if kind == "linear" else distance**2))


def weights_for(
    table: CountTable, weights: WeightName | ArrayLike, *, where: str
) -> tuple[Floats, str]:
    """The weight matrix for a table's categories, and its name.

    Raises
    ------
    InputError
        If weights by order are asked for categories without an order, or the matrix does not fit.

    Examples
    --------
    >>> from judgestats.stats.layouts.count_table import count_table
    >>> weights_for(count_table([[1, 2], [2, 2]]), "quadratic", where="f")[1]
    'quadratic'
    """
    q = len(table.categories)
    if isinstance(weights, str):
        if weights != "unweighted" and not table.is_ordered:
            raise InputError(
                f"{where}: {weights} weights need ordered categories, got text labels in no stated "
                "order. Pass categories=[...] in order, or weights='unweighted'."
            )
        return agreement_weights(table.values(), kind=weights), weights
    matrix = np.asarray(weights, dtype=float)
    symmetric = matrix.shape == (q, q) and np.allclose(matrix, matrix.T, rtol=0, atol=1e-12)
    if (
        not symmetric
        or not np.allclose(np.diag(matrix), 1.0)
        or np.any((matrix < 0) | (matrix > 1))
    ):
        raise InputError(
            f"{where}: weights must be a symmetric {q} x {q} matrix with 1 on the diagonal and "
            f"values between 0 and 1, got shape {matrix.shape}. See agreement_weights()."
        )
    return matrix, "custom weights"
