"""Large files as one table: Parquet, CSV; columns, verdict kinds, duplicates, labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.dataset as ds
from numpy.typing import NDArray

from judgestats.arrays import LARGEST, Ints
from judgestats.data.readers.columns import (
    VERDICTS,
    known_column,
    resolve_columns,
)
from judgestats.data.readers.frame import unused_columns
from judgestats.data.readers.interpretation import ROLE_OF, meanings_of
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.roles import ColumnRoles, rater_columns, rater_kinds, understand
from judgestats.data.readers.row_checks import Rows, check_rows, raters_question
from judgestats.data.readers.tables import read_frame, tried
from judgestats.data.readers.verdicts import coded, kind_line, kind_of_column
from judgestats.data.verdict_kinds import normalize_value
from judgestats.errors import InputError
from judgestats.files.guarded import ONE_PASS, Meter, foreign
from judgestats.files.tables import (
    SEPARATORS,
    header_of,
    metered,
    parquet_files,
    parquet_footer,
)
from judgestats.files.text import command_word

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
    "request_order",
    "cost_usd",
    "tokens_in",
    "tokens_out",
    "latency_s",
)
_NUMBERS = {"temperature", "cost_usd", "tokens_in", "tokens_out", "latency_s"}


class ParquetJudgments:
    """An opened folder (or file): `names` says which column serves as which of ours.

    `level` is the criterion whose judgments these are, where there are several.
    """

    def __init__(
        self, path: Path, dataset: Any, names: Mapping[str, str], factors: tuple[str, ...]
    ) -> None:
        self.path = path
        self.files = dataset
        self.kept: Any = None
        self.names = dict(names)
        self.factors = factors
        self.n_files = len(dataset.files)
        self.n_left_out = self.n_filtered = 0
        self.level = ""

    @property
    def dataset(self) -> Any:
        """The rows that are kept."""
        return self.files if self.kept is None else self.files.filter(self.kept)

    def keep(self, condition: Any) -> None:
        """Leave out the rows on which a condition does not hold."""
        self.kept = condition if self.kept is None else self.kept & condition

    def shares(self, most: int) -> list[ParquetJudgments]:
        """The same judgments in at most `most` shares of consecutive files."""
        if most == 1:
            return [self]
        parts = [*self.files.get_fragments()]
        ends = np.linspace(0, len(parts), min(most, len(parts)) + 1).astype(int)
        out = []
        for first, last in pairwise(ends):
            out.append(copy(self))
            out[-1].files = ds.FileSystemDataset(
                parts[first:last], self.files.schema, self.files.format, self.files.filesystem
            )
        return out

    @property
    def read(self) -> list[str]:
        """The columns of the first pass over all rows."""
        return list(dict.fromkeys([*_needed(self.names).values(), *self.factors]))

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
        meter = Meter(self.path, format_name(self.path), ONE_PASS)
        return metered(scanner.to_batches(), meter)

    def of_level(self, column: str, level: str) -> ParquetJudgments:
        """The judgments of one criterion, which is then part of their condition."""
        own = copy(self)
        own.level = level
        own.names = {**self.names, "criterion": column}
        own.factors = tuple(dict.fromkeys([*self.factors, column]))
        cells = pc.coalesce(pc.field(column).cast(pa.string()), pc.scalar(""))
        own.keep(cells == level)
        return own

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
        table = pd.DataFrame(columns=self.dataset.schema.names)
        column = known_column(self.path, table, wanted.strip(), "rater kind")
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


def format_name(path: Path) -> str:
    """What a file's format is called in messages."""
    return "a table" if path.suffix.lower() in SEPARATORS else "Parquet"


