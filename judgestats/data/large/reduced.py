"""Reduced judgments of a large file: counts per item and condition, repeated rows, labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from judgestats.data.large.dataset import FIRST_VALUE, UNREAD, ParquetJudgments, open_parquet
from judgestats.data.readers.checks import REPEATED_SHARE
from judgestats.data.readers.columns import (
    holds_answers,
    repeats_verdict,
)
from judgestats.data.readers.labels import labelled_ids, with_one_label
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.tables import read_frame
from judgestats.data.schema import validate_parsed
from judgestats.errors import InputError
from judgestats.protocols.base import Status


@dataclass(frozen=True, kw_only=True)
class Column:
    """One condition (in one order of presentation) and what is summed over its judgments.

    `n`, `statuses` count judgments; `cost_usd` and means of tokens are NaN where not reported.
    """

    label: str
    order: str
    judge: str
    temperature: float
    factors: Mapping[str, str]
    n: int
    statuses: Mapping[str, int]
    cost_usd: float
    tokens_in_mean: float
    tokens_out_mean: float


@dataclass(frozen=True, kw_only=True)
class ReducedJudgments:
    """Sufficient statistics of a set of judgments.

    Attributes
    ----------
    items : tuple of str
        In order of first appearance.
    cluster : ndarray of int, shape (n_items,)
        Code of each item's cluster.
    cluster_names : tuple of str
        By code.
    columns : tuple of Column
        Conditions, in order of first appearance.
    values : tuple
        The different scores (numbers, ascending) or choices (texts) that occur.
    counts : ndarray of int, shape (n_items, n_columns, n_values)
        Judgments of an item under a condition that gave the value. The counts are exact, and do
        not depend on the order of the rows.
    asked : ndarray of int, shape (n_items, n_columns)
        Judgments asked for, whether they could be read or not.
    board : ndarray of uint8, shape (n_items, n_columns, n_replicates), or None
        One byte per judgment (0 not asked, 1 unparsed, 2 + the value's index), with which the
        coefficients of columns are computed. None where it would not fit (`board_reason`).
    n_replicates, n_rows, n_files : int
    interleaved : bool
        Whether every row says that requests were sent in one random order.
    scale : (float, float) or None
        Of cells that say it, such as 7/10.
    columns_read : mapping
        Which column of the files served as which of ours.
    understood : tuple of str
        What the columns were interpreted as, in sentences.
    notes : tuple of str
        Which scores are far from all others, in sentences.
    """

    items: tuple[str, ...]
    cluster: NDArray[np.int64]
    cluster_names: tuple[str, ...]
    columns: tuple[Column, ...]
    values: tuple[Any, ...]
    counts: NDArray[np.unsignedinteger[Any]]
    asked: NDArray[np.int32]
    board: NDArray[np.uint8] | None
    board_reason: str
    n_replicates: int
    n_rows: int
    n_files: int
    interleaved: bool = False
    scale: tuple[float, float] | None = None
    columns_read: Mapping[str, str]
    understood: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_scores(self) -> bool:
        """Whether the verdicts are numbers."""
        return not isinstance(self.values[0], str)

    @property
    def n_clusters(self) -> int:
        """How many clusters the items have."""
        return len(self.cluster_names)

    @property
    def clustered(self) -> bool:
        """Whether items share clusters."""
        return self.n_clusters < len(self.items)

    def blocks(self, column: int, *, size: int = 50_000) -> Iterator[tuple[slice, Any]]:
        """Items x replications of one condition as numbers, NaN = missing, a block at a time.

        Parameters
        ----------
        column : int
        size : int
            Items in a block.

        Yields
        ------
        slice
            The items.
        ndarray of float, shape (n, n_replicates)

        Examples
        --------
        >>> import numpy as np
        >>> r = ReducedJudgments(items=("x",), cluster=np.zeros(1, dtype=np.int64),
        ...     cluster_names=("x",), columns=(), values=(7.0, 8.0),
        ...     counts=np.array([[[1, 1]]], dtype=np.uint16),
        ...     asked=np.array([[3]], dtype=np.int32),
        ...     board=np.array([[[2, 3, 1]]], dtype=np.uint8), board_reason="",
        ...     n_replicates=3, n_rows=3, n_files=1, columns_read={})
        >>> [x.tolist() for _, x in r.blocks(0)]
        [[[7.0, 8.0, nan]]]
        """
        if self.board is None:
            raise ValueError(f"the judgments are known as counts only: {self.board_reason}")
        meaning = np.array([np.nan, np.nan, *self.values], dtype=float)
        for start in range(0, len(self.items), size):
            here = slice(start, min(start + size, len(self.items)))
            yield here, meaning[self.board[here, column]]


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """What was left out.

    Attributes
    ----------
    rows : ndarray of int, shape (n_columns,)
        Rows left out of each condition and order.
    unclear : int
        Items whose rows contradict each other: unparsed.
    """

    rows: NDArray[np.int64]
    unclear: int


def leave_out_repeated(
    counts: NDArray[np.uint16],
    asked: NDArray[np.int32],
    board: NDArray[np.uint8] | None,
    by_status: NDArray[np.int64],
    statuses: tuple[str, ...],
) -> Repeated | None:
    """Keep one judgment of an item where few items of a condition occur in several rows.

    Parameters
    ----------
    counts : ndarray, shape (n_items, n_columns, n_values)
    asked : ndarray, shape (n_items, n_columns)
    board : ndarray, shape (n_items, n_columns, n_replicates), or None
    by_status : ndarray, shape (n_columns, n_statuses)
        All four are changed in place.
    statuses : tuple of str
        The columns of `by_status`.

    Returns
    -------
    Repeated or None
        None if nothing is left out.

    Notes
    -----
    For rows whose repetitions no column numbers. An item keeps what its rows say, and is ambiguous
    where they contradict each other. The kinds of the unparsed rows left out are not known here:
    they are taken from the most common kinds.

    Examples
    --------
    >>> counts = np.ones((6, 1, 1), dtype=np.uint16)
    >>> counts[0] = 2
    >>> asked = counts[:, :, 0].astype(np.int32)
    >>> by_status = np.array([[7, 0, 0]])
    >>> out = leave_out_repeated(counts, asked, None, by_status, ("ok", "ambiguous", "refused"))
    >>> out.rows.tolist(), counts.sum(), by_status.tolist()
    ([1], np.uint64(6), [[6, 0, 0]])
    """
    several = asked > 1
    many = several.sum(axis=0)
    chance = (many > 0) & (many < REPEATED_SHARE * (asked > 0).sum(axis=0))
    item, column = np.nonzero(several & chance)
    if not item.size:
        return None
    counted = counts[item, column]
    ways, read = np.count_nonzero(counted, axis=1), counted.sum(axis=1, dtype=np.int64)
    rows = asked[item, column].astype(np.int64)
    kept, value = ways == 1, counted.argmax(axis=1)
    counts[item, column] = 0
    counts[item[kept], column[kept], value[kept]] = 1
    asked[item, column] = 1
    if board is not None:
        board[item, column] = 0
        board[item, column, 0] = np.where(kept, FIRST_VALUE + value, UNREAD)
    width = asked.shape[1]
    ok, ambiguous = statuses.index("ok"), statuses.index(Status.AMBIGUOUS.value)

    def column_sums(n: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(column, n, minlength=width).astype(np.int64)

    by_status[:width, ok] -= column_sums(read - kept)
    lost = column_sums(rows - read - (ways == 0))  # an item of which nothing was read keeps a row
    for c in np.nonzero(lost)[0].tolist():
        for kind in np.argsort(-by_status[c], kind="stable").tolist():
            if kind != ok:
                fewer = min(int(lost[c]), int(by_status[c, kind]))
                by_status[c, kind] -= fewer
                lost[c] -= fewer
    by_status[:width, ambiguous] += column_sums((ways > 1).astype(np.int64))
    return Repeated(rows=column_sums(rows - 1), unclear=int((ways > 1).sum()))


MOST_ROWS = 2_000_000
"""Labelled judgments that are held in memory, about a gigabyte."""


def labelled_judgments(
    path: Path, reduced: ReducedJudgments, *, labels: str | Path | None = None, **said: Any
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
    **said
        As `reduce_parquet` takes it.

    Returns
    -------
    DataFrame or None

    Raises
    ------
    InputError
        No item has a label, or more judgments have one than are held in memory.
    """
    options = TableOptions(**said)
    human = options.human
    opened = open_parquet(path, mapping=options.mapping, factors=options.factors)
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
    table = _labelled_rows(opened, ids, options.stated_columns)
    if ids is None and "label" not in options.mapping:
        every = len(table) == reduced.n_rows
        if (every and repeats_verdict(table, names)) or holds_answers(table, names):
            return None
    if not len(table):
        if labels is None:
            return None
        raise InputError(
            f"{labels}: no label belongs to an item of {path}. Items there are called "
            f"{', '.join(map(repr, reduced.items[:3]))}. Give both files the same ids."
        )
    ends = (float(reduced.values[0]), float(reduced.values[-1])) if reduced.is_scores else None
    table_labels = None if labels is None else str(labels)
    options = replace(options, mapping=names, kind=kind, scale=ends, labels=table_labels)
    frame = read_frame(table, options, source=path)
    notes = frame.attrs["notes"]
    frame, differing = with_one_label(validate_parsed(frame, what=str(path)))
    frame.attrs["notes"] = [*notes, *differing]
    return frame


def _kind(reduced: ReducedJudgments) -> str:
    if reduced.is_scores:
        return "score"
    words = set(reduced.values)
    if words <= {"pass", "fail"}:
        return "pass-fail"
    return "preference" if words <= {"a", "b", "tie"} else "category"


def _labelled_rows(opened: ParquetJudgments, ids: Any, further: Sequence[str]) -> pd.DataFrame:
    """The rows of labelled items, or those with a label, in the order of the files."""
    names = opened.names
    by = names["item_id"] if ids is not None else names["label"]
    wanted = list(dict.fromkeys([*names.values(), *opened.factors, *further]))
    parts: list[pd.DataFrame] = []
    n = 0
    for batch in opened.batches(wanted, batch_readahead=2):
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
