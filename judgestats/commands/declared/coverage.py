"""``judgestats coverage``: what of the responses do explanations attend to (extra: coverage)."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "export:coverage_command",
    (
        Argument("run", "an MLflow run id, or a run's folder", kind="file"),
        Option("--model", "an encoder-decoder: folder or name", required=True),
        Option("--threshold", kind="number", default=0.1),
        Option("--seed", kind="whole", default=0),
        Option("--out", "write one row a judgment to this CSV file"),
    ),
)
