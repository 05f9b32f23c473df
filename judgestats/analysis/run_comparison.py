"""Two runs paired by item and held to one another, as records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from judgestats.analysis.drift import drift
from judgestats.results import Comparison, Family, Record, Results, ResultSet
from judgestats.stats import p_adjust

__all__ = ["PAIRED_KINDS", "compare_judgments"]

PAIRED_KINDS = ("shift", "ratio", "flips")
"""What of `judgestats.analysis.drift` a comparison of runs shows, by the beginning of its id."""
_ADJUSTED = {"shift": "shifts of the mean", "ratio": "ratios of variances"}


def compare_judgments(
    before: pd.DataFrame, after: pd.DataFrame, *, n_resamples: int = 999, seed: int = 0
) -> Results:
    """The conditions that two runs share, paired by item; a family a question.

    Parameters
    ----------
    before, after : DataFrame
        The parsed judgments of the runs.
    n_resamples, seed : int
        Of permutations and bootstraps.

    Returns
    -------
    Results
        Shifts of the mean, ratios of variances and shares of items whose usual verdict changed,
        their p-values adjusted over the conditions by Holm's method.

    Raises
    ------
    InputError
        The runs share no condition or too few items.
    """
    found = drift(before, after, n_resamples=n_resamples, seed=seed).records({"kind": "comparison"})
    kept: list[Record] = [r for r in found.results if r.id.partition(".")[0] in PAIRED_KINDS]
    families = []
    for kind, label in _ADJUSTED.items():
        family = f"{kind}.family"
        rows = [r for r in kept if isinstance(r, Comparison) and r.hypothesis == kind]
        p = np.array([row.p for row in rows], dtype=float)
        adjusted = dict(zip([r.id for r in rows], p_adjust(p), strict=True))
        kept = [_in_family(record, family, adjusted) for record in kept]
        if rows:
            families.append(
                Family(
                    id=family,
                    hypothesis=kind,
                    label=f"{label}, one a condition",
                    method="holm",
                    members=tuple(adjusted),
                    n_undefined=int(np.isnan(p).sum()),
                )
            )
    return Results(
        experiment="compare",
        question=found.question,
        kind="comparison",
        results=tuple(kept),  # type: ignore[arg-type]
        families=tuple(families),
        limitations=found.limitations,
    )


def _in_family(record: Record, family: str, adjusted: dict[str, float]) -> Record:
    """A comparison with the p adjusted in its family; its set is no family of its own."""
    if isinstance(record, Comparison) and record.id in adjusted:
        return replace(record, family=family, p_adjusted=float(adjusted[record.id]))
    if isinstance(record, ResultSet) and any(i in adjusted for i in record.members):
        return replace(record, family="")
    return record
