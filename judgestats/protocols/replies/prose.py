"""Replies as prose: phrasings, quotes, and reasoning."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import Any, cast


class _FirstUse:
    """A pattern that is compiled when its first method is called."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)  # from then on as fast as the pattern's own
        return value


def reply_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern of replies, compiled at its first use: most commands read no reply."""
    return cast("re.Pattern[str]", _FirstUse(pattern, flags))


SCORE_LABEL = (
    r"(?:score|rating|grade|评分|得分|分数|打分"
    r"|スコア|評価|点数|得点|採点"
    r"|(?:gesamt|end)?(?:bewertung|note|punktzahl)|puntuación|calificación|nota"
    r"|оценка|балл|الدرجة|التقييم|النتيجة)"
)
FINAL_BEFORE = (
    r"(?:(?:final|overall|total)(?:[ _-](?!score|rating|grade)[a-z]{1,20}){0,2}"
    r"|最终|总|综合|綜合|総合|最終"
    r"|endgültige|gesamt|итогов(?:ая|ый)|общ(?:ая|ий))"
)
FINAL_AFTER = r"(?:finale|globale?|final|total|النهائية?|الإجمالية?)"
VERDICT_LABEL = r"(?:(?:final|overall) )?(?:verdict|winner|choice|judge?ment|decision|preference)"

SEPARATOR = (
    r"(?:\s{0,2}(?:[:=|\uff1a\uff1d]|(?<=[\w)])\s(?:is|ist|est|es)\b|为|是|は"
    r"|[-\u2013\u2014](?=\s))\s{0,2})"
)
BECAUSE = r"(?:because|since|as|due|given|but|over|weil|car|porque)"

REVISION = (
    r"\b(?:no|nope|hm{1,4}|wait|oops|sorry|correction|actually|rather|maybe|perhaps|reconsider\w{0,3}"
    r"|(?:scratch|strike)\sthat|make\s(?:that|it)|i\smeant?|then\sagain"
    r"|typo|edit(?:ed)?|updated?|revised|(?:just\s)?(?:kidding|joking)"
    r"|eher|vielmehr|plutôt|mejor\sdicho|точнее"
    r"|(?:second|further|closer)\s(?:thoughts?|reflection|look|inspection)|reflection"
    r"|or\s(?:maybe|perhaps|rather))[,:;.!\u2026]{0,3}"
)
"""A word after a verdict that takes it back, if another verdict follows."""

WITHDRAWN = reply_pattern(
    r"\s(?:is\s(?:what\b|(?:only\s|just\s)?(?:the\sformat|an?\sexample))"
    # A judge that copies the instruction behind its own verdict has given it.
    r"|if\b(?!(?<=([A-E])\]\]\sif)\s(?:assistant|answer|response)\s\1\sis\sbetter"
    r"[.!\u201d\"']{0,2}\s{0,3}\Z))"
    r"|\s?\((?:just\s|only\s)?an?\sexample"
    rf"|[\s.,;:!()\u2013\u2014-]{{0,4}}(?:(?:but|{REVISION})\s){{0,2}}"
    r"(?:(?:scratch|strike)\sthat\b|(?:just\s)?(?:kidding|joking)\b|not(?=[.!]{0,3}\s{0,3}\Z)"
    r"|(?:ignore|disregard)\s(?:that|this)\b"
    r"|(?:that|this)(?:['\u2019]s|\s(?:is|was|seems|feels|would\sbe))\s(?:\w{1,10}\s){0,2}?too\s"
    r"(?:high|low|generous|harsh|lenient|strict|kind)\b)",
    re.IGNORECASE,
)
"""Right after a verdict: it is taken back, and nothing replaces it."""

NO_LABEL = reply_pattern(
    r"(?:\b(?:max(?:imum)?|min(?:imum)?|highest|lowest|possible|best|perfect|full|average|mean"
    r"|passing|expected|initial|first|draft|preliminary|previous|original|confidence|reference"
    r"|baseline|penalty|error|base|raw|human|f1|expert|annotator|in"
    r"|confidence in (?:this|the|my))|满|最高|最低)[ _-]?\Z",
    re.IGNORECASE,
)
"""Before a label: it is a score, but not the verdict."""

EXAMPLE = reply_pattern(
    r"\b(?:for\s(?:example|instance)|e\.g\."
    r"|(?:example|(?<![^\n])(?:draft|template))(?:\s\w{1,12}){0,3}"
    r"|(?:guide(?:line)?|rubric|instruction|criteri(?:on|a)|prompt|scheme|scale)s?\s(?:says?|said"
    r"|gives?|states?|awards?|assigns?|allows?|reserves?|requires?|asks?\sfor)(?:\san?|\sthe)?"
    r"|(?:not|never|reject)(?=\s)|loser\sis|loser(?=:))"
    r"[ ,:]{0,3}\s{0,3}(?:(?:```|~~~)\w{0,10}\s{0,3})?\Z",
    re.IGNORECASE,
)
"""Right before a mark or an object: it shows a form, or what the verdict is not."""

NEGATION = reply_pattern(
    r"n['\u2019]t\b"
    r"|\b(?:not|cannot|never|nor|than|if|unless|whether|would|could|might|should|below|except"
    r"|although|though|while|whereas|despite"
    r"|at (?:least|most)|instead of"
    r"|argues|argued|den(?:y|ies)|(?<!out )(?<!out a )doubt|false that|(?:hard|difficult) to|wrote"
    r"|asserts|believes|maintains|pretends|states|stated|thinks|wants"
    r"|allegedly|reportedly|supposedly|(?:convince|persuade)s?|told"
    r"|(?:as|according to)(?= (?:the )?(?:\w{1,12} )?"
    r"(?:answer|assistant|author|model|prompt|response|text|user)\b)"
    r"|(?:author|prompt|text|user)s? (?:suggests?|implies|imply|notes?|indicates?)"
    r"|claims|claimed|demands|demanded|insists|instructs|orders|requests|says|asks (?:me|us|for|to)"
    r"|tells (?:me|us)|ignore|ignoring"
    r"|nicht|kein\w{0,2}|nie|wenn|falls|wäre|würde|könnte|mindestens|höchstens"
    r"|ne|pas|jamais|serait|aurait|au moins|nunca|sería|al menos|si"
    r"|не|никогда|если|бы|менее|لا|ليست?|لم|لن|لو|إذا)\b"
    r"|\bno\b(?!,)"
    r"|\b(?:about|around|almost|nearly|approximately|roughly|up to|above|over|under|close to"
    r"|more|less|fewer)(?= (?:an? |the )?\d)"
    r"|[不没未非]|如果|假如|至少|最多|低于|高于|除非|[扣减加](?=\d)|满分|ない|もし|なら",
    re.IGNORECASE,
)

CONCLUSION = reply_pattern(r"\b(?:overall|therefore|thus|in conclusion)\b", re.IGNORECASE)

_JUDGING = (
    r"(?:rate|score|judge|evaluate|compare|help|assist|answer|assess|grade|comply|choose|select"
    r"|decide|respond|engage|(?:provide|give|offer|assign)\s(?:an?|any|the|you)\s(?:\w{1,15}\s)?"
    r"(?:rating|score|verdict|evaluation|assessment|judge?ment|grade|answer|comparison|choice))"
)
_GAP = r"(?:[\w,]{1,15}\s){0,3}"
_REFUSAL = reply_pattern(
    rf"\b(?:i|we)(?:\s|['\u2019]m\s|\sam\s){_GAP}?(?:cannot|can(?:['\u2019]t|\snot)"
    rf"|won['\u2019]t|will\snot|(?:not\sable|unable|unwilling)\sto|decline\sto|refuse\sto)\s"
    rf"(?:\w{{2,15}}ly\s)?{_JUDGING}\b"
    # zh, ja
    r"|(?:我|抱歉|对不起)[^\u3002\n]{0,6}?(?:无法|不能|不便|拒绝)[^\u3002\n]{0,20}?"
    r"(?:评|打分|判断|比较|帮助|回答|提供)"
    r"|(?:評価|採点|判断|判定|比較|回答|お答え|お手伝い)[^\u3002\n]{0,12}?"
    r"(?:できません|できかねます|いたしかねます)"
    # de, fr, es
    r"|\b(?:(?:kann|möchte|werde)\sich|ich\s(?:kann|möchte|werde))\s(?:[\w,]{1,20}\s){0,6}?nicht\s"
    r"(?:be(?:werten|urteilen|antworten)|vergleichen|helfen|beurteilen)"
    r"|\bje\s(?:ne\s(?:peux|puis|suis)\s(?:pas\s)?(?:en\smesure\s(?:de\s|d['\u2019]))?"
    r"|refuse\s(?:de\s|d['\u2019]))"
    r"(?:évaluer|noter|juger|comparer|aider|vous\saider|répondre)"
    r"|\b(?:no\spuedo|no\sme\ses\sposible|me\sniego\sa)\s"
    r"(?:evaluar|calificar|puntuar|juzgar|comparar|ayudar|responder)"
    # ar, ru
    r"|(?:لا\s(?:أستطيع|يمكنني)|لن)\s(?:\w{1,12}\s)?"
    r"(?:تقييم|أقيم|التقييم|مقارنة|مساعدة|الإجابة)"
    r"|(?:не\sмогу|отказываюсь)\s(?:\w{1,15}\s)?"
    r"(?:оценить|оценивать|судить|сравнить|помочь|ответить)",
    re.IGNORECASE,
)
_BEGINNING = 400


def declines(text: str) -> bool:
    """Whether a reply begins by declining to judge.

    Examples
    --------
    >>> declines("I'm sorry, but I can't assist with that request.")
    True
    >>> declines("I cannot find any error in this response.")
    False
    """
    return bool(_REFUSAL.search(text[:_BEGINNING]))


HIDDEN = "\u2026"
"""Marks the position of quoted text."""

_FENCE = reply_pattern(r"```|~~~")
_FENCE_HEAD = reply_pattern(
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
_QUOTE = reply_pattern(f'["{_OPEN_QUOTES}\u201d\u00bb\u300d\u300f]')
_SINGLE = reply_pattern(
    r"(?<!\w)(?:'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){2,300}'(?!\w)"
    r"|\u2018(?:[^\u2019\n]|(?<=\w)\u2019(?=\w)){2,300}\u2019(?!\w))"
)
_CODE = reply_pattern(r"`([^`\n]{1,300})`")
_LITERAL = reply_pattern(
    r"(?<!boxed)(?<!text)\{\s{0,3}[\"'\u201c\u201d]?\w{1,40}[\"'\u201c\u201d]?\s?:"
)
_EMPHASIS = reply_pattern(r"(?<!\w)[*_]{1,3}|[*_]{1,3}(?!\w)")
_STRUCK = reply_pattern(r"~~[^~\n]{1,300}~~")
_HEADING = reply_pattern(r"(?m)^#{1,6} ?")
_BLOCK_QUOTE = reply_pattern(r"(?m)^ ?>.*$")
_BOUNDARY = reply_pattern(
    r"[.!?;\u061f\u061b](?=[\s\"')\]*]|$)|[\u3002\uff01\uff1f\uff1b]|\n"
    r"|, ?(?=(?:so|but|therefore|thus|hence)\b)"
)
_QUESTION = reply_pattern(r"[?\uff1f\u061f]")
_ENDING = reply_pattern(r"[.!?\u3002\uff01\uff1f\u061f\n]")


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
    """A text without the fence around all of it.

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
        text = _STRUCK.sub(HIDDEN, _strip_comments(_strip_fences(text)))
        text = re.sub(r"[^\S\n]+", " ", text)
        text = re.sub(r" ?\n ?", "\n", text)
        text = re.sub(r"\n{3,}", "\n\n", text)
        text = _BLOCK_QUOTE.sub(HIDDEN, text)
        text = _strip_literals(text)
        text = _CODE.sub(lambda m: _quoted(m.group(1), m.group(1)), text)
        text = _SINGLE.sub(lambda m: _quoted(m.group()[1:-1], m.group()), _strip_quotes(text))
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
    def _sentence_ends(self) -> list[int]:
        # A full stop inside of a number ends nothing.
        return [
            m.start()
            for m in _ENDING.finditer(self.text)
            if m.group() != "." or not self.text[m.end() : m.end() + 1].isdecimal()
        ]

    def _clause_start(self, place: int) -> int:
        index = bisect_right(self._clauses, place)
        return self._clauses[index - 1] if index else 0

    def _is_in_clause(self, places: list[int], place: int) -> bool:
        index = bisect_left(places, place)
        return bool(index) and places[index - 1] >= self._clause_start(place)

    def is_negated(self, place: int) -> bool:
        """Whether a negation, a comparison or a condition precedes it in its clause."""
        return self._is_in_clause(self._negations, place)

    def is_conclusion(self, place: int) -> bool:
        """Whether its clause says before it that this is the conclusion."""
        return self._is_in_clause(self._conclusions, place)

    def ending(self, place: int) -> int:
        """Where the sentence ends that goes on at a place; the length if it does not."""
        index = bisect_right(self._sentence_ends, place - 1)
        return self._sentence_ends[index] if index < len(self._sentence_ends) else len(self.text)

    def is_question(self, place: int) -> bool:
        """Whether the sentence that goes on at a place is a question."""
        return bool(_QUESTION.match(self.text, self.ending(place)))


