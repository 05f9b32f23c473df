"""What is handed to Quarto renders there; where it does not, the built-in renderer serves."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

import judgestats.reporting
from judgestats.errors import RenderError
from judgestats.reporting import quarto_source, render_report
from tests.reporting.pages import render

REPORTS = Path(__file__).resolve().parents[2] / "reports"
STAND_IN = Path(__file__).with_name("quarto_stand_in.py")


@pytest.fixture
def quarto(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in on PATH."""
    program = tmp_path / "bin" / "quarto"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STAND_IN}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.delenv("JUDGESTATS_RENDERER", raising=False)
    return program


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """A small document among the files of the package's own ones."""
    folder = tmp_path / "documents"
    shutil.copytree(REPORTS, folder)
    path = folder / "small.qmd"
    path.write_text(
        "---\ntitle: old\n---\n\n```{python}\n#| tags: [parameters]\nrun = 1\n```\n\n"
        "# One {#sec-one}\n\nRun `{python} run`, as [Welch] says. See @sec-more and @tbl-a.\n\n"
        "```{python}\nfrom judgestats.reporting import show\n"
        "from judgestats.reporting.tables import Column, Table\n"
        'show(Table(columns=(Column(key="a"),), rows=({"a": "{{< env HOME >}}"},), '
        'caption="Cap", label="tbl-a"))\n```\n\n'
        "# More {#sec-more .appendix}\n\n## Within\n\nText.\n"
    )
    return path


