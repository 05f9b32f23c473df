"""Contents and layout of a table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Literal

from judgestats.errors import InputError
from judgestats.reporting import numbers as formats
from judgestats.reporting.document import clean
from judgestats.reporting.numbers import Shown

_LABEL = re.compile(r"^tbl-[a-z0-9-]+$")


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column.

    Attributes
    ----------
    key : str
        The key of its values in the rows.
    label : str
        The heading, by default the key with spaces for underscores.
    format : str or callable
        ``text``, ``integer``, ``number`` or ``number:3``, ``p``, ``percent`` or ``percent:0``,
        ``coefficient`` (as ``number`` without a leading zero), ``money``; or a function of the
        value.
    align : {"", "left", "right", "center"}
        By default left for text and right for numbers.
    """

    key: str
    label: str = ""
    format: str | Callable[[Any], str] = "text"
    align: Literal["", "left", "right", "center"] = ""

    @property
    def heading(self) -> str:
        """The heading shown."""
        return self.label or self.key.replace("_", " ")

    @property
    def side(self) -> str:
        """The alignment used."""
        return self.align or ("left" if self.format == "text" else "right")

    def show(self, value: Any) -> str:
        """One value as text."""
        if isinstance(value, Shown):
            return clean(value)
        if callable(self.format):
            return clean(self.format(value))
        name, _, digits = self.format.partition(":")
        options: dict[str, Any] = {"digits": int(digits)} if digits else {}
        if name == "text":
            return formats.DASH if formats.is_missing(value) else clean(value)
        if name == "coefficient":
            return formats.number(value, leading_zero=False, **options)
        if name not in formats.FORMATS:
            raise InputError(
                f"Column: format must be one of text, coefficient, {', '.join(formats.FORMATS)} or "
                f"a function, but is {self.format!r}. Use 'number:2' for two decimals."
            )
        return formats.FORMATS[name](value, **options)


@dataclass(frozen=True, kw_only=True)
class TableContents:
    """A table with its caption, note and label, before it is written in any format."""

    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    caption: str = ""
    note: str = ""
    label: str = ""
    group: str = ""

    def __post_init__(self) -> None:
        if not self.columns:
            raise InputError("Table: columns must hold at least one Column. Name what to show.")
        if self.label and not _LABEL.match(self.label):
            raise InputError(
                f"Table: label must be 'tbl-' and small letters, digits or hyphens, but is "
                f"{self.label!r}. Write for instance tbl-means."
            )

    def cells(self) -> list[list[str]]:
        """The cells as text, row by row."""
        return [[c.show(row.get(c.key)) for c in self.columns] for row in self.rows]


_PAGE_POINTS = 460.0  # the text width of an A4 page
_WRAPPED_AT = 34  # letters of a text cell, about, before it goes on on a second line
_HEADING = 12  # letters of a line of a heading above short numbers
WORD = 16  # letters of a word that a narrow column still shows unbroken


def aligned(table: TableContents) -> list[list[str]]:
    """The cells with decimal points in line, for formats with figure-wide spaces."""
    cells = table.cells()
    for j, column in enumerate(table.columns):
        if column.side == "right":
            for row, text in zip(cells, formats.align_decimals([r[j] for r in cells]), strict=True):
                row[j] = text
    return cells


def groups(table: TableContents) -> list[str]:
    """The group heading to put before each row, empty for none."""
    names = [clean(row.get(table.group, "")) if table.group else "" for row in table.rows]
    return [n if i == 0 or n != names[i - 1] else "" for i, n in enumerate(names)]


def letters(table: TableContents) -> list[int]:
    """How many letters wide each column is; text and headings may wrap."""
    widths = []
    cells = table.cells()
    for j, column in enumerate(table.columns):
        words = max((len(w) for w in column.heading.split(" ")), default=1)
        if column.side == "left":
            longest = max((len(line) for row in cells for line in row[j].split("\n")), default=1)
            longest = min(max(longest, words), 28)
        else:
            longest = max(words, max((len(row[j]) for row in cells), default=0))
        widths.append(longest)
    return widths


def lines(table: TableContents) -> int:
    """How many lines the table takes, about: rows, and text that wraps in them."""
    rows = [
        max(
            1,
            *(
                math.ceil(len(text) / _WRAPPED_AT) + text.count("\n")
                for text, c in zip(row, table.columns, strict=True)
                if c.side == "left"
            ),
            1,
        )
        for row in table.cells()
    ]
    return sum(rows) + sum(bool(g) for g in groups(table))


def headings(table: TableContents) -> list[str]:
    """The headings; of numbers in lines about as narrow as these, where all would not fit the page.

    Typst shares the page out by how wide columns would like to be: one long heading above short
    numbers would take the room of the text beside it.
    """
    plain = [c.heading for c in table.columns]
    widths = letters(table)
    wished = [max(w, *map(len, h.split("\n"))) for w, h in zip(widths, plain, strict=True)]
    if 0.52 * type_size(table) * sum(wished) + 7.0 * len(widths) <= _PAGE_POINTS:
        return plain
    return [
        "\n".join(part for line in h.split("\n") for part in wrap(line, max(w, _HEADING)))
        if c.side == "right"
        else h
        for c, h, w in zip(table.columns, plain, widths, strict=True)
    ]


def type_size(table: TableContents) -> float:
    """The type size at which the table fits the page, from 9 down to 6.8 points."""
    widths = letters(table)
    free = _PAGE_POINTS - 7.0 * len(widths)
    return max(6.8, min(9.0, free / (0.52 * max(1, sum(widths)))))
