"""How the declared words of a command are read: click's parser, our sentences.

Every wrong word is one sentence with the nearest known name, as everywhere else.
"""

from __future__ import annotations

import gc
import math
import shlex
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import click

from judgestats.commands.arguments import Args, Argument, Command, Option
from judgestats.commands.declarations import PROGRAMS
from judgestats.commands.help import argument_metavar, command_help, option_metavar, overview
from judgestats.errors import InputError, nearest
from judgestats.terminal import emit
from judgestats.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_HELP = {"help_option_names": ["-h", "--help"]}
_MANY = {"one": 1, "optional": 1, "any": -1, "some": -1}


class _Value(click.ParamType[Any]):
    """What a word may be, and the error for a wrong one."""

    name = "text"

    def __init__(self, word: Option | Argument) -> None:
        self.word = word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        del param
        word = self.word
        if not isinstance(value, str) or value == word.default or ctx is None:
            return value
        what = word.flag if isinstance(word, Option) else word.metavar or word.name
        if "\0" in value:
            _refuse(ctx, f"argument {what}: holds a zero byte")
        if isinstance(word, Option) and value in _flags(ctx.command):
            _refuse(ctx, f"argument {what}: expected one argument")
        if isinstance(word, Option) and word.choices and value not in word.choices:
            _refuse(ctx, *_no_choice(what, value, word.choices))
        if word.kind not in {"whole", "number"}:
            return value
        try:
            made = int(value) if word.kind == "whole" else float(value)
        except ValueError:
            made = math.nan
        if math.isnan(made) or (word.kind == "whole" and made < 0):
            number = "a whole number, 0 or above" if word.kind == "whole" else "a number"
            _refuse(ctx, f"argument {what}: expected {number}, got {value!r}")
        return made

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        del ctx, param
        if isinstance(self.word, Option) and self.word.choices:
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
            help=command.about,
            add_help_option=not command.explains,
            context_settings={
                **_HELP,
                "allow_extra_args": True,
                "ignore_unknown_options": bool(command.open),
            },
        )
        self.declared = command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            raise _translate_error(error, ctx, words) from None
        if not ctx.resilient_parsing:
            self._check_given_once(ctx, words)
        if rest and not self.declared.open and not ctx.resilient_parsing:
            _refuse(ctx, f"unrecognized arguments: {' '.join(rest)}")
        return rest

    def _check_given_once(self, ctx: click.Context, words: list[str]) -> None:
        """Refuse two values of a single option, of which only the last would count."""
        options = {o.flag: o for o in self.declared.options if o.kind != "switch"}
        given: dict[str, str] = {}
        ahead = iter(pairwise([*words, "--"]))
        for word, following in ahead:
            if word == "--":
                break
            flag, is_joined, value = word.partition("=")
            option = options.get(flag)
            if option is None:
                continue
            if not is_joined and not (option.alone and following.startswith("-")):
                value = following
                next(ahead, None)  # a value is no option, whatever it looks like
            if not option.repeated and given.setdefault(flag, value) != value:
                both = f"{given[flag][:60]!r} and {value[:60]!r}"
                _refuse(ctx, f"argument {flag}: expected one value, got {both}")

    def invoke(self, ctx: click.Context) -> Any:
        given = _given(ctx)
        if self.declared.open:
            given.words = list(ctx.args)
        return _function(self.declared.runs)(given)

    def get_help(self, ctx: click.Context) -> str:
        return command_help(ctx.command_path, self.declared).rstrip("\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        completions = super().shell_complete(ctx, incomplete)
        if self.declared.completes:
            further = _function(self.declared.completes)(ctx.args, incomplete)
            completions += [CompletionItem(word, help=about) for word, about in further]
        return completions


def _given(ctx: click.Context) -> Args:
    return Args(**{k: list(v) if isinstance(v, tuple) else v for k, v in ctx.params.items()})


def parse_options(name: str, declared: tuple[Option, ...], text: str) -> Args:
    """Options within one word of a command, as of ``--second-options '--kind score'``.

    Parameters
    ----------
    name : str
        The command with the flag, for messages.
    declared : tuple of Option
    text : str

    Raises
    ------
    InputError
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{name}: {text[:60]!r} is not quoted right ({error}).") from None
    return _given(_Command(name, Command("", words=declared)).make_context(name, words))


class _Commands(click.Group):
    """Commands by their names: those of a program, or the actions of one."""

    def __init__(
        self, name: str, commands: Mapping[str, Command], what: str, params: list[click.Parameter]
    ) -> None:
        super().__init__(name, context_settings=_HELP, no_args_is_help=False, params=params)
        self.declared = commands
        self.what = what

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words before the command, which has to be named."""
        words = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            raise _translate_error(error, ctx, words) from None
        if not rest and not ctx._protected_args and not ctx.resilient_parsing:
            _refuse(ctx, f"Missing {self.what.lower()}: one of {', '.join(self.declared)}")
        return rest

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, as they are declared."""
        del ctx
        return list(self.declared)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name."""
        del ctx
        command = self.declared.get(cmd_name)
        if command is None:
            return None
        return _Actions(cmd_name, command) if command.actions else _Command(cmd_name, command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named, or what was probably meant."""
        if args[0] not in self.declared and not ctx.resilient_parsing:
            _refuse(ctx, *_no_choice(self.what, args[0], self.declared))
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands and options that begin so, for a shell."""
        from click.shell_completion import CompletionItem

        named = [
            CompletionItem(name, help=command.about)
            for name, command in self.declared.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]


class _Actions(_Commands):
    """A command whose first word is an action."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(name, command.actions, "ACTION", [])
        self.whole = command

    def get_help(self, ctx: click.Context) -> str:
        """The page that lists the actions."""
        return command_help(ctx.command_path, self.whole).rstrip("\n")


class Program(_Commands):
    """All commands of a program; the function of one is imported when it is called."""

    def __init__(self, name: str = "judgestats") -> None:
        super().__init__(name, PROGRAMS[name], "COMMAND", [_version()])

    def get_help(self, ctx: click.Context) -> str:
        """The screen that lists the commands."""
        del ctx
        return overview(str(self.name)).rstrip("\n")


def _translate_error(error: click.UsageError, ctx: click.Context, words: list[str]) -> InputError:
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


def _parameter(word: Option | Argument) -> click.Parameter:
    if isinstance(word, Argument):
        return click.Argument(
            [word.name],
            type=_Value(word),
            nargs=_MANY[word.many],
            required=word.many in {"one", "some"},
            metavar=argument_metavar(word),
            **({"default": word.default} if word.many == "optional" else {}),
        )
    if word.kind == "switch":
        return click.Option([word.flag, word.name], is_flag=True, default=False, help=word.help)
    further: dict[str, Any] = {}
    if not word.repeated and not word.required:
        further["default"] = word.default
    if word.alone:
        further |= {"is_flag": False, "flag_value": word.alone}
    return click.Option(
        [word.flag, word.name],
        type=_Value(word),
        help=word.help,
        required=word.required,
        multiple=word.repeated,
        metavar=option_metavar(word),
        **further,
    )


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
    gc.disable()  # what imports make stays to the end
    try:
        return getattr(import_module(f"judgestats.commands.{module}"), name)
    finally:
        gc.freeze()
        gc.enable()


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
