"""A simulated server with files and batches, as the Batch API has them.

A batch moves on each time it is looked at, so that a rehearsal needs no clock. Its requests are
answered as chat completions are; a request's ``custom_id`` may end in ``|seed:group:replicates``,
which stands for the header ``X-Judgestats-Draw`` that a line of a file cannot carry, so that a
batch's verdicts are those of the same requests asked one by one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from judgestats.simulated import (
    Faults,
    Receive,
    RefusedError,
    Send,
    SimulatedServer,
    error,
    read_body,
    send_bytes,
    send_json,
    uniform_of,
)
from judgestats.simulated.app import _key_accepted

Completer = Callable[[bytes, bytes], Awaitable[tuple[int, bytes]]]
"""Answers a chat completion's body with a draw: status and body."""

_BOUNDARY = re.compile(rb'boundary="?([^";]+)"?')
_NAME = re.compile(rb'\bname="([^"]*)"')
_FILE_NAME = re.compile(rb'filename="([^"]*)"')
_MOST_REQUESTS = 50_000
_CREATED = 1_700_000_000
_OF_BATCHES = re.compile(r"/(?:files|batches)(?:/|$)")
_MAX_FILE_BYTES = 210 * 1000 * 1000


@dataclass(frozen=True, kw_only=True)
class BatchFaults(Faults):
    """Faults of a server that has batches too.

    Attributes
    ----------
    no_batches, batch_invalid : bool
        Know nothing of files and batches; or refuse every batch when it is validated.
    batch_looks : int
        How often a batch is looked at before it has ended.
    batch_token_limit : int
        Requests beyond which a batch is refused as too many tokens; 0 = no limit.
    batch_expired : float
        Share of a batch's requests (its last ones) that are left unrun.
    batch_error, batch_missing, batch_malformed, batch_repeated, batch_foreign : float
        Rates of results that are an error of status 500; that are missing; that are half a line;
        that stand twice; that are followed by one of a request that nobody sent.
    """

    no_batches: bool = False
    batch_invalid: bool = False
    batch_looks: int = 1
    batch_token_limit: int = 0
    batch_expired: float = 0.0
    batch_error: float = 0.0
    batch_missing: float = 0.0
    batch_malformed: float = 0.0
    batch_repeated: float = 0.0
    batch_foreign: float = 0.0


@dataclass
class _File:
    id: str
    content: bytes
    name: str
    purpose: str

    def about(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": _CREATED,
            "filename": self.name,
            "purpose": self.purpose,
            "status": "processed",
        }


@dataclass
class _Batch:
    id: str
    input_file_id: str
    metadata: dict[str, str]
    requests: list[dict[str, Any]]
    status: str = "validating"
    looks: int = 0
    errors: list[dict[str, Any]] = field(default_factory=list)
    output_file_id: str | None = None
    error_file_id: str | None = None
    completed: int = 0
    failed: int = 0

    def about(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "errors": {"object": "list", "data": self.errors} if self.errors else None,
            "input_file_id": self.input_file_id,
            "completion_window": "24h",
            "status": self.status,
            "output_file_id": self.output_file_id,
            "error_file_id": self.error_file_id,
            "created_at": _CREATED,
            "request_counts": {
                "total": len(self.requests),
                "completed": self.completed,
                "failed": self.failed,
            },
            "metadata": self.metadata,
        }


