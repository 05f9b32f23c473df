"""Scores held to people's pass and fail: labels of the item, never points of the judge's scale."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.analysis.drawn import drawing
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.validity_corrected import corrected_results
from judgestats.analysis.validity_disagreements import disagreements
from judgestats.arrays import Floats, Objects
from judgestats.errors import InputError
from judgestats.stats.inference.result import Note, Result
from judgestats.stats.validity.corrected import corrected_mean
from judgestats.stats.validity.separation import (
    separation,
    separation_by_k,
    shares_on_the_right_side,
)


def separated_scores(
    scores: Floats,
    human: Floats,
    asked: pd.DataFrame,
    declared: AnalysisPlan,
    *,
    items: Objects,
    cluster: NDArray[Any] | None,
) -> list[tuple[str, str, Result]]:
    """How well scores tell what people pass from what they fail, and the rate people would give.

    Neither bias nor limits of agreement: the judge's points have no counterpart in pass and fail.

    Parameters
    ----------
    scores : ndarray, shape (items, judgments)
    human : ndarray, shape (items,)
        Share of people who pass the item, NaN where there is none.
    asked : DataFrame
        Rows that tell how labelled items were drawn (``chance``, ``category``).
    declared : AnalysisPlan
    items : ndarray
    cluster : ndarray or None

    Returns
    -------
    list of (str, str, Result)
    """
    # People who differ evenly on an item leave it without a label.
    passed = np.where(human == 0.5, np.nan, np.where(np.isnan(human), np.nan, human > 0.5))
    options: dict[str, Any] = {"cluster": cluster, "level": declared.level}
    mean = np.nanmean(scores, axis=1)
    if not np.isfinite(passed).any():
        return []
    area = separation(scores, passed, **options)
    drawn = drawing(asked, pd.Index(items), np.isfinite(passed), mean, declared)
    unequal = drawn.chance is not None or drawn.labels_drawn == "by-verdict"
    if unequal or drawn.labels_drawn == "convenience":
        area = area.replace(notes=(*area.notes, LABELLED_ONLY))
    results: list[tuple[str, str, Result]] = [
        ("people.separation", "How often what people pass is scored above what they fail", area)
    ]
    if scores.shape[1] >= 2:
        try:
            by_k = separation_by_k(scores, passed, seed=declared.seed, **options)
        except InputError:  # no item of either kind has all scores
            pass
        else:
            results.append(("people.by_k", "Pairs ordered rightly by number of scores", by_k))
    if np.isnan(passed).any() or drawn.mix:
        score = corrected_mean(
            scores, passed, mix=drawn.mix, stratum=drawn.stratum,
            labels_drawn="by-verdict" if unequal else drawn.labels_drawn, **options,
        )  # fmt: skip
        rate = score.corrected
        bounds = rate.interval
        if bounds is not None:
            bounds = replace(bounds, low=max(bounds.low, 0.0), high=min(bounds.high, 1.0))
        score = replace(score, corrected=rate.replace(name="greg_rate", interval=bounds))
        results += corrected_results(score, "pass rate", mix=drawn.mix, beside_judge=False)
    placed = shares_on_the_right_side(mean, passed)
    results.append(disagreements(items, mean, passed, gap=1 - placed, least=0.5))
    return results


LABELLED_ONLY = Note(
    code="labelled_only",
    message="The labelled items were not drawn at random: this speaks for them alone.",
)
