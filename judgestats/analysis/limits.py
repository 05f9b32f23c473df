"""Limitations that follow from the available data, as sentences for the report."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from judgestats.arrays import Ints
from judgestats.data.parse import ScoreArray
from judgestats.stats.inference.jackknife import few_questions as no_interval


class Limit(str):
    """A limitation as a sentence, with its code and what it says in a few words.

    Examples
    --------
    >>> limit = Limit("Only 12 questions: intervals are wide.", code="few", short="12 questions")
    >>> limit, limit.short
    ('Only 12 questions: intervals are wide.', '12 questions')
    """

    __slots__ = ("code", "short")

    code: str
    short: str

    def __new__(cls, text: str, *, code: str, short: str) -> Limit:
        """Create the sentence with its two attributes."""
        limit = super().__new__(cls, text)
        limit.code, limit.short = code, short
        return limit


MOST_COMPARED = 12
"""Most conditions that an audit compares with one another."""


def not_compared(n: int) -> tuple[Limit, ...]:
    """Limit for more than `MOST_COMPARED` conditions; else empty.

    Examples
    --------
    >>> not_compared(12), [limit.short for limit in not_compared(40)]
    ((), ['40 conditions: not compared with one another'])
    """
    if n <= MOST_COMPARED:
        return ()
    text = (
        f"{n} conditions: an audit compares at most {MOST_COMPARED} with one another, so "
        "differences in spread and mean are not tested. Audit a selection of the conditions."
    )
    short = f"{n} conditions: not compared with one another"
    return (Limit(text, code="not_compared", short=short),)


def few_questions(n: int) -> Limit:
    """What follows from few independent questions.

    Examples
    --------
    >>> few_questions(1).partition(":")[0], few_questions(12).partition(":")[0]
    ('Only one question', 'Only 12 questions')
    """
    wide = f"{n} questions: intervals are wide"
    text, short = f"Only {wide}, and what holds for these questions need not hold for others.", wide
    if n == 1:
        text = (
            "Only one question: results do not generalise to others, and there is no interval over "
            "questions."
        )
        short = "one question: nothing follows for others"
    return Limit(text, code="few_questions", short=short)


def designed_labels() -> Limit:
    """That the labels of the bundled bank are nobody's.

    Examples
    --------
    >>> designed_labels().short
    'labels are designed, not human'
    """
    return Limit(
        "The labels are those of the bundled bank's design, not human labels: they serve to try "
        "the method.",
        code="designed_labels",
        short="labels are designed, not human",
    )


def simulated_judges(judges: Iterable[object]) -> Limit | None:
    """Which of the judges were no models, if any.

    Examples
    --------
    >>> simulated_judges(["sim-typical", "gpt-4o"]).short
    'sim-typical is SIMULATED: no model was asked for it'
    """
    every = {str(j) for j in judges}
    names = sorted(j for j in every if j.startswith("sim-"))
    if not names:
        return None
    listed, (be, it) = ", ".join(names), ("is", "it") if len(names) == 1 else ("are", "them")
    text = (
        f"{listed}: simulated. The numbers show what the method finds, not how any real judge "
        "behaves."
    )
    short = f"{listed} {be} SIMULATED: no model was asked for {it}"
    if len(names) == len(every):
        short = "SIMULATED judges: no model was asked"
    return Limit(text, code="simulated", short=short)


def common_limits(frame: pd.DataFrame, cells: pd.DataFrame, array: ScoreArray) -> list[str]:
    """What a careful reader would object to, where these data give cause.

    Parameters
    ----------
    frame : DataFrame
        The parsed judgments.
    cells : DataFrame
        One row per condition, as `judgestats.analysis.scores` makes it.
    array : ScoreArray

    Returns
    -------
    list of str
    """
    sizes = np.isfinite(array.scores).sum(axis=2)
    limits = limits_of_conditions(
        cells, n_clusters=len(set(array.clusters)), sizes=sizes[sizes > 0]
    )
    of_clusters = np.unique(array.clusters.astype(str), return_counts=True)[1]
    if of_clusters.size > 1 and (text := no_interval(of_clusters)):
        short = f"no interval: {text}"
        limits.append(Limit(f"No interval: {text}.", code="no_clusters", short=short))
    if "choices_in_request" in frame and (frame["choices_in_request"] > 1).any():
        limits.append(
            "Several replications were choices of one request; they need not be as independent as "
            "separate requests."
        )
    return limits


def limits_of_conditions(cells: pd.DataFrame, *, n_clusters: int, sizes: Ints) -> list[str]:
    """What follows from the table of conditions and the sizes of the cells.

    Parameters
    ----------
    cells : DataFrame
        One row per condition.
    n_clusters : int
    sizes : ndarray of int
        Scores read in each item x condition cell that has any.

    Returns
    -------
    list of str
    """
    limits = first_limits(
        cells,
        n_clusters,
        "were not parsed. They are reported as such and enter no number as a score; if a judge "
        "fails on hard items, what is left flatters it.",
    )
    still = (cells["temperature"] == 0) & (cells["constant_share"] > 0.95)
    limits += no_sampling(cells.loc[still, "judge"])
    few = float(np.mean(sizes < 5)) if sizes.size else 0.0
    # A handful of cells with failed calls does not make the others short.
    if few > 0.05 and sizes.max() > 1:
        least = f"as few as {int(sizes.min())}"
        text = (
            f"{100 * few:.3g}% of the items under a condition have fewer than 5 readable "
            f"replications ({least}): their variances are estimated from very little."
        )
        limits.append(Limit(text, code="few_repeats", short=f"{least} repeats per item"))
    related = cells["mean_spread_correlation"].to_numpy(float)
    if np.any(related < -0.3):
        text = (
            "Items with high means vary less (correlation of item mean and variance down to "
            f"{np.nanmin(related):.2f}). Near the end of the scale spread and mean are confounded, "
            "so read them together."
        )
        short = "high scores vary less: read variance with the mean"
        limits.append(Limit(text, code="crowded_scale", short=short))
    return limits


def first_limits(table: pd.DataFrame, n_clusters: int, unread: str) -> list[str]:
    """That judges were simulated, that questions are few, and that judgments are lost.

    Parameters
    ----------
    table : DataFrame
        One row per condition.
    n_clusters : int
    unread : str
        As of `lost_limits`.

    Returns
    -------
    list of str
    """
    simulated = simulated_judges(table["judge"])
    limits: list[str] = [] if simulated is None else [simulated]
    if n_clusters < 50:
        limits.append(few_questions(n_clusters))
    return limits + lost_limits(table, unread)


def no_sampling(judges: Iterable[object]) -> tuple[Limit, ...]:
    """That judges at T = 0 repeat one draw; nothing where there are none.

    Examples
    --------
    >>> no_sampling([]), [limit.short for limit in no_sampling(["gpt-4o"])]
    ((), ['T = 0 repeats the same draw'])
    """
    names = ", ".join(map(str, judges))
    text = (
        f"T = 0 ({names}): the same draw is repeated. A reliability near 1 there says that "
        "sampling was switched off, not that the judge is accurate or would repeat its verdict "
        "under another wording."
    )
    return (Limit(text, code="no_sampling", short="T = 0 repeats the same draw"),) if names else ()


def lost_limits(table: pd.DataFrame, unread: str) -> list[str]:
    """That judgments of a condition were not read, and that others were not answered.

    Parameters
    ----------
    table : DataFrame
        One row per condition, with ``unread_share`` and ``unanswered_share``.
    unread : str
        Continuation of the sentence on unparsed replies.

    Returns
    -------
    list of str

    Examples
    --------
    >>> rows = [{"condition": "a", "unread_share": 0.1, "unanswered_share": 0.0},
    ...         {"condition": "b", "unread_share": float("nan"), "unanswered_share": 1.0}]
    >>> [limit.code for limit in lost_limits(pd.DataFrame(rows), "were not parsed.")]
    ['unread', 'unanswered']
    """
    gone = (
        "were not answered or never asked, and are in no number. Where a server fails on long or "
        "hard items, what is left flatters the judge."
    )
    limits: list[str] = []
    for code, end in (("unread", unread), ("unanswered", gone)):
        shares = np.nan_to_num(table[f"{code}_share"].to_numpy(float))
        at = int(np.argmax(shares))
        if shares[at] > 0:
            digits = ".2g" if shares[at] < 0.095 else ".0f"
            share, where = f"{100 * shares[at]:{digits}}%", table["condition"].iloc[at]
            text = f"Up to {share} of the judgments of a condition ({where}) {end}"
            short = f"up to {share} {_WORDS.get(code, code)} ({where})"
            limits.append(Limit(text, code=code, short=short))
    return limits


_WORDS = {"unread": "unparsed"}
"""What a screen calls a share of judgments that are in no number."""
