"""Alignment, self-consistency and bias claim nothing where nothing differs, and find what does."""

from collections import Counter
from dataclasses import replace

import pytest

from judgestats.analysis import alignment
from tests.null_judge.designs import (
    DESIGNS,
    METHODS,
    NULL,
    aligned,
    averaged,
    claims,
    labelled_at_random,
    left_out,
    probed_pairs,
    seeded,
    unbiased,
)
from tests.null_judge.worlds import World, compared, labelled_items

PAIRS = ("alignment", "self_consistency", "bias")
EVEN = World(sizes=(2,) * 30, replications=10, unread=0.0)


@pytest.mark.parametrize("name", PAIRS)
def test_nothing_is_claimed_where_nothing_differs(name):
    found = [DESIGNS[name](seeded(seed), World(), resamples=99) for seed in range(4)]
    for one in found:
        assert one.headlines
        assert all(h.p_adjusted >= 0.05 for h in one.headlines if h.claim == "open")
        records = one.records()
        assert all(records[i] for h in one.headlines for i in h.rests_on)
        families = {f.id for f in records.families}
        assert {h.family for h in one.headlines if h.family} <= families
    assert sum(bool(claims(one)) for one in found) <= 1
    assert sum(left_out(one) for one in found) <= 1


def test_a_better_method_is_found_and_stands_alone():
    found = aligned(seeded(5), EVEN, effect=30.0)
    [better] = claims(found)
    assert better == "headline.methods.b"


def test_a_gain_by_averaging_is_found():
    found = averaged(seeded(7), EVEN, effect=1.5)
    gains = [h for h in found.headlines if h.claim == "differs"]
    assert gains
    assert all(h.direction == "higher" for h in gains)


def test_a_leaning_to_the_first_place_is_found_in_one_judge_only():
    found = unbiased(seeded(8), EVEN, effect=2.0)
    assert claims(found) == ["headline.moved.position, b at T=1"]


GIVEN = {"resamples": 199, "seed": 0, "methods_at": 0.5, "disagreement": "tie"}


def test_padding_place_and_authorship_are_one_family():
    found = unbiased(seeded(9), World())
    moved = found["moved"]
    asked = {label.partition(",")[0] for label in moved.tests}
    assert asked == {"padding", "position", "own answer"}
    p = {label: test.p_value for label, test in moved.tests.items()}
    # Shifts and the regressions of own answers have half of the level each.
    own = {label: given for label, given in p.items() if label.startswith("own answer")}
    least = min(own, key=own.get)
    assert moved.p_adjusted[least] == pytest.approx(min(1.0, 2 * len(own) * own[least]))
    assert all(moved.p_adjusted[k] >= min(1.0, 2 * v) * (1 - 1e-9) for k, v in p.items())


@pytest.mark.parametrize("name", ["validity", "audit, verdicts", "probe, pairs"])
def test_nothing_is_claimed_where_labels_places_and_hints_do_not_matter(name):
    found = [NULL[name].func(seeded(s), World(), resamples=19) for s in range(2)]
    assert sum(bool(claims(one)) for one in found) <= 1
    assert all(one.headlines for one in found)


def test_a_relation_to_labels_and_a_leaning_of_pairs_are_found():
    world = World(sizes=(1,) * 30, replications=5, unread=0.0, constant=0.0)
    found = labelled_at_random(seeded(1), world, resamples=99, effect=4.0)
    assert len([i for i in claims(found) if i.startswith("headline.related.")]) == 2
    leaning = probed_pairs(seeded(1), world, resamples=99, effect=2.0)
    assert "headline.moved.position, b at T=1" in claims(leaning)
    assert not [i for i in claims(leaning) if ", a at" in i]


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
