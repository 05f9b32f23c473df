"""What a collection would ask and cost, before anything is sent."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from judgestats.judges.journal import Answer, Journal
from judgestats.judges.negotiation import Abilities
from judgestats.judges.prices import PriceTable, default_prices
from judgestats.judges.request import Encoded, Sampling, judgment_keys
from judgestats.judges.rows import answer_row, blank_row
from judgestats.judges.source import Group, grouped
from judgestats.judges.spec import JudgeSpec, parse_judge
from judgestats.judgments.design import Task
from judgestats.protocols.base import Prompted, ReplyMode

__all__ = ["JudgePlan", "PricePlan", "Stages", "price_plan"]

_CHARACTERS_A_TOKEN = (5.0, 3.0)
"""Of the low and the high estimate; 4 is the usual rule of thumb for English."""
_REPLY_TOKENS = (8, 400)
"""Of the low and the high estimate: a bare score; an explanation of some 300 words."""
_PIPELINES = 4_000
"""That are walked through to price a collection in stages; more are sampled."""
_CHARACTERS_IMAGINED = 4
"""A token, in replies that are imagined so that later stages can be priced."""


class Stages(Protocol):
    """Judging in stages, as far as its price goes (`judgestats.judgments.staging.Staging`)."""

    def again(self) -> Stages:
        """The same, with nothing heard yet."""

    def __len__(self) -> int:
        """Pipelines in all."""

    def sample(self, pipelines: int, *, seed: int = 0) -> tuple[Stages, int, int]:
        """The same on a part of the pairs; its pairs, and all."""

    def first(self) -> Iterable[Task]:
        """The calls that need no other call."""

    def follow_up(self, row: Mapping[str, Any]) -> Iterable[Task]:
        """The calls that follow from a judgment."""

    def imagined(self, task: Task, prompted: Prompted, characters: int) -> str:
        """A readable reply of about so many characters."""


@dataclass(kw_only=True)
class JudgePlan:
    """One judge's share of a plan. Tokens and dollars are (low, high) estimates."""

    judge: str
    judgments: int = 0
    cached: int = 0
    waiting: int = 0
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
    mode : {"online", "batch"}
    what : tuple of str
        Who is asked, and for what: headings of the table.
    pairs : (int, int) or None
        Where a part was priced and scaled up: its pairs, and all pairs.
    """

    judges: tuple[JudgePlan, ...]
    prices_as_of: str
    reply_tokens: tuple[int, int] = _REPLY_TOKENS
    mode: str = "online"
    what: tuple[str, str] = ("judge", "judgments")
    pairs: tuple[int, int] | None = None

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
        heading = (
            f"{self.what[0]:<{width}}  {self.what[1]:>9}  in journal  requests  {'tokens in':>19}"
        )
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
        if self.pairs is not None:
            lines.append(
                f"The figures are estimated from {self.pairs[0]:,} of {self.pairs[1]:,} pairs, "
                "drawn by seed and scaled up."
            )
        if self.mode == "batch":
            waiting = sum(j.waiting for j in self.judges)
            lines.append(
                "Through the Batch API: half the price, answers within 24 hours."
                + (f" {waiting:,} judgments wait in batches handed in before." if waiting else "")
            )
        return "\n".join(lines)


def price_plan(
    tasks: Iterable[Task],
    *,
    stages: Stages | None = None,
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
    mode: str = "online",
    pipelines: int = _PIPELINES,
) -> PricePlan:
    """Calls, tokens and price range of a collection; sends nothing.

    Takes the parameters that `collect` will be given, so that what the journal holds already is
    left out. Replies' lengths cannot be known: the range is wide on purpose, and bounded by
    `max_tokens` where that is given.

    Parameters
    ----------
    tasks : iterable of Task
        Not used where there are stages.
    stages : Stages, optional
        Calls that follow from replies are priced too: what the journal holds is taken from it, and
        the rest is imagined twice, with short replies for the low estimate and long ones for the
        high one, since replies stand in later prompts. The calls that hang on what is said (a
        verdict that cannot be read ends a pipeline) are counted as if all were read.
    reply_tokens : (int, int)
        A reply's tokens in the low and the high estimate.
    base_url, judges, journal, choices_per_request, seed, max_tokens, top_k, reply_mode, prices
        See `collect`.
    mode : {"online", "batch"}
        In batches, tokens cost half, and what waits in a batch already is not asked again.
    pipelines : int
        With stages: where there are more pipelines (a strategy on a pair in an order, once), about
        so many are priced, on pairs drawn by seed, and scaled up.

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
    held = Path(journal) if journal is not None and Path(journal).exists() else None
    sampling = Sampling(seed=seed, choices=choices_per_request, max_tokens=max_tokens, top_k=top_k)
    pairs: tuple[int, int] | None = None
    with Journal(held) as book:
        pricing = _Pricing(
            book if held is not None else None,
            specs=specs,
            base_url=base_url,
            sampling=sampling,
            reply_mode=reply_mode,
            reply_tokens=reply_tokens,
            waiting=book.batches.waiting() if mode == "batch" else set(),
        )
        if stages is None:
            plans = pricing.of(grouped(enumerate(tasks), choices_per_request, together=False))
        else:
            part, *found = stages.sample(pipelines, seed=seed or 0)
            if found[0] < found[1]:
                pairs = (found[0], found[1])
            times = len(stages) / max(len(part), 1)
            high = pricing.staged(part, reply_tokens[1])
            low = pricing.staged(part.again(), reply_tokens[0])
            plans = {name: _scaled(_joined(low[name], p), times) for name, p in high.items()}
    for name, plan in plans.items():
        price = table.price(specs[name])
        price = price.in_batch if mode == "batch" else price
        plan.cost_usd = (
            price.cost(plan.tokens_in[0], plan.tokens_out[0]),
            price.cost(plan.tokens_in[1], plan.tokens_out[1]),
        )
    return PricePlan(
        judges=tuple(plans.values()),
        prices_as_of=table.as_of,
        reply_tokens=reply_tokens,
        mode=mode,
        pairs=pairs,
    )


