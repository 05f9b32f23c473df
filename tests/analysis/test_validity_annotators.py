"""Several people's labels in an audit: the ceiling, and may the judge replace one of them."""

import numpy as np
import pandas as pd
import pytest

import judgestats as js


def audited(kind, *, n=120, people=3, noise=0.25):
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, n) if kind == "score" else rng.random(n) < 0.6

    def says(share):
        other = rng.integers(1, 6, n) if kind == "score" else rng.random(n) < 0.5
        said = np.where(rng.random(n) < share, other, truth)
        return said if kind == "score" else np.where(said, "yes", "no")

    judged = pd.DataFrame({"item": range(n), kind: says(0.05)})
    labels = pd.concat(
        pd.DataFrame({"item": range(n), "annotator": f"p{j}", "label": says(noise)})
        for j in range(people)
    )
    frame = js.read_judgments(judged, labels=labels)
    return {r.id.split(".")[1]: r for r in js.audit(frame, n_resamples=19).analysis.results
            if r.id.startswith("people.")}  # fmt: skip


@pytest.mark.parametrize(("kind", "judged"), [("score", "apart"), ("verdict", "with_one")])
def test_people_among_themselves_stand_beside_the_judge(kind, judged):
    found = audited(kind)
    own, people = found[judged].result, found["among_themselves"].result
    assert found["gap"].result.estimate == pytest.approx(own.estimate - people.estimate)
    nearer = own.estimate < people.estimate if kind == "score" else own.estimate > people.estimate
    assert nearer  # the judge errs less than a person does
    replaced = found["replaced"].result
    assert replaced.passed
    assert replaced.winning_rate == 1
    assert "the best constant label" in replaced.sentence()
    assert "Won by epsilon: 0:" in replaced.sentence()


def test_one_person_has_no_ceiling():
    assert "among_themselves" not in audited("verdict", people=1)


def test_people_without_thirty_items_are_skipped_with_the_reason():
    replaced = audited("verdict", n=20)["replaced"].result
    assert np.isnan(replaced.winning_rate)
    assert "30 items" in replaced.sentence()
