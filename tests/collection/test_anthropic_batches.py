"""Message Batches, by a server of Anthropic's protocol on this machine, reached as a proxy."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from judgestats import collection
from judgestats.errors import JudgeError

URL = "http://api.anthropic.com/v1"
PRICES = collection.PriceTable(
    as_of="2026-01-01", source="test",
    endpoints={"api.anthropic.com": {"*": collection.Price(input=10.0, output=10.0)}},
)  # fmt: skip


class Anthropic(ThreadingHTTPServer):
    """Batches that end after some looks.

    `spoil` changes the lines of the first results, `listed_as` each batch of a list.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.batches: dict[str, dict[str, Any]] = {}
        self.headers_seen: list[dict[str, str]] = []
        self.online = 0
        self.looks = 1
        self.break_off = 0
        self.spoil = lambda lines: lines
        self.listed_as: dict[str, Any] = {}

    def made(self, batch_id: str) -> dict[str, Any]:
        """A batch as the API describes it."""
        batch = self.batches[batch_id]
        ended = batch["looks"] <= 0
        count = len(batch["requests"])
        rows = self.results(batch_id)[:count] if ended else []
        kinds = [r["result"]["type"] if isinstance(r, dict) else "succeeded" for r in rows]
        kinds += ["succeeded"] * (count - len(kinds)) if ended else []
        return {
            "id": batch_id, "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {
                "processing": 0 if ended else count,
                **{k: kinds.count(k) for k in ("succeeded", "errored", "canceled", "expired")},
            },
            "results_url": f"https://elsewhere.invalid/{batch_id}" if ended else None,
        }  # fmt: skip

    def results(self, batch_id: str) -> list[dict[str, Any]]:
        """The results, in another order than the requests."""
        batch = self.batches[batch_id]
        rows = [_result(r) for r in batch["requests"]]
        random.Random(0).shuffle(rows)
        return batch["spoil"](rows)


