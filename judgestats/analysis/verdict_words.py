"""The words of verdicts: spellings of an outcome, and choices that labels can be compared with."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgestats.errors import InputError

OUTCOMES: Mapping[str, str] = {
    **dict.fromkeys(("a", "model_a", "response_a", "assistant_a", "1", "first", "[[a]]"), "a"),
    **dict.fromkeys(("b", "model_b", "response_b", "assistant_b", "2", "second", "[[b]]"), "b"),
    **dict.fromkeys(("tie", "c", "0", "same", "both", "neither", "equal", "[[c]]"), "tie"),
}
"""Spellings of the outcome of a comparison of two responses."""


_FIRST = {"ab", "original", "orig", "0", "false", "1"}


def orders_shown(frame: pd.DataFrame) -> list[str]:
    """The orders of presentation, the one with a first before the others, whatever row comes first.

    Examples
    --------
    >>> orders_shown(pd.DataFrame({"order": ["ba", "ab", "ba"]}))
    ['ab', 'ba']
    """
    orders = sorted(map(str, frame["order"].unique()))
    return sorted(orders, key=lambda o: o.lower() not in _FIRST)


def outcomes(values: pd.Series, *, strict: bool = False) -> pd.Series:
    """Verdicts as ``a``, ``b``, ``tie`` where all of them are spellings of these.

    Parameters
    ----------
    values : Series of str
        Empty = missing.
    strict : bool
        Raise where some value is no such spelling (else all are returned as they are).

    Returns
    -------
    Series of str

    Examples
    --------
    >>> outcomes(pd.Series(["model_a", "[[B]]", "C", ""])).tolist()
    ['a', 'b', 'tie', '']
    >>> outcomes(pd.Series(["yes", "no"])).tolist()
    ['yes', 'no']
    >>> outcomes(pd.Series(["A", "C"])).tolist()  # options: a tie was read as one before
    ['a', 'c']
    """
    lower = lower_case(values)
    if _of_options(lower):
        return lower
    is_outcome = lower.isin([*OUTCOMES, ""])
    if is_outcome.all():
        return lower.map(lambda v: OUTCOMES.get(v, ""))
    if strict:
        strange = values[~is_outcome].iloc[0]
        raise InputError(
            f"audit: {str(strange)[:40]!r} is not an outcome of a comparison (a, b, tie and their "
            "usual spellings), which a label needs. Map the column, or leave the labels out."
        )
    return values.astype(str)


def _of_options(lower: pd.Series) -> bool:
    """Whether verdicts are options of a choice: a, b and c by themselves, or numbers.

    Readers spell the outcome of a comparison as a, b and tie, so that a c is none of these.
    """
    words = set(lower) - {""}
    return {"c"} <= words <= {"a", "b", "c"} or (bool(words) and all(map(str.isdecimal, words)))


def lower_case(values: pd.Series) -> pd.Series:
    """Texts without case and space around them."""
    return values.astype(str).str.strip().str.lower()


def in_same_words(frame: pd.DataFrame) -> bool:
    """Whether labels are verdicts in words of their own (pass and fail) that the judge uses too."""
    labels = set(lower_case(frame["label"]).unique()) - {""}
    return not labels <= set(OUTCOMES) and bool(labels & set(lower_case(frame["choice"]).unique()))


def comparable(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Choices that labels can be compared with; the others become unread, and are named.

    A judge that answers something else than a, b or tie has not given a verdict: that is a status,
    and neither agreement nor disagreement. Where most choices are something else, the column is
    the wrong one or coded otherwise, and the caller has to say how.
    """
    lower = lower_case(frame["choice"])
    if _of_options(lower):
        return frame.assign(choice=lower), ()
    strange = ~lower.isin([*OUTCOMES, ""])
    if 2 * int(strange.sum()) > int((lower != "").sum()):
        raise InputError(
            f"audit: most choices are no outcome of a comparison (a, b, tie and their usual "
            f"spellings), such as {frame.loc[strange, 'choice'].iloc[0][:40]!r}, but the labels "
            "are. Recode the choices, or leave the labels out."
        )
    read = frame.assign(
        choice=lower.map(lambda v: OUTCOMES.get(v, "")),
        status=frame["status"].mask(strange, "unparseable"),
    )
    return read, tuple(dict.fromkeys(frame.loc[strange, "choice"].astype(str)))
