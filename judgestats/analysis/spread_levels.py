"""One factor's levels compared by the spread of repeated scores: judges, guidelines.

Two experiments ask the same of different factors, so plan and analysis stand here once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judgestats.analysis.limits import common_limits
from judgestats.analysis.outcome import Analysis
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.analysis.published import published_groups
from judgestats.analysis.recommend import recommend_replicates
from judgestats.analysis.scores import cell_arrays
from judgestats.analysis.spread_comparison import (
    compare_spread,
    described_scores,
    equivalence_in,
    equivalence_results,
    spread_metrics,
    spread_results,
)
from judgestats.analysis.spread_plan import (
    BLOCKS,
    MARGIN,
    MISSING,
    spread_hypotheses,
    spread_sentence,
)
from judgestats.analysis.strata import strata_of

__all__ = ["LevelComparison"]


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
    """

    experiment: str
    question: str
    vary: str
    across: str
    each: str
    ratio: str
    published: str
    about_equality: bool = False

    def plan(self, parameters: Mapping[str, Any]) -> AnalysisPlan:
        """The plan, as it is written to the run before the first call."""
        return AnalysisPlan(
            experiment=self.experiment,
            question=self.question,
            blocks=BLOCKS,
            missing=MISSING,
            n_resamples=int(parameters["resamples"]),
            seed=int(parameters["seed"]),
            margins={"variance_ratio": MARGIN},
            hypotheses=(
                *spread_hypotheses(across=self.across, each=self.each, ratio=self.ratio),
                Hypothesis(
                    id="published",
                    role="replicated",
                    question="What would the replicated study have printed?",
                    test=self.published,
                ),
            ),
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
        frame, array, described = described_scores(frame, declared)
        cells = described.table
        strata = strata_of(cells, vary=self.vary)
        found = compare_spread(array, strata, declared)
        equivalence = equivalence_in(array, strata, declared)
        return Analysis(
            experiment=self.experiment,
            question=declared.question,
            sentence=spread_sentence(found, equivalence, across=self.across, each=self.each),
            conditions=cells,
            results=(
                *spread_results(found, across=self.across, each=self.each),
                *equivalence_results(equivalence, headline=self.about_equality),
                *described.results,
                *published_groups(array, strata, what=self.across),
            ),
            limitations=tuple(common_limits(frame, cells, array)),
            recommendation=recommend_replicates(cells),
            metrics=spread_metrics(found, cells),
            condition_metrics=described.metrics,
            arrays=cell_arrays(array),
        )
