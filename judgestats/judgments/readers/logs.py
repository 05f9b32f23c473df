"""What a file is, by its content; the rows a reader makes of it; several files as one frame."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.frame import parsed_frame
from judgestats.judgments.readers.untrusted import (
    MAX_LINE,
    Records,
    cut,
    head,
    json_document,
    json_value,
    opened,
    records,
)

_COLUMNS: dict[str, Any] = {
    "judge": "",
    "temperature": math.nan,
    "item_id": "",
    "cluster": "",
    "category": "",
    "order": "",
    "replicate": 0,
    "status": "",
    "score": math.nan,
    "choice": "",
    "reason": "",
    "raw_text": "",
    "explanation": "",
    "finish_reason": "",
    "prompt_sha": "",
    "model_reported": "",
    "tokens_in": math.nan,
    "tokens_out": math.nan,
    "cost_usd": math.nan,
    "latency_s": math.nan,
    "asked_at": "",
    "scorer": "",
    "answerer": "",
    "label": "",
    "task": "",
    "trace_id": "",
}
MAX_ROWS = 20_000_000


@dataclass(frozen=True, kw_only=True)
class Log:
    """A file whose form is known: ``zip``, ``sqlite``, ``json``, ``jsonl`` or ``other``.

    `first` is the first record of JSON lines or of a list, or the one JSON object; `document` the
    whole JSON value where the file is one.
    """

    path: Path
    kind: str
    first: dict[str, Any] = field(default_factory=dict)
    document: Any = None
    judge: str = ""

    def has(self, *names: str) -> bool:
        """Whether the first record has all of these keys."""
        return set(names) <= set(self.first)

    def records(self) -> Records:
        """All records: lines, or the objects of a list."""
        if self.kind == "jsonl":
            yield from records(self.path)
            return
        listed = self.document if isinstance(self.document, list) else [self.document]
        for i, value in enumerate(listed, start=1):
            if not isinstance(value, dict):
                raise InputError(f"{self.path}, record {i} is no JSON object.")
            yield f"record {i}", value


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A tool's logs: how they are recognised, and read.

    A module of this folder that declares one is found by the registry; no two fit one file. `item`
    says what it takes for an item.
    """

    name: str
    about: str
    fits: Callable[[Log], bool]
    read: Callable[[Log], pd.DataFrame]
    item: str = "what the log names"


def understood_log(frame: pd.DataFrame, reader: Reader) -> str:
    """What a log was understood as, in one sentence.

    Parameters
    ----------
    frame : DataFrame
        As a reader gives it.
    reader : Reader

    Returns
    -------
    str
    """
    judges = list(dict.fromkeys(map(str, frame["judge"])))
    parts = [f"log of {reader.name}: item = {reader.item}", f"judge = {_few(judges)}"]
    if "factor_scorer" in frame:
        scorers = list(dict.fromkeys(map(str, frame["factor_scorer"])))
        parts.append(f"conditions also by scorer ({_few(scorers)})")
    sizes = frame.groupby(["condition", "item_id", "order"], sort=False).size()
    low, high = int(sizes.min()), int(sizes.max())
    counted = f"{low} to {high}" if low < high else f"{low}"
    parts.append(f"{counted} repeat{'s' * (high > 1)}")
    if "label" in frame and (frame["label"] != "").any():
        parts.append("with people's labels")
    return "; ".join(parts)


def _few(names: list[str]) -> str:
    return ", ".join(cut(n, 40) for n in names[:4]) + (", ..." if len(names) > 4 else "")


