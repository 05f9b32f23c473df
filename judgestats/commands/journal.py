"""``judgestats journal verify FILE``: is every answer as it was written, and what did it cost?"""

from __future__ import annotations

from pathlib import Path

from judgestats.commands.table import Given
from judgestats.errors import InputError
from judgestats.experiment import console
from judgestats.judges.journal import Journal
from judgestats.judges.journal_view import journal_view

_SHOWN = 5


def journal_command(arguments: Given) -> int:
    """Check a journal, and say what its ledger holds.

    Parameters
    ----------
    arguments : Given
        ``action``, ``file`` and ``drop``.

    Returns
    -------
    int
        0 where all is whole, 1 where something is damaged.

    Raises
    ------
    InputError
        There is no such file.
    """
    path = Path(arguments.file)
    if not path.exists():
        raise InputError(f"journal: there is no file {path}.")
    with Journal(path) if arguments.drop else journal_view(path) as journal:
        faults = journal.damaged(drop=arguments.drop)
        kept, lines, unpriced = len(journal), journal.ledger.lines(), journal.unpriced()
    count = f"{len(faults)} fault{'s' * (len(faults) != 1)}"
    what = f"kept, {count}" if faults else "whole"
    more = [f"  ... and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
    head = f"journal {path}: {kept:,} answers {what}"
    console.say(head, *(f"  {fault}" for fault in faults[:_SHOWN]), *more)
    if lines:
        dollars = sum(line.spend.total for line in lines)
        twice = sum(line.spend.asked_again for line in lines)
        console.say(
            f"  {sum(line.spend.requests for line in lines):,} requests, ${dollars:,.4f} spent"
            f"{f' and {unpriced:,} answers of unknown price' if unpriced else ''}, "
            f"{twice:,} judgments possibly billed twice"
        )
    if faults and not arguments.drop:
        console.say("To take the damaged rows out, to be asked again: add --drop")
    return 1 if faults else 0