def _quoted(inside: str, whole: str) -> str:
    """One word in quotes is a way of writing it; several are somebody's words."""
    return HIDDEN if len(inside.split()) > 1 else whole


def _strip_fences(text: str) -> str:
    parts = _FENCE.split(text)
    return f"\n{HIDDEN}\n".join(parts[::2]) if len(parts) > 1 else text


def _strip_comments(text: str) -> str:
    """What a page would not show; a comment that is never closed hides all that follows."""
    shown, *comments = text.split("<!--")
    return HIDDEN.join([shown, *(c.partition("-->")[2] for c in comments)])


def _strip_literals(text: str) -> str:
    """What looks like an object of some program's language is interpreted as one or not at all."""
    kept, start = [], 0
    for opening in _LITERAL.finditer(text):
        if opening.start() < start:
            continue
        end = text.find("}", opening.end())
        kept.append(text[start : opening.start()])
        start = len(text) if end < 0 else end + 1
    kept.append(text[start:])
    return HIDDEN.join(kept)


def _strip_quotes(text: str) -> str:
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


_NAMES = r"think|thinking|thoughts?|reasoning|reflection|scratchpad|seed:think"
_TAG = reply_pattern(
    rf"<(?P<close>/)?(?P<name>{_NAMES})>"
    r"|\[(?P<close_square>/)?(?P<square>THINK)\]"
    r"|\u25c1(?P<close_triangle>/)?(?P<triangle>think)\u25b7"
    r"|<\|(?P<side>begin|end)_of_(?P<of>thought)\|>"
    r"|<\|(?P<when>START|END)_(?P<caps>THINKING)\|>",
    re.IGNORECASE,
)
_LEFTOVERS = reply_pattern(
    r"<\|(?:START_RESPONSE|END_RESPONSE|begin_of_solution|end_of_solution|return|end|im_end|"
    r"endoftext|eot_id)\|>",
    re.IGNORECASE,
)
_CHANNEL = reply_pattern(r"<\|channel\|>\s{0,3}(\w{1,20})[^<]{0,100}<\|message\|>", re.IGNORECASE)
_CHANNEL_END = reply_pattern(r"<\|(?:end|return|start|channel|call)\|>", re.IGNORECASE)
_ELEMENT = reply_pattern(r"<(answer|response|output)>", re.IGNORECASE)
_ELEMENT_END = reply_pattern(r"</(answer|response|output)>\Z", re.IGNORECASE)
_THOUGHTS = reply_pattern(r"\s{0,100}here is my thought process:", re.IGNORECASE)
_RESPONSE = reply_pattern(r"here is my response:", re.IGNORECASE)


