"""The wording's share of scatter, by hand, by known truth, and where there is none."""

import math

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from judgestats.errors import InputError
from judgestats.stats import prompt_sensitivity


def judged(rng, *, wording, items=60, prompts=8, repeats=3, repeat=0.5):
    shape = (items, prompts, repeats)
    level = rng.normal(0, 1.5, (items, 1, 1))
    return level + rng.normal(0, wording, (items, prompts, 1)) + rng.normal(0, repeat, shape)


def test_in_a_balanced_table_it_is_the_anova():
    x = judged(np.random.default_rng(1), wording=0.7)
    out = prompt_sensitivity(x, n_permutations=99, seed=0)
    items, _, repeats = x.shape
    item, prompt = (m.ravel() for m in np.indices(x.shape)[:2])
    frame = pd.DataFrame({"score": x.ravel(), "item": item, "prompt": prompt})
    squares = anova_lm(ols("score ~ C(item) * C(prompt)", frame).fit())["mean_sq"]
    repeat, crossed = squares["Residual"], squares["C(item):C(prompt)"]
    wording = (squares["C(prompt)"] - crossed) / (items * repeats) + (crossed - repeat) / repeats
    assert out.details["wording_variance"] == pytest.approx(wording)
    assert out.details["repeat_variance"] == pytest.approx(repeat)
    assert [e.estimate for e in out.effects[:3]] == pytest.approx(
        [wording / (wording + repeat), math.sqrt(repeat), math.sqrt(wording + repeat)]
    )


def test_wordings_that_do_nothing_are_rarely_claimed():
    rng = np.random.default_rng(3)
    p = []
    for _ in range(200):
        x = np.round(judged(rng, wording=0.0, items=12, prompts=4, repeats=2))
        x[rng.random(x.shape) < 0.1] = np.nan
        p.append(prompt_sensitivity(x, n_permutations=99, seed=0).p_value)
    assert np.mean(np.array(p) <= 0.05) < 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


def test_an_interval_covers_its_share():
    rng = np.random.default_rng(4)
    hits = []
    for _ in range(200):
        out = prompt_sensitivity(
            judged(rng, wording=0.5, items=30, prompts=6, repeats=2), n_permutations=1, seed=0
        )
        hits.append(out.effect.interval.low < 0.5 < out.effect.interval.high)
    assert np.mean(hits) > 0.93 - 2 * math.sqrt(0.93 * 0.07 / 200)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (np.ones((4, 3, 2)), "no score varies"),
        (np.ones((4, 3, 1)), "no item was judged twice with the same prompt"),
        (np.full((4, 3, 2), np.nan), "no item has scores under two prompts"),
    ],
)
def test_what_cannot_be_told_says_why(table, why):
    out = prompt_sensitivity(table, n_permutations=9)
    assert out.reason == why
    assert math.isnan(out.p_value)
    assert math.isnan(out.effect.estimate)


def test_flips_are_counted_by_pairs_of_judgments():
    x = np.array([[[1.0, 1.0], [1.0, 2.0]], [[3.0, math.nan], [4.0, 4.0]]])
    repeated, reworded = (e.estimate for e in prompt_sensitivity(x, n_permutations=9).effects[3:])
    assert repeated == pytest.approx(1 / 3)  # (1,1) (1,2) and (4,4)
    assert reworded == pytest.approx((2 + 2) / (4 + 2))


def test_wrong_input_is_told():
    with pytest.raises(InputError, match="at least 2 prompts, got shape"):
        prompt_sensitivity(np.ones((4, 1, 3)))
    with pytest.raises(InputError, match="must be finite"):
        prompt_sensitivity(np.full((2, 2, 2), np.inf))
