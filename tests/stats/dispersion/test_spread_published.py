"""Published tests of spread: the numbers of scipy, always with their warning."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import levene_of_variances, spread_published


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def test_levene_on_centred_judgments(rng: np.random.Generator) -> None:
    x = 7 + rng.normal(size=(20, 3, 5)) * np.array([1, 1, 1.4])[:, None]
    groups = (x - x.mean(axis=2, keepdims=True)).transpose(1, 0, 2).reshape(3, -1)
    ours, theirs = spread_published(x), stats.levene(*groups, center="mean")
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-8)
    assert [n.code for n in ours.notes] == ["published_size"]
    assert "Replication only" in str(ours)
    assert list(ours.df.values()) == [2, 297]


def test_degenerate_groups_are_undefined_with_reasons(rng: np.random.Generator) -> None:
    constant = spread_published(np.ones((4, 2, 3)))
    assert math.isnan(constant.p_value)
    assert constant.reason
    alike = spread_published(np.tile([1.0, 3.0], (4, 2, 1)))
    assert "leaves no residual" in alike.reason
    x = rng.normal(size=(6, 2, 3))
    x[:, 0] = 8.0
    assert spread_published(x).p_value < 0.05


def test_unusable_input_is_refused() -> None:
    with pytest.raises(InputError, match="3-d"):
        spread_published(np.ones((2, 2)))
    with pytest.raises(InputError, match="must not be negative"):
        levene_of_variances([[1.0, -2.0], [1.0, 1.0]])
    with pytest.raises(InputError, match="at least 2 vectors"):
        levene_of_variances([[1.0, 2.0]])
