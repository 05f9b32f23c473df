"""The judgments of a stream that people labelled too: few, and read once more into memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from judgestats.errors import InputError
from judgestats.judgments.large.dataset import ParquetJudgments, damaged, open_parquet
from judgestats.judgments.large.reduced import ReducedJudgments
from judgestats.judgments.readers.labels import labelled_ids
from judgestats.judgments.readers.options import TableOptions
from judgestats.judgments.readers.tables import read_frame
from judgestats.judgments.schemas import validate_parsed

MOST_ROWS = 2_000_000
"""Labelled judgments that are held in memory, about a gigabyte."""


def labelled_judgments(
    path: Path,
    reduced: ReducedJudgments,
    *,
    labels: str | Path | None = None,
    mapping: Mapping[str, str] | None = None,
    factors: tuple[str, ...] = (),
    judge: str = "",
    passes: tuple[str, ...] = (),
    fails: tuple[str, ...] = (),
    values: Mapping[str, str] | None = None,
    human: str = "",
    judge_rows: str = "",
) -> pd.DataFrame | None:
    """The parsed frame of the judgments with a label; None where there are no labels.

    Parameters
    ----------
    path : Path
        Parquet, as `reduce_parquet` read it.
    reduced : ReducedJudgments
        What it counted: its verdicts say what kind the labelled ones are.
    labels : path, optional
        A second table; by default the column that serves as label.
    mapping, factors, judge, passes, fails, values, human, judge_rows
        As `reduce_parquet` takes them.

    Returns
    -------
    DataFrame or None

    Raises
    ------
    InputError
        No item has a label, or more judgments have one than are held in memory.
    """
    opened = open_parquet(path, mapping=mapping, factors=factors)
    names = {k: v for k, v in opened.names.items() if k != "label" or not human}
    if labels is None and "label" not in names and not human:
        return None
    kind = _kind(reduced)
    ids = None
    if labels is not None:
        choices = () if kind in {"score", "pass-fail"} else reduced.values
        ids = pa.array(sorted(labelled_ids(Path(labels), choices=choices)), pa.string())
    if human:
        people = opened.dataset.filter(opened.holding(human))
        ids = pc.unique(pc.cast(people.to_table([names["item_id"]]).column(0), pa.string()))
    stated = [s.partition("=")[0].strip() for s in (human, judge_rows) if s]
    table = _kept(opened, ids, stated)
    if not len(table):
        if labels is None:
            return None
        raise InputError(
            f"{labels}: no label belongs to an item of {path}. Items there are called "
            f"{', '.join(map(repr, reduced.items[:3]))}. Give both files the same ids."
        )
    options = TableOptions(
        mapping=names,
        factors=factors,
        judge=judge,
        kind=kind,
        passes=passes,
        fails=fails,
        values=dict(values or {}),
        scale=(float(reduced.values[0]), float(reduced.values[-1])) if reduced.is_scores else None,
        labels=None if labels is None else str(labels),
        human=human,
        judge_rows=judge_rows,
    )
    frame = read_frame(table, options, source=path)
    notes = frame.attrs["notes"]
    frame = validate_parsed(frame, what=str(path))
    frame.attrs["notes"] = notes
    return frame


def _kind(reduced: ReducedJudgments) -> str:
    if reduced.is_scores:
        return "score"
    words = set(reduced.values)
    if words <= {"pass", "fail"}:
        return "pass-fail"
    return "preference" if words <= {"a", "b", "tie"} else "category"


def _kept(opened: ParquetJudgments, ids: Any, further: Sequence[str]) -> pd.DataFrame:
    """The rows of labelled items, or those with a label, in the order of the files."""
    names = opened.names
    by = names["item_id"] if ids is not None else names["label"]
    wanted = list(dict.fromkeys([*names.values(), *opened.factors, *further]))
    parts: list[pd.DataFrame] = []
    n = 0
    with damaged(opened.path):
        for batch in opened.dataset.scanner(columns=wanted, batch_readahead=2).to_batches():
            column = batch.column(batch.schema.get_field_index(by))
            if pa.types.is_dictionary(column.type):
                column = column.dictionary_decode()
            text = pc.cast(column, pa.string())
            if ids is not None:
                mask = pc.is_in(text, value_set=ids)
            else:
                present = pc.invert(pc.is_in(pc.utf8_trim_whitespace(text), pa.array(["", "nan"])))
                mask = pc.and_(pc.is_valid(text), present)
            part = batch.filter(mask)
            n += part.num_rows
            if n > MOST_ROWS:
                raise InputError(
                    f"{opened.path}: more than {MOST_ROWS:,} judgments have a label. Give the "
                    "labels of a sample of the items in a second file: --labels FILE."
                )
            if part.num_rows:
                parts.append(part.to_pandas())
    if not parts:
        return pd.DataFrame(columns=wanted)
    table: pd.DataFrame = pd.concat(parts, ignore_index=True)
    for column in list(table.columns):
        if isinstance(table[column].dtype, pd.CategoricalDtype):
            table[column] = table[column].astype(object)
    return table
