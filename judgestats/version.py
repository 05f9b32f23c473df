"""The version of the package, readable without the rest of it."""

__version__ = "0.3.0"
