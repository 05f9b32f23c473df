"""Files of unknown origin as plain Python objects: JSONL, JSON, CSV, TSV, Parquet, also gzipped.

Nothing is interpreted here and nothing is guessed from the content: the ending of the name says the
format. Size is bounded (a small ``.gz`` can hold a very large file), and an error names the file
and the line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.files.guarded import LIMITS, Limits, Meter, base_name, json_document, records
from judgestats.items.records import short_repr

MAX_BYTES = 1_000_000_000
"""Largest file that is read, after decompression."""
MAX_ROWS = 1_000_000
"""Most rows that are read: all are held at a time, with ten values each."""

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
    """Whether a folder has this name; False for a name that the system refuses."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def read_source(
    path: str | Path, *, max_bytes: int = MAX_BYTES, max_rows: int = MAX_ROWS
) -> Source:
    """The records in a file, by the ending of its name.

    Parameters
    ----------
    path : str or Path
        A ``.jsonl`` (``.ndjson``), ``.json``, ``.csv``, ``.tsv`` or ``.parquet`` file; each also
        with ``.gz`` after it.
    max_bytes : int
        Largest size, in bytes, after decompression.
    max_rows : int
        Most rows; they may hold ten times as many values in all, those in lists counted.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        If there is no such file, its ending is unknown, it is empty, damaged, not UTF-8, has
        too many bytes, rows or values, or a line does not parse.
    """
    path = Path(path)
    if is_folder(path):
        raise InputError(
            f"read_source: {path} is a folder. Give a file, or a folder in FastChat's MT-Bench "
            "layout (question.jsonl and model_answer/*.jsonl) to read_items."
        )
    if not _is_there(path):
        raise InputError(_no_file(path))
    name = base_name(path)
    kind = next((kind for ending, kind in _FORMATS.items() if name.endswith(ending)), None)
    if kind is None:
        raise InputError(
            f"read_source: the format of {path.name!r} is not known by its ending. Give one of "
            f"{', '.join(_FORMATS)} (each also with .gz or .zst)."
        )
    limits = Limits(
        rows=max_rows,
        cells=10 * max_rows,
        expanded_bytes=max_bytes,
        document_bytes=max_bytes,
        remedy="Keep the items that the experiment needs, or split it.",
    )
    found: Iterable[tuple[str, Mapping[str, Any]]]
    if kind == "parquet":
        from judgestats.files.tables import parquet_rows  # pandas, which help does not need

        table = parquet_rows(path, limits)
        found = ((f"row {n}", v) for n, v in enumerate(table.to_pylist(), start=1))
    elif kind == "jsonl":
        found = records(path, limits)
    elif kind == "json":
        value = json_document(path, limits=limits)
        if isinstance(value, Mapping):
            return Source(path=path, document=value)
        found = _json_records(path, value)
    else:
        found = _csv_records(path, "\t" if kind == "tsv" else ",", limits)
    rows = tuple(_counted(found, Meter(path, kind, limits)))
    if not rows:
        raise InputError(f"read_source: {path.name} has no row. Give at least one.")
    return Source(path=path, rows=rows)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _no_file(path: Path) -> str:
    return f"read_source: there is no file {str(path)!r}. Check the name, and where you are."


def _counted(found: Iterable[tuple[str, Mapping[str, Any]]], meter: Meter) -> Iterator[Row]:
    """Records as rows, counted one by one before the next is read."""
    held = 0
    for where, values in found:
        meter.rows(1)
        held += _count_values(values)
        meter.cells(held)
        yield Row(where=f"{meter.path.name}, {where}", values=values)


def _count_values(value: Any) -> int:
    """The values in a record: what is in its lists and objects is counted too."""
    if not isinstance(value, (dict, list)):
        return 1
    inner = value.values() if isinstance(value, dict) else value
    return 1 + sum(map(_count_values, inner))


def _json_records(path: Path, value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, list) or not value:
        raise InputError(
            f"read_source: {path.name} must hold a list of objects (at least one), not "
            f"{short_repr(value)}."
        )
    for number, record in enumerate(value, start=1):
        where = f"record {number}"
        if not isinstance(record, Mapping):
            raise InputError(
                f"read_source: {path.name}, {where} must be an object, not {short_repr(record)}."
            )
        yield where, record


def _csv_records(
    path: Path, delimiter: str, limits: Limits
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    # The csv module refuses fields beyond 128 kB unless told otherwise; texts are bounded later,
    # with a message that says which one.
    csv.field_size_limit(max(csv.field_size_limit(), limits.line_bytes))
    header: list[str] | None = None
    from judgestats.files.tables import text_lines

    # The header and blank lines are no rows.
    with text_lines(path, replace(limits, rows=LIMITS.rows)) as stream:
        reader = csv.reader(stream, delimiter=delimiter, strict=True)
        for cells in reader:
            if not cells:
                continue
            if header is None:
                Meter(path, "CSV", limits).columns(len(cells))
                header = _checked_header(path, cells)
                continue
            where = f"line {reader.line_num}"
            if len(cells) != len(header):
                raise InputError(
                    f"read_source: {path.name}, {where} has {len(cells)} cells but the header "
                    f"{len(header)}. Quote texts that contain the separator, a quote or a line "
                    "break."
                )
            # An empty cell is a missing value: CSV cannot tell the two apart.
            yield where, {name: cell or None for name, cell in zip(header, cells, strict=True)}


def _checked_header(path: Path, cells: list[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(
            f"read_source: {path.name} has the column(s) {short_repr(twice)} twice. Rename them."
        )
    return header
