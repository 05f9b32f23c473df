"""Results of analyses as records."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_args

import pandas as pd

from judgestats.analysis.conversion import Found, NamedResult, records_of, table_record
from judgestats.analysis.limits import Limit
from judgestats.errors import InputError
from judgestats.files.text import format_number
from judgestats.results import (
    CONDITIONS,
    About,
    Comparison,
    Condition,
    Drawing,
    Family,
    Headline,
    Note,
    Record,
    Results,
    ResultSet,
    Row,
    Table,
    Test,
)
from judgestats.results.change_screen import change_finding
from judgestats.results.decisions import DecisionOptions, verdicts_of
from judgestats.results.metric_names import not_estimable
from judgestats.results.numbers import short_names, with_names
from judgestats.results.records import Role, plain
from judgestats.results.screen import full_text
from judgestats.results.verdict import Measure
from judgestats.results.verdict_screen import care_of, finding_of
from judgestats.sinks import escape_html
from judgestats.stats.inference import multiplicity as adjusting
from judgestats.stats.inference.result import Result

__all__ = [
    "Analysis",
    "Found",
    "NamedResult",
    "sort_by_role",
    "condition_result",
    "conditions_of",
    "named_results",
    "results_by_subject",
    "smallest_adjusted",
]


def named_results(
    subject: str, role: Role, *rows: tuple[str, str, Result], **more: Any
) -> list[NamedResult]:
    """Results of one subject: a condition, or a judge and what it was asked under.

    Parameters
    ----------
    subject : str
        Ends the ids and the titles.
    role : {"primary", "secondary", "descriptive", "replicated"}
    *rows : tuple of str, str, Result
        What the id begins with, the title, and the result.
    **more
        Further fields of all of them.

    Returns
    -------
    list of NamedResult

    Examples
    --------
    >>> from judgestats.stats.inference.result import Estimate
    >>> from judgestats.stats.inference.result import Sample
    >>> mean = Estimate(name="mean", label="Mean", estimate=7.0, sample=Sample(n_items=3))
    >>> [(r.id, r.title) for r in named_results("judge 1", "primary", ("mean", "Mean", mean))]
    [('mean.judge 1', 'Mean, judge 1')]
    """
    return [
        NamedResult(id=f"{key}.{subject}", title=f"{title}, {subject}", role=role, result=result,
                    **more)
        for key, title, result in rows
    ]  # fmt: skip


def results_by_subject(
    key: str, title: str, role: Role, results: Mapping[str, Result], **more: Any
) -> list[NamedResult]:
    """The same result of several subjects; see `named_results`."""
    return [
        named
        for subject, result in results.items()
        for named in named_results(subject, role, (key, title, result), **more)
    ]


def condition_result(
    key: str, title: str, condition: str, result: Result, *, role: Role = "primary", **more: Any
) -> NamedResult:
    """A result of one condition, which it is about where `more` names no other subject.

    Examples
    --------
    >>> from judgestats.stats.inference.result import Estimate
    >>> from judgestats.stats.inference.result import Sample
    >>> mean = Estimate(name="mean", label="Mean", estimate=7.0, sample=Sample(n_items=3))
    >>> condition_result("mean", "Mean", "judge 1", mean).title
    'Mean (judge 1)'
    """
    fields = {"about": About(conditions=(condition,)), **more}
    return NamedResult(f"{key}.{condition}", f"{title} ({condition})", role, result, **fields)


def sort_by_role(results: Iterable[NamedResult]) -> list[NamedResult]:
    """Results with the primary ones first, then the secondary ones, and so on."""
    roles = list(get_args(Role))
    return sorted(results, key=lambda r: roles.index(r.role))


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """Everything an analysis found.

    Attributes
    ----------
    experiment, question : str
    conditions : DataFrame
        One row per condition.
    results : tuple of NamedResult
    limitations : tuple of str
        Those that follow from these data.
    metrics : mapping of name to number
        Of the whole experiment, named for the MLflow UI.
    condition_metrics : mapping of condition to mapping
        Of each condition.
    params : mapping of name to text
        Of the run, where they follow from the data.
    curves : mapping of name to list of (step, number)
    files : mapping of path to text
        Further files of the run, by their path below its folder.
    headlines : tuple of Headline
        What it claims.
    described : tuple of NamedResult
        Estimates that the table of conditions shows.
    condition_records : tuple of Condition
        With the ids of the results that describe each; from `conditions` where empty.
    rows : tuple of Row
        The questions that the screen and the first page answer for every condition; cells whose
        result was not made fall out.
    drawing : Drawing or None
        The figure that answers.
    measures : tuple of Measure
        What verdicts rest on.
    decision : DecisionOptions
        How verdicts are made.
    decisions : tuple of mapping
        What the data certify beyond verdicts, as records.
    finding : str
        One sentence where no claim says it: how many claims of a study hold.
    """

    experiment: str
    question: str
    conditions: pd.DataFrame
    results: tuple[NamedResult, ...]
    limitations: tuple[str, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    condition_metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    curves: Mapping[str, list[tuple[int, float]]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    headlines: tuple[Headline, ...] = ()
    described: tuple[NamedResult, ...] = ()
    condition_records: tuple[Condition, ...] = ()
    rows: tuple[Row, ...] = ()
    drawing: Drawing | None = None
    measures: tuple[Measure, ...] = ()
    decision: DecisionOptions = field(default_factory=DecisionOptions)
    decisions: tuple[Mapping[str, Any], ...] = ()
    finding: str = ""

    def with_role(self, *roles: str) -> tuple[NamedResult, ...]:
        """The results of some roles, in order."""
        return tuple(r for r in self.results if r.role in roles)

    def __getitem__(self, result_id: str) -> Result:
        for named in self.results:
            if named.id == result_id:
                return named.result
        listed = ", ".join(r.id for r in self.results)
        raise KeyError(f"no result is called {result_id!r}. There are: {listed}")

    @cached_property
    def _records(self) -> Results:
        return results_of(self)

    def records(self, facts: Mapping[str, Any] | None = None) -> Results:
        """The analysis as records, with the facts of its run.

        Parameters
        ----------
        facts : mapping, optional
            Of the run: kind, title, judges, design, account, command.
        """
        own = dict(facts or {})
        kind, title = own.pop("kind", self._records.kind), str(own.pop("title", ""))
        held = replace(self._records, kind=kind, title=title, facts=plain(own))
        held = replace(held, verdicts=verdicts_of(held, self.decision))
        care = tuple(text for _, text in care_of(held))
        finding = self.finding or finding_of(held)
        if kind in {"drift", "comparison"}:
            finding = change_finding(held)
        return replace(held, finding=finding, care=care)

    def __str__(self) -> str:
        return full_text(self._records)

    def _repr_html_(self) -> str:
        table = self.conditions.to_html(index=False, float_format=format_number)
        return (
            f"<h4>{escape_html(self.question)}</h4>{table}"
            f"<p><strong>{escape_html(finding_of(self.records()))}</strong></p>"
        )


_STATUS = "n_"
_COUNTS = ("n_items", "n_clusters", "n_replications", "n_chosen")


def results_of(analysis: Analysis) -> Results:
    """What ``results.json`` holds of an analysis, the facts of its run aside."""
    named = (*analysis.results, *analysis.described)
    records: list[Record] = []
    ids: dict[int, str] = {}
    for one in named:
        if not isinstance(one.result, adjusting.Family):
            ids[id(one.result)] = one.id
            records += records_of(one.result, one)
    families = [*_set_families(records)]
    for one in named:
        if isinstance(one.result, adjusting.Family):
            records, family = _adjusted(one, one.result, records, ids)
            families.append(family)
    names = {record.id for record in records}
    found = _shorten_names(Results(
        experiment=analysis.experiment,
        question=analysis.question,
        results=(*_table(analysis.conditions), *records),  # type: ignore[arg-type]
        families=tuple(families),
        headlines=tuple(
            h if h.size in names else replace(h, size="") for h in analysis.headlines
        ),
        conditions=analysis.condition_records or tuple(conditions_of(analysis.conditions)),
        rows=tuple(_rows(analysis.rows, names)),
        limitations=tuple(_limitation(text) for text in analysis.limitations),
        drawing=analysis.drawing,
        measures=analysis.measures,
        decisions=analysis.decisions,
        metrics=_numbers(analysis.metrics),
        condition_metrics={k: _numbers(v) for k, v in analysis.condition_metrics.items()},
    ))  # fmt: skip
    if not any(record.not_estimable for record in records):
        return found
    return replace(found, condition_metrics=_drop_missing_limits(found))


def _shorten_names(results: Results) -> Results:
    """With limitations that call conditions as the screen and the page do."""
    names = short_names(results)

    def shorten(note: Note) -> Note:
        texts = {k: with_names(str(v), names) for k, v in note.values.items() if k == "short"}
        message = with_names(note.message, names)
        return replace(note, message=message, values={**note.values, **texts})

    return replace(results, limitations=tuple(map(shorten, results.limitations)))


def _drop_missing_limits(results: Results) -> dict[str, dict[str, float]]:
    """The metrics, without the ends of intervals that are not estimable."""

    def quantity(name: str) -> str:
        return name.removeprefix("ci/").rpartition(".")[0] if name.startswith("ci/") else ""

    every = {quantity(name) for own in results.condition_metrics.values() for name in own} - {""}
    lost = {name: not_estimable(results, name) for name in every}
    return {
        condition: {
            name: math.nan if condition in lost.get(quantity(name), ()) else value
            for name, value in metrics.items()
        }
        for condition, metrics in results.condition_metrics.items()
    }


def _numbers(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in metrics.items()}


def _adjusted(
    named: NamedResult, family: adjusting.Family, records: Sequence[Record], ids: Mapping[int, str]
) -> tuple[list[Record], Family]:
    """The records with those of a family adjusted; tests that stand nowhere else are added."""
    out = list(records)
    at = {record.id: i for i, record in enumerate(out)}
    members: list[Test] = []
    for label, test in family.tests.items():
        test_id = ids.get(id(test))
        if test_id is None:
            identity, title = f"{named.id}/{label}", f"{named.title}: {label}"
            place = replace(named, id=identity, title=title, hypothesis=named.answers)
            at[place.id] = len(out)
            out += records_of(test, place)
            test_id = place.id
        record = out[at[test_id]]
        if not isinstance(record, Test) or record.family:
            raise InputError(
                f"analysis: {test_id} belongs to the families {named.id} and "
                f"{getattr(record, 'family', '')}. A test is adjusted once: name it in one family."
            )
        p, bound = float(family.p_adjusted[label]), family.p_bound.get(label, False)
        record = replace(record, family=named.id, p_adjusted=p, p_bound=bound)
        out[at[test_id]] = record
        members.append(record)
    return out, _family(
        named.id,
        hypothesis=named.answers,
        label=family.name,
        method=family.adjust,
        tests=members,
        smallest=family.smallest,
    )


def _set_families(records: Sequence[Record]) -> Iterable[Family]:
    """The families of comparisons, each its set."""
    by_id = {record.id: record for record in records}
    for whole in records:
        if not isinstance(whole, ResultSet) or not whole.family:
            continue
        rows = [by_id[i] for i in whole.members]
        label, method = (str(whole.details.get(name, "")) for name in ("family", "adjust"))
        yield _family(
            whole.family,
            hypothesis=whole.hypothesis,
            label=label,
            method=method,
            tests=[r for r in rows if isinstance(r, Comparison)],
        )


def _family(
    family_id: str,
    *,
    hypothesis: str,
    label: str,
    method: str,
    tests: Sequence[Test | Comparison],
    smallest: float = 0.0,
) -> Family:
    defined = [t for t in tests if not math.isnan(t.p)]
    least = smallest_adjusted([t.p_floor for t in defined], method=method)
    return Family(
        id=family_id,
        hypothesis=hypothesis,
        label=label,
        method=method,
        members=tuple(t.id for t in tests),
        n_undefined=len(tests) - len(defined),
        smallest_p=max(least, smallest),  # NaN stays
    )


def smallest_adjusted(floors: Sequence[float], *, method: str) -> float:
    """The smallest adjusted p that a family can reach, from the smallest p of each test.

    Parameters
    ----------
    floors : sequence of float
        NaN where a test has no known floor.
    method : str
        The adjustment.

    Returns
    -------
    float
        NaN where a floor is not known.

    Examples
    --------
    >>> smallest_adjusted([0.001] * 60, method="holm")
    0.06
    >>> smallest_adjusted([0.001] * 60, method="BH")
    0.001
    """
    if not floors or any(math.isnan(f) for f in floors):
        return math.nan
    if method not in adjusting.ADJUSTMENTS:  # adjusted by construction: permutations of the largest
        return float(min(floors))
    p = adjusting.p_adjust(list(floors), method=method)  # type: ignore[arg-type]
    return float(p.min())


def _rows(declared: Sequence[Row], names: set[str]) -> Iterable[Row]:
    """The rows declared, with the cells whose result was made."""
    for row in declared:
        cells = {label: i for label, i in row.cells.items() if i in names}
        if cells:
            beside = {words: i for words, i in row.beside.items() if i in names}
            yield replace(row, cells=cells, beside=beside)


def _limitation(text: str) -> Note:
    """A limitation with its code, and in short where it says so (`Limit`)."""
    short = {"short": text.short} if isinstance(text, Limit) else {}
    code = text.code if isinstance(text, Limit) else "limitation"
    return Note(code=code, message=str(text), severity="info", values=short)


def _table(conditions: pd.DataFrame) -> Iterable[Table]:
    """The table of conditions as a record."""
    if len(conditions.columns):
        yield table_record(
            conditions, id=CONDITIONS, hypothesis=CONDITIONS, role="descriptive", title="Conditions"
        )


def conditions_of(
    table: pd.DataFrame, *, judged: Collection[str] | None = None
) -> Iterator[Condition]:
    """The conditions from their table: factors and counts, no estimates.

    Parameters
    ----------
    table : DataFrame
        One row per condition.
    judged : collection of str, optional
        Conditions that were judged: all others are derived from them. None: all were.

    Returns
    -------
    iterator of Condition
    """
    if "condition" not in table:
        return
    for row in table.to_dict("records"):
        factors = {
            str(k).removeprefix("factor_"): _level(v)
            for k, v in row.items()
            if k == "temperature" or str(k).startswith("factor_")
        }
        counts = {
            str(k).removeprefix(_STATUS): int(v)
            for k, v in row.items()
            if str(k).startswith(_STATUS) and k not in _COUNTS and _is_count(v)
        }
        if "n" in row and _is_count(row["n"]):
            counts = {"asked": int(row["n"]), **counts}
        label, judge = str(row["condition"]), str(row.get("judge", ""))
        derived = judged is not None and label not in judged
        yield Condition(label=label, judge=judge, factors=factors, counts=counts, derived=derived)


def _level(value: Any) -> str | float | None:
    level = plain(value)
    if isinstance(level, (int, float)) and not isinstance(level, bool):
        return float(level)
    return None if level is None else str(level)


def _is_count(value: Any) -> bool:
    number = plain(value)
    return isinstance(number, (int, float)) and float(number).is_integer()
