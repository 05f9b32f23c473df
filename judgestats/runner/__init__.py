"""One experiment from its declared design to its report: the driver of the project."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
