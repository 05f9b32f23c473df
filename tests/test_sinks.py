"""The 16 hostile names through every sink: what reads the format finds text, and nothing else."""

import csv
import io
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from judgestats.errors import printable
from judgestats.reporting import pandoc
from judgestats.sinks import (
    csv_text,
    escape_cell,
    escape_html,
    escape_markdown,
    escape_note,
    escape_typst,
    rows_text,
    shorten,
)

NAMES = [
    "![x](http://127.0.0.1:9/t.png)", "[x](javascript:alert(1))", "<script>x</script>",
    "<img src=x onerror=alert(1)>", "a|b\n| c |", "`{python} 1`", "{{< include /etc/hostname >}}",
    '#read("/etc/hostname")', "\\input{/etc/hostname}", "=1+1", "@SUM(1)", "\u202egnp.exe",
    "\x1b[31mred", "\x9b2J", "a\rUSE b", "::: {.x}",
]  # fmt: skip
FURTHER = [
    "-1+1",
    "\t=1",
    "  =1",
    "－1",
    "x\u2066y",
    "\ud800",
    "www.evil.example",
    "&lt;b&gt;",
]
ALL = [*NAMES, *FURTHER]


class Elements(HTMLParser):
    """What a browser would make of a text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)

    def handle_comment(self, data):
        self.found.append("comment")


def elements(html: str) -> list[str]:
    reader = Elements()
    reader.feed(html)
    reader.close()
    return reader.found


@pytest.mark.parametrize("name", ALL)
def test_html_holds_no_element_of_a_name(name):
    made = escape_html(name)
    assert elements(f'<p title="{made}">{made}</p>') == ["p"]


def tokens(source: str) -> set[str]:
    """Kinds of what a reader of CommonMark, tables and links with it, finds."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    flat = reader.parse(source)
    return {t.type for token in flat for t in [token, *(token.children or [])]}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("before", ["", "- ", "**Use** "])
def test_a_note_holds_no_link_image_element_or_mention_of_a_name(name, before):
    made = escape_note(name)
    kinds = tokens(before + made)
    assert not kinds & {
        "link_open", "image", "html_inline", "html_block", "code_inline", "fence", "hr",
        "heading_open", "table_open", "em_open", "strong_open" if before != "**Use** " else "",
        "ordered_list_open", "blockquote_open", "softbreak",
        "bullet_list_open" if not before else "",
    }  # fmt: skip
    assert not re.search(r"@(?!\u200d)", made)
    assert "://" not in made
    assert "\n" not in made


def test_a_row_of_a_table_in_a_note_keeps_its_cells():
    row = " | ".join(map(escape_note, NAMES))
    source = f"|{'a|' * 16}\n|{'---|' * 16}\n| {row} |"
    from markdown_it import MarkdownIt

    flat = MarkdownIt("commonmark").enable("table").parse(source)
    assert sum(t.type == "td_open" for t in flat) == 16


def test_markdown_of_a_report_holds_paragraphs_of_names_only(tmp_path):
    import json

    from judgestats.deadlines import run_program

    source = "\n\n".join(map(escape_markdown, NAMES))
    argv = [pandoc.find_pandoc(), "--from=markdown", "--to=json"]
    blocks = json.loads(run_program(argv, 60, "pandoc", given=source.encode()).stdout)["blocks"]
    assert [b["t"] for b in blocks] == ["Para"] * 16
    assert {i["t"] for b in blocks for i in b["c"]} <= {"Str", "Space", "SoftBreak"}


@pytest.mark.parametrize("name", ALL)
def test_typst_holds_strings_only(name):
    made = escape_typst(name)
    strings = re.sub(r'"(?:[^"\\]|\\.)*"', '""', made)
    assert set(strings.split(";")) <= {'#""', "#linebreak()", ""}


@pytest.mark.parametrize("name", ALL)
def test_no_cell_of_a_spreadsheet_is_a_formula(name):
    texts = [rows_text([[name, 1]])]
    if name != "\ud800":  # which no frame can hold
        texts.append(csv_text(pd.DataFrame({"judge": [name], name: [1]})))
    for text in texts:
        text.encode("utf-8")
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                assert not cell.strip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))
                assert not cell.startswith(("\t", "\r", "\n"))


def test_numbers_in_cells_stay_numbers():
    assert [escape_cell(v) for v in (-1.5, "-1.5", "+2e3", None, 3)] == [
        -1.5,
        "-1.5",
        "+2e3",
        None,
        3,
    ]
    assert escape_cell(" -1") == "' -1"


@pytest.mark.parametrize(
    ("text", "limits", "shown"),
    [
        ("x" * 80, {}, "x" * 80),
        ("x" * 81, {}, "x" * 79 + "…"),
        ("abcd", {"limit": 4}, "abcd"),
        ("abcde", {"limit": 4}, "abc…"),
    ],
)
def test_a_text_is_cut_at_its_limit_and_never_before(text, limits, shown):
    assert shorten(text, **limits) == shown


@pytest.mark.parametrize(
    ("letters", "pieces"),
    [(23, [23]), (24, [12, 12]), (25, [12, 12, 1]), (36, [12, 12, 12])],
)
def test_a_long_word_breaks_after_each_twelve_letters(letters, pieces):
    line = escape_typst("ab " + "w" * letters)
    assert line == '#"ab ' + "\u200b".join("w" * n for n in pieces) + '";'


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1", "'=1"),
        ("\t1+x", "'\t1+x"),
        ("  @x", "'  @x"),
        ("\ufeff=1", "'\ufeff=1"),
        (" \u200b =1", "' \u200b =1"),
        (" ", " "),
        ("", ""),
        ("a=1", "a=1"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("-1.5 ", "'-1.5 "),
        ("-inf", "-inf"),
        (True, True),
    ],
)
def test_a_cell_is_marked_exactly_where_it_could_be_a_formula(value, cell):
    assert escape_cell(value) == cell
    assert next(csv.reader(io.StringIO(rows_text([[value, "-"]]), newline="")), []) == [
        str(cell),
        "'-",
    ]


def test_a_frame_for_a_spreadsheet_has_no_index_and_keeps_its_numbers():
    frame = pd.DataFrame({"=n": [-1, 2], "judge": ["-a", "b"]}, index=[7, 8])
    assert csv_text(frame) == "'=n,judge\n-1,'-a\n2,b\n"


@pytest.mark.parametrize("name", ALL)
def test_a_terminal_gets_no_control_character_of_a_name(name):
    shown = printable(name, one_line=True)
    assert not re.search(
        "[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]", shown
    )


def test_a_figure_shows_a_name_as_text():
    from matplotlib.figure import Figure

    from judgestats.reporting.plots.base import theme

    with theme():
        figure = Figure()
        figure.text(0.1, 0.5, "<script>x</script> $\\frac{1}$")
        out = io.StringIO()
        figure.savefig(out, format="svg")
    assert "<script" not in out.getvalue()
