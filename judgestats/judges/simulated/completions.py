"""What the simulated server replies to a chat completion request.

Where a draw comes from. With the header ``X-Judgestats-Draw: seed:group:replicates`` (judgestats
sends it to simulated judges) a reply hangs on judge, messages, temperature, seed, group and
replicate alone: a whole run repeats to the bit in whatever order its requests arrive, and however
replications are bundled into requests. Other clients: with ``seed`` in the request, the same
request gives the same reply, as OpenAI's seed does; without, repeated identical requests are
numbered, and differ.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from judgestats.judges.simulated.answerers import (
    answer_text,
    simulated_answerer,
    simulated_answerers,
)
from judgestats.judges.simulated.faults import Faults
from judgestats.judges.simulated.judges import simulated_judges
from judgestats.judges.simulated.replies import Distribution, distribution, reply_text
from judgestats.judges.simulated.request_reader import asked_question, read_request
from judgestats.judges.simulated.sampling import cut_to, effort_of, heeded, weigher
from judgestats.judges.simulated.truth import truth
from judgestats.judges.simulated.wire import RefusedError

_MAX_CHOICES = 128
_REMEMBERED = 2048


@dataclass(frozen=True, slots=True)
class _Known:
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
        self._known: OrderedDict[bytes, _Known] = OrderedDict()

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
        reading = self._read(request, faults)
        seeds = _seeds(request, draw, identity, times, count)
        choices: list[dict[str, Any]] = []
        tokens = 0
        for index in range(count):
            text = reading.say(f"{reading.model}|{reading.messages}|{seeds[index]}")
            choice = _choice(index, text, reading.tool, fault)
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

    def _read(self, request: dict[str, Any], faults: Faults) -> _Known:
        """What the request asks, and the chances of each verdict; remembered."""
        temperature = request.get("temperature")
        if temperature is not None and (
            isinstance(temperature, bool)
            or not isinstance(temperature, int | float)
            or not 0 <= temperature <= 2
        ):
            raise RefusedError(400, "temperature must be a number of 0-2", param="temperature")
        temperature = None if faults.ignore_temperature else temperature
        settings = heeded(request)
        fixed = [
            request.get("model"),
            temperature,
            request.get("messages"),
            request.get("response_format"),
            request.get("tools"),
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
        factor, thoughts = effort_of(settings)
        heat = temperature
        if factor != 1:
            heat = factor * (1.0 if temperature is None else temperature)
        say, tool, chances = _speaker(
            model, request, heat, settings, schema=not faults.ignore_schema
        )
        reading = _Known(
            model=model,
            say=say,
            tool=tool,
            messages=hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
            prompt_tokens=length // 4 + 8,
            thoughts=thoughts,
            weigh=weigher(chances, request) if request.get("logprobs") else None,
        )
        self._known[key] = reading
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return reading


def _model(request: Mapping[str, Any]) -> str:
    name = request.get("model")
    models = (*simulated_judges(), *simulated_answerers())
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


def _speaker(
    model: str,
    request: Mapping[str, Any],
    temperature: float | None,
    settings: Mapping[str, Any],
    *,
    schema: bool,
) -> tuple[Callable[[str], str], str, Distribution]:
    """What gives the reply's text for a draw, the tool that is called (empty if none), and the
    chances of its verdicts before temperature.
    """
    if model in simulated_answerers():

        def say(seed: str) -> str:
            return answer_text(
                simulated_answerer(model),
                asked_question(request.get("messages")),
                temperature=temperature,
                seed=seed,
            )

        return say, "", ((), ())
    judge = truth(model)
    asked = read_request(request, schema=schema)
    chances = cut_to(distribution(judge, asked, temperature), settings)
    say_verdict = partial(reply_text, judge, asked, chances)
    return say_verdict, asked.tool, distribution(judge, asked, None)


def _seeds(
    request: Mapping[str, Any], draw: bytes, identity: bytes, times: int, count: int
) -> list[str]:
    """What each choice's draw hangs on, besides judge, messages and temperature."""
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


def _choice(index: int, text: str, tool: str, fault: str) -> dict[str, Any]:
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
        message["tool_calls"] = [{"id": f"call_{index}", "type": "function", "function": function}]
    return {"index": index, "message": message, "finish_reason": finish, "logprobs": None}
