"""What comes back from a batch is untrusted: any bytes are read, and nothing is guessed."""

import asyncio
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.collection import (
    BatchClient,
    BatchState,
    Kind,
    RetryPolicy,
    parse_judge,
    read_results,
    request_line,
    split_keys,
)
from judgestats.collection.batches import client
from judgestats.errors import JudgeError
from judgestats.simulated import send_json

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

OURS = ("a", "b", "c")


def answered(custom_id, content="7"):
    body = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    return line(custom_id, response={"status_code": 200, "body": body})


def line(custom_id, **members):
    return json.dumps({"custom_id": custom_id, **members}).encode() + b"\n"


def kinds(*lines):
    results = read_results([b"".join(lines)], set(OURS))
    return {custom_id: outcome.kind.value for custom_id, outcome in results.outcomes.items()}


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        ({"response": {"status_code": 200, "body": {}}}, "malformed_reply"),
        ({"response": {"status_code": 200, "body": None}}, "malformed_reply"),
        ({"response": {"status_code": 200}}, "malformed_reply"),
        ({"response": {"status_code": "200", "body": {}}}, "malformed_reply"),
        ({"response": {"status_code": True, "body": {}}}, "malformed_reply"),
        ({"response": {"status_code": 429, "body": {}}}, "rate_limited"),
        ({"response": {"status_code": 500, "body": "x"}}, "server_error"),
        ({"response": {"status_code": 400, "body": {"error": {"message": "no"}}}}, "bad_request"),
        ({"response": None, "error": {"code": "batch_expired"}}, "batch_expired"),
        ({"response": None, "error": {"code": "batch_cancelled"}}, "batch_cancelled"),
        ({"response": None, "error": {"code": ["odd"], "message": 7}}, "server_error"),
        ({"error": "odd"}, "malformed_reply"),
        ({}, "malformed_reply"),
    ],
)
def test_each_kind_of_line(members, kind):
    assert kinds(line("a", **members)) == {"a": kind}


def test_the_first_answer_counts_and_an_answer_goes_before_a_failure():
    failed = line("a", error={"code": "batch_expired"})
    results = read_results([failed + answered("a", "1"), answered("a", "2") + failed], set(OURS))
    assert results.outcomes["a"].choices[0].text == "1"
    assert results.repeated == 3


def test_lines_that_are_not_ours_are_counted_and_left_out():
    files = [
        answered("z") + b"\n \n" + answered("a")[:20] + b"\n",
        b"\xff\xfe\n[1]\n" + answered("b"),
    ]
    results = read_results([*files, line(7), line("x" * 1000)], set(OURS))
    assert set(results.outcomes) == {"b"}
    assert (results.foreign, results.repeated, results.unreadable) == (1, 0, 5)
    assert "5 unreadable" in results.oddities
    assert read_results([answered("a")], set(OURS)).oddities == ""


names = [
    "custom_id",
    "response",
    "error",
    "code",
    "status_code",
    "body",
    "choices",
    "message",
    "content",
    "id",
    "status",
    "errors",
    "data",
    "metadata",
    "judgestats",
    "request_counts",
    "total",
    "output_file_id",
    "line",
]
members = st.sampled_from(names) | st.text(max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(members, inner, max_size=4),
    max_leaves=15,
)


@pytest.mark.fuzz
@settings(deadline=None, max_examples=27 * FUZZ)
@given(st.binary(max_size=300), st.integers(0, 200))
def test_any_bytes_among_answers_change_no_answer(noise, cut):
    whole = answered("a") + answered("b")
    results = read_results([whole, b"\n" + noise, whole[:cut]], set(OURS))
    assert results.outcomes["a"].choices[0].text == results.outcomes["b"].choices[0].text == "7"


@pytest.mark.fuzz
@settings(deadline=None, max_examples=27 * FUZZ)
@given(values)
def test_any_batch_of_a_server_is_read_or_malformed(value):
    try:
        state = BatchClient._state(client.reply_object(json.dumps(value).encode()))
    except client.MalformedError:
        pass  # named, and tried again
    else:
        assert isinstance(state, BatchState)
        assert state.done >= 0
        assert all(text.isprintable() for text in (*state.errors, *state.codes, state.status))


@pytest.mark.parametrize(
    ("unreadable", "ours"),
    [
        (7, False),
        ({}, True),
        ({"metadata": {"judgestats": "js-1"}}, True),
        ({"metadata": {"project": "another"}}, False),
    ],
)
def test_an_unreadable_batch_of_a_list_is_skipped_only_where_it_is_not_ours(unreadable, ours):
    async def app(scope, receive, send):
        await send_json(send, 200, {"data": [unreadable, {"id": "b-1", "status": "completed"}]})

    async def named():
        once = RetryPolicy(attempts=1)
        judge = parse_judge("m@http://localhost/v1")
        async with BatchClient(
            judge, timeout_s=5.0, retry=once, sleep=asyncio.sleep, app=app
        ) as batches:
            return await batches.find("js-1", ())

    if ours:
        with pytest.raises(JudgeError, match="while batches were listed"):
            asyncio.run(named())
    else:
        assert asyncio.run(named()) is None


@pytest.mark.parametrize("bad", ["../secret", "a/b", "x" * 300, "", "é", "a b", "a\nb", None, 7])
def test_ids_that_would_lead_elsewhere_are_refused(bad):
    with pytest.raises(client.MalformedError):
        BatchClient._state({"id": bad, "status": "completed"})
    if isinstance(bad, str) and bad:
        with pytest.raises(client.MalformedError):
            BatchClient._state({"id": "b", "status": "completed", "output_file_id": bad})


def test_endless_lines_and_deep_nesting_are_unreadable():
    deep = b'{"custom_id": "a", "response": ' + b"[" * 100_000 + b"\n"
    long = b'{"custom_id": "a", "x": "' + b"y" * 9_000_000 + b'"}\n'
    results = read_results([deep + long + answered("a")], set(OURS))
    assert results.unreadable == 2
    assert results.outcomes["a"].kind is Kind.ANSWERED


@pytest.mark.fuzz
@settings(deadline=None, max_examples=27 * FUZZ)
@given(st.lists(values | st.sampled_from(OURS).map(lambda i: {"custom_id": i}), max_size=5))
def test_any_json_lines_are_read_without_a_guess(found):
    content = b"".join(json.dumps(v).encode() + b"\n" for v in found)
    results = read_results([content], set(OURS))
    assert set(results.outcomes) <= set(OURS)
    counted = len(results.outcomes) + results.foreign + results.repeated + results.unreadable
    assert counted == len(found)
    for outcome in results.outcomes.values():
        assert outcome.detail.isprintable()
        for choice in outcome.choices:
            choice.text.encode("utf-8")


@pytest.mark.fuzz
@settings(max_examples=33 * FUZZ, deadline=None)
@given(st.text(max_size=30), st.lists(st.binary(min_size=32, max_size=32), max_size=4))
def test_requests_and_keys_come_back_as_they_went(custom_id, keys):
    written = request_line(custom_id, b'{"model":"m"}')
    assert written.count(b"\n") == 1
    value = json.loads(written)
    assert (value["custom_id"], value["body"]) == (custom_id, {"model": "m"})
    assert split_keys(b"".join(keys)) == tuple(keys)
