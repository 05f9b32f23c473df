"""What was judged, where a table holds it beside the verdicts: question, answer, its length."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from judgestats.judgments.readers.names import folded

TEXTS = ("question_text", "answer_text")
"""Columns of the frame that hold them; ``answer_length`` is a number of characters."""

_QUESTIONS = ("question", "prompt", "input", "instruction", "query", "userinput", "request")
_ANSWERS = ("answer", "response", "output", "modeloutput", "modelanswer", "modelresponse",
            "actualoutput", "answertext", "responsetext", "generation", "text")  # fmt: skip
_LENGTHS = ("length", "answerlength", "responselength", "outputlength", "nchars", "nwords",
            "ntokens", "chars", "words")  # fmt: skip
_WORDS = 3
_SEEN = 200


def item_texts(table: pd.DataFrame, verdicts: Collection[str]) -> dict[str, pd.Series]:
    """The columns of a table that hold what was judged, by our names.

    Parameters
    ----------
    table : DataFrame
    verdicts : collection of str
        Columns that hold verdicts, labels or the judge's own words.

    Returns
    -------
    dict of str to Series
        ``question_text`` and ``answer_text`` where a column of such a name holds texts rather than
        names; ``answer_length`` where a column of numbers says how long the answer is.

    Examples
    --------
    >>> rows = pd.DataFrame({"id": [1], "Response": ["It is blue, I think."], "score": [7]})
    >>> list(item_texts(rows, {"score"}))
    ['answer_text']
    """
    own = {folded(c): str(c) for c in reversed(list(table.columns)) if c not in verdicts}
    out: dict[str, pd.Series] = {}
    for ours, names in zip(TEXTS, (_QUESTIONS, _ANSWERS), strict=True):
        column = next((own[n] for n in names if n in own and _is_text(table[own[n]])), "")
        if column:
            out[ours] = table[column].fillna("").astype(str)
    length = next((own[n] for n in _LENGTHS if n in own and _is_number(table[own[n]])), "")
    if length:
        out["answer_length"] = table[length].astype(float)
    return out


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _is_text(column: pd.Series) -> bool:
    """Whether cells are mostly of several words: an id or a letter is no text."""
    if _is_number(column):
        return False
    seen = column.dropna().head(_SEEN)
    texts = [v for v in seen if isinstance(v, str)]
    return 2 * sum(len(v.split()) >= _WORDS for v in texts) > len(seen)
