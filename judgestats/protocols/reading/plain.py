"""A reply as plain prose: spaces evened, and what it quotes taken out of sight."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import cached_property

from judgestats.protocols.reading.words import CONCLUSION, NEGATION

HIDDEN = "\u2026"
"""Stands where quoted text stood."""

_FENCE = re.compile(r"```|~~~")
_FENCE_HEAD = re.compile(
    r"[\w+.-]{0,20}[ \t]{0,20}(?:\r?\n|\Z)|(?:json|yaml|text)\s", re.IGNORECASE
)
_OPEN_QUOTES = "\u201c\u201e\u00ab\u300c\u300e"
_PAIRED = {
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\u300c": "\u300d",
    "\u300e": "\u300f",
}
_QUOTE = re.compile(f'["{_OPEN_QUOTES}\u201d\u00bb\u300d\u300f]')
_SINGLE = re.compile(
    r"(?<!\w)(?:'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){2,300}'(?!\w)"
    r"|\u2018(?:[^\u2019\n]|(?<=\w)\u2019(?=\w)){2,300}\u2019(?!\w))"
)
_CODE = re.compile(r"`([^`\n]{1,300})`")
_LITERAL = re.compile(
    r"(?<!boxed)(?<!text)\{\s{0,3}[\"'\u201c\u201d]?\w{1,40}[\"'\u201c\u201d]?\s?:"
)
_EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}|[*_]{1,3}(?!\w)")
_STRUCK = re.compile(r"~~[^~\n]{1,300}~~")
_HEADING = re.compile(r"(?m)^#{1,6} ?")
_BLOCK_QUOTE = re.compile(r"(?m)^ ?>.*$")
_BOUNDARY = re.compile(
    r"[.!?;\u061f\u061b](?=[\s\"')\]*]|$)|[\u3002\uff01\uff1f\uff1b]|\n"
    r"|, ?(?=(?:so|but|therefore|thus|hence)\b)"
)
_QUESTION = re.compile(r"[?\uff1f\u061f]")
_ENDING = re.compile(r"[.!?\u3002\uff01\uff1f\u061f\n]")


def plain_characters(text: str) -> str:
    """Control characters as spaces, format characters dropped.

    Examples
    --------
    >>> plain_characters("\\u202b[[8]]\\u202c 1\\x000")
    '[[8]] 1 0'
    """
    table: dict[int, str | None] = {}
    for character in set(text):
        category = unicodedata.category(character)
        if category == "Cf":
            table[ord(character)] = None
        elif category == "Cc" and character not in "\n\t":
            table[ord(character)] = " "
    table[0x0D] = "\n" if "\r" in text else " "
    return text.replace("\r\n", "\n").translate(table)


def unfenced(text: str) -> str:
    """A text without the fence around the whole of it.

    Examples
    --------
    >>> unfenced("```yaml\\nscore: 8\\n```")
    'score: 8'
    """
    parts = _FENCE.split(text)
    if len(parts) == 3 and not parts[0].strip() and not parts[2].strip():
        return _FENCE_HEAD.sub("", parts[1], count=1).strip()
    return text


def fenced_parts(text: str) -> list[tuple[int, int]]:
    """Where the insides of a text's fences begin and end, without the language's name."""
    marks = list(_FENCE.finditer(text))
    places = []
    for opening, closing in zip(marks[::2], marks[1::2], strict=False):
        head = _FENCE_HEAD.match(text, opening.end(), closing.start())
        places.append((head.end() if head else opening.end(), closing.start()))
    return places


class Plain:
    """A text to be searched for readings, and its clauses.

    Examples
    --------
    >>> Plain('**Score:**  8, he says "rate it 10/10"').text
    'Score: 8, he says \u2026'
    >>> one = Plain("It is not a 9. Overall, I say 8?")
    >>> one.is_negated(11), one.is_conclusion(24), one.is_question(24)
    (True, True, True)
    """

    def __init__(self, text: str) -> None:
        text = _STRUCK.sub(HIDDEN, _without_comments(_without_fences(text)))
        text = re.sub(r"[^\S\n]+", " ", text)
        text = re.sub(r" ?\n ?", "\n", text)
        text = re.sub(r"\n{3,}", "\n\n", text)
        text = _BLOCK_QUOTE.sub(HIDDEN, text)
        text = _without_literals(text)
        text = _CODE.sub(lambda m: _quoted(m.group(1), m.group(1)), text)
        text = _SINGLE.sub(lambda m: _quoted(m.group()[1:-1], m.group()), _without_quotes(text))
        self.text = _HEADING.sub("", _EMPHASIS.sub("", text)).strip()

    @cached_property
    def _clauses(self) -> list[int]:
        return [m.end() for m in _BOUNDARY.finditer(self.text)]

    @cached_property
    def _negations(self) -> list[int]:
        return [m.start() for m in NEGATION.finditer(self.text)]

    @cached_property
    def _conclusions(self) -> list[int]:
        return [m.start() for m in CONCLUSION.finditer(self.text)]

    @cached_property
    def _endings(self) -> list[int]:
        # A full stop inside of a number ends nothing.
        return [
            m.start()
            for m in _ENDING.finditer(self.text)
            if m.group() != "." or not self.text[m.end() : m.end() + 1].isdecimal()
        ]

    def _clause_start(self, place: int) -> int:
        index = bisect_right(self._clauses, place)
        return self._clauses[index - 1] if index else 0

    def _within(self, places: list[int], place: int) -> bool:
        index = bisect_left(places, place)
        return bool(index) and places[index - 1] >= self._clause_start(place)

    def is_negated(self, place: int) -> bool:
        """Whether a negation, a comparison or a condition stands before it in its clause."""
        return self._within(self._negations, place)

    def is_conclusion(self, place: int) -> bool:
        """Whether its clause says before it that this is the conclusion."""
        return self._within(self._conclusions, place)

    def ending(self, place: int) -> int:
        """Where the sentence ends that goes on at a place; the length if it does not."""
        index = bisect_right(self._endings, place - 1)
        return self._endings[index] if index < len(self._endings) else len(self.text)

    def is_question(self, place: int) -> bool:
        """Whether the sentence that goes on at a place is a question."""
        return bool(_QUESTION.match(self.text, self.ending(place)))


def _quoted(inside: str, whole: str) -> str:
    """One word in quotes is a way of writing it; several are somebody's words."""
    return HIDDEN if len(inside.split()) > 1 else whole


