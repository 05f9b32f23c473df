"""Letters, options and words on offer, and statements about them in prose."""

from __future__ import annotations

import abc
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from judgestats.protocols.base import Status
from judgestats.protocols.replies import prose
from judgestats.protocols.replies.decision import Match, Rank, Scope

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_UNREAD = Match(status=Status.UNPARSEABLE)
_WHO = r"(?:assistant|response|answer|output|option|model|candidate|choice|system|completion)"
_OPENING = r"[\"'\u201c\u2018(\[*_`$\s]{0,4}"
_CLOSING = r"[\"'\u201d\u2019)\]*_`$.!\s]{0,6}"
_TIE = r"tie|draw|equal"
_SIGN = r"[ ]?(?:>{1,3}|<{1,3}|=|\u226b|\u226a)[ ]?"
_VERY = (
    r"(?:(?:slightly|much|clearly|significantly|marginally|far|somewhat|definitely|overall|the)"
    r"\s){0,2}"
)
_BETTER = r"(?:better|best|superior|stronger|winner|preferable)"
# Not an article ("A thorough answer"), a part of a word ("A-grade") or one of several ("A or B").
_END = (
    r"(?!['\u2019]?\w|[+&/]|-\w|[ ]?[<>=](?!/)|[ ]?,[ ]?[A-Z\d]\b)"
    r"(?=\s?(?:$|[\n.,;:!?()\]|\"'\u201d\u2019*_`$\u3002\uff01\uff0c\u2013\u2014]|</)|\s-\s"
    rf"|\s(?:{prose.BECAUSE}|is\s{_VERY}{_BETTER})\b)"
)
_LABEL = rf"\b(?:{prose.VERDICT_LABEL}|(?:final|overall)(?:\sanswer)?)"
_TAG = r"<(?:verdict|choice|winner)>\s{0,2}"
_BOTH = prose.reply_pattern(
    rf"\bboth\s(?:{_WHO}s?\s)?are\s(?:equal\b(?!\s(?!in\b))|equally\s(?:good|bad|strong|weak|helpful)"
    rf"\b|tied\b)|\b(?:it(?:['\u2019]s|\sis)|this\sis)\sa\s(?:tie|draw)\b(?!\sthat\b)"
    rf"|\bneither\s(?:(?:{_WHO}|one|of\sthem)\s)?is\sbetter\b",
    re.IGNORECASE,
)
_THAN = prose.reply_pattern(
    rf"\sthan\s(?:(?:the|{_WHO})\s){{0,2}}{_OPENING}(?:[a-z]|other)\b", re.IGNORECASE
)

_RELATION = prose.reply_pattern(
    rf"{_OPENING}(?:{_WHO}[ ])?(?P<left>[A-Z])(?P<sign>{_SIGN})(?:{_WHO}[ ])?(?P<right>[A-Z])"
    rf"{_CLOSING}",
    re.IGNORECASE,
)
_RELATION_LINE = prose.reply_pattern(
    r"(?m)^[\"'(*_]{0,3}(?P<left>[A-Z])(?P<sign>" + _SIGN + r")(?P<right>[A-Z])[\"')*_.!]{0,3}$"
)
_BARE_LETTER = prose.reply_pattern(
    rf"{_OPENING}(?:{_WHO}\s{{0,2}}{_OPENING})?(?P<name>[A-Z]|{_TIE}){_CLOSING}", re.IGNORECASE
)
_LABELLED = prose.reply_pattern(
    rf"(?:{_LABEL}{prose.SEPARATOR}|{_TAG}){_OPENING}(?:{_WHO}\s{_OPENING})?"
    rf"(?:(?P<left>[A-Z])(?P<sign>{_SIGN})(?P<right>[A-Z])|(?P<name>[A-Z]|{_TIE}))\b"
    rf"{_CLOSING}(?<![\s]){_END}",
    re.IGNORECASE,
)
_LABELLED_GRADE = prose.reply_pattern(
    rf"\b(?:final|overall)\s(?:grade|rating|score){prose.SEPARATOR}{_OPENING}(?:{_WHO}\s{_OPENING})?"
    rf"(?P<name>[AB])\b{_CLOSING}(?<![\s]){_END}",
    re.IGNORECASE,
)
_NUMBERED = prose.reply_pattern(
    rf"(?P<who>\b{_WHO}[\s_-]{{1,2}}[#(\[\"'*]{{0,3}})(?P<number>[12])(?![\w.,/]?\d|\w)",
    re.IGNORECASE,
)
_OTHER_KEYS = ("winner", "verdict", "preference", "preferred", "better", "best", "selected",
               "selection", "decision", "judgment", "judgement", "answer")  # fmt: skip