def _scaled(plan: JudgePlan, times: float) -> JudgePlan:
    """A sample's plan as that of all pairs."""
    low_in, high_in = plan.tokens_in
    low_out, high_out = plan.tokens_out
    return JudgePlan(
        judge=plan.judge,
        judgments=round(plan.judgments * times),
        cached=round(plan.cached * times),
        waiting=round(plan.waiting * times),
        requests=round(plan.requests * times),
        tokens_in=(low_in * times, high_in * times),
        tokens_out=(low_out * times, high_out * times),
    )


def _joined(low: JudgePlan, high: JudgePlan) -> JudgePlan:
    """The range from a walk with short replies to one with long ones."""
    high.tokens_in = (low.tokens_in[0], high.tokens_in[1])
    high.tokens_out = (low.tokens_out[0], high.tokens_out[1])
    return high


class _Pricing:
    """Walks a plan and books what each request would take."""

    def __init__(
        self,
        book: Journal | None,
        *,
        specs: dict[str, JudgeSpec],
        base_url: str | None,
        sampling: Sampling,
        reply_mode: ReplyMode | None,
        reply_tokens: tuple[int, int],
        waiting: set[bytes],
    ) -> None:
        self._book = book
        self._waiting = waiting
        self._specs = specs
        self._base_url = base_url
        self._sampling = sampling
        self._reply_mode = reply_mode
        self._reply_tokens = reply_tokens
        self._known: dict[tuple[str, str], Abilities] = {}

    def of(self, groups: Iterator[Group]) -> dict[str, JudgePlan]:
        """The plan of groups that nothing follows from."""
        plans: dict[str, JudgePlan] = {}
        for group in groups:
            self._book_group(group, plans)
        return plans

    def staged(self, stages: Stages, tokens: int) -> dict[str, JudgePlan]:
        """The plan of a collection in stages, with replies of so many tokens imagined."""
        plans: dict[str, JudgePlan] = {}
        first = grouped(enumerate(stages.first()), self._sampling.choices, together=True)
        waiting: deque[Group] = deque(first)
        place = count()
        bound = self._sampling.max_tokens
        characters = _CHARACTERS_IMAGINED * (tokens if bound is None else min(tokens, bound))
        while waiting:
            group = waiting.popleft()
            prompted, answers = self._book_group(group, plans)
            for task, answer in zip(group.tasks, answers, strict=True):
                if answer is not None:
                    row = answer_row(task, prompted, answer, cached=True, experiment="")
                else:
                    row = blank_row(task, prompted, "")
                    row["raw_text"] = stages.imagined(task, prompted, characters)
                for following in stages.follow_up(row):
                    waiting.append(Group((following,), ((next(place),),)))
        return plans

    def _book_group(
        self, group: Group, plans: dict[str, JudgePlan]
    ) -> tuple[Prompted, list[Answer | None]]:
        name = group.tasks[0].condition.judge
        if name not in self._specs:
            self._specs[name] = parse_judge(name, base_url=self._base_url)
        spec = self._specs[name]
        if spec.lane not in self._known:
            known = self._book.abilities(*spec.lane) if self._book is not None else None
            self._known[spec.lane] = known or Abilities()
        prompted = group.tasks[0].build(self._reply_mode or self._known[spec.lane].mode)
        answers: list[Answer | None] = [None] * len(group.tasks)
        waiting = 0
        if self._book is not None:
            keys = judgment_keys(spec, group.tasks, Encoded(prompted), self._sampling)
            answers = [self._book.get(key) for key in keys]
            waiting = sum(
                answer is None and key in self._waiting
                for answer, key in zip(answers, keys, strict=True)
            )
        cached = sum(answer is not None for answer in answers)
        plan = plans.setdefault(name, JudgePlan(judge=name))
        plan.judgments += len(answers)
        plan.cached += cached
        plan.waiting += waiting
        missing = len(answers) - cached - waiting
        if missing:
            _add_request(plan, prompted, missing, self._sampling.max_tokens, self._reply_tokens)
        return prompted, answers


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
