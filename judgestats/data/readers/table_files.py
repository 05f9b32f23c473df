"""Tables from files, workbooks, and databases."""

from __future__ import annotations

import codecs
import csv
import io
import re
import sqlite3
import warnings
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from judgestats.data.readers.guarded import (
    MAX_BYTES,
    NoTableError,
    head,
    json_document,
    opened,
    plain_file,
    records,
    short,
    shorten_text,
    text,
)
from judgestats.data.readers.json_paths import projected
from judgestats.data.readers.logs import open_log
from judgestats.errors import InputError
from judgestats.json_text import clean, clean_json

if TYPE_CHECKING:
    import pyarrow as pa


_MAX_SHEET = 500_000_000
_MAX_ROWS = 20_000_000


def workbook_table(path: Path, sheet: str = "") -> pd.DataFrame:
    """A sheet of a workbook, values as they were last calculated; formulas are not run.

    Parameters
    ----------
    path : Path
    sheet : str
        By default the only sheet that holds something.

    Raises
    ------
    InputError
        No workbook, several sheets, or the extra ``xlsx`` is not installed.
    """
    with opened(path) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
            raise InputError(
                f"{path} is no complete workbook ({short(str(error))}). Download it again."
            ) from None
    if not any(i.filename.startswith("xl/") for i in infos):
        raise NoTableError(
            f"{path} is a zip archive, and no workbook. Unpack it, and name the file."
        )
    if sum(i.file_size for i in infos) > _MAX_SHEET:
        raise InputError(
            f"{path} holds more than {_MAX_SHEET:,} bytes when it is expanded. Export the sheet as "
            "CSV."
        )
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise InputError(
            f"{path} is an Excel workbook: pip install 'judgestats[xlsx]', or save it as CSV."
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of styles and extensions it drops
            book = load_workbook(path, read_only=True, data_only=True)
            for sheet_read in book.worksheets:
                sheet_read.reset_dimensions()  # the size that it claims may be any
            sheets = {s.title: list(s.iter_rows(values_only=True)) for s in book.worksheets}
    except (InvalidFileException, KeyError, ValueError, TypeError, OSError) as error:
        raise InputError(f"{path} is no readable workbook ({short(str(error))}).") from None
    filled = {name: [r for r in rows if any(c is not None for c in r)]
              for name, rows in sheets.items()}  # fmt: skip
    filled = {name: rows for name, rows in filled.items() if rows}
    name = _one_of(path, sheet, list(filled), "sheet")
    header, *rows = filled[name]
    width = max(i + 1 for i, c in enumerate(header) if c is not None)
    columns = [
        f"column {i + 1}" if c is None else clean(str(c)) for i, c in enumerate(header[:width])
    ]
    twice = [c for i, c in enumerate(columns) if c in columns[:i]]
    if twice:
        raise InputError(f"{path} has the column {short(twice[0])} twice. Rename one of them.")
    # a row ends at its last cell
    rows = [(*map(clean_json, r[:width]), *[None] * (width - len(r))) for r in rows]
    return pd.DataFrame(rows, columns=columns).infer_objects()


def sqlite_table(path: Path, table: str = "") -> pd.DataFrame:
    """A table (or view) of an SQLite database, opened read-only.

    Parameters
    ----------
    path : Path
    table : str
        By default the only one.

    Raises
    ------
    InputError
        Damaged, no such table, or several.
    """
    plain_file(path)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            tables = database.execute(
                "select name from sqlite_master where type in ('table', 'view') "
                "and name not like 'sqlite_%' order by name"
            ).fetchall()
            name = _one_of(path, table, [str(r[0]) for r in tables], "table")
            quoted = name.replace('"', '""')
            cursor = database.execute(f'select * from "{quoted}"')  # noqa: S608 - a known name
            columns = [clean(str(c[0])) for c in cursor.description]
            rows: list[Any] = cursor.fetchmany(_MAX_ROWS + 1)
    except sqlite3.Error as error:
        raise InputError(f"{path}: the database cannot be read ({short(str(error))}).") from None
    if len(rows) > _MAX_ROWS:
        raise InputError(f"{path}: the table {name!r} has more than {_MAX_ROWS:,} rows. Split it.")
    frame = pd.DataFrame([map(clean_json, r) for r in rows], columns=columns)
    refuse_bytes(path, frame)
    return frame


def refuse_bytes(path: Path, frame: pd.DataFrame) -> None:
    """Refuse a table with bytes in its cells: nobody knows which text they stand for.

    Raises
    ------
    InputError
        It names the column and the row, counted from 1.
    """
    for name, column in frame.items():
        if not pd.api.types.is_object_dtype(column):
            continue
        is_bytes = column.map(lambda v: isinstance(v, (bytes, bytearray)))
        if is_bytes.any():
            raise InputError(
                f"{path}: column {short(name)} holds bytes, not text, in row "
                f"{int(is_bytes.to_numpy().argmax()) + 1}. Export it as hex or text."
            )


def _one_of(path: Path, wanted: str, names: list[str], what: str) -> str:
    if wanted and wanted in names:
        return wanted
    listed = ", ".join(names[:20]) or "none"
    if wanted:
        raise InputError(f"{path} has no {what} {wanted!r}. There are: {listed}.")
    if len(names) != 1:
        raise NoTableError(
            f"{path} has {len(names)} {what}s: {listed}."
            + (" Name one with --table NAME." if names else "")
        )
    return names[0]


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
    value = _unpack_records(value)
    if not (isinstance(value, list) and all(isinstance(v, dict) for v in value)):
        raise NoTableError(f"{path}: expected a JSON list of objects, one a judgment.")
    return pd.DataFrame([_cells(row) for row in value])


def _unpack_records(value: Any) -> Any:
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
    return {
        shorten_text(k): text(v) if isinstance(v, (str, list, dict)) else v for k, v in row.items()
    }


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


class _LimitedStream(io.RawIOBase):
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
    counted = io.BufferedReader(_LimitedStream(stream, path), 1 << 18)
    return io.TextIOWrapper(counted, encoding="utf-8-sig", newline="")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
