"""Leniency from all repeats: against two codes, and next to the means."""

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import leniency
from judgestats.stats.inference import distributions, run_component


def test_leniency_is_that_of_two_codes(declared):
    rows = declared.data("leniency10q")
    wide = rows.pivot(index="item", columns=["judge", "run"], values="score")
    wide = wide.reindex(columns=[(j, r) for j in ("j1", "j2", "j3") for r in range(1, 5)])
    clusters = rows.drop_duplicates("item").set_index("item")["cluster"].loc[wide.index]
    out = leniency(wide.to_numpy(float).reshape(len(wide), 3, 4), cluster=clusters)
    expected = declared.value("leniency10q", "leniency")
    assert [e.estimate for e in out.terms] == pytest.approx(expected["leniency"], rel=1e-8)
    assert [e.std_error for e in out.terms] == pytest.approx(expected["se"], rel=1e-8)
    assert out.details["p_values"] == pytest.approx(expected["p"], rel=1e-8)
    for term, ends in zip(out.terms, expected["simultaneous_ci"], strict=True):
        assert [term.interval.low, term.interval.high] == pytest.approx(ends, rel=1e-8)
        half = distributions.t.ppf(1 - 0.05 / 6, expected["df"]) * term.std_error
        assert term.interval.high - term.estimate == pytest.approx(half, rel=1e-8)


def test_random_runs_widen_the_intervals():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 3, 5)) + 0.5 * rng.normal(size=(1, 3, 5))
    runs = run_component(x)
    assert runs.is_random
    plain, wide = leniency(x), leniency(x, runs=runs)
    for one, two in zip(plain.terms, wide.terms, strict=True):
        added = two.std_error**2 - one.std_error**2
        assert added == pytest.approx(runs.variance * (1 / 5 - 2 / 15 + 3 / 45), rel=1e-9)
        assert two.interval.high - two.interval.low > one.interval.high - one.interval.low


def test_items_of_one_judge_are_counted_and_strangers_refused():
    x = np.random.default_rng(4).normal(size=(20, 3))
    x[:5, 1:] = np.nan
    out = leniency(x, judges=["a", "b", "c"])
    assert "5 items were scored by one judge only" in out.notes[0].message
    assert (out.sample.n_items, out.terms[1].label) == (15, "Leniency of b vs. panel")
    apart = np.full((20, 4), np.nan)
    apart[:10, :2], apart[10:, 2:] = x[:10, :1], x[10:, :1]
    with pytest.raises(InputError, match="groups that share no item"):
        leniency(apart)
    with pytest.raises(InputError, match="no item was scored by two"):
        leniency(np.where(np.eye(2) > 0, 1.0, np.nan))
    with pytest.raises(InputError, match="at least 2 judges"):
        leniency(x[:, :1])


def test_equal_judges_are_rarely_called_lenient():
    rng, found = np.random.default_rng(5), 0
    for _ in range(300):
        x = rng.normal(size=(40, 1, 1)) + rng.normal(size=(40, 4, 2))
        found += any(not e.interval.low <= 0 <= e.interval.high for e in leniency(x).terms)
    assert found / 300 <= 0.05 + 2 * 0.0126
