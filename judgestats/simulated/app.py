"""Simulated OpenAI-compatible server, with the faults of real servers."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import socket
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from threading import Thread
from typing import Any

import uvicorn

from judgestats.errors import InputError, JudgeError
from judgestats.files.text import decode_json
from judgestats.simulated import replies
from judgestats.simulated.judges import normal_of, simulated_judges, truth, uniform_of
from judgestats.simulated.replies import RefusedError
from judgestats.simulated.request_reader import last_question, read_request
from judgestats.terminal import emit


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Rates of faults (each a probability per request) and standing limitations.

    Attributes
    ----------
    latency_s, latency_spread : float
        Median of a reply's delay, in seconds, and its log standard deviation (0 = constant).
    rate_limited, rate_limited_silent : float
        Status 429 with and without ``Retry-After``.
    retry_after_s : float
        What ``Retry-After`` says.
    overloaded, server_error, reset : float
        Status 503, status 500, and a connection that is broken off without a reply.
    stalled : float
        Replies that take `stall_s` seconds longer.
    truncated_json, huge_json, wrong_type : float
        Status 200 with half of the JSON, with `huge_bytes` of JSON, and with an HTML page.
    refusal, filtered, cut_off : float
        Answers that refuse, that the content filter emptied, and that end at the token limit.
    capacity : int
        Requests in flight beyond which 429 is answered; 0 = no limit.
    quota_headers : bool
        Whether replies carry ``x-ratelimit-*`` headers.
    refuse_temperature, ignore_temperature : bool
        Refuse any temperature but 1 with status 400; or silently answer at 1.
    refuse_n, ignore_n : bool
        Refuse several choices with status 400; or silently answer one.
    refuse_schema, ignore_schema, refuse_tools, refuse_seed : bool
    refuse_field : str
        A field of the request, such as ``top_k``, that is refused as unknown.
    require_key : str
        The only accepted key; empty = any.
    seed : int
        Fixes which requests the faults befall.

    Examples
    --------
    >>> Faults.parse("rate_limited=.05, latency_s=.2, refuse_n").refuse_n
    True
    """

    latency_s: float = 0.0
    latency_spread: float = 0.0
    rate_limited: float = 0.0
    rate_limited_silent: float = 0.0
    retry_after_s: float = 0.0
    overloaded: float = 0.0
    server_error: float = 0.0
    reset: float = 0.0
    stalled: float = 0.0
    stall_s: float = 5.0
    truncated_json: float = 0.0
    huge_json: float = 0.0
    huge_bytes: int = 16 * 1024 * 1024
    wrong_type: float = 0.0
    refusal: float = 0.0
    filtered: float = 0.0
    cut_off: float = 0.0
    capacity: int = 0
    quota_headers: bool = False
    refuse_temperature: bool = False
    ignore_temperature: bool = False
    refuse_n: bool = False
    ignore_n: bool = False
    refuse_schema: bool = False
    ignore_schema: bool = False
    refuse_tools: bool = False
    refuse_seed: bool = False
    refuse_field: str = ""
    require_key: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        rates = [getattr(self, name) for name in _RATES]
        if any(not 0 <= r <= 1 for r in rates) or sum(rates) > 1 + 1e-9:
            raise InputError(
                "faults: every rate must lie in 0-1, and all rates together must not exceed 1."
            )

    @property
    def limitations(self) -> Faults:
        """The limitations alone, without what befalls requests by chance."""
        without: dict[str, Any] = dict.fromkeys(_RATES, 0.0)
        return replace(self, latency_s=0.0, capacity=0, require_key="", **without)

    @property
    def random(self) -> bool:
        """Whether any request may meet a fault by chance."""
        return any(getattr(self, name) for name in _RATES)

    def befalling(self, request: object, attempt: int) -> str:
        """The fault that befalls an attempt of a request; empty if none."""
        point = uniform_of("fault", self.seed, request, attempt)
        for name in _RATES:
            point -= getattr(self, name)
            if point < 0:
                return name
        return ""

    def delay(self, request: object, attempt: int) -> float:
        """Seconds until the reply."""
        if self.latency_spread == 0:
            return self.latency_s
        spread = self.latency_spread * normal_of("latency", self.seed, request, attempt)
        return self.latency_s * math.exp(spread)

    @classmethod
    def parse(cls, text: str) -> Faults:
        """Read ``name=value`` pairs, separated by commas; a name alone means true."""
        types = {f.name: f.type for f in fields(cls)}
        values: dict[str, float | int | bool | str] = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, equals, value = part.partition("=")
            name, value = name.strip(), value.strip()
            if name not in types:
                raise InputError(f"faults: unknown fault {name!r}. Known: {', '.join(types)}.")
            kind = types[name]
            try:
                if kind == "bool":
                    values[name] = value.lower() not in {"0", "false", "no"} if equals else True
                else:
                    values[name] = {"int": int, "float": float, "str": str}[str(kind)](value)
            except ValueError:
                raise InputError(f"faults: {name} expects a number, got {value!r}.") from None
        return cls(**values)  # type: ignore[arg-type]


