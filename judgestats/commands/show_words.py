"""The words of the command line that say how results are shown; light, for ``--help``."""

from __future__ import annotations

import argparse

__all__ = ["SHOW_HELP", "add_show_words"]

_WORDS = {
    "--full": "print everything that was found, not one screen",
    "--json": "print one JSON document (abstract and results) and nothing else",
}
_BOUNDS = {
    "--min": "mark rows against a bound, as in reliability=.8 (repeat)",
    "--max": "the same for what must not be larger, as in sem=1 (repeat)",
}
SHOW_HELP = (
    "how results are shown:",
    *(f"  {word:<18} {about}" for word, about in _WORDS.items()),
    *(f"  {word + ' ROW=NUMBER':<18} {about}" for word, about in _BOUNDS.items()),
)
"""What a command's own help says of them."""


def add_show_words(parser: argparse.ArgumentParser, *, bounds: bool = True) -> None:
    """Add ``--full``, ``--json``, ``--min`` and ``--max`` to a command that shows results.

    Parameters
    ----------
    parser : ArgumentParser
    bounds : bool
        Whether thresholds can be named.
    """
    for word, about in _WORDS.items():
        parser.add_argument(word, action="store_true", help=about)
    for word, name in (("--min", "at_least"), ("--max", "at_most")) if bounds else ():
        parser.add_argument(
            word, action="append", default=[], dest=name, metavar="ROW=NUMBER", help=_BOUNDS[word]
        )
