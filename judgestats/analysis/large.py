"""The audit of judgments that do not fit in memory, from counts: same numbers, same tables."""

from __future__ import annotations

import numpy as np

from judgestats.analysis.audit_plan import plan
from judgestats.analysis.large_scores import audit_scores
from judgestats.analysis.large_verdicts import audit_verdicts
from judgestats.analysis.outcome import Analysis
from judgestats.analysis.plan import AnalysisPlan, with_omega_model
from judgestats.analysis.verdict_plan import verdict_plan
from judgestats.errors import InputError
from judgestats.judgments.large.reduced import ReducedJudgments


def plan_for_reduced(
    reduced: ReducedJudgments,
    *,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    omega_model: str = "parallel",
) -> AnalysisPlan:
    """The plan that fits what was counted: scores, or verdicts in words.

    Parameters
    ----------
    reduced : ReducedJudgments
    n_resamples, seed : int
    level : float
    omega_model : str
        As of `judgestats.audit`.

    Returns
    -------
    AnalysisPlan
    """
    make = plan if reduced.is_scores else verdict_plan
    declared = make(n_resamples=n_resamples, seed=seed, level=level)
    return with_omega_model(declared, omega_model) if reduced.is_scores else declared


def audit_reduced(
    reduced: ReducedJudgments,
    *,
    n_resamples: int = 999,
    seed: int = 0,
    level: float = 0.95,
    omega_model: str = "parallel",
) -> Analysis:
    """Audit judgments that were reduced to counts.

    Parameters
    ----------
    reduced : ReducedJudgments
        From `judgestats.judgments.large.reduce.reduce_parquet`.
    n_resamples, seed : int
        Of permutations of cells, where these are few enough.
    level : float
        Of the intervals.
    omega_model : str
        As of `judgestats.audit`; its omega has no interval here.

    Returns
    -------
    Analysis
        The tables of `judgestats.audit`; what counts cannot give is left out, and `limitations`
        says what and why.

    Raises
    ------
    InputError
        Nothing was judged more than once.
    """
    declared = plan_for_reduced(
        reduced, n_resamples=n_resamples, seed=seed, level=level, omega_model=omega_model
    )
    if int(reduced.counts.sum(axis=2, dtype=np.int64).max()) < 2:
        raise InputError(
            "audit: every item was judged only once in a condition, so nothing can be said about "
            "consistency. Judge the items again (at least 2 replicates), or check that the column "
            "with the repetition is named replicate."
        )
    audit_them = audit_scores if reduced.is_scores else audit_verdicts
    return audit_them(reduced, declared)
