"""Local page of labels, and the files they are exchanged in."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd

from judgestats.data.readers.labels import LABEL_ENDINGS
from judgestats.data.readers.table_files import table_of
from judgestats.errors import InputError, StoreError, guard_output
from judgestats.files.guarded import refuse_remote
from judgestats.files.label_state import Given, LabelState, changed_labels
from judgestats.files.text import decode_json, short
from judgestats.runner import display as console

OWN_COLUMNS = ("item_id", "chance", "annotator", "label")
"""What a file of labels holds beside the texts."""
_OTHER_STARTS = (b"SQLite format 3\x00", b"PK\x03\x04", b"\x1f\x8b")
"""First bytes of a database, a workbook and a gzip file."""


def check_writable(path: Path) -> None:
    """Refuse a file that `write_table` would turn into another format.

    Parameters
    ----------
    path : Path
        It need not exist.

    Raises
    ------
    InputError
        Its name, or what it holds, is of a format in which labels are not written.
    """
    suffix = path.suffix.lower()
    if suffix not in LABEL_ENDINGS:
        raise InputError(
            f"{path}: labels are kept in CSV, TSV, JSON lines, JSON or Parquet. Name such a file, "
            f"e.g. {path.name.partition('.')[0] or 'labels'}.csv."
        )
    if not path.is_file():
        return
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(_OTHER_STARTS) or (start[:4] == b"PAR1" and suffix != ".parquet"):
        raise InputError(
            f"{path}: the file is not in the format of its name, in which labels would be written. "
            "Save its table as CSV under another name."
        )


def read_table(path: Path) -> pd.DataFrame:
    """A table with every value as text, empty where there is none.

    Parameters
    ----------
    path : Path
        As `judgestats.data.readers.table_files.table_of` reads it.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        The file is not there, or is no table.
    """
    refuse_remote(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file.")
    frame = table_of(path, lambda header: list(header.columns))
    filled = frame.astype(object).where(frame.notna(), "")
    return filled.map(lambda v: json.dumps(v) if isinstance(v, (dict, list)) else str(v))


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table, in the format of its name, whole or not at all."""
    check_writable(path)
    suffix = path.suffix.lower()
    if suffix in {".jsonl", ".ndjson"}:
        write = partial(frame.to_json, orient="records", lines=True, force_ascii=False)
    elif suffix == ".json":
        write = partial(frame.to_json, orient="records", force_ascii=False)
    elif suffix == ".parquet":
        write = partial(frame.to_parquet, index=False)
    else:
        write = partial(frame.to_csv, index=False, sep="\t" if suffix == ".tsv" else ",")
    replace_file(path, write)


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file whole or not at all, with the mode that it had; it is on the disk on return.

    Parameters
    ----------
    path : Path
    write : function of a path
        Writes the contents to the path that it is given.
    """
    real = Path(os.path.realpath(path))
    beside = real.with_name(f".{real.name}.{os.getpid()}")
    with guard_output(path):
        try:
            if real.exists():
                beside.touch(mode=0o600)
            write(beside)
            _flush(beside, os.O_RDWR)
            if real.exists():
                shutil.copymode(real, beside)
            beside.replace(real)
        finally:
            beside.unlink(missing_ok=True)
    if sys.platform != "win32":  # where a folder cannot be opened
        _flush(real.parent, os.O_RDONLY)


def _flush(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_LONGEST = 100_000
"""Bytes of a request that are read."""


class LabelFile:
    """A file of items to label, and the store of the labels given.

    Parameters
    ----------
    path : Path
        Items, texts next to them, and the labels at hand: the exchange format.
    annotator : str
        Pseudonym under which labels are given.
    choices : sequence of str
        The words of a label.
    """

    def __init__(self, path: Path, *, annotator: str, choices: Sequence[str]) -> None:
        self.path, self.annotator, self.choices = path, annotator, list(choices)
        frame = read_table(path)
        check_writable(path)
        missing = [c for c in ("item_id", "annotator", "label") if c not in frame]
        if missing:
            raise InputError(
                f"{path}: there is no column {', '.join(missing)}. Make the file by "
                "judgestats labels plan FILE --labels N --text COLUMN."
            )
        if len(self.choices) < 2 or len(set(self.choices)) < len(self.choices):
            raise InputError("labels collect: --choices needs at least two different words.")
        if not annotator:
            raise InputError("labels collect: --annotator needs a pseudonym.")
        items = frame.drop_duplicates("item_id").set_index("item_id")
        texts = [c for c in items if c not in OWN_COLUMNS]
        self._texts = {
            item: [[c, str(v)] for c, v in zip(texts, row, strict=True)]
            for item, row in zip(items.index, items[texts].to_numpy(object), strict=True)
        }
        with changed_labels(path) as state:
            state.read_file(_held(path, frame), self._texts)

    def state(self, at: str = "") -> dict[str, Any]:
        """The item to label (`at`, or the first without a label of this annotator)."""
        with changed_labels(self.path) as store:
            given = store.labels()
        own = {g.item_id: v for g, v in given.items() if g.annotator == self.annotator}
        items = list(self._texts)
        left = [i for i in items if i not in own]
        item = at if at in self._texts else (left[0] if left else "")
        previous = [i for i in items[: items.index(item)] if i in own] if item else items
        return {
            "item": item,
            "texts": self._texts.get(item, []),
            "choices": self.choices,
            "keys": choice_keys(self.choices),
            "given": own.get(item, ""),
            "done": len(own.keys() & self._texts.keys()),
            "total": len(items),
            "previous": previous[-1] if previous else "",
        }

    def save(self, item: str, label: str) -> None:
        """Store one label; on return it is on the disk."""
        if label not in self.choices or item not in self._texts:
            raise InputError("labels collect: no such item or label.")
        with changed_labels(self.path) as state:
            state.give(Given(item, self.annotator), label)


def _held(path: Path, frame: pd.DataFrame) -> dict[Given, str]:
    """The labels in a file."""
    rows = frame[(frame["annotator"] != "") & (frame["label"] != "")]
    held: dict[Given, str] = {}
    for item, annotator, label in zip(
        rows["item_id"], rows["annotator"], rows["label"], strict=True
    ):
        given = Given(item, annotator)
        if held.setdefault(given, label) != label:
            raise InputError(
                f"{path}: item {short(item)} has the labels {short(held[given])} and "
                f"{short(label)} of {short(annotator)}. Keep one."
            )
    return held


def export_labels(path: Path) -> int:
    """Write the labels given on pages into their file, whole or not at all.

    Parameters
    ----------
    path : Path

    Returns
    -------
    int
        Labels in the file.
    """
    frame = read_table(path)
    check_writable(path)
    with changed_labels(path) as state:
        if state.unexported():
            state.read_file(_held(path, frame), frame["item_id"])
            write_table(_filled(frame, state), path)
            state.mark_exchanged()
        return len(state.labels())


def _filled(frame: pd.DataFrame, state: LabelState) -> pd.DataFrame:
    """The rows of a file, each label in its annotator's row, else a free one, else a new one."""
    rows: list[dict[str, Any]] = [
        {str(column): value for column, value in row.items()} for row in frame.to_dict("records")
    ]
    place: dict[Given, dict[str, Any]] = {}
    free: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["annotator"] != "":
            place.setdefault(Given(row["item_id"], row["annotator"]), row)
        elif row["label"] == "":
            free.setdefault(row["item_id"], []).append(row)
    first = {row["item_id"]: dict(row) for row in reversed(rows)}
    for given, label in state.labels().items():
        if given not in place:
            if open_rows := free.get(given.item_id):
                place[given] = open_rows.pop(0)
            else:
                rows.append(dict(first[given.item_id]))
                place[given] = rows[-1]
        place[given] |= {"annotator": given.annotator, "label": label}
    return pd.DataFrame(rows, columns=frame.columns)


