"""How sure is a number: resampling, permutation, families of tests, and what a result is."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
