"""The conditions of a design: every judge at every temperature, and whatever else is varied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Annotated, Any

from judgestats.errors import InputError
from judgestats.experiment.common_parameters import CommonParameters, settings_of
from judgestats.experiment.parameter_types import Read, parameter, read_names
from judgestats.judgments.design import Condition
from judgestats.judgments.settings import as_text, field_of, in_order


def crossed(parameters: CommonParameters, **factors: Sequence[str]) -> tuple[Condition, ...]:
    """Every judge at every temperature, with every level of what ``vary`` names, and of `factors`.

    Parameters
    ----------
    parameters : CommonParameters
    **factors : sequence of str
        Levels by the name of a factor of the design.

    Returns
    -------
    tuple of Condition

    Examples
    --------
    >>> given = VaryParameters.read({"judges": "j", "temperatures": "0.5", "vary": "top_p:0.5,1"})
    >>> [c.label for c in crossed(given, reasoning=["none"])]
    ['j, T=0.5, top_p=0.5, reasoning=none', 'j, T=0.5, top_p=1, reasoning=none']
    """
    vary = parameters.vary if isinstance(parameters, VaryParameters) else {}
    for name in vary:
        if name in settings_of(parameters):
            raise InputError(f"{name}: it is fixed and varied at once. Leave one out.")
    return tuple(
        Condition(
            judge=judge,
            temperature=temperature,
            factors=dict(zip(factors, levels, strict=True)),
            settings=dict(zip(vary, values, strict=True)),
        )
        for judge in parameters.judges
        for temperature in parameters.temperatures
        for values in product(*vary.values())
        for levels in product(*factors.values())
    )


def at_own_settings(
    conditions: Iterable[Condition], judges: Mapping[str, Mapping[str, Any]]
) -> tuple[Condition, ...]:
    """The conditions, those of a judge with a temperature of its own at that one alone.

    Parameters
    ----------
    conditions : iterable of Condition
    judges : mapping of name to settings
        What a file of judges fixes for each.

    Raises
    ------
    InputError
        A field is varied that the file fixes for a judge.

    Examples
    --------
    >>> both = [Condition(judge=j, temperature=t) for j in "ab" for t in (0.0, 1.0)]
    >>> [c.label for c in at_own_settings(both, {"b": {"temperature": None}})]
    ['a, T=0', 'a, T=1', 'b, T=default']
    """
    settings = []
    for condition in conditions:
        own = judges.get(condition.judge, {})
        for name in condition.settings:
            if name in own:
                raise InputError(
                    f"vary: {name} is fixed for {condition.judge!r} in the file of judges. "
                    "Leave one out."
                )
        temperature = own.get("temperature", condition.temperature)
        settings.append(replace(condition, temperature=temperature))
    return tuple(dict.fromkeys(settings))


def read_vary(name: str, text: str) -> dict[str, tuple[Any, ...]]:
    """Fields of the request with their levels, in order where they have one.

    Examples
    --------
    >>> read_vary("vary", "reasoning_effort:high,low; top_p:1,0.5")
    {'reasoning_effort': ('low', 'high'), 'top_p': (0.5, 1.0)}
    """
    varied: dict[str, tuple[Any, ...]] = {}
    for part in filter(None, (p.strip() for p in text.split(";"))):
        field, sign, listed = part.partition(":")
        field = field.strip()
        if not sign:
            raise InputError(
                f"{name}: expected FIELD:LEVEL,LEVEL[;...], as in "
                f"reasoning_effort:low,medium,high, got {part!r}."
            )
        if field == "temperature":
            raise InputError(f"{name}: temperatures are varied by temperatures=0,0.5,1.")
        levels = {as_text(v): v for v in map(field_of(field).read, read_names(field, listed))}
        if len(levels) < 2 or field in varied:
            raise InputError(f"{name}: give {field} once, with at least two levels.")
        varied[field] = tuple(levels[w] for w in in_order(field, levels) or levels)
    return varied


class VaryParameters(CommonParameters):
    """Of an experiment that may compare levels of any field of the request."""

    vary: Annotated[Mapping[str, tuple[Any, ...]], Read(read_vary)] = parameter(
        "", "further fields of the request to compare, as in reasoning_effort:low,medium,high"
    )
