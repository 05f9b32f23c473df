"""The documents keep to what both Quarto and the built-in renderer honour."""

from __future__ import annotations

import ast
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml

from judgestats.deprecated import REPORT_PARTS
from judgestats.reporting import Cell, Text, read_document, sections

REPORTS = Path(__file__).resolve().parents[2] / "reports"
DOCUMENTS = sorted(REPORTS.glob("*.qmd"))

# What one of the two renders and the other leaves out, or renders otherwise.
ONLY_ONE = {
    r"\{\{<": "shortcodes are Quarto's",
    r"\[@\w+[^\]]*\]\{": "spans around citations differ",
    r"!\[[^\]]*\]\((?:https?:)?//": "remote pictures",
    r"^```\{(?:r|julia|ojs|mermaid|dot|bash|sql)\b": "cells of other languages",
    r"::: *\{\.column": "columns and margins",
    r"\{\.aside\}": "asides",
    r"^\s*:::+ *\{\.(?:incremental|notes)": "slides",
    r"(?:icon|appearance)=": "call-out options of Quarto's",
    r"<(?:script|iframe|link|style)\b": "raw HTML in the text",
    r"\\(?:input|include|usepackage)\b": "raw LaTeX in the text",
    r"`\{(?!python\})": "inline code of other languages, raw inlines",
    r"@(?:thm|lem|cor|prp|cnj|def|exm|exr|lst)-": "references to theorems and listings",
}
OPTIONS = {"tags", "label", "echo", "eval", "include", "output", "warning", "fig-cap", "tbl-cap",
           "fig-alt"}  # fmt: skip
HEADER = {"title", "subtitle", "lang", "date-format", "number-sections", "bibliography", "csl",
          "execute", "format"}  # fmt: skip


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.stem)
def test_documents_keep_to_the_common_subset(path: Path) -> None:
    document = read_document(path)
    assert set(document.header) <= HEADER
    formats = document.header["format"]
    assert formats["html"]["embed-resources"] is True
    assert formats["html"]["html-math-method"] == "mathml"  # the default loads a script
    assert formats["typst"]["citeproc"] is True  # else typst would need a bibliography of its own
    assert set(formats) == {"html", "typst"}
    for block in document.blocks:
        if isinstance(block, Text):
            for pattern, why in ONLY_ONE.items():
                assert not re.search(pattern, block.text, re.MULTILINE), f"line {block.line}: {why}"
        elif isinstance(block, Cell):
            assert set(block.options) <= OPTIONS, block.place
            ast.parse(block.source)
            # a cell shows Markdown (`show`): an HTML display would bring Quarto's own scripts
            last = ast.parse(block.source).body[-1]
            if isinstance(last, ast.Expr):
                assert isinstance(last.value, ast.Call), block.place
                assert ast.unparse(last.value.func) == "show", block.place


def panache(document: Path) -> list[str]:
    """What panache, which knows Quarto's syntax and the schema of its options, finds wrong."""
    program = Path(sysconfig.get_path("scripts")) / "panache"
    if not program.is_file():
        pytest.skip("panache is not installed (pip install panache-cli, or make .venv/.installed)")
    done = subprocess.run(
        [program, "lint", "--message-format=short", "--ignore=missing-chunk-labels",
         "--ignore=citation-nonbreaking-space", str(document)],
        capture_output=True, timeout=60, check=False, cwd=document.parent,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr.decode()
    found = [line for line in done.stdout.decode().splitlines() if f"{document.name}:" in line]
    assert bool(found) == bool(done.returncode), done.stdout.decode()
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.stem)
def test_documents_are_right_for_quarto(path: Path) -> None:
    assert panache(path) == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.stem)
def test_parts_that_documents_use_exist_and_every_source_is_known(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"\b(\w+)\.(\w+)\(", text)
    parts = {name: getattr(sections, name) for name in sections.__all__}
    for module, function in named:
        if module in parts:
            assert hasattr(parts[module], function), f"{module}.{function}"
    known = set(re.findall(r"@\w+\{(\w+),", (REPORTS / "references.bib").read_text("utf-8")))
    cited = set(re.findall(r"@([a-z]+\d{4})\b", text))
    assert cited <= known


def test_citations_inside_sections_are_in_the_bibliography() -> None:
    known = set(re.findall(r"@\w+\{(\w+),", (REPORTS / "references.bib").read_text("utf-8")))
    cited: set[str] = set()
    for module in Path(sections.__file__).parent.glob("*.py"):
        cited |= set(re.findall(r"@([a-z]+\d{4})\b", module.read_text("utf-8")))
    assert cited
    assert cited <= known


def test_the_headers_of_all_documents_are_alike() -> None:
    headers = [read_document(p).header for p in DOCUMENTS]
    bare = [yaml.safe_dump({k: v for k, v in h.items() if k != "title"}) for h in headers]
    assert len(set(bare)) == 1


@pytest.mark.parametrize("former", sorted(REPORT_PARTS))
def test_a_former_part_of_users_documents_is_found_with_a_warning(former):
    with pytest.warns(FutureWarning, match=REPORT_PARTS[former]):
        assert getattr(sections, former).__name__.endswith(REPORT_PARTS[former])
