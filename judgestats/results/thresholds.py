"""What a user demands of a number, and whether a record keeps it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from judgestats.errors import InputError, nearest, printable
from judgestats.results.metric_names import (
    ALIASES,
    is_called,
    metric_called,
    quantities_of,
    quantity_of_metric,
)
from judgestats.results.numbers import columns_of
from judgestats.results.quantities import QUANTITIES
from judgestats.results.quantities.entry import Direction
from judgestats.results.records import Comparison, Estimate, Interval, Row
from judgestats.results.results import Results

Mark = Literal["", "kept", "missed"]
Side = Literal["min", "max"]
Spelled = Callable[[Side, str, str], str]
"""How a bound is written where it was given: by its side, name and number."""


class Bound(NamedTuple):
    """A quantity's name, the side that is bounded, and the number, also as it was typed."""

    name: str
    side: Side
    bound: float
    written: str


@dataclass(frozen=True)
class Threshold:
    """A row (by its key or its estimand) and the bound it must keep: ``min`` or ``max``.

    Examples
    --------
    >>> read_thresholds(["reliability>=.8"])[0].text
    'reliability at least 0.8'
    """

    key: str
    side: Side
    bound: float
    written: str = ""

    @property
    def text(self) -> str:
        """As the screen states it."""
        return f"{self.key} at {'least' if self.side == 'min' else 'most'} {self.bound:g}"

    def meets(self, row: Row) -> bool:
        """Whether it is about this row."""
        return is_called(row, self.key)

    def mark(self, record: Estimate | Comparison, better: Direction) -> Mark:
        """Kept where the end of the interval that speaks against it keeps it.

        A number that is undefined keeps nothing, nor does one whose interval is not estimable;
        one that has none by its nature is taken as it stands. `better` is the quantity's direction.
        """
        if record.not_estimable:
            return "missed"
        value = record.estimate
        sized = self.side == "max" and holds_size(better, self.bound)
        if record.interval is not None and not math.isnan(value):
            value = record.interval.low if self.side == "min" else record.interval.high
            value = max(value, -record.interval.low) if sized else value
        elif sized:
            value = abs(value)
        kept = value >= self.bound if self.side == "min" else value <= self.bound
        return "kept" if kept else "missed"


def holds_size(better: Direction, bound: float) -> bool:
    """Whether a bound from above is one on a number's size, whatever its sign.

    It is where either sign speaks against a judge. A bound of 0 holds the number itself.

    Examples
    --------
    >>> holds_size("nothing", 0.5), holds_size("nothing", 0), holds_size("lower", 1)
    (True, False, False)
    """
    return bound > 0 and better == "nothing"


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


SIGNS: Mapping[Side, str] = {"min": ">=", "max": "<="}
"""How a side is written."""


def as_option(side: Side, name: str, number: str) -> str:
    """A bound as a command takes it.

    Examples
    --------
    >>> as_option("max", "sem", ".5")
    "--require 'sem<=.5'"
    >>> print(as_option("min", "one score's reliability", ".8"))
    --require "one score's reliability>=.8"
    """
    text = f"{name}{SIGNS[side]}{number}"
    plain = "'" in text and not set(text) & set('"$`\\!')
    quoted = f'"{text}"' if plain else shlex.quote(text)
    return f"--require {quoted}"


def named_bounds(required: Sequence[str], *, where: str = "") -> list[Bound]:
    """Read ``name>=number`` and ``name<=number`` bounds.

    Examples
    --------
    >>> named_bounds(["reliability>=.8"])
    [Bound(name='reliability', side='min', bound=0.8, written='.8')]
    """
    read = []
    for text in required:
        side: Side = "min" if ">=" in text else "max"
        name, sign, number = text.rpartition(SIGNS[side])
        try:
            bound = float(number)
        except ValueError:
            bound = math.nan
        if not sign or not name.strip() or not math.isfinite(bound):
            raise InputError(
                f"{where}--require expects NAME>=NUMBER or NAME<=NUMBER, got {text!r}. Put it in "
                "quotes, or the shell takes > for a file."
            )
        read.append(Bound(name.strip(), side, bound, number.strip()))
    return read


