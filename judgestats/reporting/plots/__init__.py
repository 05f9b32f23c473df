"""Figures as objects: each draws on given axes, saves itself, and describes itself in words."""

from judgestats.reporting.plots.answer import (
    Curve,
    CurvePanel,
    Curves,
    DotPanel,
    Dots,
    Point,
)
from judgestats.reporting.plots.base import Figure
from judgestats.reporting.plots.effects import (
    EffectRow,
    Forest,
    MeanAgainstSpread,
    SpreadByCondition,
    SpreadPanel,
    Verdict,
)
from judgestats.reporting.plots.scores import (
    CriticalDifference,
    PositionHeatMap,
    ScoreDistribution,
    cliques,
)

__all__ = [
    "CriticalDifference",
    "Curve",
    "CurvePanel",
    "Curves",
    "DotPanel",
    "Dots",
    "EffectRow",
    "Figure",
    "Forest",
    "MeanAgainstSpread",
    "Point",
    "PositionHeatMap",
    "ScoreDistribution",
    "SpreadByCondition",
    "SpreadPanel",
    "cliques",
    "Verdict",
]
