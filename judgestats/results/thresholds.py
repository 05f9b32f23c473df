"""What a user demands of a number, and whether a record keeps it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from judgestats.errors import InputError
from judgestats.results.metric_names import (
    is_called,
    metric_called,
    quantity_of_metric,
)
from judgestats.results.records import Estimate, Interval
from judgestats.results.results import Results

Side = Literal["min", "max"]


class Bound(NamedTuple):
    """A quantity's name, the side that is bounded, and the number, also as it was typed."""

    name: str
    side: Side
    bound: float
    written: str


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
