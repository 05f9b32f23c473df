"""Items, parameters and strategies of the experiment on crowd comparative evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Annotated, Any

from judgestats.data.columns import Condition
from judgestats.errors import InputError
from judgestats.items.answers import with_answers
from judgestats.items.item_sets import check_there, layout_of, load_items
from judgestats.items.preference_sets import draw_labelled_pairs, majority_labels
from judgestats.items.records import Item
from judgestats.protocols.strategies import (
    ORDER_RULES,
    SELECTIONS,
    STAGE_PROMPTS,
    KeyPointStrategy,
    Strategy,
    Wording,
    requested_strategies,
    strategy,
)
from judgestats.runner.common_parameters import AnswerParameters
from judgestats.runner.design import Levels, crossed
from judgestats.runner.parameter_types import (
    ChoiceParam,
    Choices,
    IntParam,
    ListParam,
    OrNone,
    Pairs,
    Switch,
    Temperature,
    parameter,
    read_names,
)
from judgestats.runner.prepare import STAGE_JUDGES
from judgestats.runner.sources import limited, source_name

_MOST_PAIRS = 10**6


def _numbers(name: str, value: str) -> tuple[int, ...]:
    numbers = tuple(IntParam(0, 1024)(name, part) for part in read_names(name, value))
    if any(k > 1 and k % 2 for k in numbers):
        raise InputError(
            f"{name}: 0, 1 or even numbers (half of the judgments are about each candidate), got "
            f"{value!r}."
        )
    return tuple(sorted(numbers))


class StrategyParameters(AnswerParameters):
    """Of an experiment that compares strategies of judging."""

    prompt: str = parameter(
        "",
        "Vanilla prompt: bundled name, or text file with {question}, {response_a} and {response_b}",
        group="Judges",
        common=True,
    )
    prompts: Pairs = parameter(
        "",
        f"Your own text files for stages, e.g. crowd=mine.txt,removal=other.txt; stages are "
        f"{', '.join(STAGE_PROMPTS)}",
        group="Judges",
    )
    remover: str = parameter(
        "",
        "Model that removes verdicts from crowd judgments; by default the judge itself",
        group="Judges",
    )
    strategies: ListParam = parameter(
        "vanilla,cce",
        "Strategies to compare, e.g. vanilla,cce@4; without a number cce takes k judgments",
    )
    k: Annotated[int, IntParam(1, 1024)] = parameter(
        "4", "Judgments per strategy that names no number"
    )
    raised: Temperature = parameter("1", "Temperature of repeated votes")
    orders: Annotated[str, ChoiceParam(*ORDER_RULES)] = parameter(
        "both", "Orders of a pair: both, or balanced (half of the pairs in each)"
    )


class CrowdParameters(StrategyParameters):
    """Of the experiment on crowd comparative evaluation; ``repeats`` may be 1 here."""

    items: str = parameter(
        "bank",
        "Sets to judge, comma-separated: file, LAYOUT:PATH, published set (judgestats "
        "items list), or bank",
        group="Data",
        common=True,
    )
    points_judge: str = parameter(
        "",
        "Model that counts key points, for all judges; by default the judge itself",
        group="Judges",
    )
    limit: Annotated[int | None, IntParam(2, or_word="")] = parameter(
        "", "Largest number of questions per set, e.g. 20", group="Data", common=True
    )
    pairs: Annotated[int | None, IntParam(4, or_word="all")] = parameter(
        "24", "Labelled pairs per set (sampled by seed, across questions), or all", group="Data"
    )
    strategies: ListParam = parameter(
        "vanilla,long,plan,criteria,majority,aggregate,cce",
        "Strategies to compare, e.g. vanilla,majority@8,cce; those without a number take k",
    )
    scaling: Annotated[tuple[int, ...], OrNone(_numbers)] = parameter(
        "0,1,2,4,6", "Numbers of crowd judgments on the scaling curve, or none"
    )
    selections: Annotated[tuple[str, ...], Choices(*SELECTIONS, or_word="none", instead=())] = (
        parameter(
            "criticising,praising,balanced,random",
            "Selections of crowd judgments to compare, with and without verdicts, or none",
        )
    )
    selections_at: Annotated[tuple[int, ...], OrNone(_numbers)] = parameter(
        "4", "Numbers of judgments at which selections are compared"
    )
    ties: Switch = parameter("false", "Ties as a possible verdict")
    key_points: Annotated[int, IntParam(0, _MOST_PAIRS)] = parameter(
        "4", "Count key points on every n-th pair, e.g. 4; 0 counts none", group="Analysis"
    )
    repeats: Annotated[int, IntParam(1, 100_000)] = parameter(
        "2",
        "Repeats of every pipeline; 2 or more give its reliability",
        logged="design/replicates",
        common=True,
    )


def preference_pairs(parameters: CrowdParameters) -> tuple[Item, ...]:
    """The labelled pairs of one or several sets (``items=rewardbench:FILE,judgebench:FILE``).

    A pair's label is what most of its labels that decide say; pairs without such a majority are
    left out. With several sets the set becomes the category, by which accuracy is reported. Other
    responses of an item stay: they are its crowd. ``answers=FILE`` adds further ones, and
    ``answerers=`` has models write them.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    sources = [s.strip() for s in parameters.items.split(",") if s.strip()]
    _need_crowd(parameters, sources)
    check_there(sources)
    options: dict[str, Any] = dict(parameters.item_options)
    if parameters.map:
        options["mapping"] = parameters.map
    read_items: list[Item] = []
    for source in sources:
        name = _set_name(source)
        items, _ = majority_labels(load_items(source, **options))
        items = limited(items, parameters)
        if not items:
            raise InputError(
                f"items: no pair of {source!r} has a label that decides for one response, so "
                "there is nothing to be right about. Accuracy needs preference labels."
            )
        drawn = draw_labelled_pairs(
            items, limit=parameters.pairs, seed=parameters.seed, keep_responses=True
        )
        read_items += [_assign_set(item, name, several=len(sources) > 1) for item in drawn]
    if parameters.answers:
        return with_crowd(read_items, with_answers(read_items, parameters.answers))
    return tuple(read_items)


