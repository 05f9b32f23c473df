"""Bounds and an estimate of the tokens of a text, from its length alone."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

_FLOOR_BYTES = 16
"""Bytes of a token, at most, once runs of one character are one."""
_ASCII_BYTES = 4
_OTHER_BYTES = 2
"""Bytes of a token in texts that are mostly ASCII, and in others: for an estimate."""
_CEILING = 64
_UNSEEN = 4_096
_CONTEXT = 2_000_000
"""Tokens of the longest context: reasoning that is billed without being shown stays below."""
FRAME_TOKENS = 400
"""Tokens that providers add to a prompt: the chat's frame, the description of tools."""
_RUN = re.compile(r"(.)\1+", re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class TextSize:
    """The length of what was sent, or of what came back.

    Attributes
    ----------
    characters, bytes : int
        Bytes as UTF-8.
    collapsed : int
        Bytes where every run of one character is one: tokenizers merge long runs.
    ascii : int
        Bytes that are ASCII.
    sent : int
        Of a prompt: bytes with all that is sent along, such as the schema of the reply.

    Examples
    --------
    >>> size = TextSize.of(["fine " * 1000])
    >>> size.floor, size.estimate, size.allows(1250), size.allows(0)
    (313, 1250, True, False)
    """

    characters: int = 0
    bytes: int = 0
    collapsed: int = 0
    ascii: int = 0
    sent: int = 0

    @classmethod
    def of(cls, texts: Iterable[str]) -> TextSize:
        """The size of texts together."""
        whole = "".join(texts)
        return cls(
            characters=len(whole),
            bytes=_bytes(whole),
            collapsed=_bytes(_RUN.sub(r"\1", whole)),
            ascii=sum(map(str.isascii, whole)) if not whole.isascii() else len(whole),
        )

    @classmethod
    def of_prompt(cls, messages: Iterable[Mapping[str, str]], *, sent: int) -> TextSize:
        """The size of a prompt's messages, of which so many bytes are sent."""
        return replace(cls.of(str(message.get("content", "")) for message in messages), sent=sent)

    @property
    def floor(self) -> int:
        """The fewest tokens that an honest server reports."""
        return math.ceil(self.collapsed / _FLOOR_BYTES)

    @property
    def estimate(self) -> int:
        """Tokens to be expected; of a prompt by all that is sent, with the frame of a chat."""
        if self.sent:  # as JSON, which is ASCII
            return math.ceil(self.sent / _ASCII_BYTES) + FRAME_TOKENS
        each = _ASCII_BYTES if 2 * self.ascii >= self.bytes else _OTHER_BYTES
        return math.ceil(self.bytes / each)

    def allows(self, tokens: int) -> bool:
        """Whether so many reported tokens can be."""
        return self.floor <= tokens <= max(_CEILING * self.bytes + _UNSEEN, _CONTEXT)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
