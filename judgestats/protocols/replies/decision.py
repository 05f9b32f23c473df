"""Decision of a reply's verdict, from its message and form, and JSON in a reply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Any, NoReturn, Protocol

from judgestats.files.text import clean, clean_json, decode_json
from judgestats.protocols.base import Status, Verdict
from judgestats.protocols.replies import prose

_MOST_TRIES = 100
_START = re.compile(r'\{\s{0,100}"')
_WRAPPINGS = ("arguments", "parameters")


class Number(str):
    """A JSON number as it is written: neither rounded nor overflowing."""

    __slots__ = ()


class TangledError(Exception):
    """A text with too many beginnings of objects to be searched for one."""


class Object:
    """A JSON object with all its keys, also repeated ones.

    Examples
    --------
    >>> whole_object('{"Score ": 8, "score": 7}').values("score")
    ['8', '7']
    """

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs

    def values(self, *keys: str) -> list[Any]:
        """All values of some keys, compared without case and outer space."""
        return [v for k, v in self.pairs if k.strip().lower() in keys]

    def text(self, key: str) -> str:
        """The first value of a key if it is a text, else nothing."""
        return next((v for v in self.values(key) if type(v) is str), "")

    def unwrapped(self, keys: Sequence[str], tool: str) -> Object:
        """The object with one of the keys: this one, or the one that a tool call wraps."""
        if self.values(*keys):
            return self
        names = (*_WRAPPINGS, *([tool.lower()] if tool else []))
        inside = [v for name in names for v in self.values(name)]
        if len(inside) != 1:
            return self
        inner = whole_object(inside[0]) if type(inside[0]) is str else inside[0]
        return inner if isinstance(inner, Object) else self


@dataclass(frozen=True)
class PlacedObject:
    """An object and where it stands."""

    value: Object
    start: int
    end: int


def _object(pairs: list[tuple[str, Any]]) -> Object:
    return Object([(clean(key), clean_json(value)) for key, value in pairs])


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# strict=False lets raw line breaks and tabs stand in strings, which changes no meaning.
_DECODER = json.JSONDecoder(
    strict=False,
    object_pairs_hook=_object,
    parse_int=Number,
    parse_float=Number,
    parse_constant=_no_constant,
)


def object_at(text: str, start: int) -> PlacedObject | None:
    """The object that begins at a place of a text, if one does."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):  # no JSON, or nested beyond sense
        return None
    return PlacedObject(value, start, end) if isinstance(value, Object) else None


def whole_object(text: str) -> Object | None:
    """The object that a text is from end to end.

    Examples
    --------
    >>> whole_object('{"score": 1e400}').values("score")
    ['1e400']
    >>> whole_object('{"score": 8,}') is None
    True
    """
    text = text.strip()
    placed = object_at(text, 0) if text.startswith("{") else None
    return placed.value if placed is not None and placed.end == len(text) else None


def objects_with(text: str, keys: Sequence[str], tool: str) -> Iterator[PlacedObject]:
    """All objects of a text, not those inside of others, that have a key asked for.

    Raises
    ------
    TangledError
        After a hundred false beginnings of objects: work stays linear in the length.
    """
    start, tries = 0, 0
    while True:
        beginning = _START.search(text, start)
        if beginning is None:
            return
        placed = object_at(text, beginning.start())
        if placed is None:
            tries += 1
            if tries > _MOST_TRIES:
                raise TangledError
            start = beginning.start() + 1
            continue
        start = placed.end
        inner = placed.value.unwrapped(keys, tool)
        if inner.values(*keys):
            yield PlacedObject(inner, placed.start, placed.end)


class Rank(IntEnum):
    """How much a phrasing says that this is the verdict."""

    DOUBT = -1
    """A label in a clause that takes it back: it decides nothing and can contradict."""
    ASIDE = 0
    """A fraction of some other scale: counts if nothing else does."""
    OTHER = 1
    STATED = 2
    """Prose after "overall" or "therefore"."""
    FINAL = 3
    MARK = 4
    """A closed mark, ``[[8]]``: final, whatever words stand around it."""


class Scope(IntEnum):
    """What a comparison speaks of."""

    OPEN = 0
    PART = 1
    """One respect only: "better in style"."""
    WHOLE = 2


