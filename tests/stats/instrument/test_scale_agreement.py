"""The order on another scale: held to its definition, silent where only repetition disturbs it."""

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import scale_agreement


def drawn(rng, n=60, *, moved=0.0, noise=0.6):
    quality = rng.normal(size=(n, 1))
    own = quality + rng.normal(0, moved, (n, 1))
    ten = np.clip(np.round(6 + 2 * (quality + rng.normal(0, noise, (n, 3)))), 1, 10)
    return ten, np.clip(np.round(3 + own + rng.normal(0, noise, (n, 3))), 1, 5)


def test_agreements_are_greiners_of_gamma_and_the_error_is_the_jackknifes():
    one, other = drawn(np.random.default_rng(3), 24)
    cluster = np.arange(24) // 2
    out = {e.name: e for e in scale_agreement(one, other, cluster=cluster).effects}

    def rho(a, b):
        table = stats.contingency.crosstab(a, b).count
        cells = list(np.ndenumerate(table))
        p = sum(n * table[i + 1 :, j + 1 :].sum() for (i, j), n in cells)
        q = sum(n * table[i + 1 :, :j].sum() for (i, j), n in cells)
        return np.sin(np.pi / 2 * (p - q) / (p + q))

    def loss(x, y):
        between = np.mean([rho(a, b) for a in x.T for b in y.T])
        within = [np.mean([rho(z[:, i], z[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))])
                  for z in (x, y)]  # fmt: skip
        return np.sqrt(np.prod(within)) - between, between, *within

    names = ("rank_loss", "rank_agreement", "rank_repeated", "rank_repeated_changed")
    assert [out[n].estimate for n in names] == pytest.approx(loss(one, other), abs=1e-12)
    left = np.array([loss(one[cluster != g], other[cluster != g])[0] for g in range(12)])
    error = np.sqrt(11 / 12 * np.sum((left - left.mean()) ** 2))
    assert out["rank_loss"].std_error == pytest.approx(error, rel=1e-9)


def test_the_size_holds_and_a_scale_that_moves_answers_is_found():
    rng = np.random.default_rng(5)
    null = [scale_agreement(*drawn(rng)) for _ in range(60)]
    assert np.mean([t.p_value <= 0.05 for t in null]) <= 0.1
    assert np.mean([t.details["p_small"] <= 0.05 for t in null]) >= 0.5
    moved = [scale_agreement(*drawn(rng, moved=1.0)) for _ in range(20)]
    assert np.mean([t.p_value <= 0.05 for t in moved]) >= 0.8
    assert np.mean([t.details["p_small"] <= 0.05 for t in moved]) <= 0.05


def test_one_order_throughout_is_bounded_by_the_number_of_questions():
    one = np.tile(np.arange(200.0)[:, None], 2)
    out = scale_agreement(one, one // 1)
    assert (out.p_value, out.effect.estimate) == (1.0, pytest.approx(0))
    assert out.details["p_small"] == pytest.approx((1 - 0.1 / 4) ** 200)


def test_what_cannot_be_compared_says_why():
    one, other = drawn(np.random.default_rng(6))
    assert "without repeats" in scale_agreement(one[:, :1], other).reason
    assert "three questions" in scale_agreement(one[:2], other[:2]).reason
    assert "no order repeats" in scale_agreement(np.full((9, 2), 7.0), other[:9]).reason
    with pytest.raises(InputError, match="must hold the same items"):
        scale_agreement(one, other[:5])
    with pytest.raises(InputError, match="margin must be"):
        scale_agreement(one, other, margin=0)
