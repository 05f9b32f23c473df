"""Where rows go: into a frame, or streamed to Parquet parts of bounded size."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError, StoreError
from judgestats.judgments.columns import RAW_COLUMNS
from judgestats.judgments.design import Task

Row = Mapping[str, Any]
"""A judgment by column name; None = missing."""

FollowUp = Callable[[Row], Iterable[Task] | Awaitable[Iterable[Task]]]
"""Called with each row that is done; gives the tasks that follow from it (often none)."""

_FLOATS = (
    "temperature",
    "tokens_in",
    "tokens_out",
    "tokens_cached",
    "tokens_reasoning",
    "cost_usd",
    "latency_s",
)
_COUNTS = ("replicate", "choices_in_request", "attempts")


def _frame(rows: list[Row], factors: list[str]) -> pd.DataFrame:
    columns = {name: [row[name] for row in rows] for name in RAW_COLUMNS}
    for name in factors:
        columns[name] = [row.get(name, "") for row in rows]
    frame = pd.DataFrame(columns)
    types: dict[str, Any] = {
        **dict.fromkeys(_FLOATS, "float64"),
        **dict.fromkeys(_COUNTS, "int64"),
        "cached": "bool",
    }
    texts = [c for c in frame.columns if c not in types]
    return frame.astype({**types, **dict.fromkeys(texts, "str")})


def _factors(rows: list[Row]) -> list[str]:
    names: dict[str, None] = {}
    for row in rows:
        if len(row) > len(RAW_COLUMNS):
            names.update(dict.fromkeys(k for k in row if k.startswith("factor_")))
    return list(names)


class FrameSink:
    """Keeps all rows; gives them in the order of the plan."""

    def __init__(self) -> None:
        self._rows: list[tuple[tuple[int, ...], Row]] = []

    def add(self, place: tuple[int, ...], row: Row) -> None:
        """Take a row."""
        self._rows.append((place, row))

    def finish(self) -> tuple[pd.DataFrame, tuple[Path, ...]]:
        """The frame."""
        self._rows.sort(key=lambda pair: pair[0])
        rows = [row for _, row in self._rows]
        return _frame(rows, _factors(rows)), ()


class PartSink:
    """Writes every `size` rows to a Parquet file, so that memory does not grow with their number.

    Parts are in the order in which answers came. A part is written beside its name and then moved,
    so that a file that is there is whole.
    """

    def __init__(self, folder: Path, *, size: int = 5000) -> None:
        self._folder = folder
        self._size = size
        self._rows: list[Row] = []
        self._parts: list[Path] = []
        self._factors: list[str] | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            there = next(folder.glob("part-*.parquet"), None)
        except OSError as error:
            raise StoreError(
                f"stream_to: the folder {folder} cannot be used ({error.strerror})."
            ) from None
        if there is not None:
            raise InputError(
                f"stream_to: the folder {folder} already holds parts ({there.name}). "
                "Name an empty folder: answers already paid for come from the journal."
            )

    def add(self, place: tuple[int, ...], row: Row) -> None:
        """Take a row."""
        del place
        self._rows.append(row)
        if len(self._rows) >= self._size:
            self._write()

    def _write(self) -> None:
        factors = _factors(self._rows)
        if self._factors is None:
            self._factors = factors
        elif set(factors) - set(self._factors):
            raise InputError(
                "stream_to: conditions of one collection must have the same factors; "
                f"{', '.join(sorted(set(factors) - set(self._factors)))} came later."
            )
        part = self._folder / f"part-{len(self._parts):05d}.parquet"
        beside = part.with_suffix(".tmp")
        try:
            _frame(self._rows, self._factors).to_parquet(beside, index=False)
            beside.replace(part)
        except OSError as error:
            raise StoreError(
                f"stream_to: {part} cannot be written ({error.strerror}). The answers are in the "
                "journal; the same command goes on from there."
            ) from None
        self._parts.append(part)
        self._rows = []

    def finish(self) -> tuple[None, tuple[Path, ...]]:
        """The files written."""
        if self._rows or not self._parts:
            self._write()
        return None, tuple(self._parts)
