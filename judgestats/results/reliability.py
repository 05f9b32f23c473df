"""Reliability by name: omega, alpha, and vote share, each with its interval and null."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from judgestats.results.numbers import apa_number, estimate_parts
from judgestats.results.records import Condition, Estimate
from judgestats.results.results import Results
from judgestats.results.screen import Lines, Span

_MODELS = ("congeneric", "tau-equivalent")
_PARALLEL = "omega = alpha under the parallel model"


class ReliabilityRow(NamedTuple):
    """One coefficient of one condition, under its own key and no other's.

    Attributes
    ----------
    key : {"omega_total", "alpha", "vote_share_reliability", "omega_published"}
    label : str
    condition : str
    estimate, low, high : float
        With the ends of its 95% interval; NaN where there is none.
    null : float
        95th percentile where items do not matter (permutations); NaN where it was not computed.
    """

    key: str
    label: str
    condition: str
    estimate: float
    low: float
    high: float
    null: float


def reliability_rows(results: Results) -> tuple[ReliabilityRow, ...]:
    """Omega, alpha and vote share of every condition, as far as they were estimated.

    Omega under the parallel model equals alpha: it is one row, under the key of alpha.

    Parameters
    ----------
    results : Results

    Returns
    -------
    tuple of ReliabilityRow
    """
    return tuple(row for c in results.conditions for row in _of_condition(results, c.label))


def _of_condition(results: Results, label: str) -> Iterator[ReliabilityRow]:
    wanted = [
        *(("omega_total", f"McDonald's omega ({m})", f"reliability.omega_{m}") for m in _MODELS),
        ("alpha", "Cronbach's alpha", "reliability.alpha"),
        *(
            ("omega_total", f"McDonald's omega of right choices ({m})", f"repetition.omega_{m}")
            for m in _MODELS
        ),
        ("alpha", f"Right choices: {_PARALLEL}", "repetition.omega"),
        ("vote_share_reliability", "Vote-share reliability", "reliability.one"),
    ]
    has_omega = any(results.estimate(f"reliability.omega_{m}.{label}") for m in _MODELS)
    for key, name, begun in wanted:
        found = results.estimate(f"{begun}.{label}")
        if found is None or math.isnan(found.estimate):
            continue
        is_both = begun == "reliability.alpha" and not has_omega
        yield _row(key, f"{name} ({_PARALLEL})" if is_both else name, label, found)
    begun = f"published.omega.{label}."
    for record in results.select(Estimate, condition=label):
        if record.id.startswith(begun):
            where = record.id.removeprefix(begun)
            yield _row("omega_published", f"Omega as published, {where}", label, record)


def _row(key: str, name: str, condition: str, found: Estimate) -> ReliabilityRow:
    ends, null = found.interval, found.null
    return ReliabilityRow(
        key=key,
        label=name,
        condition=condition,
        estimate=found.estimate,
        low=ends.low if ends else math.nan,
        high=ends.high if ends else math.nan,
        null=null.q95 if null is not None else math.nan,
    )


def reliability_lines(results: Results) -> Lines:
    """The coefficients of one condition, for the screen of ``omega`` and of an audit with omega.

    The condition is that of the first judge whose temperature is nearest to .5: at T=0 a judge
    repeats itself, which is no reliability.

    Parameters
    ----------
    results : Results

    Returns
    -------
    list of list of Span
        Empty where no omega was asked for.
    """
    rows = reliability_rows(results)
    if results.experiment != "omega" and not any(r.key == "omega_total" for r in rows):
        return []
    measured = {row.condition for row in rows}
    heated = [c for c in results.conditions if c.label in measured and _heat(c) != 0]
    if not heated:
        return []
    chosen = min(heated, key=lambda c: abs(_heat(c) - 0.5)).label
    shown = [row for row in rows if row.condition == chosen]
    wide = max(len(row.label) for row in shown) + 2
    lines: Lines = [[], [Span(f"Reliability, {chosen}", "bold")]]
    for row in shown:
        point, interval = estimate_parts(row.estimate, row.low, row.high, digits=3, bounded=True)
        null = f"Null 95th percentile {apa_number(row.null, bounded=True)}"
        parts = (point, interval, "" if math.isnan(row.null) else f" {null}")
        lines.append([Span(f"{row.label:<{wide}}{' '.join(filter(None, parts))}")])
    return lines


def _heat(condition: Condition) -> float:
    value = condition.factors.get("temperature")
    return float(value) if isinstance(value, int | float) else 0.5
