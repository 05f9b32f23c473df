"""Collecting judgments beside other tools, each in its own environment, on one loopback server.

    python benchmarks/collect_peers.py               # makes build/peers/* once, then measures

Each script in `peers/` asks the same prompt the same number of times and reports seconds, CPU per
judgment and how many were answered; the first calls (imports, connections) are not counted. Each
tool does more than asking: Inspect writes a log, lm-evaluation-harness scores, MLflow traces and
stores every assessment; judgestats keeps its journal. So the ratios say what one waits and pays
for, not how good a loop is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from collect import CLIENTS, Server, child

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parent / "build" / "peers"
PEERS = {
    "Inspect": ("inspect_client.py", ["inspect-ai==0.3.285", "openai>=2"]),
    "lm-evaluation-harness": ("lm_eval_client.py", ["lm-eval[api]==0.4.13"]),
    "MLflow make_judge": ("mlflow_client.py", []),  # in judgestats' own environment
}
OURS = "judgestats, journal on"


def interpreter(name: str, packages: list[str]) -> Path:
    """The Python of a peer's environment, made if it is not there."""
    if not packages:
        return Path(sys.executable)
    folder = ENVIRONMENTS / name.lower().replace(" ", "-")
    python = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
        (folder / ".installed").touch()
    return python


def ask(name: str, url: str, count: int, concurrency: int) -> dict[str, Any]:
    """What a peer's script reports in its last line."""
    script, packages = PEERS[name]
    done = subprocess.run(
        [str(interpreter(name, packages)), script, url, str(count), str(concurrency)],
        cwd=HERE / "peers",
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
        env={**os.environ, "PYTHONPATH": ""},
    )
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def rows(count: int, latency_ms: float = 20.0, concurrency: int = 64) -> list[dict[str, Any]]:
    """One row a tool: seconds, CPU ms a judgment, answered, ratio of seconds to ours."""
    found = []
    with Server(latency_ms) as url:
        for name in (OURS, "openai create"):
            best = min(
                (child("--one", name, url, count, concurrency) for _ in range(3)),
                key=lambda r: r["seconds"],
            )
            found.append({"tool": name, **best, "answered": count})
        for name in PEERS:
            found.append({"tool": name, **ask(name, url, count, concurrency)})
    for row in found:
        row["ratio"] = row["seconds"] / found[0]["seconds"]
        row["cpu_ratio"] = row["cpu_ms"] / found[0]["cpu_ms"]
    return found


def table(found: list[dict[str, Any]], count: int) -> list[str]:
    """The rows as Markdown."""
    lines = [
        "| tool | seconds | ratio | CPU ms a judgment | ratio | answered |",
        "|---|---|---|---|---|---|",
    ]
    return lines + [
        f"| {r['tool']} | {r['seconds']:.2f} | {r['ratio']:.1f} | {r['cpu_ms']:.2f} "
        f"| {r['cpu_ratio']:.1f} | {r['answered']} of {count} |"
        for r in found
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    chosen = parser.parse_args()
    assert OURS in CLIENTS
    print("\n".join(table(rows(chosen.count), chosen.count)))