@dataclass(frozen=True, kw_only=True)
class Match:
    """One place of a reply that gives a value, or that tries to.

    Attributes
    ----------
    status : Status
        ``ok``; or what is wrong with the value.
    value : str
    start, end : int
    rank : Rank
    label : bool
        It follows a label and a separator, so that a negation before it leaves a doubt.
    scope : Scope
    shown : str
        Its content, for the reason.
    """

    status: Status
    value: str = ""
    start: int = 0
    end: int = 0
    rank: Rank = Rank.OTHER
    label: bool = False
    scope: Scope = Scope.OPEN
    shown: str = ""

    @property
    def says(self) -> tuple[Status, str]:
        """What must be the same for two readings to agree."""
        return (self.status, self.value)


class Form(Protocol):
    """The form of a verdict: a score, a letter, an option, a word."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The key of the JSON object asked for, and others that may replace it."""

    def value(self, value: Any) -> Match:
        """The reading of a JSON value."""

    def mark(self, inside: str) -> Match | None:
        """The reading of the content of ``[[...]]`` or a box; None for a placeholder."""

    def bare(self, text: str) -> Match | None:
        """The reading of a text that is only the verdict."""

    def readings(self, plain: prose.Plain) -> Iterator[Match]:
        """All other readings of a text."""

    def revised(self, text: str, start: int, end: int) -> Match | None:
        """Another verdict that corrects the one before `start` ("no, 7"), not past `end`."""


_WITHHELD = {
    "content_filter", "refusal", "safety", "prohibited_content", "blocklist", "recitation", "spii",
}  # fmt: skip
_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_TEXT_PARTS = frozenset({"text", "output_text"})
_OURS = "submit_"


def is_withheld(finish_reason: str) -> bool:
    """Whether the judge refused, or its provider withheld the reply.

    Examples
    --------
    >>> is_withheld("SAFETY"), is_withheld("stop")
    (True, False)
    """
    return finish_reason.strip().lower() in _WITHHELD


def is_cut(finish_reason: str) -> bool:
    """Whether the reply ends at a limit of tokens.

    Examples
    --------
    >>> is_cut("max_tokens"), is_cut("")
    (True, False)
    """
    return finish_reason.strip().lower() in _CUT


def is_unusable(text: str, finish_reason: str) -> bool:
    """Whether a reply that is to be taken as a text was withheld, cut, or is too long.

    Examples
    --------
    >>> is_unusable("A plan", "length"), is_unusable("A plan", "stop")
    (True, False)
    """
    return len(text) > MAX_REPLY_CHARS or is_withheld(finish_reason) or is_cut(finish_reason)


def message_text(message: Mapping[str, Any], finish_reason: str = "") -> tuple[str, str]:
    """The text to be read, and the finish reason (``refusal`` where the message is one).

    Parameters
    ----------
    message : mapping
        As it is in a chat completion; anything may be in it.
    finish_reason : str

    Returns
    -------
    tuple of str and str
        The arguments of one call of our tools (``submit_...``), unchanged. Arguments of several
        calls, or those that are not an object, become a JSON list of strings (`calls_in` reads it).
        Without a call it is the content. Reasoning is never part of it.

    Examples
    --------
    >>> message_text({"content": [{"type": "text", "text": "[[8"}, {"type": "text", "text": "]]"}]})
    ('[[8]]', '')
    >>> message_text({"content": None, "refusal": "I would rather not."}, "stop")
    ('I would rather not.', 'refusal')
    """
    refusal = message.get("refusal")
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == "refusal":
            refusal = part.get("refusal") or part.get("text") or "refused"
    if refusal:
        return _as_text(refusal), "refusal"
    arguments = _arguments(message)
    if arguments:
        if len(arguments) == 1 and arguments[0].lstrip().startswith("{"):
            return arguments[0], finish_reason
        return json.dumps(arguments, ensure_ascii=False), finish_reason
    if isinstance(content, str):
        return content, finish_reason
    texts = [
        part.get("text")
        for part in parts
        if isinstance(part, Mapping) and part.get("type", "text") in _TEXT_PARTS
    ]
    return "".join(t for t in texts if isinstance(t, str)), finish_reason


def calls_in(text: str) -> list[str] | None:
    """The arguments of several calls, as `message_text` writes them; None if it is no such text.

    Examples
    --------
    >>> calls_in('["{\\\\"score\\\\": 8}", ""]')
    ['{"score": 8}', '']
    >>> calls_in('["a", 1]') is None
    True
    """
    if not text.startswith('["'):
        return None
    try:
        calls = decode_json(text)
    except ValueError:  # prose that begins with a bracket
        return None
    return calls if all(isinstance(c, str) for c in calls) else None


