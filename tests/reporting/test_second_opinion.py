"""A second opinion kept with a run is an appendix of its report; what differs is warned of."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd

from judgestats.analysis.crosscheck import Opinion, opinions_table
from judgestats.reporting.render import render_report
from judgestats.reporting.runs import load_run
from judgestats.reporting.sections import methods as opinion
from judgestats.reporting.sections import summary_page as page_one


def with_opinions(run_folder: Path, folder: Path, *, theirs: float) -> Path:
    """A copy of the run with two numbers computed twice, the second as told."""
    shutil.copytree(run_folder, folder)
    same = Opinion(result="a", what="alpha <b>", ours=0.5, theirs=0.5, package="pingouin.alpha")
    other = Opinion(result="b", what="kappa", ours=0.25, theirs=theirs, package="statsmodels.kappa")
    table = opinions_table((same, other))
    table.to_csv(folder / "tables" / "second-opinion.csv", index=False)
    return folder


def test_a_run_without_one_says_nothing(run_folder: Path) -> None:
    run = load_run(run_folder)
    assert isinstance(run.second_opinion, pd.DataFrame)
    assert opinion.second_opinion(run) is None
    assert opinion.warned(run) is None


def test_what_agrees_is_a_table_without_a_warning(run_folder: Path, tmp_path: Path) -> None:
    run = load_run(with_opinions(run_folder, tmp_path / "run", theirs=0.25))
    table = opinion.second_opinion(run)
    assert table is not None
    assert [row["same"] for row in table.rows] == ["yes", "yes"]
    assert opinion.warned(run) is None


def test_what_differs_stands_first_and_on_page_one(run_folder: Path, tmp_path: Path) -> None:
    folder = with_opinions(run_folder, tmp_path / "run", theirs=0.75)
    run = load_run(folder)
    table, warned = opinion.second_opinion(run), opinion.warned(run)
    assert table is not None
    assert next((row["what"], row["same"]) for row in table.rows) == ("kappa", "NO")
    assert warned is not None
    assert "1 of 2 numbers" in warned.text
    assert warned in page_one.page_one(run)


def test_it_stands_in_the_full_report(run_folder: Path, tmp_path: Path) -> None:
    folder = with_opinions(run_folder, tmp_path / "run", theirs=0.75)
    made = render_report(folder, to=("md",), out_dir=tmp_path, renderer="builtin", detail="full")
    text = made["md"].read_text(encoding="utf-8")
    assert "1 of 2 numbers" in text
    assert "A second opinion" in text
