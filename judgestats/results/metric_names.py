"""Names of quantities in bounds: rows of a screen, estimands, and metrics of a run."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from judgestats.deprecated import RENAMED_METRICS
from judgestats.errors import InputError
from judgestats.results.quantities import QUANTITIES, name_of, quantity_of
from judgestats.results.quantities.entry import Direction
from judgestats.results.records import Estimate, Interval, Row
from judgestats.results.results import Results


class DirectedQuantity(NamedTuple):
    """An estimand, and which end of it speaks for a judge where it is named."""

    estimand: str
    better: Direction


METRICS: Mapping[str, str] = {
    metric: q.key for q in QUANTITIES.values() for metric in (q.metric, *q.metrics) if metric
}
"""Quantities of metrics; the name of any other metric ends in its key: ``spread/sem``."""

ALIASES: Mapping[str, str] = {
    **{alias: q.key for q in QUANTITIES.values() for alias in q.aliases},
    **RENAMED_METRICS,
}
"""Further names of rows, quantities and metrics, those of version 0.2 among them."""

_CONTROL = "right_"
"""What the key of a row begins with whose change makes an answer worse: it must score lower."""
_OF_ROWS: Mapping[tuple[str, str], Direction] = {
    ("gain", "rate_difference"): "higher",
    ("wins", "option_win_rate"): "lower",
}
"""Directions of rows whose estimand has none by itself."""
_OF_METRICS: Mapping[str, Direction] = {
    "order/unrelated_wins": "lower",
    "people/gain_over_random": "higher",
}
_KEYS: Mapping[str, str] = {
    "flips": "flip_rate",
    "passes": "proportion",
    "reliability": "icc_1_1",
    "repeats": "k_needed",
    "swap": "swap_consistency",
    "verdicts": "change_of_verdicts",
}
"""Estimands of the commonest rows by their keys, before any row is there."""


def quantity_of_row(row: Row) -> DirectedQuantity:
    """What a row shows, and which end of it speaks for a judge.

    Examples
    --------
    >>> row = Row(key="right_shuffled", ask="", short="", estimand="probe_shift", cells={})
    >>> quantity_of_row(row)
    DirectedQuantity(estimand='probe_shift', better='lower')
    """
    better = _OF_ROWS.get((row.key, row.estimand), quantity_of(row.estimand).better)
    if row.key.startswith(_CONTROL) and better == "nothing":
        better = "lower"
    return DirectedQuantity(row.estimand, better)


def quantity_of_metric(metric: str) -> DirectedQuantity | None:
    """What a metric of a run is; None where no entry declares it.

    Parameters
    ----------
    metric : str
        ``group/name``, or ``group/name/JUDGE``.

    Examples
    --------
    >>> quantity_of_metric("spread/p_value/sim-typical"), quantity_of_metric("spread/none")
    (DirectedQuantity(estimand='p_value', better='none'), None)
    """
    name = "/".join(metric.split("/")[:2])
    group, _, last = name.rpartition("/")
    try:
        entry = quantity_of(METRICS.get(name) or METRICS.get(f"{group}/*") or last)
    except InputError:
        return None
    return DirectedQuantity(entry.key, _OF_METRICS.get(name, entry.better))


def is_called(row: Row, name: str) -> bool:
    """Whether a name is one of this row's: its key, its words, its estimand, its metric.

    Examples
    --------
    >>> row = Row(key="reliability", ask="one score's reliability", short="", estimand="icc_1_1",
    ...           cells={"a": "reliability.icc1.a"})
    >>> [is_called(row, n) for n in ("reliability", "icc", "ICC(1,1)", "one score's reliability")]
    [True, True, True, True]
    >>> is_called(row, "reliability/icc1"), is_called(row, "spread/sem")
    (True, False)
    """
    name = ALIASES.get(name.casefold(), name)
    if not name:
        return False
    label = name_of(row.estimand)
    if name in {row.key, row.estimand, row.ask, row.short, f"{row.ask}, {label}"}:
        return True
    if name.casefold() == label.casefold():
        return True
    group, sign, last = name.partition("/")
    began = f"{group}.{last}."
    return bool(sign) and (
        last == row.estimand or any(i.startswith(began) for i in row.cells.values())
    )


def metric_called(name: str, metrics: Iterable[str]) -> str:
    """The metric that a name stands for; empty where none does.

    Examples
    --------
    >>> known = ["quality/unread_share", "reliability/alpha", "ci/reliability/alpha.lo"]
    >>> metric_called("unread", known), metric_called("alpha", known), metric_called("x", known)
    ('quality/unread_share', 'reliability/alpha', '')
    """
    name = ALIASES.get(name.casefold(), name)
    known = sorted({m for m in metrics if not m.startswith(("ci/", "null/"))})
    if name in known:
        return name
    plain = [m for m in known if m.count("/") == 1]
    named = [m for m in plain if m.rpartition("/")[2] == name]
    named += [m for m in plain if (q := quantity_of_metric(m)) and q.estimand == name]
    labels = {m: name_of(q.estimand) for m in plain if (q := quantity_of_metric(m))}
    named += [m for m, label in labels.items() if label.casefold() == name.casefold()]
    return named[0] if named else ""


def quantities_of(name: str) -> list[DirectedQuantity]:
    """What a name stands for wherever it is known.

    Examples
    --------
    >>> quantities_of("sem")
    [DirectedQuantity(estimand='sem', better='lower')]
    >>> quantities_of("no such")
    []
    """
    name = ALIASES.get(name.casefold(), name)
    key = _KEYS.get(name, name)
    labelled = [e.key for e in QUANTITIES.values() if e.heading.casefold() == name.casefold()]
    if key in QUANTITIES or labelled:
        keys = [key] if key in QUANTITIES else labelled
        return [DirectedQuantity(k, QUANTITIES[k].better) for k in keys]
    quantity = quantity_of_metric(name) if "/" in name else None
    return [quantity] if quantity else []


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
