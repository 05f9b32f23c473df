"""How the declared words of a command are read: click's parser, our sentences.

Every wrong word is one sentence with the nearest known name, as everywhere else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from judgestats.commands.table import COMMANDS, Argument, Command, Given, Option, declared, overview
from judgestats.errors import InputError, nearest
from judgestats.terminal import emit
from judgestats.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_WIDEST = 100
_COUNTED = {"one": "{}", "optional": "[{}]", "any": "[{}]...", "some": "{}..."}
_MANY = {"one": 1, "optional": 1, "any": -1, "some": -1}


class _Value(click.ParamType[Any]):
    """What a word may be, and what a wrong one is told."""

    name = "text"

    def __init__(self, word: Option | Argument) -> None:
        self.word = word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        del param
        word = self.word
        if not isinstance(value, str) or value == word.default or ctx is None:
            return value
        what = word.flag if isinstance(word, Option) else word.metavar or word.name
        if isinstance(word, Option) and value in _flags(ctx.command):
            _refuse(ctx, f"argument {what}: expected one argument")
        if word.choices and value not in word.choices:
            _refuse(ctx, *_no_choice(what, value, word.choices))
        if word.kind not in {"whole", "number"}:
            return value
        try:
            return int(value) if word.kind == "whole" else float(value)
        except ValueError:
            number = "a whole number" if word.kind == "whole" else "a number"
            _refuse(ctx, f"argument {what}: expected {number}, got {value!r}")

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        del ctx, param
        if self.word.choices:
            return [CompletionItem(c) for c in self.word.choices if c.startswith(incomplete)]
        places = {"file": "file", "folder": "dir"}
        kind = places.get(self.word.kind)
        return [CompletionItem(incomplete, type=kind)] if kind else []


class _Command(click.Command):
    """A command as it is declared."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(
            name,
            params=[_parameter(word) for word in command.words],
            help=COMMANDS[name],
            epilog=command.epilog,
            add_help_option=not command.explains,
            context_settings={
                **_help(),
                "allow_extra_args": True,
                "ignore_unknown_options": command.open,
            },
        )
        self.declared = command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            raise _in_our_words(error, ctx, words) from None
        if rest and not self.declared.open and not ctx.resilient_parsing:
            _refuse(ctx, f"unrecognized arguments: {' '.join(rest)}")
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        values = {k: list(v) if isinstance(v, tuple) else v for k, v in ctx.params.items()}
        if self.declared.open:
            values["words"] = list(ctx.args)
        return _function(self.declared.runs)(Given(**values))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:  # its lines stay as they are written
            del ctx
            formatter.write(f"\n{self.epilog}")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        completions = super().shell_complete(ctx, incomplete)
        if self.declared.completes:
            further = _function(self.declared.completes)(ctx.args, incomplete)
            completions += [CompletionItem(word, help=about) for word, about in further]
        return completions


