"""``judgestats items``: published item sets: list, fetch, show a file."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "demo:items_command",
    (
        Argument("action", choices=("list", "fetch", "show")),
        Argument("name", "a set's name; for show also a file", many="optional"),
        Option("--out", "where to (data/NAME)", kind="folder"),
        Option("--overwrite", "replace files that are there and are others", kind="switch"),
        Option("--map", repeated=True, metavar="FIELD=COLUMN"),
        Option("--options", "as item_options: ties=drop,turn=1"),
    ),
)
