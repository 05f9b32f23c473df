"""Does a scoring guideline change the spread, or is "no difference" shown?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis.dispersion_levels import LevelComparison
from judgestats.analysis.families import AnalysisPlan
from judgestats.analysis.records import Analysis
from judgestats.data.columns import Condition

_COMPARED = LevelComparison(
    experiment="guidelines",
    question="Does a scoring guideline change how much a judge's scores for the same answer "
    "scatter; and if no difference is seen, is it shown to be small?",
    vary="factor_guideline",
    across="guidelines",
    each="judge and temperature",
    ratio="How many times the variance under one guideline is that under another?",
    published="Kruskal-Wallis and Mann-Whitney on within-item variances, unpaired (the study does "
    "not name its test)",
    about_equality=True,
)


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    del conditions  # all that matters is in the frame
    return _COMPARED.plan(parameters)


def analyse(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Answer the plan's hypotheses on judgments with ``factor_guideline``."""
    return _COMPARED.analyse(frame, declared)
