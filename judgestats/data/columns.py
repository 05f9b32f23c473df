"""Columns, conditions and tasks of the judgments frame, and the fields of a request.

A field needs one entry of `FIELDS`. From it follow reading, labels, order of levels, the body, the
journal, the subject of refusals, and parameters with their documentation. ``extra_body.NAME``
reaches other fields (dots go deeper), as in OpenAI's client.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from judgestats.errors import InputError, nearest
from judgestats.files.text import decode_json
from judgestats.protocols.base import Prompted, ReplyMode, Unit

EXTRA = "extra_body."
"""What the names of fields begin with that only some servers know."""
_SECRET = re.compile(
    r"(.*[-_])?(api[-_]?key|secret|password|passwd|credentials?|authorization|headers?)"
    r"|(auth|access|bearer|api|secret)?[-_]?token|bearer",
    re.IGNORECASE,
)
"""Names of what no record may hold."""
_OURS = {
    "model": "the judge's name",
    "messages": "the prompt",
    "seed": "seed",
    "n": "choices_per_request",
    "stream": "nothing: replies come whole",
    **dict.fromkeys(("response_format", "tools", "tool_choice", "logprobs"), "reply"),
    "max_completion_tokens": "max_tokens",
}
"""Members of the body that are not an extra, and what sets them."""


@dataclass(frozen=True, kw_only=True)
class RequestField:
    """One field of a request.

    Attributes
    ----------
    name : str
        Its name in the request.
    help : str
    symbol : str
        What it is called in a condition's label; empty for its name.
    words : tuple of str
        The values it takes, from the least to the most; empty for a number.
    low, high : float
        Bounds of a number.
    whole : bool
        Whether it is a whole number.
    """

    name: str
    help: str
    symbol: str = ""
    words: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    whole: bool = False

    def read(self, text: str) -> Any:
        """A value as a user writes it; None for ``default``, where the field is left out.

        Raises
        ------
        InputError
            A word or number that the field does not take.

        Examples
        --------
        >>> FIELDS["reasoning_effort"].read("low"), FIELDS["top_p"].read("0.9")
        ('low', 0.9)
        """
        text = text.strip()
        value: Any = text
        if text == "default":
            value = None
        elif self.name.startswith(EXTRA):
            value = _json_or_text(text)
        elif not self.words:
            try:
                value = int(text) if self.whole else float(text)
            except ValueError:
                kind = "a whole number" if self.whole else "a number"
                raise InputError(f"{self.name}: expected {kind}, got {text!r}.") from None
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Refuse a value that the field does not take.

        Raises
        ------
        InputError
        """
        if value is None or self.name.startswith(EXTRA):
            return
        if self.words:
            if value not in self.words:
                raise InputError(
                    f"{self.name}: must be one of {', '.join(self.words)}, got {value!r}."
                    f"{nearest(str(value), self.words)}"
                )
            return
        number = isinstance(value, int if self.whole else int | float) and value is not True
        if not number or not self.low <= value <= self.high:
            bounds = "at least {:g}" if self.high == math.inf else "from {:g} to {:g}"
            kind = "a whole number " if self.whole else ""
            raise InputError(
                f"{self.name}: must be {kind}{bounds.format(self.low, self.high)}, got {value}."
            )


_LISTED = (
    RequestField(name="temperature", symbol="T", low=0, high=2, help="Sampling temperature, 0-2"),
    RequestField(
        name="top_p", low=0, high=1, help="Nucleus sampling: share of the likeliest tokens, 0-1"
    ),
    RequestField(
        name="top_k",
        low=1,
        whole=True,
        help="Sampling among the k likeliest tokens, where the server supports it",
    ),
    RequestField(
        name="max_tokens",
        low=1,
        whole=True,
        help="Longest reply in tokens, e.g. 500; by default the server's limit",
    ),
    RequestField(
        name="reasoning_effort",
        words=("none", "minimal", "low", "medium", "high", "xhigh", "max"),
        help="Reasoning effort, e.g. low (none, minimal, low, medium, high, xhigh, max)",
    ),
    RequestField(
        name="verbosity",
        words=("low", "medium", "high"),
        help="Length of replies: low, medium, or high",
    ),
    RequestField(
        name="frequency_penalty", low=-2, high=2, help="Penalty on words already used, -2 to 2"
    ),
    RequestField(
        name="presence_penalty", low=-2, high=2, help="Penalty on topics already mentioned, -2 to 2"
    ),
)
FIELDS: Mapping[str, RequestField] = {field.name: field for field in _LISTED}
"""Every field by name."""


