"""Parameters of pairs and of selections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from judgestats.data.columns import Condition
from judgestats.data.pairs import RULES
from judgestats.errors import InputError
from judgestats.protocols.explained import (
    GUIDELINE_SCALE,
    guideline_text,
    load_examples,
    with_guideline,
)
from judgestats.protocols.pairwise import Pairwise
from judgestats.protocols.pointwise import Pointwise
from judgestats.protocols.selection import READINGS, SELECTION_PROMPTS
from judgestats.runner.common_parameters import (
    AnswerParameters,
    CommonParameters,
    OwnReasoning,
    holds_guideline,
    prompt_of,
)
from judgestats.runner.design import Levels
from judgestats.runner.parameter_types import (
    ChoiceParam,
    Choices,
    IntParam,
    ListParam,
    ParsedParam,
    Temperature,
    parameter,
)

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

    pairs: Annotated[int | None, IntParam(4, or_word="all")] = parameter(
        "64", "Labelled pairs to judge (sampled by seed, across questions), or all", group="Data"
    )


class PairPromptParameters(PairParameters):
    """Of an experiment in which pairs are compared."""

    pair_prompt: str = parameter(
        "",
        "Text file of a pairwise prompt with {question}, {response_a} and {response_b}, "
        "e.g. pair.txt",
        group="Judges",
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
    disagreement: Annotated[str, ChoiceParam(*RULES)] = parameter(
        "tie",
        "Outcome of a pair whose two orders disagree: tie, first (order), or drop",
        group="Analysis",
    )
    examples: str = parameter(
        "",
        "JSON-lines file of worked examples shown before every comparison, e.g. examples.jsonl",
        group="Judges",
    )
    repeated: Annotated[tuple[str, ...] | None, Choices(*METHODS, or_word="all")] = parameter(
        "all", "Methods with repeats, at methods_at; the others run once; or all"
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
        lost="One method: its agreement with people is described, beside always saying tie, a "
        "random verdict and what people score against one another; methods are not compared.",
    ),
    Levels(
        parameter="series",
        count=_temperatures,
        lost="No method of series= is asked at several temperatures: whether temperature matters "
        "is not asked.",
    ),
)


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
        parameter(
            "",
            "Form of an option with {label} or {n} and {text}, e.g. [{label}]: {text}",
            group="Judges",
        )
    )


class SelectionParameters(_Options):
    """Of the experiment that shows all options in every rotation."""

    prompts: ListParam = parameter(
        ",".join(SELECTION_PROMPTS),
        "Judge prompts: 1-4, or text files with {question} and {options}",
        group="Judges",
    )
    distractor: Annotated[tuple[str, ...], Choices("no", "yes")] = parameter(
        "no,yes", "Distractor (an option that answers another question): no, yes, or both"
    )
    options: Annotated[int | None, IntParam(2, or_word="all")] = parameter(
        "all", _SHOWN, group="Data"
    )
    repeats: Annotated[int, IntParam(1, 100_000)] = parameter(
        "1",
        "Repeats of every rotation; 2 or more separate position from noise",
        logged="design/replicates",
        common=True,
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
            raise InputError(f"{name}: expected SET=NUMBER[,...], as in squad=20, got {part!r}.")
        sizes[source.strip()] = IntParam(1).read(f"{name}: {source.strip()}", number.strip())
    return sizes


class BestOfParameters(AnswerParameters, _Options):
    """Of the experiment on the best of several answers, which models may give first."""

    options: Annotated[int | None, IntParam(2, or_word="all")] = parameter(
        "5", _SHOWN, group="Data"
    )
    per_category: Annotated[int | None, IntParam(1, or_word="all")] = parameter(
        "all", "Questions per category (BBH task, SQuAD article, ...), or all", group="Data"
    )
    per_benchmark: Annotated[Mapping[str, int], ParsedParam(_sizes)] = parameter(
        "", "Largest number of questions per set (sampled by seed), e.g. squad=20", group="Data"
    )
    reading: Annotated[str, ChoiceParam(*READINGS)] = parameter(
        "judgestats",
        "Parser of replies; study reads only a letter behind 'Best Response:', as arXiv "
        "2412.12509 does",
        group="Analysis",
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
