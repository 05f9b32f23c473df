"""The rule of verdicts: a table of cases, its properties, and limits of reference."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t

from judgestats.results import (
    ORDER,
    Caveat,
    Demand,
    Levels,
    Measure,
    Verdict,
    decide,
    share_measure,
    summary_of,
)

TABLE = Path(__file__).with_name("verdict_cases.txt").read_text("utf-8").splitlines()
CASES = [line for line in TABLE if line and not line.startswith("#")]
Asked = tuple[Demand, Measure | None]


def number(text: str) -> float:
    return float(text) / 100


def measured(key: str, text: str) -> Measure | None:
    """What the column ``measured`` of the table stands for."""
    if text == "-":
        return None
    if text == "nan":
        return Measure(key=key, reason="one class")
    value, _, error = text.lstrip("?").partition("~")
    half = math.nan if "?" in text else 1.959964 * number(error or "1")
    centre = number(value)
    return Measure(
        key=key, estimate=centre, low=centre - half, high=centre + half, n=99, n_clusters=99
    )


def asked(text: str) -> Asked:
    """A demand of the table with its measure."""
    key, kind, direction, needed, found = text.split()
    low, _, high = needed.partition("..")
    demand = Demand(
        key=key, threshold=number(low), top=number(high) if high else math.nan,
        direction="max" if direction == "prec" else direction,
        kind={"R": "required", "E": "expected"}[kind], is_precision=direction == "prec",
    )  # fmt: skip
    return demand, measured(key, found)


def caveats(severities: list[str]) -> list[Caveat]:
    return [Caveat(code="c", severity=s, text="A text.") for s in severities]


@pytest.mark.parametrize("case", CASES)
def test_the_rule_decides_as_the_table_says(case: str) -> None:
    outcome, deciding, judges, demands, severities = (part.strip() for part in case.split("|"))
    pairs = [asked(one) for one in demands.split(";") if one]
    found = decide(pairs, caveats(severities.split()), judges=int(judges))
    assert (found.outcome, found.deciding) == (outcome, deciding)
    assert found.levels.m == sum(m is not None and not d.is_precision for d, m in pairs)


def test_the_table_covers_what_can_meet() -> None:
    assert len(CASES) >= 60
    outcomes = Counter(case.partition("|")[0].strip() for case in CASES)
    assert set(outcomes) == set(ORDER)
    text = "\n".join(CASES)
    for met in ("min", "max", "within", "prec", " -", "nan", "?", "major", "minor", "blocker"):
        assert met in text, met
    assert {case.split("|")[2].strip() for case in CASES} == {"1", "3"}
    assert {case.split("|")[3].count(";") for case in CASES} == {0, 1, 2, 3}


def test_levels_are_shared_over_verdicts_looks_and_requirements() -> None:
    assert (Levels.from_counts(2).use, Levels.from_counts(2).do_not_use) == (0.025, 0.025)
    assert Levels.from_counts(3).do_not_use == pytest.approx(0.05 / 3)
    assert Levels.from_counts(2, judges=2).use == 0.025
    assert Levels.from_counts(2, judges=5).do_not_use == pytest.approx(0.005)
    assert Levels.from_counts(1, judges=1, looks=10).use == pytest.approx(0.005)
    assert Levels.from_counts(0).do_not_use == 0.025  # nothing measured


def test_one_look_one_judge_and_two_repeats_are_the_defaults() -> None:
    assert decide([asked("a R min 50 90~5")]).levels == Levels.from_counts(1, judges=1, looks=1)
    even = Measure(key="a", estimate=0.5, variance=1e-4, n=10, n_clusters=10)
    assert even.n_effective(0.025) == 10  # one judgment per item
    ratio = Measure(key="a", estimate=0.5, low=0.3, high=0.7, shape="variance_ratio")
    assert ratio.limits(0.01) == replace(ratio, parts=2).limits(0.01)


def test_a_blocker_is_named_where_the_requirement_holds_and_nowhere_else() -> None:
    holds, fails, said = asked("a R min 50 90~5"), asked("a R min 50 10~5"), caveats(["blocker"])
    assert decide([holds], said).blocker == "A text."
    for demands, found in (([holds], []), ([fails], said), ([], said)):
        assert decide(demands, found).blocker == ""


# ---------------------------------------------------------------- properties
POINTS = st.integers(0, 100).map(lambda k: k / 100)


@st.composite
def measures(draw: st.DrawFn, key: str) -> Measure | None:
    kind = draw(st.sampled_from(("none", "nan", "bare", "share", "plain")))
    if kind == "none":
        return None
    if kind == "nan":
        return Measure(key=key, reason="one class")
    if kind == "share":
        n = draw(st.integers(1, 120))
        right = draw(st.integers(0, n))
        return share_measure(key, [1.0] * right + [0.0] * (n - right), range(n))
    value, half = draw(POINTS), draw(POINTS)
    ends = (math.nan, math.nan) if kind == "bare" else (value - half, value + half)
    return Measure(key=key, estimate=value, low=ends[0], high=ends[1], n=50, n_clusters=50)


@st.composite
def demanded(draw: st.DrawFn, key: str = "a", kinds: tuple[str, ...] = ("required",)) -> Asked:
    direction = draw(st.sampled_from(("min", "max", "within")))
    low = draw(POINTS)
    demand = Demand(
        key=key, threshold=low, direction=direction, kind=draw(st.sampled_from(kinds)),
        top=low + draw(POINTS) if direction == "within" else math.nan,
        is_precision=direction == "max" and draw(st.booleans()),
    )  # fmt: skip
    return demand, draw(measures(key))


@st.composite
def sets(draw: st.DrawFn) -> list[Asked]:
    """One required quantity at least, as every purpose and every user states."""
    first = draw(demanded())
    kinds = ("required", "expected")
    return [first, *(draw(demanded(key, kinds)) for key in "bcd"[: draw(st.integers(0, 3))])]


SEVERITIES = st.lists(st.sampled_from(("minor", "major", "blocker")), max_size=3)
JUDGES = st.integers(1, 12)


def rank(verdict: Verdict) -> int:
    return ORDER.index(verdict.outcome)


@given(sets(), SEVERITIES, JUDGES, st.integers(0, 3), POINTS)
def test_loosening_a_threshold_never_lowers_the_outcome(pairs, said, judges, which, by) -> None:
    place = which % len(pairs)
    demand, made = pairs[place]
    loose = {
        "min": replace(demand, threshold=demand.threshold - by),
        "max": replace(demand, threshold=demand.threshold + by),
        "within": replace(demand, threshold=demand.threshold - by, top=demand.top + by),
    }[demand.direction]
    changed = [*pairs[:place], (loose, made), *pairs[place + 1 :]]
    before = decide(pairs, caveats(said), judges=judges)
    assert rank(decide(changed, caveats(said), judges=judges)) >= rank(before)


@given(sets(), demanded("z", ("required", "expected")), SEVERITIES, JUDGES)
def test_a_further_requirement_never_turns_another_outcome_into_use(pairs, new, said, judges):
    before = decide(pairs, caveats(said), judges=judges)
    after = decide([*pairs, new], caveats(said), judges=judges)
    if before.outcome in {"DO_NOT_USE", "CANNOT_TELL"}:
        assert after.outcome in {"DO_NOT_USE", "CANNOT_TELL"}
    if before.outcome == "USE_WITH_CARE":
        assert after.outcome != "USE"


@given(sets(), SEVERITIES, JUDGES)
def test_a_judge_without_rows_never_passes(pairs, said, judges) -> None:
    found = decide([(demand, None) for demand, _ in pairs], caveats(said), judges=judges)
    assert found.outcome == "CANNOT_TELL"
    assert {r.status for r in found.requirements} == {"not_measured"}


@given(sets(), SEVERITIES, st.integers(1, 4), st.integers(1, 4))
def test_more_judges_and_looks_never_decide_what_fewer_leave_open(pairs, said, judges, looks):
    few = decide(pairs, caveats(said), judges=judges, looks=looks)
    many = decide(pairs, caveats(said), judges=judges + 1, looks=looks + 1)
    if few.outcome == "CANNOT_TELL":
        assert many.outcome == "CANNOT_TELL"


@given(measures("a"), st.floats(1e-4, 0.0249))
def test_limits_at_stricter_levels_lie_farther_out(made, level) -> None:
    assume(made is not None)
    wide, narrow = made.limits(level / 10), made.limits(level)
    if not any(map(math.isnan, (*wide, *narrow))):
        assert wide[0] <= narrow[0] + 1e-12
        assert wide[1] >= narrow[1] - 1e-12


# ---------------------------------------------------------------- reference values
def test_limits_of_independent_verdicts_are_clopper_and_pearsons() -> None:
    """numpy and base R agree on them to 1e-7."""
    made = share_measure("tpr", [1.0] * 57 + [0.0] * 3, range(60))
    assert made.limits(0.025) == pytest.approx((0.860757, 0.989568), abs=5e-7)
    assert (made.low, made.high) == made.limits(0.025)


def test_limits_of_clustered_verdicts_are_korn_and_graubards() -> None:
    groups = [(4, 4), (4, 3), (4, 4), (3, 3), (4, 1), (4, 4), (2, 2), (4, 4)]
    values = [float(i < passes) for n, passes in groups for i in range(n)]
    clusters = [k for k, (n, _) in enumerate(groups) for _ in range(n)]
    made = share_measure("tpr", values, clusters)
    assert made.estimate == pytest.approx(0.862069, abs=5e-7)
    for level, n_eff, limits in (
        (0.025, 8.572187, (0.475902, 0.994282)),
        (0.05 / 3, 8.199837, (0.436526, 0.996485)),
    ):
        assert made.n_effective(level) == pytest.approx(n_eff, abs=5e-7)
        assert made.limits(level) == pytest.approx(limits, abs=5e-7)


FARTHER = 1.5
"""Limits this many times as far from the estimate, on the scale of the shape."""


@pytest.mark.parametrize(
    ("shape", "ends", "scaled"),
    [
        ("log", (0.5, 0.4, 0.9), math.log),
        ("correlation", (0.6, -0.1, 0.8), math.atanh),
        ("variance_ratio", (0.5, -0.1, 0.7), lambda r: math.log((1 + 3 * r) / (1 - r))),
        ("plain", (0.5, -3.0, 4.0), lambda x: x),
    ],
)
def test_other_levels_move_limits_on_the_scale_of_the_shape(shape, ends, scaled) -> None:
    made = Measure(
        key="a", estimate=ends[0], low=ends[1], high=ends[2], shape=shape, df=12, parts=4
    )
    assert made.limits(0.025) == ends[1:]
    level = float(t.sf(FARTHER * t.isf(0.025, 12), 12))
    found = [scaled(limit) - scaled(ends[0]) for limit in made.limits(level)]
    assert found == pytest.approx([FARTHER * (scaled(end) - scaled(ends[0])) for end in ends[1:]])


@pytest.mark.parametrize(
    ("shape", "low", "high", "limits"),
    [
        ("log", 0.0, 2.0, (0.0, 4.0)),
        ("correlation", -1.0, 1.0, (-1.0, 1.0)),
        ("variance_ratio", -0.5, 1.0, (-0.5, 1.0)),
    ],
)
def test_limits_at_the_end_of_their_scale_stay_there(shape, low, high, limits) -> None:
    centre = 0.0 if shape != "log" else 1.0
    made = Measure(key="a", estimate=centre, low=low, high=high, shape=shape, df=12, parts=3)
    assert made.limits(float(t.sf(2 * t.isf(0.025, 12), 12))) == pytest.approx(limits)


@pytest.mark.parametrize(
    ("low", "high", "status", "side", "limit"),
    [
        (0.2, 0.4, "holds", "lower", 0.2),
        (0.5, 0.8, "holds", "upper", 0.8),
        (0.1, 0.2, "open", "lower", 0.1),
        (0.1, 0.19, "fails", "upper", 0.19),
        (0.8, 0.9, "open", "upper", 0.9),
        (0.81, 0.9, "fails", "lower", 0.81),
    ],
)
def test_limits_on_the_edge_of_a_margin_decide(low, high, status, side, limit) -> None:
    made = Measure(key="a", estimate=(low + high) / 2, low=low, high=high, n_clusters=50)
    demand = Demand(key="a", threshold=0.2, top=0.8, direction="within")
    found = decide([(demand, made)])
    [one] = found.requirements
    assert (one.status, one.limit_side, one.limit) == (status, side, limit)
    assert not found.simulated


@pytest.mark.parametrize(
    ("direction", "ends", "status"),
    [
        ("min", (0.5, 0.7), "holds"), ("min", (0.3, 0.5), "open"), ("min", (0.3, 0.49), "fails"),
        ("max", (0.3, 0.5), "holds"), ("max", (0.5, 0.7), "open"), ("max", (0.51, 0.7), "fails"),
    ],
)  # fmt: skip
def test_a_limit_that_equals_the_threshold_keeps_it(direction, ends, status) -> None:
    made = Measure(key="a", estimate=sum(ends) / 2, low=ends[0], high=ends[1], n_clusters=50)
    [one] = decide([(Demand(key="a", threshold=0.5, direction=direction), made)]).requirements
    assert one.status == status


def test_a_share_of_none_or_all_counts_its_clusters_and_one_cluster_has_no_limit() -> None:
    made = share_measure("tnr", [1.0] * 12, [k // 3 for k in range(12)])
    assert made.n_effective(0.025) == 4
    assert made.limits(0.025) == pytest.approx((0.025**0.25, 1.0))
    alone = share_measure("tnr", [1.0, 0.0, 1.0], [0, 0, 0])
    assert all(map(math.isnan, alone.limits(0.025)))
    assert alone.reason


def test_the_worst_outcome_and_the_best_subjects_are_summed_up() -> None:
    def of(name: str, value: float) -> Verdict:
        made = decide([asked(f"a R min 80 {value}")])
        return replace(made, subject=replace(made.subject, judge=name))

    three = [of("x", 90), of("y", 90), of("z", 70)]
    assert summary_of(three, "They differ.") == {
        "outcome": "DO_NOT_USE", "best": ["x", "y"], "finding": "They differ.",
    }  # fmt: skip
    assert summary_of([]) == {}
