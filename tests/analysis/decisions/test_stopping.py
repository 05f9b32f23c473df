"""Stopping rule: reference values, both kinds of stop, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from judgestats import stats
from judgestats.decisions import StoppingRule
from judgestats.errors import InputError
from judgestats.stats.inference import multiplicity as spending
from judgestats.stats.validity import sequential
from tests.analysis.decisions.reference import agree, data


def measured(x):
    found = stats.icc(x, form="ICC(1,1)", interval="f", n_permutations=0)
    return found.estimate, found.interval.low, found.interval.high


def test_reference_values():
    x = data("dec_until")[["r1", "r2", "r3"]].to_numpy(float)
    made = {}
    first = measured(x[:20])
    made |= {"icc_at_20": first[0], "icc_limits_at_20": first[1:]}
    # The reference's sem_limits_at_20 are of chi square: left out, for the reason tested below.
    noise = stats.condition_summary(x[:20, None], conditions=["J"])["J"].sem
    made["sem_at_20"] = noise.estimate
    for width in (0.15, 0.1):
        rule = StoppingRule.parse(f"icc_1_1:width<={width}", max_items=300)
        for n in rule.planned:
            rule = rule.look(n, *measured(x[:n]))
            if rule.reached:
                break
        made[f"stop_icc_width_{width}"] = rule.items
        made[f"icc_at_stop_{width}"] = measured(x[: rule.items])
        assert rule.saved_share == pytest.approx(1 - rule.items / 300)
    agree("dec_until", made)
    for looks in (5, 10):
        bounds = spending.spending_bounds(np.arange(1, looks + 1) / looks)
        agree("dec_until", {f"obf_bounds_{looks}": bounds}, tolerance=1e-6)


def test_limits_of_the_sem_hold_where_those_of_chi_square_do_not():
    """Chi square needs normal noise, the same on every item. Judges waver on some items only."""
    rng, n, df = np.random.default_rng(3), 100, 200
    covered = np.zeros(2)
    for _ in range(200):
        share = np.where(rng.random((n, 1)) < 0.25, 0.4, 0.02)
        grades = 5 + rng.choice([-1, 1], (n, 3)) * (rng.random((n, 3)) < share)
        found = stats.condition_summary(grades[:, None], conditions=["J"])["J"].sem
        true = np.sqrt(0.25 * 0.4 + 0.75 * 0.02)
        low, high = found.estimate * np.sqrt(df / chi2.ppf([0.975, 0.025], df))
        covered += found.interval.low <= true <= found.interval.high, low <= true <= high
    assert covered[0] / 200 >= 0.93
    assert covered[1] / 200 <= 0.7


def test_a_verdict_stop_uses_the_bound_of_its_look():
    rule = StoppingRule.parse("difference!=0", max_items=400, first=80, step=80)
    assert rule.planned == (80, 160, 240, 320, 400)
    rule = rule.look(80, 0.4, 0.18, 0.62)
    assert not rule.reached
    assert rule.looks[0].bound == pytest.approx(4.877, abs=1e-3)
    rule = rule.look(160, 0.4, 0.24, 0.56)
    assert rule.reached
    last = rule.looks[-1]
    assert last.low == pytest.approx(0.4 - 3.357 * 0.16 / 1.959964, abs=1e-3)
    said = " ".join(" ".join(rule.screen()).split())
    assert "95% CI [.126, .674] over all looks, after 160 of 400 items: above 0 is shown" in said
    with pytest.raises(InputError, match="none is left"):
        rule.look(240, 0.4, 0.2, 0.6)


def test_known_verdicts_are_said_with_their_confidence():
    rule = StoppingRule.parse("verdict", max_items=100, first=40, step=30).decide(40, known=True)
    said = " ".join(" ".join(rule.screen()).split())
    confidence = "with 95% confidence over all looks"
    assert f"known after 40 of 100 items, {confidence}: 60% of the items saved." in said


def test_a_width_beyond_the_maximum_is_said_after_the_first_look():
    rule = StoppingRule.parse("icc_1_1:width<=.05", max_items=100).look(20, 0.7, 0.5, 0.85)
    assert rule.projected == 980
    assert "more than the maximum" in " ".join(rule.screen())


def test_money_saved_is_said_with_both_amounts():
    rule = StoppingRule.parse("icc_1_1:width<=.1", max_items=300, step=190)
    rule = rule.look(20, 0.69, 0.4, 0.85).priced(0.4)
    assert rule.projected == 405
    assert "(about $8.10), more than the maximum" in " ".join(rule.screen())
    rule = rule.look(210, 0.746, 0.70, 0.79).priced(4.2)
    assert "30% of the budget saved ($4.20 of about $6.00)." in " ".join(rule.screen()).replace(
        "\n", " "
    ).replace("         ", "")


def test_verdicts_spend_the_error_over_looks():
    rule = StoppingRule.parse("verdict", max_items=200, first=100, step=100)
    errors = [rule.next_error]
    rule = rule.decide(100, known=False)
    errors.append(rule.next_error)
    assert sum(errors) == pytest.approx(0.05)
    assert errors[0] == pytest.approx(spending.alpha_spent(0.5))
    assert rule.screen()[0].startswith("GO ON")
    last = rule.decide(200, known=False)
    assert last.screen()[0].startswith("ENDED")
    assert rule.decide(200, known=True).reached


def test_without_a_maximum_the_error_is_that_of_a_confidence_sequence():
    rule = StoppingRule.parse("difference!=0", max_items=200, step=90, is_bounded=False)
    assert rule.planned == (20, 110, 200)
    rule = rule.look(20, 0.4, 0.05, 0.75)
    assert (rule.looks[0].bound, rule.reached) == (sequential.sequence_bound(20), False)
    verdict = StoppingRule.parse("verdict", max_items=400, is_bounded=False)
    several = replace(verdict, claims=4)
    assert several.next_error / 4 < verdict.next_error < 0.05
    with pytest.raises(InputError, match="State the maximum"):
        StoppingRule.parse("verdict", max_items=400, first=10, is_bounded=False)


def test_limits_at_the_bound_are_taken_as_they_are():
    rule = StoppingRule.parse("icc_1_1>=.75", max_items=100, first=50, step=50)
    assert rule.next_level == pytest.approx(0.996949, abs=1e-5)
    rule = rule.look(50, 0.9, 0.76, 0.95, at_bound=True)
    assert rule.reached
    assert (rule.looks[0].low, rule.looks[0].high) == (0.76, 0.95)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("icc_1_1:width<=0", "above 0"),
        ("icc_1_1", "takes NAME:width"),
        ("icc_1_1:width<=.1 or difference!=0", "joins two stops"),
        ("cost:width<=.1", "not measured"),
    ],
)
def test_refusals(text, said):
    with pytest.raises(InputError, match=said):
        StoppingRule.parse(text, max_items=300, measured=["icc_1_1", "sem"])
    with pytest.raises(InputError, match="the next is at 20"):
        StoppingRule.parse("sem:width<=.3", max_items=300).look(25, 1, 0.9, 1.1)
