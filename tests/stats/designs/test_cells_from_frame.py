"""Scores from a long frame: the same cells as from the array."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgestats.errors import InputError
from judgestats.stats import spread_test, variance_ratio
from judgestats.stats.designs import cell_statistics, scores_from_frame


@pytest.fixture
def scores() -> np.ndarray:
    x = np.random.default_rng(2).integers(1, 11, size=(12, 3, 4)).astype(float)
    x[3, 1, 2:] = np.nan
    return x


@pytest.fixture
def frame(scores: np.ndarray) -> pd.DataFrame:
    item, condition, replicate = np.indices(scores.shape)
    long = pd.DataFrame(
        {
            "score": scores.ravel(),
            "temperature": np.array([0.0, 0.5, 1.0])[condition.ravel()],
            "item": [f"item {i:02d}" for i in item.ravel()],
            "question": item.ravel() // 3,
            "replicate": replicate.ravel(),
        }
    )
    return long.sample(frac=1, random_state=1).sort_values("item", kind="stable")


def test_frame_and_array_are_the_same(scores: np.ndarray, frame: pd.DataFrame) -> None:
    a = spread_test(scores, cluster=np.arange(12) // 3, n_permutations=99)
    b = spread_test("score ~ temperature | item", frame, cluster="question", n_permutations=99)
    assert b.conditions == ("0", "0.5", "1")
    assert b.p_value == a.p_value
    assert b.sample.n_clusters == 4
    assert b.ratios.rows[1].estimate == pytest.approx(a.ratios.rows[1].estimate, rel=1e-12)


def test_rows_that_are_not_there_are_missing(scores: np.ndarray, frame: pd.DataFrame) -> None:
    read = cell_statistics("score ~ temperature | item", frame.dropna(subset="score"))
    np.testing.assert_array_equal(read.n_scores, cell_statistics(scores).n_scores)
    rows = variance_ratio(read).rows
    assert rows[0].estimate == pytest.approx(variance_ratio(scores).rows[0].estimate, rel=1e-12)


@pytest.mark.parametrize(
    ("formula", "cluster", "match"),
    [
        ("score ~ temperature", None, "must name the item"),
        ("score + temperature", None, "formula must read"),
        ("points ~ temperature | item", None, "no column 'points'"),
        ("score ~ temperature | item", "replicate", "more than one cluster"),
        ("score ~ temperature | item", "nowhere", "nowhere"),
    ],
)
def test_frames_that_do_not_fit_are_refused(frame, formula, cluster, match: str) -> None:
    with pytest.raises(InputError, match=match):
        scores_from_frame(formula, frame, cluster=cluster)


def test_rows_without_an_item_are_refused(frame: pd.DataFrame) -> None:
    frame.loc[frame.index[0], "item"] = None
    with pytest.raises(InputError, match="1 of 144 rows lack one"):
        cell_statistics("score ~ temperature | item", frame)
    with pytest.raises(InputError, match="DataFrame"):
        cell_statistics("score ~ temperature | item")
