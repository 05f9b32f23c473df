"""Replies are untrusted: reading gives a verdict or a reason, and never raises."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.protocols.base import Status
from judgestats.protocols.reading import MAX_REPLY_CHARS, json_object, score_of
from judgestats.protocols.scale import Scale

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

TEN = Scale(1, 10)


@pytest.mark.parametrize(
    ("text", "structured", "score"),
    [
        ('{"score": 7}', True, 7),
        ('{"score": 7.0, "explanation": "fine"}', True, 7),
        ('{"score": "8"}', True, 8),
        ('{"score": "8/10"}', True, 8),
        ('```json\n{"score": 3}\n```', True, 3),
        ('Sure! {"score": 3} Hope that helps.', True, 3),
        ("Score: 9", True, 9),  # asked for JSON, answered in prose
        ("Score: [[10]]", False, 10),
        ("**Score:** 4", False, 4),
        ("I would say 6/10.", False, 6),
        ("The rating is 5", False, 5),
        ("7", False, 7),
        (" 7. ", False, 7),
        ("Step 1: facts. Step 2: style. Score: [[2]]", False, 2),
    ],
)
def test_scores_are_read(text, structured, score):
    verdict = score_of(text, TEN, structured=structured)
    assert (verdict.status, verdict.score) == (Status.OK, score)


@pytest.mark.parametrize(
    ("text", "structured", "finish", "status"),
    [
        ("", True, "stop", Status.UNPARSEABLE),
        ("I liked it.", False, "stop", Status.UNPARSEABLE),
        ('{"grade": 7}', True, "stop", Status.UNPARSEABLE),
        ('{"score": null}', True, "stop", Status.UNPARSEABLE),
        ('{"score": true}', True, "stop", Status.UNPARSEABLE),
        ('{"score": NaN}', True, "stop", Status.UNPARSEABLE),
        ('{"score": 1e999}', True, "stop", Status.UNPARSEABLE),
        ('{"score": 11}', True, "stop", Status.OUT_OF_SCALE),
        ('{"score": 0}', True, "stop", Status.OUT_OF_SCALE),
        ('{"score": 7.5}', True, "stop", Status.OUT_OF_SCALE),
        ("Score: -3", False, "stop", Status.OUT_OF_SCALE),
        ("Score: 6. No, score: 8.", False, "stop", Status.AMBIGUOUS),
        ("[[6]] or [[7]]", False, "stop", Status.AMBIGUOUS),
        ('{"explanation": "very long', True, "length", Status.TRUNCATED),
        ("", True, "content_filter", Status.REFUSED),
        ("I'm sorry, I can't judge this.", False, "stop", Status.REFUSED),
    ],
)
def test_what_cannot_be_read_has_a_status_and_a_reason(text, structured, finish, status):
    verdict = score_of(text, TEN, structured=structured, finish_reason=finish)
    assert verdict.status is status
    assert verdict.score is None
    assert verdict.reason


def test_a_score_before_a_cut_explanation_counts():
    verdict = score_of("Score: [[7]] because the", TEN, structured=False, finish_reason="length")
    assert verdict.score == 7


@pytest.mark.fuzz
@given(st.text(max_size=400), st.booleans(), st.sampled_from(["", "stop", "length", "refusal"]))
@settings(max_examples=150 * FUZZ, deadline=None)
def test_reading_never_raises_and_scores_lie_on_the_scale(text, structured, finish):
    verdict = score_of(text, TEN, structured=structured, finish_reason=finish)
    if verdict.status is Status.OK:
        assert verdict.score in range(1, 11)
    else:
        assert verdict.score is None


@pytest.mark.fuzz
@given(st.integers(1, 10), st.text(alphabet="ab {}\n", max_size=40))
@settings(max_examples=50 * FUZZ, deadline=None)
def test_a_marked_score_is_found_in_any_prose(score, prose):
    assert score_of(f"{prose} Score: [[{score}]]", TEN, structured=False).score == score


def test_huge_and_deeply_nested_replies_are_bounded():
    deep = "[" * 100_000
    assert json_object(deep) is None
    assert score_of(deep, TEN, structured=True).status is Status.UNPARSEABLE
    late = "x" * MAX_REPLY_CHARS + '{"score": 7}'
    assert score_of(late, TEN, structured=True).status is Status.UNPARSEABLE
