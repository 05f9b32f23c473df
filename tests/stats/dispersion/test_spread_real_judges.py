"""Three real judges: the facts about spread that the documentation states, from published scores.

`repeated_scores`: 30 items x 100 scores x 3 temperatures. `temperature_variances`: population
variances of 80 items at 11 temperatures (one judge's vectors are of unequal length and cannot be
aligned). The scores behind the published claims about reasoning are not among the data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats import stats

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "llmasjudge"
JUDGES = ("gpt-3.5-turbo", "gpt-4o-mini", "gpt-4o")

pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="the published judgments are not beside the repository"
)


def repeated_scores(judge: str) -> np.ndarray:
    frame = pd.read_csv(FOLDER / "repeated_scores.csv.gz")
    frame = frame[frame["judge"] == judge].sort_values(["item", "temperature", "replicate"])
    return frame["score"].to_numpy(dtype=float).reshape(30, 3, 100)


def variances(judge: str) -> np.ndarray:
    frame = pd.read_csv(FOLDER / "temperature_variances.csv.gz")
    frame = frame[frame["judge"] == judge]
    table = frame.pivot_table(index="index", columns="temperature", values="variance")
    return table.to_numpy()


@pytest.mark.parametrize("judge", ["gpt-3.5-turbo", "gpt-4o"])
def test_published_variances_at_eleven_temperatures(judge: str) -> None:
    v = variances(judge)
    assert v.shape == (80, 11)
    temperatures = [round(0.1 * t, 1) for t in range(11)]
    out = stats.spread_test(v, ordered=temperatures, n_permutations=999, n_resamples=199)
    assert out.p_value == 0.001
    spearman = out.trend[1]
    assert 0.3 < spearman.effects[0].interval.low < spearman.statistic < 0.6
    at_zero = stats.levene_of_variances([v[:, 0], v[:, 10]])
    assert at_zero.notes[0].code == "spread_of_variances"


def test_published_tests_are_far_too_sure() -> None:
    """Treating 9,000 centred judgments as independent gives p below 1e-50."""
    for judge in JUDGES:
        levene = stats.spread_published(repeated_scores(judge))
        blocked = stats.spread_test(repeated_scores(judge), n_permutations=0)
        assert levene.p_value < 1e-20 < blocked.p_value
