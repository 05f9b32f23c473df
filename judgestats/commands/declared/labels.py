"""``judgestats labels``: people's labels: how many, which, a page to give them."""

from __future__ import annotations

from judgestats.commands.declared.shared import ROWS, VALUES
from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "labels:labels_command",
    (
        Argument("action", choices=("plan", "split", "collect")),
        Argument("file", "a table; for collect a labels file", kind="file", many="optional"),
        Option("--half-width", "plan: how near, as in .05", kind="number", default=None),
        Option(
            "--rates",
            "plan: prevalence, sensitivity and specificity, or sd and correlation",
            metavar="NAME=VALUE,...",
        ),
        Option("--items", "plan: items judged", kind="whole", default=0),
        Option("--price", "plan: of a label", kind="number", default=float("nan")),
        Option("--labels", "plan: items to draw", kind="whole", default=0),
        Option("--by", "plan: draw by verdict", metavar="COLUMN"),
        Option(
            "--pilot",
            "plan: labels at hand, whose rates are planned with (with --by)",
            metavar="LABELS",
        ),
        VALUES,
        Option("--text", "plan: a text to show (repeat)", repeated=True, metavar="COLUMN"),
        Option("--item", metavar="COLUMN"),
        *ROWS,
        Option("--cluster", "split: the question", metavar="COLUMN"),
        Option("--validation", "split: share held out", kind="number", default=0.5),
        Option("--out", "plan: the file (labels.csv)"),
        Option("--annotator", "collect: a pseudonym", default="a1"),
        Option("--choices", "collect: the words of a label", default="pass,fail"),
        Option("--port", "collect: a free one by default", kind="whole", default=0),
        Option("--seed", kind="whole", default=0),
    ),
)
