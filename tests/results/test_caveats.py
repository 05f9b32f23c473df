"""Caveats from data that call for them, and measures of systems, through `judgestats.check`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import judgestats as js
from judgestats.errors import InputError
from judgestats.results import ORDER, Measure, Verdict


def verdicts(
    n: int = 120, *, seed: int = 1, tpr: float = 0.97, tnr: float = 0.97, code: float = 0.97
) -> Iterator[dict[str, Any]]:
    """Pass / fail verdicts with labels, two repeats; `code` is the TNR of every second answer."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        label = i % 2
        slice_ = "code" if i // 2 % 2 else "chat"
        right = tpr if label else code if slice_ == "code" else tnr
        truth = label if rng.random() < right else 1 - label
        for repeat in range(2):
            yield {
                "item": f"q{i}", "judge": "j", "repeat": repeat, "category": slice_,
                "verdict": "pass" if truth else "fail", "label": "pass" if label else "fail",
            }  # fmt: skip


def scores(
    n: int = 60, *, judges: int = 1, repeats: int = 5, shift: float = 0.0, systems: int = 0
) -> list[dict[str, Any]]:
    """Scores from 1 to 10; the last repeat is shifted, and system k is k/2 points better."""
    rng = np.random.default_rng(4)
    made = []
    for i in range(n):
        level = rng.uniform(3, 7)
        for j in range(judges):
            for s in range(max(systems, 1)):
                for r in range(repeats):
                    value = level + s / 2 + rng.normal(0, 0.5) + shift * (r == repeats - 1)
                    row = {"item": f"q{i}", "judge": f"j{j}", "repeat": r, "score": round(value)}
                    named = {"item": f"q{i}-{s}", "cluster": f"q{i}", "system": f"s{s}"}
                    made.append(row | (named if systems else {}))
    return made


def decided(rows: Any, **options: Any) -> Verdict:
    return js.check(list(rows), n_resamples=99, **options).verdicts[0]


def codes(verdict: Verdict) -> dict[str, str]:
    return {c.code: c.severity for c in verdict.caveats}


def measures(rows: Any) -> dict[str, Measure]:
    return {m.key: m for m in js.audit(list(rows), n_resamples=99).run.records.measures}


def test_a_slice_that_fails_turns_use_into_care() -> None:
    good = decided(verdicts(960))
    bad = decided(verdicts(960, code=0.6), require="tnr=.7")
    assert "slice_fails" not in codes(good)
    assert bad.outcome == "USE_WITH_CARE"
    assert codes(bad)["slice_fails"] == "major"
    caveat = next(c for c in bad.caveats if c.code == "slice_fails")
    assert "category=code" in caveat.text
    assert caveat.action


def test_default_thresholds_and_a_single_rater_are_minor() -> None:
    found = codes(decided(verdicts()))
    assert found["default_thresholds"] == found["one_labeller"] == "minor"
    stated = codes(decided(verdicts(), require="tpr=.8,tnr=.8"))
    assert "default_thresholds" not in stated


def test_runs_that_share_a_shift_are_a_major_caveat() -> None:
    shifted = codes(decided(scores(shift=1.0)))
    still = codes(decided(scores()))
    few = codes(decided(scores(repeats=2)))
    assert shifted["run_effect"] == "major"
    assert "run_effect" not in still
    assert few["these_runs"] == "minor"


def test_items_that_are_copies_are_a_major_caveat() -> None:
    rows = scores(40)
    copied = [row | {"item": f"{row['item']}-again"} for row in rows if int(row["item"][1:]) < 8]
    assert codes(decided([*rows, *copied]))["duplicate_items"] == "major"
    assert "duplicate_items" not in codes(decided(rows))


def test_repeats_with_the_same_long_reply_cannot_be_told() -> None:
    reply = "The answer is complete and correct in every part that was asked. Score: {}"
    rows = [
        {"item": i, "judge": "j", "repeat": r, "reply": reply.format(2 + i % 7)}
        for i in range(30) for r in range(3)
    ]  # fmt: skip
    found = decided(rows, parse="Score: ([0-9]+)", mapping={"raw_text": "reply"})
    assert codes(found)["cached_repeats"] == "blocker"
    assert found.outcome == "CANNOT_TELL"


def test_a_threshold_between_sem_and_tail_bound_is_a_caveat() -> None:
    rows = scores(60, repeats=5)
    records = js.audit(rows, n_resamples=99, scale=(1, 10)).run.records
    sem = next(m for m in records.measures if m.key == "sem")
    tail = records.estimate("condition.sem_tail.j0")
    assert tail is not None
    assert sem.high < tail.estimate
    between = (sem.high + tail.estimate) / 2
    assert codes(decided(rows, scale=(1, 10), require={"sem": between}))["wild_replies"] == "major"
    assert "wild_replies" not in codes(
        decided(rows, scale=(1, 10), require={"sem": tail.estimate + 0.1})
    )


