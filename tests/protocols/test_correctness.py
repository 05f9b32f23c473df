"""Correct or incorrect: replies in every mode, and what becomes of bad ones."""

import json
import os
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats import protocols
from judgestats.items import load_bank
from judgestats.simulated import read_request

WORDED = {
    "[[correct]]": "correct", "[[Incorrect]] It is another city.": "incorrect",
    "Verdict: incorrect": "incorrect", "Incorrect.": "incorrect",
    "The answer is correct": "correct", "It is not correct": None,
    "[[correct]] [[incorrect]]": None, "correctness matters": None,
}  # fmt: skip


def test_words():
    form = protocols.WordForm(protocols.Correctness.words)
    assert {text: protocols.read_reply(text, form).choice for text in WORDED} == WORDED


@pytest.mark.parametrize("mode", protocols.WRITTEN_MODES)
def test_only_items_with_a_true_answer_are_judged_and_it_is_shown(mode):
    items = load_bank()
    protocol = protocols.Correctness()
    units = protocol.units(items)
    assert {u.item.id for u in units} == {i.id for i in items if i.reference}
    prompted = protocol.prompt(units[0], mode)
    said = "\n".join(m["content"] for m in prompted.messages)
    assert units[0].item.reference[-1] in said
    request = {"messages": list(prompted.messages)}
    if prompted.schema:
        request["response_format"] = {
            "type": "json_schema",
            "json_schema": {"schema": prompted.schema.schema},
        }
    asked = read_request(request)
    assert asked.labels == ("correct", "incorrect")
    assert asked.answers == (units[0].item.responses[units[0].shown[0]].text.strip(),)
    reply = (
        "[[incorrect]]" if mode is protocols.ReplyMode.TEXT else json.dumps({"choice": "incorrect"})
    )
    assert protocol.read(units[0], mode, reply).choice == "incorrect"


def test_pass_and_fail_need_no_true_answer_and_show_it_where_there_is_one():
    item = next(i for i in load_bank() if i.reference)
    [first, *_] = protocols.PassFail().units((replace(item, reference=()),))
    shown = protocols.PassFail().prompt(first, protocols.ReplyMode.TEXT).messages[-1]["content"]
    assert "[[pass]] or [[fail]]" in shown
    assert "Reference answer" not in shown
    [first, *_] = protocols.PassFail().units((item,))
    shown = protocols.PassFail().prompt(first, protocols.ReplyMode.TEXT).messages[-1]["content"]
    assert f"[Reference answer]\n{item.reference[-1]}" in shown
    assert protocols.PassFail().read(first, protocols.ReplyMode.TEXT, "[[pass]]").choice == "pass"
    assert protocols.PassFail().read(first, protocols.ReplyMode.TEXT, "Perhaps.").choice is None


FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("[[correct]]", "correct"),
        ("[[Incorrect]] It is another city.", "incorrect"),
        ("Verdict: incorrect", "incorrect"),
        ("Incorrect.", "incorrect"),
        ("The answer is correct", "correct"),
        ("It is not correct", None),
        ("[[correct]] [[incorrect]]", None),
        ("correctness matters", None),
    ],
)
def test_text(text, choice):
    assert (
        protocols.read_reply(text, protocols.WordForm(protocols.Correctness.words)).choice == choice
    )


@pytest.mark.fuzz
@given(text=st.text(max_size=200) | st.from_regex(r"\{.{0,40}\}"))
@settings(max_examples=33 * FUZZ, deadline=None)
def test_no_reply_raises(text):
    found = protocols.read_reply(text, protocols.WordForm(protocols.Correctness.words))
    assert (found.choice is not None) == (found.status is protocols.Status.OK)
