"""Scores in replies: signs and decimals kept, other scales never rescaled."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from judgestats.protocols.base import Scale, Status
from judgestats.protocols.replies.decision import Match, Number, Rank
from judgestats.protocols.replies.prose import (
    BECAUSE,
    FINAL_AFTER,
    FINAL_BEFORE,
    NO_LABEL,
    REVISION,
    SCORE_LABEL,
    SEPARATOR,
    VERDICT_LABEL,
    Plain,
    plain_characters,
    reply_pattern,
)

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORD = "|".join(_WORDS)
_MINUS = "\u2212\uff0d-"
_POINT = ".,\u066b\uff0e"
# Possessive, and nothing of a longer number, a word, a date or a time may follow.
_NUMBER = (
    rf"(?:(?P<sign>[+\uff0b\u2013\u2014{_MINUS}]?)(?P<digits>\d++(?:[{_POINT}]\d++)?)"
    rf"|(?P<word>{_WORD})\b)(?!(?![分点])[\w+]|[{_POINT}'\u2019:\u00b7\u2044\u2215]\d|[ ]\d)"
)
_TAIL = (
    r"(?:\s?(?P<percent>[%\uff05\u066a])"
    rf"|\s?[/\uff0f]\s?(?P<over>\d++(?:[{_POINT}]\d++)?)(?!\w(?<![分点]))"
    rf"|\s(?:out\sof|von|sur|de|из|من)\s(?P<of>\d++|{_WORD})\b)?"
    r"(?P<unit>\s?(?:[分点]|(?:points?|pts?|Punkten?|Punkte|puntos?|балл"
    r"(?:а|ов)?)\b))?"
    r"(?P<several>[ ]?(?:[-\u2013\u2014~\u301c\uff5e]|,|;|\b(?:to|or|and|bis|oder|und|ou|et|y|o"
    r"|до|или|إلى|أو)\b|[或到至])"
    rf"[ ]?(?:\d|(?:{_WORD})\b))?"
    r"(?!\sand\sa\s(?:half|quarter))"
    # no sum ("10 - 2 = 8") and no change ("9 -> 7")
    r"(?![ ]?(?:[-=\u2013\u2014]{1,2}>|[\u2192\u21d2]"
    rf"|[*x\u00d7\u00f7+=\u2013\u2014{_MINUS}][ ]?\d))"
    r"(?:,?\s?[(\uff08]?on\s(?:a|the)\sscale\s(?:of|from)\s\d++(?:\s\([^()\n]{1,20}\))?\s?(?:to|-|\u2013)\s?"
    r"(?P<scale>\d++)[)\uff09]?)?"
)
_RANGE = (
    r"(?P<between>(?:between|from|zwischen|entre|между)\s\d++\s?"
    r"(?:and|to|und|et|y|и|-)\s?\d++)"
)
_VALUE = rf"(?:{_RANGE}|{_NUMBER}{_TAIL})"
_END = (
    r"(?=\s?(?:$|[\n.,;:!?()\[\]{}|\"'\u201c\u201d\u2018\u2019<*_`$\\\u2026\u3002\uff01\uff1f\uff0c"
    r"\uff1b\uff1a\u3001\uff08\uff09\u3010\u3011\u300c\u300d\u2013\u2014-])"
    rf"|\s(?:{BECAUSE}|and|on|overall)\b|です|とします)"
)
_OPENING = r"[\"'\u201c\u2018(\[\uff08\u3010$\\*_]{0,3}"
_BRACKET = r"(?:\s?[(\[\uff08](?P<bracket>[^()\[\]\uff08\uff09\n]{1,40})[)\]\uff09])"
_LABELLED = reply_pattern(
    rf"(?:(?<![\w\"'\u201d-])|(?<=[\u3040-\u9fff]))(?:"
    rf"(?P<before>{FINAL_BEFORE}[ _-]?)?(?P<label>{SCORE_LABEL})(?P<after>[ _-]{FINAL_AFTER})?"
    rf"|(?P<alone>(?:final|overall|total)|{VERDICT_LABEL}))"
    rf"(?:{_BRACKET}(?:{SEPARATOR}|\s)|{SEPARATOR}){_OPENING}{_VALUE}{_END}",
    re.IGNORECASE,
)
_TAGGED = reply_pattern(
    rf"<(?P<final>(?:final|overall|total)[_-])?(?:score|rating|grade)>\s{{0,2}}{_VALUE}\s{{0,2}}</",
    re.IGNORECASE,
)
# No part of a longer number, a word, a date or a time stands before.
_ALONE = rf"(?:(?<![\w{_POINT}/:\u2013\u2014{_MINUS}])|(?<=[\u3040-\u9fff]))(?<!\d )"
_OTHER_NUMBER = reply_pattern(
    rf"(?:\d|\b(?:{_WORD}))[ ]?(?:[-\u2013\u2014~\u301c,;或到至]"
    r"|\b(?:to|or|and|bis|oder|ou|o|y|et|und)\b)[ ]?\Z",
    re.IGNORECASE,
)
_OUT_OF = reply_pattern(
    rf"{_ALONE}(?=[+{_MINUS}]?\d++\s?/|[+{_MINUS}]?(?:\d++|\w{{3,5}})\s\w)"
    rf"{_NUMBER}{_TAIL}{_END}",
    re.IGNORECASE,
)
_UNIT = reply_pattern(
    rf"{_ALONE}"
    rf"(?=[+{_MINUS}]?\d++[{_POINT}\d]{{0,4}}\s?[分点])"
    rf"{_NUMBER}{_TAIL}{_END}",
    re.IGNORECASE,
)
_FITS = (
    r"\s(?:if\b|(?:is|was|seems|feels|(?:would|might|may|could)\sbe)\s(?:a\s|the\s)?"
    r"(?:(?:more|much|far|perhaps|probably|also)\s)?"
    r"(?:better|best|fairer|right|closer|apt|defensible|possible|enough|(?<=more\s)\w+))"
)
_CORRECTION = reply_pattern(
    r"(?:\b(?:(?:re)?adjust|bump|chang|correct|decreas|increas|lower|rais|reduc|revis|updat)\w{0,4}"
    r"\s(?:\w{1,12}\s){0,3}?to"
    rf"|(?:{REVISION}|\b(?:so|therefore|thus),?)"
    r"(?:\s(?:i|it|that|this|is|should|would|be|get|make|give|go|with|say|think|believe|the|score|of"
    r"|to|now|i['\u2019]d|it['\u2019]s)){0,6}"
    rf")\s(?:an?\s)?{_VALUE}(?:{_END}|{_FITS})",
    re.IGNORECASE,
)
"""Another number soon after a score, as in "9, lowered to 7" or "9. No, 7."."""
_BETTER_NUMBER = reply_pattern(
    rf"(?:[.,;:!?(\u2013\u2014-]|\b(?:although|though|think|believe))\s?(?:an?\s)?{_VALUE}{_FITS}",
    re.IGNORECASE,
)
_CHANGED = reply_pattern(
    r"[\s.,;:(\[\u2013\u2014-]{1,4}"
    r"(?:(?:minus|plus|deduct\w{0,3}|subtract\w{0,3}|penalt\w{1,4})[ (]{1,2}(?:\w{1,12}[ ]){0,3}\d"
    r"|before\s(?:\w{1,12}\s)?(?:penalt|deduct|adjust)|(?:upper|lower)\sbound)"
    r"|\s?[(\[]\s?(?:should\sbe\s|was\s)?\d{1,4}\s?[)\]]",
    re.IGNORECASE,
)
"""Right after a score: something is still to be taken from it, or another one is next to it."""
_COUNTED = reply_pattern(
    r"(?:\b(?:step|date|on|page|part|question|problem|item|chapter|level|himself|herself|themselves"
    r"|itself)[ :]{1,2}"
    r"|\b(?:earlier|previous|prior|former|original|older|first|last|other|another|reference|draft|version)"
    r"\b(?:\s(?!score|rating|grade)\w{1,12}){0,3}(?:\s(?:a|an|the|its|at|of|only|just|about))?\s?"
    r"|\b(?:max(?:imum)?|highest|perfect|typical|average|usual)\b[^.\n]{0,20})\Z",
    re.IGNORECASE,
)
"""Right before a fraction: it counts something else, or is somebody else's score."""
_BEST_MARK = reply_pattern(r"(?:最高|最低|平均)[分点]?(?:[:\uff1a是为は]\s?)?\Z")
_FULL_MARKS = reply_pattern(
    r"(?<!\d)(\d{1,9})\s?[分点][満满][分点]|[満满][分点]\D{0,3}(\d{1,9})(?!\d)"
)
_FIRST_LINE = reply_pattern(rf"\s{{0,3}}{_VALUE}[ .]{{0,3}}\n", re.IGNORECASE)
_NUMERIC = reply_pattern(rf"\d|{_WORD}", re.IGNORECASE)
_UNITS = reply_pattern("[分点]")
_KANA = reply_pattern(r"[\u3040-\u30ff]")
_BARE = reply_pattern(
    rf"[\"'\u201c\u2018(\[*_`$\s]{{0,6}}{_VALUE}[\"'\u201d\u2019)\]*_`$.!\s]{{0,6}}", re.IGNORECASE
)
_INSIDE = reply_pattern(rf"(?:{SCORE_LABEL}{SEPARATOR}|{SCORE_LABEL}\s)?{_VALUE}", re.IGNORECASE)
_WRITTEN = reply_pattern(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
_MOST_DIGITS = 18


@dataclass(frozen=True)
class ScoreForm:
    """A whole number of a scale.

    Attributes
    ----------
    scale : Scale
    stored : bool
        The prompt is not known: decimals and other usual keys are read, too.

    Examples
    --------
    >>> form = ScoreForm(Scale(1, 10))
    >>> form.bare("8 out of 10").value, form.bare("7-8").status.value
    ('8', 'ambiguous')
    >>> form.bare("80%").status.value, form.bare("-7").status.value
    ('out_of_scale', 'out_of_scale')
    """

    scale: Scale
    stored: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of the JSON object asked for, and others that may replace it."""
        return ("score", "rating", "grade") if self.stored else ("score",)

    def value(self, value: Any) -> Match:
        """The reading of a JSON value: a number, or a text that is only a score."""
        if isinstance(value, Number):
            return self._exact(value)
        reading = self.bare(plain_characters(value).strip()) if type(value) is str else None
        return reading or Match(status=Status.UNPARSEABLE)

    def mark(self, inside: str) -> Match | None:
        """The reading of the content of a mark; None for a placeholder."""
        match = _INSIDE.fullmatch(inside.strip())
        if match:
            return self._build_match(match)
        digits = any(c.isdigit() for c in inside)
        return Match(status=Status.UNPARSEABLE) if digits else None

    def bare(self, text: str) -> Match | None:
        """The reading of a text that is only a score."""
        match = _BARE.fullmatch(text)
        return self._build_match(match) if match else None

    def readings(self, plain: Plain) -> Iterator[Match]:
        """Labelled scores, tags, fractions of the scale, and numbers with a unit."""
        text = plain.text
        if not _NUMERIC.search(text):
            return
        ends = [m[1] or m[2] for m in _FULL_MARKS.finditer(text)]
        if not all(map(self._own, ends)):
            yield Match(
                status=Status.OUT_OF_SCALE, rank=Rank.FINAL, shown=f"full marks: {ends[0]}"[:40]
            )
            return
        for match in _LABELLED.finditer(text):
            if NO_LABEL.search(text[max(match.start() - 24, 0) : match.start()]):
                continue
            final = bool(match["before"] or match["after"] or match["alone"])
            rank = Rank.FINAL if final else Rank.OTHER
            yield self._build_match(match, rank=rank, label=True)
        if first := _FIRST_LINE.match(text):  # a model that went on with the prompt by itself
            yield self._build_match(first, rank=Rank.DOUBT)
        for match in _TAGGED.finditer(text):
            yield self._build_match(match, rank=Rank.FINAL if match["final"] else Rank.OTHER)
        for match in _OUT_OF.finditer(text):
            high = match["over"] or match["of"]
            if high and not _COUNTED.search(text, max(match.start() - 40, 0), match.start()):
                rank = Rank.OTHER if self._own(high) else Rank.ASIDE
                yield self._check_preceding(text, self._build_match(match, rank=rank))
        if not _UNITS.search(text):
            return
        minutes = bool(_KANA.search(text))  # in Japanese, 3分 is three minutes
        for match in _UNIT.finditer(text):
            before = text[max(match.start() - 4, 0) : match.start()]
            if _BEST_MARK.search(before):
                continue
            if match["unit"] and not (minutes and "分" in match["unit"]):
                yield self._check_preceding(text, self._build_match(match))

    @staticmethod
    def _check_preceding(text: str, reading: Match) -> Match:
        """A number after another one and a conjunction ("7 or 8/10") is one of several."""
        before = text[max(reading.start - 12, 0) : reading.start]
        return (
            replace(reading, status=Status.AMBIGUOUS, value="")
            if _OTHER_NUMBER.search(before)
            else reading
        )

    def revised(self, text: str, start: int, end: int) -> Match | None:
        """A number that corrects the score before ("lowered to 7", "no, 7", "7 is fairer")."""
        if _CHANGED.match(text, start):
            return Match(status=Status.AMBIGUOUS)
        for pattern in (_CORRECTION, _BETTER_NUMBER):
            if match := pattern.search(text, start, end):
                return self._build_match(match)
        return None

    def _build_match(
        self, match: re.Match[str], *, rank: Rank = Rank.OTHER, label: bool = False
    ) -> Match:
        status, value = self._parse_score(match)
        return Match(
            status=status,
            value=value,
            start=match.start(),
            end=match.end(),
            rank=rank,
            label=label,
            shown=match.group().strip()[:40],
        )

    def _parse_score(self, match: re.Match[str]) -> tuple[Status, str]:
        parts = match.groupdict()
        if parts.get("between") or parts["several"]:
            return Status.AMBIGUOUS, ""
        ends = [parts["over"], parts["of"], parts["scale"], _last_number(parts.get("bracket"))]
        if parts["percent"]:
            ends.append("100")
        if not all(self._own(end) for end in ends if end):
            return Status.OUT_OF_SCALE, ""
        if parts["word"]:
            return self._exact(str(_WORDS.index(parts["word"].lower()))).says
        sign, digits = parts["sign"] or "", parts["digits"]
        if sign in "\u2013\u2014" and sign:  # a dash or a minus: doubtful
            return Status.UNPARSEABLE, ""
        whole, _, decimals = re.sub(f"[{_POINT}]", ".", digits).partition(".")
        if "," in digits and len(decimals) == 3:  # 1,000: a thousand, or one
            return Status.UNPARSEABLE, ""
        minus = "-" if sign and sign in _MINUS else ""
        whole, decimals = _ascii(whole), _ascii(decimals)
        return self._exact(f"{minus}{whole}" + (f".{decimals}" if decimals else "")).says

    def _own(self, end: str) -> bool:
        """Whether a fraction's denominator is the end of this scale."""
        end = str(_WORDS.index(end.lower())) if end.lower() in _WORDS else end
        plain = _ascii(end).lstrip("0") if end.isdecimal() else ""
        return len(plain) <= _MOST_DIGITS and plain != "" and int(plain) == self.scale.high

    def _exact(self, written: str) -> Match:
        """A decimal number as it is written, on the scale or not; nothing is rounded."""
        return _on_scale(self.scale, written, self.stored)


@lru_cache(1024)
def _on_scale(scale: Scale, written: str, decimal: bool) -> Match:
    off = Match(status=Status.OUT_OF_SCALE, shown=written[:40])
    parts = _WRITTEN.fullmatch(written)
    if parts is None:
        return Match(status=Status.UNPARSEABLE)
    minus, whole, decimals, exponent = parts.groups(default="")
    digits = (whole + decimals).lstrip("0")
    if not digits.strip("0"):
        number = 0
    elif len(exponent) > 9:
        return off
    else:
        significant = digits.rstrip("0")
        power = int(exponent or 0) - len(decimals) + len(digits) - len(significant)
        if decimal and power < 0 and -power <= _MOST_DIGITS and len(significant) <= _MOST_DIGITS:
            fraction = Decimal(f"{minus}{significant}e{power}")
            return Match(status=Status.OK, value=f"{fraction:f}") if scale.holds(fraction) else off
        if power < 0 or len(significant) + power > _MOST_DIGITS:
            return off
        number = int(minus + significant) * 10**power
    return Match(status=Status.OK, value=str(number)) if scale.holds(number) else off


def _ascii(digits: str) -> str:
    """Decimal digits of any script as those of ASCII."""
    return digits if digits.isascii() else "".join(str(unicodedata.decimal(c, c)) for c in digits)


def _last_number(bracket: str | None) -> str:
    numbers = re.findall(r"\d+", bracket or "")
    return numbers[-1] if numbers else ""
