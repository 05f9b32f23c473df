"""``judgestats reread``: read a run's stored replies again; nothing is asked."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "requests:reread_command",
    (
        Argument("run", "an MLflow run id, or a run's folder", kind="file"),
        Option("--out", "write all differences to this CSV file"),
    ),
)
