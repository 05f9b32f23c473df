"""Limitations that follow from the data at hand, as sentences for the report."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.judgments.shapes import ScoreArray

__all__ = ["common_limits", "few_questions", "limits_of_conditions"]


def few_questions(n: int) -> str:
    """What follows from few independent questions.

    Examples
    --------
    >>> few_questions(1).partition(":")[0], few_questions(12).partition(":")[0]
    ('Only one question', 'Only 12 questions')
    """
    if n == 1:
        return (
            "Only one question: nothing can be said about others, and no interval over questions "
            "can be given."
        )
    return (
        f"Only {n} questions: intervals are wide, and what holds for these questions need not hold "
        "for others."
    )


def common_limits(frame: pd.DataFrame, cells: pd.DataFrame, array: ScoreArray) -> list[str]:
    """What a careful reader would object to, where these data give cause.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    cells : DataFrame
        One row a condition, as `judgestats.analysis.scores` makes it.
    array : ScoreArray

    Returns
    -------
    list of str
    """
    sizes = np.isfinite(array.scores).sum(axis=2)
    limits = limits_of_conditions(
        cells, n_clusters=len(set(array.clusters)), sizes=sizes[sizes > 0]
    )
    if "choices_in_request" in frame and (frame["choices_in_request"] > 1).any():
        limits.append(
            "Several replications were choices of one request; they need not be as independent as "
            "separate requests."
        )
    return limits


def limits_of_conditions(
    cells: pd.DataFrame, *, n_clusters: int, sizes: NDArray[np.int64]
) -> list[str]:
    """What follows from the table of conditions and the sizes of the cells.

    Parameters
    ----------
    cells : DataFrame
        One row a condition.
    n_clusters : int
    sizes : ndarray of int
        Scores read in each item x condition cell that has any.

    Returns
    -------
    list of str
    """
    limits = []
    simulated = sorted({j for j in cells["judge"] if str(j).startswith("sim-")})
    if simulated:
        limits.append(
            f"{', '.join(simulated)}: simulated. The numbers show what the method finds, not how "
            "any real judge behaves."
        )
    if n_clusters < 50:
        limits.append(few_questions(n_clusters))
    worst = cells["unread_share"].to_numpy(float)
    if np.any(worst > 0):
        at = int(np.argmax(worst))
        limits.append(
            f"Up to {100 * worst[at]:.3g} % of the judgments of a condition "
            f"({cells['condition'].iloc[at]}) could not be read. They are reported as such and "
            "enter no number as a score; if a judge fails on hard items, what is left flatters it."
        )
    still = cells.loc[(cells["temperature"] == 0) & (cells["constant_share"] > 0.95), "judge"]
    if len(still):
        limits.append(
            f"T = 0 ({', '.join(map(str, still))}): the same draw is repeated, so a reliability "
            "near 1 there says that sampling was switched off, not that the judge is right."
        )
    few = float(np.mean(sizes < 5)) if sizes.size else 0.0
    if few > 0.05:  # a handful of cells with failed calls does not make the others short
        limits.append(
            f"{100 * few:.3g} % of the items under a condition have fewer than 5 readable "
            f"replications (as few as {int(sizes.min())}): their variances are estimated from very "
            "little."
        )
    related = cells["mean_spread_correlation"].to_numpy(float)
    if np.any(related < -0.3):
        limits.append(
            "Items with high means scatter less (correlation of item mean and variance down to "
            f"{np.nanmin(related):.2f}): near the end of the scale spread and mean are confounded, "
            "so read them together."
        )
    return limits
