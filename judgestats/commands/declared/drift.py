"""``judgestats drift``: has a judge changed between two runs?"""

from __future__ import annotations

from judgestats.commands.declared.shared import OMEGA_MODEL, SHOW_AND_BOUNDS, TABLE
from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "drift:drift_command",
    (
        Argument("first", "an MLflow run id, a run's folder, or a file of judgments", kind="file"),
        Argument("second", "the later run, or file", kind="file"),
        Option(
            "--pair",
            "conditions that belong together (repeat); by default those of the same name",
            repeated=True,
            metavar="'FIRST -> SECOND'",
        ),
        Option(
            "--baseline",
            "the first run done again with nothing changed: changes are counted beyond its own",
            kind="file",
            metavar="RUN",
        ),
        Option("--fail-if-changed", "exit 1 where a change is shown (for CI)", kind="switch"),
        Option(
            "--anchors",
            "unchanged answers of the first run judged again today: tells the judge's change from "
            "the system's",
            kind="file",
            metavar="RUN",
        ),
        Option("--labels", "people's labels of the first run's answers", kind="file"),
        *(option for option in TABLE if option.flag != "--labels"),
        Option(
            "--relabels", "today's labels of the anchors: have the people changed?", kind="file"
        ),
        OMEGA_MODEL,
        Option("--resamples", kind="whole", default=999),
        Option("--seed", kind="whole", default=0),
        Option(
            "--out",
            "write the results to this JSON file, or to this folder with the judgments compared "
            "and the cross-check",
        ),
        *SHOW_AND_BOUNDS,
    ),
)
