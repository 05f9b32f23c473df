"""What judgments leave open that were never repeated, are constant, or have few labels."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from judgestats.analysis.limits import Limit
from judgestats.analysis.ratings import ratings_of
from judgestats.results.conventions import NEVER_REPEATED
from judgestats.results.numbers import format_number

NOT_REPEATED = Limit(
    "No item was judged more than once by the same judge in the same way, so nothing can be said "
    "about consistency: whether asking again would give the same is not known.",
    code=NEVER_REPEATED,
    short="nothing was asked twice: consistency is not known",
)


OF_REPEATS = (
    "within_variance", "sem", "smallest_detectable_change", "constant_share", "icc1", "alpha",
    "omega", "mean_spread_correlation", "sd_between", "n_replications",
)  # fmt: skip


def repeat_limits(frame: pd.DataFrame) -> list[str]:
    """Conditions without repeats, or in which few items were repeated."""
    limits = []
    final = frame["score"].notna() & (frame["stage"] == "final")
    read = frame.loc[final, ["condition", "item_id"]]
    sizes = read.groupby(["condition", "item_id"], sort=False).size()
    never: list[str] = []
    for name, mine in sizes.groupby(level="condition", sort=False):
        repeated, items = int((mine > 1).sum()), len(mine)
        if not repeated:
            never.append(str(name))
        elif 2 * repeated < items:
            limits.append(
                f"{name}: only {repeated} of {items} items were judged more than once. What is "
                "said about consistency rests on these; they may not be like the others."
            )
    return [*not_repeated(never, of=len(set(frame["condition"].unique()))), *limits]


def not_repeated(never: Sequence[str], *, of: int) -> list[str]:
    """What follows for the conditions of which no item was judged again, said once for all.

    Parameters
    ----------
    never : sequence of str
        Their names.
    of : int
        How many conditions there are; where it is all of them, none need be named.

    Returns
    -------
    list of str

    Examples
    --------
    >>> not_repeated(["x", "y"], of=3)[0][:20]
    'x, y: No item was ju'
    >>> not_repeated(["x", "y"], of=2)[0][:11]
    'No item was'
    """
    if not never:
        return []
    return [NOT_REPEATED if len(never) == of else not_repeated_in(never)]


def not_repeated_in(conditions: Sequence[str]) -> Limit:
    """`NOT_REPEATED`, of these conditions alone."""
    text = f"{', '.join(conditions)}: {NOT_REPEATED}"
    n = len(conditions)
    once = "1 condition was" if n == 1 else f"{n} conditions were"
    short = f"{once} asked once: consistency is not known there"
    return Limit(text, code=NOT_REPEATED.code, short=short)


def constant_limits(table: pd.DataFrame) -> list[str]:
    """Conditions with one and the same score throughout."""
    still = table.loc[(table["sd"] == 0) & (table["n_ok"] > 1), "condition"].astype(str).tolist()
    if not still:
        return []
    text = (
        f"{', '.join(still)}: every score is the same. Such scores tell no item from another, "
        "and no agreement with them can be computed."
    )
    return [text]


def label_limits(frame: pd.DataFrame) -> list[str]:
    """What of people's labels could not be compared with scores, and why."""
    ratings, words = ratings_of(frame)
    if not words:
        return []
    spelled = frame["label"].astype(str).str.strip()
    numeric = pd.to_numeric(spelled.where(spelled != ""), errors="coerce").notna()
    by_word = (
        frame["score"].groupby(spelled.where((spelled != "") & ~numeric)).agg(["mean", "count"])
    )
    named = ", ".join(
        f"{str(word)[:30]!r} {short_number(row['mean'])} ({int(row['count'])})"
        for word, row in by_word[by_word["count"] > 0].head(6).iterrows()
    )
    text = (
        f"{words} labels are words, not numbers: a correlation with scores needs numbers, and the "
        "order of the words is not known"
        + (" (the numeric labels are used)" if len(ratings) else "")
        + ". Map them to numbers to compare."
    )
    return [text + (f" Mean score by label (scores): {named}." if named else "")]


def short_number(value: float) -> str:
    """A number with three digits, for a sentence."""
    return format_number(value, digits=3)
