"""What an endpoint does for a model: honours, ignores or refuses, seen in seventeen short calls."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx2
import openai

from judgestats.collection.app_client import AsgiApp
from judgestats.collection.client import JudgeClient
from judgestats.collection.endpoint import why_fatal
from judgestats.collection.prices import PriceTable, charged, default_prices
from judgestats.collection.request import TextSize
from judgestats.collection.response import json_object, read_reply
from judgestats.collection.retry import Kind, Outcome, one_line
from judgestats.collection.spec import JudgeSpec
from judgestats.data.columns import placed
from judgestats.errors import InputError, JudgeError
from judgestats.files.text import decode_json
from judgestats.protocols.replies import log_probability

_PROMPT = (
    "Rate the answer from 1 to 10, then give your reason in one sentence.\n[Question]\nWhat is 2 "
    "plus 3?\n[The Start of Answer]\nIt is 5, I think.\n[The End of Answer]"
)
_SCHEMA = {
    "type": "object",
    "properties": {"explanation": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["explanation", "score"],
    "additionalProperties": False,
}
_BOUND = 300
_REPEATS = 3
_CERTAIN = 0.05
_SAME_LOGPROB = 0.2
"""Two calls differ a little on some hardware; a temperature of 1.5 for .5 divides by three."""
_RARE = -8.0
_FUNCTION = {"name": "submit_score", "description": "Give the verdict.", "parameters": _SCHEMA}
_FEATURES: Mapping[str, dict[str, Any]] = {
    "json_schema": {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "submit_score", "strict": True, "schema": _SCHEMA},
        }
    },
    "tools": {
        "tools": [{"type": "function", "function": _FUNCTION}],
        "tool_choice": {"type": "function", "function": {"name": "submit_score"}},
    },
    "n": {"n": 2},
    "logprobs": {"logprobs": True, "top_logprobs": 2},
}


@dataclass(frozen=True, kw_only=True)
class EndpointCard:
    """What was seen of a model at an endpoint on a day.

    Attributes
    ----------
    model, base_url, model_reported, asked_at : str
    features : dict of str to str
        ``honoured``, ``ignored``, or ``refused (words)`` of json_schema, tools, n, logprobs. For
        seed and temperature: whether an effect was seen. ``cannot be told (words)`` where no reply
        came in time.
    repeats_at_0 : int
        How many of three replies at temperature 0 were the commonest one; 0 where it was refused.
    tokens : dict of str to int or None
        Of the first reply: in, out, cached, reasoning.
    rate_limits : dict of str to str
        Headers, as they came.
    latency_s : float
        Of the median call.
    calls : int
    cost_usd : float or None
        None where the price is unknown.
    """

    model: str
    base_url: str
    model_reported: str
    asked_at: str
    features: dict[str, str]
    repeats_at_0: int
    tokens: dict[str, int | None]
    rate_limits: dict[str, str] = field(default_factory=dict)
    latency_s: float
    calls: int
    cost_usd: float | None

    def as_dict(self) -> dict[str, Any]:
        """All of it, for a file."""
        return asdict(self)

    def to_json(self) -> str:
        """As a file keeps it."""
        return json.dumps(self.as_dict(), indent=2, allow_nan=False) + "\n"

    def changes(self, earlier: Mapping[str, Any]) -> list[str]:
        """What an earlier card of the same model said otherwise, one line each."""
        now = self.as_dict()
        lines = [
            f"{name}: {before} on {earlier.get('asked_at', '?')[:10]}, now {now['features'][name]}"
            for name, before in earlier.get("features", {}).items()
            if name in now["features"] and now["features"][name] != before
        ]
        for name in ("model_reported", "repeats_at_0"):
            if earlier.get(name) != now[name]:
                lines.append(f"{name}: {earlier.get(name)} before, now {now[name]}")
        return lines

    def __str__(self) -> str:
        rows = [*self.features.items(), ("T = 0 repeats", f"{self.repeats_at_0} of {_REPEATS}")]
        counts = (f"{n} {'?' if v is None else v}" for n, v in self.tokens.items())
        rows.append(("tokens", ", ".join(counts)))
        limits = ", ".join(f"{n} {v}" for n, v in self.rate_limits.items()) or "no headers"
        price = "unknown" if self.cost_usd is None else f"${self.cost_usd:.5f}"
        rows += [("rate limits", limits), ("latency", f"{self.latency_s:.2f} s")]
        rows.append(("price", f"{price} for these {self.calls} calls"))
        width = max(len(name) for name, _ in rows)
        head = f"{self.model} at {self.base_url} (reports {self.model_reported or 'no name'})"
        return "\n".join([head, *(f"  {name:<{width}}  {value}" for name, value in rows)])


class _Calls:
    """Sends short requests, one after the other, and remembers what they took."""

    def __init__(self, client: JudgeClient, spec: JudgeSpec, timeout_s: float) -> None:
        self._client, self._spec, self._timeout_s = client, spec, timeout_s
        self.bound = "max_completion_tokens"
        self.outcomes: list[Outcome] = []
        self.headers: dict[str, str] = {}

    async def send(self, **fields: Any) -> tuple[Outcome, dict[str, Any]]:
        """One request's outcome, and its reply as it came."""
        body = {
            "model": self._spec.model,
            "messages": [{"role": "user", "content": _PROMPT}],
            **placed(self._spec.settings, max_tokens=self.bound),
            self.bound: _BOUND,
            **fields,
        }
        started, raw = time.perf_counter(), b""
        try:
            reply = await self._client.sdk.post(
                "/chat/completions", body=body, cast_to=httpx2.Response
            )
            raw, headers = reply.content, dict(reply.headers)
            outcome = read_reply(raw, headers, time.perf_counter() - started)
        except openai.APITimeoutError:
            why = f"no reply within {self._timeout_s:g} s; --timeout allows more"
            headers, outcome = {}, Outcome(kind=Kind.TIMED_OUT, detail=why)
        except (openai.APIStatusError, openai.APIConnectionError) as error:
            headers = (
                dict(error.response.headers) if isinstance(error, openai.APIStatusError) else {}
            )
            outcome = self._client.failure(error, started)
        self.outcomes.append(outcome)
        self.headers |= {
            one_line(name)[:60]: one_line(value)[:40]
            for name, value in headers.items()
            if "ratelimit" in name
        }
        value = decode_json(raw, keep_last=True) if outcome.kind is Kind.ANSWERED else {}
        return outcome, value


