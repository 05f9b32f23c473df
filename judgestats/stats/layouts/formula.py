"""R-like formulas: how the tests read the columns of a plain frame.

``"score ~ temperature | item"`` reads: the score, compared between temperatures, within items.
Names with spaces or signs stand in backticks, as in R.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.arrays import Floats, Ints, too_large
from judgestats.errors import InputError

Missing = Literal["drop", "raise"]

_NAME = r"\s*(?:`([^`]+)`|([A-Za-z_.][\w.]*))\s*"
_FORMULA = re.compile(rf"^{_NAME}~{_NAME}(?:\|{_NAME})?$")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Formula:
    """``response ~ factor | block``; `block` is empty where the formula has none."""

    response: str
    factor: str
    block: str = ""


def parse_formula(formula: str, *, where: str = "parse_formula") -> Formula:
    """Read ``response ~ factor`` or ``response ~ factor | block``.

    Parameters
    ----------
    formula : str
        Names with spaces or signs in backticks.
    where : str
        Calling function, for the message.

    Returns
    -------
    Formula

    Raises
    ------
    InputError
        If the text is not such a formula.

    Examples
    --------
    >>> parse_formula("score ~ temperature | item")
    Formula(response='score', factor='temperature', block='item')
    """
    match = _FORMULA.match(formula)
    if match is None:
        raise InputError(
            f"{where}: the formula must read 'response ~ factor' or 'response ~ factor | block', "
            f"got {formula!r}. Put names with spaces or signs in backticks."
        )
    quoted = match.groups()
    names = [quoted[i] or quoted[i + 1] or "" for i in (0, 2, 4)]
    return Formula(response=names[0], factor=names[1], block=names[2])


def level_label(value: Any) -> str:
    """A level as text: 0.5 as ``0.5``, 1.0 as ``1``."""
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def need_columns(data: object, names: Sequence[str], where: str) -> pd.DataFrame:
    """The frame, or an error that names the columns it lacks."""
    if not isinstance(data, pd.DataFrame):
        raise InputError(
            f"{where}: a formula needs a pandas DataFrame as second argument, got "
            f"{type(data).__name__}. Call {where}('score ~ condition | item', frame)."
        )
    lacking = [n for n in names if n not in data.columns]
    if lacking:
        have = ", ".join(map(str, data.columns))
        raise InputError(
            f"{where}: the frame has no column {', '.join(map(repr, lacking))}; it has: {have}. "
            "Correct the formula or the frame."
        )
    return data


def as_numbers(values: object, what: str, where: str) -> Floats:
    """Float array of numbers, NaN for missing; infinite values and text are refused."""
    try:
        out = np.asarray(
            values.to_numpy(dtype=float, na_value=np.nan)
            if isinstance(values, pd.Series)
            else values,
            dtype=float,
        )
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{where}: {what} must hold numbers, got something else ({error}). Code verdicts as "
            "numbers first, unread ones as NaN."
        ) from error
    if too_large(out).any():
        raise InputError(
            f"{where}: {what} must be finite, got {int(too_large(out).sum())} infinite values (or "
            "beyond 1e50). "
            "Mark values that do not exist as NaN."
        )
    return out


def factor_codes(column: pd.Series[Any]) -> tuple[Ints, tuple[Any, ...]]:
    """Codes and levels: categories in their order, numbers ascending, text as it first appears."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = column.cat.remove_unused_categories()
        return np.asarray(used.cat.codes, dtype=np.int64), tuple(used.cat.categories)
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    codes, levels = pd.factorize(column, sort=numeric)
    return np.asarray(codes, dtype=np.int64), tuple(levels)


def cluster_column(cluster: object, frame: pd.DataFrame, where: str) -> NDArray[Any] | None:
    """The cluster labels of a frame's rows: a column's name, or labels of the frame's length."""
    if cluster is None:
        return None
    if isinstance(cluster, str):
        need_columns(frame, [cluster], where)
        return frame[cluster].to_numpy()
    labels = np.asarray(cluster)
    if labels.shape != (len(frame),):
        raise InputError(
            f"{where}: cluster must be a column of the frame or one label per row ({len(frame)}), "
            f"got shape {labels.shape}. Name the column, such as cluster='question'."
        )
    return labels
