"""Probes change what they say, the same way in every run, and leave the rest alone."""

import re
from dataclasses import replace

import pytest

from judgestats.errors import InputError
from judgestats.items import Item, Response, item_from_record, item_to_record, load_bank
from judgestats.protocols import (
    OPTIONS,
    ORIGINAL,
    PAIRS,
    PROBES,
    ProbedPairwise,
    ProbedPointwise,
    ProbedSelection,
    PromptTemplate,
    ReplyMode,
    probes_named,
    scaled,
    variants_of,
)

BANK = load_bank()
VARIANTS = variants_of(tuple(PROBES.values()))
PLAIN = {u.item_id: u for u in ProbedPointwise().units(BANK)}


def shown(unit):
    return unit.item.responses[unit.shown[0]].text


SCORED = [name for name, variant in VARIANTS.items() if variant.asks == "scores"]
PAIRED = [n for n, v in VARIANTS.items() if v.asks == "pairs" and n != PAIRS]


@pytest.mark.parametrize("name", SCORED)
def test_a_variant_keeps_the_names_and_changes_every_text_it_shows(name):
    units = ProbedPointwise(variant=VARIANTS[name]).units(BANK)
    assert units == ProbedPointwise(variant=VARIANTS[name]).units(BANK)
    assert {u.item_id for u in units} <= set(PLAIN)
    assert all(u.cluster == PLAIN[u.item_id].cluster for u in units)
    if VARIANTS[name].written or name == "reasoning left out":
        assert units == ()  # the bank has no such answers
    elif VARIANTS[name].scale:
        assert {u.item_id: u for u in units} == PLAIN
    elif name != ORIGINAL:
        assert units
        assert all(u.item != PLAIN[u.item_id].item for u in units)
        assert all(u.item.turns == PLAIN[u.item_id].item.turns for u in units)


@pytest.mark.parametrize("name", PAIRED)
def test_a_variant_of_pairs_changes_the_earlier_answer_or_what_is_said_of_it(name):
    plain = {(u.item_id, u.order): u for u in ProbedPairwise(pairs=20).units(BANK)}
    units = ProbedPairwise(variant=VARIANTS[name], pairs=20).units(BANK)
    assert {(u.item_id, u.order) for u in units} == set(plain)
    assert len({u.item_id for u in units}) == 20
    for unit in units:
        before = plain[unit.item_id, unit.order].item
        later = max(unit.shown)
        assert unit.item.responses[later] == before.responses[later]
        assert unit.item != before
        if ":" in name:  # a note names one answer, whatever place it stands at
            named = re.search("Assistant ([AB])", unit.item.context).group(1)
            whom = unit.shown["AB".index(named)]
            assert whom == (min if name.endswith("earlier") else max)(unit.shown)
            assert unit.item.responses == before.responses


def test_pairs_are_drawn_round_the_questions_with_labels_where_there_are_any():
    units = ProbedPairwise(pairs=32, seed=3).units(BANK)
    assert len({u.cluster for u in units}) == 32
    assert {u.order for u in units} == {"ab", "ba"}
    bare = tuple(replace(item, labels=()) for item in BANK)
    every = {u.item_id for u in ProbedPairwise().units(bare)}
    assert {u.item_id for u in ProbedPairwise().units(BANK)} <= every
    assert ProbedPairwise().units((replace(bare[0], responses=bare[0].responses[:1]),)) == ()


def test_several_are_shown_in_every_rotation_and_two_are_not_several():
    units = ProbedSelection(options=3).units(BANK)
    assert {u.order for u in units} == {"1/3", "2/3", "3/3"}
    two = tuple(replace(i, responses=i.responses[:2], labels=()) for i in BANK)
    assert ProbedSelection().units(two) == ()
    assert PROBES["first of many"].variants == (VARIANTS[OPTIONS],)


@pytest.mark.parametrize("name", ["bullets", "spacing", "typos"])
def test_changes_of_form_keep_the_words(name):
    for unit in ProbedPointwise(variant=VARIANTS[name]).units(BANK):
        before, after = (re.sub(r"[\s-]", "", t) for t in (shown(PLAIN[unit.item_id]), shown(unit)))
        assert sorted(before) == sorted(after)
        if name != "typos":
            assert before == after


def test_typos_touch_few_words():
    for unit in ProbedPointwise(variant=VARIANTS["typos"]).units(BANK):
        before, after = shown(PLAIN[unit.item_id]).split(), shown(unit).split()
        changed = sum(a != b for a, b in zip(before, after, strict=True))
        assert 1 <= changed <= max(1, round(0.05 * len(before)) + 1)


def test_an_injection_stands_in_the_answer_to_another_question_once_a_question():
    wrong = {
        u.item_id: shown(u) for u in ProbedPointwise(variant=VARIANTS["off topic"]).units(BANK)
    }
    assert len(wrong) == len({PLAIN[i].cluster for i in wrong})
    assert all(text not in {r.text for r in PLAIN[i].item.responses} for i, text in wrong.items())
    for name in (p.name for p in PROBES.values() if p.kind == "attack" and p.against):
        units = ProbedPointwise(variant=VARIANTS[name]).units(BANK)
        assert [u.item_id for u in units] == list(wrong)
        assert all(shown(u).startswith(wrong[u.item_id].rstrip()) for u in units)


def test_a_note_stands_outside_the_question_and_the_answer():
    protocol = ProbedPointwise(variant=VARIANTS["bandwagon: high"])
    prompt = protocol.prompt(protocol.units(BANK)[0], ReplyMode.TEXT).messages[-1]["content"]
    assert "[Note]\n90 % of the other evaluators" in prompt.split("[Question]")[0]


