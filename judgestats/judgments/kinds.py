"""What kind of verdict a column holds: a score, pass or fail, a preference, a choice, a category.

The kind is decided from the values and the column's name, said in one line, and can be overridden.
Zeros and ones are pass or fail: never a tie, and no points of a scale unless the caller says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from judgestats.errors import InputError, printable
from judgestats.judgments.numerals import numbers_of, wholes_of

KINDS = ("score", "pass-fail", "preference", "choice", "category")

_PAIRS = (
    ("pass", "fail"), ("passed", "failed"), ("yes", "no"), ("y", "n"), ("true", "false"),
    ("t", "f"), ("correct", "incorrect"), ("correct", "wrong"), ("right", "wrong"),
    ("good", "bad"), ("accept", "reject"), ("accepted", "rejected"), ("approved", "rejected"),
    ("approve", "reject"), ("valid", "invalid"), ("success", "failure"), ("relevant", "irrelevant"),
    ("safe", "unsafe"), ("acceptable", "unacceptable"), ("supported", "unsupported"),
    ("grounded", "ungrounded"), ("faithful", "unfaithful"), ("positive", "negative"),
    ("ok", "not ok"), ("compliant", "non-compliant"), ("1", "0"), ("1", "-1"),
)  # fmt: skip
PASS_WORDS: frozenset[str] = frozenset(good for good, _ in _PAIRS)
"""Words for a pass; each has its opposite among the pairs that are understood."""
_FAIL_WORDS = frozenset(bad for _, bad in _PAIRS)

PREFERENCES: Mapping[str, str] = {
    **dict.fromkeys(
        ("a", "model_a", "response_a", "assistant_a", "output_a", "[[a]]", "model_1", "output_1",
         "response_1", "first", "left", "a>b", "b<a", "a>>b", "b<<a", "[[a>b]]",
         "[[a>>b]]", "1"), "a"
    ),
    **dict.fromkeys(
        ("b", "model_b", "response_b", "assistant_b", "output_b", "[[b]]", "model_2", "output_2",
         "response_2", "second", "right", "b>a", "a<b", "b>>a", "a<<b", "[[b>a]]",
         "[[b>>a]]", "2"),
        "b"
    ),
    **dict.fromkeys(
        ("tie", "tied", "same", "both", "neither", "equal", "draw", "a=b", "[[a=b]]", "[[c]]", "c",
         "0", "tie (bothbad)", "both_bad", "bothbad", "tie (inconsistent)"), "tie"
    ),
}  # fmt: skip
"""Spellings of the outcome of a comparison of two responses."""

NO_VERDICT = frozenset(
    {"error", "n/a", "no_answer", "no answer", "parse_error", "unparseable", "unparsable", "unread",
     "$error$", "[invalid]", "?", "-"}
)  # fmt: skip
"""Words that say that there is no verdict."""

_PICKED = frozenset(
    {"winner", "preference", "preferred", "pick", "judge_pick", "choice", "chosen", "selected"}
)
_SCORED = frozenset({"score", "rating", "grade", "stars", "points", "mark"})
_MOST_WORDS = 100
_LONG = 60
_SHARE_READ = 0.5
_MOSTLY = 0.8


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a column of verdicts holds, and how its values are spelled.

    Attributes
    ----------
    name : str
        One of ``KINDS``.
    codes : mapping of spelling to verdict
        For what is no score: `spelling` of a value to the verdict that it stands for.
    scale : (low, high) or None
        Where the values themselves tell it, as ``8/10`` does.
    description : str
        The kind in a few words, for people.
    """

    name: str
    codes: Mapping[str, str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    description: str = ""


def spelling(value: object) -> str:
    """A value as it is compared: without case and space around it, whole numbers without a point.

    Examples
    --------
    >>> spelling(True), spelling(1.0), spelling(" Model_A "), spelling(float("nan"))
    ('true', '1', 'model_a', '')
    """
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if math.isnan(number):
            return ""
        return str(int(number)) if number.is_integer() else f"{number:g}"
    return str(value).strip().lower()


def pass_fail(words: Sequence[str]) -> tuple[str, str] | None:
    """The pair of pass and fail that some spellings are; None where they are something else.

    Examples
    --------
    >>> pass_fail(["no", "yes"]), pass_fail(["1"]), pass_fail(["a", "tie"])
    (('yes', 'no'), ('1', '0'), None)
    """
    given = set(words) - {""}
    return next((pair for pair in _PAIRS if given and given <= set(pair)), None)


def passes_beside_scores(labels: pd.Series, scores: pd.Series) -> tuple[str, str] | None:
    """The words for pass and fail where labels beside scores say that of items; else None.

    1 and 0 are such words where both occur and scores go beyond them: no scale of 1-10 has a
    point 0, and a person who uses nothing but the two lowest of 0-10 is no rater of that scale.

    Examples
    --------
    >>> labels, scores = pd.Series(["1", "0", ""]), pd.Series([7.0, 3.0, 9.0])
    >>> passes_beside_scores(labels, scores), passes_beside_scores(labels, scores / 10)
    (('1', '0'), None)
    """
    words = {spelling(v) for v in labels.unique()} - {""}
    pair = pass_fail(list(words)) if len(words) <= 2 else None
    read = scores.dropna()
    if pair is None or read.empty:
        return None
    if pair[0] == "1" and (len(words) < 2 or (read.min() >= float(pair[1]) and read.max() <= 1)):
        return None
    return pair


def kind_of(
    values: pd.Series,
    *,
    column: str,
    role: str = "verdict",
    kind: str = "",
    passes: Sequence[str] = (),
    codes: Mapping[str, str] | None = None,
    scale: tuple[float, float] | None = None,
    read: Callable[[str], float | None] | None = None,
) -> Kind:
    """Decide what kind of verdict a column holds.

    Parameters
    ----------
    values : Series
    column : str
        Its name, which decides where the values do not.
    role : {"verdict", "score", "choice"}
        What it was taken or mapped for; ``verdict`` leaves it open.
    kind : str
        One of ``KINDS``, where the caller says so.
    passes : sequence of str
        The words that are a pass.
    codes : mapping of value to ``a``, ``b`` or ``tie``, optional
        What the codes of a preference mean.
    scale : (low, high), optional
        Stated: then the column holds scores.
    read : callable, optional
        Reads a score from a longer text; None where there is none.

    Returns
    -------
    Kind

    Raises
    ------
    InputError
        The column is text rather than verdicts, or is not of the kind that was said.

    Examples
    --------
    >>> kind_of(pd.Series([1, 0, 1]), column="passed").description
    'pass / fail, 1 = pass'
    >>> kind_of(pd.Series(["model_a", "tie"]), column="winner").name
    'preference'
    >>> kind_of(pd.Series([3, 9, 10]), column="score").name
    'score'
    """
    if kind and kind not in KINDS:
        raise InputError(f"--kind must be one of {', '.join(KINDS)}, got {kind!r}.")
    name = column.strip().lower().replace(" ", "_")
    numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    try:
        distinct: list[Any] = list(pd.unique(values.dropna()))
    except TypeError:  # lists and objects have no hash
        raise InputError(
            f"column {column!r} holds lists or objects, not verdicts. Use --explode {column}, or "
            f"map a path inside it, e.g. score={column}.score."
        ) from None
    if numeric and len(distinct) > _MOST_WORDS and kind in {"", "score"}:
        return _scores(distinct, scale, "numbers")
    words = [w for w in dict.fromkeys(map(spelling, distinct)) if w]
    words = [w for w in words if w not in NO_VERDICT]
    chosen = kind or ("pass-fail" if passes else "preference" if codes else "")
    if chosen == "pass-fail":
        return _pass_fail(words, column, passes)
    if chosen == "preference":
        return _preference(words, column, codes or {})
    if chosen in {"choice", "category"}:
        return _words(words, column, chosen)
    if chosen == "score" or (scale is not None and not np.isnan(numbers_of(distinct)).all()):
        return _scores(distinct, scale, "numbers", column=column, read=read)
    share = (
        values.map(spelling).isin([*PREFERENCES, *NO_VERDICT, ""]).mean()
        if _beside_words(words)
        else 0
    )
    if share >= _MOSTLY:
        # Codes beside words such as "tie": a few replies that say something else are unread.
        return _preference([w for w in words if w in PREFERENCES], column, {})
    return _undeclared(distinct, words, column, name, role, read)


def _beside_words(words: Sequence[str]) -> bool:
    """Whether words of a preference stand among others, perhaps beside codes."""
    others = set(words) - set(PREFERENCES)
    letters = any(len(w) == 1 and w.isalpha() for w in others)  # d, e: options beyond a, b, c
    has_word = any(w in PREFERENCES and not w.isdecimal() and w != "c" for w in words)
    return has_word and bool(others) and not letters


def _undeclared(
    distinct: list[Any],
    words: list[str],
    column: str,
    name: str,
    role: str,
    read: Callable[[str], float | None] | None,
) -> Kind:
    """The kind where nobody says it."""
    given = set(words)
    picked = name in _PICKED or (role == "choice" and name not in _SCORED)
    if pass_fail(words) is not None:
        if name in _PICKED and given <= {"-1", "0", "1"}:
            other = "-1" if "-1" in given else "0"
            raise InputError(
                f"the column {column!r} holds only {' and '.join(sorted(given))}, which may be "
                "fail and pass, or two responses. Say which: --kind pass-fail --pass 1, or "
                f"--codes {other}=a,1=b."
            )
        return _pass_fail(words, column, ())
    open_name = picked or name in {"verdict", "outcome", "result", "decision"}
    codes = given <= {"0", "1", "2"}
    if given and given <= set(PREFERENCES) and (open_name or not codes) and name not in _SCORED:
        return _preference(words, column, {})
    numbers = numbers_of(distinct)
    share = float(np.mean(~np.isnan(numbers))) if len(numbers) else 0.0
    whole = bool(np.all(np.mod(numbers[~np.isnan(numbers)], 1) == 0))
    if share >= _SHARE_READ and not (picked and share == 1 and whole and len(words) <= 30):
        return _scores(distinct, None, "numbers", column=column, read=None)
    if share == 1:
        return _words(words, column, "choice")
    texts = len(words) > _MOST_WORDS or (bool(words) and sum(map(len, words)) / len(words) > _LONG)
    if read is not None and words and (texts or name in _SCORED or len(words) > 12):
        sample = [str(v) for v in distinct[:200]]
        if sum(read(t) is not None for t in sample) >= _SHARE_READ * len(sample):
            return Kind(
                name="score", description=f"a score, read from texts such as {_shown(sample[0])}"
            )
    if texts:
        raise InputError(
            f"the column {column!r} holds {len(words):,} different texts, such as "
            f"{_shown(words[0])}: that is text, not a verdict. Map the verdict's column (--map "
            "verdict=COLUMN), or read verdicts out of the texts (--parse pointwise, --parse "
            "pairwise, --parse 'REGEX with one group')."
        )
    if (name in _SCORED or role == "score") and words:
        raise InputError(
            f"no entry of the column {column!r} is a number (the first is "
            f"{_shown(str(distinct[0]))}). For verdicts in words: --map choice={column}."
        )
    letters = all(len(w) == 1 and "a" <= w <= "z" for w in words)
    return _words(words, column, "choice" if letters and picked else "category")


def _shown(text: str) -> str:
    return repr(printable(text[:40], one_line=True))


def _scores(
    distinct: list[Any],
    scale: tuple[float, float] | None,
    what: str,
    *,
    column: str = "",
    read: Callable[[str], float | None] | None = None,
) -> Kind:
    wholes = wholes_of(distinct)
    if len(wholes) > 1 and column:
        raise InputError(
            f"the column {column!r} holds scores out of "
            f"{' and out of '.join(f'{w:g}' for w in wholes)}: two scales. Bring them to one."
        )
    own = (0.0, wholes[0]) if wholes else None
    if column:
        numbers = numbers_of(distinct)
        if len(numbers) and np.isnan(numbers).all():
            if read is not None and any(read(str(v)) is not None for v in distinct[:200]):
                return Kind(name="score", scale=scale, description="a score, read from texts")
            first = _shown(str(next(iter(distinct))))
            raise InputError(
                f"no entry of the column {column!r} is a number (the first is {first}). For "
                f"verdicts in words: --map choice={column}."
            )
    if own is not None:
        return Kind(name="score", scale=scale or own, description=f"a score out of {own[1]:g},")
    return Kind(name="score", scale=scale, description="a score" if what == "numbers" else what)


def _pass_fail(words: list[str], column: str, passes: Sequence[str]) -> Kind:
    wanted = {spelling(p) for p in passes}
    if not wanted:
        pair = pass_fail(words)
        if pair is None:
            named = ", ".join(map(repr, words[:6]))
            raise InputError(
                f"the column {column!r} holds {named}; which of them is a pass? Say it with "
                "--kind pass-fail --pass WORD."
            )
        wanted = {pair[0]}
    elif words and not wanted & set(words):
        raise InputError(
            f"--pass: no entry of the column {column!r} is {', '.join(sorted(wanted))}. It holds "
            f"{', '.join(words[:8])}."
        )
    codes = {w: "pass" if w in wanted else "fail" for w in words}
    said = "" if wanted == {"pass"} else f", {'/'.join(sorted(wanted))} = pass"
    return Kind(name="pass-fail", codes=codes, description=f"pass / fail{said}")


def _preference(words: list[str], column: str, codes: Mapping[str, str]) -> Kind:
    codes_by_word = {spelling(k): v for k, v in codes.items()}
    by_name = {
        w: codes_by_word.get(w) or ("" if codes_by_word else PREFERENCES.get(w, "")) for w in words
    }
    strange = [w for w, v in by_name.items() if v not in {"a", "b", "tie"}]
    # A few replies that name no response are unread verdicts, not another kind of column.
    if not codes_by_word and strange and 2 * len(strange) <= len(words):
        by_name = {w: v for w, v in by_name.items() if w not in strange}
    elif strange:
        raise InputError(
            f"the column {column!r} holds {', '.join(map(repr, strange[:4]))}, which is no outcome "
            "of a comparison (a, b, tie and their usual spellings). Say what the codes mean: "
            "--codes VALUE=a,VALUE=b,VALUE=tie."
        )
    # In one order, whatever row comes first.
    ordered = sorted(by_name.items(), key=lambda pair: (pair[1], pair[0]))
    shown = ", ".join(f"{w} = {v}" for w, v in ordered if w != v)
    if any(w in {"c", "[[c]]"} for w in by_name):
        shown += " (--kind choice where C is a third response)"
    return Kind(
        name="preference", codes=by_name, description=f"a preference{f', {shown}' if shown else ''}"
    )


def _words(words: list[str], column: str, kind: str) -> Kind:
    if len(words) > _MOST_WORDS:
        raise InputError(
            f"the column {column!r} holds {len(words):,} different entries; that is no {kind}. Map "
            "the verdict's column (--map verdict=COLUMN)."
        )
    if not words:
        return Kind(name=kind, description="no verdict in any row")
    article = "a choice" if kind == "choice" else "a category"
    two = "; --pass WORD where one of them is a pass" if len(words) == 2 else ""
    return Kind(
        name=kind, description=f"{article} of {len(words)} ({', '.join(sorted(words)[:6])}{two})"
    )
