"""What a request asks of a simulated judge: a score or a choice, of which answers, in what form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgestats.protocols.probes.edits import notes
from judgestats.protocols.probes.protocols import SCALE_WORDS, pair_notes
from judgestats.protocols.template import GUIDELINE, QUESTION, answers_in
from judgestats.simulated.judges import reference_shown

_QUESTION = re.compile(
    re.escape(QUESTION[:-1]) + r"(?: [0-9a-f]{8})?\][ \t]*\n(.*?)(?=\n\n\[|\Z)", re.DOTALL
)
_REFERENCE = re.compile(r"\[Reference answer\][ \t]*\n(.*?)(?=\n{1,2}\[|\Z)", re.DOTALL)
_BLOCK = re.compile(r"\[The Start of ([^\]\n]{1,60})\]\n.*?\n\[The End of \1\]", re.DOTALL)
_MARK = re.compile(r"\[([^\]\n]{1,60}) (begin|end)s\]")
_NO_ANSWER = re.compile(
    r"reference|context|example|judg|evaluation|comparison|crowd|critique|plan|criteri|guideline",
    re.IGNORECASE,
)
_CROWD = re.compile(r"judg|evaluation|comparison|crowd|critique", re.IGNORECASE)
_RANGE = re.compile(
    r"(?:from|between|scale of|scale|range of|score|rating)\D{0,30}?(-?\d{1,4})\b[^\d\n]{0,24}?"
    r"(?:-|\u2013|to|and)[^\d\n]{0,4}(-?\d{1,4})\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"step by step|first explain|explain(?:ation)? (?:first|before)|think .{0,20}before|"
    r"begin your evaluation by",
    re.IGNORECASE,
)
_AFTER = re.compile(r"then explain|explain (?:it )?after|explanation after", re.IGNORECASE)
_ORDINAL = re.compile(r"([A-Za-z]|\d{1,3})$")
_TIES = {"tie", "c", "both", "equal", "neither", "draw"}
_WRITTEN = {"plan": "plan", "analysis": "analysis", "aspects": "key points"}
"""Fields of a schema of one field that hold a text instead of a verdict."""
_WRITE = re.compile(r"Reply with the (plan|analysis|key points) only", re.IGNORECASE)
_EXPLAINS = re.compile(r"expla|reason|analys|rationale|thought|critique|feedback", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Requested:
    """The content of a request.

    Attributes
    ----------
    kind : {"score", "choice", "text"}
        A text is asked for by a stage that comes before, or after, a verdict.
    answers : tuple of str
        In the order shown; of a text, the judgment that it is about, if any.
    question : str
    low, high : int
        The scale of a score.
    labels : tuple of str
        What a choice may be called, in the order of the answers; a tie, if offered, last.
    tie : bool
        Whether a tie is offered.
    reasoning : {"none", "before", "after"}
    crowd : int
        Other judgments shown.
    guided : bool
        Whether a scoring guideline is given.
    turned : bool
        Whether the lowest number is the best.
    wording : str
        The system message, or nothing.
    note : str
        The variant of a probe whose note is shown, if any; in comparisons its probe.
    named : int
        In comparisons: the place, from 0, of whom the note names.
    fields : mapping or None
        The properties of the reply's JSON schema, in order; None for plain text.
    main : str
        The field that holds the verdict, or the text.
    text : {"", "plan", "analysis", "key points"}
        Which text.
    form : str
        The plain text form of the verdict, with ``{}`` for it.
    tool : str
        The tool to be called; empty if none.
    """

    kind: str
    answers: tuple[str, ...]
    question: str = ""
    low: int = 1
    high: int = 10
    labels: tuple[str, ...] = ()
    tie: bool = False
    reasoning: str = "none"
    crowd: int = 0
    guided: bool = False
    turned: bool = False
    wording: str = ""
    note: str = ""
    named: int = 0
    fields: Mapping[str, Any] | None = None
    main: str = ""
    text: str = ""
    form: str = "Score: [[{}]]"
    tool: str = ""


def read_request(request: Mapping[str, Any], *, schema: bool = True) -> Requested:
    """Read a chat completion request; `schema` says whether the server heeds one.

    Examples
    --------
    >>> text = "Rate from 1 to 5.\\n[The Start of Answer]\\n42\\n[The End of Answer]"
    >>> asked = read_request({"messages": [{"role": "user", "content": text}]})
    >>> asked.kind, asked.low, asked.high, asked.answers
    ('score', 1, 5, ('42',))
    """
    contents = _contents(request.get("messages"))
    marks = {"begin": r"[The Start of \1]", "end": r"[The End of \1]"}
    prompt = _MARK.sub(lambda m: m.expand(marks[m.group(2)]), "\n\n".join(contents))
    wording = contents[0] if len(contents) > 1 else ""
    blocks = answers_in(prompt)
    answers = tuple(text for name, text in blocks if not _NO_ANSWER.search(name))
    crowd = sum(bool(_CROWD.search(name)) for name, _ in blocks)
    match = _QUESTION.search(prompt)
    question = match.group(1).strip() if match else ""
    held_to = _REFERENCE.search(prompt)
    reference = reference_shown(question, held_to.group(1) if held_to else "")
    frame = _BLOCK.sub(" ", prompt)
    if match:
        frame = frame.replace(match.group(1), " ", 1)
    if not answers:
        answers = (prompt,)
    fields, tool = _fields(request, schema=schema)
    wanted = _wanted_text(fields, frame)
    if wanted:
        about = tuple(text for name, text in blocks if _CROWD.search(name))
        return Requested(
            kind="text",
            answers=about[:1],
            question=question,
            fields=fields,
            main=next(iter(fields)) if fields else "",
            text=wanted,
            tool=tool,
        )
    common: dict[str, Any] = {
        "answers": answers,
        "question": question,
        "crowd": crowd,
        "guided": GUIDELINE in frame,
        "wording": wording,
        **_note_in(frame, reference),
    }
    if fields:
        main = _main_field(fields)
        spec = fields[main]
        common |= {
            "fields": fields, "main": main, "tool": tool, "reasoning": _field_order(fields, main),
        }  # fmt: skip
        labels = spec.get("enum")
        if isinstance(labels, list) and labels and not all(isinstance(v, int) for v in labels):
            ordered, tie = _tie_last([str(v) for v in labels], len(answers))
            return Requested(kind="choice", labels=ordered, tie=tie, **common)
        low, high = _bounds(spec, frame)
        return Requested(kind="score", low=low, high=high, turned=_turned(frame), **common)
    return _from_text(frame, common)


def _note_in(frame: str, reference: str) -> dict[str, Any]:
    """The note of a probe, or what it did to the reference."""
    for text, (name, place) in pair_notes().items():
        if text in frame:
            return {"note": name, "named": place}
    return {"note": next((name for text, name in notes().items() if text in frame), reference)}


def last_question(messages: Any) -> str:
    """The question of the last message: what a model is to answer.

    Examples
    --------
    >>> last_question([{"role": "user", "content": "Answer.\\n\\n[Question]\\nWhy?"}])
    'Why?'
    """
    contents = _contents(messages)
    last = contents[-1] if contents else ""
    match = _QUESTION.search(last)
    return (match.group(1) if match else last).strip()


def _contents(messages: Any) -> list[str]:
    if not isinstance(messages, list):
        return []
    texts = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            texts.append(content)
        elif isinstance(content, list):
            texts += [str(p.get("text", "")) for p in content if isinstance(p, dict)]
    return texts


def _fields(request: Mapping[str, Any], *, schema: bool) -> tuple[Mapping[str, Any] | None, str]:
    try:
        if request.get("functions") or request.get("tools"):
            legacy = request.get("functions")
            function = legacy[0] if legacy else request["tools"][0]["function"]
            return function["parameters"]["properties"], str(function["name"])
        if schema and request.get("response_format", {}).get("type") == "json_schema":
            return request["response_format"]["json_schema"]["schema"]["properties"], ""
    except (KeyError, IndexError, TypeError, AttributeError):
        return None, ""  # a malformed schema is answered in plain text, as lenient servers do
    return None, ""


def _wanted_text(fields: Mapping[str, Any] | None, frame: str) -> str:
    """Which text is asked for instead of a verdict; empty if a verdict is."""
    if fields:
        return _WRITTEN.get(next(iter(fields)), "") if len(fields) == 1 else ""
    match = _WRITE.search(frame)
    return match.group(1).lower() if match else ""


def _main_field(fields: Mapping[str, Any]) -> str:
    for name, spec in fields.items():
        if isinstance(spec, dict) and ("enum" in spec or spec.get("type") in {"integer", "number"}):
            return name
    return next((n for n in fields if not _EXPLAINS.search(n)), next(iter(fields)))


def _field_order(fields: Mapping[str, Any], main: str) -> str:
    names = list(fields)
    explaining = [i for i, n in enumerate(names) if n != main and _EXPLAINS.search(n)]
    if not explaining:
        return "none"
    return "before" if explaining[0] < names.index(main) else "after"


def _bounds(spec: Mapping[str, Any], frame: str) -> tuple[int, int]:
    labels = spec.get("enum")
    if isinstance(labels, list) and labels:
        return min(labels), max(labels)
    low, high = spec.get("minimum"), spec.get("maximum")
    if isinstance(low, int | float) and isinstance(high, int | float) and low < high:
        return int(low), int(high)
    return _scale_in(frame)


def _scale_in(frame: str) -> tuple[int, int]:
    for match in _RANGE.finditer(frame):
        low, high = int(match.group(1)), int(match.group(2))
        if low < high:
            return low, high
    return 1, 10


_TURNED = re.compile(r"from -?\d{1,4} \(best\) to -?\d{1,4} \(worst\)")


def _turned(frame: str) -> bool:
    return bool(_TURNED.search(frame))


def _tie_last(labels: Sequence[str], count: int) -> tuple[tuple[str, ...], bool]:
    """The labels in the order of the answers; a tie's label, if there is one more, last."""
    tie = ""
    if len(labels) == count + 1 and count > 1:
        tie = next((x for x in labels if x.strip().lower() in _TIES), labels[-1])
    options = [x for x in labels if x != tie]
    if len({_ORDINAL.sub("", x) for x in options}) == 1 and all(map(_ORDINAL.search, options)):
        options.sort(key=lambda x: (len(x), x))  # A, B, ... or Option 1, Option 2, ...
    return (*options, *([tie] if tie else [])), bool(tie)


