"""Items, judges, prompts and repeats at once: as lme4 has it, with intervals that cover."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.errors import InputError
from judgestats.stats import crossed_components

REFERENCE = Path(__file__).parents[2] / "reference"
OURS = {"Residual": "repeat"}


def drawn(rng, *, items=30, deviations=(1.5, 0.6, 0.4, 0.5, 0.4, 0.3, 0.4, 0.7)):
    """Scores and the deviations of items x judges that were drawn."""
    i, j, p, r = items, 3, 4, 2
    shapes = ((i, 1, 1, 1), (1, j, 1, 1), (1, 1, p, 1), (i, j, 1, 1), (i, 1, p, 1), (1, j, p, 1),
              (i, j, p, 1), (i, j, p, r))  # fmt: skip
    parts = [rng.normal(0, d, s) for d, s in zip(deviations, shapes, strict=True)]
    return sum(parts)


@pytest.fixture(scope="module")
def judged():
    table = pd.read_csv(REFERENCE / "data" / "crossed_prompts.csv")
    sizes = [table[c].nunique() for c in ("item", "judge", "prompt", "rep")]
    return table["score"].to_numpy().reshape(sizes), np.arange(sizes[0]) // 2


def test_components_and_errors_are_those_of_lme4(judged):
    expected = json.loads((REFERENCE / "crossed_prompts.json").read_text())
    scores, question = judged
    out = crossed_components(scores, cluster=question)
    assert not expected["singular"]
    for term, value in expected["variances"].items():  # lme4's optimiser stops at 3e-6
        assert out[
            f"variance_of_{OURS.get(term, term.replace(':', '_'))}"
        ].estimate == pytest.approx(value, rel=1e-5)
    for plan, value in expected["errors"].items():
        assert out[f"error_of_{plan}"].estimate == pytest.approx(value, rel=1e-6)
    assert all(e.interval.low < e.estimate < e.interval.high for e in out.terms)


def test_intervals_over_items_cover_what_items_carry():
    rng = np.random.default_rng(4)
    truth = {"item_judge": 0.25, "item_prompt": 0.16, "item_judge_prompt": 0.16, "repeat": 0.49}
    covers = dict.fromkeys(truth, 0)
    for _ in range(60):
        out = crossed_components(drawn(rng))
        for term, value in truth.items():
            interval = out[f"variance_of_{term}"].interval
            covers[term] += interval.low <= value <= interval.high
    assert min(covers.values()) >= 51


def test_unequal_repeats_are_weighed_and_items_with_an_empty_cell_left_out():
    rng = np.random.default_rng(5)
    scores = drawn(rng, items=300)
    scores[rng.random(scores.shape[:3]) < 0.3, 1] = np.nan
    scores[:7, 0, 0] = np.nan
    out = crossed_components(scores)
    assert out.sample.n_excluded == 7
    assert "have a cell without a score" in out.notes[0].message
    for term, value in (("repeat", 0.49), ("item_judge_prompt", 0.16)):
        interval = out[f"variance_of_{term}"].interval
        assert interval.low - 0.02 < value < interval.high + 0.02


def test_what_has_no_such_model_is_told_why(judged):
    scores, _ = judged
    assert "judged twice" in crossed_components(scores[..., :1])["variance_of_item"].reason
    assert "no score varies" in crossed_components(scores * 0)["variance_of_item"].reason
    with pytest.raises(InputError, match="at least 2 judges"):
        crossed_components(scores[:, :1])
