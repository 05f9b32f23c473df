"""Make untrusted text harmless in HTML, typst and Markdown.

Questions, answers and explanations come from files and models. Whatever they hold, a report shows
it as the characters it consists of: it cannot run, load, format or break anything. Two rules make
that simple: text is first cleaned of characters that have no business in a document, and each
format has one function that leaves no active character of that format. Braces and backticks are
written as character references too, so that Quarto's shortcodes and fences cannot begin inside.
"""

from __future__ import annotations

import os
import re
import unicodedata

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
_LONG_WORD = 24
_PAGE_WIDTH = 80


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


def escape_html(text: object) -> str:
    """Text for HTML content or a quoted attribute.

    Examples
    --------
    >>> escape_html("<script>alert('x')</script>")
    '&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;'
    """
    return "".join(_HTML.get(c, c) for c in clean(text))


def _quoted(text: str) -> str:
    """A typst string literal of text that is clean already."""
    out = text.replace("\\", "\\\\").replace('"', '\\"')
    out = out.replace("\n", "\\n").replace("\t", "\\t").replace("`", "\\u{60}")
    return '"' + out.replace("{{", "\\u{7b}\\u{7b}") + '"'


def escape_typst(text: object) -> str:
    """Text for typst markup: string values, which typst never reads as markup.

    Long runs without a space may break anywhere; newlines become line breaks.

    Examples
    --------
    >>> print(escape_typst("#read *x*"))
    #"#read *x*";
    """
    lines = clean(text).split("\n")
    return "#linebreak();".join(f"#{_quoted(_breakable(line))};" for line in lines)


def escape_markdown(text: object) -> str:
    r"""Text for a Markdown paragraph, heading or table cell, on one line.

    Every ASCII sign is written with a backslash before it, so none can begin a citation, a
    reference, mathematics, raw HTML, a shortcode, a list or a table.

    Examples
    --------
    >>> print(escape_markdown("*a* <b>\n# c @fig-d"))
    \*a\* \<b\> \# c \@fig\-d
    """
    return _MARKUP.sub(r"\\\1", " ".join(clean(text).split()))


def verbatim(text: object, *, language: str = "") -> str:
    """Untrusted text of several lines as Markdown that shows it as it stands, in every format.

    Parameters
    ----------
    text : object
        The text.
    language : str
        A name shown to readers of the page's source; letters only.

    Returns
    -------
    str
        Raw blocks for HTML and typst, and `fallback` for other formats.
    """
    plain = clean(text).strip("\n") or " "
    name = re.sub(r"[^a-z]", "", language.lower())
    html = f'<pre class="wrapped" data-kind="{name}"><code>{escape_html(plain)}</code></pre>'
    # what is copied from the page must hold no sign that was not there: as few breaks as will do
    lines = "\n".join(_breakable(line, longest=_PAGE_WIDTH) for line in plain.split("\n"))
    typst = f"#raw(block: true, {_quoted(lines)})"
    indented = "\n".join(f"    {line}" for line in plain.expandtabs(4).split("\n"))
    return f"```{{=html}}\n{html}\n```\n\n```{{=typst}}\n{typst}\n```\n\n" + fallback(indented)


def fallback(markdown: str) -> str:
    """Markdown for Word, LaTeX and Markdown, where HTML and typst have raw blocks of their own.

    Only the built-in renderer writes those formats and runs the cells once for all of them; under
    Quarto, and elsewhere, there is no fallback.
    """
    if os.environ.get("JUDGESTATS_RENDERER") != "builtin":
        return ""
    return f"::::: {{.js-fallback}}\n\n{markdown}\n\n:::::\n"


def _breakable(line: str, *, longest: int = _LONG_WORD) -> str:
    """Let runs without a space longer than a line break (zero-width spaces)."""

    def split(match: re.Match[str]) -> str:
        run = match.group(0)
        step = longest // 2
        return "\u200b".join(run[i : i + step] for i in range(0, len(run), step))

    return re.sub(rf"\S{{{longest},}}", split, line)
