"""The interval of a reliability: left-out mean squares by subtraction are those of the others."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats.stats import icc
from judgestats.stats.designs import mean_squares
from judgestats.stats.reliability import MeanSquareRatio

CODES = np.array([0, 0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 6])


def _scores(seed: int, *, holes: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(7, 1, size=(12, 1)) + rng.normal(size=(12, 4)) * rng.gamma(2, size=(12, 1))
    x[:, 1] += 2  # a column of another level
    if holes:
        x[rng.random(x.shape) < 0.2] = np.nan
        x[:, 0] = 7
    return x


@pytest.mark.parametrize("codes", [CODES, np.arange(12)])
@pytest.mark.parametrize("seed", [1, 2])
def test_without_a_cluster_are_the_mean_squares_of_the_others(seed: int, codes) -> None:
    x = _scores(seed)
    one_way = MeanSquareRatio.from_scores(x, codes, residual=False)
    two_way = MeanSquareRatio.from_scores(x, codes, residual=True)
    left = [mean_squares(x[codes != c]) for c in np.unique(codes)]
    assert one_way.between == pytest.approx(float(mean_squares(x).items))
    assert one_way.between_left == pytest.approx([float(ms.items) for ms in left])
    assert one_way.error_left == pytest.approx([float(ms.within) for ms in left])
    assert two_way.between_left == pytest.approx([float(ms.items) for ms in left])
    assert two_way.error_left == pytest.approx([float(ms.residual) for ms in left])
    assert two_way.inside.sum() == pytest.approx(two_way.error * 11 * 3)
    assert one_way.inside.sum() == pytest.approx(one_way.error * 12 * 3)


def test_where_there_is_none_it_says_why() -> None:
    def why(x: np.ndarray, codes: np.ndarray | None = None) -> str:
        bounds, notes = MeanSquareRatio.from_scores(x, codes, residual=False).icc_interval(
            single=True
        )
        assert bounds is None
        return notes[0].message

    x = np.repeat(np.arange(8.0)[:, None], 3, axis=1)
    assert "no score varies within items" in why(x)
    x[2, 1] += 1
    assert "Without one of the 8 items no score varies" in why(x)
    x = _scores(1)
    assert "Only 2 clusters. 3 are needed" in why(x, np.repeat([0, 1], 6))
    flat = np.tile([7.0, 8.0], (9, 1))
    assert "item means do not vary" in why(flat)


def test_scatter_that_differs_between_items_makes_it_wider_than_f() -> None:
    rng = np.random.default_rng(5)
    scale = np.where(np.arange(60) % 4 == 0, 2.0, 0.1)[:, None]
    x = rng.normal(size=(60, 1)) + rng.normal(size=(60, 3)) * scale
    own, by_f = (icc(x, interval=method, n_permutations=0).interval for method in ("auto", "f"))
    assert own.high - own.low > 1.3 * (by_f.high - by_f.low)
