"""Blind mode of the page: items to label, without any verdict, and the server that keeps labels."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import re
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from judgestats.errors import InputError, StoreError
from judgestats.files.text import decode_json
from judgestats.reporting.explorer.page import html_page, policy
from judgestats.reporting.explorer.payload import TextList, clean_texts
from judgestats.terminal import emit

_LONGEST, _DEEPEST, _LONGEST_NOTE = 100_000, 5, 1000
"""Bytes and brackets of a request that is read, characters of a note."""
_SECONDS = 60.0
"""For which a connection may say nothing."""


class Answer(NamedTuple):
    """A label, or that the annotator is unsure, with a note."""

    label: str
    note: str = ""
    unsure: bool = False


def blind_payload(
    items: Mapping[str, Sequence[tuple[str, str]]],
    *,
    choices: Sequence[str],
    annotator: str,
    answers: Mapping[str, Answer] | None = None,
) -> dict[str, Any]:
    """Return items in random order with their texts and the choices, and nothing else.

    Parameters
    ----------
    items : mapping of item to sequence of (name, text)
    choices : sequence of str
        The words of a label.
    annotator : str
        Pseudonym of the rater.
    answers : mapping of item to Answer, optional
        Those that this annotator has given.

    Returns
    -------
    dict
        The order follows from the ids alone, so that a reload keeps it and no verdict shows in it.

    Examples
    --------
    >>> made = blind_payload({"q1": [("answer", "Blue.")]}, choices=["pass", "fail"], annotator="a")
    >>> made["items"], made["texts"]
    ({'id': ['q1'], 'texts': [['answer', [0]]]}, ['Blue.'])
    """
    ids = sorted(items)
    random.Random("\n".join(ids)).shuffle(ids)
    kept = TextList()
    parts = clean_texts(kept.by_part(items[item] for item in ids))
    texts = clean_texts(list(kept.numbers))
    known = answers or {}
    digest = hashlib.sha256(json.dumps([ids, texts, list(choices)]).encode()).hexdigest()
    return {
        "schema": "judgestats.labels/1",
        "meta": {
            "id": digest[:12], "mode": "blind", "title": "Labels · judgestats",
            "question": "Which label fits this item?", "choices": list(choices),
            "annotator": annotator,
        },
        "items": {"id": ids, "texts": parts}, "texts": texts,
        "given": [[i, known[item]._asdict()] for i, item in enumerate(ids) if item in known],
    }  # fmt: skip


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Report an error in one line, unless the browser closed the connection."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            emit(f"judgestats: labels collect: a request failed ({error!r:.200}).\n", error=True)


def label_server(
    payload: Callable[[], dict[str, Any]], save: Callable[[str, Answer], None], *, port: int
) -> tuple[ThreadingHTTPServer, str]:
    """Return a server of the page on loopback, and its address with the token.

    Parameters
    ----------
    payload : function
        The data of the page, as they are now.
    save : function of item and Answer
        Stores an answer; on return it is on the disk.
    port : int
        0 takes a free one.

    Returns
    -------
    server, address
        The token is in the fragment: it survives a reload and is sent in no request line.

    Raises
    ------
    InputError
        The port is in use, not allowed, or none.
    """
    token = secrets.token_urlsafe(24)
    shell = html_page(b"", served=True)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = _SECONDS

        def log_message(self, *_: Any) -> None:
            """Nothing is logged."""

        def _is_own(self) -> bool:
            own = server.server_address[1]
            hosts = {f"{h}:{own}" for h in ("127.0.0.1", "localhost")}
            host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
            return host in hosts and (origin is None or origin == f"http://{host}")

        def _is_allowed(self) -> bool:
            given = self.headers.get("X-Token", "")
            return self._is_own() and hmac.compare_digest(given.encode(), token.encode())

        def _send(self, status: int, body: str, kind: str = "text/plain") -> None:
            data = body.encode()
            self.send_response(status)
            for name, value in (
                ("Content-Type", f"{kind}; charset=utf-8"),
                ("Content-Length", str(len(data))),
                ("Content-Security-Policy", f"{policy(served=True)}; frame-ancestors 'none'"),
                ("X-Content-Type-Options", "nosniff"),
                ("Referrer-Policy", "no-referrer"),
                ("Cache-Control", "no-store"),
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _refuse(self) -> None:
            self.close_connection = True
            self._send(403, "not allowed: open the address that the command printed.")

        def do_GET(self) -> None:
            if self.path.partition("?")[0] == "/" and self._is_own():
                self._send(200, shell, "text/html")
            elif self.path == "/data" and self._is_allowed():
                self._answer(lambda: json.dumps(payload()))
            else:
                self._refuse()

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            is_sized = bool(re.fullmatch("[0-9]{1,6}", length)) and int(length) <= _LONGEST
            if not self._is_allowed() or self.path != "/label" or not is_sized:
                self._refuse()
                return
            sent = self.rfile.read(int(length))

            def store() -> str:
                save(*_parse_request(sent))
                return "{}"

            self._answer(store)

        def _answer(self, made: Callable[[], str]) -> None:
            """200 only after what was asked for is on the disk."""
            try:
                body = made()
            except StoreError as error:  # another process holds the store, or the disk is full
                self._send(503, str(error))
            except ValueError as error:  # an InputError is one
                self._send(400, str(error) if isinstance(error, InputError) else "no such request")
            else:
                self._send(200, body, "application/json")

    if not 0 <= port <= 65535:
        raise InputError(f"labels collect: --port must lie in 0-65535, got {port}.")
    try:
        server = _Server(("127.0.0.1", port), Handler)
    except OSError as error:
        raise InputError(
            f"labels collect: --port {port}: {error.strerror}. Give another --port, or 0 for any "
            "free one."
        ) from error
    return server, f"http://127.0.0.1:{server.server_address[1]}/#t={token}"


_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)
"""A text of JSON; one without an end reaches to the end, so that the search is linear."""


def _parse_request(sent: bytes) -> tuple[str, Answer]:
    """Item and answer of a request; its brackets are counted before it is parsed."""
    bare = _TEXT.sub(b"", sent)
    asked = decode_json(sent) if bare.count(b"{") + bare.count(b"[") <= _DEEPEST else None
    given = asked if isinstance(asked, dict) else {"item": None}
    texts = [given.get(name, "") for name in ("item", "label", "note")]
    unsure = given.get("unsure", False)
    if not all(isinstance(v, str) for v in texts) or not isinstance(unsure, bool):
        raise InputError("labels collect: no such request.")
    item, label, note = map(str, texts)
    return item, Answer(label, note[:_LONGEST_NOTE], unsure)
