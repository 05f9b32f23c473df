"""The rule behind every verdict: a table of cases, its properties, and reference values."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgestats.results import (
    Caveat,
    Demand,
    Measure,
    decide,
    read_requirements,
    share_measure,
)
from judgestats.results.purposes import QUANTITIES, reason_of
from judgestats.results.verdict import CODES, ORDER, Requirement

NAN = math.nan
ABOVE, BELOW, NEAR = (0.9, 0.85, 0.95), (0.6, 0.5, 0.7), (0.8, 0.72, 0.87)
LOST, NONE = (0.8, NAN, NAN), (NAN, NAN, NAN)
MAJOR, MINOR, BLOCKER = "major", "minor", "blocker"
USE, CARE, NO, UNKNOWN = "USE", "USE_WITH_CARE", "DO_NOT_USE", "CANNOT_TELL"

# estimate, low, high of each requirement (threshold .8 from below; None: not measured; a leading
# "e" marks one that is expected), severities of caveats, judges, outcome
CASES = [
    ([ABOVE], [], 1, USE), ([BELOW], [], 1, NO), ([NEAR], [], 1, UNKNOWN),
    ([LOST], [], 1, UNKNOWN), ([NONE], [], 1, UNKNOWN), ([None], [], 1, UNKNOWN),
    ([ABOVE], [MINOR], 1, USE), ([ABOVE], [MAJOR], 1, CARE), ([ABOVE], [BLOCKER], 1, UNKNOWN),
    ([ABOVE], [MINOR, MAJOR], 1, CARE), ([ABOVE], [MAJOR, BLOCKER], 1, UNKNOWN),
    ([BELOW], [MINOR], 1, NO), ([BELOW], [MAJOR], 1, NO), ([BELOW], [BLOCKER], 1, NO),
    ([NEAR], [MINOR], 1, UNKNOWN), ([NEAR], [MAJOR], 1, UNKNOWN), ([NEAR], [BLOCKER], 1, UNKNOWN),
    ([None], [MAJOR], 1, UNKNOWN), ([None], [BLOCKER], 1, UNKNOWN),
    ([ABOVE, ABOVE], [], 1, USE), ([ABOVE, BELOW], [], 1, NO), ([BELOW, BELOW], [], 1, NO),
    ([ABOVE, NEAR], [], 1, UNKNOWN), ([BELOW, NEAR], [], 1, NO), ([ABOVE, None], [], 1, UNKNOWN),
    ([BELOW, None], [], 1, NO), ([NEAR, None], [], 1, UNKNOWN), ([None, None], [], 1, UNKNOWN),
    ([ABOVE, LOST], [], 1, UNKNOWN), ([BELOW, LOST], [], 1, NO), ([BELOW, NONE], [], 1, NO),
    ([ABOVE, ABOVE], [MAJOR], 1, CARE), ([ABOVE, ABOVE], [BLOCKER], 1, UNKNOWN),
    ([ABOVE, "e", ABOVE], [], 1, USE), ([ABOVE, "e", None], [], 1, USE),
    ([ABOVE, "e", None], [MAJOR], 1, CARE), ([ABOVE, "e", BELOW], [], 1, NO),
    ([ABOVE, "e", NEAR], [], 1, UNKNOWN), ([None, "e", ABOVE], [], 1, UNKNOWN),
    ([None, "e", BELOW], [], 1, NO), ([NEAR, "e", None], [], 1, UNKNOWN),
    (["e", None], [], 1, UNKNOWN), (["e", ABOVE], [], 1, USE), (["e", BELOW], [], 1, NO),
    ([ABOVE] * 3, [], 1, USE), ([ABOVE] * 4, [], 1, USE), ([ABOVE, ABOVE, BELOW], [], 1, NO),
    ([ABOVE] * 3 + [None], [], 1, UNKNOWN), ([ABOVE] * 3 + [BELOW], [], 1, NO),
    ([ABOVE, NEAR, NEAR, NEAR], [], 1, UNKNOWN), ([ABOVE] * 4, [MAJOR], 1, CARE),
    # Bonferroni over m and J: an upper limit just below .8 fails alone and not among many.
    ([(0.7, 0.6, 0.79)], [], 1, NO), ([(0.7, 0.6, 0.79), ABOVE], [], 1, NO),
    ([(0.7, 0.6, 0.79)] + [ABOVE] * 3, [], 1, UNKNOWN), ([(0.7, 0.6, 0.79)], [], 5, UNKNOWN),
    # A lower limit just above .8 holds for two judges, not for three; m does not matter.
    ([(0.9, 0.805, 0.95)], [], 1, USE), ([(0.9, 0.805, 0.95)], [], 2, USE),
    ([(0.9, 0.805, 0.95)], [], 3, UNKNOWN), ([(0.9, 0.805, 0.95)] * 4, [], 1, USE),
    ([ABOVE], [], 3, USE), ([BELOW], [], 3, NO), ([NEAR], [], 3, UNKNOWN),
    ([ABOVE], [MAJOR], 3, CARE),
    ([], [], 1, UNKNOWN), ([], [MAJOR], 1, UNKNOWN),
]  # fmt: skip


def pairs_of(listed, *, side="min"):
    """Demands of .8 (or at most .2, mirrored) with measures of these intervals."""
    out, kind = [], "required"
    for one in listed:
        if one == "e":
            kind = "expected"
            continue
        key = f"q{len(out)}"
        demand = Demand(key=key, threshold=0.8, direction="min", kind=kind)
        made = None if one is None else Measure(
            key=key, estimate=one[0], low=one[1], high=one[2], n=100, n_clusters=100
        )  # fmt: skip
        if side == "max":
            demand = replace(demand, threshold=0.2, direction="max")
            if made is not None:
                made = replace(made, estimate=1 - one[0], low=1 - one[2], high=1 - one[1])
        out.append((demand, made))
        kind = "required"
    return out


def caveats_of(severities):
    return [Caveat(code="x", severity=s, text="t", action="a") for s in severities]


@pytest.mark.parametrize("side", ["min", "max"])
@pytest.mark.parametrize(("listed", "severities", "judges", "outcome"), CASES)
def test_a_case_has_its_outcome(listed, severities, judges, outcome, side):
    verdict = decide(pairs_of(listed, side=side), caveats_of(severities), judges=judges)
    assert verdict.outcome == outcome
    if any(one not in (None, "e") for one in listed):
        assert verdict.deciding


INTERVAL = st.tuples(st.floats(0.05, 0.95), st.floats(0.01, 0.3), st.floats(0.01, 0.3)).map(
    lambda t: (t[0], max(t[0] - t[1], 0.0), min(t[0] + t[2], 1.0))
)
LISTED = st.lists(st.one_of(INTERVAL, st.none(), st.just(NONE)), min_size=1, max_size=4)


@given(LISTED, st.lists(st.sampled_from([MAJOR, MINOR, BLOCKER]), max_size=2), st.floats(0.1, 0.7))
@settings(max_examples=150, deadline=None)
def test_a_looser_threshold_never_lowers_the_outcome(listed, severities, looser):
    caveats = caveats_of(severities)
    strict = pairs_of(listed)
    loose = [(replace(d, threshold=looser), m) for d, m in strict]
    worth = [ORDER.index(decide(p, caveats).outcome) for p in (strict, loose)]
    assert worth[0] <= worth[1]


@given(LISTED, INTERVAL, st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_a_further_requirement_never_makes_a_judge_usable(listed, another, judges):
    before = decide(pairs_of(listed), judges=judges).outcome
    after = decide(pairs_of([*listed, another]), judges=judges).outcome
    assert before in {USE, CARE} or after not in {USE, CARE}


@given(st.integers(1, 4))
def test_a_judge_without_rows_never_passes(count):
    assert decide(pairs_of([None] * count)).outcome == UNKNOWN


def test_outcomes_have_a_number_in_their_order():
    assert [CODES[outcome] for outcome in ORDER] == [-1.0, 0.0, 0.5, 1.0]


def test_limits_of_clustered_shares_are_the_reference_values():
    sizes, passes = (4, 4, 4, 3, 4, 4, 2, 4), (4, 3, 4, 3, 1, 4, 2, 4)
    x = [float(i < p) for n, p in zip(sizes, passes, strict=True) for i in range(n)]
    clusters = [c for c, n in enumerate(sizes) for _ in range(n)]
    made = share_measure("tpr", x, clusters)
    assert made.estimate == pytest.approx(0.862069, abs=1e-6)
    for level, size, low, high in (
        (0.025, 8.572187, 0.475902, 0.994282), (0.05 / 3, 8.199837, 0.436526, 0.996485)
    ):  # fmt: skip
        assert made.n_effective(level) == pytest.approx(size, abs=1e-6)
        assert made.limits(level) == pytest.approx((low, high), abs=1e-6)
    single = share_measure("tpr", [1.0] * 57 + [0.0] * 3, range(60))
    assert single.limits(0.025) == pytest.approx((0.860757, 0.989568), abs=1e-6)


@given(st.integers(2, 60), st.integers(0, 10**6), st.sampled_from([1, 4]))
@settings(max_examples=60, deadline=None)
def test_limits_of_a_share_enclose_it_and_widen_with_the_level(n, seed, size):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n).astype(float)
    made = share_measure("tpr", x.tolist(), [i // size for i in range(n)])
    if made.n_clusters < 2:
        assert math.isnan(made.limits(0.025)[0])
        return
    low, high = made.limits(0.025)
    wider = made.limits(0.005)
    assert 0 <= wider[0] <= low <= made.estimate <= high <= wider[1] <= 1


STATES = ("holds", "fails", "open", "not_measured")


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("key", sorted(QUANTITIES))
def test_every_reason_is_a_short_sentence(key, state, several):
    """At most 25 words, no placeholder left, one full stop at its end."""
    quantity = QUANTITIES[key]
    if key == "half_width" and state == "fails":
        pytest.skip("a precision never fails")
    r = Requirement(
        key=key, kind="required", direction=quantity.direction or "min", threshold=0.2,
        threshold_from="default", status=state, estimate=0.31, low=0.2, high=0.4, limit=0.25,
        limit_side="lower", level=0.025,
    )  # fmt: skip
    text = reason_of(r, several=several)
    assert text.endswith(".")
    assert 1 < len(text.split()) <= 25
    assert not re.search(r"[{}]|nan", text)


@pytest.mark.parametrize(
    ("text", "key", "side", "threshold"),
    [
        ("tpr=.9", "tpr", "min", 0.9), ("tpr>=.9", "tpr", "min", 0.9),
        ("tpr=90%", "tpr", "min", 0.9),
        ("sensitivity=.9", "tpr", "min", 0.9), ("recall=.9", "tpr", "min", 0.9),
        ("specificity=.8", "tnr", "min", 0.8), ("reliability=.8", "icc_1_1", "min", 0.8),
        ("icc=.8", "icc_1_1", "min", 0.8), ("cohen_kappa=.6", "kappa", "min", 0.6),
        ("unread=.02", "unparsed_share", "max", 0.02), ("sem=.5", "sem", "max", 0.5),
        ("sdc=2", "sdc", "max", 2.0), ("position_bias=.1", "position_bias", "within", -0.1),
        ("pass_rate>=.6", "pass_rate", "min", 0.6), ("pass_rate<=.6", "pass_rate", "max", 0.6),
        ("pass_rate=.6...8", "pass_rate", "within", 0.6),
    ],
)  # fmt: skip
def test_a_requirement_is_read(text, key, side, threshold):
    [(found, demand)] = read_requirements([text]).items()
    assert (found, demand.direction, demand.threshold) == (key, side, threshold)


def test_a_requirement_can_be_removed():
    assert read_requirements(["flip_rate=none"]) == {"flip_rate": None}
