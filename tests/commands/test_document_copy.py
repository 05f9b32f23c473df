"""A report as a document of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgestats.cli import main
from judgestats.reporting import Cell, read_document


def test_a_copy_of_a_document_holds_the_run_and_all_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / 'a "run"'
    run.mkdir()
    words = ["report", str(run), "--document", "brief.qmd", "--out", str(tmp_path / "mine")]
    assert main(words) == 0
    assert "quarto render brief.qmd" in capsys.readouterr().out
    document = read_document(tmp_path / "mine" / "brief.qmd")
    cell = next(b for b in document.blocks if isinstance(b, Cell) and b.is_parameters)
    values: dict[str, str] = {}
    exec(cell.source, values)
    assert values["run"] == str(run)
    assert document.header["format"]["html"]["css"] == "report.css"  # by the header beside it
    for name in ("references.bib", "references.csl", "report.css", "light.scss", "dark.scss",
                 "typst-template.typ"):  # fmt: skip
        assert (tmp_path / "mine" / name).is_file()


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "brief.qmd").write_text("mine", encoding="utf-8")
    assert main(["report", "abc", "--document", "brief.qmd", "--out", str(tmp_path)]) == 2
    assert (tmp_path / "brief.qmd").read_text("utf-8") == "mine"
    assert "is there already" in capsys.readouterr().err


def test_a_copy_and_methods_are_of_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--document", "mine.qmd"], ["--methods"]):
        assert main(["report", "a", "b", *words]) == 2
        assert "takes one run, got 2" in capsys.readouterr().err
