"""Collecting judgments: judgestats beside the bare SDK and raw aiohttp, on one loopback server.

    python benchmarks/collect.py                 # the table of speed
    python benchmarks/collect.py --memory        # memory at 1e4 and 2e5 judgments, and its slope
    python benchmarks/collect.py --write         # both, into docs/simulations/speed.md

Every client runs in a process of its own; the server in another. "share of ideal" is
requests x latency / concurrency, divided by the wall time from the first request to the last
answer. CPU is that of the client's process per judgment, imports excluded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
PROMPT = "Rate from 1 to 10.\n[The Start of Answer]\n" + "word " * 200 + "\n[The End of Answer]"
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 10}},
    "required": ["score"],
    "additionalProperties": False,
}


def body() -> dict:
    return {
        "model": "bench",
        "temperature": 0.5,
        "messages": [{"role": "user", "content": PROMPT}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "submit_score", "strict": True, "schema": SCHEMA},
        },
    }


async def pooled(count: int, concurrency: int, ask) -> None:
    left = iter(range(count))

    async def worker() -> None:
        for _ in left:
            await ask()

    await asyncio.gather(*(worker() for _ in range(concurrency)))


async def raw_aiohttp(url: str, count: int, concurrency: int) -> float:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask() -> None:
            async with session.post(f"{url}/chat/completions", json=body()) as reply:
                json.loads(await reply.read())

        started = time.perf_counter()
        await pooled(count, concurrency, ask)
        return time.perf_counter() - started


async def bare_create(url: str, count: int, concurrency: int) -> float:
    import httpx2
    from openai import AsyncOpenAI

    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    async with AsyncOpenAI(
        api_key="x",
        base_url=url,
        max_retries=0,
        http_client=httpx2.AsyncClient(limits=limits, timeout=60),
    ) as client:

        async def ask() -> None:
            await client.chat.completions.create(**body())

        started = time.perf_counter()
        await pooled(count, concurrency, ask)
        return time.perf_counter() - started


async def create_aiohttp(url: str, count: int, concurrency: int) -> float:
    from openai import AsyncOpenAI, DefaultAioHttpClient

    async with AsyncOpenAI(
        api_key="x", base_url=url, max_retries=0, http_client=DefaultAioHttpClient(timeout=60)
    ) as client:

        async def ask() -> None:
            await client.chat.completions.create(**body())

        started = time.perf_counter()
        await pooled(count, concurrency, ask)
        return time.perf_counter() - started


def tasks(url: str, count: int):
    from judgestats.data.columns import Condition, Task
    from judgestats.protocols.base import Prompted, ReplyMode, ReplySchema

    schema = ReplySchema(name="submit_score", description="Submit.", schema=SCHEMA)
    messages = ({"role": "user", "content": PROMPT},)

    def build(mode: ReplyMode) -> Prompted:
        return Prompted(messages=messages, mode=mode, prompt_sha="bench", schema=schema)

    condition = Condition(judge=f"bench@{url}", temperature=0.5)
    return (
        Task(condition=condition, item_id=f"q{i // 10}", cluster="q", replicate=i % 10, build=build)
        for i in range(count)
    )


async def ours(url: str, count: int, concurrency: int, choices: int = 1) -> float:
    from judgestats.collection.single_answers import collect

    with tempfile.TemporaryDirectory() as folder:
        plan = list(tasks(url, count))
        started = time.perf_counter()
        collected = await collect(
            plan,
            journal=Path(folder) / "journal.db",
            concurrency=concurrency,
            choices_per_request=choices,
        )
        seconds = time.perf_counter() - started
    if collected.account.answered != count:
        raise SystemExit(f"lost judgments: {collected.account}")
    return seconds


CLIENTS = {
    "raw aiohttp": raw_aiohttp,
    "openai create": bare_create,
    "openai[aiohttp] create": create_aiohttp,
    "judgestats, journal on": ours,
    "judgestats, journal on, n=4": lambda u, n, c: ours(u, n, c, 4),
}


def warm(url: str, client) -> None:
    """One request first: imports and the SDK's lazy types are not the client's speed."""
    asyncio.run(client(url, 4, 1))


def one(name: str, url: str, count: int, concurrency: int) -> None:
    client = CLIENTS[name]
    warm(url, client)
    before = time.process_time()
    seconds = asyncio.run(client(url, count, concurrency))
    cpu = (time.process_time() - before) / count * 1000
    print(json.dumps({"seconds": seconds, "cpu_ms": cpu}))


def memory(url: str, count: int) -> None:
    from judgestats.collection.single_answers import collect

    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            collected = await collect(
                tasks(url, count),
                journal=Path(folder) / "journal.db",
                concurrency=64,
                stream_to=Path(folder) / "parts",
            )
            if collected.account.answered != count:
                raise SystemExit(f"lost judgments: {collected.account}")

    asyncio.run(run())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"peak_mb": peak}))


class Server:
    """The loopback server in a process of its own."""

    def __init__(self, latency_ms: float) -> None:
        self.latency_ms = latency_ms

    def __enter__(self) -> str:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "loopback_server.py"), str(self.latency_ms)],
            stdout=subprocess.PIPE,
            text=True,
        )
        return f"http://127.0.0.1:{self.process.stdout.readline().strip()}/v1"

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def child(*arguments: object) -> dict:
    done = subprocess.run(
        [sys.executable, __file__, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


Cell = tuple[str, int, int]  # client, latency in ms, requests in flight


def table(count: int, repeats: int, names: list[str]) -> tuple[list[str], dict[Cell, dict]]:
    """The table's lines, and per client, latency and concurrency its seconds, share and CPU."""
    lines = [
        "| client | latency ms | concurrency | seconds | share of ideal | CPU ms a judgment |",
        "|---|---|---|---|---|---|",
    ]
    cells: dict[Cell, dict] = {}
    print("\n".join(lines))
    for latency in (20, 200):
        with Server(latency) as url:
            for concurrency in (64, 256):
                for name in names:
                    runs = [child("--one", name, url, count, concurrency) for _ in range(repeats)]
                    best = min(runs, key=lambda r: r["seconds"])
                    requests = count / 4 if name.endswith("n=4") else count
                    share = requests * latency / 1000 / concurrency / best["seconds"]
                    cells[name, latency, concurrency] = {**best, "share": share}
                    lines.append(
                        f"| {name} | {latency} | {concurrency} | {best['seconds']:.2f} "
                        f"| {share:.0%} | {best['cpu_ms']:.2f} |"
                    )
                    print(lines[-1], flush=True)
    return lines, cells


