"""Scores weighted by the probabilities of their tokens: what counts, and what is left out."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.protocols import pack_reply, weighted_score
from judgestats.protocols.replies.weighted import unpack_reply


def choice(*tokens):
    """The log-probabilities of a choice: tokens as text, or with their chances in order."""
    content = []
    for token in tokens:
        text, chances = token if isinstance(token, tuple) else (token, {token: 1.0})
        top = [{"token": t, "logprob": math.log(p)} for t, p in chances.items()]
        content.append({"token": text, "logprob": math.log(chances[text]), "top_logprobs": top})
    return {"content": content}


def weigh(text, logprobs, score, low=1, high=10):
    reply, places = unpack_reply(pack_reply(text, logprobs))
    assert reply == text
    return weighted_score(places, score, low, high)


def test_tokens_of_one_number_are_summed_and_others_are_mass_elsewhere():
    top = {"8": 0.5, " 8": 0.1, "7": 0.2, "10": 0.1, "Well": 0.05, "11": 0.05}
    found = weigh("[[8]]", choice("[[", ("8", top), "]]"), 8.0)
    assert found.mass == pytest.approx(0.9, abs=1e-4)
    assert found.score == pytest.approx((0.6 * 8 + 0.2 * 7 + 0.1 * 10) / 0.9, abs=1e-3)


def test_a_digit_that_may_begin_another_score_counts_where_it_is_told_how_it_goes_on():
    first = {"1": 0.6, "8": 0.4}
    then = {"0": 0.75, "]]": 0.25}
    found = weigh("[[10]]", choice("[[", ("1", first), ("0", then), "]]"), 10.0)
    assert found.mass == pytest.approx(1.0, abs=1e-4)
    assert found.score == pytest.approx(0.45 * 10 + 0.15 * 1 + 0.4 * 8, abs=1e-3)
    unknown = weigh("[[8]]", choice("[[", ("8", {"8": 0.4, "1": 0.6}), "]]"), 8.0)
    assert (unknown.score, unknown.mass) == (8.0, pytest.approx(0.4, abs=1e-4))


def test_the_verdict_is_weighed_and_not_a_number_in_its_reasons():
    verdict = ("8", {"8": 0.5, "6": 0.5})
    reasons = ["It has ", ("8", {"8": 1.0}), " parts.", " ", "[[", verdict, "]]"]
    assert weigh("It has 8 parts. [[8]]", choice(*reasons), 8.0).score == 7.0
    after = ["[[", verdict, "]]", " It has ", ("8", {"8": 1.0}), " parts."]
    assert weigh("[[8]] It has 8 parts.", choice(*after), 8.0).score == 7.0


@pytest.mark.parametrize(
    ("logprobs", "score"),
    [(None, 8.0), ({}, 8.0), ({"content": None}, 8.0), (choice("[[", "7", "]]"), 8.0),
     (choice("[[", "18", "]]"), 8.0), (choice("8"), 8.5)],
)  # fmt: skip
def test_where_nothing_is_told_of_the_score_there_is_no_weighted_one(logprobs, score):
    assert weigh("[[8]]", logprobs, score) is None


junk = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["content", "token", "logprob", "top_logprobs", "8"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=30), logprobs=junk, score=st.integers(1, 10))
def test_whatever_a_server_says_is_kept_and_weighed_without_an_error(text, logprobs, score):
    kept = pack_reply(text, logprobs)
    reply, places = unpack_reply(kept)
    if kept != text:
        assert reply == text
        assert json.loads(kept)["reply"] == text
    found = weighted_score(places, float(score), 1, 10)
    assert found is None or (1 <= found.score <= 10 and 0 < found.mass <= 1)


LIES = {
    "a number past any float": -(10**400),
    "above 0": 5.0,
    "no number": float("nan"),
    "infinite": float("-inf"),
    "false, which is 0 to Python": False,
    "a text": "-0.1",
}


@pytest.mark.parametrize("value", LIES.values(), ids=LIES)
def test_a_log_probability_that_cannot_be_one_is_not_told(value):
    top = [{"token": "8", "logprob": value}, {"token": "7", "logprob": -0.1}]
    lie = {"content": [{"token": "8", "logprob": value, "top_logprobs": top}]}
    _, [(_, _, _, told)] = unpack_reply(pack_reply("8", lie))
    assert told == {"7": -0.1}
    forged = json.dumps({"reply": "8", "logprobs": [[0, "", "8", {"8": value}]]})
    forged = forged.replace('{"reply": ', '{"reply":')
    assert unpack_reply(forged) == (forged, [])  # in a journal of others, say


def test_tokens_with_more_than_all_of_the_probability_weigh_nothing():
    sure = {str(score): 1.0 for score in range(1, 11)}
    assert weigh("[[8]]", choice("[[", ("8", sure), "]]"), 8.0) is None


def test_of_the_token_before_too_little_is_kept_to_hold_a_secret():
    key = "sk-planted-0815-never-to-be-seen["
    kept = pack_reply("[[8]]", choice(key, ("8", {"8": 0.5, "6": 0.5}), "]]"))
    assert "seen" not in kept
    _, places = unpack_reply(kept)
    assert weighted_score(places, 8.0, 1, 10).score == 7.0
