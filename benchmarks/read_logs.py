"""Time and memory of reading a million judgments from JSON lines: `read_logs.py [ROWS]`.

A file in FastChat's form is written to a temporary folder, 20,000 items judged ROWS / 20,000 times.
The time is the reader's and, apart, that of decoding each line with the standard library: the least
that any reader does.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from judgestats.data.readers import read_judgments

rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "judge_single.jsonl"
    with path.open("w") as file:
        for i in range(rows):
            record = {
                "question_id": i % 20_000,
                "model": "model-x",
                "judge": ["judge", "single-v1"],
                "user_prompt": "Rate the response from 1 to 10. " * 8,
                "judgment": f"Mostly right, though it leaves out a step. Rating: [[{1 + i % 10}]]",
                "score": 1 + i % 10,
                "turn": 1,
                "tstamp": 1795310829.0 + i,
            }
            file.write(json.dumps(record) + "\n")
    size = path.stat().st_size
    start = time.perf_counter()
    with path.open() as file:
        for line in file:
            json.loads(line)
    decoding = time.perf_counter() - start
    start = time.perf_counter()
    frame = read_judgments(path)
    reading = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
print(
    f"{len(frame):,} judgments, {size / 1e6:.0f} MB: json.loads of every line {decoding:.1f} s, "
    f"read_judgments {reading:.1f} s "
    f"({reading / decoding:.1f} times as long), peak memory {peak:.1f} GiB"
)
