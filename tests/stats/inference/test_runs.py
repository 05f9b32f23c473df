"""Runs: test, component and their part in errors agree with two other codes."""

import numpy as np
import pytest

from judgestats.stats import mean_shift
from judgestats.stats.inference import distributions, mean_over_clusters, run_component

CLOSE = {"rel": 1e-8, "abs": 1e-12}


@pytest.mark.parametrize("data_set", ["runs3x30x5", "runs2x40x2"])
def test_the_run_component_is_that_of_two_codes(declared, data_set):
    scores, _ = declared.cube(data_set)
    found, expected = run_component(scores), declared.value(data_set, "run_facet")
    ours = {
        "Q": found.statistic, "df": found.df, "p": found.p_value, "MS_run": found.ms_run,
        "MS_residual": found.ms_residual, "run_sd": found.sd, "run_sd_upper95": found.sd_upper(),
    }  # fmt: skip
    assert ours == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize(
    ("data_set", "judge"), [("runs3x30x5", 1), ("runs3x30x5", 2), ("runs2x40x2", 1)]
)
def test_a_difference_of_means_with_the_run_variance_is_that_of_two_codes(
    declared, data_set, judge
):
    scores, _ = declared.cube(data_set)
    expected = declared.value(data_set, f"j{judge + 1}_minus_j1")
    differences = scores[:, judge].mean(axis=1) - scores[:, 0].mean(axis=1)
    items = mean_over_clusters(differences, np.arange(len(scores)))
    runs = run_component(scores).for_judges(0, judge)
    found = runs.widen(items, runs.share())
    ours = [
        items.mean, items.std_error, items.df, found.std_error, found.df, found.p_value(),
        items.interval(0.95).low, items.interval(0.95).high,
        found.interval(0.95).low, found.interval(0.95).high, runs.variance * runs.share(),
    ]  # fmt: skip
    theirs = [
        expected["estimate"], expected["se_items"], expected["df_items"], expected["se"],
        expected["df"], expected["p"], *expected["ci_items"], *expected["ci"], expected["V_run"],
    ]  # fmt: skip
    assert ours == pytest.approx(theirs, **CLOSE)


@pytest.mark.parametrize(
    ("judges", "runs", "shift", "is_random", "target"),
    [(2, 2, 0.0, False, "these runs"), (3, 3, 0.0, True, ""), (3, 5, 0.0, False, ""),
     (3, 5, 0.5, True, "")],
)  # fmt: skip
def test_the_number_of_runs_decides_what_is_random(judges, runs, shift, is_random, target):
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(40, judges, runs)) + shift * rng.normal(size=(1, judges, runs))
    found = run_component(scores)
    assert (found.is_random, found.target) == (is_random, target)
    again = run_component(scores, interleaved=True)
    assert (again.is_random, again.target) == (False, "")


def test_a_judge_that_never_varies_and_one_with_one_run_count_for_nothing():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(20, 3, 4))
    scores[:, 1] = scores[:, 1, :1]
    scores[:, 2, 1:] = np.nan
    alone = run_component(scores[:, :1])
    found = run_component(scores)
    assert (found.statistic, found.df, found.runs) == (alone.statistic, 3, (4, 4, 1))
    nothing = run_component(scores[:, 1:2])
    assert np.isnan([nothing.statistic, nothing.variance]).all()
    assert not nothing.is_random


def test_missing_scores_leave_the_component_near_and_the_order_of_rows_leaves_it():
    rng = np.random.default_rng(9)
    scores = rng.normal(size=(60, 2, 5)) + rng.normal(size=(1, 2, 5))
    whole = run_component(scores)
    holes = np.where(rng.random(scores.shape) < 0.1, np.nan, scores)
    found = run_component(holes)
    assert found.sd == pytest.approx(whole.sd, rel=0.2)
    again = run_component(holes[::-1])
    assert again.statistic == pytest.approx(found.statistic, rel=1e-12)


def test_few_clusters_have_their_run_labels_permuted():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(30, 2, 5)) + 2 * rng.normal(size=(1, 2, 5))
    found = run_component(scores, cluster=np.repeat(np.arange(6), 5))
    assert found.p_value == 1 / 1000


def test_no_other_judge_and_no_copy_of_one_turns_what_is_random():
    rng = np.random.default_rng(4)
    for runs in (2, 3, 5, 6, 10):
        x = rng.normal(size=(40, 2, runs))
        alone = run_component(x)
        for more in (x[:, :1], x[:, 1:] + 3, rng.normal(size=(40, 3, runs))):
            found = run_component(np.concatenate([x, more], axis=1)).for_judges(0, 1)
            same = (alone.is_random, alone.is_identified, alone.p_value, alone.target)
            assert (found.is_random, found.is_identified, found.p_value, found.target) == same


def test_a_judge_is_decided_on_its_own_runs():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(40, 2, 12))
    x[:, 1] += 2 * rng.normal(size=12)
    found = run_component(x)
    assert not found.for_judges(0).is_random
    assert found.for_judges(1).is_random
    assert found.for_judges(0, 1).is_random


def test_a_judge_that_never_varies_has_no_unknown_shift_of_its_runs():
    x = np.random.default_rng(6).normal(size=(20, 2, 3))
    x[:, 0] = x[:, 0, :1]
    assert run_component(x).for_judges(0).target == ""
    assert run_component(x).for_judges(1).target == "these runs"


def test_single_runs_are_not_identified_and_repeats_in_no_runs_are_no_facet():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 2, 5)) + np.array([0, 2])[:, None]
    for scores in (x[:, :, :1], np.where(np.arange(5) < [[1], [5]], x, np.nan)):
        runs = run_component(scores)
        [row] = mean_shift(scores, runs=runs).rows
        assert (row.p_value < 0.001, row.details["target"]) == (True, "these runs")
        assert "a run shift" in mean_shift(scores, runs=runs).notes[0].message
        assert not run_component(scores, interleaved=True).target
    loose = np.where(rng.random(x.shape) < 0.4, np.nan, x)
    loose[:, :, 0] = x[:, :, 0]
    assert run_component(loose).runs == (0, 0)
    assert not run_component(loose).target


def test_few_runs_say_what_more_would_save():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(40, 2, 3)) + 0.5 * rng.normal(size=(1, 2, 3))
    runs = run_component(x)
    assert runs.is_random
    [row] = mean_shift(x, runs=runs).rows
    [note] = row.notes
    saved = int(note.message.removeprefix("5 runs per judge would narrow this interval by ")[:-2])
    items = mean_over_clusters((x[:, 1] - x[:, 0]).mean(axis=1), np.arange(40))
    squares = runs.ms_run**2 / 8 + runs.ms_residual**2 / runs.df_residual
    added = runs.variance * 2 / 5
    variance = items.std_error**2 + added
    df = variance**2 / (items.std_error**4 / 39 + (2 / 5 / runs.k) ** 2 * squares)
    half = distributions.t.ppf(0.975, df) * np.sqrt(variance)
    ratio = 2 * half / (row.interval.high - row.interval.low)
    assert saved == round(100 * (1 - ratio)) > 5
    many = rng.normal(size=(40, 2, 5)) + 0.5 * rng.normal(size=(1, 2, 5))
    assert not mean_shift(many, runs=run_component(many)).rows[0].notes
