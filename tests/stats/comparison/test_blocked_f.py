"""The blocked F test against independent derivations and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats.comparison import blocked_f_test


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


@pytest.mark.parametrize(("n", "k"), [(4, 3), (20, 2), (15, 5)])
def test_f_is_the_two_way_analysis_of_variance(n: int, k: int, rng) -> None:
    y = rng.normal(size=(n, k)) + np.arange(k) * 0.3 + rng.normal(size=(n, 1))
    frame = pd.DataFrame(
        {"y": y.ravel(), "c": np.tile(np.arange(k), n), "i": np.repeat(np.arange(n), k)}
    )
    table = sm.stats.anova_lm(smf.ols("y ~ C(i) + C(c)", frame).fit(), typ=2)
    out = blocked_f_test(y, n_permutations=0)
    assert out.statistic == pytest.approx(table.loc["C(c)", "F"], rel=1e-9)
    assert out.p_value == pytest.approx(table.loc["C(c)", "PR(>F)"], rel=1e-8)
    assert list(out.df.values()) == [k - 1, (n - 1) * (k - 1)]


def test_two_conditions_are_the_squared_paired_t(rng: np.random.Generator) -> None:
    y = rng.normal(size=(25, 2))
    t = stats.ttest_rel(y[:, 0], y[:, 1])
    out = blocked_f_test(y, n_permutations=0)
    assert out.statistic == pytest.approx(t.statistic**2, rel=1e-10)
    assert out.p_value == pytest.approx(t.pvalue, rel=1e-10)


def test_permutation_p_near_brute_force(rng: np.random.Generator) -> None:
    y = rng.normal(size=(4, 3)) + np.array([0, 0.5, 1.0])
    orders = list(itertools.permutations(range(3)))

    def share(table: np.ndarray) -> float:
        return float(np.sum(table.mean(axis=0) ** 2))

    centred = y - y.mean(axis=1, keepdims=True)
    null = [
        share(np.array([centred[i, list(o)] for i, o in enumerate(choice)]))
        for choice in itertools.product(orders, repeat=4)
    ]
    exact = np.mean(np.array(null) >= share(centred) - 1e-12)
    out = blocked_f_test(y, n_permutations=20_000)
    assert out.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))


def test_same_difference_everywhere_is_infinite() -> None:
    out = blocked_f_test(np.array([[1.0, 2.0]] * 8))
    assert math.isinf(out.statistic)
    assert out.p_value == pytest.approx(2 / 2**8)
    assert out.notes[0].code == "no_residual"


def test_partial_eta_squared_interval_inverts_the_noncentral_f(rng) -> None:
    y = rng.normal(size=(30, 4)) + np.arange(4) * 0.4
    out = blocked_f_test(y, n_permutations=0)
    effect = out.effects[0]
    df1, df2 = 3, 87
    assert effect.estimate == pytest.approx(
        out.statistic * df1 / (out.statistic * df1 + df2), rel=1e-12
    )
    for bound, p in ((effect.interval.low, 0.975), (effect.interval.high, 0.025)):
        ncp = bound / (1 - bound) * (df1 + df2 + 1)
        assert stats.ncf.cdf(out.statistic, df1, df2, ncp) == pytest.approx(p, abs=1e-6)


@pytest.mark.parametrize(
    ("y", "arguments", "match"),
    [
        (np.ones((3, 1)), {}, "at least 2 conditions"),
        (np.ones(3), {}, "2-d"),
        (np.ones((3, 2)), {"n_permutations": -1}, "n_permutations"),
        (np.ones((3, 2)), {"cluster": [1, 2]}, "cluster"),
        (np.array([[1.0, np.inf]]), {}, "infinite"),
    ],
)
def test_unusable_input_is_refused(y, arguments, match: str) -> None:
    with pytest.raises(InputError, match=match):
        blocked_f_test(y, **arguments)
