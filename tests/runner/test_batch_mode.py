"""Every experiment can be run in batches, and gives the judgments that it gives online."""

import pytest

from judgestats.collection import Journal
from judgestats.runner import load_design
from judgestats.runner.prepare import prepare
from judgestats.runner.run import _collect

CROWD = {
    "judges": "sim-crowd",
    "pairs": "4",
    "strategies": "vanilla,cce",
    "scaling": "none",
    "selections": "none",
    "repeats": "1",
    "key_points": "2",
}
SMALL = {"limit": "3", "judges": "sim-typical", "report": "none"}


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("temperature", {"repeats": "2", "temperatures": "0,1"}),
        ("grade_score", {"temperatures": "1"}),
        ("crowd", CROWD),
    ],
)
def test_in_batches_as_online(tmp_path, name, own):
    def frame(mode):
        prepared = prepare(load_design(name), {**SMALL, **own, "mode": mode})
        with Journal(tmp_path / f"{mode}.sqlite") as journal:
            collected = _collect(prepared, journal, run=None)  # only traces need one
        assert collected.complete
        return collected.read().drop(columns=["latency_s", "asked_at", "cost_usd"])

    online = frame("online")
    assert len(online) > 0
    assert online.equals(frame("batch"))
