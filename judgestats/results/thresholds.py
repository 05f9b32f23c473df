"""What a user demands of a number, and whether a record keeps it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from judgestats.errors import InputError, nearest
from judgestats.results.conclusions import Row
from judgestats.results.estimands import ESTIMANDS
from judgestats.results.records import Comparison, Estimate
from judgestats.results.results import Results

Mark = Literal["", "kept", "missed"]


@dataclass(frozen=True)
class Threshold:
    """A row (by its key or its estimand) and the bound it must keep: ``min`` or ``max``.

    Examples
    --------
    >>> read_thresholds(["reliability=.8"], [])[0].text
    'reliability at least 0.8'
    """

    key: str
    side: Literal["min", "max"]
    bound: float

    @property
    def text(self) -> str:
        """As the screen states it."""
        return f"{self.key} at {'least' if self.side == 'min' else 'most'} {self.bound:g}"

    def meets(self, row: Row) -> bool:
        """Whether it is about this row."""
        return is_called(row, self.key)

    def mark(self, record: Estimate | Comparison) -> Mark:
        """Kept where the end of the interval that speaks against it keeps it.

        A number that is undefined keeps nothing, nor does one whose interval is not estimable;
        one that has none by its nature is taken as it stands.
        """
        if record.not_estimable:
            return "missed"
        value = record.estimate
        sized = self.side == "max" and holds_size(record.estimand, self.bound)
        if record.interval is not None and not math.isnan(value):
            value = record.interval.low if self.side == "min" else record.interval.high
            value = max(value, -record.interval.low) if sized else value
        elif sized:
            value = abs(value)
        kept = value >= self.bound if self.side == "min" else value <= self.bound
        return "kept" if kept else "missed"


def holds_size(estimand: str, bound: float) -> bool:
    """Whether a bound from above is one on a number's size, whatever its sign.

    It is where either sign speaks against a judge. A bound of 0 or below asks for a sign.

    Examples
    --------
    >>> holds_size("dif_log_odds", 0.5), holds_size("probe_shift", -1), holds_size("icc_1_1", 1)
    (True, False, False)
    """
    return bound > 0 and estimand in ESTIMANDS and ESTIMANDS[estimand].either


def is_called(row: Row, name: str) -> bool:
    """Whether a name is this row's key, its estimand, or what its run's metrics call it.

    Examples
    --------
    >>> row = Row(key="reliability", ask="", short="", estimand="icc_1_1",
    ...           cells={"a": "reliability.icc1.a"})
    >>> [is_called(row, n) for n in ("reliability", "icc_1_1", "reliability/icc1", "spread/sem")]
    [True, True, True, False]
    """
    if name in {row.key, row.estimand}:
        return True
    group, sign, last = name.partition("/")
    began = f"{group}.{last}."
    return bool(sign) and (
        last == row.estimand or any(i.startswith(began) for i in row.cells.values())
    )


def not_estimable(results: Results, name: str) -> frozenset[str]:
    """The conditions in which a number has no interval because these data bound nothing.

    Parameters
    ----------
    results : Results
    name : str
        As for `is_called`.
    """
    cells = {
        (label, i) for row in results.rows if is_called(row, name) for label, i in row.cells.items()
    }
    group, _, last = name.rpartition("/")
    began = f"{group}.{last}."
    lost = [record for record in results.results if record.not_estimable]
    ids = {record.id for record in lost}
    named = {label for label, i in cells if i in ids}
    for record in lost:
        is_it = group and (record.id.startswith(began) or getattr(record, "estimand", "") == last)
        if is_it and len(record.about.conditions) == 1:
            named.add(record.about.conditions[0])
    return frozenset(named)


def named_bounds(
    least: Sequence[str], most: Sequence[str], *, where: str = ""
) -> list[tuple[str, Literal["min", "max"], float]]:
    """Read ``name=number`` bounds: name, side and number of each.

    Examples
    --------
    >>> named_bounds(["reliability=.8"], [])
    [('reliability', 'min', 0.8)]
    """
    sides: tuple[tuple[Literal["min", "max"], Sequence[str]], ...] = (("min", least), ("max", most))
    read = []
    for side, texts in sides:
        for text in texts:
            key, sign, number = text.rpartition("=")
            try:
                bound = float(number)
            except ValueError:
                bound = math.nan
            if not sign or not key or not math.isfinite(bound):
                raise InputError(f"{where}--{side} expects NAME=NUMBER, got {text!r}.")
            read.append((key.strip(), side, bound))
    return read


def read_thresholds(
    least: Sequence[str], most: Sequence[str], rows: Sequence[Row] | None = None
) -> tuple[Threshold, ...]:
    """Read ``name=number`` thresholds.

    Parameters
    ----------
    least, most : sequence of str
    rows : sequence of Row, optional
        Those that can be named.

    Raises
    ------
    InputError
        One is not of this form, or names no row.
    """
    read = [Threshold(*bound) for bound in named_bounds(least, most)]
    for threshold in read if rows is not None else ():
        if not any(threshold.meets(row) for row in rows or ()):
            keys = [row.key for row in rows or ()]
            raise InputError(
                f"--{threshold.side}: no row is called {threshold.key!r}."
                f"{nearest(threshold.key, keys)} There are: {', '.join(keys) or 'none'}."
            )
    return tuple(read)
