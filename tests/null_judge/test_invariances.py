"""What may not matter does not: order of rows, names of options, columns beside, judges beside."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import Analysis, alignment, judges, temperature
from judgestats.data import Condition
from tests.null_judge.designs import HEATS, METHODS, seeded
from tests.null_judge.worlds import World, compared, labelled_items, scored

GIVEN = {"resamples": 199, "seed": 0, "methods_at": 0.5, "disagreement": "tie"}
JUDGES = [Condition(judge=j, temperature=1.0) for j in "abc"]
SWAP = {"a": "b", "b": "a", "tie": "tie", "": ""}


def of_judges(frame: pd.DataFrame) -> Analysis:
    return judges.analyse(frame, judges.plan(GIVEN, JUDGES))


def of_heats(frame: pd.DataFrame) -> Analysis:
    conditions = [Condition(judge="j", temperature=t) for t in HEATS]
    return temperature.analyse(frame, temperature.plan(GIVEN, conditions))


def of_methods(frame: pd.DataFrame) -> Analysis:
    items = labelled_items(seeded(1), World())
    return alignment.analyse(frame, alignment.plan(GIVEN, METHODS), items=items)


def frames() -> dict[str, tuple[pd.DataFrame, object]]:
    heats = [Condition(judge="j", temperature=t) for t in HEATS]
    items = labelled_items(seeded(1), World())
    return {
        "judges": (scored(seeded(2), World(), JUDGES, spread={JUDGES[2].label: 1.6}), of_judges),
        "temperature": (scored(seeded(3), World(), heats), of_heats),
        "alignment": (compared(seeded(4), World(), METHODS, items), of_methods),
    }


def estimates(found: Analysis) -> dict[str, float]:
    """Every estimate of every record that holds one, by id."""
    return {
        r.id: float(r.estimate)
        for r in found.records().results
        if hasattr(r, "estimate") and np.isfinite(r.estimate)
    }


def alike(one: Analysis, two: Analysis) -> None:
    """Estimates are the same; Monte Carlo p within its error; claims the same."""
    assert estimates(one) == pytest.approx(estimates(two), rel=1e-9, abs=1e-9)
    first, second = ({h.id: h for h in a.headlines} for a in (one, two))
    assert first.keys() == second.keys()
    for name, h in first.items():
        p, q = h.p_adjusted, second[name].p_adjusted
        if not np.isnan(p):
            error = 3 * np.sqrt(2 * p * (1 - p) / 199) + 0.02
            assert abs(p - q) <= error * len(first), name


@pytest.mark.parametrize("name", ["judges", "temperature", "alignment"])
def test_the_order_of_rows_and_an_unrelated_column_do_not_matter(name):
    frame, analyse = frames()[name]
    given = analyse(frame)
    # Conditions keep their order: which comes first says what is compared with what.
    shuffled = frame.sample(frac=1, random_state=1)
    place = {c: i for i, c in enumerate(dict.fromkeys(frame["condition"]))}
    shuffled = shuffled.sort_values("condition", key=lambda c: c.map(place), kind="stable")
    alike(given, analyse(shuffled.reset_index(drop=True)))
    beside = analyse(frame.assign(factor_batch="one", note="x"))
    numbers = sorted(estimates(beside).values())
    assert numbers == pytest.approx(sorted(estimates(given).values()), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["judges", "temperature", "alignment"])
def test_two_files_read_as_one(name):
    frame, analyse = frames()[name]
    half = frame["replicate"] == 0
    alike(analyse(frame), analyse(pd.concat([frame[half], frame[~half]], ignore_index=True)))


def test_a_duplicated_judge_leaves_the_others_as_they_are():
    frame, analyse = frames()["judges"]
    own = frame[frame["judge"] == "a"]
    twin = own.assign(judge="d", condition=own["condition"].str.replace("a,", "d,"))
    conditions = [*JUDGES, Condition(judge="d", temperature=1.0)]
    both = judges.analyse(
        pd.concat([frame, twin], ignore_index=True), judges.plan(GIVEN, conditions)
    )
    given, more = estimates(analyse(frame)), estimates(both)
    own_ids = [i for i in given if i.startswith(("condition.", "reliability.", "ratio.", "shift."))]
    assert own_ids
    assert {i: more[i] for i in own_ids} == pytest.approx({i: given[i] for i in own_ids})
    for kind in ("mean", "within_variance", "icc1"):
        rows = both.conditions.set_index("judge")[kind]
        assert rows["d"] == pytest.approx(rows["a"])


def test_relabelled_options_and_answers_do_not_matter():
    """Calling every first answer the second one changes no agreement with people."""
    items = labelled_items(seeded(1), World())
    frame = compared(seeded(4), World(), METHODS, items)
    turned = tuple(
        replace(item, labels=tuple(replace(la, winner=SWAP[la.winner]) for la in item.labels))
        for item in items
    )
    said = frame.assign(choice=frame["choice"].map(SWAP), order=frame["order"].str[::-1])
    declared = alignment.plan(GIVEN, METHODS)
    alike(
        alignment.analyse(frame, declared, items=items),
        alignment.analyse(said, declared, items=turned),
    )


def test_a_judge_whose_name_begins_another_s_keeps_its_own_claims():
    conditions = [replace(c, judge={"a": "gpt-4", "b": "gpt-4.1"}[c.judge]) for c in METHODS]
    items = labelled_items(seeded(1), World())
    found = alignment.analyse(
        compared(seeded(4), World(), conditions, items),
        alignment.plan(GIVEN, conditions),
        items=items,
    )
    own = Counter(h.about.judge for h in found.headlines)
    assert own["gpt-4"] == own["gpt-4.1"] > 0