def made_by_stand_in(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def test_one_execution_is_handed_over_as_text(
    quarto: Path, document: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = render(
        document, params={"run": 7}, metadata={"title": "New: [x]", "date": "2026-01-05 12:00 UTC"},
        out_dir=tmp_path / "out",
    )  # fmt: skip
    assert capsys.readouterr().err == ""
    page, pdf = made_by_stand_in(made["html"]), made_by_stand_in(made["pdf"])
    assert page["body"] == pdf["body"]
    assert page["header"]["title"] == "New: [x]"
    assert page["header"]["date"] == "2026-01-05 12:00 UTC"
    assert page["header"]["date-format"]
    assert "Run 7, as" in page["body"]
    assert "[Appendix A](#sec-more)" in page["body"]
    assert "# Appendix A. More {#sec-more .unnumbered}" in page["body"]
    assert "## Within {.unnumbered}" in page["body"]
    assert page["arguments"][:4] == ["render", "small.qmd", "--to", "html"]
    assert pdf["arguments"][3] == "typst"


def test_every_document_keeps_the_contract(quarto: Path, run_folder: Path, tmp_path: Path) -> None:
    made = render_report(run_folder, to=("html", "pdf"), out_dir=tmp_path, renderer="quarto")
    page = made_by_stand_in(made["html"])
    assert "Appendix A. " in page["body"]
    assert page["header"]["engine"] == "markdown"


def test_quarto_gets_the_narrow_figure_beside_the_wide_one() -> None:
    figure = '![](figures/a.svg){fig-alt="a {b}" narrow="figures/a-narrow.svg"}'
    text = quarto_source(f":::: {{#fig-a}}\n\n{figure}\n\nA.\n\n::::\n", {"title": "T"})
    body = text.partition("\n---\n\n")[2]
    before, _, within = body.partition(":::: {#fig-a}")  # Quarto keeps one picture of a float
    assert '![](figures/a-narrow.svg){fig-alt="a {b}" .js-narrow}' in before
    assert 'when-format="html"' in before
    assert '![](figures/a.svg){fig-alt="a {b}" .js-wide}' in within
    assert "narrow=" not in body
    css = (REPORTS / "report.css").read_text("utf-8")
    assert "img.js-narrow{display:none}" in css


def test_quarto_s_page_has_the_rules_of_the_built_in_one() -> None:
    """What the built-in page says of a table's cells, or of a PDF's text, is said to Quarto too."""
    assets = Path(judgestats.reporting.__file__).with_name("assets")
    ours, its = ((f / n).read_text("utf-8") for f, n in
                 ((assets, "page.css"), (REPORTS, "report.css")))  # fmt: skip
    within = set(re.findall(r"(?:t[dhr]|table|stack|wide|js-table)\.([a-z-]+)", ours))
    within |= set(re.findall(r"\.(stack|wide|wider|whole|answer|advice|table-note)\b", ours))
    assert {"num", "none", "group", "text", "whole", "stack"} <= within
    assert within - set(re.findall(r"\.([a-z-]+)", its)) == set()
    for size in re.findall(
        r"\.(?:answer|wide table|wider table|table-note)\{font-size:[^;}]+", ours
    ):
        assert size in its.replace(".js-table.", ".")
    page, article = ((f / n).read_text("utf-8") for f, n in
                     ((assets, "page.typ"), (REPORTS, "typst-template.typ")))  # fmt: skip
    for rule in ("margin: (x: 23mm, top: 25mm, bottom: 22mm)", "set par(justify: true",
                 "set table(inset: (x: 4pt, y: 3.2pt), stroke: none)", "size: 0.82em", "19pt",
                 "set block(above: 1.5em, below: 0.7em, sticky: true)", "inset: 6pt"):  # fmt: skip
        assert rule in page
        assert rule in article


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("theme", "loads a font from elsewhere"),
        ("toc", "contents fill the first page"),
        ("links", "links to other formats"),
        ("css", "raw tables stay without"),
        ("page", "the PDF has Quarto's own page"),
        ("partial", "Template partial typst-template.typ was not found"),
        ("style", "Could not fetch resource none.css"),
        ("link", "label `<sec-none>` does not exist"),
        ("picture", "file not found: none.svg"),
        ("reference", "Unable to resolve crossref @tbl-none"),
        ("cells", "cells are left"),
        ("fallback", "every table occurs twice"),
        ("shortcode", "a shortcode would run"),
        ("appendix", "an appendix would be numbered on"),
        ("unnumbered", "Unable to resolve crossref @sec-more"),
    ],
)
def test_the_stand_in_refuses_what_quarto_fails_on(
    quarto: Path, document: Path, tmp_path: Path, wrong: str, words: str
) -> None:
    """The contract can be broken: each fault alone is refused."""
    from tests.reporting import quarto_stand_in

    header = yaml.safe_load((document.parent / "_metadata.yml").read_text())
    header |= {"title": "T", "engine": "markdown"}
    body = "# One {#sec-one}\n"
    match wrong:
        case "theme":
            header["format"]["html"]["theme"]["light"] = ["cosmo"]
        case "toc":
            header["format"]["typst"]["toc"] = True
        case "links":
            del header["format"]["html"]["format-links"]
        case "css":
            del header["format"]["html"]["css"]
        case "page":
            del header["format"]["typst"]["template-partials"]
        case "partial":
            (document.parent / "typst-template.typ").unlink()
        case "style":
            header["format"]["html"]["css"] = ["report.css", "none.css"]
        case "link":
            body += "\n[more](#sec-none)\n"
        case "picture":
            body += "\n![](none.svg)\n"
        case "reference":
            body += "\nSee @tbl-none.\n"
        case "cells":
            body += "\n```{python}\n1\n```\n"
        case "fallback":
            body += "\n::::: {.js-fallback}\n\nx\n\n:::::\n"
        case "shortcode":
            body += "\n{{< env HOME >}}\n"
        case "appendix":
            body += "\n# More {#sec-more .appendix}\n"
        case "unnumbered":
            body += "\n# More {#sec-more .unnumbered}\n\n@sec-more\n"
    (document.parent / "x.qmd").write_text(f"---\n{yaml.safe_dump(header)}---\n\n{body}")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(document.parent)
        found = quarto_stand_in.problems(["render", "x.qmd", "--to", "typst", "--output", "x.pdf"])
    assert len(found) >= 1
    assert any(words in line for line in found), found


