"""Do conditions differ: tests of ranks, means, rates and trends, and the sizes of differences."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
