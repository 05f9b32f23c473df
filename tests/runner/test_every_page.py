"""Every entry point: one screen, a brief report, every number a record's, in every format alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judgestats.cli import main
from judgestats.results import read_results
from tests.cli.test_screens import table
from tests.reporting.pages import held, held_screen

SMALL = ("--limit", "6", "--resamples", "99", "--report", "html,pdf,md")
"""Few items: what is held is the form."""
OWN: dict[str, tuple[str, ...]] = {
    "temperature": ("--repeats", "3"),
    "judges": ("--repeats", "3", "--temperatures", "0.3,1"),
    "guidelines": ("--repeats", "3"),
    "reasoning": ("--repeats", "3"),
    "alignment": ("--repeats", "2"),
    "self_consistency": ("--repeats", "6"),
    "validity": ("--repeats", "2"),
    "bias": ("--repeats", "2"),
    "omega": ("--repeats", "4"),
    "head_to_tail": ("--repeats", "3"),
    "grade_score": ("--repeats", "2"),
    "crowd": (),
    "rejection_sampling": (),
}
QUICK = ("validity", "omega")
"""Of verdicts with scores, and of choices; the others are held by `make study`."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else (pytest.mark.study,)) for n in OWN]
)
def test_an_experiment_keeps_to_one_screen_and_to_its_records(workplace, capsys, name):
    assert main(["run", name, *SMALL, *OWN[name]]) == 0
    [page] = workplace.glob("mlruns/*/*/artifacts/report.html")
    held(page, read_results(page.with_name("results.json")), capsys.readouterr().out)


def test_audits_drift_and_comparisons_keep_to_one_screen_and_to_their_records(workplace, capsys):
    files, folders = [], []
    for name, shift, formats in (("a", 0.0, "html,pdf,md"), ("b", 0.6, "none")):
        files.append(str(table(Path(f"{name}.csv"), 3, shift=shift)))
        words = ("--scale", "1-10", "--resamples", "99", "--report", formats)
        assert main(["analyze", files[-1], *words]) == 0
        said = capsys.readouterr().out
        own = {str(r.parent) for r in workplace.glob("mlruns/*/*/artifacts/results.json")}
        folders += own - set(folders)
        if formats != "none":
            page = Path(folders[0], "report.html")
            held(page, read_results(page.with_name("results.json")), said)
    assert main(["drift", *files, "--resamples", "99", "--out", "moved/results.json"]) == 0
    said = capsys.readouterr().out
    assert main(["report", "moved", "--to", "html,pdf,md", "--out", "moved"]) == 0
    held(Path("moved/report.html"), read_results(Path("moved/results.json")), said)
    capsys.readouterr()
    ids = [Path(folder).parent.name for folder in folders]
    assert main(["report", *ids, "--to", "html,pdf,md", "--out", "both"]) == 0
    beside = Path("both/tables/run-2-against-run-1.json")
    found = {
        f"run-{i}": read_results(Path(folder) / "results.json")
        for i, folder in enumerate(folders, start=1)
    }
    held_screen(said := capsys.readouterr().out)
    page = Path("both/comparison.html")
    held(page, found | {beside.stem: read_results(beside)}, said.partition("Report (")[0])


def test_a_replication_keeps_to_one_screen_and_to_its_records(workplace, capsys):
    words = ("--study", "schroeder2024", "--report", "html,pdf,md")
    assert main(["run", "replicate", *words]) == 0
    [page] = workplace.glob("mlruns/*/*/artifacts/report.html")
    assert 'id="fig-answer"' in page.read_text("utf-8")
    found, said = read_results(page.with_name("results.json")), capsys.readouterr().out
    held(page, found, said)
    n, *of_verdicts = re.findall(r"\d+", found.finding)
    assert len(of_verdicts) == 3
    assert all(f"{count} of {n} claims" in said for count in of_verdicts)
