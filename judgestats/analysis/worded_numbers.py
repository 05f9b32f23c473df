"""Numbers of a table of conditions as a sentence tells them: the estimate with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from judgestats.results.numbers import apa_number, estimate_parts, with_bounds
from judgestats.results.parts import LOST

Row = Mapping[Any, Any] | pd.Series


def worded_coefficient(row: Row, key: str) -> str:
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
    >>> worded_coefficient({"icc1": 0.9494, "icc1_low": 0.91, "icc1_high": 0.972}, "icc1")
    '.949 [.910, .972]'
    >>> worded_coefficient({"icc1": 1.0}, "icc1")
    '1.00'
    """
    return with_bounds(*_parts(row, key), bounded=True)


def worded_number(row: Row, key: str) -> str:
    """A number of any size, with its interval where the row has one.

    Examples
    --------
    >>> worded_number({"mean": 7.2514, "mean_low": 6.9, "mean_high": 7.612}, "mean")
    '7.25 [6.90, 7.61]'
    """
    return with_bounds(*_parts(row, key))


def worded_percent(row: Row, key: str) -> str:
    """A share in per cent, with its interval where the row has one.

    Examples
    --------
    >>> worded_percent({"accuracy": 0.625, "accuracy_low": 0.51, "accuracy_high": 0.74}, "accuracy")
    '62.5 % [51.0, 74.0]'
    """
    share, *bounds = (100 * v for v in _parts(row, key))
    number, interval = estimate_parts(share, *bounds, digits=1)
    return f"{number} % {interval}".rstrip()


def worded_reliability(row: Row) -> str:
    """ICC(1,1) with its interval; one below 1 that has none is not estimable.

    Examples
    --------
    >>> worded_reliability({"icc1": 0.51}), worded_reliability({"icc1": 1.0})
    ('.51 [not estimable]', '1.00')
    """
    text = worded_coefficient(row, "icc1")
    value, low, _ = _parts(row, "icc1")
    return f"{text} {LOST}" if math.isnan(low) and value < 1 else text


def worded_sem(row: Row) -> str:
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
    >>> worded_sem(row)
    '0.50 [0.40, 0.60]'
    >>> worded_sem({"sem": 0.5})
    '0.50 [not estimable]'
    """
    bounds = [float(row.get(f"within_variance_{end}", math.nan)) for end in ("low", "high")]
    low, high = (math.sqrt(b) if b >= 0 else math.nan for b in bounds)
    sem = float(row["sem"])
    if math.isnan(high) and sem > 0:
        return f"{apa_number(sem)} {LOST}"
    return with_bounds(sem, low, high)


def _parts(row: Row, key: str) -> tuple[float, float, float]:
    value, low, high = (float(row.get(k, math.nan)) for k in (key, f"{key}_low", f"{key}_high"))
    return value, low, high
