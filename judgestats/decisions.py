"""Decisions from statistics, each with its guarantee: cut-off, automation, panel, change, labels.

Every function returns a frozen record with `to_dict()` (schema ``judgestats.decision/1``). A claim
that cannot be made has ``certified`` false and a reason; no claim falls back to a point estimate.
"""

from judgestats.analysis.decisions.automation import Automation, automation_certificate
from judgestats.analysis.decisions.cascade import Cascade, cascade_certificate
from judgestats.analysis.decisions.change import Change, ChangeMonitor
from judgestats.analysis.decisions.flips import Flip, Flips, attribute_flips
from judgestats.analysis.decisions.next_labels import NextLabels, next_labels
from judgestats.analysis.decisions.operating_point import OperatingPoint, operating_point
from judgestats.analysis.decisions.panel import Panel, effective_votes
from judgestats.analysis.decisions.stopping import StoppingRule

__all__ = [
    "Automation",
    "Cascade",
    "Change",
    "ChangeMonitor",
    "Flip",
    "Flips",
    "NextLabels",
    "OperatingPoint",
    "Panel",
    "StoppingRule",
    "attribute_flips",
    "automation_certificate",
    "cascade_certificate",
    "effective_votes",
    "next_labels",
    "operating_point",
]