def _arguments(message: Mapping[str, Any]) -> list[str]:
    calls = message.get("tool_calls")
    listed = calls if isinstance(calls, list) else []
    functions = [c.get("function") for c in listed if isinstance(c, Mapping)]
    functions.append(message.get("function_call"))
    arguments = []
    for function in functions:
        if not isinstance(function, Mapping):
            continue
        name = function.get("name")  # a call without a name can be of no other tool
        if isinstance(name, str) and name and not name.rpartition(".")[2].startswith(_OURS):
            continue  # some proxies write functions.submit_score
        arguments.append(_call_text(function.get("arguments")))
    return arguments


def _call_text(arguments: Any) -> str:
    if isinstance(arguments, str) and arguments.lstrip().startswith('"'):
        try:
            inner = decode_json(arguments)  # encoded once more
        except ValueError:
            return arguments
        return inner if isinstance(inner, str) else arguments
    return "" if arguments is None else _as_text(arguments)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # nothing that came as JSON
        return ""


READER_VERSION = "6"
"""Changes with the rules; verdicts read under another version may differ."""

MAX_REPLY_CHARS = 200_000
"""A longer reply is not read at all: cut, it could say something else."""

_MARK = re.compile(r"\[\[([^\[\]\n]{1,60})\]\]")
_BOX = re.compile(r"\\boxed\s?\{\s?(?:\\text\s?\{|\\mathbf\s?\{)?\s?([^{}\n]{1,40}?)\s?\}")
_FINAL_LABEL = re.compile(prose.FINAL_BEFORE, re.IGNORECASE)
_CACHED_REPLIES = 1024
_SOON = 60
"""How far after a verdict words that take it back are looked for."""
_BEFORE = 60
"""How far before a mark or an object words are looked for that make it an example."""
_TOUCHING = " \n.,/-*_`"


def no_verdict(text: str, finish_reason: str, why: str) -> Verdict:
    """The verdict of a reply that could not be read: refused, truncated or unparseable.

    Examples
    --------
    >>> no_verdict("Score: 1", "length", "").status.value
    'truncated'
    """
    if is_withheld(finish_reason):
        return Verdict(status=Status.REFUSED, reason="the judge refused to answer")
    if is_cut(finish_reason):
        return Verdict(status=Status.TRUNCATED, reason="the reply was cut at the token limit")
    if prose.declines(text):
        return Verdict(status=Status.REFUSED, reason="the reply declines to judge")
    return Verdict(status=Status.UNPARSEABLE, reason=why)


def read_reply(text: str, form: Form, *, tool: str = "", finish_reason: str = "") -> Verdict:
    """Read a reply: total, linear in its length, and never a guess.

    Parameters
    ----------
    text : str
        As `message_text` gives it.
    form : Form
        What was asked for.
    tool : str
        The tool that was asked for, if any: the name may wrap its arguments.
    finish_reason : str
        As the server reported it.

    Returns
    -------
    Verdict
        ``ok`` with the score, or the choice as it was shown; else the status and the reason.

    Examples
    --------
    >>> from judgestats.protocols.replies.options import PairForm
    >>> read_reply("<think>[[B]]</think> [[A]]", PairForm()).choice
    'A'
    >>> read_reply("[[A]] ... on reflection [[B]]", PairForm()).status.value
    'ambiguous'
    """
    if is_withheld(finish_reason):
        return no_verdict(text, finish_reason, "")
    if len(text) > MAX_REPLY_CHARS:
        return Verdict(
            status=Status.UNPARSEABLE,
            reason=f"the reply is longer than {MAX_REPLY_CHARS} characters",
        )
    calls = calls_in(text)
    if calls is not None:
        return _several_calls(calls, form, tool, finish_reason)
    rest = text.strip().lstrip("\ufeff").strip()
    verdict = _object_reply(rest, form, tool, finish_reason)
    if verdict is not None:
        return verdict
    rest = prose.unfenced(prose.plain_characters(prose.strip_reasoning(rest)).strip())
    verdict = _object_reply(rest, form, tool, finish_reason)
    if verdict is not None:
        return verdict
    plain = prose.Plain(rest)
    readings = _readings(plain, form)
    try:
        objects = _placed_objects(rest, form, tool)
    except TangledError:
        return no_verdict("", finish_reason, "the reply is a tangle of unfinished JSON objects")
    reading: Match | None
    if objects:
        finals = [r for r in readings if r.rank >= Rank.STATED or (r.label and r.rank > Rank.DOUBT)]
        last = _revised(_field(objects[-1].value, form), rest, objects[-1].end, form)
        reading = _agreed([*(_field(o.value, form) for o in objects[:-1]), last, *finals])
        explanation = objects[0].value.text("explanation")
    else:
        reading = _decided(readings, plain, cut=is_cut(finish_reason))
        explanation = "" if form.bare(plain.text) else rest
    return _verdict(reading, form, plain.text, finish_reason, explanation=explanation)


