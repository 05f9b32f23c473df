"""What an analysis returns, as records and as a print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from judgestats.analysis.contents import AnalysisContents, NamedResult, Recommendation
from judgestats.analysis.recording import results_of
from judgestats.results import Results
from judgestats.results.full_text import full_text
from judgestats.results.numbers import format_number
from judgestats.results.values import plain

__all__ = ["Analysis", "NamedResult", "Recommendation"]


@dataclass(frozen=True, kw_only=True)
class Analysis(AnalysisContents):
    """Everything an analysis found.

    Attributes
    ----------
    experiment, question : str
    sentence : str
        The answer, in one plain sentence.
    conditions : DataFrame
        One row a condition.
    results : tuple of NamedResult
    limitations : tuple of str
        Those that follow from these data.
    recommendation : Recommendation or None
    metrics : mapping of name to number
        Of the whole experiment, named for the MLflow UI.
    condition_metrics : mapping of condition to mapping
        Of each condition.
    params : mapping of name to text
        Of the run, where they follow from the data.
    curves : mapping of name to list of (step, number)
    arrays : mapping
        What figures need beyond the results (plain nested lists).
    files : mapping of path to text
        Further files of the run, by their path below its folder.
    headlines : tuple of Headline
        What it claims.
    described : tuple of NamedResult
        Estimates that the table of conditions shows.
    condition_records : tuple of Condition
        With the ids of the results that describe each; from `conditions` where empty.
    figures : tuple of Figure
        What figures need, as records.
    rows : tuple of Row
        The questions that the screen and the first page answer for every condition; cells whose
        result was not made fall out.
    drawing : Drawing or None
        The figure that answers.
    """

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
        return replace(self._records, kind=kind, title=title, facts=plain(own))

    def __str__(self) -> str:
        return full_text(self._records)

    def _repr_html_(self) -> str:
        import html

        table = self.conditions.to_html(index=False, float_format=format_number)
        return (
            f"<h4>{html.escape(self.question)}</h4>{table}"
            f"<p><strong>{html.escape(self.sentence)}</strong></p>"
        )
