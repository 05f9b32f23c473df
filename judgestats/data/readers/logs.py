"""Recognition of logs, folders of logs, and tables by what a file holds."""

from __future__ import annotations

import codecs
import hashlib
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice, pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from judgestats.data.columns import JUDGMENT
from judgestats.data.readers.columns import Remark
from judgestats.data.readers.frame import DEFAULTS, TOLD, condition_labels, parsed_frame
from judgestats.data.readers.json_paths import BLOCK, projected
from judgestats.errors import InputError
from judgestats.files import guarded, records, tables
from judgestats.files.text import shorten_text, text
from judgestats.results.numbers import count_noun

_COLUMNS: Mapping[str, Any] = {
    **{name: JUDGMENT[name] for name in (*TOLD, *DEFAULTS)},
    **dict.fromkeys(("scorer", "author", "system_a", "system_b", "label", "task", "trace_id"), ""),
}


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

    def records(self) -> guarded.Records:
        """All records: lines, or the objects of a list."""
        if self.kind == "jsonl":
            yield from records(self.path)
            return
        listed = self.document if isinstance(self.document, list) else [self.document]
        for i, value in enumerate(listed, start=1):
            if not isinstance(value, dict):
                raise InputError(f"{self.path}, record {i} is not a JSON object.")
            yield f"record {i}", value


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A tool's logs: how they are recognised, and read.

    A module of this folder that declares one is found by the registry; no two fit one file. `item`
    says what it uses as an item, `roles` which paths serve as what, `layout` the name of the layout
    where it is another.
    """

    name: str
    about: str
    fits: Callable[[Log], bool]
    read: Callable[[Log], pd.DataFrame]
    item: str = "what the log names"
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    layout: str = ""


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
        parts.append("with human labels")
    return "; ".join(parts)


def _few(names: list[str]) -> str:
    return ", ".join(shorten_text(n, 40) for n in names[:4]) + (", ..." if len(names) > 4 else "")


def open_log(path: Path, *, judge: str = "") -> Log:
    """Look at a file's content; the name is not looked at.

    Parameters
    ----------
    path : Path
    judge : str
        The judge's name, for logs that do not say.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    start = guarded.head(path)
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
        document = guarded.json_document(path)
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
    told = ".jsonl" in path.name.lower()
    try:
        first = [raw for _, raw in islice(guarded.lines(path), 2)]
    except InputError:
        if told:
            raise
        return None  # one line of a whole document, which is read next
    if len(first) < 2 and not (told and first):
        return None
    try:
        value = guarded.json_value(first[0], str(path))
    except InputError:
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
        if n >= guarded.LIMITS.rows:
            raise InputError(
                f"{self.path} holds more than {guarded.LIMITS.rows:,} judgments. Split the file."
            )
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

    def holds(self, name: str) -> bool:
        """Whether any judgment has something in a column."""
        return any(self._columns.get(name, ()))

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

    An item without a cluster is its own cluster.
    """
    table["cluster"] = table["cluster"].where(table["cluster"] != "", table["item_id"])
    if len(set(table["task"])) > 1:
        table = _named_by_task(table)
    factors: tuple[str, ...] = ()
    if len(set(table["scorer"])) > 1:
        table["factor_scorer"] = table["scorer"]
        factors = ("factor_scorer",)
    if (table["scorer"] != "").any():
        table["criterion"] = table["scorer"]
    for name in ("item_id", "cluster", "judge"):
        table[name] = table[name].where(table[name] != "", "(unnamed)")
    temperature = table["temperature"]
    table["temperature"] = temperature.where(temperature.between(0, 2) | temperature.isna())
    for name in ("tokens_in", "tokens_out", "cost_usd", "latency_s"):
        table[name] = table[name].where(table[name] >= 0)
    key = ["judge", "temperature", "scorer", "item_id", "order"]
    if table.duplicated([*key, "replicate"]).any() or (table["replicate"] < 0).any():
        table["replicate"] = table.groupby(key, sort=False, dropna=False).cumcount()
    for name in ("label", "task", "author", "system_a", "system_b", "scorer", "trace_id"):
        if (table[name] == "").all():
            table = table.drop(columns=name)
    frame = parsed_frame(table, factors=factors)
    frame.attrs["notes"] = list(notes)
    if scale is not None:
        frame.attrs["scale"] = scale
    return frame


def object_of(value: object) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """A JSON list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def is_missing(value: object) -> bool:
    """Whether a value is null or not a number."""
    return value is None or (isinstance(value, float) and math.isnan(value))


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
    line = " ".join(shorten_text(value, 2000).split())
    return line if len(line) <= 60 else f"{line[:48]}... {digest(value)[:8]}"


