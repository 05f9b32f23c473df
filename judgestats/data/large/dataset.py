"""Folders of Parquet files as one table, coded by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from judgestats.arrays import Ints
from judgestats.data.readers.columns import column_named, no_column, resolve_columns
from judgestats.data.verdict_kinds import normalize_value
from judgestats.errors import InputError
from judgestats.files.guarded import ONE_PASS, Meter, foreign
from judgestats.files.tables import metered, parquet_footer

MAX_FILES = 100_000
MAX_ROW_GROUP = 2 << 30
"""Bytes that one row group may hold uncompressed: what a small file can make us allocate."""

_MEMORY = ("system", "run", "rater", "rater_kind")
"""Roles that a single pass does not read."""
NEEDED = (
    "criterion",
    "item_id",
    "cluster",
    "judge",
    "temperature",
    "order",
    "replicate",
    "status",
    "score",
    "choice",
    "verdict",
    "label",
    "cost_usd",
    "tokens_in",
    "tokens_out",
)
_NUMBERS = {"temperature", "score", "cost_usd", "tokens_in", "tokens_out"}


class ParquetJudgments:
    """An opened folder (or file): `names` says which column serves as which of ours."""

    def __init__(
        self, path: Path, dataset: Any, names: Mapping[str, str], factors: tuple[str, ...]
    ) -> None:
        self.path = path
        self.dataset = dataset
        self.names = dict(names)
        self.factors = factors
        self.n_files = len(dataset.files)
        self.n_rows = 0

    def batches(self, columns: Sequence[str], **options: Any) -> Iterator[Any]:
        """The rows batch by batch, each counted against what the files may expand to.

        Parameters
        ----------
        columns : sequence of str
        **options
            Of pyarrow's scanner.

        Raises
        ------
        InputError
            A file is damaged, or expands to far more than its size.
        """
        scanner = self.dataset.scanner(columns=list(columns), **options)
        meter = Meter(self.path, "Parquet", ONE_PASS)
        return metered(scanner.to_batches(), meter)

    def levels(self, column: str) -> dict[str, int]:
        """The different texts of a column with their rows."""
        counts: Counter[str] = Counter()
        for batch in self.batches([column]):
            found = pc.value_counts(pc.cast(batch.column(column), pa.string())).to_pylist()
            counts.update({v["values"] or "": v["counts"] for v in found})
        return dict(counts)

    def holding(self, stated: str) -> Any:
        """The condition of ``COLUMN=VALUE,VALUE`` on a row.

        Raises
        ------
        InputError
            There is no such column, or no row holds a value.
        """
        wanted, _, given = stated.partition("=")
        column = column_named(self.dataset.schema.names, wanted.strip())
        if not column:
            raise no_column(self.path, wanted.strip(), "rater kind",
                            pd.DataFrame(columns=self.dataset.schema.names))  # fmt: skip
        spelled = {normalize_value(v) for v in given.split(",")}
        levels = list(self.levels(column))
        lost = spelled - set(map(normalize_value, levels))
        if lost:
            raise InputError(
                f"{self.path}: {stated}: the column {column!r} never holds {sorted(lost)[0]!r}. "
                f"It holds: {', '.join(levels[:8])}."
            )
        kept = [v for v in levels if normalize_value(v) in spelled]
        cells = pc.coalesce(pc.field(column).cast(pa.string()), pc.scalar(""))
        return cells.isin(kept)


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a folder and its partitions, or the file itself."""
    if not path.is_dir():
        return [path]
    return sorted(
        p
        for p in path.rglob("*.parquet")
        if not any(part.startswith((".", "_")) for part in p.relative_to(path).parts)
    )


def is_parquet(path: Path) -> bool:
    """Whether a path is a Parquet file, or a folder that holds some."""
    if path.is_dir():
        return bool(parquet_files(path))
    return path.suffix.lower() == ".parquet"


def rows_of(path: Path) -> int:
    """Rows of one Parquet file, from its footer.

    Raises
    ------
    InputError
        The file is not Parquet.
    """
    return int(parquet_footer(path)[0].num_rows)


