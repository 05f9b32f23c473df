"""Plan and price of a collection."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Protocol

from judgestats.collection.ask import CollectionRequest
from judgestats.collection.collector import Group, grouped
from judgestats.collection.journal import Journal, journal_view
from judgestats.collection.journal_file import Answer
from judgestats.collection.prices import JudgePlan, Price, PricePlan, Sampled
from judgestats.collection.request import Ready
from judgestats.collection.response import Abilities
from judgestats.collection.rows import answer_row, blank_row
from judgestats.collection.spec import JudgeSpec, key_hint
from judgestats.data.columns import Task
from judgestats.data.stages import Cell, Stratum, strata_of
from judgestats.errors import JudgeError
from judgestats.protocols.base import Prompted, prompted_in
from judgestats.stats.inference import distributions


def scaled_up(
    strata: Sequence[Stratum], plans: Mapping[Cell, Mapping[str, JudgePlan]]
) -> dict[str, JudgePlan]:
    """What all cells take, by judge: every set by as many verdicts as it has more than its part.

    Parameters
    ----------
    strata : sequence of Stratum
    plans : mapping of Cell to mapping of judge to JudgePlan

    Returns
    -------
    dict of judge to JudgePlan

    Examples
    --------
    >>> strata = [Stratum(name="s", cells=10, verdicts=20, drawn={("q", 0): 1, ("r", 0): 3})]
    >>> plan = JudgePlan(judge="j", judgments=3, requests=2, tokens_in=(1.0, 2.0))
    >>> scaled_up(strata, {("q", 0): {"j": plan}})["j"].requests
    10
    """
    sums: dict[str, JudgePlan] = {}
    for stratum in strata:
        times = stratum.verdicts / sum(stratum.drawn.values())
        for cell in stratum.drawn:
            for judge, plan in plans.get(cell, {}).items():
                sums.setdefault(judge, JudgePlan(judge=judge)).add(plan, times)
    for plan in sums.values():
        for name in ("judgments", "cached", "waiting", "requests"):
            setattr(plan, name, round(getattr(plan, name)))
    return sums


def relative_margin(strata: Sequence[Stratum], values: Mapping[Cell, float]) -> float:
    r"""Half the width of the 95% interval of a stratified total, as a share of the total.

    Parameters
    ----------
    strata : sequence of Stratum
    values : mapping of Cell to float
        Of the cells drawn; 0 where one is missing.

    Returns
    -------
    float
        0 where every cell was drawn, or the total is 0.

    Notes
    -----
    The total of a set is its verdicts times what a verdict takes in the cells drawn (a separate
    ratio estimate), its variance :math:`N_h^2 (1 - n_h / N_h) s_h^2 / n_h` with the variance
    :math:`s_h^2` of the residuals, the degrees of freedom Satterthwaite's (Cochran, Sampling
    Techniques, 3rd ed., sec. 5.4 and 6.10). Cells drawn every n-th from a seeded start are treated
    as drawn at random.

    Examples
    --------
    >>> drawn = {("a", 0): 2, ("b", 0): 2, ("c", 0): 2}
    >>> strata = [Stratum(name="s", cells=100, verdicts=200, drawn=drawn)]
    >>> round(relative_margin(strata, {("a", 0): 9.0, ("b", 0): 10.0, ("c", 0): 11.0}), 3)
    0.245
    >>> one = Stratum(name="s", cells=1, verdicts=2, drawn={("a", 0): 2})
    >>> relative_margin([one], {("a", 0): 9.0})
    0.0
    """
    total = variance = spread = 0.0
    for stratum in strata:
        own = [(values.get(cell, 0.0), verdicts) for cell, verdicts in stratum.drawn.items()]
        n, size = len(own), stratum.cells
        ratio = sum(value for value, _ in own) / sum(verdicts for _, verdicts in own)
        total += stratum.verdicts * ratio
        if n == size or n < 2:
            continue
        s2 = sum((value - ratio * verdicts) ** 2 for value, verdicts in own) / (n - 1)
        part = size**2 * (1 - n / size) * s2 / n
        variance += part
        spread += part**2 / (n - 1)
    if not variance or not total:
        return 0.0
    t = float(distributions.t.ppf(0.975, variance**2 / spread))
    return t * math.sqrt(variance) / total


_CHARACTERS_A_TOKEN = (5.0, 3.0)
"""Of the low and the high estimate; 4 is the usual rule of thumb for English."""
_REPLY_TOKENS = (8, 400)
"""Of the low and the high estimate: a bare score; an explanation of some 300 words."""
_PIPELINES = 4_000
"""That are walked through to price a collection in stages; more are sampled."""
_CHARACTERS_IMAGINED = 4
"""A token, in replies that are imagined so that later stages can be priced."""


class Stages(Protocol):
    """Judging in stages, as far as its price goes (`judgestats.data.stages.StageSchedule`)."""

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
        """A readable reply of about this many characters."""


def price_plan(
    tasks: Iterable[Task],
    ask: CollectionRequest | None = None,
    *,
    stages: Stages | None = None,
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
    stages : Stages, optional
        Calls that follow from replies are priced too: what the journal holds is taken from it, and
        the rest is imagined twice, with short replies for the low estimate and long ones for the
        high one, since later prompts contain replies. Calls that depend on a reply (an unparsed
        verdict ends a pipeline) are counted as if all replies were parsed.
    reply_tokens : (int, int)
        A reply's tokens in the low and the high estimate.
    pipelines : int
        With stages: where there are more pipelines (a strategy on a pair in an order, once), about
        this many are priced, on pairs drawn by seed from every set, and scaled up with a margin.
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
    sampled: Sampled | None = None
    with journal_view(ask.journal) as journal:
        pricing = _Pricing(ask, journal, reply_tokens=reply_tokens)
        if stages is None:
            plans = pricing.price_groups(
                grouped(enumerate(tasks), together, together=isinstance(tasks, Sequence))
            )
        else:
            strata, part = _draw_strata(stages, pipelines, together, ask.seed or 0)
            by_cell = pricing.cells(part, reply_tokens)
            plans = scaled_up(strata, by_cell)
            if len(part) < len(stages):
                prices = {name: _price(ask, spec) for name, spec in ask.judges.items()}
                sampled = _sampled(stages, part, strata, by_cell, prices)
    for name, plan in plans.items():
        price = _price(ask, ask.judge(name))
        plan.cost_usd = (
            price.cost(plan.tokens_in[0], plan.tokens_out[0]),
            price.cost(plan.tokens_in[1], plan.tokens_out[1]),
        )
    return PricePlan(
        judges=tuple(plans.values()),
        prices_as_of=min(
            (
                price.as_of
                for spec in ask.judges.values()
                if (price := ask.prices.price(spec)).as_of
            ),
            default=ask.prices.as_of,
        ),
        reply_tokens=reply_tokens,
        mode=ask.mode,
        sampled=sampled,
        old_prices=tuple(
            f"{name}: {age}" for name in plans if (age := ask.prices.price(ask.judge(name)).age())
        ),
    )


def _price(ask: CollectionRequest, spec: JudgeSpec) -> Price:
    price = ask.prices.price(spec)
    return price.batch_price if ask.mode == "batch" else price


def _draw_strata(
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
    priced = all(price.is_known for price in prices.values()) and any(dollars.values())
    return Sampled(
        pairs=part.pairs,
        all_pairs=stages.pairs,
        sets=len(strata),
        requests=relative_margin(strata, requests),
        tokens=relative_margin(strata, dollars if priced else tokens),
    )


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

    def price_groups(self, groups: Iterator[Group]) -> dict[str, JudgePlan]:
        """The plan of groups that nothing follows from."""
        plans: dict[str, JudgePlan] = {}
        for group in groups:
            self._price_group(group, plans)
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
        """The plan of every cell, with replies of this many tokens imagined."""
        plans: dict[Cell, dict[str, JudgePlan]] = {}
        together = self._ask.choices_per_request
        waiting: deque[Group] = deque(grouped(enumerate(stages.first()), together, together=True))
        place = count()
        bound = self._ask.settings.get("max_tokens")
        characters = _CHARACTERS_IMAGINED * (tokens if bound is None else min(tokens, bound))
        while waiting:
            group = waiting.popleft()
            cell = stages.cell_of(group.tasks[0], together)
            ready, answers = self._price_group(group, plans.setdefault(cell, {}))
            for task, answer in zip(group.tasks, answers, strict=True):
                if answer is not None:
                    row = answer_row(task, ready, answer, cached=True, experiment="")
                else:
                    row = blank_row(task, ready, "")
                    row["raw_text"] = stages.imagined(task, ready.prompted, characters)
                for following in stages.follow_up(row):
                    waiting.append(Group((following,), ((next(place),),)))
        return plans

    def _price_group(
        self, group: Group, plans: dict[str, JudgePlan]
    ) -> tuple[Ready, list[Answer | None]]:
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
        waiting = sum(
            answer is None and key in self._in_batches
            for answer, key in zip(answers, keys, strict=True)
        )
        cached = sum(answer is not None for answer in answers)
        plan = plans.setdefault(name, JudgePlan(judge=name))
        plan.judgments += len(answers)
        plan.cached += cached
        plan.waiting += waiting
        missing = len(answers) - cached - waiting
        if missing:
            bound = self._ask.sampling.merge_settings(spec, group.tasks[0].condition).get(
                "max_tokens"
            )
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
    plan.add(
        JudgePlan(
            judge=plan.judge,
            requests=1,
            tokens_in=(characters / low, (characters + form) / high + 10),
            tokens_out=(shortest * choices, longest * choices),
        )
    )


def check_judges(judges: Mapping[str, JudgeSpec], *, timeout_s: float = 20.0) -> dict[str, str]:
    """Ask every endpoint for its list of models, which costs nothing.

    An endpoint without such a list passes: many servers have none. A list that does not name the
    model passes too, since servers list aliases differently; the first judgment will tell.

    Parameters
    ----------
    judges : mapping of name to JudgeSpec
    timeout_s : float
        Limit for one endpoint, in seconds.

    Returns
    -------
    dict
        What each endpoint said, by base URL, in a few words.

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
    {}
    """
    endpoints: dict[str, JudgeSpec] = {}
    for spec in judges.values():
        if spec.function is not None:
            spec.function.load()
        elif spec.local is not None:
            spec.launch()
        elif not spec.in_process:
            endpoints.setdefault(spec.base_url, spec)
    return asyncio.run(_ask_all(endpoints, timeout_s)) if endpoints else {}


async def _ask_all(endpoints: Mapping[str, JudgeSpec], timeout_s: float) -> dict[str, str]:
    answers = await asyncio.gather(*(_ask(s, timeout_s) for s in endpoints.values()))
    return dict(zip(endpoints, answers, strict=True))


async def _ask(spec: JudgeSpec, timeout_s: float) -> str:
    import openai

    from judgestats.collection.client import JudgeClient

    # The judges' own client: bounded in time and size, and no redirect carries the key elsewhere.
    async with JudgeClient(spec, connections=1, timeout_s=timeout_s) as client:
        try:
            reply = await client.models()
        except (openai.AuthenticationError, openai.PermissionDeniedError):
            # The server's own words are left out: some repeat the key in them.
            raise JudgeError(
                f"{spec.base_url} refuses the key. Set {key_hint(spec.base_url)} to one that it "
                "accepts."
            ) from None
        except openai.APITimeoutError:
            raise JudgeError(
                f"{spec.base_url} gave no answer within {timeout_s:g} s. Check base_url, and that "
                "the server is running."
            ) from None
        except openai.APIConnectionError as error:
            why = client.connection_failure(error.__cause__, 0.0).detail
            raise JudgeError(
                f"{spec.base_url} cannot be reached ({why}). Check base_url, and that the server "
                "is running."
            ) from None
        except openai.APIStatusError as error:
            return f"answers (no list of models: HTTP {error.status_code})"
        return f"answers ({len(reply.content)} bytes of models)"
