"""The cross-check is one line of a report's methods; a difference is warned of first."""

from __future__ import annotations

import shutil
from pathlib import Path

from judgestats.analysis import Recomputed, with_crosscheck
from judgestats.reporting import load_run, render_report
from judgestats.reporting.sections import checks, closing, summary
from judgestats.results import read_results, write_results


def with_rows(run_folder: Path, folder: Path, *, theirs: float) -> Path:
    """A copy of the run with two numbers computed twice, the second as given."""
    shutil.copytree(run_folder, folder)
    same = Recomputed("alpha <b>", "a", 0.5, 0.5 + 2e-12, "pingouin 0.7.0", 1e-6, "a")
    other = Recomputed("kappa", "b", 0.25, theirs, "statsmodels 0.15.0", 1e-6, "b")
    results = with_crosscheck(read_results(folder / "results.json"), (same, other))
    write_results(folder / "results.json", results)
    return folder


def without(run_folder: Path, folder: Path) -> Path:
    """A copy of the run without a cross-check."""
    shutil.copytree(run_folder, folder)
    return folder


def test_a_run_without_one_says_nothing(run_folder: Path, tmp_path: Path) -> None:
    run = load_run(without(run_folder, tmp_path / "run"))
    assert checks.crosscheck(run) is None
    assert summary.warned(run) is None
    assert "recomputed" not in closing.methods(run).text


def test_what_agrees_is_one_line_and_no_warning(run_folder: Path, tmp_path: Path) -> None:
    run = load_run(with_rows(run_folder, tmp_path / "run", theirs=0.25))
    table = checks.crosscheck(run)
    assert table is not None
    assert [row["same"] for row in table.rows] == ["yes", "yes"]
    assert summary.warned(run) is None
    assert closing.methods(run).text.endswith(
        "2 headline numbers were recomputed with pingouin 0.7 and statsmodels 0.15; the largest "
        "difference is 2e-12."
    )


def test_what_differs_stands_first_and_on_page_one(run_folder: Path, tmp_path: Path) -> None:
    folder = with_rows(run_folder, tmp_path / "run", theirs=0.75)
    run = load_run(folder)
    table, warned = checks.crosscheck(run), summary.warned(run)
    assert table is not None
    assert next((row["quantity"], row["same"]) for row in table.rows) == ("kappa", "NO")
    assert warned is not None
    assert "1 of 2 recomputed numbers" in warned.text
    assert warned in summary.summary_page(run)


def test_it_stands_in_the_full_report(run_folder: Path, tmp_path: Path) -> None:
    folder = with_rows(run_folder, tmp_path / "run", theirs=0.75)
    made = render_report(folder, to=("md",), out_dir=tmp_path, renderer="builtin", detail="full")
    text = made["md"].read_text(encoding="utf-8")
    assert "1 of 2 recomputed numbers" in text
    assert "Cross-check" in text
