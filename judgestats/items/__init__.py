"""What is judged: the item schema, loaders for files and published sets, the bundled bank."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
