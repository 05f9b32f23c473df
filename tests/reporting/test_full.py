"""The full report: what many results would say over and over is told once; axes hold one unit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from judgestats.reporting import Run, Table, load_run, rows_tables
from judgestats.reporting.sections import compare, data, design, results, studies
from judgestats.results import Table as TableRecord
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


def test_an_estimate_stands_in_one_table_of_a_full_report(run: Run) -> None:
    """Numbers of conditions had stood in the description and among the results."""
    places = [
        where
        for table in [*data.descriptives(run), *results.results(run, full=True)]
        if isinstance(table, Table)
        for row in table.rows
        for cell in (row.get(column.key) for column in table.columns)
        for _, where in getattr(cell, "parts", ())
        if where.endswith(("#estimate", "#p_adjusted"))
    ]
    assert len(places) > 20
    assert len(set(places)) == len(places)


def test_rows_of_several_results_are_headed_once_and_have_their_interval(run: Run) -> None:
    from judgestats.results import Column

    keys = ("term", "estimate", "std_error", "conf_low", "conf_high", "conf_level")
    columns = tuple(Column(key=k, label=k) for k in keys)
    records = [
        TableRecord(id=i, hypothesis="h", role="primary", title=f"By k ({i})", columns=columns,
                    text=f"{i} is known.", rows=(("k = 1", 0.5, 0.1, 0.4, 0.6, 0.95),))
        for i in "ab"
    ]  # fmt: skip
    [table] = rows_tables(records, label="tbl-x", caption="Primary results")
    assert table.caption == "Primary results."
    assert [c.key for c in table.columns] == ["term", "estimate", "interval"]
    interval = table.rows[0]["interval"]
    assert str(interval) == "[0.40, 0.60]"
    ends = [at for _, at in interval.parts if at]
    assert ends == ["a#rows.0.conf_low", "a#rows.0.conf_high"]
    assert table.note == "By k (a): a is known. By k (b): b is known."
    [alone] = rows_tables(records[:1], label="tbl-x", caption="Primary results")
    assert alone.caption == "Primary results: By k (a)."
    assert alone.note == "a is known."


CLAIMS = [
    {"id": "c", "claim": "It is so.", "published": "a table", "test_now": "paired by item",
     "verdict": "open", "because": "x"},
]  # fmt: skip


def test_the_plan_of_a_study_stands_in_the_table_of_its_claims(run: Run) -> None:
    facts = {**run.facts, "claims": CLAIMS}
    study = Run(run.folder, replace(run.records, kind="replication", facts=facts))
    assert design.plan(run) is not None
    assert design.plan(study) is None
    table = studies.overview(study, tested=True)
    assert isinstance(table, Table)
    heads = [c.label for c in table.columns]
    assert heads == ["No.", "Claim", "Published", "Tested by", "Re-examined"]
    assert table.rows[0]["test_now"] == "paired by item"
    plain = studies.overview(study)
    assert isinstance(plain, Table)
    assert "Tested by" not in [c.label for c in plain.columns]
    assert results.roles(study)[-1] == "replicated"
    assert "replicated" not in results.roles(run)


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


def test_runs_of_which_all_was_read_have_no_column_for_it(run: Run) -> None:
    lost = compare.conditions([run, run])
    assert lost is not None
    assert "Unparsed rate" in [c.label for c in lost.columns]
    table = run.records.get("conditions", TableRecord)
    at = [c.key for c in table.columns].index("unread_share")
    rows = tuple((*row[:at], 0.0, *row[at + 1 :]) for row in table.rows)
    results = tuple(replace(r, rows=rows) if r is table else r for r in run.records.results)
    every = Run(run.folder, replace(run.records, results=results))
    read = compare.conditions([every, every])
    assert read is not None
    assert "Unparsed rate" not in [c.label for c in read.columns]