async def examined(
    spec: JudgeSpec,
    *,
    prices: PriceTable | None = None,
    timeout_s: float = 60.0,
    app: AsgiApp | None = None,
) -> EndpointCard:
    """Ask an endpoint what it does for a model: some seventeen calls of some 300 tokens at most.

    Parameters
    ----------
    spec : JudgeSpec
    prices : PriceTable, optional
    timeout_s : float
    app : ASGI application, optional
        Asked in process.

    Returns
    -------
    EndpointCard

    Raises
    ------
    InputError
        The time limit is invalid.
    JudgeError
        The first call came to nothing; it says why.
    """
    _check_limit(timeout_s)
    async with JudgeClient(spec, connections=2, timeout_s=timeout_s, app=app) as client:
        calls = _Calls(client, spec, timeout_s)
        first = await _first(calls, spec)
        features = {name: await _feature(calls, name) for name in _FEATURES}
        when = await _when(calls) if features["logprobs"] == "honoured" else ""
        asked = len(calls.outcomes)
        cold = await _texts(calls, temperature=0)
        hot = await _texts(calls, temperature=1)
        seeded = await _texts(calls, temperature=1, seed=7)
    late = [o.detail for o in calls.outcomes[asked:] if o.kind is Kind.TIMED_OUT]
    untold = f"cannot be determined ({late[0]})" if late else ""
    varies = len(set(hot)) > 1
    seed = ("honoured" if len(set(seeded)) == 1 else "ignored") if seeded else "refused"
    if seeded and not varies:
        seed = "cannot be determined (replies do not vary without it)"
    features["seed"] = untold or seed
    features["temperature"] = untold or _temperature(cold, hot)
    features["logprobs"] += when
    price = (prices or default_prices()).price(spec)
    answered = [o for o in calls.outcomes if o.kind is Kind.ANSWERED]
    costs = [charged(o, price, TextSize(), hold=0.0, bound=None).cost for o in answered]
    latencies = sorted(o.latency_s for o in answered)
    return EndpointCard(
        model=spec.model,
        base_url=spec.base_url,
        model_reported=first.model,
        asked_at=datetime.now(UTC).isoformat(timespec="seconds"),
        features=features,
        repeats_at_0=max((cold.count(text) for text in cold), default=0),
        tokens={
            name: getattr(first, f"tokens_{name}") for name in ("in", "out", "cached", "reasoning")
        },
        rate_limits=calls.headers,
        latency_s=latencies[len(latencies) // 2],
        calls=len(calls.outcomes),
        cost_usd=sum(costs) if price.is_known and not any(map(math.isnan, costs)) else None,
    )


async def first_answer(spec: JudgeSpec, *, timeout_s: float) -> str:
    """One call, for a look: what came, in a few words.

    Raises
    ------
    InputError
        The time limit is invalid.
    JudgeError
        No answer came; it says why.
    """
    _check_limit(timeout_s)
    async with JudgeClient(spec, connections=1, timeout_s=timeout_s) as client:
        first = await _first(_Calls(client, spec, timeout_s), spec)
    return f"answers as {first.model or 'no name'} in {first.latency_s:.1f} s (one call was paid)"


def _check_limit(timeout_s: float) -> None:
    if not 0 < timeout_s < math.inf:
        raise InputError(f"--timeout is a number of seconds above 0, got {timeout_s:g}.")


async def _first(calls: _Calls, spec: JudgeSpec) -> Outcome:
    first, _ = await calls.send()
    if first.about == "max_tokens":
        calls.bound = "max_tokens"
        first, _ = await calls.send()
    if first.kind is Kind.ANSWERED:
        return first
    why = why_fatal(spec, first)
    kind = first.kind.value.replace("_", " ")
    raise JudgeError(why or f"judge {spec.name!r}: {spec.base_url}: {kind} ({first.detail}).")


async def _feature(calls: _Calls, name: str) -> str:
    outcome, reply = await calls.send(**_FEATURES[name])
    if outcome.kind is Kind.TIMED_OUT:
        return f"cannot be determined ({outcome.detail})"
    if outcome.kind is not Kind.ANSWERED:
        return f"refused ({outcome.detail[:80]})"
    if name == "n":
        honoured = len(outcome.choices) == _FEATURES["n"]["n"]
    elif name == "logprobs":
        honoured = bool(_logprobs(reply))
    else:
        verdicts = [json_object(choice.text) or {} for choice in outcome.choices]
        honoured = all(isinstance(verdict.get("score"), int) for verdict in verdicts)
    return "honoured" if honoured else "ignored"


async def _when(calls: _Calls) -> str:
    """Whether log-probabilities are of before or after temperature, by the first token."""
    seen: list[dict[str, float]] = []
    for temperature in (0.5, 1.5):
        asked = {"logprobs": True, "top_logprobs": 5, "temperature": temperature}
        outcome, reply = await calls.send(**asked)
        if outcome.kind is not Kind.ANSWERED:
            return ""
        seen.append(_uncertain(_logprobs(reply)))
    cool, hot = seen
    both = [name for name in cool if name in hot]
    if not both or max(abs(cool[name]) for name in both) < _CERTAIN:
        return ", before or after temperature cannot be determined"
    apart = max(abs(cool[name] - hot[name]) for name in both)
    return ", before temperature" if apart < _SAME_LOGPROB else ", after temperature"


def _logprobs(reply: Mapping[str, Any]) -> list[Any]:
    """The log-probabilities of a reply's first choice; none where they are of another form."""
    weighed = reply["choices"][0].get("logprobs")
    content = weighed.get("content") if isinstance(weighed, dict) else None
    return content if isinstance(content, list) else []


def _uncertain(content: list[Any]) -> dict[str, float]:
    """Log-probabilities by token and preceding text: only the same position compares."""
    values: dict[str, float] = {}
    before = ""
    for entry in content[:_BOUND]:
        top = entry.get("top_logprobs") if isinstance(entry, dict) else None
        for one in top if isinstance(top, list) else []:
            value = log_probability(one.get("logprob")) if isinstance(one, dict) else None
            if value is not None and value > _RARE:
                values[f"{before}|{one.get('token')}"] = value
        before += str(entry.get("token")) if isinstance(entry, dict) else ""
    return values


async def _texts(calls: _Calls, **fields: Any) -> list[str]:
    """Three replies; none where the first was refused."""
    texts: list[str] = []
    for _ in range(_REPEATS):
        outcome, _ = await calls.send(**fields)
        if outcome.kind is not Kind.ANSWERED:
            return []
        texts.append(outcome.choices[0].text)
    return texts


def _temperature(cold: list[str], hot: list[str]) -> str:
    if not cold and not hot:
        return "refused (give temperatures=default)"
    if not cold or not hot:
        return f"refused at {'0' if not cold else '1'}"
    if len(set(cold)) < len(set(hot)):
        return "an effect is seen (0 against 1)"
    return "no effect is seen (0 against 1): a proxy may drop it"