_RATES = tuple(
    f.name
    for f in fields(Faults)
    if f.type == "float" and not f.name.startswith("latency") and not f.name.endswith("_s")
)
"""In this order a single uniform number decides which fault, if any, befalls a request."""


Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_MAX_REQUEST_BYTES = 16 * 1024 * 1024


_ERRORS = {
    **dict.fromkeys(
        ("rate_limited", "rate_limited_silent"), (429, "Rate limit reached", "rate_limit_exceeded")
    ),
    "overloaded": (503, "The server is overloaded", "overloaded"),
    "server_error": (500, "The server had an error", "server_error"),
}
"""Status, message, and code of faults that are errors."""


async def misbehaved(fault: str, faults: Faults, send: Send) -> bool:
    """Answer with a fault, if it is one that replaces an answer."""
    if fault in _ERRORS:
        status, message, code = _ERRORS[fault]
        after = (b"retry-after", f"{faults.retry_after_s:g}".encode())
        body = json.dumps(error(message, code=code)).encode()
        await send_bytes(send, status, body, extra=[after] * (fault == "rate_limited"))
    elif fault == "reset":
        _break_off(send)
    elif fault == "huge_json":
        start = b'{"choices": [{"message": {"content": "'
        filling = b"x" * max(0, faults.huge_bytes - len(start) - 20)
        await send_bytes(send, 200, start + filling + b'"}}]}')
    elif fault == "wrong_type":
        page = b"<!doctype html><title>Bad gateway</title><p>Please try again later."
        await send_bytes(send, 200, page, b"text/html")
    else:
        return False
    return True


def _break_off(send: Send) -> None:
    """Break the connection: under uvicorn by aborting its transport, in process by an error."""
    cycle = getattr(send, "__self__", None)
    transport = getattr(cycle, "transport", None)
    if transport is None:
        raise ConnectionResetError("the simulated server broke the connection off")
    transport.abort()


async def read_body(receive: Receive, *, most: int = _MAX_REQUEST_BYTES) -> bytes:
    """A request's whole body, of bounded size."""
    chunks = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "the client went away")
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > most:
            raise RefusedError(413, "the request is too large")
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def error(message: str, *, param: str = "", code: str = "") -> dict[str, Any]:
    """An error body as OpenAI words it."""
    kind = "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": param or None, "code": code}}


async def send_json(send: Send, status: int, value: object) -> None:
    """Send a value as JSON."""
    await send_bytes(send, status, json.dumps(value).encode())


async def send_bytes(
    send: Send,
    status: int,
    body: bytes,
    kind: bytes = b"application/json",
    extra: Sequence[tuple[bytes, bytes]] = (),
) -> None:
    """Send a body of a content type, with further headers."""
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


_MAX_CHOICES = 128
_REMEMBERED = 2048


@dataclass(frozen=True, slots=True)
class _ParsedRequest:
    """A request's reading, remembered: repeated judging repeats the request.

    `say` gives the reply's text for the seed of a draw.
    """

    model: str
    say: Callable[[str], str]
    tool: str
    messages: str
    prompt_tokens: int
    thoughts: int
    weigh: Callable[[str], dict[str, Any]] | None