def _from_text(frame: str, common: dict[str, Any]) -> Requested:
    if _AFTER.search(frame):
        common["reasoning"] = "after"
    elif _BEFORE.search(frame):
        common["reasoning"] = "before"
    count = max(len(common["answers"]), 2)
    letters = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count])
    if "[[A]]" in frame and "[[B]]" in frame:
        labels = ("A", "B", "C") if "[[C]]" in frame and count == 2 else letters
        return Requested(
            kind="choice", labels=labels, tie=len(labels) > count, form="[[{}]]", **common
        )
    for words in (("correct", "incorrect"), ("pass", "fail"), SCALE_WORDS):
        if all(f"[[{word}]]" in frame for word in words):
            return Requested(kind="choice", labels=words, form="[[{}]]", **common)
    if re.search(r"Selection:\s*Option", frame):
        labels = tuple(f"Option {i + 1}" for i in range(count))
        return Requested(kind="choice", labels=labels, form="Selection: {}", **common)
    if re.search(r"Best Response:\s*\[\[", frame):
        return Requested(kind="choice", labels=letters, form="Best Response: [[{}]]", **common)
    words = ("correct", "incorrect")
    if not _RANGE.search(frame) and all(re.search(rf"\b{word}\b", frame) for word in words):
        return Requested(kind="choice", labels=words, form="{}", **common)
    low, high = _scale_in(frame)
    named = re.search(r"\b(Score|Rating|Grade):\s*(\[\[)?", frame)
    form = "Score: [[{}]]"
    if named:
        form = f"{named.group(1)}: [[{{}}]]" if named.group(2) else f"{named.group(1)}: {{}}"
    return Requested(kind="score", low=low, high=high, turned=_turned(frame), form=form, **common)
