"""From what a statistics function returns to records: one function a class of result.

Nothing is lost on the way: what a class of result holds beyond its base goes into the record's
details, or into records of its own that are part of the whole.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import pandas as pd

from judgestats.analysis.possible import held, possible
from judgestats.results import (
    ESTIMANDS,
    About,
    Column,
    Estimate,
    Interval,
    Margin,
    Note,
    Null,
    Record,
    ResultSet,
    Sample,
    Statistic,
    Table,
    Test,
)
from judgestats.results import Comparison as ComparisonRecord
from judgestats.results.estimands import estimand_of, labelled
from judgestats.results.records import Role
from judgestats.results.values import plain
from judgestats.stats.agreement.position_noise import PositionAndNoise
from judgestats.stats.inference import result as of
from judgestats.stats.inference.estimate_set import Estimates
from judgestats.stats.inference.result_parts import NullReference
from judgestats.stats.reliability.omega_result import OmegaEstimate
from judgestats.stats.reliability.published_omega import PublishedOmega
from judgestats.stats.reliability.schmid_leiman import HierarchicalOmega
from judgestats.stats.spread.equivalence import EquivalenceResult


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a result stands: what its records have in common.

    `levels` maps the names under which conditions are compared to the conditions' labels.
    """

    id: str
    hypothesis: str
    role: Role
    title: str
    about: About = field(default_factory=About)
    levels: Mapping[str, str] = field(default_factory=dict)

    def common(self) -> dict[str, Any]:
        """The fields of the record of the whole."""
        names = ("id", "hypothesis", "role", "title", "about")
        return {name: getattr(self, name) for name in names}

    def part(self, name: str, title: str = "") -> dict[str, Any]:
        """The fields of the record of a part."""
        whole = {"id": f"{self.id}/{name}", "part_of": self.id}
        return self.common() | whole | {"title": title or self.title}


@singledispatch
def records_of(result: of.Result, place: Place) -> tuple[Record, ...]:
    """The records of a result, that of the whole first.

    Parameters
    ----------
    result : Result
        A result of another class than those known here is a table: its `tidy`.
    place : Place

    Returns
    -------
    tuple of Record
    """
    table = table_record(
        result.tidy(),
        **place.common(),
        text=_own_text(result),
        sample=_sample(getattr(result, "sample", None)),
        notes=_notes(getattr(result, "notes", ())),
        reason=str(getattr(result, "reason", "") or ""),
    )
    return (table,)


def table_record(frame: pd.DataFrame, **fields: Any) -> Table:
    """A frame as the record of a table, its columns with their units; `fields` are the others."""
    columns = tuple(
        Column(key=str(c), label=str(c).replace("_", " "), unit=_unit(str(c), frame[c]))
        for c in frame.columns
    )
    rows = tuple(tuple(plain(list(row))) for row in frame.itertuples(index=False, name=None))
    return Table(**fields, columns=columns, rows=rows)


def _unit(key: str, values: Any) -> str:
    """The unit of a table's column: the registry's, else by what stands in it."""
    if key in ESTIMANDS:
        return ESTIMANDS[key].unit
    if values.dtype.kind in "iu":
        return "count"
    return "number" if values.dtype.kind == "f" else ""


@records_of.register
def _(result: of.Estimate, place: Place) -> tuple[Record, ...]:
    beyond = {f.name for f in dataclasses.fields(result)} - _OF_ESTIMATE
    details = {**result.details, **{name: getattr(result, name) for name in beyond}}
    whole = _estimate(result, place.common(), details=details)
    return (whole, *(_part(place, whole, *part) for part in _parts(result)))


_OF_ESTIMATE = {f.name for f in dataclasses.fields(of.Estimate)}


def _estimate(
    result: of.Estimate, common: Mapping[str, Any], *, details: Mapping[str, Any] | None = None
) -> Estimate:
    interval, lost = _interval(result.interval, result.name, result.estimate)
    return Estimate(
        **common,
        estimand=result.name,
        label=result.label,
        estimate=float(result.estimate),
        interval=interval,
        std_error=float(result.std_error),
        null=_null(result.null),
        estimator=result.estimator,
        sample=_sample(result.sample),
        notes=_notes((*result.notes, *lost)),
        reason=result.reason,
        details=plain(result.details if details is None else details),
    )


