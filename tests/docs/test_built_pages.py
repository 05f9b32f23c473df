"""Pages that commands write: notebooks run, screens are today's, the glossary is the registry's."""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

from judgestats.results.quantities import QUANTITIES, TESTS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def builder(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_notebooks_run_and_print_what_is_committed() -> None:
    """In a process of its own: a kernel is started for each, with a limit of time."""
    done = subprocess.run(
        [sys.executable, str(DOCS / "build_notebooks.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_are_whole_and_name_no_folder_of_a_machine(path: Path) -> None:
    build = builder("build_notebooks")
    book = nbformat.read(path, as_version=4)
    assert build.wrong(path, book) == ""
    assert not build.PATHS.search(path.read_text(encoding="utf-8"))
    assert any("text" in str(cell.get("outputs", "")) for cell in book.cells)
    assert f"({path.stem}.md)" in (DOCS / "notebooks" / "index.md").read_text(encoding="utf-8")


def test_a_notebook_that_prints_something_else_is_told(tmp_path: Path) -> None:
    build = builder("build_notebooks")
    book = nbformat.v4.new_notebook()
    out = nbformat.v4.new_output("stream", name="stdout", text="1\n")
    book.cells = [nbformat.v4.new_code_cell("print(1)", outputs=[out])]
    path = tmp_path / "one.ipynb"
    nbformat.write(book, path)
    path.with_suffix(".md").write_text(build.page("one", book)[0])
    assert build.wrong(path, nbformat.read(path, as_version=4)) == ""
    book.cells[0].outputs[0]["text"] = "2\n"
    assert build.wrong(path, book).startswith("prints '2\\n'")
    named = nbformat.read(path, as_version=4)
    named.cells[0].outputs[0]["text"] = "/home/me/file.csv\n"
    nbformat.write(named, path)
    path.with_suffix(".md").write_text(build.page("one", named)[0])
    assert "names a folder of a machine: /home/me/file.csv" in build.wrong(path, named)


def test_the_glossary_names_every_number_and_test() -> None:
    build = builder("build_glossary")
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert text == build.page()
    assert all(f"`{key}`" in text for key in (*QUANTITIES, *TESTS))


def test_every_marked_screen_is_filled_and_replaced() -> None:
    build = builder("build_screens")
    assert ROOT / "README.md" in build.pages()
    page = "a\n<!-- screen: judgestats demo -->\nold\n<!-- end screen -->\nb"
    fresh = build.written(page, {"judgestats demo": "new"})
    assert fresh.split("\n")[2:5] == ["```", "new", "```"]
    assert build.written(fresh, {"judgestats demo": "new"}) == fresh


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


def test_every_area_of_validation_shows_its_difference_second() -> None:
    pages = [p for p in (DOCS / "validation").glob("*.md") if p.stem != "index"]
    assert len(pages) > 5
    for page in pages:
        assert "| statistic | difference | R | judgestats |" in page.read_text(encoding="utf-8")


def test_the_page_on_other_packages_takes_every_cell_from_what_was_printed() -> None:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    differs = importlib.import_module("differs")
    page = (DOCS / "differs.md").read_text(encoding="utf-8")
    printed = dict(re.findall(r"\*\*(\w+) [\d.]+\*\*\n\n```text\n(.*?)\n```", page, re.DOTALL))
    assert list(printed) == ["judgestats", "truescore", "evalstats", "judgekeeper"]
    own = {q: w["judgestats"] for q, w in differs.ASKED.items() if "judgestats" in w}
    for question, pattern in own.items():
        cell = differs.answer(printed["judgestats"], pattern, "judgestats").replace("|", "/")
        assert f"| {question} | {cell} |" in page
    with pytest.raises(SystemExit, match="no longer prints"):
        differs.answer("nothing", "a (b)", "somebody")
