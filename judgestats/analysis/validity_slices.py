"""Where a judge errs: error rates by category and by length, each slice against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.results import About
from judgestats.stats.validity.slices import Measure, error_rates_by_slice

__all__ = ["slice_results"]

_MOST_SLICES = 40
_CODES = {"pass": 1.0, "fail": 0.0}
_KINDS = {"category": "category", "author": "system"}
_LENGTH: tuple[tuple[Measure, str], ...] = (
    ("sensitivity", "Of what people pass, how much it passes"),
    ("specificity", "Of what people fail, how much it fails"),
)


def slice_results(
    name: str,
    asked: pd.DataFrame,
    texts: Mapping[str, tuple[str, str]],
    declared: AnalysisPlan,
) -> list[NamedResult]:
    """Is the judge wrong more often on some kind of answer?

    Parameters
    ----------
    name : str
        The condition.
    asked : DataFrame
        Its judgments, ``choice`` and ``label`` in pass and fail.
    texts : mapping of item to (question, answer)
        Where they are known: answers shorter and longer than the median are told apart.
    declared : AnalysisPlan

    Returns
    -------
    list of NamedResult
        Empty where labels are not of the kind, or were not drawn so that slices compare.
    """
    if declared.options.get("labels_drawn") in {"by-verdict", "stratified"} or "chance" in asked:
        return []  # unweighted shares by slice would carry the draw
    first = asked.drop_duplicates("item_id").set_index("item_id")
    share = asked["choice"].map(_CODES).groupby(asked["item_id"], sort=False).mean()
    share = share.reindex(first.index)
    judge = np.where(share == 0.5, np.nan, np.where(share.isna(), share, share > 0.5))
    human = first["label"].map(_CODES).to_numpy(float)
    clusters = first["cluster"].to_numpy(object)
    options: dict[str, Any] = {
        "cluster": clusters if len(set(clusters)) < len(clusters) else None,
        "level": declared.level,
    }
    out = []
    for column, kind in _KINDS.items():
        kinds = first[column].astype(str) if column in first else pd.Series(dtype=str)
        if 1 < kinds.nunique() <= _MOST_SLICES and not kinds.eq("").any():
            found = error_rates_by_slice(judge, human, kinds.to_numpy(object), **options)
            out.append(_named(f"slices.{kind}.{name}", f"Same verdict by {kind} ({name})", found))
    lengths = np.array([len(texts[i][1]) if i in texts else np.nan for i in first.index])
    if np.isfinite(lengths).all() and np.ptp(lengths) > 0:
        long = np.where(lengths > np.median(lengths), "longer than the median", "shorter")
        for measure, title in _LENGTH:
            if np.unique(long[human == (measure == "sensitivity")]).size < 2:
                continue
            found = error_rates_by_slice(judge, human, long, measure=measure, **options)
            out.append(
                _named(f"slices.length_{measure}.{name}", f"{title}, by length ({name})", found)
            )
    return out


def _named(identity: str, title: str, found: Any) -> NamedResult:
    return NamedResult(
        id=identity, title=title, role="secondary", result=found,
        about=About(conditions=(identity.split(".", 2)[2],)),
    )  # fmt: skip
