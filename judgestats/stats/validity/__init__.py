"""Is the judge right, and what is true given the judge (VALIDITY of the project's design)."""

from __future__ import annotations

from judgestats.stats.validity.corrected import CorrectedScore, corrected_mean, corrected_rate
from judgestats.stats.validity.error_rates import ErrorRates, error_rates
from judgestats.stats.validity.inputs import (
    FAIL_PASS,
    LABELS_DRAWN,
    LabelsDrawn,
    labels_by_item,
)
from judgestats.stats.validity.rogan_gladen import corrected_by_rates

__all__ = [
    "FAIL_PASS",
    "LABELS_DRAWN",
    "CorrectedScore",
    "ErrorRates",
    "LabelsDrawn",
    "corrected_by_rates",
    "corrected_mean",
    "corrected_rate",
    "error_rates",
    "labels_by_item",
]