def _parts(result: of.Estimate) -> list[tuple[str, str, float, NullReference | None]]:
    """What stands beside an estimate in the same result: name, estimand, value, null."""
    match result:
        case OmegaEstimate():
            return [
                ("single", "icc_3_1", result.single, None),
                ("mean_of_all", "alpha", result.mean_of_all, None),
            ]
        case HierarchicalOmega():
            return [
                ("total", "omega_total", result.omega_total, None),
                ("asymptotic", "omega_asymptotic", result.omega_asymptotic, None),
                ("alpha", "alpha_standardized", result.alpha, None),
            ]
        case PublishedOmega():
            return [("alpha", "published_alpha_2412_12509", result.alpha, result.alpha_null)]
        case _:
            return []


def _part(
    place: Place, whole: Estimate, name: str, estimand: str, value: float, null: Any
) -> Estimate:
    return Estimate(
        **place.part(name),
        estimand=estimand,
        estimate=float(value),
        null=_null(null),
        sample=whole.sample,
        reason=whole.reason,
    )


@records_of.register
def _(result: of.TestResult, place: Place) -> tuple[Record, ...]:
    beyond = {f.name for f in dataclasses.fields(result)} - _OF_TEST
    extra = {name: getattr(result, name) for name in beyond}
    effects = tuple(
        _estimate(e, place.part(f"{e.name}{effect_number(result.effects, i)}"))
        for i, e in enumerate(result.effects)
    )
    test = Test(
        **place.common(),
        test=result.name,
        method=result.method,
        statistic=_statistic(result.statistic_name, result.statistic, result.df),
        p=float(result.p_value),
        p_floor=result.p_floor,
        null_hypothesis=result.null_hypothesis,
        alternative=result.alternative,
        why=result.why,
        data_name=result.data_name,
        effects=tuple(e.id for e in effects),
        groups={str(k): float(v) for k, v in result.estimates.items()},
        sample=_sample(result.sample),
        notes=_notes(result.notes),
        reason=result.reason,
        details=plain({**result.details, **extra}),
    )
    return (test, *effects)


_OF_TEST = {f.name for f in dataclasses.fields(of.TestResult)}


def effect_number(estimates: tuple[of.Estimate, ...], i: int) -> str:
    """A number behind a name that stood before among the estimates."""
    before = sum(e.name == estimates[i].name for e in estimates[:i])
    return f"-{before + 1}" if before else ""


@records_of.register
def _(result: of.Comparisons, place: Place) -> tuple[Record, ...]:
    adjusted = any(not math.isnan(row.p_adjusted) for row in result.rows)
    # a family of which nothing could be computed is one all the same
    adjusted = adjusted or (bool(result.rows) and all(row.reason for row in result.rows))
    family = place.id if adjusted and result.adjust not in {"", "none"} else ""
    details: dict[str, Any] = {**result.details, "adjust": result.adjust, "family": result.family}
    if isinstance(result, EquivalenceResult):
        details["quantity"] = result.quantity
    rows: list[Record] = []
    members = []
    names: dict[str, int] = {}
    for row in result.rows:
        name = f"{row.a}:{row.b}"
        names[name] = names.get(name, 0) + 1
        name += f"-{names[name]}" if names[name] > 1 else ""
        made = _comparison(result, row, place, name, family)
        members.append(made[0].id)
        rows += made
    whole = ResultSet(
        **place.common(),
        name=result.name,
        method=result.method,
        members=tuple(members),
        family=family,
        sample=_sample(result.sample),
        notes=_notes(result.notes),
        details=plain(details),
        text=_own_text(result),
    )
    return (whole, *rows)


def _own_text(result: Any) -> str:
    """What a class of result says itself, where its members' records do not say it."""
    plain_pairs = type(result).sentence is of.Comparisons.sentence
    speaks = type(result).sentence is not of.Result.sentence
    return result.sentence() if speaks and not plain_pairs else ""


