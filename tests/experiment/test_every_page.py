"""Every entry point: one screen, a brief report, every number a record's, in every format alike."""

from __future__ import annotations

import re
import subprocess

import pytest

from judgestats.cli import main
from judgestats.results import read_results
from judgestats.results.brief import brief_of
from tests.reporting.record_numbers import faults

SMALL = ("--limit", "6", "--resamples", "99", "--report", "html,pdf,md")
"""Few items: what is held is the form."""
OWN: dict[str, tuple[str, ...]] = {
    "temperature": ("--replicates", "3"),
    "judges": ("--replicates", "3", "--temperatures", "0.3,1"),
    "guidelines": ("--replicates", "3"),
    "reasoning": ("--replicates", "3"),
    "alignment": ("--replicates", "2"),
    "self_consistency": ("--replicates", "6"),
    "validity": ("--replicates", "2"),
    "bias": ("--replicates", "2"),
    "omega": ("--replicates", "4"),
    "head_to_tail": ("--replicates", "3"),
    "grade_score": ("--replicates", "2"),
    "crowd": (),
    "rejection_sampling": (),
}
_SHOWN = re.compile(
    r'<span data-record="[^"]*#(?:estimate|interval\.\w+|rows\.[^"]*)">([^<]+)</span>'
)


def in_order(numbers, text):
    """The first number that does not follow the one before it, or nothing."""
    at = 0
    for number in numbers:
        found = text.find(number, at)
        if found < 0:
            return f"{number!r} after {text[max(0, at - 80) : at]!r}"
        at = found
    return ""


def held(folder, said):
    """Hold a run's screen and its report to what both promise."""
    lines = said.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    assert "..." not in said
    page = folder / "report.html"
    found = read_results(folder / "results.json")
    assert faults(page, found) == []
    pdf = subprocess.run(
        ["pdftotext", "-layout", str(page.with_suffix(".pdf")), "-"],
        capture_output=True, check=True, timeout=30,
    ).stdout.decode()  # fmt: skip
    pages = pdf.split("\f")[:-1]
    assert len(pages) <= 8
    assert "Figure 1" in pages[0] or "Table 1" in pages[0]
    for answer in brief_of(found).answers[:1]:  # the screen's first answer heads page one
        said_first = " ".join(answer.text.split()[:4])
        assert said_first in " ".join(said.split())
        assert said_first in " ".join(pages[0].split())
    numbers = [" ".join(n.split()) for n in _SHOWN.findall(page.read_text("utf-8"))]
    assert len(numbers) > 5
    text = page.with_suffix(".md").read_text("utf-8").replace("\\", "")
    assert in_order(numbers, text) == ""


QUICK = ("validity", "omega")
"""Of verdicts with scores, and of choices; the others are held by `make study`."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else (pytest.mark.study,)) for n in OWN]
)
def test_an_experiment_keeps_to_one_screen_and_to_its_records(workplace, capsys, name):
    assert main(["run", name, *SMALL, *OWN[name]]) == 0
    [folder] = [p.parent for p in workplace.glob("mlruns/*/*/artifacts/report.html")]
    held(folder, capsys.readouterr().out)