def reply_object(text: str, field: str, *, tool: str = "") -> Object | None:
    """The one object with a field that a reply is, or that it begins or ends with or fences.

    Examples
    --------
    >>> reply_object('Here: {"plan": "Check the sum."}', "plan").text("plan")
    'Check the sum.'
    >>> reply_object("no object here", "plan") is None
    True
    """
    if len(text) > MAX_REPLY_CHARS:
        return None
    whole = whole_object(text)
    if whole is None:
        rest = prose.unfenced(prose.strip_reasoning(text.strip()))
        try:
            places = [o.value for o in objects_with(rest, (field,), tool)]
        except TangledError:
            return None
        return places[0] if len(places) == 1 else None
    inner = whole.unwrapped((field,), tool)
    return inner if inner.values(field) else None


def _several_calls(calls: list[str], form: Form, tool: str, finish_reason: str) -> Verdict:
    """Calls of the tool, all of which must read and agree."""
    objects = [whole_object(c) for c in calls]
    readings = [
        Match(status=Status.UNPARSEABLE)
        if o is None
        else _field(o.unwrapped(form.keys, tool), form)
        for o in objects
    ]
    if all(r.status is Status.UNPARSEABLE for r in readings):
        return no_verdict("", finish_reason, "no call of the tool can be read")
    first = next(o for o in objects if o is not None)
    return _verdict(_agreed(readings), form, "", explanation=first.text("explanation"))


def _object_reply(text: str, form: Form, tool: str, finish_reason: str) -> Verdict | None:
    """The verdict of a reply that is an object or tries to be; None where it is something else."""
    if not text.startswith("{"):
        return None
    placed = object_at(text, 0)
    if placed is None:
        cut = is_cut(finish_reason)
        return no_verdict("", finish_reason if cut else "", "the reply's JSON is broken")
    if placed.end < len(text):
        return None
    inner = placed.value.unwrapped(form.keys, tool)
    explanation = inner.text("explanation")
    return _verdict(_field(inner, form), form, explanation, explanation=explanation)


def _field(whole: Object, form: Form) -> Match:
    """The reading of the field asked for; a key that occurs twice settles nothing."""
    values = {key: whole.values(key) for key in form.keys}
    if twice := next((key for key, held in values.items() if len(held) > 1), ""):
        return Match(status=Status.AMBIGUOUS, shown=f"the key {twice!r} twice")
    asked = "|".join(form.keys)
    final = re.compile(
        rf"(?:final|overall|total|adjusted|corrected|revised)[ _-]?(?:{asked})"
        rf"|(?:{asked})[ _-](?:after|final)\w{{0,20}}",
        re.IGNORECASE,
    )
    held = [form.value(v) for found in values.values() for v in found]
    held = [m for m in held if m.status is not Status.UNPARSEABLE] or held[:1]
    if not held and len(form.keys) == 1:
        return Match(status=Status.UNPARSEABLE)
    others = [form.value(v) for k, v in whole.pairs if final.match(k.strip())]
    return _agreed([*held, *others]) if held or others else Match(status=Status.UNPARSEABLE)


def _placed_objects(text: str, form: Form, tool: str) -> list[PlacedObject]:
    """All objects with the field, if one of them begins or ends the text or fills a fence."""
    objects = list(objects_with(text, form.keys, tool))
    inside = [text[start:end].strip() for start, end in prose.fenced_parts(text)] if objects else []
    placed = any(
        o.start == 0 or o.end == len(text) or text[o.start : o.end] in inside for o in objects
    )
    if not placed:
        return []
    shown = [o for o in objects if prose.EXAMPLE.search(text, max(o.start - _BEFORE, 0), o.start)]
    return [o for o in objects if o not in shown]


def _readings(plain: prose.Plain, form: Form) -> list[Match]:
    """All readings of a text that a clause before them does not take back."""
    readings = [_revised(r, plain.text, r.end, form) for r in _marks(plain.text, form)]
    bare = None if readings else form.bare(plain.text)
    if bare is not None:
        return [bare]
    for stated in form.readings(plain):
        if plain.is_question(stated.end):
            continue
        reading = _revised(stated, plain.text, stated.end, form)
        if plain.is_negated(reading.start):
            if reading.label:
                readings.append(replace(reading, rank=Rank.DOUBT))
        elif (
            reading.rank is Rank.OTHER
            and reading.scope is not Scope.PART
            and plain.is_conclusion(reading.start)
        ):
            ending = plain.ending(reading.end)
            readings.append(replace(reading, rank=Rank.STATED, end=ending))
        else:
            readings.append(reading)
    return readings


