"""What a streamed verdict column holds, decided as in memory: from its different values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import LARGEST
from judgestats.errors import InputError
from judgestats.judgments.large.dataset import ParquetJudgments, damaged
from judgestats.judgments.large.tables import Codes
from judgestats.judgments.readers.options import TableOptions
from judgestats.judgments.readers.rater_kinds import rater_columns, rater_kinds
from judgestats.judgments.readers.row_checks import Rows, check_rows, raters_question
from judgestats.judgments.readers.table_words import unused_columns
from judgestats.judgments.readers.tables import tried
from judgestats.judgments.readers.understanding import Understanding, understand
from judgestats.judgments.readers.verdicts import coded, kind_line, kind_of_column

MAX_VALUES = 254
_MOST_TEXTS = 5_000
_SAMPLE = 50_000


class VerdictCode:
    """What each cell of a column says: a score, a word, or (where it is not listed) nothing.

    `statuses` has the status of cells that say why there is none; `notes` name scores that lie far
    from all others.
    """

    def __init__(
        self,
        is_score: bool,
        verdicts: Mapping[Any, Any],
        text: str,
        statuses: Mapping[Any, str] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.is_score = is_score
        self.verdicts = dict(verdicts)
        self.statuses = dict(statuses or {})
        self.description = text
        self.notes = notes


def read_kind(
    opened: ParquetJudgments, role: str, options: TableOptions, *, batch_rows: int
) -> VerdictCode | None:
    """Read a column once for its different values, and tell its kind by these.

    Parameters
    ----------
    opened : ParquetJudgments
    role : {"score", "choice", "verdict"}
    options : TableOptions
        ``kind``, ``passes``, ``fails``, ``values`` and ``scale`` are heeded.
    batch_rows : int

    Returns
    -------
    VerdictCode or None
        None where the column is empty.

    Raises
    ------
    InputError
        The column is no verdict, holds too many different ones, or a score outside the scale.
    """
    column = opened.names[role]
    with damaged(opened.path):
        cells, rows = _different(opened, column, batch_rows)
    large = [c for c in cells if isinstance(c, int | float) and abs(c) > LARGEST]
    if large:
        what = "an infinite score" if math.isinf(large[0]) else f"the score {large[0]:g}"
        raise InputError(
            f"{opened.path}: column {column!r} holds {what}, which is no point of a "
            "scale. Leave such cells empty, or use --stream no, which counts them as unread."
        )
    kept = [(c, n) for c, n in zip(cells, rows, strict=True) if c is not None and c != ""]
    if not kept:
        return None
    distinct = pd.Series([c for c, _ in kept])
    numbers = pd.api.types.is_numeric_dtype(distinct) and distinct.dtype != bool
    if numbers and len(kept) > MAX_VALUES:
        raise _too_many(opened, column)
    counts = [n for _, n in kept]
    kind = kind_of_column(opened.path, distinct, column, role, options, counts)
    score, words, _, became = coded(distinct, kind)
    is_score = kind.name == "score"
    verdicts: dict[Any, Any] = {}
    statuses: dict[Any, str] = {}
    for (cell, _), number, word, status in zip(
        kept, score.tolist(), words.tolist(), became.tolist(), strict=True
    ):
        if is_score and not math.isnan(number):
            verdicts[cell] = _on_scale(opened, number, options.scale)
        elif word:
            verdicts[cell] = word
        else:
            statuses[cell] = status
    if len(set(verdicts.values())) > MAX_VALUES:
        raise _too_many(opened, column)
    line, notes = kind_line(score, column, kind, options, counts)
    return VerdictCode(is_score, verdicts, line, statuses, notes)


def _different(
    opened: ParquetJudgments, column: str, batch_rows: int
) -> tuple[tuple[Any, ...], list[int]]:
    """A column's different cells in order of appearance, and how many rows hold each."""
    codes = Codes(lambda v: None if isinstance(v, float) and math.isnan(v) else v)
    rows = np.zeros(0, dtype=np.int64)
    for batch in opened.dataset.to_batches(columns=[column], batch_size=batch_rows):
        if not batch.num_rows:
            continue
        counts = np.bincount(codes.of(batch.column(column)), minlength=len(codes))
        counts[: rows.size] += rows
        rows = counts
        if len(codes) > _MOST_TEXTS:
            break  # no verdict has so many values: what was read suffices for the refusal
    return codes.values, rows.tolist()


def _on_scale(opened: ParquetJudgments, number: float, scale: tuple[float, float] | None) -> float:
    if scale is not None and not scale[0] <= number <= scale[1]:
        low, high = scale
        raise InputError(
            f"{opened.path}: the score {number:g} lies outside the scale {low:g}-{high:g}. Correct "
            "the files, or state their scale (scale=low-high)."
        )
    return number


def _too_many(opened: ParquetJudgments, column: str) -> InputError:
    return InputError(
        f"{opened.path}: column {column!r} holds more than {MAX_VALUES} different verdicts, and "
        "counting needs few. Round the scores to the steps of their scale, or analyse a sample in "
        "memory (--stream no)."
    )


def understood_columns(opened: ParquetJudgments, options: TableOptions) -> list[str]:
    """The columns without a part, in words; a refusal where one may be part of a key.

    The first rows tell: a column that varies within an item there does so in the whole. Who gave
    the rows is told by all of them.

    Raises
    ------
    InputError
        Rows that differ in some column would be pooled as repetitions, or people gave some.
    """
    with damaged(opened.path):
        sample = opened.dataset.head(_SAMPLE).to_pandas()
    for name in sample.select_dtypes("category"):
        sample[name] = sample[name].astype(object)
    mapping = {**options.mapping, "item_id": opened.names["item_id"]}
    stated = replace(options, mapping=mapping, factors=opened.factors)
    read = partial(tried, opened.path, sample)
    rows = Rows(source=opened.path, table=sample, names=opened.names, options=stated, read=read)
    _check_raters(opened, rows)
    check_rows(rows)
    understanding: Understanding = understand(
        opened.path, sample, opened.names, factors=opened.factors
    )
    if len(understanding.item) > 1:
        raise InputError(
            f"{opened.path}: {' + '.join(understanding.item)} name an item together, and a stream "
            "takes one column for it. Write them into one, or use --stream no."
        )
    further = [f for f in understanding.factors if f not in opened.factors]
    if further:
        raise InputError(
            f"{opened.path}: the column {further[0]!r} tells conditions apart. Say so: --factor "
            f"{further[0]}."
        )
    return unused_columns(understanding)


def _check_raters(opened: ParquetJudgments, rows: Rows) -> None:
    """Refuse rows of people among the judge's, wherever in the files they stand."""
    stated = rows.options.judge_rows.partition("=")[0].strip()
    explained = {*opened.factors, stated}
    found = rater_kinds(rows.table, rows.names, explained=explained)
    for column in rater_columns(rows.table, rows.names, explained=explained):
        if found is not None or column not in opened.dataset.schema.names:
            continue
        levels = pd.DataFrame({column: [v or None for v in opened.levels(column)]})
        found = rater_kinds(pd.concat([rows.table, levels]), rows.names, explained=explained)
    if found is None:
        return
    if found.column in opened.dataset.schema.names:
        found = replace(found, rows=opened.levels(found.column))
    raise raters_question(rows, found)
