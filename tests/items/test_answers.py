"""Answers from a file, targets matched as whole words, and the answer that people prefer."""

import json

import pytest

from judgestats.errors import InputError
from judgestats.items import HumanLabel, Item, Response, best_response, holds_target, with_answers

ITEMS = tuple(Item(id=f"q{i}", cluster=f"q{i}", turns=("Why?",), responses=()) for i in range(3))


def write(tmp_path, rows):
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in rows))
    return path


def test_answers_join_their_items_in_the_order_of_the_file(tmp_path):
    rows = [
        {"item_id": "q1", "author": "x", "answer": "one"},
        {"item_id": "q1", "author": "y", "answer": "two"},
        {"item_id": "elsewhere", "author": "x", "answer": "three"},
    ]
    [item] = with_answers(ITEMS, write(tmp_path, rows))
    assert item.id == "q1"
    assert [(r.author, r.text) for r in item.responses] == [("x", "one"), ("y", "two")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"item_id": "q1", "answer": "a"}], "author, model"),
        ([{"item_id": "q1", "author": "x"}], "answer, response"),
        ([{"item_id": "z", "author": "x", "answer": "a"}], "no row"),
        ([{"item_id": "q1", "author": "x", "answer": "a"}] * 2, "second time"),
    ],
)
def test_unusable_rows_are_told(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        with_answers(ITEMS, write(tmp_path, rows))


def test_a_file_for_another_benchmark_is_no_error_where_answers_are_there(tmp_path):
    rows = [{"item_id": "z", "author": "x", "answer": "a"}]
    assert with_answers(ITEMS, write(tmp_path, rows), required=False) == ()


@pytest.mark.parametrize(
    ("answer", "target", "held"),
    [
        ("So the answer is (B).", "(B)", True),
        ("It is a matter of taste: (b).", "(A)", False),
        ("Untrue.", "True", False),
        ("It costs 12.50 in all", "12.50", True),
        ("It costs 112.50", "12.50", False),
        ("anything", "x" * 61, None),
        ("anything", "", None),
    ],
)
def test_targets(answer, target, held):
    assert holds_target(answer, target) is held


def test_the_preferred_response_is_unique_or_unknown():
    def labelled(*winners):
        labels = tuple(
            HumanLabel(annotator=str(i), a=0, b=1, winner=w) for i, w in enumerate(winners)
        )
        responses = tuple(Response(turns=(t,)) for t in "ab")
        return Item(id="q", cluster="q", turns=("?",), responses=responses, labels=labels)

    assert best_response(labelled("b", "b", "a"), (0, 1)) == 1
    assert best_response(labelled("b", "a"), (0, 1)) is None
    assert best_response(labelled(), (0, 1)) is None
