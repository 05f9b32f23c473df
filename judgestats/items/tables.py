"""Files of unknown origin as rows, and rows of a table as items by mapped columns.

Files are JSONL, JSON, CSV, TSV or Parquet, also gzipped. Nothing is guessed from the content: the
ending of the name says the format. Size is bounded (a small ``.gz`` can hold a very large file),
and an error names the file and the line.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judgestats.errors import InputError
from judgestats.files.guarded import LIMITS, Limits, Meter, base_name, json_document, records
from judgestats.files.text import decode_json
from judgestats.items.records import (
    HumanLabel,
    Item,
    Response,
    as_text,
    as_turns,
    check_items,
    short_repr,
)

MAX_BYTES = 1_000_000_000
"""Largest file that is read, after decompression."""
MAX_ROWS = 1_000_000
"""Most rows that are read: all are held at a time, with ten values each."""

_FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One record of a file and where it stands (``"answers.csv, line 3"``)."""

    where: str
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file's content: a list of rows, or (JSON only) one object in `document`.

    `columns` are the names that occur in any row, in order of first occurrence.
    """

    path: Path
    rows: tuple[Row, ...] = ()
    document: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self.path.name

    @property
    def holds_only_text(self) -> bool:
        """Whether every cell is text (CSV, TSV), so that a list can only be written as JSON."""
        return bool({".csv", ".tsv"} & {suffix.lower() for suffix in self.path.suffixes[-2:]})

    @property
    def columns(self) -> tuple[str, ...]:
        """The names that occur in any row, in order of first occurrence."""
        return tuple(dict.fromkeys(key for row in self.rows for key in row.values))


def is_folder(path: Path) -> bool:
    """Whether a folder has this name; False for a name that the system refuses."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def read_source(
    path: str | Path, *, max_bytes: int = MAX_BYTES, max_rows: int = MAX_ROWS
) -> Source:
    """The records in a file, by the ending of its name.

    Parameters
    ----------
    path : str or Path
        A ``.jsonl`` (``.ndjson``), ``.json``, ``.csv``, ``.tsv`` or ``.parquet`` file; each also
        with ``.gz`` after it.
    max_bytes : int
        Largest size, in bytes, after decompression.
    max_rows : int
        Most rows; they may hold ten times as many values in all, those in lists counted.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        If the file is missing, empty, damaged, too large or not UTF-8, its ending is unknown, or
        a line does not parse.
    """
    path = Path(path)
    if is_folder(path):
        raise InputError(
            f"read_source: {path} is a folder. Give a file, or a folder in FastChat's MT-Bench "
            "layout (question.jsonl and model_answer/*.jsonl) to read_items."
        )
    if not _is_there(path):
        raise InputError(
            f"read_source: there is no file {str(path)!r}. Check the name, and where you are."
        )
    name = base_name(path)
    kind = next((kind for ending, kind in _FORMATS.items() if name.endswith(ending)), None)
    if kind is None:
        raise InputError(
            f"read_source: the format of {path.name!r} is not known by its ending. Give one of "
            f"{', '.join(_FORMATS)} (each also with .gz or .zst)."
        )
    limits = Limits(
        rows=max_rows,
        cells=10 * max_rows,
        expanded_bytes=max_bytes,
        document_bytes=max_bytes,
        remedy="Keep the items that the experiment needs, or split it.",
    )
    found: Iterable[tuple[str, Mapping[str, Any]]]
    if kind == "parquet":
        from judgestats.files.tables import parquet_rows  # pandas, which help does not need

        table = parquet_rows(path, limits)
        found = ((f"row {n}", v) for n, v in enumerate(table.to_pylist(), start=1))
    elif kind == "jsonl":
        found = records(path, limits)
    elif kind == "json":
        value = json_document(path, limits=limits)
        if isinstance(value, Mapping):
            return Source(path=path, document=value)
        found = _json_records(path, value)
    else:
        found = _csv_records(path, "\t" if kind == "tsv" else ",", limits)
    rows = tuple(_counted(found, Meter(path, kind, limits)))
    if not rows:
        raise InputError(f"read_source: {path.name} has no row. Give at least one.")
    return Source(path=path, rows=rows)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _counted(found: Iterable[tuple[str, Mapping[str, Any]]], meter: Meter) -> Iterator[Row]:
    """Records as rows, counted one by one before the next is read."""
    held = 0
    for where, values in found:
        meter.rows(1)
        held += _count_values(values)
        meter.cells(held)
        yield Row(where=f"{meter.path.name}, {where}", values=values)


