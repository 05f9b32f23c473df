"""Other packages find the same numbers in every design."""

from __future__ import annotations

import inspect
from dataclasses import replace
from io import StringIO

import pandas as pd
import pytest

from judgestats.analysis import crosscheck_table
from judgestats.analysis.crosscheck import crosscheck
from tests.null_judge.designs import NULL, seeded
from tests.null_judge.test_invariances_everywhere import DOORS, SMALL, changed
from tests.null_judge.worlds import World

CHECKED = {
    "temperature": "Friedman's statistic",
    "omega": "Fleiss' kappa",
    "guidelines": "lower limit of a mean difference",
    "rejection_sampling": "McNemar's exact p",
    "head_to_tail": "upper limit of the pass rate",
}


@pytest.mark.parametrize("name", [*CHECKED, "audit, verdicts", "drift, scores", "validity"])
def test_nothing_differs_from_other_packages(name, monkeypatch):
    design = NULL[name].func
    given = {"effect": 3.0} if "effect" in inspect.signature(design).parameters else {}
    seen: list[pd.DataFrame] = []
    world = replace(SMALL, unread=0.0) if name.startswith("drift") else SMALL
    if name in CHECKED:  # other packages take complete tables of independent items
        world = World(sizes=(1,) * 10, replications=3, unread=0.0)

    def keep(frame: pd.DataFrame) -> pd.DataFrame:
        seen.append(frame)
        return frame

    module, door = DOORS[name]
    real = getattr(module, door)

    monkeypatch.setattr(module, door, changed(real, keep))
    analysis = design(seeded(5), world, resamples=19, **given)
    results = analysis.records()
    frame = pd.concat(seen, ignore_index=True) if name.startswith("drift") else seen[0]
    kept = analysis.files.get("chosen/standings.csv")
    rows = crosscheck(frame, results, standings=pd.read_csv(StringIO(kept)) if kept else None)
    assert all(row.agrees and not row.reason for row in rows), crosscheck_table(rows).to_string()
    if name in CHECKED:
        assert CHECKED[name] in {row.quantity for row in rows}
