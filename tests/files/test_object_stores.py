"""Files of object stores, by a server of S3's protocol on this machine."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import judgestats as js
from judgestats.cli import main
from judgestats.errors import InputError

OBJECTS = {
    "/bucket/verdicts.csv": b"item,passed\n"
    + b"".join(b"q%d,%d\n" % (i, i % 3 > 0) for i in range(60)),
    "/bucket/raters.csv": b"item,rater,passed\n"
    + b"".join(
        b"q%d,%s,%d\n" % (i, r, i % 3 > 0) for i in range(60) for r in (b"claude-5", b"gpt-5")
    ),
}


class _Store(BaseHTTPRequestHandler):
    def _send(self, *, body: bool) -> None:
        found = OBJECTS.get(unquote(urlsplit(self.path).path))
        if found is None:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        asked = self.headers.get("Range", "")
        first, _, last = asked.removeprefix("bytes=").partition("-")
        part = found[int(first or 0) : int(last) + 1 if last else None] if asked else found
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(part)))
        if asked:
            self.send_header(
                "Content-Range",
                f"bytes {first}-{int(first) + len(part) - 1}/{len(found)}",
            )
        self.end_headers()
        if body:
            self.wfile.write(part)

    def do_GET(self) -> None:
        self._send(body=True)

    def do_HEAD(self) -> None:
        self._send(body=False)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "known")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-store")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Store)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    host = f"127.0.0.1:{server.server_port}"
    yield f"?endpoint_override={host}&scheme=http&region=here"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_object_is_analysed(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    address = f"s3://bucket/verdicts.csv{store}"
    code = main(["analyze", address, "--track", "none", "--report", "none"])
    out = capsys.readouterr()
    assert code == 0, out
    assert len(js.read_judgments(address)) == 60


def test_the_commands_of_doctor_name_the_address_and_work(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    address = f"s3://bucket/raters.csv{store}"
    assert main(["doctor", address]) == 0
    printed = capsys.readouterr().out.replace("Next  ", "")
    parts = [s.strip() for line in printed.splitlines() for s in line.split(" · ")]
    commands = [shlex.split(s)[1:] for s in parts if address in s]
    assert commands[0][0] == "analyze"  # others stand where the address is short
    for words in commands:
        further = ["--track", "none", "--report", "none"] if words[0] == "analyze" else []
        assert main([*words, *further]) == 0
    assert main(["check", address, "--judge", "gpt-5", "--require", "pass_rate>=.5"]) == 0


def test_an_object_that_is_not_there_is_refused(store: str) -> None:
    with pytest.raises(InputError, match=r"s3://bucket/none\.csv cannot be read from S3"):
        js.read_judgments(f"s3://bucket/none.csv{store}")
    with pytest.raises(InputError, match=r"download it first: aws s3 cp s3://bucket/none\.csv \.$"):
        js.read_judgments(f"s3://bucket/none.csv{store}")


def test_a_key_in_the_address_is_refused_and_not_repeated(store: str) -> None:
    with pytest.raises(InputError, match="holds a key") as refused:
        js.read_judgments(f"s3://known:hidden@bucket/verdicts.csv{store}")
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("address", ["https://example.org/a.csv", "ftp://h/a.csv", "x9://h/a.csv"])
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(InputError, match="is a remote path"):
        js.read_judgments(address)
