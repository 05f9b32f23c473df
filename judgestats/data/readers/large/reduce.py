"""One pass over a large file: judgments of one byte each, read as a frame."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.api.types import union_categoricals

from judgestats.data.codes import numbered_within
from judgestats.data.columns import INTERLEAVED
from judgestats.data.readers.checks import repeated_note
from judgestats.data.readers.columns import VERDICTS, Remark
from judgestats.data.readers.frame import reasons_of, understood_as
from judgestats.data.readers.labels import with_one_label
from judgestats.data.readers.large import dataset
from judgestats.data.readers.large.codes import (
    Codes,
    column_codes,
    filled,
    grown,
    joined_column,
    text_of,
)
from judgestats.data.readers.large.reduced import (
    COSTS,
    FIRST_VALUE,
    STATUSES,
    Column,
    ReducedJudgments,
    coded,
    constant,
    equal_repeats,
    labelled_judgments,
    leave_out_repeated,
    text_index,
)
from judgestats.data.readers.large.verdict_codes import VerdictCode, read_kind
from judgestats.data.readers.options import TableOptions
from judgestats.data.schema import kinds_by_value
from judgestats.engine import map_blocks, n_workers
from judgestats.errors import InputError, printable
from judgestats.protocols.base import Status

MAX_COLUMNS = 10_000
MAX_REPLICATES = 65_535


class RowCoder:
    """Numbers items, conditions, replications and verdicts in the order in which they come.

    Parameters
    ----------
    opened : ParquetJudgments
    role : str
        The column with verdicts: ``score``, ``choice`` or ``verdict``.
    code : VerdictCode
        What its cells say.
    judge : str
        Who judged where a cell names no judge.
    """

    def __init__(
        self, opened: dataset.ParquetJudgments, *, role: str, code: VerdictCode, judge: str
    ) -> None:
        self.opened = opened
        self.names = opened.names
        self.role = role
        self.code = code
        self.items = Codes()
        named = {"cluster": opened.cluster, "system": (opened.system,) * bool(opened.system)}
        self.facts = {role: ItemFact(columns) for role, columns in named.items() if columns}
        read = {"judge": lambda v: text_of(v) or judge, "temperature": _number}
        self.facets = {
            name: Codes(read.get(name, text_of))
            for name in ("judge", "temperature", "order", *opened.factors)
        }
        self.columns: Codes = Codes(lambda v: v)
        self.values: Codes = Codes(lambda v: v)
        self.replicates: Codes = Codes(lambda v: v)

    def column(self, batch: Any, ours: str) -> Any:
        """A batch's column by the name that judgestats gives it."""
        return batch.column(self.names[ours])

    def column_of(self, batch: Any, size: int) -> NDArray[np.int64]:
        """Which condition (and order) each row belongs to."""
        mixed: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        parts: list[tuple[str, int]] = []
        for name, codes in self.facets.items():
            source = name if name in self.opened.factors else self.names.get(name)
            if source is None:
                continue
            own = codes.encode(batch.column(source))
            mixed = mixed * len(codes) + own
            parts.append((name, len(codes)))
            if math.prod(n for _, n in parts) > MAX_COLUMNS**2:
                raise self.refusal(
                    f"{source!r} and the other columns that distinguish conditions have too many "
                    "different values. Map the right columns as judge, temperature and factors"
                )
        width = math.prod(n for _, n in parts)
        lookup: NDArray[np.int64] = np.full(width, -1, dtype=np.int64)
        unknown = []
        for code in np.bincount(mixed, minlength=width).nonzero()[0].tolist():
            key, rest = [], code
            for name, n in reversed(parts):
                rest, place = divmod(rest, n)
                key.append((name, self.facets[name].values[place]))
            key_codes = tuple(reversed(key))
            if key_codes in self.columns:
                lookup[code] = self.columns.add(key_codes)
            else:
                unknown.append((int(np.argmax(mixed == code)), code, key_codes))
        for _, code, key_codes in sorted(unknown):  # conditions keep the order of the files
            lookup[code] = self.columns.add(key_codes)
        if len(self.columns) > MAX_COLUMNS:
            raise self.refusal(f"more than {MAX_COLUMNS} conditions")
        return lookup[mixed]

    def replicate_of(
        self, batch: Any, cell: NDArray[np.int64], asked: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Code of each row's replication; ``asked`` counts the rows of a cell before this batch."""
        if "replicate" in self.names:
            array = self.column(batch, "replicate")
            if array.null_count:
                raise self.refusal(
                    f"column {self.names['replicate']!r} has {array.null_count} missing entries in "
                    "one batch. Number every repetition"
                )
            out = self.replicates.encode(array)
            if min(self.replicates.values) < 0:
                raise self.refusal("a replicate is negative. Number repetitions from 0 on")
        else:
            # Numbered in the order of the rows, as `read_judgments` does.
            out = numbered_within(cell) + asked.reshape(-1)[cell]
            self.number(out)
        self.check_replicates()
        return out

    def number(self, repeats: NDArray[np.int64]) -> None:
        """Number repeats by the rows of a cell."""
        for code in range(len(self.replicates), int(repeats.max(initial=-1)) + 1):  # size: rows
            self.replicates.add(code)

    def check_replicates(self) -> None:
        """Refuse more repeats than the board has places for."""
        if len(self.replicates) > MAX_REPLICATES:
            raise self.refusal(f"more than {MAX_REPLICATES} different replicates")

    def value_of(self, batch: Any) -> NDArray[np.int64]:
        """Code of each cell as the board has it: a verdict, or why there is none."""
        indices, codes = column_codes(self.column(batch, self.role))
        used = np.bincount(indices, minlength=len(codes)).nonzero()[0]
        lookup: NDArray[np.int64] = np.zeros(max(len(codes), 1), dtype=np.int64)
        for place, cell in zip(used.tolist(), codes.take(used).to_pylist(), strict=True):
            verdict = self.code.verdicts.get(cell)
            if verdict is not None:
                lookup[place] = FIRST_VALUE + self.values.add(verdict)
            else:
                empty = Status.MISSING if cell is None or cell == "" else Status.UNPARSEABLE
                lookup[place] = 1 + STATUSES.index(self.code.statuses.get(cell) or empty.value)
        return lookup[indices]

    def note_facts(self, batch: Any, item: NDArray[np.int64]) -> None:
        """Keep each item's cluster and system."""
        for role, fact in self.facts.items():
            own = fact.codes.encode(joined_column(batch, fact.columns))
            self.join_fact(role, item, own)

    def join_fact(self, role: str, item: NDArray[np.int64], own: NDArray[np.int64]) -> None:
        """Keep a fact of these items; an item of which two differ is refused."""
        fact = self.facts[role]
        fact.of_item = grown(fact.of_item, (len(self.items),))
        unknown = fact.of_item[item] == 0
        fact.of_item[item[unknown]] = own[unknown] + 1
        differs = fact.of_item[item] != own + 1
        if differs.any():
            which = self.items.values[int(item[int(np.argmax(differs))])]
            raise self.refusal(
                f"item {which[:60]!r} occurs in more than one {role} "
                f"(column {' + '.join(fact.columns)!r}). Give every item one"
            )

    def refusal(self, why: str) -> InputError:
        """The error that names the files."""
        return InputError(f"{self.opened.path}: {why}.")


class ItemFact:
    """What is the same in all rows of an item: 1 + its code by item, 0 where none was seen."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self.codes = Codes()
        self.of_item: NDArray[np.int64] = np.zeros(1024, dtype=np.int64)


def _number(value: Any) -> float | None:
    """A temperature; NaN (the server's default) as None, so that it is one value.

    A partition (``temperature=0.5/``) gives it as text.
    """
    try:
        number = math.nan if value is None else float(value)
    except ValueError:
        raise InputError(f"the temperature {text_of(value)[:40]!r} is not a number.") from None
    return None if math.isnan(number) else number


BATCH = 1 << 20
BOARD_BYTES = 1 << 30


MOST_ROWS = 10_000_000
"""Judgments that are audited at once, in some 3 GiB."""


def read_large(path: Path, options: TableOptions, **limits: Any) -> pd.DataFrame:
    """Read judgments of a large file as the parsed frame, with texts as categories.

    Parameters
    ----------
    path : Path
        A folder of Parquet files (partitioned or not), or one file of Parquet or CSV. It has one
        row per judgment, with the columns that `judgestats.read_judgments` reads.
    options : TableOptions
    **limits
        As `reduce_criteria` takes them.

    Returns
    -------
    DataFrame
        As `judgestats.read_judgments` gives it, but without texts and with the mean cost of a
        condition in each of its rows.

    Raises
    ------
    InputError
        See `reduce_criteria`; or more judgments have a label than are read into memory.

    Examples
    --------
    >>> import tempfile
    >>> frame = pa.table({"item": ["a", "a", "b"], "trial": [1, 2, 1], "score": [7, 8, None]})
    >>> import pyarrow.parquet as pq
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(frame, f"{folder}/part-0.parquet")
    ...     found = read_large(Path(folder), TableOptions())
    >>> found["score"].tolist(), found["status"].tolist()
    ([7.0, 8.0, nan], ['ok', 'ok', 'missing'])
    """
    [whole] = condition_frames(path, options, most_rows=None, **limits)
    return whole


def condition_frames(
    path: Path, options: TableOptions, *, most_rows: int | None = MOST_ROWS, **limits: Any
) -> Iterator[pd.DataFrame]:
    """Read judgments of a large file as frames of whole conditions.

    Parameters
    ----------
    path, options, **limits
        As `read_large` takes them.
    most_rows : int or None
        Rows of a frame that holds several conditions; None: all are in one frame.

    Yields
    ------
    DataFrame
        As `read_large` gives it. ``attrs["frames"]`` is the number of frames.
    """
    given, options = options, dataset.shaped_options(path, options)
    found = reduce_criteria(path, options, **limits)
    labelled = labelled_judgments(path, [*found.values()], options)
    attrs = _attributes(found, labelled, options)
    first = next(iter(found.values()))
    by_shape = "stated" if given.wide else "by the names of columns"
    whys = {column: why or by_shape for column, why in first.understanding.reasons.items()}
    attrs["reasons"] = reasons_of(attrs["roles"], whys, given, by_shape)
    stated = [f"rows: {text}" for text in (options.judge_rows, *options.rows) if text]
    groups = _groups(found, most_rows)
    for number, places in enumerate(groups):
        own = labelled
        if labelled is not None and len(groups) > 1:
            names = {found[c].columns[p].label for c, part in places.items() for p in part}
            own = labelled[labelled["condition"].isin(names)]
        frames = [_unlabelled(found[c], c, part, own) for c, part in places.items()]
        whole = frames[0] if len(frames) == 1 else stacked(frames)
        if own is not None:
            whole = _joined(own, frames, [*found.values()])
        kinds = kinds_by_value(whole).astype("category")
        whole = whole.assign(verdict_kind=kinds)
        if {"label", "author", "system_a"}.intersection(whole):  # verdicts become other words
            whole = whole.assign(choice=whole["choice"].astype("str"))
        whole, differing = with_one_label(whole)
        sentence = understood_as(whole, attrs["columns_read"], first.understanding, options)
        more = 0 if number else attrs["rows_in"] - sum(r.n_rows for r in found.values())
        whole.attrs |= attrs | {
            "notes": [*dict.fromkeys([*attrs["notes"], *differing])],
            "understood": [*attrs["understood"], f"{'; '.join([*stated, sentence])}."],
            "rows_in": attrs["rows_in"] if len(groups) == 1 else len(whole) + more,
            "rows_filtered": 0 if number else attrs["rows_filtered"],
            "frames": len(groups),
        }
        yield whole
        del whole, frames  # before the next ones are made
        pa.system_memory_pool().release_unused()  # what malloc kept of the part before


def _groups(
    found: Mapping[str, ReducedJudgments], most_rows: int | None
) -> list[dict[str, list[int]]]:
    """Columns of each criterion, by frames of at most `most_rows`, at least one condition each."""
    groups: list[dict[str, list[int]]] = []
    held = math.inf
    for name, reduced in found.items():
        sizes = np.count_nonzero(reduced.board, axis=(0, 2))
        by_label: dict[str, list[int]] = {}
        for place, column in enumerate(reduced.columns):
            by_label.setdefault(column.label, []).append(place)
        for places in by_label.values():
            size = int(sizes[places].sum())
            if not groups or (most_rows is not None and held + size > most_rows):
                groups.append({})
                held = 0
            groups[-1].setdefault(name, []).extend(places)
            held += size
    return groups


def _attributes(
    found: Mapping[str, ReducedJudgments], labelled: pd.DataFrame | None, options: TableOptions
) -> dict[str, Any]:
    """What was understood of the file."""
    parts = [*found.values()]
    first = parts[0]
    names = dict(first.columns_read)
    roles = dict(first.roles)
    said = [r.description for r in parts]
    if labelled is None and (lost := names.pop("label", "")):
        roles.pop("label", [])
        said.append(f"{lost}: no human labels")
    scales = {r.scale for r in parts if r.is_scores}
    told = [] if labelled is None else labelled.attrs["notes"]
    return {
        "reader": "table",
        "columns_read": names,
        "roles": roles,
        "scale": options.scale or (scales.pop() if len(scales) == 1 else None),
        "understood": [f"{'; '.join(said)}."],
        "notes": [*(n for r in parts for n in r.notes), *told],
        "options": options.words(),
        "values": {first.verdict: {k: v for r in parts for k, v in r.words.items()}},
        "rows_in": sum(r.n_rows for r in parts) + first.n_left_out,
        "rows_filtered": first.n_filtered,
        "files": first.n_files,
        "whole": {
            "items": _n_different([r.items for r in parts]),
            "clusters": _n_different([r.cluster_names for r in parts]),
            "criteria": len(parts),
        },
    }


def _n_different(names: Sequence[pd.Index]) -> int:
    """How many names there are among some lists, each of different ones."""
    return len(names[0]) if len(names) == 1 else len(names[0].append(names[1:]).unique())


def _joined(
    labelled: pd.DataFrame, frames: Sequence[pd.DataFrame], parts: Sequence[ReducedJudgments]
) -> pd.DataFrame:
    """The labelled judgments and the others, with items in the order of the file."""
    columns = {c.label: c for r in parts for c in r.columns}
    for cost in COSTS:
        means = {name: column.costs.get(cost, math.nan) for name, column in columns.items()}
        labelled = labelled.assign(**{cost: labelled["condition"].map(means).astype(float)})
    whole = stacked([labelled, *frames])
    place = {item: i for i, item in enumerate(dict.fromkeys(i for r in parts for i in r.items))}
    order = np.argsort(whole["item_id"].map(place).to_numpy(np.int64), kind="stable")
    whole = whole.iloc[order].reset_index(drop=True)
    own: dict[str, Any] = {
        str(c): whole[c].astype("str") for c in whole if str(c).startswith("label")
    }
    for column in ("item_id", "cluster"):  # categories in the order of the file, too
        own[column] = pd.Categorical(whole[column], categories=whole[column].unique())
    return whole.assign(**own)


def _unlabelled(
    reduced: ReducedJudgments,
    criterion: str,
    places: Sequence[int],
    labelled: pd.DataFrame | None,
) -> pd.DataFrame:
    """Judgments of one criterion, in these columns, on items that are not among the labelled."""
    if labelled is not None:
        own = labelled[labelled["criterion"] == criterion] if criterion else labelled
        held = reduced.items.isin(own["item_id"].unique())
        reduced = replace(reduced, board=np.where(held[:, None, None], 0, reduced.board))
    frame = reduced.judgments(places)
    return frame.assign(criterion=constant(criterion, len(frame))) if criterion else frame


def stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Frames on top of one another, their texts as categories.

    Examples
    --------
    >>> stacked([pd.DataFrame({"x": ["a"]}), pd.DataFrame({"y": [1.0]})]).to_dict("list")
    {'x': ['a', ''], 'y': [nan, 1.0]}
    """
    frames = [frame for frame in frames if len(frame)]
    if len(frames) == 1:
        return frames[0]
    out: dict[str, Any] = {}
    for column in dict.fromkeys(c for frame in frames for c in frame):
        own = [frame.get(column) for frame in frames]
        texts = any(c is not None and not pd.api.types.is_numeric_dtype(c) for c in own)
        filled = [
            constant("" if texts else math.nan, len(frame)) if c is None else c
            for c, frame in zip(own, frames, strict=True)
        ]
        if texts:
            out[str(column)] = union_categoricals([_categories(c) for c in filled])
        else:
            out[str(column)] = np.concatenate([np.asarray(c) for c in filled])
    return pd.DataFrame(out)


def _categories(column: Any) -> pd.Categorical:
    """A column of texts as categories of one type."""
    own = column if isinstance(column, pd.Categorical) else pd.Categorical(column)
    return coded(own.codes, own.categories.astype("str"))


def reduce_criteria(
    path: Path, options: TableOptions, *, board_bytes: int = BOARD_BYTES, batch_rows: int = BATCH
) -> dict[str, ReducedJudgments]:
    """Reduce the judgments of each criterion to a byte each, in one pass and bounded memory.

    Parameters
    ----------
    path, options
        As `read_large` takes them.
    board_bytes : int
        Largest number of items x conditions x repeats.
    batch_rows : int

    Returns
    -------
    dict of str to ReducedJudgments
        By criterion; with an empty name where there is one.

    Raises
    ------
    InputError
        The files, a column, a score or a repeated row cannot be used; the message says which.
    """
    stated = [
        (options.human, False),
        *((text, True) for text in (options.judge_rows, *options.rows)),
    ]
    opened = dataset.open_parquet(path, options, rows=[pair for pair in stated if pair[0]])
    criterion = dataset.understand_columns(opened, options)
    parts = {"": opened}
    if criterion:
        parts = {level: opened.of_level(criterion, level) for level in opened.levels(criterion)}
    codes = {level: _read(part, options, batch_rows) for level, part in parts.items()}
    if any(code.is_score for _, code in codes.values()):
        as_scores = replace(options, kind="score")
        for level, (_, code) in codes.items():
            if code.are_numbered_sides:  # a criterion of which only 1 and 2 occur
                codes[level] = _read(parts[level], as_scores, batch_rows)
    found = {}
    for level, (role, code) in codes.items():
        state = {"role": role, "code": code, "judge": options.judge, "board_bytes": board_bytes}
        jobs = [(part, state, batch_rows) for part in parts[level].shares(n_workers())]
        made, *further = map_blocks(_passed, jobs)
        for other in further:
            made.add(other)
        made.check_end()
        found[level] = made.reduced()
    return found


def _read(
    opened: dataset.ParquetJudgments, options: TableOptions, batch_rows: int
) -> tuple[str, VerdictCode]:
    """The role of the column with verdicts, and what its cells say."""
    roles = [role for role in VERDICTS if role in opened.names]
    for role in roles:
        code = read_kind(opened, role, options, batch_rows=batch_rows)
        if code is not None and code.verdicts:
            return role, code
    raise InputError(
        f"{opened.path}: no judgment could be read: {' and '.join(roles)} hold no verdict. Name "
        "the right column with --map."
    )


def _passed(opened: dataset.ParquetJudgments, state: dict[str, Any], batch_rows: int) -> _Pass:
    """The pass over some of the files, on whatever machine."""
    made = _Pass(opened, **state)
    made.run(batch_rows)
    return made


class _Pass:
    """The state of one pass."""

    def __init__(
        self,
        opened: dataset.ParquetJudgments,
        *,
        role: str,
        code: VerdictCode,
        judge: str,
        board_bytes: int,
    ) -> None:
        self.coder = RowCoder(opened, role=role, code=code, judge=judge or "judge")
        self.opened = opened
        self.names = opened.names
        self.role = role
        self.judge = judge
        self.board_bytes = board_bytes
        self.statuses = Codes(lambda v: text_of(v).strip().lower())
        self.board: NDArray[np.uint8] = np.zeros((1024, 1, 1), dtype=np.uint8)
        self.asked: NDArray[np.int32] = np.zeros((1, 1), dtype=np.int32)
        self.sums: NDArray[np.float64] = np.zeros((1, 2 * len(COSTS)))
        self.rows = 0
        self.interleaved = "request_order" in self.names
        self.notes: tuple[str, ...] = ()

    def run(self, batch_rows: int) -> None:
        for batch in self.opened.batches(
            self.opened.read, batch_size=batch_rows, batch_readahead=2, fragment_readahead=1
        ):
            if batch.num_rows:
                self.take(batch)

    def add(self, other: _Pass) -> None:
        """Join the pass over the files that follow."""
        own, theirs = self.coder, other.coder

        def joined(name: str) -> NDArray[np.int64]:
            codes: Codes = getattr(own, name)
            return np.array([codes.add(v) for v in getattr(theirs, name).values], dtype=np.int64)

        item, column, value = joined("items"), joined("columns"), joined("values")
        shape = len(own.items), len(own.columns)
        self.asked = grown(self.asked, shape)
        at = np.nonzero(other.board)
        code = other.board[at]
        cell = item[at[0]], column[at[1]]
        if "replicate" in self.names:
            repeat = joined("replicates")[at[2]]
        else:  # numbered by row, from the last of the files before
            repeat = at[2] + self.asked[cell]
            own.number(repeat)
        own.check_replicates()
        self.grow_board()
        said = np.r_[np.arange(FIRST_VALUE), FIRST_VALUE + value]
        self.board[*cell, repeat] = said[code]
        n, k = len(theirs.items), len(theirs.columns)
        self.asked[np.ix_(item, column)] += other.asked[:n, :k]
        self.sums = grown(self.sums, (len(own.columns), self.sums.shape[1]))
        self.sums[column] += other.sums[:k]
        for role, fact in theirs.facts.items():
            codes = own.facts[role].codes
            places = np.array([codes.add(v) for v in fact.codes.values], dtype=np.int64)
            own.join_fact(role, item, places[fact.of_item[:n] - 1])
        self.rows += other.rows
        self.interleaved = self.interleaved and other.interleaved

    # One batch -----------------------------------------------------------------------------------

    def take(self, batch: Any) -> None:
        size = batch.num_rows
        item = self.coder.items.encode(joined_column(batch, self.opened.item))
        column = self.coder.column_of(batch, size)
        self.asked = grown(self.asked, (len(self.coder.items), len(self.coder.columns)))
        cell = item * self.asked.shape[1] + column
        repeat = self.coder.replicate_of(batch, cell, self.asked)
        np.add.at(self.asked.reshape(-1), cell, np.int32(1))
        code = self.code_of(batch)
        self.coder.note_facts(batch, item)
        self.grow_board()
        self.sum_costs(batch, column)
        # Flat indices: numpy adds at one index a row several times faster than at three.
        place = (item * self.board.shape[1] + column) * self.board.shape[2] + repeat
        self.board.reshape(-1)[place] = code
        self.rows += size
        if self.interleaved:
            orders = pc.cast(self.coder.column(batch, "request_order"), pa.string())
            self.interleaved = pc.all(pc.equal(orders, INTERLEAVED), skip_nulls=False).as_py()

    def grow_board(self) -> None:
        shape = (len(self.coder.items), len(self.coder.columns), len(self.coder.replicates))
        if math.prod(shape) > self.board_bytes:
            raise self.coder.refusal(
                f"{shape[0]:,} items x {shape[1]:,} conditions x {shape[2]:,} repeats are more "
                f"than the {self.board_bytes:,} judgments that one pass holds. Analyze fewer "
                "conditions at a time (--rows COLUMN=VALUE)"
            )
        self.board = grown(self.board, shape)

    def code_of(self, batch: Any) -> NDArray[np.uint8]:
        """Code of each row's verdict or status, which must not contradict one another."""
        code = self.coder.value_of(batch)
        if self.role == "score" and "choice" in self.names:
            cells = self.coder.column(batch, "choice")
            if bool(((code < FIRST_VALUE) & filled(cells)).any()):
                raise self.coder.refusal(
                    f"some rows have a verdict in {self.names['choice']!r} and none in "
                    f"{self.names['score']!r}. Use --stream no, or map one of them as verdict"
                )
        if "status" not in self.names:
            return code.astype(np.uint8)
        codes = self.statuses.encode(self.coder.column(batch, "status"))
        known = ("ok", *STATUSES)
        strange = [s for s in self.statuses.values if s and s not in known]
        if strange:
            raise self.coder.refusal(
                f"column {self.names['status']!r} holds the status {strange[0][:40]!r}; known "
                f"are {', '.join(sorted(known))}"
            )
        places = [known.index(s) if s else -1 for s in self.statuses.values]
        stated = np.array(places, dtype=np.int64)[codes]
        read = code >= FIRST_VALUE
        for wrong, why in (
            ((stated == 0) & ~read, "status is ok but there is no verdict"),
            ((stated > 0) & read, "status is not ok but there is a verdict"),
        ):
            if wrong.any():
                raise self.coder.refusal(f"{int(wrong.sum())} rows of one batch: {why}")
        return np.where(stated > 0, stated, code).astype(np.uint8)

    def sum_costs(self, batch: Any, column: NDArray[np.int64]) -> None:
        self.sums = grown(self.sums, (len(self.coder.columns), self.sums.shape[1]))
        width = len(self.sums)
        for place, name in enumerate(COSTS):
            if name in self.names:
                numbers = self.coder.column(batch, name).cast(pa.float64())
                x = numbers.to_numpy(zero_copy_only=False)
                present = ~np.isnan(x)
                own = self.sums[:, 2 * place : 2 * place + 2]
                own[:, 0] += np.bincount(column[present], x[present], minlength=width)
                own[:, 1] += np.bincount(column[present], minlength=width)

    # The end -------------------------------------------------------------------------------------

    def check_end(self) -> None:
        if "" in self.coder.items.values:
            raise self.coder.refusal("an item has no id. Fill the column, or drop its rows")
        for role, fact in self.coder.facts.items():
            if "" in fact.codes:
                raise self.coder.refusal(
                    f"an item has no {role}. Fill the column, or leave it out (--ignore COLUMN)"
                )
        held = int(np.count_nonzero(self.board))
        if held != self.rows:
            twice = self.rows - held
            raise self.coder.refusal(
                f"{twice} duplicate row{'s' * (twice > 1)}: the same (condition, item, order, "
                "replicate) occurs in more than one row. Number the repetitions in a replicate "
                "column, or drop the repeated rows"
            )
        if "replicate" not in self.names:
            gone, unclear = leave_out_repeated(self.board)
            if gone or unclear:
                self.notes = (Remark(repeated_note(gone, unclear), "duplicated_rows", gone),)
            if copies := equal_repeats(self.board):
                raise self.coder.refusal(
                    f"{copies:,} rows judge an item again and say the same, and no column numbers "
                    "repeats. Number them in a column replicate, drop the copies, or use --stream "
                    "no, which compares whole rows"
                )

    def reduced(self) -> ReducedJudgments:
        n, k = len(self.coder.items), len(self.coder.columns)
        board = self.board[:n, :k]
        used = int(np.flatnonzero(board.any(axis=(0, 1))).max()) + 1
        held = np.count_nonzero(board, axis=(0, 2)).tolist()
        items = text_index(self.coder.items.values)
        facts = {
            role: (fact.of_item[:n] - 1, text_index(fact.codes.values))
            for role, fact in self.coder.facts.items()
        }
        return ReducedJudgments(
            items=items,
            cluster=facts["cluster"][0] if "cluster" in facts else np.arange(n),
            cluster_names=facts["cluster"][1] if "cluster" in facts else items,
            system=facts.get("system"),
            understanding=self.opened.understanding,
            roles=self.opened.roles,
            columns=tuple(self.described(c, held[c]) for c in range(k)),
            values=self.coder.values.values,
            board=board[:, :, :used],
            repeats=np.asarray(self.coder.replicates.values[:used], dtype=np.int64),
            n_files=self.opened.n_files,
            n_rows=self.rows,
            n_filtered=self.opened.n_filtered,
            n_left_out=self.opened.n_left_out,
            verdict=self.names[self.role],
            words=self.coder.code.words,
            interleaved=bool(self.interleaved),
            scale=self.coder.code.scale,
            columns_read=self.names,
            description=self.coder.code.description,
            notes=(*self.notes, *self.coder.code.notes),
        )

    def described(self, place: int, n: int) -> Column:
        key = dict(self.coder.columns.values[place])
        judge = printable(key.get("judge", self.judge or "judge"), one_line=True)
        temperature = key.get("temperature")
        factors = {f: printable(key[f], one_line=True) for f in self.opened.factors}
        label = judge if temperature is None else f"{judge}, T={temperature:g}"
        label += "".join(f", {name}={value}" for name, value in factors.items())
        costs = {}
        for i, name in enumerate(COSTS):
            total, stated = self.sums[place, 2 * i : 2 * i + 2].tolist()
            known = stated and (name != "cost_usd" or stated >= n)
            if name in self.names:
                costs[name] = total / (n if name == "cost_usd" else stated) if known else math.nan
        return Column(
            label=label,
            order=key.get("order", ""),
            judge=judge,
            temperature=math.nan if temperature is None else temperature,
            factors=factors,
            costs=costs,
        )
