"""Other packages find the same numbers in every design."""

from __future__ import annotations

import inspect
from dataclasses import replace
from io import StringIO

import pandas as pd
import pytest

from judgestats.analysis.crosscheck import disagreeing, opinions_table, second_opinion
from tests.null_judge.designs import NULL, seeded
from tests.null_judge.test_invariances_everywhere import DOORS, SMALL, changed

PRIMARY = {
    "bias": {"p of leaning to a place", "shift by padding", "effect of length",
             "effect of own", "first place's share less the second's"},
    "self_consistency": {"agreement of the mean of 1", "agreement of the mean of 3",
                         "reliability of the mean of 1", "gain by the mean of 3"},
    "rejection_sampling": {"share of best candidates chosen", "gain over one drawn at random",
                           "difference of shares of best chosen"},
    "probe": {"shift by padding", "shift by citation", "p of an attack's success",
              "upper end of an attack's success"},
    "probe, pairs": {"shift by pair hint"},
    "grade_score": {"Grade Score", "signed-rank statistic V", "p of signed ranks",
                    "chi-squared of positions"},
    "head_to_tail": {"share called correct", "vote-share reliability", "p of signed ranks"},
    "omega": {"vote-share reliability", "Fleiss' kappa of repetitions", "Friedman's chi-squared",
              "Page's L"},
    "crowd": {"Cochran's Q", "difference of shares right"},
    "prompts": {"F of wordings within items"},
    "drift, scores": {"change of the mean score"},
    "drift, verdicts": {"p of leaning to a place", "change of verdicts beyond repetition"},
}  # fmt: skip
"""What is recomputed beyond reliabilities and adjustments."""


@pytest.mark.parametrize("name", DOORS)
def test_nothing_differs_from_other_packages(name, monkeypatch):
    design = NULL[name].func
    given = {"effect": 3.0} if "effect" in inspect.signature(design).parameters else {}
    seen: list[pd.DataFrame] = []
    items: list = []
    world = replace(SMALL, unread=0.0) if name.startswith("drift") else SMALL

    def keep(frame: pd.DataFrame) -> pd.DataFrame:
        seen.append(frame)
        return frame

    module, door = DOORS[name]
    real = getattr(module, door)

    def analyse(*args, **named):
        items.extend(named.get("items") or ())
        return real(*args, **named)

    monkeypatch.setattr(module, door, changed(analyse, keep))
    analysis = design(seeded(5), world, resamples=19, **given)
    results = analysis.records()
    frame = pd.concat(seen, ignore_index=True) if name.startswith("drift") else seen[0]
    kept = analysis.files.get("chosen/standings.csv")
    opinions = second_opinion(
        frame, results, items=items, own={"a": "author-a"},
        standings=pd.read_csv(StringIO(kept)) if kept else None,
    )  # fmt: skip
    assert opinions
    assert {o.what for o in opinions} >= PRIMARY.get(name, set())
    assert not disagreeing(opinions), opinions_table(opinions).to_string()
