"""One pass over Parquet: every judgment is read once, counted by item and condition, forgotten.

Memory follows the number of items x conditions (and one byte a judgment for the board, which is
left out where it would not fit), never the number of rows at 8 bytes a field. Counts are whole
numbers, so that neither the order of the rows nor the size of a batch can change a digit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judgestats.errors import InputError
from judgestats.judgments.large.dataset import ParquetJudgments, open_parquet
from judgestats.judgments.large.orders import columns_by_label, joined
from judgestats.judgments.large.reduced import (
    FIRST_VALUE,
    UNREAD,
    Column,
    ReducedJudgments,
)
from judgestats.judgments.large.tables import Codes, column_codes, grown, text_of
from judgestats.protocols.base import Status

__all__ = ["reduce_parquet"]

BATCH = 1 << 20
MAX_VALUES = 254
MAX_COLUMNS = 10_000
MAX_REPLICATES = 65_535
COUNT_BYTES = 2 << 30
BOARD_BYTES = 1 << 30

_STATUSES = tuple(s.value for s in Status)


def reduce_parquet(
    path: str | Path,
    *,
    mapping: Mapping[str, str] | None = None,
    factors: tuple[str, ...] = (),
    judge: str = "",
    scale: tuple[float, float] | None = None,
    board_bytes: int = BOARD_BYTES,
    batch_rows: int = BATCH,
) -> ReducedJudgments:
    """Reduce judgments in Parquet to counts, in one pass and bounded memory.

    Parameters
    ----------
    path : str or Path
        A folder of Parquet files (partitioned or not), or one file; one row a judgment, with the
        columns that `judgestats.read_judgments` reads.
    mapping : mapping of judgestats column to the files' column, optional
    factors : tuple of str
        Further columns that tell conditions apart.
    judge : str
        The judge's name, where no column tells it.
    scale : (low, high), optional
        Where given, a score outside it is an error.
    board_bytes : int
        Largest board (one byte a judgment) that is kept; 0 for none.
    batch_rows : int

    Returns
    -------
    ReducedJudgments

    Raises
    ------
    InputError
        The files, a column, a score or a repeated row cannot be used; the message says which.

    Examples
    --------
    >>> import tempfile
    >>> frame = pa.table({"item": ["a", "a", "b"], "trial": [1, 2, 1], "score": [7, 8, None]})
    >>> import pyarrow.parquet as pq
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(frame, f"{folder}/part-0.parquet")
    ...     found = reduce_parquet(folder)
    >>> found.counts[:, 0].tolist(), found.values, dict(found.columns[0].statuses)
    ([[1, 1], [0, 0]], (7.0, 8.0), {'ok': 2, 'unparseable': 1})
    """
    opened = open_parquet(Path(path), mapping=mapping, factors=factors)
    kinds = [kind for kind in ("score", "choice") if kind in opened.names]
    for kind in kinds:
        made = _Pass(opened, kind=kind, judge=judge, scale=scale, board_bytes=board_bytes)
        made.run(batch_rows)
        if len(made.values):
            return made.reduced()
    raise InputError(
        f"{opened.path}: no judgment could be read: {' and '.join(kinds)} hold no verdict. Name "
        "the right column with --map."
    )


class _Pass:
    """The state of one pass."""

    def __init__(
        self,
        opened: ParquetJudgments,
        *,
        kind: str,
        judge: str,
        scale: tuple[float, float] | None,
        board_bytes: int,
    ) -> None:
        self.opened = opened
        self.names = opened.names
        self.kind = kind
        self.judge = judge
        self.scale = scale
        self.board_bytes = board_bytes
        self.items, self.clusters, self.labels = Codes(), Codes(), Codes()
        self.facets = {
            name: Codes(_number if name == "temperature" else text_of)
            for name in ("judge", "temperature", "order", *opened.factors)
        }
        self.statuses = Codes(lambda v: text_of(v).strip().lower())
        self.columns: Codes = Codes(lambda v: v)
        self.values: Codes = Codes(lambda v: v)
        self.replicates: Codes = Codes(lambda v: v)
        self.cluster_of: NDArray[np.int64] = np.full(1024, -1, dtype=np.int64)
        self.counts: NDArray[np.uint16] = np.zeros((1024, 1, 8), dtype=np.uint16)
        self.board: NDArray[np.uint8] | None = np.zeros((1024, 1, 1), dtype=np.uint8)
        self.board_reason = ""
        self.asked: NDArray[np.int32] = np.zeros((1, 1), dtype=np.int32)
        self.by_status: NDArray[np.int64] = np.zeros((1, len(_STATUSES)), dtype=np.int64)
        self.sums: NDArray[np.float64] = np.zeros((1, 4))
        self.rows = 0

    def run(self, batch_rows: int) -> None:
        wanted = dict.fromkeys([*self.names.values(), *self.opened.factors])
        scanner = self.opened.dataset.scanner(
            columns=list(wanted),
            batch_size=batch_rows,
            batch_readahead=2,
            fragment_readahead=1,
        )
        try:
            for batch in scanner.to_batches():
                if batch.num_rows:
                    self.take(batch)
        except (pa.ArrowException, OSError) as error:
            said = (str(error).splitlines() or [type(error).__name__])[0][:200]
            raise InputError(
                f"{self.opened.path}: the files cannot be read through ({said}). Check that none "
                "is damaged or being written."
            ) from error
        self.check_end()

    # One batch -----------------------------------------------------------------------------------

    def take(self, batch: Any) -> None:
        size = batch.num_rows
        item = self.items.of(self.column(batch, "item_id"))
        column = self.column_of(batch, size)
        self.asked = grown(self.asked, (len(self.items), len(self.columns)))
        cell = item * self.asked.shape[1] + column
        replicate = self.replicate_of(batch, cell)
        np.add.at(self.asked.reshape(-1), cell, np.int32(1))
        value = self.value_of(batch)
        self.note_clusters(batch, item)
        self.make_room()
        self.count_statuses(batch, column, value)
        read = value >= 0
        # Flat indices: numpy adds at one index a row several times faster than at three.
        cell = item * self.counts.shape[1] + column
        flat = self.counts.reshape(-1)
        np.add.at(flat, cell[read] * self.counts.shape[2] + value[read], np.uint16(1))
        if self.board is not None:
            place = (item * self.board.shape[1] + column) * self.board.shape[2] + replicate
            said = np.where(read, value + FIRST_VALUE, UNREAD).astype(np.uint8)
            self.board.reshape(-1)[place] = said
        self.rows += size

    def column(self, batch: Any, ours: str) -> Any:
        return batch.column(self.names[ours])

    def column_of(self, batch: Any, size: int) -> NDArray[np.int64]:
        """Which condition (and order) each row belongs to."""
        mixed: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        parts: list[tuple[str, int]] = []
        for name, codes in self.facets.items():
            source = name if name in self.opened.factors else self.names.get(name)
            if source is None:
                continue
            own = codes.of(batch.column(source))
            mixed = mixed * len(codes) + own
            parts.append((name, len(codes)))
            if math.prod(n for _, n in parts) > MAX_COLUMNS**2:
                raise self.refusal(
                    f"{source!r} and the other columns that tell conditions apart have too many "
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
            told = tuple(reversed(key))
            if told in self.columns:
                lookup[code] = self.columns.add(told)
            else:
                unknown.append((int(np.argmax(mixed == code)), code, told))
        for _, code, told in sorted(unknown):  # conditions keep the order of the files
            lookup[code] = self.columns.add(told)
        if len(self.columns) > MAX_COLUMNS:
            raise self.refusal(f"more than {MAX_COLUMNS} conditions")
        return lookup[mixed]

    def replicate_of(self, batch: Any, cell: NDArray[np.int64]) -> NDArray[np.int64]:
        if "replicate" in self.names:
            array = self.column(batch, "replicate")
            if array.null_count:
                raise self.refusal(
                    f"column {self.names['replicate']!r} has {array.null_count} missing entries in "
                    "one batch. Number every repetition"
                )
            out = self.replicates.of(array)
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
            out[order] = within + self.asked.reshape(-1)[run]
            for code in range(len(self.replicates), int(out.max()) + 1):
                self.replicates.add(code)
        if len(self.replicates) > MAX_REPLICATES:
            raise self.refusal(f"more than {MAX_REPLICATES} different replicates")
        return out

    def value_of(self, batch: Any) -> NDArray[np.int64]:
        """Code of each verdict, -1 where there is none."""
        indices, found = column_codes(self.column(batch, self.kind))
        used = np.bincount(indices, minlength=len(found)).nonzero()[0]
        lookup: NDArray[np.int64] = np.full(max(len(found), 1), -1, dtype=np.int64)
        if len(self.values) + used.size > 4 * MAX_VALUES and used.size > MAX_VALUES + 2:
            raise self.too_many_values()
        for place, value in zip(used.tolist(), found.take(used).to_pylist(), strict=True):
            verdict = self.verdict(value)
            if verdict is not None:
                lookup[place] = self.values.add(verdict)
        if len(self.values) > MAX_VALUES:
            raise self.too_many_values()
        return lookup[indices]

    def verdict(self, value: Any) -> Any:
        if self.kind == "choice":
            return text_of(value).strip() or None
        if value is None or math.isnan(value):
            return None
        number = float(value)
        if math.isinf(number):
            raise self.refusal("a score is infinite")
        if self.scale is not None and not self.scale[0] <= number <= self.scale[1]:
            low, high = self.scale
            raise self.refusal(
                f"the score {number:g} lies outside the scale {low:g}-{high:g}. Correct the files, "
                "or state their scale (scale=low-high)"
            )
        return number

    def too_many_values(self) -> InputError:
        return self.refusal(
            f"column {self.names[self.kind]!r} holds more than {MAX_VALUES} different verdicts, "
            "and counting needs few. Round the scores to the steps of their scale, or analyse a "
            "sample in memory (--stream no)"
        )

    def note_clusters(self, batch: Any, item: NDArray[np.int64]) -> None:
        if "cluster" not in self.names:
            return
        own = self.clusters.of(self.column(batch, "cluster"))
        if len(self.items) > self.cluster_of.size:
            larger = np.full(max(len(self.items), 2 * self.cluster_of.size), -1, dtype=np.int64)
            larger[: self.cluster_of.size] = self.cluster_of
            self.cluster_of = larger
        known = self.cluster_of[item]
        self.cluster_of[item[known < 0]] = own[known < 0]
        differs = self.cluster_of[item] != own
        if differs.any():
            which = self.items.values[int(item[int(np.argmax(differs))])]
            raise self.refusal(
                f"item {which[:60]!r} stands in more than one cluster "
                f"(column {self.names['cluster']!r}). Give every item one"
            )

    def make_room(self) -> None:
        n, k = len(self.items), len(self.columns)
        shape = (n, k, len(self.values))
        if math.prod(shape) * self.counts.itemsize > COUNT_BYTES:
            raise self.refusal(
                f"{n} items x {k} conditions x {shape[2]} values need more than "
                f"{COUNT_BYTES >> 30} GiB of counts. Analyse fewer conditions at a time"
            )
        self.counts = grown(self.counts, shape)
        if self.board is not None:
            board = (n, k, len(self.replicates))
            if math.prod(board) > self.board_bytes:
                self.board = None
                self.board_reason = (
                    f"{n} items x {k} conditions x {board[2]} replications are more than the "
                    f"{self.board_bytes / 2**30:.3g} GiB kept for telling replications apart"
                )
            else:
                self.board = grown(self.board, board)
        self.by_status = grown(self.by_status, (k, len(_STATUSES)))
        self.sums = grown(self.sums, (k, 4))

    def count_statuses(
        self, batch: Any, column: NDArray[np.int64], value: NDArray[np.int64]
    ) -> None:
        has_verdict = value >= 0
        if self.kind == "score" and "choice" in self.names:
            indices, found = column_codes(self.column(batch, "choice"))
            filled = np.array([bool(text_of(v).strip()) for v in found.to_pylist()] or [False])
            has_verdict = has_verdict | filled[indices]
        ok, unread = _STATUSES.index("ok"), _STATUSES.index("unparseable")
        status: NDArray[np.int64] = np.where(has_verdict, ok, unread).astype(np.int64)
        if "status" in self.names:
            codes = self.statuses.of(self.column(batch, "status"))
            strange = [s for s in self.statuses.values if s and s not in _STATUSES]
            if strange:
                raise self.refusal(
                    f"column {self.names['status']!r} holds the status {strange[0][:40]!r}; known "
                    f"are {', '.join(sorted(_STATUSES))}"
                )
            known = np.array([_STATUSES.index(s) if s else -1 for s in self.statuses.values])
            stated = known[codes]
            status = np.where(stated >= 0, stated, status)
            for wrong, why in (
                ((status == ok) & ~has_verdict, "status is ok but there is no verdict"),
                ((status != ok) & has_verdict, "status is not ok but there is a verdict"),
            ):
                if wrong.any():
                    raise self.refusal(f"{int(wrong.sum())} rows of one batch: {why}")
        size = self.by_status.size
        place = column * self.by_status.shape[1] + status
        self.by_status += np.bincount(place, minlength=size).reshape(self.by_status.shape)
        for name, place_of in (("cost_usd", 0), ("tokens_out", 2)):
            if name in self.names:
                numbers = self.column(batch, name).cast(pa.float64())
                x = numbers.to_numpy(zero_copy_only=False)
                told = ~np.isnan(x)
                width = self.sums.shape[0]
                self.sums[:, place_of] += np.bincount(column[told], x[told], minlength=width)
                self.sums[:, place_of + 1] += np.bincount(column[told], minlength=width)

    # The end -------------------------------------------------------------------------------------

    def check_end(self) -> None:
        if "" in self.items.values:
            raise self.refusal("an item has no id. Fill the column, or drop its rows")
        if "cluster" in self.names and "" in self.clusters.values:
            raise self.refusal("an item has no cluster. Fill the column, or leave it out")
        if self.board is not None and int(np.count_nonzero(self.board)) != self.rows:
            twice = self.rows - int(np.count_nonzero(self.board))
            raise self.refusal(
                f"{twice} rows repeat a judgment: the same (condition, item, order, replicate) "
                "stands in more than one row. Number the repetitions in a replicate column, or "
                "drop the repeated rows"
            )
        verdicts = int(self.counts.sum(dtype=np.int64))
        ok = int(self.by_status[:, _STATUSES.index("ok")].sum())
        if "choice" in self.names and self.kind == "score":
            return
        if verdicts != ok and len(self.values):
            raise self.refusal(
                f"a cell holds more than {np.iinfo(np.uint16).max} judgments: {ok} were read and "
                f"{verdicts} could be counted. Split the replications"
            )

    def refusal(self, why: str) -> InputError:
        return InputError(f"{self.opened.path}: {why}.")

    def reduced(self) -> ReducedJudgments:
        n, k = len(self.items), len(self.columns)
        raw = self.values.values
        order = sorted(range(len(raw)), key=lambda i: raw[i])
        counts, asked = self.counts[:n, :k, : len(raw)], self.asked[:n, :k]
        groups = [[c] for c in range(k)]
        if self.kind == "score":  # an item's scores stand in one cell, whatever order it came in
            labels = [self.described(g).label for g in groups]
            scored = np.asarray(counts.any(axis=(0, 2)), dtype=np.bool_)
            groups = columns_by_label(labels, asked, scored)
            counts, asked = joined(counts, groups), joined(asked, groups)
        board = None
        if self.board is not None:
            named = self.replicates.values
            by_number = sorted(range(len(named)), key=lambda i: named[i])
            board = joined(self.board[:n, :k, : len(named)], groups, np.maximum)
            place = np.zeros(256, dtype=np.uint8)
            place[UNREAD] = UNREAD
            for new, old in enumerate(order):
                place[FIRST_VALUE + old] = FIRST_VALUE + new
            same = by_number == list(range(len(named))) and order == list(range(len(raw)))
            if not same:
                board = np.take(place, board[:, :, by_number])
        return ReducedJudgments(
            items=self.items.values,
            cluster=self.cluster_of[:n] if "cluster" in self.names else np.arange(n),
            n_clusters=len(self.clusters) if "cluster" in self.names else n,
            columns=tuple(self.described(g) for g in groups),
            values=tuple(raw[i] for i in order),
            counts=counts if order == list(range(len(raw))) else counts[:, :, order],
            asked=asked,
            board=board,
            board_reason=self.board_reason,
            n_replicates=len(self.replicates),
            n_rows=self.rows,
            n_files=self.opened.n_files,
            columns_read=self.names,
        )

    def described(self, group: list[int]) -> Column:
        key = dict(self.columns.values[group[0]])
        judge = key.get("judge", self.judge or "judge")
        temperature = key.get("temperature")
        factors = {f: key[f] for f in self.opened.factors}
        label = judge if temperature is None else f"{judge}, T={temperature:g}"
        label += "".join(f", {name}={value}" for name, value in factors.items())
        statuses = {
            s: int(m)
            for s, m in zip(_STATUSES, self.by_status[group].sum(axis=0), strict=True)
            if m
        }
        n = sum(statuses.values())
        cost, told, tokens, counted = self.sums[group].sum(axis=0).tolist()
        return Column(
            label=label,
            order=key.get("order", "") if len(group) == 1 else "",
            judge=judge,
            temperature=math.nan if temperature is None else temperature,
            factors=factors,
            n=n,
            statuses=statuses,
            cost_usd=cost if told == n else math.nan,
            tokens_out_mean=tokens / counted if counted else math.nan,
        )


def _number(value: Any) -> float | None:
    """A temperature; NaN (the server's default) as None, so that it is one value.

    A partition (``temperature=0.5/``) tells it as text.
    """
    try:
        number = math.nan if value is None else float(value)
    except ValueError:
        raise InputError(f"the temperature {text_of(value)[:40]!r} is no number.") from None
    return None if math.isnan(number) else number
