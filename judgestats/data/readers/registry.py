"""Which reader reads a file: named, or recognised by what the file holds."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from judgestats.data.readers import logs
from judgestats.data.readers.columns import clean_cells
from judgestats.data.readers.exports import SEEN, Layout, find_layout, read_export
from judgestats.data.readers.frame import bare, passes_and_failures
from judgestats.data.readers.interpretation import proposed, proposed_paths
from judgestats.data.readers.json_paths import records_with_objects, tree_of
from judgestats.data.readers.labels import with_labels, with_one_label, with_stated_words
from judgestats.data.readers.layouts import LAYOUTS, layout_columns
from judgestats.data.readers.options import TableOptions, scale_of
from judgestats.data.readers.roles import UndecidedError, has_nested_values
from judgestats.data.readers.row_checks import OpenQuestionError
from judgestats.data.readers.tables import load_table, read_frame, read_table
from judgestats.data.schema import refuse_edited, validate_parsed
from judgestats.data.vocabulary import MeaningError
from judgestats.errors import InputError, one_of
from judgestats.files.guarded import NoTableError
from judgestats.files.remote import local_file
from judgestats.files.tables import SEPARATORS, is_parquet, rows_of
from judgestats.files.text import clean_json


def _declared() -> dict[str, logs.Reader]:
    """The readers that the modules of this folder declare, by name."""
    modules = [
        importlib.import_module(f"judgestats.data.readers.{module.name}")
        for module in pkgutil.iter_modules([str(Path(__file__).parent)])
        if module.name != "registry"
    ]
    readers = {v.name: v for m in modules for v in vars(m).values() if isinstance(v, logs.Reader)}
    return dict(sorted(readers.items()))


LOGS: Mapping[str, logs.Reader] = _declared()
"""Readers of other tools' logs; each is recognised by what the file holds."""

EXPORTS: Mapping[str, Layout] = {layout.name: layout for layout in LAYOUTS}
"""Layouts of other tools' exports; likewise."""


def reader_names() -> tuple[str, ...]:
    """The readers that can be named.

    Examples
    --------
    >>> reader_names()[:4]
    ('table', 'alpaca-eval', 'deepeval', 'fastchat')
    """
    return ("table", *LOGS, *EXPORTS)


def recognised(log: logs.Log) -> str:
    """The name of the reader that a file's content calls for; empty for a plain table or none."""
    return next((name for name, reader in LOGS.items() if reader.fits(log)), "")


