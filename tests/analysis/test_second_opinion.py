"""Other packages give the same numbers on data, and a wrong number of ours would show."""

from __future__ import annotations

import argparse
import dataclasses

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import temperature
from judgestats.analysis.audit import audit
from judgestats.analysis.crosscheck import (
    OPINIONS_FILE,
    disagreeing,
    opinions_table,
    second_opinion,
    with_second_opinion,
)
from judgestats.analysis.families import with_omega_model
from judgestats.commands.crosscheck import second_opinion_command
from judgestats.data.columns import Condition
from judgestats.data.demo import demo_judgments
from judgestats.data.readers.frame import parsed_frame
from judgestats.reporting.runs import load_run
from judgestats.results import Comparison, write_results
from tests.null_judge.designs import aligned, seeded
from tests.null_judge.worlds import World, scored

JUDGES = [Condition(judge=j, temperature=1.0) for j in "abc"]


@pytest.fixture(scope="module")
def of_scores():
    world = World(sizes=(2,) * 10, replications=4, unread=0.0, constant=0.2)
    rng = np.random.default_rng(5)
    frame = scored(rng, world, JUDGES)
    mean = frame.groupby("item_id")["score"].transform("mean")
    frame["label"] = (mean.round() - 1 + frame["item_id"].str[1:].astype(int) % 3).astype(str)
    return frame, audit(frame, n_resamples=19).records()


@pytest.fixture(scope="module")
def opinions(of_scores):
    return second_opinion(*of_scores)


def test_reliability_variance_correlation_and_adjustment_are_the_same(opinions):
    assert not disagreeing(opinions), opinions_table(opinions).to_string()
    by_package = opinions_table(opinions).groupby("package").size()
    assert by_package["pingouin.intraclass_corr"] == len(JUDGES)
    assert by_package["pingouin.cronbach_alpha"] == len(JUDGES)
    assert by_package["statsmodels.MixedLM"] >= 1
    assert by_package["scipy.stats.pearsonr"] == len(JUDGES)
    assert by_package["statsmodels.multipletests"] >= 1


def test_a_full_report_has_them_among_its_records_and_tables(of_scores):
    frame, _ = of_scores
    full = with_second_opinion(audit(frame, n_resamples=19), frame)
    table = full.records()["second_opinion"]
    assert full.files[OPINIONS_FILE].count("\n") == len(table.rows) + 1
    assert {c.key for c in table.columns} >= {"ours", "theirs", "difference", "convention"}


def test_a_wrong_number_shows(of_scores):
    frame, found = of_scores
    wrong = tuple(
        dataclasses.replace(r, estimate=r.estimate + 0.01)
        if r.id == "reliability.icc1.a, T=1"
        else r
        for r in found.results
    )
    apart = disagreeing(second_opinion(frame, dataclasses.replace(found, results=wrong)))
    assert [o.result for o in apart] == ["reliability.icc1.a, T=1"]
    assert apart[0].difference == pytest.approx(-0.01)


def test_a_pair_is_held_to_the_claim_that_its_record_names_and_to_no_other(of_scores, opinions):
    frame, found = of_scores
    pairs = [r for r in found.select(Comparison) if r.held_to]
    assert {r.held_to for r in pairs} <= {h.id for h in found.headlines}
    assert all(r.p_adjusted >= found.claimed_p(r.held_to) for r in pairs)
    held = next(r for r in pairs if r.p_adjusted == found.claimed_p(r.held_to) > r.p)
    told = [o for o in opinions if "its claim" in o.convention]
    assert held.family in {found[o.result].family for o in told}
    # An equal p alone, of a claim that the record does not name, is no agreement.
    unnamed = tuple(
        dataclasses.replace(r, held_to="") if isinstance(r, Comparison) else r
        for r in found.results
    )
    apart = disagreeing(second_opinion(frame, dataclasses.replace(found, results=unnamed)))
    assert held.family in {found[o.result].family for o in apart}


def test_kappas_of_verdicts_are_the_same():
    rng = np.random.default_rng(6)
    rows = [
        {
            "judge": "j", "temperature": 1.0, "item_id": f"i{i}", "cluster": f"i{i}",
            "replicate": r, "status": "ok", "label": "AB"[i % 2],
            "choice": "ABC"[int(rng.choice([i % 2, 2], p=[0.7, 0.3]))],
        }
        for i in range(20) for r in range(3)
    ]  # fmt: skip
    frame = parsed_frame(pd.DataFrame(rows))
    opinions = second_opinion(frame, audit(frame, n_resamples=19).records())
    assert {o.what for o in opinions} >= {"Fleiss' kappa", "Cohen's kappa with labels"}
    assert not disagreeing(opinions), opinions_table(opinions).to_string()


def test_ranks_of_spread_and_congeneric_omega_are_the_same():
    world = World(sizes=(2,) * 10, replications=5, unread=0.0, constant=0.2)
    asked = [Condition(judge="a", temperature=t) for t in (0.3, 0.7, 1.0)]
    frame = scored(np.random.default_rng(8), world, asked)
    declared = with_omega_model(temperature.plan({"resamples": 19, "seed": 0}, asked), "congeneric")
    opinions = second_opinion(frame, temperature.analyse(frame, declared).records({}))
    told = [o.what for o in opinions]
    assert told.count("Friedman's chi-squared") == 1
    assert "congeneric omega" in told
    assert not disagreeing(opinions), opinions_table(opinions).to_string()


@pytest.mark.parametrize("sizes", [(1,) * 20, (4, 3, 2, 2, 1, 1, 1)])
def test_primary_tests_within_items_are_the_same(sizes):
    """F over questions of any size; signed ranks of two conditions; agreement with people."""
    world = World(sizes=sizes, replications=4, unread=0.0)
    frame = scored(np.random.default_rng(9), world, JUDGES[:2])
    opinions = second_opinion(frame, audit(frame, n_resamples=19).records())
    told = {o.what: o for o in opinions}
    assert {"F of spread within items", "signed-rank statistic V"} <= set(told)
    assert not disagreeing(opinions), opinions_table(opinions).to_string()
    found = aligned(seeded(1), world, resamples=19).records()
    opinions = second_opinion(frame[:0], found)
    told = [o.what for o in opinions]
    assert told.count("F of agreement with people") == 2
    assert told.count("difference of alignment scores") == 6
    assert not disagreeing(opinions), opinions_table(opinions).to_string()


def test_the_recorded_judgments_of_the_demo_are_the_same():
    frame = demo_judgments()
    opinions = second_opinion(frame, audit(frame, n_resamples=19).records())
    assert len(opinions) >= 6
    assert not disagreeing(opinions), opinions_table(opinions).to_string()


def test_the_table_is_kept_with_the_run(tmp_path, of_scores, capsys):
    frame, found = of_scores
    write_results(tmp_path / "results.json", found)
    (tmp_path / "data").mkdir()
    frame.to_parquet(tmp_path / "data" / "judgments.parquet", index=False)
    assert second_opinion_command(argparse.Namespace(run=str(tmp_path), out="")) == 0
    assert "numbers are the same" in capsys.readouterr().out
    kept = load_run(tmp_path).second_opinion
    assert len(kept)
    assert kept["agrees"].all()
