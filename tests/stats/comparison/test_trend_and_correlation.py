"""Page's test and Spearman's correlation."""

import math

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import page_trend_test, spearman_correlation

AT = np.array([0.0, 0.3, 0.7, 1.0])
CLUSTER = np.arange(12) // 2


def temperatures(slope: float) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.normal(size=(12, 1)) + rng.normal(size=(12, 4)) + slope * AT


@pytest.mark.parametrize(("n", "method"), [(8, "exact"), (60, "asymptotic")])
def test_page_agrees_with_scipy_without_ties(n: int, method: str) -> None:
    x = np.random.default_rng(2).normal(size=(n, 4))
    ours, theirs = page_trend_test(x), stats.page_trend_test(x, method=method)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-9)
    assert ours.method.startswith("Exact") == (method == "exact")


def test_page_sides_and_order() -> None:
    x = temperatures(slope=2.0)
    up = page_trend_test(x, names=AT.tolist())
    assert up.p_value < 0.001
    assert page_trend_test(x[:, ::-1]).p_value > 0.99
    assert page_trend_test(x, alternative="two-sided").p_value == pytest.approx(2 * up.p_value)
    assert up.alternative == "the score rises along 0 < 0.3 < 0.7 < 1"
    effect = up.effect
    assert effect is not None
    assert effect.interval is not None
    assert effect.interval.low > 0
    with pytest.raises(InputError, match="at least 3 conditions"):
        page_trend_test([[1, 2], [2, 1]])
    with pytest.raises(InputError, match="alternative must be"):
        page_trend_test(x, alternative="less")  # type: ignore[arg-type]


def test_page_with_clusters() -> None:
    x = temperatures(slope=0.5)
    found, again = (page_trend_test(x, cluster=CLUSTER, seed=1) for _ in range(2))
    assert "permutations" in found.method
    assert found.p_value == again.p_value
    two = page_trend_test(x, cluster=CLUSTER, alternative="two-sided")
    assert two.p_value == pytest.approx(2 * found.p_value, abs=0.02)


def test_spearman_exact_and_edgeworth() -> None:
    rng = np.random.default_rng(1)
    for n, how in ((6, "exact"), (14, "Edgeworth")):
        a, b = np.arange(float(n)), rng.permutation(n).astype(float)
        found = spearman_correlation(a, b)
        shuffled = rng.permuted(np.tile(b, (4000, 1)), axis=1)
        drawn = 1 - 6 * np.sum((shuffled - a) ** 2, axis=1) / (n * (n**2 - 1))
        share = np.mean(np.abs(drawn) >= abs(found.effects[0].estimate) - 1e-9)
        assert how in found.method
        assert found.p_value == pytest.approx(share, abs=0.03)


def test_spearman_with_clusters() -> None:
    x, cluster = np.tile(AT, 12), np.repeat(np.arange(12), 4)
    y = temperatures(slope=1.5).ravel()
    few = {"n_permutations": 199, "n_resamples": 200}
    found = spearman_correlation(x, y, cluster=cluster, **few)
    assert found.sample.n_clusters == 12
    assert "within clusters" in found.method
    assert found.p_value < 0.05
    jack = spearman_correlation(cluster % 5, y, cluster=cluster, **few)
    assert "jackknife" in jack.method
    assert "cluster_jackknife" in {n.code for n in jack.notes}
    plain = spearman_correlation(x, y, cluster=cluster, interval=False, **few)
    assert plain.p_value == found.p_value
    assert plain.effects[0].interval is None


def test_spearman_degenerates() -> None:
    flat = spearman_correlation([1, 1, 1, 1], [1, 2, 3, 4])
    assert math.isnan(flat.p_value)
    assert flat.reason == "x does not vary"
    holes = spearman_correlation([1, 2, np.nan, 4, 5], [2, 1, 3, 5, 4])
    assert holes.sample.n_excluded == 1
    assert holes.notes[0].code == "missing_values"
    perfect = spearman_correlation(np.arange(8), np.arange(8))
    assert perfect.effects[0].estimate == 1
    assert perfect.effects[0].interval is None
    assert 0 < perfect.p_value < 0.01
