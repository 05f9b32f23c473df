"""1e8 judgments in partitioned Parquet: made in chunks, audited in one pass, memory and time told.

    python benchmarks/large.py                       # makes build/large-1e+08, runs, prints
    python benchmarks/large.py --rows 1e6 --check    # also compares with the audit in memory
    python benchmarks/large.py --rows 1e6 --reading  # CPU seconds of reading plain tables
    python benchmarks/large.py --rows 1e7 --verdicts # pass (a score of 6 or more) and fail

The judgments are seeded draws: an item's worth, a judge's scatter that grows with temperature,
scores of 1 to 10, two in a hundred refused. Items share questions by four.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

JUDGES, TEMPERATURES, REPLICATES = ("judge-a", "judge-b"), (0.0, 0.25, 0.5, 0.75, 1.0), 20
CHUNK = 50_000
"""Items of one file."""


def make(folder: Path, rows: int, *, items: int = CHUNK, verdicts: bool = False) -> int:
    """Write the judgments, at most so many items a file; returns how many there are."""
    conditions = len(JUDGES) * len(TEMPERATURES)
    n_items = max(8, rows // (conditions * REPLICATES))
    refused, words = pa.array(["ok", "refused"]), pa.array(["fail", "pass"])
    for chunk, start in enumerate(range(0, n_items, items)):
        size = min(items, n_items - start)
        worth = np.random.default_rng((1, chunk)).normal(6.5, 1.4, size)
        names = pa.array([f"item-{start + i:07d}" for i in range(size)])
        questions = pa.array([f"question-{(start + i) // 4:07d}" for i in range(size)])
        rank = np.repeat(np.arange(size, dtype=np.int32), REPLICATES)
        for j, judge in enumerate(JUDGES):
            for t, temperature in enumerate(TEMPERATURES):
                rng = np.random.default_rng((2, chunk, j, t))
                noise = rng.standard_normal(rank.size, dtype=np.float32)
                sd = (0.35 + 0.5 * temperature) * (1.0 + 0.25 * j)
                score = np.clip(np.rint(worth[rank] - 0.3 * j + sd * noise), 1, 10)
                lost = rng.random(rank.size, dtype=np.float32) < 0.02
                scores = pa.array(score.astype(np.float32), mask=lost)
                passed = pa.array((score >= 6).astype(np.int8), mask=lost)
                given = pa.DictionaryArray.from_arrays(passed, words) if verdicts else scores
                table = pa.table(
                    {
                        "item_id": pa.DictionaryArray.from_arrays(pa.array(rank), names),
                        "question": pa.DictionaryArray.from_arrays(pa.array(rank), questions),
                        "replicate": np.tile(np.arange(REPLICATES, dtype=np.int16), size),
                        "verdict" if verdicts else "score": given,
                        "status": pa.DictionaryArray.from_arrays(
                            pa.array(lost.astype(np.int8)), refused
                        ),
                    }
                )
                part = folder / f"judge={judge}" / f"temperature={temperature:g}"
                part.mkdir(parents=True, exist_ok=True)
                pq.write_table(table, part / f"part-{chunk:04d}.parquet", row_group_size=1 << 20)
    return n_items * conditions * REPLICATES


def work(folder: Path) -> dict[str, float]:
    """Audit in this process, as a user does; the peak is that of the whole process."""
    pa.set_cpu_count(int(os.environ.get("OMP_NUM_THREADS", "2")))
    begun = time.perf_counter()
    from judgestats.cli import main as judgestats

    said = io.StringIO()
    words = ["analyze", str(folder), "--track", "none", "--report", "none"]
    words += [] if folder.name.endswith("-verdicts") else ["--scale", "1-10"]
    with contextlib.redirect_stdout(said):
        judgestats([*words, "--json"])
    document = json.loads(said.getvalue())
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "rows": document["reading"]["counts"]["rows_in"],
        "items": document["reading"]["counts"]["items"],
        "wall_s": time.perf_counter() - begun,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_gib": used.ru_maxrss / 2**20,
        "results": len(document["results"]["results"]),
    }


def check(folder: Path) -> float:
    """Largest difference of the table of conditions from the audit in memory."""
    import pandas as pd

    import judgestats as js

    whole = pd.read_parquet(folder)
    file = folder.parent / f"{folder.name}-whole.parquet"
    whole.assign(temperature=whole["temperature"].astype(float)).to_parquet(file)
    theirs, ours = (
        js.audit(js.read_judgments(source), n_resamples=99).conditions.set_index("condition")
        for source in (file, folder)
    )
    kept = list(theirs.select_dtypes("number"))
    difference = (ours.loc[theirs.index, kept] - theirs[kept]).abs()
    return float(np.nanmax(difference.to_numpy(float)))


def reading(folder: Path, rows: int) -> None:
    """Print CPU seconds (best of 3) of reading two plain tables, as multiples of pandas' parse."""
    import pandas as pd

    import judgestats as js

    rng = np.random.default_rng(0)
    items = np.array([f"item-{i:07d}" for i in range(rows // 2)])
    judges = np.array(["gpt-4o", "claude"])
    row = np.arange(rows)
    scores = {
        "item_id": items[row // 2],
        "judge": judges[row % 2],
        "score": rng.integers(1, 11, rows),
    }
    words = {
        "item_id": items[row // 10],
        "judge": judges[row // 5 % 2],
        "repeat": row % 5,
        "verdict": rng.choice(["pass", "fail", "Pass"], rows),
    }
    folder.mkdir(parents=True, exist_ok=True)

    def seconds(read: Callable[[], object]) -> float:
        taken = []
        for _ in range(3):
            begun = time.process_time()
            read()
            taken.append(time.process_time() - begun)
        return min(taken)

    for name, columns in (("scores", scores), ("words", words)):
        frame = pd.DataFrame(columns)
        csv, parquet = folder / f"{name}.csv", folder / f"{name}.parquet"
        frame.to_csv(csv, index=False)
        frame.to_parquet(parquet, index=False)
        texts = dict.fromkeys(("item_id", "judge"), "str")
        parse = seconds(lambda csv=csv, texts=texts: pd.read_csv(csv, dtype=texts))
        sys.stdout.write(f"{name}: pandas.read_csv {parse:.2f} s\n")
        for file in (csv, parquet):
            for stream in ("no", "yes"):
                own = seconds(lambda f=file, s=stream: js.read_judgments(f, stream=s))
                how = "one pass" if stream == "yes" else "memory"
                sys.stdout.write(f"{file.name:16} {how:9} {own:.2f} s {own / parse:.1f} x\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--folder", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--reading", action="store_true")
    parser.add_argument("--verdicts", action="store_true", help="pass and fail, no scores")
    parser.add_argument("--keep", action="store_true", help="leave the files")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    rows = int(arguments.rows)
    kind = "-verdicts" if arguments.verdicts else ""
    folder = Path(arguments.folder or f"build/large-{rows:.0e}{kind}")
    if arguments.reading:
        reading(folder, rows)
        shutil.rmtree(folder)
        return
    if arguments.work:
        sys.stdout.write(json.dumps(work(folder)))
        return
    begun = time.perf_counter()
    if not folder.exists():
        make(folder, rows, verdicts=arguments.verdicts)
    size = sum(f.stat().st_size for f in folder.rglob("*.parquet")) / 2**30
    sys.stderr.write(f"made {size:.2f} GiB in {time.perf_counter() - begun:.0f} s\n")
    # A process of its own, so that the peak is that of the analysis alone.
    done = subprocess.run(
        [sys.executable, __file__, "--work", "--folder", str(folder)],
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout) | {"files_gib": size}
    if arguments.check:
        found["largest_difference"] = check(folder)
    for name, value in found.items():
        sys.stdout.write(f"{name:20} {value:.6g}\n")
    if not arguments.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
