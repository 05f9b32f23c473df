"""An escape for every sink: text that others wrote, made fit for each format it is shown in.

Names of judges, items, columns, files, and conditions reach a format through its function here, and
what it returns has its own type.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgestats.errors import guard_output, printable
from judgestats.files.text import clean as clean_text

if TYPE_CHECKING:
    import pandas as pd


class Html(str):
    """Text for HTML content or a quoted attribute."""


class Markdown(str):
    """Text for Markdown as Pandoc reads it."""


class Typst(str):
    """Text for typst markup."""


class Note(str):
    """Text for a note of MLflow or a comment on GitHub."""


# Control characters except tab and newline, marks that reorder or hide text, and code points which
# are no characters at all.
_NO_TEXT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufdd0-\ufdef\ufeff\ufff0-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_INVISIBLE = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u2060\ufeff]")
_MARKUP = re.compile(r"""([!-/:-@\[-`{-~])""")
_HTML = {
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;",
    "{": "&#123;", "}": "&#125;",
}  # fmt: skip
LONG_WORD = 24


def clean(text: object) -> str:
    r"""Text without control characters, hidden marks or lone surrogates; line ends as ``\n``.

    Examples
    --------
    >>> clean("a\r\nb\x00c\u202ed")
    'a\nb�c�d'
    """
    plain = str(text).replace("\r\n", "\n").replace("\r", "\n").replace("\x0b", "\n")
    plain = plain.replace("\u2028", "\n").replace("\u2029", "\n").replace("\x0c", "\n")
    plain = _INVISIBLE.sub("", plain)
    return unicodedata.normalize("NFC", _NO_TEXT.sub("\ufffd", plain))


def shorten(text: object, *, limit: int = 80) -> str:
    """One line of at most `limit` characters, cut with an ellipsis.

    Examples
    --------
    >>> shorten("one two  three", limit=9)
    'one two …'
    """
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def escape_html(text: object) -> Html:
    """Text for HTML content or a quoted attribute.

    Examples
    --------
    >>> escape_html("<script>alert('x')</script>")
    '&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;'
    """
    return Html("".join(_HTML.get(c, c) for c in clean(text)))


def typst_string(text: str) -> str:
    """A typst string literal of text that is clean already."""
    out = text.replace("\\", "\\\\").replace('"', '\\"')
    out = out.replace("\n", "\\n").replace("\t", "\\t").replace("`", "\\u{60}")
    return '"' + out.replace("{{", "\\u{7b}\\u{7b}") + '"'


def escape_typst(text: object) -> Typst:
    """Text for typst markup: string values, which typst never reads as markup.

    Long runs without a space may break anywhere; newlines become line breaks.

    Examples
    --------
    >>> print(escape_typst("#read *x*"))
    #"#read *x*";
    """
    lines = clean(text).split("\n")
    parts = (f"#{typst_string(breakable(line))};" for line in lines)
    return Typst("#linebreak();".join(parts))


def escape_markdown(text: object) -> Markdown:
    r"""Text for a Markdown paragraph, heading or table cell, on one line.

    Every ASCII sign has a backslash before it. So none begins a citation, a reference,
    mathematics, raw HTML, a shortcode, a list, or a table.

    Examples
    --------
    >>> print(escape_markdown("*a* <b>\n# c @fig-d"))
    \*a\* \<b\> \# c \@fig\-d
    """
    return Markdown(_MARKUP.sub(r"\\\1", " ".join(clean(text).split())))


def breakable(line: str, *, longest: int = LONG_WORD) -> str:
    """Let runs without a space longer than a line break (zero-width spaces)."""

    def insert_breaks(match: re.Match[str]) -> str:
        run = match.group(0)
        step = longest // 2
        return "\u200b".join(run[i : i + step] for i in range(0, len(run), step))

    return re.sub(rf"\S{{{longest},}}", insert_breaks, line)


_NOTE = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>&~])")


def escape_note(text: object) -> Note:
    """Text for a note of MLflow or a comment on GitHub: no link, image, cell, or mention arises.

    Examples
    --------
    >>> print(escape_note("![x](http://a.b) @me").replace(chr(0x200D), ""))
    \\!\\[x\\]\\(http://a\\.b\\) @me
    """
    line = _NOTE.sub(r"\\\1", printable(str(text), one_line=True))
    return Note(line.replace("@", "@\u200d").replace("://", ":\u200d//"))


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def escape_cell(value: Any) -> Any:
    """A cell of a table that people open in a spreadsheet: text is never run as a formula.

    Names of judges, items and verdicts were written by others. Files that are read again, such as
    labels and plans, keep their cells as they are.

    Examples
    --------
    >>> escape_cell("=1+1"), escape_cell(" @SUM(1)"), escape_cell("gpt-4o"), escape_cell(-1.5)
    ("'=1+1", "' @SUM(1)", 'gpt-4o', -1.5)
    >>> escape_cell("-1.5")
    '-1.5'
    """
    if not isinstance(value, str) or _is_number(value):
        return value
    value = clean_text(value).replace("\r\n", "\n").replace("\r", "\n")  # an end of a row to some
    seen = _INVISIBLE.sub("", value)  # a byte order mark at the start of a file is not read
    return f"'{value}" if seen.startswith(_FORMULA) or seen.strip()[:1] in _FORMULA else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()


def rows_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows for a spreadsheet as CSV, their texts as `escape_cell` has them; None is empty.

    Examples
    --------
    >>> rows_text([["judge", "n"], ["=1+1", None]])
    "judge,n\\n'=1+1,\\n"
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(escape_cell, row) for row in rows)
    return out.getvalue()


def csv_text(frame: pd.DataFrame) -> str:
    """A table for a spreadsheet as CSV, its names and texts as `escape_cell` has them.

    Examples
    --------
    >>> import pandas as pd
    >>> csv_text(pd.DataFrame({"judge": ["=1+1", "a"], "n": [1, 2]}))
    "judge,n\\n'=1+1,1\\na,2\\n"
    """
    safe = frame.rename(columns=escape_cell).map(escape_cell)
    text: str = safe.to_csv(index=False, lineterminator="\n")
    return text


def write_csv_file(path: Path, frame: pd.DataFrame) -> None:
    """Write a table for a spreadsheet, as `csv_text` has it.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    with guard_output(path):
        path.write_text(csv_text(frame), encoding="utf-8", newline="")
