"""Proxies with a login: it reaches the proxy, and nothing that is written, shown or raised."""

import asyncio
import base64
import contextlib
import logging
import re
import traceback

import pytest

from judgestats import collection
from judgestats.errors import InputError, JudgeError

PASSWORD = "planted-0815@never:seen"
LOGIN = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
WRITTEN = "me:planted-0815%40never%3Aseen"
ANSWER = b'{"choices": [{"message": {"content": "{\\"score\\": 4} %s"}}]}'


@contextlib.asynccontextmanager
async def proxy(monkeypatch, reply, *, login=WRITTEN):
    """A proxy on loopback that answers every request so; gives the requests it saw."""
    seen = []

    async def serve(reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
                await reader.readexactly(int(length[1]) if length else 0)
                seen.append(head)
                writer.write(reply)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setenv("no_proxy", "")
    for scheme in ("http", "https"):
        monkeypatch.setenv(f"{scheme}_proxy", f"http://{login}@127.0.0.1:{port}")
    try:
        yield seen
    finally:
        server.close()


def reply(status: str, body: bytes) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def hidden(text: str) -> bool:
    return not any(secret in text for secret in (PASSWORD, LOGIN, "planted-0815"))


async def test_plain_requests_carry_the_login_to_the_proxy(plan, monkeypatch, tmp_path, capsys):
    told = reply("200 OK", ANSWER % f"{PASSWORD} {LOGIN}".encode())
    async with proxy(monkeypatch, told) as seen:
        collected = await collection.collect(
            plan(items=2, url="http://elsewhere.example/v1"),
            journal=tmp_path / "j.db",
            progress=True,
        )
    assert collected.account.answered == 8
    assert seen[0].startswith("POST http://elsewhere.example/v1/chat/completions HTTP/1.1")
    assert all(f"Proxy-Authorization: Basic {LOGIN}" in head for head in seen)
    said = capsys.readouterr()
    assert set(collected.frame["raw_text"]) == {'{"score": 4} *** ***'}
    assert hidden(collected.frame.to_csv() + str(collected) + said.out + said.err)
    assert all(hidden(f.read_bytes().decode("latin-1")) for f in tmp_path.iterdir())


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("status", [403, 407, 502])
async def test_a_proxy_that_refuses_is_named_without_the_login(
    plan, monkeypatch, caplog, scheme, status
):
    caplog.set_level(logging.DEBUG)
    refusal = reply(f"{status} {PASSWORD}", f"bad login me:{PASSWORD}".encode())
    once = collection.RetryPolicy(attempts=1, first_s=0.0)
    async with proxy(monkeypatch, refusal) as seen:
        said = ""
        try:
            found = await collection.collect(
                plan(items=1, url=f"{scheme}://elsewhere.example/v1"), retry=once
            )
            said = str(found) + found.frame.to_csv()
        except JudgeError as error:
            trace = traceback.TracebackException.from_exception(error, capture_locals=True)
            # all frames but this one, which knows the password
            trace.stack = traceback.StackSummary.from_list(list(trace.stack)[1:])
            said = "".join(trace.format())
            assert scheme == "http" or f"the proxy refuses: HTTP {status}" in said
    assert f"Proxy-Authorization: Basic {LOGIN}" in seen[0]
    if scheme == "https":
        assert seen[0].startswith("CONNECT elsewhere.example:443 HTTP/1.1")
        assert "Bearer" not in seen[0]  # the key is for the judge
    assert hidden(said + caplog.text)


async def test_a_proxy_that_is_not_there_is_named_without_the_login(monkeypatch):
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("https_proxy", f"http://{WRITTEN}@127.0.0.1:9")
    spec = collection.parse_judge("m@https://elsewhere.example/v1", environ={})
    async with collection.JudgeClient(spec, timeout_s=5.0) as client:
        outcome = await client.ask(b"{}")
    assert outcome.kind is collection.Kind.UNREACHABLE
    assert hidden(repr(outcome))
    with pytest.raises(JudgeError) as caught:
        await asyncio.to_thread(collection.check_judges, {"m": spec})
    assert hidden("".join(traceback.format_exception(caught.value)))


@pytest.mark.parametrize(
    "value",
    [
        "socks5://me:planted-0815@host:1080",
        "http://me:planted-0815/x@host:1",
        "http://me:planted-0815@host:port",
        "http://me:planted-0815@[::1:80",
        "http://",
    ],
)
def test_a_proxy_that_cannot_be_used_is_named_by_its_variable(monkeypatch, value):
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("https_proxy", value)
    with pytest.raises(InputError, match="HTTPS_PROXY") as caught:
        collection.JudgeClient(collection.parse_judge("m@https://elsewhere.example/v1", environ={}))
    assert hidden("".join(traceback.format_exception(caught.value)))


def test_addresses_of_proxies(monkeypatch):
    monkeypatch.setenv("no_proxy", "inside.example")
    monkeypatch.setenv("https_proxy", f"{WRITTEN}@proxy.example:3128")  # as curl takes it
    found = collection.proxy_for("https://elsewhere.example/v1")
    assert found.url == "http://proxy.example:3128"
    assert found.authorization.reveal() == f"Basic {LOGIN}"
    assert hidden(f"{found} {found!r}")
    assert collection.proxy_for("https://inside.example/v1") is None
    assert collection.proxy_for("https://localhost/v1") is None
    assert collection.proxy_for("http://elsewhere.example/v1") is None
    monkeypatch.setenv("https_proxy", "http://[::1]:3128")
    assert collection.proxy_for("https://elsewhere.example/v1").url == "http://[::1]:3128"


def test_a_password_that_is_not_utf_8_is_sent_as_it_is(monkeypatch):
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("https_proxy", "http://me:planted-0815\udcff@host:1")
    found = collection.proxy_for("https://elsewhere.example/v1")
    login = base64.b64encode(b"me:planted-0815\xff").decode()
    assert found.authorization.reveal() == f"Basic {login}"
    assert hidden(repr(found))
