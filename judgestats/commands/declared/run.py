"""``judgestats run``: run an experiment on a judge."""

from __future__ import annotations

from judgestats.commands.declared.shared import SHOW_AND_BOUNDS
from judgestats.commands.table import Command

# An experiment's parameters are its own, read by the same code as under `mlflow run`.
COMMAND = Command(
    "run:run_command",
    SHOW_AND_BOUNDS,
    open=True,
    completes="run:completions",
    explains=True,
)
