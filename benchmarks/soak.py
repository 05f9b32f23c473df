"""A long collection against a misbehaving server: writes docs/simulations/soak.md.

    python benchmarks/soak.py            # 100,000 judgments over loopback HTTP, 5% faults

The server runs in a process of its own; the collection is stopped twice on the way (by a cap on
requests, and by SIGKILL) and goes on from its journal.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
FAULTS = (
    "rate_limited=.01,rate_limited_silent=.005,overloaded=.005,server_error=.01,reset=.01,"
    "truncated_json=.005,wrong_type=.005,latency_s=.005,latency_spread=.5"
)


def tasks(url: str, count: int):
    from judgestats.data.columns import Condition, Task
    from judgestats.items.records import Item, Response
    from judgestats.protocols.pointwise import Pointwise

    protocol = Pointwise()
    condition = Condition(judge=f"sim-typical@{url}", temperature=1.0)
    for number in range(count // 100):
        item = Item(
            id=f"q{number}",
            cluster=f"q{number}",
            turns=(f"What is {number} times {number}?",),
            responses=(Response(turns=(f"It is {number * number}.",)),),
        )
        [unit] = protocol.units((item,))
        for replicate in range(100):
            yield Task(
                condition=condition,
                item_id=unit.item_id,
                cluster=unit.cluster,
                replicate=replicate,
                build=lambda mode, unit=unit: protocol.prompt(unit, mode),
            )


def leg(url: str, count: int, folder: Path, name: str, max_requests: int | None) -> None:
    """One run of the collection, in this process; prints its account."""
    from judgestats.collection.ledger import Budget
    from judgestats.collection.retry import RetryPolicy
    from judgestats.collection.single_answers import collect_judgments

    started = time.perf_counter()
    collected = collect_judgments(
        tasks(url, count),
        journal=folder / "journal.db",
        stream_to=folder / name,
        concurrency=64,
        retry=RetryPolicy(first_s=0.01, longest_s=0.2, attempts=10, unusable_attempts=10),
        budget=Budget(max_requests=max_requests),
        progress=True,
    )
    texts = sum(len(p.read_bytes()) for p in collected.parts)
    print(
        json.dumps(
            {
                **collected.account.as_dict(),
                "why": collected.stopped_because.value,
                "seconds": time.perf_counter() - started,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "parts": len(collected.parts),
                "bytes": texts,
            }
        )
    )


def start(url: str, count: int, folder: Path, name: str, cap: int | None) -> subprocess.Popen:
    arguments = ["--leg", url, str(count), str(folder), name, str(cap or 0)]
    return subprocess.Popen(
        [sys.executable, __file__, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def soak(count: int) -> list[dict]:
    """All legs: capped at 30%, killed on the way, and to the end; then once more, for nothing."""
    code = (
        "import sys\n"
        "from judgestats.simulated.app import Faults\n"
        "from judgestats.simulated.app import serve\n"
        "serve(0, faults=Faults.parse(sys.argv[1]))"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", code, FAULTS],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        url = server.stdout.readline().split()[3]
        with tempfile.TemporaryDirectory() as where:
            folder = Path(where)
            capped = start(url, count, folder, "capped", count * 3 // 10)
            legs = [json.loads(capped.communicate()[0].splitlines()[-1])]
            killed = start(url, count, folder, "killed", None)
            while len(list(folder.glob("killed/part-*.parquet"))) < max(2, count * 9 // 100_000):
                time.sleep(0.2)
            killed.send_signal(signal.SIGKILL)
            killed.communicate()
            for name in ("rest", "again"):
                last = start(url, count, folder, name, None)
                legs.append(json.loads(last.communicate()[0].splitlines()[-1]))
            check(folder, count)
            return legs
    finally:
        server.kill()
        server.communicate()


def check(folder: Path, count: int) -> None:
    import pandas as pd

    from judgestats.data.schema import validate_raw

    frame = pd.concat(pd.read_parquet(p) for p in sorted(folder.glob("rest/*.parquet")))
    frame = validate_raw(frame)
    complete = frame.groupby("item_id")["replicate"].agg(lambda r: len(set(r)) == 100).all()
    if len(frame) != count or not complete or set(frame["transport"]) != {"answered"}:
        raise SystemExit(f"the frame is not complete: {len(frame)} rows")
    again = pd.concat(pd.read_parquet(p) for p in sorted(folder.glob("again/*.parquet")))
    keys = ["item_id", "replicate"]
    one, two = (f.sort_values(keys)["raw_text"].tolist() for f in (frame, again))
    if one != two:
        raise SystemExit("the journal gives other answers the second time")


TEXT = """<!-- generated by benchmarks/soak.py -->

# A soak: {count:,} judgments, 5% faults

{count:,} judgments over loopback HTTP against a server that answers one request in twenty with 429
(with and without Retry-After), 500, 503, a reset, truncated JSON or an HTML page. The first run was
stopped by `max_requests`, the second killed with SIGKILL, the third went to the end, the fourth
asked for nothing new.

{rows}

At the end every judgment has exactly one answered row, the frame validates, and the fourth run
asks nothing and reads the same answers from the journal. asked = answered + failed holds in every
run. (Times on two cores that the server, and others, share.)
"""


def write(legs: list[dict], count: int) -> None:
    names = ("max_requests", "to the end, after SIGKILL", "again")
    columns = (
        "run",
        "ended",
        "asked",
        "answered",
        "failed",
        "from the journal",
        "requests",
        "retries",
        "discarded",
        "possibly billed twice",
        "seconds",
        "peak MB",
    )
    rows = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for name, leg_ in zip(names, legs, strict=True):
        if leg_["asked"] != leg_["answered"] + leg_["failed"]:
            raise SystemExit(f"the account of {name} does not add up: {leg_}")
        rows.append(
            f"| {name} | {leg_['why'] or 'complete'} | {leg_['asked']:,} | {leg_['answered']:,} "
            f"| {leg_['failed']:,} | {leg_['cached']:,} | {leg_['requests']:,} "
            f"| {leg_['retries']:,} | {leg_['discarded']:,} | {leg_['possibly_billed_twice']} "
            f"| {leg_['seconds']:.0f} | {leg_['peak_mb']:.0f} |"
        )
    out = ROOT / "docs" / "simulations" / "soak.md"
    out.write_text(TEXT.format(count=count, rows="\n".join(rows)), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leg", nargs=5)
    parser.add_argument("--count", type=int, default=100_000)
    chosen = parser.parse_args()
    if chosen.leg:
        url, count, folder, name, cap = chosen.leg
        leg(url, int(count), Path(folder), name, int(cap) or None)
    else:
        write(soak(chosen.count), chosen.count)