def open_parquet(
    path: Path,
    *,
    mapping: Mapping[str, str] | None = None,
    factors: tuple[str, ...] = (),
    rows: Sequence[tuple[str, bool]] = (),
) -> ParquetJudgments:
    """Open judgments in Parquet and check that every file has the columns, in usable types.

    Only the footers are read.

    Parameters
    ----------
    path : Path
        A folder (partitions named ``judge=.../`` become columns) or a file.
    mapping : mapping of judgestats column to the files' column, optional
    factors : tuple of str
        Further columns that distinguish conditions.
    rows : sequence of (str, bool)
        ``COLUMN=VALUE,VALUE`` of rows that are kept (True) or left out.

    Returns
    -------
    ParquetJudgments

    Raises
    ------
    InputError
        No file, a file that is not Parquet or lacks a column, a column of another type.
    """
    files = parquet_files(path)
    if not files:
        raise InputError(f"{path}: the folder holds no file that ends in .parquet.")
    if len(files) > MAX_FILES:
        raise InputError(
            f"{path}: {len(files)} Parquet files; at most {MAX_FILES} are read. Write fewer, "
            "larger files."
        )
    with foreign(path, "Parquet"):
        kept = ds.dataset(
            [str(f) for f in files],
            format="parquet",
            partitioning=ds.partitioning(flavor="hive"),
            partition_base_dir=str(path) if path.is_dir() else None,
        )
        plain = {field.name: field.type for field in kept.schema}
    names = resolve_columns(path, pd.DataFrame(columns=list(plain)), mapping or {})
    if lost := [role for role in _MEMORY if role in names]:
        raise InputError(
            f"{path}: --map {lost[0]}= needs the judgments in memory. Use --stream no, or leave it "
            "out."
        )
    names = {ours: theirs for ours, theirs in names.items() if ours in NEEDED}
    for factor in factors:
        if factor not in plain:
            raise InputError(
                f"{path}: there is no column {factor!r} to serve as factor. The files have: "
                f"{', '.join(list(plain)[:30])}."
            )
    for ours, theirs in names.items():
        _check_type(path, ours, theirs, plain[theirs])
    wanted = {*names.values(), *factors}
    n_rows = 0
    for fragment in kept.get_fragments():
        n_rows += _check_file(Path(fragment.path), wanted, plain)
    if not n_rows:
        raise InputError(f"{path}: the files hold no judgments.")
    texts = [c for c in wanted if _is_text(plain[c])]
    options = ds.ParquetReadOptions(dictionary_columns=texts)
    dataset = ds.dataset(
        [str(f) for f in files],
        format=ds.ParquetFileFormat(read_options=options),
        partitioning=ds.partitioning(flavor="hive"),
        partition_base_dir=str(path) if path.is_dir() else None,
    )
    opened = ParquetJudgments(path, dataset, names, factors)
    opened.n_rows = n_rows
    for stated, kept in rows:
        held = opened.holding(stated)
        opened.dataset = opened.dataset.filter(held if kept else ~held)
    return opened


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _check_type(path: Path, ours: str, theirs: str, kind: Any) -> None:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    number = pa.types.is_integer(value) or pa.types.is_floating(value) or pa.types.is_null(value)
    if ours in _NUMBERS:
        # A partition (temperature=0.5/) tells a number as text; it is read as one later.
        if not (number or (ours == "score" and pa.types.is_boolean(value))) and not (
            ours == "temperature" and _is_text(kind)
        ):
            hint = " For categorical verdicts map it as choice=COLUMN." if ours == "score" else ""
            raise InputError(
                f"{path}: column {theirs!r} serves as {ours} and must hold numbers, got {kind}."
                f"{hint}"
            )
    elif ours == "replicate":
        if not pa.types.is_integer(value):
            raise InputError(
                f"{path}: column {theirs!r} serves as replicate and must hold whole numbers, got "
                f"{kind}."
            )
    elif ours in {"choice", "verdict", "label"} and (number or pa.types.is_boolean(value)):
        return
    elif not (_is_text(kind) or pa.types.is_integer(value) or pa.types.is_null(value)):
        raise InputError(
            f"{path}: column {theirs!r} serves as {ours} and must hold text or whole numbers, got "
            f"{kind}."
        )


def _check_file(file: Path, wanted: set[str], plain: Mapping[str, Any]) -> int:
    """Rows of one file, or a refusal of what its footer says."""
    metadata, schema = parquet_footer(file)
    own = {field.name: field.type for field in schema}
    for column in sorted(wanted):
        if column not in own:
            if f"{column}=" in str(file):  # told by the partition
                continue
            raise InputError(
                f"{file}: the file lacks the column {column!r}, which the first file of "
                "the folder has. Write all files with the same columns."
            )
        same = _is_text(own[column]) == _is_text(plain[column])
        if not same:
            raise InputError(
                f"{file}: column {column!r} is {own[column]}, but {plain[column]} in the "
                "first file. Write all files with the same types."
            )
    for group in range(metadata.num_row_groups):
        size = metadata.row_group(group).total_byte_size
        if size > MAX_ROW_GROUP:
            raise InputError(
                f"{file}: row group {group} holds {size / 2**30:.1f} GiB uncompressed, more "
                f"than the {MAX_ROW_GROUP >> 30} GiB read at once. Write smaller row groups "
                "(row_group_size=1_000_000)."
            )
    return int(metadata.num_rows)


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
            first = np.full(len(values), indices.size, dtype=np.int64)
            first[indices[::-1]] = np.arange(indices.size - 1, -1, -1)
            used = used[np.argsort(first[used])]
        lookup = np.full(max(len(values), 1), -1, dtype=np.int64)
        chosen = values.take(used).to_pylist()
        index, read = self._index, self._read
        lookup[used] = [index.setdefault(read(v), len(index)) for v in chosen]
        return lookup[indices]


def column_codes(array: Any) -> tuple[Ints, Any]:
    """Place of every entry in the array's distinct values, and these (with a null at the end)."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    values = array.dictionary
    indices = array.indices
    if indices.null_count:
        indices = indices.fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return indices.to_numpy(zero_copy_only=False).astype(np.int64), values


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
