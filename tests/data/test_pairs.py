"""Verdicts from two orders and from scores, and the credit they earn, against enumeration."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import credit_by_pair
from judgestats.data import both_orders, combined, scores_of
from judgestats.errors import InputError

WORDS = ("a", "b", "tie", "")


@pytest.mark.parametrize("rule", ["tie", "first", "drop"])
def test_the_rules_on_every_combination(rule):
    for ab, ba in product(WORDS, WORDS):
        [got] = combined(np.array([ab], object), np.array([ba], object), rule=rule)
        if rule == "first":
            expected = ab
        elif not ab or not ba:
            expected = ""
        elif ab == ba:
            expected = ab
        else:
            expected = "tie" if rule == "tie" else ""
        assert got == expected, (ab, ba)


def test_an_unknown_rule_is_refused():
    with pytest.raises(InputError, match="rule must be one of"):
        combined(np.array(["a"], object), np.array(["b"], object), rule="coin")


def test_frames_are_spread_out_with_gaps_where_nothing_was_read():
    frame = pd.DataFrame(
        {
            "item_id": ["p", "p", "p", "q"],
            "order": ["ab", "ba", "ab", "ab"],
            "replicate": [0, 0, 1, 0],
            "choice": ["a", "b", "tie", "b"],
            "score": [1.0, 2.0, 3.0, np.nan],
        }
    )
    ab, ba = both_orders(frame, ["q", "p"])
    assert ab.tolist() == [["b", ""], ["a", "tie"]]
    assert ba.tolist() == [["", ""], ["b", ""]]
    scores = scores_of(frame[frame["order"] == "ab"], ["p", "absent"])
    assert scores[0].tolist() == [1.0, 3.0]
    assert np.isnan(scores[1]).all()


def test_credit_is_the_mean_over_labels_and_replications():
    credit = {("a", "a"): 1.0, ("a", "b"): 0.0, ("a", "tie"): 0.5, ("tie", "tie"): 1.0}
    rng = np.random.default_rng(0)
    verdicts = rng.choice(np.array(WORDS, object), size=(30, 3))
    labels = rng.choice(np.array(WORDS, object), size=(30, 2))
    ours = credit_by_pair(verdicts, labels)
    for i in range(30):
        earned = [
            credit.get(tuple(sorted((v, h))), credit.get((v, h), 1.0 if v == h else 0.0))
            if "tie" not in {v, h} or v == h
            else 0.5
            for v in verdicts[i]
            for h in labels[i]
            if v and h
        ]
        assert ours[i] == pytest.approx(np.mean(earned)) if earned else np.isnan(ours[i])


def test_an_answer_that_stands_in_several_pairs_has_its_scores_in_each():
    asked = pd.DataFrame(
        [(i, r, s) for i, s in (("x", 3.0), ("y", 5.0), ("z", 7.0)) for r in (0, 1)],
        columns=["item_id", "replicate", "score"],
    )
    table = scores_of(asked, ["x", "x", "z", "absent", "y"])
    np.testing.assert_array_equal(table[:, 0], [3.0, 3.0, 7.0, np.nan, 5.0])
    np.testing.assert_array_equal(table[:, 0], table[:, 1])


def test_several_scores_in_one_replicate_are_no_scores_of_an_item():
    asked = pd.DataFrame({"item_id": ["x", "x"], "replicate": [0, 0], "score": [3.0, 5.0]})
    with pytest.raises(InputError, match="several scores in one replicate"):
        scores_of(asked, ["x"])
