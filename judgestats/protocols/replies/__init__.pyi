"""Public names of `judgestats.protocols.replies`."""

from judgestats.lazy import public_names as public_names
from judgestats.protocols.replies.decision import MAX_REPLY_CHARS as MAX_REPLY_CHARS
from judgestats.protocols.replies.decision import READER_VERSION as READER_VERSION
from judgestats.protocols.replies.decision import is_cut as is_cut
from judgestats.protocols.replies.decision import is_withheld as is_withheld
from judgestats.protocols.replies.decision import message_text as message_text
from judgestats.protocols.replies.decision import no_verdict as no_verdict
from judgestats.protocols.replies.decision import read_reply as read_reply
from judgestats.protocols.replies.decision import reply_object as reply_object
from judgestats.protocols.replies.options import LETTERS as LETTERS
from judgestats.protocols.replies.options import OptionForm as OptionForm
from judgestats.protocols.replies.options import PairForm as PairForm
from judgestats.protocols.replies.options import WordForm as WordForm
from judgestats.protocols.replies.prose import strip_reasoning as strip_reasoning
from judgestats.protocols.replies.scores import ScoreForm as ScoreForm
from judgestats.protocols.replies.weighted import log_probability as log_probability
from judgestats.protocols.replies.weighted import pack_reply as pack_reply
from judgestats.protocols.replies.weighted import unpack_reply as unpack_reply
from judgestats.protocols.replies.weighted import weighted_score as weighted_score
