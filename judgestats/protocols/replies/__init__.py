"""Reading a reply: from untrusted text to a verdict, or to the reason why there is none.

One grammar for scores, letters, options and words. Nothing here raises on a bad reply, takes more
than linear time, or guesses: what is doubtful stays unparsed, with a status.
"""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
