import json

import pytest

from judgestats.collection import Kind, Parameter, read_error, read_reply, seconds_until


def reply(**choice):
    return json.dumps({"choices": [choice], "model": "m"}).encode()


def error(message, **more):
    return json.dumps({"error": {"message": message, **more}}).encode()


def test_an_answer_with_usage():
    body = json.dumps(
        {
            "model": "m-1",
            "system_fingerprint": "fp",
            "choices": [{"message": {"content": "7"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2},
        }
    ).encode()
    outcome = read_reply(body, {}, 0.1)
    assert outcome.kind is Kind.ANSWERED
    assert (outcome.choices[0].text, outcome.choices[0].finish_reason) == ("7", "stop")
    assert (outcome.tokens_in, outcome.tokens_out) == (10, 2)
    assert (outcome.model, outcome.fingerprint) == ("m-1", "fp")


def test_missing_or_senseless_usage_is_unknown_not_zero():
    body = json.dumps(
        {
            "choices": [{"message": {"content": "7"}}],
            "usage": {"prompt_tokens": "many", "completion_tokens": True},
        }
    ).encode()
    outcome = read_reply(body, {}, 0.1)
    assert outcome.tokens_in is None
    assert outcome.tokens_out is None


def test_tool_arguments_refusals_parts_and_empty_content():
    call = {"function": {"name": "submit_score", "arguments": '{"score": 3}'}}
    told = read_reply(reply(message={"content": None, "tool_calls": [call]}), {}, 0)
    assert told.choices[0].text == '{"score": 3}'
    decoded = {"function": {"name": "submit_score", "arguments": {"score": 3}}}
    told = read_reply(reply(message={"tool_calls": [decoded]}), {}, 0)
    assert told.choices[0].text == '{"score": 3}'
    refused = read_reply(reply(message={"refusal": "No."}, finish_reason="stop"), {}, 0)
    assert (refused.choices[0].text, refused.choices[0].finish_reason) == ("No.", "refusal")
    parts = read_reply(reply(message={"content": [{"type": "text", "text": "a"}]}), {}, 0)
    assert parts.choices[0].text == "a"
    empty = read_reply(reply(message={"content": None}, finish_reason="length"), {}, 0)
    assert (empty.choices[0].text, empty.choices[0].finish_reason) == ("", "length")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b'{"choices": "x"}',
        b'{"choices": [{"message": {"content": "a',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_what_is_no_chat_completion_is_malformed(body):
    outcome = read_reply(body, {}, 0)
    assert (outcome.kind, outcome.status) == (Kind.MALFORMED, 0)  # no error status to name


def test_a_page_instead_of_an_answer_may_have_cost_something():
    page = b"<!doctype html><html><body>Welcome</body></html>"
    read, refused = read_reply(page, {}, 0.0), read_error(404, page, {}, 0.0)
    assert read.kind is refused.kind is Kind.WRONG_PATH
    assert (read.maybe_billed, refused.maybe_billed) == (True, False)


def test_an_endless_text_is_too_large():
    assert read_reply(reply(message={"content": "x" * 300_000}), {}, 0).kind is Kind.TOO_LARGE


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, error("bad key"), Kind.KEY_REFUSED),
        (403, b"forbidden", Kind.NO_PERMISSION),
        (404, error("no such model"), Kind.UNKNOWN_MODEL),
        (400, error("The model `x` does not exist"), Kind.UNKNOWN_MODEL),
        (429, error("slow down"), Kind.RATE_LIMITED),
        (429, error("You exceeded your current quota"), Kind.NO_QUOTA),
        (429, error("x", code="insufficient_quota"), Kind.NO_QUOTA),
        (402, b"", Kind.NO_QUOTA),
        (503, b"", Kind.OVERLOADED),
        (529, b"", Kind.OVERLOADED),
        (500, b"<html>", Kind.SERVER_ERROR),
        (504, b"", Kind.SERVER_ERROR),
        (408, b"", Kind.SERVER_ERROR),
        (400, b"{}", Kind.BAD_REQUEST),
        (422, b"[1]", Kind.BAD_REQUEST),
    ],
)
def test_error_kinds(status, body, kind):
    assert read_error(status, body, {}, 0).kind is kind


