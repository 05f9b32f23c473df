"""Counts of a stream by item and condition."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from judgestats.data.columns import INTERLEAVED
from judgestats.data.large import dataset
from judgestats.data.large.reduced import Column, ReducedJudgments, leave_out_repeated
from judgestats.data.readers.checks import repeated_note
from judgestats.data.readers.columns import VERDICTS, label_note
from judgestats.data.readers.frame import reading_key
from judgestats.data.readers.interpretation import (
    COUNT_OF,
    ROLE_OF,
    add_roles,
    counts_of,
    reading_record,
)
from judgestats.data.readers.options import TableOptions
from judgestats.errors import InputError, printable
from judgestats.protocols.base import Status
from judgestats.results.numbers import count_noun

MAX_COLUMNS = 10_000
MAX_REPLICATES = 65_535
NO_VERDICT = {
    Status.FAILED.value: -2, Status.NOT_APPLICABLE.value: -3, Status.MISSING.value: -4
}  # fmt: skip
"""Codes of cells without a verdict that are not unparsed."""


class RowCoder:
    """Numbers items, conditions, replications and verdicts in the order in which they come.

    Parameters
    ----------
    opened : ParquetJudgments
    role : str
        The column with verdicts: ``score``, ``choice`` or ``verdict``.
    code : VerdictCode
        What its cells say.
    """

    def __init__(
        self, opened: dataset.ParquetJudgments, *, role: str, code: dataset.VerdictCode
    ) -> None:
        self.opened = opened
        self.names = opened.names
        self.role = role
        self.code = code
        self.items, self.clusters = dataset.Codes(), dataset.Codes()
        self.facets = {
            name: dataset.Codes(_number if name == "temperature" else dataset.text_of)
            for name in ("judge", "temperature", "order", *opened.factors)
        }
        self.columns: dataset.Codes = dataset.Codes(lambda v: v)
        self.values: dataset.Codes = dataset.Codes(lambda v: v)
        self.replicates: dataset.Codes = dataset.Codes(lambda v: v)
        self.cluster_of: NDArray[np.int64] = np.full(1024, -1, dtype=np.int64)

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
            order = np.argsort(cell, kind="stable")
            run = cell[order]
            starts = np.flatnonzero(np.r_[True, run[1:] != run[:-1]])
            lengths = np.diff(np.r_[starts, run.size])
            within = np.arange(run.size) - np.repeat(starts, lengths)
            out = np.empty(run.size, dtype=np.int64)
            out[order] = within + asked.reshape(-1)[run]
            for code in range(len(self.replicates), int(out.max()) + 1):  # size: rows of a cell
                self.replicates.add(code)
        if len(self.replicates) > MAX_REPLICATES:
            raise self.refusal(f"more than {MAX_REPLICATES} different replicates")
        return out

    def value_of(self, batch: Any) -> NDArray[np.int64]:
        """Code of each verdict; below 0 where there is none, by `NO_VERDICT` (-1: unparsed)."""
        indices, codes = dataset.column_codes(self.column(batch, self.role))
        used = np.bincount(indices, minlength=len(codes)).nonzero()[0]
        lookup: NDArray[np.int64] = np.full(max(len(codes), 1), -1, dtype=np.int64)
        for place, cell in zip(used.tolist(), codes.take(used).to_pylist(), strict=True):
            verdict = self.code.verdicts.get(cell)
            if verdict is not None:
                lookup[place] = self.values.add(verdict)
            else:
                empty = Status.MISSING.value if cell is None or cell == "" else ""
                lookup[place] = NO_VERDICT.get(self.code.statuses.get(cell, empty), -1)
        return lookup[indices]

    def note_clusters(self, batch: Any, item: NDArray[np.int64]) -> None:
        """Keep each item's cluster; an item in two clusters is refused."""
        if "cluster" not in self.names:
            return
        own = self.clusters.encode(self.column(batch, "cluster"))
        if len(self.items) > self.cluster_of.size:
            larger = np.full(max(len(self.items), 2 * self.cluster_of.size), -1, dtype=np.int64)
            larger[: self.cluster_of.size] = self.cluster_of
            self.cluster_of = larger
        previous = self.cluster_of[item]
        self.cluster_of[item[previous < 0]] = own[previous < 0]
        differs = self.cluster_of[item] != own
        if differs.any():
            which = self.items.values[int(item[int(np.argmax(differs))])]
            raise self.refusal(
                f"item {which[:60]!r} occurs in more than one cluster "
                f"(column {self.names['cluster']!r}). Give every item one"
            )

    def refusal(self, why: str) -> InputError:
        """The error that names the files."""
        return InputError(f"{self.opened.path}: {why}.")


