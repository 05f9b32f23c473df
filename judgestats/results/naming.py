"""What conditions are called where they stand beside one another: by what tells them apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgestats.results.conclusions import Condition
from judgestats.results.numbers import is_number
from judgestats.results.results import Results

__all__ = ["Column", "columns_of", "named", "short_names", "with_names"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A condition: its label, what of it tells it from the others, and its judge (or run)."""

    label: str
    name: str
    group: str = ""


def columns_of(results: Results) -> tuple[str, tuple[Column, ...]]:
    """The conditions that a row answers for, and whatever else one does (a pair, a judge)."""
    used = dict.fromkeys(label for row in results.rows for label in row.cells)
    conditions = [c for c in results.conditions if c.label in used]
    if len(conditions) == len(used):
        return named(conditions)
    return "", tuple(Column(label=label, name=label) for label in used)


def short_names(results: Results) -> dict[str, str]:
    """The name of every condition by its label, one and the same on a screen and a page.

    Conditions of which no row of the screen tells anything keep their labels, unless none does.

    Examples
    --------
    >>> conditions = tuple(Condition(label=f"a, T={t:g}", judge="a", factors={"temperature": t})
    ...                    for t in (0.0, 1.0))
    >>> short_names(Results(experiment="x", question="?", results=(), conditions=conditions))
    {'a, T=0': 'T=0', 'a, T=1': 'T=1'}
    """
    labels = {c.label for c in results.conditions}
    _, columns = columns_of(results)
    if not columns or not labels.intersection(c.label for c in columns):
        _, columns = named(results.conditions)
    return {c.label: c.name for c in columns if c.label in labels}


def with_names(text: str, names: Mapping[str, str]) -> str:
    """A text in which conditions are called by their names in place of their labels.

    Examples
    --------
    >>> with_names("a, T=0.5 is better than a, T=0.", {"a, T=0": "T=0", "a, T=0.5": "T=0.5"})
    'T=0.5 is better than T=0.'
    """
    other = sorted((label for label, name in names.items() if label != name), key=len)
    if not other:
        return text
    labels = "|".join(re.escape(label) for label in reversed(other))
    return re.sub(rf"(?<!\w)({labels})(?!\.?\w)", lambda match: names[match[0]], text)


def named(conditions: Sequence[Condition]) -> tuple[str, tuple[Column, ...]]:
    """What conditions have in common, and what tells each from the others.

    Examples
    --------
    >>> conditions = [Condition(label=f"a, T={t:g}", judge="a", factors={"temperature": t})
    ...               for t in (0.0, 1.0)]
    >>> shared, columns = named(conditions)
    >>> shared, [c.name for c in columns]
    ('a', ['T=0', 'T=1'])
    """
    parts = [_parts(c) for c in conditions]
    names = list(dict.fromkeys(key for part in parts for key in part))
    common = [n for n in names if len({part.get(n, "") for part in parts}) == 1]
    if len(conditions) == 1:
        common = common[1:] if "judge" in common else []
    varied = [n for n in names if n not in common]
    spelled = [n for n in varied if n not in {"judge", "temperature"}]
    levels = {part[n].partition("=")[2] for part in parts for n in spelled if n in part}
    if len(spelled) == 1 and not any(map(is_number, levels)):
        [factor] = spelled  # words say by themselves what they are levels of
        parts = [
            part | ({factor: part[factor].removeprefix(f"{factor}=")} if factor in part else {})
            for part in parts
        ]
    own = [", ".join(part[k] for k in varied if k in part) for part in parts]
    if len(set(own)) < len(own) or not all(own):  # told apart by more than factors
        return "", tuple(Column(label=c.label, name=c.label, group=c.judge) for c in conditions)
    shared = ", ".join(parts[0][n] for n in common if parts[0].get(n)) if parts else ""
    return shared, tuple(
        Column(label=c.label, name=name, group=c.judge)
        for c, name in zip(conditions, own, strict=True)
    )


def _parts(condition: Condition) -> dict[str, str]:
    """The judge and every factor of a condition, as its name spells them."""
    parts = {"judge": condition.judge} if condition.judge else {}
    for factor, level in condition.factors.items():
        if level is None:
            continue
        value = f"{level:g}" if isinstance(level, float) else level
        parts[factor] = f"T={value}" if factor == "temperature" else f"{factor}={value}"
    return parts
