"""Audit of verdicts: repetition, order and people, each with its known answer."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats import audit, read_judgments
from judgestats.analysis import outcomes
from judgestats.analysis.audit import plan_for
from judgestats.data import parsed_frame
from judgestats.errors import InputError

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def verdicts(rows, **more):
    frame = pd.DataFrame(rows)
    frame = frame.assign(
        judge=frame.get("judge", "J"),
        temperature=np.nan,
        cluster=frame["item_id"],
        status=np.where(frame["choice"] == "", "unparseable", "ok"),
        **more,
    )
    return parsed_frame(frame)


def always_first(n=30, replicates=2):
    """Prefers what is shown first: response a in order ab, response b in order ba."""
    return [
        {"item_id": f"i{i}", "order": order, "replicate": r, "choice": choice}
        for i in range(n)
        for order, choice in (("ab", "a"), ("ba", "b"))
        for r in range(replicates)
    ]


def test_a_judge_that_follows_the_place_is_found_out():
    found = audit(verdicts(always_first()), n_resamples=99)
    row = found.conditions.iloc[0]
    assert row["swap_consistency"] == 0
    assert found["order.first_position.J"].p_value < 1e-6
    assert found["order.noise.J"]["repetition_noise"].estimate == 0
    # Within one order it always says the same: kappa has nothing to correct, and says so.
    assert np.isnan(row["fleiss_kappa"])
    assert found["reliability.fleiss_kappa.J"].reason


def test_items_beside_people_are_items_and_agreement_has_a_null():
    rows = [
        {"item_id": f"i{i}", "order": order, "choice": "ab"[i % 2], "label": "ab"[i % 2]}
        for i in range(20)
        for order in ("ab", "ba")
    ]
    rows[0]["choice"] = "no idea"
    found = audit(verdicts(rows), n_resamples=99)
    agreed = found["people.alignment.J"]
    assert (agreed.sample.n_items, agreed.sample.n_replications_max) == (20, 2)
    assert agreed.null is not None
    assert agreed.null.mean == pytest.approx(0.5, abs=0.1)
    assert found["people.kappa.J"].null is not None
    assert found.conditions.iloc[0]["n_ok"] == 39
    assert any("no idea" in text for text in found.limitations)


def test_a_column_of_something_else_is_not_compared_with_labels():
    rows = [{"item_id": f"i{i}", "choice": "perhaps", "label": "a"} for i in range(6)]
    with pytest.raises(InputError, match="most choices are not pairwise outcomes"):
        audit(verdicts(rows))


def test_labels_must_be_outcomes():
    with pytest.raises(InputError, match="not an outcome"):
        outcomes(pd.Series(["a", "perhaps"]), strict=True)


def test_a_judge_that_agrees_with_people_more_wins_paired():
    rng = np.random.default_rng(1)
    label = rng.choice(["a", "b"], 60)
    rows = []
    for judge, right in (("good", 0.95), ("poor", 0.5)):
        says = np.where(rng.random(60) < right, label, np.where(label == "a", "b", "a"))
        rows += [
            {"judge": judge, "item_id": f"i{i}", "choice": says[i], "label": label[i]}
            for i in range(60)
        ]
    found = audit(verdicts(rows), n_resamples=99)
    by_name = found.conditions.set_index("condition")
    assert by_name.loc["good", "alignment"] > 0.85 > by_name.loc["poor", "alignment"]
    assert found["compare.people"].p_value == 0.01  # the smallest of 99 permutations
    assert found["compare.people.ranks"].p_value < 0.001


def test_three_judges_are_told_apart_in_pairs():
    rows = [
        {"judge": f"J{k}", "item_id": f"i{i}", "choice": "a" if i % (k + 1) == 0 else "b",
         "label": "a"}
        for k in range(3) for i in range(40)
    ]  # fmt: skip
    found = audit(verdicts(rows), n_resamples=99)
    rows = found["compare.people.pairs"].rows
    assert [round(r.estimate, 3) for r in rows] == [-0.5, -0.65, -0.15]


def test_unread_verdicts_are_counted_and_not_judged():
    rows = always_first(10)
    rows[0]["choice"] = ""
    found = audit(verdicts(rows), n_resamples=99)
    assert found.conditions.iloc[0]["unread_share"] == pytest.approx(1 / 40)
    assert any("were not parsed" in t for t in found.limitations)


def test_nothing_to_say_is_said():
    rows = [{"item_id": f"i{i}", "choice": "a"} for i in range(5)]
    found = audit(verdicts(rows), n_resamples=99)
    assert found.conditions["share of 'a'"].tolist() == [1.0]


def test_real_pairs_with_human_labels_through_a_file(tmp_path):
    path = SHARED / "arena_pairs"
    if not path.exists():
        pytest.skip("the shared data folder is not beside this checkout")
    from judgestats import read_judgments

    table = pd.concat([pd.read_json(f) for f in sorted(path.glob("*.json"))])
    pick = table["judge_pick"].map({"A": "model_a", "B": "model_b"})
    table = table.assign(pick=pick, item=table["id"])
    table[["item", "pick", "human_winner"]].to_csv(tmp_path / "arena.csv", index=False)
    frame = read_judgments(tmp_path / "arena.csv", mapping={"choice": "pick"})
    found = audit(frame, n_resamples=99)
    row = found.conditions.iloc[0]
    assert row["n"] == 877
    read = table[pick.notna() & table["human_winner"].isin(["model_a", "model_b", "tie"])]
    same = (read["pick"] == read["human_winner"]).mean()
    assert row["accuracy"] == pytest.approx(same, abs=1e-12)


def test_what_was_never_asked_is_no_verdict_of_its_own():
    """Items with 2 to 4 replications, one of all verdicts unread."""
    rng = np.random.default_rng(6)
    rows = [
        {"item_id": f"i{i}", "order": "", "replicate": r, "choice": says}
        for i in range(60)
        for true in (rng.choice(["a", "b"]),)
        for r in range(2 + i % 3)
        for says in (true if rng.random() < 0.95 else "b",)
    ]
    rows[7]["choice"] = ""
    found = audit(verdicts(rows), n_resamples=99)
    plain = found["reliability.fleiss_kappa.J"].estimate
    apart = found["reliability.fleiss_kappa_unread.J"].estimate
    assert apart == pytest.approx(plain, abs=0.05)


@pytest.mark.parametrize("labelled", [False, True])
def test_a_plan_asks_only_what_the_file_can_answer(labelled) -> None:
    rows = [{"item": i, "trial": k, "passed": (i + k) % 3 > 0} for i in range(30) for k in (1, 2)]
    table = pd.DataFrame(rows)
    if labelled:
        table["label"] = table["item"] % 2
    declared = plan_for(read_judgments(table))
    assert ("agree with humans" in declared.question) is labelled
    assert "position" not in declared.question
    asked = {h.id for h in declared.hypotheses}
    assert ("people" in asked, "slices" in asked) == (labelled, labelled)
    assert not {"strength", "order", "slots"} & asked
