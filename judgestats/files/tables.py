"""Tables from bytes: separated text, Parquet, workbooks, SQLite."""

from __future__ import annotations

import codecs
import csv
import io
import re
import shlex
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.files.guarded import (
    LIMITS,
    Limits,
    Meter,
    NoTableError,
    database,
    foreign,
    head,
    opened,
    plain_file,
    size_text,
    unlike_names,
    weighed,
)
from judgestats.files.text import clean, short
from judgestats.files.workbooks import workbook_sheets

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 16
_MOST_TITLES = 12
_INDEX = re.compile(r"__index_level_\d+__")
"""The column in which pandas writes row numbers that nobody named."""
_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "<NA>")
"""How programs write that a cell has no value: R writes NA, pandas nothing, others None."""
_NOT_APPLICABLE = frozenset({"N/A", "n/a"})
"""Those of them that say something in a column of verdicts."""
Choice = Callable[[pd.DataFrame], Collection[str]]
"""Given the empty table, some of its columns."""


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
        No workbook, several sheets, or too large.
    """
    filled = workbook_sheets(path, sheet)
    name = _one_of(path, sheet, list(filled), "sheet")
    header, *rows = filled[name]
    columns = [f"column {i + 1}" if c is None else clean(str(c)) for i, c in enumerate(header)]
    unlike_names(path, columns)
    rows = [(*r, *[None] * (len(columns) - len(r))) for r in rows]  # a row ends at its last cell
    return pd.DataFrame(rows, columns=columns).infer_objects()


def sqlite_table(path: Path, table: str = "", limits: Limits = LIMITS) -> pd.DataFrame:
    """A table of an SQLite database, opened read-only; views, which run queries, are refused.

    Parameters
    ----------
    path : Path
    table : str
        By default the only one.
    limits : Limits

    Raises
    ------
    InputError
        Damaged, no such table, several, or a view.
    """
    meter = Meter(path, "SQLite", limits)
    with database(path, limits) as link:
        kinds = dict(
            link.execute(
                "select name, type from sqlite_master where type in ('table', 'view') "
                "and name not like 'sqlite_%' order by name"
            ).fetchall()
        )
        names = [n for n, kind in kinds.items() if kind == "table"]
        view = table if kinds.get(table) == "view" else next(iter(kinds), "")
        if view and (view == table or not names):
            raise InputError(
                f"{path}: {view!r} is a view; judgestats reads tables only. Export it as CSV or "
                "Parquet."
            )
        name = _one_of(path, table, names, "table")
        quoted = name.replace('"', '""')
        cursor = link.execute(f'select * from "{quoted}"')  # noqa: S608 - a known name
        columns = [clean(str(c[0])) for c in cursor.description]
        meter.columns(len(columns))
        rows: list[Any] = []
        while batch := cursor.fetchmany(_BATCH):
            meter.rows(len(batch), len(columns))
            rows += batch
    frame = pd.DataFrame(rows, columns=columns)
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


def parquet_table(path: Path, limits: Limits = LIMITS) -> pd.DataFrame:
    """A Parquet file; what programs note about themselves in it is not followed.

    Raises
    ------
    InputError
        Damaged, too large, or with bytes in its cells.
    """
    frame: pd.DataFrame = parquet_rows(path, limits).to_pandas()
    frame = frame.drop(columns=[c for c in frame if _INDEX.fullmatch(str(c))])
    refuse_bytes(path, frame)
    return frame


def parquet_footer(path: Path) -> tuple[Any, pa.Schema]:
    """The metadata and the columns of a Parquet file.

    Raises
    ------
    InputError
        It is not a Parquet file.
    """
    from pyarrow.parquet import ParquetFile

    plain_file(path)
    with foreign(path, "Parquet"), ParquetFile(path) as file:
        about, schema = file.metadata, file.schema_arrow
    unlike_names(path, schema.names)
    return about, schema


def parquet_rows(path: Path, limits: Limits = LIMITS) -> pa.Table:
    """A Parquet file as an Arrow table of plain columns.

    Raises
    ------
    InputError
        Damaged or too large.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    about, told = parquet_footer(path)
    with foreign(path, "Parquet"):
        schema = pa.schema([pa.field(f.name, _registered_type(f.type)) for f in told])
        meter = Meter(path, f"Parquet, {about.num_row_groups} row groups", limits)
        meter.columns(about.num_columns)
        meter.cells(about.num_rows * about.num_columns)
        written = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if written > meter.most:
            meter.expand(written)
        # A text that repeats is one text in the file: it is counted before it is written out.
        texts = [f.name for f in schema if _is_text(f.type)]
        with ParquetFile(path, read_dictionary=texts) as file:
            batches = list(metered(file.iter_batches(_BATCH), meter))
        if not batches:
            return schema.empty_table()
        table = pa.Table.from_batches(batches)
        plain = [_plain(c).cast(t) for c, t in zip(table.columns, schema.types, strict=True)]
        return pa.Table.from_arrays(plain, schema=schema)


def metered(batches: Iterable[Any], meter: Meter) -> Iterator[Any]:
    """Batches of Arrow, each counted before it is handed on; faults become one sentence.

    Parameters
    ----------
    batches : iterable of RecordBatch
    meter : Meter

    Raises
    ------
    InputError
        They cannot be read, or are too many.
    """
    coming = iter(batches)
    while True:
        with foreign(meter.path, "Parquet"):
            batch = next(coming, None)
        if batch is None:
            return
        meter.rows(batch.num_rows, batch.num_columns)
        meter.expand(sum(map(expanded, batch.columns)))
        yield batch


