"""What was said: schemas of the judgments frame, its shapes, and readers of files."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
