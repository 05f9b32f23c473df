"""What the replicated studies computed or printed, beside the answers of the experiments."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd

from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.analysis.reasoning import WITHOUT, judges_with_and_without
from judgestats.analysis.strata import strata_of
from judgestats.judgments.shapes import ScoreArray, score_array
from judgestats.stats.layouts.cell_statistics import cell_statistics
from judgestats.studies.own_tables import centred_beside, grade_scores_beside, omegas_beside
from judgestats.studies.paper_tables import (
    PaperTable,
    crowd_table,
    grade_score_table,
    head_to_tail_table,
)
from judgestats.studies.paper_tables.rejection import rejection_table
from judgestats.studies.published import (
    published_groups,
    published_levene_of_variances,
    published_ratios,
    published_tests,
)

Procedure = Callable[[pd.DataFrame, ScoreArray], list[NamedResult]]
"""Of the conditions and their scores."""


def with_published(analysis: Analysis, frame: pd.DataFrame, *, preset: str = "") -> Analysis:
    """An analysis with what the study that it replicates would have printed.

    Parameters
    ----------
    analysis : Analysis
    frame : DataFrame
        The parsed judgments that it is of.
    preset : str
        Of the run: numbers that mislead are computed only where the study itself is repeated.

    Returns
    -------
    Analysis
        With results of role ``replicated`` after its own; as it is where no study stands behind
        the experiment.
    """
    results = [
        NamedResult(id=identity, title=title, role="replicated", result=table())
        for identity, (title, table) in _PRINTED.get(analysis.experiment, {}).items()
    ]
    if procedure := _COMPUTED.get(analysis.experiment):
        asked = frame[frame["status"] != "invalid_condition"]  # refused conditions have no scores
        results += procedure(analysis.conditions, score_array(asked))
    if analysis.experiment == "omega" and preset in {"paper", "same_answers"}:
        results += omegas_beside(frame)
    if analysis.experiment == "grade_score":
        results += grade_scores_beside(analysis.conditions, frame)
    if analysis.experiment == "temperature" and preset == "distribution":
        centred = centred_beside(score_array(frame))
        results.append(centred)
        rows = centred.result.tidy().to_csv(index=False, lineterminator="\n")
        files = {**analysis.files, "tables/centred_scores.csv": rows}
        analysis = dataclasses.replace(analysis, files=files)
    return dataclasses.replace(analysis, results=(*analysis.results, *results))


def _temperatures(cells: pd.DataFrame, array: ScoreArray) -> list[NamedResult]:
    return published_tests(array, cells)


def _judges(cells: pd.DataFrame, array: ScoreArray) -> list[NamedResult]:
    return published_groups(array, strata_of(cells, vary="judge"), what="judges")


def _guidelines(cells: pd.DataFrame, array: ScoreArray) -> list[NamedResult]:
    return published_groups(array, strata_of(cells, vary="factor_guideline"), what="guidelines")


def _reasoning(cells: pd.DataFrame, array: ScoreArray) -> list[NamedResult]:
    strata = strata_of(cells, vary="factor_reasoning")
    results = published_levene_of_variances(array, strata, reference=WITHOUT)
    for where, (treated, control) in judges_with_and_without(cells).items():
        more, less = (cell_statistics(s.scores(array)).variance for s in (treated, control))
        results += published_ratios(more, less, names=treated.labels, where=where)
    return results


_COMPUTED: Mapping[str, Procedure] = {
    "temperature": _temperatures,
    "judges": _judges,
    "guidelines": _guidelines,
    "reasoning": _reasoning,
}
_PRINTED: Mapping[str, Mapping[str, tuple[str, Callable[[], PaperTable]]]] = {
    "grade_score": {"published": ("Tables 1-3 of arXiv 2406.12043", grade_score_table)},
    "head_to_tail": {"published": ("Tables 5 and 6 of arXiv 2412.12509", head_to_tail_table)},
    "crowd": {
        f"published.table_{n}": (f"Table {n} as printed", partial(crowd_table, n))
        for n in (1, 2, 4)
    },
    "rejection_sampling": {"published": ("Table 3 as printed", rejection_table)},
}
