"""A judgment's request: the body that is sent, and the key under which its answer is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judgestats.judges.negotiation import Abilities
from judgestats.judges.spec import JudgeSpec
from judgestats.judgments.design import Condition, Task
from judgestats.protocols.base import Prompted, ReplyMode

__all__ = [
    "DRAW_HEADER",
    "Encoded",
    "Ready",
    "Sampling",
    "draw_header",
    "judgment_keys",
    "request_body",
]

DRAW_HEADER = "X-Judgestats-Draw"
"""Tells a simulated judge which replications a request is, so that its draws repeat to the bit."""

_KEY_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """What is asked of every request of a collection.

    Attributes
    ----------
    seed : int or None
        A request for replication r carries ``seed + r`` (its first replication, if several choices
        are asked for). None sends no seed.
    choices : int
        Choices asked for in one request (``n``).
    max_tokens : int or None
        Bound of a reply, in tokens.
    top_k : int or None
        Sampling among the k likeliest tokens, where the endpoint takes it (OpenAI's does not).
    """

    seed: int | None = None
    choices: int = 1
    max_tokens: int | None = None
    top_k: int | None = None


class Encoded:
    """A prompt as JSON, encoded once for the key and for every body that carries it.

    Parameters
    ----------
    prompted : Prompted
    """

    __slots__ = ("form", "messages", "mode")

    def __init__(self, prompted: Prompted) -> None:
        self.mode = prompted.mode
        self.messages = _json(prompted.messages)
        self.form = _form(prompted)


def _form(prompted: Prompted) -> str:
    """The body's members that ask for the reply's form, with a leading comma; empty for text."""
    schema = prompted.schema
    if schema is None or prompted.mode is ReplyMode.TEXT:
        return ""
    if prompted.mode is ReplyMode.JSON_SCHEMA:
        asked = {"name": schema.name, "strict": True, "schema": schema.schema}
        return ',"response_format":' + _json({"type": "json_schema", "json_schema": asked})
    function = {
        "name": schema.name,
        "description": schema.description,
        "parameters": schema.schema,
    }
    choice = {"type": "function", "function": {"name": schema.name}}
    tools = _json([{"type": "function", "function": function}])
    return f',"tools":{tools},"tool_choice":{_json(choice)}'


# ASCII escapes carry any text, lone surrogates included
_json = json.JSONEncoder(separators=(",", ":"), default=dict).encode


def judgment_keys(
    spec: JudgeSpec, tasks: Sequence[Task], encoded: Encoded, sampling: Sampling
) -> list[bytes]:
    """The keys (SHA-256) of tasks that differ only in their replicate.

    A key holds the endpoint, the model, the messages, the parameters as requested, the reply mode
    and schema, and what makes one judgment another: item, order, stage, further factors and the
    replicate. Without the replicate, repeated judging would be answered once and copied; without
    the factors, two conditions that happen to ask alike would share their answers.
    """
    first = tasks[0]
    rest = _json(
        [
            _KEY_VERSION,
            spec.base_url,
            spec.model,
            encoded.mode.value,
            first.condition.temperature,
            sampling.seed,
            sampling.choices,
            sampling.max_tokens,
            sorted(first.condition.factors.items()),
            first.item_id,
            first.order,
            first.stage,
            *([] if sampling.top_k is None else ["top_k", sampling.top_k]),
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

    __slots__ = ("encoded", "keys", "prompted")

    def __init__(
        self, spec: JudgeSpec, tasks: Sequence[Task], prompted: Prompted, sampling: Sampling
    ) -> None:
        self.prompted = prompted
        self.encoded = Encoded(prompted)
        keys = judgment_keys(spec, tasks, self.encoded, sampling)
        self.keys = {t.replicate: k for t, k in zip(tasks, keys, strict=True)}


def draw_header(tasks: Sequence[Task], sampling: Sampling) -> str:
    """Seed, group and replicates, such as ``0:9f86d081884c:3,4``: what a simulated draw hangs on.

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


def request_body(
    spec: JudgeSpec,
    condition: Condition,
    encoded: Encoded,
    sampling: Sampling,
    abilities: Abilities,
    *,
    choices: int,
    replicate: int,
) -> tuple[bytes, int | None]:
    """The body as JSON, and the seed sent (None where not sent)."""
    parameters: dict[str, Any] = {"model": spec.model}
    if condition.temperature is not None:
        parameters["temperature"] = condition.temperature
    seed = None
    if sampling.seed is not None and abilities.seed:
        seed = sampling.seed + replicate
        parameters["seed"] = seed
    if sampling.top_k is not None and abilities.top_k:
        parameters["top_k"] = sampling.top_k
    if choices > 1:
        parameters["n"] = choices
    if sampling.max_tokens is not None:
        parameters[abilities.max_tokens_name] = sampling.max_tokens
    head = _json(parameters)[:-1]
    return f'{head},"messages":{encoded.messages}{encoded.form}}}'.encode(), seed
