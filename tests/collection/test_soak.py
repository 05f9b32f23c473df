"""The long run; its result is committed as docs/simulations/soak.md (run with -m soak)."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def load():
    spec = importlib.util.spec_from_file_location("soak", ROOT / "benchmarks" / "soak.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.soak
def test_a_hundred_thousand_judgments_with_faults_end_complete():
    soak = load()
    soak.write(soak.soak(100_000), 100_000)


def test_its_committed_result_is_of_a_complete_run():
    text = (ROOT / "docs" / "simulations" / "soak.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("|")][2:]
    numbers = [[int(cell.replace(",", "")) for cell in row[3:7]] for row in rows]
    (capped, rest, again) = numbers
    for asked, answered, failed, _ in numbers:
        assert asked == answered + failed
    assert rest[1] + rest[3] == again[3] == 100_000
    assert capped[1] < rest[3]  # the killed run's answers are there too
