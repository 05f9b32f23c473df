"""What the command line takes: every command by its name, its words declared as data.

A command is one file of `judgestats/commands/declared/`, imported when it is named; how its words
are read stands in `judgestats.commands.parsing`, what it does where its declaration says.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

Kind = Literal["text", "whole", "number", "switch", "file", "folder"]


class Option(NamedTuple):
    """One ``--option``.

    One that is `repeated` comes as a list; `alone` is its value where it is given without one.
    `metavar` stands for its value in the help, `name` is its name in `Given` where that is not
    the option's own.
    """

    flag: str
    help: str = ""
    kind: Kind = "text"
    default: Any = ""
    choices: tuple[str, ...] = ()
    repeated: bool = False
    required: bool = False
    alone: str = ""
    metavar: str = ""
    name: str = ""


class Argument(NamedTuple):
    """One word by its place; how many of it there may be is `many`."""

    name: str
    help: str = ""
    kind: Kind = "text"
    many: Literal["one", "optional", "any", "some"] = "one"
    default: Any = ""
    choices: tuple[str, ...] = ()
    metavar: str = ""


class Command(NamedTuple):
    """What a command takes, and the function (``module:function``) that does it.

    One that is `open` takes words of no declaration too, as `Given.words`; `completes` names the
    function that knows them when a shell asks. One that `explains` itself is given ``--help`` too.
    """

    runs: str
    words: tuple[Option | Argument, ...] = ()
    epilog: str = ""
    open: bool = False
    completes: str = ""
    explains: bool = False


class Given(SimpleNamespace):
    """What was given to a command: the value of every declared word, by its name."""


COMMANDS = {
    "run": "run an experiment on a judge",
    "analyze": "analyse judgments you already have",
    "show": "show a run again, or one of its results in words",
    "report": "render the report of a run again, or compare several",
    "methods": "the methods section of a paper, and what is missing of it",
    "second-opinion": "recompute a run's numbers by independent packages",
    "template": "a report as a Quarto document of your own, to be edited",
    "requests": "what a run misses, as files for vllm or any batch runner",
    "ingest": "a batch runner's answers into the journal",
    "simulate": "serve the simulated judges over HTTP",
    "drift": "has a judge changed between two runs?",
    "reread": "read a run's stored replies again; nothing is asked",
    "check": "exit 1 unless a run keeps its bounds (for CI)",
    "export": "judgments as training data for a judge of your own, or for R",
    "train": "fine-tune a judge on exported judgments (extra: train)",
    "coverage": "what of the responses explanations attend to (extra: coverage)",
    "items": "published item sets: list, fetch, show a file",
    "labels": "people's labels: how many, which, a page to give them",
    "monitor": "running rates of a stream, with limits for every look",
    "demo": "the answer on recorded judgments of real judges",
    "endpoint": "what an endpoint honours, ignores and refuses",
    "journal": "is a journal as it was written, and what did it cost?",
    "doctor": "what is installed; what a file of judgments holds and answers",
}
"""Every command and its line of help."""


def texts_of(command: Command, given: Given) -> dict[str, str]:
    """Every word of a command as a text, by its name: what a run records, and is compared by.

    Parameters
    ----------
    command : Command
    given : Given

    Returns
    -------
    dict of name to str
        ``default`` where nothing was given; of a file that is there its name without the folder.

    Examples
    --------
    >>> command = Command("x:y", (Argument("file", kind="file"), Option("--seed", kind="whole")))
    >>> texts_of(command, Given(file="/data/my.csv", seed=7))
    {'file': 'my.csv', 'seed': '7'}
    """
    out = {}
    for word in command.words:
        flag = word.flag.removeprefix("--").replace("-", "_") if isinstance(word, Option) else ""
        name = (word.name or flag) if isinstance(word, Option) else word.name
        value = getattr(given, name)
        parts = [str(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
        if word.kind == "file":
            parts = [Path(part).name if Path(part).is_absolute() else part for part in parts]
        text = ", ".join(parts)
        out[flag or name] = (text.lower() if isinstance(value, bool) else text) or "default"
    return out


def overview() -> str:
    """What ``judgestats --help`` shows; click is not imported for it.

    Examples
    --------
    >>> print(overview()[:52])
    usage: judgestats [-h] [--version] COMMAND [WORDS]
    """
    width = max(map(len, COMMANDS)) + 2
    return "\n".join(
        [
            "usage: judgestats [-h] [--version] COMMAND [WORDS]",
            "",
            "How consistent, reliable, fair and human-like is an LLM judge?",
            "",
            "commands:",
            *(f"  {name:<{width}}{about}" for name, about in COMMANDS.items()),
            "",
            "judgestats COMMAND --help shows the words of a command.",
            "Completion in a shell: docs/first-minute.md.",
            "",
        ]
    )


def declared(name: str) -> Command:
    """The declaration of a command.

    Examples
    --------
    >>> declared("demo").runs
    'demo:demo_command'
    """
    module = import_module(f"judgestats.commands.declared.{name.replace('-', '_')}")
    command: Command = module.COMMAND
    return command
