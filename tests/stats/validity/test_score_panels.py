"""What repeats buy where one of several answers is right, and panels of scores."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from judgestats import stats
from judgestats.errors import InputError


def by_hand(scores, correct, k):
    """Credit of one question, subset by subset."""
    credit = []
    for subset in combinations(range(scores.shape[1]), k):
        sums = scores[:, subset].sum(axis=1)
        top = sums == sums.max()
        credit.append(top[correct] / top.sum())
    return np.mean(credit)


def test_every_subset_counts_and_equal_means_share_the_credit():
    rng = np.random.default_rng(0)
    scores = rng.integers(1, 6, (60, 4)).astype(float)
    question = np.repeat(np.arange(15), 4)
    correct = np.tile([True, False, False, False], 15)
    found = stats.choice_accuracy_by_k(scores, correct, question)
    for k in (1, 2, 3, 4):
        own = [by_hand(scores[question == q], 0, k) for q in range(15)]
        assert found.accuracy[k].estimate == pytest.approx(np.mean(own), abs=1e-12)


def test_questions_without_one_right_answer_are_counted_out_and_none_is_refused():
    scores = np.ones((6, 2))
    correct = [1, 0, 1, 1, 0, 0]
    found = stats.choice_accuracy_by_k(scores, correct, ["p", "p", "q", "q", "r", "r"])
    assert found.sample.n_items == 1
    assert found.sample.n_excluded == 2
    with pytest.raises(InputError, match="exactly one correct answer"):
        stats.choice_accuracy_by_k(scores, [0] * 6, ["p", "p", "q", "q", "r", "r"])


@pytest.mark.parametrize("names", [["a", "a"], ["a", "mean"], ["weighted", "b"]])
def test_a_judge_takes_no_other_judge_s_or_panel_s_place(names):
    rng = np.random.default_rng(4)
    people = rng.normal(6, 1.5, 40)
    scores = people[:, None] + rng.normal(0, 1, (40, 2))
    with pytest.raises(InputError, match="names must differ"):
        stats.panel_of_scores(scores, people, names=names)
    verdicts = [n.replace("mean", "majority") for n in names]
    with pytest.raises(InputError, match="names must differ"):
        stats.panel_of_judges(scores > 6, people > 6, names=verdicts)


DATA = Path(__file__).parents[3].parent / "shared" / "data" / "rewardbench2_k8"
