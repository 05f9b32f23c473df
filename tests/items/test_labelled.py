"""Labelled pairs: the draw, the labels' direction, several labels a pair."""

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.items import HumanLabel, Item, Response, draw_labelled_pairs, label_table, load_bank


def item(labels, k=4):
    return Item(
        id="q",
        cluster="q",
        turns=("?",),
        responses=tuple(Response(turns=(f"r{i}",), author=f"m{i}") for i in range(k)),
        labels=tuple(
            HumanLabel(annotator=f"p{i}", a=a, b=b, winner=w) for i, (a, b, w) in enumerate(labels)
        ),
    )


def test_labels_are_turned_so_that_a_is_the_earlier_response():
    table = label_table((item([(3, 1, "a"), (1, 3, "a"), (3, 1, "tie"), (0, 2, "b")]),))
    assert table.pairs == ((0, 2), (1, 3))
    assert table.labels.tolist() == [["b", "", ""], ["b", "a", "tie"]]


def test_the_draw_goes_round_the_questions_and_keeps_what_it_needs():
    bank = load_bank()
    drawn = draw_labelled_pairs(bank, limit=32, seed=0)
    assert len({i.cluster for i in drawn}) == 32
    assert {len(i.responses) for i in drawn} == {2}
    assert all(len(i.labels) == 3 for i in drawn)
    assert draw_labelled_pairs(bank, limit=32, seed=0) == drawn
    assert draw_labelled_pairs(bank, limit=32, seed=1) != drawn


def test_a_larger_draw_holds_the_smaller_one():
    def named(items):
        table = label_table(items)
        by_id = {i.id: i for i in items}
        return {
            (name, *(by_id[name].responses[k].text for k in pair))
            for name, pair in zip(table.items, table.pairs, strict=True)
        }

    bank = load_bank()
    assert named(draw_labelled_pairs(bank, limit=20, seed=3)) <= named(
        draw_labelled_pairs(bank, limit=50, seed=3)
    )


def test_without_labels_there_is_nothing_to_align_with():
    with pytest.raises(InputError, match="no pair of responses has a human label"):
        draw_labelled_pairs((item([]),), limit=5, seed=0)
    assert label_table(()).labels.shape == (0, 0)
    assert np.asarray(label_table((item([]),)).clusters).size == 0