def _number(value: Any) -> float | None:
    """A temperature; NaN (the server's default) as None, so that it is one value.

    A partition (``temperature=0.5/``) gives it as text.
    """
    try:
        number = math.nan if value is None else float(value)
    except ValueError:
        raise InputError(
            f"the temperature {dataset.text_of(value)[:40]!r} is not a number."
        ) from None
    return None if math.isnan(number) else number


BATCH = 1 << 20
COUNT_BYTES = 2 << 30
BOARD_BYTES = 1 << 30

_STATUSES = tuple(s.value for s in Status)


def reduce_parquet(path: str | Path, **said: Any) -> ReducedJudgments:
    """Reduce judgments of one criterion in Parquet or CSV to counts.

    Parameters
    ----------
    path : str or Path
    **said
        As `reduce_criteria` takes them.

    Returns
    -------
    ReducedJudgments

    Raises
    ------
    InputError
        See `reduce_criteria`; or the file holds several criteria.

    Examples
    --------
    >>> import tempfile
    >>> frame = pa.table({"item": ["a", "a", "b"], "trial": [1, 2, 1], "score": [7, 8, None]})
    >>> import pyarrow.parquet as pq
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(frame, f"{folder}/part-0.parquet")
    ...     found = reduce_parquet(folder)
    >>> found.counts[:, 0].tolist(), found.values, dict(found.columns[0].statuses)
    ([[1, 1], [0, 0]], (7.0, 8.0), {'ok': 2, 'missing': 1})
    """
    found = reduce_criteria(path, **said)
    if len(found) > 1:
        raise InputError(
            f"{path}: {len(found)} criteria ({', '.join(list(found)[:3])} ...). Use "
            "reduce_criteria, or name the rows of one."
        )
    return next(iter(found.values()))


def reduce_criteria(
    path: str | Path, *, board_bytes: int = BOARD_BYTES, batch_rows: int = BATCH, **said: Any
) -> dict[str, ReducedJudgments]:
    """Reduce the judgments of each criterion to counts, in one pass each and bounded memory.

    Parameters
    ----------
    path : str or Path
        A folder of Parquet files (partitioned or not), or one file of Parquet or CSV. It has one
        row per judgment, with the columns that `judgestats.read_judgments` reads.
    board_bytes : int
        Largest board (one byte a judgment) that is kept; 0 for none.
    batch_rows : int
    **said
        Of `judgestats.data.readers.options.TableOptions`.

    Returns
    -------
    dict of str to ReducedJudgments
        By criterion, in natural order; with an empty name where there is one.

    Raises
    ------
    InputError
        The files, a column, a score or a repeated row cannot be used; the message says which.
    """
    options = TableOptions(**said)
    stated = [
        (options.human, False),
        *((text, True) for text in (options.judge_rows, *options.rows)),
    ]
    opened = dataset.open_parquet(
        Path(path),
        mapping=options.mapping,
        factors=options.factors,
        rows=[pair for pair in stated if pair[0]],
    )
    unused, criterion = dataset.understood_columns(opened, options)
    unused += [f"labels are rows of {options.human}"] if options.human else []
    unused += [f"judge's rows: {options.judge_rows}"] if options.judge_rows else []
    unused += [f"rows: {text}" for text in options.rows]
    parts = {"": opened}
    if criterion:
        levels = sorted(opened.levels(criterion), key=reading_key)
        parts = {level: opened.of_level(criterion, level) for level in levels}
    codes = {level: _read(part, options, batch_rows) for level, part in parts.items()}
    if any(code.is_score for _, code in codes.values()):
        as_scores = replace(options, kind="score")
        for level, (_, code) in codes.items():
            if code.are_numbered_sides:  # a criterion of which only 1 and 2 occur
                codes[level] = _read(parts[level], as_scores, batch_rows)
    found = {}
    for level, (role, code) in codes.items():
        made = _Pass(
            parts[level], role=role, code=code, judge=options.judge, board_bytes=board_bytes
        )
        made.run(batch_rows)
        found[level] = made.reduced(unused)
    return found


