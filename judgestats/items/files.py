"""Files of unknown origin as plain Python objects: JSONL, JSON, CSV, TSV, Parquet, also gzipped.

Nothing is interpreted here and nothing is guessed from the content: the ending of the name says the
format. Size is bounded (a small ``.gz`` can hold a very large file), and an error names the file
and the line.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.items.records import short_repr

MAX_BYTES = 1_000_000_000
"""Largest file that is read, after decompression."""

_FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One record of a file and where it stands (``"answers.csv, line 3"``)."""

    where: str
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file's content: a list of rows, or (JSON only) one object in `document`.

    `columns` are the names that occur in any row, in order of first occurrence.
    """

    path: Path
    rows: tuple[Row, ...] = ()
    document: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self.path.name

    @property
    def holds_only_text(self) -> bool:
        """Whether every cell is text (CSV, TSV), so that a list can only be written as JSON."""
        return bool({".csv", ".tsv"} & {suffix.lower() for suffix in self.path.suffixes[-2:]})

    @property
    def columns(self) -> tuple[str, ...]:
        """The names that occur in any row, in order of first occurrence."""
        return tuple(dict.fromkeys(key for row in self.rows for key in row.values))


def is_folder(path: Path) -> bool:
    """Whether there is a folder of this name; a name that the system refuses is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def read_source(path: str | Path, *, max_bytes: int = MAX_BYTES) -> Source:
    """The records in a file, by the ending of its name.

    Parameters
    ----------
    path : str or Path
        A ``.jsonl`` (``.ndjson``), ``.json``, ``.csv``, ``.tsv`` or ``.parquet`` file; each also
        with ``.gz`` after it.
    max_bytes : int
        Largest size, in bytes, after decompression.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        If there is no such file, its ending is unknown, it is empty, too large, damaged, not UTF-8,
        or a line does not parse.
    """
    path = Path(path)
    if is_folder(path):
        raise InputError(
            f"read_source: {path} is a folder. Give a file, or a folder in FastChat's MT-Bench "
            "layout (question.jsonl and model_answer/*.jsonl) to read_items."
        )
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = suffixes[-1:] == [".gz"]
    ending = (suffixes[:-1] if zipped else suffixes)[-1:]
    kind = _FORMATS.get(ending[0]) if ending else None
    if kind is None:
        if not _is_there(path):  # a name that is no file's has no ending to be complained of
            raise InputError(_no_file(path))
        raise InputError(
            f"read_source: the format of {path.name!r} is not known by its ending. Give one of "
            f"{', '.join(_FORMATS)} (each also with .gz)."
        )
    data = _read_bytes(path, zipped=zipped, max_bytes=max_bytes)
    if not data.strip():
        raise InputError(f"read_source: {path.name} is empty. Give a file with at least one row.")
    if kind == "parquet":
        return Source(path=path, rows=_parquet_rows(path, data, max_bytes))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"read_source: {path.name} is not UTF-8 (byte {error.start}). Save it as UTF-8."
        ) from error
    if kind == "jsonl":
        return Source(path=path, rows=_jsonl_rows(path, text))
    if kind == "json":
        return _json_source(path, text)
    return Source(path=path, rows=_csv_rows(path, text, "\t" if kind == "tsv" else ","))


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _no_file(path: Path) -> str:
    return f"read_source: there is no file {str(path)!r}. Check the name, and where you are."


def _read_bytes(path: Path, *, zipped: bool, max_bytes: int) -> bytes:
    try:
        with gzip.open(path) if zipped else path.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise InputError(_no_file(path)) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"read_source: {path.name} is no complete gzip file ({error}). Download it again."
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(f"read_source: {str(path)!r} cannot be read ({error}).") from error
    _refuse_large(path, len(data), max_bytes)
    return data


def _refuse_large(path: Path, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise InputError(
            f"read_source: {path.name} holds more than {max_bytes:,} bytes (after decompression). "
            "Give a smaller file, or raise max_bytes."
        )


def _parse_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}"
        raise InputError(
            f"read_source: {where} is no valid JSON ({error.msg}, {place}). Correct it; in a "
            ".jsonl file every line is one object, a whole list belongs in a .json file."
        ) from error
    except (RecursionError, ValueError) as error:
        raise InputError(
            f"read_source: {where} cannot be read as JSON: too deeply nested, or a number with too "
            "many digits."
        ) from error


def _jsonl_rows(path: Path, text: str) -> tuple[Row, ...]:
    rows = []
    # Only "\n" ends a line: str.splitlines would also cut at characters that JSON allows in texts.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        value = _parse_json(line, where)
        if not isinstance(value, Mapping):
            raise InputError(
                f"read_source: {where} holds {short_repr(value)}, not an object. Every line of a "
                ".jsonl "
                'file is one object, as in {"question": "...", "response": "..."}.'
            )
        rows.append(Row(where=where, values=value))
    return tuple(rows)


def _json_source(path: Path, text: str) -> Source:
    value = _parse_json(text, path.name)
    if isinstance(value, Mapping):
        return Source(path=path, document=value)
    if not isinstance(value, list) or not value:
        raise InputError(
            f"read_source: {path.name} must hold a list of objects (at least one), not "
            f"{short_repr(value)}."
        )
    rows = []
    for number, record in enumerate(value, start=1):
        where = f"{path.name}, record {number}"
        if not isinstance(record, Mapping):
            raise InputError(f"read_source: {where} must be an object, not {short_repr(record)}.")
        rows.append(Row(where=where, values=record))
    return Source(path=path, rows=tuple(rows))


def _csv_rows(path: Path, text: str, delimiter: str) -> tuple[Row, ...]:
    # The csv module refuses fields beyond 128 kB unless told otherwise; texts are bounded later,
    # with a message that says which one.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = []
    header: list[str] | None = None
    try:
        for cells in reader:
            if not cells:
                continue
            if header is None:
                header = _checked_header(path, cells)
                continue
            where = f"{path.name}, line {reader.line_num}"
            if len(cells) != len(header):
                raise InputError(
                    f"read_source: {where} has {len(cells)} cells but the header {len(header)}. "
                    "Quote texts that contain the separator, a quote or a line break."
                )
            # An empty cell is a missing value: CSV cannot tell the two apart.
            values = {name: cell or None for name, cell in zip(header, cells, strict=True)}
            rows.append(Row(where=where, values=values))
    except csv.Error as error:
        raise InputError(
            f"read_source: {path.name}, line {reader.line_num} is no valid CSV ({error}). Quote "
            "texts that contain the separator, a quote or a line break."
        ) from error
    if not rows:
        raise InputError(f"read_source: {path.name} has a header but no row. Give at least one.")
    return tuple(rows)


def _checked_header(path: Path, cells: list[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(
            f"read_source: {path.name} has the column(s) {short_repr(twice)} twice. Rename them."
        )
    return header


def _parquet_rows(path: Path, data: bytes, max_bytes: int) -> tuple[Row, ...]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        about = file.metadata
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        _refuse_large(path, size, max_bytes)
        records = file.read().to_pylist()
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"read_source: {path.name} is no readable Parquet file ({short_repr(first_line)}). "
            "Write it again."
        ) from error
    if not records:
        raise InputError(f"read_source: {path.name} has no row. Give at least one.")
    return tuple(
        Row(where=f"{path.name}, row {number}", values=record)
        for number, record in enumerate(records, start=1)
    )
