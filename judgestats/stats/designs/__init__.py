"""In what shape do judgments come: cells, blocks, groups, counts, matrices, crossed facets."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
