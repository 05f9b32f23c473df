"""The signed-rank test, pseudomedian and matched effect."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import wilcoxon_signed_rank
from judgestats.stats.inference import Estimate


def matched_effect(d: object, **options: object) -> Estimate:
    """The rank-biserial correlation of differences."""
    return wilcoxon_signed_rank(d, np.zeros(len(d)), **options).effects[0]  # type: ignore[arg-type]


def pseudomedian(d: object, **options: object) -> Estimate:
    """The Hodges-Lehmann estimate of differences."""
    return wilcoxon_signed_rank(d, np.zeros(len(d)), **options).effects[1]  # type: ignore[arg-type]


DIFFERENCES = arrays(np.int64, st.integers(3, 14), elements=st.integers(-6, 6))


@settings(max_examples=30, deadline=None)
@given(d=DIFFERENCES)
def test_exchanging_the_pair_mirrors_everything(d: np.ndarray) -> None:
    zero = np.zeros(d.size)
    a = wilcoxon_signed_rank(d, zero)
    b = wilcoxon_signed_rank(zero, d)
    if math.isnan(a.p_value):
        assert math.isnan(b.p_value)
        return
    assert a.p_value == pytest.approx(b.p_value, abs=1e-12)
    for x, y in zip(a.effects, b.effects, strict=True):
        assert x.estimate == pytest.approx(-y.estimate, abs=1e-9)
        assert (x.interval is None) == (y.interval is None)
        if x.interval and y.interval:
            assert x.interval.low == pytest.approx(-y.interval.high, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(d=arrays(np.int64, st.integers(2, 9), elements=st.integers(-4, 4)), alone=st.booleans())
def test_exact_p_is_the_share_of_sign_changes(d: np.ndarray, alone: bool) -> None:
    """Without ties by rank, and with ties where clusters of one are given."""
    if alone:
        d = d * 10 + np.arange(1, d.size + 1)
        d = d[np.unique(np.abs(d), return_index=True)[1]]
    found = wilcoxon_signed_rank(d, np.zeros(d.size), cluster=None if alone else np.arange(d.size))
    if not np.any(d):
        assert math.isnan(found.p_value)
        return
    assert "exact" in found.method
    ranks = stats.rankdata(np.abs(d))[d != 0]
    d = d[d != 0]
    signs = np.array(np.meshgrid(*[[0, 1]] * d.size)).reshape(d.size, -1).T
    centre = ranks.sum() / 2
    far = np.abs(signs @ ranks - centre) >= abs(ranks[d > 0].sum() - centre) - 1e-9
    assert found.p_value == pytest.approx(far.mean(), abs=1e-12)


def test_clusters_flip_together() -> None:
    d = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    cluster = [0, 0, 1, 1, 2, 2]
    found = wilcoxon_signed_rank(d, np.zeros(6), cluster=cluster)
    assert found.p_value == pytest.approx(2 / 8)
    alone = wilcoxon_signed_rank(d, np.zeros(6), cluster=np.arange(6))
    assert alone.p_value == pytest.approx(wilcoxon_signed_rank(d, np.zeros(6)).p_value)
    assert found.sample.n_clusters == 3
    many = np.random.default_rng(2).normal(0.02, 1, 4000)
    large = wilcoxon_signed_rank(many, np.zeros(4000), cluster=np.arange(4000) // 2)
    assert "normal over sign changes" in large.method
    assert 0 < large.p_value <= 1


def test_missing_zero_and_constant() -> None:
    found = wilcoxon_signed_rank([1, 2, np.nan, 4, 6.5], [1, 1, 2, 2, 2])
    assert found.sample.n_excluded == 1
    assert {n.code for n in found.notes} == {"incomplete_blocks", "zero_differences"}
    same = wilcoxon_signed_rank([3, 4, 5], [3, 4, 5])
    assert math.isnan(same.p_value)
    assert same.reason == "all differences are zero"
    assert "not computed" in same.sentence()
    assert math.isnan(wilcoxon_signed_rank([np.nan], [1.0]).p_value)
    single = wilcoxon_signed_rank([2.0], [1.0])
    assert single.p_value == 1.0
    assert single.effects[0].interval is None
    one_way = matched_effect([1, 2, 3, 4])
    assert one_way.estimate == 1
    assert one_way.interval is None
    assert one_way.notes[0].code == "boundary"


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: wilcoxon_signed_rank([1, 2], [1]), "equally long"),
        (lambda: wilcoxon_signed_rank([1, np.inf], [1, 2]), "finite"),
        (lambda: wilcoxon_signed_rank(np.ones((4, 3))), "exactly 2 conditions"),
        (lambda: wilcoxon_signed_rank([1, 2], [2, 1], cluster=[1]), "cluster must hold"),
    ],
)
def test_bad_input_is_named(call: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        call()  # type: ignore[operator]


def test_limits_over_clusters_are_averages_of_pairs_at_the_spread_of_the_clusters() -> None:
    d, cluster = np.random.default_rng(3).integers(-30, 50, 60), np.arange(60) // 2
    averages = np.sort(np.add.outer(d, d)[np.triu_indices(60)] / 2)
    e = pseudomedian(d, cluster=cluster)
    moved = d - e.estimate
    signed = np.sign(moved) * stats.rankdata(np.abs(moved))
    spread = math.sqrt(np.sum(np.bincount(cluster, weights=signed) ** 2) / 4)
    place = math.floor(averages.size / 2 - stats.norm.isf(0.025) * spread)
    ends = (averages[place - 1], averages[-place])
    assert (e.interval.low, e.interval.high) == pytest.approx(ends)


def test_effect_intervals_over_clusters() -> None:
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(20), 3)
    d = np.repeat(rng.normal(0.4, 1, 20), 3) + 0.1 * rng.normal(size=60)
    alone = matched_effect(d)
    together = matched_effect(d, cluster=cluster)
    singles = matched_effect(d, cluster=np.arange(60))
    widths = []
    for e in (alone, together, singles):
        assert e.interval is not None
        widths.append(e.interval.high - e.interval.low)
    assert widths[1] > 1.3 * widths[0]
    assert widths[2] == pytest.approx(widths[0], rel=1e-9)
    assert matched_effect(d, cluster=np.arange(60) // 30).interval is None


def test_jackknife_by_sorting_is_the_jackknife() -> None:
    d = np.random.default_rng(6).integers(-4, 6, 30).astype(float)
    cluster = np.arange(30) // 4
    r = matched_effect(d).estimate
    left = np.array([matched_effect(d[cluster != g]).estimate for g in range(8)])
    z = np.arctanh(left)
    se = math.sqrt(7 / 8 * np.sum((z - z.mean()) ** 2))
    half = stats.t.isf(0.025, 7) * se
    e = matched_effect(d, cluster=cluster)
    assert e.interval is not None
    assert e.interval.low == pytest.approx(math.tanh(math.atanh(r) - half))


def test_agrees_with_scipy() -> None:
    d = np.random.default_rng(1).normal(0.3, 1, 12)
    found = wilcoxon_signed_rank(d, np.zeros(12))
    assert found.p_value == pytest.approx(stats.wilcoxon(d, method="exact").pvalue)
    assert wilcoxon_signed_rank(np.column_stack([d, 0 * d])).p_value == found.p_value
    named = wilcoxon_signed_rank(d, np.zeros(12), names=["new", "old"])
    assert named.alternative == "the differences new - old are not symmetric about 0"


def test_p_and_interval_keep_zero_differences() -> None:
    d = np.array([0.0] * 12 + [1.0, 1.0, 2.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    kept, without = (wilcoxon_signed_rank(v, 0 * v) for v in (d, d[12:]))
    assert without.effects[1].estimate == 1.5
    assert kept.effects[1].interval.low < without.effects[1].interval.low
    assert kept.details["n_zero"] == 12
