"""The vocabulary of verdicts and labels: each cell is looked up alone, for judge and people alike.

A word is normalised and then found in one table, or it is not understood: no stem, no part of a
word and no likeness decides, for ``incorrect`` holds ``correct``.
"""

from __future__ import annotations

import json
import operator
import re
import shlex
import unicodedata
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from judgestats.errors import InputError, nearest, printable
from judgestats.protocols.base import Status

PASS, FAIL = "pass", "fail"
STATUS_OF: Mapping[str, Status] = {
    "skip": Status.NOT_APPLICABLE,
    "unparsed": Status.UNPARSEABLE,
    "error": Status.FAILED,
    "missing": Status.MISSING,
}
"""Meanings of words that are not a verdict, with the status of such a judgment."""
MEANINGS = (PASS, FAIL, "a", "b", "tie", *STATUS_OF)
"""Meanings that can be stated for a word, besides a number."""

_PASS = {
    "pass", "passed", "passes", "passing", "ok", "okay", "yes", "true", "correct", "right", "good",
    "accept", "accepted", "acceptable", "approve", "approved", "valid", "success", "successful",
    "succeeded", "satisfied", "satisfies", "met", "meet", "meets", "compliant", "supported",
    "grounded", "faithful", "relevant", "safe", "thumbs up", "thumbsup", "👍", "✅", "✓",
}  # fmt: skip
_FAIL = {
    "fail", "failed", "fails", "failing", "failure", "no", "false", "incorrect", "wrong", "bad",
    "poor", "reject", "rejected", "unacceptable", "invalid", "unsuccessful", "unsatisfied", "unmet",
    "noncompliant", "unsupported", "ungrounded", "unfaithful", "irrelevant", "unsafe", "nok",
    "thumbs down", "thumbsdown", "👎", "❌", "✗",
}  # fmt: skip
_NO_VERDICT: Mapping[str, str] = {
    **dict.fromkeys(("n/a", "not applicable", "does not apply", "n.a"), "skip"),
    **dict.fromkeys(
        ("unparseable", "unparsable", "unparsed", "parse error", "no answer", "unread"), "unparsed"
    ),
    "error": "error",
}
"""Words that say in any column that there is no verdict."""
_STATUSES: Mapping[str, str] = {
    **_NO_VERDICT,
    **dict.fromkeys(("na", "not assessable", "skip", "skipped"), "skip"),
    **dict.fromkeys(
        ("parsing error", "could not parse", "no verdict", "invalid json"), "unparsed"
    ),
    **dict.fromkeys(
        ("timeout", "timed out", "exception", "failed call", "rate limit", "refused",
         "content filter", "blocked"), "error"
    ),
    **dict.fromkeys(("", "null", "none", "nan", "nil"), "missing"),
}  # fmt: skip
"""And those that say so in columns of pass and fail, of numbers and of preferences."""
_AS_WRITTEN: Mapping[str, str] = {
    "[invalid]": "unparsed",
    "$error$": "error",
    **dict.fromkeys(("<na>", "#n/a", "-", "--", "?"), "missing"),
}
"""Cells that are looked up before anything is stripped from them."""
_CLOSED = (("p", "f"), ("y", "n"), ("t", "f"), ("c", "i"), ("1", "0"), ("1", "-1"))
"""Pass and fail where a column holds nothing else."""
_ALONE = frozenset({"1", "0", "y", "n"})
"""Of these the ones that are understood also where the other does not occur."""
_OUTCOMES = frozenset({"tie", "tied", "same", "both", "neither", "equal", "draw"})
"""Words of a comparison that are used with 1 and 0 for its two sides."""
_FEW, _SHORT = 12, 40

_MARKS = re.compile("[\ufe00-\ufe0f\u200d\U0001f3fb-\U0001f3ff]")
"""Variation selectors, joiners and skin tones."""
_OUTER = " \t\r\n\"'`´‘’“”«»()[]{}<>*.!"
_GAPS = re.compile(r"[\s_\u2010-\u2015-]+")
_NUMBER = re.compile(r"([+-]?\d+)(?:\.0*)?")
_REMARK = re.compile(r"\s*:|\s+[-\u2013\u2014]\s+|\s*\(")
_NAMED_ERROR = re.compile(r"(?!non?error|no[nt]?_|without)[\w.]+(?:error|exception)")
_HTTP = re.compile(r"http (?:error |status )?[45]\d\d\b.*")
_SHOWN = 12


