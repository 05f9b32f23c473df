"""The stored replies of a run, read again: nothing is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from judgestats.errors import InputError
from judgestats.protocols.base import Status
from judgestats.protocols.reading import (
    OptionForm,
    PairForm,
    ScoreForm,
    WordForm,
    is_cut,
    read_reply,
    without_logprobs,
)
from judgestats.protocols.reading.form import Form
from judgestats.protocols.scale import Scale

_PLACES = {"first": "A", "second": "B", "tie": "tie"}
_KEY = ("condition", "item_id", "order", "replicate")
_TOOLS = {ScoreForm: "submit_score", WordForm: "submit_verdict"}


def form_of(frame: pd.DataFrame, scale: Scale | None) -> Form:
    """What the replies of a run were asked for, by what was read of them.

    Parameters
    ----------
    frame : DataFrame
        Final judgments, parsed.
    scale : Scale or None

    Returns
    -------
    Form

    Raises
    ------
    InputError
        Nothing was read, or what was read is none of the forms that replies are asked in.
    """
    places = set(frame["position"].astype(str)) - {""} if "position" in frame else set()
    if places and places <= set(_PLACES):
        return PairForm(ties=True)
    if places and all(p.isdecimal() for p in places) and "options" in frame:
        count = int(frame["options"].astype(str).str.count(r"\|").max()) + 1
        numbers = frame["raw_text"].str.contains(r"Option \d", regex=True).any()
        return OptionForm(count, "numbers" if numbers else "letters")
    words = set(frame["choice"].astype(str)) - {""}
    if words and words <= {"correct", "incorrect"}:
        return WordForm(("correct", "incorrect"))
    if scale is not None and not words:
        return ScoreForm(scale)
    raise InputError(
        "reread: what this run's judges were asked for cannot be told from its judgments; a run of "
        "one verdict a reply (a score, a pair, a selection, correct or incorrect) can be reread."
    )


def reread(frame: pd.DataFrame, scale: Scale | None) -> pd.DataFrame:
    """The final judgments that this reader reads otherwise than the run's did.

    Parameters
    ----------
    frame : DataFrame
        Parsed judgments with the text of every reply.
    scale : Scale or None
        Of a run of scores.

    Returns
    -------
    DataFrame
        One row a difference: which judgment, what was read before, what is read now and why.

    Examples
    --------
    >>> row = {"condition": "c", "item_id": "q", "order": "", "replicate": 0, "stage": "final",
    ...     "transport": "answered", "raw_text": "Score: -7", "finish_reason": "stop",
    ...     "status": "ok", "score": 7.0, "choice": ""}
    >>> found = reread(pd.DataFrame([row]), Scale(1, 10))
    >>> found[["before", "now"]].values.tolist()
    [['7', 'out_of_scale']]
    """
    finals = frame[(frame["stage"] == "final") & (frame["transport"] == "answered")]
    if finals.empty:
        return pd.DataFrame(columns=[*_KEY, "before", "now", "reason"])
    kinds = finals["verdict_kind"].astype(str) if "verdict_kind" in finals else finals["stage"]
    rows = [
        row
        for _, ones in finals.groupby(kinds, sort=False)  # scores and pairs may stand in one run
        for row in _differences(ones, form_of(ones, scale))
    ]
    return pd.DataFrame(rows, columns=[*_KEY, "before", "now", "reason"])


def _differences(finals: pd.DataFrame, form: Form) -> list[dict[str, Any]]:
    """What is read otherwise in replies that were asked for in one form."""
    tool = _TOOLS.get(type(form), "submit_choice")
    rows = []
    for row in finals.to_dict("records"):
        text, _ = without_logprobs(str(row["raw_text"]))
        verdict = read_reply(text, form, tool=tool, finish_reason=str(row["finish_reason"]))
        now = verdict.status.value
        if verdict.status is Status.OK:
            now = verdict.choice or f"{verdict.score:g}"
        before = _before(row, form)
        if now != before:
            which = {k: row[k] for k in _KEY}
            rows.append({**which, "before": before, "now": now, "reason": verdict.reason})
    return rows


def _before(row: Mapping[Any, Any], form: Form) -> str:
    """What the run read: the score, the place or the word; else its status."""
    if row["status"] != Status.OK.value:
        return str(row["status"])
    if isinstance(form, ScoreForm):
        return f"{row['score']:g}"
    if isinstance(form, WordForm):
        return str(row["choice"])
    position = str(row["position"])
    return _PLACES.get(position, position)


def unread_causes(frame: pd.DataFrame, max_tokens: int | None = None) -> str:
    """Why replies are unread, in words; empty where all were read.

    Examples
    --------
    >>> cut = pd.DataFrame({"status": ["truncated"] * 18, "finish_reason": ["length"] * 18})
    >>> unread_causes(cut, 30)
    '18 of 18 cut at max_tokens=30'
    """
    statuses = frame["status"].astype(str)
    words = {
        Status.REFUSED: "refused",
        Status.AMBIGUOUS: "ambiguous",
        Status.OUT_OF_SCALE: "off the scale",
        Status.UNPARSEABLE: "without a verdict",
    }
    ends = frame["finish_reason"].astype(str).map(is_cut)
    cut = (statuses == Status.TRUNCATED.value) & ends
    counts = {f"cut at max_tokens={max_tokens}" if max_tokens else "cut": int(cut.sum())}
    counts |= {word: int((statuses == status.value).sum()) for status, word in words.items()}
    return ", ".join(f"{n} of {len(frame)} {word}" for word, n in counts.items() if n)
