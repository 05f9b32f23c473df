"""Several experiments writing at once to an MLflow server whose store is PostgreSQL.

    python benchmarks/postgresql.py [--runs 4]

Starts PostgreSQL (Debian's packages: apt-get install postgresql) as an unprivileged user in a
temporary folder on loopback, `mlflow server --workers 1` on it, and several `judgestats run
temperature` at the same time; checks that every run is whole, and prints what was found. It is
skipped, with the reason, where PostgreSQL or its driver (psycopg) is not installed. As root it
runs PostgreSQL as the user nobody, since PostgreSQL refuses root.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

EXPERIMENTS = ("temperature", "judges", "reasoning", "guidelines")


def missing() -> str:
    """Why this cannot run here; empty where it can."""
    if programs() is None:
        return "PostgreSQL is not installed (initdb was not found): apt-get install postgresql"
    if importlib.util.find_spec("psycopg") is None and importlib.util.find_spec("psycopg2") is None:
        return "no driver of PostgreSQL is installed: pip install 'psycopg[binary]'"
    if os.getuid() == 0 and shutil.which("runuser") is None:
        return "PostgreSQL refuses to run as root, and there is no runuser"
    return ""


def programs() -> Path | None:
    """The folder of initdb and pg_ctl: on PATH, or where Debian puts the newest version."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return versions[-1].parent if versions else None


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextlib.contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """A server of its own in `folder`; gives the address of an empty database."""
    bin_folder = programs()
    assert bin_folder is not None
    data, port, password = folder / "data", free_port(), secrets.token_hex(16)
    data.mkdir()
    (folder / "password").write_text(password)
    before: list[str] = []
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        for path in (folder, data, folder / "password"):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
        before = ["runuser", "-u", "nobody", "--"]

    def run(words: list[str]) -> None:
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=str(folder))

    initdb = [str(bin_folder / "initdb"), "-D", str(data), "-U", "judge", "-A", "scram-sha-256"]
    run([*before, *initdb, "--pwfile", str(folder / "password"), "-E", "UTF8", "--no-sync"])
    control = [*before, str(bin_folder / "pg_ctl"), "-D", str(data), "-l", str(folder / "log")]
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder}"
    run([*control, "-w", "-o", options, "start"])
    try:
        driver = "psycopg" if importlib.util.find_spec("psycopg") else "psycopg2"
        yield f"postgresql+{driver}://judge:{password}@127.0.0.1:{port}/postgres"
    finally:
        run([*control, "-w", "-m", "fast", "stop"])


@contextlib.contextmanager
def mlflow_server(store: str, folder: Path) -> Iterator[str]:
    """`mlflow server` with one worker on that store; gives its address."""
    port = free_port()
    words = ["-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, *words, "--artifacts-destination", str(folder / "artifacts")],
            env={
                **os.environ,
                "MLFLOW_BACKEND_STORE_URI": store,  # not on the command line: it has a password
                "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
            },
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/health", process, folder / "server.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=30)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 180
    while time.monotonic() < until:
        if process.poll() is not None:
            raise SystemExit(f"mlflow server ended:\n{log.read_text()[-2000:]}")
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:
            if answer.status == 200:
                return
        time.sleep(0.5)
    raise SystemExit("mlflow server did not answer within 180 s")


def experiments(server: str, folder: Path, runs: int) -> list[tuple[str, int, float]]:
    """So many experiments started at once; name, exit code and seconds of each."""
    started = []
    for i in range(runs):
        name = EXPERIMENTS[i % len(EXPERIMENTS)]
        place = folder / f"run-{i}"
        place.mkdir()
        log = (place / "log").open("w")
        words = ["run", name, "--report", "none", "--repeats", "3", "--resamples", "99"]
        process = subprocess.Popen(
            [sys.executable, "-m", "judgestats", *words, "--run-name", f"{name}-{i}"],
            cwd=place,
            env={**os.environ, "MLFLOW_TRACKING_URI": server},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        started.append((name, process, log))
    begun = time.perf_counter()
    done = []
    for i, (name, process, log) in enumerate(started):
        code = process.wait(timeout=900)
        log.close()
        done.append((name, code, time.perf_counter() - begun))
        if code:
            sys.stderr.write((folder / f"run-{i}" / "log").read_text()[-1500:])
    return done


def found_in(server: str) -> list[dict[str, object]]:
    """Every parent run with what belongs to it, as a client reads them."""
    import mlflow

    client = mlflow.MlflowClient(server)
    experiment = client.get_experiment_by_name("judgestats")
    every = client.search_runs([experiment.experiment_id], max_results=1000)
    parents = [r for r in every if r.data.tags.get("judgestats.kind") == "experiment"]
    out = []
    for parent in sorted(parents, key=lambda r: r.info.run_name):
        children = [r for r in every if r.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
        files = {f.path for f in client.list_artifacts(parent.info.run_id)}
        whole = (
            parent.info.status == "FINISHED"
            and len(children) == int(parent.data.params["design/conditions"])
            and all(c.info.status == "FINISHED" and c.data.metrics for c in children)
            and {"results.json", "plan.json", "data"} <= files
        )
        out.append(
            {
                "run": parent.info.run_name,
                "children": len(children),
                "metrics": sum(len(c.data.metrics) for c in children) + len(parent.data.metrics),
                "whole": whole,
            }
        )
    return out


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=4)
    arguments = parser.parse_args()
    reason = missing()
    if reason:
        sys.stdout.write(f"skipped: {reason}\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="judgestats-pg-") as scratch:
        place = Path(scratch)
        place.chmod(0o755)
        (place / "pg").mkdir()
        with (
            postgresql(place / "pg") as store,
            mlflow_server(store, place) as server,
        ):
            done = experiments(server, place, arguments.runs)
            found = found_in(server)
    sys.stdout.write(
        "| run | exit code | s | child runs | metrics | whole |\n|---|---|---|---|---|---|\n"
    )
    written = {str(row["run"]): row for row in found}
    whole = True
    for i, (experiment, code, seconds) in enumerate(done):
        name = f"{experiment}-{i}"
        row = written.get(name, {"children": 0, "metrics": 0, "whole": False})
        whole = whole and code == 0 and bool(row["whole"])
        sys.stdout.write(
            f"| {name} | {code} | {seconds:.0f} | {row['children']} | {row['metrics']} | "
            f"{'yes' if row['whole'] else 'NO'} |\n"
        )
    return 0 if whole and len(written) == len(done) else 1


if __name__ == "__main__":
    raise SystemExit(main())