def field_of(name: str) -> RequestField:
    """The field of a name; any name below ``extra_body.`` is one.

    Raises
    ------
    InputError
        With the nearest known name.

    Examples
    --------
    >>> field_of("temperature").symbol
    'T'
    >>> field_of("extra_body.min_p").read("0.1")
    0.1
    """
    if name in FIELDS:
        return FIELDS[name]
    if name.startswith(EXTRA) and all(name.split(".")):
        first = name.split(".")[1]
        if first in FIELDS or first in _OURS:
            raise InputError(f"{name}: no extra; {_OURS.get(first, first)} sets it.")
        if any(map(_SECRET.fullmatch, name.split("."))):
            raise InputError(
                f"{name}: a key or header is not a field of a request, which a run records. Set "
                "it in the environment, as OPENAI_API_KEY, or in a judges file."
            )
        return RequestField(name=name, help="Field of some servers only")
    raise InputError(
        f"{name!r} is not a field of a request.{nearest(name, FIELDS)} There are: "
        f"{', '.join(FIELDS)}; and {EXTRA}NAME for what only some servers know."
    )


def _json_or_text(text: str) -> Any:
    try:
        value = decode_json(text)
    except ValueError:
        return text
    return text if isinstance(value, float) and not math.isfinite(value) else value