def test_systems_are_separated_and_the_smallest_difference_is_that_of_the_design() -> None:
    rows = scores(30, repeats=2, systems=3)
    found = measures(rows)
    table: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        table.setdefault((row["cluster"], row["system"]), []).append(row["score"])
    mean = {key: float(np.mean(values)) for key, values in table.items()}
    pairs = [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    errors = [
        np.std([mean[f"q{i}", a] - mean[f"q{i}", b] for i in range(30)], ddof=1) / 30**0.5
        for a, b in pairs
    ]
    # t quantiles with 29 df: 2.04523 (.975) and 0.85415 (.80)
    assert found["mdd"].estimate == pytest.approx((2.04523 + 0.85415) * max(errors), rel=1e-4)
    assert found["separability"].estimate == 1.0
    ranked = decided(rows, for_="rank")
    assert ranked.requirements[0].status == "holds"
    assert ranked.purpose == decided(rows).purpose == "rank"
    assert decided(rows, require={"icc_1_1": 0.5}).purpose == "score"  # as stated
    assert decided(scores(30, repeats=2, systems=2)).purpose == "score"


def test_items_that_separate_systems_do_so_with_probability_80() -> None:
    rng = np.random.default_rng(5)
    base = rng.normal(5, 1, 15)
    table = np.stack([base + shift + rng.normal(0, 1, 15) for shift in (0, 0.6, 1.4)])
    rows = [
        {"item": f"{i}-{s}", "cluster": f"q{i}", "system": f"s{s}", "judge": "j", "score": score}
        for s, own in enumerate(table) for i, score in enumerate(own)
    ]  # fmt: skip
    found = decided(rows, for_="rank")
    assert [r.key for r in found.requirements] == ["separability"]
    [step] = found.next
    assert (found.outcome, step.key, step.unit, step.have) == (
        "CANNOT_TELL", "separability", "items", 45,
    )  # fmt: skip

    def power(items: int) -> float:
        n = round(items / 3)
        drawn = rng.multivariate_normal(table.mean(axis=1), np.cov(table), (2000, n))
        d = np.stack([drawn[..., a] - drawn[..., b] for a, b in ((0, 1), (0, 2), (1, 2))])
        t = np.abs(d.mean(axis=2)) / (d.std(axis=2, ddof=1) / n**0.5)
        return float((t > 2.394).all(axis=0).mean())  # normal quantile of .025 / 3

    assert step.if_true is not None
    assert 0.78 < power(45 + step.if_true) < 0.95
    assert power(45 + step.if_true // 2) < 0.7


def test_a_rank_correlation_is_expected_of_five_systems() -> None:
    four, five = (decided(scores(30, repeats=2, systems=n), for_="rank") for n in (4, 5))
    assert [r.key for r in four.requirements] == ["separability"]
    assert [r.status for r in five.requirements] == ["holds", "not_measured"]
    stated = decided(scores(30, repeats=2, systems=4), for_="rank", require="kendall_tau_b=.7")
    assert [r.status for r in stated.requirements] == ["holds", "not_measured"]


def test_a_comparison_of_scores_needs_the_difference_that_matters() -> None:
    rows = scores(30, repeats=2, systems=2)
    with pytest.raises(InputError, match="mdd="):
        decided(rows, for_="compare")
    with pytest.raises(InputError, match="system=COLUMN"):
        decided(scores(30, repeats=2), for_="compare")
    wide = decided(rows, for_="compare", require={"mdd": 3})
    narrow = decided(rows, for_="compare", require={"mdd": 0.01})
    assert [v.requirements[-1].status for v in (wide, narrow)] == ["holds", "open"]
    assert narrow.outcome == "CANNOT_TELL"
    assert ORDER.index(wide.outcome) > ORDER.index(narrow.outcome)


def test_the_agreement_of_people_is_what_the_judge_is_compared_with() -> None:
    rng = np.random.default_rng(2)
    rows = []
    for i in range(200):
        truth = int(rng.random() < 0.6)
        word = [("fail", "pass")[truth ^ int(rng.random() < e)] for e in (0.05, 0.1, 0.1)]
        rows.append({"item": i, "judge": "j", "verdict": word[0], "label_ann": word[1],
                     "label_bob": word[2]})  # fmt: skip
    found = decided(rows, for_="compare", require="agreement_human=-.1,mdd=none")
    assert found.requirements[0].key == "agreement_human"


def test_a_blocker_is_the_reason_where_all_requirements_hold() -> None:
    rows = [
        {"item": i, "repeat": r, "verdict": word, "label": word}
        for i in range(200) for r in range(3) for word in [("pass", "fail")[i % 2]]
    ]  # fmt: skip
    drawn = js.check(rows, labels_drawn="random").verdicts[0]
    picked = js.check(rows, labels_drawn="convenience").verdicts[0]
    assert drawn.outcome in {"USE", "USE_WITH_CARE"}
    assert picked.outcome == "CANNOT_TELL"
    assert picked.sentence.startswith("Labels were picked by hand")


def test_two_questions_that_tell_less_than_one_trial_give_no_next_step() -> None:
    said = [("a", "good"), ("a", "good"), ("a", "good"), ("b", "bad"), ("b", "good"), ("b", "good")]
    rows = [
        {"item": i, "cluster": cluster, "verdict": word, "label": "good"}
        for i, (cluster, word) in enumerate(said)
    ]
    verdict = decided(rows, require="accuracy=.8")
    assert verdict.outcome == "CANNOT_TELL"
    assert not verdict.next