def moment(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC; empty where that is not a time."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


_MOST_FILES = 5_000
_DEPTH = 3
_WORDS = ("label", "task", "author", "system_a", "system_b", "scorer", "criterion")


def read_folder(
    folder: Path, readers: Mapping[str, Reader], *, reader: str = "auto", judge: str = ""
) -> tuple[str, pd.DataFrame]:
    """Read every log in a folder (and three levels below) that one tool wrote.

    Links are not followed: what is outside the folder was not meant.

    Parameters
    ----------
    folder : Path
    readers : mapping of name to Reader
    reader : str
        ``auto``, or one of the names: only its files are read then.
    judge : str

    Returns
    -------
    tuple of str and DataFrame
        The reader's name, and the parsed frame.

    Raises
    ------
    InputError
        No file, or files of several tools, are recognised; or one of them cannot be read.
    """
    by_reader: dict[str, list[Log]] = {}
    unknown = 0
    for path in files_in(folder):
        log, name = _look(path, readers, judge)
        if log is None or not name or (reader not in {"auto", name}):
            unknown += 1
        else:
            by_reader.setdefault(name, []).append(log)
    if not by_reader:
        raise InputError(
            f"{folder} is a folder, and none of its {unknown} files is a log that is recognised"
            + (f" as {reader}" if reader != "auto" else "")
            + ". Name the file; a table needs --map item_id=COLUMN,score=COLUMN."
        )
    if len(by_reader) > 1:
        text = ", ".join(
            f"{name} ({count_noun(len(logs), 'file', 'files')})" for name, logs in by_reader.items()
        )
        raise InputError(
            f"{folder} holds logs of several tools: {text}. Choose one with --reader NAME, or name "
            "a file."
        )
    name, logs = next(iter(by_reader.items()))
    frames: dict[str, pd.DataFrame] = {}
    notes: list[str] = []
    for log in logs:
        frame = readers[name].read(log)
        own = _content(frame)
        if own in frames:
            text = f"{log.path.name} holds the same judgments as another file: left out."
            notes.append(Remark(text, "duplicated_file"))
        else:
            frames[own] = frame
    return name, _together(list(frames.values()), notes, unknown)


def _content(frame: pd.DataFrame) -> str:
    """What a log says, in whatever form: an export next to its source is not a repetition."""
    content = frame[["condition", "item_id", "order", "status", "score", "choice", "raw_text"]]
    hashed = pd.util.hash_pandas_object(content.astype(str), index=False).sort_values()
    return hashlib.sha256(hashed.to_numpy().tobytes()).hexdigest()


def files_in(folder: Path) -> list[Path]:
    """The plain files of a folder and of three levels below, in order; no links, nothing hidden."""
    paths: list[Path] = []
    for place, folders, names in os.walk(folder, followlinks=False):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(n for n in folders if not n.startswith(".")) if depth < _DEPTH else []
        paths += [
            Path(place) / n
            for n in sorted(names)
            if not n.startswith(".") and not (Path(place) / n).is_symlink()
        ]
        if len(paths) > _MOST_FILES:
            raise InputError(
                f"{folder} holds more than {_MOST_FILES:,} files. Name a smaller folder."
            )
    return [p for p in paths if p.is_file()]


def _look(path: Path, readers: Mapping[str, Reader], judge: str) -> tuple[Log | None, str]:
    """Kind of a file; a file that is not a log (a picture, a broken JSON) is unknown."""
    try:
        log = open_log(path, judge=judge)
        return log, next((name for name, reader in readers.items() if reader.fits(log)), "")
    except InputError:
        return None, ""


def _together(frames: list[pd.DataFrame], text: list[str], unknown: int) -> pd.DataFrame:
    """Several logs as one: repetitions are numbered on where two logs hold the same judgment."""
    notes = list(dict.fromkeys(n for f in frames for n in f.attrs.get("notes", [])))
    notes += text
    scales = {f.attrs.get("scale") for f in frames}
    if len({t for f in frames if "task" in f for t in f["task"].unique()}) > 1:
        frames = [_named_by_task(f) for f in frames]
    frame = pd.concat(frames, ignore_index=True)
    for column in frame.columns.intersection(list(_WORDS)):
        frame[column] = frame[column].fillna("")
    factors = []
    for name in ("scorer", "task"):
        if name in frame and len(set(frame[name])) > 1:
            frame[f"factor_{name}"] = frame[name]
            factors.append(f"factor_{name}")
    frame["condition"] = condition_labels(frame, factors)
    key = ["condition", "item_id", "order", "stage"]
    if frame.duplicated([*key, "replicate"]).any():
        frame["replicate"] = frame.groupby(key, sort=False).cumcount()
    if unknown:
        rest = f"Not read: {count_noun(unknown, 'other file', 'other files')} of the folder."
        notes.append(Remark(rest, "other_files", unknown))
    frame.attrs = {"notes": notes, "scale": scales.pop() if len(scales) == 1 else None}
    return frame


def _named_by_task(frame: pd.DataFrame) -> pd.DataFrame:
    if "task" not in frame:
        return frame
    own = {c: frame["task"] + ": " + frame[c] for c in ("item_id", "cluster")}
    return frame.assign(**own)


ENDINGS = (
    ".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx", ".db", ".sqlite",
    ".sqlite3",
)  # fmt: skip
"""Of tables; the text forms also with ``.gz`` or ``.zst``."""
_FEWEST_RECORDS = 3
_SHARED_KEYS = 0.6


def table_of(
    path: Path,
    names: tables.Choice,
    *,
    table: str = "",
    paths: Sequence[str] = (),
    verdicts: tables.Choice = lambda _: (),
) -> pd.DataFrame:
    """Read a table, by what the file holds; where that does not tell, by its ending.

    Parameters
    ----------
    path : Path
        Separated text (commas, semicolons, tabs, bars), JSON lines, JSON (each also as ``.gz``),
        Parquet, an Excel workbook, or an SQLite database.
    names : callable
        Given the empty table, the columns that are names. They are read as text: ``007`` is not
        ``7``, and an item with the name ``NA`` is not missing.
    table : str
        The table of a database, or the sheet of a workbook, where there are several.
    paths : sequence of str
        Paths into JSON; where one goes through a list (``runs[].score``), its entries are the rows.
    verdicts : callable
        Given the empty table, the columns that may hold verdicts. There ``N/A`` is not a gap.

    Raises
    ------
    InputError
        The file is damaged, too large, not UTF-8, or no table.
    """
    start = guarded.head(path)
    name = guarded.base_name(path)
    if start.startswith(b"PAR1"):
        return tables.parquet_table(path)
    if start.startswith(b"SQLite format 3\x00"):
        return tables.sqlite_table(path, table)
    if start.startswith(b"PK\x03\x04"):
        return tables.workbook_table(path, table)
    if table:
        raise InputError(f"{path} is neither a database nor a workbook: leave --table out.")
    _refuse_others(path, start)
    opening = start.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if name.endswith(".parquet"):
        raise InputError(f"{path}: the file cannot be read (it is not a Parquet file, or was cut).")
    separated = name.endswith((".csv", ".tsv", ".txt"))
    if opening not in {b"{", b"["} and (separated or not name.endswith(ENDINGS)):
        if not separated:
            raise InputError(
                f"{path}: the ending is not one of {', '.join(ENDINGS)} (text forms may end in "
                ".gz). Rename the file, or name a reader with --reader."
            )
        mark = "\t" if name.endswith(".tsv") else ","
        return tables.separated_table(path, mark, names, verdicts)
    if name.endswith((".jsonl", ".ndjson")) or (opening == b"{" and open_log(path).kind == "jsonl"):
        if any("[]" in p for p in paths):
            return pd.DataFrame(projected([row for _, row in records(path)], paths))
        return _frame(path, (row for _, row in records(path)))
    value = records_by_id(guarded.json_document(path))
    if any("[]" in p for p in paths):
        return pd.DataFrame(projected(value, paths))
    value = _unpack_records(value)
    if isinstance(value, dict) and _is_columns(value):
        return pd.DataFrame(value)
    if not (isinstance(value, list) and all(isinstance(v, dict) for v in value)):
        raise guarded.NoTableError(f"{path}: expected a JSON list of objects, one per judgment.")
    return _frame(path, value)


def _frame(path: Path, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Objects of JSON as a table, its columns and cells counted before it is made."""
    meter = guarded.Meter(path, "JSON")
    cells: list[dict[str, Any]] = []
    names: set[str] = set()
    for row in rows:
        cells.append(_cells(row))
        names.update(cells[-1])
        meter.columns(len(names), "first records")
    meter.cells(len(cells) * len(names))
    return pd.DataFrame(cells)


def _unpack_records(value: Any) -> Any:
    """The records in an object: by group, by columns, or in its only list; else the value itself.

    Words next to the only list are the same for all of its records.
    """
    if isinstance(value, list) and len(value) > 1 and _are(list, value):
        value = {"columns": value[0], "data": value[1:]}
    if not isinstance(value, dict) or len(value) < 2:
        return value
    names, rows, own = value.get("columns", []), value.get("data", []), list(value.values())
    if _are(str, names) and _are(list, rows) and all(len(row) == len(names) for row in rows):
        return [dict(zip(names, row, strict=True)) for row in rows]
    lists = {key: found for key, one in value.items() if _are(dict, found := records_by_id(one))}
    if len(lists) == len(value) and _alike([records[0] for records in lists.values()]):
        return [{BLOCK: key, **record} for key, records in lists.items() for record in records]
    rows = [row for records in lists.values() for row in records]
    plain = not any(isinstance(v, dict | list) for row in rows for v in row.values())
    of_tests = any(key.casefold().startswith("test") for key in lists)  # a log without its verdicts
    alone = len(lists) == 1 == sum(isinstance(v, list) and bool(v) for v in own)
    if alone and plain and not of_tests:
        words = {key: word for key, word in value.items() if isinstance(word, str)}
        return [{**words, **row} for row in rows]
    return value


def records_by_id(value: Any) -> Any:
    """The records of an object with one for each id, or a column for each name; else the value.

    Examples
    --------
    >>> records_by_id({"x": {"score": 3}, "y": {"score": 4}, "z": {"score": 3}})[1]
    {'id': 'y', 'score': 4}
    """
    own = list(value.values()) if isinstance(value, dict) else []
    if len(own) > 1 and _are(dict, own) and len({*map(tuple, own)}) == 1 and "0" in own[0]:
        return [{name: cells[row] for name, cells in value.items()} for row in own[0]]
    if len(own) < _FEWEST_RECORDS or not _alike(own):
        return value
    return [{"id": key, **record} for key, record in value.items()]


def _are(kind: type, values: Any) -> bool:
    """Whether values are a list of one kind, and not an empty one."""
    return isinstance(values, list) and bool(values) and all(isinstance(v, kind) for v in values)


def _alike(records: Sequence[Any]) -> bool:
    """Whether objects share most of their keys."""
    if not _are(dict, records) or not all(records):
        return False
    shared = [len(r.keys() & s.keys()) / len(r.keys() | s.keys()) for r, s in pairwise(records)]
    return median(shared) >= _SHARED_KEYS


def _is_columns(value: Mapping[str, Any]) -> bool:
    """Whether an object holds columns of one length, as ``DataFrame.to_dict("list")`` writes."""
    lists = [v for v in value.values() if isinstance(v, list)]
    return bool(value) and len(lists) == len(value) and len({len(v) for v in lists}) == 1


def _refuse_others(path: Path, start: bytes) -> None:
    """Name what is saved under a table's name now and then."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or (
        len(start) > 3 and start[0] and start[1:4:2] == b"\x00\x00"
    ):
        raise InputError(f"{path} is not UTF-8 but UTF-16. Save it as UTF-8 (CSV UTF-8 in Excel).")
    if start.lstrip()[:15].lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        raise InputError(
            f"{path} holds a web page (HTML), not data: the download may need a login, or the "
            "address of the raw file."
        )
    if start.startswith(b"version https://git-lfs"):
        raise InputError(f"{path} is a pointer of Git LFS, not the file: run git lfs pull.")
    if start.startswith(b"%PDF"):
        raise InputError(f"{path} is a PDF. Export the table as CSV.")


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object as cells: a list or an object as its text, and text that UTF-8 can hold."""
    return {
        shorten_text(k): text(v) if isinstance(v, (str, list, dict)) else v for k, v in row.items()
    }
