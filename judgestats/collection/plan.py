"""Plan and price of a collection."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from judgestats.collection.ask import CollectionRequest
from judgestats.collection.collector import Group, grouped
from judgestats.collection.journal import Journal, journal_view
from judgestats.collection.journal_file import Answer
from judgestats.collection.prices import JudgePlan, PricePlan
from judgestats.collection.request import Ready
from judgestats.collection.response import Abilities
from judgestats.collection.rows import answer_row, blank_row
from judgestats.collection.spec import JudgeSpec, key_hint
from judgestats.data.columns import Task
from judgestats.data.stages import StageSchedule
from judgestats.errors import JudgeError
from judgestats.protocols.base import prompted_in

_CHARACTERS_A_TOKEN = (5.0, 3.0)
"""Of the low and the high estimate; 4 is the usual rule of thumb for English."""
_REPLY_TOKENS = (8, 400)
"""Of the low and the high estimate: a bare score; an explanation of some 300 words."""
_PIPELINES = 4_000
"""That are walked through to price a collection in stages; more are sampled."""
_CHARACTERS_IMAGINED = 4
"""A token, in replies that are imagined so that later stages can be priced."""


def price_plan(
    tasks: Iterable[Task],
    ask: CollectionRequest | None = None,
    *,
    stages: StageSchedule | None = None,
    reply_tokens: tuple[int, int] = _REPLY_TOKENS,
    pipelines: int = _PIPELINES,
    **options: Any,
) -> PricePlan:
    """Calls, tokens and price range of a collection; sends nothing.

    Takes the `CollectionRequest` that `collect` will be given, so that what the journal holds
    already is left out; in batches tokens cost half, and what waits in a batch already is not
    requested again. Replies' lengths cannot be known: the range is wide on purpose, and bounded by
    ``max_tokens`` where that is set.

    Parameters
    ----------
    tasks : iterable of Task
        Not used where there are stages.
    ask : CollectionRequest, optional
        Its journal is looked into, not locked.
    stages : StageSchedule, optional
        Calls that follow from replies are priced too: what the journal holds is taken from it, and
        the rest is imagined twice, with short replies for the low estimate and long ones for the
        high one, since later prompts contain replies. Calls that depend on a reply (an unparsed
        verdict ends a pipeline) are counted as if all replies were parsed.
    reply_tokens : (int, int)
        A reply's tokens in the low and the high estimate.
    pipelines : int
        With stages: where there are more pipelines (a strategy on a pair in an order, once), about
        this many are priced, on pairs spread evenly over the plan, and scaled up.
    **options
        Fields of `judgestats.collection.ask.CollectionRequest` that replace those of `ask`.

    Returns
    -------
    PricePlan

    Examples
    --------
    >>> price_plan([]).requests
    0
    """
    ask = CollectionRequest.from_options(ask, **options)
    together = ask.choices_per_request
    sampled: tuple[int, int] | None = None
    with journal_view(ask.journal) as journal:
        pricing = _Pricing(ask, journal, reply_tokens=reply_tokens)
        if stages is None:
            plans: dict[str, JudgePlan] = {}
            for group in grouped(enumerate(tasks), together):
                pricing.price_group(group, plans)
        else:
            part = stages.part(pipelines, together)
            plans = pricing.stages(part)
            if len(part) < len(stages):
                times = len(stages) / len(part)
                plans = {name: plan.scaled(times) for name, plan in plans.items()}
                sampled = (part.pairs, stages.pairs)
    old = []
    for name, plan in plans.items():
        price = ask.prices.price(ask.judge(name))
        old += [f"{name}: {age}"] if (age := price.age()) else []
        price = price.batch_price if ask.mode == "batch" else price
        low, high = zip(plan.tokens_in, plan.tokens_out, strict=True)
        plan.cost_usd = (price.cost(*low), price.cost(*high))
    days = filter(None, (ask.prices.price(spec).as_of for spec in ask.judges.values()))
    return PricePlan(
        judges=tuple(plans.values()), prices_as_of=min(days, default=ask.prices.as_of),
        reply_tokens=reply_tokens, mode=ask.mode, sampled=sampled, old_prices=tuple(old),
    )  # fmt: skip


class _Pricing:
    """Walks a plan and books what each request would take."""

    def __init__(
        self, ask: CollectionRequest, journal: Journal, *, reply_tokens: tuple[int, int]
    ) -> None:
        self._ask = ask
        self._journal = journal
        self._in_batches = journal.batches.open_judgments() if ask.mode == "batch" else set()
        self._reply_tokens = reply_tokens
        self._abilities: dict[tuple[str, str], Abilities] = {}

    def stages(self, stages: StageSchedule) -> dict[str, JudgePlan]:
        """The plan of stages, from a walk with short replies to one with long ones."""
        high = self._walk(stages, self._reply_tokens[1])
        low = self._walk(stages.again(), self._reply_tokens[0])
        for name, plan in high.items():
            plan.tokens_in = (low[name].tokens_in[0], plan.tokens_in[1])
            plan.tokens_out = (low[name].tokens_out[0], plan.tokens_out[1])
        return high

    def _walk(self, stages: StageSchedule, tokens: int) -> dict[str, JudgePlan]:
        """The plan of stages, with replies of this many tokens imagined."""
        plans: dict[str, JudgePlan] = {}
        together = self._ask.choices_per_request
        waiting: deque[Group] = deque(grouped(enumerate(stages.first()), together))
        place = count()
        bound = self._ask.settings.get("max_tokens")
        characters = _CHARACTERS_IMAGINED * (tokens if bound is None else min(tokens, bound))
        while waiting:
            group = waiting.popleft()
            ready, answers = self.price_group(group, plans)
            for task, answer in zip(group.tasks, answers, strict=True):
                if answer is not None:
                    row = answer_row(task, ready, answer, cached=True, experiment="")
                else:
                    row = blank_row(task, ready, "")
                    row["raw_text"] = stages.imagined(task, ready.prompted, characters)
                for following in stages.follow_up(row):
                    waiting.append(Group(((following, (next(place),)),)))
        return plans

    def price_group(
        self, group: Group, plans: dict[str, JudgePlan]
    ) -> tuple[Ready, list[Answer | None]]:
        """Add what a group's request would take; gives its answers in the journal."""
        name = group.tasks[0].condition.judge
        spec = self._ask.judge(name)
        model = spec.capability_key
        if model not in self._abilities:
            self._abilities[model] = self._journal.abilities(*model) or Abilities()
        forced = self._ask.reply_mode or spec.reply_mode
        prompted = prompted_in(forced or self._abilities[model].mode, group.tasks[0].build)
        ready = Ready(spec, group.tasks, prompted, self._ask.sampling)
        keys = list(ready.keys.values())
        held = self._journal.path is not None
        answers = [self._journal.get(key) if held else None for key in keys]
        missing = [key for answer, key in zip(answers, keys, strict=True) if answer is None]
        waiting = len(self._in_batches.intersection(missing))
        plan = plans.setdefault(name, JudgePlan(judge=name))
        plan.judgments += len(answers)
        plan.cached += len(answers) - len(missing)
        plan.waiting += waiting
        if choices := len(missing) - waiting:
            characters, form = sum(len(m["content"]) for m in prompted.messages), 0
            if prompted.schema is not None:  # some providers count it as input, some do not
                form = len(str(prompted.schema.schema)) + len(prompted.schema.description)
            settings = self._ask.sampling.merge_settings(spec, group.tasks[0].condition)
            shortest, longest = self._reply_tokens
            if (bound := settings.get("max_tokens")) is not None:
                shortest, longest = min(shortest, bound), min(longest, bound)
            low, high = _CHARACTERS_A_TOKEN
            into = (characters / low, (characters + form) / high + 10)
            out = (shortest * choices, longest * choices)
            plan.add(JudgePlan(judge=name, requests=1, tokens_in=into, tokens_out=out))
        return ready, answers


