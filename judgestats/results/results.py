"""All results of one analysis: what ``results.json`` holds, and how a renderer reads it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar

from judgestats.errors import InputError
from judgestats.results import records
from judgestats.results.quantities import kind_of_test, quantity_of
from judgestats.results.records import Estimate
from judgestats.results.verdict import Measure, Verdict

VERSION = 2
"""Of the file. 0.1.0 wrote none."""

CONDITIONS = "conditions"
"""Id of the table that describes the conditions, one row each, at full precision."""

Kind = TypeVar("Kind", bound=records.Record)


@dataclass(frozen=True, kw_only=True)
class Results(records.Part):
    """Everything an analysis found, as data.

    Attributes
    ----------
    version : int
    kind : {"experiment", "audit", "drift", "comparison", "replication"}
    experiment, title, question : str
    headlines, results, families, conditions, figures : tuple of records
    rows : tuple of Row
        Quantities of every condition, for the screen and the report's first page.
    drawing : Drawing or None
        The figure that answers.
    limitations : tuple of Note
    measures : tuple of Measure
        What verdicts rest on, with what their limits at any level follow from.
    verdicts : tuple of Verdict
        One per judge, condition and criterion.
    decisions : tuple of mapping
        Cut-offs, automation and panels, as `judgestats.decisions` writes them.
    finding : str
        The first claim in one sentence, without p; of a comparison its outcome.
    care : tuple of str
        What limits the verdicts, the gravest first.
    metrics : mapping of name to number
        Of the whole run, under the names that MLflow and ``judgestats check`` know.
    condition_metrics : mapping of condition to mapping
        Of each condition; ``ci/NAME.lo`` and ``ci/NAME.hi`` are the ends of NAME's interval.
    facts : mapping
        Of the run: judges, design, account, command.

    Examples
    --------
    >>> e = Estimate(id="mean.a", hypothesis="mean", role="descriptive", title="Mean",
    ...              estimand="mean", estimate=7.5)
    >>> found = Results(experiment="x", question="?", results=(e,))
    >>> found["mean.a"].estimate, [r.id for r in found.select(Estimate, hypothesis="mean")]
    (7.5, ['mean.a'])
    """

    experiment: str
    question: str
    results: tuple[records.AnyRecord, ...]
    families: tuple[records.Family, ...] = ()
    headlines: tuple[records.Headline, ...] = ()
    conditions: tuple[records.Condition, ...] = ()
    rows: tuple[records.Row, ...] = ()
    limitations: tuple[records.Note, ...] = ()
    measures: tuple[Measure, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    decisions: tuple[records.Plain, ...] = ()
    finding: str = ""
    care: tuple[str, ...] = ()
    figures: tuple[records.Figure, ...] = ()
    drawing: records.Drawing | None = None
    metrics: Mapping[str, records.Number] = field(default_factory=dict)
    condition_metrics: Mapping[str, Mapping[str, records.Number]] = field(default_factory=dict)
    title: str = ""
    kind: Literal["experiment", "audit", "drift", "comparison", "replication"] = "experiment"
    facts: Mapping[str, records.Plain] = field(default_factory=dict)
    version: Literal[2] = 2

    @cached_property
    def _record_index(self) -> dict[str, records.Record]:
        return {record.id: record for record in self.results}

    def __getitem__(self, result_id: str) -> records.Record:
        """The result of this id."""
        try:
            return self._record_index[result_id]
        except KeyError:
            raise KeyError(
                f"no result is called {result_id!r}. There are: {', '.join(self._record_index)}"
            ) from None

    def _judge_facts(self) -> list[Mapping[str, records.Plain]]:
        listed = (self.facts.get(key) for key in ("judges", "stage_judges"))
        every = [j for judges in listed if isinstance(judges, (list, tuple)) for j in judges]
        return [judge for judge in every if isinstance(judge, Mapping)]

    @property
    def simulated_judges(self) -> list[str]:
        """The names of the judges that were simulated."""
        return [
            str(judge.get("name", "")) for judge in self._judge_facts() if judge.get("simulated")
        ]

    @property
    def all_simulated(self) -> bool:
        """Whether all judges were simulated."""
        return bool(self.facts.get("simulated")) and all(
            judge.get("simulated", True) for judge in self._judge_facts()
        )

    def __contains__(self, result_id: str) -> bool:
        return result_id in self._record_index

    def estimate(self, result_id: str) -> Estimate | None:
        """The estimate of this id; None where there is none."""
        record = self._record_index.get(result_id)
        return record if isinstance(record, Estimate) else None

    def get(self, result_id: str, kind: type[Kind]) -> Kind:
        """The result of this id, which is of this kind."""
        record = self[result_id]
        if not isinstance(record, kind):
            raise InputError(
                f"results: {result_id!r} is no {kind.__name__}, it is a {type(record).__name__}."
            )
        return record

    def claimed_p(self, claim: str) -> float:
        """The adjusted p of a claim, a headline or a test, that pairs are held to; NaN: of none."""
        for headline in self.headlines:
            if headline.id == claim:
                return headline.p_adjusted
        for test in [self[claim]] if claim in self else []:
            if isinstance(test, (records.Test, records.Comparison)):
                return test.p_adjusted if test.family else test.p
        return math.nan

    def select(
        self,
        kind: type[Kind] | None = None,
        *,
        hypothesis: str | Sequence[str] = "",
        role: str | Sequence[str] = "",
        condition: str = "",
        judge: str = "",
        estimand: str = "",
        top: bool = False,
    ) -> Iterator[Kind]:
        """The results that are so, in order.

        Parameters
        ----------
        kind : type, optional
            `Estimate`, `Test`, `Comparison`, `Table` or `ResultSet`.
        hypothesis, role : str or sequence of str
        condition, judge, estimand : str
            Of those about this condition, or judge; of this estimand.
        top : bool
            Only those that are part of no other.
        """
        hypotheses = [hypothesis] if isinstance(hypothesis, str) else list(hypothesis)
        roles = [role] if isinstance(role, str) else list(role)
        for record in self.results:
            if kind is not None and not isinstance(record, kind):
                continue
            if hypothesis and record.hypothesis not in hypotheses:
                continue
            if role and record.role not in roles:
                continue
            if condition and condition not in record.about.conditions:
                continue
            if judge and judge != record.about.judge:
                continue
            if estimand and getattr(record, "estimand", "") != estimand:
                continue
            if top and record.part_of:
                continue
            yield record  # type: ignore[misc]

    def members(self, whole: records.ResultSet | records.Family) -> tuple[records.Record, ...]:
        """The results of a set or family, in order."""
        return tuple(self[i] for i in whole.members)

    def effects(self, test: records.Test | records.Comparison) -> tuple[Estimate, ...]:
        """The effect sizes of a test, the main one first."""
        return tuple(self.get(i, Estimate) for i in test.effects)

    def family(self, family_id: str) -> records.Family:
        """The family of this id."""
        for family in self.families:
            if family.id == family_id:
                return family
        raise KeyError(f"no family is called {family_id!r}")

    def condition(self, label: str) -> records.Condition:
        """The condition of this label."""
        for condition in self.conditions:
            if condition.label == label:
                return condition
        raise KeyError(f"no condition is called {label!r}")

    def notes(self) -> Iterator[tuple[records.Record, records.Note]]:
        """All warnings with the results they belong to."""
        for record in self.results:
            for note in record.notes:
                yield record, note


def inconsistency(results: Results) -> str:
    """Where records contradict one another: place and what is wrong; empty where nowhere.

    A file written by judgestats has no such place, one that was edited by hand may.
    """
    seen: dict[str, int] = {}
    for i, record in enumerate(results.results):
        if record.id in seen:
            return f"results[{i}].id: {record.id!r} is also the id of results[{seen[record.id]}]"
        seen[record.id] = i
    families = {family.id: family for family in results.families}
    places = [(f"families[{i}].members", f.members) for i, f in enumerate(results.families)]
    places += [(f"headlines[{i}].rests_on", h.rests_on) for i, h in enumerate(results.headlines)]
    sizes = [(i, h.size) for i, h in enumerate(results.headlines) if h.size]
    places += [(f"headlines[{i}].size", (size,)) for i, size in sizes]
    for i, c in enumerate(results.conditions):
        places.append((f"conditions[{i}].estimates", tuple(c.estimates.values())))
    for i, row in enumerate(results.rows):
        places.append((f"rows[{i}].cells", (*row.cells.values(), *row.beside.values())))
    if wrong := _unknown(places, seen):
        return wrong
    places = []
    for i, record in enumerate(results.results):
        try:
            if isinstance(record, (Estimate, records.Comparison)):
                quantity_of(record.estimand)
            elif isinstance(record, records.Test):
                kind_of_test(record.test)
        except InputError as error:
            field_name = "test" if isinstance(record, records.Test) else "estimand"
            return f"results[{i}].{field_name}: {error}".rstrip(".")
        whole = (record.part_of,) if record.part_of else ()
        places.append((f"results[{i}].part_of", whole))
        if isinstance(record, records.ResultSet):
            places.append((f"results[{i}].members", record.members))
        if isinstance(record, (records.Test, records.Comparison)):
            places.append((f"results[{i}].effects", record.effects))
            if record.family and record.id not in getattr(
                families.get(record.family), "members", ()
            ):
                return f"results[{i}].family: {record.family!r} does not hold {record.id!r}"
            claim = record.held_to if isinstance(record, records.Comparison) else ""
            least = results.claimed_p(claim) if claim else 0.0
            if math.isnan(least):
                return f"results[{i}].held_to: there is no claim {claim!r}"
            if record.p_adjusted < least * (1 - 1e-9):
                return f"results[{i}].p_adjusted: {record.p_adjusted} is below that of {claim!r}"
            if record.p_adjusted < record.p * (1 - 1e-9):
                return f"results[{i}].p_adjusted: {record.p_adjusted} is below p, {record.p}"
        if isinstance(record, records.Table):
            wide = [j for j, row in enumerate(record.rows) if len(row) != len(record.columns)]
            if wide:
                return f"results[{i}].rows[{wide[0]}]: not as long as the columns"
    if wrong := _unknown(places, seen):
        return wrong
    for i, h in enumerate(results.headlines):
        if h.family and h.family not in families:
            return f"headlines[{i}].family: there is no family {h.family!r}"
    return ""


def _unknown(places: Sequence[tuple[str, Sequence[str]]], seen: Mapping[str, int]) -> str:
    """Message on the first reference to a missing result; empty if there is none."""
    for place, ids in places:
        for result_id in ids:
            if result_id not in seen:
                return f"{place}: there is no result {result_id!r}"
    return ""
