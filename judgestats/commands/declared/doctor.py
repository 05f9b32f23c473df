"""``judgestats doctor``: what is installed, or what a file of judgments holds and can answer."""

from __future__ import annotations

from judgestats.commands.declared.shared import TABLE
from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "doctor:doctor_command",
    (
        Argument("file", "a file of judgments", kind="file", many="optional"),
        *TABLE,
        Option("--judges", "judges to ask, comma-separated"),
        Option("--base-url"),
        Option("--timeout", "seconds for a judge's call", kind="number", default=30.0),
    ),
)
