"""Other packages find the same numbers in every design."""

from __future__ import annotations

import inspect

import pandas as pd
import pytest

from judgestats.analysis.second_opinion import disagreeing, opinions_table, second_opinion
from tests.null_judge.designs import NULL, seeded
from tests.null_judge.test_invariances_everywhere import DOORS, SMALL, changed

NOT_OF_SCORES = {"drift, verdicts"}
"""One test of verdicts by permutation, which no package has."""


@pytest.mark.parametrize("name", DOORS)
def test_nothing_differs_from_other_packages(name, monkeypatch):
    design = NULL[name].func
    given = {"effect": 3.0} if "effect" in inspect.signature(design).parameters else {}
    seen: list[pd.DataFrame] = []

    def keep(frame: pd.DataFrame) -> pd.DataFrame:
        seen.append(frame)
        return frame

    module, door = DOORS[name]
    monkeypatch.setattr(module, door, changed(getattr(module, door), keep))
    found = design(seeded(5), SMALL, resamples=19, **given).records()
    frame = pd.concat(seen, ignore_index=True) if name.startswith("drift") else seen[0]
    opinions = second_opinion(frame, found)
    assert bool(opinions) == (name not in NOT_OF_SCORES)
    assert not disagreeing(opinions), opinions_table(opinions).to_string()
