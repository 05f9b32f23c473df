"""The full report: what many results would say over and over is told once; axes hold one unit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from judgestats.reporting import Run, Table, load_run
from judgestats.reporting.sections import design, results
from judgestats.results import Test as TestRecord


@pytest.fixture
def run(run_folder: Path) -> Run:
    """Two judges at three temperatures each."""
    return load_run(run_folder)


def test_a_full_report_has_every_test(run: Run) -> None:
    first = next(r for r in run.records.select(TestRecord) if r.role == "primary")
    tests = tuple(
        replace(first, id=f"many.{i}", title=f"Test {i}", p=p, p_adjusted=p, family="", effects=())
        for i, p in enumerate([0.001] * 14 + [0.9] * 16)
    )
    counts = []
    for full in (True, False):
        many = Run(run.folder, replace(run.records, results=tests, headlines=(), families=()))
        shown = results.results(many, full=full)
        counts.append(sum(len(t.rows) for t in shown if isinstance(t, Table)))
    assert counts[0] == 30
    assert 0 < counts[1] < 30


def test_a_setting_of_one_line_is_no_table(run: Run) -> None:
    facts = {"design": {"item_source": "labels of 3 people"}}
    [one] = design.setting(Run(run.folder, replace(run.records, facts=facts)))
    assert str(one).replace("\\", "") == '[Items from: labels of 3 people.]{data-kind="label"}'
    assert isinstance(design.setting(run)[0], Table)


def test_a_margin_is_named_in_words(run: Run, tmp_path: Path) -> None:
    plan = {"level": 0.95, "margins": {"icc_1_1": 0.05, "variance_ratio": 1.5}}
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    told = str(design.plan_notes(Run(tmp_path, run.records))).replace("\\", "")
    assert "ICC(1,1) 0.05; ratio of pooled within-cell variances 1.5." in told
