"""The built-in renderer: what Quarto documents promise, in HTML and PDF."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from judgestats.errors import InputError, RenderError
from judgestats.reporting import pandoc, parse_document
from judgestats.reporting import pandoc as typst
from tests.reporting.pages import pdf_text, render

HEADER = "---\ntitle: T\nnumber-sections: true\nexecute: {echo: false}\n---\n"

RICH = """---
title: 'A *test*: "quotes" & more'
date: 2026-01-01
toc: true
number-sections: true
bibliography: refs.bib
execute: {echo: false, warning: false}
---

# First {#sec-first}

```{python}
#| tags: [parameters]
run = "none"
```

Value `{python} 6 * 7`, run `{python} run`; @fig-a, @tbl-b, @tbl-c, @eq-e, @sec-second, @sec-app and
[-@fig-a]. Cite @cohen1960 [and @cohen1960, p. 3]. Note.[^1] Not run: ``{python} 1/0``.

[^1]: The footnote.

```{python}
#| label: fig-a
#| fig-cap: "A *figure*."
#| fig-alt: "two points"
import matplotlib.pyplot as plt
plt.plot([1, 2], [3, 4]);
```

::: {#tbl-b}

| a | b |
|---|---|
| 1 | 2 |

Caption of b.
:::

| x | y |
|---|--:|
| 1 | 2 |

: Second table {#tbl-c}

$$ \\omega = \\frac{a}{b} $$ {#eq-e}

::: {.callout-warning}
## Careful
Body **text**.
:::

::: {.panel-tabset}
## One
inside one

## Two
inside two
:::

::: {.content-visible when-format="html"}
SEEN-IN-HTML
:::

::: {.content-visible when-format="typst"}
SEEN-IN-PDF
:::

::: {.content-hidden when-format="html"}
HIDDEN-IN-HTML
:::

```{=html}
<b>raw html</b>
```

# Second {#sec-second}

```{python}
#| echo: true
print("hello")
```

```{python}
#| output: asis
print("**asis**")
```

```{python}
#| eval: false
1 / 0
```

# References {.unnumbered}

::: {#refs}
:::

# Extra {#sec-app .appendix}

End.
"""

BIB = """@article{cohen1960, author={Cohen, Jacob}, title={A coefficient of agreement},
journal={EPM}, year={1960}, volume={20}, pages={37--46}}"""


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("rich")
    (folder / "rich.qmd").write_text(RICH)
    (folder / "refs.bib").write_text(BIB)
    return render(
        folder / "rich.qmd",
        to=("html", "pdf", "docx", "tex", "md"),
        params={"run": "a`b|<c>*"},
        out_dir=folder / "out",
        timestamp=datetime(2026, 1, 2, tzinfo=UTC),
        renderer="builtin",
    )


def test_html_has_what_was_written(rich: dict[str, Path]) -> None:
    page = rich["html"].read_text()
    for part in (
        "Value 42, run a`b|&lt;c&gt;*",
        '<a href="#fig-a" class="cross-reference">Figure\u00a01</a>',
        '<a href="#tbl-b" class="cross-reference">Table\u00a01</a>',
        '<a href="#tbl-c" class="cross-reference">Table\u00a02</a>',
        '<a href="#eq-e" class="cross-reference">Equation\u00a01</a>',
        '<a href="#sec-second" class="cross-reference">Section\u00a02</a>',
        '<a href="#sec-app" class="cross-reference">Appendix\u00a0A</a>',
        '<a href="#fig-a" class="cross-reference">1</a>',
        "Cohen (<a",
        "The footnote.",
        "<math",
        "callout-warning",
        "SEEN-IN-HTML",
        "<b>raw html</b>",
        "<strong>asis</strong>",
        "<code>{python} 1/0</code>",
        'alt="two points"',
        '<title>A test: "quotes" &amp; more</title>',
    ):
        assert part in page, part
    for part in ("SEEN-IN-PDF", "HIDDEN-IN-HTML", "<script", "ZeroDivision"):
        assert part not in page, part


def test_html_has_no_address_outside_itself(rich: dict[str, Path]) -> None:
    page = rich["html"].read_text()
    assert re.findall(r"(?:https?:)?//[\w.]+", re.sub(r"base64,[\w+/=]+", "", page)) == []
    sources = re.findall(r'(?:src|href|action|data)="([^"]*)"', page)
    assert sources
    assert all(s.startswith(("#", "data:image/svg+xml;base64,")) for s in sources)
    targets = {s[1:] for s in sources if s.startswith("#")}
    ids = set(re.findall(r'\bid="([^"]*)"', page))
    assert targets <= ids
    assert len(ids) == len(re.findall(r'\bid="([^"]*)"', page))  # no id twice


@pytest.mark.pdf
def test_pdf_has_what_was_written(rich: dict[str, Path]) -> None:
    text = re.sub(r"\s+", " ", pdf_text(rich["pdf"])).replace("1 / 2", "1/2")
    for part in (
        "Value 42, run a`b|<c>*",
        "Figure 1, Table 1, Table 2, Equation 1, Section 2, Appendix A",
        "Figure 1. A figure.",
        "Table 2. Second table",
        "SEEN-IN-PDF",
        "HIDDEN-IN-HTML",
        "The footnote.",
        "Careful",
        "inside two",
        "1/2",
    ):
        assert part in text, part
    assert "raw html" not in text
    assert "SEEN-IN-HTML" not in text


def test_same_bytes_again(rich: dict[str, Path], tmp_path: Path) -> None:
    source = rich["html"].parent.parent
    again = render(
        source / "rich.qmd",
        to=("html", "pdf", "docx"),
        params={"run": "a`b|<c>*"},
        out_dir=tmp_path,
        timestamp=datetime(2026, 1, 2, tzinfo=UTC),
        renderer="builtin",
    )
    for kind in ("html", "pdf", "docx"):
        assert again[kind].read_bytes() == rich[kind].read_bytes(), kind


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "text\n\n```{python}\n#| label: bad\nx = 1\n1 / 0\n```\n",
            "cell 'bad', line 11: ZeroDivisionError",
        ),
        ("```{python}\nimport nowhere_at_all\n```\n", "line 7: ModuleNotFoundError"),
        ("See `{python} undefined_name`.\n", "inline expression 'undefined_name': NameError"),
        ("See @fig-nothing.\n", "@fig-nothing refers to nothing"),
        ("```{python}\nx = 1\n", "never closed"),
        ("```{python}\n#| label: [\nx = 1\n```\n", "options are malformed"),
    ],
)
def test_what_fails_is_named_and_nothing_is_written(
    tmp_path: Path, body: str, message: str
) -> None:
    (tmp_path / "bad.qmd").write_text(HEADER + body)
    with pytest.raises(RenderError, match="(?s)" + re.escape(message)):
        render(tmp_path / "bad.qmd", out_dir=tmp_path / "out", renderer="builtin")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("![x](http://example.org/x.png)\n", "remote pictures are not loaded"),
        ("![x](//example.org/x.png)\n", "remote pictures are not loaded"),
        ("![x](gone.png)\n", "gone.png cannot be read"),
        ("![x](data:text/html,x)\n", "remote pictures are not loaded"),
        ("::: {#fig-a}\na\n\nb\n:::\n\n::: {#fig-a}\na\n\nb\n:::\n", "label fig-a is used twice"),
    ],
)
def test_what_the_filter_refuses(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(RenderError, match=re.escape(message)):
        pandoc.to_html(body, header={}, work_dir=tmp_path)


def test_bad_arguments(tmp_path: Path) -> None:
    (tmp_path / "d.qmd").write_text(HEADER + "```{python}\n#| tags: [parameters]\na = 1\n```\n")
    with pytest.raises(InputError, match="to must name formats"):
        render(tmp_path / "d.qmd", to=("pptx",))
    with pytest.raises(InputError, match="renderer must be"):
        render(tmp_path / "d.qmd", renderer="word")
    with pytest.raises(RenderError, match="no document"):
        render(tmp_path / "none.qmd")
    with pytest.raises(RenderError, match=r"unknown parameter 'b'; the document has: a"):
        render(tmp_path / "d.qmd", params={"b": 1}, renderer="builtin")


def test_typst_reads_no_file_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(RenderError, match="typst"):
        typst.compile_pdf('#read("../secret.txt")', work_dir=work, output=work / "o.pdf", epoch=0)
    monkeypatch.setattr(pandoc, "PROGRAM_SECONDS", 0.001)
    with pytest.raises(RenderError, match="took longer"):
        typst.compile_pdf("x", work_dir=work, output=work / "o.pdf", epoch=0)


@pytest.mark.pdf
def test_a_picture_longer_than_a_page_is_not_cut(tmp_path: Path) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (apt-get install poppler-utils)")
    (tmp_path / "tall.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="1600">'
        '<text x="20" y="30" font-size="24">topmost</text>'
        '<text x="20" y="1590" font-size="24">lowest</text></svg>'
    )
    source = tmp_path / "doc.qmd"
    source.write_text("---\ntitle: Tall\n---\n\n![The caption.](tall.svg){#fig-tall}\n")
    made = render(source, to=("pdf",), out_dir=tmp_path / "out", renderer="builtin")["pdf"]
    done = subprocess.run(["pdftotext", "-bbox", str(made), "-"], capture_output=True, check=True)
    text = done.stdout.decode()
    for page in text.split("<page ")[1:]:
        height = float(re.search(r'height="([\d.]+)"', page).group(1))
        ends = [float(y) for y in re.findall(r'yMax="([\d.-]+)"', page)]
        starts = [float(y) for y in re.findall(r'yMin="([\d.-]+)"', page)]
        assert min(starts) > 0
        assert max(ends) < height
    page = next(p for p in text.split("<page ") if "topmost" in p)
    for word in ("lowest", "caption"):
        assert word in page


def test_pandoc_has_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pandoc, "PROGRAM_SECONDS", 0.05)
    with pytest.raises(RenderError, match="pandoc took longer"):
        pandoc.to_html("x\n\n" * 100000, header={}, work_dir=tmp_path)


def test_parse_options_and_fences() -> None:
    text = (
        "a `{python} x` b\n\n````\n```{python}\nnot a cell\n```\n````\n\n"
        "```{python}\n#| label: tbl-x\n#| tbl-cap: >\n#|   long\n#|   caption\ny = 1\n```\n"
    )
    document = parse_document(text)
    kinds = [type(b).__name__ for b in document.blocks]
    assert kinds == ["Text", "Text", "Cell"]
    cell = document.blocks[2]
    assert cell.options["tbl-cap"].strip() == "long caption"
    assert cell.source == "y = 1"
    assert text.split("\n")[cell.line - 1] == "y = 1"
    assert json.dumps(document.blocks[1].expressions) == "[]"


def test_letters_of_any_script(tmp_path: Path) -> None:
    (tmp_path / "u.qmd").write_text("---\ntitle: x\n---\n\n\u4f60\u597d \u0645\u0631 \U0001f642\n")
    made = render(
        tmp_path / "u.qmd",
        out_dir=tmp_path,
        renderer="builtin",
        metadata={"title": "\U0001f642 \u4f60"},
    )
    assert "<title>\U0001f642 \u4f60</title>" in made["html"].read_text()
    assert made["pdf"].read_bytes().startswith(b"%PDF")
