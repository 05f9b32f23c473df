"""Every experiment can be run in batches, and gives the judgments that it gives online."""

import pytest

from judgestats.collection import Journal
from judgestats.data import KEY_COLUMNS
from judgestats.runner import load_design
from judgestats.runner.prepare import prepare
from judgestats.runner.run import _collect
from judgestats.simulated import run_server
from tests.batch_server import BatchServer

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
def test_in_batches_as_online(tmp_path, quick_batches, name, own):
    def frame(mode):
        given = {**SMALL, **own}
        with run_server(BatchServer()) as url, Journal(tmp_path / f"{mode}.sqlite") as journal:
            given |= {"judges": f"{given['judges']}@{url}", "mode": mode}
            prepared = prepare(load_design(name), given)
            collected = _collect(prepared, journal, run=None)  # only traces need one
            assert collected.complete
            named = collected.read()
        named["condition"] = named["condition"].str.replace(url, "", regex=False)
        named["judge"] = named["judge"].str.replace(url, "", regex=False)
        named = named.drop(columns=["latency_s", "asked_at", "cost_usd"])
        return named.sort_values(list(KEY_COLUMNS), ignore_index=True)  # replies come as they come

    online = frame("online")
    assert len(online) > 0
    assert online.equals(frame("batch"))
