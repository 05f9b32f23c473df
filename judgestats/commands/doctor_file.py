"""``judgestats doctor FILE``: what a file holds, and what it can answer. Nothing is written."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from judgestats.analysis.answerable import answerable
from judgestats.commands.table import Given
from judgestats.commands.table_words import said_again, table_words
from judgestats.errors import InputError, printable
from judgestats.experiment import console
from judgestats.judgments.readers.registry import read_judgments
from judgestats.judgments.readers.table_files import table_of
from judgestats.judgments.readers.untrusted import NoTableError
from judgestats.results.numbers import counted

_SHOWN = 60


def doctor_file(arguments: Given) -> int:
    """Say what a file holds and can answer.

    Parameters
    ----------
    arguments : Given
        ``file`` and the words on how to read it.

    Returns
    -------
    int
        0 where the file can be analysed as it is (with the words given), 1 where it cannot.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    words = table_words(arguments)
    path = Path(arguments.file)
    try:
        frame = read_judgments(path, reader=arguments.reader, **words)
    except InputError as error:
        try:
            lines = _columns_of(path, words["table"])
        except InputError:  # not even a table that somebody could map: refused
            raise error from None
        console.say(*lines, *([""] if lines else []), f"Not readable as it is: {error}")
        return 1
    reader = frame.attrs["reader"]
    items = counted(int(frame["item_id"].nunique()), "item", "items")
    text = f"{path.name}: {counted(len(frame), 'judgment', 'judgments')} of {items}"
    console.say(f"{text} ({reader})", *([""] if reader == "table" else []))
    if reader == "table":
        used = {theirs: ours for ours, theirs in frame.attrs.get("columns_read", {}).items()}
        used |= {t.partition(".")[0].removesuffix("[]"): o for t, o in used.items() if "." in t}
        used |= frame.attrs.get("parts", {}) | frame.attrs.get("unused", {})
        console.say(*_columns_of(path, words["table"], used), "")
    for line in frame.attrs.get("understood", []):
        console.say(*_wrapped(line))
    for note in frame.attrs["notes"]:
        console.say(*_wrapped(f"Note: {note}"))
    console.say("", "What it can answer:")
    again = " ".join(["judgestats analyze", shlex.quote(arguments.file), *said_again(arguments)])
    for question in answerable(frame):
        mark = "yes" if question.answered else "no "
        console.say(*_wrapped(f"  {mark}  {question.asked} {question.grounds}."))
        if question.needs:
            better = "better with" if question.answered else "needs"
            command = question.command.format(file=shlex.quote(arguments.file))
            with_it = f" ({command})" if command else ""
            console.say(*_wrapped(f"       {better}: {question.needs}{with_it}."))
    console.say("", f"Next: {again}")
    return 0


def _wrapped(line: str) -> list[str]:
    """A line in lines of a screen's width; commands are not broken at their hyphens."""
    start = " " * (7 if line.startswith(" ") else 2)
    return textwrap.wrap(
        line, 100, subsequent_indent=start, break_on_hyphens=False, break_long_words=False
    )


def _columns_of(path: Path, table: str, used: Mapping[str, str] | None = None) -> list[str]:
    """The columns of a table; empty where the file holds none."""
    try:
        return column_lines(table_of(path, lambda _: [], table=table), used or {})
    except NoTableError:
        return []  # what is wrong with it is said by the reader


def column_lines(table: pd.DataFrame, used: Mapping[str, str]) -> list[str]:
    """Each column: its kind, how much of it is filled, examples, and what it was taken for.

    Parameters
    ----------
    table : DataFrame
    used : mapping of column to what it serves as, or why it is not used

    Returns
    -------
    list of str

    Examples
    --------
    >>> print(*column_lines(pd.DataFrame({"id": ["a", "b"], "s": [1, None]}), {"id": "item_id"}),
    ...       sep="\\n")
    column  kind     filled  values  taken for  examples
    id      words    100 %        2  item_id    a, b
    s       numbers   50 %        1  -          1
    """
    rows = [("column", "kind", "filled", "values", "taken for", "examples")]
    for name in list(table.columns)[:_SHOWN]:
        column = table[name]
        kept = column.dropna()
        texts = kept.map(str)
        distinct = list(dict.fromkeys(texts.head(10_000)))
        shown = ", ".join(printable(t[:24], one_line=True) for t in distinct[:3])
        rows.append(
            (
                printable(str(name)[:30], one_line=True),
                _kind(column, distinct),
                f"{100 * len(kept) / max(1, len(column)):.0f} %",
                f"{texts.nunique():,}",
                used.get(str(name), "-"),
                shown.removesuffix(".0"),
            )
        )
    widths = [max(len(r[i]) for r in rows) for i in range(5)]
    lines = []
    for row in rows:
        cells = [
            text.rjust(width) if i in {2, 3} else text.ljust(width)
            for i, (text, width) in enumerate(zip(row[:5], widths, strict=True))
        ]
        lines.append("  ".join([*cells, row[5]]).rstrip())
    if len(table.columns) > _SHOWN:
        lines.append(f"... and {len(table.columns) - _SHOWN} more columns")
    return lines


def _kind(column: pd.Series, distinct: list[str]) -> str:
    if not distinct:
        return "empty"
    if pd.api.types.is_bool_dtype(column):
        return "yes/no"
    if pd.api.types.is_numeric_dtype(column):
        return "numbers"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "times"
    return "text" if sum(map(len, distinct)) > 40 * len(distinct) else "words"
