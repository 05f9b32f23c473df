"""How a verdict is asked for and read: protocols, prompt texts, reply schemas, parsing."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
