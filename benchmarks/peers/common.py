"""What the peers' scripts share: the prompt, and the line in which they report."""

from __future__ import annotations

import json
import time

PROMPT = "Rate from 1 to 10.\n[The Start of Answer]\n" + "word " * 200 + "\n[The End of Answer]"


def report(started: float, cpu: float, answered: int, count: int) -> None:
    """Print seconds, CPU per judgment, and how many were answered, as the last line."""
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - started,
                "cpu_ms": (time.process_time() - cpu) / count * 1000,
                "answered": answered,
            }
        )
    )
