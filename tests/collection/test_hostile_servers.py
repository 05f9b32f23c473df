"""Servers that lie, babble, drip and never end: bounded time, bounded memory, one readable word."""

import asyncio
import contextlib
import gzip
import json
import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats import collection
from judgestats.errors import JudgeError
from judgestats.simulated import SimulatedServer, run_server
from tests.batch_server import BatchFaults

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples

Kind = collection.Kind
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
PACKED = OK + b"Content-Encoding: gzip\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
TEN = collection.PriceTable(
    as_of="2026-01-01",
    source="test",
    endpoints={"simulated": {"*": collection.Price(input=10.0, output=10.0)}},
)
PLANTED = "sk-planted-0815-never-to-be-seen"


@contextlib.asynccontextmanager
async def answering(start, forever=b"", every_s=0.0, seen=None):
    """A raw server on loopback: `start` to every request, then `forever` again and again."""
    tasks, writers = [], []

    async def serve(reader, writer):
        tasks.append(asyncio.current_task())
        writers.append(writer)
        request = await reader.readuntil(b"\r\n\r\n")
        if seen is not None:
            seen.append(request)
        with contextlib.suppress(ConnectionError):  # the client has had enough
            writer.write(start)
            while forever:
                await writer.drain()
                writer.write(forever)
                await asyncio.sleep(every_s)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        await asyncio.sleep(0)


def body(text: bytes, head: bytes = OK) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(text) + text


