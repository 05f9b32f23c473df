"""What a collection would ask and cost, before anything is sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from judgestats.judges.journal import Journal
from judgestats.judges.negotiation import Abilities
from judgestats.judges.prices import PriceTable, default_prices
from judgestats.judges.request import Encoded, Sampling, judgment_keys
from judgestats.judges.source import grouped
from judgestats.judges.spec import JudgeSpec, parse_judge
from judgestats.judgments.design import Task
from judgestats.protocols.base import Prompted, ReplyMode

__all__ = ["JudgePlan", "PricePlan", "price_plan"]

_CHARACTERS_A_TOKEN = (5.0, 3.0)
"""Of the low and the high estimate; 4 is the usual rule of thumb for English."""
_REPLY_TOKENS = (8, 400)
"""Of the low and the high estimate: a bare score; an explanation of some 300 words."""


@dataclass(kw_only=True)
class JudgePlan:
    """One judge's share of a plan. Tokens and dollars are (low, high) estimates."""

    judge: str
    judgments: int = 0
    cached: int = 0
    requests: int = 0
    tokens_in: tuple[float, float] = (0.0, 0.0)
    tokens_out: tuple[float, float] = (0.0, 0.0)
    cost_usd: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class PricePlan:
    """What a collection would ask, by judge; prints as a table.

    Attributes
    ----------
    judges : tuple of JudgePlan
    prices_as_of : str
        Date of the price table.
    reply_tokens : tuple of int
        A reply's tokens in the low and the high estimate.
    """

    judges: tuple[JudgePlan, ...]
    prices_as_of: str
    reply_tokens: tuple[int, int] = _REPLY_TOKENS

    @property
    def requests(self) -> int:
        """Requests to be sent, retries aside."""
        return sum(j.requests for j in self.judges)

    @property
    def cost_usd(self) -> tuple[float, float]:
        """Low and high estimate in dollars; NaN where a price is unknown."""
        return (
            sum(j.cost_usd[0] for j in self.judges),
            sum(j.cost_usd[1] for j in self.judges),
        )

    def __str__(self) -> str:
        width = max([5, *(len(j.judge) for j in self.judges)])
        heading = f"{'judge':<{width}}  judgments  in journal  requests  {'tokens in':>19}"
        lines = [f"{heading}  {'tokens out':>19}  {'US dollars':>19}"]
        for j in self.judges:
            lines.append(
                f"{j.judge:<{width}}  {j.judgments:>9,}  {j.cached:>10,}  {j.requests:>8,}  "
                f"{_span(j.tokens_in):>19}  {_span(j.tokens_out):>19}  {_dollars(j.cost_usd):>19}"
            )
        lines.append(
            f"total: {self.requests:,} requests, {_dollars(self.cost_usd)} "
            f"(prices of {self.prices_as_of}). Nothing was sent. Estimates: 3-5 characters a "
            f"token, {self.reply_tokens[0]}-{self.reply_tokens[1]} tokens a reply; models that "
            "think before they answer use more; retries are not included."
        )
        return "\n".join(lines)


def price_plan(
    tasks: Iterable[Task],
    *,
    base_url: str | None = None,
    judges: Mapping[str, JudgeSpec] | None = None,
    journal: str | Path | None = None,
    choices_per_request: int = 1,
    seed: int | None = None,
    max_tokens: int | None = None,
    top_k: int | None = None,
    reply_tokens: tuple[int, int] = _REPLY_TOKENS,
    reply_mode: ReplyMode | None = None,
    prices: PriceTable | None = None,
) -> PricePlan:
    """Calls, tokens and price range of a collection; sends nothing.

    Takes the parameters that `collect` will be given, so that what the journal holds already is
    left out. Replies' lengths cannot be known: the range is wide on purpose, and bounded by
    `max_tokens` where that is given. Follow-up stages are not foreseen here. `reply_tokens` are a
    reply's tokens in the low and the high estimate.

    Returns
    -------
    PricePlan

    Examples
    --------
    >>> price_plan([]).requests
    0
    """
    table = prices or default_prices()
    specs: dict[str, JudgeSpec] = dict(judges or {})
    sampling = Sampling(seed=seed, choices=choices_per_request, max_tokens=max_tokens, top_k=top_k)
    plans: dict[str, JudgePlan] = {}
    held = Path(journal) if journal is not None and Path(journal).exists() else None
    with Journal(held) as book:
        known: dict[tuple[str, str], Abilities] = {}
        for group in grouped(enumerate(tasks), choices_per_request, together=False):
            name = group.tasks[0].condition.judge
            if name not in specs:
                specs[name] = parse_judge(name, base_url=base_url)
            spec = specs[name]
            if spec.lane not in known:
                known[spec.lane] = book.abilities(*spec.lane) or Abilities()
            prompted = group.tasks[0].build(reply_mode or known[spec.lane].mode)
            keys = judgment_keys(spec, group.tasks, Encoded(prompted), sampling)
            cached = sum(book.get(key) is not None for key in keys)
            plan = plans.setdefault(name, JudgePlan(judge=name))
            plan.judgments += len(keys)
            plan.cached += cached
            if cached < len(keys):
                _add_request(plan, prompted, len(keys) - cached, max_tokens, reply_tokens)
    for name, plan in plans.items():
        price = table.price(specs[name])
        plan.cost_usd = (
            price.cost(plan.tokens_in[0], plan.tokens_out[0]),
            price.cost(plan.tokens_in[1], plan.tokens_out[1]),
        )
    return PricePlan(
        judges=tuple(plans.values()), prices_as_of=table.as_of, reply_tokens=reply_tokens
    )


def _add_request(
    plan: JudgePlan,
    prompted: Prompted,
    choices: int,
    max_tokens: int | None,
    reply_tokens: tuple[int, int],
) -> None:
    characters = sum(len(m["content"]) for m in prompted.messages)
    form = 0  # the schema: some providers count it as input, some do not
    if prompted.schema is not None:
        form = len(str(prompted.schema.schema)) + len(prompted.schema.description)
    low, high = _CHARACTERS_A_TOKEN
    shortest, longest = reply_tokens
    if max_tokens is not None:
        shortest, longest = min(shortest, max_tokens), min(longest, max_tokens)
    plan.requests += 1
    plan.tokens_in = (
        plan.tokens_in[0] + characters / low,
        plan.tokens_in[1] + (characters + form) / high + 10,
    )
    plan.tokens_out = (
        plan.tokens_out[0] + shortest * choices,
        plan.tokens_out[1] + longest * choices,
    )


def _span(values: tuple[float, float]) -> str:
    return f"{values[0]:,.0f}-{values[1]:,.0f}"


def _dollars(values: tuple[float, float]) -> str:
    if math.isnan(values[0]) or math.isnan(values[1]):
        return "unknown"
    return f"${values[0]:,.4f}-${values[1]:,.4f}" if values[1] else "$0"
