"""``judgestats monitor``: running rates of a stream, with limits for every look."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "monitor:monitor_command",
    (
        Argument("file", "a table of new judgments", kind="file"),
        Option("--state", "kept from look to look", kind="file", required=True),
        Option(
            "--rate",
            "share of a word; COLUMN: unread, COLUMN:=OTHER agreement (repeat)",
            repeated=True,
            metavar="NAME=COLUMN:WORD",
        ),
        Option("--cluster", metavar="COLUMN"),
        Option("--min", repeated=True, metavar="NAME=NUMBER"),
        Option("--max", repeated=True, metavar="NAME=NUMBER"),
        Option("--level", kind="number", default=0.95),
    ),
)
