"""A report as a document of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgestats.cli import main
from judgestats.reporting.document import Cell, read_document


def test_a_template_holds_the_run_and_all_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / 'a "run"'
    run.mkdir()
    assert main(["template", "brief", "--run", str(run), "--out", str(tmp_path / "mine")]) == 0
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


@pytest.mark.parametrize("name", ["brief", "nothing"])
def test_nothing_is_overwritten_and_names_are_told(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "brief.qmd").write_text("mine", encoding="utf-8")
    assert main(["template", name, "--run", "abc", "--out", str(tmp_path)]) != 0
    assert (tmp_path / "brief.qmd").read_text("utf-8") == "mine"
    told = capsys.readouterr().err
    assert "is there already" in told or "must be one of brief, experiment" in told
