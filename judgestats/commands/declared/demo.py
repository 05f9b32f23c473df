"""``judgestats demo``: the answer on recorded judgments of real judges."""

from __future__ import annotations

from judgestats.commands.declared.shared import SHOW_AND_BOUNDS
from judgestats.commands.table import Command

COMMAND = Command(
    "demo:demo_command",
    (*SHOW_AND_BOUNDS,),
)
