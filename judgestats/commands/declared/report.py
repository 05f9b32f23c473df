"""``judgestats report``: render the report of a run again, or compare several."""

from __future__ import annotations

from judgestats.commands.declared.shared import SHOW_AND_BOUNDS
from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "report:report_command",
    (
        Argument(
            "run",
            "an MLflow run id, or a run's folder; several are compared",
            kind="file",
            many="some",
        ),
        Option("--to", "html, pdf, docx, md, tex (by default html,pdf)", default=None),
        Option(
            "--out", "folder (by default the current one), or one file such as x.html", kind="file"
        ),
        Option(
            "--detail",
            "the answer and what it rests on, or all results",
            default="brief",
            choices=("brief", "full"),
        ),
        Option("--document", "a document's name, or your own .qmd"),
        Option("--template", "your own .qmd (judgestats template)"),
        *SHOW_AND_BOUNDS,
    ),
)