def _revised(reading: Match, text: str, end: int, form: Form) -> Match:
    """The verdict; ambiguous if the words right after it take it back."""
    if reading.status is not Status.OK:
        return reading
    other = form.revised(text, end, min(end + _SOON, len(text)))
    same = other is None or other.says == reading.says
    if same and not prose.WITHDRAWN.match(text, end):
        return reading
    return replace(reading, status=Status.AMBIGUOUS, value="")


def _marks(text: str, form: Form) -> Iterator[Match]:
    read = lru_cache(_CACHED_REPLIES)(form.mark)  # a reply that says the same over and over
    for pattern in (_MARK, _BOX):
        for match in pattern.finditer(text):
            reading = read(match.group(1))
            if reading is not None:
                shows = prose.EXAMPLE.search(text, max(match.start() - _BEFORE, 0), match.start())
                yield replace(
                    reading,
                    rank=Rank.DOUBT if shows else Rank.MARK,
                    start=match.start(),
                    end=match.end(),
                    shown=match.group()[:40],
                )


def _decided(readings: list[Match], plain: prose.Plain, *, cut: bool) -> Match | None:
    """The reading that the final ones agree on, else all others; None if nothing counts."""
    finals = _drop_earlier_marks(plain.text, [r for r in readings if r.rank >= Rank.STATED])
    if cut:
        whole = len(plain.text.rstrip(_TOUCHING))
        finals = [r for r in finals if r.rank is Rank.MARK or r.end < whole]
        return _agreed(finals) if finals else None
    if finals:
        if all(r.rank is Rank.STATED for r in finals):
            # "B is better. ... Therefore, A is better": which one is the slip is anybody's guess.
            last = max(r.start for r in finals)
            finals += [
                r
                for r in readings
                if r.rank is Rank.OTHER
                and (r.scope is Scope.WHOLE or (r.scope is Scope.PART and r.start > last))
            ]
        return _agreed(finals)
    others = [r for r in readings if r.rank is Rank.OTHER]
    if others:
        if all(r.scope is Scope.PART for r in others) and len({r.says for r in others}) == 1:
            return None  # better in one respect is no verdict
        return _agreed([*others, *(r for r in readings if r.rank is Rank.DOUBT)])
    asides = [r for r in readings if r.rank is Rank.ASIDE]
    return _agreed(asides) if asides else None


def _drop_earlier_marks(text: str, finals: list[Match]) -> list[Match]:
    """Final readings without the marks that precede a last one labelled final."""
    labelled = [r for r in finals if r.label and _FINAL_LABEL.match(text, r.start)]
    if not labelled:
        return finals
    last = max(labelled, key=lambda r: r.start)
    if any(r.start > last.end for r in finals if r.rank is Rank.MARK):
        return finals
    return [r for r in finals if r.rank is not Rank.MARK or r.start >= last.start]


def _agreed(readings: Iterable[Match]) -> Match:
    """What readings say if all of them say the same."""
    says = {r.says: r for r in readings}
    if len(says) == 1:
        return next(iter(says.values()))
    shown = sorted({r.value or r.shown or "something else" for r in says.values()})
    return Match(status=Status.AMBIGUOUS, shown=", ".join(shown)[:100])


def _verdict(
    reading: Match | None, form: Form, text: str, finish_reason: str = "", *, explanation: str = ""
) -> Verdict:
    """A reading as a verdict; what stays unparsed has a status and a reason."""
    if reading is None:
        return no_verdict(text, finish_reason, "no verdict was found in the reply")
    if reading.status is Status.OK:
        if form.keys[0] == "score":
            return Verdict(status=Status.OK, score=float(reading.value), explanation=explanation)
        return Verdict(status=Status.OK, choice=reading.value, explanation=explanation)
    if reading.status is Status.UNPARSEABLE:
        shown = f" ({reading.shown})" if reading.shown else ""
        why = f"the content of the verdict's place is nothing that was asked for{shown}"
        return no_verdict(text, "", why)
    why = {
        Status.OUT_OF_SCALE: "the score is not a whole number of the scale",
        Status.AMBIGUOUS: "the reply says more than one thing",
    }[reading.status]
    return Verdict(
        status=reading.status,
        explanation=explanation,
        reason=f"{why}: {reading.shown}" if reading.shown else why,
    )
