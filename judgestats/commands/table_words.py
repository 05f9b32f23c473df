"""What was said of how a table is to be read, as the readers take it."""

from __future__ import annotations

import json
import shlex
from typing import Any

from judgestats.commands.table import Given
from judgestats.errors import InputError

_LISTS = ("item", "factor", "ignore", "values", "pass", "fail", "explode")


def table_words(arguments: Given) -> dict[str, Any]:
    """What was said, as `judgestats.read_judgments` takes it; wrong values are refused here.

    Raises
    ------
    InputError
    """
    from judgestats.data.readers.options import TableOptions, scale_of

    words: dict[str, Any] = {
        "mapping": _pairs("--map", arguments.map),
        "item": _names(arguments.item),
        "factors": _names(arguments.factor),
        "ignore": _names(arguments.ignore),
        "passes": _names(getattr(arguments, "pass")),
        "explode": _names(arguments.explode),
        "kind": arguments.kind,
        "fails": _names(arguments.fail),
        "values": word_values([*([arguments.codes] if arguments.codes else []), *arguments.values]),
        "scale": scale_of(arguments.scale or None),
        "wide": tuple(arguments.wide),
        "parse": arguments.parse,
        "labels": arguments.labels or None,
        "table": arguments.table,
        "as_shown": arguments.as_shown,
        "judge": arguments.judge,
        "human": arguments.human,
        "judge_rows": arguments.judge_rows,
    }
    TableOptions(**words)  # refuses what does not go together, before any data are read
    return words


def said_again(arguments: Given) -> list[str]:
    """The words that were given, for a command that does the same again."""
    words = [] if arguments.reader == "auto" else [f"--reader {arguments.reader}"]
    for name in ("map", *_LISTS, "wide"):
        words += [f"--{name} {shlex.quote(v)}" for v in getattr(arguments, name)]
    for name in ("kind", "codes", "scale", "parse", "labels", "table", "judge"):
        value = getattr(arguments, name)
        if value:
            words.append(f"--{name} {shlex.quote(value)}")
    for name in ("human", "judge_rows"):
        if value := getattr(arguments, name):
            words.append(f"--{name.replace('_', '-')} {shlex.quote(value)}")
    return [*words, *(["--as-shown"] if arguments.as_shown else [])]


def word_values(given: list[str]) -> dict[str, str]:
    """What was said of words by ``--values``: WORD=MEANING, or a JSON object.

    Raises
    ------
    InputError

    Examples
    --------
    >>> word_values(["P=pass,F=fail", '{"yes, but": "fail"}'])
    {'P': 'pass', 'F': 'fail', 'yes, but': 'fail'}
    """
    from judgestats.data.vocabulary import check_values

    out: dict[str, str] = {}
    for text in given:
        try:
            own = json.loads(text) if text.lstrip().startswith("{") else _pairs("--values", [text])
        except ValueError as error:
            raise InputError(f"--values: {text[:60]!r} is not JSON ({error}).") from None
        twice = next((w for w in own if w in out), "")
        if twice:
            raise InputError(f"--values: {twice!r} is given twice.")
        out |= {str(word): str(meaning) for word, meaning in own.items()}
    check_values(out)
    return out


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(n.strip() for text in given for n in text.split(",") if n.strip())


def _pairs(option: str, given: list[str]) -> dict[str, str]:
    out: dict[str, str] = {}
    example = "--values 'P=pass,F=fail'"
    for text in given:
        for part in text.split(","):
            ours, mark, theirs = part.partition("=")
            if not mark or not ours.strip() or not theirs.strip():
                raise InputError(
                    f"{option}: expected OURS=THEIRS, got {part[:60]!r}. Write for example "
                    f"{'--map score=rating' if option == '--map' else example}."
                )
            if ours.strip() in out:
                raise InputError(f"{option}: {ours.strip()!r} is given twice.")
            out[ours.strip()] = theirs.strip()
    return out