def against_aims(cells: dict[Cell, dict]) -> list[str]:
    """What the table says of the aims: >= 88% and >= 50%, within 10%, half the CPU."""
    ours, bare = "judgestats, journal on", "openai create"
    slower = cells[ours, 20, 256]["seconds"] / cells[ours, 20, 64]["seconds"] - 1
    ratios = [
        cells[ours, latency, n]["cpu_ms"] / cells[bare, latency, n]["cpu_ms"]
        for latency in (20, 200)
        for n in (64, 256)
    ]
    return [
        (
            f"- At 200 ms: {cells[ours, 200, 64]['share']:.0%} of the ideal with 64 requests in "
            f"flight (aim: 88%), {cells[ours, 200, 256]['share']:.0%} with 256 (aim: 50%)."
        ),
        f"- At 20 ms: 256 in flight take {slower:+.0%} of the seconds of 64 (aim: at most +10%).",
        (
            f"- CPU a judgment: {min(ratios):.2f} to {max(ratios):.2f} of that of the bare "
            "client's `create` (aim: at most .5)."
        ),
    ]


def memory_table() -> list[str]:
    with Server(1) as url:
        sizes = (10_000, 200_000)
        peaks = [child("--peak", url, size)["peak_mb"] for size in sizes]
    slope = (peaks[1] - peaks[0]) / (sizes[1] - sizes[0])
    bytes_each, million = slope * 2**20, peaks[1] + slope * 8e5
    lines = ["| judgments | peak MB |", "|---|---|"]
    lines += [f"| {size:,} | {peak:.0f} |" for size, peak in zip(sizes, peaks, strict=True)]
    lines.append(
        f"| 1,000,000 (extrapolated, {bytes_each:.0f} bytes per judgment) | {million:.0f} |"
    )
    print("\n".join(lines))
    return lines


TEXT = """<!-- generated by benchmarks/collect.py -->

# Speed and memory of collection

{count:,} judgments with a JSON schema on one loopback server (raw asyncio, a separate process),
each client in a separate process, best of {repeats}, {cores} cores. "Share of ideal" is requests
x latency / concurrency over wall time. judgestats sends by aiohttp with the headers of the `openai`
package, with its journal on, and asks one request before the others to find out what the endpoint
supports (one latency of the wall time).

{speed}

{aims}

Inspect, lm-evaluation-harness and MLflow on the same server: [benchmarks](../benchmarks/index.md).

Memory, with tasks as an iterable and rows streamed to Parquet (journal on):

{memory}
"""


def write(count: int, repeats: int) -> None:
    (speed, cells), memory = table(count, repeats, list(CLIENTS)), memory_table()
    text = TEXT.format(
        count=count,
        repeats=repeats,
        cores=os.cpu_count(),
        speed="\n".join(speed),
        aims="\n".join(against_aims(cells)),
        memory="\n".join(memory),
    )
    out = HERE.parent / "docs" / "simulations" / "speed.md"
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=4)
    parser.add_argument("--peak", nargs=2)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clients", default="")
    chosen = parser.parse_args()
    if chosen.one:
        one(chosen.one[0], chosen.one[1], int(chosen.one[2]), int(chosen.one[3]))
    elif chosen.peak:
        memory(chosen.peak[0], int(chosen.peak[1]))
    elif chosen.write:
        write(chosen.count, chosen.repeats)
    elif chosen.memory:
        memory_table()
    else:
        table(
            chosen.count,
            chosen.repeats,
            [n for n in CLIENTS if chosen.clients in n],
        )
