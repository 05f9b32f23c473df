"""The wordings of a judge's prompt that are compared: eight that ship, of scores or of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from judgestats.errors import InputError
from judgestats.experiment.own_prompts import OwnReasoning, own_reasoning
from judgestats.experiment.parameter_types import Choice, Read, Whole, parameter, read_names
from judgestats.protocols.base import JudgingProtocol
from judgestats.protocols.pointwise import Pointwise
from judgestats.protocols.probes import ProbedPairwise
from judgestats.protocols.template import PromptTemplate

_BUNDLED = {"scores": "pointwise", "pairs": "pairwise"}
_SHIPPED = 8


class WordingParameters(OwnReasoning):
    """Which wordings, and of what."""

    asks: Annotated[str, Choice(*_BUNDLED)] = parameter(
        "scores", "scores (of single answers) or pairs (which of two is better, in both orders)"
    )
    prompts: Annotated[tuple[str, ...], Read(read_names, or_word="", instead=())] = parameter(
        "",
        "prompts that ask for the same: bundled names, or text files of your own; the eight that "
        "ship (pointwise, pointwise_2 ... or pairwise, pairwise_2 ...) by default",
    )
    pairs: Annotated[int | None, Whole(4, or_word="all")] = parameter(
        "32", "with asks=pairs: how many pairs are compared (drawn by seed), or all"
    )


def wordings(parameters: WordingParameters) -> dict[str, str]:
    """Prompts by what they are called.

    Parameters
    ----------
    parameters : WordingParameters

    Returns
    -------
    dict of name to bundled name or path
    """
    if parameters.prompt:
        raise InputError("prompt: prompts compares several. Write prompts=one.txt,two.txt instead.")
    first = _BUNDLED[parameters.asks]
    shipped = (first, *(f"{first}_{k}" for k in range(2, _SHIPPED + 1)))
    listed = parameters.prompts or shipped
    names = [Path(p).stem for p in listed]
    if len(set(names)) < len(names):
        raise InputError(f"prompts: two files have the same name ({', '.join(names)}).")
    return dict(zip(names, listed, strict=True))


def worded_protocol(parameters: WordingParameters, wording: str) -> JudgingProtocol:
    """The protocol that asks in a wording.

    Parameters
    ----------
    parameters : WordingParameters
    wording : str
        One of `wordings`.

    Returns
    -------
    protocol
    """
    named = wordings(parameters)[wording]
    template = PromptTemplate.load(named, append=parameters.append != "none")
    reasoning = own_reasoning(parameters, template, "none")
    if parameters.asks == "pairs":
        return ProbedPairwise(
            template=template, reasoning=reasoning, pairs=parameters.pairs,
            seed=parameters.seed,
        )  # fmt: skip
    return Pointwise(template=template, scale=parameters.scale, reasoning=reasoning)
