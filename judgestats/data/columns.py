"""Columns, conditions, and tasks of the judgments frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from judgestats.data.request_fields import EXTRA, as_text, label
from judgestats.protocols.base import Prompted, ReplyMode, Unit

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
        their names in `judgestats.data.request_fields.FIELDS`.
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
        """Labels of the conditions that are compared, the base first, per what they share."""
        found: dict[tuple[object, ...], dict[str, str]] = {}
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
