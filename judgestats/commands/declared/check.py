"""``judgestats check``: exit 1 unless a run keeps its bounds (for CI)."""

from __future__ import annotations

from judgestats.commands.declared.shared import SHOW
from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "check:check_command",
    (
        Argument("run", "an MLflow run id, or a run's folder", kind="file"),
        Option(
            "--min",
            "a row of the screen (reliability), its estimand (icc_1_1), unread, or a metric of the "
            "run (reliability/icc1) that must be at least so large (repeat)",
            repeated=True,
            metavar="NAME=NUMBER",
        ),
        Option("--max", "or at most (repeat)", repeated=True, metavar="NAME=NUMBER"),
        Option(
            "--condition",
            "only this condition, judge, or level of a factor, as T=0 (repeat)",
            repeated=True,
            metavar="NAME",
        ),
        *SHOW,
    ),
)
