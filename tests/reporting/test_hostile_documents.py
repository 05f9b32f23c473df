"""Hostile text in every place of a document: nothing runs, loads or breaks a table anywhere."""

# ruff: noqa: E501

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.reporting.pages import render

HOSTILE = (
    "<script>alert(1)</script>", "</td></tr></table><img src=http://evil.example/x onerror=a()>",
    "![x](http://evil.example/p.png) [a](javascript:alert(1))", "| a | b |\n|---|---|\n| c | d |",
    '#eval("1") #image("/etc/passwd") $x$ ]#box[', "\\input{/etc/passwd} \\write18{id} $x$ %",
    "</w:t></w:r><w:altChunk r:id='x'/>", "=HYPERLINK(\"http://evil.example\")", "{{< include x >}}",
    "a\u202eb\u2066c\x00d", "مرحبا بالعالم", "🙂 你好", "w" * 400, "@fig-a @cohen1960 [^1] `{python} 1/0`",
    ":::: {#tbl-x}\n::::", "```{=html}\n<script>\n```", "# heading\n- item", "",
)  # fmt: skip

DOCUMENT = """---
title: T
number-sections: true
toc: true
execute: {echo: false}
---

```{python}
#| tags: [parameters]
texts = "[]"
```

```{python}
import json
from judgestats.reporting import Captioned, Column, Markdown, Table, plots, show
from judgestats.reporting import escape_markdown, verbatim
hostile = json.loads(texts)
columns = (Column(key="a", label=hostile[0]), Column(key="b", label=hostile[3]), Column(key="n", format="number:2"))
rows = tuple({"a": t, "b": hostile[-1 - i], "n": i / 3, "g": hostile[i // 3]} for i, t in enumerate(hostile))
table = Table(columns=columns, rows=rows, caption=" ".join(hostile), note=hostile[5], label="tbl-hostile", group="g")
long = Table(columns=columns, rows=rows * 20, caption="long", label="tbl-long")
forest = Captioned(
    figure=plots.Forest(rows=tuple(plots.EffectRow(label=t, estimate=0.5, low=0.4, high=0.6) for t in hostile[:6])),
    label="fig-hostile", caption=" ".join(hostile[:6]),
)
heads = [Markdown(f"# {escape_markdown(t) or 'empty'}\\n\\n{escape_markdown(t)}\\n\\n- **{escape_markdown(t)}.** x") for t in hostile]
show(*heads, *[Markdown(verbatim(t)) for t in hostile], table, forest, long)
```

See @tbl-hostile and @fig-hostile.
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "hostile.qmd").write_text(DOCUMENT, encoding="utf-8")
    return render(
        folder / "hostile.qmd", to=("html", "pdf", "docx", "tex", "md"),
        params={"texts": json.dumps(HOSTILE)}, out_dir=folder / "out", renderer="builtin",
        metadata={"title": "T"},
    )  # fmt: skip


class Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.cells: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.cells.append(0)
        if tag in {"td", "th"}:
            self.cells[-1] += int(dict(attrs).get("colspan") or 1)


def test_html_runs_and_loads_nothing(made: dict[str, Path]) -> None:
    reader = Tables()
    reader.feed(made["html"].read_text(encoding="utf-8"))
    tags = {tag for tag, _ in reader.tags}
    assert not tags & {"script", "iframe", "object", "embed", "link", "base", "form", "svg"}
    for tag, attributes in reader.tags:
        assert not any(name.startswith("on") for name in attributes), tag
        assert (attributes.get("src") or "data:image/svg").startswith("data:image/svg")
        assert (attributes.get("href") or "#").startswith("#")
    assert set(reader.cells) == {3}
    assert len(reader.cells) >= 21 * len(HOSTILE)


def test_word_holds_text_only(made: dict[str, Path]) -> None:
    with zipfile.ZipFile(made["docx"]) as archive:
        names = archive.namelist()
        for name in names:
            if name.endswith((".xml", ".rels")):
                ET.fromstring(archive.read(name))  # parses: nothing broke out of its element
        document = archive.read("word/document.xml").decode()
        links = "".join(archive.read(n).decode() for n in names if n.endswith(".rels"))
    assert "altChunk" not in re.sub(r"&lt;.*?&gt;", "", document)
    assert 'TargetMode="External"' not in links
    fields = re.findall(r"<w:instrText[^>]*>([^<]*)", document)
    assert all(f.strip().startswith("TOC ") for f in fields)
    space = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    for table in ET.fromstring(document).iter(f"{space}tbl"):
        widths = []
        for row in table.iter(f"{space}tr"):
            spans = [span.get(f"{space}val") for span in row.iter(f"{space}gridSpan")]
            cells = len(list(row.iter(f"{space}tc")))
            widths.append(cells + sum(int(str(s)) - 1 for s in spans))
        assert set(widths) == {3}


def test_latex_and_markdown_hold_no_command_of_the_text(made: dict[str, Path]) -> None:
    tex = made["tex"].read_text(encoding="utf-8")
    body = tex.split("\\begin{document}", maxsplit=1)[1]
    # inside verbatim blocks commands are text
    body = re.sub(r"\\begin\{verbatim\}.*?\\end\{verbatim\}", "", body, flags=re.DOTALL)
    for command in ("input", "include", "write18", "immediate", "href", "url", "openin"):
        assert f"\\{command}{{" not in body, command
    assert "{hostile_files/fig-hostile" in body
    text = made["md"].read_text(encoding="utf-8")
    text = re.sub(r"(?ms)^ *```.*?^ *```|^ {4}.*?$", "", text)
    assert not re.search(r"(?<!\\)<(?:script|img(?! src=.hostile_files)|w:)", text)
    text = re.sub(r'<img src="hostile_files[^>]*>', "", text)  # its description is an attribute
    assert not re.search(r"(?<!\\)\]\((?:http|javascript)", text)


@pytest.mark.pdf
def test_pdf_has_the_text_and_no_action(made: dict[str, Path]) -> None:
    data = made["pdf"].read_bytes()
    for name in (b"/URI", b"/JavaScript", b"/Launch", b"/EmbeddedFile", b"/OpenAction"):
        assert name not in data, name
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (apt-get install poppler-utils)")
    done = subprocess.run(
        ["pdftotext", "-layout", str(made["pdf"]), "-"], capture_output=True, check=True
    )
    text = re.sub(r"\s+", " ", done.stdout.decode())
    assert "<script>alert(1)</script>" in text
    assert '#eval("1")' in text
    assert "\u202e" not in text
