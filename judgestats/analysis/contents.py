"""What an analysis holds: named results with their roles, conditions, and what follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from judgestats.analysis.conversion import Place
from judgestats.results import About, Condition, Drawing, Figure, Headline, Row
from judgestats.results.records import Role
from judgestats.stats.inference.result import Result


@dataclass(frozen=True, kw_only=True)
class NamedResult:
    """A result with its place in the plan.

    `id` is unique within an analysis; `hypothesis` is that of the plan which it answers (by default
    what the id begins with: ``spread.sim-typical``), `about` its subject, and `levels` maps the
    names under which conditions are compared to the conditions' labels. `headline` results are
    what the answer rests on; all stand in the report.
    """

    id: str
    title: str
    role: Role
    result: Result
    family: str = ""
    headline: bool = False
    hypothesis: str = ""
    about: About = field(default_factory=About)
    levels: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        """What the records of this result have in common."""
        return Place(
            id=self.id,
            hypothesis=self.hypothesis or self.id.partition(".")[0],
            role=self.role,
            title=self.title,
            about=self.about,
            levels=self.levels,
        )


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """What to do, and what it costs; `cost_usd` is None where the price is not known.

    `sentences` say it, one after another; `chosen` is the condition recommended, `tied` those that
    were not told from it, `rests_on` the ids of the results behind it; `counted` is what is counted
    where it has no mean (``choices``).
    """

    sentences: tuple[str, ...]
    replicates: int | None = None
    counted: str = ""
    cost_usd: float | None = None
    chosen: str = ""
    tied: tuple[str, ...] = ()
    reason: str = ""
    rests_on: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All that it says."""
        return " ".join(self.sentences)


@dataclass(frozen=True, kw_only=True)
class AnalysisContents:
    """The fields of an `Analysis`, before they are records."""

    experiment: str
    question: str
    sentence: str
    conditions: pd.DataFrame
    results: tuple[NamedResult, ...]
    limitations: tuple[str, ...] = ()
    recommendation: Recommendation | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    condition_metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    curves: Mapping[str, list[tuple[int, float]]] = field(default_factory=dict)
    arrays: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    headlines: tuple[Headline, ...] = ()
    described: tuple[NamedResult, ...] = ()
    condition_records: tuple[Condition, ...] = ()
    figures: tuple[Figure, ...] = ()
    rows: tuple[Row, ...] = ()
    drawing: Drawing | None = None

    def of_role(self, *roles: str) -> tuple[NamedResult, ...]:
        """The results of some roles, in order."""
        return tuple(r for r in self.results if r.role in roles)

    def __getitem__(self, result_id: str) -> Result:
        for named in self.results:
            if named.id == result_id:
                return named.result
        listed = ", ".join(r.id for r in self.results)
        raise KeyError(f"no result is called {result_id!r}. There are: {listed}")
