"""The comparison of spread: what it finds, what it leaves alone, what it says."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import friedman_test, spread_test, spread_trend
from judgestats.stats.comparison import blocked_f_test
from judgestats.stats.designs import cell_statistics
from judgestats.stats.dispersion import trend_over_cells


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(12)


def judgments(rng, *, n=30, r=6, spreads=(0.5, 0.5, 0.5)) -> np.ndarray:
    k = len(spreads)
    return 7 + rng.normal(size=(n, 1, 1)) + rng.normal(size=(n, k, r)) * np.array(spreads)[:, None]


def test_a_real_difference_is_found_and_sized(rng: np.random.Generator) -> None:
    out = spread_test(
        judgments(rng, n=60, r=8, spreads=(0.5, 0.5, 1.0)),
        conditions=["a", "b", "c"],
        n_permutations=999,
        reference="a",
    )
    assert out.p_value == 0.001
    assert out.rank_test.p_value < 1e-6
    assert out.iman_davenport is not None
    b, c = out.ratios.rows
    assert b.interval.low < 1 < b.interval.high
    assert c.interval.low < 4 < c.interval.high
    assert "differs between the conditions" in out.sentence()
    assert {f.name for f in out.post_hoc} == {"nemenyi"}


def test_no_difference_is_never_turned_into_equality(rng: np.random.Generator) -> None:
    out = spread_test(judgments(rng), n_permutations=199)
    assert out.p_value > 0.05
    text = out.sentence()
    assert "does not show that the conditions are equal" in text
    assert "differs between" not in text


def test_rank_test_is_friedman_on_the_cell_statistic(rng: np.random.Generator) -> None:
    x = judgments(rng)
    cells = cell_statistics(x)
    for data, values in ((x, cells.from_mean), (cells.variance, np.sqrt(cells.variance))):
        out = spread_test(data, n_permutations=99)
        assert out.rank_test.statistic == pytest.approx(friedman_test(values).statistic, rel=1e-12)
        np.testing.assert_allclose(out.values, values)


def test_two_conditions_use_wilcoxon(rng: np.random.Generator) -> None:
    x = judgments(rng, spreads=(0.5, 0.8))
    out = spread_test(x, n_permutations=199)
    v = cell_statistics(x).from_mean
    expected = stats.wilcoxon(v[:, 1], v[:, 0])
    assert out.rank_test.p_value == pytest.approx(expected.pvalue, rel=1e-8)
    assert out.rank_test.effects[0].estimate > 0  # the later condition spreads more
    assert out.post_hoc == ()


@settings(max_examples=15, deadline=None)
@given(
    hnp.arrays(np.float64, (6, 3, 4), elements=st.integers(1, 10).map(float)),
    hnp.arrays(np.float64, (6,), elements=st.integers(-4, 4).map(float)),
    st.permutations(range(6)),
    st.permutations(range(4)),
    st.permutations(range(3)),
)
def test_item_levels_and_the_order_of_items_replications_and_conditions_change_nothing(
    x, shift, items, replications, conditions
) -> None:
    moved = (x + shift[:, None, None])[items][:, list(conditions)][:, :, list(replications)]
    names = np.array(["a", "b", "c"])
    first = spread_test(x, conditions=names, n_permutations=0)
    second = spread_test(moved, conditions=names[list(conditions)], n_permutations=0)
    for one, other in zip(first.tests, second.tests, strict=True):
        assert one.statistic == pytest.approx(other.statistic, rel=1e-8, nan_ok=True)
        assert one.p_value == pytest.approx(other.p_value, rel=1e-7, nan_ok=True)


@pytest.mark.parametrize("runs", [100, pytest.param(300, marks=pytest.mark.study)])
def test_size_is_kept_where_spread_varies_by_item_and_judgments_exchange_fails(runs) -> None:
    """Cells exchanged: nominal size. Single judgments exchanged (Levene-like): far above."""
    rng = np.random.default_rng(0)
    rejected = levene = 0
    for _ in range(runs):
        scale = np.sqrt(rng.gamma(0.5, 2, size=(20, 3, 1)))
        x = rng.normal(size=(20, 3, 5)) * scale
        rejected += spread_test_p(x) < 0.05
        centred = (x - x.mean(axis=2, keepdims=True)).transpose(1, 0, 2).reshape(3, -1)
        levene += stats.levene(*centred).pvalue < 0.05
    assert abs(rejected / runs - 0.05) <= 2.5 * np.sqrt(0.05 * 0.95 / runs)
    assert levene / runs > 0.15


def spread_test_p(x: np.ndarray) -> float:
    return blocked_f_test(cell_statistics(x).from_mean, n_permutations=199).p_value


def test_clusters_are_permuted_jointly_and_post_hoc_respects_them(rng) -> None:
    x = judgments(rng, n=12)
    once = spread_test(x, n_permutations=499)
    copies = spread_test(
        np.repeat(x, 3, axis=0), cluster=np.repeat(np.arange(12), 3), n_permutations=499
    )
    assert copies.p_value == once.p_value
    assert copies.sample.n_clusters == 12
    assert [f.name for f in copies.post_hoc] == ["permutation_pairs"]
    assert copies.ratios.rows[0].p_value == pytest.approx(once.ratios.rows[0].p_value, rel=1e-10)


def test_items_without_two_scores_are_left_out_and_counted(rng: np.random.Generator) -> None:
    x = judgments(rng)
    x[4, 0, 1:] = np.nan
    x[7, 2, :2] = np.nan
    out = spread_test(x, n_permutations=99)
    assert out.sample.n_items == 29
    assert out.sample.n_excluded == 1
    assert {n.code for n in out.notes} == {"items_excluded", "unequal_replications"}
    assert "warning: 1 of 30 items is left out" in str(out)


def test_all_alike_is_said_not_tested() -> None:
    out = spread_test(np.full((8, 3, 4), 8.0), n_permutations=99)
    assert math.isnan(out.p_value)
    assert "could not be compared" in out.sentence()
    assert all(math.isnan(r.estimate) and r.reason for r in out.ratios.rows)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("clustered", [False, True])
def test_no_repeated_judgment_is_undefined_in_every_test(k: int, clustered: bool, rng) -> None:
    """A condition in which all calls failed must not take the other results down."""
    x = rng.normal(size=(6, k, 3))
    x[:, 0, 1:] = np.nan
    out = spread_test(
        x, ordered=True, cluster=np.arange(6) // 2 if clustered else None, n_permutations=99
    )
    assert all(math.isnan(t.p_value) and t.reason for t in out.tests)
    assert out.sample.n_excluded == 6
    assert "could not be compared" in out.sentence()
    assert len(str(out)) > 100


def test_one_silent_condition_is_tested_but_has_no_ratio(rng: np.random.Generator) -> None:
    x = judgments(rng)
    x[:, 0] = np.round(x[:, 0, :1])
    out = spread_test(x, conditions=["T=0", "T=0.5", "T=1"], n_permutations=199)
    assert out.p_value == 0.005
    assert math.isnan(out.ratios.rows[0].estimate)
    assert out.summary["T=0"].constant_share == 1.0


def test_table_of_variances_is_enough(rng: np.random.Generator) -> None:
    x = judgments(rng)
    v = cell_statistics(x).variance
    out = spread_test(v, n_permutations=199)
    deviations = blocked_f_test(np.sqrt(v), n_permutations=199)
    assert out.p_value == deviations.p_value
    assert out.summary is None
    assert out.shifts is None
    assert out.gmd_ratios is None
    assert out.statistic == "cell standard deviation"


def test_everything_prints_tidies_and_serialises(rng: np.random.Generator) -> None:
    out = spread_test(judgments(rng), ordered=[0, 0.5, 1], n_permutations=99, n_resamples=99)
    assert len(out.glance()) == 6
    assert len(out.tidy()) == 3
    plain = out.to_dict()
    assert len(plain["tests"]) == 6
    assert str(out).count("Spearman") >= 1
    with pytest.raises(TypeError, match="not iterable"):
        iter(out)


def test_eleven_temperatures_in_seconds(rng: np.random.Generator) -> None:
    x = rng.integers(1, 11, size=(80, 11, 10)).astype(float)
    start = time.perf_counter()
    spread_test(x, n_permutations=10_000)
    assert time.perf_counter() - start < 10


def test_trend_statistics_are_scipys(rng: np.random.Generator) -> None:
    y = rng.integers(0, 6, size=(15, 4)).astype(float) + np.arange(4)
    along = np.tile([0.1, 0.3, 0.9, 1.0], 15)
    for kind, theirs in (("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        out = trend_over_cells(
            y, at=[0.1, 0.3, 0.9, 1.0], kind=kind, n_resamples=99, n_permutations=99
        )
        assert out.statistic == pytest.approx(theirs(along, y.ravel()).statistic, rel=1e-12)
        assert out.p_value == 0.01
        assert out.effects[0].interval.low < out.statistic < out.effects[0].interval.high


def test_trend_of_noise_is_not_found_and_falls_are_negative(rng: np.random.Generator) -> None:
    y = rng.normal(size=(20, 4))
    tests = spread_trend(y, n_resamples=99, n_permutations=199)
    assert [t.name for t in tests] == ["page_trend_test", "spearman_trend", "kendall_trend"]
    assert all(t.p_value > 0.05 for t in tests)
    falling = trend_over_cells(y - np.arange(4) * 2, n_resamples=99, n_permutations=199)
    assert falling.statistic < -0.5
    assert falling.p_value == 0.005


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"ordered": [1, 0, 2]}, "strictly increasing"),
        ({"ordered": [1, 2]}, "need 3"),
        ({"conditions": ["a"]}, "3 different names"),
        ({"reference": "nobody"}, "reference"),
        ({"cluster": [1]}, "cluster"),
    ],
)
def test_unusable_options_are_refused(arguments, match: str, rng) -> None:
    with pytest.raises(InputError, match=match):
        spread_test(judgments(rng, n=5), n_permutations=9, **arguments)


def test_unusable_scores_are_refused() -> None:
    with pytest.raises(InputError, match="3-d"):
        spread_test(np.ones(4))
    with pytest.raises(InputError, match="at least 2 conditions"):
        spread_test(np.ones((4, 1, 3)))
    with pytest.raises(InputError, match="cannot be negative"):
        spread_test(-np.ones((4, 2)))