def strip_reasoning(text: str) -> str:
    """What is left of a reply without its reasoning.

    Examples
    --------
    >>> strip_reasoning("<think>a <think>b</think> [[3]]</think> [[8]]")
    '[[8]]'
    >>> strip_reasoning("[[3]]</think>[[8]] <think> no, [[4]]")
    '[[8]]'
    >>> strip_reasoning("<thinking>hm</thinking> So: <answer>[[8]]</answer>")
    '[[8]]'
    """
    text = _last_channel(text)
    text = _LEFTOVERS.sub(" ", _strip_blocks(text)).strip()
    if _THOUGHTS.match(text):
        responses = [r.end() for r in _RESPONSE.finditer(text)]
        text = text[responses[-1] :].strip() if responses else ""
    end = _ELEMENT_END.search(text, max(len(text) - 12, 0))
    if end is not None:
        name = end.group(1).lower()
        inside = [e.end() for e in _ELEMENT.finditer(text) if e.group(1).lower() == name]
        if inside:
            text = text[inside[-1] : end.start()].strip()
    return text


def _last_channel(text: str) -> str:
    """Of a reply in channels, the last one called final; nothing if there is none."""
    if "<|channel|>" in text:
        final = None
        for channel in _CHANNEL.finditer(text):
            if channel.group(1).lower() == "final":
                final = channel
        if final is None:
            return ""
        end = _CHANNEL_END.search(text, final.end())
        return text[final.end() : end.start() if end else len(text)]
    if text.startswith("analysis"):
        return text.rpartition("assistantfinal")[2] if "assistantfinal" in text else ""
    return text


def _strip_blocks(text: str) -> str:
    """Blocks of reasoning taken out, nested or repeated, opened or closed once too often."""
    kept: list[str] = []
    stack: list[str] = []
    depth: dict[str, int] = {}
    start = 0
    for tag in _TAG.finditer(text):
        name, closes = _tag(tag)
        if not stack:
            if closes:
                kept.clear()  # the template had opened it: all before was reasoning
                start = tag.end()
                continue
            kept.append(text[start : tag.start()])
        if not closes:
            stack.append(name)
            depth[name] = depth.get(name, 0) + 1
        elif depth.get(name):
            while True:
                inner = stack.pop()
                depth[inner] -= 1
                if inner == name:
                    break
            start = tag.end()
    if not stack:
        kept.append(text[start:])
    return " ".join(kept)


def _tag(tag: re.Match[str]) -> tuple[str, bool]:
    parts = tag.groupdict()
    name = next(parts[k] for k in ("name", "square", "triangle", "of", "caps") if parts[k])
    closes = any(parts[k] for k in ("close", "close_square", "close_triangle"))
    side = (parts["side"] or parts["when"] or "").lower()
    return f"{tag.group()[0]}{name.lower()}{bool(side)}", closes or side == "end"
