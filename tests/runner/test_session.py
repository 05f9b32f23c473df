"""The session names what computed the numbers, not what is installed beside it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from judgestats.analysis.audit import audit
from judgestats.data import Condition
from judgestats.runner import session, write_json, write_results
from tests.null_judge.worlds import World, scored


def test_results_bring_the_session_up_to_date(tmp_path: Path) -> None:
    before = session(command="judgestats analyze my.csv") | {"packages": {}}
    write_json(tmp_path / "session.json", before)
    world = World(sizes=(1,) * 6, replications=3, unread=0.0, constant=0.0)
    frame = scored(np.random.default_rng(1), world, [Condition(judge="a", temperature=1.0)])
    write_results(tmp_path, audit(frame, n_resamples=19), {"kind": "audit"})
    after = json.loads((tmp_path / "session.json").read_text(encoding="utf-8"))
    assert after["command"] == "judgestats analyze my.csv"
    assert after["packages"]["scipy"] == sys.modules["scipy"].__version__