def normalised(text: str) -> str:
    """A word as it is looked up: without case, outer marks, and differences of its gaps.

    Examples
    --------
    >>> [normalised(w) for w in ("**Pass**.", "thumbs_up", "Non-compliant", "-1", "1.0")]
    ['pass', 'thumbs up', 'non compliant', '-1', '1']
    """
    word = _MARKS.sub("", unicodedata.normalize("NFKC", text).casefold()).strip()
    if number := _NUMBER.fullmatch(word):
        return number[1].removeprefix("+")
    word = word.strip(_OUTER).removesuffix(":").strip(_OUTER)
    return _GAPS.sub(" ", word).strip()


def status_word(text: str, *, any_column: bool = False) -> str:
    """Of a cell without a verdict: ``skip``, ``unparsed``, ``error`` or ``missing``; else empty.

    Parameters
    ----------
    text : str
    any_column : bool
        Only words that say so in a column of categories too, where ``none`` may be a level.

    Examples
    --------
    >>> status_word("error: timeout"), status_word("N/A - nothing to check"), status_word("none")
    ('error', 'skip', 'missing')
    >>> status_word("none", any_column=True), status_word("no_error")
    ('', '')
    """
    written = text.strip().casefold()
    if written in _AS_WRITTEN:
        return _AS_WRITTEN[written]
    if text.strip() == "NA":  # as R writes a missing value
        return "missing"
    word = normalised(text)
    table = _NO_VERDICT if any_column else _STATUSES
    if word in table:
        return table[word]
    if not any_column and (_NAMED_ERROR.fullmatch(written.strip(_OUTER)) or _HTTP.fullmatch(word)):
        return "error"
    head = _REMARK.split(text.strip(), maxsplit=1)[0]
    return status_word(head, any_column=any_column) if 0 < len(head) < len(text.strip()) else ""


def verdict_word(text: str) -> str:
    """``pass`` or ``fail`` where a word says so in any column; else empty.

    Examples
    --------
    >>> [verdict_word(w) for w in ("Passed", "not ok", "👎🏽", "pass (barely)", "positive")]
    ['pass', 'fail', 'fail', '', '']
    """
    word = normalised(text)
    if word in _PASS or word in _FAIL:
        return PASS if word in _PASS else FAIL
    denied = next((p for p in ("not ", "non ", "does not ") if word.startswith(p)), "")
    return FAIL if denied and word.removeprefix(denied) in _PASS else ""


@dataclass(frozen=True, kw_only=True)
class Words:
    """What the words of one column mean as pass and fail.

    Attributes
    ----------
    meanings : mapping of word to meaning
        ``pass``, ``fail``, or why there is no verdict.
    unknown : mapping of word to int
        Words that are not understood, with the rows that hold them.
    n_verdicts : int
        Rows that hold pass or fail.
    """

    meanings: Mapping[str, str]
    unknown: Mapping[str, int]
    n_verdicts: int

    @property
    def verdicts(self) -> dict[str, str]:
        """Words that are a verdict."""
        return {w: m for w, m in self.meanings.items() if m in {PASS, FAIL}}

    @property
    def is_binary(self) -> bool:
        """Whether words say pass or fail, in more rows than hold scores."""
        scores = sum(
            n
            for w, n in self.unknown.items()
            if _is_number(normalised(w)) and normalised(w) not in {"-1", "0", "1"}
        )
        return self.n_verdicts > scores


def pass_fail_words(counts: Mapping[str, int], stated: Mapping[str, str] | None = None) -> Words:
    """Look up each word of a column as pass, fail or no verdict.

    Parameters
    ----------
    counts : mapping of word to int
        The rows that hold each.
    stated : mapping of word to meaning, optional
        As `stated_words` makes it; it takes precedence over the vocabulary.

    Returns
    -------
    Words

    Examples
    --------
    >>> found = pass_fail_words({"Passed": 3, "no": 1, "error: timeout": 1, "mostly": 2})
    >>> dict(found.meanings), dict(found.unknown)
    ({'Passed': 'pass', 'no': 'fail', 'error: timeout': 'error'}, {'mostly': 2})
    >>> pass_fail_words({"P": 3, "F": 1}).verdicts
    {'P': 'pass', 'F': 'fail'}
    >>> dict(pass_fail_words({"1": 3, "0": 1, "maybe": 1}).unknown)
    {'maybe': 1}
    """
    meanings = {w: stated_meaning(w, stated) or status_word(w) or verdict_word(w) for w in counts}
    rest = {normalised(w) for w, meaning in meanings.items() if not meaning}
    if not any(verdict_word(w) for w in counts if not stated_meaning(w, stated)):
        pair = next((p for p in _CLOSED if rest <= set(p) or _is_pair_among(rest, p)), None)
        if pair and rest and (len(rest) >= 2 or rest <= _ALONE):
            code = {pair[0]: PASS, pair[1]: FAIL}
            meanings |= {w: code.get(normalised(w), "") for w, m in meanings.items() if not m}
    return Words(
        meanings={w: m for w, m in meanings.items() if m},
        unknown={w: counts[w] for w, m in meanings.items() if not m},
        n_verdicts=sum(counts[w] for w, m in meanings.items() if m in {PASS, FAIL}),
    )


