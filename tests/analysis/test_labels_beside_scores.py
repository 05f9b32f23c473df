"""Pass and fail labels beside scores speak of the item: nothing is subtracted from points."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js


def table(words=("0", "1"), labelled=1.0, answers=1):
    rng = np.random.default_rng(3)
    rows = []
    for item in range(80):
        passed = int(item % answers == 0) if answers > 1 else int(rng.random() < 0.5)
        quality = 4 + 3 * passed + rng.normal()
        label = words[passed] if rng.random() < labelled else ""
        rows += [
            {
                "item_id": f"i{item}", "question_id": f"q{item // answers}", "repeat": r,
                "score": int(np.clip(round(quality + rng.normal()), 1, 10)), "label": label,
            }
            for r in range(3)
        ]  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame if answers > 1 else frame.drop(columns="question_id")


def results(frame):
    audit = js.audit(js.read_judgments(frame), n_resamples=19)
    return audit, {row["id"].rsplit(".", 1)[0]: row for row in audit.results.to_dict("records")}


@pytest.mark.parametrize("words", [("0", "1"), ("no", "yes")])
def test_scores_are_held_to_pass_and_fail_by_pairs(words):
    audit, by_kind = results(table(words))
    assert "pass / fail of the item" in " ".join(str(audit).split())
    assert by_kind["people.separation"]["estimate"] > 0.8
    assert not {"people.bias", "people.shift", "people.concordance"} & set(by_kind)


def test_the_rate_of_all_items_is_a_rate():
    _, by_kind = results(table(labelled=0.5))
    assert by_kind["people.corrected"]["estimand"] == "greg_rate"
    assert 0.3 < by_kind["people.corrected"]["estimate"] < 0.7


def test_one_passed_answer_of_several_is_the_right_one():
    _, by_kind = results(table(answers=4))
    assert by_kind["people.best_scored"]["estimate"] > 0.5
