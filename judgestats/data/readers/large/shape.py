"""Shape of a large file: columns of one run, judge, or criterion each as rows of judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from judgestats.data.readers.layout import ROLES, VALUE
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.tables import numbered_repeats, reshaped
from judgestats.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How the rows of a file become judgments.

    Attributes
    ----------
    columns : tuple of str
        What the judgments' columns are called.
    parts : tuple of mapping
        One for each judgment of a row: of each column the file's one, or a constant.
    made : frozenset of str
        The columns with constants.
    mapping : mapping of our column to theirs
    wide : mapping of the file's column to its role
    people : tuple of str
        Columns of human labels.
    reasons : dict of column to str
        Takes why each has its role.
    """

    columns: tuple[str, ...]
    parts: tuple[Mapping[str, Any], ...]
    made: frozenset[str]
    mapping: Mapping[str, str]
    wide: Mapping[str, str]
    people: tuple[str, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def table(self) -> pd.DataFrame:
        """No judgments, under these columns."""
        return pd.DataFrame(columns=list(self.columns))

    def sources(self, columns: Sequence[str]) -> list[str]:
        """The file's columns of which these are made."""
        wanted = [c for c in columns if c not in self.made] or [VALUE]
        return list(dict.fromkeys(part[c] for part in self.parts for c in wanted))

    def judgments(self, batch: Any, columns: Sequence[str]) -> Iterator[Any]:
        """A batch of the file's rows as batches of judgments with these columns."""
        if not self.made:
            yield batch
            return
        for part in self.parts:
            cells = [
                _constant(part[c], batch.num_rows) if c in self.made else batch.column(part[c])
                for c in columns
            ]
            yield pa.RecordBatch.from_arrays(cells, names=list(columns))


def _constant(value: object, size: int) -> Any:
    places = pa.array(np.zeros(size, dtype=np.int8))
    return pa.DictionaryArray.from_arrays(places, pa.array([value]))


def shape_of(path: Path, header: Sequence[str], options: TableOptions) -> Shape:
    """The shape of a file: a row with the names of its columns, in the shape of its judgments.

    Raises
    ------
    InputError
        No column fits, or columns are stacked twice.

    Examples
    --------
    >>> shape = shape_of(Path("f"), ["id", "run1", "run2"], TableOptions(wide=("run=run*",)))
    >>> [dict(part) for part in shape.parts]
    [{'id': 'id', 'replicate': 0, 'verdict': 'run1'}, {'id': 'id', 'replicate': 1, 'verdict': 'run2'}]
    """  # noqa: E501
    names = pd.DataFrame([list(header)], columns=list(header), dtype=object)
    wide: dict[str, str] = {}
    table, mapping, people = reshaped(path, names, options, [], {}, wide)
    twice = f"{VALUE} (file)" in table and VALUE not in header
    if twice or table.columns.has_duplicates:
        raise InputError(
            f"{path}: one pass stacks the columns of one --wide. Use --stream no, which takes more."
        )
    made = {
        c for c in ROLES if c in table and (c not in header or c in wide or f"{c} (file)" in table)
    }
    if "replicate" in made:
        table["replicate"] = numbered_repeats(table["replicate"])
    rows = [
        {str(column): value for column, value in row.items()} for row in table.to_dict("records")
    ]
    return Shape(
        columns=tuple(map(str, table)),
        parts=tuple(rows),
        made=frozenset(made),
        mapping=mapping,
        wide=wide,
        people=people,
    )
