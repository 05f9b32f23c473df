"""Numbers as people and models write them: ``7``, ``3,5``, ``8/10``, ``60 %``."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.arrays import LARGEST, too_large

_PLAIN = re.compile(r"[+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:[eE][+-]?\d{1,2})?")
_COMMA = re.compile(r"[+-]?\d{1,9},\d{1,2}")
_OUT_OF = re.compile(r"([+-]?\d{1,9}(?:[.,]\d{1,6})?)\s*(?:/|out of|von|sur|de)\s*(\d{1,6})", re.I)
_PERCENT = re.compile(r"([+-]?\d{1,9}(?:[.,]\d{1,6})?)\s*(?:%|percent|per cent)", re.I)


def number_in(text: str) -> tuple[float, float]:
    """The number that a cell is, and what it is out of; NaN where it is none, or tells no whole.

    Examples
    --------
    >>> number_in("8/10"), number_in("60 %"), number_in("n. a.")
    ((8.0, 10.0), (60.0, 100.0), (nan, nan))
    >>> number_in("3,5")
    (3.5, nan)
    """
    text = text.strip()
    if _PLAIN.fullmatch(text):
        value = float(text)
        return (value if abs(value) <= LARGEST else math.nan), math.nan
    if _COMMA.fullmatch(text):
        return float(text.replace(",", ".")), math.nan
    match = _OUT_OF.fullmatch(text)
    if match:
        return float(match[1].replace(",", ".")), float(match[2])
    match = _PERCENT.fullmatch(text)
    if match:
        return float(match[1].replace(",", ".")), 100.0
    return math.nan, math.nan


def numbers_of(values: Any) -> NDArray[np.float64]:
    """Each value as a number, NaN where it is none. Truth values are no numbers.

    Examples
    --------
    >>> numbers_of(["7", "8/10", None, True]).tolist()
    [7.0, 8.0, nan, nan]
    """
    column = values if isinstance(values, pd.Series) else pd.Series(list(values), dtype=object)
    if pd.api.types.is_bool_dtype(column):
        return np.full(len(column), np.nan)
    if pd.api.types.is_numeric_dtype(column):
        plain: NDArray[np.float64] = column.to_numpy(dtype=float, na_value=np.nan)
        return np.where(too_large(plain), np.nan, plain)
    codes, distinct = pd.factorize(column)
    read = np.array([_number(v) for v in distinct] + [math.nan])
    out: NDArray[np.float64] = read[codes]
    return out


def _number(value: object) -> float:
    if isinstance(value, (bool, np.bool_)):
        return math.nan
    if isinstance(value, (int, float, np.number)):
        try:
            number = float(value)
        except OverflowError:
            return math.nan
        return number if abs(number) <= LARGEST else math.nan
    return number_in(str(value)[:64])[0] if isinstance(value, str) else math.nan


def wholes_of(values: Any) -> list[float]:
    """What the cells say they are out of: 10 for ``8/10``, 100 for ``60 %``.

    Examples
    --------
    >>> wholes_of(["8/10", "7/10", "7"]), wholes_of(["60 %"]), wholes_of(["7"])
    ([10.0], [100.0], [])
    """
    wholes = {number_in(v[:64])[1] for v in list(values)[:10_000] if isinstance(v, str)}
    return sorted(w for w in wholes if not math.isnan(w))
