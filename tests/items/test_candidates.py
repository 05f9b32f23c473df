"""Candidates: drawn by seed, and what labels say of each."""

from __future__ import annotations

import math

import pytest

from judgestats.errors import InputError
from judgestats.items import HumanLabel, Item, Response, draw_candidates, labelled_shares, load_bank


def item(n: int, *labels: tuple[int, int, str]) -> Item:
    return Item(
        id="q",
        cluster="q",
        turns=("?",),
        responses=tuple(Response(turns=(f"answer {i}",)) for i in range(n)),
        labels=tuple(HumanLabel(annotator="p", a=a, b=b, winner=w) for a, b, w in labels),
    )


def test_labels_follow_their_responses() -> None:
    for original, drawn in zip(
        load_bank(), draw_candidates(load_bank(), count=3, seed=2), strict=True
    ):
        assert len(drawn.responses) == 3
        said = {
            (original.responses[x.a], original.responses[x.b], x.annotator, x.winner)
            for x in original.labels
        }
        assert drawn.labels
        for x in drawn.labels:
            assert (drawn.responses[x.a], drawn.responses[x.b], x.annotator, x.winner) in said


def test_the_draw_is_seeded_and_does_not_hang_on_other_items() -> None:
    bank = load_bank()
    assert draw_candidates(bank, count=2, seed=1) == draw_candidates(bank, count=2, seed=1)
    assert draw_candidates(bank, count=2, seed=1) != draw_candidates(bank, count=2, seed=2)
    assert (
        draw_candidates(bank[3:4], count=2, seed=1)[0] == draw_candidates(bank, count=2, seed=1)[3]
    )


def test_items_with_fewer_are_left_out_and_none_is_an_error() -> None:
    assert [len(i.responses) for i in draw_candidates([item(2), item(5)], count=4, seed=0)] == [4]
    with pytest.raises(InputError, match=r"no question has 6 responses.*candidates=5"):
        draw_candidates([item(5)], count=6, seed=0)
    with pytest.raises(InputError, match="answers=FILE"):
        draw_candidates([item(1)], count=2, seed=0)


def test_shares_count_a_pair_once() -> None:
    labels = [(0, 1, "a")] * 5 + [(0, 2, "b"), (2, 0, "tie"), (1, 2, "tie")]
    assert labelled_shares(item(3, *labels)) == pytest.approx((0.625, 0.25, 0.625))
    assert all(math.isnan(x) for x in labelled_shares(item(2)))
