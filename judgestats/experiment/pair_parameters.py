"""Parameters and protocols of experiments on labelled pairs."""

from __future__ import annotations

from typing import Annotated

from judgestats.errors import InputError
from judgestats.experiment.common_parameters import CommonParameters
from judgestats.experiment.levels import Levels
from judgestats.experiment.own_prompts import holds_guideline, prompt_of
from judgestats.experiment.parameter_types import (
    Choice,
    Choices,
    Temperature,
    Whole,
    parameter,
)
from judgestats.judgments.design import Condition
from judgestats.judgments.pairs import RULES
from judgestats.protocols.examples import load_examples
from judgestats.protocols.guideline import GUIDELINE_SCALE, guideline_text, with_guideline
from judgestats.protocols.pairwise import Pairwise
from judgestats.protocols.pointwise import Pointwise

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

    pairs: Annotated[int | None, Whole(4, or_word="all")] = parameter(
        "64", "how many labelled pairs are judged (drawn by seed, round the questions), or all"
    )


class PairPromptParameters(PairParameters):
    """Of an experiment in which pairs are compared."""

    pair_prompt: str = parameter(
        "", "a text file for comparisons, with {question}, {response_a} and {response_b}"
    )


class MethodParameters(PairPromptParameters):
    """Of the experiment that compares ways of asking."""

    methods: Annotated[tuple[str, ...], Choices(*METHODS)] = parameter(
        "pairwise,pairwise-before,pointwise,pointwise-before,pointwise-after,pointwise-guideline",
        ", ".join(METHODS),
    )
    methods_at: Temperature = parameter("0.5", "the temperature at which all methods are compared")
    series: Annotated[tuple[str, ...], Choices(*METHODS)] = parameter(
        "pointwise,pointwise-before", "methods that are asked at every temperature of temperatures="
    )
    disagreement: Annotated[str, Choice(*RULES)] = parameter(
        "tie", "what a pair is where the two orders disagree: tie, first (order) or drop"
    )
    examples: str = parameter(
        "", "a JSON-lines file of worked examples shown before every comparison"
    )
    repeated: Annotated[tuple[str, ...] | None, Choices(*METHODS, or_word="all")] = parameter(
        "all", "methods asked replicates= times, at methods_at=; all others once; or all"
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
    """How often a condition judges each thing: ``replicates`` times, or once.

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
    return int(parameters.replicates) if often else 1
