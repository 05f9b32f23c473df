"""Inspect asks the loopback server: `python inspect_client.py URL COUNT CONCURRENCY`."""

from __future__ import annotations

import os
import sys
import tempfile
import time

url, count, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ.update(BENCH_API_KEY="none", BENCH_BASE_URL=url, INSPECT_DISPLAY="none")

from common import PROMPT, report  # noqa: E402
from inspect_ai import Task, eval  # noqa: A004, E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.scorer import includes  # noqa: E402
from inspect_ai.solver import generate  # noqa: E402


def run(n: int) -> int:
    """Samples answered."""
    samples = [Sample(id=i, input=f"{i} {PROMPT}", target="8") for i in range(n)]
    with tempfile.TemporaryDirectory() as logs:
        log = eval(
            Task(dataset=samples, solver=generate(), scorer=includes()),
            model="openai-api/bench/judge",
            max_connections=concurrency,
            max_samples=2 * concurrency,
            log_dir=logs,
            temperature=0.5,
        )[0]
        return sum(1 for s in log.samples or [] if s.output.completion)


run(4)  # imports and first connections are not the client's speed
started, cpu = time.perf_counter(), time.process_time()
answered = run(count)
report(started, cpu, answered, count)