_DIGITS = frozenset("0123456789")


def choice_keys(choices: Sequence[str]) -> list[str]:
    """The key of each choice: of a digit itself, else its position where no choice is that digit.

    Parameters
    ----------
    choices : sequence of str

    Returns
    -------
    list of str
        Empty for a choice that has a button only.

    Examples
    --------
    >>> choice_keys(["pass", "fail"]), choice_keys(["0", "1", "2"])
    (['1', '2'], ['0', '1', '2'])
    >>> choice_keys(["0", "1", "unsure"]), choice_keys(["-1", "0", "1"])
    (['0', '1', '3'], ['', '0', '1'])
    """
    keys = []
    for position, word in enumerate(choices, start=1):
        free = position <= 9 and str(position) not in choices
        keys.append(word if word in _DIGITS else str(position) if free else "")
    return keys


def label_server(file: LabelFile, *, port: int) -> tuple[ThreadingHTTPServer, str]:
    """A server of the page on loopback, and its address with the token.

    Parameters
    ----------
    file : LabelFile
    port : int
        0 takes a free one.

    Returns
    -------
    server, address

    Raises
    ------
    InputError
        The port is in use, not allowed, or none.
    """
    token = secrets.token_urlsafe(24)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Requests hold the token: they are not logged."""

        def _allowed(self, given: str) -> bool:
            own = server.server_address[1]
            hosts = {f"{h}:{own}" for h in ("127.0.0.1", "localhost")}
            host = self.headers.get("Host", "")
            origin = self.headers.get("Origin")
            return (
                host in hosts
                and (origin is None or origin == f"http://{host}")
                and hmac.compare_digest(given.encode(), token.encode())
            )

        def _send(self, status: int, body: str, kind: str, nonce: str = "") -> None:
            data = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            policy = (
                f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
                "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            )
            for name, value in (
                ("Content-Security-Policy", policy),
                ("X-Content-Type-Options", "nosniff"),
                ("Referrer-Policy", "no-referrer"),
                ("Cache-Control", "no-store"),
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _refuse(self) -> None:
            self.close_connection = True
            self._send(403, "Not allowed: open the address that the command printed.", "text/plain")

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            query = parse_qs(url.query)
            given = self.headers.get("X-Token") or query.get("token", [""])[0]
            if not self._allowed(given):
                self._refuse()
            elif url.path == "/":
                nonce = secrets.token_urlsafe(16)
                self._send(200, _PAGE.replace("NONCE", nonce), "text/html", nonce)
            elif url.path == "/state":
                self._answer(lambda: file.state(query.get("at", [""])[0]))
            else:
                self._send(404, "Nothing here.", "text/plain")

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if (
                not self._allowed(self.headers.get("X-Token", ""))
                or self.path != "/label"
                or not length.isascii()
                or not length.isdigit()
                or int(length) > _LONGEST
            ):
                self._refuse()
                return
            sent = self.rfile.read(int(length))

            def give() -> dict[str, Any]:
                asked = decode_json(sent)
                file.save(str(asked["item"]), str(asked["label"]))
                return file.state()

            self._answer(give)

        def _answer(self, state: Callable[[], dict[str, Any]]) -> None:
            """200 only after what was asked for is on the disk."""
            try:
                body = json.dumps(state())
            except StoreError as error:  # another process holds the store, or the disk is full
                self._send(503, str(error), "text/plain")
            except (ValueError, KeyError, TypeError) as error:
                # an InputError is a ValueError
                message = str(error) if isinstance(error, InputError) else "no such request"
                self._send(400, message, "text/plain")
            else:
                self._send(200, body, "application/json")

    if not 0 <= port <= 65535:
        raise InputError(f"labels collect: --port must lie in 0-65535, got {port}.")
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise InputError(
            f"labels collect: --port {port}: {error.strerror}. Give another --port, or 0 for any "
            "free one."
        ) from error
    server.daemon_threads = True
    return server, f"http://127.0.0.1:{server.server_address[1]}/?token={token}"


def serve_page(path: Path, *, annotator: str, choices: Sequence[str], port: int) -> int:
    """Serve the page until stopped; each label is stored at once, and in the file at the end."""
    file = LabelFile(path, annotator=annotator, choices=choices)
    server, address = label_server(file, port=port)
    state = file.state()
    console.print_result(
        f"{state['done']} of {state['total']} items labelled by {annotator}. Open on this machine:",
        f"  {address}",
        "Ctrl-C ends; the same command goes on where it stopped.",
    )
    try:
        server.serve_forever()
    finally:
        server.server_close()
        export_labels(path)
    return 0


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Labels</title>
<style nonce="NONCE">
body { font: 16px/1.5 sans-serif; max-width: 50rem; margin: 1rem auto; padding: 0 1rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #bbb; padding: .6rem; }
h2 { font-size: 1rem; margin-bottom: .2rem; }
#choices { position: sticky; bottom: 0; margin: 0; padding: .6rem 0; background: #fff; }
button { font-size: 1rem; padding: .4rem 1rem; margin-right: .6rem; }
button[aria-pressed="true"] { outline: 3px solid #06c; }
</style></head><body>
<h1 id="head" aria-live="polite"></h1><main id="texts"></main>
<p id="choices"></p><p id="help"></p><p id="fault" role="alert"></p>
<script nonce="NONCE">
"use strict";
const token = new URLSearchParams(location.search).get("token");
history.replaceState(null, "", "/");
let state = null;
const by = (id) => document.getElementById(id);
function add(parent, kind, text) {
  const node = document.createElement(kind);
  node.textContent = text;
  parent.append(node);
  return node;
}
const named = (word, key) => (key && key !== word ? `${key} ${word}` : word);
function show(found) {
  state = found;
  for (const id of ["texts", "choices", "fault"]) by(id).replaceChildren();
  by("head").textContent = found.item
    ? `Item ${found.item} (${found.done} of ${found.total} labelled)`
    : `All ${found.total} items are labelled`;
  for (const [name, text] of found.texts) {
    add(by("texts"), "h2", name);
    add(by("texts"), "pre", text);
  }
  found.choices.forEach((word, i) => {
    if (!found.item) return;
    const button = add(by("choices"), "button", named(word, found.keys[i]));
    button.setAttribute("aria-pressed", String(found.given === word));
    button.addEventListener("click", () => give(word));
  });
  const keys = found.choices.map((w, i) => (found.keys[i] ? named(w, found.keys[i]) : ""));
  by("help").textContent = `Keys: ${[...keys.filter(Boolean), "b back"].join(", ")}`;
}
let busy = false;  // a key pressed twice must not label the item that it has not shown
async function ask(path, options) {
  if (busy) return;
  busy = true;
  try {
    const got = await fetch(path, { ...options, headers: { "X-Token": token } });
    if (got.ok) { show(await got.json()); scrollTo(0, 0); }
    else by("fault").textContent = await got.text();
  } catch {
    by("fault").textContent = "Not written: the command has ended. Start it again and open the "
      + "address that it prints.";
  } finally { busy = false; }
}
const give = (label) => ask("/label", {
  method: "POST", body: JSON.stringify({ item: state.item, label }),
});
const go = (at) => ask(`/state?at=${encodeURIComponent(at)}`, {});
document.addEventListener("keydown", (event) => {
  if (!state || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const word = state.choices[state.keys.indexOf(event.key)];
  if (word && state.item) give(word);
  else if (event.key === "b" && state.previous) go(state.previous);
});
go("");
</script></body></html>
"""
