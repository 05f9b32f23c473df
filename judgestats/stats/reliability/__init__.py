"""How far can a score be repeated: alpha, omega, intraclass correlation."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
