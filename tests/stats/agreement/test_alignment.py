import itertools
import math

import numpy as np
import pytest
from scipy import stats

from judgestats.errors import InputError
from judgestats.stats import (
    accuracy,
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


def test_pearson_interval_is_r_cor_test() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 20))
    theirs = stats.pearsonr(x, y).confidence_interval()
    out = human_correlation(x, y)
    assert (out.interval.low, out.interval.high) == pytest.approx((theirs.low, theirs.high))


def test_chance_of_circular_triads_by_enumeration() -> None:
    verdicts = list(itertools.product("ab", repeat=3))
    q = np.repeat(np.arange(8), 3)
    out = intransitive_triads(q, ["x", "y", "x"] * 8, ["y", "z", "z"] * 8, np.ravel(verdicts))
    assert out.estimate == pytest.approx(out.details["chance"])
