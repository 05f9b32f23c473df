"""``judgestats ingest RESULTS``: a batch runner's answers into the journal."""

from __future__ import annotations

from pathlib import Path

from judgestats.commands.table import Given
from judgestats.errors import InputError
from judgestats.experiment import console
from judgestats.judges.journal import Journal
from judgestats.judges.offline import Ingested, ingest
from judgestats.results.numbers import counted


def ingest_command(arguments: Given) -> int:
    """Read the answers, and say what became of every line.

    Parameters
    ----------
    arguments : Given
        ``results`` (files or folders) and ``journal``.

    Returns
    -------
    int
        0 where a request of ours was among the lines, else 1.
    """
    files = [file for word in arguments.results for file in _files(Path(word))]
    path = Path(arguments.journal)
    with Journal(path) as journal:
        ingested = ingest(files, journal)
        kept = len(journal)
    console.say(*_lines(ingested, files, f"{path} ({kept:,} answers)"))
    return 0 if ingested.new or ingested.duplicates or ingested.failed else 1


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        parts = sorted(path.glob("*.jsonl"))
        if not parts:
            raise InputError(f"ingest: the folder {path} holds no *.jsonl.")
        return parts
    if not path.is_file():
        raise InputError(f"ingest: there is no file {path}.")
    return [path]


def _lines(ingested: Ingested, files: list[Path], where: str) -> list[str]:
    """What was read, and what was not."""
    new, read = counted(ingested.new, "answer", "answers"), counted(len(files), "file", "files")
    lines = [f"{new} of {read} read into {where}."]
    if ingested.duplicates:
        lines.append(
            f"  {counted(ingested.duplicates, 'answer was', 'answers were')} there already"
        )
    lines += [
        f"  {counted(n, 'request', 'requests')} not answered: {kind} "
        f"({ingested.words[kind] or 'no words'})"
        for kind, n in ingested.failed.most_common()
    ]
    if ingested.cut:
        ends = counted(ingested.cut, "file ends", "files end")
        lines.append(f"  {ends} within a line: the runner was stopped, or still writes")
    if ingested.unreadable:
        lines.append(f"  {counted(ingested.unreadable, 'line is', 'lines are')} no result")
    if ingested.foreign:
        lines.append(
            f"  {counted(ingested.foreign, 'line is', 'lines are')} of requests that `judgestats "
            "requests` did not write"
        )
    if ingested.failed or ingested.cut or ingested.unreadable:
        lines.append("  `judgestats requests` with the same words writes what is missing again.")
    return lines
