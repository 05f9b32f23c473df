import itertools
import math

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import (
    accuracy,
    alignment_by_category,
    alignment_score,
    human_ceiling,
    human_correlation,
    intransitive_triads,
    pairwise_from_scores,
)
from judgestats.stats.agreement import alignment_credit

OUTCOMES = ("a", "b", "tie")
RNG = np.random.default_rng(0)


def test_credit_of_all_nine_cells() -> None:
    expected = {("a", "a"): 1, ("b", "b"): 1, ("tie", "tie"): 1, ("a", "b"): 0, ("b", "a"): 0}
    for judge, human in itertools.product(OUTCOMES, OUTCOMES):
        assert alignment_credit([judge], [human])[0] == expected.get((judge, human), 0.5)


def test_baselines_are_what_such_judges_score() -> None:
    rng = np.random.default_rng(1)
    human = rng.choice(OUTCOMES, p=[0.4, 0.3, 0.3], size=60_000)
    out = alignment_score(rng.choice(OUTCOMES, size=60_000), human, interval="none").details
    assert out["always_tie"] == pytest.approx(np.mean(alignment_credit(["tie"] * 60_000, human)))
    three = np.mean(alignment_credit(rng.choice(OUTCOMES, size=60_000), human))
    two = np.mean(alignment_credit(rng.choice(["a", "b"], size=60_000), human))
    assert out["random_three"] == pytest.approx(three, abs=0.01)
    assert out["random_two"] == pytest.approx(two, abs=0.01)


def test_alignment_clusters_exclusions_and_null() -> None:
    human = np.array(["a", "b", "tie", None] * 20, dtype=object)
    judge = human.copy()
    judge[::8] = None
    out = alignment_score(judge, human, cluster=np.repeat(range(16), 5), n_permutations=199)
    assert out.estimate == 1.0
    assert out.sample.excluded == {"no verdict of the judge": 10, "no human label": 20}
    assert out.sample.n_clusters == 16
    assert out.null.p_value < 0.001
    assert "of 15.4 effective clusters" in out.null.p_method  # leaving one out changes nothing
    assert out.details["above_always_tie"].interval.low > 0
    assert math.isnan(alignment_score([None], ["a"]).estimate)
    with pytest.raises(InputError, match="equally long"):
        alignment_score(["a"], ["a", "b"])
    with pytest.raises(InputError, match="categories"):
        alignment_score(["model_a"], ["a"])


def test_accuracy_policies() -> None:
    judge = ["a", "tie", "b", "tie", "a", None]
    human = ["a", "a", "a", "tie", "tie", "a"]
    by = {t: accuracy(judge, human, ties=t) for t in ("include", "exclude", "half")}
    assert by["include"].estimate == pytest.approx(2 / 5)
    assert by["exclude"].estimate == pytest.approx(1 / 2)
    assert by["half"].estimate == pytest.approx(1.5 / 3)
    assert by["exclude"].details["decided"] == pytest.approx(2 / 3)
    assert by["exclude"].sample.excluded["a tie"] == 3
    with pytest.raises(InputError, match="ties"):
        accuracy(judge, human, ties="drop")


def test_human_ceiling_by_hand() -> None:
    labels = [["a", "a", "b"], ["tie", "tie", "a"], ["b", None, None]]
    out = human_ceiling(labels)
    assert out.estimate == pytest.approx(np.mean([1 / 3, (1 + 0.5 + 0.5) / 3]))
    assert out.sample.n_excluded == 1
    assert out.details["by_annotators"]["1-2"] == 1.0
    with pytest.raises(InputError, match="2 annotators"):
        human_ceiling([["a"], ["b"]])


def test_categories_split_the_score() -> None:
    judge, human = ["a", "b", "a", "b"], ["a", "b", "b", "a"]
    out = alignment_by_category(judge, human, category=["x", "x", "y", "y"], cluster=[1, 2, 3, 4])
    assert {k: e.estimate for k, e in out.items()} == {"x": 1.0, "y": 0.0}
    with pytest.raises(InputError, match="category"):
        alignment_by_category(judge, human, category=["x"])


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_correlations_are_scipys_and_hold_their_interval(method: str) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=50).round(1)
    y = (x + rng.normal(size=50)).round(1)
    theirs = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    out = human_correlation(x, y, method=method)
    assert out.estimate == pytest.approx(theirs[method](x, y).statistic, abs=1e-12)
    assert out.interval.low < out.estimate < out.interval.high
    boot = human_correlation(x, y, method=method, cluster=np.repeat(range(25), 2), n_resamples=200)
    assert boot.interval.method.startswith("cluster bootstrap")
    assert boot.sample.n_clusters == 25


def test_correlation_limits() -> None:
    assert "do not vary" in human_correlation([1, 1, 1], [1, 2, 3]).reason
    assert "fewer than two" in human_correlation([1, float("nan")], [1, 2]).reason
    perfect = human_correlation([1, 2, 3, 4, 5], [2, 4, 6, 8, 10])
    assert perfect.estimate == pytest.approx(1.0)
    with pytest.raises(InputError, match="method"):
        human_correlation([1, 2, 3], [3, 1, 2], method="phi")
    with pytest.raises(InputError, match="same items"):
        human_correlation([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="infinite"):
        human_correlation([1, float("inf")], [1, 2])


def test_scores_become_verdicts_and_equal_ones_ties() -> None:
    a, b = [8, 7, 7, 3], [7, 7, 9, float("nan")]
    assert pairwise_from_scores(a, b).tolist() == ["a", "tie", "b", None]
    # (.1 + .2) / 2 and (.3 + 0) / 2 differ in the last bit only.
    assert pairwise_from_scores([[0.1, 0.2]], [[0.3, 0.0]]).tolist() == ["tie"]
    with pytest.raises(InputError, match="same items"):
        pairwise_from_scores([1], [1, 2])


def test_contradictions_ties_and_incomplete_triads_are_left_out() -> None:
    q = ["q"] * 4
    both = intransitive_triads(q, ["x", "y", "x", "x"], ["y", "z", "z", "y"], ["a", "a", "a", "b"])
    assert math.isnan(both.estimate)
    assert both.details["left_out"] == 1
    tied = intransitive_triads(["q"] * 3, ["x", "y", "x"], ["y", "z", "z"], ["tie", "tie", "a"])
    assert tied.details["left_out"] == 1
    with pytest.raises(InputError, match="must differ"):
        intransitive_triads(["q"], ["x"], ["x"], ["a"])
    with pytest.raises(InputError, match="same length"):
        intransitive_triads(["q"], ["x", "y"], ["y"], ["a"])
