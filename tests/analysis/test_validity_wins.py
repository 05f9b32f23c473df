"""Preferences with labels: corrected win rates, and which systems differ."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.analysis import plan_for, win_results

TRUE = 0.35


def preferred(seed=0, *, n=900, labels=200, systems=("old", "new"), orders=("ab",), shares=None):
    """`TRUE` of the people prefer the first system; the judge likes it as much as the second."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        first, second = systems if len(systems) == 2 else rng.choice(systems, 2, replace=False)
        p = TRUE if shares is None else shares[first] / (shares[first] + shares[second])
        people = "a" if rng.random() < p else "b"
        said = people if rng.random() < 0.8 else "b"
        liked = "a" if rng.random() < 0.35 else said
        for order in orders:
            # in the other order the judge follows the place half of the time
            shown = liked if order == "ab" or rng.random() < 0.5 else "a"
            rows.append(
                {"question_id": i, "order": order, "model_a": first, "model_b": second,
                 "winner": shown, "label": people if i < labels else ""}
            )  # fmt: skip
    return pd.DataFrame(rows)


def results_of(frame, **options):
    found = js.audit(js.read_judgments(frame), n_resamples=19, **options)
    return found, {r.id: r.result for r in found.analysis.results}


@pytest.mark.parametrize("orders", [("ab",), ("ab", "ba")])
def test_the_win_rate_is_corrected_and_shown(orders):
    found, results = results_of(preferred(orders=orders), labels_drawn="random")
    [rate] = [r for i, r in results.items() if i.startswith("preferred.")]
    new_first = "new over old" in next(i for i in results if i.startswith("preferred."))
    assert new_first
    assert rate.interval.low < 1 - TRUE < rate.interval.high
    assert abs(rate.details["judge"] - (1 - TRUE)) > 0.1  # the judge alone says otherwise
    assert rate.sample.n_items == 200
    [row] = [r for r in found.records().rows if r.key == "wins"]
    assert row.ask == "Corrected win rate of new"
    [claim] = [h for h in found.analysis.headlines if h.rests_on[0].startswith("systems.")]
    assert claim.claim == "differs"
    pairs = next(r for i, r in results.items() if i.startswith("systems."))
    assert pairs.rows[0].estimate == pytest.approx(1 - 2 * TRUE, abs=0.15)


def test_few_labels_unnamed_systems_and_chances_give_none():
    few = js.read_judgments(preferred(labels=10))
    assert not win_results(few, plan_for(few))
    unnamed = js.read_judgments(preferred().drop(columns=["model_a", "model_b"]))
    assert not win_results(unnamed, plan_for(unnamed))
    read = js.read_judgments(preferred())
    assert not win_results(read.assign(chance=0.2), plan_for(read))
    by_hand = win_results(read, plan_for(read, labels_drawn="convenience"))
    assert all(np.isnan(r.result.estimate) for r in by_hand if r.id.startswith("preferred."))


def test_rows_of_either_layout_give_one_rate():
    frame = preferred()
    turned = frame["question_id"] % 2 == 1
    other = frame.copy()
    other.loc[turned, ["model_a", "model_b"]] = frame.loc[turned, ["model_b", "model_a"]].to_numpy()
    for column in ("winner", "label"):
        other.loc[turned, column] = frame.loc[turned, column].map({"a": "b", "b": "a", "": ""})
    one, two = (
        next(r for i, r in results_of(f)[1].items() if i.startswith("preferred."))
        for f in (frame, other)
    )
    assert one.estimate == pytest.approx(two.estimate, abs=1e-12)
    assert one.interval.low == pytest.approx(two.interval.low, abs=1e-12)


def test_several_systems_are_one_family_by_pairs():
    frame = preferred(systems=("x", "y", "z"), shares={"x": 1.0, "y": 1.0, "z": 4.0}, labels=600)
    found, results = results_of(frame, labels_drawn="random")
    assert len([i for i in results if i.startswith("preferred.")]) == 3
    pairs = next(r for i, r in results.items() if i.startswith("systems."))
    assert pairs.adjust == "holm"
    apart = {frozenset((r.a, r.b)) for r in pairs.rows if r.p_adjusted < 0.05}
    assert apart == {frozenset("xz"), frozenset("yz")}
    assert pairs.details["rank_ranges"]["z"] == (1, 1)
    assert not [r for r in found.records().rows if r.key == "wins"]


def test_equal_systems_are_seldom_told_apart_where_the_judge_alone_tells_them():
    claims, alone = [], []
    for seed in range(12):
        frame = preferred(seed, n=400, labels=120, shares={"old": 1.0, "new": 1.0})
        read = js.read_judgments(frame)
        found = {r.id.partition(".")[0]: r.result
                 for r in win_results(read, plan_for(read, labels_drawn="random"))}  # fmt: skip
        claims.append(found["systems"].rows[0].p_adjusted < 0.05)
        wins = (frame["winner"] == "b").mean()
        alone.append(abs(wins - 0.5) > 1.96 * np.sqrt(0.25 / len(frame)))
    assert sum(claims) <= 2  # of 12 at a true .05: more in 2 %
    assert np.mean(alone) > 0.4


def test_labels_drawn_by_verdict_give_rates_and_no_comparison():
    read = js.read_judgments(preferred())
    found = win_results(read, plan_for(read, labels_drawn="by-verdict"))
    assert [r.id.partition(".")[0] for r in found] == ["preferred"]