def _read(
    opened: dataset.ParquetJudgments, options: TableOptions, batch_rows: int
) -> tuple[str, dataset.VerdictCode]:
    """The role of the column with verdicts, and what its cells say."""
    roles = [role for role in VERDICTS if role in opened.names]
    for role in roles:
        code = dataset.read_kind(opened, role, options, batch_rows=batch_rows)
        if code is not None and code.verdicts:
            return role, code
    raise InputError(
        f"{opened.path}: no judgment could be read: {' and '.join(roles)} hold no verdict. Name "
        "the right column with --map."
    )


def counts_of_reduced(parts: Sequence[ReducedJudgments]) -> dict[str, int]:
    """What several criteria have together: rows, items, clusters, repeats."""
    return {
        "rows": sum(r.n_rows for r in parts),
        "items": len({item for r in parts for item in r.items}),
        "clusters": len({name for r in parts for name in r.cluster_names}),
        "repeats": max(r.n_replicates for r in parts),
    }


def without_labels(reduced: ReducedJudgments) -> ReducedJudgments:
    """The judgments without a role for a column whose name is that of labels, but which has none.

    Parameters
    ----------
    reduced : ReducedJudgments

    Returns
    -------
    ReducedJudgments
    """
    columns = dict(reduced.columns_read)
    if "label" not in columns:
        return reduced
    name = columns.pop("label")
    understood = [
        s.replace(label_note(name), f"{name}: no human labels") for s in reduced.understood
    ]
    return replace(reduced, columns_read=columns, understood=tuple(understood))


def reading_of_reduced(
    parts: Sequence[ReducedJudgments], labelled: pd.DataFrame | None = None
) -> dict[str, Any]:
    """The reading of judgments that were counted in one pass: see `reading_of`.

    Parameters
    ----------
    parts : sequence of ReducedJudgments
        One per criterion.
    labelled : DataFrame, optional
        Those with a label.

    Returns
    -------
    dict
    """
    statuses = Counter[str]()
    columns = [column for reduced in parts for column in reduced.columns]
    total = counts_of_reduced(parts)
    for column in columns:
        for status, n in column.statuses.items():
            statuses["ok" if status == "ok" else COUNT_OF[Status(status)]] += int(n)
    people = {} if labelled is None else counts_of(labelled)
    n_labelled = (
        0 if labelled is None else labelled.loc[labelled["label"] != "", "item_id"].nunique()
    )
    systems = {c.factors["system"] for c in columns if "system" in c.factors}
    roles: dict[str, list[str]] = {}
    for ours, theirs in parts[0].columns_read.items():
        if role := ROLE_OF.get(ours):
            add_roles(roles, role, [theirs])
    for factor in columns[0].factors:
        if factor not in parts[0].columns_read.values():
            add_roles(roles, "condition", [factor])
    notes = tuple(dict.fromkeys(note for reduced in parts for note in reduced.notes))
    return reading_record(
        {"roles": roles, "notes": notes},
        {
            "rows_in": total["rows"], "rows_filtered": 0, "items": total["items"],
            "clusters": total["clusters"], "judges": len({c.judge for c in columns}),
            "human_raters": people.get("human_raters", 0), "systems": len(systems),
            "criteria": len(parts), "orders": max(1, len({c.order for c in columns} - {""})),
            "repeats": total["repeats"], "judgments": statuses["ok"],
            "labels": people.get("labels", 0),
            **{k: statuses[k] for k in ("not_applicable", "unparsed", "error", "missing")},
            "label_missing": total["items"] - n_labelled if people else 0,
            "label_tie": people.get("label_tie", 0), "copies": 0,
        },
    )  # fmt: skip