def open_log(path: Path, *, judge: str = "") -> Log:
    """Look at a file's content; the name is not looked at.

    Parameters
    ----------
    path : Path
    judge : str
        The judge's name, for logs that do not tell it.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    start = head(path)
    if start.startswith(b"PK\x03\x04"):
        return Log(path=path, kind="zip", judge=judge)
    if start.startswith(b"SQLite format 3\x00"):
        return Log(path=path, kind="sqlite", judge=judge)
    opening = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if opening == b"{":
        line = _first_line(path)
        if line is not None:
            return Log(path=path, kind="jsonl", first=line, judge=judge)
    if opening in {b"{", b"["}:
        document = json_document(path)
        first = document[0] if isinstance(document, list) and document else document
        return Log(
            path=path,
            kind="json",
            first=first if isinstance(first, dict) else {},
            document=document,
            judge=judge,
        )
    return Log(path=path, kind="other", judge=judge)


def _first_line(path: Path) -> dict[str, Any] | None:
    """The first line as an object, where more lines follow or the name says JSON lines."""
    with opened(path) as stream:
        raw = b""
        while not raw.strip():
            raw = stream.readline(MAX_LINE + 1)
            if not raw:
                return None
        if len(raw) > MAX_LINE:
            return None
        more = stream.readline(64).strip()
    if not more and ".jsonl" not in path.name.lower():
        return None
    try:
        value = json_value(raw.decode("utf-8-sig"), str(path))
    except (InputError, UnicodeDecodeError):
        return None  # not a record a line: a document over several lines, which is read next
    return value if isinstance(value, dict) else None


class Rows:
    """Judgments column by column: a million rows as lists of shared values, not as dictionaries."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        self._columns: dict[str, list[Any]] = {}
        self._shared: dict[str, str] = {}
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def add(self, **values: Any) -> None:
        """Add a judgment; what is not given is missing."""
        n, columns, shared = self._n, self._columns, self._shared
        if n >= MAX_ROWS:
            raise InputError(f"{self.path} holds more than {MAX_ROWS:,} judgments. Split the file.")
        for name, given in values.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = [_COLUMNS[name]] * n
            short = isinstance(given, str) and len(given) < 200
            column.append(shared.setdefault(given, given) if short else given)
        if len(values) < len(columns):
            for name, column in columns.items():
                if len(column) == n:
                    column.append(_COLUMNS[name])
        self._n = n + 1

    def note(self, text: str) -> None:
        """Something the user of these judgments has to know; once each."""
        if text not in self.notes:
            self.notes.append(text)

    def frame(self, *, scale: tuple[float, float] | None = None) -> pd.DataFrame:
        """The parsed frame; a condition is judge and temperature, and the scorer if there are more.

        Raises
        ------
        InputError
            There is no judgment.
        """
        if not len(self):
            why = f" ({' '.join(self.notes)})" if self.notes else ""
            raise InputError(f"{self.path}: the log holds no judgments{why}.")
        table = pd.DataFrame(self._columns)
        missing = {k: v for k, v in _COLUMNS.items() if k not in self._columns}
        return finished(table.assign(**missing), notes=self.notes, scale=scale)


def finished(
    table: pd.DataFrame, *, notes: list[str], scale: tuple[float, float] | None
) -> pd.DataFrame:
    """Number the repetitions, name the conditions, and settle the columns.

    An item of which no cluster is told is a cluster of its own.
    """
    table["cluster"] = table["cluster"].where(table["cluster"] != "", table["item_id"])
    if len(set(table["task"])) > 1:
        for column in ("item_id", "cluster"):
            table[column] = table["task"] + ": " + table[column]
    factors: tuple[str, ...] = ()
    if len(set(table["scorer"])) > 1:
        table["factor_scorer"] = table["scorer"]
        factors = ("factor_scorer",)
    for name in ("item_id", "cluster", "judge"):
        table[name] = table[name].where(table[name] != "", "(unnamed)")
    temperature = table["temperature"]
    table["temperature"] = temperature.where(temperature.between(0, 2) | temperature.isna())
    for name in ("tokens_in", "tokens_out", "cost_usd", "latency_s"):
        table[name] = table[name].where(table[name] >= 0)
    key = ["judge", "temperature", "scorer", "item_id", "order"]
    if table.duplicated([*key, "replicate"]).any() or (table["replicate"] < 0).any():
        table["replicate"] = table.groupby(key, sort=False, dropna=False).cumcount()
    for name in ("label", "task", "answerer", "scorer", "trace_id"):
        if (table[name] == "").all():
            table = table.drop(columns=name)
    frame = parsed_frame(table, factors=factors)
    frame.attrs["notes"] = list(notes)
    if scale is not None:
        frame.attrs["scale"] = scale
    return frame


def digest(value: str) -> str:
    """The first 12 hex digits of a text's SHA-256; empty for an empty text."""
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:12] if value else ""


def named_text(value: str) -> str:
    """A readable, unique name of a text: its beginning, and a digest where that is cut.

    Examples
    --------
    >>> named_text("Why is the sky blue?")
    'Why is the sky blue?'
    """
    line = " ".join(cut(value, 2000).split())
    return line if len(line) <= 60 else f"{line[:48]}... {digest(value)[:8]}"


def moment(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC; empty where that is no time."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""
