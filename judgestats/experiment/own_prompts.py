"""A user's own prompts in a run: which is asked at which level, and what is refused of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated

from judgestats.errors import InputError, nearest
from judgestats.experiment.common_parameters import CommonParameters
from judgestats.experiment.parameter_types import Choice, parameter
from judgestats.items.schema import Item
from judgestats.judges.spec import JudgeSpec
from judgestats.judgments.design import Condition
from judgestats.protocols.answer_prompt import AnswerPrompt
from judgestats.protocols.base import JudgingProtocol
from judgestats.protocols.own_text import check_places
from judgestats.protocols.pointwise import REASONING
from judgestats.protocols.template import PromptTemplate


class OwnReasoning(CommonParameters):
    """Of an experiment in which a prompt of one's own may ask for an explanation."""

    reasoning: Annotated[str, replace(Choice(*REASONING), or_word="", instead="")] = parameter(
        "",
        "none, before, after: whether a prompt of your own has the judge explain itself, and when "
        "(the order of the reply's fields follows it)",
    )


def prompt_of(parameters: CommonParameters, bundled: str, *, level: str = "") -> PromptTemplate:
    """The prompt of a level: ``prompt.LEVEL=``, else ``prompt=``, else the bundled one.

    Parameters
    ----------
    parameters : CommonParameters
    bundled : str
    level : str

    Returns
    -------
    PromptTemplate
    """
    own = parameters.prompt_by_level.get(level) or parameters.prompt
    return PromptTemplate.load(own or bundled, append=parameters.append != "none")


def holds_guideline(parameters: CommonParameters, template: PromptTemplate, *, level: str) -> bool:
    """Whether a level's prompt is one of your own for it, which needs no guideline put in."""
    return level in parameters.prompt_by_level and "guideline" not in template.placeholders


def own_reasoning(parameters: OwnReasoning, template: PromptTemplate, usual: str) -> str:
    """Whether and when the judge explains itself: as ``reasoning=`` says of a prompt of one's own.

    Raises
    ------
    InputError
        Of a bundled prompt another kind is asked for than its text says.
    """
    wanted = parameters.reasoning
    if wanted and wanted != usual and template.ours:
        raise InputError(
            f"reasoning: the bundled prompt {template.name} has its own (reasoning={usual}). Give "
            "a prompt of your own with it, as in prompt=mine.txt."
        )
    return wanted or usual


def templates_of(protocol: JudgingProtocol) -> tuple[PromptTemplate, ...]:
    """The prompt texts that a protocol uses."""
    own = getattr(protocol, "templates", None) or (getattr(protocol, "template", None),)
    return tuple(template for template in own if template is not None)


def check_own_prompts(
    parameters: CommonParameters,
    protocols: Mapping[Condition, JudgingProtocol],
    items: Iterable[Item],
    judges: Mapping[str, JudgeSpec],
    answering: AnswerPrompt | None,
) -> None:
    """Refuse what would send another prompt than a user thinks, before anything is asked.

    Parameters
    ----------
    parameters : CommonParameters
    protocols : mapping of Condition to protocol
    items : iterable of Item
    judges : mapping of str to JudgeSpec
    answering : AnswerPrompt or None
        How models are asked that answer first.

    Raises
    ------
    InputError
        ``prompt.LEVEL=`` names no level; ``append=none`` without a prompt of one's own, or where a
        judge may be asked for plain text without a word on its form; a text without a place for
        what the questions hold.
    """
    levels = list(dict.fromkeys(v for c in protocols for v in map(str, c.factors.values())))
    for level in parameters.prompt_by_level:
        if level not in levels:
            there = f"There are: {', '.join(levels)}." if levels else "All are asked alike."
            near = nearest(level, levels)
            raise InputError(f"prompt.{level}: {level!r} is no level of this run.{near} {there}")
    used = list(dict.fromkeys(t for p in protocols.values() for t in templates_of(p)))
    if parameters.append == "none":
        _check_verbatim(parameters, used, judges)
    items = tuple(items)
    for template in [*used, *([answering.template] if answering else [])]:
        check_places(template, items)


def _check_verbatim(
    parameters: CommonParameters, used: Iterable[PromptTemplate], judges: Mapping[str, JudgeSpec]
) -> None:
    if all(template.ours for template in used):
        raise InputError(
            "append=none: every prompt of this run ships with judgestats and says itself where the "
            "reply instruction stands. It is for a prompt of your own: prompt=FILE."
        )
    unsaid = [name for name, spec in judges.items() if spec.reply_mode is None]
    if parameters.reply == "auto" and unsaid:
        raise InputError(
            f"append=none: with reply=auto, {unsaid[0]} may be asked for plain text, which needs a "
            "word on its form. Say reply=json_schema or reply=tool (the form is then a field of "
            "the request, and nothing stands in the prompt), or reply=text where your prompt says "
            "how the verdict is written."
        )
