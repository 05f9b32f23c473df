"""Acceptance of decisions: the committed table keeps every bound; -m study makes it again."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pandas as pd
import pytest

FOLDER = Path(__file__).parents[3] / "docs" / "simulations"


def test_the_committed_table_keeps_every_bound():
    table = pd.read_csv(FOLDER / "decisions.csv")
    lost = table.loc[~table["kept"], ["part", "cell", "measure", "value", "bound"]]
    assert lost.empty, lost.to_string()
    assert set(table["part"]) == {
        "cutoff",
        "automation",
        "cascade",
        "panel",
        "change",
        "labels",
        "stopping",
    }
    drawn = table[~table["measure"].str.startswith("printed bound")]
    assert drawn["replicates"].min() >= 1000


@pytest.mark.study
@pytest.mark.parametrize(
    "part", ["cutoff", "automation", "cascade", "panel", "change", "labels", "stopping"]
)
def test_a_part_made_again_keeps_its_bounds(part, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("decisions_simulation", FOLDER / "decisions.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    getattr(module, part)(*((200, None) if part == "labels" else (200,)))
    assert all(row["kept"] for row in module.ROWS)
