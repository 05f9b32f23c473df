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
from judgestats.reporting.plots.calibration import CalibrationCurve, ReliabilityDiagram
from judgestats.reporting.plots.effects import EffectRow, Equivalence, Forest, Verdict
from judgestats.reporting.plots.ranks import CriticalDifference, cliques
from judgestats.reporting.plots.reliability import (
    NullRow,
    NullStrip,
    ReliabilityByK,
    ReliabilityCurve,
    stepped_up,
)
from judgestats.reporting.plots.scaling import ScalingCurve, ScalingCurves
from judgestats.reporting.plots.scores import PositionHeatMap, ScoreDistribution
from judgestats.reporting.plots.spread import MeanAgainstSpread, SpreadByCondition, SpreadPanel

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
