"""The words of the command line that say how a table is to be read; light, for ``--help``."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from judgestats.errors import InputError

__all__ = ["add_table_words", "said_again", "table_words"]

_LISTS = {
    "item": "the columns that together name an item, as in question_id,turn",
    "factor": "columns that tell conditions apart",
    "ignore": "columns that have no part in what a judgment is",
    "pass": "the words that are a pass",
    "explode": "columns with lists in their cells",
}


def add_table_words(parser: argparse.ArgumentParser) -> None:
    """Add ``--map``, ``--item``, ``--kind`` and the like to a command that reads a file."""
    parser.add_argument(
        "--reader", default="auto", help="what the file is, where it should not be recognised"
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="OURS=THEIRS",
        help="a column's name, as in score=rating, or a path into nested JSON, as in "
        "score=scores.coherence (repeat, or separate by commas)",
    )
    for name, about in _LISTS.items():
        parser.add_argument(
            f"--{name}", action="append", default=[], metavar="NAME", help=f"{about} (repeat)"
        )
    parser.add_argument(
        "--kind", default="", help="score, pass-fail, preference, choice or category"
    )
    parser.add_argument(
        "--codes", default="", metavar="CODE=a,...", help="what the codes of a preference mean"
    )
    parser.add_argument("--scale", default="", help="lowest-highest score, as in 1-10")
    parser.add_argument(
        "--wide",
        action="append",
        default=[],
        metavar="PATTERNS",
        help="a column a judge, as in 'gpt*,claude*'; or ROLE=PATTERNS (judge, run, criterion, "
        "order, person) (repeat)",
    )
    parser.add_argument(
        "--parse",
        default="",
        metavar="PROTOCOL|REGEX",
        help="read verdicts out of replies: pointwise, pairwise, or a pattern with one group",
    )
    parser.add_argument("--labels", default="", metavar="FILE", help="people's labels, by item")
    parser.add_argument("--table", default="", help="of a database; the sheet of a workbook")
    parser.add_argument(
        "--as-shown", action="store_true", help="preferences name places, not responses"
    )
    parser.add_argument("--judge", default="", help="the judge's name, if no column tells it")


def table_words(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was said, as `judgestats.read_judgments` takes it; wrong values are refused here.

    Raises
    ------
    InputError
    """
    from judgestats.judgments.readers.options import TableOptions

    words: dict[str, Any] = {
        "mapping": _pairs("--map", arguments.map),
        "item": _names(arguments.item),
        "factors": _names(arguments.factor),
        "ignore": _names(arguments.ignore),
        "passes": _names(getattr(arguments, "pass")),
        "explode": _names(arguments.explode),
        "kind": arguments.kind,
        "codes": _pairs("--codes", [arguments.codes] if arguments.codes else []),
        "scale": _scale(arguments.scale),
        "wide": tuple(arguments.wide),
        "parse": arguments.parse,
        "labels": arguments.labels or None,
        "table": arguments.table,
        "as_shown": arguments.as_shown,
        "judge": arguments.judge,
    }
    TableOptions(**words)  # refuses what does not go together, before any data are read
    return words


def said_again(arguments: argparse.Namespace) -> list[str]:
    """The words that were given, for a command that does the same again."""
    words = [] if arguments.reader == "auto" else [f"--reader {arguments.reader}"]
    for name in ("map", *_LISTS, "wide"):
        words += [f"--{name} {shlex.quote(v)}" for v in getattr(arguments, name)]
    for name in ("kind", "codes", "scale", "parse", "labels", "table", "judge"):
        value = getattr(arguments, name)
        if value:
            words.append(f"--{name} {shlex.quote(value)}")
    return [*words, *(["--as-shown"] if arguments.as_shown else [])]


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(n.strip() for text in given for n in text.split(",") if n.strip())


def _pairs(option: str, given: list[str]) -> dict[str, str]:
    out: dict[str, str] = {}
    for text in given:
        for part in text.split(","):
            ours, mark, theirs = part.partition("=")
            if not mark or not ours.strip() or not theirs.strip():
                raise InputError(
                    f"{option}: expected OURS=THEIRS, got {part[:60]!r}. Write for example "
                    f"{'--map score=rating' if option == '--map' else '--codes 0=a,1=b'}."
                )
            if ours.strip() in out:
                raise InputError(f"{option}: {ours.strip()!r} is given twice.")
            out[ours.strip()] = theirs.strip()
    return out


def _scale(given: str) -> tuple[float, float] | None:
    if not given:
        return None
    low, mark, high = given.strip().partition("-")
    try:
        return (float(low), float(high)) if mark else _no_scale(given)
    except ValueError:
        return _no_scale(given)


def _no_scale(given: str) -> tuple[float, float]:
    raise InputError(f"--scale: expected LOWEST-HIGHEST, as in 1-10 or 0-1, got {given[:40]!r}.")
