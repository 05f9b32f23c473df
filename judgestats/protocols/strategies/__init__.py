"""Judging strategies: compositions of the same calls that end in one verdict on a pair.

`strategy` makes one by name; `judgestats.data.stages` asks its calls.
"""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
