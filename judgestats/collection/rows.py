"""Rows of the raw judgments, and their writer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.collection.journal_file import ANSWER_FIELDS, Answer, values_of
from judgestats.collection.request import Ready
from judgestats.collection.retry import FailedRequest
from judgestats.data.columns import RAW_COLUMNS, Task
from judgestats.errors import InputError, StoreError

_RENAMED = {
    "text": "raw_text",
    "mode": "reply_mode",
    "model": "model_reported",
    "choices": "choices_in_request",
}
_ANSWERED = tuple(_RENAMED.get(name, name) for name in ANSWER_FIELDS)
"""The columns of an answer's values, in their order."""


def blank_row(task: Task, ready: Ready, experiment: str) -> dict[str, Any]:
    """The row of a judgment before anything is known of its reply."""
    condition = task.condition
    row: dict[str, Any] = {
        "experiment": experiment,
        "condition": condition.label,
        "judge": condition.judge,
        "temperature": condition.temperature,
        "item_id": task.item_id,
        "cluster": task.cluster,
        "category": task.category,
        "replicate": task.replicate,
        "stage": task.stage,
        "order": task.order,
        "transport": "answered",
        "failure": "",
        "raw_text": "",
        "reply_mode": ready.prompted.mode.value,
        "finish_reason": "",
        "prompt_sha": ready.prompted.prompt_sha,
        "model_reported": "",
        "fingerprint": "",
        "requested": ready.requested,
        "sent": "",
        "choices_in_request": 1,
        "tokens_in": None,
        "tokens_out": None,
        "tokens_cached": None,
        "tokens_reasoning": None,
        "cost_usd": None,
        "latency_s": None,
        "attempts": 0,
        "cached": False,
        "asked_at": "",
    }
    for name, value in condition.levels.items():
        row[f"factor_{name}"] = value
    return row


def answer_row(
    task: Task, ready: Ready, answer: Answer, *, cached: bool, experiment: str
) -> dict[str, Any]:
    """The row of an answered judgment."""
    row = blank_row(task, ready, experiment)
    row |= dict(zip(_ANSWERED, values_of(answer), strict=True))
    row["latency_s"] = None if answer.latency_s < 0 else answer.latency_s
    row["cached"] = cached
    return row


def failed_row(
    task: Task, ready: Ready, failed: FailedRequest, *, experiment: str
) -> dict[str, Any]:
    """The row of a judgment that was given up."""
    row = blank_row(task, ready, experiment)
    row["transport"] = "failed"
    row["failure"] = failed.failure.kind.value
    row["latency_s"] = failed.failure.latency_s
    row["attempts"] = failed.tried
    row["asked_at"] = failed.asked_at
    return row


def invalid_row(task: Task, ready: Ready, refused: str, *, experiment: str) -> dict[str, Any]:
    """The row of a judgment that was never asked for, since the model refuses its condition."""
    row = blank_row(task, ready, experiment)
    row["transport"] = "invalid_condition"
    row["failure"] = f"{refused}_refused"
    return row


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


class FrameWriter:
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


_PART_ROWS = 5000


class PartWriter:
    """Writes every 5,000 rows to a Parquet file, so that memory does not grow with their number.

    Parts are in the order in which answers came. A part is written next to its name and then moved,
    so that a file that is there is complete.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows: list[Row] = []
        self._parts: list[Path] = []
        self._factors: list[str] | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            there = next(folder.glob("part-*.parquet"), None)
        except OSError as error:
            why = f"the folder {folder} cannot be used ({error.strerror})"
            raise StoreError(f"stream_to: {why}.") from None
        if there is not None:
            held = f"the folder {folder} already holds parts ({there.name})"
            raise InputError(f"stream_to: {held}. Name an empty folder.")

    def add(self, place: tuple[int, ...], row: Row) -> None:
        """Take a row."""
        del place
        self._rows.append(row)
        if len(self._rows) >= _PART_ROWS:
            self._write()

    def _write(self) -> None:
        factors = _factors(self._rows)
        if self._factors is None:
            self._factors = factors
        elif later := ", ".join(sorted(set(factors) - set(self._factors))):
            raise InputError(
                "stream_to: conditions of one collection must have the same factors; "
                f"{later} came later."
            )
        part = self._folder / f"part-{len(self._parts):05d}.parquet"
        beside = part.with_suffix(".tmp")
        try:
            _frame(self._rows, self._factors).to_parquet(beside, index=False)
            beside.replace(part)
        except OSError as error:
            kept = "The answers are in the journal; the same command goes on from there."
            why = f"{part} cannot be written ({error.strerror})"
            raise StoreError(f"stream_to: {why}. {kept}") from None
        self._parts.append(part)
        self._rows = []

    def finish(self) -> tuple[None, tuple[Path, ...]]:
        """The files written."""
        if self._rows or not self._parts:
            self._write()
        return None, tuple(self._parts)