def open_parquet(
    path: Path,
    *,
    mapping: Mapping[str, str] | None = None,
    factors: tuple[str, ...] = (),
    rows: Sequence[tuple[str, bool]] = (),
) -> ParquetJudgments:
    """Open judgments and check that every file has the columns, in usable types.

    Of Parquet only the footers are read, of CSV the beginning.

    Parameters
    ----------
    path : Path
        A folder of Parquet (partitions named ``judge=.../`` become columns), or a file.
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
        No file, a file that is damaged or lacks a column, a column of another type.
    """
    if path.suffix.lower() in SEPARATORS:
        return _with_rows(_open_separated(path, mapping or {}, factors), rows)
    files = parquet_files(path)
    if not files:
        raise InputError(f"{path}: the folder holds no file that ends in .parquet.")
    if len(files) > MAX_FILES:
        raise InputError(
            f"{path}: {len(files)} Parquet files; at most {MAX_FILES} are read. Write fewer, "
            "larger files."
        )
    open_files = partial(
        ds.dataset,
        [str(f) for f in files],
        partitioning=ds.partitioning(flavor="hive"),
        partition_base_dir=str(path) if path.is_dir() else None,
    )
    with foreign(path, "Parquet"):
        whole = open_files(format="parquet")
        plain = {field.name: field.type for field in whole.schema}
    names = _roles(path, list(plain), mapping or {}, factors)
    needed = _needed(names)
    for ours, theirs in needed.items():
        _check_type(path, ours, theirs, plain[theirs])
    wanted = {*needed.values(), *factors}
    n_rows = sum(_check_file(Path(part.path), wanted, plain) for part in whole.get_fragments())
    if not n_rows:
        raise InputError(f"{path}: the files hold no judgments.")
    texts = [c for c in wanted if _is_text(plain[c])]
    options = ds.ParquetReadOptions(dictionary_columns=texts)
    dataset = open_files(format=ds.ParquetFileFormat(read_options=options))
    return _with_rows(ParquetJudgments(path, dataset, names, factors), rows)


def _open_separated(
    path: Path, mapping: Mapping[str, str], factors: tuple[str, ...]
) -> ParquetJudgments:
    """CSV as it is written: names and verdicts as text, costs and tokens as numbers."""
    with foreign(path, "a table"):
        meter = Meter(path, "CSV", ONE_PASS)
        likely = SEPARATORS[path.suffix.lower()]
        separator, header = header_of(path, likely, meter)
    names = _roles(path, header, mapping, factors)
    kinds = {c: pa.float64() if o in _NUMBERS else pa.string() for o, c in names.items()}
    kinds |= {names[o]: pa.int64() for o in ("replicate",) if o in names}
    kinds |= dict.fromkeys(factors, pa.string())
    file_format = ds.CsvFileFormat(
        parse_options=pv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=pv.ConvertOptions(
            column_types=kinds, null_values=[""], strings_can_be_null=True
        ),
    )
    with foreign(path, "a table"):
        dataset = ds.dataset([str(path)], format=file_format)
        if not dataset.head(1).num_rows:
            raise InputError(f"{path}: the file holds no judgments.")
    return ParquetJudgments(path, dataset, names, factors)


def _with_rows(opened: ParquetJudgments, rows: Sequence[tuple[str, bool]]) -> ParquetJudgments:
    """The judgments of those rows that are kept."""
    if rows:
        n_rows = n_judged = opened.dataset.count_rows()
        for stated, kept in rows:
            held = opened.holding(stated)
            if not kept:
                n_judged -= opened.dataset.filter(held).count_rows()
            opened.keep(held if kept else ~held)
        kept_rows = opened.dataset.count_rows()
        opened.n_left_out, opened.n_filtered = n_rows - kept_rows, n_judged - kept_rows
    return opened


def _roles(
    path: Path, columns: Sequence[str], mapping: Mapping[str, str], factors: tuple[str, ...]
) -> dict[str, str]:
    """Which column serves as which of ours."""
    names = resolve_columns(path, pd.DataFrame(columns=list(columns)), mapping)
    if lost := [role for role in _MEMORY if role in names]:
        raise InputError(
            f"{path}: --map {lost[0]}= needs the judgments in memory. Use --stream no, or leave it "
            "out."
        )
    for factor in factors:
        if factor not in columns:
            raise InputError(
                f"{path}: there is no column {factor!r} to serve as factor. The files have: "
                f"{', '.join(list(columns)[:30])}."
            )
    return names


def _needed(names: Mapping[str, str]) -> dict[str, str]:
    """The columns that are read in all rows; further ones are those of labelled rows."""
    return {ours: theirs for ours, theirs in names.items() if ours in NEEDED}


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return str(kind).endswith("string")


def _check_type(path: Path, ours: str, theirs: str, kind: Any) -> None:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    number = pa.types.is_integer(value) or pa.types.is_floating(value) or pa.types.is_null(value)
    if ours in _NUMBERS:
        # A partition (temperature=0.5/) tells a number as text; it is read as one later.
        if not number and not (ours == "temperature" and _is_text(kind)):
            raise InputError(
                f"{path}: column {theirs!r} serves as {ours} and must hold numbers, got {kind}."
            )
    elif ours == "replicate":
        if not pa.types.is_integer(value):
            raise InputError(
                f"{path}: column {theirs!r} serves as replicate and must hold whole numbers, got "
                f"{kind}."
            )
    elif ours in {*VERDICTS, "label", "request_order"} and (number or pa.types.is_boolean(value)):
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
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    values = array.dictionary
    indices = array.indices
    if indices.null_count:
        indices = indices.fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return indices.to_numpy(zero_copy_only=False).astype(np.int64), values


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