class BatchApi:
    """Takes files and batches.

    Parameters
    ----------
    answering : function
        Answers one chat completion.

    Attributes
    ----------
    billed : int
        Requests of batches that were run.
    """

    def __init__(self, complete: Completer) -> None:
        self._complete = complete
        self._files: dict[str, _File] = {}
        self._batches: dict[str, _Batch] = {}
        self._times: Counter[str] = Counter()
        self.billed = 0

    @property
    def batches(self) -> tuple[str, ...]:
        """Ids of all batches, oldest first."""
        return tuple(self._batches)

    async def handle(
        self, method: str, path: str, query: bytes, headers: Mapping[bytes, bytes], body: bytes,
        faults: BatchFaults, send: Send,
    ) -> bool:  # fmt: skip
        """Answer a request about files or batches; False if it is about neither."""
        parts = path.strip("/").split("/")
        if "files" in parts:
            rest = parts[parts.index("files") + 1 :]
            await self._about_files(method, rest, headers, body, send)
        elif "batches" in parts:
            rest = parts[parts.index("batches") + 1 :]
            await self._about_batches(method, rest, query, body, faults, send)
        else:
            return False
        return True

    # ------------------------------------------------------------------ files

    async def _about_files(
        self,
        method: str,
        rest: list[str],
        headers: Mapping[bytes, bytes],
        body: bytes,
        send: Send,
    ) -> None:
        if method == "POST" and not rest:
            file = self._keep(*_form(headers, body))
            await send_json(send, 200, file.about())
            return
        entry = self._files.get(rest[0]) if rest else None
        if entry is None:
            raise RefusedError(404, f"No such File object: {'/'.join(rest)[:60]}", code="not_found")
        if method == "DELETE":
            del self._files[entry.id]
            await send_json(send, 200, {"id": entry.id, "object": "file", "deleted": True})
        elif method == "GET" and rest[1:] == ["content"]:
            await send_bytes(send, 200, entry.content, b"application/octet-stream", [])
        else:
            await send_json(send, 200, entry.about())

    def _keep(self, content: bytes, name: str, purpose: str) -> _File:
        file = _File(f"file-{len(self._files) + 1:06d}", content, name, purpose)
        self._files[file.id] = file
        return file

    # ------------------------------------------------------------------ batches

    async def _about_batches(
        self,
        method: str,
        rest: list[str],
        query: bytes,
        body: bytes,
        faults: BatchFaults,
        send: Send,
    ) -> None:
        if method == "POST" and not rest:
            await send_json(send, 200, self._create(body, faults).about())
            return
        if method == "GET" and not rest:
            await send_json(send, 200, self._list(query))
            return
        batch = self._batches.get(rest[0]) if rest else None
        if batch is None:
            raise RefusedError(404, f"No batch found with id '{'/'.join(rest)[:60]}'")
        if method == "POST" and rest[1:] == ["cancel"]:
            if batch.status in {"validating", "in_progress"}:
                batch.status = "cancelling"
        elif method == "GET":
            await self._move_on(batch, faults)
        await send_json(send, 200, batch.about())

    def _list(self, query: bytes) -> dict[str, Any]:
        asked = parse_qs(query.decode("latin-1"))
        limit = max(1, min(100, int(asked.get("limit", ["20"])[0])))
        ids = list(reversed(self._batches))
        after = asked.get("after", [""])[0]
        start = ids.index(after) + 1 if after in ids else 0
        data = [self._batches[i].about() for i in ids[start : start + limit]]
        return {"object": "list", "data": data, "has_more": start + limit < len(ids)}

    def _create(self, body: bytes, faults: BatchFaults) -> _Batch:
        try:
            asked = json.loads(body)
            file = self._files[asked["input_file_id"]]
            metadata = {str(k): str(v) for k, v in (asked.get("metadata") or {}).items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise RefusedError(
                400, "Invalid 'input_file_id': no such file", param="input_file_id"
            ) from None
        batch = _Batch(f"batch_{len(self._batches) + 1:06d}", file.id, metadata, [])
        self._batches[batch.id] = batch
        batch.errors = _read_requests(file.content, batch.requests)
        if faults.batch_invalid and not batch.errors:
            batch.errors = [_wrong("invalid_request", "The simulated batch is invalid.", 1)]
        limit = faults.batch_token_limit
        if limit and len(batch.requests) > limit and not batch.errors:
            message = "Enqueued token limit reached for this model."
            batch.errors = [_wrong("token_limit_exceeded", message, None)]
        return batch

    async def _move_on(self, batch: _Batch, faults: BatchFaults) -> None:
        if batch.status == "cancelling":
            await self._run(batch, faults, share=0.5)
            batch.status = "cancelled"
        if batch.status not in {"validating", "in_progress"}:
            return
        if batch.errors:
            batch.status = "failed"
            return
        batch.looks += 1
        batch.status = "in_progress"
        batch.completed = len(batch.requests) * batch.looks // (faults.batch_looks + 1)
        if batch.looks > faults.batch_looks:
            batch.completed = 0
            expired = await self._run(batch, faults, share=1.0 - faults.batch_expired)
            batch.status = "expired" if expired else "completed"

    async def _run(self, batch: _Batch, faults: BatchFaults, *, share: float) -> bool:
        """Answer a batch's requests into its files; True if some were left unrun."""
        output: list[bytes] = []
        errors: list[bytes] = []
        ran: set[str] = set()
        last = round(share * len(batch.requests))
        for number, request in enumerate(batch.requests):
            custom_id = request["custom_id"]
            if number >= last:
                code = "batch_cancelled" if batch.status == "cancelling" else "batch_expired"
                value = {"custom_id": custom_id, "response": None, "error": {"code": code}}
                errors.append(_json(value))
                continue
            fault = _befalling(faults, custom_id, self._times[custom_id])
            self._times[custom_id] += 1
            draw = custom_id.partition("|")[2].encode("latin-1", "replace")
            status, body = await self._complete(_json(request["body"]), draw)
            if fault == "error":
                status = 500
                body = _json(error("The server had an error", code="server_error"))
            line = _result(batch.id, number, custom_id, status, body)
            self.billed += status == 200
            batch.completed += status == 200
            batch.failed += status != 200
            lines = output if status == 200 else errors
            lines += _with_fault(fault, line)
            ran.add("output" if status == 200 else "error")
        for lines, name in ((output, "output"), (errors, "error")):
            if lines or name in ran:  # a file that lost its lines is there all the same
                file = self._keep(b"".join(lines), f"{batch.id}_{name}.jsonl", "batch_output")
                setattr(batch, f"{name}_file_id", file.id)
        return last < len(batch.requests)


# ----------------------------------------------------------------------------- helpers


def _form(headers: Mapping[bytes, bytes], body: bytes) -> tuple[bytes, str, str]:
    """File, its name and its purpose from a multipart form."""
    match = _BOUNDARY.search(headers.get(b"content-type", b""))
    content, name, purpose = None, "", ""
    for part in body.split(b"--" + match.group(1)) if match else []:
        head, separator, value = part.partition(b"\r\n\r\n")
        field_name = _NAME.search(head)
        if not separator or field_name is None:
            continue
        value = value.removesuffix(b"\r\n")
        if field_name.group(1) == b"file":
            content = value
            named = _FILE_NAME.search(head)
            name = named.group(1).decode("latin-1") if named else ""
        elif field_name.group(1) == b"purpose":
            purpose = value.decode("latin-1")
    if content is None or not purpose:
        raise RefusedError(400, "expected a form with 'file' and 'purpose'", param="file")
    return content, name, purpose


def _read_requests(content: bytes, into: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A file's requests; gives what is wrong with it."""
    seen = set()
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            value = json.loads(line)
            custom_id, body, url = value["custom_id"], value["body"], value["url"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return [_wrong("invalid_json_line", "This line is not a request.", number)]
        if not isinstance(custom_id, str) or not isinstance(body, dict):
            return [_wrong("invalid_json_line", "custom_id or body is of a wrong type.", number)]
        if url != "/v1/chat/completions":
            return [_wrong("mismatched_endpoint", "The URL is not the batch's.", number)]
        if custom_id in seen:
            return [_wrong("duplicate_custom_id", "The custom_id was used before.", number)]
        seen.add(custom_id)
        into.append({"custom_id": custom_id, "body": body})
    if not into:
        return [_wrong("empty_file", "The file holds no requests.", None)]
    if len(into) > _MOST_REQUESTS:
        return [_wrong("too_many_tasks", "The file holds more than 50,000 requests.", None)]
    return []


def _wrong(code: str, message: str, line: int | None) -> dict[str, Any]:
    return {"code": code, "message": message, "line": line, "param": None}


def _befalling(faults: BatchFaults, custom_id: str, times: int) -> str:
    point = uniform_of("batch", faults.seed, custom_id, times)
    for name in ("error", "missing", "malformed", "repeated", "foreign"):
        point -= getattr(faults, f"batch_{name}")
        if point < 0:
            return name
    return ""


def _with_fault(fault: str, line: bytes) -> list[bytes]:
    if fault == "missing":
        return []
    if fault == "malformed":
        return [line[: len(line) // 2] + b"\n"]
    if fault == "repeated":
        return [line, line]
    if fault == "foreign":
        value = json.loads(line)
        return [line, _json({**value, "custom_id": "somebody else's"})]
    return [line]


def _result(batch: str, number: int, custom_id: str, status: int, body: bytes) -> bytes:
    value = {
        "id": f"batch_req_{batch}_{number}",
        "custom_id": custom_id,
        "response": {
            "status_code": status,
            "request_id": f"req_{number}",
            "body": json.loads(body),
        },
        "error": None,
    }
    return _json(value)


def _json(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


class BatchServer(SimulatedServer):
    """The simulated server, with files and batches.

    Parameters
    ----------
    faults : BatchFaults, optional
    """

    def __init__(self, faults: Faults | None = None) -> None:
        super().__init__(faults or BatchFaults())
        self.batch_api = BatchApi(self._answered_in_batch)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        path = str(scope.get("path", "")).rstrip("/")
        if scope["type"] == "http" and await self._answers_batches(scope, path, receive, send):
            return
        await super().__call__(scope, receive, send)

    async def _answers_batches(
        self, scope: MutableMapping[str, Any], path: str, receive: Receive, send: Send
    ) -> bool:
        headers = dict(scope["headers"])
        if self.faults.no_batches or not _OF_BATCHES.search(path):
            return False
        if not _key_accepted(self.faults, headers):
            await send_json(send, 401, error("Incorrect API key provided."))
            return True
        try:
            body = await read_body(receive, most=_MAX_FILE_BYTES)
            query = scope.get("query_string", b"")
            return await self.batch_api.handle(
                scope["method"], path, query, headers, body, self.faults, send
            )
        except RefusedError as refused:
            value = error(refused.message, param=refused.param, code=refused.code)
            await send_json(send, refused.status, value)
            return True

    async def _answered_in_batch(self, body: bytes, draw: bytes) -> tuple[int, bytes]:
        """One request of a batch: what befalls online requests by chance does not befall it."""
        got: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            got.append(message)

        headers = [(b"x-judgestats-draw", draw)] if draw else []
        try:
            await self._complete(
                {"headers": headers, "path": "/v1/chat/completions"},
                receive,
                send,
                self.faults.limitations,
            )
        except RefusedError as refused:
            value = error(refused.message, param=refused.param, code=refused.code)
            await send_json(send, refused.status, value)
        return int(got[0]["status"]), bytes(got[1]["body"])
