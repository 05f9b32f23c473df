"""Untrusted text stays text: fuzzed against the real readers of each format."""

from __future__ import annotations

import json
import os
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from judgestats.reporting import (
    clean,
    escape_html,
    escape_markdown,
    escape_typst,
    pandoc,
    shorten,
    verbatim,
)
from judgestats.reporting import pandoc as typst

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

NASTY = [
    "<script>alert(1)</script>",
    "</code></pre><img src=http://evil.example/x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "![x](http://evil.example/p.png)",
    "[a](javascript:alert(1))",
    "@fig-a [@cohen1960] [^1]",
    "$x$ $$y$$ \\(z\\)",
    "`{python} 1/0` `{=html}<b>`",
    "```{=html}\n<script>\n```",
    "{{< include /etc/passwd >}}",
    "::: {.callout-note}\n:::",
    "# heading\n- list\n1. one\n> quote\n    code",
    "| a | b |\n|---|---|",
    '#read("/etc/passwd") #image("x.png") ]#box[',
    '"; #panic("x"); "',
    "\\u{41} \\# \\\\ \\",
    "*b* _i_ ~~s~~ ^up^ ==m== a--b ... 'q'",
    "\\input{/etc/passwd} % comment $x$ ^^41 ~ & # _ {",
    "a\u202eb\u2066c\x00d\ud800e\ufdd0f",
    "x" * 500,
    "",
    "   \n\t\n  ",
    "&lt;b&gt; &#60; &amp;",
    "www.example.com http://example.com mailto:a@b.c <http://a.b>",
    "﷽ 你好 🙂‍↔️ e\u0301",
    "---\ntitle: x\n---",
    ": definition\n~ other",
    "[x]: http://evil.example",
    "\\begin{document} \\(a\\)",
    "//comment /* block */ // typst",
    "<lab> @ref = x\n+ item\n/ term: d",
]

text = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=60),
    st.lists(st.sampled_from(list("<>&\"'`{}[]()#$%^_~*\\|:;!?@=+-/.1a \n\t")), max_size=30).map(
        "".join
    ),
    st.tuples(st.sampled_from(NASTY), st.text(max_size=8), st.sampled_from(NASTY)).map("".join),
)


class Recorder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.data: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.data.append(data)

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", []))


@pytest.mark.fuzz
@settings(max_examples=100 * FUZZ, deadline=None)
@given(text)
def test_html_is_text_only(value: str) -> None:
    reader = Recorder()
    reader.feed(f'<p title="{escape_html(value)}">{escape_html(value)}</p>')
    reader.close()
    assert reader.tags == [("p", [("title", clean(value))])]
    assert "".join(reader.data) == clean(value)
    assert "{" not in escape_html(value)


@pytest.mark.fuzz
@settings(max_examples=33 * FUZZ, deadline=None)
@given(text)
def test_clean_is_idempotent_and_has_no_hidden_marks(value: str) -> None:
    once = clean(value)
    assert clean(once) == once
    once.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", once)
    assert len(shorten(value, limit=20)) <= 20


def read_markdown(source: str, tmp_path: Path) -> list[dict[str, object]]:
    done = subprocess.run(
        [pandoc.find_pandoc(), "--from=markdown", "--to=json"],
        input=source.encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)["blocks"]


@pytest.mark.fuzz
@settings(
    max_examples=5 * FUZZ,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(values=NASTY)
@given(values=st.lists(text, min_size=5, max_size=25))
def test_markdown_is_text_only(values: list[str], tmp_path: Path) -> None:
    """Pandoc reads each escaped text as a paragraph of words and nothing else."""
    source = "\n\n".join(f"A{escape_markdown(v)}" for v in values)
    source += "\n\n" + "\n\n".join(f"{escape_markdown(v) or 'x'}" for v in values)
    blocks = read_markdown(source, tmp_path)
    assert len(blocks) == 2 * len(values)
    for block in blocks:
        assert block["t"] == "Para"
        assert {part["t"] for part in block["c"]} <= {"Str", "Space"}  # type: ignore[attr-defined]
    said = ["".join(p.get("c", " ") for p in b["c"]) for b in blocks[: len(values)]]  # type: ignore[attr-defined]
    wanted = ["A" + " ".join(clean(v).split()) for v in values]
    assert [re.sub(r"\s+", " ", s) for s in said] == [re.sub(r"\s+", " ", w) for w in wanted]


@pytest.mark.fuzz
@settings(
    max_examples=5 * FUZZ,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(values=NASTY)
@given(values=st.lists(text, min_size=5, max_size=25))
def test_typst_is_text_only(values: list[str], tmp_path: Path) -> None:
    """Typst itself checks that each piece is nothing but text and line breaks."""
    check = """
#let plain(body) = {
  let f = repr(body.func())
  if f == "sequence" { body.children.all(plain) }
  else { f in ("text", "space", "linebreak", "symbol") }
}
#let check(body, n) = { if not plain(body) { panic("more than text: " + str(n) + repr(body)) } }
"""
    pieces = "\n".join(f"#check([A{escape_typst(v)}.len() B], {i})" for i, v in enumerate(values))
    typst.compile_pdf(check + pieces, work_dir=tmp_path, output=tmp_path / "o.pdf", epoch=0)


def test_the_typst_check_can_fail(tmp_path: Path) -> None:
    from judgestats.errors import RenderError

    source = '#let f(body) = repr(body.func())\n#if f([*b*]) == "strong" { panic("more") }'
    with pytest.raises(RenderError, match="more"):
        typst.compile_pdf(source, work_dir=tmp_path, output=tmp_path / "o.pdf", epoch=0)


@pytest.mark.fuzz
@settings(
    max_examples=5 * FUZZ,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@example(values=NASTY)
@given(values=st.lists(text, min_size=5, max_size=20))
def test_verbatim_blocks_keep_the_text(values: list[str], tmp_path: Path) -> None:
    source = "\n\n".join(verbatim(v) for v in values)
    assert "{{" not in re.sub(r"(?m)^ {4}.*$", "", source)
    page = pandoc.to_html(source, header={}, work_dir=tmp_path)
    body = page.split("<main>")[1].split("</main>")[0]
    reader = Recorder()
    reader.feed(body)
    reader.close()
    assert {tag for tag, _ in reader.tags} == {"pre", "code"}
    assert len(reader.tags) == 2 * len(values)
    source = pandoc.to_typst(source, header={}, work_dir=tmp_path)
    typst.compile_pdf(source, work_dir=tmp_path, output=tmp_path / "o.pdf", epoch=0)