MAX_VALUES = 240
_MOST_TEXTS = 5_000
_SAMPLE = 50_000


class VerdictCode:
    """What each cell of a column says: a score, a word, or (where it is not listed) nothing.

    `statuses` has the status of cells that say why there is none; `notes` name scores that are far
    from all others; `scale` is that of cells such as 7/10.
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


def understood_columns(opened: ParquetJudgments, options: TableOptions) -> tuple[list[str], str]:
    """The unused columns, as text, and that of criteria; a refusal where one may be part of a key.

    The first rows decide whether a column varies within an item. Who gave the rows is decided from
    all of them.

    Raises
    ------
    InputError
        Rows that differ in some column would be pooled as repetitions, or people gave some.
    """
    with foreign(opened.path, format_name(opened.path)):
        sample = opened.dataset.head(_SAMPLE).to_pandas()
    for name in sample.select_dtypes("category"):
        sample[name] = sample[name].astype(object)
    if opened.path.suffix.lower() in SEPARATORS:  # numbers are read as text
        for role in (*VERDICTS, "label"):
            cells = sample.get(opened.names.get(role, ""))
            if cells is not None:
                numbers = pd.to_numeric(cells, errors="coerce")
                whole = numbers.notna().eq(cells.notna()).all()
                sample[opened.names[role]] = numbers if whole else cells
    mapping = {**options.mapping, "item_id": opened.names["item_id"]}
    stated = replace(options, mapping=mapping, factors=opened.factors)
    read = partial(tried, opened.path, sample)
    rows = Rows(source=opened.path, table=sample, names=opened.names, options=stated, read=read)
    _check_raters(opened, rows)
    check_rows(rows)
    understanding: ColumnRoles = understand(
        opened.path, sample, opened.names, factors=opened.factors
    )
    if len(understanding.item) > 1:
        raise InputError(
            f"{opened.path}: {' + '.join(understanding.item)} name an item together, and a stream "
            "takes one column for it. Write them into one, or use --stream no."
        )
    known = {*opened.factors, understanding.criterion}
    if further := [f for f in understanding.factors if f not in known]:
        raise InputError(
            f"{opened.path}: the column {further[0]!r} distinguishes conditions. Say so: --factor "
            f"{further[0]}."
        )
    _check_roles(opened, sample, stated)
    return unused_columns(understanding), understanding.criterion


_ALL_SIZES = frozenset({"system", "label", "rater", "order", "weight"})
"""Roles that no reading may lose."""


def _check_roles(opened: ParquetJudgments, sample: pd.DataFrame, options: TableOptions) -> None:
    """Refuse a role that memory gives a column of the first rows, and one pass does not read."""
    try:
        roles = read_frame(sample, options, source=opened.path, asks=False).attrs["roles"]
    except InputError:  # the first rows may break off within an item
        return
    ours = {ROLE_OF.get(name, name) for name in _needed(opened.names)}
    stated = {"label"} if options.human or options.labels is not None else set()
    if shared := roles.get("cluster", []) if "cluster" not in ours else []:
        raise InputError(
            f"{opened.path}: several items share {shared[0]}. If they depend on one another, add "
            f"--map cluster={command_word(shared[0])}; else --ignore {command_word(shared[0])}."
        )
    for role, columns in roles.items():
        if role in _ALL_SIZES - ours - stated:
            raise InputError(
                f"{opened.path}: one pass reads no {role} from {', '.join(columns[:3])}. Use "
                "--stream no, or leave the columns out (--ignore COLUMN)."
            )


def _check_raters(opened: ParquetJudgments, rows: Rows) -> None:
    """Refuse rows of human raters among the judge's, wherever in the files they stand."""
    stated = rows.options.judge_rows.partition("=")[0].strip()
    explained = {*opened.factors, stated}
    found = rater_kinds(rows.table, rows.names, explained=explained)
    for column in rater_columns(rows.table, rows.names, explained=explained):
        if found is not None or column not in opened.dataset.schema.names:
            continue
        levels = pd.DataFrame({column: [v or None for v in opened.levels(column)]})
        found = rater_kinds(pd.concat([rows.table, levels]), rows.names, explained=explained)
    if found is None:
        return
    if found.column in opened.dataset.schema.names:
        found = replace(found, rows=opened.levels(found.column))
    raise raters_question(rows, found)