def _count_values(value: Any) -> int:
    """The values in a record: what is in its lists and objects is counted too."""
    if not isinstance(value, (dict, list)):
        return 1
    inner = value.values() if isinstance(value, dict) else value
    return 1 + sum(map(_count_values, inner))


def _json_records(path: Path, value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, list) or not value:
        raise InputError(
            f"read_source: {path.name} must hold a list of objects (at least one), not "
            f"{short_repr(value)}."
        )
    for number, record in enumerate(value, start=1):
        where = f"record {number}"
        if not isinstance(record, Mapping):
            raise InputError(
                f"read_source: {path.name}, {where} must be an object, not {short_repr(record)}."
            )
        yield where, record


def _csv_records(
    path: Path, delimiter: str, limits: Limits
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    # The csv module refuses fields beyond 128 kB unless told otherwise; texts are bounded later,
    # with a message that says which one.
    csv.field_size_limit(max(csv.field_size_limit(), limits.line_bytes))
    header: list[str] | None = None
    from judgestats.files.tables import text_lines

    # The header and blank lines are no rows.
    with text_lines(path, replace(limits, rows=LIMITS.rows)) as stream:
        reader = csv.reader(stream, delimiter=delimiter, strict=True)
        for cells in reader:
            if not cells:
                continue
            if header is None:
                Meter(path, "CSV", limits).columns(len(cells))
                header = _checked_header(path, cells)
                continue
            where = f"line {reader.line_num}"
            if len(cells) != len(header):
                raise InputError(
                    f"read_source: {path.name}, {where} has {len(cells)} cells but the header "
                    f"{len(header)}. Quote texts that contain the separator, a quote or a line "
                    "break."
                )
            # An empty cell is a missing value: CSV cannot tell the two apart.
            yield where, {name: cell or None for name, cell in zip(header, cells, strict=True)}


def _checked_header(path: Path, cells: list[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(
            f"read_source: {path.name} has the column(s) {short_repr(twice)} twice. Rename them."
        )
    return header


FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "item", "uid", "idx"),
    "cluster": ("cluster", "question_id", "prompt_id", "group"),
    "question": ("question", "prompt", "instruction", "query", "turns", "input", "user"),
    "response": ("response", "answer", "output", "completion", "text"),
    "responses": ("responses", "answers", "outputs", "completions", "candidates"),
    "response_a": ("response_a", "response1", "response_1", "answer_a", "output_a", "output_1"),
    "response_b": ("response_b", "response2", "response_2", "answer_b", "output_b", "output_2"),
    "author": ("author", "model", "model_id", "generator", "source"),
    "author_a": ("author_a", "model_a", "model1", "model_1"),
    "author_b": ("author_b", "model_b", "model2", "model_2"),
    "context": ("context", "passage", "document", "input"),
    "reference": ("reference", "reference_answer", "gold", "ground_truth", "target"),
    "category": ("category", "task", "subset", "topic"),
    "quality": ("quality",),
    "winner": ("winner", "preference", "label", "human_winner"),
    "annotator": ("annotator", "rater", "human", "judge"),
}
"""The fields of a table row, each with its usual column names. Where the mapping names none, the
first of them that the file has is used."""


def parse_mapping(text: str | None) -> dict[str, str]:
    """A mapping of fields to columns from its command-line form.

    Parameters
    ----------
    text : str or None
        ``"question=prompt_text,response=answer"``; a column's name may hold ``=`` but no comma.

    Returns
    -------
    dict
        Field name to column name; empty for None or an empty text.

    Raises
    ------
    InputError
        If a part is not ``field=column``, a field is unknown, or one is mapped twice.

    Examples
    --------
    >>> parse_mapping("question=prompt_text, response=answer")
    {'question': 'prompt_text', 'response': 'answer'}
    >>> parse_mapping("")
    {}
    """
    mapping: dict[str, str] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        field, equals, column = (piece.strip() for piece in part.partition("="))
        if not (equals and field and column):
            raise InputError(
                f"parse_mapping: {short_repr(part.strip())} is not of the form field=column. Write "
                "for instance question=prompt_text,response=answer."
            )
        if field in mapping:
            raise InputError(f"parse_mapping: the field {field!r} is mapped twice. Map it once.")
        mapping[field] = column
    _check_fields(mapping)
    return mapping


def _check_fields(mapping: Mapping[str, str]) -> None:
    unknown = [field for field in mapping if field not in FIELDS]
    if unknown:
        raise InputError(
            f"mapping: {short_repr(unknown[0])} is not a field of an item. The fields are "
            f"{', '.join(FIELDS)}; the file's own column name stands right of the equals sign."
        )


def resolve_columns(
    columns: Iterable[str], *, mapping: Mapping[str, str] | None = None, where: str
) -> dict[str, str]:
    """Field to column for one table: the user's mapping, completed by customary names.

    Parameters
    ----------
    columns : iterable of str
        The columns that the file has.
    mapping : mapping, optional
        The user's choice; wins over customary names, and a column it uses is used for nothing else.
    where : str
        The file's name, for messages.

    Returns
    -------
    dict
        Only fields that the file has.

    Raises
    ------
    InputError
        If a mapped column is not in the file.

    Examples
    --------
    >>> resolve_columns(["prompt", "answer", "score"], where="my.csv")
    {'question': 'prompt', 'response': 'answer'}
    """
    present = list(columns)
    chosen = dict(mapping or {})
    _check_fields(chosen)
    for field, column in chosen.items():
        if column not in present:
            raise InputError(
                f"{where}: the mapping asks for column {column!r} as {field!r}, but the file has "
                f"{short_repr(present, 300)}. Correct the mapping ({field}=...), or the file."
            )
    taken = set(chosen.values())
    for field, names in FIELDS.items():
        if field in chosen:
            continue
        for name in names:
            if name in present and name not in taken:
                chosen[field] = name
                taken.add(name)
                break
    return chosen


_WINNERS = {
    **dict.fromkeys(("a", "model_a", "response_a", "[[a]]", "1", "first", "left"), "a"),
    **dict.fromkeys(("b", "model_b", "response_b", "[[b]]", "2", "second", "right"), "b"),
    **dict.fromkeys(("tie", "0", "c", "[[c]]", "both", "neither", "both_bad"), "tie"),
}
_TIE_PREFIX = "tie ("  # "tie (bothbad)", "tie (inconsistent)"


def read_winner(value: object, what: str) -> str:
    """A preference in any customary spelling as ``"a"``, ``"b"`` or ``"tie"``.

    Parameters
    ----------
    value : object
        ``a`` / ``model_a`` / ``1`` and so on; ``tie``, ``0``, ``tie (bothbad)`` are ties. Case does
        not matter.
    what : str
        Where it stands, for the message.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If the spelling is not known.

    Examples
    --------
    >>> read_winner("model_b", "row 1"), read_winner(1, "row 2"), read_winner("Tie", "row 3")
    ('b', 'a', 'tie')
    """
    text = _number_as_text(value).strip().lower()
    if text in _WINNERS:
        return _WINNERS[text]
    if text.startswith(_TIE_PREFIX):
        return "tie"
    raise InputError(
        f"{what} must say who wins: a, b or tie (also model_a / model_b, 1 / 2 / 0), not "
        f"{short_repr(value)}. Recode it, or map another column."
    )


def _number_as_text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def as_name(value: object, what: str) -> str:
    """A short label (id, category, author) from a file: text or a number, as text.

    Raises
    ------
    InputError
        If it is neither, empty, or longer than 1,000 characters.

    Examples
    --------
    >>> as_name(81, "line 1: 'id'"), as_name(81.0, "line 1: 'id'"), as_name("q-1", "line 1: 'id'")
    ('81', '81', 'q-1')
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number_as_text(value)
    return as_text(value, what, most=1000)


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """One row seen through the mapping; a missing value is None.

    `in_text` says that turns can only be written as JSON in a text cell (CSV).
    """

    row: Row
    columns: Mapping[str, str]
    in_text: bool
    empty_ok: bool

    def get(self, field: str) -> Any:
        column = self.columns.get(field)
        value = None if column is None else self.row.values.get(column)
        return None if isinstance(value, float) and math.isnan(value) else value

    def what(self, field: str) -> str:
        return f"{self.row.where}: {self.columns.get(field, field)!r}"

    def name(self, field: str, default: str = "") -> str:
        value = self.get(field)
        return default if value in (None, "") else as_name(value, self.what(field))

    def turns(self, field: str) -> tuple[str, ...]:
        value = self.get(field)
        # An answer to a one-turn question is text even where it looks like a JSON list.
        may_hold_turns = field == "question" or (self.in_text and len(self.question) > 1)
        if self.in_text and isinstance(value, str) and may_hold_turns:
            value = _turns_in_cell(value)
        if value is None and not (self.empty_ok and field.startswith("response")):
            raise InputError(
                f"{self.what(field)} is empty. Give a text or drop the row (empty_ok=True keeps an "
                "empty response)."
            )
        empty_ok = self.empty_ok and field.startswith("response")
        value = "" if value is None else value
        return as_turns(value, self.what(field), empty_ok=empty_ok)

    @property
    def question(self) -> tuple[str, ...]:
        return self.turns("question")

    @property
    def context(self) -> str:
        value = self.get("context")
        if value is None:
            return ""
        return as_text(value, self.what("context"), empty_ok=True)

    @property
    def reference(self) -> tuple[str, ...]:
        value = self.get("reference")
        if value in (None, "", []):
            return ()
        if self.in_text and isinstance(value, str) and len(self.question) > 1:
            value = _turns_in_cell(value)
        if isinstance(value, int | float):
            value = _number_as_text(value)
        return as_turns(value, self.what("reference"), empty_ok=True)

    @property
    def quality(self) -> float | None:
        value = self.get("quality")
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        if not 0.0 <= number <= 1.0:
            raise InputError(
                f"{self.what('quality')} must be a number in 0-1, not {short_repr(value)}."
            )
        return number


def _turns_in_cell(text: str) -> str | list[str]:
    """The turns in a text cell that holds a JSON list of at least two texts; else the text."""
    if not text.lstrip().startswith("["):
        return text
    try:
        value = decode_json(text)
    except ValueError:
        return text  # a text that merely begins with a bracket
    if isinstance(value, list) and len(value) > 1 and all(isinstance(t, str) for t in value):
        return value
    return text


def table_items(
    source: Source,
    *,
    mapping: Mapping[str, str] | None = None,
    questions: bool = False,
    empty_ok: bool = False,
) -> tuple[Item, ...]:
    """The items in a table.

    Parameters
    ----------
    source : Source
        The rows, from `judgestats.items.tables.read_source`.
    mapping : mapping, optional
        Field to column (`judgestats.items.tables.FIELDS`); customary names are found without it.
    questions : bool
        Whether the table may have no column of responses.
    empty_ok : bool
        Whether a response may be empty.

    Returns
    -------
    tuple of Item
        In the order of the file. Ids are those of the file, else ``row-1``, ``row-2`` and so on;
        clusters those of the file, else the id of the first row with the same question and context.

    Raises
    ------
    InputError
        If the columns give no question or no response, or a row cannot be used.
    """
    columns = resolve_columns(source.columns, mapping=mapping, where=source.name)
    answered = _has_response(source, columns, needed=not questions)
    paired = "response_a" in columns and "response_b" in columns
    labelled = paired and "winner" in columns
    items: list[Item] = []
    first_of: dict[tuple[tuple[str, ...], str], str] = {}
    for number, row in enumerate(source.rows, start=1):
        cells = _Cells(row=row, columns=columns, in_text=source.holds_only_text, empty_ok=empty_ok)
        question, context = cells.question, cells.context
        item_id = cells.name("id", f"row-{number}")
        cluster = cells.name("cluster", first_of.setdefault((question, context), item_id))
        responses = _responses(cells, paired) if answered else ()
        _check_turns(row, question, responses)
        items.append(
            Item(
                id=item_id,
                cluster=cluster,
                turns=question,
                responses=responses,
                context=context,
                reference=cells.reference,
                category=cells.name("category"),
                labels=_labels(cells, len(question)) if labelled else (),
            )
        )
    if labelled:
        items = _merge_same_pairs(items)
    return check_items(items, where=source.name, need_responses=answered)


def _has_response(source: Source, columns: Mapping[str, str], *, needed: bool) -> bool:
    if "question" not in columns:
        raise InputError(
            f"{source.name}: no column holds the question; the file has "
            f"{short_repr(list(source.columns), 300)}. Say which, as in mapping question=COLUMN."
        )
    has_pair = "response_a" in columns and "response_b" in columns
    answered = has_pair or "response" in columns or "responses" in columns
    if needed and not answered:
        raise InputError(
            f"{source.name}: no column holds the responses; the file has "
            f"{short_repr(list(source.columns), 300)}. Say which: response=COLUMN for one per row, "
            "responses=COLUMN for a list, response_a=COLUMN,response_b=COLUMN for pairs."
        )
    return answered


def _responses(cells: _Cells, paired: bool) -> tuple[Response, ...]:
    if paired:
        return (
            Response(turns=cells.turns("response_a"), author=cells.name("author_a")),
            Response(turns=cells.turns("response_b"), author=cells.name("author_b")),
        )
    if "responses" in cells.columns:
        return _listed_responses(cells)
    return (
        Response(turns=cells.turns("response"), author=cells.name("author"), quality=cells.quality),
    )


def _listed_responses(cells: _Cells) -> tuple[Response, ...]:
    what = cells.what("responses")
    value = cells.get("responses")
    if isinstance(value, str):
        try:
            value = decode_json(value)
        except ValueError as error:
            raise InputError(
                f"{what} must be a JSON list of texts, not {short_repr(value)}. For one response a "
                "row map it as response=..."
            ) from error
    if not isinstance(value, Sequence) or isinstance(value, str | bytes) or not value:
        raise InputError(
            f"{what} must be a list of at least one response, not {short_repr(value)}."
        )
    authors = cells.get("author")
    if cells.in_text and isinstance(authors, str):
        authors = _turns_in_cell(authors)  # a list of names is written as the responses are
    if not isinstance(authors, Sequence) or isinstance(authors, str):
        authors = [cells.name("author")] * len(value)
    if len(authors) != len(value):
        raise InputError(
            f"{what} has {len(value)} responses but {cells.what('author')} {len(authors)} authors."
        )
    responses = []
    for i, (entry, listed_author) in enumerate(zip(value, authors, strict=True)):
        entry_what = f"{what}, entry {i + 1}"
        given, author = entry, listed_author
        if isinstance(entry, Mapping):
            keys = [key for key in ("turns", "response", "text", "content") if key in entry]
            if not keys:
                raise InputError(f"{entry_what} has no text: give 'turns', 'response' or 'text'.")
            given = entry[keys[0]]
            author = entry.get("author") or entry.get("model") or author
        turns = as_turns(given, entry_what, empty_ok=cells.empty_ok)
        name = as_name(author, f"{entry_what}: author") if author not in (None, "") else ""
        responses.append(Response(turns=turns, author=name))
    return tuple(responses)


def _labels(cells: _Cells, n_turns: int) -> tuple[HumanLabel, ...]:
    value = cells.get("winner")
    if value in (None, ""):
        return ()  # not every pair has to be labelled
    winner = read_winner(value, cells.what("winner"))
    annotator = cells.name("annotator", "human")
    return (HumanLabel(annotator=annotator, a=0, b=1, winner=winner, turn=n_turns),)


def _check_turns(row: Row, question: tuple[str, ...], responses: tuple[Response, ...]) -> None:
    for i, response in enumerate(responses):
        if len(response.turns) != len(question):
            raise InputError(
                f"{row.where}: the question has {len(question)} turn(s) but response {i + 1} has "
                f"{len(response.turns)}. Give one answer a turn."
            )


def _merge_same_pairs(items: list[Item]) -> list[Item]:
    """One item per pair of responses: several annotators' rows become its labels."""
    merged: dict[object, Item] = {}
    for item in items:
        key = (item.turns, item.context, item.responses)
        before = merged.get(key)
        merged[key] = (
            item if before is None else replace(before, labels=before.labels + item.labels)
        )
    return list(merged.values())
