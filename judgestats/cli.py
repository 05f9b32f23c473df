"""The ``judgestats`` command: words in, one clear sentence out when something is wrong.

Nothing heavy is imported until a command needs it, so that ``--help`` answers at once.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from judgestats.commands.table import overview
from judgestats.errors import InputError, JudgestatsError, printable
from judgestats.spelling import as_typed

_COMPLETE = "_JUDGESTATS_COMPLETE"
"""The variable by which a shell asks for completions (click's own rule for the name)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        By default the process's own arguments.

    Returns
    -------
    int
        0 on success, 2 on a wrong input or a fault outside, 130 after Ctrl-C.
    """
    if argv is None and (asked := os.environ.get(_COMPLETE)):
        return _complete(asked)
    if argv is None:  # the process is the command's: its memory is given back at its end
        gc.set_threshold(100_000, 50, 50)
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words)
    except JudgestatsError as error:
        text = " ".join([str(error), *getattr(error, "__notes__", [])])
        sys.stderr.write(f"judgestats: {printable(as_typed(text))}\n")
        return error.exit_code
    except KeyboardInterrupt as stop:
        text = str(stop) or "stopped; run the same command again to go on where it stopped."
        sys.stderr.write(f"\njudgestats: {printable(text)}\n")
        return 130
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: that is not a failure of ours.
        sys.stderr.close()
        return 0


def _run(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help"}:
        sys.stdout.write(overview())
        return 0
    from click.exceptions import Exit, UsageError

    from judgestats.commands.parsing import Program

    program = Program()
    try:
        # Not click's own `main`, which has other exit codes and its own words for Ctrl-C.
        with program.make_context("judgestats", words) as context:
            code: int = program.invoke(context)
            return code
    except Exit as done:
        return done.exit_code
    except UsageError as error:
        raise InputError(f"{error.format_message()} See judgestats --help.") from None


def _complete(asked: str) -> int:
    from click.shell_completion import shell_complete

    from judgestats.commands.parsing import Program

    return shell_complete(Program(), {}, "judgestats", _COMPLETE, asked)
