"""The pairwise protocol: units in both orders, prompts, and reading real and hostile replies."""

import gzip
import json
import os
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.errors import InputError
from judgestats.items import HumanLabel, Item, Response
from judgestats.protocols import (
    WRITTEN_MODES,
    PairForm,
    Pairwise,
    PromptTemplate,
    ReplyMode,
    Status,
    answers_in,
    load_examples,
    read_reply,
)
from judgestats.simulated import read_request

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def item(**changes):
    given_ = {
        "id": "q1",
        "cluster": "q1",
        "turns": ("Why {reply}?",),
        "responses": tuple(Response(turns=(f"answer {n}",), author=n) for n in "xyz"),
    }
    return Item(**(given_ | changes))


def units(protocol=None, **changes):
    return (protocol or Pairwise()).units((item(**changes),))


def answers(prompted):
    blocks = answers_in("\n\n".join(m["content"] for m in prompted.messages))
    return [text for name, text in blocks if "Answer" in name]


def test_only_labelled_pairs_if_asked():
    labels = (HumanLabel(annotator="p", a=2, b=0, winner="a"),)
    found = units(Pairwise(labelled_only=True), labels=labels)
    assert {u.item_id for u in found} == {"q1/x|z"}


@pytest.mark.parametrize("mode", WRITTEN_MODES)
def test_the_responses_are_shown_in_the_units_order(mode):
    protocol = Pairwise()
    one, two, *_ = units()
    assert answers(protocol.prompt(one, mode)) == ["answer x", "answer y"]
    assert answers(protocol.prompt(two, mode)) == ["answer y", "answer x"]
    assert "Why {reply}?" in protocol.prompt(one, mode).messages[-1]["content"]


@pytest.mark.parametrize(
    ("letter", "order", "choice", "position"),
    [("B", 0, "b", "second"), ("A", 1, "b", "first"), ("tie", 1, "tie", "tie")],
)
def test_the_choice_names_the_response_and_the_position_is_kept(letter, order, choice, position):
    unit = units()[order]
    verdict = Pairwise().read(unit, ReplyMode.JSON_SCHEMA, json.dumps({"choice": letter}))
    assert (verdict.choice, verdict.extra["position"]) == (choice, position)


def test_the_order_of_the_fields_follows_the_reasoning():
    protocol = Pairwise(reasoning="before")
    assert list(protocol.schema().schema["properties"]) == ["explanation", "choice"]
    prompted = protocol.prompt(units()[0], ReplyMode.TEXT)
    asked = read_request({"messages": list(prompted.messages)})
    assert (asked.kind, asked.reasoning, asked.tie) == ("choice", "before", True)


def test_several_turns_are_context_and_a_reference_is_shown_once():
    two = tuple(Response(turns=("first " + n, "last " + n), author=n) for n in "xy")
    protocol = Pairwise()
    [unit, _] = units(turns=("one?", "two?"), responses=two, reference=("r1", "r2"))
    text = protocol.prompt(unit, ReplyMode.TEXT).messages[-1]["content"]
    assert answers(protocol.prompt(unit, ReplyMode.TEXT)) == ["last x", "last y"]
    assert "[The Start of Context of Assistant B]\nUser: one?\n\nAssistant: first y" in text
    assert text.count("[Reference answer]\nr2") == 1
    bare = Pairwise(reference=False).prompt(unit, ReplyMode.TEXT).messages[-1]["content"]
    assert "Reference answer" not in bare


def test_a_conversation_prompt_of_ones_own():
    template = PromptTemplate(text="{conversation_a}\n--\n{conversation_b}", name="mine")
    protocol = Pairwise(template=template)
    text = protocol.prompt(units()[0], ReplyMode.TEXT).messages[0]["content"]
    assert "Assistant: answer x\n--\nUser: Why {reply}?" in text
    assert "[[A]]" in text
    with pytest.raises(InputError, match="response_b"):
        Pairwise(template=PromptTemplate(text="{question} {response_a}", name="mine"))


