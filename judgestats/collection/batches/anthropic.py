"""Anthropic's Message Batches behind the interface of the Batch API."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import httpx2

from judgestats.collection.batches.client import (
    BatchClient,
    BatchState,
    MalformedError,
    checked_id,
    count_of,
    read_line,
    reply_object,
)
from judgestats.collection.retry import one_line
from judgestats.collection.spec import JudgeSpec, Secret, key_variable
from judgestats.errors import JudgeError
from judgestats.files.text import decode_json

_VERSION = "2023-06-01"
_PATH = "/messages/batches"
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

        async def send() -> BatchState:
            return _state(reply_object(await self._post(_PATH, {"requests": requests})))

        async def look() -> BatchState | None:
            return await self.find(name, [str(r["custom_id"]) for r in requests])

        return await self._call("a batch was created", send, instead=look)

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
                    "It may be the same one, and names its requests only once it has ended. Give "
                    "the same command again then: a second batch would be paid for twice."
                )
            lines = map(read_line, (await self.content(state.id)).splitlines())
            if any(read is not None and read[0] in ids for read in lines):
                return state
        return None

    def _page(self, after: str) -> Callable[[], Awaitable[tuple[list[BatchState], bool]]]:
        start = f"&after_id={after}" if after else ""

        async def send() -> tuple[list[BatchState], bool]:
            value = reply_object(await self._get(f"{_PATH}?limit=100{start}"))
            listed = value.get("data")
            if not isinstance(listed, list):
                raise MalformedError("the list of batches is not a list")
            return [_state(b) for b in listed if isinstance(b, dict)], value.get("has_more") is True

        return send

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is."""

        async def send() -> BatchState:
            return _state(reply_object(await self._get(f"{_PATH}/{batch_id}")))

        return await self._call(f"batch {batch_id} was looked at", send)

    async def content(self, file_id: str) -> bytes:
        """The results of a batch as lines of the Batch API."""

        async def send() -> bytes:
            return await self._get(f"{_PATH}/{file_id}/results", long=True)

        body = await self._call(f"the results of batch {file_id} were downloaded", send)
        return b"".join(_result_lines(body))

    async def delete(self, file_id: str) -> None:
        """Nothing to delete: no file was uploaded."""

    async def _get(self, path: str, *, long: bool = False) -> bytes:
        client = self._long if long else self._short
        return (await client.sdk.get(path, cast_to=httpx2.Response)).content

    async def _post(self, path: str, body: Mapping[str, Any]) -> bytes:
        return (await self._long.sdk.post(path, body=body, cast_to=httpx2.Response)).content


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


def _state(value: dict[str, Any]) -> BatchState:
    status, counts = value.get("processing_status"), value.get("request_counts")
    if not isinstance(status, str) or not isinstance(counts, dict):
        raise MalformedError("the batch has no status or no counts")
    number = {k: count_of(counts.get(k)) for k in ("processing", "succeeded", "errored", *_ENDS)}
    total = sum(number.values())
    ended = status == "ended"
    word = "completed" if ended else one_line(status)
    if ended and total:
        word = next((k.replace("canceled", "cancelled") for k in _ENDS if number[k] == total), word)
    batch_id = checked_id(value)
    return BatchState(
        id=batch_id, status=word, files=(batch_id,) if ended else (), has_output=ended,
        done=total - number["processing"], total=total, codes=(), errors=(), name="",
    )  # fmt: skip


def _result_lines(body: bytes) -> Iterator[bytes]:
    """Each result as a line of the Batch API; a line that is none stays as it is."""
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