def _result(request: dict[str, Any]) -> dict[str, Any]:
    params = request["params"]
    content: list[dict[str, Any]] = [{"type": "text", "text": "Rating: [[7]]"}]
    if "tools" in params:
        content = [{"type": "tool_use", "id": "t", "name": params["tools"][0]["name"],
                    "input": _filled(params["tools"][0]["input_schema"])}]  # fmt: skip
    message = {
        "id": "msg", "type": "message", "role": "assistant", "model": params["model"],
        "content": content, "stop_reason": "end_turn",
        "usage": {"input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 20},
    }  # fmt: skip
    return {
        "custom_id": request["custom_id"], "result": {"type": "succeeded", "message": message},
    }  # fmt: skip


def _filled(schema: dict[str, Any]) -> dict[str, Any]:
    return {k: 7 if "integer" in str(v) else "fine" for k, v in schema["properties"].items()}


class _Handler(BaseHTTPRequestHandler):
    server: Anthropic

    def _send(self, value: Any) -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if path == "/v1/chat/completions":
            self.server.online += 1
            form = body.get("response_format", {}).get("json_schema", {}).get("schema")
            text = json.dumps(_filled(form)) if form else "Rating: [[7]]"
            self._send(
                {
                    "id": "c", "object": "chat.completion", "model": body["model"],
                    "choices": [{"index": 0, "finish_reason": "stop",
                                 "message": {"role": "assistant", "content": text}}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 20},
                }
            )  # fmt: skip
            return
        assert path == "/v1/messages/batches"
        self.server.headers_seen.append({k.lower(): v for k, v in self.headers.items()})
        batch_id = f"msgbatch_{len(self.server.batches)}"
        spoil, self.server.spoil = self.server.spoil, lambda lines: lines
        self.server.batches[batch_id] = {
            "requests": body["requests"], "looks": self.server.looks, "spoil": spoil,
        }  # fmt: skip
        if self.server.break_off:
            self.server.break_off -= 1
            self.close_connection = True
            return
        self._send(self.server.made(batch_id))

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        parts = path.removeprefix("/v1/messages/batches").strip("/").split("/")
        if parts == [""]:
            after = parse_qs(urlsplit(self.path).query).get("after_id", [""])[0]
            listed = sorted(self.server.batches, reverse=True)
            listed = listed[listed.index(after) + 1 :] if after else listed
            page = [self.server.made(b) for b in listed[:1]]
            page = [{**b, **self.server.listed_as} for b in page]
            self._send({"data": page, "has_more": len(listed) > 1})
        elif parts[1:] == ["results"]:
            rows = self.server.results(parts[0])
            self._send(b"".join(r if isinstance(r, bytes) else json.dumps(r).encode() + b"\n"
                                for r in rows))  # fmt: skip
        else:
            self.server.batches[parts[0]]["looks"] -= 1
            self._send(self.server.made(parts[0]))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def anthropic(monkeypatch: pytest.MonkeyPatch) -> Iterator[Anthropic]:
    server = Anthropic()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-key")
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


async def _at_once(seconds: float) -> None:
    del seconds
    await asyncio.sleep(0)


def _collect(tasks, path, quick, **options):
    return asyncio.run(
        collection.collect_in_batches(
            tasks, journal=path, sleep=_at_once, retry=quick, prices=PRICES, **options
        )
    )


@pytest.fixture
def tasks(plan):
    return plan(items=4, replicates=3, judges=("claude-test",), url=URL)


def test_a_batch_answers_every_request_at_half_the_price(anthropic, tasks, tmp_path, quick) -> None:
    batch = _collect(tasks, tmp_path / "j.db", quick, seed=1)
    assert batch.complete
    assert batch.account.answered == 12
    assert (batch.frame["transport"] == "answered").all()
    assert anthropic.online == 1
    [made] = anthropic.batches.values()
    assert len(made["requests"]) == 11
    assert len({r["custom_id"] for r in made["requests"]}) == 11
    for request in made["requests"]:
        assert len(request["custom_id"]) <= 64
        assert request["params"]["max_tokens"] > 0
        assert {"seed", "n", "response_format"}.isdisjoint(request["params"])
    [headers] = anthropic.headers_seen
    assert headers["x-api-key"] == "sk-ant-test-key"
    assert headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in headers
    one = 120 * 10 / 1e6
    assert batch.account.cost_usd == pytest.approx(one + 11 * one / 2)
    again = _collect(tasks, tmp_path / "j.db", quick, seed=1)
    assert again.account.cached == 12
    assert len(anthropic.batches) == 1


def _errored(row, kind):
    error = {"type": "error", "error": {"type": kind, "message": "not now"}}
    return {**row, "result": {"type": "errored", "error": error}}


SPOILED = {
    "expired": lambda rows: [{**r, "result": {"type": "expired"}} for r in rows[:3]] + rows[3:],
    "overloaded": lambda rows: [_errored(r, "overloaded_error") for r in rows[:3]] + rows[3:],
    "half a file": lambda rows: [*rows[:5], json.dumps(rows[5]).encode()[:40]],
    "twice": lambda rows: [*rows, *rows[:4]],
    "another's": lambda rows: [*rows, {**rows[0], "custom_id": "js-foreign"}],
}


@pytest.mark.parametrize("how", SPOILED)
def test_what_is_missing_goes_into_a_next_batch(anthropic, tasks, tmp_path, quick, how) -> None:
    anthropic.spoil = SPOILED[how]
    batch = _collect(tasks, tmp_path / "j.db", quick)
    assert batch.complete
    assert batch.account.answered == 12
    first, *further = anthropic.batches.values()
    missing = {"expired": 3, "overloaded": 3, "half a file": 6}.get(how, 0)
    assert [len(b["requests"]) for b in further] == [missing] * bool(missing)
    assert batch.account.retries == missing
    assert len(first["requests"]) == 11


def test_an_expired_request_costs_nothing(anthropic, tasks, tmp_path, quick) -> None:
    anthropic.spoil = SPOILED["expired"]
    batch = _collect(tasks, tmp_path / "j.db", quick)
    assert batch.account.discarded == 0
    assert batch.account.cost_in_vain_usd == 0


def test_a_refused_request_is_given_up(anthropic, tasks, tmp_path, quick) -> None:
    anthropic.spoil = lambda rows: [_errored(rows[0], "invalid_request_error"), *rows[1:]]
    batch = _collect(tasks, tmp_path / "j.db", quick)
    assert batch.account.answered == 11
    assert batch.account.failed == 1
    assert len(anthropic.batches) == 1


def test_a_batch_whose_id_was_lost_is_not_made_again(anthropic, tasks, tmp_path, quick) -> None:
    anthropic.break_off, anthropic.looks = 1, 3
    with pytest.raises(JudgeError, match="as many requests as one whose id was lost"):
        _collect(tasks, tmp_path / "j.db", quick)
    assert len(anthropic.batches) == 1
    anthropic.batches["msgbatch_0"]["looks"] = 0
    batch = _collect(tasks, tmp_path / "j.db", quick)
    assert batch.account.answered + batch.account.cached == 12
    assert len(anthropic.batches) == 1


def test_a_lost_batch_is_found_behind_others_and_behind_lines_that_are_no_results(
    anthropic, tasks, tmp_path, quick
) -> None:
    anthropic.break_off, anthropic.looks = 1, 3
    with pytest.raises(JudgeError):
        _collect(tasks, tmp_path / "j.db", quick)
    lost = anthropic.batches["msgbatch_0"]
    lost["looks"], lost["spoil"] = 0, lambda rows: [b"no JSON\n", *rows]
    others = [{**r, "custom_id": f"js-{i}"} for i, r in enumerate(lost["requests"])]
    anthropic.batches["msgbatch_9"] = {
        "requests": others, "looks": 0, "spoil": lambda rows: [b"[]\n", *rows],
    }  # fmt: skip
    batch = _collect(tasks, tmp_path / "j.db", quick)
    assert batch.account.answered + batch.account.cached == 12
    assert len(anthropic.batches) == 2


@pytest.mark.parametrize("listed_as", [{"processing_status": None}, {"request_counts": []}])
def test_a_lost_batch_is_not_made_again_while_the_list_cannot_be_read(
    anthropic, tasks, tmp_path, quick, listed_as
) -> None:
    anthropic.break_off, anthropic.listed_as = 1, listed_as
    for _ in range(2):
        with pytest.raises(JudgeError, match="while batches were listed"):
            _collect(tasks, tmp_path / "j.db", quick)
    assert len(anthropic.batches) == 1


def test_a_key_is_not_repeated(anthropic, tasks, tmp_path, quick) -> None:
    anthropic.spoil = lambda rows: [
        _errored(rows[0], "invalid_request_error")
        | {"result": {"type": "errored", "error": {"error": {
            "type": "invalid_request_error", "message": "bad key sk-ant-test-key"}}}},
        *rows[1:],
    ]  # fmt: skip
    batch = _collect(tasks, tmp_path / "j.db", quick)
    assert batch.account.failed == 1
    assert "sk-ant-test-key" not in batch.frame.to_csv()
    assert b"sk-ant-test-key" not in (tmp_path / "j.db").read_bytes()


def test_several_choices_are_asked_one_by_one(anthropic, tasks, tmp_path, quick) -> None:
    batch = _collect(tasks, tmp_path / "j.db", quick, choices_per_request=3)
    assert batch.account.answered == 12
    requests = [r for b in anthropic.batches.values() for r in b["requests"]]
    assert len(requests) + anthropic.online >= 12
    assert all("n" not in r["params"] for r in requests)