def read_judgments(
    path: str | Path | pd.DataFrame | Iterable[Mapping[str, Any]],
    *,
    reader: str = "auto",
    mapping: Mapping[str, str] | None = None,
    scale: tuple[float, float] | str | None = None,
    factors: Sequence[str] = (),
    judge: str = "",
    item: Sequence[str] = (),
    ignore: Sequence[str] = (),
    kind: str = "",
    passes: Sequence[str] = (),
    fails: Sequence[str] = (),
    values: Mapping[str, Any] | None = None,
    codes: Mapping[str, str] | None = None,
    wide: Sequence[str] = (),
    explode: Sequence[str] = (),
    parse: str = "",
    labels: Any = None,
    table: str = "",
    as_shown: bool = False,
    human: str = "",
    judge_rows: str = "",
    rows: Sequence[str] = (),
    stream: str = "auto",
) -> pd.DataFrame:
    """Read judgments that were made elsewhere into the validated judgments frame.

    Parameters
    ----------
    path : str, Path, DataFrame or iterable of dict
        The file: a log of Inspect, MLflow, promptfoo, lm-evaluation-harness, AlpacaEval, FastChat
        or judgekeeper, or a table (CSV, TSV, JSON lines, JSON, Parquet, Excel, SQLite). A folder
        holds the logs of one tool. Or the table itself: a pandas or polars
        frame, or one dict per judgment.
    reader : str
        ``auto`` recognises the file by what it holds; otherwise one of ``reader_names()``.
    mapping : mapping of role to the file's column, optional
        The file is a table, and these are its columns (``score="scores.coherence"`` is a path into
        nested JSON, ``item="question+turn"`` two columns that name an item together); see the guide
        page for the names that are understood without one.
    scale : (low, high) or str, optional
        The scale of the scores, ``(1, 10)`` or ``"1-10"``; a score outside it is an error. By
        default a reader's own scale, or none.
    factors : sequence of str
        For tables: further columns of the file that distinguish conditions.
    judge : str
        The judge's name, where the file does not name it.
    item, ignore : sequence of str
        For tables: the columns that together name an item; columns that are not used in a key.
    kind : {"score", "pass-fail", "preference", "choice", "category"}, optional
        What a verdict is, where that is not to be decided from the values.
    passes, fails : sequence of str
        Words that are a pass, and those that are a fail (``rest``: all others).
    values : mapping, optional
        What words of verdicts and labels mean (``{"P": "pass", "F": "fail", "U": "unparsed"}``):
        ``pass``, ``fail``, ``a``, ``b``, ``tie``, ``skip``, ``unparsed``, ``error``, ``missing`` or
        a number. ``label:P`` and ``verdict:P`` are words of one side only.
    codes : mapping, optional
        The same as `values`, under its earlier name.
    wide : sequence of str
        Columns that each hold the verdicts of one judge, run, criterion, order or person:
        ``"gpt*,claude*"``, ``"label=annotator*"``.
    explode : sequence of str
        Columns with lists in their cells.
    parse : str
        How to read verdicts out of replies: ``pointwise``, ``pairwise``, or a regular expression
        with one group.
    labels : str, Path, DataFrame or list of dict, optional
        Human labels in a second table, joined by the items' ids.
    table : str
        The table of a database, or the sheet of a workbook.
    as_shown : bool
        Preferences name the place where a response was shown, not the response.
    human, judge_rows : str
        ``"source=ANNOTATION"``: the rows that people gave, which become labels of the judge's by
        item and criterion; the rows that are judged, where others are left out.
    rows : sequence of str
        ``"type=grade"``: the rows that are read; others are left out before anything else.
    stream : {"auto", "yes", "no"}
        Whether Parquet and CSV are read in one pass, which keeps a byte for each judgment and no
        text. ``auto``: from 5 million rows (CSV: 256 MiB).

    Returns
    -------
    DataFrame
        The parsed frame: one row per judgment, whether it could be read or not. ``attrs["reader"]``
        names the reader, ``attrs["understood"]`` says what the columns were interpreted as, and
        ``attrs["notes"]`` what the file leaves open.

    Raises
    ------
    InputError
        The file, a column, a score or a repeated row cannot be used; the message says which.

    Examples
    --------
    >>> frame = read_judgments([{"item": "a", "trial": 1, "score": 7}, {"item": "a", "trial": 2}])
    >>> frame["status"].tolist()
    ['ok', 'missing']
    >>> print(*frame.attrs["understood"], sep="\\n")
    verdict = `score`: a score from 7 to 7 (--scale states the scale).
    item = item; judge: not named (--judge NAME); 2 repeats (trial).
    """
    options = TableOptions(
        mapping=dict(mapping or {}),
        factors=_words(factors),
        item=_words(item),
        ignore=_words(ignore),
        judge=judge,
        kind=kind,
        passes=_words(passes),
        fails=_words(fails),
        values={str(k): str(v) for k, v in {**(codes or {}), **(values or {})}.items()},
        scale=scale_of(scale),
        wide=_words(wide),
        explode=_words(explode),
        parse=parse,
        labels=labels,
        table=table,
        as_shown=as_shown,
        human=human,
        judge_rows=judge_rows,
        rows=_words(rows),
    )
    if reader not in {"auto", *reader_names()}:
        raise InputError(f"unknown reader {reader!r}. There are: {', '.join(reader_names())}.")
    if options.has_table_options and (options.has_columns or reader in LOGS):
        if reader not in {"auto", "table"}:
            raise InputError(
                f"reader {reader!r} knows its own columns: leave mapping and factors out."
            )
        reader = "table"
    if isinstance(path, (str, Path)):
        path = local_file(path)
        if not _there(path):
            raise InputError(f"there is no file {str(path)!r} (looked in {Path.cwd()}).")
        refuse_edited(path)
        one_of("read_judgments", "stream", stream, ("auto", "yes", "no"))
        if reader in {"auto", "table"} and is_streamed(path, options, stream):
            from judgestats.data.readers.large.reduce import read_large

            frame = read_large(path, options)
            frame.attrs["source"] = path.name
            return frame
        if stream == "yes":
            raise InputError(
                f"only --reader table can be streamed, got {reader!r}. Use --stream no."
            )
        what, source = str(path), path.name
    else:
        what = source = "the frame"
    try:
        reader, frame = _read_any(path, reader, options)
    except MeaningError as error:
        where = path if isinstance(path, Path) else what
        read = partial(_tried, path, reader)  # a log or an export, which options read again
        raise proposed(where, pd.DataFrame(), options, error, read) from None
    attrs = {str(k): v for k, v in frame.attrs.items()}
    ends = options.scale or attrs.get("scale")
    frame, differing = with_one_label(validate_parsed(frame, what=what, scale=ends))
    attrs["notes"] = [*attrs.get("notes", []), *differing]
    frame.attrs.update({**attrs, "source": source, "scale": ends, "reader": reader})
    return frame