REPLY = (
    b'{"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", '
    b'"content": "{\\"score\\": 7}"}}], "usage": {"prompt_tokens": 9, "completion_tokens": 5}}'
)
HOSTILE = {
    "endless headers": (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 500, Kind.BROKEN),
    "one endless header": (b"HTTP/1.1 200 OK\r\nX: ", b"a" * 65536, Kind.BROKEN),
    "endless body": (CHUNKED,
        b"10000\r\n" + b" " * 65536 + b"\r\n", Kind.TOO_LARGE),
    "a body announced as huge": (OK + b"Content-Length: 99999999999\r\n\r\n", b"", Kind.TOO_LARGE),
    "a chunk of senseless size": (
        OK + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFFF\r\n",
        b"", Kind.BROKEN),
    "no HTTP at all": (b"\xff\x00\x1b[2J" * 50 + b"\r\n\r\n", b"", Kind.BROKEN),
    "a body cut short": (OK + b"Content-Length: 90\r\n\r\n{", b"", Kind.BROKEN),
    "deep nesting": (body(b"[" * 200_000), b"", Kind.MALFORMED),
    "a number of 5,000 digits": (body(b'{"usage": {"prompt_tokens": ' + b"9" * 5000 + b"}}"),
        b"", Kind.MALFORMED),
    "another encoding": (body('{"choices": []}'.encode("utf-16")), b"", Kind.MALFORMED),
    "a bomb, compressed unasked": (
        body(b"\x1f\x8b\x08 no gzip", PACKED),
        b"", Kind.MALFORMED),
    "a real bomb, compressed unasked": (
        body(gzip.compress(REPLY[:-1] + b" " * 20_000_000 + b"}"), PACKED),
        b"", Kind.TOO_LARGE),
    "a reply, compressed unasked": (body(gzip.compress(REPLY), PACKED),
        b"", Kind.ANSWERED),
    "a compressed reply cut short": (
        body(gzip.compress(REPLY)[:-9], PACKED),
        b"", Kind.MALFORMED),
    "a key twice": (body(REPLY[:-1] + b', "choices": []}'), b"", Kind.MALFORMED),
    "an error as the reason to end": (body(REPLY.replace(b'"stop"', b'"error"')),
        b"", Kind.MALFORMED),
    "a redirect": (
        b"HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
        b"", Kind.BAD_REQUEST),
    "a date that no calendar holds": (
        body(b"", b"HTTP/1.1 429 x\r\nRetry-After: Thu, 01 Jan 99999999999 00:00:00 GMT\r\n"),
        b"", Kind.RATE_LIMITED),
    "headers of no encoding": (
        body(b"", b"HTTP/1.1 503 \xff\r\nRetry-After: \xff\xfe\r\nContent-Type: \xe9\r\n"),
        b"", Kind.OVERLOADED),
    "events without end": (
        CHUNKED.replace(b"application/json", b"text/event-stream"),
        b"10000\r\ndata: " + b"x" * 65528 + b"\r\n\r\n", Kind.TOO_LARGE),
    "a change of protocol": (
        b"HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        b"x" * 65536, Kind.BAD_REQUEST),
    "no content": (b"HTTP/1.1 204 x\r\n\r\n", b"", Kind.MALFORMED),
    "a connection that is closed": (b"", b"", Kind.BROKEN),
    "two lengths": (body(REPLY, OK + b"Content-Length: 5\r\n"), b"", Kind.BROKEN),
    "a length and chunks": (body(REPLY, OK + b"Transfer-Encoding: chunked\r\n"), b"", Kind.BROKEN),
    "a negative length": (OK + b"Content-Length: -5\r\n\r\n" + REPLY, b"", Kind.BROKEN),
    "a header of a megabyte": (body(REPLY, OK + b"X: " + b"a" * 1_000_000 + b"\r\n"),
        b"", Kind.BROKEN),
    "10,000 headers": (body(REPLY, OK + b"".join(b"X%d: a\r\n" % k for k in range(10_000))),
        b"", Kind.BROKEN),
    "headers behind the body": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(REPLY) + REPLY + b"\r\n0\r\n",
        b"X: a\r\n" * 1_000, Kind.BROKEN),
    "a reply compressed twice": (
        body(gzip.compress(gzip.compress(REPLY)), OK + b"Content-Encoding: gzip, gzip\r\n"),
        b"", Kind.MALFORMED),
    "words behind the reply": (body(REPLY + b" done"), b"", Kind.MALFORMED),
    "100,000 empty choices": (body(b'{"choices": [' + b"{}," * 99_999 + b"{}]}"),
        b"", Kind.MALFORMED),
    "a redirect to a file": (
        b"HTTP/1.1 302 x\r\nLocation: file:///etc/hostname\r\nContent-Length: 0\r\n\r\n",
        b"", Kind.BAD_REQUEST),
    "a redirect to itself": (
        b"HTTP/1.1 308 x\r\nLocation: /v1/chat/completions\r\nContent-Length: 0\r\n\r\n",
        b"", Kind.BAD_REQUEST),
    "the key, in what is no HTTP": (b"HTTP/9 Bearer " + PLANTED.encode() + b"\r\n\r\n",
        b"", Kind.BROKEN),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_reply_is_one_bounded_outcome(name, monkeypatch):
    monkeypatch.setenv("JUDGESTATS_API_KEY", PLANTED)
    start, forever, kind = HOSTILE[name]

    async with (
        answering(start, forever) as url,
        collection.JudgeClient(collection.parse_judge(f"m@{url}"), timeout_s=20.0) as client,
    ):
        outcome = await client.ask(b"{}")
    assert outcome.kind is kind
    assert len(outcome.detail) <= 300
    assert outcome.detail.isprintable()
    assert PLANTED not in outcome.detail


@pytest.mark.parametrize(
    ("start", "forever"),
    [
        (OK + b"Content-Length: 1000\r\n\r\n", b" "),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["body", "chunk", "information"],
)
async def test_a_slow_drip_ends_at_the_time_limit(start, forever):
    async with (
        answering(start, forever, every_s=0.01) as url,
        collection.JudgeClient(collection.parse_judge(f"m@{url}"), timeout_s=0.2) as client,
    ):
        outcome = await client.ask(b"{}")
    assert outcome.kind is collection.Kind.TIMED_OUT


async def test_a_second_reply_to_one_request_answers_no_other():
    two = body(REPLY) + body(REPLY.replace(b"7", b"9"))
    async with (
        answering(two) as url,
        collection.JudgeClient(collection.parse_judge(f"m@{url}"), timeout_s=20.0) as client,
    ):
        outcomes = [await client.ask(b"{}") for k in range(3)]
    assert [o.choices[0].text for o in outcomes] == ['{"score": 7}'] * 3


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("86400", 86_400.0), ("1000000000", None), ("0", 0.0), ("-5", None), ("1e9", None),
        ("nan", None), ("inf", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("soon", None), ("9" * 400, None),
    ],
)  # fmt: skip
def test_any_wait_that_a_server_asks_for_is_a_number_or_nothing(header, seconds):
    outcome = collection.read_error(429, b"", {"retry-after": header}, 0.0)
    assert outcome.kind is collection.Kind.RATE_LIMITED
    assert outcome.retry_after_s == seconds


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
names = (
    "choices message content refusal tool_calls function arguments error finish_reason usage "
    "prompt_tokens model param code detail"
)
members = st.sampled_from(names.split())
replies = st.recursive(
    json_values, lambda inner: st.dictionaries(members, inner) | st.lists(inner, max_size=3)
)


@pytest.mark.fuzz
@settings(deadline=None, max_examples=20 * FUZZ)
@given(replies, st.sampled_from([200, 400, 404, 429, 500]), st.text(max_size=40))
def test_any_reply_is_an_outcome_that_can_be_stored_and_printed(value, status, header):
    text = json.dumps(value, default=str).encode()
    headers = {"retry-after": header, "content-type": header, "x-ratelimit-remaining-tokens": "0"}
    headers["x-ratelimit-reset-tokens"] = header
    outcome = (
        collection.read_reply(text, headers, 0.0)
        if status == 200
        else collection.read_error(status, text, headers, 0.0)
    )
    assert outcome.detail.isprintable()
    for choice in outcome.choices:
        assert (choice.text + choice.finish_reason).encode("utf-8") is not None
    assert outcome.pause_s >= 0


async def test_an_answer_that_cannot_be_stored_is_an_error_not_a_hang(tmp_path):
    answer = collection.Answer(
        text="lone \ud800", mode="text", finish_reason="", model="m", fingerprint="", sent="{}",
        choices=1, tokens_in=None, tokens_out=None, cost_usd=None, latency_s=0.0, attempts=1,
        asked_at="",
    )  # fmt: skip
    with collection.Journal(tmp_path / "j.db") as journal:
        number = journal.begin([b"k" * 32])
        with pytest.raises(Exception, match="cannot be stored"):
            await asyncio.wait_for(journal.answered(number, [(b"k" * 32, answer)]), 10)
        assert len(journal) == 0


# ------------------------------------------------------------------- waiting


def test_a_server_that_asks_to_wait_until_tomorrow_ends_the_collection(plan, server, tmp_path):
    url, app = server(rate_limited=1.0, retry_after_s=86_400.0)
    collected = collection.collect_judgments(
        plan(items=50, url=url), journal=tmp_path / "j", concurrency=4
    )
    assert collected.stopped_because is collection.Stop.TOLD_TO_WAIT
    assert "asks to wait 86,400 s" in collected.message
    assert "Run the same command again" in collected.message
    assert collected.account.asked == len(collected.frame) == 0  # nothing is failed for it
    assert app.received <= 4


def an_endpoint(concurrency=1):
    return collection.Endpoint(
        collection.parse_judge("sim-typical"), concurrency=concurrency,
        journal=collection.Journal(None), price=collection.Price(input=0.0, output=0.0),
        reply_mode=None,
    )  # fmt: skip


async def test_retry_after_holds_everybody_back_and_is_bounded():
    endpoint = an_endpoint(concurrency=8)
    now = asyncio.get_running_loop().time()
    endpoint.saw(collection.Outcome(kind=collection.Kind.SERVER_ERROR, retry_after_s=9.0))
    assert endpoint.limit._open_at == 0.0
    endpoint.saw(collection.Outcome(kind=collection.Kind.RATE_LIMITED, retry_after_s=9.0))
    assert endpoint.limit._open_at - now == pytest.approx(9.0, abs=0.5)
    endpoint.saw(collection.Outcome(kind=collection.Kind.OVERLOADED, retry_after_s=1e8))
    assert endpoint.limit._open_at - now == pytest.approx(60.0, abs=0.5)


@pytest.mark.parametrize("kind", [k for k in collection.Kind if k is not collection.Kind.ANSWERED])
def test_no_failure_makes_a_judgment_wait_longer_than_its_patience(kind):
    outcome = collection.Outcome(kind=kind, retry_after_s=1e8)
    policy = collection.RetryPolicy()
    wait = policy.wait(outcome, tried=1, waited_s=0.0, contacted=True, draw=random.Random(1))
    assert wait is None


def test_a_server_that_refuses_everything_is_not_asked_everything(plan, server):
    url, app = server(server_error=1.0)
    once = collection.RetryPolicy(attempts=1, first_s=0.0)
    collected = collection.collect_judgments(plan(items=200, url=url), retry=once, concurrency=2)
    assert collected.stopped_because is collection.Stop.FAILING
    assert "20 judgments in a row failed, the last one as server_error" in collected.message
    assert 20 <= collected.account.failed == len(collected.frame) <= 24
    assert app.received <= 24
    assert any("server_error (The server had an error)" in note for note in collected.notes)


def test_a_failing_judge_does_not_end_the_others(plan, server, tmp_path):
    bad, broken = server(server_error=1.0)
    good, _ = server()
    once = collection.RetryPolicy(attempts=1, first_s=0.0)
    tasks = [*plan(items=8, url=bad), *plan(items=4, url=good)]
    kept = {"journal": tmp_path / "j.db", "retry": once, "concurrency": 2}
    collected = collection.collect_judgments(tasks, **kept)
    assert collected.stopped_because is collection.Stop.FAILING
    assert bad in collected.message
    assert good not in collected.message
    assert collected.account.answered == 16  # all of the good one
    assert 20 <= collected.account.failed <= 24
    assert collected.account.asked == 16 + collected.account.failed == len(collected.frame)
    broken.faults = BatchFaults()  # mended: the same command asks only what is missing
    again = collection.collect_judgments(tasks, **kept)
    assert again.complete
    assert (again.account.cached, again.account.asked) == (16, 32)
    assert len(again.frame) == 48


def test_what_the_journal_holds_of_a_failing_judge_is_handed_over(plan, server, tmp_path):
    url, app = server()
    once = collection.RetryPolicy(attempts=1, first_s=0.0)
    kept = {"journal": tmp_path / "j.db", "retry": once, "concurrency": 2}
    tasks = plan(items=15, url=url)
    collection.collect_judgments(tasks[30:], **kept)
    app.faults = BatchFaults(server_error=1.0)
    collected = collection.collect_judgments(tasks, **kept)
    assert collected.stopped_because is collection.Stop.FAILING
    assert collected.account.cached == 30
    assert "once what the server names is fixed" in collected.message


async def test_who_waits_for_a_retry_leaves_when_its_model_is_ended():
    """One judgment waits a minute for its retry when another is told to come back tomorrow."""
    endpoint = an_endpoint()
    limited = collection.Outcome(kind=collection.Kind.RATE_LIMITED, retry_after_s=50.0)
    await endpoint.limit.enter()
    endpoint.saw(limited)
    resting = asyncio.create_task(endpoint.rest(600.0, ""))
    entering = asyncio.create_task(endpoint.limit.enter())
    await asyncio.sleep(0)
    endpoint.end(collection.Stop.TOLD_TO_WAIT, "tomorrow")
    endpoint.saw(limited)  # one in flight
    endpoint.limit.release_slot()
    await asyncio.wait_for(asyncio.gather(resting, entering), 5)


async def test_who_waits_for_a_retry_leaves_when_its_condition_is_left_out():
    endpoint = an_endpoint()
    hopeless = asyncio.create_task(endpoint.rest(600.0, "a"))
    other = asyncio.create_task(endpoint.rest(600.0, "b"))
    await asyncio.sleep(0)
    endpoint.leave_out("a", "refused")
    await asyncio.wait_for(hopeless, 5)
    assert not other.done()
    endpoint.end(collection.Stop.FAILING, "all")
    await asyncio.wait_for(other, 5)


async def test_a_server_that_only_refuses_is_told_without_a_time_to_wait():
    endpoint = an_endpoint()
    at_once = collection.Outcome(kind=collection.Kind.RATE_LIMITED, retry_after_s=0.0)
    endpoint.saw(at_once)
    assert endpoint.pause == ""
    endpoint.saw(at_once)
    assert "has refused 2 times in a row" in endpoint.pause
    endpoint.saw(collection.Outcome(kind=collection.Kind.ANSWERED))
    assert endpoint.pause == ""


# ------------------------------------------------------------------- money


class Mute(SimulatedServer):
    """Answers without telling the tokens."""

    async def __call__(self, scope, receive, send):
        reply = b'{"choices": [{"message": {"content": "{\\"score\\": 4}"}}]}'
        headers = [(b"content-length", b"%d" % len(reply))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": reply})


def test_the_cap_holds_where_the_server_does_not_tell_the_tokens(plan):
    with run_server(Mute()) as url:
        collected = collection.collect_judgments(
            plan(items=50, url=url),
            budget=collection.Budget(max_cost=0.05),
            prices=TEN,
            concurrency=2,
        )
    assert collected.stopped_because is collection.Stop.MAX_COST
    account = collected.account
    assert 0.025 < account.charged_usd == account.cost_estimated_usd <= 0.05  # by length
    assert collected.account.cost_unknown == collected.account.answered


# ------------------------------------------------------------------- keys and addresses


def test_a_placeholder_key_does_not_maim_replies(plan, server, monkeypatch):
    monkeypatch.setenv("JUDGESTATS_API_KEY", "content")
    url, _ = server()
    over_http = collection.collect_judgments(plan(items=1, url=url))
    clean = collection.collect_judgments(plan(items=1))
    assert over_http.frame["raw_text"].tolist() == clean.frame["raw_text"].tolist()


def test_a_server_on_this_machine_is_not_asked_through_a_proxy(plan, server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    url, _ = server()
    assert collection.collect_judgments(plan(url=url)).account.answered == 20
    assert collection.proxy_for(url) is None
    assert collection.proxy_for("http://elsewhere.example/v1").url == "http://127.0.0.1:9"


async def test_the_look_at_an_endpoint_is_bounded_and_follows_no_redirect(monkeypatch):
    monkeypatch.setenv("JUDGESTATS_API_KEY", PLANTED)
    seen = []

    async def look(name):
        async with answering(HOSTILE[name][0], HOSTILE[name][1], seen=seen) as url:
            judge = f"m@{url}"
            return await asyncio.to_thread(
                collection.check_judges, {judge: collection.parse_judge(judge)}
            )

    with pytest.raises(JudgeError, match="cannot be reached"):
        await look("endless body")
    await look("a redirect")
    assert len(seen) == 2


async def test_what_an_interrupt_breaks_off_is_in_the_account(plan, server, monkeypatch):
    url, app = server(stalled=1.0, stall_s=600.0)
    original = collection.Collector.run

    async def interrupted(self, sources, *, grace_s):
        async def once_asked():
            while not app.received:
                await asyncio.sleep(0.001)
            self.halt.stop(collection.Stop.INTERRUPTED)

        await asyncio.gather(once_asked(), original(self, sources, grace_s=0.01))

    monkeypatch.setattr(collection.Collector, "run", interrupted)
    collected = await collection.collect(plan(url=url), concurrency=1, prices=TEN)
    assert collected.account.requests == collected.account.discarded == 1
    assert collected.account.cost_in_vain_usd > 0
    assert collected.account.asked == 0


def test_surrogates_in_a_refusal_or_a_finish_reason_do_not_stop_the_journal(tmp_path):
    message = {"choices": [{"message": {"refusal": "no\ud800"}}]}
    other = {"choices": [{"message": {"content": "4"}, "finish_reason": "stop\udfff" * 100}]}
    for reply in (message, other):
        (choice,) = collection.read_reply(json.dumps(reply).encode(), {}, 0.0).choices
        choice.text.encode("utf-8")
        choice.finish_reason.encode("utf-8")
        assert len(choice.finish_reason) <= 200


def test_failures_between_answers_do_not_end_it(plan, server):
    url, _ = server(server_error=0.7)
    once = collection.RetryPolicy(attempts=1, first_s=0.0)
    collected = collection.collect_judgments(plan(items=50, url=url), retry=once, concurrency=4)
    assert collected.complete
    assert collected.account.failed > 100
