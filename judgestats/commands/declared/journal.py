"""``judgestats journal``: is a journal as it was written, and what did it cost?"""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "doctor:journal_command",
    (
        Argument("action", choices=("verify",)),
        Argument("file", kind="file", many="optional", default=".judgestats/journal.sqlite"),
        Option("--drop", "take damaged answers out", kind="switch"),
    ),
)
