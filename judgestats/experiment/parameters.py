"""Reading an experiment's parameters: what was given, else its preset's, else by default.

MLflow hands every ``-P name=value`` on as ``--name value`` and validates nothing, so each parameter
is read and checked here, once, for `mlflow run` and for `judgestats run` alike.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import TypeVar

from judgestats.errors import InputError, nearest
from judgestats.experiment.common_parameters import settings_of
from judgestats.experiment.parameter_types import (
    BY_LEVEL,
    TRUTH,
    ParameterModel,
    parameters_of,
)
from judgestats.spelling import option

__all__ = ["parse_parameters", "settings_of", "split_arguments"]

P = TypeVar("P", bound=ParameterModel)


def split_arguments(arguments: Iterable[str], *, flags: Iterable[str] = ()) -> dict[str, str]:
    """``--name value``, ``--name=value`` and ``-P name=value``; dashes are underscores.

    Parameters
    ----------
    arguments : iterable of str
    flags : iterable of str
        Parameters that are true or false: alone they mean true.

    Examples
    --------
    >>> split_arguments(["--replicates", "20", "-P", "limit=5", "--dry-run"], flags=["dry_run"])
    {'replicates': '20', 'limit': '5', 'dry_run': 'true'}
    """
    given: dict[str, str] = {}
    rest = deque(arguments)
    while rest:
        head = rest.popleft()
        if head == "-P" and rest:
            head = f"-P{rest.popleft()}"
        start = "-P" if head.startswith("-P") else "--"
        name, sign, value = head.removeprefix(start).partition("=")
        named, dot, level = name.partition(".")
        name = f"{named.replace('-', '_')}{dot}{level}"
        if not head.startswith(start) or not name or (start == "-P" and not sign):
            raise InputError(f"expected --name value or -P name=value, got {head!r}.")
        if not sign:
            flag = name in set(flags) and (not rest or rest[0].lower() not in TRUTH)
            if not flag and not rest:
                raise InputError(f"--{name.replace('_', '-')} needs a value.")
            value = "true" if flag else rest.popleft()
        if name in given:
            raise InputError(f"{name} is given more than once.")
        given[name] = value
    return given


def _preset_texts(preset: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """A preset's values; options of its items only where those, or another copy, are judged."""
    texts = dict(preset)
    if "items" in given and _sets_in(given["items"]) != _sets_in(preset.get("items", "")):
        for name in ("item_options", "per_benchmark"):
            texts.pop(name, None)
    return texts


def _sets_in(items: str) -> list[str]:
    return [part.strip().partition(":")[0] for part in items.split(",")]


def parse_parameters(
    given: Mapping[str, str],
    model: type[P],
    *,
    experiment: str,
    defaults: Mapping[str, str] | None = None,
    presets: Mapping[str, Mapping[str, str]] | None = None,
) -> P:
    """Read every parameter: given value, else preset, else the experiment's default, else common.

    Parameters
    ----------
    given : mapping of name to text
        As the user wrote them.
    model : class of ParameterModel
        What the experiment takes.
    experiment : str
        For the message.
    defaults, presets : mapping
        The experiment's own defaults, and its named presets.

    Returns
    -------
    ParameterModel

    Raises
    ------
    InputError
        An unknown name (with the nearest known one) or a value that cannot be used.

    Examples
    --------
    >>> from judgestats.experiment.common_parameters import CommonParameters
    >>> parse_parameters({"limit": "20"}, CommonParameters, experiment="temperature").limit
    20
    """
    by_name = {p.name: p for p in parameters_of(model)}
    levels: dict[str, dict[str, str]] = {}
    for name, text in given.items():
        base, dot, level = name.partition(".")
        if dot and level and base in by_name and by_name[base].by_level:
            levels.setdefault(f"{base}{BY_LEVEL}", {})[level] = text
        elif name not in by_name:
            raise InputError(
                f"{experiment}: unknown parameter {name!r}.{nearest(name, by_name, shown=option)} "
                f"It takes: {', '.join(by_name)}."
            )
    texts = dict(defaults or {})
    preset = given.get("preset", "")
    if preset:
        if preset not in (presets or {}):
            names = ", ".join(presets or {}) or "none"
            raise InputError(f"preset: {experiment} has no preset {preset!r}. There are: {names}.")
        texts |= _preset_texts((presets or {})[preset], given)
    texts |= {name: text for name, text in given.items() if name in by_name}
    return model.read({**texts, **levels})
