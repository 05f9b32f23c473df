"""What an experiment compares: refused where nothing is left to compare, said where a part is.

A run with one guideline, one judge or one temperature may cost as much as any other and answer
nothing, so this is checked before the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from judgestats.errors import InputError


class ByName(Protocol):
    """Whatever gives a parameter by its name."""

    def __getitem__(self, name: str, /) -> Any: ...


def _length(value: Any) -> int:
    """How many values there are; of several fields, each with its levels, the most of one."""
    if isinstance(value, Mapping):
        return max(map(len, value.values()), default=0)
    return value if isinstance(value, int) else len(value)


@dataclass(frozen=True, kw_only=True)
class Levels:
    """A parameter of which an experiment needs several values, or more than a few.

    Attributes
    ----------
    parameter : str
    lost : str
        What a run with too few of them does not answer, as a sentence; empty where nothing is left
        to answer, so that the run is refused.
    example : str
        Values that would do, for the refusal.
    fewest : int
    count : callable or None
        ``count(parameters)``: how many there are, if not simply the parameter's values.
    unless : str
        A parameter that leaves something to compare if it has several values: then nothing is
        refused, and `lost` is said.
    hint : str
        Behind the refusal: what else the user may have meant.
    """

    parameter: str
    lost: str = ""
    example: str = ""
    fewest: int = 2
    count: Callable[[Any], int] | None = None
    unless: str = ""
    hint: str = ""

    def enough(self, parameters: ByName) -> bool:
        """Whether there are as many as a comparison takes."""
        n_levels = self.count(parameters) if self.count else _length(parameters[self.parameter])
        return n_levels >= self.fewest

    def refused(self, parameters: ByName) -> bool:
        """Whether a run with what there is would answer nothing."""
        if self.enough(parameters):
            return False
        return not self.lost or (self.unless != "" and _length(parameters[self.unless]) < 2)


def several(parameters: Mapping[str, Any], name: str) -> bool:
    """Whether a parameter has more than one value.

    Examples
    --------
    >>> several({"judges": ("a", "b")}, "judges"), several({"judges": ("a",)}, "judges")
    (True, False)
    """
    return len(parameters[name]) > 1


def check_levels(levels: Iterable[Levels], parameters: ByName) -> tuple[str, ...]:
    """Refuse a run that compares nothing, and say what it will not answer.

    Parameters
    ----------
    levels : iterable of Levels
    parameters : CommonParameters

    Returns
    -------
    tuple of str
        What stays unanswered, a sentence each.

    Raises
    ------
    InputError
        Naming the parameter, and values that would do.

    Examples
    --------
    >>> guidelines = Levels(parameter="guidelines", example="none,anchors")
    >>> check_levels([guidelines], {"guidelines": ("none", "words")})
    ()
    >>> check_levels([guidelines], {"guidelines": ("none",)})
    Traceback (most recent call last):
        ...
    judgestats.errors.InputError: guidelines: 'none' alone leaves nothing to compare. Give at least 2, as in guidelines=none,anchors.
    """  # noqa: E501
    sentences = []
    for level in levels:
        if level.refused(parameters):
            value = parameters[level.parameter]
            raise InputError(
                f"{level.parameter}: {_shown(value)} leaves nothing to compare. Give at least "
                f"{level.fewest}, as in {level.parameter}={level.example}."
                + (f" {level.hint}" if level.hint else "")
            )
        if not level.enough(parameters):
            sentences.append(level.lost)
    return tuple(sentences)


def _shown(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    words = {None: "default"}  # a temperature that is left out
    names = ",".join(f"{v:g}" if isinstance(v, float) else words.get(v, str(v)) for v in value)
    return f"{names!r} alone"
