"""Estimates as a sentence tells them: the value with its interval, decimals as in the tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from judgestats.stats.notation import apa_number

__all__ = ["told_coefficient", "told_sem"]

_DECIMALS = 3
"""As many as the tables of a report give a coefficient."""
_USELESS = 10.0
"""An upper end so many times the estimate says only that its size is not known."""


def told_coefficient(row: Mapping[Any, Any] | pd.Series, key: str) -> str:
    """A coefficient that cannot exceed 1, with its interval where the row has one.

    Parameters
    ----------
    row : mapping or Series
        A row of a table of conditions: ``key``, ``key_low`` and ``key_high``.
    key : str
        The coefficient's column.

    Returns
    -------
    str

    Examples
    --------
    >>> told_coefficient({"icc1": 0.9494, "icc1_low": 0.91, "icc1_high": 0.972}, "icc1")
    '.949 [.910, .972]'
    >>> told_coefficient({"icc1": 1.0}, "icc1")
    '1.000'
    """
    return _told(*(float(row.get(k, math.nan)) for k in (key, f"{key}_low", f"{key}_high")))


def told_sem(row: Mapping[Any, Any] | pd.Series) -> str:
    """The standard error of one judgment in score points, with its interval.

    It is the root of the within-item variance, so its interval is the root of that one's.

    Parameters
    ----------
    row : mapping or Series
        A row of a table of conditions: ``sem`` and the bounds of ``within_variance``.

    Returns
    -------
    str

    Examples
    --------
    >>> row = {"sem": 0.5, "within_variance_low": 0.16, "within_variance_high": 0.36}
    >>> told_sem(row)
    '0.50 [0.40, 0.60]'
    >>> told_sem(row | {"within_variance_high": 4e5})
    '0.50 (no useful interval: few questions carry it)'
    """
    bounds = [float(row.get(f"within_variance_{end}", math.nan)) for end in ("low", "high")]
    low, high = (math.sqrt(b) if b >= 0 else math.nan for b in bounds)
    sem = float(row["sem"])
    if high > _USELESS * sem:
        return f"{apa_number(sem)} (no useful interval: few questions carry it)"
    return _told(sem, low, high, digits=2, bounded=False)


def _told(
    value: float, low: float, high: float, *, digits: int = _DECIMALS, bounded: bool = True
) -> str:
    shown = [apa_number(v, digits=digits, bounded=bounded) for v in (value, low, high)]
    if math.isnan(low) or math.isnan(high):
        return shown[0]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]"
