"""Sheets of Excel workbooks, read as a stream of XML; formulas are not run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, time, timedelta
from pathlib import Path, PurePosixPath
from typing import Any
from xml.parsers import expat

from judgestats.errors import InputError
from judgestats.files import guarded
from judgestats.files.text import DEEPEST, clean

_EMPTY = 10_000
"""Empty rows in sequence that end a sheet."""
_READ = 1 << 16
_LONGEST_TAG = 1 << 20
_PLACE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_ASIDE = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
"""What a number format writes as it stands."""
_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
"""Numbers of built-in formats of dates and times."""
_DAY_0 = datetime(1899, 12, 30)
_DAYS_TO_1904 = 1462

_SHEET = guarded.Limits(rows=1 << 20)
"""A sheet of Excel has no more rows."""

Handler = Callable[[str, Mapping[str, str]], None]


def workbook_sheets(path: Path, sheet: str = "") -> dict[str, list[Any]]:
    """The rows of each sheet that holds something, values as they were last calculated.

    Parameters
    ----------
    path : Path
    sheet : str
        Read this one only, where it is there.

    Returns
    -------
    dict of str to list of list

    Raises
    ------
    InputError
        No workbook, a document type definition, or too large.
    """
    with guarded.archive(path, _SHEET) as packed:
        book = next((n for n in packed.names if re.fullmatch(r"xl/workbook\w*\.xml", n)), "")
        if not book:
            raise guarded.NoTableError(
                f"{path} is a zip archive, and no workbook. Unpack it, and name the file."
            )
        reader = _Book(packed, book)
        chosen = {n: m for n, m in reader.sheets.items() if not sheet or n == sheet}
        found = {name: reader.rows(member) for name, member in (chosen or reader.sheets).items()}
    return {name: rows for name, rows in found.items() if rows}


class _Book:
    """A workbook's shared texts and formats, and where its sheets are."""

    def __init__(self, packed: guarded.Archive, book: str) -> None:
        self.packed = packed
        self.meter = guarded.Meter(packed.path, "XLSX", _SHEET)
        self.base = 0
        self.texts: list[str] = []
        self.dates: list[bool] = []
        self._formats: dict[str, str] = {}
        names: dict[str, str] = {}
        targets: dict[str, str] = {}

        def sheets(tag: str, of: Mapping[str, str]) -> None:
            if tag == "sheet":
                names[of.get("name", "")] = next(
                    (v for k, v in of.items() if k.rpartition(" ")[2] == "id"), ""
                )
            elif tag == "workbookPr" and of.get("date1904") in {"1", "true"}:
                self.base = _DAYS_TO_1904

        def links(tag: str, of: Mapping[str, str]) -> None:
            if tag == "Relationship" and of.get("Type", "").endswith("/worksheet"):
                target = PurePosixPath("/xl", of.get("Target", ""))
                targets[of.get("Id", "")] = str(target).removeprefix("/")

        self._walk(book, sheets)
        self._walk(f"xl/_rels/{PurePosixPath(book).name}.rels", links)
        self._read_texts()
        self._walk("xl/styles.xml", self._style())
        self.sheets = {clean(n): targets[i] for n, i in names.items() if i in targets}

    def _walk(self, member: str, start: Handler) -> None:
        """Hand the start of each element of a part to a function."""
        if member in self.packed:
            for _ in self.parsed(member, start, lambda _: None, lambda _: None):
                pass

    def parsed(
        self, member: str, start: Handler, end: Callable[[str], None], text: Callable[[str], None]
    ) -> Iterator[None]:
        """Parse a part piece by piece.

        Raises
        ------
        InputError
            It is not XML, holds a document type definition, or is nested too deeply.
        """
        path, name = self.packed.path, PurePosixPath(member).name
        most = self.meter.limits.cell_bytes
        depth = length = 0

        def opened(tag: str, of: dict[str, str]) -> None:
            nonlocal depth, length
            depth, length = depth + 1, 0
            if depth > DEEPEST:
                raise InputError(f"{path}: {name} is nested too deeply.")
            start(tag.rpartition(" ")[2], of)

        def closed(tag: str) -> None:
            nonlocal depth
            depth -= 1
            end(tag.rpartition(" ")[2])

        def counted(data: str) -> None:
            nonlocal length
            length += len(data)
            if length > most:
                raise InputError(
                    f"{path}: {name} holds a cell longer than {guarded.size_text(most)}."
                )
            text(data)

        def refuse(*_: object) -> None:
            raise InputError(f"{path}: {name} holds a document type definition, which is not read.")

        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = opened, closed
        parser.CharacterDataHandler = counted
        parser.StartDoctypeDeclHandler = refuse
        if member not in self.packed:
            raise InputError(f"{path}: not readable as XLSX (it lacks {name}).")
        with self.packed.stream(member) as stream, guarded.foreign(path, f"XLSX ({name})"):
            read = 0
            while raw := stream.read(_READ):
                parser.Parse(raw)
                read += len(raw)
                if read - parser.CurrentByteIndex > _LONGEST_TAG:  # parsed again with each piece
                    raise InputError(f"{path}: {name} holds a tag that is too long.")
                self.meter.clock()
                yield
            parser.Parse(b"", True)

    def _read_texts(self) -> None:
        member = "xl/sharedStrings.xml"
        parts: list[str] = []
        inside: list[str] = []

        def end(tag: str) -> None:
            inside.pop()
            if tag == "si":
                self.texts.append(clean("".join(parts)))
                parts.clear()

        def text(data: str) -> None:
            if inside[-1] == "t" and "rPh" not in inside:  # how a word is pronounced
                parts.append(data)

        if member in self.packed:
            for _ in self.parsed(member, lambda tag, _: inside.append(tag), end, text):
                pass

    def _style(self) -> Handler:
        """Which styles of cells write dates."""
        inside = ""

        def start(tag: str, of: Mapping[str, str]) -> None:
            nonlocal inside
            inside = tag if tag.endswith("Xfs") or tag == "cellStyles" else inside
            if tag == "numFmt":
                self._formats[of.get("numFmtId", "")] = of.get("formatCode", "")
            elif tag == "xf" and inside == "cellXfs":
                number = of.get("numFmtId", "0")
                form = _ASIDE.sub("", self._formats.get(number, "").partition(";")[0]).lower()
                built_in = number.isdecimal() and int(number) in _DATES
                self.dates.append(built_in or any(letter in form for letter in "dmyhs"))

        return start

    def rows(self, member: str) -> list[list[Any]]:
        """The rows of a sheet that are not empty; the stated size is ignored."""
        sheet = _Sheet(self)
        for _ in self.parsed(member, sheet.start, sheet.end, sheet.text):
            if sheet.ended:
                break
        return sheet.rows

    def value(self, kind: str, style: str, text: str) -> Any:
        """A cell's value by its type."""
        if kind == "s":
            shared = self.texts[int(text)]
            self.meter.expand(len(shared))
            return shared
        if kind in {"str", "inlineStr", "e"}:
            return clean(text)
        if kind == "b":
            return text.strip() not in {"0", "false"}
        if kind == "d":
            return datetime.fromisoformat(text)
        value = int(text) if text.strip().lstrip("+-").isdecimal() else float(text)
        place = int(style) if style.isdecimal() else -1
        if 0 <= place < len(self.dates) and self.dates[place]:
            return self._moment(value)
        return value

    def _moment(self, days: float) -> datetime | time | None:
        try:
            exact = timedelta(milliseconds=round(days * 86_400_000))
            if 0 <= days < 1:
                return (datetime.min + exact).time()
            # the first days of 1900 are one off: a leap day that was none
            return _DAY_0 + exact + timedelta(days=self.base + (not self.base and 1 <= days < 60))
        except (OverflowError, ValueError):
            return None