_STATED = prose.reply_pattern(
    rf"(?:\b(?i:{_WHO})\s?{_OPENING}(?P<who>[A-Za-z])\b[\"'\u201d\u2019)\]*_`]{{0,3}}"
    rf"|\b(?P<name>[A-Z]))\s(?i:is)\s(?i:{_VERY})(?i:better|superior|winner|preferable)\b"
)
_PREFERRED = prose.reply_pattern(
    rf"\bI\s(?:(?:strongly|slightly|clearly)\s)?prefer\s"
    rf"(?:(?i:{_WHO})\s{_OPENING}(?P<who>[A-Za-z])|(?P<name>[A-Z]))\b{_END}"
)
_REVISED = (
    rf"(?i:{prose.REVISION}|should\sbe)(?:\s(?i:i|it|that|this|is|should|would|be|prefer|think|say|go|with|the|to"
    r"|i['\u2019]d|it['\u2019]s)){0,5}"
    rf"\s{_OPENING}(?:(?i:{_WHO})\s{{0,2}}{_OPENING})?"
)
"""Words that take back the verdict before and lead to another."""
_REVISED_PAIR = prose.reply_pattern(
    rf"{_REVISED}(?P<name>[A-Z]|(?i:{_TIE}))\b(?:\s(?i:is|wins)\b)?{_CLOSING}{_END}"
)
_REPORTED = prose.reply_pattern(
    rf"\bprefers\s(?:(?i:{_WHO})\s{_OPENING}(?P<who>[A-Za-z])|(?P<name>[A-Z]))\b{_END}"
)
"""Somebody else's preference: no verdict, and a doubt about one that differs."""
_FIRST_LETTER = prose.reply_pattern(
    rf"{_OPENING}(?P<name>[A-Z])[\])*_]{{0,4}}(?:[.:,;]\s|\s[\u2013\u2014-]\s)(?=(?i:{prose.REVISION})\s)"
)
_SO = prose.reply_pattern(rf"\b(?:so|hence),?\s(?:(?i:{_WHO})\s{_OPENING})?(?P<name>[A-Z])\b{_END}")
_WORSE = prose.reply_pattern(
    r"[\s.,:;()\u2013\u2014-]{0,4}(?:(?:is|the|clearly|much)\s){0,3}"
    r"(?:worse|worst|weaker|weakest|inferior|poorer|loser|loses|wrong|incorrect)\b",
    re.IGNORECASE,
)
"""Right after a letter: it is not the one that won."""
_PARTLY = prose.reply_pattern(
    r"[\s.,;:()\u2013\u2014-]{1,4}(?:partially|partly|in\spart|mostly)\b", re.IGNORECASE
)
_RESPECT = prose.reply_pattern(
    r"[\"'\u201d\u2019)\]*_`]{0,3},?\s(?:in|at|on|for|with|regarding|when|if|only|than"
    r"|superficially|written|(?!indeed\b)\w{3,15}ed)\b",
    re.IGNORECASE,
)
_BARE_OPTION = prose.reply_pattern(
    rf"{_OPENING}(?:{_WHO}\s{{0,2}}{_OPENING})?(?P<name>[A-Z]|\d{{1,4}}){_CLOSING}", re.IGNORECASE
)
_REVISED_OPTION = prose.reply_pattern(rf"{_REVISED}(?P<name>[A-Z]|\d{{1,4}})(?![\w.,]?\d){_END}")
_CHOSEN = prose.reply_pattern(
    rf"(?:\b(?:best\s(?:response|option|answer)|selection){prose.SEPARATOR}|{_LABEL}{prose.SEPARATOR}|{_TAG})"
    rf"{_OPENING}(?:{_WHO}\s{{0,2}}{_OPENING})?(?P<name>[A-Z]|\d{{1,4}})(?![\w.,]?\d){_END}",
    re.IGNORECASE,
)


