"""A table's file as a frame: CSV and TSV, JSON lines, JSON, Parquet, by the ending of the name.

Like a log, a table is data of unknown origin: it is opened through `untrusted`, so that sizes are
counted while gzip is undone, and JSON that names a key twice or nests too deeply is refused.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.logs import open_log
from judgestats.judgments.readers.table_stores import refuse_bytes, sqlite_table, workbook_table
from judgestats.judgments.readers.trees import projected
from judgestats.judgments.readers.untrusted import (
    MAX_BYTES,
    NoTableError,
    cut,
    head,
    json_document,
    opened,
    plain_file,
    records,
    short,
    text,
)

if TYPE_CHECKING:
    import pyarrow as pa

ENDINGS = (
    ".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx", ".db", ".sqlite",
    ".sqlite3",
)  # fmt: skip
MAX_CELLS = 500_000_000
_FEWEST_RECORDS = 3
_SHARED_KEYS = 0.6
MAX_HEADER = 5_000
"""Of tables; the text forms also with ``.gz``."""

_INDEX = re.compile(r"__index_level_\d+__")
"""The column in which pandas writes row numbers that nobody named."""
_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "<NA>")
"""How programs write that a cell has no value: R writes NA, pandas nothing, others None."""
_NOT_APPLICABLE = frozenset({"N/A", "n/a"})
"""Those of them that say something in a column of verdicts."""


def table_of(
    path: Path,
    names: Callable[[pd.DataFrame], Collection[str]],
    *,
    table: str = "",
    paths: Sequence[str] = (),
    verdicts: Callable[[pd.DataFrame], Collection[str]] = lambda _: (),
) -> pd.DataFrame:
    """Read a table, by what the file holds; where that does not tell, by its ending.

    Parameters
    ----------
    path : Path
        Separated text (commas, semicolons, tabs, bars), JSON lines, JSON (each also as ``.gz``),
        Parquet, an Excel workbook, or an SQLite database.
    names : callable
        Given the empty table, which of its columns are names: kept as they are written in text, so
        that ``007`` is not ``7`` and an item that is called ``NA`` is not missing.
    table : str
        The table of a database, or the sheet of a workbook, where there are several.
    paths : sequence of str
        Paths into JSON; where one goes through a list (``runs[].score``), its entries are the rows.
    verdicts : callable
        Given the empty table, which of its columns may hold verdicts: there ``N/A`` is no gap.

    Raises
    ------
    InputError
        The file is damaged, too large, not UTF-8, or no table.
    """
    start = head(path)
    name = path.name.lower().removesuffix(".gz")
    if start.startswith(b"PAR1"):
        return _parquet(path)
    if start.startswith(b"SQLite format 3\x00"):
        return sqlite_table(path, table)
    if start.startswith(b"PK\x03\x04"):
        return workbook_table(path, table)
    if table:
        raise InputError(f"{path} is neither a database nor a workbook: leave --table out.")
    _refuse_others(path, start)
    opening = start.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if name.endswith(".parquet"):
        raise InputError(f"{path}: the file cannot be read (it is no Parquet file, or was cut).")
    if name.endswith((".csv", ".tsv", ".txt")) or not name.endswith(ENDINGS):
        if not name.endswith((".csv", ".tsv", ".txt")) and opening not in {b"{", b"["}:
            raise NoTableError(
                f"{path}: the ending is not one of {', '.join(ENDINGS)} (text forms may end in "
                ".gz). Rename the file, or name a reader with --reader."
            )
        if opening not in {b"{", b"["}:
            return _separated(path, "\t" if name.endswith(".tsv") else ",", names, verdicts)
    if name.endswith((".jsonl", ".ndjson")) or (opening == b"{" and open_log(path).kind == "jsonl"):
        if any("[]" in p for p in paths):
            return pd.DataFrame(projected([row for _, row in records(path)], paths))
        return pd.DataFrame([_cells(row) for _, row in records(path)])
    value = json_document(path)
    if any("[]" in p for p in paths):
        return pd.DataFrame(projected(value, paths))
    if isinstance(value, dict) and _is_columns(value):
        return pd.DataFrame(value)
    value = _by_id(value)
    if not (isinstance(value, list) and all(isinstance(v, dict) for v in value)):
        raise NoTableError(f"{path}: expected a JSON list of objects, one a judgment.")
    return pd.DataFrame([_cells(row) for row in value])


def _by_id(value: Any) -> Any:
    """The records of an object that has one for each id, with the id; else the value itself."""
    if not isinstance(value, dict) or len(value) < _FEWEST_RECORDS:
        return value
    records = list(value.values())
    if not all(isinstance(r, dict) and r for r in records):
        return value
    shared = [len(r.keys() & s.keys()) / len(r.keys() | s.keys()) for r, s in pairwise(records)]
    if median(shared) < _SHARED_KEYS:
        return value
    return [{"id": key, **record} for key, record in value.items()]


def _is_columns(value: Mapping[str, Any]) -> bool:
    """Whether an object holds columns of one length, as ``DataFrame.to_dict("list")`` writes."""
    lists = [v for v in value.values() if isinstance(v, list)]
    return bool(value) and len(lists) == len(value) and len({len(v) for v in lists}) == 1


def _parquet(path: Path) -> pd.DataFrame:
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile
    from pyarrow.types import is_large_string, is_string

    plain_file(path)
    try:
        with ParquetFile(path) as file:
            about, schema = file.metadata, file.schema_arrow
            size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
            fits = size <= MAX_BYTES and about.num_rows * about.num_columns <= MAX_CELLS
        frame = pd.DataFrame()
        if fits:
            # A text that repeats is one text in the file: it is counted before it is written out.
            texts = [f.name for f in schema if is_string(f.type) or is_large_string(f.type)]
            with ParquetFile(path, read_dictionary=texts) as file:
                table = file.read()
            size = max(size, sum(map(_expanded, table.columns)))
            fits = size <= MAX_BYTES
            if fits:
                # what pandas notes about itself is not followed: any program may write it
                frame = table.cast(schema).replace_schema_metadata(None).to_pandas()
                frame = frame.drop(columns=[c for c in frame if _INDEX.fullmatch(str(c))])
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        raise InputError(f"{path}: the file cannot be read ({_first_line(error)}).") from error
    if not fits:
        raise InputError(
            f"{path} holds {about.num_rows:,} rows x {about.num_columns:,} columns, "
            f"{size / 1e9:.1f} GB when it is expanded. Above {MAX_BYTES / 1e9:.0f} GB use "
            "--stream, or write fewer columns."
        )
    refuse_bytes(path, frame)
    return frame


def _expanded(column: pa.ChunkedArray) -> int:
    """The bytes of a column's texts when each is written out."""
    from pyarrow import compute, types

    kind = column.type
    if not types.is_dictionary(kind) or not (
        types.is_string(kind.value_type) or types.is_large_string(kind.value_type)
    ):
        return 0
    lengths = (
        compute.sum(compute.binary_length(chunk.dictionary).take(chunk.indices)).as_py()
        for chunk in column.chunks
    )
    return sum(length or 0 for length in lengths)


