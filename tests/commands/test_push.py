"""Scores sent to servers of Langfuse's and Phoenix's protocols, and to an MLflow store."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from judgestats.cli import main

ITEMS = 3
CSV = "trace,trial,passed\n" + "".join(
    f"t{i},{t},{int(t < 4 - i)}\n" for i in range(ITEMS) for t in range(4)
)


class Platform(ThreadingHTTPServer):
    """Keeps what it is sent; answers with the statuses in `replies` first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.replies: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Platform

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), body))
        status = self.server.replies.pop(0) if self.server.replies else 200
        reply = json.dumps({"message": "wait" if status == 429 else "no such project"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Platform]:
    server = Platform()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("LANGFUSE_HOST", server.url)
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-known")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-very-secret-key")
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", server.url)
    (tmp_path / "my.csv").write_text(CSV)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _push(*words: str) -> int:
    return main(["push", "my.csv", "--map", "trace_id=trace", *words])


def test_a_dry_run_sends_nothing_and_prints_the_command_that_does(
    platform: Platform, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _push("--to", "langfuse") == 0
    out = capsys.readouterr().out
    assert platform.requests == []
    command = next(line for line in out.splitlines() if "--yes" in line).partition("judgestats ")[2]
    assert main(command.split()) == 0
    assert len(platform.requests) == 2 * ITEMS


def test_langfuse_gets_each_score_once(
    platform: Platform, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _push("--to", "langfuse", "--yes", "--json") == 0
    assert json.loads(capsys.readouterr().out)["sent"] == 2 * ITEMS
    path, headers, _ = platform.requests[0]
    assert path == "/api/public/scores"
    token = base64.b64decode(headers["Authorization"].removeprefix("Basic ")).decode()
    assert token == "pk-known:sk-very-secret-key"
    scores = {(b["traceId"], b["name"]): b for _, _, b in platform.requests}
    assert scores["t0", "judgestats.vote_share"]["value"] == 1
    assert scores["t1", "judgestats.vote_share"]["value"] == 0.75
    assert scores["t1", "judgestats.flip_probability"]["value"] == 0.5
    assert scores["t2", "judgestats.flip_probability"]["value"] == pytest.approx(2 / 3)
    assert len({b["id"] for b in scores.values()}) == 2 * ITEMS
    platform.requests.clear()
    assert _push("--to", "langfuse", "--yes") == 0
    assert platform.requests == []


def test_an_export_of_langfuse_names_its_own_traces(platform: Platform, tmp_path: Path) -> None:
    rows = [
        {"id": f"s{i}{k}", "traceId": f"t{i}", "observationId": "o" if i else None,
         "source": "EVAL", "name": "helpful", "dataType": "BOOLEAN", "value": float(k > i),
         "stringValue": str(k > i)}
        for i in range(2) for k in range(3)
    ]  # fmt: skip
    (tmp_path / "scores.json").write_text(json.dumps({"data": rows}))
    assert main(["push", "scores.json", "--to", "langfuse", "--yes"]) == 0
    places = {(b["traceId"], b.get("observationId")) for _, _, b in platform.requests}
    assert places == {("t0", None), ("t1", "o")}


def test_a_dry_run_needs_no_key(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGFUSE_SECRET_KEY")
    assert _push("--to", "langfuse") == 0
    assert _push("--to", "langfuse", "--yes") == 2
    assert platform.requests == []


def test_an_address_that_is_none_is_refused(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANGFUSE_HOST", "http://[")
    assert _push("--to", "langfuse") == 2
    assert "must be an address such as https://" in capsys.readouterr().err
    assert platform.requests == []


def test_phoenix_gets_annotations_by_code(platform: Platform) -> None:
    assert _push("--to", "phoenix", "--yes") == 0
    path, headers, body = platform.requests[0]
    assert path == "/v1/span_annotations?sync=true"
    assert "Authorization" not in headers
    [annotation] = body["data"]
    assert annotation["annotator_kind"] == "CODE"
    assert annotation["span_id"] == "t0"
    assert annotation["result"]["score"] == 1


def test_a_refused_score_ends_the_push_and_the_rest_follows(
    platform: Platform, capsys: pytest.CaptureFixture[str]
) -> None:
    platform.replies = [200, 200, 404]
    assert _push("--to", "langfuse", "--yes") != 0
    error = capsys.readouterr().err
    assert "no such project" in error
    assert "sk-very-secret-key" not in error
    assert len(platform.requests) == 3
    assert _push("--to", "langfuse", "--yes") == 0
    assert len(platform.requests) == 3 + 2 * ITEMS - 2


def test_a_changed_value_is_sent_again(platform: Platform, tmp_path: Path) -> None:
    assert _push("--to", "langfuse", "--yes") == 0
    platform.requests.clear()
    (tmp_path / "my.csv").write_text(CSV.replace("t0,3,1", "t0,3,0"))
    assert _push("--to", "langfuse", "--yes") == 0
    assert {b["traceId"] for _, _, b in platform.requests} == {"t0"}


def test_items_without_a_trace_id_are_refused(
    platform: Platform, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["push", "my.csv", "--item", "trace", "--to", "langfuse"]) == 2
    assert "0 of 3 items have a trace id" in capsys.readouterr().err


def test_items_judged_once_are_refused(
    platform: Platform, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my.csv").write_text("trace,passed\nt0,1\nt1,0\n")
    assert _push("--to", "langfuse") == 2
    assert "no item was judged twice" in capsys.readouterr().err