def refuse_wrong_side(
    bounds: Iterable[Bound],
    rows: Sequence[Row] = (),
    metrics: Iterable[str] = (),
    *,
    spelled: Spelled = as_option,
) -> None:
    """Refuse a bound on the side that speaks for a judge, and one that no number can miss.

    Parameters
    ----------
    bounds : iterable of Bound
    rows : sequence of Row
        Those that can be named; without any, a name is looked up in the registry.
    metrics : iterable of str
        Names of the metrics that can be named.
    spelled : callable
        Writes the right bound as the user gave the wrong one.

    Raises
    ------
    InputError
        It shows the bound that is right, with the user's own number.

    Examples
    --------
    >>> refuse_wrong_side(named_bounds(["reliability<=.8", "mean<=4"]))
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: reliability: higher is better, so --require 'reliability<=.8'
    would pass the worst judge. Write --require 'reliability>=.8'.
    """
    metrics = list(metrics)
    for name, side, bound, written in bounds:
        for quantity in quantities_of(name, rows, metrics):
            entry, shown = QUANTITIES.get(quantity.estimand), printable(name, one_line=True)
            wrong = spelled(side, shown, written)
            zero = entry.nothing if entry and not math.isnan(entry.nothing) else 0.0
            away = bound > zero if side == "min" else bound < zero
            other: Side = "max" if side == "min" else "min"
            if quantity.better == ("lower" if side == "min" else "higher"):
                raise InputError(
                    f"{shown}: {quantity.better} is better, so {wrong} would pass the worst "
                    f"judge. Write {spelled(other, shown, written)}."
                )
            if quantity.better == "nothing" and away:
                right = spelled("max", shown, written.lstrip("+-"))
                raise InputError(
                    f"{shown}: {zero:g} is best and either sign counts against a judge, so {wrong} "
                    f"would pass the worst judge. Write {right}."
                )
            if entry is not None and not entry.low <= bound <= entry.high:
                raise InputError(
                    f"{shown} {_range(entry.low, entry.high)}; {written} is outside."
                    f"{_as_share(bound, entry.high, side, shown, spelled)}"
                )


def _range(low: float, high: float) -> str:
    if math.isfinite(low) and math.isfinite(high):
        return f"lies between {low:g} and {high:g}"
    return f"is at least {low:g}" if math.isfinite(low) else f"is at most {high:g}"


def _as_share(bound: float, high: float, side: Side, name: str, spelled: Spelled) -> str:
    """The advice to write a percentage as a share."""
    if not (high == 1 and 1 < bound <= 100):
        return ""
    return f" Write {spelled(side, name, f'{bound / 100:g}'.removeprefix('0'))}."


def read_thresholds(
    required: Sequence[str], results: Sequence[Results] = ()
) -> tuple[Threshold, ...]:
    """Read ``name>=number`` and ``name<=number`` thresholds.

    Parameters
    ----------
    required : sequence of str
    results : sequence of Results
        Whose rows and metrics can be named; without any, a name is looked up in the registry.

    Raises
    ------
    InputError
        One is not of this form, names nothing, or bounds the wrong side.
    """
    bounds = named_bounds(required)
    rows = [row for one in results for row in one.rows]
    metrics = {m for one in results for m in _metrics_shown(one)}
    whole = {m for one in results for m in one.metrics}
    for name, side, _, written in bounds if results else ():
        if any(is_called(row, name) for row in rows) or metric_called(name, metrics):
            continue
        shown = printable(name, one_line=True)
        if metric_called(name, whole):
            raise InputError(
                f"--require: {shown} is a number of the whole run, which no row marks. Write "
                f"judgestats check RUN {as_option(side, shown, written)}."
            )
        lost = [n for n in ("unread", "unanswered") if metric_called(n, metrics)]
        keys = list(dict.fromkeys((*(row.key for row in rows), *lost)))
        raise InputError(
            f"--require: no number is called {shown!r}.{nearest(name, [*keys, *ALIASES])} There "
            f"are: {', '.join(keys) or 'none'}."
        )
    refuse_wrong_side(bounds, rows, metrics)
    return tuple(Threshold(*bound) for bound in bounds)


def _metrics_shown(results: Results) -> set[str]:
    """Names of the metrics that the columns of a screen have."""
    _, columns = columns_of(results)
    return {m for c in columns for m in results.condition_metrics.get(c.label, {})}


def number_called(metrics: Mapping[str, float], name: str) -> Estimate | None:
    """The metric that a name stands for, with its interval, as a record; None where there is none.

    Parameters
    ----------
    metrics : mapping of name to number
        Of one condition.
    name : str

    Examples
    --------
    >>> own = {"quality/unread_share": 0.1, "ci/quality/unread_share.lo": 0.0,
    ...        "ci/quality/unread_share.hi": 0.3}
    >>> number_called(own, "unread").interval.high
    0.3
    """
    metric = metric_called(name, metrics)
    quantity = quantity_of_metric(metric) if metric else None
    if quantity is None:
        return None
    ends = [metrics.get(f"ci/{metric}.{end}", math.nan) for end in ("lo", "hi")]
    return Estimate(
        id=metric, hypothesis="", role="descriptive", title=metric, estimand=quantity.estimand,
        estimate=metrics[metric],
        interval=None if all(map(math.isnan, ends)) else Interval(low=ends[0], high=ends[1]),
    )  # fmt: skip
