"""One table for every format: HTML, typst, Markdown and CSV; pandoc writes the others.

Every cell, heading, caption and note is text and is escaped for the format it goes to, so a table
may hold whatever a question or a model said.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judgestats.reporting import formats, table_writers
from judgestats.reporting.escape import clean, escape_markdown, fallback
from judgestats.reporting.table_contents import Column, TableContents
from judgestats.results.values import spreadsheet_cell

__all__ = ["Column", "Table"]


@dataclass(frozen=True, kw_only=True)
class Table(TableContents):
    """A table with its caption, note and label for cross-references.

    Attributes
    ----------
    columns : tuple of Column
    rows : tuple of mapping
        Values by column key; nothing is rounded in them.
    caption, note : str
        Plain text.
    label : str
        ``tbl-...``, for references in a document.
    group : str
        A key of the rows; a heading row is put before each run of equal values.

    Examples
    --------
    >>> t = Table(columns=(Column(key="a"), Column(key="b", format="number:1")),
    ...           rows=({"a": "x|y", "b": 1.25}, {"a": "z", "b": float("nan")}))
    >>> print(t.to_markdown())
    | a | b |
    |:----|----:|
    | x\\|y | 1.2 |
    | z | – |
    """

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        columns: Sequence[Column] | None = None,
        caption: str = "",
        note: str = "",
        label: str = "",
        group: str = "",
    ) -> Table:
        """A table of a data frame; without `columns`, every column with a format by its type."""
        if columns is None:
            columns = [_column_for(frame, name) for name in frame.columns if str(name) != group]
        rows = tuple({str(k): v for k, v in row.items()} for row in frame.to_dict("records"))
        return cls(
            columns=tuple(columns), rows=rows, caption=caption, note=note, label=label, group=group
        )

    # -- formats -------------------------------------------------------------------------------

    def to_html(self, *, caption: bool = True) -> str:
        """An HTML table; nothing in it can run or load anything."""
        return table_writers.html(self, caption=caption)

    def to_typst(self) -> str:
        """A typst table (without caption: the document's float carries it)."""
        return table_writers.typst(self)

    def to_markdown(self) -> str:
        """A Markdown pipe table."""
        return table_writers.markdown(self)

    def to_csv(self) -> str:
        """Comma-separated values, unrounded; text that a spreadsheet would run is quoted."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        keys = [*([self.group] if self.group else []), *[c.key for c in self.columns]]
        writer.writerow(keys)
        for row in self.rows:
            writer.writerow([_plain_cell(row.get(key)) for key in keys])
        return out.getvalue()

    def to_quarto(self) -> str:
        """Markdown for a Quarto document: raw HTML and typst blocks, caption, label."""
        note = f"\n\n{escape_markdown(self.note)}" if self.note else ""
        inner = (
            f"```{{=html}}\n{self.to_html(caption=False)}\n```\n\n"
            f"```{{=typst}}\n{self.to_typst()}\n```\n\n" + fallback(self.to_markdown() + note)
        )
        if not self.label:
            return f"\n{inner}\n"
        return f"\n:::::: {{#{self.label}}}\n\n{inner}\n{escape_markdown(self.caption)}\n\n::::::\n"

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        cells = [[c.heading for c in self.columns], *self.cells()]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        lines = [
            "  ".join(
                text.rjust(w) if c.side == "right" else text.ljust(w)
                for c, text, w in zip(self.columns, row, widths, strict=True)
            ).rstrip()
            for row in cells
        ]
        return "\n".join([*([self.caption, ""] if self.caption else []), *lines])


def _column_for(frame: pd.DataFrame, name: Any) -> Column:
    values = frame[name]
    if pd.api.types.is_bool_dtype(values):
        return Column(key=str(name), format=_yes_or_no, align="left")
    if pd.api.types.is_integer_dtype(values):
        return Column(key=str(name), format="integer")
    if pd.api.types.is_numeric_dtype(values):
        shown = "p" if str(name).startswith("p_") else f"number:{_decimals(values)}"
        return Column(key=str(name), format=shown)
    return Column(key=str(name))


def _decimals(values: pd.Series) -> int:
    """The fewest decimals, three at most, with which a column says all that it holds.

    Examples
    --------
    >>> _decimals(pd.Series([73.7, 60.0])), _decimals(pd.Series([1 / 3, float("nan")]))
    (1, 3)
    """
    usable = values.dropna().astype(float)
    return next((d for d in (0, 1, 2) if ((usable - usable.round(d)).abs() < 1e-9).all()), 3)


def _yes_or_no(value: Any) -> str:
    return formats.DASH if formats.is_missing(value) else "yes" if value else "no"


def _plain_cell(value: Any) -> Any:
    if formats.is_missing(value):
        return ""
    if isinstance(value, str):
        return spreadsheet_cell(clean(value))
    return value
