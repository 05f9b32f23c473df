"""Runs: test, component and their part in errors agree with two other codes."""

import numpy as np
import pytest

from judgestats.stats.inference import mean_over_clusters, run_component

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