_PAIRS_ONLY = {"rewardbench", "helpsteer2", "judgebench", "evalbias", "offsetbias", "pandalm"}


def _need_crowd(parameters: CrowdParameters, sources: Sequence[str]) -> None:
    """Refuse crowd strategies on sets of bare pairs at once, before any set is read."""
    alone = [source for source in sources if layout_of(source) in _PAIRS_ONLY]
    crowd = [name for name in strategy_names(parameters) if name.startswith("cce")]
    if alone and crowd and not parameters.answers and not parameters.answerers:
        raise InputError(
            f"answerers: {crowd[0]} compares each candidate with a crowd, and the questions of "
            f"{', '.join(alone)} come with two responses and no further one. Say who answers, as "
            "answerers=MODEL,MODEL,... (the study: eleven models of very different size, each at "
            "two temperatures), or give answers as answers=FILE."
        )


def _set_name(source: str) -> str:
    return layout_of(source) or source_name(source).rpartition(".")[0] or source


def _assign_set(item: Item, name: str, *, several: bool) -> Item:
    """An item that knows its set; ids of several sets must not meet."""
    if not several:
        return item if item.category else replace(item, category=name)
    return replace(item, id=f"{name}/{item.id}", cluster=f"{name}/{item.cluster}", category=name)


def with_crowd(items: Sequence[Item], answered: Sequence[Item]) -> tuple[Item, ...]:
    """Items with further answers after their own responses, as the crowd of their pairs.

    Parameters
    ----------
    items : sequence of Item
        With the candidates and their labels.
    answered : sequence of Item
        The same items with the further answers only; items that nobody answered are left out.

    Returns
    -------
    tuple of Item
        An answer that repeats one of the item's own responses is not added.
    """
    given = {item.id: item.responses for item in answered}
    out = []
    for item in items:
        if item.id not in given:
            continue
        own = {response.text.strip() for response in item.responses}
        further = [r for r in given[item.id] if r.text.strip() not in own]
        out.append(replace(item, responses=(*item.responses, *further)))
    return tuple(out)


def strategy_names(parameters: CrowdParameters) -> tuple[str, ...]:
    """Every strategy that the parameters ask for, each once.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of str
    """
    return tuple(
        dict.fromkeys(chain.from_iterable(requested_strategies(parameters.values()).values()))
    )


_wording = cache(Wording)


def strategy_protocol(
    parameters: StrategyParameters, name: str, *, labelled_only: bool = True
) -> Strategy:
    """A strategy as the parameters want it asked.

    Parameters
    ----------
    parameters : CommonParameters
    name : str
    labelled_only : bool
        Only pairs with a label.

    Returns
    -------
    Strategy
    """
    wording = _wording(
        vanilla=parameters.prompt or "judge_vanilla",
        append=parameters.reply_instruction != "none",
        own=tuple(parameters.prompts.items()),
        orders=parameters.orders,
        ties=parameters.get("ties", False),
        labelled_only=labelled_only,
    )
    one = strategy(name, k=parameters.k, seed=parameters.seed, wording=wording)
    points = parameters.get("key_points", 0)
    return KeyPointStrategy(strategy=one, one_in=points, wording=wording) if points else one


def strategy_conditions(
    parameters: StrategyParameters, names: Iterable[str]
) -> tuple[Condition, ...]:
    """Every strategy, once, with every judge at every temperature.

    Parameters
    ----------
    parameters : CommonParameters
    names : iterable of str
        As a user writes them.

    Returns
    -------
    tuple of Condition
    """
    k, seed = parameters.k, parameters.seed
    full = {one.name: one for one in (strategy(name, k=k, seed=seed) for name in names)}
    _check_stages(parameters, full.values())
    return crossed(parameters, strategy=tuple(full))


def _check_stages(parameters: StrategyParameters, strategies: Iterable[Strategy]) -> None:
    """Refuse a model or a prompt for a stage that no strategy of the run has."""
    bundled = {template.name for one in strategies for template in one.templates}
    stages = [stage for stage, name in STAGE_PROMPTS.items() if name in bundled]
    if parameters.get("key_points"):
        stages.append("points")
    more = {"removal": "Add a strategy that removes verdicts, as cce", "points": "Say key_points=4"}
    for name, stage in STAGE_JUDGES.items():
        if (model := parameters.get(name)) and stage not in stages:
            raise InputError(
                f"{name}: this run has no {stage} stage, so that {model} would not be asked. "
                f"{more[stage]}, or leave {name} out."
            )
    for stage in parameters.prompts:
        if stage in STAGE_PROMPTS and stage not in stages:
            raise InputError(
                f"prompts: this run has no {stage} stage, so that "
                f"{parameters.prompts[stage]} would not be sent. Its stages: {', '.join(stages)}."
            )


CROWD_LEVELS = (
    Levels(
        parameter="strategies",
        count=lambda p: len(strategy_names(p)),
        example="vanilla,cce",
        lost="One strategy: its accuracy is reported by judge and set; strategies are not "
        "compared.",
    ),
    Levels(
        parameter="strategies",
        fewest=1,
        count=lambda p: strategy_names(p).count("vanilla"),
        lost="The vanilla judge is not asked, so no gain over it is reported: strategies are "
        "compared with one another only.",
    ),
)
