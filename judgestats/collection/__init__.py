"""Who judges: the client, the simulated judge, the journal, collection under a budget."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