def test_error_bodies_of_other_servers():
    assert "boom" in read_error(400, b'{"error": "boom"}', {}, 0).detail
    assert "boom" in read_error(422, b'{"detail": [{"msg": "boom"}]}', {}, 0).detail
    assert read_error(500, b"x" * 10_000, {}, 0).detail.startswith("x")
    assert len(read_error(400, error("y" * 10_000), {}, 0).detail) <= 300


def test_retry_after_and_quota_headers():
    limited = read_error(429, b"", {"retry-after": "0"}, 0)
    assert limited.retry_after_s == 0.0
    assert read_error(429, b"", {"retry-after-ms": "250"}, 0).retry_after_s == 0.25
    assert read_error(429, b"", {}, 0).retry_after_s is None
    assert read_error(429, b"", {"retry-after": "soon"}, 0).retry_after_s is None
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2s"}
    assert read_error(429, b"", headers, 0).pause_s == 62.0
    headers["x-ratelimit-remaining-requests"] = "5"
    assert read_error(429, b"", headers, 0).pause_s == 0.0


def test_seconds_until_reads_dates_and_refuses_nonsense():
    assert seconds_until("Wed, 21 Oct 2015 07:28:00 GMT", now=1445412470.0) == 10.0
    assert seconds_until("Wed, 21 Oct 2015 07:28:00 GMT", now=2e9) == 0.0
    assert seconds_until("nan") is None
    assert seconds_until("-5") is None
    assert seconds_until("1e12") is None


def test_keys_that_differ_in_half_characters_do_not_lose_a_paid_answer():
    body = b'{"a\\ud83d": 1, "a\\ud83e": 2, "choices": [{"message": {"content": "7"}}]}'
    outcome = read_reply(body, {}, 0)
    assert (outcome.kind, outcome.choices[0].text) == (Kind.ANSWERED, "7")


def test_a_number_of_many_digits_does_not_lose_the_reply_it_stands_in():
    body = reply(message={"content": "7"})[:-1] + b', "usage": {"prompt_tokens": 1%b}}' % (
        b"0" * 500
    )
    outcome = read_reply(body, {}, 0)
    assert (outcome.kind, outcome.choices[0].text) == (Kind.ANSWERED, "7")
    assert outcome.tokens_in is None
    assert outcome.usage_fault


def test_a_key_that_stands_twice_makes_a_reply_malformed():
    body = b'{"choices": [{"message": {"content": "7", "content": "9"}}]}'
    outcome = read_reply(body, {}, 0)
    assert outcome.kind is Kind.MALFORMED
    assert "the key 'content' stands twice" in outcome.detail


def test_a_lone_surrogate_is_stored_readably():
    outcome = read_reply(b'{"choices": [{"message": {"content": "a\\ud800b"}}]}', {}, 0)
    outcome.choices[0].text.encode("utf-8")


@pytest.mark.parametrize(
    ("message", "param", "about"),
    [
        ("Unsupported value: 'temperature' does not support 0.5", "", "temperature"),
        ("whatever", "temperature", "temperature"),
        ("Invalid parameter: 'response_format'", "", Parameter.REPLY_FORMAT),
        ("m does not support tools", "", Parameter.REPLY_FORMAT),
        ("json_schema is unsupported", "", Parameter.REPLY_FORMAT),
        ("only n = 1 is supported", "", Parameter.CHOICES),
        ("Unrecognized request argument: seed", "", Parameter.SEED),
        ("'max_completion_tokens' is not supported", "", "max_tokens"),
        ("x", "response_format.json_schema", Parameter.REPLY_FORMAT),
        ("This model's maximum context length is 8 tokens", "messages", Parameter.TOO_LONG),
        ("flagged by our content policy", "", Parameter.CONTENT),
        ("Unsupported parameter: 'reasoning_effort'", "", "reasoning_effort"),
        ("something else", "", Parameter.UNKNOWN),
    ],
)
def test_what_a_bad_request_is_about(message, param, about):
    assert read_error(400, error(message, param=param), {}, 0).about == about
