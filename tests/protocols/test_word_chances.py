"""The chance of a pass from the probabilities of a verdict's tokens."""

import pytest

from judgestats.data import read_judgment
from judgestats.items import Item, Response
from judgestats.protocols import PassFail, ReplyMode, pack_reply, word_chance
from judgestats.protocols.replies.weighted import unpack_reply
from tests.protocols.test_weighted import choice

WORDS = ("pass", "fail")
ITEM = Item(id="q", cluster="q", turns=("?",), responses=(Response(turns=("Because.",)),))
UNIT = PassFail().units((ITEM,))[0]


def kept(*tokens):
    text = "".join(t[0] if isinstance(t, tuple) else t for t in tokens)
    return pack_reply(text, choice(*tokens))


def chance(said, *tokens):
    return word_chance(unpack_reply(kept(*tokens))[1], said, WORDS)


def test_the_verdict_is_weighed_and_not_the_word_in_its_reasons():
    found = chance(
        "fail", "It", " may", (" pass", {" pass": 0.99}), " but", " [[",
        ("fail", {"fail": 0.6, "pass": 0.3, "Fail": 0.05}), "]]",
    )  # fmt: skip
    assert found.first == pytest.approx(0.3 / 0.95, abs=1e-5)
    assert found.mass == pytest.approx(0.95, abs=1e-5)


@pytest.mark.parametrize("head", ["pa", " pa", "[[pa"])
def test_a_word_in_parts_is_weighed_at_its_first(head):
    found = chance("pass", (head, {head: 0.7, "fail": 0.2}), "ss", "]]")
    assert found.first == pytest.approx(0.7 / 0.9, abs=1e-5)


def test_one_letter_and_other_tokens_tell_nothing():
    assert chance("pass", ("p", {"p": 0.9}), "ass") is None
    assert chance("pass", "[[", "yes", "]]") is None
    assert word_chance([], "pass", WORDS) is None
    assert word_chance([(0, "in", "correct", {"correct": 0.0})], "correct",
                       ("correct", "incorrect")) is None  # fmt: skip


def test_more_than_all_of_the_probability_is_no_answer():
    places = [(0, "[[", "pass", {"pass": 0.0, "fail": -0.1})]
    assert word_chance(places, "pass", WORDS) is None


def test_the_judgment_has_the_chance_of_a_pass():
    def read(reply):
        return read_judgment(
            PassFail(), UNIT, transport="answered", mode=ReplyMode.LOGPROBS, text=reply
        )

    said = read(kept("[[", ("fail", {"fail": 0.75, "pass": 0.25}), "]]"))
    assert said.choice == "fail"
    assert said.extra["pass_probability"] == pytest.approx(0.25, abs=1e-5)
    little = read(kept("[[", ("fail", {"fail": 0.2, "maybe": 0.7}), "]]"))
    assert "pass_probability" not in little.extra
    assert little.extra["verdict_mass"] == pytest.approx(0.2, abs=1e-5)
    assert read("[[pass]]").extra == {}


def test_words_do_not_crowd_numbers_out():
    many = [f" {word}" for word in ["pass", "fail"] * 30]
    _, places = unpack_reply(kept(*many, "7", *many))
    assert "7" in {token for _, _, token, _ in places}
    assert len(places) == 17
    assert [p[0] for p in places] == sorted(p[0] for p in places)
