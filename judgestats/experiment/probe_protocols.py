"""How each variant of a probe is asked: as a score, as a pair in both orders, as one of several."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from judgestats.experiment.conditions import crossed
from judgestats.experiment.own_prompts import OwnReasoning, own_reasoning, prompt_of
from judgestats.experiment.parameter_types import Pairs, Read, Whole, parameter
from judgestats.judgments.design import Condition
from judgestats.protocols.base import JudgingProtocol
from judgestats.protocols.probes import (
    OPTIONS,
    PAIRS,
    Probe,
    ProbedPairwise,
    ProbedPointwise,
    ProbedSelection,
    Variant,
    probes_named,
    scaled,
    variants_of,
)


class ProbeParameters(OwnReasoning):
    """Which probes, and what they are asked of."""

    probes: Annotated[tuple[Probe, ...], Read(probes_named)] = parameter(
        "all",
        "all, a kind (fair, scale, attack, control), what is asked (scores, pairs, options), or "
        "names (docs/experiments/probe.md)",
    )
    pairs: Annotated[int | None, Whole(4, or_word="all")] = parameter(
        "32",
        "how many pairs are compared (drawn by seed, round the questions; with people's labels "
        "where there are any), or all",
    )
    options: Annotated[int | None, Whole(3, or_word="all")] = parameter(
        "4", "responses shown where the best of several is chosen (drawn by seed), or all"
    )
    own: Pairs = parameter(
        "", "judge=author: whose answers are its own, if not those under its model's name"
    )
    pair_prompt: str = parameter(
        "", "a prompt for comparisons, with {question}, {response_a}, {response_b}, {context}"
    )


def probe_conditions(parameters: ProbeParameters) -> tuple[Condition, ...]:
    """Every judge at every temperature under every variant of the probes chosen."""
    return crossed(parameters, probe=list(_variants_asked(parameters)))


def probe_protocol(parameters: ProbeParameters, condition: Condition) -> JudgingProtocol:
    """The protocol that asks for what a condition's variant shows.

    Parameters
    ----------
    parameters : ProbeParameters
    condition : Condition
        With the factor ``probe``.

    Returns
    -------
    protocol
    """
    variant = _variants_asked(parameters)[condition.factors["probe"]]
    if variant.asks == "pairs":
        given = parameters.changed(prompt=parameters.pair_prompt)
        return ProbedPairwise(
            template=prompt_of(given, "pairwise", level=PAIRS),
            variant=variant,
            pairs=parameters.pairs,
            seed=parameters.seed,
        )
    if variant.asks == "options":
        return ProbedSelection(
            template=prompt_of(parameters.changed(prompt=""), "best_response", level=OPTIONS),
            variant=variant,
            options=parameters.options,
            seed=parameters.seed,
        )
    template = prompt_of(parameters, "pointwise")
    asked = ProbedPointwise(
        template=template,
        scale=parameters.scale,
        reasoning=own_reasoning(parameters, template, "none"),
        variant=variant,
        responses=parameters.responses,
        seed=parameters.seed,
    )
    return (scaled(asked) or asked) if variant.scale else asked


def _variants_asked(parameters: ProbeParameters) -> dict[str, Variant]:
    """What has to be judged, by name, without the scales that the run's prompt cannot ask for."""
    variants = variants_of(parameters.probes)
    if not any(v.scale for v in variants.values()):
        return variants
    plain = ProbedPointwise(template=prompt_of(parameters, "pointwise"), scale=parameters.scale)
    return {
        name: v
        for name, v in variants.items()
        if not v.scale or scaled(replace(plain, variant=v)) is not None
    }
