"""Tables from bytes: separated text, Parquet, workbooks, SQLite."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.files import guarded
from judgestats.files.text import DEEPEST, clean, command_word, short
from judgestats.files.workbooks import workbook_sheets

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 16
_MOST_TITLES = 12
_INDEX = re.compile(r"__index_level_\d+__")
"""The column in which pandas writes row numbers that nobody named."""
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "<NA>")
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
    _refuse_second_header(path, filled[name][:_MOST_TITLES])
    header, *rows = filled[name]
    columns = [f"column {i + 1}" if c is None else clean(str(c)) for i, c in enumerate(header)]
    guarded.unlike_names(path, columns)
    rows = [(*r, *[None] * (len(columns) - len(r))) for r in rows]  # a row ends at its last cell
    return pd.DataFrame(rows, columns=columns).infer_objects()


def sqlite_table(
    path: Path, table: str = "", limits: guarded.Limits = guarded.LIMITS
) -> pd.DataFrame:
    """A table of an SQLite database, opened read-only; what would run code is refused.

    Parameters
    ----------
    path : Path
    table : str
        By default the only one.
    limits : Limits

    Raises
    ------
    InputError
        Damaged, no such table, several, a view, or a computed column.
    """
    meter = guarded.Meter(path, "SQLite", limits)
    with guarded.database(path, limits) as link:
        stored = dict(
            link.execute(
                "select name, rootpage > 0 from sqlite_master where type in ('table', 'view') "
                "and name not like 'sqlite_%' order by name"
            ).fetchall()
        )
        names = [n for n, is_stored in stored.items() if is_stored]
        views = [n for n in stored if n not in names]
        if table in views or (views and not names):
            raise InputError(
                f"{path}: {short(table or views[0])} is a view; judgestats reads tables only. "
                "Export it as CSV or Parquet."
            )
        name = _one_of(path, table, names, "table")
        computed = "select name from pragma_table_xinfo(?) where hidden > 1"
        for (column,) in link.execute(computed, [name]):
            raise InputError(
                f"{path}: column {short(column)} is computed; judgestats reads stored values only. "
                "Export it as CSV or Parquet."
            )
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
        raise guarded.NoTableError(
            f"{path} has {len(names)} {what}s: {listed}."
            + (" Name one with --table NAME." if names else "")
        )
    return names[0]


def parquet_table(path: Path, limits: guarded.Limits = guarded.LIMITS) -> pd.DataFrame:
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

    guarded.plain_file(path)
    with guarded.foreign(path, "Parquet"), ParquetFile(path) as file:
        about, schema = file.metadata, file.schema_arrow
    guarded.unlike_names(path, schema.names)
    return about, schema


def parquet_rows(path: Path, limits: guarded.Limits = guarded.LIMITS) -> pa.Table:
    """A Parquet file as an Arrow table of plain columns.

    Raises
    ------
    InputError
        Damaged or too large.
    """
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    about, told = parquet_footer(path)
    with guarded.foreign(path, "Parquet"):
        schema = pa.schema([pa.field(f.name, _stored_type(f.type)) for f in told])
        meter = guarded.Meter(path, f"Parquet, {about.num_row_groups} row groups", limits)
        meter.columns(about.num_columns)
        meter.cells(about.num_rows * about.num_columns)
        leaves = list(map(about.schema.column, range(about.num_columns)))
        if any(leaf.path.count(".") - leaf.max_repetition_level > DEEPEST for leaf in leaves):
            raise InputError(f"{path} is nested deeper than {DEEPEST} levels. Nothing was read.")
        _weigh_pages(path, about, meter)
        # A text that repeats is one text in the file: it is counted before it is written out.
        texts = [
            leaf.path
            for leaf in leaves
            if leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type != "DECIMAL"
        ]
        with ParquetFile(path, read_dictionary=texts) as file:
            batches = list(metered(file.iter_batches(_BATCH), meter))
        if not batches:
            return schema.empty_table()
        table = pa.Table.from_batches(batches)
        plain = [_plain(c).cast(t) for c, t in zip(table.columns, schema.types, strict=True)]
        return pa.Table.from_arrays(plain, schema=schema)


_WIDTHS = {0: 0.125, 2: 8, 3: 12, 5: 8}
"""Bytes of a value in memory by the number of its type (boolean, int64, int96, double); else 4."""
_PAGE_HEADER = 1 << 24


def _weigh_pages(path: Path, about: Any, meter: guarded.Meter) -> None:
    """Refuse pages that expand too far, from the header of each, before any is decompressed.

    The footer may state less than the pages hold. It is read here, because pyarrow ends the process
    where statistics of a chunk are damaged.
    """
    written = 0.0
    with path.open("rb") as file:
        file.seek(-8, io.SEEK_END)
        length = int.from_bytes(file.read(4), "little")
        if length > _PAGE_HEADER:
            raise ValueError("its footer is larger than 16 MiB")
        file.seek(-8 - length, io.SEEK_END)
        footer, _ = _thrift_struct(file.read(length), 0)
        for group in footer[4]:
            for j, column in enumerate(group[1]):
                chunk = column[3]
                repeats = about.schema.column(j).max_repetition_level > 0
                width = _WIDTHS.get(chunk[1], 4) if repeats else 0
                at = min(chunk[9], chunk.get(11, chunk[9]))
                end = at + chunk[7]
                while at < end:
                    file.seek(at)
                    header, length = _page_header(file)
                    page = header.get(5) or header.get(8) or {}
                    written += max(header[2], page.get(1, 0) * width)
                    if min(header[2], header[3]) < 0 or written > meter.most:
                        meter.expand(meter.most + 1)
                    at += length + header[3]
                    meter.clock()


def _page_header(file: IO[bytes]) -> tuple[dict[int, Any], int]:
    """Fields of a page's header by number, and its length."""
    raw = file.read(4_096)
    try:
        return _thrift_struct(raw, 0)
    except IndexError:
        return _thrift_struct(raw + file.read(_PAGE_HEADER), 0)


