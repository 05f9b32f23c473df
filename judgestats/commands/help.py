"""Help of commands: one screen of all, one page each; click is not imported for it."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from judgestats.commands.arguments import Argument, Command, Option
from judgestats.commands.declarations import FRONT, PROGRAMS

COMMON = "Common options"
GROUPS = (
    "Installation", "Journal", COMMON, "Input", "Columns", "Labels", "Data", "Judges", "Design",
    "Request", "Budget", "Analysis", "Statistics", "Training data", "Training", "Output",
    "Advanced",
)  # fmt: skip
"""Headings in the order of a page."""

_FEW = 14
"""Options that need no heading of the common ones."""
_WIDEST = 100
_TERM = 26
_COUNTED = {"one": "{}", "optional": "[{}]", "any": "[{}]...", "some": "{}..."}
_METAVARS = {"whole": "NUMBER", "number": "NUMBER", "file": "FILE", "folder": "DIR", "switch": ""}


class Entry(NamedTuple):
    """One line of a page's list: a term, its text, the heading it belongs under."""

    term: str
    text: str
    group: str = ""
    common: bool = False


def screen_width() -> int:
    """Columns of the terminal, 40-100 (click would load shutil, and compressors, for that)."""
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        columns = 80
    return max(40, min(columns, _WIDEST))


def overview(program: str = "judgestats") -> str:
    """What ``judgestats --help`` shows.

    Parameters
    ----------
    program : str
        One of `PROGRAMS`.

    Examples
    --------
    >>> print(overview()[:41])
    Usage: judgestats COMMAND [OPTIONS]
    <BLANKLINE>
    Find
    """
    commands = PROGRAMS[program]
    front = [name for name in FRONT if name in commands] or list(commands)
    lines = [f"Usage: {program} COMMAND [OPTIONS]", ""]
    if program == "judgestats":
        lines += ["Find out whether an LLM judge can be trusted", ""]
    for name in front:
        lines += [f"  {name:<9} {commands[name].about}"]
        lines += [f"            {commands[name].examples[0]}"]
    more = ", ".join(name for name in commands if name not in front)
    lines += ["", *textwrap.wrap(f"More: {more}", screen_width())] if more else []
    lines += ["", f"{program} COMMAND --help explains a command."]
    if program == "judgestats":
        lines += ["judgestats --version shows the version. Shell completion: docs/first-minute.md"]
    return "\n".join([*lines, ""])


def command_help(path: str, command: Command) -> str:
    """The page of a command, or of one of its actions.

    Parameters
    ----------
    path : str
        As it is called: ``judgestats labels plan``.
    command : Command

    Returns
    -------
    str
    """
    lines = [f"Usage: {path} {_usage(command)}".rstrip(), "", command.about]
    if command.actions:
        actions = [Entry(name, action.about) for name, action in command.actions.items()]
        lines += ["", "Actions:", *two_columns(actions)]
        lines += ["", f"{path} ACTION --help explains an action."]
    named = [Entry(argument_metavar(a), a.help) for a in command.arguments]
    lines += ["", *two_columns(named)] if named else []
    lines += grouped(map(option_entry, command.options))
    lines += ["", *command.details.splitlines()] if command.details else []
    if command.examples:
        lines += ["", "Examples:" if len(command.examples) > 1 else "Example:"]
        lines += [f"  {example}" for example in command.examples]
    return "\n".join([*lines, ""])


def _usage(command: Command) -> str:
    if command.actions:
        return "ACTION [OPTIONS]"
    named = [_COUNTED[a.many].format(argument_metavar(a)) for a in command.arguments]
    required = [f"{o.flag} {option_metavar(o)}" for o in command.options if o.required]
    opened = [command.open] if command.open else []
    return " ".join([*named, *required, *opened, *(["[OPTIONS]"] if command.options else [])])


def argument_metavar(argument: Argument) -> str:
    """What stands for an argument's value."""
    return argument.metavar or argument.name.upper()


def option_metavar(option: Option) -> str:
    """What stands for an option's value; empty of a switch."""
    if option.choices and not option.metavar:
        return "WORD"
    return option.metavar or _METAVARS.get(option.kind, "TEXT")


def option_entry(option: Option) -> Entry:
    """An option as a page lists it."""
    told = []
    if option.choices:
        told.append(f"one of {', '.join(option.choices)}")
    if option.required:
        told.append("required")
    if option.repeated:
        told.append("repeatable")
    if option.kind != "switch" and str(option.default) not in {"", "None", "nan"}:
        told.append(f"default: {option.default}")
    text = option.help + (f" ({'; '.join(told)})" if told else "")
    term = f"{option.flag} {option_metavar(option)}".strip()
    return Entry(term, text, option.group, option.common)


def grouped(entries: Iterable[Entry]) -> list[str]:
    """Lines of options under their headings, common ones first where there are many.

    Parameters
    ----------
    entries : iterable of Entry

    Returns
    -------
    list of str
    """
    entries = list(entries)
    many = len(entries) > _FEW
    headings: dict[str, list[Entry]] = {}
    for entry in entries:
        heading = COMMON if many and entry.common else entry.group
        headings.setdefault(heading, []).append(entry)
    lines: list[str] = []
    width = max((len(entry.term) for entry in entries), default=0)
    for heading in sorted(headings, key=GROUPS.index):
        lines += ["", f"{heading}:", *two_columns(headings[heading], width)]
    return lines


def two_columns(entries: Sequence[Entry], width: int = 0) -> list[str]:
    """Terms with their texts next to them, a long term on a separate line."""
    width = min(width or max(len(entry.term) for entry in entries), _TERM)
    room, indent = max(screen_width() - width - 4, 20), " " * (width + 4)
    lines = []
    for entry in entries:
        first, *more = textwrap.wrap(
            entry.text, room, break_on_hyphens=False, break_long_words=False
        )
        begin = f"  {entry.term:<{width}}  "
        if len(entry.term) > width:
            lines.append(begin.rstrip())
            begin = indent
        lines += [begin + first, *(indent + line for line in more)]
    return lines
