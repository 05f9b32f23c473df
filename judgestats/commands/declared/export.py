"""``judgestats export``: judgments as training data, or with an R script that checks a run."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "export:export_command",
    (
        Argument(
            "runs", "MLflow run ids, or runs' folders", kind="file", many="some", metavar="RUN"
        ),
        Option("--out", "folder for the files", kind="folder", required=True),
        Option("--r", "the judgments, and an R script that recomputes the numbers", kind="switch"),
        Option(
            "--mode",
            "whose judgments: vanilla, crowd comparative, both, or all strategies",
            default="mixed",
            choices=("vanilla", "cce", "mixed", "any"),
        ),
        Option("--correct", "only those that agree with labels", kind="switch"),
        Option("--consistent", "only same in both orders", kind="switch"),
        Option("--verdict-only", "without the reasoning", kind="switch"),
        Option("--ties", default="drop", choices=("drop", "keep")),
        Option(
            "--condition",
            "only this condition, judge, or level of a factor, as T=0 (repeat)",
            repeated=True,
            metavar="NAME",
        ),
        Option("--balance", "as many of each kind (vanilla, cce) as the least", kind="switch"),
        Option("--prompt", "how the student is asked: a bundled prompt or a file"),
        Option("--validation", "share of questions held out (0.1)", kind="number", default=0.1),
        Option("--seed", kind="whole", default=0),
        Option("--overwrite", kind="switch"),
    ),
)