class Completions:
    """Makes replies; remembers what requests ask, since repeated judging repeats the request."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, _ParsedRequest] = OrderedDict()

    def reply(
        self,
        request: dict[str, Any],
        draw: bytes,
        *,
        identity: bytes,
        times: int,
        fault: str,
        faults: Faults,
    ) -> dict[str, Any]:
        """The body of a reply.

        Parameters
        ----------
        request : dict
        draw : bytes
            The header ``X-Judgestats-Draw``; empty without one.
        identity : bytes
            Of body and header.
        times : int
            How often this very request came before.
        fault : str
            What befalls the choices (``refusal``, ``filtered``, ``cut_off``).
        faults : Faults

        Raises
        ------
        RefusedError
            An unknown model, a parameter out of range.
        """
        wanted = 1 if request.get("n") is None else request["n"]
        if not isinstance(wanted, int) or not 1 <= wanted <= _MAX_CHOICES:
            raise RefusedError(400, f"'n' must be a whole number of 1-{_MAX_CHOICES}", param="n")
        count = 1 if faults.ignore_n else wanted
        reading = self._parse_request(request, faults)
        seeds = _seeds(request, draw, identity, times, count)
        choices: list[dict[str, Any]] = []
        tokens = 0
        for index, seed in enumerate(seeds):
            text = reading.say(f"{reading.model}|{reading.messages}|{seed}")
            choice = _choice(index, text, reading.tool, fault, legacy="functions" in request)
            if reading.weigh is not None:
                choice["logprobs"] = reading.weigh(choice["message"]["content"] or "")
            tokens += len(text) // 4 + 1 + reading.thoughts
            choices.append(choice)
        return {
            "id": f"chatcmpl-{identity.hex()}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": reading.model,
            "system_fingerprint": "fp_simulated_1",
            "choices": choices,
            "usage": {
                "prompt_tokens": reading.prompt_tokens,
                "completion_tokens": tokens,
                "total_tokens": reading.prompt_tokens + tokens,
                "completion_tokens_details": {"reasoning_tokens": count * reading.thoughts},
            },
        }

    def _parse_request(self, request: dict[str, Any], faults: Faults) -> _ParsedRequest:
        """What the request asks, and the chances of each verdict; remembered."""
        temperature = request.get("temperature")
        if temperature is not None and (
            isinstance(temperature, bool)
            or not isinstance(temperature, int | float)
            or not 0 <= temperature <= 2
        ):
            raise RefusedError(400, "temperature must be a number of 0-2", param="temperature")
        temperature = None if faults.ignore_temperature else temperature
        settings = replies.heeded(request)
        fixed = [
            request.get("model"),
            temperature,
            *(request.get(name) for name in ("messages", "response_format", "tools")),
            *([request["functions"]] if "functions" in request else []),
            faults.ignore_schema,
            settings,
            *([request.get("top_logprobs")] if request.get("logprobs") else []),
        ]
        key = hashlib.blake2b(json.dumps(fixed).encode(), digest_size=16).digest()
        reading = self._known.get(key)
        if reading is not None:
            self._known.move_to_end(key)
            return reading
        model = _model(request)
        messages = request.get("messages")
        length = len(json.dumps(messages))
        text = json.dumps([temperature, messages, *([settings] if settings else [])])
        factor, thoughts = replies.effort_of(settings)
        heat = temperature
        if factor != 1:
            heat = factor * (1.0 if temperature is None else temperature)
        chances: replies.Distribution = ((), ())  # of verdicts, before temperature
        if model in replies.simulated_answerers():
            tool, answerer = "", replies.simulated_answerer(model)
            question = last_question(messages)
            say = partial(replies.answer_text, answerer, question, heat)
        else:
            judge, asked = truth(model), read_request(request, schema=not faults.ignore_schema)
            hot = replies.cut_to(replies.distribution(judge, asked, heat), settings)
            tool, say = asked.tool, partial(replies.reply_text, judge, asked, hot)
            chances = replies.distribution(judge, asked, None)
        reading = _ParsedRequest(
            model=model,
            say=say,
            tool=tool,
            messages=hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
            prompt_tokens=length // 4 + 8,
            thoughts=thoughts,
            weigh=replies.weigher(chances, request) if request.get("logprobs") else None,
        )
        self._known[key] = reading
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return reading


def _model(request: Mapping[str, Any]) -> str:
    name = request.get("model")
    models = (*simulated_judges(), *replies.simulated_answerers())
    if not isinstance(name, str) or name not in models:
        names = ", ".join(models)
        raise RefusedError(
            404,
            f"The model {str(name)[:60]!r} does not exist. There are: {names}.",
            param="model",
            code="model_not_found",
        )
    if not isinstance(request.get("messages"), list) or not request["messages"]:
        raise RefusedError(
            400, "'messages' must be a list of at least one message", param="messages"
        )
    return name


def _seeds(
    request: Mapping[str, Any], draw: bytes, identity: bytes, times: int, count: int
) -> list[str]:
    """What each choice's draw depends on, besides judge, messages and temperature."""
    if draw:
        parts = draw.decode("latin-1").split(":")
        replicates = parts[2].split(",") if len(parts) == 3 else []
        if len(replicates) < count:
            raise RefusedError(
                400, "X-Judgestats-Draw: expected seed:group:replicates, one a choice"
            )
        return [f"{parts[0]}:{parts[1]}:{replicates[i]}" for i in range(count)]
    seed = request.get("seed")
    if seed is not None:
        return [f"seed {seed} {i}" for i in range(count)]
    return [f"{identity.hex()} {times} {i}" for i in range(count)]


