"""What a cell shows: tables and figures as Markdown that Quarto and the built-in renderer read.

Plain strings given to `show` are Markdown written by the document's author; text from elsewhere
goes through `judgestats.reporting.document` first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap
from typing import Any, Literal

import pandas as pd

from judgestats.errors import InputError
from judgestats.reporting import numbers as formats
from judgestats.reporting.document import current_output, fallback
from judgestats.reporting.numbers import DASH, AddressedText
from judgestats.reporting.plots.base import Figure
from judgestats.results import numbers
from judgestats.sinks import clean, escape_html, escape_markdown, escape_typst, rows_text

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
    spanner : str
        Heading over neighbours that share it, in HTML and PDF.
    """

    key: str
    label: str = ""
    format: str | Callable[[Any], str] = "text"
    align: Literal["", "left", "right", "center"] = ""
    spanner: str = ""

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
        if isinstance(value, AddressedText):
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


_PAGE_POINTS = 460.0  # the text width of an A4 page
_WRAPPED_AT = 34  # letters of a text cell, about, before it goes on on a second line
_HEADING = 12  # letters of a line of a heading above short numbers
WORD = 16  # letters of a word that a narrow column still shows unbroken


def aligned(table: Table) -> list[list[str]]:
    """The cells with decimal points in line, for formats with figure-wide spaces."""
    cells = table.cells()
    for j, column in enumerate(table.columns):
        if column.side == "right":
            for row, text in zip(cells, formats.align_decimals([r[j] for r in cells]), strict=True):
                row[j] = text
    return cells


def groups(table: Table) -> list[str]:
    """The group heading to put before each row, empty for none."""
    names = [clean(row.get(table.group, "")) if table.group else "" for row in table.rows]
    return [n if i == 0 or n != names[i - 1] else "" for i, n in enumerate(names)]


def letters(table: Table) -> list[int]:
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


def lines(table: Table) -> int:
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


def headings(table: Table) -> list[str]:
    """The headings; of numbers in lines about as narrow as these, where all would not fit the page.

    Typst shares the page out by how wide columns would like to be: one long heading above short
    numbers would take the space of the text next to it.
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


def type_size(table: Table) -> float:
    """The type size at which the table fits the page, from 9 down to 6.8 points."""
    widths = letters(table)
    free = _PAGE_POINTS - 7.0 * len(widths)
    return max(6.8, min(9.0, free / (0.52 * max(1, sum(widths)))))


_MOST_LETTERS = 900  # of a cell that is not broken over pages
_LAST = 3  # rows, of a table that goes on on another page, which stand together at its end
_MOST_KEPT = 13  # lines; a longer table may go on on the next page
# typst: begin on the next page unless 9 lines are left: an empty block that may not break, undone
_ROOM = (
    "#block(width: 100%, height: 9em, breakable: false, above: 0pt, below: 0pt)[]"
    "#v(-9em, weak: false)"
)
# letters in a row: one value a line on a phone; smaller type on a page; the smallest; no more room
_STACKED, _WIDE, _WIDER, _FULL = 46, 70, 104, 118
_LONG_WORD = re.compile(rf"\S{{{WORD + 1},}}")
_JOINT = re.compile(r"(?<=[-/_=.:,&?])(?=\w)")  # where a long word may break


# From typst 0.14 on a heading of rows is not left behind at the foot of a page.
_GROUP = (
    "..{{ let it = table.cell(colspan: {count}, inset: (top: 7pt))[*{name}*]; "
    "if sys.version >= version(0, 14, 0) {{ (table.header(level: 2, repeat: false, it),) }} "
    "else {{ (it,) }} }},"
)


_SPANNER = "align: center, stroke: (bottom: 0.3pt)"


def _lines(heading: str) -> str:
    return escape_html(heading).replace("\n", "<br>")


def _pipe(text: str) -> str:
    """A cell of a pipe table; line breaks become spaces."""
    return re.sub(r"(?<=\d)\\([.,])(?=\d)", r"\1", escape_markdown(text))


def _together(text: str) -> str:
    return text.replace(" ", "\u00a0")


def _kind(value: object, side: str) -> str:
    """The mark of a cell that names something, and so holds no number of a record."""
    return ' data-kind="label"' if side == "left" and not isinstance(value, AddressedText) else ""


def _shape(table: Table) -> str:
    """How wide it is, for the page's style: type, whole numbers, one value per line on a phone."""
    widths, apart = letters(table), 2 * len(table.columns)
    width = sum(widths) + apart
    sides = [c.side for c in table.columns]
    least = apart + sum(
        min(w, WORD) if s == "left" else w for s, w in zip(sides, widths, strict=True)
    )
    names = {
        "wide": width > _WIDE,
        "wider": width > _WIDER,
        "whole": least <= (_FULL if width > _WIDER else _WIDER),
        "stack": width > _STACKED and len(sides) > 2,
    }
    return "".join(f" {name}" for name, holds in names.items() if holds)


