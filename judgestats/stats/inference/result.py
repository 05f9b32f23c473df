"""What a statistics function returns: frozen results that print, tidy and speak.

Three shapes cover the package: `Estimate` (one number with its interval and null reference),
`TestResult` (one hypothesis test with its effects) and `Comparisons` (a family of pairwise or
many-to-one comparisons). All are keyword-only, frozen and not iterable, so that no caller can come
to depend on the order of fields. Nothing is rounded before it is printed.
"""

from __future__ import annotations

from judgestats.results.numbers import as_sentence, format_number, format_p
from judgestats.stats.inference.estimate import Estimate
from judgestats.stats.inference.family import Comparison, Comparisons
from judgestats.stats.inference.hypothesis_test import TestResult
from judgestats.stats.inference.result_parts import (
    Interval,
    Note,
    NullReference,
    Result,
    Sample,
    to_plain,
)

__all__ = [
    "Comparison",
    "Comparisons",
    "Estimate",
    "Interval",
    "Note",
    "NullReference",
    "Result",
    "Sample",
    "TestResult",
    "as_sentence",
    "format_number",
    "format_p",
    "to_plain",
]
