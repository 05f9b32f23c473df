"""What an endpoint turns out to support for a model: asked for the best, taught by its refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from judgestats.judges.outcomes import Outcome, Parameter
from judgestats.judgments.design import Condition
from judgestats.judgments.settings import EXTRA
from judgestats.protocols.base import ReplyMode

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
    if mode is ReplyMode.LOGPROBS:
        return None  # asked for or not at all
    place = _LADDER.index(mode) + 1
    return _LADDER[place] if place < len(_LADDER) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What a request carried that a server may refuse.

    Attributes
    ----------
    mode : ReplyMode
    settings : mapping of field to value
    varied : frozenset of str
        The fields that make the condition what it is: it is invalid where one is refused.
    seed : int or None
    choices : int
    max_tokens_name : str
        What the bound of a reply was called.
    """

    mode: ReplyMode
    settings: Mapping[str, Any] = field(default_factory=dict)
    varied: frozenset[str] = frozenset()
    seed: int | None = None
    choices: int = 1
    max_tokens_name: str = ""

    @property
    def as_kept(self) -> str:
        """The settings that were sent, as the journal and the frame keep them with an answer."""
        sent = {**self.settings, "seed": self.seed}
        return json.dumps({k: v for k, v in sent.items() if v is not None}, separators=(",", ":"))

    def to_json(self) -> str:
        """As text, for the journal of batches."""
        return json.dumps({**asdict(self), "varied": sorted(self.varied)}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Sent:
        """From the journal's text."""
        value = json.loads(text)
        own = {"mode": ReplyMode(value["mode"]), "varied": frozenset(value["varied"])}
        return cls(**{**value, **own})


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
    seed : bool
        Whether a seed is accepted.
    left_out : frozenset of str
        Fields of the request that are refused, and left out where no condition hangs on them.
    max_tokens_name : str
        The parameter's name: newer models refuse ``max_tokens``, older servers know nothing else.
    refused : mapping of (field, value) to str
        What the model refuses of fields that conditions fix, with the server's words. Such a
        condition is invalid; it is never run at the server's default.
    """

    mode: ReplyMode = ReplyMode.JSON_SCHEMA
    proven: bool = False
    several: bool = True
    seed: bool = True
    left_out: frozenset[str] = frozenset()
    max_tokens_name: str = "max_completion_tokens"
    refused: Mapping[tuple[str, Any], str] = field(default_factory=dict)

    def refuses(self, condition: Condition) -> str:
        """The field for which a condition is refused; empty where it is not known to be."""
        return next((n for n, v in condition.request.items() if (n, v) in self.refused), "")

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
        about = subject(outcome, sent)
        if about == "max_tokens" and sent.max_tokens_name == "max_completion_tokens":
            return replace(self, max_tokens_name="max_tokens")
        if about in sent.settings and about in sent.varied:
            refused = {**self.refused, (about, sent.settings[about]): outcome.detail}
            return replace(self, refused=refused)
        if about in sent.settings and about != "max_tokens":
            return replace(self, left_out=self.left_out | {about})
        if about == Parameter.CHOICES and sent.choices > 1:
            return replace(self, several=False)
        if about == Parameter.SEED and sent.seed is not None:
            return replace(self, seed=False)
        # A refusal without a stated reason is tried on the next reply mode too, until a mode is
        # proven: many servers say no more than "bad request" of a schema they do not know.
        format_suspected = about in {Parameter.REPLY_FORMAT, Parameter.UNKNOWN}
        below = next_mode(sent.mode)
        if not format_suspected or below is None or (self.proven and sent.mode is self.mode):
            return None
        if _LADDER.index(self.mode) > _LADDER.index(sent.mode):
            return self  # another request has taught this meanwhile
        return replace(self, mode=below, proven=False)

    def below(self, mode: ReplyMode) -> Abilities:
        """The next reply mode after one that does not serve; the same where there is none."""
        lower = next_mode(mode)
        if lower is None or _LADDER.index(self.mode) > _LADDER.index(mode):
            return self
        return replace(self, mode=lower, proven=False)

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
                "left_out": sorted(self.left_out),
                "max_tokens_name": self.max_tokens_name,
                "refused": [[n, v, words] for (n, v), words in self.refused.items()],
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Abilities:
        """From the journal's text, that of 0.1.0 too."""
        value = json.loads(text)
        earlier = [["temperature", t, w] for t, w in value.get("refused_temperatures", ())]
        left_out = [] if value.get("top_k", True) else ["top_k"]
        return cls(
            mode=ReplyMode(value["mode"]),
            proven=bool(value["proven"]),
            several=bool(value["several"]),
            seed=bool(value["seed"]),
            left_out=frozenset(map(str, value.get("left_out", left_out))),
            max_tokens_name=str(value["max_tokens_name"]),
            refused={(str(n), v): str(w) for n, v, w in value.get("refused", earlier)},
        )


def subject(outcome: Outcome, sent: Sent) -> str:
    """What a refusal is about: as the server says, or the field of ours that its words name."""
    if outcome.about != Parameter.UNKNOWN:
        return outcome.about
    for name in sent.settings:
        if name.startswith(EXTRA) and re.search(
            rf"\b{re.escape(name.rpartition('.')[2])}\b", outcome.detail
        ):
            return name
    return outcome.about
