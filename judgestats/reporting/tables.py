"""One table, good in every format: HTML, typst, LaTeX, Word, Markdown and CSV.

Every cell, heading, caption and note is text and is escaped for the format it goes to, so a table
may hold whatever a question or a model said.
"""

from __future__ import annotations

import csv
import io
import math
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from judgestats.errors import InputError, RenderError
from judgestats.reporting import formats
from judgestats.reporting.escape import (
    clean,
    escape_html,
    escape_latex,
    escape_markdown,
    escape_typst,
    fallback,
)

__all__ = ["Column", "Table"]

_PAGE_POINTS = 460.0  # the text width of an A4 page
_MOST_KEPT = 26  # lines; a longer table may go on on the next page
_WRAPPED_AT = 34  # letters of a text cell, about, before it goes on on a second line
# typst: begin on the next page unless 9 lines are left: an empty block that may not break, undone
_ROOM = (
    "#block(width: 100%, height: 9em, breakable: false, above: 0pt, below: 0pt)[]"
    "#v(-9em, weak: false)"
)
_WORD = 16  # letters of a word that a narrow column still shows unbroken
_WIDE, _STACKED = 70, 46  # letters in a row: smaller type on a page, one value a line on a phone
_LABEL = re.compile(r"^tbl-[a-z0-9-]+$")
_LONG_WORD = re.compile(r"\S{25,}")
_FORMULA = ("=", "+", "-", "@", "\t")


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
class Table:
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
    |:--|--:|
    | x\\|y | 1.2 |
    | z | – |
    """

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

    def cells(self) -> list[list[str]]:
        """The cells as text, row by row."""
        return [[c.show(row.get(c.key)) for c in self.columns] for row in self.rows]

    def _aligned(self) -> list[list[str]]:
        """The cells with decimal points in line, for formats with figure-wide spaces."""
        cells = self.cells()
        for j, column in enumerate(self.columns):
            if column.side == "right":
                for row, text in zip(
                    cells, formats.align_decimals([r[j] for r in cells]), strict=True
                ):
                    row[j] = text
        return cells

    def _groups(self) -> list[str]:
        """The group heading to put before each row, empty for none."""
        names = [clean(row.get(self.group, "")) if self.group else "" for row in self.rows]
        return [n if i == 0 or n != names[i - 1] else "" for i, n in enumerate(names)]

    # -- formats -------------------------------------------------------------------------------

    def to_html(self, *, caption: bool = True) -> str:
        """An HTML table; nothing in it can run or load anything."""
        kinds = {"left": "text", "right": "num", "center": "mid"}
        letters = sum(self._letters()) + 2 * len(self.columns)
        shape = " wide" * (letters > _WIDE) + " stack" * (letters > _STACKED)
        out = [f'<div class="js-table{shape}"><table data-quarto-disable-processing="true">']
        if caption and self.caption:
            out.append(f"<caption>{escape_html(self.caption)}</caption>")
        head = "".join(
            f'<th class="{kinds[c.side]}" scope="col">{escape_html(c.heading)}</th>'
            for c in self.columns
        )
        body_kinds = [
            kinds[c.side] + " words" * whole
            for c, whole in zip(self.columns, self._of_words(), strict=True)
        ]
        out.append(f"<thead><tr>{head}</tr></thead><tbody>")
        for group, row in zip(self._groups(), self._aligned(), strict=True):
            if group:
                span = len(self.columns)
                out.append(
                    f'<tr class="group"><td class="text" colspan="{span}">'
                    f"{escape_html(group)}</td></tr>"
                )
            cells = "".join(
                f'<td class="{kind}" data-label="{escape_html(c.heading)}">{_html_cell(text)}</td>'
                for c, kind, text in zip(self.columns, body_kinds, row, strict=True)
            )
            out.append(f"<tr>{cells}</tr>")
        out.append("</tbody></table></div>")
        if self.note:
            out.append(f'<p class="table-note">{escape_html(self.note)}</p>')
        return "\n".join(out)

    def to_typst(self) -> str:
        """A typst table (without caption: the document's float carries it)."""
        count = len(self.columns)
        sides = ", ".join(f"{c.side} + top" for c in self.columns) + ","
        head = ", ".join(
            f"table.cell(align: {c.side} + bottom)[*{escape_typst(c.heading)}*]"
            for c in self.columns
        )
        body: list[str] = []
        for group, row in zip(self._groups(), self._aligned(), strict=True):
            if group:
                body.append(
                    f"table.cell(colspan: {count}, inset: (top: 7pt))[*{escape_typst(group)}*],"
                )
            texts = [
                _together(text) if c.side == "right" else text
                for c, text in zip(self.columns, row, strict=True)
            ]
            body.append(", ".join(f"[{escape_typst(text)}]" for text in texts) + ",")
        # a short table stays on one page; a longer one leaves no heading row behind at its foot
        long = self._lines() > _MOST_KEPT
        breaks = str(long).lower()
        need, above = (_ROOM, "above: 0pt, ") if long else ("", "")
        rule, thin = "table.hline(stroke: 0.8pt),", "table.hline(stroke: 0.45pt),"
        note = f"#align(left, text(size: 0.92em)[{escape_typst(self.note)}])" if self.note else ""
        return "\n".join(
            [
                need,
                f"#block(width: 100%, {above}breakable: {breaks})[",
                f"#set text(size: {self._points():.2f}pt)",
                '#set text(number-width: "tabular", hyphenate: false)',
                "#set par(justify: false, leading: 0.5em)",
                f"#table(columns: {count}, align: ({sides}),",
                "inset: (x: 3.5pt, y: 3pt), stroke: none,",
                rule,
                f"table.header({head}),",
                thin,
                *body,
                f"{rule})",
                note,
                "]",
            ]
        )

    def _letters(self) -> list[int]:
        """How many letters wide each column is; text and headings may wrap."""
        widths = []
        cells = self.cells()
        for j, column in enumerate(self.columns):
            words = max((len(w) for w in column.heading.split(" ")), default=1)
            if column.side == "left":
                longest = max(
                    (len(line) for row in cells for line in row[j].split("\n")), default=1
                )
                longest = min(max(longest, words), 20)
            else:
                longest = max(words, max((len(row[j]) for row in cells), default=0))
            widths.append(longest)
        return widths

    def _of_words(self) -> list[bool]:
        """For each column: is it text of plain words, none of which need be broken?"""
        cells = self.cells()
        return [
            column.side == "left"
            and max((len(word) for row in cells for word in row[j].split()), default=0) <= _WORD
            for j, column in enumerate(self.columns)
        ]

    def _lines(self) -> int:
        """How many lines the table takes, about: rows, and text that wraps in them."""
        rows = [
            max(
                1,
                *(
                    math.ceil(len(text) / _WRAPPED_AT) + text.count("\n")
                    for text, c in zip(row, self.columns, strict=True)
                    if c.side == "left"
                ),
                1,
            )
            for row in self.cells()
        ]
        return sum(rows) + sum(bool(g) for g in self._groups())

    def _points(self) -> float:
        """The type size at which the table fits the page, from 9 down to 6.8 points."""
        widths = self._letters()
        free = _PAGE_POINTS - 7.0 * len(widths)
        return max(6.8, min(9.0, free / (0.52 * max(1, sum(widths)))))

    def to_latex(self) -> str:
        """A LaTeX table for the booktabs package."""
        letters = {"left": "l", "right": "r", "center": "c"}
        sides = "".join(letters[c.side] for c in self.columns)
        rows = [r"\begin{table}[htbp]", r"\centering"]
        if self.caption:
            rows.append(rf"\caption{{{escape_latex(self.caption)}}}")
        if self.label:
            rows.append(rf"\label{{{self.label}}}")
        rows += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
        rows.append(" & ".join(escape_latex(c.heading) for c in self.columns) + r" \\")
        rows.append(r"\midrule")
        for group, row in zip(self._groups(), self.cells(), strict=True):
            if group:
                span = len(self.columns)
                rows.append(rf"\multicolumn{{{span}}}{{l}}{{\textbf{{{escape_latex(group)}}}}} \\")
            rows.append(" & ".join(escape_latex(text) for text in row) + r" \\")
        rows += [r"\bottomrule", r"\end{tabular}"]
        if self.note:
            rows.append(rf"\par\smallskip\footnotesize {escape_latex(self.note)}")
        return "\n".join([*rows, r"\end{table}"])

    def to_markdown(self) -> str:
        """A Markdown pipe table."""
        marks = {"left": ":--", "right": "--:", "center": ":-:"}

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cells) + " |"

        out = [
            line([_pipe(c.heading) for c in self.columns]),
            "|" + "|".join(marks[c.side] for c in self.columns) + "|",
        ]
        for group, row in zip(self._groups(), self.cells(), strict=True):
            if group:
                out.append(line([f"**{_pipe(group)}**", *[""] * (len(self.columns) - 1)]))
            out.append(line([_pipe(text) for text in row]))
        return "\n".join(out)

    def to_csv(self) -> str:
        """Comma-separated values, unrounded; text that a spreadsheet would run is quoted."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        keys = [*([self.group] if self.group else []), *[c.key for c in self.columns]]
        writer.writerow(keys)
        for row in self.rows:
            writer.writerow([_plain_cell(row.get(key)) for key in keys])
        return out.getvalue()

    def to_docx(self, path: str | Path, *, timeout: float = 60.0) -> Path:
        """Write the table as a Word document."""
        from judgestats.reporting.pandoc import find_pandoc

        parts = [escape_markdown(self.caption), self.to_markdown(), escape_markdown(self.note)]
        text = "\n\n".join(part for part in parts if part)
        target = Path(path)
        done = subprocess.run(
            [find_pandoc(), "--from=markdown", "--to=docx", f"--output={target}"],
            input=text.encode(),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        if done.returncode != 0:
            raise RenderError(f"{target}: {done.stderr.decode(errors='replace').strip()}")
        return target

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
    known = values.dropna().astype(float)
    return next((d for d in (0, 1, 2) if ((known - known.round(d)).abs() < 1e-9).all()), 3)


def _yes_or_no(value: Any) -> str:
    return formats.DASH if formats.is_missing(value) else "yes" if value else "no"


def _pipe(text: str) -> str:
    """A cell of a pipe table; line breaks become spaces."""
    return re.sub(r"(?<=\d)\\([.,])(?=\d)", r"\1", escape_markdown(text))


def _together(text: str) -> str:
    return text.replace(" ", "\u00a0")


def _html_cell(text: str) -> str:
    """A cell's text; line breaks are kept, and long words may break."""
    shown = escape_html(text).replace("\n", "<br>")
    if not _LONG_WORD.search(text):
        return shown
    words = [
        "<wbr>".join(escape_html(part) for part in re.findall(r".{1,12}", word))
        if len(word) > 24
        else escape_html(word)
        for word in re.split(r"(\s)", clean(text))
    ]
    return "".join(words).replace("\n", "<br>")


def _plain_cell(value: Any) -> Any:
    if formats.is_missing(value):
        return ""
    if isinstance(value, str):
        text = clean(value)
        return f"'{text}" if text.startswith(_FORMULA) else text
    return value
