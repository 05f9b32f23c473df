"""Coefficients of one condition: every declared quantity whose needs its data meet."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast, get_args

import pandas as pd

from judgestats import stats
from judgestats.analysis.records import NamedResult, condition_result
from judgestats.results import QUANTITIES, About, Quantity, Results, quantity_of
from judgestats.results.quantities import PUBLIC_NAMES
from judgestats.results.quantities.entry import Kind
from judgestats.results.records import Estimate as EstimateRecord
from judgestats.stats.agreement.across_orders import Repetition, repetition_over_orders
from judgestats.stats.inference.estimate import Estimate, Result


def declared_for(
    *kinds: Kind, repeats: int = 2, options: Mapping[str, str] | None = None, counts: bool = False
) -> Iterator[Quantity]:
    """The quantities that an audit computes from data of these kinds, in the declared order.

    Parameters
    ----------
    *kinds : str
        What the data are.
    repeats : int
        Judgments of an item in one order.
    options : mapping
        Of the plan.
    counts : bool
        Whether the data are counts of a stream rather than judgments in memory.

    Examples
    --------
    >>> [quantity.key for quantity in declared_for("pairs", repeats=1)]
    ['swap_consistency', 'first_position_preference']
    """
    sizes = {"any", "counts" if counts else "memory"}
    for quantity in QUANTITIES.values():
        needs = quantity.needs
        if needs is None or needs.kind not in kinds or needs.size not in sizes:
            continue
        if repeats >= needs.repeats and (not needs.option or needs.option in (options or {})):
            yield _with_options(quantity, options) if needs.option else quantity


def _with_options(quantity: Quantity, options: Mapping[str, str] | None) -> Quantity:
    """The quantity under the options of the plan that it names."""
    given = options or {}
    fixed = {k: v.format(**given) if isinstance(v, str) else v for k, v in quantity.options.items()}
    record, title = quantity.record.format(**given), quantity.title.format(**given)
    return replace(quantity, options=fixed, record=record, title=title)


@cache
def function_of(path: str) -> Callable[..., Any]:
    """The function or method that a declaration names.

    Examples
    --------
    >>> function_of("fleiss_kappa").__name__, function_of("agreement.kappa:fleiss_kappa").__name__
    ('fleiss_kappa', 'fleiss_kappa')
    """
    module, _, name = path.rpartition(":")
    found: Any = importlib.import_module(f"judgestats.stats.{module}") if module else stats
    for part in name.split("."):
        found = getattr(found, part)
    function: Callable[..., Any] = found
    return function


@cache
def _parameters(path: str) -> frozenset[str]:
    return frozenset(inspect.signature(function_of(path)).parameters)


def computed(quantity: Quantity, *data: object, counts: bool = False, **keywords: Any) -> Any:
    """What the function of a quantity gives for the data.

    Parameters
    ----------
    quantity : Quantity
        As `declared_for` yields it.
    *data : object
        First arguments of the function.
    counts : bool
        Whether the data are sums of counted scores, for the function declared for them.
    **keywords
        Handed on where the function has such a parameter.
    """
    path = quantity.counted if counts else quantity.audited or quantity.function
    if quantity.draws:
        keywords["n_resamples"] = quantity.draws
        keywords["n_permutations"] = min(keywords.get("n_permutations", 0), quantity.draws)
    known = _parameters(path)
    taken = {k: v for k, v in {**keywords, **quantity.options}.items() if k in known}
    value = function_of(path)(*data, **taken)
    if path == quantity.audited:  # raw alpha is the omega of parallel replications
        value = value.replace(name=quantity.key, label=quantity.heading)
    return value


def named_result(quantity: Quantity, value: Result, about: About) -> NamedResult:
    """What an audit found of one condition, under the record of the quantity.

    Parameters
    ----------
    quantity : Quantity
        As `declared_for` yields it.
    value : Result
    about : About
    """
    return condition_result(
        quantity.record, quantity.title or quantity.heading, about.conditions[0], value,
        role="primary" if quantity.primary else "secondary", about=about,
    )  # fmt: skip


def is_primary(record: str) -> bool:
    """Whether an audit claims the results whose ids begin so: all except secondary quantities.

    Examples
    --------
    >>> is_primary("reliability.flip_rate"), is_primary("reliability.percent_agreement")
    (True, False)
    """
    return all(q.primary for q in QUANTITIES.values() if q.needs and q.record == record)


def repetition_results(
    tables: Sequence[Any], *, counts: bool = False, only: str = "", **inference: Any
) -> list[tuple[str, str, Result]]:
    """Repeated verdicts of the same order compared, over every order that was repeated.

    Parameters
    ----------
    tables : sequence of array-like or CountTable
        The verdicts of each order that was repeated.
    counts : bool
        Whether they were counted in a stream.
    only : str
        Key of the one quantity that is computed; empty: all.
    **inference
        cluster, level, n_permutations, seed.

    Returns
    -------
    list of (str, str, Result)
        Record, title and result. A coefficient that is not defined over several orders is left
        out where there are several.
    """
    if not tables:
        return []
    several = len(tables) > 1
    where = ", within orders" if several else ""
    return [
        (
            q.record,
            f"{q.title or q.heading}{where}",
            repetition_over_orders(tables, coefficient=cast("Repetition", q.key), **inference)
            if several
            else computed(q, tables[0], **inference),
        )
        for q in declared_for("verdicts", counts=counts)
        if only in {"", q.key} and (not several or q.key in get_args(Repetition))
    ]


def described(value: Estimate, about: About) -> NamedResult:
    """A number of one condition under the id of its quantity, which claims nothing."""
    quantity = quantity_of(value.name)
    identity, title = f"{quantity.record}.{about.conditions[0]}", quantity.title or value.label
    return NamedResult(identity, title, "descriptive", value, about=about)


def condition_metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """Metrics of a condition, as MLflow shows them, from its row of the table of conditions.

    Examples
    --------
    >>> condition_metrics({"icc1": 0.8, "icc1_low": 0.7, "icc1_high": 0.9, "n": 12})
    {'reliability/icc1': 0.8, 'ci/reliability/icc1.lo': 0.7, 'ci/reliability/icc1.hi': 0.9}
    """
    out: dict[str, float] = {}
    for quantity in QUANTITIES.values():
        column, metric = quantity.name, quantity.metric
        if not metric or column not in row:
            continue
        out[metric] = row[column]
        for end, bound in (("low", "lo"), ("high", "hi")):
            if f"{column}_{end}" in row:
                out[f"ci/{metric}.{bound}"] = row[f"{column}_{end}"]
        if f"{column}_null_q95" in row:
            out[f"null/{metric}.q95"] = row[f"{column}_null_q95"]
    return out


_LEFT_OUT = ("people.always_same.", "verdicts.share of ")
"""What begins the ids of records whose quantity stands for another record."""


def statistics_of(results: Results, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Every estimate of one condition: its quantity, coordinates, value and bounds.

    Parameters
    ----------
    results : Results
        Of an audit.
    frame : DataFrame
        The judgments that were audited.

    Returns
    -------
    list of dict
        ``name``, ``criterion``, ``judge``, ``system``, ``condition``, ``value``, ``low``, ``high``,
        ``n`` (items).
    """
    placed = {
        str(name): {
            "criterion": str(own["criterion"].iloc[0]) if "criterion" in own else "",
            "judge": str(own["judge"].iloc[0]),
        }
        for name, own in frame.groupby("condition", sort=False)
    }
    tested = _tested(frame)
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for record in results.results:
        if not isinstance(record, EstimateRecord) or len(record.about.conditions) != 1:
            continue
        if record.id.startswith(_LEFT_OUT) or record.about.slice:
            continue
        condition = record.about.conditions[0]
        name = "pass_rate" if record.estimand == "share" else record.estimand
        name = PUBLIC_NAMES.get(name, name)
        system = str(record.about.factors.get("system", ""))
        if record.id.startswith("wins."):
            name, system = "win_rate", record.label.removeprefix("Win rate of ")
            if system != tested.get(condition):
                continue
        row = {
            "name": name,
            "criterion": "",
            "judge": "",
            **placed.get(condition, {}),
            "system": system,
            "condition": condition,
            "value": record.estimate,
            "low": record.interval.low if record.interval else None,
            "high": record.interval.high if record.interval else None,
            "n": record.sample.n_items if record.sample else None,
        }
        found.setdefault((name, condition, system), row)
    return list(found.values())


def _tested(frame: pd.DataFrame) -> dict[str, str]:
    """The system under test of each condition, where pairs hold two systems."""
    side = f"system_{frame.attrs.get('tested', 'a')}"
    if side not in frame:
        return {}
    return {str(c): str(own[side].mode().iloc[0]) for c, own in frame.groupby("condition")}
