"""Selection among several options: orders, prompts, replies, and what becomes of bad ones."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.errors import InputError
from judgestats.items import HumanLabel, Item, Response, load_bank
from judgestats.protocols import (
    SELECTION_PROMPTS,
    UNRELATED,
    WRITTEN_MODES,
    OptionForm,
    PromptTemplate,
    ReplyMode,
    Selection,
    Status,
    option_names,
    read_reply,
)
from judgestats.simulated import read_request

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

BANK = load_bank()[:6]


def item(count, **more):
    responses = tuple(Response(turns=(f"text {i}",), author=f"m{i}") for i in range(count))
    return Item(id="q", cluster="q", turns=("Why?",), responses=responses, **more)


@given(count=st.integers(2, 8), seed=st.integers(0, 50))
@settings(max_examples=30, deadline=None)
def test_rotations_show_every_option_once_at_every_place(count, seed):
    units = Selection(rotations=True, labels="numbers", seed=seed).units((item(count),))
    assert len(units) == count
    for place in range(count):
        assert {u.shown[place] for u in units} == set(range(count))
    first = units[0].shown
    for s, unit in enumerate(units):
        assert unit.order == f"{s + 1}/{count}"
        assert [unit.shown[p] for p in range(count)] == [
            first[(p + s) % count] for p in range(count)
        ]


def test_the_order_is_fixed_by_seed_and_item_alone():
    alone = Selection(seed=3).units(BANK[:1])
    among = Selection(seed=3).units(BANK)
    assert alone[0].shown == among[0].shown
    shown = {Selection(seed=s).units(BANK[:1])[0].shown for s in range(20)}
    assert len(shown) > 5


def test_the_unrelated_option_joins_the_rotation_and_is_the_same_each_time():
    protocol = Selection(rotations=True, labels="numbers", unrelated=True, options=3, seed=1)
    units = protocol.units(BANK)
    again = protocol.units(BANK)
    assert [u.shown for u in units] == [u.shown for u in again]
    plain = Selection(rotations=True, labels="numbers", options=3, seed=1).units(BANK)
    for unit in units:
        names = option_names(unit.item)
        assert names.count(UNRELATED) == 1
        assert len(unit.shown) == 4
        stranger = unit.item.responses[names.index(UNRELATED)].text
        assert all(stranger != r.text for r in BANK[0].responses) or unit.item_id != BANK[0].id
    own = {u.item_id: {i for i in u.shown if i < len(u.item.responses)} for u in plain}
    for unit in units:
        assert own[unit.item_id] < set(unit.shown)


@pytest.mark.parametrize("labels", ["letters", "numbers"])
@pytest.mark.parametrize("mode", WRITTEN_MODES)
def test_a_reply_in_the_asked_form_is_mapped_back_to_the_response(labels, mode):
    protocol = Selection(rotations=True, labels=labels)
    for unit in protocol.units((item(5),)):
        for place in range(5):
            label = "ABCDE"[place] if labels == "letters" else f"Option {place + 1}"
            text = {
                "letters": f"Best Response: [[{label}]]\n\nIt is exact.",
                "numbers": f"Selection: {label}\nBecause it is exact.",
            }[labels]
            if mode is not ReplyMode.TEXT:
                text = json.dumps({"choice": label, "explanation": "exact"})
            verdict = protocol.read(unit, mode, text)
            assert verdict.choice == f"m{unit.shown[place]}"
            assert verdict.extra["position"] == str(place + 1)


@pytest.mark.parametrize("labels", ["letters", "numbers"])
@pytest.mark.parametrize("mode", WRITTEN_MODES)
def test_the_simulated_judge_finds_the_options_and_the_form(labels, mode):
    protocol = Selection(labels=labels)
    [unit] = protocol.units((item(5, context="A passage."),))
    prompted = protocol.prompt(unit, mode)
    request = {"messages": list(prompted.messages)}
    if prompted.schema:
        request["response_format"] = {
            "type": "json_schema",
            "json_schema": {"schema": prompted.schema.schema},
        }
    asked = read_request(request)
    assert asked.kind == "choice"
    assert asked.answers == tuple(unit.item.responses[i].text for i in unit.shown)
    assert len(asked.labels) == 5
    assert not asked.tie


LETTERED = {
    "Best Response: [[b]]": "2", "**Best Response:** [[C]]": "3", "Best Response: [C]": "3",
    "Best Response: A because it is right": "1", "The best response is B.": "2", "D": "4",
    "[[E]] all the way": "5", "Best Response: [[A]]. So, again, Best Response: [[A]]": "1",
    "Best Response: A good answer would be longer.": None, "Best Response: Because ...": None,
    "Best Response: [[F]]": None, "Response A is fine, and B too.": None, "": None,
    "Best Response: [[A]] Best Response: [[B]]": None, '{"choice": "Z"}': None,
}  # fmt: skip
NUMBERED = {
    "Selection: Option 2": "2", "**Selection:** Option 3\nExplanation: Option 1 is weaker.": "3",
    "Selection: 4": "4", "option 1": "1", "Selection: Option 0": None, "Selection: Option 5": None,
    "I like Option 2 and Option 3.": None,
}  # fmt: skip


def test_options_in_words():
    assert {text: read_reply(text, OptionForm(5)).choice for text in LETTERED} == LETTERED
    numbers = OptionForm(4, "numbers")
    assert {text: read_reply(text, numbers).choice for text in NUMBERED} == NUMBERED


def test_what_is_known_of_the_options_stands_beside_the_verdict():
    labels = (HumanLabel(annotator="r", a=0, b=1, winner="b"),)
    known = item(2, labels=labels, reference=("text 1",))
    protocol = Selection()
    [unit] = protocol.units((known,))
    place = unit.shown.index(1)
    extra = protocol.read(unit, ReplyMode.TEXT, f"Best Response: [[{'AB'[place]}]]").extra
    assert extra["preferred"] == "m1"
    counts = (extra["options_right"], extra["options_judged"], extra["chosen_right"])
    assert counts == ("1", "2", "1")


def test_bundled_judge_prompts_are_different_texts():
    texts = {PromptTemplate.bundled(name).sha for name, _ in SELECTION_PROMPTS.values()}
    assert len(texts) == 4
    for name, reasoning in SELECTION_PROMPTS.values():
        protocol = Selection(
            template=PromptTemplate.bundled(name), labels="numbers", reasoning=reasoning
        )
        [unit] = protocol.units((item(3),))
        prompted = protocol.prompt(unit, ReplyMode.TEXT)
        assert [m["role"] for m in prompted.messages] == ["system", "user"]
        assert "{" not in prompted.messages[0]["content"]


def test_one_response_cannot_be_selected_among():
    with pytest.raises(InputError, match="at least two"):
        Selection().units((item(1),))
    with pytest.raises(InputError, match="only question"):
        Selection(unrelated=True).units((item(3),))
    with pytest.raises(InputError, match="options must be"):
        Selection(options=1)
    with pytest.raises(InputError, match="lacks"):
        Selection(template=PromptTemplate(text="{question}", name="x"))


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Best Response: [[b]]", "2"),
        ("**Best Response:** [[C]]", "3"),
        ("Best Response: [C]", "3"),
        ("Best Response: A because it is right", "1"),
        ("The best response is B.", "2"),
        ("D", "4"),
        ("[[E]] all the way", "5"),
        ("Best Response: [[A]]. So, again, Best Response: [[A]]", "1"),
        ("Best Response: A good answer would be longer.", None),
        ("Best Response: Because ...", None),
        ("Best Response: [[F]]", None),
        ("Response A is fine, and B too.", None),
        ("", None),
    ],
)
def test_letters(text, choice):
    assert read_reply(text, OptionForm(5)).choice == choice


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("Selection: Option 2", "2"),
        ("**Selection:** Option 3\nExplanation: Option 1 is weaker.", "3"),
        ("Selection: 4", "4"),
        ("option 1", "1"),
        ("Selection: Option 0", None),
        ("Selection: Option 5", None),
        ("I like Option 2 and Option 3.", None),
    ],
)
def test_numbers(text, choice):
    assert read_reply(text, OptionForm(4, "numbers")).choice == choice


def test_why_there_is_no_verdict():
    def status(text, **how):
        return read_reply(text, OptionForm(5), **how).status

    assert status("Best Response: [[A]] Best Response: [[B]]") is Status.AMBIGUOUS
    assert status("I'm sorry, I cannot choose.") is Status.REFUSED
    assert status("Best Resp", finish_reason="length") is Status.TRUNCATED
    assert read_reply('{"choice": "Z"}', OptionForm(5)).status is Status.UNPARSEABLE


@pytest.mark.fuzz
@given(text=st.text(max_size=300), labels=st.booleans())
@settings(max_examples=67 * FUZZ, deadline=None)
def test_no_reply_raises_and_only_ok_carries_a_choice(text, labels):
    kind = "letters" if labels else "numbers"
    found = read_reply(text, OptionForm(4, kind))
    assert (found.choice is not None) == (found.status is Status.OK)
    assert found.choice in {None, "1", "2", "3", "4"}


@pytest.mark.fuzz
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=4,
    )
)
@settings(max_examples=33 * FUZZ, deadline=None)
def test_any_json_choice_is_read_or_refused(value):
    found = read_reply(json.dumps({"choice": value}), OptionForm(3))
    assert (found.choice is not None) == (found.status is Status.OK)