class _ChoiceForm(abc.ABC):
    """What letters, options and words have in common: each is interpreted as a text."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of the JSON object asked for, and others that may replace it."""
        return ("choice",)

    def value(self, value: Any) -> Match:
        """The reading of a JSON value: a text that is only the verdict."""
        if type(value) is not str:
            return _UNREAD
        return self.bare(prose.plain_characters(value).strip()) or _UNREAD

    def mark(self, inside: str) -> Match | None:
        """The reading of the content of a mark; None for a placeholder."""
        return self.bare(inside.strip())

    @abc.abstractmethod
    def bare(self, text: str) -> Match | None:
        """The reading of a text that is only the verdict."""


def _build_match(
    match: re.Match[str], value: str, *, rank: Rank, label: bool, scope: Scope = Scope.OPEN
) -> Match:
    """What a match says; without a value it names nothing that is on offer."""
    return Match(
        status=Status.OK if value else Status.UNPARSEABLE,
        value=value,
        start=match.start(),
        end=match.end(),
        shown=match.group().strip()[:40],
        rank=rank,
        label=label,
        scope=scope,
    )


@dataclass(frozen=True)
class PairForm(_ChoiceForm):
    """One of two responses, or a tie where one is on offer.

    Attributes
    ----------
    ties : bool
    stored : bool
        The prompt is not known: responses may be called 1 and 2, and other usual keys are read.

    Examples
    --------
    >>> form = PairForm(ties=True)
    >>> form.mark("B>A").value, form.mark("C").value, form.mark("winner")
    ('B', 'tie', None)
    """

    ties: bool = True
    stored: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of the JSON object asked for, and others that may replace it."""
        return ("choice", *_OTHER_KEYS) if self.stored else ("choice",)

    def _lettered(self, text: str) -> str:
        """A text with letters for the numbers of responses, as long as it was."""
        if not self.stored:
            return text
        return _NUMBERED.sub(lambda m: f"{m['who']}{'AB'[int(m['number']) - 1]}", text)

    def bare(self, text: str) -> Match | None:
        """The reading of a text that is only the verdict."""
        text = self._lettered(text)
        relation = _RELATION.fullmatch(text)
        if relation:
            return self._related(relation)
        named = _BARE_LETTER.fullmatch(text)
        return self._name_match(named["name"], named) if named else None

    def readings(self, plain: prose.Plain) -> Iterator[Match]:
        """Labels, statements that one is better, preferences, relations alone in a line, ties."""
        text = self._lettered(plain.text)
        for match in _LABELLED_GRADE.finditer(text) if self.stored else ():
            yield self._name_match(match["name"], match, rank=Rank.FINAL, label=True)
        for match in _LABELLED.finditer(text):
            yield (
                self._related(match, rank=Rank.FINAL)
                if match["left"]
                else self._name_match(match["name"], match, rank=Rank.FINAL, label=True)
            )
        for match in chain(_STATED.finditer(text), _PREFERRED.finditer(text)):
            name, scope = match["who"] or match["name"], _scope(text, match.end())
            yield self._name_match(name, match, scope=scope)
        for match in _REPORTED.finditer(text):
            yield self._name_match(match["who"] or match["name"], match, rank=Rank.DOUBT)
        for match in _SO.finditer(text):
            yield self._name_match(match["name"], match, rank=Rank.DOUBT)
        if first := _FIRST_LETTER.match(text):  # "A. Wait, B is better."
            yield self._name_match(first["name"], first, rank=Rank.DOUBT)
        for match in _RELATION_LINE.finditer(text):
            yield self._related(match)
        for match in _BOTH.finditer(text):
            yield self._name_match("tie", match, scope=_scope(text, match.end()))

    def revised(self, text: str, start: int, end: int) -> Match | None:
        """A letter that replaces the one before ("no, B"); none where that is worse."""
        if _WORSE.match(text, start):
            return Match(status=Status.AMBIGUOUS)
        match = _REVISED_PAIR.search(self._lettered(text), start, end)
        return self._name_match(match["name"], match) if match else None

    def _name_match(
        self,
        name: str,
        match: re.Match[str],
        *,
        rank: Rank = Rank.OTHER,
        label: bool = False,
        scope: Scope = Scope.OPEN,
    ) -> Match:
        name = name.upper()
        value = name if name in {"A", "B"} else "tie"
        offered = value != "tie" or (self.ties and name in {"C", "TIE", "DRAW", "EQUAL"})
        return _build_match(match, value if offered else "", rank=rank, label=label, scope=scope)

    def _related(self, match: re.Match[str], *, rank: Rank = Rank.OTHER) -> Match:
        left, sign, right = match["left"].upper(), match["sign"].strip(), match["right"].upper()
        if {left, right} != {"A", "B"}:
            return _build_match(match, "", rank=rank, label=False)
        name = "tie" if sign == "=" else left if sign[0] in ">\u226b" else right
        return self._name_match(name, match, rank=rank)


def _scope(text: str, end: int) -> Scope:
    """Whether a comparison goes on with the one respect in which it holds."""
    than = _THAN.match(text, end)
    return Scope.PART if _RESPECT.match(text, than.end() if than else end) else Scope.WHOLE


@dataclass(frozen=True)
class OptionForm(_ChoiceForm):
    """One of several options; the value is its position, counted from 1.

    Examples
    --------
    >>> OptionForm(5).mark("C").value, OptionForm(5).mark("F").status.value
    ('3', 'unparseable')
    >>> OptionForm(15, "numbers").bare("Option 12").value
    '12'
    """

    count: int
    labels: str = "letters"

    def bare(self, text: str) -> Match | None:
        """The reading of a text that is only an option's name."""
        match = _BARE_OPTION.fullmatch(text)
        return self._name_match(match) if match else None

    def readings(self, plain: prose.Plain) -> Iterator[Match]:
        """The forms asked for, ``Best Response: C`` and ``Selection: Option 2``, and labels."""
        for match in _CHOSEN.finditer(plain.text):
            yield self._name_match(match, rank=Rank.FINAL)

    def revised(self, text: str, start: int, end: int) -> Match | None:
        """An option that replaces the one before ("no, option 3")."""
        match = _REVISED_OPTION.search(text, start, end)
        return self._name_match(match) if match else None

    def _name_match(self, match: re.Match[str], *, rank: Rank = Rank.OTHER) -> Match:
        name = match["name"]
        if name.isdecimal():
            place = int(name) if self.labels == "numbers" else 0
        else:
            place = LETTERS.find(name.upper()) + 1 if self.labels == "letters" else 0
        offered = str(place) if 1 <= place <= self.count else ""
        return _build_match(match, offered, rank=rank, label=True)


