"""Sources of items and of pairs, crowd strategies, and their parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from judgestats.data.columns import RULES, Condition, Contrast
from judgestats.errors import InputError
from judgestats.items import Item, draw_candidates, with_answers
from judgestats.items.item_sets import check_there, layout_of, load_items, select_items
from judgestats.items.preference_sets import draw_labelled_pairs, majority_labels
from judgestats.protocols import Pairwise, Pointwise, response_names
from judgestats.protocols.explained import (
    GUIDELINE_SCALE,
    guideline_text,
    load_examples,
    with_guideline,
)
from judgestats.protocols.selection import READINGS, SELECTION_PROMPTS
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
from judgestats.runner.common_parameters import (
    AnswerParameters,
    CandidateParameters,
    CommonParameters,
    OwnReasoning,
    holds_guideline,
    prompt_of,
)
from judgestats.runner.design import Levels, crossed
from judgestats.runner.parameter_types import (
    ChoiceParam,
    Choices,
    IntParam,
    ListParam,
    OrNone,
    Pairs,
    ParsedParam,
    Switch,
    Temperature,
    analysis_option,
    data_option,
    judge_option,
    parameter,
    read_names,
)
from judgestats.stats.validity.label_draws import LABELS_DRAWN

Repeats = Annotated[int, IntParam(1, 100_000)]


def repeats_of(default: str, about: str) -> Any:
    """The parameter ``repeats``, where one may be enough."""
    return parameter(default, about, logged="design/replicates", common=True)


METHODS = (
    "pairwise",
    "pairwise-before",
    "pairwise-after",
    "pointwise",
    "pointwise-before",
    "pointwise-after",
    "pointwise-guideline",
)
"""Ways of asking: comparing or scoring, with reasoning before or after, with a guideline."""


class PairParameters(CommonParameters):
    """Of an experiment on labelled pairs."""

    pairs: Annotated[int | None, IntParam(4, or_word="all")] = data_option(
        "64", "Labelled pairs to judge (sampled by seed, across questions), or all"
    )


class PairPromptParameters(PairParameters):
    """Of an experiment in which pairs are compared."""

    pair_prompt: str = judge_option(
        "",
        "Text file of a pairwise prompt with {question}, {response_a} and {response_b}, "
        "e.g. pair.txt",
    )


class MethodParameters(PairPromptParameters):
    """Of the experiment that compares ways of asking."""

    methods: Annotated[tuple[str, ...], Choices(*METHODS)] = parameter(
        "pairwise,pairwise-before,pointwise,pointwise-before,pointwise-after,pointwise-guideline",
        f"Methods to compare: {', '.join(METHODS)}",
    )
    methods_at: Temperature = parameter("0.5", "Temperature at which all methods are compared")
    series: Annotated[tuple[str, ...], Choices(*METHODS)] = parameter(
        "pointwise,pointwise-before", "Methods to run at every temperature"
    )
    disagreement: Annotated[str, ChoiceParam(*RULES)] = analysis_option(
        "tie", "Outcome of a pair whose two orders disagree: tie, first (order), or drop"
    )
    examples: str = judge_option(
        "", "JSON-lines file of worked examples shown before every comparison, e.g. examples.jsonl"
    )
    repeated: Annotated[tuple[str, ...] | None, Choices(*METHODS, or_word="all")] = parameter(
        "all", "Methods with repeats, at methods_at (the others run once), or all"
    )


STUDY_PAIRS = "1,000 of MT-Bench's pairs with human labels, answers of six models"


def _methods(parameters: MethodParameters) -> int:
    """Methods compared: those asked, and the mean of all replications of ``pointwise``."""
    asked = parameters.methods
    return len(asked) + ("pointwise" in asked)


def _temperatures(parameters: MethodParameters) -> int:
    """Temperatures at which some method is asked."""
    if not set(parameters.series) & set(parameters.methods):
        return 1
    if parameters.temperatures == (None,):
        return 1
    return len({*parameters.temperatures, parameters.methods_at})


METHOD_LEVELS = (
    Levels(
        parameter="methods",
        count=_methods,
        lost="One method: its agreement with human labels is described, next to the verdict tie, a "
        "random verdict, and one human rater against another. Methods are not compared.",
    ),
    Levels(
        parameter="series",
        count=_temperatures,
        lost="No method of series= is asked at several temperatures: whether temperature matters "
        "is not asked.",
    ),
)


METHOD_CONTRASTS = (
    Contrast(
        vary="method",
        base="pointwise",
        margin=0.05,
        levels=("pointwise-before", "pointwise-after", "pointwise-guideline"),
    ),
    Contrast(vary="method", base="pairwise", levels=("pairwise-before",), margin=0.05),
)
"""Each way of asking against the plain one; the margin is that of alignment scores."""


def method_protocol(
    parameters: PairPromptParameters, method: str, *, examples: str = ""
) -> Pairwise | Pointwise:
    """The protocol of a method.

    Parameters
    ----------
    parameters : PairPromptParameters
    method : str
        One of `METHODS`.
    examples : str
        A file of worked examples for comparisons.

    Returns
    -------
    Pairwise or Pointwise
    """
    kind, _, how = method.partition("-")
    reasoning = how if how in {"before", "after"} else "none"
    if kind == "pairwise":
        return Pairwise(
            template=prompt_of(
                parameters.changed(prompt=parameters.pair_prompt), "pairwise", level=method
            ),
            reasoning=reasoning,
            labelled_only=True,
            examples=load_examples(examples) if examples else (),
        )
    template = prompt_of(parameters, "pointwise", level=method)
    if how == "guideline" and not holds_guideline(parameters, template, level=method):
        if parameters.scale != GUIDELINE_SCALE:
            raise InputError(
                f"methods: the guideline of {method} is written for the scale {GUIDELINE_SCALE}, "
                f"not {parameters['scale']}. Leave {method} out of methods= or keep "
                f"scale={GUIDELINE_SCALE}."
            )
        template = with_guideline(template, guideline_text("paragraphs", scale=parameters.scale))
    return Pointwise(template=template, scale=parameters.scale, reasoning=reasoning)


def method_trials(parameters: MethodParameters, condition: Condition) -> int:
    """How often a condition judges each thing: ``repeats`` times, or once.

    Parameters
    ----------
    parameters : CommonParameters
    condition : Condition

    Returns
    -------
    int
    """
    repeated = parameters.repeated
    often = repeated is None or (
        condition.factors["method"] in repeated
        and condition.temperature in (None, parameters.methods_at)
    )
    return int(parameters.repeats) if often else 1


_SHOWN = "Responses per item to show (sampled by seed), or all"


class _Options(OwnReasoning):
    option_template: Annotated[str, ParsedParam(lambda _, text: text.replace("\\n", "\n"))] = (
        judge_option("", "Form of an option with {label} or {n} and {text}, e.g. [{label}]: {text}")
    )


class SelectionParameters(_Options):
    """Of the experiment that shows all options in every rotation."""

    prompts: ListParam = judge_option(
        ",".join(SELECTION_PROMPTS),
        "Judge prompts: 1-4, or text files with {question} and {options}",
    )
    distractor: Annotated[tuple[str, ...], Choices("no", "yes")] = parameter(
        "no,yes", "Distractor (an option that answers another question): no, yes, or both"
    )
    options: Annotated[int | None, IntParam(2, or_word="all")] = data_option("all", _SHOWN)
    repeats: Repeats = repeats_of(
        "1", "Repeats of every rotation; 2 or more separate position from noise"
    )


def _sizes(name: str, text: str) -> dict[str, int]:
    """Numbers by the name of a set.

    Examples
    --------
    >>> _sizes("per_benchmark", "squad=20, bbh=27")
    {'squad': 20, 'bbh': 27}
    """
    sizes = {}
    for part in filter(None, map(str.strip, text.split(","))):
        source, sign, number = part.partition("=")
        if not sign:
            raise InputError(f"{name}: expected SET=NUMBER[,...], e.g. squad=20, got {part!r}.")
        sizes[source.strip()] = IntParam(1).read(f"{name}: {source.strip()}", number.strip())
    return sizes


class BestOfParameters(AnswerParameters, _Options):
    """Of the experiment on the best of several answers, which models may give first."""

    options: Annotated[int | None, IntParam(2, or_word="all")] = data_option("5", _SHOWN)
    per_category: Annotated[int | None, IntParam(1, or_word="all")] = data_option(
        "all", "Questions per category (BBH task, SQuAD article, ...), or all"
    )
    per_benchmark: Annotated[Mapping[str, int], ParsedParam(_sizes)] = data_option(
        "", "Largest number of questions per set (sampled by seed), e.g. squad=20"
    )
    reading: Annotated[str, ChoiceParam(*READINGS)] = analysis_option(
        "judgestats",
        "Parser of replies; study reads only a letter behind 'Best Response:', as arXiv "
        "2412.12509 does",
    )


SELECTION_LEVELS = (
    Levels(
        parameter="prompts",
        count=lambda p: 1 if p.prompt else len(p.prompts),
        lost="One judge prompt: what the prompt changes is not asked.",
    ),
    Levels(
        parameter="distractor",
        lost="Not judged both with and without an unrelated option: what it changes is not asked.",
    ),
)


_BENCHMARKS = {"bbh": "BBH", "squad": "SQuAD", "mt_bench": "MT-Bench", "oasst": "OASST"}


def one_source(parameters: CommonParameters) -> tuple[Item, ...]:
    """The items of ``items=``, at most ``limit=`` of them.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    return limited(load_items(parameters.items, **_options(parameters)), parameters)


