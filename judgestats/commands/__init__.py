"""What each subcommand of `judgestats` does; imported only when the subcommand is used."""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
