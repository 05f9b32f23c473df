"""The version of the package, if nothing else of it need be loaded."""

__version__ = "0.2.0"