class _Pass:
    """The state of one pass."""

    def __init__(
        self,
        opened: dataset.ParquetJudgments,
        *,
        role: str,
        code: dataset.VerdictCode,
        judge: str,
        board_bytes: int,
    ) -> None:
        self.coder = RowCoder(opened, role=role, code=code)
        self.opened = opened
        self.names = opened.names
        self.role, self.is_score = role, code.is_score
        self.judge = judge
        self.board_bytes = board_bytes
        self.statuses = dataset.Codes(lambda v: dataset.text_of(v).strip().lower())
        self.counts: NDArray[np.uint16] = np.zeros((1024, 1, 8), dtype=np.uint16)
        self.board: NDArray[np.uint8] | None = np.zeros((1024, 1, 1), dtype=np.uint8)
        self.board_reason = ""
        self.asked: NDArray[np.int32] = np.zeros((1, 1), dtype=np.int32)
        self.by_status: NDArray[np.int64] = np.zeros((1, len(_STATUSES)), dtype=np.int64)
        self.sums: NDArray[np.float64] = np.zeros((1, 6))
        self.rows = 0
        self.interleaved = "request_order" in self.names
        self.n_replicates = MAX_REPLICATES
        self.repeated: tuple[str, ...] = ()

    def run(self, batch_rows: int) -> None:
        wanted = dict.fromkeys([*self.names.values(), *self.opened.factors])
        for batch in self.opened.batches(
            list(wanted), batch_size=batch_rows, batch_readahead=2, fragment_readahead=1
        ):
            if batch.num_rows:
                self.take(batch)
        self.check_end()
        if "replicate" not in self.names:
            self.leave_out_repeated()

    # One batch -----------------------------------------------------------------------------------

    def take(self, batch: Any) -> None:
        size = batch.num_rows
        item = self.coder.items.encode(self.coder.column(batch, "item_id"))
        column = self.coder.column_of(batch, size)
        self.asked = dataset.grown(self.asked, (len(self.coder.items), len(self.coder.columns)))
        cell = item * self.asked.shape[1] + column
        replicate = self.coder.replicate_of(batch, cell, self.asked)
        np.add.at(self.asked.reshape(-1), cell, np.int32(1))
        value = self.coder.value_of(batch)
        self.coder.note_clusters(batch, item)
        self.grow_counts()
        self.count_statuses(batch, column, value)
        read = value >= 0
        # Flat indices: numpy adds at one index a row several times faster than at three.
        cell = item * self.counts.shape[1] + column
        flat = self.counts.reshape(-1)
        np.add.at(flat, cell[read] * self.counts.shape[2] + value[read], np.uint16(1))
        if self.board is not None:
            place = (item * self.board.shape[1] + column) * self.board.shape[2] + replicate
            coded = np.where(read, value + dataset.FIRST_VALUE, dataset.UNREAD).astype(np.uint8)
            self.board.reshape(-1)[place] = coded
        self.rows += size
        if self.interleaved:
            orders = pc.cast(self.coder.column(batch, "request_order"), pa.string())
            self.interleaved = pc.all(pc.equal(orders, INTERLEAVED), skip_nulls=False).as_py()

    def grow_counts(self) -> None:
        n, k = len(self.coder.items), len(self.coder.columns)
        shape = (n, k, len(self.coder.values))
        if math.prod(shape) * self.counts.itemsize > COUNT_BYTES:
            raise self.coder.refusal(
                f"{n} items x {k} conditions x {shape[2]} values need more than "
                f"{COUNT_BYTES >> 30} GiB of counts. Analyse fewer conditions at a time"
            )
        self.counts = dataset.grown(self.counts, shape)
        if self.board is not None:
            board = (n, k, len(self.coder.replicates))
            if math.prod(board) > self.board_bytes:
                self.board = None
                self.board_reason = (
                    f"{n} items x {k} conditions x {board[2]} replications are more than the "
                    f"{self.board_bytes / 2**30:.3g} GiB allowed for distinguishing repeats"
                )
            else:
                self.board = dataset.grown(self.board, board)
        self.by_status = dataset.grown(self.by_status, (k, len(_STATUSES)))
        self.sums = dataset.grown(self.sums, (k, 6))

    def count_statuses(
        self, batch: Any, column: NDArray[np.int64], value: NDArray[np.int64]
    ) -> None:
        has_verdict = value >= 0
        if self.role == "score" and "choice" in self.names:
            indices, choices = dataset.column_codes(self.coder.column(batch, "choice"))
            filled = np.array(
                [bool(dataset.text_of(v).strip()) for v in choices.to_pylist()] or [False]
            )
            has_verdict = has_verdict | filled[indices]
        ok, unread = _STATUSES.index("ok"), _STATUSES.index("unparseable")
        status: NDArray[np.int64] = np.where(has_verdict, ok, unread).astype(np.int64)
        for name, code in NO_VERDICT.items():
            status[~has_verdict & (value == code)] = _STATUSES.index(name)
        if "status" in self.names:
            codes = self.statuses.encode(self.coder.column(batch, "status"))
            strange = [s for s in self.statuses.values if s and s not in _STATUSES]
            if strange:
                raise self.coder.refusal(
                    f"column {self.names['status']!r} holds the status {strange[0][:40]!r}; known "
                    f"are {', '.join(sorted(_STATUSES))}"
                )
            status_codes = np.array([_STATUSES.index(s) if s else -1 for s in self.statuses.values])
            stated = status_codes[codes]
            status = np.where(stated >= 0, stated, status)
            for wrong, why in (
                ((status == ok) & ~has_verdict, "status is ok but there is no verdict"),
                ((status != ok) & has_verdict, "status is not ok but there is a verdict"),
            ):
                if wrong.any():
                    raise self.coder.refusal(f"{int(wrong.sum())} rows of one batch: {why}")
        size = self.by_status.size
        place = column * self.by_status.shape[1] + status
        self.by_status += np.bincount(place, minlength=size).reshape(self.by_status.shape)
        for name, place_of in (("cost_usd", 0), ("tokens_in", 2), ("tokens_out", 4)):
            if name in self.names:
                numbers = self.coder.column(batch, name).cast(pa.float64())
                x = numbers.to_numpy(zero_copy_only=False)
                present = ~np.isnan(x)
                width = self.sums.shape[0]
                self.sums[:, place_of] += np.bincount(column[present], x[present], minlength=width)
                self.sums[:, place_of + 1] += np.bincount(column[present], minlength=width)

    # The end -------------------------------------------------------------------------------------

    def check_end(self) -> None:
        if "" in self.coder.items.values:
            raise self.coder.refusal("an item has no id. Fill the column, or drop its rows")
        if "cluster" in self.names and "" in self.coder.clusters.values:
            raise self.coder.refusal("an item has no cluster. Fill the column, or leave it out")
        if self.board is not None and int(np.count_nonzero(self.board)) != self.rows:
            twice = self.rows - int(np.count_nonzero(self.board))
            raise self.coder.refusal(
                f"{twice} duplicate row{'s' * (twice > 1)}: the same (condition, item, order, "
                "replicate) occurs in more than one row. Number the repetitions in a replicate "
                "column, or drop the repeated rows"
            )
        verdicts = int(self.counts.sum(dtype=np.int64))
        ok = int(self.by_status[:, _STATUSES.index("ok")].sum())
        if "choice" in self.names and self.role == "score":
            return
        if verdicts != ok and len(self.coder.values):
            raise self.coder.refusal(
                f"a cell holds more than {np.iinfo(np.uint16).max} judgments: {ok} were read and "
                f"{verdicts} could be counted. Split the replications"
            )

    def leave_out_repeated(self) -> None:
        n, k = len(self.coder.items), len(self.coder.columns)
        board = self.board[:n, :k] if self.board is not None else None
        counts, asked = self.counts[:n, :k], self.asked[:n, :k]
        out = leave_out_repeated(counts, asked, board, self.by_status[:k], _STATUSES)
        if out is None:
            return
        self.sums[:k, 1] -= out.rows  # what a row left out cost was paid all the same
        self.repeated = (repeated_note(int(out.rows.sum()), out.unclear),)
        self.n_replicates = int(self.asked[:n, :k].max())
        if self.board is not None:
            self.board = self.board[:, :, : self.n_replicates]

    def reduced(self, unused: Sequence[str]) -> ReducedJudgments:
        n, k = len(self.coder.items), len(self.coder.columns)
        raw = self.coder.values.values
        order = sorted(range(len(raw)), key=lambda i: raw[i])
        counts, asked = self.counts[:n, :k, : len(raw)], self.asked[:n, :k]
        labels = [self.described([c]).label for c in range(k)]
        groups = [[c] for c in sorted(range(k), key=lambda c: reading_key(labels[c]))]
        if self.is_score:  # an item's scores stand in one cell, whatever order it came in
            scored = np.asarray(counts.any(axis=(0, 2)), dtype=np.bool_)
            groups = dataset.columns_by_label(labels, asked, scored)
        counts, asked = dataset.joined(counts, groups), dataset.joined(asked, groups)
        board = None
        if self.board is not None:
            named = self.coder.replicates.values[: self.n_replicates]
            by_number = sorted(range(len(named)), key=lambda i: named[i])
            board = dataset.joined(self.board[:n, :k, : len(named)], groups, np.maximum)
            place = np.zeros(256, dtype=np.uint8)
            place[dataset.UNREAD] = dataset.UNREAD
            for new, old in enumerate(order):
                place[dataset.FIRST_VALUE + old] = dataset.FIRST_VALUE + new
            same = by_number == list(range(len(named))) and order == list(range(len(raw)))
            if not same:
                board = np.take(place, board[:, :, by_number])
        return ReducedJudgments(
            items=self.coder.items.values,
            cluster=self.coder.cluster_of[:n] if "cluster" in self.names else np.arange(n),
            cluster_names=(
                self.coder.clusters.values if "cluster" in self.names else self.coder.items.values
            ),
            columns=tuple(self.described(g) for g in groups),
            values=tuple(raw[i] for i in order),
            counts=counts if order == list(range(len(raw))) else counts[:, :, order],
            asked=asked,
            board=board,
            board_reason=self.board_reason,
            n_replicates=min(len(self.coder.replicates), self.n_replicates),
            n_rows=self.rows,
            n_files=self.opened.n_files,
            interleaved=bool(self.interleaved),
            scale=self.coder.code.scale,
            columns_read=self.names,
            understood=(
                f"{self.coder.code.description}.",
                f"{'; '.join([*self.parts(), *unused])}.",
                *(f"Note: {note}" for note in self.repeated),
            ),
            notes=self.coder.code.notes,
        )

    def parts(self) -> list[str]:
        """What names an item, the judge and the repeats, as text."""
        names = self.names
        judge = names.get("judge") or (self.judge or "not named (--judge NAME)")
        sentences = [f"item = {names['item_id']}"]
        sentences += [f"cluster = {names['cluster']}"] if "cluster" in names else []
        sentences += [f"judge = {judge}"]
        sentences += [f"{n} = {names[n]}" for n in ("temperature", "order") if n in names]
        if self.opened.factors:
            sentences.append(f"conditions also by {' + '.join(self.opened.factors)}")
        cells = self.asked[: len(self.coder.items), : len(self.coder.columns)]
        low, high = int(cells[cells > 0].min()), int(cells.max())
        count = f"{low} to {high} repeats" if low < high else count_noun(low, "repeat", "repeats")
        by = names.get("replicate", "numbered by row")
        people = [label_note(names["label"])] if "label" in names else []
        return [*sentences, f"{count} ({by})" if high > 1 else count, *people]

    def described(self, group: list[int]) -> Column:
        key = dict(self.coder.columns.values[group[0]])
        judge = printable(key.get("judge", self.judge or "judge"), one_line=True)
        temperature = key.get("temperature")
        factors = {f: printable(key[f], one_line=True) for f in self.opened.factors}
        label = judge if temperature is None else f"{judge}, T={temperature:g}"
        label += "".join(f", {name}={value}" for name, value in factors.items())
        statuses = {
            s: int(m)
            for s, m in zip(_STATUSES, self.by_status[group].sum(axis=0), strict=True)
            if m
        }
        n = sum(statuses.values())
        cost, priced, read, n_read, wrote, n_wrote = self.sums[group].sum(axis=0).tolist()
        return Column(
            label=label,
            order=key.get("order", "") if len(group) == 1 else "",
            judge=judge,
            temperature=math.nan if temperature is None else temperature,
            factors=factors,
            n=n,
            statuses=statuses,
            cost_usd=cost if priced == n else math.nan,
            tokens_in_mean=read / n_read if n_read else math.nan,
            tokens_out_mean=wrote / n_wrote if n_wrote else math.nan,
        )
