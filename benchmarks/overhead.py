"""What judgestats costs besides asking: start-up, `mlflow run`, logging, memory, a report.

    python benchmarks/overhead.py

Every figure is the median of runs that take turns with what stands beside it in its row.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent
BIN = Path(sys.executable).parent
CONDITIONS = 50
METRICS = {f"reliability/metric_{i}": i / 7 for i in range(20)}
PARAMS = {"judge/model": "m", "judge/temperature": "0.5", "design/replicates": "10"}
SMALL = {"judges": "sim-typical", "temperatures": "0,1", "repeats": "3", "resamples": "99"}


def environment() -> dict[str, str]:
    """Ours without a store of its own: each command makes one where it works."""
    unwanted = ("PYTHONDONTWRITEBYTECODE", "MLFLOW_")
    out = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    return out | {"PATH": f"{BIN}{os.pathsep}{out['PATH']}"}


def command(*words: object, cwd: Path | None = None) -> float:
    """Seconds of a command; it must succeed."""
    started = time.perf_counter()
    done = subprocess.run(
        [str(w) for w in words],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr[-2000:]}")
    return time.perf_counter() - started


def turns(calls: dict[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """Median seconds of each call; one round to warm up."""
    runs: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(repeats + 1):
        for name, call in calls.items():
            seconds = call()
            if number:
                runs[name].append(seconds)
    return {name: statistics.median(times) for name, times in runs.items()}


def start_up() -> list[dict[str, Any]]:
    """`judgestats --help` and `import judgestats` beside a bare Python."""
    took = turns(
        {
            "python": lambda: command(sys.executable, "-c", "pass"),
            "help": lambda: command(BIN / "judgestats", "--help"),
            "import": lambda: command(sys.executable, "-c", "import judgestats"),
            "mlflow": lambda: command(sys.executable, "-c", "import mlflow"),
        },
        repeats=7,
    )
    return [
        row("judgestats --help", took["help"], "python -c pass", took["python"]),
        row("import judgestats", took["import"], "python -c pass", took["python"]),
        row("import judgestats", took["import"], "import mlflow", took["mlflow"]),
    ]


def mlflow_run() -> list[dict[str, Any]]:
    """A small experiment through `mlflow run` beside the direct command."""
    given = [f"-P{k}={v}" for k, v in SMALL.items()] + ["-Preport=none"]
    direct = [w for k, v in SMALL.items() for w in (f"--{k}", v)] + ["--report", "none"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        took = turns(
            {
                "direct": lambda: command(
                    BIN / "judgestats", "run", "temperature", *direct, cwd=place
                ),
                "mlflow": lambda: command(
                    BIN / "mlflow", "run", PROJECT, "-e", "temperature", *given, cwd=place
                ),
            },
            repeats=3,
        )
    return [
        row("mlflow run . -e temperature", took["mlflow"], "judgestats run", took["direct"]),
    ]


def logging() -> list[dict[str, Any]]:
    """A parent and 50 conditions, beside one MLflow call a parameter and a metric."""
    import mlflow
    from mlflow.tracking import MlflowClient

    from judgestats.tracking.runs import RunWriter
    from judgestats.tracking.store import Store

    with tempfile.TemporaryDirectory() as folder:
        uri = f"sqlite:///{folder}/mlflow.db"
        mlflow.set_tracking_uri(uri)
        client = MlflowClient(uri)
        experiment = client.create_experiment("bench", artifact_location=f"{folder}/artifacts")
        store = Store(
            client=client,
            uri=uri,
            experiment_id=experiment,
            experiment_name="bench",
            adopted_run="",
        )

        def ours() -> float:
            started = time.perf_counter()
            with RunWriter(store, name="parent") as parent:
                for number in range(CONDITIONS):
                    with RunWriter(store, name=f"c{number}", parent=parent) as one:
                        one.numbers(METRICS, params=PARAMS)
            return time.perf_counter() - started

        def single() -> float:
            started = time.perf_counter()
            with mlflow.start_run(experiment_id=experiment):
                for _ in range(CONDITIONS):
                    with mlflow.start_run(experiment_id=experiment, nested=True):
                        for name, value in PARAMS.items():
                            mlflow.log_param(name, value)
                        for name, number in METRICS.items():
                            mlflow.log_metric(name, number)
            return time.perf_counter() - started

        took = turns({"ours": ours, "single": single}, repeats=3)
    return [
        row(
            f"a run of {CONDITIONS} conditions logged",
            took["ours"],
            "one MLflow call a number",
            took["single"],
        )
    ]


def report() -> list[dict[str, Any]]:
    """HTML and PDF of the demo's run, rendered again."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        words = [w for k, v in SMALL.items() for w in (f"--{k}", v)]
        command(BIN / "judgestats", "run", "temperature", *words, "--report", "none", cwd=place)
        found = subprocess.run(
            [sys.executable, "-c", FIND],
            cwd=place,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        run = json.loads(found.stdout.splitlines()[-1])
        took = turns(
            {
                kind: lambda kind=kind: command(
                    BIN / "judgestats", "report", run, "--to", kind, "--out", "out", cwd=place
                )
                for kind in ("html", "html,pdf")
            },
            repeats=2,
        )
    return [
        row("report, HTML", took["html"], "", float("nan")),
        row("report, HTML and PDF", took["html,pdf"], "report, HTML", took["html"]),
    ]


FIND = """
import json, mlflow
mlflow.set_tracking_uri("sqlite:///mlflow.db")
runs = mlflow.search_runs(search_all_experiments=True, output_format="list")
kind = "judgestats.kind"
print(json.dumps([r.info.run_id for r in runs if r.data.tags.get(kind) == "experiment"][0]))
"""
MEMORY = """
import sys, resource
import numpy as np, pandas as pd
import judgestats as js
n, r = int(sys.argv[1]) // 10, 10
rng = np.random.default_rng(0)
x = np.clip(np.round(rng.normal(6, 2, (n, 1)) + rng.normal(0, 1, (n, r))), 1, 10)
frame = pd.DataFrame({"item_id": np.repeat(np.arange(n), r).astype(str),
                      "replicate": np.tile(np.arange(r), n), "score": x.ravel()})
frame.to_parquet(sys.argv[2])
del frame, x
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(js.audit(js.read_judgments(sys.argv[2], judge="m"), n_resamples=99).conditions.shape)
print(before / 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def memory(count: int = 1_000_000) -> list[dict[str, Any]]:
    """Peak memory of an audit of so many judgments in memory, beside its input alone."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(count), f"{folder}/judgments.parquet"],
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        seconds = time.perf_counter() - started
    before, peak = map(float, done.stdout.splitlines()[-1].split())
    return [
        row(f"audit of {count:,} judgments in memory: peak MB", peak, "imports and input", before),
        row(f"audit of {count:,} judgments in memory: seconds", seconds, "", float("nan")),
    ]


def row(what: str, ours: float, beside: str, other: float) -> dict[str, Any]:
    """One line of the table."""
    return {"what": what, "ours": ours, "beside": beside, "other": other}


def rows() -> list[dict[str, Any]]:
    """All of them."""
    return [*start_up(), *mlflow_run(), *logging(), *report(), *memory()]


def table(found: list[dict[str, Any]]) -> list[str]:
    """The rows as Markdown."""
    lines = [
        "| what | judgestats | beside it | | ratio | difference |",
        "|---|---|---|---|---|---|",
    ]
    for r in found:
        if r["other"] == r["other"]:  # not NaN
            beside = f"{r['beside']} | {r['other']:.3g} | {r['ours'] / r['other']:.2f} "
            beside += f"| {r['ours'] - r['other']:+.3g}"
        else:
            beside = "| | | "
        lines.append(f"| {r['what']} | {r['ours']:.3g} | {beside} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table(rows())))
