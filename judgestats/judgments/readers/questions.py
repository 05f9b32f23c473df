"""A file that can be read in several ways: the question, and a command for each answer."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from judgestats.errors import InputError, printable
from judgestats.judgments.readers.options import TableOptions


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One way to read a file: what it means, its options, and what it reads."""

    meaning: str
    options: TableOptions
    preview: str


class OpenQuestionError(InputError):
    """A file that can be read in several ways; each answer's options were tried on it."""

    def __init__(self, source: Path | str, question: str, answers: tuple[Answer, ...]) -> None:
        self.source, self.question, self.answers = source, question, answers
        super().__init__(self.asked(f"judgestats analyze {shlex.quote(str(source))}"))

    def asked(self, command: str) -> str:
        """The question with each answer as that command, or in Python's words for a frame."""
        width = max((len(a.meaning) for a in self.answers), default=0)
        lines = [f"{self.source}: {self.question}"]
        for answer in self.answers:
            options = answer.options
            if isinstance(self.source, Path):
                said = " ".join([command, *map(shlex.quote, options.words())])
            else:
                given = ", ".join(f"{k}={v!r}" for k, v in options.given().items())
                said = f"js.audit(data, {given})"
            lines.append(f"  {answer.meaning:<{width}}  {said}    {answer.preview}")
        return "\n".join(lines)

    def without(self, name: str) -> OpenQuestionError:
        """The same for a command that does not take one of the options."""
        answers = (
            replace(a, options=replace(a.options, **{name: getattr(TableOptions(), name)}))
            for a in self.answers
        )
        return OpenQuestionError(self.source, self.question, tuple(answers))


def open_question(
    source: Path | str,
    question: str,
    answers: Iterable[tuple[str, TableOptions]],
    read: Callable[[TableOptions], pd.DataFrame],
) -> InputError:
    """The refusal of a file that can be read in several ways.

    Parameters
    ----------
    source : Path or str
    question : str
        What is not known.
    answers : iterable of (meaning, TableOptions)
        Several may have one meaning: the first that reads the file is shown.
    read : callable
        Reads the file by options.

    Returns
    -------
    InputError
        With the commands that read the file; where none does, with why the first one failed.
    """
    shown: dict[str, Answer] = {}
    why = ""
    for meaning, options in answers:
        if meaning in shown:
            continue
        try:
            frame = read(options)
        except InputError as error:
            first = str(error).removeprefix(f"{source}: ").splitlines()[0]
            why = why or f"{shlex.join(options.words())}: {first}"
            continue
        shown[meaning] = Answer(meaning=meaning, options=options, preview=preview(frame))
    if shown:
        return OpenQuestionError(source, question, tuple(shown.values()))
    return InputError(f"{source}: {question}" + (f" Tried {why}" if why else ""))


def preview(frame: pd.DataFrame) -> str:
    """What was read, in counts."""
    conditions = list(dict.fromkeys(map(str, frame["condition"])))
    items, orders = frame["item_id"].nunique(), frame["order"].nunique()
    repeats = frame.groupby(["condition", "item_id", "order"], sort=False).size()
    parts = [_count(items, "item")]
    if len(conditions) > 1:
        names = ", ".join(c[:30] for c in conditions[:3]) + (", ..." if conditions[3:] else "")
        parts.append(f"{len(conditions)} conditions ({printable(names, one_line=True)})")
    parts += [_count(orders, "order")] if orders > 1 else []
    parts.append(_count(int(repeats.max()), "repeat"))
    if "label" in frame and (n := int((frame["label"] != "").sum())):
        parts.append(_count(n, "labelled judgment"))
    return ", ".join(parts)


def _count(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"
