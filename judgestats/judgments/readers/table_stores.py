"""Tables inside other files: a sheet of an Excel workbook, a table of an SQLite database."""

from __future__ import annotations

import sqlite3
import warnings
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.json_text import clean, clean_json
from judgestats.judgments.readers.untrusted import NoTableError, opened, plain_file, short

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
