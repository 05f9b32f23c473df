"""Which judge is steadier at each temperature, paired by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.analysis.dispersion_levels import LevelComparison, varied_hypotheses
from judgestats.analysis.families import AnalysisPlan
from judgestats.analysis.records import Analysis
from judgestats.data.columns import Condition

_COMPARED = LevelComparison(
    experiment="judges",
    question="At the same temperature and on the same items: do judges differ in how much their "
    "scores for the same answer scatter, and which of them is steadier?",
    vary="judge",
    across="judges",
    each="temperature",
    ratio="How many times the variance of one judge is that of another?",
    published="Kruskal-Wallis and Mann-Whitney on within-item variances, unpaired",
)


def plan(parameters: Mapping[str, Any], conditions: Sequence[Condition]) -> AnalysisPlan:
    """The plan, as it is written to the run before the first call."""
    return _COMPARED.plan(parameters, *varied_hypotheses(conditions))


def analyse(frame: pd.DataFrame, declared: AnalysisPlan) -> Analysis:
    """Answer the plan's hypotheses on the judgments of every judge at every temperature."""
    return _COMPARED.analyse(frame, declared)
