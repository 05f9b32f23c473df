"""Long frame to items x conditions x replications, and back by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.data import score_array, status_table
from judgestats.errors import InputError


def long(rows):
    frame = pd.DataFrame(rows, columns=["condition", "item_id", "replicate", "score"])
    return frame.assign(cluster=frame["item_id"], stage="final", status="ok")


@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 4), st.randoms())
@settings(max_examples=30, deadline=None)
def test_every_score_lands_in_its_cell_whatever_the_order_of_rows(n, k, r, random):
    truth = np.arange(n * k * r, dtype=float).reshape(n, k, r)
    rows = [
        (f"c{c}", f"i{i}", rep, truth[i, c, rep])
        for i in range(n)
        for c in range(k)
        for rep in range(r)
    ]
    random.shuffle(rows)
    conditions = tuple(f"c{c}" for c in range(k))
    found = score_array(long(rows), conditions=conditions)
    order = [found.items.index(f"i{i}") for i in range(n)]
    assert np.array_equal(found.scores[order], truth)


def test_a_failed_call_leaves_a_gap():
    found = score_array(long([("c", "a", 0, 1.0), ("c", "a", 2, 3.0), ("c", "b", 1, 2.0)]))
    assert np.isnan(found.scores[0, 0, 1])
    assert found.scores[0, 0, 2] == 3.0


def test_an_unknown_condition_is_named():
    with pytest.raises(InputError, match="no judgment has the condition d"):
        score_array(long([("c", "a", 0, 1.0)]), conditions=("d",))


def _in_orders(*orders):
    rows = [("c", "a", 0, 1.0), ("c", "a", 1, 2.0), ("c", "b", 0, 3.0), ("c", "b", 1, 4.0)]
    return long(rows).assign(order=list(orders))


def test_an_item_scored_in_several_orders_is_refused_with_the_next_step():
    for orders in (("ab", "ba", "ab", "ab"), ("ba", "ab", "", "")):
        with pytest.raises(InputError, match=r"1 item of 'c' was .* several orders .*--factor"):
            score_array(_in_orders(*orders))
    both = pd.concat([_in_orders(*["ab"] * 4), _in_orders(*["ba"] * 4)])
    with pytest.raises(InputError, match="2 items of 'c' were scored in several orders"):
        score_array(both)
    # As a factor every order is a condition of its own.
    apart = both.assign(condition=both["condition"] + ", order=" + both["order"])
    assert score_array(apart).scores.shape == (2, 2, 2)


def test_items_may_differ_in_their_one_order():
    found = score_array(_in_orders("ab", "ab", "ba", "ba"))
    assert found.scores.tolist() == [[[1.0, 2.0]], [[3.0, 4.0]]]


def test_orders_of_verdicts_in_words_do_not_matter():
    words = _in_orders("ab", "ba", "ab", "ba").assign(condition="w", score=np.nan)
    found = score_array(pd.concat([_in_orders(*["ab"] * 4), words]))
    assert np.isnan(found.condition("w")).all()
    assert found.condition("c").tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_repeated_score_is_refused_and_not_overwritten():
    with pytest.raises(
        InputError, match=r"one place, 1 times; .* replicate 0 of item 'a' under 'c'"
    ):
        score_array(long([("c", "a", 0, 1.0), ("c", "b", 0, 5.0), ("c", "a", 0, 3.0)]))


def test_status_table_counts_by_condition():
    frame = long([("c", "a", 0, 1.0), ("c", "b", 0, 1.0), ("d", "a", 0, 1.0)])
    table = status_table(frame.assign(status=["ok", "refused", "failed"]))
    assert table.loc["c", "unread_share"] == 0.5
    assert np.isnan(table.loc["d", "unread_share"])
    assert table["unanswered_share"].tolist() == [0.0, 1.0]
