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


def test_the_order_of_answers_and_questions_does_not_matter():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(40, 3)) + np.tile([1.0, 0, 0, 0], 10)[:, None]
    question, correct = np.repeat(np.arange(10), 4), np.tile([1, 0, 0, 0], 10)
    some = rng.permutation(40)
    one = stats.choice_accuracy_by_k(scores, correct, question)
    two = stats.choice_accuracy_by_k(scores[some], correct[some], question[some])
    assert one.accuracy[3].estimate == pytest.approx(two.accuracy[3].estimate)


def test_equal_judges_are_better_together_and_copies_are_named():
    rng = np.random.default_rng(2)
    people = rng.normal(6, 1.5, 300)
    scores = people[:, None] + rng.normal(0, 1, (300, 4))
    scores[:, 3] = scores[:, 0] + rng.normal(0, 0.05, 300)
    out = stats.panel_of_scores(scores, people, names=list("abcd"))
    assert out.against_best["mean"].interval.high < 0
    assert [pair[:2] for pair in out.copies] == [("a", "d")]
    assert out.effective_judges < 3.2
    assert "mean is better than its best member" in out.sentence().replace("The mean", "mean")


def test_one_good_judge_among_bad_ones_is_not_beaten_by_their_mean():
    rng = np.random.default_rng(3)
    people = rng.normal(6, 1.5, 300)
    scores = np.column_stack(
        [people + rng.normal(0, 0.3, 300), *(rng.normal(6, 1.5, 300) for _ in range(3))]
    )
    out = stats.panel_of_scores(scores, people, names=list("abcd"))
    assert out.against_best["mean"].interval.low > 0
    assert out.accuracy["weighted"].estimate < out.accuracy["mean"].estimate / 3
    with pytest.raises(InputError, match="too few"):
        stats.panel_of_scores(scores[:10], people[:10], names=list("abcd"))


@pytest.mark.skipif(not DATA.exists(), reason="the shared data are not here")
def test_eight_scores_of_a_real_judge_are_right_in_833_where_one_is_in_796():
    from judgestats.data import read_rewardbench2_k8

    frame = read_rewardbench2_k8(DATA / "base_both_k8.jsonl.gz")
    own = frame[frame["condition"] == "gpt-5.4, T=1"]
    wide = own.pivot(index="item_id", columns="replicate", values="score")
    first = own.drop_duplicates("item_id").set_index("item_id").loc[wide.index]
    found = stats.choice_accuracy_by_k(
        wide.to_numpy(float), first["correct"] == "yes", first["cluster"]
    )
    assert found.accuracy[1].estimate == pytest.approx(0.796, abs=5e-4)
    assert found.accuracy[8].estimate == pytest.approx(0.833, abs=5e-4)
    assert found.recommended == 5