def check_judges(judges: Mapping[str, JudgeSpec], *, timeout_s: float = 20.0) -> None:
    """Ask every endpoint for its list of models, which costs nothing.

    An endpoint without such a list passes: many servers have none. A list that does not name the
    model passes too, since servers list aliases differently; the first judgment will tell.

    Parameters
    ----------
    judges : mapping of name to JudgeSpec
    timeout_s : float
        Limit for one endpoint, in seconds.

    Raises
    ------
    JudgeError
        An endpoint cannot be reached, or refuses the key.
    InputError
        A function or a local model cannot be loaded.

    Examples
    --------
    >>> from judgestats.collection.spec import parse_judge
    >>> check_judges({"sim-typical": parse_judge("sim-typical")})
    """
    endpoints: dict[str, JudgeSpec] = {}
    for spec in judges.values():
        if spec.function is not None:
            spec.function.load()
        elif spec.local is not None:
            spec.launch()
        elif not spec.in_process:
            endpoints.setdefault(spec.base_url, spec)

    async def ask_all() -> None:
        await asyncio.gather(*(_ask(spec, timeout_s) for spec in endpoints.values()))

    if endpoints:
        asyncio.run(ask_all())


async def _ask(spec: JudgeSpec, timeout_s: float) -> None:
    import openai

    from judgestats.collection.client import JudgeClient

    # The judges' own client: bounded in time and size, and no redirect carries the key elsewhere.
    async with JudgeClient(spec, connections=1, timeout_s=timeout_s) as client:
        try:
            await client.models()
        except openai.APIStatusError as error:
            # The server's own words are left out: some repeat the key in them.
            if error.status_code in {401, 403}:
                how = f"Set {key_hint(spec.base_url)} to one that it accepts."
                raise JudgeError(f"{spec.base_url} refuses the key. {how}") from None
        except openai.APIConnectionError as error:
            why = f"cannot be reached ({client.failure(error, 0.0).detail})"
            how = "Check base_url, and that the server is running."
            raise JudgeError(f"{spec.base_url} {why}. {how}") from None