def _without_fences(text: str) -> str:
    parts = _FENCE.split(text)
    return f"\n{HIDDEN}\n".join(parts[::2]) if len(parts) > 1 else text


def _without_comments(text: str) -> str:
    """What a page would not show; a comment that is never closed hides all that follows."""
    shown, *comments = text.split("<!--")
    return HIDDEN.join([shown, *(c.partition("-->")[2] for c in comments)])


def _without_literals(text: str) -> str:
    """What looks like an object of some program's language is read as one or not at all."""
    kept, start = [], 0
    for opening in _LITERAL.finditer(text):
        if opening.start() < start:
            continue
        end = text.find("}", opening.end())
        kept.append(text[start : opening.start()])
        start = len(text) if end < 0 else end + 1
    kept.append(text[start:])
    return HIDDEN.join(kept)


def _without_quotes(text: str) -> str:
    """Quotations of several words hidden; one that is never closed hides all that follows."""
    kept: list[str] = []
    start, opened, closing = 0, -1, ""
    for mark in _QUOTE.finditer(text):
        place, sign = mark.start(), mark.group()
        if opened < 0:
            before, after = text[place - 1 : place], text[place + 1 : place + 2]
            opens = sign in _PAIRED or (
                sign == '"' and not before.isalnum() and bool(after.strip())
            )
            if opens:
                opened, closing = place, _PAIRED.get(sign, '"')
        elif sign in closing:
            inside = text[opened + 1 : place]
            kept.append(text[start:opened])
            kept.append(_quoted(inside, text[opened : place + 1]))
            start, opened = place + 1, -1
    if opened >= 0:
        kept.append(text[start:opened])
        kept.append(_quoted(text[opened + 1 :], text[opened:]))
        start = len(text)
    kept.append(text[start:])
    return "".join(kept)
