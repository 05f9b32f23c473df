"""What an endpoint turns out to support for a model: asked for the best, taught by its refusals."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from judgestats.judges.outcomes import Outcome, Parameter
from judgestats.protocols.base import ReplyMode

__all__ = ["Abilities", "Sent", "next_mode"]

_LADDER = (ReplyMode.JSON_SCHEMA, ReplyMode.TOOL, ReplyMode.TEXT)


def next_mode(mode: ReplyMode) -> ReplyMode | None:
    """The next reply mode down the ladder: JSON schema, tool call, plain text.

    Examples
    --------
    >>> next_mode(ReplyMode.JSON_SCHEMA).value
    'tool'
    >>> next_mode(ReplyMode.TEXT) is None
    True
    """
    place = _LADDER.index(mode) + 1
    return _LADDER[place] if place < len(_LADDER) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What a request carried that a server may refuse."""

    mode: ReplyMode
    temperature: float | None
    seed: bool
    choices: int
    max_tokens: str = ""
    top_k: bool = False


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """What is known of one model at one endpoint; kept in the journal, so that a later run agrees.

    Attributes
    ----------
    mode : ReplyMode
        The best reply mode not refused.
    proven : bool
        Whether an answer has come in that mode.
    several : bool
        Whether one request may ask for several choices.
    seed, top_k : bool
        Whether a seed, and ``top_k``, are accepted.
    max_tokens_name : str
        The parameter's name: newer models refuse ``max_tokens``, older servers know nothing else.
    refused_temperatures : mapping of float to str
        Temperatures the model refuses, with the server's words. A condition at such a temperature
        is invalid; it is never run at the server's default.
    """

    mode: ReplyMode = ReplyMode.JSON_SCHEMA
    proven: bool = False
    several: bool = True
    seed: bool = True
    top_k: bool = True
    max_tokens_name: str = "max_completion_tokens"
    refused_temperatures: dict[float, str] = field(default_factory=dict)

    def answered_in(self, mode: ReplyMode) -> Abilities:
        """An answer came in this mode."""
        if self.proven and mode is self.mode:
            return self
        return replace(self, mode=mode, proven=True)

    def taught_by(self, outcome: Outcome, *, sent: Sent) -> Abilities | None:
        """What a refused request teaches; None where asking anew would change nothing.

        Parameters
        ----------
        outcome : Outcome
            Of kind ``bad_request``.
        sent : Sent
            What the refused request carried (others may have taught more meanwhile).
        """
        about = outcome.about
        if about is Parameter.TEMPERATURE and sent.temperature is not None:
            refused = {**self.refused_temperatures, sent.temperature: outcome.detail}
            return replace(self, refused_temperatures=refused)
        if about is Parameter.CHOICES and sent.choices > 1:
            return replace(self, several=False)
        if about is Parameter.SEED and sent.seed:
            return replace(self, seed=False)
        if about is Parameter.TOP_K and sent.top_k:
            return replace(self, top_k=False)
        if about is Parameter.MAX_TOKENS and sent.max_tokens == "max_completion_tokens":
            return replace(self, max_tokens_name="max_tokens")
        # A refusal without a stated reason is tried on the next reply mode too, until a mode is
        # proven: many servers say no more than "bad request" of a schema they do not know.
        format_suspected = about in {Parameter.REPLY_FORMAT, Parameter.UNKNOWN}
        below = next_mode(sent.mode)
        if not format_suspected or below is None or (self.proven and sent.mode is self.mode):
            return None
        if _LADDER.index(self.mode) > _LADDER.index(sent.mode):
            return self  # another request has taught this meanwhile
        return replace(self, mode=below, proven=False)

    def unsettled(self) -> Abilities:
        """Back to the top of the ladder, where no mode down to the last was answered."""
        return self if self.proven else replace(self, mode=_LADDER[0])

    def to_json(self) -> str:
        """As text, for the journal."""
        return json.dumps(
            {
                "mode": self.mode.value,
                "proven": self.proven,
                "several": self.several,
                "seed": self.seed,
                "top_k": self.top_k,
                "max_tokens_name": self.max_tokens_name,
                "refused_temperatures": sorted(self.refused_temperatures.items()),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Abilities:
        """From the journal's text."""
        value = json.loads(text)
        return cls(
            mode=ReplyMode(value["mode"]),
            proven=bool(value["proven"]),
            several=bool(value["several"]),
            seed=bool(value["seed"]),
            top_k=bool(value.get("top_k", True)),  # absent from earlier journals
            max_tokens_name=str(value["max_tokens_name"]),
            refused_temperatures={float(t): str(w) for t, w in value["refused_temperatures"]},
        )
