"""What is judged: one `Item` per question, with the responses people or models gave to it."""

from __future__ import annotations

from dataclasses import dataclass

WINNERS = ("a", "b", "tie")
"""The three outcomes of a pairwise human label: first response, second response, neither."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """One candidate answer.

    Attributes
    ----------
    turns : tuple of str
        The answer to each turn of the question, in order (one entry for a one-turn question).
    author : str
        Who wrote it: a model's or a person's name; empty where unknown.
    quality : float or None
        Designed quality in 0-1 where the item was written with one in mind (the bundled bank).
    traits : tuple of str
        How it was designed, in words (``"padded"``, ``"sycophantic"``), where that is known. Never
        shown to a judge.
    written : tuple of (str, str)
        The answer to the last turn as someone, or a model, wrote it anew: what was done
        (``"translated"``) with the text. For probes that no rule can make.
    """

    turns: tuple[str, ...]
    author: str = ""
    quality: float | None = None
    traits: tuple[str, ...] = ()
    written: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The answer to the last turn: what a single-turn protocol judges."""
        return self.turns[-1]


@dataclass(frozen=True, kw_only=True)
class HumanLabel:
    """One person's preference between two responses of the same item.

    `a` and `b` are indices into ``Item.responses``; `winner` is one of ``WINNERS``; `turn` counts
    from 1.
    """

    annotator: str
    a: int
    b: int
    winner: str
    turn: int = 1


@dataclass(frozen=True, kw_only=True)
class Item:
    """A question and the responses to be judged.

    Attributes
    ----------
    id : str
        Unique within an item set.
    cluster : str
        What items share when they are not independent: the question by default. Every interval and
        test resamples clusters.
    turns : tuple of str
        The user's turns, in order.
    context : str
        Material that belongs to the question (a passage, a table).
    reference : tuple of str
        A reference answer for each turn, where there is one.
    responses : tuple of Response
    category : str
    labels : tuple of HumanLabel
    """

    id: str
    cluster: str
    turns: tuple[str, ...]
    responses: tuple[Response, ...]
    context: str = ""
    reference: tuple[str, ...] = ()
    category: str = ""
    labels: tuple[HumanLabel, ...] = ()

    @property
    def question(self) -> str:
        """The last turn: the question the last answer replies to."""
        return self.turns[-1]
