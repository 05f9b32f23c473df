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
TEMPERATURES = ("T=0.3", "T=0.5", "T=1")

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


@pytest.mark.parametrize("judge", JUDGES)
def test_mean_and_spread_are_confounded(judge: str) -> None:
    summary = stats.condition_summary(repeated_scores(judge), conditions=TEMPERATURES)
    for row in summary.rows:
        assert -0.8 < row.mean_spread_correlation < -0.25


@pytest.mark.parametrize(
    ("judge", "f"), [("gpt-3.5-turbo", 32.47), ("gpt-4o-mini", 25.43), ("gpt-4o", 33.26)]
)
def test_spread_grows_with_temperature_for_every_judge(judge: str, f: float) -> None:
    out = stats.spread_test(
        repeated_scores(judge), conditions=TEMPERATURES, ordered=[0.3, 0.5, 1], n_permutations=999
    )
    assert out.p_value == 0.001
    assert out.blocked_f.statistic == pytest.approx(f, abs=0.005)
    page, spearman, kendall = out.trend
    assert page.p_value < 1e-10
    assert spearman.statistic > kendall.statistic > 0.2


def test_the_ratio_of_pooled_variances_knows_when_one_item_decides() -> None:
    """gpt-3.5-turbo: nearly all variance in one item, so the ratio says little, and says so."""
    out = stats.variance_ratio(repeated_scores("gpt-3.5-turbo"), conditions=TEMPERATURES)
    row = out.rows[1]
    assert row.interval is None
    [note] = row.notes
    assert note.code == "not_estimable"
    assert "One of 30 clusters carries 86%" in note.message
    assert row.p_value > 0.5
    mini = stats.variance_ratio(repeated_scores("gpt-4o-mini"), conditions=TEMPERATURES).rows[1]
    assert mini.estimate == pytest.approx(2.719, abs=0.001)
    assert mini.interval.low > 1


def test_published_tests_are_far_too_sure() -> None:
    """Treating 9,000 centred judgments as independent gives p below 1e-50."""
    for judge in JUDGES:
        levene = stats.spread_published(repeated_scores(judge))
        blocked = stats.spread_test(repeated_scores(judge), n_permutations=0)
        assert levene.p_value < 1e-20 < blocked.p_value


def test_of_two_temperatures_the_ratio_decides_and_the_blocked_f_is_near() -> None:
    x = repeated_scores("gpt-4o-mini")[:, :2]
    out = stats.spread_test(x, conditions=TEMPERATURES[:2], n_permutations=999)
    assert out.blocked_f.p_value == pytest.approx(0.07, abs=1e-4)  # exact: 18 items differ
    [row] = out.gmd_ratios.rows
    assert out.p_value == row.p_value == pytest.approx(0.033, abs=1e-3)
    assert row.interval.low > 1 or row.interval.high < 1
    equal = stats.equivalence_of_spread(x, margin=1.5, conditions=TEMPERATURES[:2])
    assert "is not shown" in equal.sentence()


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
