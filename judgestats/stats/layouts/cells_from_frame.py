"""Repeated scores from a long frame: which column is the item, which the condition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.errors import InputError
from judgestats.stats.layouts.formula import (
    as_numbers,
    cluster_column,
    factor_codes,
    level_label,
    need_columns,
    parse_formula,
)


def scores_from_frame(
    formula: str, data: object, *, cluster: object = None, where: str = "scores_from_frame"
) -> tuple[NDArray[np.float64], tuple[str, ...], NDArray[Any] | None]:
    """Items x conditions x replications from one row a judgment.

    Parameters
    ----------
    formula : str
        ``"score ~ temperature | item"``: score, condition, item.
    data : DataFrame
        One row a judgment; rows of one item and condition are its replications, in any order.
        Missing scores stay missing; rows without item or condition are refused.
    cluster : str or array-like, optional
        Column of the question, or one label a row; the same for all rows of an item.
    where : str
        Calling function, for the messages.

    Returns
    -------
    X : ndarray, shape (N, k, R)
        NaN where a cell holds fewer than R rows.
    conditions : tuple of str
        Numbers ascending, categories in their order, text as it first appears.
    cluster : ndarray, shape (N,), or None

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"score": [8, 9, 5, 7], "t": [0, 1, 0, 0], "item": list("abbb")})
    >>> X, conditions, _ = scores_from_frame("score ~ t | item", frame)
    >>> X.shape, conditions
    ((2, 2, 2), ('0', '1'))
    """
    read = parse_formula(formula, where=where)
    if not read.block:
        raise InputError(
            f"{where}: the formula must name the item, got {formula!r}. Write "
            f"'{read.response} ~ {read.factor} | item'."
        )
    frame = need_columns(data, (read.response, read.factor, read.block), where)
    nameless = int(frame[[read.factor, read.block]].isna().any(axis=1).sum())
    if nameless or frame.empty:
        raise InputError(
            f"{where}: every row needs an item and a condition, {nameless} of {len(frame)} rows "
            "lack one. Drop them, or name them."
        )
    scores = as_numbers(frame[read.response], read.response, where)
    condition, levels = factor_codes(frame[read.factor])
    item, labels = factor_codes(frame[read.block])
    place = pd.Series(condition).groupby([item, condition]).cumcount().to_numpy()
    out = np.full((len(labels), len(levels), int(place.max()) + 1), np.nan)
    out[item, condition, place] = scores
    return out, tuple(map(level_label, levels)), _of_items(cluster, frame, item, where)


def _of_items(
    cluster: object, frame: pd.DataFrame, item: NDArray[np.int64], where: str
) -> NDArray[Any] | None:
    """One cluster label an item, from one a row."""
    rows = cluster_column(cluster, frame, where)
    if rows is None:
        return None
    pairs = pd.DataFrame({"item": item, "cluster": list(rows)}).drop_duplicates()
    torn = int(pairs["item"].duplicated().sum())
    if torn:
        raise InputError(
            f"{where}: {torn} item{'s belong' if torn != 1 else ' belongs'} to more than one "
            "cluster. Give every item one cluster, "
            "or make the item's name unique to it."
        )
    return np.asarray(pairs.sort_values("item")["cluster"])
