"""Reading a reply: from untrusted text to a verdict, or to the reason why there is none.

One grammar for scores, letters, options and words. Nothing here raises on a bad reply, takes more
than linear time, or guesses: what is doubtful stays unparsed, with a status.
"""

from judgestats.protocols.replies.decision import (
    MAX_REPLY_CHARS,
    READER_VERSION,
    is_cut,
    is_withheld,
    message_text,
    no_verdict,
    read_reply,
    reply_object,
)
from judgestats.protocols.replies.options import LETTERS, OptionForm, PairForm, WordForm
from judgestats.protocols.replies.prose import strip_reasoning
from judgestats.protocols.replies.scores import ScoreForm
from judgestats.protocols.replies.weighted import (
    log_probability,
    pack_reply,
    unpack_reply,
    weighted_score,
)

__all__ = [
    "LETTERS",
    "MAX_REPLY_CHARS",
    "READER_VERSION",
    "OptionForm",
    "PairForm",
    "ScoreForm",
    "WordForm",
    "pack_reply",
    "log_probability",
    "weighted_score",
    "unpack_reply",
    "is_cut",
    "is_withheld",
    "message_text",
    "no_verdict",
    "read_reply",
    "reply_object",
    "strip_reasoning",
]
