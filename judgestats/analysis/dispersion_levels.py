"""Dispersion by the levels of one factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judgestats.analysis.dispersion_comparison import (
    SpreadQuestion,
    described_scores,
    equivalence_results,
    nothing_claimed,
    spread_headlines,
    spread_metrics,
    spread_questions,
    spread_results,
)
from judgestats.analysis.families import (
    AnalysisPlan,
    Hypothesis,
    Stratum,
    most_reliable,
    published,
    strata_of,
)
from judgestats.analysis.limits import common_limits
from judgestats.analysis.recommendation import MARGIN_ICC, best_reliable
from judgestats.analysis.records import Analysis, NamedResult
from judgestats.analysis.scores import ScoreConditions, cell_arrays, cell_figures
from judgestats.analysis.summary_rows import ranked, score_rows
from judgestats.data.columns import Condition
from judgestats.data.matrices import ScoreArray
from judgestats.data.request_fields import EXTRA, sort_levels
from judgestats.results import Headline, name_of

MARGIN = 1.5
"""Declared margin of equivalence: a ratio of variances between 1/1.5 and 1.5 matters little."""

BLOCKS = (
    "The item is the block: every condition judges the same items. The cell is an item under a "
    "condition; its statistic is the mean distance of its repeated scores from their mean. "
    "Intervals and permutations keep the items of a question together."
)
MISSING = (
    "A judgment that could not be read has a status and no score; the rates are reported by "
    "condition. A cell with fewer than two scores is left out of tests of spread, and so is its "
    "item; both are counted."
)


def spread_hypotheses(*, across: str, each: str, ratio: str) -> tuple[Hypothesis, ...]:
    """The hypotheses that every comparison of spread declares.

    Parameters
    ----------
    across : str
        What is compared, in the plural.
    each : str
        What a stratum is: ``judge``, or ``judge and temperature``.
    ratio : str
        The question that ratios of variances answer.

    Returns
    -------
    tuple of Hypothesis
        spread, ratio, equivalence, shift, best, reliability.
    """
    pairs = f"pairs of {across}, within a {each}"
    return (
        Hypothesis(
            id="spread",
            role="primary",
            question=f"Does the spread of repeated scores differ between {across}?",
            test="blocked F test on the cell statistic, p by exchanging cells within items",
            family=f"one test per {each}",
        ),
        Hypothesis(
            id="ratio",
            question=ratio,
            test="GMD ratio, cells exchanged within clusters, and ratio of pooled within-cell "
            "variances, intervals over "
            "clusters, log scale",
            family=pairs,
        ),
        Hypothesis(
            id="equivalence",
            question="Where no difference is seen: is it shown to be small?",
            test=f"two one-sided tests, ratio of variances within 1/{MARGIN} to {MARGIN}",
            family=pairs,
        ),
        Hypothesis(
            id="shift",
            question=f"Do mean scores differ between {across}?",
            test="paired difference of means, interval over clusters",
            family=pairs,
        ),
        most_reliable("ICC(1,1)"),
        Hypothesis(
            id="reliability",
            role="descriptive",
            question="How reliable is one judgment, and the mean of all replications?",
            test="ICC(1) and Cronbach's alpha with jackknife intervals, each beside its null",
        ),
    )


def nothing_compared(cells: pd.DataFrame, column: str, *, across: str) -> str:
    """Why no levels were compared: one was judged, or of fewer than two anything could be read.

    Parameters
    ----------
    cells : DataFrame
        One row a condition that could be compared.
    column : str
        What is compared.
    across : str
        The same in the plural.

    Returns
    -------
    str

    Examples
    --------
    >>> cells = pd.DataFrame({"temperature": [0.3, 1.0], "n_ok": [0, 12]})
    >>> nothing_compared(cells, "temperature", across="temperatures above 0")
    'Of fewer than two temperatures above 0 could any score be read, so they were not compared.'
    """
    judged = cells[column].nunique(dropna=False)
    read = cells.loc[cells["n_ok"] > 0, column].nunique(dropna=False) if "n_ok" in cells else judged
    if judged < 2:
        text = f"Fewer than two {across} were judged, so they were not compared"
    elif read < 2:
        text = f"Of fewer than two {across} could any score be read, so they were not compared"
    else:
        text = f"No two {across} were judged alike in everything else, so they were not compared"
    return f"{text}."


_ID = "vary."


def varied_hypotheses(conditions: Sequence[Condition]) -> tuple[Hypothesis, ...]:
    """One hypothesis a field of the request that the conditions vary.

    Examples
    --------
    >>> conditions = [Condition(judge="j", settings={"top_p": p}) for p in (0.5, 1.0)]
    >>> [h.id for h in varied_hypotheses(conditions)]
    ['vary.top_p']
    """
    levels: dict[str, dict[str, None]] = {}
    for condition in conditions:
        for name in condition.settings:
            short = name.removeprefix(EXTRA)
            levels.setdefault(short, {})[condition.levels[short]] = None
    return tuple(
        Hypothesis(
            id=f"{_ID}{name}",
            question=f"Does the spread of repeated scores differ between levels of {name}?",
            test="as the primary test, ratios of variances, two one-sided tests"
            + ("; Page's L, Spearman and Kendall, the levels being ordered" if ordered else ""),
            family="one test per stratum of all other factors, in one family with the primary ones",
        )
        for name, of in levels.items()
        for ordered in [sort_levels(name, of) is not None]
    )


def varied_questions(
    cells: pd.DataFrame, declared: AnalysisPlan
) -> list[tuple[str, str, str, tuple[Stratum, ...]]]:
    """The questions that `varied_hypotheses` declared, for `spread_questions`.

    Parameters
    ----------
    cells : DataFrame
        One row a condition.
    declared : AnalysisPlan

    Returns
    -------
    list of tuple
        Id, what is compared, what a stratum is, and the strata.
    """
    names = [h.id.removeprefix(_ID) for h in declared.hypotheses if h.id.startswith(_ID)]
    return [
        (
            f"{_ID}{name}",
            f"levels of {name}",
            "stratum",
            strata_of(cells, vary=f"factor_{name}", ordered=True),
        )
        for name in names
    ]


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
                published(self.published),
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
        claims: Sequence[Headline] = (),
        further: Sequence[NamedResult] = (),
    ) -> Analysis:
        """What the comparison says, with what else the experiment found.

        Parameters
        ----------
        comparison : Compared
        declared : AnalysisPlan
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
        if not any(question.strata for question in questions):
            why = nothing_compared(cells, self.vary, across=self.across)
            headlines = (nothing_claimed(why), *headlines)
        arrays = cell_arrays(comparison.array)
        best = best_reliable(cells, comparison.array)
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
