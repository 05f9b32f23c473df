"""Agreement by level, accuracy by order and place, and win rates."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import accuracy_by_slot, correlation_by_level, pair_accuracy, win_rates


def test_levels_tell_a_judge_of_systems_from_a_judge_of_answers() -> None:
    rng = np.random.default_rng(1)
    question, system = np.repeat(np.arange(40), 6), np.tile(np.arange(6.0), 40)
    people = system + rng.normal(size=240)
    of_systems = system + rng.normal(size=240)
    out = correlation_by_level(of_systems, people, source=question, system=system)
    assert out["between_systems"].estimate > 0.98
    assert out["within_source"].interval.low < out["within_source"].estimate < 0.9
    by_hand = np.mean(
        [np.corrcoef(of_systems[question == g], people[question == g])[0, 1] for g in range(40)]
    )
    assert out["within_source"].estimate == pytest.approx(by_hand, rel=1e-12)
    assert out.details == {"n_sources_used": 40, "n_systems": 6}
    order = rng.permutation(240)
    again = correlation_by_level(
        of_systems[order], people[order], source=question[order], system=system[order]
    )
    for name in ("pooled", "within_source", "between_systems"):
        assert again[name].estimate == pytest.approx(out[name].estimate, rel=1e-12)
        assert again[name].interval.high == pytest.approx(out[name].interval.high, rel=1e-9)


def test_a_pair_counts_only_where_both_orders_are_right() -> None:
    gold = np.array(["a", "b"] * 30)
    always_first = pair_accuracy(np.full(60, "a"), np.full(60, "b"), gold)
    assert always_first.estimate == 0.0
    assert always_first.details["one_order"] == 0.5
    perfect = pair_accuracy(gold, gold, gold)
    assert perfect.estimate == 1.0
    assert perfect.interval.low < 1.0
    repeated = pair_accuracy([["a", "b"]], [["a", "a"]], ["a"])
    assert repeated.estimate == 0.5
    unknown = pair_accuracy(["a", "b", None], ["a", "b", "a"], ["a", None, "a"])
    assert unknown.sample.excluded == {"no verdict in one of the orders": 1, "no label": 1}


def test_accuracy_by_place_is_tested_within_items() -> None:
    rng = np.random.default_rng(3)
    item, gold = np.repeat(np.arange(50), 4), np.tile(np.arange(4), 50)
    knows = np.where(rng.random(200) < 0.6, gold, rng.integers(4, size=200))
    fair = accuracy_by_slot(knows, gold, item=item, n_permutations=199)
    assert fair.p_value > 0.05
    likes_first = np.where(rng.random(200) < 0.3, 0, knows)
    biased = accuracy_by_slot(likes_first, gold, item=item, n_permutations=199)
    assert biased.p_value == 1 / 200
    assert biased.estimates["choices of place 1"] > 0.3
    assert biased.effects[0].estimate > biased.effects[1].estimate
    assert len(biased.effects) == 8
    once = accuracy_by_slot(likes_first[:50], np.arange(50) % 4, item=np.arange(50))
    assert "between_items" in [n.code for n in once.notes]
    nothing = accuracy_by_slot(np.full(4, -1), np.arange(4), item=np.arange(4))
    assert nothing.reason == "no judgment was read"
    with pytest.raises(InputError, match="whole numbers from 0"):
        accuracy_by_slot([0, 5], [0, 1], item=[0, 1], n_options=2)


def test_win_rates_sum_to_half_the_comparisons() -> None:
    rng = np.random.default_rng(4)
    names = np.array(["x", "y", "z"])
    pairs = np.array([(a, b) for a in range(3) for b in range(3) if a != b] * 20)
    verdict = rng.choice(["a", "b", "tie"], len(pairs))
    out = win_rates(
        verdict, system_a=names[pairs[:, 0]], system_b=names[pairs[:, 1]],
        cluster=np.repeat(np.arange(20), 6),
    )  # fmt: skip
    assert np.mean([t.estimate for t in out.terms]) == pytest.approx(0.5)
    assert all("clusters" in t.interval.method for t in out.terms)
    swapped = {"a": "b", "b": "a", "tie": "tie"}
    mirrored = win_rates(
        [swapped[v] for v in verdict], system_a=names[pairs[:, 1]], system_b=names[pairs[:, 0]]
    )
    assert {t.name: round(t.estimate, 12) for t in mirrored.terms} == {
        t.name: round(t.estimate, 12) for t in out.terms
    }
    with pytest.raises(InputError, match="cannot meet itself"):
        win_rates(["a"], system_a=["x"], system_b=["x"])


def test_constant_questions_are_left_out_and_counted() -> None:
    out = correlation_by_level(
        [1, 1, 2, 3, 1, 2], [1, 2, 1, 3, 2, 4], source=[0, 0, 1, 1, 2, 2], system=[0, 1] * 3
    )
    assert out.details["n_sources_used"] == 2
    with pytest.raises(InputError, match="equally long"):
        correlation_by_level([[1, 2]], [[1, 2]], source=[0], system=[0])


@pytest.mark.parametrize("runs", [80, pytest.param(200, marks=pytest.mark.study)])
def test_within_interval_covers(runs) -> None:
    rng = np.random.default_rng(2)
    question, system = np.repeat(np.arange(25), 5), np.tile(np.arange(5), 25)
    covered = 0
    big = rng.normal(size=(5_000, 5))
    noisy = big + rng.normal(size=big.shape)
    truth = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(big, noisy, strict=True)])
    for _ in range(runs):
        people = rng.normal(size=125)
        judge = people + rng.normal(size=125)
        out = correlation_by_level(judge, people, source=question, system=system)["within_source"]
        covered += out.interval.low <= truth <= out.interval.high
    assert covered / runs >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / runs)


def test_item_difficulty_is_no_place_effect() -> None:
    # Hard items are wrong and easy ones right wherever the answer stands.
    item, gold = np.repeat(np.arange(40), 2), np.tile([0, 1], 40)
    chosen = np.where(item < 20, gold, 1 - gold)
    out = accuracy_by_slot(chosen, gold, item=item, n_permutations=99)
    assert out.statistic == 0
    assert "gives the same value" in out.reason
