"""From a grade as some tool wrote it to a status with a score or a choice."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from judgestats.errors import printable
from judgestats.judgments.readers.untrusted import cut, number, short, text
from judgestats.judgments.versions import kinds_by_value
from judgestats.protocols.base import Status
from judgestats.protocols.reading import no_verdict

_MOST_CHOICE = 100
_NO_GRADE = frozenset({"", "nan", "none", "null", "n/a", "[invalid]", "$error$", "error"})
_NUMERALS = frozenset("0123456789.+-eE")


def unread(raw: str, why: str, *, finish_reason: str = "") -> dict[str, Any]:
    """The fields of a judgment without a verdict: refused, truncated or unparseable."""
    row = no_verdict(raw, finish_reason, cut(why, 300))
    return {
        "status": row.status.value,
        "score": math.nan,
        "choice": "",
        "reason": row.reason or cut(why, 300),
    }


def failed(why: str) -> dict[str, Any]:
    """The fields of a judgment whose call failed."""
    return {
        "status": Status.FAILED.value,
        "score": math.nan,
        "choice": "",
        "reason": cut(why, 300) or "the call failed",
    }


def grade(
    value: object, *, raw: str = "", why: str = "", finish_reason: str = ""
) -> dict[str, Any]:
    """The fields of a judgment from its grade: a number is a score, a word or truth value a choice.

    Parameters
    ----------
    value : object
        As the log has it.
    raw : str
        The judge's reply, which tells a refusal from an unreadable reply.
    why : str
        The tool's own reason where there is no grade.
    finish_reason : str

    Returns
    -------
    dict
        ``status``, ``score``, ``choice``, ``reason``.

    Examples
    --------
    >>> grade(7)["score"], grade("C")["choice"], grade(True)["choice"], grade("8")["score"]
    (7.0, 'C', 'yes', 8.0)
    >>> grade(float("nan"), raw="I'm sorry, I cannot judge this.")["status"]
    'refused'
    >>> grade(float("inf"))["status"]
    'unparseable'
    """
    score, choice = math.nan, ""
    if isinstance(value, bool):
        choice = "yes" if value else "no"
    elif isinstance(value, (int, float)):
        score = number(value)
    elif isinstance(value, str):
        word = value.strip()
        if word and set(word) <= _NUMERALS and not math.isnan(number(word)):
            score = number(word)
        elif word.lower() in _NO_GRADE:
            value = None
        elif len(word) <= _MOST_CHOICE and "\n" not in word:
            choice = cut(word)
    if math.isnan(score) and not choice:
        reason = why or (
            "the log has no grade here" if value is None else f"no grade: {short(value)}"
        )
        return unread(raw or text(value), reason, finish_reason=finish_reason)
    return {"status": Status.OK.value, "score": score, "choice": choice, "reason": ""}


def passes_and_failures(frame: pd.DataFrame) -> pd.DataFrame:
    """A log's grades of 0 and 1 as fail and pass: they are no points of a scale.

    A scorer is taken as a whole, over all judges: one other grade makes its numbers scores.

    Parameters
    ----------
    frame : DataFrame
        A parsed frame.

    Returns
    -------
    DataFrame
        With a note that names what was taken so.
    """
    several = "factor_scorer" in frame
    scorers = frame["factor_scorer"] if several else pd.Series("", index=frame.index)
    score, choice = frame["score"].copy(), frame["choice"].copy()
    named: list[str] = []
    for scorer, rows in score.groupby(scorers, sort=False):
        read = rows.dropna()
        if read.empty or not read.isin([0, 1]).all() or (choice[rows.index] != "").any():
            continue
        choice[read.index] = read.map({1.0: "pass", 0.0: "fail"}).astype(object)
        score[read.index] = math.nan
        named.append(printable(str(scorer), one_line=True))
    if not named:
        return frame
    of = f" of {', '.join(named[:8])}" if several else ""
    out = frame.assign(score=score, choice=choice)
    out["verdict_kind"] = kinds_by_value(out)
    out.attrs = dict(frame.attrs)
    note = f"The grades{of} are 0 and 1 only: pass / fail, 1 = pass (--kind score: points)."
    out.attrs["notes"] = [*frame.attrs.get("notes", ()), note]
    if score.isna().all():
        out.attrs["scale"] = None
    return out
