"""Other packages give the same numbers on data, and a wrong number of ours is a blocker."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import (
    CHECKS,
    Recomputed,
    both_runs,
    crosscheck_table,
    match_conditions,
    temperature,
    with_crosscheck,
    with_omega_model,
)
from judgestats.analysis import crosscheck as module
from judgestats.analysis import drift as drifts
from judgestats.analysis.audit import audit
from judgestats.analysis.crosscheck import crosscheck
from judgestats.data import Condition, demo_judgments, parsed_frame
from judgestats.results import Results
from tests.null_judge.worlds import World, scored

JUDGES = [Condition(judge=j, temperature=1.0) for j in "abc"]
ICC = "reliability.icc1.a, T=1"


def differing(rows: tuple[Recomputed, ...]) -> str:
    """The rows that differ, or were not computed, as text; empty where there are none."""
    table = crosscheck_table(rows)
    wrong = table[~table["agrees"] | table["reason"].ne("")]
    return wrong.to_string() if len(wrong) else ""


def quantities(rows: tuple[Recomputed, ...]) -> Counter[str]:
    return Counter(row.quantity for row in rows)


@pytest.fixture(scope="module")
def of_scores() -> tuple[pd.DataFrame, Results]:
    world = World(sizes=(2,) * 10, replications=4, unread=0.0, constant=0.2)
    frame = scored(np.random.default_rng(5), world, JUDGES)
    return frame, audit(frame, n_resamples=19).records()


@pytest.fixture(scope="module")
def rows(of_scores) -> tuple[Recomputed, ...]:
    return crosscheck(*of_scores)


def wrong_icc(found: Results) -> Results:
    return dataclasses.replace(
        found,
        results=tuple(
            dataclasses.replace(r, estimate=r.estimate + 0.01) if r.id == ICC else r
            for r in found.results
        ),
    )


def test_an_injected_wrong_number_is_a_blocker_that_comes_first(of_scores):
    frame, found = of_scores
    wrong = wrong_icc(found)
    rows = crosscheck(frame, wrong)
    [row] = [row for row in rows if not row.agrees]
    assert row.result == ICC
    assert row.difference == pytest.approx(-0.01)
    results = with_crosscheck(wrong, rows)
    assert results.limitations[0].code == "crosscheck"
    assert results.limitations[0].severity == "warning"
    assert f"ICC(1,1) of a, T=1 is {row.ours:.6g} here" in results.limitations[0].message
    short = str(results.limitations[0].values["short"])
    assert short.startswith("another package finds other values for 1 of ")
    first = results["crosscheck"].rows[0]  # type: ignore[attr-defined]
    assert ICC in first


def test_numbers_that_agree_leave_a_table_and_no_caveat(of_scores, rows):
    found = of_scores[1]
    results = with_crosscheck(found, rows)
    assert results.limitations == found.limitations
    assert {c.key for c in results["crosscheck"].columns} >= {  # type: ignore[attr-defined]
        "quantity", "condition", "ours", "theirs", "package", "difference", "tolerance",
    }  # fmt: skip
    assert with_crosscheck(found, ()) is found


@pytest.mark.parametrize("package", ["no-such-package", "pingouin"])
def test_a_package_that_is_missing_or_raises_gives_a_row_with_the_reason(of_scores, package):
    def broken(*_: object) -> float:
        raise ZeroDivisionError("of theirs")

    check = CHECKS[0]._replace(package=package, call=broken)
    rows = crosscheck(*of_scores, checks=[check])
    assert len(rows) == len(JUDGES)
    assert all(row.agrees and np.isnan(row.theirs) for row in rows)
    expected = "ZeroDivisionError: of theirs" if package == "pingouin" else "PackageNotFoundError"
    assert all(row.reason.startswith(expected) for row in rows)


def test_data_that_cannot_be_arranged_give_a_row_with_the_reason(of_scores):
    frame, found = of_scores
    twice = pd.concat([frame, frame])
    rows = crosscheck(twice, found, checks=CHECKS[:1])
    assert all("duplicate" in row.reason for row in rows)


def test_kappas_and_limits_of_verdicts_are_the_same():
    rng = np.random.default_rng(6)
    rows = [
        {
            "judge": "j", "temperature": 1.0, "item_id": f"i{i}", "cluster": f"i{i}",
            "replicate": r, "status": "ok", "label": ["pass", "fail"][i % 2],
            "choice": ["pass", "fail"][int(rng.random() < [0.2, 0.7][i % 2])],
        }
        for i in range(20) for r in range(3)
    ]  # fmt: skip
    frame = parsed_frame(pd.DataFrame(rows))
    found = crosscheck(frame, audit(frame, n_resamples=19).records())
    assert set(quantities(found)) == {
        "Fleiss' kappa", "Cohen's kappa", "lower limit of the pass rate",
        "upper limit of the pass rate",
    }  # fmt: skip
    assert not differing(found)


def test_a_pass_rate_of_one_has_an_exact_limit():
    rows = [
        {"judge": "j", "item_id": f"i{i}", "cluster": f"i{i}", "replicate": r, "status": "ok",
         "temperature": 1.0, "choice": "pass"}
        for i in range(12) for r in range(2)
    ]  # fmt: skip
    frame = parsed_frame(pd.DataFrame(rows))
    found = crosscheck(frame, audit(frame, n_resamples=19).records())
    assert quantities(found)["lower limit of the pass rate"] == 1
    assert not differing(found)


def test_scores_of_several_judges_are_the_same(rows):
    assert not differing(rows)
    found = quantities(rows)
    assert found["ICC(1,1)"] == found["Cronbach's alpha"] == len(JUDGES)
    assert found["mean difference"] == found["lower limit of a mean difference"] == 3
    assert found["Friedman's statistic"] == found["F of dispersion within items"] == 1
    assert {row.package.split()[0] for row in rows} == {"pingouin", "statsmodels"}
    assert all(row.package.split()[1][0].isdigit() for row in rows)


def test_a_condition_with_unparsed_scores_is_left_out(of_scores):
    frame, found = of_scores
    lost = frame.copy()
    at = lost.index[lost["condition"] == "a, T=1"][:1]
    lost.loc[at, ["score", "status"]] = [np.nan, "unreadable"]
    rows = crosscheck(lost, found, checks=CHECKS[:2])
    assert {row.condition for row in rows} == {"b, T=1", "c, T=1"}


def test_ranks_of_distances_and_congeneric_omega_are_the_same():
    world = World(sizes=(2,) * 10, replications=5, unread=0.0, constant=0.2)
    asked = [Condition(judge="a", temperature=t) for t in (0.3, 0.7, 1.0)]
    frame = scored(np.random.default_rng(8), world, asked)
    declared = with_omega_model(temperature.plan({"resamples": 19, "seed": 0}, asked), "congeneric")
    found = crosscheck(frame, temperature.analyse(frame, declared).records({}))
    assert quantities(found)["Friedman's statistic"] == 1
    assert quantities(found)["congeneric omega"] >= 1
    assert not differing(found)


@pytest.mark.parametrize("sizes", [(1,) * 20, (4, 3, 2, 2, 1, 1, 1)])
def test_clusters_of_any_size(sizes):
    world = World(sizes=sizes, replications=4, unread=0.0)
    frame = scored(np.random.default_rng(9), world, JUDGES[:2])
    found = crosscheck(frame, audit(frame, n_resamples=19).records())
    assert {"F of dispersion within items", "signed-rank statistic", "mean difference"} <= set(
        quantities(found)
    )
    assert ("lower limit of a mean difference" in quantities(found)) == (len(set(sizes)) == 1)
    assert not differing(found)


@pytest.mark.parametrize("baseline", [False, True])
def test_a_change_between_runs_is_the_same(baseline):
    world = World(sizes=(1,) * 12, replications=3, unread=0.0)
    first, second, third = (scored(np.random.default_rng(s), world, JUDGES[:1]) for s in (1, 2, 3))
    analysis = drifts.drift(
        first, second, baseline=third if baseline else None, n_resamples=19, seed=0
    )
    frame, _ = both_runs(first, second, match_conditions(first, second, pairs=None))
    found = crosscheck(frame, analysis.records())
    assert ("mean difference" in quantities(found)) is not baseline
    assert not differing(found)


def test_the_recorded_judgments_of_the_demo_are_the_same():
    frame = demo_judgments()
    found = crosscheck(frame, audit(frame, n_resamples=19).records())
    assert len(found) >= 6
    assert not differing(found)


def test_every_call_of_the_table_exists():
    for check in CHECKS:
        assert callable(module._function(check.call))
