"""Figures as objects: each draws on given axes, saves itself, and describes itself as text."""

from judgestats.reporting.plots.base import Figure
from judgestats.reporting.plots.curves import (
    Curve,
    CurvePanel,
    Curves,
    DotPanel,
    Dots,
    Point,
    ScoreDistribution,
    cliques,
)
from judgestats.reporting.plots.effects import (
    EffectRow,
    Forest,
    RequirementPlot,
    RequirementRow,
    Verdict,
)

__all__ = [
    "Curve",
    "CurvePanel",
    "Curves",
    "DotPanel",
    "Dots",
    "EffectRow",
    "Figure",
    "Forest",
    "Point",
    "RequirementPlot",
    "RequirementRow",
    "ScoreDistribution",
    "cliques",
    "Verdict",
]
