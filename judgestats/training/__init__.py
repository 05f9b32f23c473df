"""Judgments as training data; your own models: fine-tuned, asked, and covered by attention.

What runs a model needs an extra (``judgestats[train]``, ``judgestats[coverage]``) and imports it
only when it is used.
"""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
