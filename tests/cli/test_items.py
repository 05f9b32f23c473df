"""`judgestats items`: list, fetch, show, each as a user types it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from judgestats.cli import main
from judgestats.items import PUBLISHED, PublishedFile, PublishedSet
from judgestats.items import item_sets as downloads

FIXTURES = Path(__file__).parents[1] / "items" / "fixtures"
CONTENT = (FIXTURES / "evalbias.json").read_bytes()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/x"
        running.shutdown()
        thread.join()


def offer(monkeypatch: pytest.MonkeyPatch, url: str, sha256: str) -> None:
    file = PublishedFile(name="biasbench.json", url=url, sha256=sha256)
    toy = PublishedSet(layout="evalbias", license="BSD-3-Clause", files=(file,), page="https://x")
    known = {**PUBLISHED, "evalbias": toy}
    monkeypatch.setattr(downloads, "PUBLISHED", known)


def test_fetch_then_use_by_name(
    server: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    offer(monkeypatch, server, hashlib.sha256(CONTENT).hexdigest())
    assert main(["items", "fetch", "evalbias"]) == 0
    said = capsys.readouterr().out
    assert "Verified by: known digest." in said
    assert "3 items in 2 clusters" in said
    assert "-P items=evalbias\n" in said
    assert main(["items", "show", "evalbias"]) == 0
    assert "Labels by winner: a 3, b 0, tie 0." in capsys.readouterr().out
    assert main(["items", "fetch", "evalbias", "--out", "else where"]) == 0
    assert "-P items=evalbias:else where/biasbench.json" in capsys.readouterr().out
    assert main(["items", "list"]) == 0
    assert "here: data/evalbias/biasbench.json" in capsys.readouterr().out


def test_a_wrong_digest_and_an_own_file(
    server: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    offer(monkeypatch, server, "0" * 64)
    assert main(["items", "fetch", "evalbias"]) == 2
    assert "is not the file that is known" in capsys.readouterr().err
    place = tmp_path / "data" / "evalbias" / "biasbench.json"
    assert not place.exists()
    place.write_text("mine")
    assert main(["items", "fetch", "evalbias"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert place.read_text() == "mine"


def test_list_names_every_file_of_a_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["items", "list", "mt_bench"]) == 0
    said = capsys.readouterr().out
    for file in PUBLISHED["mt_bench"].files:
        assert file.name in said
        assert file.url in said


def test_show_reads_any_file_and_no_control_character_reaches_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"q": "Why?\x1b[31m\x07", "response": "So."}) + "\n")
    assert main(["items", "show", str(path), "--map", "question=q"]) == 0
    said = capsys.readouterr().out
    assert "Why? [31m" in said
    assert "\x1b" not in said
    options = ["--options", "ties=drop"]
    assert main(["items", "show", str(FIXTURES / "helpsteer2.jsonl"), *options]) == 0
    assert "Labels by winner: a 1, b 0, tie 0." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["items"], "Missing action: one of list, fetch, show"),
        (["items", "fetch"], "required: name"),
        (["items", "show"], "required: name"),
        (["items", "fetch", "imagenet"], "there is no published set 'imagenet'"),
        (["items", "fetch", "lima"], "lima cannot be fetched: LIMA's 1,000 instructions"),
        (["items", "list", "imagenet"], "there is no published set 'imagenet'"),
        (["items", "show", "none.jsonl"], "there is no file"),
        (["items", "show", "bank", "--options", "turn"], "is not option=value"),
    ],
)
def test_wrong_words(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.startswith("judgestats: ")
