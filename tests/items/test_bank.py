"""The bundled bank: what it promises, and that its labels are what the committed script makes."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import judgestats.items.bank as bank_package
from docs.build_bank_labels import annotate, label_lines
from judgestats.errors import InputError
from judgestats.items import Item, Response, load_bank

CATEGORIES = {
    "writing",
    "reasoning",
    "maths",
    "coding",
    "extraction",
    "roleplay",
    "science",
    "humanities",
}


@pytest.mark.parametrize("item", load_bank(), ids=lambda item: item.id)
def test_every_item_is_complete(item: Item) -> None:
    assert len(item.responses) >= 4
    qualities = [response.quality for response in item.responses]
    assert None not in qualities
    assert len(set(qualities)) == len(qualities)
    assert max(qualities) >= 0.9  # an excellent answer
    assert min(qualities) <= 0.3  # a poor one
    assert len({response.author for response in item.responses}) == len(item.responses)
    assert len({response.turns for response in item.responses}) == len(item.responses)
    assert all(len(response.turns) == len(item.turns) for response in item.responses)
    if item.category == "maths":
        assert len(item.reference) == len(item.turns)


def test_every_persona_labels_every_pair_once() -> None:
    for item in load_bank():
        n = len(item.responses)
        seen = Counter((x.annotator, frozenset((x.a, x.b))) for x in item.labels)
        assert set(seen.values()) == {1}
        assert len(seen) == 3 * n * (n - 1) // 2
        assert {x.turn for x in item.labels} == {len(item.turns)}


def test_quality_is_not_length() -> None:
    """Long-but-wrong and short-but-right answers: within items, length says little of quality."""
    longest_is_best = 0
    correlations = []
    for item in load_bank():
        words = [sum(len(turn.split()) for turn in r.turns) for r in item.responses]
        quality = [r.quality for r in item.responses]
        correlations.append(np.corrcoef(np.log(words), quality)[0, 1])
        longest_is_best += int(np.argmax(words) == np.argmax(quality))
    assert abs(np.mean(correlations)) < 0.4
    assert longest_is_best < len(load_bank()) / 2


def test_committed_labels_are_what_the_script_makes() -> None:
    committed = Path(bank_package.__file__).with_name("labels.jsonl").read_text(encoding="utf-8")
    assert label_lines(load_bank()) == committed


def test_labels_do_not_favour_the_answer_shown_first() -> None:
    """The order of a pair is drawn: the better answer is not always `a`."""
    first = [
        item.responses[x.a].quality > item.responses[x.b].quality
        for item in load_bank()
        for x in item.labels
        if x.annotator == "strict-expert"
    ]
    assert 0.35 < np.mean(first) < 0.65


def test_another_item_changes_no_labels() -> None:
    one, two = load_bank()[:2]
    assert annotate(one) == annotate(one)
    assert annotate(two) == load_bank()[1].labels
    assert annotate(one, seed=1) != annotate(one, seed=2)


def test_a_response_without_quality_cannot_be_annotated() -> None:
    answers = (Response(turns=("x",), quality=0.5), Response(turns=("y",)))
    item = Item(id="q", cluster="q", turns=("Why?",), responses=answers)
    with pytest.raises(InputError, match="response 1 of item 'q' has no designed quality"):
        annotate(item)


def test_loading_is_fast_and_remembered() -> None:
    assert load_bank() is load_bank()
    best = min(_seconds_to_load() for _ in range(5))
    assert best < 0.030


def _seconds_to_load() -> float:
    start = time.process_time()  # processor time: the machine may be busy with something else
    load_bank.__wrapped__()
    return time.process_time() - start