def test_examples_come_from_a_file_and_are_no_answers(tmp_path):
    path = tmp_path / "examples.jsonl"
    line = {"question": "1+1?", "response_a": "2", "response_b": "3", "choice": "A"}
    line |= {"explanation": "It is 2."}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    protocol = Pairwise(examples=load_examples(path), reasoning="before")
    prompted = protocol.prompt(units()[0], ReplyMode.TEXT)
    text = prompted.messages[-1]["content"]
    assert text.index("Explanation: It is 2.") < text.index("Verdict: A")
    assert read_request({"messages": list(prompted.messages)}).answers == ("answer x", "answer y")
    path.write_text('{"question": "x"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        load_examples(path)


NOT_READ = [
    ("Assistant A is better at facts, assistant B at style; both are useful.", "", "unparseable"),
    ("I'm sorry, but I cannot compare these.", "", "refused"),
    ("[[A", "length", "truncated"),
    ("[[A]]", "content_filter", "refused"),
    ('{"verdict": "A"}', "", "unparseable"),
]


@pytest.mark.parametrize(("text", "finish", "status"), NOT_READ)
def test_replies_without_a_verdict_have_a_status_and_a_reason(text, finish, status):
    verdict = read_reply(text, PairForm(), finish_reason=finish)
    assert verdict.status.value == status
    assert verdict.choice is None
    assert verdict.reason


def test_a_tie_that_was_not_on_offer_is_no_verdict():
    assert read_reply("[[C]]", PairForm(ties=False)).status is Status.UNPARSEABLE
    assert "tie" not in Pairwise(ties=False).schema().schema["properties"]["choice"]["enum"]


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is absent")
def test_real_completions_agree_with_the_published_reading():
    raw = pd.read_csv(DATA / "position_bias" / "repetition_rawtext_2judges_MTBench.csv.gz")
    read = pd.read_csv(DATA / "position_bias" / "repetition_verdicts.csv.gz")
    both = raw.merge(read, on=["bench", "judge", "rep", "cmp_index"])
    assert len(both) == 1152
    ours = [read_reply(str(t), PairForm()) for t in both["raw"]]
    letters = [{"tie": "C"}.get(v.choice, v.choice) for v in ours]
    published = both["ans"].tolist()
    pairs = zip(letters, published, strict=True)
    assert not [(a, b) for a, b in pairs if isinstance(b, str) and a != b]
    # What the study could not read (no mark): ours may read a closing sentence, never a tie.
    rest = [v for v, p in zip(ours, published, strict=True) if not isinstance(p, str)]
    assert all(v.choice in {"A", "B", None} for v in rest)


# Where the published reading is wrong, looked at one by one: replies such as "Output (b) is better.
# Output (a) is too short ..." are read as a vote for (a) in these files.
KNOWN_WRONG = {"LLMBar_Natural__PaLM2_CoT": 21, "LLMBar_Natural__Falcon_CoT": 2}


@pytest.mark.parametrize(
    "name",
    [*KNOWN_WRONG, "LLMBar_Natural__GPT-4_Vanilla", "LLMBar_Adversarial_Neighbor__ChatGPT_CoT"],
)
@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is absent")
def test_real_completions_of_another_form(name):
    with gzip.open(DATA / "llmbar" / "raw" / f"{name}.json.gz", "rt") as file:
        rows = json.load(file)
    checked = wrong = unread = 0
    for row in rows:
        for order in ("swap = False", "swap = True"):
            told = row["results"][0][order]
            if not isinstance(told["completion"], list) or told["winner"] not in {"1", "2"}:
                continue
            verdict = read_reply(told["completion"][0], PairForm())
            # The file's winner is an output's number; a swap shows output 2 first.
            first = "1" if order == "swap = False" else "2"
            expected = "A" if told["winner"] == first else "B"
            checked += 1
            unread += verdict.choice is None
            wrong += verdict.choice not in {expected, None}
    assert checked > 150
    assert wrong <= KNOWN_WRONG.get(name, 0)
    assert unread <= 0.04 * checked


def test_every_pair_in_both_orders():
    found = units()
    assert len(found) == 6
    assert [u.shown for u in found if u.item_id == "q1/x|z"] == [(0, 2), (2, 0)]
    assert {u.order for u in found} == {"ab", "ba"}


READINGS = [
    ("[[A]]", "A"),
    ("Final verdict: **[[B]]**.", "B"),
    ("[[C]]", "tie"),
    ("[[tie]]", "tie"),
    ("[[Assistant B]]", "B"),
    ("[[A]] and again [[A]]", "A"),
    ("Verdict: B", "B"),
    ("A", "A"),
    ("Output (a)", "A"),
    ("...the better summary.\n\nTherefore, Output (b) is better.", "B"),
    ("So Assistant A is the better AI assistant.", "A"),
    ("Output (b) is better. It follows the instruction.", "B"),
    ("Therefore, based on this, Output (a) is better as it obeys the instruction.", "A"),
    ('```json\n{"choice": "B"}\n```', "B"),
]


@pytest.mark.parametrize(("text", "choice"), READINGS)
def test_verdicts_that_can_be_read(text, choice):
    verdict = read_reply(text, PairForm())
    assert (verdict.status, verdict.choice) == (Status.OK, choice)


@pytest.mark.fuzz
@settings(max_examples=100 * FUZZ, deadline=None)
@given(
    text=st.one_of(
        st.text(max_size=300),
        st.lists(
            st.sampled_from(
                [
                    "[[A]]",
                    "[[B]]",
                    "[[C]]",
                    "[[",
                    "]]",
                    "A",
                    "tie",
                    "is better",
                    "Assistant ",
                    '{"choice": ',
                    '"A"}',
                    "}",
                    "verdict:",
                    "\n",
                    "\x00",
                    "[[Z]]",
                ]
            ),
            max_size=12,
        ).map("".join),
    ),
    finish=st.sampled_from(["", "stop", "length", "content_filter"]),
)
def test_no_reply_raises_and_only_ok_carries_a_choice(text, finish):
    verdict = read_reply(text, PairForm(), finish_reason=finish)
    assert (verdict.status is Status.OK) == (verdict.choice in {"A", "B", "tie"})
    if {"[[A]]", "[[B]]"} <= {m for m in ("[[A]]", "[[B]]") if m in text} and "{" not in text:
        assert verdict.choice is None


def test_a_huge_reply_is_read_in_bounded_time():
    assert read_reply("[" * 2_000_000, PairForm()).choice is None
    assert read_reply("assistant " * 15_000 + "a is better.", PairForm()).choice == "A"
