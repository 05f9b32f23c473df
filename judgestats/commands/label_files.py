"""Files of labels: tables of texts with a column for what a person said."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pandas as pd

from judgestats.commands.file_lock import replace_file
from judgestats.errors import InputError
from judgestats.judgments.readers.table_files import table_of

OWN_COLUMNS = ("item_id", "chance", "annotator", "label")
"""What a file of labels holds beside the texts."""


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
    if path.suffix in {".jsonl", ".ndjson"}:
        write = partial(frame.to_json, orient="records", lines=True, force_ascii=False)
    elif path.suffix == ".json":
        write = partial(frame.to_json, orient="records", force_ascii=False)
    elif path.suffix == ".parquet":
        write = partial(frame.to_parquet, index=False)
    else:
        write = partial(frame.to_csv, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    replace_file(path, write)
