"""Scores of conditions that were asked on different scales, brought to the run's scale."""

from __future__ import annotations

import pandas as pd

from judgestats.reporting.runs import Run, rows_of

__all__ = ["on_one_scale"]


def on_one_scale(run: Run) -> pd.DataFrame:
    """The judgments, with the scores of every condition in points of the run's scale.

    Parameters
    ----------
    run : Run
        Conditions asked on another scale say so in the column ``scale`` (``"1-5"``).

    Returns
    -------
    DataFrame
        `run.finals` itself where all conditions were asked on one scale.
    """
    frame = run.finals
    if "scale" not in run.conditions or run.scale is None or "score" not in frame:
        return frame
    low, high = run.scale
    scores = frame["score"].astype(float).copy()
    for row in rows_of(run.conditions):
        bottom, _, top = str(row.get("scale") or "").rpartition("-")
        if not bottom:
            continue
        own = frame["condition"] == str(row["condition"])
        share = (scores[own] - float(bottom)) / (float(top) - float(bottom))
        scores[own] = low + share * (high - low)
    return frame.assign(score=scores)
