"""The brief report: one page that answers, few that follow, every number a record's."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from judgestats.reporting import load_run
from judgestats.reporting.report import render_report
from judgestats.reporting.sections import answer_figure, brief, page_one
from judgestats.reporting.show import Captioned
from judgestats.results import Drawing
from tests.reporting.record_numbers import EXEMPT, faults


@pytest.fixture(scope="module")
def briefed(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The brief report of the run with a hostile name."""
    return render_report(
        run_folder,
        to=("html", "pdf", "md"),
        out_dir=tmp_path_factory.mktemp("brief"),
        renderer="builtin",
    )


def pages(pdf: Path) -> list[str]:
    """The text of each page."""
    done = subprocess.run(
        ["pdftotext", "-layout", str(pdf), "-"], capture_output=True, check=True, timeout=30
    )
    return done.stdout.decode().split("\f")[:-1]


def test_it_is_brief_and_page_one_answers(briefed: dict[str, Path], run_folder: Path) -> None:
    told = pages(briefed["pdf"])
    assert 4 <= len(told) <= 8
    answer = load_run(run_folder).records.answer
    first = " ".join(told[0].split())
    assert answer.split()[0] in first
    for part in ("Figure 1", "Steady?", "Use."):
        assert part in first
    assert "Contents" not in first
    assert not re.search(r"(Table|Figure) \d+ shows?", " ".join(told))


def test_every_number_is_a_record_s(briefed: dict[str, Path], run_folder: Path) -> None:
    assert faults(briefed["html"], load_run(run_folder).records) == []


def test_a_wrong_number_is_found(
    briefed: dict[str, Path], run_folder: Path, tmp_path: Path
) -> None:
    found = load_run(run_folder).records
    text = briefed["html"].read_text("utf-8")
    mean = re.search(r'(<span data-record="condition\.mean[^"]*#estimate">)([\d.]+)', text)
    assert mean is not None
    wrong = tmp_path / "wrong.html"
    wrong.write_text(text.replace(mean.group(0), f"{mean.group(1)}99.9", 1), encoding="utf-8")
    assert len(faults(wrong, found)) == 1
    wrong.write_text(text.replace("</main>", "<p>7</p></main>"), encoding="utf-8")
    assert faults(wrong, found) == ["no record: '7'"]


def test_exempted_kinds_are_listed() -> None:
    assert len(EXEMPT) == 18


def test_text_formats_show_the_same_numbers_in_the_same_order(briefed: dict[str, Path]) -> None:
    page = briefed["html"].read_text("utf-8")
    shown = re.findall(r'<span data-record="[^"]*#(?:estimate|interval\.\w+)">([^<]+)</span>', page)
    text = briefed["md"].read_text("utf-8").replace("\\", "")
    at = 0
    for number in shown:
        at = text.index(number, at)
    assert len(shown) > 30


def test_tables_left_out_stand_beside_the_report(briefed: dict[str, Path]) -> None:
    page = briefed["html"].read_text("utf-8")
    folder = briefed["html"].parent / "tables"
    names = {path.name for path in folder.glob("*.csv")}
    assert {"tests.csv", "pairs.csv", "estimates.csv", "conditions.csv"} <= names
    assert all(f'href="tables/{name}"' in page for name in names)
    assert len((folder / "pairs.csv").read_text("utf-8").splitlines()) > 5


def test_one_verdict_a_pair(run_folder: Path) -> None:
    table = brief.pairs(load_run(run_folder))
    assert table is not None
    pairs = [(row["group"], row["of"], row["pair"]) for row in table.rows]
    assert len(set(pairs)) == len(pairs)
    assert {row["verdict"] for row in table.rows} <= {"differs", "alike", "open"}


def test_the_experiment_declares_its_figure(run_folder: Path) -> None:
    run = load_run(run_folder)
    assert run.records.drawing is not None
    assert run.records.drawing.over == "temperature"
    shown = answer_figure.answer_figure(run)
    assert isinstance(shown, Captioned)
    narrow = shown.figure.narrow  # type: ignore[attr-defined]
    assert narrow.size[0] < shown.figure.size[0]
    assert "0.5" in shown.figure.alt


def test_a_run_that_declares_no_figure_gets_one(
    make_run: Callable[..., Path], run_folder: Path
) -> None:
    from dataclasses import replace

    from judgestats.reporting.runs import Run

    run = load_run(run_folder)
    bare = Run(folder=run.folder, records=replace(run.records, drawing=None))
    assert isinstance(answer_figure.answer_figure(bare), Captioned)
    nothing = Drawing(kind="dots", estimands=("no such column",))
    none = Run(folder=run.folder, records=replace(run.records, drawing=nothing))
    assert answer_figure.answer_figure(none) is None


def test_questions_that_a_run_does_not_examine_are_named(run_folder: Path) -> None:
    table = page_one.questions(load_run(run_folder))
    assert table is not None
    assert "right" in table.note
    assert "fair" in table.note


def test_questions_may_be_answered_for_judges_rather_than_conditions(run_folder: Path) -> None:
    from dataclasses import replace

    from judgestats.reporting.runs import Run
    from judgestats.results import Row

    run = load_run(run_folder)
    record = next(r.id for r in run.records.results if r.id.startswith("condition.mean."))
    row = Row(key="swap", ask="same swapped", short="swapped", estimand="mean",
              cells={"a judge": record})  # fmt: skip
    of_judges = Run(folder=run.folder, records=replace(run.records, rows=(row,)))
    table = page_one.questions(of_judges)
    assert table is not None
    assert [r["what"] for r in table.rows] == ["a judge"]
    assert "Fair?" in table.columns[1].label
