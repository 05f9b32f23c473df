"""APA strings (7th edition): every result with a test has one, and all keep the manual's rules."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgestats.results import apa_number, apa_p, quantity_of
from judgestats.stats import adjust_family, spread_test
from judgestats.stats.inference import Estimate, Interval, Sample, TestResult


def subclasses(kind: type) -> set[type]:
    return {kind}.union(*(subclasses(c) for c in kind.__subclasses__()))


NUMBER = r"−?(?:\d+\.\d{2,4}|\.\d{2,4}|\d+|∞)"


@given(
    st.floats(-50, 50),
    st.floats(0, 1),
    st.integers(1, 40),
    st.integers(1, 400),
    st.floats(0, 1),
    st.floats(0, 0.3),
)
def test_the_rules_hold_for_any_numbers(
    statistic: float, p: float, a: int, b: int, effect: float, half: float
) -> None:
    eta = Estimate(
        name="partial_eta_squared", label="x", estimate=effect, sample=Sample(n_items=9),
        interval=Interval(low=max(0.0, effect - half), high=min(1.0, effect + half)),
    )  # fmt: skip
    test = TestResult(
        name="f", method="F", statistic=statistic, statistic_name="F", p_value=p,
        df={"num df": a, "denom df": b}, effects=(eta,), sample=Sample(n_items=9),
    )  # fmt: skip
    text = test.apa()
    assert re.fullmatch(
        rf"F\({a}, {b}\) = {NUMBER}, p (?:= \.\d{{3}}|< \.001|> \.999), "
        rf"ηp² = (?:\.\d{{2,4}}|1\.0{{2,4}}), 95% CI \[{NUMBER}, {NUMBER}\]",
        text,
    ), text
    # One rule for an estimate and its bounds: the same decimals, two figures of the width.
    [shown] = re.findall(r"ηp² = (\S+), 95% CI \[(\S+), (\S+)\]", text)
    decimals = {len(number.partition(".")[2]) for number in shown}
    assert len(decimals) == 1 or half == 0, text
    width = eta.interval.high - eta.interval.low  # type: ignore[union-attr]
    at_the_edge = min(abs(width - 0.1), abs(width - 0.01)) < 1e-9
    assert at_the_edge or width < 0.01 or max(decimals) == (2 if width > 0.1 else 3), text
    assert "-" not in text  # a real minus sign
    assert not re.search(r"p = (?:0|1|\.000)", text)


def test_families_and_composites_speak_too() -> None:
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 10, size=(12, 3, 5)).astype(float)
    found = spread_test(scores, n_permutations=99, n_resamples=99)
    assert found.apa().startswith("F(2, 22) = ")
    assert found.ratios.apa().count("adjusted p") == 3
    family = adjust_family({"one": found.blocked_f, "two": found.rank_test}, family="f")
    assert family.apa().count("adjusted p") == 2
    with pytest.raises(TypeError, match="has no APA form"):
        found.summary.apa()  # type: ignore[union-attr]


def test_what_cannot_exceed_one_has_no_leading_zero() -> None:
    for name in ("icc_1_1", "omega_total", "fleiss_kappa", "vote_share_reliability", "gwet_ac1",
                 "kendalls_w", "cliffs_delta", "grade_score"):  # fmt: skip
        assert quantity_of(name).bounded, name
    for name in ("mean_difference", "variance_ratio", "odds_ratio_discordant", "sem", "cohens_d",
                 "hedges_g"):  # fmt: skip
        assert not quantity_of(name).bounded, name
    assert apa_number(0.0, bounded=True) == ".00"
    assert apa_number(-0.001) == "−0.001"
    assert apa_number(math.inf) == "∞"
    assert apa_p(math.nan) == "p = NA"
