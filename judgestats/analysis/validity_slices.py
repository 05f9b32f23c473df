"""Where a judge errs: error rates by category, system and length, each slice against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan, Hypothesis
from judgestats.results import About
from judgestats.stats.validity.slices import Measure, error_rates_by_slice

SLICES = Hypothesis(
    id="slices",
    role="secondary",
    question="Does the judge err more on some kind of answer: by category, system, length?",
    test="Fisher's exact test against the rest, or t over questions where these repeat",
    family="slices of one kind in one condition",
    adjustment="holm; Benjamini-Hochberg above 10 slices",
)
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
        Where they are known: answers are told apart by thirds of their length.
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
            sliced = error_rates_by_slice(judge, human, kinds.to_numpy(object), **options)
            out.append(_named(f"slices.{kind}.{name}", f"Same verdict by {kind} ({name})", sliced))
    thirds = _thirds(_lengths(first, texts))
    for measure, title in _LENGTH if thirds.size else ():
        if np.unique(thirds[human == (measure == "sensitivity")]).size < 2:
            continue
        sliced = error_rates_by_slice(judge, human, thirds, measure=measure, **options)
        out.append(
            _named(f"slices.length_{measure}.{name}", f"{title}, by length ({name})", sliced)
        )
    return out


def _lengths(first: pd.DataFrame, texts: Mapping[str, tuple[str, str]]) -> NDArray[np.float64]:
    """Of each item's answer, from its text or as a column of the file says."""
    if not any(answer for _, answer in texts.values()) and "answer_length" in first:
        return first["answer_length"].to_numpy(float)
    return np.array([len(texts[i][1]) if i in texts else np.nan for i in first.index], dtype=float)


def _thirds(lengths: NDArray[np.float64]) -> NDArray[np.object_]:
    """Each answer's third by length, with its bounds; empty where a length is not known."""
    if not lengths.size or not np.isfinite(lengths).all() or np.ptp(lengths) == 0:
        return np.zeros(0, dtype=object)
    low, high = np.quantile(lengths, [1 / 3, 2 / 3], method="inverted_cdf")
    names = (
        f"short (to {low:g})", f"middle (to {high:g})", f"long (over {high:g})",
    )  # fmt: skip
    third = (lengths > low).astype(int) + (lengths > high)
    return np.array([names[i] for i in third], dtype=object)


def _named(identity: str, title: str, result: Any) -> NamedResult:
    return NamedResult(
        id=identity, title=title, role="secondary", result=result,
        about=About(conditions=(identity.split(".", 2)[2],)),
    )  # fmt: skip
