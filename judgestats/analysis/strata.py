"""Strata: the conditions that differ in one thing only, and so can be compared by item."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from judgestats.judgments.settings import heat, in_order
from judgestats.judgments.shapes import ScoreArray
from judgestats.results import About
from judgestats.results.numbers import is_number


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """Conditions that differ in one thing only.

    Attributes
    ----------
    name : str
        What they share: ``sim-typical at T=0.5``.
    conditions : tuple of str
        Labels of the conditions.
    labels : tuple of str
        What they differ in.
    at : tuple of float or None
        The numbers behind the labels, where these are ordered.
    varied : str
        The factor that they differ in.
    factors : mapping of str to level
        What they share; ``judge`` among it, unless judges are compared.
    """

    name: str
    conditions: tuple[str, ...]
    labels: tuple[str, ...]
    at: tuple[float, ...] | None = None
    varied: str = ""
    factors: Mapping[str, str | float | None] = field(default_factory=dict)

    def scores(self, array: ScoreArray) -> np.ndarray[tuple[int, int, int], np.dtype[np.float64]]:
        """Items x levels x replications."""
        return np.stack([array.condition(c) for c in self.conditions], axis=1)

    @property
    def about(self) -> About:
        """The stratum as the subject of a result."""
        rest = {name: level for name, level in self.factors.items() if name != "judge"}
        return About(
            judge=str(self.factors.get("judge") or ""),
            stratum=self.name,
            conditions=self.conditions,
            varied=self.varied,
            factors=rest,
        )

    @property
    def levels(self) -> dict[str, str]:
        """The conditions by what they differ in."""
        return dict(zip(self.labels, self.conditions, strict=True))


def strata_of(
    cells: pd.DataFrame, *, vary: str, least: int = 2, ordered: bool = False
) -> tuple[Stratum, ...]:
    """The strata in which `vary` takes at least `least` levels.

    A condition of which no judgment could be read is in none of them: no item has all conditions
    then, and those that were read could not be compared either.

    Parameters
    ----------
    cells : DataFrame
        One row a condition, with ``judge``, ``temperature`` and ``factor_*``; and ``n_ok``, the
        judgments read, where it is known.
    vary : str
        ``"judge"``, ``"temperature"`` or ``"factor_<name>"``.
    least : int
    ordered : bool
        Whether the levels of a factor are put in their order, where they have one; temperatures are
        ordered in any case.

    Returns
    -------
    tuple of Stratum
        In order of appearance.

    Examples
    --------
    >>> cells = pd.DataFrame({"condition": ["j, T=0", "j, T=1"], "judge": ["j", "j"],
    ...                       "temperature": [0.0, 1.0]})
    >>> [(s.name, s.labels) for s in strata_of(cells, vary="temperature")]
    [('j', ('T=0', 'T=1'))]
    """
    if "n_ok" in cells:
        cells = cells[cells["n_ok"] > 0]
    keys = ["judge", "temperature", *(c for c in cells.columns if c.startswith("factor_"))]
    shared = [k for k in keys if k != vary]
    strata = []
    for _, group in cells.groupby(shared, sort=False, dropna=False):
        if len(group) < least:
            continue
        chosen = group
        at: tuple[float, ...] | None = None
        if vary == "temperature":
            at = tuple(float(v) for v in chosen[vary])
        elif ordered and (levels := in_order(vary.removeprefix("factor_"), chosen[vary])):
            chosen = chosen.set_index(vary, drop=False).loc[list(levels)]
            at = tuple(float(place) for place in range(len(levels)))
        strata.append(
            Stratum(
                name=_stratum_name(chosen.iloc[0], shared),
                conditions=tuple(chosen["condition"]),
                labels=tuple(_level(vary, v) for v in chosen[vary]),
                at=at,
                varied=_factor(vary),
                factors={_factor(k): _shared(chosen.iloc[0][k]) for k in shared},
            )
        )
    return tuple(strata)


def _factor(column: str) -> str:
    return column.removeprefix("factor_")


def _shared(value: object) -> str | float | None:
    """A factor's level; None where it is the server's default, or the factor does not apply."""
    if isinstance(value, (int, float)):
        return None if math.isnan(value) else float(value)
    return str(value)


def _level(key: str, value: object) -> str:
    """A level as it is told from others: a bare number would not say of what."""
    level = str(value)
    if key == "temperature":
        return heat(float(level))
    return f"{_factor(key)}={level}" if is_number(level) else level


def _stratum_name(row: pd.Series, shared: Sequence[str]) -> str:
    """``sim-typical at T=0.5``: no comma, so that it can stand at the end of a title."""
    rest = [_level(k, row[k]) for k in shared if k == "temperature"]
    rest += [_level(k, row[k]) for k in shared if k.startswith("factor_") and str(row[k]) != "nan"]
    where = " and ".join(rest)
    judge = str(row["judge"]) if "judge" in shared else ""
    return f"{judge} at {where}" if judge and where else judge or where