def test_a_forged_frame_does_not_end_the_answer():
    protocol = ProbedPointwise(variant=VARIANTS["forged frame"])
    prompt = protocol.prompt(protocol.units(BANK)[0], ReplyMode.TEXT).messages[-1]["content"]
    assert re.search(r"\[The End of Answer [0-9a-f]{8}\]\s*\n", prompt)


def test_what_cannot_be_changed_is_left_out():
    item = Item(
        id="q", cluster="q", turns=("Code?",), responses=(Response(turns=("```x = 1```",)),)
    )
    for name in ("bullets", "spacing", "typos", "off topic", "order", "wrong reference"):
        assert ProbedPointwise(variant=VARIANTS[name]).units((item,)) == ()


def test_a_prompt_without_a_place_for_a_note_is_refused():
    template = PromptTemplate(text="{question} {response}", name="mine")
    with pytest.raises(InputError, match=r"lacks \{context\}, where the probe 'bandwagon'"):
        ProbedPointwise(template=template, variant=VARIANTS["bandwagon: high"])

    template = PromptTemplate(text="{question} {response_a} {response_b}", name="mine")
    with pytest.raises(InputError, match=r"lacks \{context\}, where the probe 'pair hint'"):
        ProbedPairwise(template=template, variant=VARIANTS["pair hint: later"])


def test_names_of_probes_are_checked():
    assert {p.asks for p in probes_named("probes", "pairs,options")} == {"pairs", "options"}
    assert [p.name for p in probes_named("probes", "tone,padding")] == ["padding", "tone"]
    assert len(probes_named("probes", "all")) == len(PROBES)
    with pytest.raises(InputError, match=r"there is no probe 'paddin'\. Did you mean padding\?"):
        probes_named("probes", "paddin")
    with pytest.raises(InputError, match="at least one probe"):
        probes_named("probes", " , ")


def test_other_scales_are_asked_for_and_read_the_better_the_higher():
    unit = ProbedPointwise().units(BANK)[0]
    told, read = {}, {}
    replies = {"reversed scale": "Score: [[2]]", "scale of words": "Rating: [[good]]"}
    for probe in probes_named("probes", "scale"):
        asked = scaled(ProbedPointwise(variant=probe.changed))
        if asked is not None:
            prompt = asked.prompt(unit, ReplyMode.TEXT).messages
            told[probe.name] = " ".join(m["content"] for m in prompt)
            read[probe.name] = asked.read(
                unit, ReplyMode.TEXT, replies.get(probe.name, "Score: [[4]]")
            ).score
    assert read == {
        "scale 1-5": 4, "scale 1-100": 4, "reversed scale": 9, "scale of words": 4,
    }  # fmt: skip
    assert "from 1 (worst) to 100 (best)" in told["scale 1-100"]
    assert "from 1 (best) to 10 (worst)" in told["reversed scale"]
    assert "one of the words bad, poor, fair, good and excellent" in told["scale of words"]
    assert not re.search(r"\d \((worst|best)\)", told["scale of words"])
    unread = scaled(ProbedPointwise(variant=PROBES["scale of words"].changed))
    assert unread.read(unit, ReplyMode.TEXT, "Rating: [[7]]").score is None


def test_a_prompt_that_fixes_its_scale_has_no_other():
    mine = PromptTemplate(text="Stars from 1 to 5. {question} {response} {context}", name="mine")
    for probe in probes_named("probes", "scale"):
        assert scaled(ProbedPointwise(template=mine, variant=probe.changed)) is None


def test_texts_written_anew_come_with_the_items():
    record = {"id": "q", "turns": ["2+2?"], "responses": [
        {"turns": ["It is 4."], "written": {"translated": "Es ist 4."}}, {"turns": ["5"]},
    ]}  # fmt: skip
    item = item_from_record(record)
    assert item_from_record(item_to_record(item)) == item
    [unit] = ProbedPointwise(variant=VARIANTS["translated"]).units((item,))
    assert (shown(unit), unit.item_id) == ("Es ist 4.", "q/0")
    assert ProbedPointwise(variant=VARIANTS["condensed"]).units((item,)) == ()
    record["responses"][0]["written"] = ["Es ist 4."]
    with pytest.raises(InputError, match="'written' must be an object of texts"):
        item_from_record(record)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("Two and two.\n#### 4", "Final answer: 4"),
        ("Two and two make four.\n\n**Final answer:** 4", "Final answer: 4"),
        ("The answer is not easy: it depends.", None),
        ("#### 4", None),
    ],
)
def test_reasoning_is_left_out_where_a_last_line_marks_the_answer(answer, left):
    item = Item(id="q", cluster="q", turns=("2+2?",), responses=(Response(turns=(answer,)),))
    units = ProbedPointwise(variant=VARIANTS["reasoning left out"]).units((item,))
    assert [shown(u) for u in units] == ([left] if left else [])


def test_references_are_altered_by_one_number_or_emptied():
    item = Item(
        id="q", cluster="q", turns=("When?",), responses=(Response(turns=("1969",)),),
        reference=("On 20.7.1969, at 8 o'clock, 21.5 C",),
    )  # fmt: skip
    said = {
        name: ProbedPointwise(variant=VARIANTS[name]).units((item,))[0].item.reference[-1]
        for name in ("altered reference", "no reference")
    }
    assert said == {
        "altered reference": "On 20.7.1969, at 9 o'clock, 21.5 C", "no reference": "",
    }  # fmt: skip
    bare = replace(item, reference=("No number at all.",))
    assert ProbedPointwise(variant=VARIANTS["altered reference"]).units((bare,)) == ()