STREAM_ROWS = 5_000_000
"""Rows of a Parquet file from which it is read in one pass: some 5 GiB as a frame."""
STREAM_BYTES = 256 << 20
"""The same of CSV, by its size: some 5 million rows."""
_WHOLE = ("explode", "parse", "as_shown", "table")
"""Options that need the whole table."""


def is_streamed(path: Path, options: TableOptions, stream: str) -> bool:
    """Whether a file is read in one pass: where it is large, and no option needs it whole.

    Parameters
    ----------
    path : Path
    options : TableOptions
    stream : {"auto", "yes", "no"}

    Raises
    ------
    InputError
        One pass was asked for, and cannot read such a file.
    """
    if stream == "no":
        return False
    parquet, separated = is_parquet(path), path.suffix.lower() in SEPARATORS
    further = next((name for name in _WHOLE if getattr(options, name)), "")
    if stream == "auto":
        if further or not (parquet or separated):
            return False
        if separated:
            return path.stat().st_size >= STREAM_BYTES
        return path.is_dir() or rows_of(path) >= STREAM_ROWS
    if not (parquet or separated):
        raise InputError(
            f"--stream reads Parquet (a file, or a folder of files) and CSV, but {path} is "
            "neither. Convert it, or leave --stream out."
        )
    if further:
        raise InputError(
            f"--{further.replace('_', '-')} needs the judgments in memory. Use --stream no, or "
            "leave it out."
        )
    return True


def _read_any(path: Any, reader: str, options: TableOptions) -> tuple[str, pd.DataFrame]:
    """What a file or a frame holds, and the name of its reader."""
    if isinstance(path, Path):
        return _read_path(path, reader, options)
    return _read_table(as_frame(path), reader, options, "the frame")


def _tried(path: Any, reader: str, options: TableOptions) -> pd.DataFrame:
    """The same as it is read by some options, valid."""
    frame = _read_any(path, reader, options)[1]
    scale = options.scale or frame.attrs.get("scale")
    return validate_parsed(bare(frame), what=str(path), scale=scale)


def _read_table(
    table: pd.DataFrame,
    reader: str,
    options: TableOptions,
    source: Path | str,
    *,
    asks: bool = True,
) -> tuple[str, pd.DataFrame]:
    """A table as the export that it is, or as a table of nobody known."""
    for records in (partial(records_with_objects, opening="{"), records_with_objects):
        if layout := _export_layout(records(table.head(SEEN)), reader, options):
            return layout.name, read_export(records(table), layout, options, source=source)
    return "table", read_frame(table, options, source=source, asks=asks)


def _export_layout(document: Any, reader: str, options: TableOptions) -> Layout | None:
    """The layout of another tool's export that fits, where the user names no columns."""
    if reader == "table" or options.has_columns:
        return None
    layouts = [EXPORTS[reader]] if reader in EXPORTS else LAYOUTS
    layout = find_layout(document, layouts)
    if layout is None and isinstance(document, Mapping):
        listed = [k for k, v in document.items() if isinstance(v, list) and "." not in k]
        within = [find_layout(document, [replace(one, document=k) for one in layouts])
                  for k in listed]  # fmt: skip
        found = [one for one in within if one]
        layout = found[0] if len(found) == 1 else None
    if layout is None and reader in EXPORTS:
        raise InputError(
            f"This does not look like {EXPORTS[reader].about}. Leave --reader out to have the file "
            "recognised."
        )
    return layout


def as_frame(data: Any) -> pd.DataFrame:
    """A pandas frame from whatever holds a table: pandas, polars, pyarrow, a list of dicts.

    Raises
    ------
    InputError
        It holds none.

    Examples
    --------
    >>> as_frame([{"item": "a", "score": 1}]).columns.tolist()
    ['item', 'score']
    """
    if isinstance(data, pd.DataFrame):
        return clean_cells(data)
    if isinstance(data, Mapping) and data and all(hasattr(v, "with_format") for v in data.values()):
        raise InputError(f"The data have several splits. Give one: data[{next(iter(data))!r}].")
    if (streamed := _arrow_table(data)) is not None:
        return clean_cells(streamed.to_pandas())
    if isinstance(data, Mapping) and all(isinstance(v, (list, tuple)) for v in data.values()):
        return pd.DataFrame(clean_json({name: list(values) for name, values in data.items()}))
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes, Mapping)):
        rows = list(data)
        if all(isinstance(r, Mapping) for r in rows):
            return pd.DataFrame([clean_json(dict(r)) for r in rows])
    raise InputError(
        f"read_judgments takes a path, a frame (pandas, polars) or a list of dicts, not "
        f"{type(data).__name__}."
    )


