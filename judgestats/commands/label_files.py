"""Files of labels: tables of texts with a column for what a person said."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pandas as pd

from judgestats.commands.file_lock import replace_file
from judgestats.errors import InputError
from judgestats.judgments.readers.labels import LABEL_ENDINGS
from judgestats.judgments.readers.table_files import table_of

OWN_COLUMNS = ("item_id", "chance", "annotator", "label")
"""What a file of labels holds beside the texts."""
_OTHER_STARTS = (b"SQLite format 3\x00", b"PK\x03\x04", b"\x1f\x8b")
"""First bytes of a database, a workbook and a gzip file."""


def check_writable(path: Path) -> None:
    """Refuse a file that `write_table` would turn into another format.

    Parameters
    ----------
    path : Path
        It need not exist.

    Raises
    ------
    InputError
        Its name, or what it holds, is of a format in which labels are not written.
    """
    suffix = path.suffix.lower()
    if suffix not in LABEL_ENDINGS:
        raise InputError(
            f"{path}: labels are kept in CSV, TSV, JSON lines, JSON or Parquet. Name such a file, "
            f"e.g. {path.name.partition('.')[0] or 'labels'}.csv."
        )
    if not path.is_file():
        return
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(_OTHER_STARTS) or (start[:4] == b"PAR1" and suffix != ".parquet"):
        raise InputError(
            f"{path}: the file is not in the format of its name, in which labels would be written. "
            "Save its table as CSV under another name."
        )


def read_table(path: Path) -> pd.DataFrame:
    """A table with every value as text, empty where there is none.

    Parameters
    ----------
    path : Path
        As `judgestats.judgments.readers.table_files.table_of` reads it.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        The file is not there, or is no table.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file.")
    frame = table_of(path, lambda header: list(header.columns))
    filled = frame.astype(object).where(frame.notna(), "")
    return filled.map(lambda v: json.dumps(v) if isinstance(v, (dict, list)) else str(v))


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table, in the format of its name, whole or not at all."""
    check_writable(path)
    suffix = path.suffix.lower()
    if suffix in {".jsonl", ".ndjson"}:
        write = partial(frame.to_json, orient="records", lines=True, force_ascii=False)
    elif suffix == ".json":
        write = partial(frame.to_json, orient="records", force_ascii=False)
    elif suffix == ".parquet":
        write = partial(frame.to_parquet, index=False)
    else:
        write = partial(frame.to_csv, index=False, sep="\t" if suffix == ".tsv" else ",")
    replace_file(path, write)
