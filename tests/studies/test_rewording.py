"""Claims under two wordings: a judge that ignores wording is equivalent, one that flips is not."""

import numpy as np
import pandas as pd
import pytest

from judgestats.data import score_array
from judgestats.studies.rewording import rewording_results


def verdicts(seed: int, *, effect: tuple[float, float]) -> list[str]:
    """Scores of 80 items, 10 repeats; `effect`: reasoning's factor on the variance, a wording."""
    rng = np.random.default_rng(seed)
    frames, cells = [], []
    level = rng.normal(size=80)
    for wording, factor in zip(("original", "paraphrase"), effect, strict=True):
        for reasoning, variance in (("none", 1.0), ("before", factor)):
            name = f"j, T=1, reasoning={reasoning}, wording={wording}"
            scores = level[:, None] + rng.normal(size=(80, 10)) * np.sqrt(variance)
            item, repeat = np.indices(scores.shape)
            frames.append(
                pd.DataFrame(
                    {
                        "judge": "j",
                        "condition": name,
                        "item_id": [f"q{i}" for i in item.ravel()],
                        "cluster": [f"q{i}" for i in item.ravel()],
                        "replicate": repeat.ravel(),
                        "score": scores.ravel(),
                        "status": "ok",
                        "stage": "final",
                    }
                )
            )
            cells.append(
                {"condition": name, "judge": "j", "temperature": 1.0,
                 "factor_reasoning": reasoning, "factor_wording": wording}
            )  # fmt: skip
    array = score_array(pd.concat(frames, ignore_index=True))
    [table] = rewording_results("reasoning", pd.DataFrame(cells), array)
    return table.result.tidy()["verdict"].to_list()


def test_a_judge_that_ignores_wording_is_equivalent_in_95_of_100_seeds() -> None:
    found = [verdicts(seed, effect=(4.0, 4.0))[0] for seed in range(100)]
    assert found.count("same direction and equivalent within the margin") >= 95


@pytest.mark.parametrize(
    ("effect", "verdict"), [((4.0, 0.25), "opposite"), ((4.0, 1.9), "same direction")]
)
def test_a_judge_that_reads_the_wording_is_not(effect: tuple[float, float], verdict: str) -> None:
    assert verdicts(0, effect=effect) == [verdict]
