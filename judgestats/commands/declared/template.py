"""``judgestats template``: a report as a Quarto document of your own, to be edited."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "report:template_command",
    (
        Argument("name", "brief, experiment, audit or replication"),
        Option("--run", "an MLflow run id, or a run's folder", required=True),
        Option("--out", "folder (by default the current one)"),
    ),
)
