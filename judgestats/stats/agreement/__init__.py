"""Do verdicts agree: with each other, with people, and wherever an option stands."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
