"""The pytest plugin, in a suite of somebody else's."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
SUITE = """
    import numpy as np
    import pandas as pd

    def scores(noise):
        rng = np.random.default_rng(1)
        return pd.DataFrame(
            [{"item": i, "repeat": r, "score": float(1 + i % 9 + rng.normal(0, noise))}
             for i in range(45) for r in range(2)]
        )

    def test_steady(assert_judge):
        gate = assert_judge(scores(0.3), require={"reliability": 0.9}, n_resamples=99)
        assert gate.exit_code == 0

    def test_noisy(assert_judge):
        assert_judge(scores(9), require={"reliability": 0.9}, n_resamples=99)
"""


def test_a_suite_fails_where_a_bound_is_not_kept(pytester: pytest.Pytester, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    pytester.makepyfile(SUITE)
    done = pytester.runpytest_subprocess("-p", "no:xdist")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*FAIL  judge: ICC(1,1)*is below .90*", "*exit 1*"])
    done.stdout.no_fnmatch_line("*plain_text(gate.lines())*")


def test_pytest_finds_it_by_the_entry_point() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    points = project["project"]["entry-points"]["pytest11"]
    assert all(hasattr(import_module(name), "assert_judge") for name in points.values())
