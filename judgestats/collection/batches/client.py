"""Clients of the Batch API and of Anthropic's Message Batches, and their files."""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
import re
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import httpx2

from judgestats.collection.app_client import AsgiApp
from judgestats.collection.client import CALL_ERRORS, JudgeClient
from judgestats.collection.response import read_error, read_reply
from judgestats.collection.retry import Kind, Outcome, RetryPolicy, one_line
from judgestats.collection.spec import JudgeSpec, Secret, key_hint, key_variable
from judgestats.errors import JudgeError
from judgestats.files.text import decode_json

if TYPE_CHECKING:
    from openai._types import RequestOptions

_T = TypeVar("_T")

MARK = "judgestats"
"""The metadata's member that holds our name of a batch."""

_MAX_FILE = 1024 * 1024 * 1024
_LONGEST_TRANSFER_S = 900.0
_PAGES = 100
_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")
_ENDED = {"completed", "failed", "expired", "cancelled"}
_UNSURE = {Kind.BROKEN, Kind.TIMED_OUT, Kind.SERVER_ERROR, Kind.MALFORMED, Kind.TOO_LARGE}


class BatchCallError(JudgeError):
    """A call of the Batch API that came to nothing; `outcome` says how."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.outcome = outcome


class MalformedError(Exception):
    """A reply with status 200 that is not what was asked for."""


@dataclass(frozen=True, kw_only=True)
class BatchState:
    """What the server says of a batch."""

    id: str
    status: str
    files: tuple[str, ...]
    has_output: bool
    done: int
    total: int
    codes: tuple[str, ...]
    errors: tuple[str, ...]
    name: str

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in _ENDED

    @property
    def ran(self) -> bool:
        """Whether requests were run, so that the server owes a file of their results."""
        return self.status == "completed" or self.done > 0


class BatchClient(AbstractAsyncContextManager["BatchClient"]):
    """Files and batches at one endpoint. Use it as ``async with``.

    Parameters
    ----------
    spec : JudgeSpec
        Any judge of the endpoint.
    timeout_s : float
        Limit of a short call, in seconds; files get 15 minutes.
    retry : RetryPolicy
    sleep : function of seconds
        Waits.
    app : ASGI application, optional
        Asked in process.
    """

    path: ClassVar[str] = "/batches"
    after: ClassVar[str] = "after"
    """Of a list: the parameter that names the last batch of the page before."""

    def __init__(
        self,
        spec: JudgeSpec,
        *,
        timeout_s: float,
        retry: RetryPolicy,
        sleep: Callable[[float], Awaitable[None]],
        app: AsgiApp | None = None,
    ) -> None:
        self._spec = spec
        self._retry = retry
        self._sleep = sleep
        self._draw = random.Random(spec.base_url)
        self._contacted = False
        self._short = JudgeClient(spec, connections=4, timeout_s=timeout_s, app=app)
        longest = max(timeout_s, _LONGEST_TRANSFER_S)
        self._long = JudgeClient(
            spec, connections=4, timeout_s=longest, app=app, max_body=_MAX_FILE
        )

    async def __aexit__(self, *error: object) -> None:
        await self._short.__aexit__(*error)
        await self._long.__aexit__(*error)

    # ------------------------------------------------------------------ calls

    async def upload(self, name: str, content: bytes) -> str:
        """Upload a batch's input file; gives its id."""
        files = self._long.sdk.files.with_raw_response

        async def send() -> str:
            file = (f"judgestats-{name}.jsonl", content, "application/jsonl")
            reply = await files.create(file=file, purpose="batch")
            return checked_id(reply_object(reply.http_response.content))

        return await self._call("a file was uploaded", send)

    async def create(self, name: str, file_id: str, experiment: str) -> BatchState:
        """Create a batch, once: what breaks off is looked for before it is tried again."""
        body = {
            "completion_window": "24h",
            "endpoint": "/v1/chat/completions",
            "input_file_id": file_id,
            "metadata": {MARK: name, "experiment": experiment[:100] or "none"},
        }
        return await self._create(self._short, body, lambda: self.find(name, ()))

    async def _create(
        self,
        client: JudgeClient,
        body: Mapping[str, Any],
        look: Callable[[], Awaitable[BatchState | None]],
    ) -> BatchState:
        async def send() -> BatchState:
            reply = await client.sdk.post(self.path, body=body, cast_to=httpx2.Response)
            return self._state(reply_object(reply.content))

        return await self._call("a batch was created", send, instead=look)

    async def find(self, name: str, ids: Collection[str]) -> BatchState | None:
        """The batch that carries our name in its metadata, if the server has one.

        `ids` are the ids of its requests, for a server that keeps no name.
        """
        del ids
        async for state in self._listed():
            if state.name == name:
                return state
        return None

    async def _listed(self) -> AsyncIterator[BatchState]:
        """The server's batches, page by page."""
        after = ""
        for _ in range(_PAGES):
            query = {"limit": 100} | ({self.after: after} if after else {})
            page, more = await self._get("batches were listed", self.path, self._page, query=query)
            for state in page:
                yield state
            if not more or not page or page[-1].id == after:
                return
            after = page[-1].id

    def _page(self, body: bytes) -> tuple[list[BatchState], bool]:
        """The readable batches of a list, and whether it goes on."""
        value = reply_object(body)
        if not isinstance(value.get("data"), list):
            raise MalformedError("the list of batches is not a list")
        states, more = [], value.get("has_more") is True
        for listed in value["data"]:
            if not isinstance(listed, dict):
                continue
            try:
                states.append(self._state(listed))
            except MalformedError:
                if self._may_be_ours(listed):  # handed in again, it would be paid for twice
                    raise
        if more and not states:
            raise MalformedError("the list of batches names none to go on from")
        return states, more

    @staticmethod
    def _may_be_ours(listed: dict[str, Any]) -> bool:
        """Whether a batch of a list that cannot be parsed may be one that we handed in."""
        metadata = listed.get("metadata")
        return not isinstance(metadata, dict) or MARK in metadata

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is."""
        return await self._get(
            f"batch {batch_id} was looked at",
            f"{self.path}/{batch_id}",
            lambda body: self._state(reply_object(body)),
        )

    async def content(self, file_id: str) -> bytes:
        """A file's content, the key taken out."""
        doing, path = f"file {file_id} was downloaded", f"/files/{file_id}/content"
        accept = {"Accept": "application/binary"}  # a server that looks may refuse JSON: HTTP 406
        return await self._get(doing, path, bytes, client=self._long, headers=accept)

    async def delete(self, file_id: str) -> None:
        """Delete a file that no batch uses; a file that is gone already is not an error."""

        async def send() -> None:
            await self._short.sdk.delete(f"/files/{file_id}", cast_to=httpx2.Response)

        with contextlib.suppress(BatchCallError):  # it costs nothing where it is, and expires
            await self._call(f"file {file_id} was deleted", send)

    async def _get(
        self,
        doing: str,
        path: str,
        read: Callable[[bytes], _T],
        *,
        query: Mapping[str, object] | None = None,
        client: JudgeClient | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> _T:
        async def send() -> _T:
            options: RequestOptions = {"params": query or {}, "headers": headers or {}}
            sdk = (client or self._short).sdk
            return read((await sdk.get(path, cast_to=httpx2.Response, options=options)).content)

        return await self._call(doing, send)

    async def _call(
        self,
        doing: str,
        send: Callable[[], Awaitable[_T]],
        *,
        instead: Callable[[], Awaitable[_T | None]] | None = None,
    ) -> _T:
        """Send until it succeeds or the retry policy gives up.

        `instead` is asked before a call is repeated that may have had its effect already.
        """
        tried, waited = 0, 0.0
        while True:
            tried += 1
            try:
                result = await send()
            except CALL_ERRORS as error:
                outcome = self._short.failure(error, time.perf_counter())
            except MalformedError as error:
                outcome = Outcome(kind=Kind.MALFORMED, detail=one_line(str(error)))
            else:
                self._contacted = True
                return result
            if outcome.status:
                self._contacted = True
            wait = self._retry.wait(
                outcome, tried=tried, waited_s=waited, contacted=self._contacted, draw=self._draw
            )
            if wait is None:
                raise self._error(doing, outcome)
            waited += wait
            await self._sleep(wait)
            if instead is not None and outcome.kind in _UNSURE and (reply := await instead()):
                return reply

    def _error(self, doing: str, outcome: Outcome) -> BatchCallError:
        url = self._spec.base_url
        words = f"HTTP {outcome.status}: {outcome.detail}" if outcome.status else outcome.detail
        if outcome.kind is Kind.KEY_REFUSED:
            what = f"refuses the key. Check {key_hint(url)}"
        elif outcome.kind in {Kind.UNKNOWN_MODEL, Kind.WRONG_PATH} and outcome.status == 404:
            what = "does not know this call: it may have no Batch API (try mode=online)"
        else:
            what = "failed"
        kept = "What was handed in before is in the journal; the same command goes on from there."
        why = f"batch mode: {url} {what}, while {doing} ({words}). {kept}"
        return BatchCallError(why, outcome)

    @staticmethod
    def _state(value: dict[str, Any]) -> BatchState:
        status = value.get("status")
        if not isinstance(status, str):
            raise MalformedError("the batch has no status")
        files = [value.get("output_file_id"), value.get("error_file_id")]
        counts, errors, metadata = (
            given if isinstance(given := value.get(name), dict) else {}
            for name in ("request_counts", "errors", "metadata")
        )
        listed = errors.get("data")
        data = [e for e in listed if isinstance(e, dict)][:20] if isinstance(listed, list) else []
        name = metadata.get(MARK)
        return BatchState(
            id=checked_id(value),
            status=_status(one_line(status)),
            files=tuple(checked_id({"id": f}) for f in files if isinstance(f, str) and f),
            has_output=isinstance(files[0], str) and bool(files[0]),
            done=count_of(counts.get("completed")) + count_of(counts.get("failed")),
            total=count_of(counts.get("total")),
            codes=tuple(one_line(str(e.get("code"))) for e in data),
            errors=tuple(_error_text(e) for e in data),
            name=name if isinstance(name, str) else "",
        )


def reply_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a reply; `MalformedError` for anything else."""
    try:
        value = decode_json(body, keep_last=True)
    except ValueError:
        raise MalformedError(f"the reply is not JSON ({len(body)} bytes)") from None
    if not isinstance(value, dict):
        raise MalformedError("the reply is not an object")
    return value


def checked_id(value: dict[str, Any]) -> str:
    """The member ``id``; `MalformedError` where it could lead an address elsewhere."""
    identifier = value.get("id")
    if not isinstance(identifier, str) or not _ID.fullmatch(identifier):
        raise MalformedError("the reply names no id that can be part of an address")
    return identifier


def _status(word: str) -> str:
    """The word for an end as OpenAI writes it, any other word as it came.

    Others write COMPLETED or canceled: an end that is not seen is waited for without end.
    """
    end = word.casefold().replace("canceled", "cancelled")
    return end if end in _ENDED else word


def _error_text(error: dict[str, Any]) -> str:
    line = error.get("line")
    where = f" (line {line})" if isinstance(line, int) else ""
    return one_line(str(error.get("message") or error.get("code") or "no reason given")) + where


def count_of(value: Any) -> int:
    """A count that a server states; 0 for anything else."""
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0


MAX_LINE = 8 * 1024 * 1024
_FILES_MAX_ID = 512


def request_line(custom_id: str, body: bytes) -> bytes:
    """One request as a line of a batch's input file.

    Examples
    --------
    >>> request_line("js-1", b"{}")
    b'{"custom_id":"js-1","method":"POST","url":"/v1/chat/completions","body":{}}\\n'
    """
    head = f'{{"custom_id":{json.dumps(custom_id)},"method":"POST","url":"/v1/chat/completions"'
    return head.encode() + b',"body":' + body + b"}\n"


@dataclass(kw_only=True)
class Results:
    """What a batch's files say.

    Attributes
    ----------
    outcomes : dict of str to Outcome
        By custom id; requests that no readable line speaks of are absent.
    foreign, repeated, unreadable : int
        Lines of other requests, of requests that came before, and lines that are not a result.
    """

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    foreign: int = 0
    repeated: int = 0
    unreadable: int = 0

    @property
    def oddities(self) -> str:
        """What was left out, as text; empty if nothing was."""
        counts = {
            "unreadable": self.unreadable,
            "of requests that are not ours": self.foreign,
            "repeated": self.repeated,
        }
        return ", ".join(f"{n} {what}" for what, n in counts.items() if n)


def read_results(files: Iterable[bytes], ours: Container[str]) -> Results:
    """Read output and error files, in this order.

    The first answer to a request counts; an answer takes precedence over a failure. Nothing is
    guessed: a line that is not a result of a request of ours is counted and left out.

    Parameters
    ----------
    files : iterable of bytes
    ours : container of str
        The batch's custom ids.

    Returns
    -------
    Results

    Examples
    --------
    >>> expired = b'{"custom_id": "a", "error": {"code": "batch_expired"}}'
    >>> read_results([expired, b"no JSON"], {"a"}).outcomes["a"].kind.value
    'batch_expired'
    """
    results = Results()
    for content in files:
        for line in filter(None, map(bytes.strip, io.BytesIO(content))):
            read = read_line(line) if len(line) <= MAX_LINE else None
            if read is None:
                results.unreadable += 1
                continue
            custom_id, outcome = read
            if custom_id not in ours:
                results.foreign += 1
                continue
            before = results.outcomes.get(custom_id)
            if before is not None:
                results.repeated += 1
                if before.kind is Kind.ANSWERED or outcome.kind is not Kind.ANSWERED:
                    continue
            results.outcomes[custom_id] = outcome
    return results


def read_line(line: bytes) -> tuple[str, Outcome] | None:
    """A request's id and what came of it; None where the line is not a result."""
    try:
        value: Any = decode_json(line, keep_last=True)
        if not isinstance(value, dict):
            return None
        custom_id = value.get("custom_id")
        if not isinstance(custom_id, str) or len(custom_id) > _FILES_MAX_ID:
            return None
        return custom_id, _outcome(value.get("response"), value.get("error"))
    except ValueError:
        return None


def _outcome(response: Any, error: Any) -> Outcome:
    if isinstance(response, dict):
        status = response.get("status_code")
        body = json.dumps(response.get("body")).encode()
        if isinstance(status, bool) or not isinstance(status, int):
            return Outcome(kind=Kind.MALFORMED, detail="the line has no status code")
        if 200 <= status < 300:
            return read_reply(body, {}, math.nan)
        return read_error(status, body, {}, math.nan)
    if isinstance(error, dict):
        kinds = {"batch_expired": Kind.EXPIRED, "batch_cancelled": Kind.CANCELLED}
        kind = kinds.get(str(error.get("code")), Kind.SERVER_ERROR)
        message = error.get("message")
        detail = one_line(message) if isinstance(message, str) else kind.value
        return Outcome(kind=kind, detail=detail)
    return Outcome(kind=Kind.MALFORMED, detail="the line has neither response nor error")


_VERSION = "2023-06-01"
_MAX_TOKENS = 4096
"""Sent where the request names no limit: Anthropic requires one."""
_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402,
    "permission_error": 403, "not_found_error": 404, "request_too_large": 413,
    "rate_limit_error": 429, "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip
_FINISH = {"max_tokens": "length", "refusal": "content_filter"}
_ENDS = {"expired": "batch_expired", "canceled": "batch_cancelled"}


def takes(spec: JudgeSpec) -> bool:
    """Whether a judge's endpoint has Message Batches instead of the Batch API."""
    return key_variable(spec.base_url) == "ANTHROPIC_API_KEY"


class AnthropicBatches(BatchClient):
    """Message Batches at one endpoint.

    A batch carries its requests itself, so that no file is uploaded. It carries no name of ours:
    a batch whose id was lost is found by the ids of its requests, once it has ended.
    """

    path = "/messages/batches"
    after = "after_id"

    def __init__(self, spec: JudgeSpec, **options: Any) -> None:
        own = {"x-api-key": spec.key, "anthropic-version": Secret(_VERSION)}
        # the SDK's own header would be taken for a token of another kind
        own["Authorization"] = Secret("")
        super().__init__(replace(spec, headers={**spec.headers, **own}), **options)
        self._requests: dict[str, list[dict[str, Any]]] = {}

    async def upload(self, name: str, content: bytes) -> str:
        """Keep the requests until the batch is created."""
        self._requests[name] = [message_request(line) for line in content.splitlines()]
        return name

    async def create(self, name: str, file_id: str, experiment: str) -> BatchState:
        """Create a batch, once: what breaks off is looked for before it is tried again."""
        del file_id, experiment
        requests = self._requests.pop(name)
        ids = [str(r["custom_id"]) for r in requests]
        return await self._create(self._long, {"requests": requests}, lambda: self.find(name, ids))

    async def find(self, name: str, ids: Collection[str]) -> BatchState | None:
        """The batch that holds these requests, if the server has one.

        Raises
        ------
        JudgeError
            A batch of as many requests is running: it may be this one.
        """
        del name
        async for state in self._listed():
            if state.total != len(ids):
                continue
            if not state.ended:
                raise JudgeError(
                    f"batch mode: batch {state.id} has as many requests as one whose id was lost. "
                    "Give the same command again once it has ended: a second batch would be paid "
                    "for twice."
                )
            lines = map(read_line, (await self.content(state.id)).splitlines())
            if any(read is not None and read[0] in ids for read in lines):
                return state
        return None

    async def content(self, file_id: str) -> bytes:
        """The results of a batch as lines of the Batch API."""
        doing = f"the results of batch {file_id} were downloaded"
        path = f"{self.path}/{file_id}/results"
        return b"".join(_result_lines(await self._get(doing, path, bytes, client=self._long)))

    async def delete(self, file_id: str) -> None:
        """Nothing to delete: no file was uploaded."""

    @staticmethod
    def _may_be_ours(listed: dict[str, Any]) -> bool:
        del listed  # Message Batches keep no name of ours
        return True

    @staticmethod
    def _state(value: dict[str, Any]) -> BatchState:
        status, counts = value.get("processing_status"), value.get("request_counts")
        if not isinstance(status, str) or not isinstance(counts, dict):
            raise MalformedError("the batch has no status or no counts")
        number = {
            k: count_of(counts.get(k)) for k in ("processing", "succeeded", "errored", *_ENDS)
        }
        total = sum(number.values())
        ended = status == "ended"
        word = "completed" if ended else one_line(status)
        if ended and total and (end := next((k for k in _ENDS if number[k] == total), "")):
            word = end.replace("canceled", "cancelled")
        batch_id = checked_id(value)
        return BatchState(
            id=batch_id, status=word, files=(batch_id,) if ended else (), has_output=ended,
            done=total - number["processing"], total=total, codes=(), errors=(), name="",
        )  # fmt: skip


def message_request(line: bytes) -> dict[str, Any]:
    """A line of a Batch API file as a request of Message Batches.

    Parameters
    ----------
    line : bytes

    Returns
    -------
    dict
        ``custom_id`` and ``params``. A JSON schema becomes a tool that must be called. Anthropic
        knows neither a seed nor several choices: both are left out.

    Examples
    --------
    >>> body = {"model": "m", "messages": [{"role": "system", "content": "Judge."},
    ...         {"role": "user", "content": "Good?"}], "max_tokens": 9, "temperature": 1.0}
    >>> message_request(json.dumps({"custom_id": "js-1", "body": body}).encode())["params"]
    {'model': 'm', 'max_tokens': 9, 'messages': [{'role': 'user', 'content': 'Good?'}],
     'system': 'Judge.', 'temperature': 1.0}
    """
    given = reply_object(line)
    body = given["body"]
    said = body["messages"]
    params: dict[str, Any] = {
        "model": body["model"],
        "max_tokens": body.get("max_completion_tokens") or body.get("max_tokens") or _MAX_TOKENS,
        "messages": [m for m in said if m["role"] not in {"system", "developer"}],
    }
    if system := [m["content"] for m in said if m["role"] in {"system", "developer"}]:
        params["system"] = "\n\n".join(system)
    params |= {k: body[k] for k in ("temperature", "top_p") if k in body}
    if stop := body.get("stop"):
        params["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    functions = [t["function"] for t in body.get("tools", [])]
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        schema = form["json_schema"]
        functions = [{"name": schema["name"], "parameters": schema["schema"]}]
    if functions:
        params["tools"] = [
            {
                "name": f["name"], "input_schema": f["parameters"],
                **({"description": f["description"]} if f.get("description") else {}),
            }
            for f in functions
        ]  # fmt: skip
        params["tool_choice"] = {"type": "tool", "name": functions[0]["name"]}
    return {"custom_id": given["custom_id"], "params": params}


def _result_lines(body: bytes) -> Iterator[bytes]:
    """Each result as a line of the Batch API; other lines stay unchanged."""
    for line in body.splitlines():
        try:
            value: Any = decode_json(line, keep_last=True)
            yield json.dumps(_line(value)).encode() + b"\n"
        except (ValueError, KeyError, TypeError, AttributeError):
            yield line + b"\n"


def _line(value: dict[str, Any]) -> dict[str, Any]:
    result = value["result"]
    kind, out = result["type"], {"custom_id": value["custom_id"]}
    if kind in _ENDS:
        return {**out, "error": {"code": _ENDS[kind], "message": kind}}
    if kind == "succeeded":
        return {**out, "response": {"status_code": 200, "body": _completion(result["message"])}}
    error = result["error"].get("error", result["error"])
    body = {"error": {"message": error.get("message"), "code": error.get("type")}}
    return {**out, "response": {"status_code": _STATUS.get(error.get("type"), 500), "body": body}}


def _completion(message: dict[str, Any]) -> dict[str, Any]:
    """A message as a chat completion: the input of a tool is its text."""
    blocks = message["content"]
    text = "".join(b["text"] for b in blocks if b["type"] == "text")
    called = next((b for b in blocks if b["type"] == "tool_use"), None)
    answer: dict[str, Any] = {"role": "assistant", "content": text}
    if called is not None:
        given = json.dumps(called["input"])
        call = {"id": called.get("id"), "type": "function",
                "function": {"name": called["name"], "arguments": given}}  # fmt: skip
        answer = {"role": "assistant", "content": given, "tool_calls": [call]}
    usage = message.get("usage") or {}
    cached = count_of(usage.get("cache_read_input_tokens"))
    written = count_of(usage.get("cache_creation_input_tokens"))
    finish = _FINISH.get(message.get("stop_reason") or "", "stop")
    return {
        "id": message.get("id"), "object": "chat.completion", "model": message.get("model"),
        "choices": [{"index": 0, "finish_reason": finish, "message": answer}],
        "usage": {
            "prompt_tokens": usage["input_tokens"] + cached + written,
            "completion_tokens": usage["output_tokens"],
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }  # fmt: skip
