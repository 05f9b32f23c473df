"""The version of the package, where nothing else of it need be loaded."""

__version__ = "0.1.0"
