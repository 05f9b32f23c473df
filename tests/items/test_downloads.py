"""Fetching published sets, against a server on the loopback interface."""

from __future__ import annotations

import hashlib
import io
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from judgestats.errors import InputError, StoreError
from judgestats.items import (
    LAYOUTS,
    PUBLISHED,
    PublishedFile,
    PublishedSet,
    fetch,
    load_items,
    read_items,
)
from judgestats.items import item_sets as downloads

FIXTURES = Path(__file__).parent / "fixtures"
CONTENT = (FIXTURES / "judgebench.jsonl").read_bytes()
SHA = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """`/ok` gives the file; `/redirect/<digest>` announces a digest and leads there."""

    requests: list[str]

    def do_GET(self) -> None:
        type(self).requests.append(self.path)
        if self.path == "/ok":
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT)
        elif self.path.startswith("/redirect/"):
            self.send_response(302)
            self.send_header("X-Linked-ETag", '"' + self.path.rpartition("/")[2] + '"')
            self.send_header("Location", "/ok")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path in {"/packed", "/endless", "/huge"}:
            self.send_response(200)
            if self.path == "/packed":
                self.send_header("Content-Encoding", "gzip")
            if self.path == "/huge":
                self.send_header("Content-Length", str(10**12))
            self.end_headers()
            self.wfile.write(CONTENT * 20)
        elif self.path == "/short":
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT) + 10))
            self.end_headers()
            self.wfile.write(CONTENT)
        else:
            self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    Handler.requests = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def offer(monkeypatch: pytest.MonkeyPatch, *files: PublishedFile) -> None:
    toy = PublishedSet(layout="judgebench", license="MIT", files=files)
    monkeypatch.setattr(downloads, "PUBLISHED", {"toy": toy})


