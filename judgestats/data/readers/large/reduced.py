"""Judgments of a large file in one byte each, as a frame; those with labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from judgestats.data.columns import INTERLEAVED, JUDGMENT
from judgestats.data.readers.checks import MISTAKES_ENOUGH, REPEATED_SHARE
from judgestats.data.readers.columns import holds_answers, repeats_verdict
from judgestats.data.readers.labels import labelled_ids, unlabelled_note
from judgestats.data.readers.large.codes import joined_column
from judgestats.data.readers.large.dataset import ParquetJudgments, open_parquet
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.roles import ColumnRoles
from judgestats.data.readers.tables import read_frame
from judgestats.data.schema import validate_parsed
from judgestats.errors import InputError
from judgestats.protocols.base import Status

STATUSES = tuple(status.value for status in Status if status is not Status.OK)
"""Why there is no verdict; a byte of the board is 1 + the index here."""
FIRST_VALUE = 1 + len(STATUSES)
_CONSTANT = ("category", "choice", "cost_usd", "latency_s", "reason", "score", "stage",
             "tokens_in", "tokens_out")  # fmt: skip
"""Further columns that an audit reads."""
COSTS = ("cost_usd", "tokens_in", "tokens_out", "latency_s")


@dataclass(frozen=True, kw_only=True)
class Column:
    """One condition in one order of presentation, and what each of its judgments cost on average.

    `costs` has a number per column of `COSTS`; NaN where some row (of `cost_usd`) or every row
    does not state it.
    """

    label: str
    order: str
    judge: str
    temperature: float
    factors: Mapping[str, str]
    costs: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class ReducedJudgments:
    """A set of judgments with one byte for each.

    Attributes
    ----------
    items : Index of str
        In order of first appearance.
    cluster : ndarray of int, shape (n_items,)
        Code of each item's cluster.
    cluster_names : Index of str
        By code.
    columns : tuple of Column
        Conditions, one for each order of presentation.
    values : tuple
        The different scores (numbers) or choices (texts) that occur.
    board : ndarray of uint8, shape (n_items, n_columns, n_repeats)
        0 if not asked. 1 + the index of a status in `STATUSES` if there is no verdict.
        `FIRST_VALUE` + the index of the value if there is one.
    repeats : ndarray of int, shape (n_repeats,)
        What the repeats are numbered.
    n_files, n_rows, n_left_out, n_filtered : int
        Files, rows that were read, rows that the user left out, and these without rows of human
        raters.
    verdict : str
        The column with the verdicts.
    words : mapping
        What its words mean.
    interleaved : bool
        Whether every row says that requests were sent in one random order.
    scale : (float, float) or None
        Of cells that say it, such as 7/10.
    system : (ndarray of int, Index of str) or None
        Code of the system that answered each item, and the systems by code.
    understanding : ColumnRoles
        How the columns are used.
    roles : mapping
        The columns of each role.
    columns_read : mapping
        Which column of the files served as which of ours.
    description : str
        What the verdicts were interpreted as.
    notes : tuple of str
        What the data leave open, in sentences.
    """

    items: pd.Index
    cluster: NDArray[np.int64]
    cluster_names: pd.Index
    columns: tuple[Column, ...]
    values: tuple[Any, ...]
    board: NDArray[np.uint8]
    repeats: NDArray[np.int64]
    n_files: int
    n_rows: int = 0
    n_left_out: int = 0
    n_filtered: int = 0
    verdict: str = ""
    words: Mapping[str, str]
    interleaved: bool = False
    system: tuple[NDArray[np.int64], pd.Index] | None = None
    understanding: ColumnRoles
    roles: Mapping[str, list[str]] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    columns_read: Mapping[str, str]
    description: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_scores(self) -> bool:
        """Whether the verdicts are numbers."""
        return not isinstance(self.values[0], str)

    def judgments(self, places: Sequence[int] | None = None) -> pd.DataFrame:
        """The judgments of some columns as a parsed frame whose texts are categories.

        Parameters
        ----------
        places : sequence of int, optional
            Of the columns; all by default.

        Examples
        --------
        >>> column = Column(label="j", order="", judge="j", temperature=1.0, factors={}, costs={})
        >>> r = ReducedJudgments(items=text_index(["x"]), cluster=np.zeros(1, dtype=np.int64),
        ...     cluster_names=text_index(["x"]), columns=(column,), values=(7.0, 8.0),
        ...     board=np.array([[[FIRST_VALUE + 1, FIRST_VALUE]]], dtype=np.uint8),
        ...     repeats=np.array([0, 1]), n_files=1, columns_read={}, words={},
        ...     understanding=ColumnRoles(item=("x",), factors=(), unused=()))
        >>> r.judgments()[["item_id", "condition", "replicate", "score", "status"]].to_dict("list")
        {'item_id': ['x', 'x'], 'condition': ['j', 'j'], 'replicate': [0, 1], 'score': [8.0, 7.0], 'status': ['ok', 'ok']}
        """  # noqa: E501
        columns = self.columns if places is None else [self.columns[place] for place in places]
        item, column, run = np.nonzero(
            self.board if places is None else self.board[:, list(places)]
        )
        code = self.board[item, column if places is None else np.asarray(places)[column], run]

        def texts(by_column: Iterable[str]) -> pd.Categorical:
            codes, names = pd.factorize(np.asarray([*by_column], dtype=object))
            return coded(codes.astype(np.int16)[column], names)

        def numbers(by_column: Iterable[float]) -> NDArray[np.float64]:
            return np.asarray([*by_column], dtype=float)[column]

        without = np.full(FIRST_VALUE, np.nan)
        ok = code >= FIRST_VALUE
        shown = np.where(ok, np.uint8(0), code)
        frame: dict[str, Any] = {
            "condition": texts(c.label for c in columns),
            "judge": texts(c.judge for c in columns),
            "temperature": numbers(c.temperature for c in columns),
            "order": texts(c.order for c in columns),
            "item_id": pd.Categorical.from_codes(item.astype(np.int32), self.items),
            "cluster": pd.Categorical.from_codes(
                self.cluster[item].astype(np.int32), self.cluster_names
            ),
            "replicate": self.repeats.astype(
                np.int16 if self.repeats.max() < 1 << 15 else np.int64
            )[run],
            "status": coded(shown, ["ok", *STATUSES]),
        }
        if self.system is not None:
            systems, names = self.system
            frame["author"] = pd.Categorical.from_codes(systems[item].astype(np.int32), names)
        if self.is_scores:
            frame["score"] = np.concatenate([without, self.values])[code]
        else:
            chosen = np.where(ok, code - np.uint8(FIRST_VALUE - 1), np.uint8(0))
            frame["choice"] = coded(chosen, ["", *self.values])
        for factor in columns[0].factors:
            frame[f"factor_{factor}"] = texts(c.factors[factor] for c in columns)
        for cost in columns[0].costs:
            frame[cost] = numbers(c.costs[cost] for c in columns)
        if self.interleaved:
            frame["request_order"] = constant(INTERLEAVED, len(code))
        made = {k: constant(JUDGMENT[k], len(code)) for k in _CONSTANT if k not in frame}
        return pd.DataFrame({**made, **frame})


def coded(codes: NDArray[Any], texts: Iterable[str]) -> pd.Categorical:
    """A categorical column from the codes of these texts."""
    return pd.Categorical.from_codes(codes, text_index(texts))


def text_index(texts: Iterable[str]) -> pd.Index:
    """Texts as categories."""
    return pd.Index([*texts], dtype="str")


def constant(value: Any, size: int) -> Any:
    """A column of one value, in one byte a row where it is a text."""
    if isinstance(value, str):
        return coded(np.zeros(size, dtype=np.int8), [value])
    return np.full(size, value, dtype={float: np.float32, int: np.int8}.get(type(value)))


def leave_out_repeated(board: NDArray[np.uint8]) -> tuple[int, int]:
    """Keep one judgment of an item where few items of a condition occur in several rows.

    Parameters
    ----------
    board : ndarray of uint8, shape (n_items, n_columns, n_repeats)
        Changed in place.

    Returns
    -------
    tuple of int
        Rows that were left out, and items whose rows contradict each other, which are ambiguous.

    Notes
    -----
    For rows whose repetitions no column numbers.

    Examples
    --------
    >>> board = np.zeros((6, 1, 2), dtype=np.uint8)
    >>> board[:, 0, 0] = board[0, 0, 1] = FIRST_VALUE
    >>> leave_out_repeated(board), board[0, 0].tolist() == [FIRST_VALUE, 0]
    ((1, 0), True)
    """
    asked = (board > 0).sum(axis=2)
    many = (asked > 1).sum(axis=0)
    chance = (many > 0) & (many < REPEATED_SHARE * (asked > 0).sum(axis=0))
    item, column = np.nonzero((asked > 1) & chance)
    rows = board[item, column]
    rows.sort(axis=1)  # verdicts last
    low = np.where(rows < FIRST_VALUE, np.uint8(255), rows).min(axis=1, initial=255)
    contradict = (low < 255) & (low < rows[:, -1])
    kept = np.where(contradict, 1 + STATUSES.index(Status.AMBIGUOUS.value), rows[:, -1])
    board[item, column] = 0
    board[item, column, 0] = kept
    return int(asked[item, column].sum()) - item.size, int(contradict.sum())


MOST_ROWS = 2_000_000
"""Labelled judgments that are held in memory, about a gigabyte."""


def equal_repeats(board: NDArray[np.uint8]) -> int:
    """Rows that judge an item again, where all say the same and only some items have several.

    Also where each is there twice, as in files that were exported twice.

    Examples
    --------
    >>> equal_repeats(np.array([[[9, 9]], [[9, 0]]])), equal_repeats(np.array([[[9, 9]], [[8, 8]]]))
    (1, 0)
    """
    sizes = np.count_nonzero(board, axis=2)
    rows = board[sizes > 1]
    twice = sizes.max(initial=0) == 2 and sizes.sum() >= MISTAKES_ENOUGH
    if not rows.size or (sizes[sizes > 0].min() == sizes.max() and not twice):
        return 0
    high, low = rows.max(axis=1), np.where(rows == 0, 255, rows).min(axis=1)
    return int(np.count_nonzero(rows)) - len(rows) if (low == high).all() else 0


def labelled_judgments(
    path: Path, parts: Sequence[ReducedJudgments], options: TableOptions
) -> pd.DataFrame | None:
    """The parsed frame of the judgments with a label; None where there are no labels.

    Parameters
    ----------
    path : Path
        As `reduce_criteria` read it.
    parts : sequence of ReducedJudgments
        One per criterion: their verdicts say what kind the labelled ones are.
    options : TableOptions

    Returns
    -------
    DataFrame or None

    Raises
    ------
    InputError
        No item has a label, or more judgments have one than are held in memory.
    """
    human, labels = options.human, options.labels
    opened = open_parquet(path, options)
    first, alone = parts[0], len(parts) == 1
    names = {k: v for k, v in first.columns_read.items() if k != "label" or not human}
    people = [c for c, role in opened.shape.wide.items() if role == "label"]
    people = people or [names[r] for r in ("label",) if r in names]
    if labels is None and not people and not human:
        return None
    kind = _kind(first) if alone else options.kind
    opened.names, opened.item = names, first.understanding.item
    if labels is not None:
        choices = () if _kind(first) in {"score", "pass-fail"} else first.values
        labelled = labelled_ids(Path(labels), opened.item, choices=choices)
        ids = pa.array(sorted(labelled), pa.string())
    elif human:
        ids = _items(opened, opened.holding(human))
    else:
        cells = [pc.field(c).cast(pa.string()) for c in people]
        held = [c.is_valid() & ~pc.utf8_trim_whitespace(c).isin(["", "nan"]) for c in cells]
        ids = _items(opened, reduce(or_, held))
    table = _labelled_rows(opened, ids, [*people, *options.stated_columns])
    if labels is None and not human and "label" in names and "label" not in options.mapping:
        every = len(table) == opened.dataset.count_rows()
        if (every and repeats_verdict(table, names)) or holds_answers(table, names):
            return None
    if not len(table):
        if labels is None:
            return None
        raise InputError(
            f"{labels}: no label belongs to an item of {path}. Items there are called "
            f"{', '.join(map(repr, first.items[:3]))}. Give both files the same ids."
        )
    ends = (min(first.values), max(first.values)) if alone and first.is_scores else None
    left = tuple(c for c in options.ignore if c in table)
    item = opened.item if len(opened.item) > 1 else options.item
    options = replace(
        options, mapping=names, kind=kind, scale=options.scale or ends, ignore=left, item=item
    )
    frame = validate_parsed(read_frame(table, options, source=path), what=str(path))
    if labels is not None:
        items = dict.fromkeys(item for part in parts for item in part.items)
        if without := [item for item in items if item not in labelled]:
            note = unlabelled_note(without, len(items), Path(labels).name)
            frame.attrs["notes"] = [*frame.attrs["notes"], note]
    return frame


def _kind(reduced: ReducedJudgments) -> str:
    if reduced.is_scores:
        return "score"
    words = set(reduced.values)
    if words <= {"pass", "fail"}:
        return "pass-fail"
    return "preference" if words <= {"a", "b", "tie"} else "category"


def _items(opened: ParquetJudgments, held: Any) -> Any:
    """The items of the rows on which a condition holds, as text."""
    found: dict[str, None] = {}
    for batch in opened.batches(opened.item, filter=held):
        ids = pc.cast(joined_column(batch, opened.item), pa.string())
        found |= dict.fromkeys(pc.unique(ids).to_pylist())
    return pa.array([*found], pa.string())


def _labelled_rows(opened: ParquetJudgments, ids: Any, further: Sequence[str]) -> pd.DataFrame:
    """All rows of the labelled items, in the order of the files."""
    named = opened.shape.sources([*opened.names.values(), *opened.item, *opened.factors])
    wanted = list(dict.fromkeys([*named, *further]))
    parts: list[pd.DataFrame] = []
    n = 0
    for batch in opened.rows(wanted) if len(ids) else ():
        column = joined_column(batch, opened.shape.sources(opened.item))
        mask = pc.is_in(pc.cast(column, pa.string()), value_set=ids)
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
