"""Published tests of spread: the numbers of scipy, always with their warning."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judgestats.stats import spread_published


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