def _comparison(
    result: of.Comparisons, row: of.Comparison, place: Place, name: str, family: str
) -> list[Record]:
    key = labelled(row.estimate_name)
    conditions = tuple(place.levels[x] for x in (row.a, row.b) if x in place.levels)
    about = dataclasses.replace(place.about, conditions=conditions or place.about.conditions)
    common = place.part(name) | {"about": about}
    sample = _sample(result.sample)
    if row.n is not None and sample is not None and row.n != sample.n_items:
        sample = dataclasses.replace(sample, n_items=row.n)
    effects: list[Record] = []
    if row.effect_name and not math.isnan(row.effect):
        effect = labelled(row.effect_name)
        effects.append(
            Estimate(
                **common | {"id": f"{common['id']}/{effect}", "part_of": common["id"]},
                estimand=effect,
                estimate=float(row.effect),
                sample=sample,
            )
        )
    margin = None
    if isinstance(result, EquivalenceResult):
        low, high = result.margin
        margin = Margin(low=float(low), high=float(high), estimand=key, alpha=result.alpha)
    interval, lost = _interval(row.interval, key, row.estimate)
    compared = ComparisonRecord(
        **common,
        a=row.a,
        b=row.b,
        estimand=key,
        estimate=float(row.estimate),
        method=result.method,
        statistic=_statistic(
            result.symbol, row.statistic, {} if math.isnan(row.df) else {"df": row.df}
        ),
        p=float(row.p_value),
        p_floor=result.p_floor,
        p_adjusted=float(row.p_adjusted) if family else math.nan,
        p_bound=row.p_bound and bool(family),
        family=family,
        held_to=row.held_to if family else "",
        interval=interval,
        margin=margin,
        effects=tuple(e.id for e in effects),
        sample=sample,
        notes=_notes((*row.notes, *lost)),
        reason=row.reason,
        details=plain(row.details),
    )
    return [compared, *effects]


@records_of.register
def _(result: Estimates, place: Place) -> tuple[Record, ...]:
    beyond = {f.name for f in dataclasses.fields(result)} - _OF_ESTIMATES
    details = {**result.details, **{name: getattr(result, name) for name in beyond}}
    return _set(result.name, result.label, result.terms, place, result, details)


_OF_ESTIMATES = {f.name for f in dataclasses.fields(Estimates)}


@records_of.register
def _(result: PositionAndNoise, place: Place) -> tuple[Record, ...]:
    terms = (result.noise, result.between, result.position, result.noise_share)
    name = "Position apart from repetition noise"
    return _set("position_and_noise", name, terms, place, result)


def _set(
    name: str,
    method: str,
    terms: tuple[of.Estimate, ...],
    place: Place,
    result: Any,
    details: Mapping[str, Any] | None = None,
) -> tuple[Record, ...]:
    parts = tuple(
        _estimate(t, place.part(f"{t.name}{effect_number(terms, i)}", t.label))
        for i, t in enumerate(terms)
    )
    whole = ResultSet(
        **place.common(),
        name=name,
        method=method,
        members=tuple(p.id for p in parts),
        sample=_sample(getattr(result, "sample", None)),
        notes=_notes(getattr(result, "notes", ())),
        details=plain(details or {}),
        text=_own_text(result),
    )
    return (whole, *parts)


def _statistic(symbol: str, value: float, df: Mapping[str, float]) -> Statistic:
    degrees = {str(k): float(v) for k, v in df.items()}
    return Statistic(symbol=symbol, value=float(value), df=degrees)


def _interval(
    interval: of.Interval | None, key: str, estimate: float
) -> tuple[Interval | None, tuple[of.Note, ...]]:
    """The interval of an estimand, which ends where that ends, or at the estimate beyond.

    None, with the note that says so, where it would be nearly all that the estimand can be.
    """
    kept, lost = held(interval, possible(key), estimate, ratio=estimand_of(key).is_ratio)
    if kept is None:
        return None, lost
    values = {f.name: getattr(kept, f.name) for f in dataclasses.fields(of.Interval)}
    return Interval(**values | {"low": float(kept.low), "high": float(kept.high)}), lost


def _null(null: NullReference | None) -> Null | None:
    if null is None:
        return None
    return Null(
        hypothesis=null.hypothesis,
        permuted=null.permuted,
        mean=float(null.mean),
        q95=float(null.q95),
        p=float(null.p_value),
        p_floor=null.p_smallest or math.nan,
        draws=int(null.n_permutations),
        seed=null.seed,
        drawn=null.drawn,
        reason=null.reason,
    )


def _sample(sample: of.Sample | None) -> Sample | None:
    if sample is None:
        return None
    values = {f.name: getattr(sample, f.name) for f in dataclasses.fields(of.Sample)}
    return Sample(**plain(values))


def _notes(notes: Any) -> tuple[Note, ...]:
    return tuple(Note(code=n.code, message=n.message) for n in notes)
