"""Reading a reply: from untrusted text to a verdict, or to the reason why there is none.

One grammar for scores, letters, options and words. Nothing here raises on a bad reply, takes more
than linear time, or guesses: what is doubtful stays unread, with a status.
"""

from judgestats.protocols.reading.decision import (
    MAX_REPLY_CHARS,
    READER_VERSION,
    no_verdict,
    read_reply,
    reply_object,
)
from judgestats.protocols.reading.message import is_cut, is_withheld, message_text
from judgestats.protocols.reading.options import LETTERS, OptionForm, PairForm, WordForm
from judgestats.protocols.reading.reasoning import without_reasoning
from judgestats.protocols.reading.scores import ScoreForm
from judgestats.protocols.reading.weighted import (
    kept_reply,
    log_probability,
    weighted_score,
    without_logprobs,
)

__all__ = [
    "LETTERS",
    "MAX_REPLY_CHARS",
    "READER_VERSION",
    "OptionForm",
    "PairForm",
    "ScoreForm",
    "WordForm",
    "kept_reply",
    "log_probability",
    "weighted_score",
    "without_logprobs",
    "is_cut",
    "is_withheld",
    "message_text",
    "no_verdict",
    "read_reply",
    "reply_object",
    "without_reasoning",
]