def _thrift_struct(raw: bytes, at: int) -> tuple[dict[int, Any], int]:
    """Numbers, lists, and structures of Thrift's compact protocol by field, and where they end."""
    fields: dict[int, Any] = {}
    number = 0
    while kind := raw[at]:
        step, kind = divmod(kind, 16)
        number, at = number + step, at + 1
        if not step:
            raise ValueError("a page header is damaged")
        if kind > 2:  # else a truth value, which is its kind
            fields[number], at = _thrift_value(raw, at, kind)
    return fields, at + 1


def _thrift_value(raw: bytes, at: int, kind: int) -> tuple[Any, int]:
    """One value; None for a text or a fraction."""
    if kind == 12:
        return _thrift_struct(raw, at)
    if kind in {1, 2, 3, 7}:
        return None, at + (8 if kind == 7 else 1)
    if kind == 9:
        size, kind = divmod(raw[at], 16)
        size, at = _varint(raw, at + 1) if size == 15 else (size, at + 1)
        values: list[Any] = []
        while len(values) < size:
            value, at = _thrift_value(raw, at, kind)
            values.append(value)
            if at > len(raw):  # some values are skipped, not read
                raise ValueError("a page header is damaged")
        return values, at
    if kind not in {4, 5, 6, 8}:
        raise ValueError("a page header is damaged")
    value, at = _varint(raw, at)
    return (None, at + value) if kind == 8 else ((value >> 1) ^ -(value & 1), at)


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        value |= (raw[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if raw[at - 1] < 128:
            return value, at
    raise ValueError("a page header is damaged")


def metered(batches: Iterable[Any], meter: guarded.Meter) -> Iterator[Any]:
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
        with guarded.foreign(meter.path, "Parquet"):
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
    if types.is_nested(kind):
        inner = [column.keys, column.items] if types.is_map(kind) else column.flatten()
        parts = inner if isinstance(inner, list) else [inner]
        return 4 * len(column) + sum(map(expanded, parts))
    if not types.is_dictionary(kind) or types.is_primitive(kind.value_type):
        return int(column.nbytes)
    lengths = compute.binary_length(column.dictionary).take(column.indices)
    return compute.sum(lengths).as_py() or 0


def _stored_type(kind: Any) -> Any:
    """A type without extensions that some program registered, and without views."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return _stored_type(kind.storage_type)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return pa.string() if pa.types.is_string_view(kind) else pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_stored_type(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_stored_type(kind.key_type), _stored_type(kind.item_type))
    if isinstance(kind, pa.ListType | pa.LargeListType):
        return pa.list_(kind.value_field.with_type(_stored_type(kind.value_type)))
    return kind


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
    limits: guarded.Limits = guarded.LIMITS,
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
    guarded.weighed(path, limits)
    with guarded.foreign(path, "a table"):
        separator, header = header_of(path, separator, guarded.Meter(path, "CSV", limits))
    kept = names(pd.DataFrame(columns=header))
    gaps = {c: [""] if c in kept else list(MISSING) for c in header}
    for column in set(verdicts(pd.DataFrame(columns=header))) - set(kept):
        gaps[column] = [word for word in MISSING if word not in _NOT_APPLICABLE]

    def parsed(**how: Any) -> pd.DataFrame:
        with text_lines(path, limits) as text, warnings.catch_warnings():
            # Rows with more cells than the header: pandas would drop the last ones.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table: pd.DataFrame = pd.read_csv(
                text,
                sep=separator,
                index_col=False,
                low_memory=False,
                keep_default_na=False,
                na_values=gaps,
                **how,
            )
            return table

    table = parsed()
    # Texts are recognised faster than they are read as such; other columns are read again.
    if again := [c for c in kept if table[c].dtype != "str"]:
        table[again] = parsed(usecols=again, dtype="str")[again]
    table = table.dropna(how="all", ignore_index=True)  # rows that a spreadsheet left empty
    return table if separator == "," else table.apply(_with_points)


def header_of(path: Path, separator: str, meter: guarded.Meter) -> tuple[str, list[str]]:
    """The separator, and the columns' names, of separated text.

    Only the beginning is looked at; a character that it cuts in two is not a fault.

    Parameters
    ----------
    path : Path
    separator : str
        The likely one.
    meter : Meter

    Raises
    ------
    InputError
        The file is empty, no text, or begins with other rows than the header.
    """
    start = codecs.getincrementaldecoder("utf-8-sig")().decode(guarded.head(path))
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
            f"above the header: tail -n +{line} {command_word(path)} > table.csv"
        )
    _refuse_second_header(path, list(islice(csv.reader(lines, delimiter=separator), _MOST_TITLES)))
    meter.columns(len(header))
    header = [name or f"Unnamed: {i}" for i, name in enumerate(header)]  # as pandas calls them
    guarded.unlike_names(path, header)
    return separator, header


def _refuse_second_header(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Refuse rows below the header that name the columns of numbers again."""
    header, *below = [["" if c is None else str(c) for c in row] for row in rows]
    for n in (2, 1):
        top, columns = below[:n], list(zip_longest(*below[n:], fillvalue=""))
        numbers = [i for i, cells in enumerate(columns) if all(map(_NUMBER.fullmatch, cells))]
        names = [row[i] if i < len(row) else "" for row in top for i in numbers]
        again = any(c and c in cells for row in top for c, cells in zip(row, columns, strict=False))
        named = all(name.strip() and not _NUMBER.fullmatch(name) for name in names)
        if len(below) < 2 * n + 2 or len(numbers) < 2 or again or not named:
            continue
        way = f"Delete rows 2 to {n + 1}: sed 2,{n + 1}d {command_word(path)} > table.csv"
        if not all(header) or any("\n" in cell for row in (header, *top) for cell in row):
            way = "Write one row of names."
        raise InputError(f"{path}: the header has {n + 1} rows. {way}")


_NUMBER = re.compile(r"\s*-?\d+(?:[.,]\d+)?\s*")


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

    def __init__(self, stream: IO[bytes], meter: guarded.Meter) -> None:
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
                f"{guarded.size_text(self._meter.limits.line_bytes)}. Split the file."
            )
        parts = raw.split(b'"')  # a line end within quotes ends no row
        self._meter.rows(sum(p.count(b"\n") for p in parts[self._quoted :: 2]))
        self._quoted ^= len(parts) % 2 == 0
        return len(raw)


@contextmanager
def text_lines(path: Path, limits: guarded.Limits = guarded.LIMITS) -> Iterator[io.TextIOWrapper]:
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
    with guarded.opened(path, limits) as stream, guarded.foreign(path, "a table"):
        counted = io.BufferedReader(_Rows(stream, guarded.Meter(path, "CSV", limits)), 1 << 18)
        with io.TextIOWrapper(counted, encoding="utf-8-sig", newline="") as text:
            yield text


SEPARATORS: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}
"""Separated text that one pass reads, by the end of its name."""


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a folder and its partitions, or the file itself."""
    if not path.is_dir():
        return [path]
    return sorted(
        p
        for p in path.rglob("*.parquet")
        if not any(part.startswith((".", "_")) for part in p.relative_to(path).parts)
    )


def is_parquet(path: Path) -> bool:
    """Whether a path is a Parquet file, or a folder that holds some."""
    if path.is_dir():
        return bool(parquet_files(path))
    return path.suffix.lower() == ".parquet"


def rows_of(path: Path) -> int:
    """Rows of one Parquet file, from its footer.

    Raises
    ------
    InputError
        The file is not Parquet.
    """
    return int(parquet_footer(path)[0].num_rows)
