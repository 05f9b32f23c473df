"""Requests of judgments, and bounds of their tokens."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judgestats.collection.response import Abilities, SentRequest
from judgestats.collection.spec import CHAT, JudgeSpec
from judgestats.data.columns import Condition, Task, placed
from judgestats.protocols.base import Prompted, ReplyMode
from judgestats.protocols.replies.weighted import TOP

DRAW_HEADER = "X-Judgestats-Draw"
"""States the repeats of a request, so that the draws of a simulated judge are reproducible."""

_KEY_VERSION = 1
TURNS = "\n\n"
"""Between messages that a raw text completion is asked for as one text."""
_STAGE_STEP = 10_007
"""Between the seeds of two votes: more than anyone replicates."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Settings of every request of a collection.

    Attributes
    ----------
    seed : int or None
        A request for replication r carries ``seed + r`` (its first replication, if several choices
        are asked for). None sends no seed.
    choices : int
        Choices asked for in one request (``n``).
    settings : mapping of field to value
        Further fields of every request, by their names in `judgestats.data.columns.FIELDS`;
        what a condition varies takes precedence over them. One that the endpoint refuses is left
        out.
    """

    seed: int | None = None
    choices: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)

    def merge_settings(self, spec: JudgeSpec, condition: Condition) -> dict[str, Any]:
        """All settings that a judge is asked with under a condition; None leaves a field out."""
        return {**self.settings, **spec.settings, **condition.request}


class Encoded:
    """A prompt as JSON, encoded once for the key and for every body that carries it.

    Parameters
    ----------
    prompted : Prompted
    """

    __slots__ = ("contents", "form", "messages", "mode")

    def __init__(self, prompted: Prompted) -> None:
        self.mode = prompted.mode
        self.contents = tuple(m["content"] for m in prompted.messages)
        self.messages = _json(prompted.messages)
        self.form = _form(prompted)

    @property
    def size(self) -> int:
        """Bytes of the prompt as it is sent: no tokenizer makes more tokens of it."""
        return len(self.messages) + len(self.form)


def _form(prompted: Prompted) -> str:
    """The body's members that ask for the reply's form, with a leading comma; empty for text."""
    schema = prompted.schema
    if prompted.mode is ReplyMode.LOGPROBS:
        return f',"logprobs":true,"top_logprobs":{TOP}'
    if schema is None or prompted.mode is ReplyMode.TEXT:
        return ""
    if prompted.mode is ReplyMode.JSON_SCHEMA:
        asked = {"name": schema.name, "strict": True, "schema": schema.schema}
        return ',"response_format":' + _json({"type": "json_schema", "json_schema": asked})
    function = {
        "name": schema.name, "description": schema.description, "parameters": schema.schema
    }  # fmt: skip
    if prompted.mode is ReplyMode.FUNCTION:
        functions = _json(prompted.functions or [function])
        return f',"functions":{functions},"function_call":{_json({"name": schema.name})}'
    choice = {"type": "function", "function": {"name": schema.name}}
    tools = _json([{"type": "function", "function": function}])
    return f',"tools":{tools},"tool_choice":{_json(choice)}'


# ASCII escapes carry any text, lone surrogates included
_json = json.JSONEncoder(separators=(",", ":"), default=dict).encode


def judgment_keys(
    spec: JudgeSpec, tasks: Sequence[Task], encoded: Encoded, sampling: Sampling
) -> list[bytes]:
    """The keys (SHA-256) of tasks that differ only in their replicate.

    A key holds the endpoint, the model, the headers and query that a file gives it, the messages,
    the parameters as requested, the reply mode and schema, and what makes one judgment another:
    item, order, stage, further factors and the replicate. Without the replicate, repeated judging
    would be answered once and copied; without the factors, two conditions that happen to ask alike
    would share their answers.
    """
    first = tasks[0]
    settings = sampling.merge_settings(spec, first.condition)
    rest = _json(
        [
            _KEY_VERSION,
            spec.base_url,
            spec.model,
            encoded.mode.value,
            settings.pop("temperature"),
            sampling.seed,
            sampling.choices,
            settings.pop("max_tokens", None),
            sorted(first.condition.factors.items()),
            first.item_id,
            first.order,
            first.stage,
            *(part for pair in sorted(settings.items()) if pair[1] is not None for part in pair),
            *([sorted(spec.written.items())] if spec.written else ()),
            *([spec.wire] if spec.wire != CHAT else ()),
        ]
    )
    base = hashlib.sha256(f"{encoded.messages}{encoded.form}{rest}".encode())
    keys = []
    for task in tasks:
        one = base.copy()
        one.update(b"|%d" % task.replicate)
        keys.append(one.digest())
    return keys


class Ready:
    """A group's prompt in one reply mode, with its encoded form and its judgments' keys."""

    __slots__ = ("encoded", "keys", "prompted", "requested")

    def __init__(
        self, spec: JudgeSpec, tasks: Sequence[Task], prompted: Prompted, sampling: Sampling
    ) -> None:
        self.prompted = prompted
        self.encoded = Encoded(prompted)
        keys = judgment_keys(spec, tasks, self.encoded, sampling)
        self.requested = requested_of(spec, tasks[0], sampling)
        self.keys = {t.replicate: k for t, k in zip(tasks, keys, strict=True)}


def requested_of(spec: JudgeSpec, task: Task, sampling: Sampling) -> str:
    """The settings of a request besides its prompt, as the frame keeps them."""
    settings = sampling.merge_settings(spec, task.condition)
    if sampling.seed is not None:
        settings["seed"] = sampling.seed
    return _json({name: value for name, value in settings.items() if value is not None})


def draw_header(tasks: Sequence[Task], sampling: Sampling) -> str:
    """Seed, group and replicates, such as ``0:9f86d081884c:3,4``: what a simulated draw depends on.

    The group stands for item, order, stage and further factors; the server adds messages and
    temperature itself. The draws depend neither on the order of requests nor on how replications
    are bundled into requests.
    """
    first = tasks[0]
    group = json.dumps(
        [first.item_id, first.order, first.stage, sorted(first.condition.factors.items())]
    )
    digest = hashlib.sha256(group.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{sampling.seed or 0}:{digest}:{','.join(str(t.replicate) for t in tasks)}"


def seed_step(task: Task) -> int:
    """What is added to the seed: with the same one, repeated votes on a pair would be copies."""
    number = task.stage.rpartition("-")[2]
    return task.replicate + _STAGE_STEP * (int(number) - 1 if number.isdigit() else 0)


def sent_of(
    spec: JudgeSpec,
    condition: Condition,
    mode: ReplyMode,
    sampling: Sampling,
    abilities: Abilities,
    *,
    choices: int,
    draw: int,
) -> SentRequest:
    """The request as sent, without fields that the endpoint refused before."""
    settings = {
        name: value
        for name, value in sampling.merge_settings(spec, condition).items()
        if value is not None and (name in condition.request or name not in abilities.left_out)
    }
    seed = sampling.seed if abilities.seed else None
    return SentRequest(
        mode=mode,
        settings=settings,
        varied=frozenset(condition.request),
        seed=None if seed is None else seed + draw,
        choices=choices,
        max_tokens_name=abilities.max_tokens_name,
    )


def request_body(spec: JudgeSpec, encoded: Encoded, sent: SentRequest) -> bytes:
    """The body as JSON."""
    parameters: dict[str, Any] = {"model": spec.model}
    parameters |= placed(sent.settings, max_tokens=sent.max_tokens_name)
    if sent.seed is not None:
        parameters["seed"] = sent.seed
    if sent.choices > 1:
        parameters["n"] = sent.choices
    head = _json(parameters)[:-1]
    if spec.wire != CHAT:
        return f'{head},"prompt":{_json(TURNS.join(encoded.contents))}}}'.encode()
    return f'{head},"messages":{encoded.messages}{encoded.form}}}'.encode()


_FLOOR_BYTES = 16
"""Bytes of a token, at most, once runs of one character are one."""
_ASCII_BYTES = 4
_OTHER_BYTES = 2
"""Bytes of a token in texts that are mostly ASCII, and in others: for an estimate."""
_CEILING = 64
_UNSEEN = 4_096
_CONTEXT = 2_000_000
"""Tokens of the longest context: reasoning that is billed without being shown stays below."""
FRAME_TOKENS = 400
"""Tokens that providers add to a prompt: the chat's frame, the description of tools."""
_RUN = re.compile(r"(.)\1+", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class TextSize:
    """The length of what was sent, or of what came back.

    Attributes
    ----------
    characters, bytes : int
        Bytes as UTF-8.
    collapsed : int
        Bytes where every run of one character is one: tokenizers merge long runs.
    ascii : int
        Bytes that are ASCII.
    sent : int
        Of a prompt: bytes with everything that is sent along, such as the schema of the reply.

    Examples
    --------
    >>> size = TextSize.from_texts(["fine " * 1000])
    >>> size.floor, size.estimate, size.allows(1250), size.allows(0)
    (313, 1250, True, False)
    """

    characters: int = 0
    bytes: int = 0
    collapsed: int = 0
    ascii: int = 0
    sent: int = 0

    @classmethod
    def from_texts(cls, texts: Iterable[str], *, sent: int = 0) -> TextSize:
        """The size of texts together; of a prompt's, of which this many bytes are sent."""
        whole = "".join(texts)
        n = len(whole)
        if whole.isascii():
            codes = np.frombuffer(whole.encode(), np.uint8)
            runs = min(n, 1) + int(np.count_nonzero(codes[1:] != codes[:-1]))
            return cls(characters=n, bytes=n, collapsed=runs, ascii=n, sent=sent)
        return cls(
            characters=n,
            bytes=_bytes(whole),
            collapsed=_bytes(_RUN.sub(r"\1", whole)),
            ascii=sum(map(str.isascii, whole)),
            sent=sent,
        )

    @classmethod
    def from_messages(cls, messages: Iterable[Mapping[str, str]], *, sent: int) -> TextSize:
        """The size of a prompt's messages, of which this many bytes are sent."""
        texts = (str(message.get("content", "")) for message in messages)
        return cls.from_texts(texts, sent=sent)

    @property
    def floor(self) -> int:
        """The fewest tokens that an honest server reports."""
        return math.ceil(self.collapsed / _FLOOR_BYTES)

    @property
    def estimate(self) -> int:
        """Expected tokens; of a prompt by everything that is sent, with the chat frame."""
        if self.sent:  # as JSON, which is ASCII
            return math.ceil(self.sent / _ASCII_BYTES) + FRAME_TOKENS
        each = _ASCII_BYTES if 2 * self.ascii >= self.bytes else _OTHER_BYTES
        return math.ceil(self.bytes / each)

    def allows(self, tokens: int) -> bool:
        """Whether a report of this many tokens is possible."""
        return self.floor <= tokens <= max(_CEILING * self.bytes + _UNSEEN, _CONTEXT)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
