"""``judgestats show``: show a run again, or one of its results in words."""

from __future__ import annotations

from judgestats.commands.declared.shared import SHOW_AND_BOUNDS
from judgestats.commands.table import Argument, Command

COMMAND = Command(
    "show:show_command",
    (
        Argument("run", "an MLflow run id (or how it begins), or a run's folder", kind="file"),
        Argument("result", "a result's id; one that begins so", many="any", metavar="ID"),
        *SHOW_AND_BOUNDS,
    ),
)
