"""What a collection would ask and cost, before anything is sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from judgestats.judges.journal import Answer, Journal
from judgestats.judges.journal_view import journal_view
from judgestats.judges.negotiation import Abilities
from judgestats.judges.priced import JudgePlan, PricePlan, Sampled
from judgestats.judges.prices import Price, PriceTable, default_prices
from judgestats.judges.request import Ready, Sampling
from judgestats.judges.rows import answer_row, blank_row
from judgestats.judges.source import Group, grouped
from judgestats.judges.spec import JudgeSpec, parse_judge
from judgestats.judges.stage_price import relative_margin, scaled_up
from judgestats.judgments.design import Task
from judgestats.judgments.stage_sample import Cell, Stratum, strata_of
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

    @property
    def pairs(self) -> int:
        """Pairs that are judged."""

    def cells(self, together: int = 1) -> Mapping[Cell, str]:
        """What shares no call with the rest, and the set that it is of."""

    def verdicts(self, together: int = 1) -> Mapping[Cell, int]:
        """How many final verdicts each cell has."""

    def part(self, cells: Collection[Cell], together: int = 1) -> Stages:
        """The same for some cells only."""

    def cell_of(self, task: Task, together: int = 1) -> Cell:
        """The cell that a call belongs to."""

    def first(self) -> Iterable[Task]:
        """The calls that need no other call."""

    def follow_up(self, row: Mapping[str, Any]) -> Iterable[Task]:
        """The calls that follow from a judgment."""

    def imagined(self, task: Task, prompted: Prompted, characters: int) -> str:
        """A readable reply of about so many characters."""


def price_plan(
    tasks: Iterable[Task],
    *,
    stages: Stages | None = None,
    base_url: str | None = None,
    judges: Mapping[str, JudgeSpec] | None = None,
    journal: str | Path | None = None,
    choices_per_request: int = 1,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    reply_tokens: tuple[int, int] = _REPLY_TOKENS,
    reply_mode: ReplyMode | None = None,
    prices: PriceTable | None = None,
    mode: str = "online",
    pipelines: int = _PIPELINES,
) -> PricePlan:
    """Calls, tokens and price range of a collection; sends nothing.

    Takes the parameters that `collect` will be given, so that what the journal holds already is
    left out. Replies' lengths cannot be known: the range is wide on purpose, and bounded by
    ``max_tokens`` where that is set.

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
    base_url, judges, journal, choices_per_request, seed, settings, reply_mode, prices
        See `collect`.
    mode : {"online", "batch"}
        In batches, tokens cost half, and what waits in a batch already is not asked again.
    pipelines : int
        With stages: where there are more pipelines (a strategy on a pair in an order, once), about
        so many are priced, on pairs drawn by seed from every set, and scaled up with a margin.

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
    sampling = Sampling(seed=seed, choices=choices_per_request, settings=settings or {})
    sampled: Sampled | None = None
    with journal_view(held) as book:
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
            strata, part = _drawn(stages, pipelines, choices_per_request, seed or 0)
            by_cell = pricing.cells(part, reply_tokens)
            plans = scaled_up(strata, by_cell)
            if len(part) < len(stages):
                found = {name: _price(table, spec, mode) for name, spec in specs.items()}
                sampled = _sampled(stages, part, strata, by_cell, found)
    for name, plan in plans.items():
        price = _price(table, specs[name], mode)
        plan.cost_usd = (
            price.cost(plan.tokens_in[0], plan.tokens_out[0]),
            price.cost(plan.tokens_in[1], plan.tokens_out[1]),
        )
    return PricePlan(
        judges=tuple(plans.values()),
        prices_as_of=min(
            (price.as_of for spec in specs.values() if (price := table.price(spec)).as_of),
            default=table.as_of,
        ),
        reply_tokens=reply_tokens,
        mode=mode,
        sampled=sampled,
    )


def _price(table: PriceTable, spec: JudgeSpec, mode: str) -> Price:
    price = table.price(spec)
    return price.in_batch if mode == "batch" else price


