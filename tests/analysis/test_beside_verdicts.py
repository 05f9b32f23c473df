"""Win rates, places of options and agreement of judges, where the data hold what they need."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.analysis import inter_judge_agreement, supplemented, verdict_results, with_systems
from judgestats.analysis.audit import audit
from tests.null_judge.designs import AVERAGED, METHODS, seeded
from tests.null_judge.worlds import World, compared, labelled_items, scored

N = 20


def by_id(found):
    return {r.id: r.result for r in found}


def test_a_table_of_two_models_gives_each_system_s_win_rate(tmp_path):
    """x beats y in 3 of 4 questions and always z; y and z tie; over questions, not over rows."""
    rows = [
        {
            "question_id": f"q{q}", "model_a": a, "model_b": b,
            "winner": ("model_b" if q % 4 == 0 else "model_a") if (a, b) == ("x", "y")
            else "model_a" if a == "x" else "tie",
        }
        for q in range(N) for a, b in (("x", "y"), ("x", "z"), ("y", "z"))
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "arena.csv", index=False)
    frame = read_judgments(tmp_path / "arena.csv")
    found = supplemented(audit(frame, n_resamples=19), frame, level=0.95).records()
    rates = {r.estimand: r for r in found.results if r.id.startswith("wins.judge/")}
    assert rates["win_rate_x"].estimate == pytest.approx(0.875)
    assert rates["win_rate_y"].estimate == pytest.approx((0.25 + 0.5) / 2)
    assert rates["win_rate_x"].interval.low < 0.875 < rates["win_rate_x"].interval.high
    assert rates["win_rate_z"].sample.n_clusters in (None, N)


def choices(says, orders=("",), label="abcd", kind="choice"):
    return pd.DataFrame(
        {
            "condition": "j", "judge": "j", "item_id": f"i{i}", "cluster": f"i{i // 2}",
            "replicate": 0, "stage": "final", "temperature": 1.0, "status": "ok",
            "verdict_kind": kind, "score": np.nan, "order": order,
            "label": label[i % len(label)] if label else "", "choice": says(i, order),
        }
        for i in range(N) for order in orders
    )  # fmt: skip


def test_letters_of_a_choice_are_places_and_the_last_one_is_missed():
    frame = choices(lambda i, order: "abcd"[i % 4] if i % 4 < 3 else "a")
    found = by_id(verdict_results(frame, level=0.95))["slots.accuracy.j"]
    told = found.estimates
    assert [told[f"accuracy at place {s}"] for s in (1, 2, 3, 4)] == [1, 1, 1, 0]
    assert told["choices of place 1"] == pytest.approx(0.5)
    assert found.p_value < 0.01
    assert found.notes[0].code == "between_items"
    grades = frame.assign(verdict_kind="category")  # A to D may be marks, which have no place
    assert verdict_results(grades, level=0.95) == []


def test_an_order_that_lists_the_options_tells_places_within_items():
    """Right wherever it stands but in the last place; then without labels: always the first."""
    orders = ("abc", "bca", "cab")
    frame = choices(
        lambda i, order: order[0] if order[2] == "abc"[i % 3] else "abc"[i % 3], orders, "abc"
    )
    found = by_id(verdict_results(frame, level=0.95))["slots.accuracy.j"]
    assert [found.estimates[f"accuracy at place {s}"] for s in (1, 2, 3)] == [1, 1, 0]
    assert found.p_value < 0.01
    assert not found.notes
    first = choices(lambda i, order: order[0], orders, "")
    shares = by_id(verdict_results(first, level=0.95))["slots.choices.j"]
    assert shares.estimates["position 1"] == 1
    assert shares.p_value < 0.01
    fair = choices(lambda i, order: "abc"[i % 3], orders, "")
    assert by_id(verdict_results(fair, level=0.95))["slots.choices.j"].p_value > 0.5


def test_runs_know_who_wrote_the_responses():
    items = labelled_items(seeded(1), World())
    frame = compared(seeded(2), World(), METHODS[:1], items)
    assert verdict_results(frame, level=0.95) == []
    [one] = verdict_results(with_systems(frame, items), level=0.95)
    assert {t.name for t in one.result.terms} == {"win_rate_author_a", "win_rate_author_b"}
    assert {t.label for t in one.result.terms} == {"Win rate of author-a", "Win rate of author-b"}
    assert sum(t.estimate for t in one.result.terms) == pytest.approx(1)


def test_judges_agree_within_each_level_and_less_across_levels():
    """Two judges that say the same at each temperature, and the opposite at the other."""
    rows = [
        {
            "judge": j, "temperature": t, "condition": f"{j}, T={t:g}", "item_id": f"i{i}",
            "cluster": f"i{i}", "replicate": r, "order": "", "score": np.nan,
            "choice": "ab"[(i + (t == 1.0)) % 2],
        }
        for j in "xy" for t in (0.5, 1.0) for i in range(8) for r in range(3)
    ]  # fmt: skip
    found = by_id(inter_judge_agreement(pd.DataFrame(rows), level=0.95))
    assert list(found) == [f"between_judges.{k}" for k in ("T=0.5", "T=1", "across")]
    assert found["between_judges.T=0.5"].estimate == found["between_judges.T=1"].estimate == 1
    assert found["between_judges.across"].estimate == pytest.approx(1 / 3)


def test_repeated_scores_of_judges_agree_as_the_means_of_their_items_do():
    frame = scored(seeded(3), World(unread=0.0), AVERAGED)
    found = by_id(inter_judge_agreement(frame, level=0.95))["between_judges.T=1"]
    assert found.name == "icc_a_1"  # of these judges: they were chosen
    assert 0.3 < found.estimate < 1
    assert found.sample.n_items == sum(World().sizes)
    assert inter_judge_agreement(frame[frame["judge"] == "a"], level=0.95) == []


def _choices(rng, *, leaning: float, labels: bool) -> pd.DataFrame:
    """Choices among m0 to m3, shown in all rotations; some take the first place."""
    rows = []
    for i in range(24):
        good = int(rng.integers(0, 4))
        for s in range(4):
            shown = [f"m{(k + s) % 4}" for k in range(4)]
            place = 0 if rng.random() < leaning else shown.index(f"m{good}")
            if rng.random() < 0.3:
                place = int(rng.integers(0, 4))
            rows.append({"item": f"i{i}", "order": "|".join(shown), "choice": shown[place]}
                        | ({"label": f"m{good}"} if labels else {}))  # fmt: skip
    return read_judgments(rows)


@pytest.mark.parametrize("labels", [True, False])
def test_an_audit_answers_whether_choices_follow_the_place(labels):
    found = audit(_choices(seeded(1), leaning=0.5, labels=labels), n_resamples=199)
    [slots] = [h for h in found.headlines if h.hypothesis == "slots"]
    assert slots.claim == "differs"
    records = found.records()
    share = records[slots.size]
    assert share.estimate > 0.5
    assert slots.estimand in {"choices_place_1", "position_1_share"}


def test_an_audit_claims_no_place_where_none_is_preferred():
    said = [
        h.claim
        for seed in range(6)
        for h in audit(_choices(seeded(seed), leaning=0.0, labels=True), n_resamples=99).headlines
        if h.hypothesis == "slots"
    ]
    assert len(said) == 6
    # Of 6 at .05, 2 or more are false in 3 %.
    assert said.count("differs") <= 1
