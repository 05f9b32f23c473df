"""Comparisons of spread claim nothing where nothing differs, and find what does."""

import re

import pytest

from judgestats.analysis import judges, spread_headlines, spread_questions, strata_of, temperature
from judgestats.data import Condition, score_array
from judgestats.results import claim_sentence, words_of
from tests.null_judge.designs import SPREAD, claims, seeded
from tests.null_judge.worlds import World, scored

SEEDS = range(4)
GIVEN = {"resamples": 199, "seed": 0}
TWO = [Condition(judge=j, temperature=1.0) for j in "ab"]


@pytest.mark.parametrize("name", SPREAD)
def test_nothing_is_claimed_where_nothing_differs(name):
    found = [SPREAD[name](seeded(seed), World(), resamples=99) for seed in SEEDS]
    for one in found:
        assert one.headlines
        assert all(h.p_adjusted >= 0.05 for h in one.headlines if h.claim == "open")
        records = one.records()
        assert all(records[i] for h in one.headlines for i in h.rests_on)
    # Of 4 at .05, 2 or more are false in 1.4 %.
    assert sum(bool(claims(one)) for one in found) <= 1


@pytest.mark.parametrize("name", SPREAD)
def test_a_difference_of_stated_size_is_found(name):
    world = World(sizes=(2,) * 30, replications=10, unread=0.0)
    found = SPREAD[name](seeded(7), world, effect=2.5)
    true = found.conditions["condition"].iloc[-1]
    shown = [h for h in found.headlines if h.claim == "differs"]
    assert shown
    assert all(true in h.about.conditions for h in shown if h.hypothesis == "spread")


def test_no_sampling_at_zero_is_in_no_claim():
    found = SPREAD["temperature with T = 0"](seeded(1), World())
    assert not [h for h in found.headlines if "j, T=0" in h.about.conditions]
    assert not claims(found)
    assert "j, T=0" not in found.records()["spread.j"].about.conditions
    assert all("T=0" not in (r.a, r.b) for r in found["ratio.j"].rows)


def test_where_nothing_was_read_the_reason_is_told():
    frame = scored(seeded(1), World(unread=1.0), TWO)
    found = judges.analyse(frame, judges.plan(GIVEN, TWO))
    [headline] = found.headlines
    assert headline.claim == "undefined"
    assert "could any score be read" in headline.reason


def test_five_questions_cannot_reject_and_say_so():
    world = World(sizes=(8,) * 5, replications=10, unread=0.0)
    frame = scored(seeded(3), world, TWO, spread={TWO[1].label: 4.0})
    found = judges.analyse(frame, judges.plan(GIVEN, TWO))
    [headline] = found.headlines
    assert headline.claim == "open"
    assert headline.p_adjusted == pytest.approx(2 / 32)
    assert "the smallest possible p is .06" in headline.reason


def test_a_large_family_can_reject():
    conditions = [Condition(judge=f"j{i}", temperature=t) for i in range(30) for t in (0.5, 1.0)]
    world = World(sizes=(1,) * 30, replications=5, unread=0.0, constant=0.2)
    hot = {conditions[1].label: 4.0}
    frame = scored(seeded(1), world, conditions, spread=hot)
    declared = temperature.plan({"resamples": 99, "seed": 0}, conditions)
    array = score_array(frame)
    cells = frame.drop_duplicates("condition")[["condition", "judge", "temperature"]]
    strata = strata_of(cells, vary="temperature")
    [question] = spread_questions(array, declared, ("spread", "temperatures", "judge", strata))
    claims = {h.about.judge: h for h in spread_headlines(question)}
    assert claims["j0"].claim == "differs"
    assert sum(h.claim == "differs" for h in claims.values()) <= 2


def test_pairs_not_told_apart_say_whether_the_margin_is_ruled_out():
    """By the test of equivalence that was declared, of the pair furthest apart."""
    wide = SPREAD["temperature"](seeded(3), World()).records()
    assert (
        "more than the declared margin (0.67 to 1.50) is not ruled out"
        in words_of(wide["ratio.j"], wide).numbers
    )
    many = World(sizes=(1,) * 150, replications=10, constant=0.0, unread=0.0)
    narrow = SPREAD["temperature"](seeded(4), many, resamples=19).records()
    assert "(0.67 to 1.50) is ruled out" in words_of(narrow["ratio.j"], narrow).numbers


def test_what_a_ratio_hangs_on_is_named_in_the_answer_and_the_record():
    world = World(sizes=(1,) * 20, unread=0.0)
    frame = scored(seeded(1), world, TWO)
    at = (frame["item_id"] == "i4") & (frame["condition"] == TWO[1].label)
    frame.loc[at, "score"] = [1.0, 10.0, 4.0]
    found = judges.analyse(frame, judges.plan(GIVEN, TWO))
    [row] = [r for r in found.records().results if r.id.startswith("ratio.") and ":" in r.id][:1]
    assert row.details["largest_item"] == "i4"


FULL = World(sizes=(1,) * 30, replications=5, unread=0.0, constant=0.2)


def apart(row):
    """Whether the interval of a ratio leaves out 1."""
    return not row.interval.low - 1e-9 <= 1 <= row.interval.high + 1e-9


def gmd_rows(found, headline):
    """The GMD ratios that a headline rests on."""
    return found[next(i for i in headline.rests_on if i.startswith("gmd."))].rows


@pytest.mark.parametrize("heats", [(1.0,), (0.5, 1.0)])
def test_of_two_judges_claim_and_interval_agree(heats):
    conditions = [Condition(judge=j, temperature=t) for t in heats for j in "ab"]
    claimed = 0
    for seed, effect in enumerate([1.0, 1.4, 1.8, 2.2] * 4):
        spread = {conditions[1].label: effect}
        frame = scored(seeded(seed), FULL, conditions, spread=spread)
        found = judges.analyse(frame, judges.plan(GIVEN, conditions))
        for headline in found.headlines:
            [row] = gmd_rows(found, headline)
            assert headline.claim == "equivalent" or row.p_adjusted == headline.p_adjusted
            assert (headline.claim == "differs") == apart(row)
            claimed += apart(row)
    assert 0 < claimed < 16 * len(heats)


def test_no_pair_that_is_not_apart_is_the_size_of_a_claim():
    """The test of three may show a difference that no pair shows; then no pair is named."""
    told = 0
    for seed in range(40):
        found = SPREAD["temperature"](seeded(seed), FULL, effect=1.4).records()
        [headline] = found.headlines
        rows = [found[i] for i in found["gmd.j"].members]
        shown = any(map(apart, rows))
        sentence = claim_sentence(headline, found)
        if headline.claim == "differs":
            assert ("times as much on average" in sentence) == shown
            assert ("no two levels differ significantly" in sentence) == (not shown)
            told += not shown
    assert told


def test_levels_of_adjusted_intervals_are_those_of_their_family():
    found = SPREAD["temperature"](seeded(1), FULL, effect=2.0)
    rows = found["gmd.j"].rows
    assert any(0.95 < r.interval.level < 1 for r in rows)
    text = words_of(found.records()["gmd.j"], found.records()).numbers
    assert "adjusted 95% CI" in text
    assert not re.search(r"\d\.\d+% CI", text)
