"""Large files as one table: Parquet, CSV; columns, verdict kinds, duplicates, labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
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

from judgestats.data.readers.checks import LabelScaleError
from judgestats.data.readers.columns import (
    PARTS,
    VERDICTS,
    answers_differ,
    are_shared,
    column_named,
    folded,
    known_column,
    question_columns,
    resolve_columns,
)
from judgestats.data.readers.frame import parts_of_items, systems_of_answers
from judgestats.data.readers.interpretation import ROLE_OF, proposed, roles_of
from judgestats.data.readers.large.codes import Codes, joined_column
from judgestats.data.readers.large.shape import Shape, shape_of
from judgestats.data.readers.options import TableOptions
from judgestats.data.readers.roles import (
    UNVARYING,
    ColumnRoles,
    counts_or_measures,
    rater_columns,
    rater_kinds,
    understand,
)
from judgestats.data.readers.row_checks import (
    FurtherQuestionError,
    Rows,
    check_rows,
    raters_question,
    with_rater_kinds,
)
from judgestats.data.readers.tables import read_frame, reshaped, tried, with_runs
from judgestats.data.verdict_kinds import normalize_value
from judgestats.errors import InputError
from judgestats.files.guarded import ONE_PASS, Meter, foreign
from judgestats.files.tables import (
    MISSING,
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

_MEMORY = ("run", "rater")
"""Roles that a single pass does not read."""
NEEDED = (
    "criterion",
    "system",
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

    `item` and `cluster` are the columns that name them together, `system` is the one of the systems
    that answered. `level` is the criterion whose judgments these are, where there are several.
    """

    def __init__(
        self,
        path: Path,
        dataset: Any,
        shape: Shape,
        names: Mapping[str, str],
        options: TableOptions,
    ) -> None:
        self.path = path
        self.files = dataset
        self.shape = shape
        self.kept: Any = None
        self.names = dict(names)
        self.factors = options.factors
        self.item = tuple(known_column(path, shape.table, c, "item_id") for c in options.item)
        self.item = self.item or (names["item_id"],)
        self.cluster: tuple[str, ...] = ()
        self.system = ""
        self.understanding = ColumnRoles(item=self.item, factors=(), unused=())
        self.roles: Mapping[str, list[str]] = {}
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
        return [self._of(parts[first:last]) for first, last in pairwise(ends)]

    def _of(self, parts: Sequence[Any]) -> ParquetJudgments:
        """The judgments of some files, or parts of them."""
        own, files = copy(self), self.files
        own.files = ds.FileSystemDataset(parts, files.schema, files.format, files.filesystem)
        return own

    def sample(self) -> pd.DataFrame:
        """First rows of the file, or of some files or row groups from the first to the last."""
        parts = [*self.files.get_fragments()]
        if len(parts) == 1 and isinstance(parts[0], ds.ParquetFileFragment):
            parts = parts[0].split_by_row_group()
        places = np.linspace(0, len(parts) - 1, min(_PLACES, len(parts))).astype(int)
        heads = [self._of(parts[i : i + 1]).dataset.head(_SAMPLE // len(places)) for i in places]
        sample: pd.DataFrame = pa.concat_tables(t.unify_dictionaries() for t in heads).to_pandas()
        return sample

    @property
    def read(self) -> list[str]:
        """The columns of the first pass over all rows."""
        named = [*self.item, *self.cluster, *filter(None, [self.system])]
        return list(dict.fromkeys([*_needed(self.names).values(), *named, *self.factors]))

    def batches(self, columns: Sequence[str], **options: Any) -> Iterator[Any]:
        """The judgments batch by batch; parameters as `rows` takes them."""
        for batch in self.rows(self.shape.sources(columns), **options):
            yield from self.shape.judgments(batch, columns)

    def rows(self, columns: Sequence[str], **options: Any) -> Iterator[Any]:
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
        if column in self.shape.made:
            parts = tuple(part for part in self.shape.parts if part[column] == level)
            own.shape = replace(self.shape, parts=parts)
            return own
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


def _dataset(path: Path, files: Sequence[Path], columns: Sequence[str] = ()) -> Any:
    """Parquet files, with partitions as columns; some columns of texts as codes."""
    options = ds.ParquetReadOptions(dictionary_columns=list(columns))
    return ds.dataset(
        [str(f) for f in files],
        format=ds.ParquetFileFormat(read_options=options),
        partitioning=ds.partitioning(flavor="hive"),
        partition_base_dir=str(path) if path.is_dir() else None,
    )


def shaped_options(path: Path, options: TableOptions) -> TableOptions:
    """The options with columns of one run, criterion or person each, by the first rows.

    Raises
    ------
    InputError
        The first rows cannot be read, or several columns may hold the verdicts.
    """
    if path.suffix.lower() in SEPARATORS:
        with foreign(path, "a table"):
            separator, header = _header(path)
            texts = dict.fromkeys(header, pa.string())
            file_format = _separated(separator, MISSING, texts)
            sample = ds.dataset([str(path)], format=file_format).head(_SAMPLE)
    else:
        first = _parquet_files(path)[:1]
        plain = {field.name: field.type for field in parquet_footer(first[0])[1]}
        _check_file(first[0], set(), plain)
        with foreign(path, "Parquet"):
            sample = _dataset(path, first).head(_SAMPLE)
    table = _with_numbers(sample.to_pandas())
    if len(options.item) == 1:
        mapping = {**options.mapping, "item_id": options.item[0]}
        options = replace(options, mapping=mapping, item=())
    read = partial(tried, path, table)
    if kind := options.mapping.get("rater_kind", ""):
        column = known_column(path, table, kind, "rater_kind")
        mapping = {k: v for k, v in options.mapping.items() if k != "rater_kind"}
        levels = open_parquet(path, replace(options, mapping=mapping)).levels(column)
        options = with_rater_kinds(path, pd.DataFrame({column: [*levels]}), options, read)
    try:
        return with_runs(path, table, options)
    except FurtherQuestionError as error:
        raise proposed(path, table, options, error, read) from None


def _header(path: Path) -> tuple[str, list[str]]:
    likely = SEPARATORS[path.suffix.lower()]
    return header_of(path, likely, Meter(path, "CSV", ONE_PASS))


def _with_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """The table with numbers in columns of texts that are all numbers."""
    for name, cells in table.items():
        some = cells.dropna().head(_PLACES)
        if pd.to_numeric(some, errors="coerce").isna().any():
            continue
        numbers = pd.to_numeric(cells, errors="coerce")
        if numbers.notna().eq(cells.notna()).all():
            table = table.assign(**{str(name): numbers})
    return table


def _separated(separator: str, missing: Sequence[str], kinds: Mapping[str, Any]) -> Any:
    return ds.CsvFileFormat(
        parse_options=pv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=pv.ConvertOptions(
            column_types=kinds, null_values=list(missing), strings_can_be_null=True
        ),
    )


def _parquet_files(path: Path) -> list[Path]:
    files = parquet_files(path)
    if not files:
        raise InputError(f"{path}: the folder holds no file that ends in .parquet.")
    if len(files) > MAX_FILES:
        raise InputError(
            f"{path}: {len(files)} Parquet files; at most {MAX_FILES} are read. Write fewer, "
            "larger files."
        )
    return files


def open_parquet(
    path: Path, options: TableOptions, *, rows: Sequence[tuple[str, bool]] = ()
) -> ParquetJudgments:
    """Open judgments and check that every file has the columns, in usable types.

    Of Parquet only the footers are read, of CSV the beginning.

    Parameters
    ----------
    path : Path
        A folder of Parquet (partitions named ``judge=.../`` become columns), or a file.
    options : TableOptions
        As `shaped_options` gives them.
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
        return _with_rows(_open_separated(path, options), rows)
    files = _parquet_files(path)
    with foreign(path, "Parquet"):
        whole = _dataset(path, files)
        plain = {field.name: field.type for field in whole.schema}
    shape, names = _roles(path, list(plain), options)
    opened = ParquetJudgments(path, whole, shape, names, options)
    needed = _sources(shape, names)
    for theirs, ours in needed.items():
        _check_type(path, ours, theirs, plain[theirs])
    wanted = {*needed, *shape.sources(opened.item), *options.factors}
    n_rows = sum(_check_file(Path(part.path), wanted, plain) for part in whole.get_fragments())
    if not n_rows:
        raise InputError(f"{path}: the files hold no judgments.")
    opened.files = _dataset(path, files, [c for c in wanted if _is_text(plain[c])])
    return _with_rows(opened, rows)


def _open_separated(path: Path, options: TableOptions) -> ParquetJudgments:
    """CSV as it is written: names and verdicts as text, costs and tokens as numbers."""
    with foreign(path, "a table"):
        separator, header = _header(path)
    shape, names = _roles(path, header, options)
    kinds = dict.fromkeys(header, pa.string())
    kinds |= {c: pa.float64() for c, ours in _sources(shape, names).items() if ours in _NUMBERS}
    kinds |= {names[o]: pa.int64() for o in ("replicate",) if names.get(o) in header}
    with foreign(path, "a table"):
        dataset = ds.dataset([str(path)], format=_separated(separator, [""], kinds))
        if not dataset.head(1).num_rows:
            raise InputError(f"{path}: the file holds no judgments.")
    return ParquetJudgments(path, dataset, shape, names, options)


def _with_rows(opened: ParquetJudgments, rows: Sequence[tuple[str, bool]]) -> ParquetJudgments:
    """The judgments of those rows that are kept."""
    if rows:
        n_rows = n_judged = opened.dataset.count_rows()
        for stated, kept in rows:
            held = opened.holding(stated)
            if not kept:
                n_judged -= opened.dataset.filter(held).count_rows()
            opened.keep(held if kept else ~held)
        kept_rows, of_row = opened.dataset.count_rows(), len(opened.shape.parts)
        opened.n_left_out = (n_rows - kept_rows) * of_row
        opened.n_filtered = (n_judged - kept_rows) * of_row
    return opened


def _roles(
    path: Path, columns: Sequence[str], options: TableOptions
) -> tuple[Shape, dict[str, str]]:
    """The shape of the files, and which column serves as which of ours."""
    if lost := [role for role in _MEMORY if role in options.mapping]:
        raise InputError(
            f"{path}: --map {lost[0]}= needs the judgments in memory. Use --stream no, or leave it "
            "out."
        )
    for factor in options.factors:
        if factor not in columns:
            raise InputError(
                f"{path}: there is no column {factor!r} to serve as factor. The files have: "
                f"{', '.join(list(columns)[:30])}."
            )
    shape = shape_of(path, columns, options)
    ignored = [column_named(shape.columns, c) for c in options.ignore]
    taken = (*shape.people, *ignored)
    names = resolve_columns(path, shape.table, shape.mapping, taken=taken, reasons=shape.reasons)
    return shape, names


def _sources(shape: Shape, names: Mapping[str, str]) -> dict[str, str]:
    """The files' columns that are read in all rows, with the role of each."""
    made = shape.made
    return {
        theirs: ours
        for ours, column in _needed(names).items()
        if column not in made
        for theirs in shape.sources([column])
    }


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


_SAMPLE = 50_000
_FEW, _SHORT = 200, 60
"""Levels and mean length of words that may name conditions or parts of items."""
_OF_CONDITIONS = ("judge", "temperature", "order", "cluster", "criterion", "system")
_PLACES = 8
"""Places of the file from which the sample is taken."""


def understand_columns(opened: ParquetJudgments, options: TableOptions) -> str:
    """Note how columns are used, and return that of criteria; refuse one that may be part of a key.

    The first rows decide whether a column varies within an item. Who gave the rows, and which items
    share a question, is decided from all of them.

    Raises
    ------
    InputError
        Rows that differ in some column would be pooled as repetitions, or people gave some.
    """
    with foreign(opened.path, format_name(opened.path)):
        sample = opened.sample()
    for name in sample.select_dtypes("category"):
        sample[name] = sample[name].astype(object)
    if opened.path.suffix.lower() in SEPARATORS:  # numbers are read as text
        texts = {c for r, c in opened.names.items() if r not in {*VERDICTS, "label"}}
        texts = {*opened.shape.sources([*texts, *opened.item]), *opened.factors}
        others = [c for c in map(str, sample) if c not in texts]
        sample[others] = _with_numbers(sample[others])
    table, _, people = reshaped(opened.path, sample, options, [], {}, {})
    table = table.drop(columns=list(people))
    names = opened.names
    if "judge" not in options.mapping and "system" not in names and answers_differ(table, names):
        names = opened.names = {"system" if k == "judge" else k: v for k, v in names.items()}
    taken = {*names.values(), *opened.item, *options.factors, *options.ignore}
    if "cluster" not in names and (shared := _shared_column(opened, taken)):
        names["cluster"] = shared
        opened.shape.reasons[shared] = "shared by several items"
    mapping = {**options.mapping, **({} if options.item else {"item_id": names["item_id"]})}
    stated = replace(options, mapping=mapping)
    read = partial(tried, opened.path, sample)
    rows = Rows(source=opened.path, table=table, names=names, options=stated, read=read)
    _check_raters(opened, rows)
    check_rows(rows)
    item = opened.item if options.item else ()
    understanding = opened.understanding = understand(
        opened.path, table, names, item=item, factors=opened.factors, ignore=options.ignore
    )
    known = {*opened.factors, understanding.criterion}
    if further := [f for f in understanding.factors if f not in known]:
        raise InputError(
            f"{opened.path}: the column {further[0]!r} distinguishes conditions. Say so: --factor "
            f"{further[0]}."
        )
    opened.item = understanding.item
    all_rows = len(sample) < _SAMPLE
    if opened.path.suffix.lower() not in SEPARATORS:
        all_rows = len(sample) == opened.dataset.count_rows()
    if not all_rows:
        _check_unvarying(opened, table)
    own, opened.system = parts_of_items(table, understanding, names)
    own = (names["cluster"],) if "cluster" in names else own
    opened.cluster = own if own != opened.item else ()
    systems = systems_of_answers(table, understanding, names)
    opened.roles = roles_of(
        names, understanding, systems=systems, wide=opened.shape.wide, options=options
    )
    reasons = dict.fromkeys(systems, "names who answered") | opened.shape.reasons
    reasons |= {**understanding.reasons, **dict.fromkeys(opened.shape.wide, "")}
    opened.understanding = replace(understanding, reasons=reasons)
    _check_roles(opened, sample, stated)
    return understanding.criterion


def _shared_column(opened: ParquetJudgments, taken: Collection[str]) -> str:
    """The column whose values several items share, as memory finds it; all rows decide."""
    for column in question_columns(opened.shape.columns, taken):
        found = _one_level_each(opened, [opened.names["item_id"]], column)
        if found is not None and are_shared(column, *found):
            return column
    return ""


def _one_level_each(
    opened: ParquetJudgments, key: Sequence[str], column: str
) -> tuple[int, int] | None:
    """Levels of a column and of the key's columns; None where one of the latter has several."""
    items, levels = Codes(hash), Codes(hash)
    level_of: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    for batch in opened.batches(list(dict.fromkeys([*key, column]))):
        own, level = items.encode(joined_column(batch, key)), levels.encode(batch.column(column))
        fresh = np.flatnonzero(own >= level_of.size)
        level_of = np.r_[level_of, np.zeros(len(items) - level_of.size, dtype=np.int64)]
        level_of[own[fresh][::-1]] = level[fresh][::-1]
        if (level_of[own] != level).any():
            return None
    return len(levels), len(items)


def _check_unvarying(opened: ParquetJudgments, sample: pd.DataFrame) -> None:
    """Refuse a column of words that varies within an item, but not in the sample."""
    named = [opened.names[n] for n in _OF_CONDITIONS if n in opened.names]
    key = [*opened.item, *named, *opened.understanding.factors]
    for column, why in opened.understanding.unused:
        cells = sample[column].dropna() if column in sample else sample.iloc[:0, 0]
        words = not pd.api.types.is_numeric_dtype(cells) and not counts_or_measures(column)
        few = words and cells.nunique() <= _FEW and cells.map(str).str.len().mean() <= _SHORT
        if why != UNVARYING or not (few or folded(column) in PARTS):
            continue
        if _one_level_each(opened, list(dict.fromkeys(key)), column) is None:
            own = command_word("+".join([*opened.item, column]))
            raise InputError(
                f"{opened.path}: {column!r} varies within an item, but not in the sample. If it is "
                f"part of an item, add --map item={own}. If it distinguishes conditions, add "
                f"--factor {command_word(column)}. Otherwise add --ignore {command_word(column)}."
            )


_ALL_SIZES = frozenset({"system", "label", "rater", "order", "weight"})
"""Roles that no reading may lose."""


def _check_roles(opened: ParquetJudgments, sample: pd.DataFrame, options: TableOptions) -> None:
    """Refuse a role that memory gives a column of the first rows, and one pass does not read."""
    try:
        roles = read_frame(sample, options, source=opened.path, asks=False).attrs["roles"]
    except LabelScaleError:
        raise
    except InputError:  # the first rows may break off within an item
        return
    ours = {ROLE_OF.get(name, name) for name in _needed(opened.names)}
    stated = (
        {"label"} if opened.shape.people or options.human or options.labels is not None else set()
    )
    stated |= {"system"} if roles.get("system") == opened.roles.get("system") else set()
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
