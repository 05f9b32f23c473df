"""What each row of a batch is: its item, condition, replication, cluster and verdict, as codes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgestats.errors import InputError
from judgestats.judgments.large.dataset import ParquetJudgments
from judgestats.judgments.large.kinds import VerdictCode
from judgestats.judgments.large.tables import Codes, column_codes, text_of
from judgestats.protocols.base import Status

MAX_COLUMNS = 10_000
MAX_REPLICATES = 65_535
NO_VERDICT = {Status.FAILED.value: -2, Status.NOT_APPLICABLE.value: -3}
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

    def __init__(self, opened: ParquetJudgments, *, role: str, code: VerdictCode) -> None:
        self.opened = opened
        self.names = opened.names
        self.role = role
        self.code = code
        self.items, self.clusters = Codes(), Codes()
        self.facets = {
            name: Codes(_number if name == "temperature" else text_of)
            for name in ("judge", "temperature", "order", *opened.factors)
        }
        self.columns: Codes = Codes(lambda v: v)
        self.values: Codes = Codes(lambda v: v)
        self.replicates: Codes = Codes(lambda v: v)
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
            out[order] = within + asked.reshape(-1)[run]
            for code in range(len(self.replicates), int(out.max()) + 1):
                self.replicates.add(code)
        if len(self.replicates) > MAX_REPLICATES:
            raise self.refusal(f"more than {MAX_REPLICATES} different replicates")
        return out

    def value_of(self, batch: Any) -> NDArray[np.int64]:
        """Code of each verdict; below 0 where there is none, by `NO_VERDICT` (-1: unparsed)."""
        indices, codes = column_codes(self.column(batch, self.role))
        used = np.bincount(indices, minlength=len(codes)).nonzero()[0]
        lookup: NDArray[np.int64] = np.full(max(len(codes), 1), -1, dtype=np.int64)
        for place, cell in zip(used.tolist(), codes.take(used).to_pylist(), strict=True):
            verdict = self.code.verdicts.get(cell)
            if verdict is not None:
                lookup[place] = self.values.add(verdict)
            else:
                lookup[place] = NO_VERDICT.get(self.code.statuses.get(cell, ""), -1)
        return lookup[indices]

    def note_clusters(self, batch: Any, item: NDArray[np.int64]) -> None:
        """Keep each item's cluster; an item in two clusters is refused."""
        if "cluster" not in self.names:
            return
        own = self.clusters.of(self.column(batch, "cluster"))
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
                f"item {which[:60]!r} stands in more than one cluster "
                f"(column {self.names['cluster']!r}). Give every item one"
            )

    def refusal(self, why: str) -> InputError:
        """The error that names the files."""
        return InputError(f"{self.opened.path}: {why}.")


def _number(value: Any) -> float | None:
    """A temperature; NaN (the server's default) as None, so that it is one value.

    A partition (``temperature=0.5/``) tells it as text.
    """
    try:
        number = math.nan if value is None else float(value)
    except ValueError:
        raise InputError(f"the temperature {text_of(value)[:40]!r} is no number.") from None
    return None if math.isnan(number) else number
