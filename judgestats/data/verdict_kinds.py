"""Kinds of verdicts, and numbers as written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgestats.arrays import LARGEST, too_large
from judgestats.data.codes import codes_of
from judgestats.data.vocabulary import (
    FAIL,
    LEVELS,
    PASS,
    POINTS,
    STATUS_OF,
    MeaningError,
    family,
    normalised,
    not_understood,
    pass_fail_words,
    stated_meaning,
    stated_words,
    status_word,
    values_option,
    verdict_word,
)
from judgestats.errors import InputError, printable

_PLAIN = re.compile(r"[+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:[eE][+-]?\d{1,2})?")
_COMMA = re.compile(r"[+-]?\d{1,9},\d{1,2}")
_STAR_WORD = r"(?:\s*stars?)?"
_OUT_OF = re.compile(
    r"([+-]?\d{1,9}(?:[.,]\d{1,6})?)\s*(?:/|out of|von|sur|de)\s*(\d{1,6})" + _STAR_WORD, re.I
)
_STARS = re.compile(r"([★⭐🌟]+)(½?)([☆✩]*)|(\d{1,2}(?:[.,]\d)?)(?:stars?|[★⭐🌟])", re.I)
_ENDLESS = re.compile(r"[+-]?(?:inf(?:inity)?|\d[\d.,]*(?:e[+-]?\d+)?)", re.I)
_PERCENT = re.compile(r"([+-]?\d{1,9}(?:[.,]\d{1,6})?)\s*(?:%|percent|per cent)", re.I)


def number_in(text: str) -> tuple[float, float]:
    """The number in a cell, and the number that it is out of; NaN for one that is not there.

    Examples
    --------
    >>> number_in("8/10"), number_in("60 %"), number_in("n. a.")
    ((8.0, 10.0), (60.0, 100.0), (nan, nan))
    >>> number_in("3,5"), number_in("★★★☆☆"), number_in("4 stars")
    ((3.5, nan), (3.0, 5.0), (4.0, nan))
    """
    text = text.strip()
    if _PLAIN.fullmatch(text):
        value = float(text)
        return (value if abs(value) <= LARGEST else math.nan), math.nan
    if _COMMA.fullmatch(text):
        return float(text.replace(",", ".")), math.nan
    match = _OUT_OF.fullmatch(text)
    if match:
        return float(match[1].replace(",", ".")), float(match[2])
    match = _PERCENT.fullmatch(text)
    if match:
        return float(match[1].replace(",", ".")), 100.0
    match = _STARS.fullmatch(text.replace("\ufe0f", "").replace(" ", ""))
    if match and match[4]:
        return float(match[4].replace(",", ".")), math.nan
    if match:
        whole = len(match[1]) + len(match[2]) + len(match[3])
        return len(match[1]) + len(match[2]) / 2, float(whole) if match[3] else math.nan
    return math.nan, math.nan


def numbers_of(values: Any) -> NDArray[np.float64]:
    """Each value as a number; NaN where it is not one. Truth values are not numbers.

    Examples
    --------
    >>> numbers_of(["7", "8/10", None, True]).tolist()
    [7.0, 8.0, nan, nan]
    """
    column = values if isinstance(values, pd.Series) else pd.Series(list(values), dtype=object)
    if pd.api.types.is_bool_dtype(column):
        return np.full(len(column), np.nan)
    if pd.api.types.is_numeric_dtype(column):
        plain: NDArray[np.float64] = column.to_numpy(dtype=float, na_value=np.nan)
        return np.where(too_large(plain), np.nan, plain)
    codes, distinct = pd.factorize(column)
    read = np.array([_number(v) for v in distinct] + [math.nan])
    out: NDArray[np.float64] = read[codes]
    return out


def _number(value: object) -> float:
    if isinstance(value, (bool, np.bool_)):
        return math.nan
    if isinstance(value, (int, float, np.number)):
        try:
            number = float(value)
        except (OverflowError, TypeError):  # a duration of numpy is a number, and none
            return math.nan
        return number if abs(number) <= LARGEST else math.nan
    return number_in(str(value)[:64])[0] if isinstance(value, str) else math.nan


def wholes_of(values: Any) -> list[float]:
    """What the cells say they are out of: 10 for ``8/10``, 100 for ``60 %``.

    Examples
    --------
    >>> wholes_of(["8/10", "7/10", "7"]), wholes_of(["60 %"]), wholes_of(["7"])
    ([10.0], [100.0], [])
    """
    wholes = {number_in(v[:64])[1] for v in list(values)[:10_000] if isinstance(v, str)}
    return sorted(w for w in wholes if not math.isnan(w))


KINDS = ("score", "pass-fail", "preference", "choice", "category")

_OUTCOMES: Mapping[str, str] = {
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
PREFERENCES = {**_OUTCOMES, **{word.replace("_", " "): own for word, own in _OUTCOMES.items()}}
"""Spellings of the outcome of a comparison of two responses."""

_PICKED = {
    "winner",
    "preference",
    "preferred",
    "pick",
    "judge_pick",
    "choice",
    "chosen",
    "selected",
}
_SCORED = frozenset({"score", "rating", "grade", "stars", "points", "mark"})
_MOST_ON_TWO = 3
"""Numbers for two responses and a tie."""
_MOST_WORDS = 100
_LONG = 60
_SHARE_READ = 0.5
_SHOWN = 12
_SENTENCES = re.compile(r"[.!] +\S|\S.*\[\[.+\]\]")
"""What replies hold, and the words of a verdict do not."""
_MOSTLY = 0.8
_MOST_UNCLEAR = 2
"""Unknown words that may be a pass and a fail; more are categories."""


class RepliesError(InputError):
    """A column of verdicts holds texts, which may be a judge's replies."""

    def __init__(self, column: str, message: str) -> None:
        self.column = column
        super().__init__(message)


