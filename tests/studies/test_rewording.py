"""Claims under several wordings: a judge that ignores them is equivalent, one that flips is not."""

import numpy as np
import pandas as pd
import pytest

from judgestats.data import Contrast
from judgestats.studies.rewording import EQUIVALENT, rewording_metrics, rewording_results

ITEMS = [f"q{i}" for i in range(80)]


def frame_of(values: np.ndarray, condition: str, **columns: object) -> pd.DataFrame:
    """Judgments of one condition: items x repeats."""
    item, repeat = np.indices(values.shape)
    names = [ITEMS[i] for i in item.ravel()]
    about = {"judge": "j", "status": "ok", "stage": "final", "category": "", "order": "1/1"}
    rows = {"condition": condition, "item_id": names, "cluster": names, "replicate": repeat.ravel()}
    return pd.DataFrame({**about, **rows, "score": np.nan, "choice": ""} | columns)


def spread_results(seed: int, *, effect: dict[str, float]) -> list:
    """The results for scores of 10 repeats; `effect`: reasoning's factor on the variance."""
    rng = np.random.default_rng(seed)
    frames, cells = [], []
    level = rng.normal(size=80)
    for wording, factor in effect.items():
        for reasoning, variance in (("none", 1.0), ("before", factor)):
            name = f"j, T=1, reasoning={reasoning}, wording={wording}"
            scores = level[:, None] + rng.normal(size=(80, 10)) * np.sqrt(variance)
            frames.append(frame_of(scores, name, score=scores.ravel()))
            cells.append(
                {"condition": name, "judge": "j", "temperature": 1.0,
                 "factor_reasoning": reasoning, "factor_wording": wording}
            )  # fmt: skip
    claimed = (Contrast(vary="reasoning", base="none"),)
    frame = pd.concat(frames, ignore_index=True)
    return rewording_results("reasoning", claimed, pd.DataFrame(cells), frame, {})


def spread(seed: int, *, effect: dict[str, float]) -> pd.DataFrame:
    """The table for scores."""
    [table] = spread_results(seed, effect=effect)
    return table.result.tidy()


def shares(seed: int, *, effect: dict[str, float], items: int = 80) -> pd.DataFrame:
    """The table for verdicts of 100 repeats; `effect`: how much more the second judge accepts."""
    rng = np.random.default_rng(seed)
    frames, cells = [], []
    for wording, more in effect.items():
        for judge, share in (("a", 0.4), ("b", 0.4 + more)):
            name = f"{judge}, T=1, wording={wording}"
            right = rng.random((80, 100)) < share
            words = np.where(right, "correct", "incorrect").ravel()
            frames.append(frame_of(right, name, choice=words, judge=judge))
            cells.append(
                {"condition": name, "judge": judge, "temperature": 1.0, "factor_wording": wording}
            )
    claimed = (Contrast(vary="judge", margin=0.05),)
    frame = pd.concat(frames, ignore_index=True)
    frame = frame[frame["item_id"].isin(ITEMS[:items])]
    [table] = rewording_results("head_to_tail", claimed, pd.DataFrame(cells), frame, {})
    return table.result.tidy()


@pytest.mark.parametrize("table", [spread, shares])
def test_a_judge_that_ignores_wording_is_equivalent_in_38_of_40_seeds(table) -> None:
    size = 4.0 if table is spread else 0.2
    alike = {"original": size, "paraphrase": size}
    found = [table(seed, effect=alike)["verdict"].iloc[0] for seed in range(40)]
    assert found.count(EQUIVALENT) >= 38


@pytest.mark.parametrize(
    ("table", "effect", "verdict"),
    [
        (spread, (4.0, 0.25), "opposite"),
        (spread, (4.0, 1.9), "same direction"),
        (shares, (0.2, -0.2), "opposite"),
        (shares, (0.2, 0.4), "same direction"),
    ],
)
def test_a_judge_that_reads_the_wording_is_not(table, effect, verdict) -> None:
    rows = table(0, effect=dict(zip(("original", "paraphrase"), effect, strict=True)))
    assert rows["verdict"].to_list() == [verdict]


def test_of_one_item_nothing_can_be_estimated() -> None:
    row = shares(0, effect={"original": 0.2, "paraphrase": 0.2}, items=1).iloc[0]
    assert set(row[["original", "reworded", "verdict"]]) == {"not estimable"}


def test_every_other_wording_is_a_row_against_the_original() -> None:
    rows = spread(1, effect={"original": 4.0, "paraphrase": 4.0, "pointwise_2": 0.25})
    assert rows["contrast"].unique().tolist() == ["before over none, j at T=1"]
    assert rows["wording"].to_list() == ["paraphrase", "pointwise_2"]
    assert rows["verdict"].to_list() == [EQUIVALENT, "opposite"]
    first, ratio = rows.iloc[0], rows.iloc[1]["ratio (reworded, original)"]
    assert first["original"].startswith(("3.", "4."))
    assert float(ratio.split()[0]) < 0.2


def test_verdicts_are_counted_as_metrics() -> None:
    assert rewording_metrics([]) == {}
    [named] = spread_results(1, effect={"original": 4.0, "paraphrase": 4.0, "pointwise_2": 0.25})
    assert rewording_metrics([named]) == {
        "rewording/equivalent": 1,
        "rewording/same_direction": 0,
        "rewording/opposite": 1,
        "rewording/not_estimable": 0,
    }
