"""The comparison of spread: what it finds, what it leaves alone, what it says."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import spread_test
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
