"""Arguments of commands: their declaration, the given values, and the reading of a table.

The commands themselves are declared in `judgestats.commands.declarations`, words are parsed by
`judgestats.commands.parsing` and explained by `judgestats.commands.help`.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, Literal, NamedTuple

from judgestats.errors import InputError
from judgestats.files.text import decode_json

Kind = Literal["text", "whole", "number", "switch", "file", "folder"]


class Option(NamedTuple):
    """One ``--option``; the help lists it under its `group`, common ones first.

    One that is `repeated` comes as a list; `alone` is its value where it is given without one.
    `metavar` stands for its value in the help.
    """

    flag: str
    group: str
    help: str
    kind: Kind = "text"
    default: Any = ""
    choices: tuple[str, ...] = ()
    repeated: bool = False
    required: bool = False
    alone: str = ""
    metavar: str = ""
    common: bool = False

    @property
    def name(self) -> str:
        """Its name in `Args`."""
        return self.flag.removeprefix("--").replace("-", "_")


class Argument(NamedTuple):
    """Positional argument; `many` says how often it may occur."""

    name: str
    help: str
    kind: Kind = "text"
    many: Literal["one", "optional", "any", "some"] = "one"
    default: Any = ""
    metavar: str = ""


class Command(NamedTuple):
    """What a command takes, and the function (``module:function``) that does it.

    One with `actions` takes the name of one of them, and then what that action takes. One that is
    `open` takes words of no declaration too, as `Args.words`; `completes` names the function that
    knows them when a shell asks. One that `explains` itself is given ``--help`` too. `examples` are
    complete commands; `details` are lines between the options and the examples.
    """

    about: str
    runs: str = ""
    words: tuple[Option | Argument, ...] = ()
    examples: tuple[str, ...] = ()
    details: str = ""
    actions: Mapping[str, Command] = MappingProxyType({})
    open: str = ""
    completes: str = ""
    explains: bool = False

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The positional arguments."""
        return tuple(word for word in self.words if isinstance(word, Argument))

    @property
    def options(self) -> tuple[Option, ...]:
        """The options."""
        return tuple(word for word in self.words if isinstance(word, Option))


class Args(SimpleNamespace):
    """What was given to a command: the value of every declared word, by its name."""


def argument_texts(command: Command, args: Args) -> dict[str, str]:
    """Every word of a command as a text, by its name: what a run records, and is compared by.

    Parameters
    ----------
    command : Command
    args : Args

    Returns
    -------
    dict of name to str
        ``default`` if nothing was given; for an existing file its name without the folder.

    Examples
    --------
    >>> words = Argument("file", "A file", kind="file"), Option("--seed", "Statistics", "A seed")
    >>> argument_texts(Command("Do", "x:y", words), Args(file="/data/my.csv", seed=7))
    {'file': 'my.csv', 'seed': '7'}
    """
    out = {}
    for word in command.words:
        value = getattr(args, word.name)
        parts = [str(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
        if word.kind == "file":
            parts = [Path(part).name if Path(part).is_absolute() else part for part in parts]
        text = ", ".join(parts)
        out[word.name] = (text.lower() if isinstance(value, bool) else text) or "default"
    return out


_NAMED = {
    "item": "item", "factors": "factor", "ignore": "ignore", "passes": "pass", "fails": "fail",
    "explode": "explode",
}  # fmt: skip
"""Options of `TableOptions` that are names, by the options of a command that hold them."""
_AS_GIVEN = ("kind", "parse", "table", "as_shown", "judge", "human", "judge_rows")


def table_options(args: Args) -> dict[str, Any]:
    """How a table is read, as `judgestats.read_judgments` takes it; wrong values are refused here.

    Raises
    ------
    InputError
    """
    from judgestats.data.readers.options import TableOptions, scale_of

    options: dict[str, Any] = {
        "mapping": _pairs("--map", args.map),
        **{ours: _names(getattr(args, given)) for ours, given in _NAMED.items()},
        "values": word_values(args.values),
        "scale": scale_of(args.scale or None),
        "labels": args.labels or None,
        **{name: tuple(getattr(args, name)) for name in ("wide", "rows")},
        **{name: getattr(args, name) for name in _AS_GIVEN},
    }
    checked = TableOptions(**options)  # refuses what does not go together, before data are read
    return {name: getattr(checked, name) for name in options}


def reading_options(args: Args) -> dict[str, Any]:
    """The options of `table_options` that were given, for `judgestats.read_judgments`."""
    given = {name: value for name, value in table_options(args).items() if value}
    return given if args.reader == "auto" else {**given, "reader": args.reader}


def check_new(path: Path) -> None:
    """Refuse a file that is there already.

    Parameters
    ----------
    path : Path
        As ``--out`` names it.

    Raises
    ------
    InputError
    """
    if path.exists():
        raise InputError(f"{path} is there already. Name another file by --out.")


def given_options(options: Iterable[Option], args: Args) -> list[str]:
    """The options that were given, as they were, for another command.

    Examples
    --------
    >>> seed, item = Option("--seed", "", "A seed"), Option("--item", "", "Names", repeated=True)
    >>> given_options([seed, item], Args(item=["a b"], seed=""))
    ["--item 'a b'"]
    """
    words = []
    for option in options:
        value = getattr(args, option.name)
        for one in value if option.repeated else [value]:
            if one and str(one) != str(option.default):
                more = "" if option.kind == "switch" else f" {shlex.quote(str(one))}"
                words.append(option.flag + more)
    return words


def word_values(given: list[str]) -> dict[str, str]:
    """The meanings that ``--values`` gives to words: WORD=MEANING, or a JSON object.

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
            own = decode_json(text) if text.lstrip().startswith("{") else _pairs("--values", [text])
        except ValueError as error:
            raise InputError(f"--values: {text[:60]!r} is not JSON ({error}).") from None
        twice = next((w for w in own if w in out), "")
        if twice:
            raise InputError(f"--values: {twice!r} is given twice.")
        out |= {str(word): str(meaning) for word, meaning in own.items()}
    check_values(out)
    return out


def named_numbers(option: str, text: str, example: str) -> dict[str, float]:
    """NAME=NUMBER,... as numbers.

    Raises
    ------
    InputError

    Examples
    --------
    >>> named_numbers("--cost", "fn=3, fp=1", "fn=3,fp=1")
    {'fn': 3.0, 'fp': 1.0}
    """
    out: dict[str, float] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, sign, value = part.rpartition("=")
        try:
            read = float(value)
        except ValueError:
            read = math.nan
        if not sign or not name or not math.isfinite(read) or name in out:
            raise InputError(f"{option}: expected NAME=NUMBER, got {part!r}. Write {example}.")
        out[name] = read
    return out


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(n.strip() for text in given for n in text.split(",") if n.strip())


def _pairs(option: str, given: list[str]) -> dict[str, str]:
    out: dict[str, str] = {}
    form, example = "ROLE=COLUMN", "--map score=rating"
    if option != "--map":
        form, example = "WORD=MEANING", "--values 'P=pass,F=fail'"
    for text in given:
        for part in text.split(","):
            ours, mark, theirs = (part.partition if option == "--map" else part.rpartition)("=")
            if not mark or not ours.strip() or not theirs.strip():
                raise InputError(
                    f"{option}: expected {form}, got {part[:60]!r}. Write for example {example}."
                )
            if ours.strip() in out:
                raise InputError(f"{option}: {ours.strip()!r} is given twice.")
            out[ours.strip()] = theirs.strip()
    return out
