"""A part of a collection in stages, drawn so that its price tells the price of the whole."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Cell = tuple[str, int]
"""An item, and a block of its repetitions: what shares calls with nothing outside it."""

_LEAST = 2
"""Cells drawn of a set at least: one alone says nothing of how much cells differ."""
_REST = "(small sets together)"


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """A set of the items, with the part of it that was drawn.

    Attributes
    ----------
    name : str
    cells : int
        All of the set.
    verdicts : int
        Final verdicts in all of them.
    drawn : mapping of Cell to int
        Those drawn, with the final verdicts in each.
    """

    name: str
    cells: int
    verdicts: int
    drawn: Mapping[Cell, int]


def strata_of(
    cells: Mapping[Cell, str], verdicts: Mapping[Cell, int], *, count: int, seed: int = 0
) -> tuple[Stratum, ...]:
    """Draw about `count` cells, from every set in proportion and from none fewer than two.

    Within a set every n-th cell is taken in its order, from a start that the seed draws: what
    follows one another there (subsets, repetitions) has its share.

    Parameters
    ----------
    cells : mapping of Cell to str
        Every cell and its set, in the plan's order.
    verdicts : mapping of Cell to int
        How many final verdicts are in it.
    count : int
        Where a set is small, more are drawn. Sets are put together, smallest first, where there
        are more than half as many as cells to be drawn.
    seed : int

    Returns
    -------
    tuple of Stratum
        Together they hold all cells; where all are drawn nothing is left to chance.

    Examples
    --------
    >>> cells = {(f"q{i}", 0): "large" if i < 90 else "small" for i in range(93)}
    >>> strata = strata_of(cells, dict.fromkeys(cells, 4), count=20)
    >>> [(s.name, s.cells, len(s.drawn)) for s in strata]
    [('large', 90, 19), ('small', 3, 2)]
    """
    by_set: dict[str, list[Cell]] = {}
    for cell, name in cells.items():
        by_set.setdefault(name, []).append(cell)
    sets = _joined(by_set, most=max(1, count // _LEAST))
    rng = random.Random(seed)
    strata = []
    for name, own in sets.items():
        share = round(count * len(own) / max(len(cells), 1))
        wanted = min(len(own), max(_LEAST, share))
        drawn = {cell: verdicts[cell] for cell in _every_nth(own, wanted, rng)}
        sizes = sum(verdicts[cell] for cell in own)
        strata.append(Stratum(name=name, cells=len(own), verdicts=sizes, drawn=drawn))
    return tuple(strata)


def _joined(by_set: Mapping[str, list[Cell]], *, most: int) -> dict[str, list[Cell]]:
    """At most so many sets: the smallest become one."""
    if len(by_set) <= most:
        return dict(by_set)
    order = sorted(by_set, key=lambda name: len(by_set[name]), reverse=True)
    kept = set(order[: most - 1])
    out: dict[str, list[Cell]] = {}
    for name, own in by_set.items():
        out.setdefault(name if name in kept else _REST, []).extend(own)
    return out


def _every_nth(own: Sequence[Cell], wanted: int, rng: random.Random) -> tuple[Cell, ...]:
    start = rng.random()
    places: Iterable[int] = (int((i + start) * len(own) / wanted) for i in range(wanted))
    return tuple(own[place] for place in dict.fromkeys(places))
