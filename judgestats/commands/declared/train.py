"""``judgestats train``: fine-tune a judge on exported judgments (extra: train)."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "export:train_command",
    (
        Argument(
            "data", "a folder that `judgestats export` wrote, or a file of chats", kind="file"
        ),
        Option("--model", "a model's folder, or its name on the hub", required=True),
        Option("--out", "a new folder for the judge", kind="folder", required=True),
        Option("--epochs", kind="number", default=1.0),
        Option("--learning-rate", kind="number", default=2e-05),
        Option("--batch-size", kind="whole", default=1),
        Option("--accumulate", "steps before an update", kind="whole", default=8),
        Option("--max-length", "tokens; longer are left out", kind="whole", default=4096),
        Option("--seed", kind="whole", default=0),
    ),
)
