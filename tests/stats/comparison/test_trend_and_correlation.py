"""Page, Jonckheere-Terpstra, Spearman and Kendall."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import kendall_correlation, page_trend_test, spearman_correlation


def temperatures(n: int = 12, slope: float = 0.0, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    t = np.array([0.0, 0.3, 0.7, 1.0])
    return pd.DataFrame(
        {
            "variance": (rng.normal(size=(n, 1)) + rng.normal(size=(n, 4)) + slope * t).ravel(),
            "temperature": np.tile(t, n),
            "item": np.repeat(np.arange(n), 4),
            "question": np.repeat(np.arange(n) // 2, 4),
        }
    )


def test_page_agrees_with_scipy_without_ties() -> None:
    x = np.random.default_rng(2).normal(size=(8, 4))
    for exact, method in ((True, "exact"), (False, "asymptotic")):
        ours = page_trend_test(x, exact=exact)
        theirs = stats.page_trend_test(x, method=method)
        assert ours.statistic == pytest.approx(theirs.statistic)
        assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-9)


def test_page_sides_and_order() -> None:
    frame = temperatures(slope=2.0)
    up = page_trend_test("variance ~ temperature | item", frame)
    down = page_trend_test("variance ~ temperature | item", frame, order=[1.0, 0.7, 0.3, 0.0])
    assert up.p_value < 0.001
    assert down.p_value > 0.99
    less = page_trend_test("variance ~ temperature | item", frame, alternative="less").p_value
    assert less == pytest.approx(down.p_value)
    assert up.alternative == "the score rises along 0 < 0.3 < 0.7 < 1"
    effect = up.effect
    assert effect is not None
    assert effect.interval is not None
    assert effect.interval.low > 0
    with pytest.raises(InputError, match="every condition once"):
        page_trend_test("variance ~ temperature | item", frame, order=[0, 1])
    with pytest.raises(InputError, match="at least 3 conditions"):
        page_trend_test([[1, 2], [2, 1]])


def test_page_with_clusters() -> None:
    frame = temperatures(slope=0.5)
    found = page_trend_test("variance ~ temperature | item", frame, cluster="question", seed=1)
    assert "permutations" in found.method
    again = page_trend_test("variance ~ temperature | item", frame, cluster="question", seed=1)
    assert found.p_value == again.p_value
    two = page_trend_test(
        "variance ~ temperature | item", frame, cluster="question", alternative="two-sided"
    )
    assert two.p_value == pytest.approx(2 * found.p_value, abs=0.02)


def test_page_of_nothing() -> None:
    found = page_trend_test(np.full((4, 3), 2.0))
    assert math.isnan(found.p_value)
    assert found.reason


@settings(max_examples=25, deadline=None)
@given(pairs=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=4, max_size=12))
def test_rank_correlations_ignore_monotone_transforms(pairs: list) -> None:
    x, y = np.array(pairs, dtype=float).T
    for test in (spearman_correlation, kendall_correlation):
        a = test(x, y)
        b = test(np.exp(x), y**3)
        c = test(x, -y)
        if a.reason:
            assert math.isnan(a.p_value)
            continue
        assert a.effects[0].estimate == pytest.approx(b.effects[0].estimate, abs=1e-12)
        assert a.p_value == pytest.approx(b.p_value, abs=1e-9)
        assert c.effects[0].estimate == pytest.approx(-a.effects[0].estimate, abs=1e-12)
        assert c.p_value == pytest.approx(a.p_value, abs=1e-9)


def test_spearman_exact_with_ties_and_edgeworth() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 4, 6).astype(float), rng.integers(0, 4, 6).astype(float)
    observed = stats.spearmanr(x, y).statistic
    every = [stats.spearmanr(x, np.array(p)).statistic for p in itertools.permutations(y)]
    upper = np.mean(np.array(every) >= observed - 1e-9)
    assert spearman_correlation(x, y, exact=True, alternative="greater").p_value == pytest.approx(
        upper
    )
    a, b = np.arange(14.0), rng.permutation(14).astype(float)
    series = spearman_correlation(a, b)
    shuffled = rng.permuted(np.tile(b, (4000, 1)), axis=1)
    drawn = 1 - 6 * np.sum((shuffled - a) ** 2, axis=1) / (14 * (14**2 - 1))
    share = np.mean(np.abs(drawn) >= abs(series.effects[0].estimate) - 1e-9)
    assert "Edgeworth" in series.method
    assert series.p_value == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("test", [spearman_correlation, kendall_correlation])
def test_correlations_by_formula_with_clusters(test: object) -> None:
    frame = temperatures(slope=1.5)
    found = test("variance ~ temperature | item", frame, n_permutations=199, n_resamples=200)  # type: ignore[operator]
    assert found.sample.n_clusters == 12
    assert "within clusters" in found.method
    assert found.p_value < 0.05
    named = test(
        "variance ~ temperature", frame, cluster="item", n_permutations=199, n_resamples=200
    )  # type: ignore[operator]
    assert named.p_value == found.p_value
    between = frame.assign(size=frame.item % 5)
    jack = test("variance ~ size", between, cluster="item", n_resamples=200)  # type: ignore[operator]
    assert "jackknife" in jack.method
    assert "cluster_jackknife" in {n.code for n in jack.notes}


@pytest.mark.parametrize("test", [spearman_correlation, kendall_correlation])
def test_correlations_refuse_and_degenerate(test: object) -> None:
    flat = test([1, 1, 1, 1], [1, 2, 3, 4])  # type: ignore[operator]
    assert math.isnan(flat.p_value)
    assert flat.reason == "x does not vary"
    holes = test([1, 2, np.nan, 4, 5], [2, 1, 3, 5, 4])  # type: ignore[operator]
    assert holes.sample.n_excluded == 1
    assert holes.notes[0].code == "missing_values"
    perfect = test(np.arange(8), np.arange(8))  # type: ignore[operator]
    assert perfect.effects[0].estimate == 1
    assert perfect.effects[0].interval is None
    assert 0 < perfect.p_value < 0.01
    with pytest.raises(InputError, match="no column"):
        test("a ~ b", pd.DataFrame({"a": [1]}))  # type: ignore[operator]
    with pytest.raises(InputError, match="needs a pandas DataFrame"):
        test("a ~ b", [1])  # type: ignore[operator]
    with pytest.raises(InputError, match="interval must be"):
        test([1, 2, 3], [1, 2, 3], interval="x")  # type: ignore[operator]


def test_kendall_refuses_exact_with_ties() -> None:
    with pytest.raises(InputError, match="without ties"):
        kendall_correlation([1, 1, 2], [1, 2, 3], exact=True)


def test_bonett_wright_is_wider_than_fisher_for_large_rho() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=50)
    y = x + 0.4 * rng.normal(size=50)
    wide, short = (
        spearman_correlation(x, y, interval=kind).effects[0].interval
        for kind in ("bonett-wright", "fisher")
    )
    assert wide is not None
    assert short is not None
    assert wide.low < short.low
