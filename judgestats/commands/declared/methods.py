"""``judgestats methods``: what a paper says of a run, and what is missing."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "report:methods_command",
    (
        Argument("run", "an MLflow run id, or a run's folder", kind="file"),
        Option(
            "--out",
            "write methods, checklist and references to this file (.md, .tex, .docx)",
            metavar="FILE",
        ),
    ),
)
