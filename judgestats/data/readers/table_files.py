"""Tables from files, by what the file holds or by its ending."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from judgestats.data.readers.json_paths import projected
from judgestats.data.readers.logs import open_log
from judgestats.errors import InputError
from judgestats.files.guarded import NoTableError, base_name, head, json_document, records
from judgestats.files.tables import (
    Choice,
    parquet_table,
    separated_table,
    sqlite_table,
    workbook_table,
)
from judgestats.files.text import shorten_text, text

ENDINGS = (
    ".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx", ".db", ".sqlite",
    ".sqlite3",
)  # fmt: skip
"""Of tables; the text forms also with ``.gz`` or ``.zst``."""
_FEWEST_RECORDS = 3
_SHARED_KEYS = 0.6


def table_of(
    path: Path,
    names: Choice,
    *,
    table: str = "",
    paths: Sequence[str] = (),
    verdicts: Choice = lambda _: (),
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
        Given the empty table, which of its columns may hold verdicts: there ``N/A`` is not a gap.

    Raises
    ------
    InputError
        The file is damaged, too large, not UTF-8, or no table.
    """
    start = head(path)
    name = base_name(path)
    if start.startswith(b"PAR1"):
        return parquet_table(path)
    if start.startswith(b"SQLite format 3\x00"):
        return sqlite_table(path, table)
    if start.startswith(b"PK\x03\x04"):
        return workbook_table(path, table)
    if table:
        raise InputError(f"{path} is neither a database nor a workbook: leave --table out.")
    _refuse_others(path, start)
    opening = start.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if name.endswith(".parquet"):
        raise InputError(f"{path}: the file cannot be read (it is not a Parquet file, or was cut).")
    if name.endswith((".csv", ".tsv", ".txt")) or not name.endswith(ENDINGS):
        if not name.endswith((".csv", ".tsv", ".txt")) and opening not in {b"{", b"["}:
            raise NoTableError(
                f"{path}: the ending is not one of {', '.join(ENDINGS)} (text forms may end in "
                ".gz). Rename the file, or name a reader with --reader."
            )
        if opening not in {b"{", b"["}:
            return separated_table(path, "\t" if name.endswith(".tsv") else ",", names, verdicts)
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
        raise NoTableError(f"{path}: expected a JSON list of objects, one per judgment.")
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
