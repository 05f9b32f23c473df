"""No reply, however its JSON is nested, leaves a lone surrogate in what is read of it."""

import dataclasses
import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.collection import read_line, read_reply
from judgestats.data import read_judgment
from judgestats.files import clean, clean_json, decode_json
from judgestats.items import Item, Response
from judgestats.protocols import Pairwise, PassFail, Pointwise, ReplyMode, calls_in, message_text
from judgestats.protocols.replies import unpack_reply

ITEM = Item(
    id="q",
    cluster="q",
    turns=("?",),
    responses=(Response(turns=("a",)), Response(turns=("b",))),
)
READERS = [(p, p.units((ITEM,))[0]) for p in (Pointwise(), Pairwise(), PassFail())]
LEAF = st.text(st.sampled_from("a1\ud800\udbff\ud83d\ude00\udfff\0é[] \\"), max_size=8)
KEYS = st.sampled_from(["score", "verdict", "choice", "explanation", "reply", "arguments"]) | LEAF
VALUES = st.sampled_from([7, "A", "pass", None]) | LEAF


@st.composite
def nested(draw):
    """A text of one to three layers of JSON, escaped or not, each within the one around it."""
    value = draw(VALUES)
    for _ in range(draw(st.integers(1, 3))):
        other = draw(st.dictionaries(KEYS, VALUES | st.lists(VALUES, max_size=2), max_size=3))
        whole = draw(st.sampled_from([value, [value], {**other, draw(KEYS): value}]))
        value = json.dumps(whole, ensure_ascii=draw(st.booleans()))
    return value


def texts_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in (*value, *value.values()):
            yield from texts_of(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from texts_of(each)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from texts_of(getattr(value, field.name))


def assert_clean(value):
    texts = list(texts_of(value))
    for text in texts:
        assert text.encode("utf-8").decode("utf-8") == text
        assert "\0" not in text
    assert pa.array(texts, pa.string()).to_pylist() == texts


def messages(text):
    call = {"name": "submit_score", "arguments": text}
    entry = {"token": text[:20], "logprob": -0.1, "top_logprobs": []}
    yield {"message": {"content": text}}
    yield {"message": {"content": [{"type": "text", "text": text}]}}
    yield {"message": {"refusal": text}, "finish_reason": text}
    yield {"message": {"content": None, "tool_calls": [{"function": call}]}}
    yield {"message": {"content": "", "tool_calls": [{"function": call}, {"function": call}]}}
    yield {"message": {"content": "", "function_call": {**call, "arguments": json.dumps(text)}}}
    yield {"message": {"content": text}, "logprobs": {"content": [entry]}}


def judgments(text, mode):
    for protocol, unit in READERS:
        yield read_judgment(protocol, unit, transport="answered", mode=mode.value, text=text)


@given(nested())
@settings(deadline=None, max_examples=60)
def test_what_is_read_of_a_reply_is_text_that_utf8_can_hold(text):
    for message in messages(text):
        body = {"choices": [message], "model": text, "system_fingerprint": text}
        outcome = read_reply(json.dumps(body).encode(), {}, 0.0)
        assert_clean(outcome)
        line = {"custom_id": "a", "response": {"status_code": 200, "body": body}}
        _, again = read_line(json.dumps(line).encode())
        assert_clean(again)
        assert again.choices == outcome.choices
        for choice in outcome.choices:
            assert_clean(unpack_reply(choice.stored_text(ReplyMode.LOGPROBS)))
            for mode in ReplyMode:
                assert_clean(list(judgments(choice.stored_text(mode), mode)))
    for mode in ReplyMode:  # as a file may hold it
        assert_clean(list(judgments(clean(text), mode)))
    assert_clean(calls_in(clean(text)) or [])
    assert_clean(message_text(clean_json({"content": text}))[0])


@pytest.mark.parametrize("raw", ['"\\ud83d"', b'"\xed\xa0\xbd"', '{"\\u0000": ["\\udfff"]}'])
def test_decoded_json_is_clean_in_keys_and_values(raw):
    assert "\ufffd" in str(decode_json(raw))
    assert_clean(decode_json(raw))


def test_keys_that_become_one_are_refused():
    with pytest.raises(ValueError, match="two keys of one object"):
        decode_json('{"a\\ud800": 1, "a\\udfff": 2}')


def test_whole_characters_stay():
    assert decode_json('"\\ud83d\\ude00 é\\u001b"') == "\U0001f600 é\x1b"
