"""What a table holds: columns, rows and words, and its cells as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judgestats.errors import InputError
from judgestats.reporting import formats
from judgestats.reporting.escape import clean
from judgestats.reporting.shown import Shown

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
