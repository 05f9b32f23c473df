"""Key points of explanations, and quoted words of judges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema, Status, Unit, Verdict
from judgestats.protocols.explained import prompted
from judgestats.protocols.replies import (
    MAX_REPLY_CHARS,
    is_cut,
    is_withheld,
    no_verdict,
    reply_object,
    strip_reasoning,
)
from judgestats.protocols.replies.decision import Object
from judgestats.protocols.template import PromptTemplate, framed_text, seal_of

MAX_INSERTED = 8_000
"""Characters of one judgment that a further prompt shows; what is cut is counted."""

_CUT = "\n[... shortened here ...]"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def bounded(text: str, *, limit: int = MAX_INSERTED) -> tuple[str, bool]:
    """A text of at most this many characters (beginning and end are kept), and whether it was cut.

    Examples
    --------
    >>> bounded("short"), bounded("x" * 100, limit=50)[1]
    (('short', False), True)
    """
    text = text.strip()
    if len(text) <= limit:
        return text, False
    room = max(limit - len(_CUT) - 1, 2)
    head = room * 2 // 3
    return f"{text[:head]}{_CUT}\n{text[len(text) - (room - head) :]}", True


def framed(blocks: Iterable[tuple[str, str, str]], *, limit: int = MAX_INSERTED) -> tuple[str, int]:
    """Blocks of (name, our own line above, a judge's text) for a prompt, and how many were cut.

    Examples
    --------
    >>> print(framed([("Judgment 1", "", "B is shorter.")])[0])
    [The Start of Judgment 1]
    B is shorter.
    [The End of Judgment 1]
    """
    blocks = [(name, above, _CONTROL.sub(" ", text)) for name, above, text in blocks]
    seal = seal_of(text for _, _, text in blocks)
    parts, cut = [], 0
    for name, above, text in blocks:
        shown, shortened = bounded(text, limit=limit)
        cut += shortened
        parts.append("\n".join(filter(None, (above, framed_text(name, shown or "(empty)", seal)))))
    return "\n\n".join(parts), cut


_ASPECT = re.compile(r"^\s{0,3}(?:\d{1,3}[.)]|#{1,4}|\*\*)\s*\S", re.MULTILINE)
_POINT = re.compile(r"^\s*[-*\u2022]\s+\S", re.MULTILINE)
_MOST = 1_000


@dataclass(frozen=True, kw_only=True)
class KeyPoints:
    """Ask a model for the aspects and points of an explanation; the score is the number of points.

    Parameters
    ----------
    template : PromptTemplate

    Examples
    --------
    >>> reply = '{"aspects": [{"aspect": "accuracy", "points": ["A is right", "B is wrong"]}]}'
    >>> found = KeyPoints().read_text(ReplyMode.JSON_SCHEMA, reply)
    >>> found.score, found.extra["aspects"]
    (2.0, 1)
    """

    name: ClassVar[str] = "key_points"

    template: PromptTemplate = field(default_factory=lambda: PromptTemplate.bundled("key_points"))

    def units(self, items: object) -> tuple[Unit, ...]:
        """None: points are counted in the explanation of a verdict that was given before."""
        del items
        return ()

    def schema(self) -> ReplySchema:
        """The reply's JSON schema, also the parameters of the tool ``submit_key_points``."""
        aspect: dict[str, Any] = {
            "type": "object",
            "properties": {
                "aspect": {"type": "string"},
                "points": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["aspect", "points"],
            "additionalProperties": False,
        }
        return ReplySchema(
            name="submit_key_points",
            description="Submit the aspects and their key points.",
            schema={
                "type": "object",
                "properties": {"aspects": {"type": "array", "items": aspect}},
                "required": ["aspects"],
                "additionalProperties": False,
            },
        )

    def build_prompt(self, explanation: str, *, limit: int, mode: ReplyMode) -> Prompted:
        """The prompt about one explanation."""
        return self._prompt(mode, framed([("Judgment", "", explanation)], limit=limit)[0])

    def prompt(
        self, unit: Unit, mode: ReplyMode, *, more: Mapping[str, str] | None = None
    ) -> Prompted:
        """The prompt, with the framed explanation as ``more["judgments"]``."""
        del unit  # the explanation says all that is needed
        return self._prompt(mode, (more or {}).get("judgments", ""))

    def _prompt(self, mode: ReplyMode, judgments: str) -> Prompted:
        how = {
            ReplyMode.JSON_SCHEMA: 'Reply as a JSON object with the field "aspects".',
            ReplyMode.TOOL: "Call the tool submit_key_points.",
            ReplyMode.TEXT: "Reply with the key points only: each aspect as a numbered line, each "
            "point under it as a line that begins with a dash.",
        }[mode]
        values = {"judgments": judgments, "reply": how}
        return prompted(self.template, values, mode=mode, schema=self.schema())

    def read(self, unit: Unit, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """The number of points, or the reason why there is none."""
        del unit  # read the same way for every unit
        return self.read_text(mode, text, finish_reason=finish_reason)

    def read_text(self, mode: ReplyMode, text: str, *, finish_reason: str = "") -> Verdict:
        """As `read`, without a unit."""
        del mode  # read the same way in every mode
        if len(text) > MAX_REPLY_CHARS or is_withheld(finish_reason) or is_cut(finish_reason):
            return no_verdict(text, finish_reason, "the reply is too long")
        reply = reply_object(text, "aspects", tool=self.schema().name)
        text = strip_reasoning(text.strip())
        if reply is not None or text.startswith("{"):
            values = reply.values("aspects") if reply is not None else []
            listed = values[0] if len(values) == 1 else None
            if not isinstance(listed, list):
                return no_verdict(text, finish_reason, "the reply's JSON has no list 'aspects'")
            points = [_points(aspect) for aspect in listed[:_MOST]]
            return _point_verdict(sum(points), len(points), text)
        points_said = len(_POINT.findall(text))
        if not points_said:
            return no_verdict(text, finish_reason, "no list of points was found in the reply")
        return _point_verdict(points_said, len(_ASPECT.findall(text)), text)


def _points(aspect: Any) -> int:
    listed = aspect.values("points") if isinstance(aspect, Object) else []
    points = listed[0] if len(listed) == 1 else None
    if not isinstance(points, list):
        return 0
    return len({str(p).strip().lower() for p in points[:_MOST]})


def _point_verdict(points: int, aspects: int, text: str) -> Verdict:
    return Verdict(
        status=Status.OK, score=float(points), explanation=text, extra={"aspects": aspects}
    )