def _drawn(
    stages: Stages, pipelines: int, together: int, seed: int
) -> tuple[tuple[Stratum, ...], Stages]:
    """The part that is walked through: all, or of every set some."""
    cells = stages.cells(together)
    kept = len(cells) if len(stages) <= pipelines else len(cells) * pipelines // len(stages)
    strata = strata_of(cells, stages.verdicts(together), count=kept, seed=seed)
    drawn = [cell for stratum in strata for cell in stratum.drawn]
    return strata, stages.again() if len(drawn) == len(cells) else stages.part(drawn, together)


def _sampled(
    stages: Stages,
    part: Stages,
    strata: Sequence[Stratum],
    by_cell: Mapping[Cell, Mapping[str, JudgePlan]],
    prices: Mapping[str, Price],
) -> Sampled:
    """Which part was priced, with the margin of requests and of dollars (tokens, if unknown)."""
    requests = {c: sum(float(p.requests) for p in by.values()) for c, by in by_cell.items()}
    dollars = {
        cell: sum(prices[p.judge].cost(p.tokens_in[1], p.tokens_out[1]) for p in by.values())
        for cell, by in by_cell.items()
    }
    tokens = {
        c: sum(p.tokens_in[1] + p.tokens_out[1] for p in by.values()) for c, by in by_cell.items()
    }
    known = all(price.known for price in prices.values()) and any(dollars.values())
    return Sampled(
        pairs=part.pairs,
        all_pairs=stages.pairs,
        sets=len(strata),
        requests=relative_margin(strata, requests),
        tokens=relative_margin(strata, dollars if known else tokens),
    )


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

    def cells(
        self, stages: Stages, reply_tokens: tuple[int, int]
    ) -> dict[Cell, dict[str, JudgePlan]]:
        """The plan of every cell, from a walk with short replies to one with long ones."""
        high = self._walk(stages, reply_tokens[1])
        low = self._walk(stages.again(), reply_tokens[0])
        for cell, plans in high.items():
            for name, plan in plans.items():
                short = low[cell][name]
                plan.tokens_in = (short.tokens_in[0], plan.tokens_in[1])
                plan.tokens_out = (short.tokens_out[0], plan.tokens_out[1])
        return high

    def _walk(self, stages: Stages, tokens: int) -> dict[Cell, dict[str, JudgePlan]]:
        """The plan of every cell, with replies of so many tokens imagined."""
        found: dict[Cell, dict[str, JudgePlan]] = {}
        together = self._sampling.choices
        waiting: deque[Group] = deque(grouped(enumerate(stages.first()), together, together=True))
        place = count()
        bound = self._sampling.settings.get("max_tokens")
        characters = _CHARACTERS_IMAGINED * (tokens if bound is None else min(tokens, bound))
        while waiting:
            group = waiting.popleft()
            cell = stages.cell_of(group.tasks[0], together)
            ready, answers = self._book_group(group, found.setdefault(cell, {}))
            for task, answer in zip(group.tasks, answers, strict=True):
                if answer is not None:
                    row = answer_row(task, ready, answer, cached=True, experiment="")
                else:
                    row = blank_row(task, ready, "")
                    row["raw_text"] = stages.imagined(task, ready.prompted, characters)
                for following in stages.follow_up(row):
                    waiting.append(Group((following,), ((next(place),),)))
        return found

    def _book_group(
        self, group: Group, plans: dict[str, JudgePlan]
    ) -> tuple[Ready, list[Answer | None]]:
        name = group.tasks[0].condition.judge
        if name not in self._specs:
            self._specs[name] = parse_judge(name, base_url=self._base_url)
        spec = self._specs[name]
        if spec.address not in self._known:
            known = self._book.abilities(*spec.address) if self._book is not None else None
            self._known[spec.address] = known or Abilities()
        prompted = group.tasks[0].build(self._reply_mode or self._known[spec.address].mode)
        ready = Ready(spec, group.tasks, prompted, self._sampling)
        answers: list[Answer | None] = [None] * len(group.tasks)
        waiting = 0
        if self._book is not None:
            keys = list(ready.keys.values())
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
            bound = self._sampling.of(spec, group.tasks[0].condition).get("max_tokens")
            _add_request(plan, prompted, missing, bound, self._reply_tokens)
        return ready, answers


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
