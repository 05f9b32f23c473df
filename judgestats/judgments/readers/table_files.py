"""A table's file as a frame: CSV and TSV, JSON lines, JSON, Parquet, by the ending of the name.

Like a log, a table is data of unknown origin: it is opened through `untrusted`, so that sizes are
counted while gzip is undone, and JSON that names a key twice or nests too deeply is refused.
"""

from __future__ import annotations

import codecs
import csv
import io
import warnings
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO, Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.judgments.readers.untrusted import (
    MAX_BYTES,
    cut,
    head,
    json_document,
    opened,
    plain_file,
    records,
    short,
    text,
)

__all__ = ["ENDINGS", "NoTableError", "table_of"]

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
"""Of tables; the text forms also with ``.gz``."""

_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "<NA>")
"""How programs write that a cell has no value: R writes NA, pandas nothing, others None."""


class NoTableError(InputError):
    """The file can be read, but holds no table of judgments, or not under names that are known."""


def table_of(path: Path, names: Callable[[pd.DataFrame], Collection[str]]) -> pd.DataFrame:
    """Read a table by its file's ending.

    Parameters
    ----------
    path : Path
        Ends in ``.csv``, ``.tsv``, ``.jsonl``, ``.ndjson``, ``.json`` (each also with ``.gz``) or
        ``.parquet``.
    names : callable
        Given the empty table, which of its columns are names: kept as they are written in CSV, so
        that ``007`` is not ``7`` and an item that is called ``NA`` is not missing.

    Raises
    ------
    InputError
        The file is damaged, too large, not UTF-8, or no table.
    """
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        return _separated(path, "\t" if name.endswith(".tsv") else ",", names)
    if name.endswith((".jsonl", ".ndjson")):
        return pd.DataFrame([_cells(row) for _, row in records(path)])
    if name.endswith(".json"):
        value = json_document(path)
        if not (isinstance(value, list) and all(isinstance(v, dict) for v in value)):
            raise NoTableError(f"{path}: expected a JSON list of objects, one a judgment.")
        return pd.DataFrame([_cells(row) for row in value])
    if name.endswith(".parquet"):
        from pyarrow import ArrowException

        plain_file(path)
        try:
            return pd.read_parquet(path)
        except (ArrowException, OSError, ValueError, OverflowError) as error:
            raise InputError(f"{path}: the file cannot be read ({_first_line(error)}).") from error
    raise NoTableError(
        f"{path}: the ending is not one of {', '.join(ENDINGS)} (text forms may end in .gz). "
        "Rename the file, or name a reader with --reader."
    )


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object as cells: a list or an object as its text, and text that UTF-8 can hold."""
    return {cut(k): text(v) if isinstance(v, (str, list, dict)) else v for k, v in row.items()}


def _separated(
    path: Path, separator: str, names: Callable[[pd.DataFrame], Collection[str]]
) -> pd.DataFrame:
    """CSV; separated by semicolons (with decimal commas) where spreadsheets of the region do so."""
    try:
        separator, header = _header(path, separator)
        kept = names(pd.DataFrame(columns=header))
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
                na_values={c: [""] if c in kept else list(_MISSING) for c in header},
            )
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error.reason}). Save it as UTF-8.") from None
    except InputError:
        raise
    # pandas' parser errors are ValueErrors; a cell's integer may have too many digits for C.
    except (csv.Error, ValueError, OverflowError, pd.errors.ParserWarning) as error:
        raise InputError(f"{path}: this is not a readable table ({_first_line(error)}).") from error
    return table if separator != ";" else table.apply(_with_points)


def _header(path: Path, separator: str) -> tuple[str, list[str]]:
    """The separator, and the columns' names.

    Only the beginning is looked at; a character that it cuts in two is no fault.
    """
    start = codecs.getincrementaldecoder("utf-8-sig")().decode(head(path))
    lines = [line for line in start.splitlines(keepends=True) if line.strip()]
    if not lines:
        raise InputError(f"{path}: the file is empty.")
    header = next(csv.reader(lines, delimiter=separator))
    if len(header) == 1 and ";" in header[0]:
        separator, header = ";", next(csv.reader(lines, delimiter=";"))
    twice = next((name for name in header if name and header.count(name) > 1), "")
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
