"""``judgestats simulate``: serve the simulated judges over HTTP."""

from __future__ import annotations

from judgestats.commands.table import Command, Option

COMMAND = Command(
    "endpoint:simulate_command",
    (
        Option("--port", kind="whole", default=8099),
        Option("--host", default="127.0.0.1"),
        Option(
            "--faults",
            "how it misbehaves, as in latency_s=.2,rate_limited=.05",
            metavar="NAME=VALUE,...",
        ),
    ),
)
