"""Conversion of statistics' results to records."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any

import pandas as pd

from judgestats import results
from judgestats.files.text import format_number
from judgestats.results.quantities import quantity_of
from judgestats.results.records import Role, plain
from judgestats.stats.dispersion.dispersion_test import SpreadResult
from judgestats.stats.dispersion.equivalence import EquivalenceResult
from judgestats.stats.inference import result as of
from judgestats.stats.inference.bootstrap import covers_all, is_too_wide, not_estimable
from judgestats.stats.inference.result import Comparisons, Estimates, Interval, Note, NullReference
from judgestats.stats.reliability.omega_fit import OmegaEstimate
from judgestats.stats.reliability.published_omega import PublishedOmega

Ends = tuple[float, float]
Found = list[tuple[str, str, of.Result]]
"""Results with the key of their ids, and their titles."""
_Z = 1.959963984540054 * math.sqrt(2)
"""A smallest detectable change in standard errors of measurement."""


def possible(estimand: str, scale: Ends | None = None) -> Ends:
    """The least and the largest value of a number.

    Parameters
    ----------
    estimand : str
    scale : (float, float), optional
        Of the scores, for numbers in points.

    Examples
    --------
    >>> possible("sem", (1, 10)), possible("pooled_within_variance", (1, 10))
    ((0.0, 4.5), (0.0, 20.25))
    >>> possible("mean", (1, 10)), possible("mean"), possible("icc_1_1")
    ((1, 10), (-inf, inf), (-inf, 1.0))
    """
    entry = quantity_of(estimand)
    if scale is None:
        return entry.low, entry.high
    half = (scale[1] - scale[0]) / 2
    name, _, averaged = estimand.partition("_mean_of_")
    most = {
        "sem": half, "sem_absolute": half, "sdc": _Z * half, "sdc_absolute": _Z * half,
        "pooled_within_variance": half**2,
    }.get(name)  # fmt: skip
    if most is not None:
        return 0.0, most / (math.sqrt(float(averaged)) if averaged else 1.0)
    return scale if name == "mean" else (entry.low, entry.high)


def clip_interval(interval: Interval, ends: Ends, estimate: float) -> Interval:
    """Clip an interval to possible values, extended to the estimate if that is outside.

    Examples
    --------
    >>> print(clip_interval(Interval(low=-0.2, high=1.3), (0.0, 1.0), 0.5))
    [0.000, 1.000]
    """
    if math.isnan(estimate):
        return interval
    least, most = min(ends[0], estimate), max(ends[1], estimate)
    return replace(interval, low=max(interval.low, least), high=min(interval.high, most))


def clip_or_drop_interval(
    interval: Interval | None, ends: Ends, estimate: float, *, ratio: bool = False
) -> tuple[Interval | None, tuple[Note, ...]]:
    """Clip an interval to possible values, or replace an uninformative one with a note.

    An interval is uninformative if it spans nearly all possible values, or if an end of a `ratio`
    is too extreme.

    Examples
    --------
    >>> whole = Interval(low=-0.2, high=0.97)
    >>> clip_or_drop_interval(whole, (0.0, 1.0), 0.5)[1][0].code, clip_or_drop_interval(whole,
    ...     (-math.inf, 1.0), 0.5)[1]
    ('not_estimable', ())
    """
    if interval is None or math.isnan(estimate):
        return interval, ()
    kept = clip_interval(interval, ends, estimate)
    if ratio and is_too_wide(estimate, kept.low, kept.high):
        return None, (not_estimable("An end would be over 25 times the estimate."),)
    if not math.isfinite(sum(ends)) or not covers_all(kept.low, kept.high, ends):
        return kept, ()
    least, most = (format_number(end) for end in ends)
    why = f"The interval would cover nearly the whole range ({least} to {most}). Judge more items."
    return None, (not_estimable(why),)


@dataclass(frozen=True)
class NamedResult:
    """A result with its role in the plan, and with what its records have in common.

    `id` is unique within an analysis. `hypothesis` is that of the plan which it answers, by default
    the prefix of the id (``spread.sim-typical``). `about` is its subject. `levels` maps the names
    under which conditions are compared to the conditions' labels.
    """

    id: str
    title: str
    role: Role
    result: of.Result
    hypothesis: str = ""
    about: results.About = field(default_factory=results.About)
    levels: Mapping[str, str] = field(default_factory=dict)

    @property
    def answers(self) -> str:
        """The hypothesis that it answers."""
        return self.hypothesis or self.id.partition(".")[0]

    def common(self) -> dict[str, Any]:
        """The fields of the record of the whole."""
        names = ("id", "role", "title", "about")
        return {"hypothesis": self.answers} | {name: getattr(self, name) for name in names}

    def part(self, name: str, title: str = "") -> dict[str, Any]:
        """The fields of the record of a part."""
        whole = {"id": f"{self.id}/{name}", "part_of": self.id}
        return self.common() | whole | {"title": title or self.title}


@singledispatch
def records_of(result: of.Result, place: NamedResult) -> tuple[results.Record, ...]:
    """The records of a result, that of the whole first.

    Parameters
    ----------
    result : Result
        A result of another class than those known here is a table: its `tidy`.
    place : NamedResult

    Returns
    -------
    tuple of Record
    """
    table = table_record(
        result.tidy(),
        **place.common(),
        text=_own_text(result),
        sample=getattr(result, "sample", None),
        notes=_notes(getattr(result, "notes", ())),
        reason=str(getattr(result, "reason", "") or ""),
        details=plain(getattr(result, "details", {})),
    )
    return (table,)


def table_record(frame: pd.DataFrame, **fields: Any) -> results.Table:
    """A frame as the record of a table, its columns with their units; `fields` are the others."""
    columns = tuple(
        results.Column(key=str(c), label=str(c).replace("_", " "), unit=_unit(str(c), frame[c]))
        for c in frame.columns
    )
    rows = tuple(tuple(plain(list(row))) for row in frame.itertuples(index=False, name=None))
    return results.Table(**fields, columns=columns, rows=rows)


def _unit(key: str, values: Any) -> str:
    """The unit of a table's column: the registry's, else by its content."""
    if key in results.QUANTITIES:
        return results.QUANTITIES[key].unit
    if values.dtype.kind in "iu":
        return "count"
    return "number" if values.dtype.kind == "f" else ""


@records_of.register
def _(result: of.Estimate, place: NamedResult) -> tuple[results.Record, ...]:
    details = {**result.details, **_beyond(result, of.Estimate)}
    whole = _estimate(result, place.common(), details=details)
    parts = (
        results.Estimate(
            **place.part(name), estimand=estimand, estimate=float(value), null=_null(null),
            sample=whole.sample, reason=whole.reason,
        )
        for name, estimand, value, null in _parts(result)
    )  # fmt: skip
    return (whole, *parts)


def _beyond(result: Any, base: type[Any]) -> dict[str, Any]:
    """The fields that the class of a result has in addition to its base."""
    own, common = ({f.name for f in dataclasses.fields(kind)} for kind in (result, base))
    return {name: getattr(result, name) for name in own - common}


def _estimate(
    result: of.Estimate, common: Mapping[str, Any], *, details: Mapping[str, Any] | None = None
) -> results.Estimate:
    interval, lost = _interval(result.interval, result.name, result.estimate)
    return results.Estimate(
        **common,
        estimand=result.name,
        label=result.label,
        estimate=float(result.estimate),
        interval=interval,
        std_error=float(result.std_error),
        null=_null(result.null),
        estimator=result.estimator,
        sample=result.sample,
        notes=_notes((*result.notes, *lost)),
        reason=_reason(result.reason, interval, (*result.notes, *lost)),
        details=plain(result.details if details is None else details),
    )


def _parts(result: of.Estimate) -> list[tuple[str, str, float, NullReference | None]]:
    """What accompanies an estimate in the same result: name, estimand, value, null."""
    if isinstance(result, OmegaEstimate):
        mean = ("mean_of_all", "alpha", result.mean_of_all, None)
        return [("single", "icc_3_1", result.single, None), mean]
    if isinstance(result, PublishedOmega):
        return [("alpha", "published_alpha_2412_12509", result.alpha, result.alpha_null)]
    return []


@records_of.register
def _(result: of.TestResult, place: NamedResult) -> tuple[results.Record, ...]:
    effects = tuple(
        _estimate(e, place.part(f"{e.name}{effect_number(result.effects, i)}"))
        for i, e in enumerate(result.effects)
    )
    same = ("method", "p_floor", "null_hypothesis", "alternative", "why", "data_name", "sample",
            "reason")  # fmt: skip
    test = results.Test(
        **place.common(),
        **{name: getattr(result, name) for name in same},
        test=result.name,
        statistic=_statistic(result.statistic_name, result.statistic, result.df),
        p=float(result.p_value),
        effects=tuple(e.id for e in effects),
        groups={str(k): float(v) for k, v in result.estimates.items()},
        notes=_notes(result.notes),
        details=plain({**result.details, **_beyond(result, of.TestResult)}),
    )
    return (test, *effects)


def effect_number(estimates: tuple[of.Estimate, ...], i: int) -> str:
    """Suffix of a name that an earlier estimate has too."""
    before = sum(e.name == estimates[i].name for e in estimates[:i])
    return f"-{before + 1}" if before else ""


@records_of.register
def _(result: of.Comparisons, place: NamedResult) -> tuple[results.Record, ...]:
    adjusted = any(not math.isnan(row.p_adjusted) for row in result.rows)
    # a family of which nothing could be computed is one all the same
    adjusted = adjusted or (bool(result.rows) and all(row.reason for row in result.rows))
    family = place.id if adjusted and result.adjust not in {"", "none"} else ""
    details: dict[str, Any] = {**result.details, "adjust": result.adjust, "family": result.family}
    if isinstance(result, EquivalenceResult):
        details["quantity"] = result.quantity
    rows: list[results.Record] = []
    members = []
    names: Counter[str] = Counter()
    for row in result.rows:
        name = f"{row.a}:{row.b}"
        names[name] += 1
        name += f"-{names[name]}" if names[name] > 1 else ""
        made = _comparison(result, row, place, name, family)
        members.append(made[0].id)
        rows += made
    whole = results.ResultSet(
        **place.common(),
        name=result.name,
        method=result.method,
        members=tuple(members),
        family=family,
        sample=result.sample,
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
    result: of.Comparisons, row: of.Comparison, place: NamedResult, name: str, family: str
) -> list[results.Record]:
    key = row.estimate_name
    conditions = tuple(place.levels[x] for x in (row.a, row.b) if x in place.levels)
    about = replace(place.about, conditions=conditions or place.about.conditions)
    common = place.part(name) | {"about": about}
    sample = result.sample
    if row.n is not None and sample is not None and row.n != sample.n_items:
        sample = replace(sample, n_items=row.n)
    effects: list[results.Record] = []
    if row.effect_name and not math.isnan(row.effect):
        own = common | {"id": f"{common['id']}/{row.effect_name}", "part_of": common["id"]}
        effect = float(row.effect)
        effects = [
            results.Estimate(**own, estimand=row.effect_name, estimate=effect, sample=sample)
        ]
    margin = None
    if isinstance(result, EquivalenceResult):
        low, high = result.margin
        margin = results.Margin(low=float(low), high=float(high), estimand=key, alpha=result.alpha)
    interval, lost = _interval(row.interval, key, row.estimate)
    df = {} if math.isnan(row.df) else {"df": row.df}
    compared = results.Comparison(
        **common,
        a=row.a,
        b=row.b,
        estimand=key,
        estimate=float(row.estimate),
        method=result.method,
        statistic=_statistic(result.symbol, row.statistic, df),
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
        reason=_reason(row.reason, interval, (*row.notes, *lost)),
        details=plain(row.details),
    )
    return [compared, *effects]


@records_of.register
def _(result: Estimates, place: NamedResult) -> tuple[results.Record, ...]:
    parts = tuple(
        _estimate(t, place.part(f"{t.name}{effect_number(result.terms, i)}", t.label))
        for i, t in enumerate(result.terms)
    )
    whole = results.ResultSet(
        **place.common(),
        name=result.name,
        method=result.label,
        members=tuple(p.id for p in parts),
        sample=result.sample,
        notes=_notes(result.notes),
        details=plain({**result.details, **_beyond(result, Estimates)}),
        text=_own_text(result),
    )
    return (whole, *parts)


def _statistic(symbol: str, value: float, df: Mapping[str, float]) -> results.Statistic:
    degrees = {str(k): float(v) for k, v in df.items()}
    return results.Statistic(symbol=symbol, value=float(value), df=degrees)


def _interval(
    interval: Interval | None, key: str, estimate: float
) -> tuple[Interval | None, tuple[of.Note, ...]]:
    """The interval of an estimand, which ends where that ends, or at the estimate beyond.

    None, with a note, where it would span nearly all possible values of the estimand.
    """
    kept, lost = clip_or_drop_interval(
        interval, possible(key), estimate, ratio=quantity_of(key).is_ratio
    )
    if kept is None:
        return None, lost
    return replace(kept, low=float(kept.low), high=float(kept.high)), lost


def _reason(reason: str, interval: Interval | None, notes: Sequence[Note]) -> str:
    """Why there is no number, else why it has no interval."""
    if reason or not math.isnan(sum(results.bounds_of(interval))):
        return reason
    said = (note.message for note in notes if note.message.startswith("No interval"))
    why = next(said, "").partition(": ")[2].removeprefix("not estimable at this size. ")
    return (why if why[:2].isupper() else f"{why[:1].lower()}{why[1:]}").rstrip(".")


def _null(null: NullReference | None) -> results.Null | None:
    if null is None:
        return None
    same = ("hypothesis", "permuted", "seed", "drawn", "reason")
    return results.Null(
        **{name: getattr(null, name) for name in same},
        mean=float(null.mean),
        q95=float(null.q95),
        p=float(null.p_value),
        p_floor=null.p_smallest or math.nan,
        draws=int(null.n_permutations),
    )


def _notes(notes: Any) -> tuple[results.Note, ...]:
    return tuple(results.Note(code=n.code, message=n.message) for n in notes)


def with_items(spread: SpreadResult, items: Sequence[str]) -> SpreadResult:
    """The comparison of spread with its items by name in the ratios.

    Parameters
    ----------
    spread : SpreadResult
    items : sequence of str
        Ids in the order of the scores that were compared.

    Returns
    -------
    SpreadResult

    Examples
    --------
    >>> from judgestats.stats.dispersion.dispersion_test import spread_test
    >>> scores = [[[8, 9], [3, 9]], [[5, 6], [4, 6]], [[6, 7], [6, 5]]]
    >>> found = with_items(spread_test(scores, n_permutations=0), ["q1", "q2", "q3"])
    >>> found.ratios.rows[0].details["largest_item"]
    'q1'
    """
    distances = spread.gmd_ratios
    return replace(
        spread,
        ratios=ratios_with_items(spread.ratios, items),
        gmd_ratios=None if distances is None else ratios_with_items(distances, items),
    )


def ratios_with_items(ratios: Comparisons, items: Sequence[str]) -> Comparisons:
    """The ratios with the item that holds most of a side by name."""

    def named(details: Mapping[str, Any]) -> dict[str, Any]:
        place = details.get("largest_item")
        return {**details, **({} if place is None else {"largest_item": items[place - 1]})}

    return replace(ratios, rows=tuple(replace(r, details=named(r.details)) for r in ratios.rows))
