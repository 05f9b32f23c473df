"""Is the judge accurate, and what would human raters say of all items, given the judge?"""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
