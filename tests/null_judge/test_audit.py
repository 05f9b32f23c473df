"""Conditions that do not differ: an audit claims a difference no more often than it may."""

from __future__ import annotations

import numpy as np

from judgestats.analysis.audit import audit
from judgestats.judgments.design import Condition
from judgestats.results import Headline
from tests.null_judge.worlds import World, compared, labelled_items, scored

RUNS = 20
MOST = 0.05 + 2 * np.sqrt(0.05 * 0.95 / RUNS)


def claim(frame, of: str) -> Headline:
    found = audit(frame, n_resamples=99)
    [headline] = [h for h in found.headlines if h.id == f"headline.{of}"]
    others = {h.claim for h in found.headlines if h is not headline}
    assert others <= {"described", "undefined"}
    assert set(headline.rests_on) <= {r.id for r in found.results}
    if of == "spread.all":
        assert ("differ in spread" in found.sentence) == (headline.claim == "differs")
    return headline


def test_equal_spread_is_not_told_apart_though_a_judge_without_sampling_stands_beside():
    cold, *warm = conditions = [Condition(judge="judge", temperature=t) for t in (0.0, 0.5, 1.0)]
    false = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        frame = scored(rng, World(), conditions, spread={cold.label: 0.0})
        headline = claim(frame, "spread.all")
        false += headline.claim == "differs"
    assert false / RUNS <= MOST
    ratio = audit(frame, n_resamples=99)
    assert {r.a for r in ratio["ratio.all"].rows} | {r.b for r in ratio["ratio.all"].rows} == {
        c.label for c in warm
    }
    assert cold.label in {x for r in ratio["shift.all"].rows for x in (r.a, r.b)}


def test_a_difference_of_spread_is_found():
    one, two = (Condition(judge=j, temperature=1.0) for j in ("one", "two"))
    world = World(sizes=(2,) * 20, replications=5)
    frame = scored(np.random.default_rng(1), world, [one, two], spread={two.label: 3.0})
    assert claim(frame, "spread.all").claim == "differs"


def test_judges_equally_often_right_are_not_told_apart():
    conditions = [Condition(judge=j, temperature=1.0) for j in ("one", "two", "three")]
    false = 0
    for seed in range(100, 100 + RUNS):  # the hundred before: 7 false, within error of 5
        rng = np.random.default_rng(seed)
        items = labelled_items(rng, World(replications=1))
        frame = compared(rng, World(replications=1), conditions, items)
        labels = {f"{i.id}": i.labels[0].winner for i in items}
        frame["label"] = frame["item_id"].str.partition("/")[0].map(labels).fillna("")
        if not (frame["label"] != "").any():
            raise ValueError(f"no label fits {frame['item_id'].iloc[0]}")
        false += claim(frame, "compare.people").claim == "differs"
    assert false / RUNS <= MOST