@dataclass(frozen=True)
class WordForm(_ChoiceForm):
    """One of a few words, such as correct and incorrect.

    Examples
    --------
    >>> form = WordForm(("correct", "incorrect"))
    >>> form.bare("Correct.").value, form.bare("Partially correct.")
    ('correct', None)
    """

    words: tuple[str, ...]

    @property
    def _word(self) -> str:
        return "(?P<name>" + "|".join(map(re.escape, self.words)) + ")"

    def bare(self, text: str) -> Match | None:
        """The reading of a text that is only one of the words."""
        match = re.fullmatch(rf"{_OPENING}{self._word}{_CLOSING}", text, re.IGNORECASE)
        return self._name_match(match, Rank.OTHER) if match else None

    def readings(self, plain: prose.Plain) -> Iterator[Match]:
        """Labels, and statements such as "the answer is correct"."""
        for pattern, rank in (
            (rf"(?:{_LABEL}{prose.SEPARATOR}|{_TAG}){_OPENING}{self._word}\b{_END}", Rank.FINAL),
            (rf"\b(?:answer|response|solution|reply)\sis\s{self._word}\b{_END}", Rank.OTHER),
        ):
            for match in re.finditer(pattern, plain.text, re.IGNORECASE):
                yield self._name_match(match, rank)

    def revised(self, text: str, start: int, end: int) -> Match | None:
        """A word that replaces the one before ("no, incorrect"), or halves it."""
        if _PARTLY.match(text, start):
            return Match(status=Status.AMBIGUOUS)
        pattern = re.compile(rf"{_REVISED}(?i:{self._word})\b{_END}")
        match = pattern.search(text, start, end)
        return self._name_match(match, Rank.OTHER) if match else None

    @staticmethod
    def _name_match(match: re.Match[str], rank: Rank) -> Match:
        return _build_match(match, match["name"].lower(), rank=rank, label=rank is Rank.FINAL)
