"""Codes of values: the same number in every batch of a large file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from judgestats.arrays import Ints
from judgestats.data.codes import first_places
from judgestats.data.readers.columns import joined_ids


def text_of(value: Any) -> str:
    """An id as text; missing is empty."""
    return "" if value is None else str(value)


class Codes:
    """Values numbered by first appearance: the same number in every batch."""

    def __init__(self, read: Callable[[Any], Any] = text_of) -> None:
        self._read = read
        self._index: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, value: Any) -> bool:
        return value in self._index

    def add(self, value: Any) -> int:
        """The number of a value, a new one where it was not seen."""
        return self._index.setdefault(value, len(self._index))

    @property
    def values(self) -> tuple[Any, ...]:
        """All values, in order of their numbers."""
        return tuple(self._index)

    def encode(self, array: Any) -> Ints:
        """Codes of an Arrow array (plain or dictionary-encoded); a null is a value too.

        Examples
        --------
        >>> import pyarrow as pa
        >>> codes = Codes()
        >>> codes.encode(pa.array(["b", None, "b"])).tolist(), codes.encode(pa.array(["a",
        ...     "b"])).tolist()
        ([0, 1, 0], [2, 0])
        """
        indices, values = column_codes(array)
        used = np.bincount(indices, minlength=len(values)).nonzero()[0]
        # First appearance decides the number, so that items keep the order of the files.
        if used.size > 1:
            used = used[np.argsort(first_places(indices, len(values))[used])]
        lookup = np.full(max(len(values), 1), -1, dtype=np.int64)
        chosen = values.take(used).to_pylist()
        index, read = self._index, self._read
        lookup[used] = [index.setdefault(read(v), len(index)) for v in chosen]
        return lookup[indices]


def column_codes(array: Any) -> tuple[NDArray[np.int64], Any]:
    """Place of every entry in the array's distinct values, and these (with a null at the end)."""
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    values = array.dictionary
    indices = array.indices
    if indices.null_count:
        indices = indices.fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return indices.to_numpy(zero_copy_only=False).astype(np.int64), values


def joined_column(batch: Any, columns: Sequence[str]) -> Any:
    """The ids that several columns give together, as `joined_ids` writes them; each once.

    Examples
    --------
    >>> batch = pa.RecordBatch.from_pydict({"q": ["a", "a", "b"], "turn": [1, 2, None]})
    >>> joined_column(batch, ["q", "turn"]).to_pylist()
    ['a/turn 1', 'a/turn 2', 'b/turn ']
    """
    if len(columns) == 1:
        return batch.column(columns[0])
    codes: NDArray[np.int64] = np.zeros(batch.num_rows, dtype=np.int64)
    first: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
    coded = [column_codes(batch.column(c)) for c in columns]
    for own, values in coded:
        codes, _ = pd.factorize(codes * len(values) + own)
    _, first = np.unique(codes, return_index=True)
    texts = {
        c: ["" if v is None else str(v) for v in values.take(own[first]).to_pylist()]
        for c, (own, values) in zip(columns, coded, strict=True)
    }
    ids = joined_ids(pd.DataFrame(texts), list(columns))
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), pa.array(ids, pa.string()))


def filled(array: Any) -> NDArray[np.bool_]:
    """Whether each cell of an Arrow array of texts holds one."""
    indices, cells = column_codes(array)
    return np.array([bool(text_of(v).strip()) for v in cells.to_pylist()] or [False])[indices]


def grown(table: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The table, enlarged where `shape` asks for more; the first axis grows by half at a time.

    Examples
    --------
    >>> grown(np.ones((2, 1)), (3, 2)).shape
    (3, 2)
    """
    if all(have >= want for have, want in zip(table.shape, shape, strict=True)):
        return table
    wanted = [max(have, want) for have, want in zip(table.shape, shape, strict=True)]
    if shape[0] > table.shape[0]:
        wanted[0] = max(shape[0], table.shape[0] + table.shape[0] // 2)
    # numpy's zeros are committed by the system when they are written, not before.
    larger = np.zeros(wanted, dtype=table.dtype)
    larger[tuple(slice(0, have) for have in table.shape)] = table
    return larger