def _refuse_others(path: Path, start: bytes) -> None:
    """Name what is saved under a table's name now and then."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or (
        len(start) > 3 and start[1:4:2] == b"\x00\x00"
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
    return {cut(k): text(v) if isinstance(v, (str, list, dict)) else v for k, v in row.items()}


def _separated(
    path: Path,
    separator: str,
    names: Callable[[pd.DataFrame], Collection[str]],
    verdicts: Callable[[pd.DataFrame], Collection[str]],
) -> pd.DataFrame:
    """CSV; separated by semicolons (with decimal commas) where spreadsheets of the region do so."""
    try:
        separator, header = _header(path, separator)
        kept = names(pd.DataFrame(columns=header))
        gaps = {c: [""] if c in kept else list(_MISSING) for c in header}
        for column in set(verdicts(pd.DataFrame(columns=header))) - set(kept):
            gaps[column] = [word for word in _MISSING if word not in _NOT_APPLICABLE]
        with (
            opened(path) as stream,
            _text(stream, path) as text,
            warnings.catch_warnings(),
        ):
            # Rows with more cells than the header: pandas would drop the last ones.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                text,
                sep=separator,
                index_col=False,
                low_memory=False,
                dtype=dict.fromkeys(kept, object),
                keep_default_na=False,
                na_values=gaps,
            )
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error.reason}). Save it as UTF-8.") from None
    except InputError:
        raise
    # pandas' parser errors are ValueErrors; a cell's integer may have too many digits for C.
    except (csv.Error, ValueError, OverflowError, pd.errors.ParserWarning) as error:
        raise InputError(f"{path}: this is not a readable table ({_first_line(error)}).") from error
    return table if separator == "," else table.apply(_with_points)


def _header(path: Path, separator: str) -> tuple[str, list[str]]:
    """The separator, and the columns' names.

    Only the beginning is looked at; a character that it cuts in two is no fault.
    """
    start = codecs.getincrementaldecoder("utf-8-sig")().decode(head(path))
    if "\x00" in start:
        raise InputError(
            f"{path} holds zero bytes: it is no text. Name the file that was exported."
        )
    lines = [line for line in start.splitlines(keepends=True) if line.strip()]
    if not lines:
        raise InputError(f"{path}: the file is empty.")
    header = next(csv.reader(lines, delimiter=separator))
    for other in (";", "\t", "|", ","):
        if len(header) == 1 and other in header[0]:
            separator, header = other, next(csv.reader(lines, delimiter=other))
    if len(header) > MAX_HEADER:
        raise InputError(
            f"{path} has {len(header):,} columns in its first row; at most {MAX_HEADER:,} are "
            "read. Keep those with the item, the judge and the verdict."
        )
    seen: set[str] = set()
    twice = next((n for n in header if n and (n in seen or seen.add(n))), "")  # type: ignore[func-returns-value]
    if twice:
        raise InputError(f"{path} has the column {short(twice)} twice. Rename one of them.")
    return separator, header


def _with_points(column: pd.Series) -> pd.Series:
    """Numbers with a decimal comma, with a point."""
    if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
        return column
    numbers = column.astype(str).str.fullmatch(r"\s*-?\d+,\d+\s*")
    return column.mask(numbers, column.astype(str).str.replace(",", ".", n=1))


class _Counted(io.RawIOBase):
    """A stream that ends in an error beyond the largest size."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path, self._read = stream, path, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raw = self._stream.read(len(buffer))
        self._read += len(raw)
        if self._read > MAX_BYTES:
            raise InputError(
                f"{self._path} holds more than {MAX_BYTES:,} bytes. Split the file, or convert it "
                "to Parquet."
            )
        buffer[: len(raw)] = raw
        return len(raw)


def _text(stream: IO[bytes], path: Path) -> io.TextIOWrapper:
    counted = io.BufferedReader(_Counted(stream, path), 1 << 18)
    return io.TextIOWrapper(counted, encoding="utf-8-sig", newline="")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