_FINDINGS = frozenset(
    {"toxic", "toxicity", "hallucination", "hallucinations", "hallucinated", "harmful", "unsafe",
     "biased", "offensive", "flagged", "violation", "violates", "pii", "refusal", "refused", "spam",
     "hateful", "defect", "incorrect", "wrong", "failed", "failure", "unfaithful", "contradiction",
     "jailbreak", "jailbroken", "leaked", "error", "errors", "bias", "hate", "harm", "profanity",
     "plagiarism", "plagiarized", "inaccurate"}
)  # fmt: skip
YES_NO = (("yes", "no"), ("true", "false"), ("1", "0"), ("y", "n"), ("t", "f"))
"""Words that say whether what a column is named for is there."""


def names_finding(column: str) -> bool:
    """Whether a name is that of a finding, whose presence is seldom a pass.

    Examples
    --------
    >>> names_finding("is_toxic"), names_finding("not toxic"), names_finding("passed")
    (True, False, False)
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+", " ", column).lower().split()
    return bool(_FINDINGS & {*spaced}) and not {"no", "not", "non", "free"} & {*spaced}


def check_direction(
    where: Path | str,
    column: str,
    words: Iterable[str],
    stated: Mapping[str, str],
    *,
    side: str = "",
) -> None:
    """Refuse yes and no, or codes of them, where yes may be a fail.

    Parameters
    ----------
    where : Path or str
        For the message.
    column : str
    words : iterable of str
        Of the column.
    stated : mapping of word to meaning
        What the caller says. Where a yes is a fail, codes of other columns have to be stated too.
    side : str
        ``label:`` for labels alone.

    Raises
    ------
    MeaningError
        The column is named for a finding, or a yes was stated as a fail, and words are not stated.
    """
    said = {normalised(w) for w in words if not stated_meaning(w, stated)}
    reverse = any(stated_meaning(yes, stated) == FAIL for yes, _ in YES_NO)
    if not said & {w for pair in YES_NO for w in pair} or not (reverse or names_finding(column)):
        return
    pairs = [pair for pair in YES_NO if said & {*pair}]
    ways = [
        {f"{side}{word}": m for pair in pairs for word, m in zip(pair, meanings, strict=True)}
        for meanings in ((FAIL, PASS), (PASS, FAIL))
    ]
    why = f"{column!r} names a finding" if names_finding(column) else "a yes is stated as a fail"
    question = f"{why}. Is {pairs[0][0]!r} of {column!r} a fail or a pass?"
    said_by = f" {' or '.join(map(values_option, ways))}."
    raise MeaningError(question, [{"values": w} for w in ways], where=str(where), more=said_by)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a column of verdicts holds, and how its values are spelled.

    Attributes
    ----------
    name : str
        One of ``KINDS``.
    codes : mapping of spelling to verdict
        `normalize_value` of a value to the verdict that it stands for; of a score only what was
        stated.
    statuses : mapping of spelling to str
        Cells without a verdict: ``skip``, ``unparsed``, ``error`` or ``missing``.
    stated : mapping of word to meaning
        What the caller says of words, which holds for labels too.
    scale : (low, high) or None
        Where the values themselves show it, as ``8/10`` does.
    description : str
        The kind in a few words, for people.
    """

    name: str
    codes: Mapping[str, str] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)
    stated: Mapping[str, str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    description: str = ""


def meanings_of(kinds: Iterable[Kind]) -> dict[str, str]:
    """What each word of a column of verdicts was interpreted as.

    Examples
    --------
    >>> meanings_of([kind_of(pd.Series(["PASS", "n/a", "FAIL"]), column="verdict")])
    {'pass': 'pass', 'fail': 'fail', 'n/a': 'skip'}
    """
    found: dict[str, str] = {}
    for kind in kinds:
        found |= {str(w): str(m) for w, m in {**kind.codes, **kind.statuses}.items() if w != ""}
    return found


def normalize_value(value: object) -> str:
    """A value as it is compared: without case and space around it, whole numbers without a point.

    Examples
    --------
    >>> normalize_value(True), normalize_value(1.0), normalize_value(" Model_A "), normalize_value(
    ...     float("nan"))
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


def counted_words(values: pd.Series, rows: Sequence[int] | None = None) -> dict[str, int]:
    """The different words of a column as they are compared, with the rows that hold each.

    Parameters
    ----------
    values : Series
    rows : sequence of int, optional
        The count of each value; each once by default.

    Examples
    --------
    >>> counted_words(pd.Series(["Yes", "yes ", None, "no"]))
    {'yes': 2, 'no': 1}
    """
    codes, distinct = codes_of(values)
    weights = None if rows is None else np.asarray(rows, dtype=float)
    n_rows = np.bincount(codes, weights, minlength=len(distinct))
    counts: dict[str, int] = {}
    for value, n in zip(distinct, n_rows.tolist(), strict=True):
        if word := normalize_value(value):
            counts[word] = counts.get(word, 0) + int(n)
    return counts


def score_pass_map(labels: pd.Series, scores: pd.Series) -> Mapping[str, float] | None:
    """1 and 0 by word where labels next to scores say pass and fail of items; else None.

    The numbers 1 and 0 say so where both occur and scores go beyond them: no scale of 1-10 has a
    point 0, and a person who uses only the two lowest of 0-10 is not a rater of that scale.

    Raises
    ------
    InputError
        Some labels say pass or fail, and others are words that are not understood.

    Examples
    --------
    >>> labels, scores = pd.Series(["1", "0", ""]), pd.Series([7.0, 3.0, 9.0])
    >>> score_pass_map(labels, scores), score_pass_map(labels, scores / 10)
    ({'1': 1.0, '0': 0.0}, None)
    """
    found = pass_fail_words(counted_words(labels))
    read = scores.dropna()
    if not found.is_binary or read.empty:
        return None
    if found.unknown:
        raise not_understood("label", found.unknown)
    numbers = set(found.verdicts) & {"1", "0", "-1"}
    if numbers and (
        len(numbers) < 2 or (read.min() >= min(map(float, numbers)) and read.max() <= 1)
    ):
        return None
    return {w: float(m == PASS) for w, m in found.verdicts.items()}


def kind_of(
    values: pd.Series,
    *,
    column: str,
    role: str = "verdict",
    kind: str = "",
    passes: Sequence[str] = (),
    fails: Sequence[str] = (),
    stated: Mapping[str, str] | None = None,
    rows: Sequence[int] | None = None,
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
    passes, fails : sequence of str
        Words that are a pass, and a fail (``rest``: all others).
    stated : mapping of word to meaning, optional
        What words mean, as `judgestats.data.vocabulary.stated_words` has it.
    rows : sequence of int, optional
        The count of each value; each once by default.
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
        The column is text rather than verdicts, is not of the kind that was said, or says pass and
        fail with a word among them that is not understood.

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
    stated = dict(stated or {})
    codes = _codes(distinct) if not kind and scale is None else set()
    if codes := {c for c in codes if not stated_meaning(f"{c:g}", stated)}:
        counts = counted_words(values, rows)
        code = {w: n for w, n in counts.items() if numbers_of([w])[0] in codes}
        raise not_understood(column, code, otherwise=POINTS)
    if numeric and len(distinct) > _MOST_WORDS and kind in {"", "score"} and not stated:
        return _scores(distinct, scale, "numbers")
    counts = counted_words(values, rows)
    told = {w: own for w in counts if (own := family(stated_meaning(w, stated)))}
    chosen = kind or ("pass-fail" if passes or fails else next(iter(told.values()), ""))
    if clash := next((w for w, own in told.items() if own != chosen), ""):
        option = f"--kind is {kind}" if kind else "--pass or --fail says pass-fail"
        raise InputError(
            f"--values says {told[clash]} of {printable(clash[:40])!r} in the column {column!r}, "
            f"but {option}. Drop one, or write label:WORD where labels alone are meant."
        )
    if chosen == "pass-fail":
        return _pass_fail(counts, column, passes, fails, stated)
    statuses = _statuses(counts, stated, any_column=chosen in {"choice", "category"})
    words = [w for w in counts if w not in statuses]
    if chosen == "preference":
        found = _preference(words, column, stated)
    elif chosen in {"choice", "category"}:
        found = _words(words, column, chosen)
    elif chosen == "score" or (scale is not None and not np.isnan(numbers_of(distinct)).all()):
        points = {w: m for w in words if family(m := stated_meaning(w, stated)) == "score"}
        given = [
            *points.values(),
            *(v for v in distinct if normalize_value(v) not in {*points, *statuses}),
        ]
        found = replace(_scores(given, scale, "numbers", column=column, read=read), codes=points)
    else:
        found = _undeclared(distinct, counts, column, name, role, read, stated)
        if found.name in {"choice", "category"}:
            statuses = _statuses(counts, stated, any_column=True)
    return replace(found, statuses=statuses, stated=stated) if not found.statuses else found


_CODES = (-1, -9, -99, -999, 99, 999, 9999)
"""Numbers that several tools write where there is no verdict."""


def _codes(distinct: Sequence[Any]) -> set[float]:
    """Those of them that stand next to scores from 0, below them or far above them."""
    numbers = numbers_of(distinct)
    others = np.unique(numbers[~np.isnan(numbers) & ~np.isin(numbers, _CODES)])
    if len(others) < 2 or others[0] < 0:
        return set()
    return {code for code in _CODES if code in numbers and not 0 <= code <= 9 * others[-1]}


def _statuses(
    counts: Mapping[str, int], stated: Mapping[str, str], *, any_column: bool
) -> dict[str, str]:
    """Words that are not a verdict, by what was stated or the vocabulary."""
    own = {w: stated_meaning(w, stated) or status_word(w, any_column=any_column) for w in counts}
    return {w: m for w, m in own.items() if m in STATUS_OF}


def _has_other_words(words: Sequence[str]) -> bool:
    """Whether words of a preference are among others, perhaps next to codes."""
    others = set(words) - set(PREFERENCES)
    letters = any(len(w) == 1 and w.isalpha() for w in others)  # d, e: options beyond a, b, c
    has_word = any(
        w in PREFERENCES and not w.isdecimal() and w not in {"c", "right"} for w in words
    )
    return has_word and bool(others) and not letters


def _undeclared(
    distinct: list[Any],
    counts: Mapping[str, int],
    column: str,
    name: str,
    role: str,
    read: Callable[[str], float | None] | None,
    stated: Mapping[str, str],
) -> Kind:
    """The kind where nobody says it."""
    binary = pass_fail_words(counts, stated)
    statuses = _statuses(counts, stated, any_column=False)
    words = [w for w in counts if w not in statuses]
    given = set(words)
    picked = name in _PICKED or (role == "choice" and name not in _SCORED)
    letters = name in _PICKED and given in ({"p", "f"}, {"c", "i"})
    if binary.verdicts and not binary.unknown and not letters:
        if name in _PICKED and given <= {"-1", "0", "1"}:
            other = "-1" if "-1" in given else "0"
            raise InputError(
                f"the column {column!r} holds only {' and '.join(sorted(given))}, which may be "
                "fail and pass, or two responses. Say which: --kind pass-fail --pass 1, or "
                f"{values_option({other: 'a', '1': 'b'})}."
            )
        return _pass_fail(counts, column, (), (), stated)
    understood = sum(n for w, n in counts.items() if w in PREFERENCES or w in statuses)
    if _has_other_words(words) and understood >= _MOSTLY * sum(counts.values()):
        # Codes beside words such as "tie": a few replies that say something else are unread.
        return _preference([w for w in words if w in PREFERENCES], column, stated)
    open_name = picked or name in {"verdict", "outcome", "result", "decision"}
    codes = given <= {"0", "1", "2"}
    if given and given <= set(PREFERENCES) and (open_name or not codes) and name not in _SCORED:
        if "c" in given and "none" in statuses and "none" not in stated:
            raise MeaningError(  # one of the options of a question, or no winner of a pair
                f"the column {column!r} holds {', '.join(sorted(given))} and 'none', which may be "
                "options of one list. Say what they mean: "
                f"{values_option({'none': 'WHAT'})} (WHAT is tie, skip, unparsed or "
                "error), or --kind choice.",
                [{"kind": "choice"}, *({"values": {"none": m}} for m in ("unparsed", "skip"))],
            )
        return _preference(words, column, stated)
    numbers = numbers_of(distinct)
    share = float(np.mean(~np.isnan(numbers))) if len(numbers) else 0.0
    whole = bool(np.all(np.mod(numbers[~np.isnan(numbers)], 1) == 0))
    on_a_scale = name in {"preference", "preferred"} and len(words) > _MOST_ON_TWO
    choices = picked and share == 1 and whole and len(words) <= 30 and not on_a_scale
    if share >= _SHARE_READ and not choices and not binary.is_binary:
        unknown = {w: counts[w] for w in words if _is_word(w)}
        if unknown:
            raise not_understood(column, unknown, otherwise="Or a number for points.")
        return _scores(distinct, None, "numbers", column=column, read=None)
    if share == 1:
        return _words(words, column, "choice")
    texts = len(words) > _MOST_WORDS or (bool(words) and sum(map(len, words)) / len(words) > _LONG)
    texts = texts or (bool(words) and all(_SENTENCES.search(w) for w in words))
    if read is not None and words and (texts or name in _SCORED or len(words) > 12):
        sample = [str(v) for v in distinct[:200]]
        if sum(read(t) is not None for t in sample) >= _SHARE_READ * len(sample):
            return Kind(
                name="score",
                description=f"a score, read from texts such as {_quote_text(sample[0])}",
            )
    if texts:
        raise RepliesError(
            column,
            f"the column {column!r} holds {len(words):,} different texts, such as "
            f"{_quote_text(words[0])}: that is text, not a verdict. Read verdicts out of the texts "
            "(--parse pointwise, --parse pairwise, --parse 'REGEX with one group').",
        )
    if binary.is_binary:
        raise not_understood(column, binary.unknown, otherwise=LEVELS)
    if (name in _SCORED or role == "score") and words:
        raise MeaningError(
            f"no entry of the column {column!r} is a number (the first is "
            f"{_quote_text(str(distinct[0]))}). Are they grades or categories? State points with "
            "--values.",
            [{"kind": "category"}],
        )
    lost = {normalised(w) for w in _statuses(counts, stated, any_column=True)}
    words = [w for w in counts if normalised(w) not in lost]
    if denied := [w for w in words if normalised(w).partition(" ")[::2] in
                  [(no, status) for no in ("no", "not", "non") for status in lost]]:  # fmt: skip
        # "error" beside "no error" is what was found, not a call that failed.
        found = {w: n for w, n in counts.items() if w in denied or normalised(w) in lost}
        raise not_understood(column, found)
    one_letter = all(len(w) == 1 and "a" <= w <= "z" for w in words)
    if words and len(words) <= _MOST_UNCLEAR and not one_letter:
        raise not_understood(column, {w: counts[w] for w in words}, otherwise=LEVELS)
    return _words(words, column, "choice" if one_letter and picked else "category")


def _is_word(cell: str) -> bool:
    """Whether a cell holds a word or two, which somebody chose, rather than a reply or a number."""
    if len(cell) > _LONG or cell.count(" ") > 2 or not math.isnan(number_in(cell)[0]):
        return False
    return not _ENDLESS.fullmatch(cell)


def _quote_text(text: str) -> str:
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
            first = _quote_text(str(next(iter(distinct))))
            raise InputError(
                f"no entry of the column {column!r} is a number (the first is {first}). For grades "
                "or categories: --kind category."
            )
    if own is not None:
        return Kind(name="score", scale=scale or own, description=f"a score out of {own[1]:g},")
    return Kind(name="score", scale=scale, description="a score" if what == "numbers" else what)


def _pass_fail(
    counts: Mapping[str, int],
    column: str,
    passes: Sequence[str],
    fails: Sequence[str],
    stated: Mapping[str, str],
) -> Kind:
    named = [f for f in fails if f != "rest"]
    own = stated_words({**dict.fromkeys(named, FAIL), **dict.fromkeys(passes, PASS)})
    stated = {**own, **stated}
    if passes and counts and not any(stated_meaning(w, own) == PASS for w in counts):
        raise InputError(
            f"--pass: no entry of the column {column!r} is {', '.join(sorted(passes))}. It holds "
            f"{', '.join(list(counts)[:8])}."
        )
    if passes or fails:
        left = {w: n for w, n in counts.items() if not stated_meaning(w, stated)
                and not status_word(w)}  # fmt: skip
        alone = len({normalised(w) for w in left}) == 1 and not (passes and named)
        if "rest" in fails or alone:
            stated |= dict.fromkeys(left, FAIL if passes or "rest" in fails else PASS)
        elif strange := {w: n for w, n in left.items() if verdict_word(w) != FAIL}:
            listed = ", ".join(f"{printable(w[:40])!r} ({n:,})" for w, n in strange.items())
            raise InputError(
                f"{column!r} also holds {listed}, which --pass and --fail do not name. Say what "
                f"they mean: {values_option(dict.fromkeys(strange, 'WHAT'))}, or --fail rest where "
                "all of them are a fail."
            )
    found = pass_fail_words(counts, stated)
    if found.unknown:
        raise not_understood(column, found.unknown)
    codes = found.verdicts
    wanted = sorted(w for w, m in codes.items() if m == PASS)
    plain = all(normalised(w) == PASS for w in wanted)
    said = "" if plain else f", {'/'.join(wanted[:6])} = pass"
    return Kind(
        name="pass-fail", codes=codes, stated=stated, description=f"pass / fail{said}",
        statuses={w: m for w, m in found.meanings.items() if w not in codes},
    )  # fmt: skip


def _preference(words: list[str], column: str, stated: Mapping[str, str]) -> Kind:
    told = any(family(m) == "preference" for m in stated.values())
    by_name = {
        w: stated_meaning(w, stated) or ("" if told and w.isdecimal() else PREFERENCES.get(w, ""))
        for w in words
    }
    strange = [w for w, v in by_name.items() if v not in {"a", "b", "tie"}]
    if not told and {"0", "1"} <= set(words) and list(by_name.values()).count("tie") > 1:
        raise InputError(  # 0 is no tie where another word is
            f"the column {column!r} holds 0, 1 and a tie, so 0 and 1 may be the two responses. Say "
            f"which: {values_option({'0': 'a', '1': 'b'})}."
        )
    # A few replies that name no response are unread verdicts, not another kind of column.
    if not told and strange and 2 * len(strange) <= len(words):
        by_name = {w: v for w, v in by_name.items() if w not in strange}
    elif strange:
        said = [{strange[0]: m} for m in ("tie", "unparsed", "skip")] if strange[1:] == [] else []
        raise MeaningError(
            f"the column {column!r} holds {', '.join(map(repr, strange[:4]))}, which is not an "
            "outcome of a comparison (a, b, tie and their usual spellings). Say what they mean: "
            f"{values_option(dict.fromkeys(strange, 'WHAT'))} (WHAT is a, b, tie, skip, unparsed "
            "or error).",
            [{"values": one} for one in said],
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
            f"the column {column!r} holds {len(words):,} different entries, too many for a {kind}. "
            "Map the verdict's column (--map verdict=COLUMN)."
        )
    if not words:
        return Kind(name=kind, description="no verdict in any row")
    article = "a choice" if kind == "choice" else "a category"
    return Kind(
        name=kind, description=f"{article} of {len(words)} ({', '.join(sorted(words)[:6])})"
    )