def test_a_known_digest_is_verified_and_not_fetched_twice(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    offer(monkeypatch, PublishedFile(name="toy.jsonl", url=f"{server}/ok", sha256=SHA))
    got = fetch("toy", tmp_path / "new" / "folder")
    assert got.path.read_bytes() == CONTENT
    assert dict(got.verified_by) == {"toy.jsonl": "known digest"}
    assert load_items(f"judgebench:{got.path}") == read_items(FIXTURES / "judgebench.jsonl")
    fetch("toy", tmp_path / "new" / "folder")
    assert Handler.requests == ["/ok"]
    sums = (tmp_path / "new" / "folder" / "SHA256SUMS").read_text()
    assert sums == f"{SHA}  toy.jsonl\n"  # as sha256sum --check reads it
    assert "licence: MIT" in str(got)
    assert "Not verified" not in str(got)


def test_the_digest_announced_by_the_server_is_compared(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    offer(monkeypatch, PublishedFile(name="toy.jsonl", url=f"{server}/redirect/{SHA}"))
    assert dict(fetch("toy", tmp_path).verified_by) == {"toy.jsonl": "server's digest"}
    wrong = "0" * 64
    offer(monkeypatch, PublishedFile(name="other.jsonl", url=f"{server}/redirect/{wrong}"))
    with pytest.raises(InputError, match="is not the file that is known"):
        fetch("toy", tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["SHA256SUMS", "toy.jsonl"]  # nothing half written


def test_without_any_digest_it_says_so(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    offer(monkeypatch, PublishedFile(name="toy.jsonl", url=f"{server}/ok"))
    assert "Not verified, no digest is known: toy.jsonl." in str(fetch("toy", tmp_path))


def test_without_any_digest_an_earlier_download_is_recognised(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    offer(monkeypatch, PublishedFile(name="toy.jsonl", url=f"{server}/ok"))
    assert dict(fetch("toy", tmp_path).verified_by) == {"toy.jsonl": "nothing"}
    assert dict(fetch("toy", tmp_path).verified_by) == {"toy.jsonl": "earlier download"}
    assert Handler.requests == ["/ok"]
    (tmp_path / "toy.jsonl").write_text("changed since")
    with pytest.raises(InputError, match="no digest is known"):
        fetch("toy", tmp_path)
    (tmp_path / "SHA256SUMS").write_bytes(b"\xff not ours\n")
    fetch("toy", tmp_path, overwrite=True)
    assert (tmp_path / "toy.jsonl").read_bytes() == CONTENT


@pytest.mark.parametrize("sha", ["1" * 64, None])
def test_a_file_of_the_users_own_is_never_replaced_unasked(
    sha: str | None, server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "toy.jsonl").write_text("mine")
    offer(monkeypatch, PublishedFile(name="toy.jsonl", url=f"{server}/ok", sha256=sha))
    with pytest.raises(InputError, match=r"is there already and is not known to be .*--overwrite"):
        fetch("toy", tmp_path)
    assert (tmp_path / "toy.jsonl").read_text() == "mine"
    assert Handler.requests == []


def test_another_file_is_not_kept_and_does_not_replace_the_old_one(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "toy.jsonl").write_text("mine")
    offer(monkeypatch, PublishedFile(name="toy.jsonl", url=f"{server}/ok", sha256="1" * 64))
    with pytest.raises(InputError, match=r"expected 111111111111\.\.\."):
        fetch("toy", tmp_path, overwrite=True)
    assert (tmp_path / "toy.jsonl").read_text() == "mine"


@pytest.mark.parametrize("target", ["file:///etc/hostname", "ftp://127.0.0.1/x", "data:,x"])
def test_a_redirect_to_another_scheme_is_not_followed(
    target: str, server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    offer(monkeypatch, PublishedFile(name="toy.jsonl", url=f"{server}/to/{target}"))
    with pytest.raises(InputError, match="cannot be downloaded"):
        fetch("toy", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("start", "end", "followed"),
    [
        ("https://a/x", "http://a/x", False),  # what was sealed must stay sealed
        ("https://a/x", "ftp://a/x", False),
        ("http://a/x", "ftp://a/x", False),
        ("http://a/x", "https://a/x", True),
        ("https://a/x", "https://b/x", True),
    ],
)
def test_which_redirects_are_followed(start: str, end: str, followed: bool) -> None:
    request, headers = urllib.request.Request(start), HTTPMessage()
    handler = downloads._RememberDigest()
    if not followed:
        with pytest.raises(urllib.error.URLError, match="which is not followed"):
            handler.redirect_request(request, io.BytesIO(), 302, "Found", headers, end)
        return
    led = handler.redirect_request(request, io.BytesIO(), 302, "Found", headers, end)
    assert led is not None
    assert led.full_url == end


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("absent", "404"),
        ("short", "it ended after"),
        ("packed", "it came packed"),
        ("endless", "more than 1,000 bytes"),
        ("huge", "it says that it has 1,000,000,000,000 bytes"),
    ],
)
def test_a_failing_server(
    path: str, reason: str, server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = f"{server}/{path}"
    monkeypatch.setattr(downloads, "_MAX_BYTES", 1000)
    offer(monkeypatch, PublishedFile(name="toy.jsonl", url=url))
    with pytest.raises(InputError, match=rf"cannot be downloaded \(.*{reason}"):
        fetch("toy", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_a_network_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as closed:  # bound and not listening: a refused connection
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/toy.jsonl"
        offer(monkeypatch, PublishedFile(name="toy.jsonl", url=url))
        with pytest.raises(InputError) as caught:
            fetch("toy", tmp_path)
    place = tmp_path / "toy.jsonl"
    for part in (url, "cannot be downloaded", f"put it at {place}", f"items=judgebench:{place}"):
        assert part in str(caught.value)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        files = [PublishedFile(name=f"sub/{n}.json", url=f"{url}/{n}") for n in "ab"]
        offer(monkeypatch, *files)
        with pytest.raises(
            InputError, match=rf"the others of the 2 files.*judgebench:{tmp_path}\."
        ):
            fetch("toy", tmp_path)


def test_unknown_name_and_a_folder_that_cannot_be_made(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"there is no set 'imagenet'\. Choose one of mt_bench"):
        fetch("imagenet", tmp_path)
    (tmp_path / "file").write_text("")
    offer(monkeypatch, PublishedFile(name="toy.jsonl", url=f"{server}/ok"))
    with pytest.raises(StoreError, match="cannot be written"):
        fetch("toy", tmp_path / "file" / "below")


def test_the_list_of_published_sets_is_sound() -> None:
    for name, published in PUBLISHED.items():
        assert published.layout in {*LAYOUTS, "mt_bench"}, name
        assert published.license
        assert urlsplit(published.page).scheme == "https"
        assert len({file.name for file in published.files}) == len(published.files)
        for file in published.files:
            assert urlsplit(file.url).scheme == "https"
            assert not Path(file.name).is_absolute()
            assert ".." not in Path(file.name).parts
            assert file.sha256 is None or len(file.sha256) == 64