class Program(click.Group):
    """All commands; each is imported when it is named."""

    def __init__(self) -> None:
        super().__init__(
            "judgestats",
            context_settings=_help(),
            no_args_is_help=False,
            params=[_version()],
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words before the command: options of all of them."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise _in_our_words(error, ctx, words) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, as the table lists them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name, its declaration imported now."""
        del ctx
        return _Command(cmd_name, declared(cmd_name)) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named, or what was probably meant."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            _refuse(ctx, *_no_choice("COMMAND", args[0], COMMANDS))
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        """The table of commands; no declaration is imported for it."""
        del ctx
        return overview().rstrip("\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands and options that begin so, for a shell."""
        from click.shell_completion import CompletionItem

        named = [CompletionItem(n, help=h) for n, h in COMMANDS.items() if n.startswith(incomplete)]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]


def _in_our_words(error: click.UsageError, ctx: click.Context, words: list[str]) -> InputError:
    """What click found wrong in the words of a command."""
    required = [p for p in ctx.command.params if p.required]
    if isinstance(error, click.MissingParameter):
        given, _, _ = ctx.command.make_parser(ctx).parse_args(list(words))
        return _refusal(ctx, _needed(p for p in required if not _has(given.get(str(p.name)))))
    if isinstance(error, click.NoSuchOption):
        name = error.option_name
        options = [p for p in required if p.opts[0].startswith("--") and p.opts[0] not in words]
        also = f"; {_needed(options)}" if options else ""
        return _refusal(
            ctx, f"unrecognized arguments: {name}{also}", nearest(name, _flags(ctx.command))
        )
    if isinstance(error, click.BadOptionUsage):
        switches = [f for p in ctx.command.params if getattr(p, "is_flag", False) for f in p.opts]
        wrong = "takes no value" if error.option_name in switches else "expected one argument"
        return _refusal(ctx, f"argument {error.option_name}: {wrong}")
    return _refusal(ctx, error.format_message().rstrip("."))


def _needed(missing: Iterable[click.Parameter]) -> str:
    return f"the following arguments are required: {', '.join(p.opts[0] for p in missing)}"


def _help() -> dict[str, Any]:
    """How help is asked for, and its width (click would load shutil, and compressors, for that)."""
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        columns = 80
    return {
        "help_option_names": ["-h", "--help"],
        "terminal_width": max(40, min(columns, _WIDEST)),
    }


def _parameter(word: Option | Argument) -> click.Parameter:
    if isinstance(word, Argument):
        return click.Argument(
            [word.name],
            type=_Value(word),
            nargs=_MANY[word.many],
            required=word.many in {"one", "some"},
            metavar=_COUNTED[word.many].format(word.metavar or word.name.upper()),
            help=word.help or None,
            **({"default": word.default} if word.many == "optional" else {}),
        )
    name = word.name or word.flag.removeprefix("--").replace("-", "_")
    if word.kind == "switch":
        return click.Option([word.flag, name], is_flag=True, default=False, help=word.help)
    further: dict[str, Any] = {}
    if not word.repeated and not word.required:
        further["default"] = word.default
    if word.alone:
        further |= {"is_flag": False, "flag_value": word.alone}
    return click.Option(
        [word.flag, name],
        type=_Value(word),
        help=word.help,
        required=word.required,
        multiple=word.repeated,
        metavar=word.metavar or _metavar(word),
        show_default=str(word.default) not in {"", "None", "nan"},
        **further,
    )


def _metavar(word: Option) -> str:
    if word.choices:
        return f"[{'|'.join(word.choices)}]"
    kinds = {"whole": "NUMBER", "number": "NUMBER", "file": "FILE", "folder": "DIR"}
    return kinds.get(word.kind, "TEXT")


def _version() -> click.Option:
    def show(ctx: click.Context, param: click.Parameter, value: bool) -> None:
        del param
        if value and not ctx.resilient_parsing:
            from judgestats.collection.journal_file import VERSION as JOURNAL
            from judgestats.protocols.replies import READER_VERSION
            from judgestats.results.results import VERSION as RESULTS

            emit(
                f"judgestats {__version__} (results schema {RESULTS}, reader of replies "
                f"{READER_VERSION}, journal {JOURNAL})\n"
            )
            ctx.exit()

    return click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
    )


def _function(place: str) -> Any:
    """``module:function`` below the commands, imported now."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"judgestats.commands.{module}"), name)


def _has(given: Any) -> bool:
    """Whether a word came with a value (an absent one is click's own mark, no text or tuple)."""
    return isinstance(given, (str, list, tuple)) and bool(given)


def _flags(command: click.Command) -> list[str]:
    return [flag for p in command.params for flag in p.opts if flag.startswith("--")] + ["--help"]


def _no_choice(what: str, value: str, choices: Iterable[str]) -> tuple[str, str]:
    listed = ", ".join(repr(c) for c in choices)
    text = f"argument {what}: invalid choice: {value!r} (choose from {listed})"
    return text, nearest(value, choices)


def _refusal(ctx: click.Context | None, text: str, hint: str = "") -> InputError:
    path = ctx.command_path if ctx else "judgestats"
    return InputError(f"{text}.{hint} See {path} --help.")


def _refuse(ctx: click.Context, text: str, hint: str = "") -> NoReturn:
    raise _refusal(ctx, text, hint)