def _is_pair_among(words: Set[str], pair: tuple[str, str]) -> bool:
    """Whether both of a pair are among a few words, which are not letters, numbers or outcomes."""
    others = words - set(pair)
    return (
        set(pair) <= words
        and len(others) <= _FEW
        and all(1 < len(w) <= _SHORT and not _is_number(w) for w in others)
        and not others & _OUTCOMES
    )


def stated_words(given: Mapping[str, str], side: str = "") -> dict[str, str]:
    """What was said of words (``--values``), by the words as written and as they are looked up.

    Parameters
    ----------
    given : mapping of word to meaning
        A word may begin with ``label:`` or ``verdict:``, which narrows it to one side. ``>=4`` and
        ``<4`` stand for numbers.
    side : {"label", "verdict"}
        Whose words are asked for; empty for all, whatever the side.

    Examples
    --------
    >>> stated_words({"P": "pass", "label:X": "fail"}, "verdict")
    {'p': 'pass', 'P': 'pass'}
    """
    own: dict[str, str] = {}
    for key, meaning in given.items():
        of, word = _side(key)
        if not of or not side or of == side:
            own |= {normalised(word): meaning} if word.strip()[:1] not in _SIGNS else {}
            own[word.strip()] = meaning
    return own


def stated_meaning(word: str, stated: Mapping[str, str] | None) -> str:
    """The stated meaning of a word; empty if none was stated.

    Examples
    --------
    >>> stated_meaning("4.5", {">=4": "pass", "<4": "fail"})
    'pass'
    """
    if not stated:
        return ""
    ranges = (m for key, m in stated.items() if _is_in_range(word, key))
    return stated.get(word.strip()) or stated.get(normalised(word)) or next(ranges, "")


def _is_in_range(word: str, key: str) -> bool:
    """Whether a number is one of those that ``>=4`` or ``<4`` stands for."""
    sign = key[: 1 + key[1:].startswith("=")]
    bound = key[len(sign) :]
    numbers = sign in _SIGNS and _is_number(bound) and _is_number(word)
    return numbers and bool(_SIGNS[sign](float(word), float(bound)))


_SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


def _side(key: str) -> tuple[str, str]:
    side, mark, word = key.partition(":")
    named = mark and side.strip() in {"label", "verdict"}
    return (side.strip(), word) if named and word.strip() else ("", key)


def check_values(given: Mapping[str, str]) -> None:
    """Refuse a meaning that no word can have.

    Raises
    ------
    InputError
    """
    for word, meaning in given.items():
        if meaning in MEANINGS or _is_number(meaning):
            continue
        raise InputError(
            f"--values: {printable(word, one_line=True)!r} cannot mean {meaning[:40]!r}. A word "
            f"means one of {', '.join(MEANINGS)}, or a number.{nearest(meaning, MEANINGS)} Write "
            "for example --values 'P=pass,F=fail'."
        )
    for side in ("verdict", "label"):
        meanings = set(stated_words(given, side).values()) - set(STATUS_OF)
        kinds = {family(m) for m in meanings}
        if len(kinds) > 1:
            raise InputError(
                f"--values: a column holds either pass and fail, a, b and tie, or numbers; got "
                f"{', '.join(sorted(meanings))}. Say label:WORD or verdict:WORD where judge and "
                "people differ."
            )


def family(meaning: str) -> str:
    """The kind of verdict that a meaning belongs to; empty where it is not a verdict.

    Examples
    --------
    >>> family("fail"), family("tie"), family("3"), family("skip")
    ('pass-fail', 'preference', 'score', '')
    """
    if meaning in {PASS, FAIL}:
        return "pass-fail"
    if meaning in {"a", "b", "tie"}:
        return "preference"
    return "score" if _is_number(meaning) else ""


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text.strip()) is not None


