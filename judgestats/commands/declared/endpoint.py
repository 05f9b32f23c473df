"""``judgestats endpoint``: what an endpoint honours, ignores and refuses."""

from __future__ import annotations

from judgestats.commands.table import Argument, Command, Option

COMMAND = Command(
    "endpoint:endpoint_command",
    (
        Argument("model", "as in gpt-4o-mini, llama3@http://host:8000/v1, judges.yaml"),
        Option("--base-url"),
        Option("--timeout", "seconds for one call", kind="number", default=60.0),
        Option("--prices", "a price file (YAML)"),
        Option("--out", "keep the card in this JSON file"),
        Option("--against", "compare with this card: a file, or a run's id"),
        Option("--track", "keep the card as a run", default="mlflow", choices=("mlflow", "none")),
    ),
)
