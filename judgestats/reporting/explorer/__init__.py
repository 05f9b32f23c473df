"""Interactive page of a run: every judgment of it, in one self-contained file."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
"""Public names of `judgestats.reporting.explorer`."""
