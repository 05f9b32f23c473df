"""What ``import judgestats as js`` offers, also where an event loop runs (Jupyter)."""

from __future__ import annotations

import asyncio

import pandas as pd
import pytest

import judgestats as js
from judgestats.errors import InputError


def test_the_endpoint_is_asked_inside_a_running_loop() -> None:
    async def cell() -> object:
        asyncio.get_running_loop()
        return js.endpoint("sim-typical")

    inside = asyncio.run(cell())
    assert inside.model == "sim-typical"
    assert inside.features == js.endpoint("sim-typical").features


def _file(path, *, worse: bool) -> object:
    rows = [
        {"item": f"i{i}", "judge": "J", "trial": t, "passed": int((i + t) % 4 > 0 + 2 * worse)}
        for i in range(40) for t in range(4)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_drift_takes_files(tmp_path) -> None:
    """The same file twice shows no change; a judge that passes half as many does."""
    before = _file(tmp_path / "before.csv", worse=False)
    again = _file(tmp_path / "again.csv", worse=False)
    after = _file(tmp_path / "after.csv", worse=True)
    same = js.drift(before, again, n_resamples=99)
    assert "differs" not in {h.claim for h in same.headlines}
    changed = js.drift(before, after, n_resamples=99)
    assert "differs" in {h.claim for h in changed.headlines}
    with pytest.raises(InputError, match="no file"):
        js.drift(before, tmp_path / "nowhere.csv")
