"""Scores weighted by the probabilities of their tokens, described beside the sampled ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.judgments.pairs import scores_of
from judgestats.judgments.parse import WEIGHTED
from judgestats.judgments.settings import label
from judgestats.results.numbers import apa_number, counted

_COLUMN = "weighted_score"
_SAME = 0.01
"""Points of the scale: below it two weighted scores of an answer are the same."""


def first_weighted(asked: pd.DataFrame, items: Sequence[str]) -> NDArray[np.float64] | None:
    """The weighted score of each thing's first call, one column; None where none was told.

    One call is all there is to it: another gives the same probabilities.

    Examples
    --------
    >>> asked = pd.DataFrame({"item_id": ["a", "a"], "replicate": [0, 1]})
    >>> first_weighted(asked, ["a"]) is None
    True
    >>> first_weighted(asked.assign(weighted_score=[7.5, 7.6]), ["a"]).tolist()
    [[7.5]]
    """
    if _COLUMN not in asked or asked[_COLUMN].isna().all():
        return None
    every = scores_of(asked, items, values=_COLUMN)
    present = ~np.isnan(every)
    first = np.where(
        present.any(axis=1), every[np.arange(len(every)), present.argmax(axis=1)], np.nan
    )
    return np.asarray(first[:, None], dtype=float)


def weighted_limitations(frame: pd.DataFrame) -> list[str]:
    """What a reader must know of weighted scores: the mass elsewhere, temperature, repetition.

    Examples
    --------
    >>> weighted_limitations(pd.DataFrame({"score": [7.0]}))
    []
    """
    if not set(WEIGHTED) <= set(frame.columns) or frame["scale_mass"].isna().all():
        return []
    weighted = frame[frame["scale_mass"].notna()]
    mass = weighted["scale_mass"]
    told_by = (
        f"Weighted scores come from the probabilities of a score's tokens, told for "
        f"{len(weighted):,} of {counted(len(frame), 'reply', 'replies')}. The scale's tokens hold "
        f"{apa_number(float(mass.mean()), bounded=True)} of the probability on average, "
        f"{apa_number(float(mass.min()), bounded=True)} at least; the rest lies on other tokens or "
        "outside those returned."
    )
    repeated = (
        "A repeated call gives the same probabilities: that weighted scores repeat is fixed "
        "randomness. It is not shown as reliability, and weighted scores are neither compared with "
        "sampled ones in a test nor recommended."
    )
    return [told_by, _of_temperature(weighted), repeated]


def _of_temperature(rows: pd.DataFrame) -> str:
    """Whether the probabilities precede temperature, as far as the data say."""
    present = rows[rows[_COLUMN].notna() & rows["temperature"].notna()]
    factors = [c for c in present.columns if c.startswith("factor_") and c != "factor_method"]
    keys = ["judge", "item_id", "order", "stage", *factors]
    wide = present.pivot_table(index=keys, columns="temperature", values=_COLUMN)
    wide = wide.dropna()
    if wide.shape[1] < 2 or not len(wide):
        return (
            "Whether the probabilities were told before temperature is not seen here (one "
            "temperature, or no answer weighted at all of them): `judgestats endpoint` asks."
        )
    heats = [label("temperature", t) for t in (wide.columns.min(), wide.columns.max())]
    apart = float((wide.max(axis=1) - wide.min(axis=1)).abs().median())
    if apart < _SAME:
        return (
            f"The probabilities were told before temperature: weighted scores are the same at "
            f"{heats[0]} and {heats[1]}."
        )
    return (
        f"The probabilities were told after temperature: between {heats[0]} and {heats[1]} "
        f"weighted scores of an answer differ by {apa_number(apart)} points (median)."
    )
