"""Accuracy of a judge, and rates and means of all items corrected by human labels."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