def test_the_title_is_the_copy_s_own_whatever_stands_beside_it(
    quarto: Path, document: Path, tmp_path: Path
) -> None:
    """Quarto takes the header's title before those of `_metadata.yml` and of a metadata file."""
    shared = document.parent / "_metadata.yml"
    shared.write_text(f"title: Shared\n{shared.read_text()}", encoding="utf-8")
    made = render(document, params={"run": 1}, metadata={"title": "Own"}, out_dir=tmp_path / "out")
    for kind in ("html", "pdf"):
        told = made_by_stand_in(made[kind])
        assert told["header"]["title"] == "Own"
        assert not any(a in {"-M", "--metadata", "--metadata-file"} for a in told["arguments"])


def test_without_a_fault_the_stand_in_is_content(document: Path) -> None:
    from tests.reporting import quarto_stand_in

    header = yaml.safe_load((document.parent / "_metadata.yml").read_text()) | {"title": "T"}
    (document.parent / "x.qmd").write_text(quarto_source("# One {#sec-one}\n\n@sec-one\n", header))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(document.parent)
        assert (
            quarto_stand_in.problems(["render", "x.qmd", "--to", "typst", "--output", "x.pdf"])
            == []
        )


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("STAND_IN_FAILS", "typst", "it went wrong"),
        ("STAND_IN_VERSION", "1.6.40", "older than 1.7"),
        ("STAND_IN_VERSION", "nonsense", "gave no version"),
        ("STAND_IN_WARNS", "WARN: Unable to resolve crossref @tbl-x\n", "with a hole"),
        ("STAND_IN_WARNS", "[WARNING] Citeproc: citation welch1947 not found\n", "welch1947"),
        ("STAND_IN_WARNS", "Could not fetch resource report.css\n", "report.css"),
        ("STAND_IN_WARNS", "Could not convert image x.svg\n", "x.svg"),
    ],
)
def test_the_built_in_renderer_serves_where_quarto_fails(
    quarto: Path, document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], variable: str, value: str, words: str,
) -> None:  # fmt: skip
    monkeypatch.setenv(variable, value)
    document.write_text("---\ntitle: old\n---\n\n# One\n\nNothing to run.\n")
    made = render(document, out_dir=tmp_path / "out")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert words in lines[0]
    assert "\x1b" not in lines[0]
    assert made["html"].read_text().startswith("<!DOCTYPE html>")
    assert made["pdf"].read_bytes().startswith(b"%PDF")
    with pytest.raises(RenderError, match=words):
        render(document, out_dir=tmp_path / "other", renderer="quarto")
    assert not (tmp_path / "other").exists()


def test_a_failure_is_told_by_quarto_s_error_alone(
    quarto: Path, document: Path, tmp_path: Path
) -> None:
    """Settings stand before the error, and where its own code failed after it, as Quarto prints."""
    printed = "pandoc\n  to: typst\n\nERROR: no file x.svg\n\nStack trace:\n    at f (a.ts:1:2)\n"
    quarto.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo 1.11.0 && exit\n'
        f'printf "%s" "{printed}" >&2\nexit 1\n'
    )
    with pytest.raises(RenderError) as told:
        render(document, params={"run": 1}, out_dir=tmp_path / "out", renderer="quarto")
    assert str(told.value) == "quarto could not render small.qmd: ERROR: no file x.svg"


def test_a_report_that_cannot_be_made_fails_no_run(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from types import SimpleNamespace

    from judgestats.runner import rendering, report_code

    attached: list[Path] = []
    tagged: dict[str, str] = {}
    run = SimpleNamespace(run_id="abc", artifacts=attached.append, tags=tagged.update, store=None)
    folder = tmp_path / "run"
    shutil.copytree(run_folder, folder)
    (folder / "plan.json").write_text("{", encoding="utf-8")
    with rendering(folder, formats=("html",)) as attach:
        made = attach(run)  # type: ignore[arg-type]
    assert made == {}
    assert attached == []
    assert tagged["report"].startswith("failed: ")
    assert report_code(("html",), made) == 5
    assert report_code((), made) == report_code(("html",), {"html": Path("x")}) == 0
    assert "judgestats report abc" in capsys.readouterr().out
