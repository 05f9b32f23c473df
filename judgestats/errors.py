"""The exceptions of judgestats.

Every message is one readable text that says what went wrong, where, and what to do next, so that
the command line can print it as it stands (exit code 2) and a notebook shows it in the traceback.
No message ever carries a key or another secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from judgestats.redaction import scrubbed

_MOVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, marks that turn the direction of text, and lone surrogates."""
_LINES = re.compile("[\t\n\u2028\u2029]")
"""Line ends and tabs."""


def printable(text: str, *, one_line: bool = False) -> str:
    """Text fit for a terminal: what would move the cursor or reorder the line is replaced.

    Names of items, judges and conditions come from files that others may have written. Line ends
    and tabs stay, unless it must be one line: a name with a line end could pretend to be another
    line of what is printed.

    Parameters
    ----------
    text : str
    one_line : bool

    Returns
    -------
    str

    Examples
    --------
    >>> printable("item " + chr(27) + "[2Jq1") == "item " + chr(0xFFFD) + "[2Jq1"
    True
    >>> printable("q1" + chr(10) + "Account: nothing failed", one_line=True) == (
    ...     "q1" + chr(0xFFFD) + "Account: nothing failed"
    ... )
    True
    """
    if one_line:
        text = _LINES.sub("\ufffd", text)
    return _MOVES.sub("\ufffd", scrubbed(text))


def nearest(name: str, names: Iterable[str], *, shown: Callable[[str], str] = str) -> str:
    """The hint behind an unknown name: the known one that was probably meant, or nothing.

    Examples
    --------
    >>> nearest("temprature", ["temperature", "judges"])
    ' Did you mean temperature?'
    >>> nearest("x", ["temperature", "judges"])
    ''
    """
    import difflib  # only where something is wrong: --help needs none of it

    close = difflib.get_close_matches(name, list(names), n=1)
    return f" Did you mean {shown(printable(close[0], one_line=True))}?" if close else ""


class JudgestatsError(Exception):
    """Base of every error that judgestats raises on purpose.

    Examples
    --------
    >>> raise JudgestatsError("nothing to judge: give at least one item")
    Traceback (most recent call last):
    ...
    judgestats.errors.JudgestatsError: nothing to judge: give at least one item
    """

    exit_code = 2

    def __init__(self, *words: object) -> None:
        super().__init__(*(scrubbed(w) if isinstance(w, str) else w for w in words))

    def for_command(self, words: Sequence[str]) -> str:
        """The text for a command that was typed as these words."""
        del words
        return str(self)


class InputError(JudgestatsError, ValueError):
    """The caller's data, file or parameter cannot be used as given."""


class JudgeError(JudgestatsError):
    """A judge cannot be reached, refuses the key, or cannot do what was asked."""


def one_of(
    where: str,
    argument: str,
    value: object,
    allowed: Iterable[object],
    *,
    advice: str = "Choose one of these.",
) -> None:
    """Refuse a value that is not one of the allowed ones.

    Examples
    --------
    >>> one_of("page_trend_test", "alternative", "grater", ("greater", "two-sided"))
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: page_trend_test: alternative must be one of greater, two-sided...
    """
    options = tuple(allowed)
    if value not in options:
        names = [str(option) for option in options]
        raise InputError(
            f"{where}: {argument} must be one of {', '.join(names)}, got {value!r}."
            f"{nearest(str(value), names)} {advice}"
        )


@contextmanager
def guard_output(path: str | Path) -> Iterator[None]:
    """Name the output that cannot be written.

    Raises
    ------
    InputError
        The system refuses it: no such folder, no permission, a full disk.

    Examples
    --------
    >>> with guard_output("results/x.json"):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
    ...
    judgestats.errors.InputError: results/x.json: not written (Permission denied). Name another ...
    """
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path}: not written ({error.strerror or error}). Name another file or folder."
        ) from error


class BudgetError(JudgestatsError):
    """A declared limit on cost or requests leaves nothing that can be done."""


class StoreError(JudgestatsError):
    """A journal, tracking store or folder cannot be read or written."""


class RenderError(JudgestatsError):
    """A report cannot be rendered."""
