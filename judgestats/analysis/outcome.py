"""What an analysis returns, as records and as a print."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from judgestats.analysis.contents import AnalysisContents, NamedResult, Recommendation
from judgestats.analysis.recording import results_of
from judgestats.results import Results
from judgestats.results.numbers import format_number
from judgestats.results.sentences import family_sentence, words_of
from judgestats.results.values import plain
from judgestats.stats.inference.adjust import Family

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
        return summary(self)

    def _repr_html_(self) -> str:
        import html

        table = self.conditions.to_html(index=False, float_format=format_number)
        return (
            f"<h4>{html.escape(self.question)}</h4>{table}"
            f"<p><strong>{html.escape(self.sentence)}</strong></p>"
        )


def summary(
    analysis: Analysis, *, elsewhere: str = "stand in the report and in results.json"
) -> str:
    """An R-style summary that ends in one plain sentence.

    Parameters
    ----------
    analysis : Analysis
    elsewhere : str
        Where the results are that it leaves out.

    Returns
    -------
    str
        Conditions, the headline results, limits, recommendation, and the answer.
    """
    lines = ["", f"\t{analysis.experiment}", "", *_wrapped(analysis.question), "", "Conditions:"]
    lines.append(_table(analysis.conditions))
    told = [r for r in analysis.results if r.headline]
    found = analysis.records()
    for named in told:
        text = (
            family_sentence(named.id, found)
            if isinstance(named.result, Family)
            else str(words_of(found[named.id], found))
        )
        lines += ["", f"{named.title}:", *_wrapped(text, indent="  ")]
    rest = len(analysis.results) - len(told)
    if rest:
        lines += ["", f"({rest} further results {elsewhere}.)"]
    if analysis.limitations:
        lines += ["", "Limits of these data:"]
        for text in analysis.limitations:
            lines += _wrapped(text, indent="    ", first="  - ")
    if analysis.recommendation:
        lines += ["", *_wrapped(f"Recommendation: {analysis.recommendation.text}")]
    return "\n".join([*lines, "", *_wrapped(analysis.sentence), ""])


def _wrapped(text: str, *, indent: str = "", first: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        width=96,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _table(frame: pd.DataFrame) -> str:
    shown = [
        c
        for c in (
            "condition",
            "n_items",
            "n_ok",
            "unread_share",
            "mean",
            "pass_rate",
            "pass_rate_low",
            "pass_rate_high",
            "within_variance",
            "sem",
            "icc1",
            "icc1_low",
            "icc1_high",
            "icc1_null_q95",
            "vote_share",
            "vote_share_low",
            "vote_share_high",
            "vote_share_null_q95",
            "vote_share_all",
            "grade_score",
            "grade_score_low",
            "grade_score_high",
            "chance",
            "corrected",
            "unrelated_wins",
            "as_judged",
            "as_judged_low",
            "as_judged_high",
            "fleiss_kappa",
            "ac1",
            "flip_rate",
            "sensitivity",
            "specificity",
            "chosen_preferred",
            "chosen_right",
            "swap_consistency",
            "alignment",
            "accuracy",
            "accuracy_decided",
            "n_chosen",
            "best_share",
            "best_at_random",
            "gain",
            "circles",
            "undecided",
            "cost_per_chosen",
        )
        if c in frame
    ]
    names = {
        "n_items": "items",
        "n_ok": "read",
        "unread_share": "unread",
        "within_variance": "variance",
        "pass_rate": "passes",
        "pass_rate_low": "low",
        "pass_rate_high": "high",
        "sem": "SEM",
        "icc1": "ICC(1,1)",
        "icc1_low": "low",
        "icc1_high": "high",
        "icc1_null_q95": "null 95%",
        "vote_share": "one",
        "vote_share_low": "low",
        "vote_share_high": "high",
        "vote_share_null_q95": "null 95%",
        "vote_share_all": "all",
        "grade_score": "Grade Score",
        "grade_score_low": "low",
        "grade_score_high": "high",
        "unrelated_wins": "unrelated",
        "as_judged": "correct",
        "as_judged_low": "low",
        "as_judged_high": "high",
        "chosen_preferred": "preferred",
        "chosen_right": "right",
        "fleiss_kappa": "kappa",
        "ac1": "AC1",
        "flip_rate": "flips",
        "swap_consistency": "swap",
        "alignment": "people",
        "accuracy": "accuracy",
        "accuracy_decided": "ties aside",
        "n_chosen": "chosen",
        "best_share": "best chosen",
        "best_at_random": "at random",
        "undecided": "equal points",
        "cost_per_chosen": "USD each",
    }

    def cell(value: Any) -> str:
        if isinstance(value, float):
            return "NA" if math.isnan(value) else f"{value:.3f}"
        return str(value)

    return frame[shown].map(cell).rename(columns=names).to_string(index=False)