class _Sheet:
    """The state between two elements of a sheet."""

    def __init__(self, book: _Book) -> None:
        self.rows: list[list[Any]] = []
        self.ended = False
        self._book = book
        self._row: list[Any] = []
        self._number = self._last = self._width = 0
        self._column = -1
        self._of: Mapping[str, str] = {}
        self._text: list[str] = []
        self._inside = ""

    def start(self, tag: str, of: Mapping[str, str]) -> None:
        self._inside = tag
        if tag == "row":
            number = of.get("r", "")
            self._number = int(number) if number.isdecimal() else self._number + 1
            self._row, self._column = [], -1
        elif tag == "c":
            self._of, self._text = of, []
            place = _PLACE.fullmatch(of.get("r", ""))
            self._column = _column(place[1]) if place else self._column + 1

    def text(self, data: str) -> None:
        if self._inside in {"v", "t"}:
            self._text.append(data)

    def end(self, tag: str) -> None:
        self._inside = ""
        if tag == "c":
            self._width = max(self._width, self._column + 1)
            self._book.meter.cells(max(self._number, 1) * self._width)
            kept = not self.rows or self._column < len(self.rows[0])
            if self._text and not kept and len(self.rows[0]) == 1:
                raise InputError(
                    f"{self._book.meter.path}: the first row has 1 cell, row {self._number} has "
                    "more. Delete the rows above the header."
                )
            if self._text and kept and not self.ended:
                kind = self._of.get("t", "n")
                value = self._book.value(kind, self._of.get("s", ""), "".join(self._text))
                self._row += [None] * (self._column + 1 - len(self._row))
                self._row[self._column] = value
        elif tag == "row" and self._row:
            self.ended = self.ended or self._number - self._last > _EMPTY
            if not self.ended:
                if not self.rows:
                    self._book.meter.columns(len(self._row))
                self.rows.append(self._row)
                self._last = self._number
            if (last := max(len(self.rows), self._number)) > self._book.meter.limits.rows:
                self._book.meter.rows(last)


def _column(letters: str) -> int:
    """The place of a column by its letters.

    Examples
    --------
    >>> _column("A"), _column("AA"), _column("XFD")
    (0, 26, 16383)
    """
    place = 0
    for letter in letters:
        place = place * 26 + ord(letter) - 64
    return place - 1
