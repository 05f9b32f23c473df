"""Scoring guidelines: how much a judge is told about what the points of the scale mean."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path

from judgestats.errors import InputError
from judgestats.protocols.scale import Scale
from judgestats.protocols.template import PromptTemplate

GUIDELINES = ("none", "anchors", "words", "paragraphs", "subscores")
"""The bundled levels, from nothing to a sum of sub-scores."""
GUIDELINE_SCALE = Scale(1, 10)
"""What the bundled levels are written for."""

_PLACE = "{guideline}"
_MAX_CHARS = 50_000


def guideline_level(name_or_path: str) -> str:
    """What a level is called in results: a bundled name as it is, a file by its stem.

    Examples
    --------
    >>> guideline_level("texts/my rubric.txt")
    'my rubric'
    """
    return name_or_path if name_or_path in GUIDELINES else Path(name_or_path).stem


def guideline_text(name_or_path: str, *, scale: Scale | None = None) -> str:
    """The text of a guideline: bundled, by name, or a user's own file.

    Parameters
    ----------
    name_or_path : str
    scale : Scale, optional
        The scale in use. The bundled texts speak of 1-10.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If there is no such guideline or file, or it does not fit the scale.

    Examples
    --------
    >>> guideline_text("none")
    ''
    >>> "mediocre" in guideline_text("anchors")
    True
    """
    if name_or_path in GUIDELINES:
        if name_or_path != "none" and scale is not None and scale != GUIDELINE_SCALE:
            raise InputError(
                f"guidelines: the bundled guideline {name_or_path!r} is written for the scale "
                f"1-10, not {scale}. Use scale=1-10, or give text files of your own."
            )
        folder = resources.files("judgestats.protocols").joinpath("guidelines")
        return folder.joinpath(f"{name_or_path}.txt").read_text(encoding="utf-8").strip()
    path = Path(name_or_path)
    if not path.is_file():
        raise InputError(
            f"guidelines: there is no file {name_or_path!r}, and no bundled guideline of that name "
            f"(there are: {', '.join(GUIDELINES)})."
        )
    try:
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise InputError(f"guidelines: {name_or_path} is not UTF-8 text ({error}).") from error
    if not text or len(text) > _MAX_CHARS:
        raise InputError(
            f"guidelines: {name_or_path} must hold 1 to {_MAX_CHARS} characters, got {len(text)}. "
            "For no guideline at all write none."
        )
    return text


def with_guideline(template: PromptTemplate, text: str) -> PromptTemplate:
    """The prompt with a guideline in its place, so that the prompt's hash tells levels apart.

    Raises
    ------
    InputError
        If the prompt has no ``{guideline}``.

    Examples
    --------
    >>> t = PromptTemplate(text="{question} {response} {guideline}", name="mine")
    >>> with_guideline(t, "10 is best.").text
    '{question} {response} 10 is best.'
    """
    if "guideline" not in template.placeholders:
        raise InputError(
            f"prompt {template.name!r}: the text lacks {{guideline}}, so all guidelines would ask "
            "alike. Put {guideline} where the guideline belongs."
        )
    return replace(template, text=template.text.replace(_PLACE, text))
