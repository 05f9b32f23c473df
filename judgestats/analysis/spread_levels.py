"""One factor's levels compared by the spread of repeated scores: judges, guidelines, reasoning.

Three experiments ask the same of different factors, so plan and analysis stand here once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judgestats.analysis.asked_rows import score_rows
from judgestats.analysis.drawings import ranked
from judgestats.analysis.limits import common_limits
from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.recommend import MARGIN_ICC, recommend_reliable
from judgestats.analysis.scores import ScoreConditions, cell_arrays, cell_figures
from judgestats.analysis.spread_comparison import (
    SpreadQuestion,
    described_scores,
    equivalence_results,
    spread_metrics,
    spread_questions,
    spread_results,
)
from judgestats.analysis.spread_headlines import nothing_claimed, spread_headlines
from judgestats.analysis.spread_plan import (
    BLOCKS,
    MARGIN,
    MISSING,
    nothing_compared,
    spread_hypotheses,
    spread_sentence,
)
from judgestats.analysis.strata import Stratum, strata_of
from judgestats.analysis.varied import varied_questions
from judgestats.judgments.shapes import ScoreArray
from judgestats.results import Headline
from judgestats.results.estimands import name_of


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The levels of one factor, compared in every stratum of the others.

    Attributes
    ----------
    frame : DataFrame
        The judgments that were asked.
    array : ScoreArray
    described : ScoreConditions
    questions : tuple of SpreadQuestion
        The primary one first, then those of varied fields of the request.
    """

    frame: pd.DataFrame
    array: ScoreArray
    described: ScoreConditions
    questions: tuple[SpreadQuestion, ...]

    @property
    def strata(self) -> tuple[Stratum, ...]:
        """Of the primary question."""
        return self.questions[0].strata

    @property
    def cells(self) -> pd.DataFrame:
        """One row a condition."""
        return self.described.table


@dataclass(frozen=True, kw_only=True)
class LevelComparison:
    """An experiment that compares the levels of one factor, in every stratum of the others.

    Attributes
    ----------
    experiment, question : str
    vary : str
        The column of the conditions that is compared: ``"judge"``, ``"factor_guideline"``.
    across : str
        What is compared, in the plural.
    each : str
        What a stratum is: ``"temperature"``, ``"judge and temperature"``.
    ratio : str
        The question that ratios of variances answer.
    published : str
        The test that the replicated study printed.
    about_equality : bool
        Whether the experiment asks for equivalence, which is then told first.
    reference : str, optional
        The level that ratios and shifts refer to; every pair by default.
    """

    experiment: str
    question: str
    vary: str
    across: str
    each: str
    ratio: str
    published: str
    about_equality: bool = False
    reference: str | None = None

    def plan(self, parameters: Mapping[str, Any], *further: Hypothesis) -> AnalysisPlan:
        """The plan, as it is written to the run before the first call.

        Parameters
        ----------
        parameters : mapping
            The experiment's parameters, read.
        *further : Hypothesis
            What the experiment asks beyond the comparison of levels.

        Returns
        -------
        AnalysisPlan
        """
        return AnalysisPlan(
            experiment=self.experiment,
            question=self.question,
            blocks=BLOCKS,
            missing=MISSING,
            n_resamples=int(parameters["resamples"]),
            seed=int(parameters["seed"]),
            margins={"variance_ratio": MARGIN, "icc_1_1": MARGIN_ICC},
            hypotheses=(
                *spread_hypotheses(across=self.across, each=self.each, ratio=self.ratio),
                *further,
                Hypothesis(
                    id="published",
                    role="replicated",
                    question="What would the replicated study have printed?",
                    test=self.published,
                ),
            ),
        )

    def compare(self, frame: pd.DataFrame, declared: AnalysisPlan) -> Compared:
        """The levels compared within every stratum.

        Parameters
        ----------
        frame : DataFrame
            The parsed judgments, all conditions on the same items.
        declared : AnalysisPlan

        Returns
        -------
        Compared
        """
        frame, array, described = described_scores(frame, declared)
        cells = described.table
        primary = ("spread", self.across, self.each, strata_of(cells, vary=self.vary))
        questions = spread_questions(
            array, declared, primary, *varied_questions(cells, declared), reference=self.reference
        )
        return Compared(frame=frame, array=array, described=described, questions=questions)

    def concluded(
        self,
        comparison: Compared,
        declared: AnalysisPlan,
        *,
        text: str = "",
        claims: Sequence[Headline] = (),
        further: Sequence[NamedResult] = (),
    ) -> Analysis:
        """What the comparison says, with what else the experiment found.

        Parameters
        ----------
        comparison : Compared
        declared : AnalysisPlan
        text : str
            Behind the sentence on the spread.
        claims : sequence of Headline
            Beyond those on the spread.
        further : sequence of NamedResult
            Results beyond the comparison.

        Returns
        -------
        Analysis
        """
        cells, questions = comparison.cells, comparison.questions
        headlines = spread_headlines(*questions)
        sentence = spread_sentence(headlines, *questions)
        if not any(question.strata for question in questions):
            why = nothing_compared(cells, self.vary, across=self.across)
            headlines = (nothing_claimed(why), *headlines)
            sentence = f"{why} {sentence}".rstrip()
        arrays = cell_arrays(comparison.array)
        recommended, best = recommend_reliable(cells, comparison.array)
        return Analysis(
            experiment=self.experiment,
            question=declared.question,
            drawing=ranked(
                "sem",
                "icc1",
                caption=f"{name_of('sem')}, and the reliability of one score.",
                results=spread_results(*questions),
                compared="posthoc.nemenyi.",
            ),
            sentence=sentence + text,
            headlines=(*headlines, *claims),
            described=comparison.described.estimates,
            rows=score_rows(cells["condition"]),
            condition_records=comparison.described.conditions,
            figures=cell_figures(arrays),
            conditions=cells,
            results=(
                *spread_results(*questions),
                *equivalence_results(questions[0], headline=self.about_equality),
                *further,
                *best,
                *comparison.described.results,
            ),
            limitations=tuple(common_limits(comparison.frame, cells, comparison.array)),
            recommendation=recommended,
            metrics=spread_metrics(questions[0].spreads),
            condition_metrics=comparison.described.metrics,
            arrays=arrays,
        )

    def analyse(self, frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
        """Answer the plan's hypotheses.

        Parameters
        ----------
        frame : DataFrame
            The parsed judgments, all conditions on the same items.
        declared : AnalysisPlan

        Returns
        -------
        Analysis
        """
        return self.concluded(self.compare(frame, declared), declared)