def _html_cell(value: object, text: str) -> str:
    """A cell's text; line breaks are kept, and long words may break, at their joints if any."""
    if isinstance(value, AddressedText):
        return f'<span class="cell">{value.html}</span>'
    words = [
        "<wbr>".join(
            escape_html(piece)
            for part in _JOINT.split(word)
            for piece in (re.findall(r".{1,12}", part) if len(part) > WORD else [part])
        )
        if _LONG_WORD.fullmatch(word)
        else escape_html(word)
        for word in re.split(r"(\s)", clean(text))
    ]
    return "".join(words).replace("\n", "<br>")


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
    |:----|----:|
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

    def cells(self) -> list[list[str]]:
        """The cells as text, row by row."""
        return [[c.show(row.get(c.key)) for c in self.columns] for row in self.rows]

    def _spanners(self) -> list[tuple[str, int]]:
        """Each heading over columns, and how many neighbours share it; none without headings."""
        spans = [(name, len(list(own))) for name, own in groupby(c.spanner for c in self.columns)]
        return spans if any(name for name, _ in spans) else []

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        caption: str = "",
        label: str = "",
        group: str = "",
        note: str = "",
    ) -> Table:
        """A table of a data frame, every column with a format by its type."""
        columns = tuple(_column_for(frame, name) for name in frame.columns if str(name) != group)
        rows = tuple({str(k): v for k, v in row.items()} for row in frame.to_dict("records"))
        return cls(columns=columns, rows=rows, caption=caption, label=label, group=group, note=note)

    def to_html(self, *, caption: bool = True) -> str:
        """An HTML table; nothing in it can run or load anything."""
        kinds = {"left": "text", "right": "num", "center": "mid"}
        out = [f'<div class="js-table{_shape(self)}"><table data-quarto-disable-processing="true">']
        if caption and self.caption:
            out.append(f"<caption>{escape_html(self.caption)}</caption>")
        head = "".join(
            f'<th class="{kinds[c.side]}" scope="col">{_lines(c.heading)}</th>'
            for c in self.columns
        )
        above = "".join(
            f'<th class="spanner" scope="colgroup" colspan="{n}">{escape_html(name)}</th>'
            if name
            else f'<td colspan="{n}"></td>'
            for name, n in self._spanners()
        )
        above = above and f"<tr>{above}</tr>"
        out.append(f"<thead>{above}<tr>{head}</tr></thead><tbody>")
        for group, row, values in zip(groups(self), aligned(self), self.rows, strict=True):
            if group:
                span = len(self.columns)
                out.append(
                    f'<tr class="group"><td class="text" colspan="{span}" data-kind="label">'
                    f"{escape_html(group)}</td></tr>"
                )
            cells = "".join(
                f'<td class="{kinds[c.side]}{" none" * (text.strip() == DASH)}"'
                f"{_kind(values.get(c.key), c.side)} "
                f'data-label="{escape_html(c.heading)}">{_html_cell(values.get(c.key), text)}</td>'
                for c, text in zip(self.columns, row, strict=True)
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
            f"table.cell(align: {c.side} + bottom)[*{escape_typst(text)}*]"
            for c, text in zip(self.columns, headings(self), strict=True)
        )
        over = "".join(
            f"table.cell(colspan: {n}, {_SPANNER if name else ''})[{escape_typst(name)}], "
            for name, n in self._spanners()
        )
        body: list[str] = []
        free = 0  # rows below the last group's heading, which no footer may hold
        for group, row in zip(groups(self), aligned(self), strict=True):
            free = 1 if group else free + 1
            if group:
                body.append(_GROUP.format(count=count, name=escape_typst(group)))
            texts = [
                _together(text) if c.side == "right" else text
                for c, text in zip(self.columns, row, strict=True)
            ]
            body.append(", ".join(f"[{escape_typst(text)}]" for text in texts) + ",")
        # a short table stays on one page; a longer one leaves no heading row behind at its foot
        long = lines(self) > _MOST_KEPT
        breaks = str(long).lower()
        if long:  # nor does its last row stand alone on a page
            kept = min(free, _LAST)
            body = [*body[:-kept], f"table.footer(repeat: false, {' '.join(body[-kept:])}),"]
        # a row so short need not go on on another page
        longest = max((len(text) for row in self.cells() for text in row), default=0)
        need, above = (_ROOM, "above: 0pt, ") if long else ("", "")
        rule, thin = "table.hline(stroke: 0.8pt),", "table.hline(stroke: 0.45pt),"
        note = f"#align(left, text(size: 0.92em)[{escape_typst(self.note)}])" if self.note else ""
        return "\n".join(
            [
                need,
                f"#block(width: 100%, {above}breakable: {breaks})[",
                f"#set text(size: {type_size(self):.2f}pt)",
                '#set text(number-width: "tabular", hyphenate: false)',
                "#set par(justify: false, leading: 0.5em)",
                "#set table.cell(breakable: false)" * (longest < _MOST_LETTERS),
                f"#table(columns: {count}, align: ({sides}),",
                "inset: (x: 3.5pt, y: 3pt), stroke: none,",
                rule,
                f"table.header({over}{head}),",
                thin,
                *body,
                f"{rule})",
                note,
                "]",
            ]
        )

    def to_markdown(self) -> str:
        """A Markdown pipe table; the dashes under the heading are as wide as the columns.

        Where a table is too wide for a line, pandoc makes the columns of Word and LaTeX so wide.
        """
        ends = {"left": (":", ""), "right": ("", ":"), "center": (":", ":")}
        marks = []
        for column, width in zip(self.columns, letters(self), strict=True):
            before, after = ends[column.side]
            marks.append(before + "-" * max(2, width - len(before + after) + 2) + after)

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cells) + " |"

        out = [
            line([_pipe(c.heading) for c in self.columns]),
            "|" + "|".join(marks) + "|",
        ]
        for group, row in zip(groups(self), self.cells(), strict=True):
            if group:
                out.append(line([f"**{_pipe(group)}**", *[""] * (len(self.columns) - 1)]))
            texts = [
                _together(text) if c.side == "right" else text
                for c, text in zip(self.columns, row, strict=True)
            ]
            out.append(line([_pipe(text) for text in texts]))
        return "\n".join(out)

    def to_csv(self) -> str:
        """Comma-separated values, unrounded; text that a spreadsheet would run is quoted."""
        keys = [*([self.group] if self.group else []), *[c.key for c in self.columns]]
        return rows_text([keys, *([_plain_cell(row.get(k)) for k in keys] for row in self.rows)])

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
        right = {j for j, column in enumerate(self.columns) if column.side == "right"}
        lines = numbers.aligned([[c.heading for c in self.columns], *self.cells()], right)
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
    """The fewest decimals, three at most, with which a column says everything that it holds.

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
    return clean(value) if isinstance(value, str) else value


def filled(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """The columns in which any row says something.

    Examples
    --------
    >>> rows = [{"a": 1, "b": None}, {"a": 2, "b": float("nan")}]
    >>> [column.key for column in filled([Column(key="a"), Column(key="b")], rows)]
    ['a']
    """
    return [c for c in columns if any(not is_empty(row.get(c.key)) for row in rows)]


def is_empty(value: object) -> bool:
    """Whether a cell says nothing: None, NaN, no text, or a dash."""
    return formats.is_missing(value) or (
        isinstance(value, (str, AddressedText)) and str(value) in {"", DASH}
    )


_FIGURE_LABEL = re.compile(r"^fig-[a-z0-9-]+$")


@dataclass(frozen=True)
class Markdown:
    """Markdown that a cell displays."""

    text: str

    def inside(self, name: str) -> Markdown:
        """The same in a block with a class, or nothing where it is empty."""
        return Markdown(f"::: {{.{name}}}\n\n{self.text}\n\n:::" if self.text else "")

    def _repr_markdown_(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class Captioned:
    """A figure with its label and caption for one document."""

    figure: Figure
    label: str
    caption: str

    def __post_init__(self) -> None:
        if not _FIGURE_LABEL.match(self.label):
            raise InputError(
                f"Captioned: label must be 'fig-' and small letters, digits or hyphens, but is "
                f"{self.label!r}. Write for instance fig-scores."
            )


Showable = Table | Figure | Captioned | Markdown | str | None


def show(*things: Showable | Sequence[Showable], about: str = "") -> Markdown:
    """Everything given, in order, as one piece of Markdown.

    Parameters
    ----------
    things : Table, Figure, Captioned, Markdown, str, None, or sequences of these
        Figures are written as SVG into the folder ``figures`` of the document's `OutputFolder`.
    about : str
        Markdown: what the tables and figures show. A sentence that refers to each of them precedes
        them; there is none if none of them has a label.

    Returns
    -------
    Markdown

    Examples
    --------
    >>> print(show("One.", None, ["Two."]))
    One.
    <BLANKLINE>
    Two.
    """
    parts: list[str] = [pointer(*things, about=about).text] if about else []
    for thing in things:
        if isinstance(thing, (list, tuple)):
            parts.append(str(show(*thing)))
        elif isinstance(thing, (Table, Figure, Captioned, Markdown, str)):
            parts.append(_one(thing))
    return Markdown("\n\n".join(part for part in parts if part.strip()))


def pointer(*things: Showable | Sequence[Showable], about: str) -> Markdown:
    """A sentence that refers to every table and figure given, or nothing where none has a label.

    Examples
    --------
    >>> from judgestats.reporting.tables import Column, Table
    >>> t = Table(columns=(Column(key="a"),), rows=(), label="tbl-one")
    >>> pointer(t, "text", [t, None], about="the scores by condition").text
    '@tbl-one shows the scores by condition.'
    """
    labels = list(dict.fromkeys(_labels(things)))
    if not labels:
        return Markdown("")
    *most, last = [f"@{label}" for label in labels]
    named = f"{', '.join(most)} and {last}" if most else last
    return Markdown(f"{named} {'show' if most else 'shows'} {about}.")


def with_next(text: str) -> str:
    """Markdown that is not alone at the foot of a printed page."""
    before, after = "```{=typst}\n#block(sticky: true)[\n```", "```{=typst}\n]\n```"
    return f"{before}\n\n{text}\n\n{after}"


def _labels(things: Sequence[Showable | Sequence[Showable]]) -> Iterator[str]:
    for thing in things:
        if isinstance(thing, (list, tuple)):
            yield from _labels(thing)
        elif isinstance(thing, (Table, Captioned)) and thing.label:
            yield thing.label


def section(
    heading: str, *things: Showable | Sequence[Showable], intro: str = "", about: str = ""
) -> Markdown:
    """A heading, an introduction and what follows, or nothing if nothing follows.

    Parameters
    ----------
    heading : str
        Markdown, with its marks and label: ``## Checks {#sec-checks}``.
    things
        As for `show`.
    intro : str
        Markdown between the heading and the things.
    about : str
        What the tables and figures show, as for `show`.

    Returns
    -------
    Markdown

    Examples
    --------
    >>> section("# Empty", None, []).text
    ''
    >>> print(section("# Full", "One.", intro="Two."))
    # Full
    <BLANKLINE>
    Two.
    <BLANKLINE>
    One.
    """
    body = show(*things, about=about)
    return show(heading, intro, body) if body.text.strip() else Markdown("")


def _one(thing: Table | Figure | Captioned | Markdown | str) -> str:
    if isinstance(thing, Table):
        return thing.to_quarto()
    if isinstance(thing, Captioned):
        picture = _picture(thing.figure, thing.label)
        caption = escape_markdown(thing.caption)
        return f":::: {{#{thing.label}}}\n\n{picture}\n\n{caption}\n\n::::"
    if isinstance(thing, Figure):
        drawn = current_output().path("figures/1.svg").parent.glob("*.svg")
        return _picture(thing, f"figure-{len(list(drawn)) + 1}")
    return str(thing)


def _picture(figure: Figure, stem: str) -> str:
    sink = current_output()
    kinds = [kind for kind in ("svg", "png") if kind in sink.pictures]
    paths = {sink.path(f"figures/{stem}.{kind}"): 200 for kind in kinds}
    if "summary" in sink.pictures and stem == "fig-answer":
        paths[sink.path("figures/summary.png")] = 110
    figure.save_all(list(paths), dpi=list(paths.values()))
    words = " ".join(clean(figure.alt).split())
    words = words.replace("\\", "").replace('"', "'").replace("{", "(").replace("}", ")")
    small = getattr(figure, "narrow", None)
    narrow = ""
    if isinstance(small, Figure):
        small.save(sink.path(f"figures/{stem}-narrow.svg"))
        narrow = f' narrow="figures/{stem}-narrow.svg"'
    return f'![](figures/{stem}.svg){{fig-alt="{words}"{narrow}}}'
