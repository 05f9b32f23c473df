"""``judgestats ingest``: a batch runner's answers into the journal."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "requests:ingest_command",
    (
        Argument(
            "results",
            "files of answers (JSON lines in OpenAI's form), or folders of them",
            kind="file",
            many="some",
            metavar="RESULTS",
        ),
        Option(
            "--journal",
            "where the run that asked keeps its answers",
            default=".judgestats/journal.sqlite",
            kind="file",
            metavar="FILE",
        ),
    ),
)