def _options(parameters: CommonParameters) -> dict[str, Any]:
    """How the items are read: ``map=``, ``item_options=``, and whether questions are enough."""
    mapping = {"mapping": parameters.map} if parameters.map else {}
    answered = isinstance(parameters, AnswerParameters) and (
        parameters.answerers or parameters.answers
    )
    questions = {"questions": True} if answered else {}
    return {**mapping, **questions, **parameters.item_options}


def labelled(parameters: PairParameters) -> tuple[Item, ...]:
    """The items of ``items=`` with their labelled pairs only, ``pairs=`` of them.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    return draw_labelled_pairs(one_source(parameters), limit=parameters.pairs, seed=parameters.seed)


def candidates(parameters: CandidateParameters) -> tuple[Item, ...]:
    """The items of ``items=`` with ``candidates=`` responses each, or with those of ``answers=``.

    Where models answer first (``answerers=``), all their answers are the candidates.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    items: Sequence[Item] = load_items(parameters.items, **_options(parameters))
    if parameters.answers:
        items = with_answers(items, parameters.answers)
    elif parameters.answerers:
        return limited(items, parameters)
    drawn = draw_candidates(items, count=parameters.candidates, seed=parameters.seed)
    return limited(drawn, parameters)


def benchmarks(parameters: BestOfParameters) -> tuple[Item, ...]:
    """The items of several sources (``items=bbh:FOLDER,mt_bench:FOLDER``), with models' answers.

    Of MT-Bench the second turn is taken. Where ``answers=`` names a file, its answers replace an
    item's own, and questions that nobody answers are left out before any are drawn; where
    ``answerers=`` names models, the questions come without answers. Of each
    category ``per_category`` questions are drawn by seed, and of each set at most as many as
    ``per_benchmark`` says; then the category of an item becomes its benchmark, by which results are
    reported.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    read_items: list[Item] = []
    sources = [s.strip() for s in parameters.items.split(",") if s.strip()]
    check_there(sources)
    sizes = parameters.per_benchmark
    names = [layout_of(source) or source for source in sources]
    if strange := [name for name in sizes if name not in names]:
        raise InputError(
            f"per_benchmark: {strange[0]!r} is not one of the sets given ({', '.join(names)})."
        )
    for source, layout_of_source in zip(sources, map(layout_of, sources), strict=True):
        options = _options(parameters)
        if layout_of_source == "llm_reliability":  # drawn by its authors, of three benchmarks
            read_items += load_items(source, **options)
            continue
        if layout_of_source == "mt_bench":
            options["turn"] = 2
        items: Sequence[Item] = load_items(source, **options)
        if not _models_answer(parameters):
            items = _answered(items, parameters.answers, source)
        per_category = parameters.per_category
        if per_category is not None:
            most = per_category * len({item.category for item in items})
            items = select_items(items, limit=most, seed=parameters.seed)
        name = _BENCHMARKS.get(layout_of_source, source_name(source))
        items = [replace(item, category=name) for item in items]
        size = sizes.get(layout_of_source or source, len(items))
        read_items += select_items(items, limit=min(size, len(items)), seed=parameters.seed)
    return limited(read_items, parameters)


def referenced(parameters: AnswerParameters) -> tuple[Item, ...]:
    """The items of ``items=`` that have a true answer, with the answers of ``answers=`` if given.

    Where ``answerers=`` names models, they come without answers.

    Parameters
    ----------
    parameters : CommonParameters

    Returns
    -------
    tuple of Item
    """
    items: Sequence[Item] = load_items(parameters.items, **_options(parameters))
    if parameters.answers:
        items = with_answers(items, parameters.answers)
    asked = _models_answer(parameters)
    kept = [item for item in items if item.reference and (item.responses or asked)]
    if not kept:
        raise InputError(
            f"items: none of the {len(items)} items of {parameters['items']!r} has both a "
            "reference (the true answer) and a response to judge. Give a file with both, or "
            "the responses as answers=FILE, or models that answer as answerers=MODEL,..."
        )
    return limited(kept, parameters)


def _models_answer(parameters: AnswerParameters) -> bool:
    return bool(parameters.answerers) and not parameters.answers


def _answered(items: Sequence[Item], answers: str, source: str) -> Sequence[Item]:
    if answers:
        needed = any(len(item.responses) < 2 for item in items)
        given = {item.id: item for item in with_answers(items, answers, required=needed)}
        items = [given.get(item.id, item) for item in items]
    kept = [item for item in items if len(item.responses) > 1]
    if len(kept) == len(items) or (answers and kept):
        return kept
    raise InputError(
        f"items: {len(items) - len(kept)} of the {len(items)} questions of {source} have fewer "
        "than two answers to choose from. Give models' answers as answers=FILE (JSONL or CSV with "
        "item_id, author, answer), or models that answer first as answerers=MODEL,MODEL,..."
    )


def limited(items: Sequence[Item], parameters: CommonParameters) -> tuple[Item, ...]:
    """At most ``limit=`` of the items, drawn by seed."""
    limit = parameters.limit
    if limit is not None and limit < len(items):
        return select_items(items, limit=limit, seed=parameters.seed)
    return tuple(items)


def source_name(items: str) -> str:
    """What a run calls its items: names without folders.

    Examples
    --------
    >>> source_name("bbh:data/bbh,mt_bench:data/mt_bench"), source_name("bank")
    ('bbh, mt_bench', 'bank')
    """
    return ", ".join(Path(part.strip().rpartition(":")[2]).name for part in items.split(","))


def _from(name: str, value: str) -> float | None:
    if value == "middle":
        return None
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{name}: expected a number or middle, got {value!r}.") from None


def _table_or_designed(name: str, value: str) -> str:
    if value not in {"", "designed"}:
        from judgestats.data.readers.labels import labelled_ids

        if not Path(value).is_file():
            raise InputError(f"{name}: there is no file {value!r}. Give a table, or designed.")
        labelled_ids(Path(value))
    return value


def _shares(name: str, value: str) -> str:
    from judgestats.analysis.validity_raters import read_mix

    try:
        read_mix(value)
    except InputError as error:
        raise InputError(str(error).replace("mix:", f"{name}:", 1)) from None
    return value


class LabelParameters(CommonParameters):
    """Of an experiment that holds a judge to labels."""

    labels: str = data_option(
        "designed",
        "Table of human labels (item_id, label; annotator, chance), e.g. labels.csv; "
        "designed takes the designed quality of the bundled items",
    )
    labels_drawn: Annotated[str, ChoiceParam("", *LABELS_DRAWN)] = data_option(
        "", f"Sampling of the labelled answers: {', '.join(LABELS_DRAWN)}"
    )
    mix: Annotated[str, ParsedParam(_shares)] = analysis_option(
        "", "Shares of categories in production, for corrected rates, e.g. chat=.8,code=.2"
    )
    labelled: Annotated[int | None, IntParam(1, or_word="all")] = data_option(
        "100", "Answers that keep a designed label (sampled by seed), or all"
    )
    pass_from: Annotated[float | None, ParsedParam(_from)] = analysis_option(
        "middle", "Cut-off: human score from which an answer passes, e.g. 4, or middle of the scale"
    )
    verdicts: Annotated[tuple[str, ...], Choices("pass_fail", "score")] = parameter(
        "pass_fail,score", "Kinds of verdicts to ask for: pass_fail, score, or both"
    )
    repeats: Repeats = repeats_of("3", "Judgments per answer and condition, 1 or more")


class PeopleParameters(CommonParameters):
    """Of an experiment on scores: what their bias and variance are held to."""

    people: Annotated[str, ParsedParam(_table_or_designed)] = data_option(
        "",
        "Table of human scores (item_id, label), e.g. people.csv, for bias and variance; "
        "designed takes the designed quality of the bundled items",
    )


def with_known_labels(parameters: LabelParameters) -> tuple[Item, ...]:
    """The items of ``items=``, where there is a label for some of what is judged.

    Parameters
    ----------
    parameters : LabelParameters

    Returns
    -------
    tuple of Item

    Raises
    ------
    InputError
        No answer of the items has a label.
    """
    items = one_source(parameters)
    if parameters.labels == "designed":
        if not any(r.quality is not None for item in items for r in item.responses):
            raise InputError(
                f"labels=designed: no answer of {parameters['items']!r} has a designed quality. "
                "Give human labels as labels=FILE, with a column item_id and a column label."
            )
        return items
    from judgestats.data.readers.labels import labelled_ids

    ids = labelled_ids(Path(parameters.labels))
    names = [name for item in items for name in response_names(item)]
    clusters = {item.cluster for item in items}
    if not ids & {*names, *clusters}:
        raise InputError(
            f"labels: no label of {parameters['labels']} belongs to an answer of "
            f"{parameters['items']!r}. Answers there are called "
            f"{', '.join(map(repr, names[:3]))}, here {', '.join(map(repr, sorted(ids)[:3]))}."
        )
    return items


_MOST_PAIRS = 10**6


def _numbers(name: str, value: str) -> tuple[int, ...]:
    numbers = tuple(IntParam(0, 1024)(name, part) for part in read_names(name, value))
    if any(k > 1 and k % 2 for k in numbers):
        raise InputError(
            f"{name}: 0, 1 or even numbers (half of the judgments are about each candidate), got "
            f"{value!r}."
        )
    return tuple(sorted(numbers))


STAGE_JUDGES = {"remover": "removal", "points_judge": "points"}
"""Parameters that name a model for one stage, and the stage."""


class StrategyParameters(AnswerParameters):
    """Of an experiment that compares strategies of judging."""

    prompt: str = judge_option(
        "",
        "Vanilla prompt: bundled name, or text file with {question}, {response_a} and {response_b}",
        common=True,
    )
    prompts: Pairs = judge_option(
        "",
        f"Your own text files for stages, e.g. crowd=mine.txt,removal=other.txt; stages are "
        f"{', '.join(STAGE_PROMPTS)}",
    )
    remover: str = judge_option(
        "", "Model that removes verdicts from crowd judgments; by default the judge itself"
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

    items: str = data_option(
        "bank",
        "Sets to judge, comma-separated: file, LAYOUT:PATH, published set (judgestats "
        "items list), or bank",
        common=True,
    )
    points_judge: str = judge_option(
        "", "Model that counts key points, for all judges; by default the judge itself"
    )
    limit: Annotated[int | None, IntParam(2, or_word="")] = data_option(
        "", "Largest number of questions per set, e.g. 20", common=True
    )
    pairs: Annotated[int | None, IntParam(4, or_word="all")] = data_option(
        "24", "Labelled pairs per set (sampled by seed, across questions), or all"
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
    key_points: Annotated[int, IntParam(0, _MOST_PAIRS)] = analysis_option(
        "4", "Count key points on every n-th pair, e.g. 4; 0 counts none"
    )
    repeats: Repeats = repeats_of("2", "Repeats of every pipeline; 2 or more give its reliability")


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
        name = layout_of(source) or source_name(source).rpartition(".")[0] or source
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


_PAIRS_ONLY = {"rewardbench", "helpsteer2", "judgebench", "evalbias", "offsetbias"}


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
