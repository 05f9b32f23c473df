"""Files of labels: tables of texts with a column for what a person said."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pandas as pd

from judgestats.commands.file_lock import replace_file
from judgestats.errors import InputError

OWN_COLUMNS = ("item_id", "chance", "annotator", "label")
"""What a file of labels holds beside the texts."""


def read_table(path: Path) -> pd.DataFrame:
    """A table with every value as text, empty where there is none.

    Parameters
    ----------
    path : Path
        CSV, TSV, JSON lines, a JSON list of objects or Parquet.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        The file is not there or cannot be read.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file.")
    try:
        if path.suffix in {".jsonl", ".ndjson"}:
            frame = pd.read_json(path, lines=True, dtype=False)
        elif path.suffix == ".json":
            frame = pd.DataFrame(_records(path))
        elif path.suffix == ".parquet":
            frame = pd.read_parquet(path)
        else:
            tab = "\t" if path.suffix == ".tsv" else ","
            return pd.read_csv(path, sep=tab, dtype=str, keep_default_na=False)
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: cannot be read as a table: {error}.") from error
    return frame.astype(object).where(frame.notna(), "").astype(str)


def _records(path: Path) -> list[dict[str, object]]:
    records = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
        raise ValueError("expected a JSON list of objects, one a row")
    return records


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