def as_text(value: Any) -> str:
    """A value as text, for labels, factor columns and parameters.

    Examples
    --------
    >>> as_text(0.5), as_text(True), as_text("low"), as_text(1.0)
    ('0.5', 'true', 'low', '1')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "default"
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, separators=(",", ":"))


def label(name: str, value: Any) -> str:
    """A field with its value as a condition's label shows it.

    Examples
    --------
    >>> label("temperature", 0.5), label("temperature", None), label("extra_body.min_p", 0.1)
    ('T=0.5', 'T=default', 'min_p=0.1')
    """
    shown = FIELDS[name].symbol if name in FIELDS and FIELDS[name].symbol else name
    return f"{shown.removeprefix(EXTRA)}={as_text(value)}"


def heat(temperature: Any) -> str:
    """A temperature as text, missing where the field is left out: ``T=0.5``, ``T=default``."""
    return label("temperature", temperature)


def sort_levels(name: str, values: Iterable[str]) -> tuple[str, ...] | None:
    """The levels of a factor from the least to the most; None where they have no order.

    Examples
    --------
    >>> sort_levels("reasoning_effort", ["high", "low", "medium"])
    ('low', 'medium', 'high')
    >>> sort_levels("top_p", ["1", "0.5"]), sort_levels("probe", ["swap", "pad"])
    (('0.5', '1'), None)
    """
    levels = tuple(dict.fromkeys(values))
    words = FIELDS[name].words if name in FIELDS else ()
    if words:
        return tuple(sorted(levels, key=words.index)) if set(levels) <= set(words) else None
    try:
        return tuple(sorted(levels, key=float))
    except ValueError:
        return None


def placed(settings: Mapping[str, Any], *, max_tokens: str = "max_tokens") -> dict[str, Any]:
    """The members of a request's body that settings make; None leaves a field out.

    Parameters
    ----------
    settings : mapping of field to value
    max_tokens : str
        What the server calls the bound of a reply.

    Examples
    --------
    >>> placed({"top_p": 0.9, "extra_body.chat_template_kwargs.enable_thinking": False})
    {'top_p': 0.9, 'chat_template_kwargs': {'enable_thinking': False}}
    """
    body: dict[str, Any] = {}
    for name, value in settings.items():
        if value is None:
            continue
        if not name.startswith(EXTRA):
            body[max_tokens if name == "max_tokens" else name] = value
            continue
        *above, last = name.removeprefix(EXTRA).split(".")
        place = body
        for key in above:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                raise InputError(f"{name}: {key} is set to a value too. Leave one of them out.")
        place[last] = value
    return body


def setting_sent(sent: Iterable[str], name: str) -> list[Any]:
    """One setting out of a frame's column ``sent``; None where it was not sent.

    Examples
    --------
    >>> setting_sent(['{"temperature":0.5}', '{}'], "temperature")
    [0.5, None]
    """
    settings: dict[str, Any] = {}
    for text in sent:
        if text not in settings:
            settings[text] = decode_json(text or "{}").get(name)
    return [settings[text] for text in sent]


INTERLEAVED = "interleaved"
"""All requests of a judge in one random order over items and repeats."""
KEY_COLUMNS = ("condition", "item_id", "order", "stage", "replicate")
"""Together unique: one judgment."""

RULES = ("tie", "first", "drop")
"""Verdict of a pair whose two orders disagree: a tie, that of the first order, or none."""


_RAW: Mapping[str, Any] = {
    "experiment": "read",
    "condition": "",
    "judge": "",
    "temperature": math.nan,  # as the design asks; NaN = the server's default
    "item_id": "",
    "cluster": "",
    "category": "",
    "replicate": 0,
    "stage": "final",
    "order": "",
    "transport": "answered",  # answered | failed | invalid_condition
    "failure": "",  # class of the failure, empty when answered
    "raw_text": "",  # the reply's text or tool arguments, bounded in size
    "reply_mode": "text",
    "finish_reason": "",
    "prompt_sha": "",
    "model_reported": "",
    "fingerprint": "",
    "requested": "",  # settings beside the prompt, as JSON by the fields' names
    "sent": "",  # those that the request carried; empty where none was sent
    "choices_in_request": 1,
    "tokens_in": math.nan,
    "tokens_out": math.nan,
    "tokens_cached": math.nan,  # part of tokens_in; NaN where the server does not say
    "tokens_reasoning": math.nan,  # part of tokens_out
    "cost_usd": math.nan,  # NaN = unknown price
    "latency_s": math.nan,
    "attempts": 1,
    "cached": False,
    "asked_at": "",  # ISO 8601, UTC
}
JUDGMENT: Mapping[str, Any] = {
    **_RAW,
    "status": "",
    "verdict_kind": "",  # score | pass-fail | preference | choice | category | text, if known
    "score": math.nan,
    "choice": "",
    "explanation": "",
    "reason": "",
}
"""Columns of the judgments frame with their default values, whose type is the column's."""
RAW_COLUMNS = tuple(_RAW)
PARSED_COLUMNS = tuple(JUDGMENT)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One cell of the design: a mapping of factors, the judge and its temperature among them.

    Attributes
    ----------
    judge : str
        The judge as the user named it (``gpt-4o-mini``, ``sim-typical``,
        ``llama3@http://localhost:11434/v1``).
    temperature : float or None
        None leaves it out of the request: the server's default.
    factors : mapping of str to str
        Further factors of the design (``{"guideline": "detailed"}``).
    settings : mapping of str to value
        Further fields of the request that the design varies (``{"reasoning_effort": "low"}``), by
        their names in `judgestats.data.columns.FIELDS`.
    """

    judge: str
    temperature: float | None = None
    factors: Mapping[str, str] = field(default_factory=dict, hash=False)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @cached_property
    def label(self) -> str:
        """A readable unique name: ``gpt-4o-mini, T=0.5, guideline=detailed``."""
        parts = [self.judge, *(label(k, v) for k, v in self.request.items())]
        return ", ".join([*parts, *(f"{k}={v}" for k, v in self.factors.items())])

    @property
    def request(self) -> dict[str, Any]:
        """What the condition fixes of a request; None where the field is left out."""
        return {"temperature": self.temperature, **self.settings}

    @cached_property
    def levels(self) -> dict[str, str]:
        """The level of every factor but judge and temperature, as text."""
        settings = {k.removeprefix(EXTRA): as_text(v) for k, v in self.settings.items()}
        return {**settings, **self.factors}


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """What a study's claim compares: the rows of the first screen, and what rewording may change.

    Attributes
    ----------
    vary : str
        ``judge``, ``temperature``, ``category``, or a factor of the conditions.
    base : str
        Level that the others are compared with; empty: the first, of temperatures above 0.
    levels : tuple of str
        The others; empty: all. A strategy is named without its number of judgments: the largest
        is taken.
    margin : float
        How far two wordings may differ: above 1 of a ratio of variances, else of a difference.
    """

    vary: str
    base: str = ""
    levels: tuple[str, ...] = ()
    margin: float = 1.5

    @property
    def is_ratio(self) -> bool:
        """Whether the contrast is a ratio of variances."""
        return self.margin > 1

    def chosen(self, levels: Iterable[str]) -> list[str]:
        """The levels that are compared, the base first.

        Examples
        --------
        >>> Contrast(vary="strategy", base="vanilla", levels=("cce",)).chosen(
        ...     ["cce@2", "cce@16", "cce-raw@16", "vanilla"])
        ['vanilla', 'cce@16']
        """
        there = list(levels)
        named: dict[str, list[str]] = {}
        for level in there:
            named.setdefault(level.rpartition("=")[2].partition("@")[0], []).append(level)
        if self.base and self.base not in named:
            return []
        wanted = [self.base or next(iter(named), ""), *(self.levels or named)]
        found = [named[name] for name in dict.fromkeys(wanted) if name in named]
        return [max(own, key=_judgments_before) for own in found]

    def groups(self, conditions: Iterable[Condition]) -> list[list[str]]:
        """Labels of the conditions that are compared, the base first, per what they share.

        Of temperatures the lowest above 0 and the highest are compared.
        """
        found: dict[tuple[object, ...], dict[str, str]] = {}
        if self.vary == "temperature":
            sampled = [c for c in conditions if c.temperature]
            ends = {f([c.temperature or 0 for c in sampled], default=0) for f in (min, max)}
            for one in sorted(sampled, key=lambda c: c.temperature or 0):
                if one.temperature in ends:
                    kept = (one.judge, *one.factors.items(), str(one.settings))
                    found.setdefault(kept, {})[str(one.temperature)] = one.label
            return [list(own.values()) for own in found.values() if len(own) > 1]
        for one in conditions:
            factors = {k: v for k, v in one.factors.items() if k != self.vary}
            key = (one.judge, one.temperature, *factors.items(), str(one.settings))
            if self.vary in one.factors:
                found.setdefault(key, {})[str(one.factors[self.vary])] = one.label
        listed = ([own[level] for level in self.chosen(own)] for own in found.values())
        return [labels for labels in listed if len(labels) > 1]


def _judgments_before(strategy: str) -> int:
    number = strategy.rpartition("@")[2]
    return int(number) if number.isdecimal() else 0


@dataclass(frozen=True, kw_only=True)
class Task:
    """One judgment to be made: (condition, item, order, stage, replicate) and how to prompt it.

    `build` makes the prompt for the reply mode that the judge turns out to support. `choices_group`
    tasks differ only in `replicate`; where a request carries several choices (``n``) they share it.
    `unit` is what is judged, for judges that are functions and take its parts by name.
    """

    condition: Condition
    item_id: str
    cluster: str
    replicate: int
    build: Callable[[ReplyMode], Prompted]
    order: str = ""
    stage: str = "final"
    category: str = ""
    unit: Unit | None = None

    @cached_property
    def key(self) -> tuple[str, str, str, str, int]:
        """What must be unique in a plan: condition, item, order, stage, replicate."""
        return (self.condition.label, self.item_id, self.order, self.stage, self.replicate)
