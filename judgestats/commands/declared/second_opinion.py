"""``judgestats second-opinion``: recompute a run's numbers by independent packages."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "show:second_opinion_command",
    (
        Argument("run", "an MLflow run id, or a run's folder", kind="file"),
        Option("--out", "a CSV file for the table"),
    ),
)