def _arrow_table(data: Any) -> Any:
    """The Arrow table of an object that has a method for it; else None."""
    if hasattr(data, "collect") and not hasattr(data, "__arrow_c_stream__"):  # a lazy frame
        data = data.collect()
    if hasattr(data, "to_arrow_reader"):  # a relation's stream would hold all of it twice
        return data.to_arrow_reader(10_000).read_all()
    if hasattr(data, "__arrow_c_stream__"):
        import pyarrow as pa

        return pa.RecordBatchReader.from_stream(data).read_all()
    if hasattr(data, "with_format") and hasattr(data, "__getitem__"):
        return data.with_format("arrow")[:]
    method = next((m for m in ("to_arrow_table", "to_arrow") if hasattr(data, m)), "")
    if method:
        return getattr(data, method)()
    return data if hasattr(data, "to_pandas") else None


def _words(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def _read_path(path: Path, reader: str, options: TableOptions) -> tuple[str, pd.DataFrame]:
    if path.is_dir():
        if reader == "table":
            raise InputError(f"{path} is a folder; name the file with the judgments.")
        reader, frame = logs.read_folder(path, LOGS, reader=reader, judge=options.judge)
    else:
        reader, frame = _read_file(path, reader, options)
    if reader in LOGS:
        roles = {role: list(paths) for role, paths in LOGS[reader].roles.items()}
        said: dict[str, Any] = {
            "about": f"a log of {reader}",
            "roles": roles,
            "reasons": {p: f"log of {reader}" for paths in roles.values() for p in paths},
            "options": options.words(),
            "layout": LOGS[reader].layout,
        }
        frame.attrs = said | frame.attrs
        frame.attrs["understood"] = [f"{logs.understood_log(frame, LOGS[reader])}."]
        if options.scale is None and options.kind != "score":
            frame = passes_and_failures(frame)
    if reader in LOGS and options.values:
        frame = with_stated_words(frame, options.values)
    if reader in LOGS and options.labels is not None:
        frame = with_labels(path, frame, options.labels, values=options.values)
    return reader, frame


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _read_file(path: Path, reader: str, options: TableOptions) -> tuple[str, pd.DataFrame]:
    if reader == "table":
        return reader, read_table(path, options)
    log = logs.open_log(path, judge=options.judge)
    if reader in LOGS:
        if not LOGS[reader].fits(log):
            raise InputError(
                f"{path} does not look like what the reader {reader} reads ({LOGS[reader].about}). "
                "Leave --reader out to have the file recognised."
            )
        return reader, LOGS[reader].read(log)
    name = "" if reader in EXPORTS or options.has_table_options else recognised(log)
    if name:
        return name, LOGS[name].read(log)
    if log.kind in {"json", "jsonl"}:
        first = [r for _, r in islice(log.records(), SEEN)] if log.kind == "jsonl" else log.document
        if layout := _export_layout(first, reader, options):
            whole = [r for _, r in log.records()] if log.kind == "jsonl" else first
            return layout.name, read_export(whole, layout, options, source=path)
    table = pd.DataFrame()
    try:
        table = load_table(path, options, further=layout_columns)
        plain = is_parquet(path) and reader == "auto" and not options.has_table_options
        if plain and (name := recognised(_log_of(log, table.head(SEEN)))):
            return name, LOGS[name].read(_log_of(log, table))
        known = options.has_table_options or log.kind not in {"json", "jsonl"}
        inside = not known and any(has_nested_values(table[c]) for c in table)
        return _read_table(table, reader, options, path, asks=not inside)
    except (NoTableError, UndecidedError) as error:
        listed = [r for _, r in islice(log.records(), 50)] if log.kind == "jsonl" else None
        deep = any(isinstance(v, (dict, list)) for r in listed or [] for v in r.values())
        document = listed if deep else logs.records_by_id(log.document)
        if document is None:
            raise
        if not options.has_table_options:
            whole = [r for _, r in log.records()] if deep else document
            found = proposed_paths(path, whole, error, partial(_tried_file, path))
            if not isinstance(found, OpenQuestionError):
                found = proposed(path, table, options, error, partial(_tried_file, path))
            if isinstance(found, OpenQuestionError):
                raise found from None
        raise NoTableError("\n".join(filter(None, [str(error), tree_of(document)]))) from error


def _log_of(log: logs.Log, table: pd.DataFrame) -> logs.Log:
    """The rows of Parquet as the records that JSON would hold."""
    rows = records_with_objects(table.astype(object).where(table.notna(), None))
    return replace(log, kind="json", first=rows[0] if rows else {}, document=rows)


def _tried_file(path: Path, options: TableOptions) -> pd.DataFrame:
    """The file as some options read it, valid."""
    frame = read_table(path, options, asks=False)
    return validate_parsed(bare(frame), what=str(path), scale=frame.attrs["scale"])
