"""Parameters and protocols of experiments on labelled pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgestats.errors import InputError
from judgestats.experiment.levels import Levels
from judgestats.experiment.own_prompts import holds_guideline, prompt_of
from judgestats.experiment.parameters import (
    Parameter,
    read_choice,
    read_choices,
    read_optional_whole,
    read_temperatures,
    read_text,
)
from judgestats.judgments.design import Condition
from judgestats.judgments.pairs import RULES
from judgestats.protocols.examples import load_examples
from judgestats.protocols.guideline import GUIDELINE_SCALE, guideline_text, with_guideline
from judgestats.protocols.pairwise import Pairwise
from judgestats.protocols.pointwise import Pointwise
from judgestats.protocols.scale import Scale

__all__ = [
    "METHODS",
    "METHOD_LEVELS",
    "PAIRS",
    "PAIR_PARAMETERS",
    "REPEATED",
    "STUDY_PAIRS",
    "method_protocol",
    "method_trials",
    "read_one_temperature",
    "read_scales",
]

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


def read_one_temperature(name: str, value: str) -> float | None:
    """One temperature, where a parameter takes no more."""
    found = read_temperatures(name, value)
    if len(found) != 1:
        raise InputError(f"{name}: give one temperature, got {value!r}.")
    return found[0]


def read_scales(name: str, value: str) -> tuple[str, ...]:
    """Scales as ``lowest-highest``, each once.

    Examples
    --------
    >>> read_scales("scales", "1-5, 1-10")
    ('1-5', '1-10')
    """
    found = tuple(str(Scale.parse(part.strip())) for part in value.split(",") if part.strip())
    if not found or len(set(found)) < len(found):
        raise InputError(f"{name}: give scales such as 1-5,1-10, each once, got {value!r}.")
    return found


PAIRS = Parameter(
    name="pairs",
    default="64",
    read=read_optional_whole(4),
    help="how many labelled pairs are judged (drawn by seed, round the questions), or all",
)

PAIR_PARAMETERS = (
    PAIRS,
    Parameter(
        name="methods",
        default="pairwise,pairwise-before,pointwise,pointwise-before,pointwise-after,"
        "pointwise-guideline",
        read=read_choices(*METHODS),
        help=", ".join(METHODS),
    ),
    Parameter(
        name="methods_at",
        default="0.5",
        read=read_one_temperature,
        help="the temperature at which all methods are compared",
    ),
    Parameter(
        name="series",
        default="pointwise,pointwise-before",
        read=read_choices(*METHODS),
        help="methods that are asked at every temperature of temperatures=",
    ),
    Parameter(
        name="disagreement",
        default="tie",
        read=read_choice(*RULES),
        help="what a pair is where the two orders disagree: tie, first (order) or drop",
    ),
    Parameter(
        name="pair_prompt",
        default="",
        read=read_text,
        help="a text file for comparisons, with {question}, {response_a} and {response_b}",
    ),
    Parameter(
        name="examples",
        default="",
        read=read_text,
        help="a JSON-lines file of worked examples shown before every comparison",
    ),
)

REPEATED = Parameter(
    name="repeated",
    default="all",
    read=lambda name, value: None if value == "all" else read_choices(*METHODS)(name, value),
    help="methods asked replicates= times, at methods_at=; all others once; or all",
)

STUDY_PAIRS = "1,000 of MT-Bench's pairs with human labels, answers of six models"


def _methods(parameters: Mapping[str, Any]) -> int:
    """Methods compared: those asked, and the mean of all replications of ``pointwise``."""
    asked = parameters["methods"]
    return len(asked) + ("pointwise" in asked)


def _temperatures(parameters: Mapping[str, Any]) -> int:
    """Temperatures at which some method is asked."""
    if not set(parameters["series"]) & set(parameters["methods"]):
        return 1
    if parameters["temperatures"] == (None,):
        return 1
    return len({*parameters["temperatures"], parameters["methods_at"]})


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


def method_protocol(parameters: Mapping[str, Any], method: str) -> Pairwise | Pointwise:
    """The protocol of a method.

    Parameters
    ----------
    parameters : mapping
        The experiment's parameters, read.
    method : str
        One of `METHODS`.

    Returns
    -------
    Pairwise or Pointwise
    """
    kind, _, how = method.partition("-")
    reasoning = how if how in {"before", "after"} else "none"
    if kind == "pairwise":
        return Pairwise(
            template=prompt_of(
                {**parameters, "prompt": parameters["pair_prompt"]}, "pairwise", level=method
            ),
            reasoning=reasoning,
            labelled_only=True,
            examples=load_examples(parameters["examples"]) if parameters["examples"] else (),
        )
    template = prompt_of(parameters, "pointwise", level=method)
    if how == "guideline" and not holds_guideline(parameters, template, level=method):
        if parameters["scale"] != GUIDELINE_SCALE:
            raise InputError(
                f"methods: the guideline of {method} is written for the scale {GUIDELINE_SCALE}, "
                f"not {parameters['scale']}. Leave {method} out of methods= or keep "
                f"scale={GUIDELINE_SCALE}."
            )
        template = with_guideline(template, guideline_text("paragraphs", scale=parameters["scale"]))
    return Pointwise(template=template, scale=parameters["scale"], reasoning=reasoning)


def method_trials(parameters: Mapping[str, Any], condition: Condition) -> int:
    """How often a condition judges each thing: ``replicates`` times, or once.

    Parameters
    ----------
    parameters : mapping
        Read.
    condition : Condition

    Returns
    -------
    int
    """
    repeated = parameters["repeated"]
    often = repeated is None or (
        condition.factors["method"] in repeated
        and condition.temperature in (None, parameters["methods_at"])
    )
    return int(parameters["replicates"]) if often else 1