def _choice(
    index: int, text: str, tool: str, fault: str, *, legacy: bool = False
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    finish = "stop"
    if fault == "refusal":
        message["content"], message["refusal"] = None, "I'm sorry, but I can't help with that."
    elif fault == "filtered":
        message["content"], finish = "", "content_filter"
    elif fault == "cut_off":
        message["content"], finish = text[: len(text) // 2], "length"
    elif tool:
        message["content"] = None
        function = {"name": tool, "arguments": text}
        call = {"id": f"call_{index}", "type": "function", "function": function}
        message |= {"function_call": function} if legacy else {"tool_calls": [call]}
    return {"index": index, "message": message, "finish_reason": finish, "logprobs": None}


_COUNTED = 1_000_000
_DRAW = b"x-judgestats-draw"
_FAULTS = b"x-judgestats-faults"


class SimulatedServer:
    """The ASGI application.

    Parameters
    ----------
    faults : Faults, optional
        How it misbehaves. A request's header ``X-Judgestats-Faults`` overrules it.

    Attributes
    ----------
    received, answered : int
        Requests received and answered with a verdict or a billed reply.
    billed_tokens : int
        Tokens of all replies that a provider would have billed.
    """

    def __init__(self, faults: Faults | None = None) -> None:
        self.faults = faults or Faults()
        self.received = 0
        self.answered = 0
        self.billed_tokens = 0
        self.in_flight = 0
        self.peak_in_flight = 0
        self._completions = Completions()
        self._times: OrderedDict[bytes, int] = OrderedDict()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        path, method = scope["path"].rstrip("/"), scope["method"]
        if method == "GET" and path.endswith("/models"):
            if not _key_accepted(self.faults, dict(scope["headers"])):
                await send_json(send, 401, error("Incorrect API key provided."))
                return
            data = [
                {"id": n, "object": "model", "owned_by": "judgestats"}
                for n in (*simulated_judges(), *replies.simulated_answerers())
            ]
            await send_json(send, 200, {"object": "list", "data": data})
            return
        if method != "POST" or not path.endswith("/completions"):
            message = f"unknown path: {method} {path[:60]}; there is POST /v1/chat/completions"
            await send_json(send, 404, error(message, code="not_found"))
            return
        self.received += 1
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        try:
            await self._complete(scope, receive, send, self.faults)
        except RefusedError as refused:
            value = error(refused.message, param=refused.param, code=refused.code)
            await send_json(send, refused.status, value)
        finally:
            self.in_flight -= 1

    # ------------------------------------------------------------------ one request

    async def _complete(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send, faults: Faults
    ) -> None:
        headers = dict(scope["headers"])
        body = await read_body(receive)
        if _FAULTS in headers:
            try:
                faults = Faults.parse(headers[_FAULTS].decode("latin-1"))
            except InputError as wrong:
                raise RefusedError(400, str(wrong)) from None
        if not _key_accepted(faults, headers):
            raise RefusedError(401, "Incorrect API key provided.", code="invalid_api_key")
        try:
            request = decode_json(body)
        except ValueError:
            raise RefusedError(400, "the body is not JSON") from None
        if not isinstance(request, dict):
            raise RefusedError(400, "the body is not a JSON object")
        raw = not scope["path"].rstrip("/").endswith("/chat/completions")
        if raw:
            request = {**request, "messages": [{"role": "user", "content": request.get("prompt")}]}
        draw = headers.get(_DRAW, b"")
        identity = hashlib.blake2b(body + b"|" + draw, digest_size=12).digest()
        times = self._count(identity)
        delay = faults.delay(identity.hex(), times)
        fault = faults.befalling(identity.hex(), times) if faults.random else ""
        if fault == "stalled":
            delay += faults.stall_s
        if faults.capacity and self.in_flight > faults.capacity:
            fault = "rate_limited"
        if delay > 0 and fault not in {"rate_limited", "rate_limited_silent"}:
            await asyncio.sleep(delay)
        if await misbehaved(fault, faults, send):
            return
        _refuse(faults, request)
        reply = self._completions.reply(
            request, draw, identity=identity, times=times, fault=fault, faults=faults
        )
        if raw:
            reply["object"] = "text_completion"
            for choice in reply["choices"]:
                choice["text"] = choice.pop("message")["content"] or ""
        self.answered += 1
        self.billed_tokens += reply["usage"]["total_tokens"]
        encoded = json.dumps(reply).encode()
        if fault == "truncated_json":
            encoded = encoded[: len(encoded) // 2]
        await send_bytes(send, 200, encoded, extra=self._quota_headers(faults))

    def _quota_headers(self, faults: Faults) -> list[tuple[bytes, bytes]]:
        if not faults.quota_headers:
            return []
        left = max(0, faults.capacity - self.in_flight) if faults.capacity else 1000
        return [
            (b"x-ratelimit-limit-requests", str(faults.capacity or 1000).encode()),
            (b"x-ratelimit-remaining-requests", str(left).encode()),
            (b"x-ratelimit-reset-requests", b"20ms"),
        ]

    def _count(self, identity: bytes) -> int:
        """How many times this very request came before; the oldest are forgotten in the end."""
        times = self._times.get(identity, 0)
        self._times[identity] = times + 1
        if len(self._times) > _COUNTED:
            self._times.popitem(last=False)
        return times


def _key_accepted(faults: Faults, headers: Mapping[bytes, bytes]) -> bool:
    sent = headers.get(b"authorization", b"").decode("latin-1")
    return not faults.require_key or sent == f"Bearer {faults.require_key}"


def _refuse(faults: Faults, request: Mapping[str, Any]) -> None:
    """Refuse what this server is configured not to support, in OpenAI's words where it has them."""
    temperature = request.get("temperature")
    if faults.refuse_temperature and temperature not in {None, 1}:
        raise RefusedError(
            400,
            f"Unsupported value: 'temperature' does not support {temperature} with this model. "
            "Only the default (1) value is supported.",
            param="temperature",
            code="unsupported_value",
        )
    if faults.refuse_n and request.get("n", 1) != 1:
        raise RefusedError(400, "Only n = 1 is supported", param="n", code="unsupported_value")
    if faults.refuse_seed and request.get("seed") is not None:
        raise RefusedError(
            400, "Unsupported parameter: 'seed'", param="seed", code="unsupported_parameter"
        )
    if faults.refuse_field and request.get(faults.refuse_field) is not None:
        raise RefusedError(400, f"Unrecognized request argument supplied: {faults.refuse_field}")
    if faults.refuse_schema and request.get("response_format") is not None:
        raise RefusedError(
            400,
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this "
            "model.",
            param="response_format",
        )
    if faults.refuse_tools and request.get("tools"):
        raise RefusedError(400, "this model does not support tools")


_START_S = 20.0


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InputError(f"simulate: expected a port of 0-65535 (0 = any free one), got {port}.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InputError(
            f"simulate: {host}:{port} cannot be used ({error.strerror}). Name another port, or 0 "
            "for any free one."
        ) from None
    listener.listen(2048)
    return listener


def _config(app: SimulatedServer) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        backlog=2048,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )


def serve(port: int = 0, *, host: str = "127.0.0.1", faults: Faults | None = None) -> None:
    """Serve the simulated judges until interrupted; prints the base URL.

    Parameters
    ----------
    port : int
        0 = any free one.
    host : str
        Loopback unless told otherwise: the server asks for no key.
    faults : Faults, optional

    Raises
    ------
    InputError
        Where the port cannot be used.
    """
    with _bound(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listener.getsockname()[1]}/v1"
        emit(f"Simulated judges at {url} (Ctrl-C ends).\n")
        server = uvicorn.Server(_config(SimulatedServer(faults)))
        asyncio.run(server.serve(sockets=[listener]))


@contextmanager
def run_server(app: SimulatedServer | None = None, *, port: int = 0) -> Iterator[str]:
    """A simulated server on loopback in a thread of this process, as a context manager.

    Yields
    ------
    str
        Its base URL.

    Examples
    --------
    >>> with run_server() as url:
    ...     url.startswith("http://127.0.0.1:")
    True
    """
    with _bound("127.0.0.1", port) as listener:
        server = uvicorn.Server(_config(app or SimulatedServer()))
        thread = Thread(
            target=server.run,
            kwargs={"sockets": [listener]},
            name="judgestats-simulated",
            daemon=True,
        )
        thread.start()
        waited = 0.0
        while not server.started:
            if not thread.is_alive() or waited > _START_S:
                raise JudgeError("simulate: the server did not start.")
            thread.join(0.005)
            waited += 0.005
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            thread.join(_START_S)
