"""What the cells of a large file's verdicts say, from their different values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgestats.arrays import LARGEST
from judgestats.data.readers.large.codes import Codes
from judgestats.data.readers.large.dataset import ParquetJudgments
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.verdicts import coded, kind_line, kind_of_column
from judgestats.data.verdict_kinds import meanings_of
from judgestats.errors import InputError

MAX_VALUES = 240
_MOST_TEXTS = 5_000


class VerdictCode:
    """What each cell of a column says: a score, a word, or (where it is not listed) nothing.

    `statuses` has the status of cells that say why there is no verdict. `notes` name scores that
    are far from all others. `scale` is that of cells such as 7/10.
    """

    def __init__(
        self,
        is_score: bool,
        verdicts: Mapping[Any, Any],
        text: str,
        statuses: Mapping[Any, str] | None = None,
        notes: tuple[str, ...] = (),
        scale: tuple[float, float] | None = None,
        words: Mapping[str, str] | None = None,
    ) -> None:
        self.is_score = is_score
        self.verdicts = dict(verdicts)
        self.statuses = dict(statuses or {})
        self.description = text
        self.notes = notes
        self.scale = scale
        self.words = dict(words or {})

    @property
    def are_numbered_sides(self) -> bool:
        """Whether numbers name the sides of a comparison."""
        numbers = pd.to_numeric(pd.Series([*self.verdicts], dtype=object), errors="coerce")
        return {*self.verdicts.values()} <= {"a", "b", "tie"} and bool(numbers.notna().all())


def read_kind(
    opened: ParquetJudgments, role: str, options: TableOptions, *, batch_rows: int
) -> VerdictCode | None:
    """Read a column once for its different values, and infer its kind from them.

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
        The column is not a verdict, holds too many different ones, or a score outside the scale.
    """
    column = opened.names[role]
    cells, rows = _different(opened, column, batch_rows)
    large = [c for c in cells if isinstance(c, int | float) and abs(c) > LARGEST]
    if large:
        what = "an infinite score" if math.isinf(large[0]) else f"the score {large[0]:g}"
        raise InputError(
            f"{opened.path}: column {column!r} holds {what}, which is not a point of a "
            "scale. Leave such cells empty, or use --stream no, which counts them as unparsed."
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
    line, notes = kind_line(score, column, kind, options, counts, opened.level)
    meanings = meanings_of([kind])
    return VerdictCode(is_score, verdicts, line, statuses, notes, kind.scale, meanings)


def _different(
    opened: ParquetJudgments, column: str, batch_rows: int
) -> tuple[tuple[Any, ...], list[int]]:
    """A column's different cells in order of appearance, and how many rows hold each."""
    codes = Codes(lambda v: None if isinstance(v, float) and math.isnan(v) else v)
    rows = np.zeros(0, dtype=np.int64)
    for batch in opened.batches([column], batch_size=batch_rows):
        if not batch.num_rows:
            continue
        counts = np.bincount(codes.encode(batch.column(column)), minlength=len(codes))
        counts[: rows.size] += rows
        rows = counts
        if len(codes) > _MOST_TEXTS:
            break  # no verdict has so many values: what was read suffices for the refusal
    return codes.values, rows.tolist()


def _on_scale(opened: ParquetJudgments, number: float, scale: tuple[float, float] | None) -> float:
    if scale is not None and not scale[0] <= number <= scale[1]:
        low, high = scale
        raise InputError(
            f"{opened.path}: the score {number:g} is outside the scale {low:g}-{high:g}. Correct "
            "the files, or state their scale (scale=low-high)."
        )
    return number


def _too_many(opened: ParquetJudgments, column: str) -> InputError:
    return InputError(
        f"{opened.path}: column {column!r} holds more than {MAX_VALUES} different verdicts, and "
        "counting needs few. Round the scores to the steps of their scale, or analyse a sample in "
        "memory (--stream no)."
    )
