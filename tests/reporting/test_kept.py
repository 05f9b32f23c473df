"""A table that leaves rows out keeps some of every judge and says how many; columns differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from judgestats.reporting import Run, Table, load_run, sample_rows
from judgestats.reporting.sections import data, results
from judgestats.results import (
    CONDITIONS,
    About,
    Comparison,
    Estimate,
    ResultSet,
    Statistic,
)


@pytest.fixture
def run(run_folder: Path) -> Run:
    """Two judges at three temperatures each."""
    return load_run(run_folder)


@pytest.mark.parametrize("most", [2, 3, 7, 24])
@pytest.mark.parametrize("evenly", [True, False])
def test_every_judge_keeps_a_row(most: int, evenly: bool) -> None:
    judges = ["a"] * 30 + ["b"] * 20
    grades = [0.0] * 30 + [1.0] * 20
    rows = sample_rows(judges, most, grades=grades, evenly=evenly)
    assert len(rows) == most
    assert rows == sorted(rows)
    assert {judges[i] for i in rows} == {"a", "b"}


def test_what_is_found_stays_before_what_is_open() -> None:
    found = [i % 5 == 0 for i in range(60)]
    rows = sample_rows(["a"] * 30 + ["b"] * 30, 24, grades=[float(not f) for f in found])
    assert {i for i, f in enumerate(found) if f} <= set(rows)


def _judges_of(run: Run, table: Table | None) -> set[str]:
    assert table is not None
    judges = [c.judge for c in run.records.conditions]
    return {j for j in judges if any(str(row["what"]).startswith(j) for row in table.rows)}


def test_the_table_of_conditions_keeps_both_judges(run: Run) -> None:
    judges = {c.judge for c in run.records.conditions}
    with mock.patch.object(data, "sample_rows", lambda rows, **how: sample_rows(rows, 2, **how)):
        described = data.condition_descriptions(run)
    assert _judges_of(run, described) == judges
    assert described is not None
    assert described.note == "2 of 6 conditions; all of them in tables/conditions.csv."
    # Of a run of many strategies those that the plan compares are tabled: of all that there are.
    some = Run(run.folder, run.records)
    with mock.patch.object(Run, "compared", run.compared[:2]):
        described = data.condition_descriptions(some)
    assert described is not None
    assert len(described.rows) == 2
    assert "2 of 6 conditions;" in described.note


def _estimates(subjects: dict[str, list[str]]) -> list[Estimate]:
    return [
        Estimate(
            id=f"e.{s}/{name}", hypothesis="spread", role="primary", title=f"{name} ({s})",
            estimand=name, estimate=0.1 + 0.01 * i, about=About(stratum=s),
        )
        for s, names in subjects.items()
        for i, name in enumerate(names)
    ]  # fmt: skip


def _estimated(run: Run, subjects: dict[str, list[str]]) -> Table:
    records = replace(
        run.records, results=(*run.records.results, *_estimates(subjects)), drawing=None
    )
    with mock.patch.object(Run, "with_role", return_value=_estimates(subjects)):
        tables = [t for t in results.results(Run(run.folder, records)) if isinstance(t, Table)]
    [table] = [t for t in tables if t.label == "tbl-estimates"]
    return table


def test_what_all_estimates_are_of_stands_in_the_caption(run: Run) -> None:
    table = _estimated(run, {"T=1": ["spearman_rho", "kendall_tau"]})
    assert table.caption == "What was estimated: T=1."
    assert [c.label for c in table.columns] == ["What", "Estimate"]


def _pair(**about: Any) -> tuple[ResultSet, Comparison]:
    whole = ResultSet(
        id="own.x", hypothesis="own", role="secondary", title="Its own answers, judge x",
        name="mean_shift", method="Shift", members=("own.x/pair",), about=About(**about),
    )  # fmt: skip
    pair = Comparison(
        id="own.x/pair", hypothesis="own", role="secondary", title="pair", part_of="own.x",
        a="judge", b="people", estimand="mean_difference", estimate=0.2, method="Shift",
        statistic=Statistic(symbol="t", value=3.0), p=0.006,
    )  # fmt: skip
    return whole, pair


def test_a_pair_of_which_nothing_else_says_whose_it_is_stands_under_its_title(run: Run) -> None:
    found = (run.records[CONDITIONS], *_pair())
    table = results.pair_table(Run(run.folder, replace(run.records, results=found, headlines=())))
    assert table is not None
    assert [row["group"] for row in table.rows] == ["Its own answers, judge x"]
