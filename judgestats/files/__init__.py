"""Everything from outside is opened here: files under limits, JSON and text made clean."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
