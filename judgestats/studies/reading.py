"""Tables of a study's folder, and how differences between its conditions are told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.items.files import Row, read_source
from judgestats.results.numbers import apa_number, apa_p, with_bounds
from judgestats.stats.inference.result import Comparison, Estimate


def file_of(folder: Path, *names: str, study: str) -> Path:
    """The first file of a folder that has one of the names, packed or not.

    Raises
    ------
    InputError
        If there is none.
    """
    if not folder.is_dir():
        raise InputError(f"replicate: there is no folder {str(folder)!r} for {study}.")
    for name in names:
        files = sorted(folder.glob(f"{name}*"))
        if files:
            return files[0]
    raise InputError(f"replicate: {str(folder)!r} holds no {' or '.join(names)} of {study}.")


def records_of(path: Path, needed: Sequence[str]) -> tuple[Row, ...]:
    """The rows of a file, each with the fields that are needed.

    Raises
    ------
    InputError
        If the file is damaged or a row lacks one.
    """
    rows = read_source(path).rows
    for row in rows:
        missing = [name for name in needed if name not in row.values]
        if missing:
            raise InputError(f"replicate: {row.where} lacks {', '.join(missing)}.")
    return rows


def table_of(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """A file as a frame of text, with the columns that are needed; nothing is empty text.

    Raises
    ------
    InputError
        As `records_of`.
    """
    rows = records_of(path, columns)
    return pd.DataFrame(
        [{c: _text(row.values[c]) for c in columns} for row in rows], columns=list(columns)
    )


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value).strip()


def bounded(value: float, *, digits: int = 3) -> str:
    """A share or coefficient.

    Examples
    --------
    >>> bounded(0.8136)
    '.814'
    """
    return apa_number(value, digits=digits, bounded=True)


def of_a_hundred(value: float, *, digits: int = 1) -> str:
    """A share in per cent, as studies print accuracies.

    Examples
    --------
    >>> of_a_hundred(0.7172)
    '71.7 %'
    """
    return f"{100 * value:.{digits}f} %"


def hundredths(estimate: Estimate, *, digits: int = 1) -> str:
    """An estimated share in per cent with its interval."""
    at = estimate.interval
    low, high = (at.low, at.high) if at else (float("nan"), float("nan"))
    return f"{with_bounds(100 * estimate.estimate, 100 * low, 100 * high, digits=digits)} %"


def shifted(row: Comparison, *, adjusted: bool = True) -> str:
    """A difference of shares in points of a hundred, with its interval and p."""
    p = row.p_adjusted if adjusted else row.p_value
    sign = "+" if row.estimate > 0 else ""
    return f"{sign}{row.with_bounds(digits=1, times=100)} points, {apa_p(p)}"
