"""Scores that lie far from all others: named first, and no advice rests on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from judgestats.analysis.limits import Limit
from judgestats.analysis.outcome import Analysis, Recommendation
from judgestats.judgments.readers.verdicts import FAR, KEPT_FAR


def with_read_notes(analysis: Analysis, notes: Iterable[str]) -> Analysis:
    """The analysis with the notes of reading as limitations.

    Parameters
    ----------
    analysis : Analysis
    notes : iterable of str
        Where one names scores that are kept and lie far from all others, nothing is recommended.

    Returns
    -------
    Analysis
    """
    limits = tuple(
        Limit(note, code="far_scores", short=note.partition(". ")[0]) if FAR in note else note
        for note in notes
    )
    advice = analysis.recommendation
    if advice is not None and any(KEPT_FAR in note for note in limits):
        reason = "some scores lie far from all others and may be mistakes"
        advice = Recommendation(sentences=(f"None is recommended: {reason}.",), reason=reason)
    return replace(analysis, limitations=(*analysis.limitations, *limits), recommendation=advice)
