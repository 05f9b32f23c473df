"""Agreement on the labels that a judge was tuned on: marked, since it looks too good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from judgestats.analysis.outcome import Analysis, NamedResult
from judgestats.judgments.readers.labels import PART

TUNED_ON = "labels/tuning"
"""Parameter of a run whose labels are the tuning part: the part's digest."""
_ON_TUNING = "on the labels used for tuning"


def tuning_digest(frames: Sequence[pd.DataFrame]) -> str:
    """Digest of the tuning part that the labels are from; empty where they are from none.

    Examples
    --------
    >>> part = pd.DataFrame({"label": ["pass", ""], "labels_part": ["tuning:1f", ""]})
    >>> tuning_digest([part]), tuning_digest([part.assign(labels_part="validation:2c")])
    ('1f', '')
    """
    parts: set[str] = set()
    for frame in frames:
        if PART in frame and "label" in frame:
            parts |= set(frame.loc[frame["label"].astype(str) != "", PART].astype(str))
    digests = [p.removeprefix("tuning:") for p in sorted(parts) if p.startswith("tuning:")]
    return digests[0] if digests else ""


def marked_as_tuned(analysis: Analysis, frames: Sequence[pd.DataFrame]) -> Analysis:
    """The analysis with its agreement named as that on the labels used for tuning, if it is.

    Parameters
    ----------
    analysis : Analysis
    frames : sequence of DataFrame
        Judgments with ``label`` and the column that `judgestats labels split` wrote.

    Returns
    -------
    Analysis
    """
    digest = tuning_digest(frames)
    if not digest:
        return analysis
    text = (
        f"Agreement is {_ON_TUNING} (digest {digest}): a prompt chosen among ten equal ones on 100 "
        "labels looks .065 too accurate there. Hold the judge to the validation part."
    )
    return replace(
        analysis,
        results=tuple(map(_marked, analysis.results)),
        described=tuple(map(_marked, analysis.described)),
        limitations=(text, *analysis.limitations),
        params={**analysis.params, TUNED_ON: digest},
    )


def _marked(named: NamedResult) -> NamedResult:
    """A result that rests on the labels, with that in its title."""
    held = named.id.startswith(("people.", "related.", "error."))
    return replace(named, title=f"{named.title}, {_ON_TUNING}") if held else named
