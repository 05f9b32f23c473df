"""Runs that are killed at random moments lose nothing and leave nothing."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docs/simulations/run_kills.py"


def is_sound(row: dict[str, str]) -> bool:
    """Nothing is lost, nothing is left, and only what was in flight is asked again."""
    n = {name: float(value) for name, value in row.items()}
    return (
        n["lost"] == n["exit_code"] == n["processes_left"] == n["scratch_left"] == 0
        and n["asked_twice"] <= n["in_flight"] <= 8
        and n["same_scores"] == 1
    )


def test_forty_kills_lost_nothing():
    with SCRIPT.with_suffix(".csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40
    assert [row for row in rows if not is_sound(row)] == []
    stored = [float(row["stored"]) for row in rows]
    assert 0 in stored  # before the first answer, among answers, and after the last one
    assert max(stored) == 120
    assert any(0 < n < 120 for n in stored)
    assert any(float(row["in_flight"]) > 0 for row in rows)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="lists processes by /proc")
def test_a_killed_run_goes_on():
    argv = [sys.executable, str(SCRIPT), "--kills", "1", "--seeds", "41", "--items", "2", "--print"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert len(rows) == 1
    assert all(map(is_sound, rows))
