"""What protocols of one call share: a verdict with or without its reasons, as schema and words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema
from judgestats.protocols.template import PromptTemplate


def explained_schema(
    name: str, description: str, verdict: Mapping[str, Any], *, called: str, reasoning: str
) -> ReplySchema:
    """A verdict, and its reasons where they are asked for, in the order asked for.

    Parameters
    ----------
    name, description : str
        Of the tool.
    verdict : mapping
        The verdict's own schema: a number is the field ``score``, a word ``choice``.
    called : str
        What the reasons are for: score, choice, verdict.
    reasoning : {"none", "before", "after"}

    Returns
    -------
    ReplySchema

    Examples
    --------
    >>> said = explained_schema("t", "d", {"type": "integer"}, called="score", reasoning="before")
    >>> list(said.schema["properties"])
    ['explanation', 'score']
    """
    field = "score" if verdict["type"] == "integer" else "choice"
    own = {field: dict(verdict)}
    explain = {"explanation": {"type": "string", "description": f"The reasons for the {called}."}}
    fields = {"none": own, "before": explain | own, "after": own | explain}[reasoning]
    return ReplySchema(
        name=name,
        description=description,
        schema={
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        },
    )


def explained_words(verdict: str, reasoning: str) -> str:
    """Whether and when the judge is to explain itself.

    Examples
    --------
    >>> explained_words("score", "none")
    'Reply with the score only.'
    """
    return {
        "none": f"Reply with the {verdict} only.",
        "before": f"Think step by step: first explain your judgment, then give the {verdict}.",
        "after": f"First give the {verdict}, then explain it.",
    }[reasoning]


def prompted(
    template: PromptTemplate,
    values: Mapping[str, str],
    *,
    mode: ReplyMode,
    schema: ReplySchema,
    seal: str = "",
) -> Prompted:
    """A template filled, with the reply's schema where the mode has one."""
    return Prompted(
        messages=template.ask(values, seal=seal),
        mode=mode,
        prompt_sha=template.sha,
        instruction=template.instruction(values),
        schema=None if mode is ReplyMode.TEXT else schema,
    )