class MeaningError(InputError):
    """Words whose meaning is not known: each of the ways may read them (options by name)."""

    def __init__(
        self, question: str, ways: Iterable[Mapping[str, Any]], *, where: str = "", more: str = ""
    ) -> None:
        self.question, self.ways = question, list(ways)
        super().__init__(f"{where and f'{where}: '}{question}{more}")

    def at(self, where: object) -> MeaningError:
        """The same with where the words are."""
        return MeaningError(self.question, self.ways, where=str(where))


LEVELS = "If all are levels of one scale or categories: --kind category."
POINTS = "For points of a scale: --kind score."
_KINDS = {LEVELS: "category", POINTS: "score"}


def not_understood(
    column: str, unknown: Mapping[str, int], *, beside: str = "", otherwise: str = ""
) -> MeaningError:
    """The refusal of a column with words that are not understood, with the option to type.

    Parameters
    ----------
    column : str
    unknown : mapping of word to int
        The words with their rows.
    beside : str
        What the column also holds, such as `` next to verdicts on pairs``.
    otherwise : str
        Another way on, as a sentence.

    Examples
    --------
    >>> print(not_understood("verdict", {"mostly": 16, "fial": 3}))
    'verdict' holds words that are not understood: 'mostly' (16), 'fial' (3). Say what they mean: --values 'mostly=WHAT,fial=WHAT' (WHAT is pass, fail, skip, unparsed or error). Did 'fial' mean fail?
    """  # noqa: E501
    ordered = sorted(unknown, key=lambda w: (-unknown[w], w))
    listed = [f"{_short(w)!r} ({unknown[w]:,})" for w in ordered[:_SHOWN]]
    more = f" and {len(ordered) - _SHOWN:,} more" if len(ordered) > _SHOWN else ""
    option = values_option(dict.fromkeys(ordered[:_SHOWN], "WHAT"))
    likely = ((w, likely_word(w)) for w in ordered[:_SHOWN])
    guess = next((f" Did {_short(w)!r} mean {m}?" for w, m in likely if m), "")
    told = {w: verdict_word(m) for w in ordered if (m := likely_word(w))}
    rest = [w for w in ordered if w not in told]
    meanings = [dict(zip(rest, pair, strict=True)) for pair in ((PASS, FAIL), (FAIL, PASS))
                ] if len(rest) == 2 else []  # fmt: skip
    if len(rest) == 1:
        meanings = [{rest[0]: m} for m in (PASS, FAIL, "unparsed", "missing", "skip")]
    ways: list[dict[str, Any]] = [{"values": told | own} for own in meanings or [{}] * (not rest)]
    ways += [{"kind": _KINDS[otherwise]}] if otherwise in _KINDS else []
    return MeaningError(
        f"{column!r} holds words that are not understood{beside}: {', '.join(listed)}{more}. Say "
        f"what they mean: {option} (WHAT is pass, fail, skip, unparsed or error)."
        f"{guess}{f' {otherwise}' if otherwise else ''}",
        ways,
    )


def values_option(meanings: Mapping[str, str]) -> str:
    """The option that says what words mean; as JSON where a word holds what separates them.

    Examples
    --------
    >>> print(values_option({"x": "pass", "y": "fail"}))
    --values 'x=pass,y=fail'
    >>> print(values_option({"yes, but": "fail"}))
    --values '{"yes, but": "fail"}'
    """
    shown = {printable(w.strip(), one_line=True): m for w, m in meanings.items()}
    plain = all(w == w.strip(" {") and not set(w) & set(",=") and not _side(w)[0] for w in shown)
    text = ",".join(f"{w}={m}" for w, m in shown.items())
    given = shlex.quote(text if plain else json.dumps(shown, ensure_ascii=False))
    quoted = given if given[0] in "'\"" else f"'{given}'"
    return f"--values={quoted}" if text.startswith("-") and plain else f"--values {quoted}"


def likely_word(word: str) -> str:
    """The word of the vocabulary that a slip of the keys may have meant; it is never taken."""
    import difflib  # only where something is wrong

    word = normalised(word)
    long = [w for w in (*_PASS, *_FAIL) if len(w) > 3]
    close = difflib.get_close_matches(word, sorted(long), n=1, cutoff=0.74)
    return close[0] if close and not word.startswith(("in", "un", "non", "not")) else ""


def _short(word: str) -> str:
    return printable(word.strip()[:40], one_line=True)
