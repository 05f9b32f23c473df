"""Readers: judgments that people already have, into the one validated frame."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