def expanded(column: pa.Array) -> int:
    """The bytes of a column when each of its texts is written out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> expanded(pa.array(["aaaa", "b", "aaaa"]).dictionary_encode())
    9
    """
    from pyarrow import compute, types

    kind = column.type
    if not types.is_dictionary(kind) or not _is_text(kind.value_type):
        return int(column.nbytes)
    lengths = compute.binary_length(column.dictionary).take(column.indices)
    return compute.sum(lengths).as_py() or 0


def _is_text(kind: Any) -> bool:
    from pyarrow.types import is_large_string, is_string

    return bool(is_string(kind) or is_large_string(kind))


def _registered_type(kind: Any) -> Any:
    """The type under an extension that some program registered."""
    from pyarrow import BaseExtensionType

    return kind.storage_type if isinstance(kind, BaseExtensionType) else kind


def _plain(column: Any) -> Any:
    import pyarrow as pa

    if isinstance(column.type, pa.BaseExtensionType):
        return pa.chunked_array([c.storage for c in column.chunks], column.type.storage_type)
    return column


def separated_table(
    path: Path,
    separator: str,
    names: Choice,
    verdicts: Choice = lambda _: (),
    limits: Limits = LIMITS,
) -> pd.DataFrame:
    """CSV; separated by semicolons (with decimal commas) where spreadsheets of the region do so.

    Parameters
    ----------
    path : Path
    separator : str
        The likely one.
    names : callable
        Which columns are kept as they are written.
    verdicts : callable
        In which columns ``N/A`` is not a gap.
    limits : Limits

    Raises
    ------
    InputError
        Damaged, too large, or not UTF-8.
    """
    weighed(path, limits)
    with foreign(path, "a table"):
        separator, header = _header(path, separator, Meter(path, "CSV", limits))
    kept = names(pd.DataFrame(columns=header))
    gaps = {c: [""] if c in kept else list(_MISSING) for c in header}
    for column in set(verdicts(pd.DataFrame(columns=header))) - set(kept):
        gaps[column] = [word for word in _MISSING if word not in _NOT_APPLICABLE]
    with text_lines(path, limits) as text, warnings.catch_warnings():
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
    return table if separator == "," else table.apply(_with_points)


def _header(path: Path, separator: str, meter: Meter) -> tuple[str, list[str]]:
    """The separator, and the columns' names.

    Only the beginning is looked at; a character that it cuts in two is not a fault.
    """
    start = codecs.getincrementaldecoder("utf-8-sig")().decode(head(path))
    if "\x00" in start:
        raise InputError(
            f"{path} holds zero bytes: it is not text. Name the file that was exported."
        )
    lines = [line for line in start.splitlines(keepends=True) if line.strip()]
    if not lines:
        raise InputError(f"{path}: the file is empty.")
    header = next(csv.reader(lines, delimiter=separator))
    for other in (";", "\t", "|", ","):
        if len(header) == 1 and other in header[0]:
            separator, header = other, next(csv.reader(lines, delimiter=other))
    cells = [sum(map(bool, row)) for row in csv.reader(lines[:_MOST_TITLES], delimiter=separator)]
    if (
        cells[0] == 1
        and header[0]
        and (begin := next((i for i, n in enumerate(cells) if n > 1), 0))
    ):
        line = start.splitlines(keepends=True).index(lines[begin]) + 1
        raise InputError(
            f"{path}: the first row has 1 cell, row {line} has {cells[begin]}. Delete the rows "
            f"above the header: tail -n +{line} {shlex.quote(str(path))} > table.csv"
        )
    meter.columns(len(header))
    unlike_names(path, header)
    return separator, header


def _with_points(column: pd.Series) -> pd.Series:
    """Numbers with a decimal comma, with a point."""
    if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
        return column
    numbers = column.astype(str).str.fullmatch(r"\s*-?\d+,\d+\s*")
    return column.mask(numbers, column.astype(str).str.replace(",", ".", n=1))


def read_csv(path: Path) -> pd.DataFrame:
    """A table that this package wrote, or a study published.

    Raises
    ------
    InputError
        Damaged, too large, or not UTF-8.
    """
    with text_lines(path) as text:
        return pd.read_csv(text)


class _Rows(io.RawIOBase):
    """A stream of text in lines, its rows counted."""

    def __init__(self, stream: IO[bytes], meter: Meter) -> None:
        self._stream, self._meter = stream, meter
        self._quoted = False
        self._line = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raw = self._stream.read(len(buffer))
        buffer[: len(raw)] = raw
        last = raw.rfind(b"\n")
        self._line = self._line + len(raw) if last < 0 else len(raw) - last
        if self._line > self._meter.limits.line_bytes:
            raise InputError(
                f"{self._meter.path}: a line longer than "
                f"{size_text(self._meter.limits.line_bytes)}. Split the file."
            )
        parts = raw.split(b'"')  # a line end within quotes ends no row
        self._meter.rows(sum(p.count(b"\n") for p in parts[self._quoted :: 2]))
        self._quoted ^= len(parts) % 2 == 0
        return len(raw)


@contextmanager
def text_lines(path: Path, limits: Limits = LIMITS) -> Iterator[io.TextIOWrapper]:
    """Separated text, decoded as it is read; what a parser raises of it becomes one sentence.

    Parameters
    ----------
    path : Path
    limits : Limits

    Raises
    ------
    InputError
        Damaged, too large, or not UTF-8.
    """
    with opened(path, limits) as stream, foreign(path, "a table"):
        counted = io.BufferedReader(_Rows(stream, Meter(path, "CSV", limits)), 1 << 18)
        with io.TextIOWrapper(counted, encoding="utf-8-sig", newline="") as text:
            yield text
