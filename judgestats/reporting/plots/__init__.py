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
    CalibrationCurve,
    EffectRow,
    Equivalence,
    Forest,
    ReliabilityDiagram,
    ScalingCurve,
    ScalingCurves,
    Verdict,
)
from judgestats.reporting.plots.repeats import (
    MeanAgainstSpread,
    NullRow,
    NullStrip,
    ReliabilityByK,
    ReliabilityCurve,
    SpreadByCondition,
    SpreadPanel,
    stepped_up,
)
from judgestats.reporting.plots.scores import (
    CriticalDifference,
    PositionHeatMap,
    ScoreDistribution,
    cliques,
)

__all__ = [
    "CalibrationCurve",
    "ReliabilityDiagram",
    "CriticalDifference",
    "Curve",
    "CurvePanel",
    "Curves",
    "DotPanel",
    "Dots",
    "EffectRow",
    "Equivalence",
    "Figure",
    "Forest",
    "MeanAgainstSpread",
    "NullRow",
    "NullStrip",
    "Point",
    "PositionHeatMap",
    "ReliabilityByK",
    "ReliabilityCurve",
    "ScalingCurve",
    "ScalingCurves",
    "ScoreDistribution",
    "SpreadByCondition",
    "SpreadPanel",
    "cliques",
    "stepped_up",
    "Verdict",
]
