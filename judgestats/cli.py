"""The ``judgestats`` command: words in, one clear sentence out when something is wrong.

Nothing heavy is imported until a command needs it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import sys
from collections.abc import Sequence

from judgestats.commands import PROGRAMS, overview
from judgestats.deadlines import handle_signals, stop_code
from judgestats.deprecated import current_command, current_options, removed_option
from judgestats.errors import InputError, JudgestatsError, printable
from judgestats.files.text import plain_word
from judgestats.terminal import as_typed, emit, own_streams

_COMPLETE = "_JUDGESTATS_COMPLETE"
"""The variable by which a shell asks for completions (click's own rule for the name)."""
_NO_TEXT = re.compile("[\ud800-\udfff]")
"""What stands for bytes that are not UTF-8."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""The disk is full, or a limit of the user is reached; a write says so without the file's name."""


def main(argv: Sequence[str] | None = None, *, program: str = "judgestats") -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        By default the process's own arguments.
    program : str
        One of `judgestats.commands.declarations.PROGRAMS`.

    Returns
    -------
    int
        0: done, or the gate passed. 1: the gate failed. 2: a wrong input or a fault outside,
        nothing was decided. 3: cannot tell. 4: internal error. 5: the run is complete, but a
        report or an upload failed. 6: the run is incomplete, the same command resumes. 130, 143,
        129: SIGINT, SIGTERM, SIGHUP.
    """
    if argv is None:  # the process is the command's: its memory is given back at its end
        own_streams()
        handle_signals()
        if asked := os.environ.get(_COMPLETE):
            return _complete(asked)
        gc.set_threshold(100_000, 50, 50)
    words = list(sys.argv[1:] if argv is None else argv)
    if "--" in words:  # behind it, a file's name may begin with a dash
        at = words.index("--")
        words[at:] = ["--", *map(plain_word, words[at + 1 :])]
    try:
        return _run(words, program)
    except JudgestatsError as error:
        text = " ".join([error.for_command([program, *words]), *getattr(error, "__notes__", [])])
        emit(f"judgestats: {printable(as_typed(text))}\n", error=True)
        return error.exit_code
    except KeyboardInterrupt as stop:
        again = "stopped; run the same command again to go on where it stopped."
        text = " ".join([str(stop) or again, *getattr(stop, "__notes__", [])])
        emit(f"\njudgestats: {printable(text)}\n", error=True)
        return stop_code()
    except Exception as error:  # the last resort: a traceback is for the log, not for the screen
        if fault := _outside_fault(error, words):
            emit(f"judgestats: {printable(fault)}\n", error=True)
            return 2
        emit(f"judgestats: {_internal_error(error, words)}\n", error=True)
        return 4
    finally:
        if argv is None:
            gc.freeze()  # nothing is collected at the end: with MLflow that takes a second


def _run(words: list[str], program: str) -> int:
    if not words or words[0] in {"-h", "--help"}:
        emit(overview(program))
        return 0
    program, words, notes = current_command(program, words)
    if advice := removed_option(words):
        raise InputError(advice)
    command = PROGRAMS[program].get(words[0])
    words, further = current_options(words, {o.flag for o in command.options} if command else ())
    for note in [*notes, *further]:
        emit(f"judgestats: {note}\n", error=True)
    from click.exceptions import Exit, UsageError

    from judgestats.commands.parsing import Program

    group = Program(program)
    try:
        # Not click's own `main`, which has other exit codes and its own words for Ctrl-C.
        with group.make_context(program, words) as context:
            code: int = group.invoke(context)
            return code
    except Exit as done:
        return done.exit_code
    except UsageError as error:
        raise InputError(f"{error.format_message()} See judgestats --help.") from None


def _outside_fault(error: Exception, words: Sequence[str]) -> str:
    """One sentence on a fault of the system, or of a word that was typed; empty for our own."""
    if isinstance(error, UnicodeEncodeError):  # what it quotes may be a password
        typed = (word for word in words if _NO_TEXT.search(word))
        return next((f"{word[:80]!r} is not UTF-8. Write it as UTF-8." for word in typed), "")
    if not isinstance(error, OSError) or not error.strerror:
        return ""
    if error.filename is None and error.errno in _FULL:
        return f"not written ({error.strerror}). Free space, then run the same command again."
    file = error.filename or ("." if isinstance(error, FileNotFoundError) else None)
    if file is None:  # a removed work folder has no name
        return ""
    return f"{printable(os.fsdecode(file), one_line=True)}: {error.strerror}. Check the path."


def _internal_error(error: Exception, words: Sequence[str]) -> str:
    """One line on an error that nobody expected, its traceback in a log."""
    import platform
    import shlex
    import tempfile
    import traceback

    from judgestats.redaction import keep_secrets_of, scrubbed
    from judgestats.version import __version__

    keep_secrets_of()
    about = f"judgestats {__version__}, Python {platform.python_version()}, {platform.platform()}"
    text = "\n".join(
        [about, shlex.join(["judgestats", *words]), "", *traceback.format_exception(error)]
    )
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="judgestats-error-", suffix=".log", delete=False, encoding="utf-8",
            errors="replace",
        ) as log:  # fmt: skip
            log.write(scrubbed(text))
    except OSError as fault:
        place = f"no log could be written ({fault.strerror or fault})"
    else:
        place = f"the traceback is in {log.name}"
    what = printable(f"{type(error).__name__}: {error}"[:200], one_line=True)
    return f"internal error ({what}); {place}. Please report it with this file."


def _complete(asked: str) -> int:
    from click.shell_completion import shell_complete

    from judgestats.commands.parsing import Program

    return shell_complete(Program(), {}, "judgestats", _COMPLETE, asked)
