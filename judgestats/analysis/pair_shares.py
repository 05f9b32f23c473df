"""Verdicts on pairs as shares: of an answer, of a place; and whose answers they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from judgestats.arrays import Floats, Objects
from judgestats.items.schema import Item

_SHARE = {"a": 1.0, "b": 0.0, "tie": 0.5}


def author_of_judge(judge: str, authors: Sequence[str]) -> str:
    """The author that bears the name of a judge's model, or nothing.

    Examples
    --------
    >>> author_of_judge("org/GPT-4@http://localhost/v1", ["gpt-4", "llama"])
    'gpt-4'
    """
    model = judge.partition("@")[0].lower()
    names = {model, model.rpartition("/")[2]}
    return next((a for a in authors if a.lower() in names), "")


def own_authors(
    frame: pd.DataFrame, items: Sequence[Item], declared: Mapping[str, str]
) -> dict[str, str]:
    """Each judge's own author: as declared, else the author that bears its model's name."""
    authors = sorted({r.author for item in items for r in item.responses if r.author})
    by_judge = {}
    for judge in dict.fromkeys(str(j) for j in frame["judge"]):
        author = declared.get(judge) or author_of_judge(judge, authors)
        if author in authors:
            by_judge[judge] = author
    return by_judge


def preference_share(verdicts: Objects) -> Floats:
    """Share of each pair's verdicts for the earlier response, a tie counting half; NaN if none.

    Examples
    --------
    >>> preference_share(np.array([["a", "tie"], ["b", ""], ["", ""]], dtype=object)).tolist()
    [0.75, 0.0, nan]
    """
    points = np.vectorize(lambda v: _SHARE.get(v, np.nan), otypes=[float])(verdicts)
    present = ~np.isnan(points)
    count = present.sum(axis=1)
    total = np.where(present, points, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def place_shares(ab: Objects, ba: Objects) -> Floats:
    """Share of each pair's verdicts for the second and for the first place, shape (n_pairs, 2).

    Each order weighs the same; a tie counts half; NaN where an order was not read.
    """
    first = (preference_share(ab) + 1 - preference_share(ba)) / 2
    return np.column_stack([1 - first, first])
