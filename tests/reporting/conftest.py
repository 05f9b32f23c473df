"""A small run folder, made by the package's own analysis from synthetic judgments."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import supplemented, temperature
from judgestats.data import Condition, parsed_frame
from judgestats.reporting import render_report
from judgestats.runner import session, write_json, write_results
from judgestats.studies.published import with_published

NASTY_JUDGE = "evil <script>alert(1)</script> $x$ @fig-a"
NASTY_ID = "q0'\"><img src=http://evil.example/x onerror=alert(1)>#panic()"
NASTY_PROMPT = (
    "[system]\nRate </code></pre><script>alert(1)</script> {{< include x >}}\n"
    "```{=html}\n<img src='http://evil.example/y'>\n```\n#read(\"x\") $1$ @cohen1960\n" + "w" * 300
)


def synthetic_judgments(judges: tuple[str, ...], *, seed: int = 0) -> pd.DataFrame:
    """12 items x 2 temperatures x 5 replications for each judge; a few not read."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(3, 9, size=12)
    rows = []
    for judge in judges:
        for t in (0.0, 0.5, 1.0):
            for i, level in enumerate(truth):
                for r in range(5):
                    noise = 1.4 * t * rng.normal()
                    lost = t == 1.0 and i == 3 and r == 0
                    rows.append(
                        {
                            "experiment": "temperature",
                            "judge": judge,
                            "temperature": t,
                            "sent": json.dumps({"temperature": t}),
                            "item_id": NASTY_ID if i == 0 else f"q{i}/author",
                            "cluster": NASTY_ID if i == 0 else f"q{i}",
                            "category": "writing" if i % 2 else "maths",
                            "replicate": r,
                            "score": np.nan
                            if lost
                            else float(np.clip(round(level + noise), 1, 10)),
                            "status": "unparseable" if lost else "ok",
                            "reason": "no score: </td><script>x</script>" if lost else "",
                            "cost_usd": 0.0002,
                            "finish_reason": "stop",
                            "fingerprint": "fp",
                            "asked_at": f"2026-05-04T10:00:{r:02d}.000+00:00",
                        }
                    )
    return parsed_frame(pd.DataFrame(rows))


def write_run(folder: Path, judges: tuple[str, ...], *, simulated: bool, seed: int = 0) -> Path:
    """Everything a run's folder holds."""
    frame = synthetic_judgments(judges, seed=seed)
    conditions = [Condition(judge=j, temperature=t) for j in judges for t in (0.0, 0.5, 1.0)]
    declared = temperature.plan({"resamples": 99, "seed": 0}, conditions)
    analysis = with_published(temperature.analyse(frame, declared), frame)
    analysis = supplemented(analysis, frame, level=declared.level)
    (folder / "data").mkdir(parents=True)
    (folder / "prompts").mkdir()
    (folder / "prompts" / "abc123.txt").write_text(NASTY_PROMPT, encoding="utf-8")
    frame.to_parquet(folder / "data" / "judgments.parquet", index=False)
    item = {"id": NASTY_ID, "cluster": NASTY_ID, "turns": ["<script>"], "responses": []}
    (folder / "data" / "items.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
    write_json(folder / "plan.json", declared)
    write_json(folder / "session.json", session())
    about = {
        "kind": "experiment",
        "title": "Temperature & <b>spread</b>",
        "simulated": simulated,
        "judges": [
            {
                "name": j, "model": j, "simulated": simulated, "endpoint": "in this process",
                "model_reported": [NASTY_ID], "fingerprints": ["fp"], "reply_mode": ["json_schema"],
                "prompt_sha": ["abc123"],
            }
            for j in judges
        ],
        "design": {
            "experiment": "temperature", "items": 12, "clusters": 12, "replicates": 5,
            "scale": [1, 10], "choices_per_request": 1, "item_source": "bank",
            "temperatures": [0.0, 0.5, 1.0],
        },
        "account": {"asked": 360, "answered": 360, "failed": 0, "requests": 360, "cost_usd": 0.072},
        "complete": True,
        "command": "judgestats run temperature --judges 'a b' `x` {{< y >}}",
    }  # fmt: skip
    write_results(folder, analysis, about)
    return folder


@pytest.fixture(scope="session")
def make_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make a run folder for some judges."""

    def make(judges: tuple[str, ...], *, simulated: bool = True, seed: int = 0) -> Path:
        folder = tmp_path_factory.mktemp("run")
        return write_run(folder, judges, simulated=simulated, seed=seed)

    return make


@pytest.fixture(scope="session")
def run_folder(make_run: Callable[..., Path]) -> Path:
    """A run of two simulated judges, one with a hostile name."""
    return make_run(("sim-typical", NASTY_JUDGE))


@pytest.fixture(scope="session")
def report(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The report of that run in all formats, by the built-in renderer.

    It is the same for all, so the first of several processes that test at once renders it.
    """
    formats = ("html", "pdf", "docx", "tex", "md")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    out = shared / "the-report"
    with (shared / "the-report.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.is_dir():
            making = shared / "the-report-in-the-making"
            render_report(run_folder, to=formats, out_dir=making, renderer="builtin", detail="full")
            making.rename(out)
    return {kind: out / f"report.{kind}" for kind in formats}
