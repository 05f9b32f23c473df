"""Biases of known size are found where they were built in, and not where they were not."""

import json
import math

import numpy as np
import pytest

from judgestats.analysis import author_of_judge, position_shares, rescale_points
from judgestats.errors import InputError
from judgestats.protocols import Scale, padded
from judgestats.runner import load_design, run_experiment
from judgestats.runner.prepare import prepare
from judgestats.simulated import Truth, simulated_judge
from judgestats.simulated.judges import truth
from tests.runner.report_cells import shown_by, words_of

GIVEN = {
    "resamples": "99",
    "report": "none",
    "crosscheck": "no",
    "probes": "padding,position,own answer,scale 1-100,off topic,pair off topic",
    "repeats": "2",
    "own": "sim-partial=author-a,sim-positional=author-a",
}


def expected_shift(judge, items):
    """The truth on 1-10: mean of the padded less the original answer's expected score."""
    known = truth(judge)
    shifts = []
    for item in items:
        answer = item.responses[0].text
        means = [
            sum(s * p for s, p in known.score_probabilities(item.question, text, temperature=1.0)
                .items())
            for text in (answer, padded(answer))
        ]  # fmt: skip
        shifts.append(means[1] - means[0])
    return float(np.mean(shifts))


def expected_share_of_own(judge, items, author, *, without_favour=False):
    """The truth: share of verdicts for the own answer, both orders, a tie counting half."""
    from dataclasses import replace

    from judgestats.analysis import method_pairs

    known = Truth(replace(simulated_judge(judge), favour=0.0)) if without_favour else truth(judge)
    table = method_pairs(items).table
    by_id = {i.id: i for i in items}
    shares = []
    for name, pair in zip(table.items, table.pairs, strict=True):
        a, b = (by_id[name].responses[k] for k in pair)
        if (a.author == author) == (b.author == author):
            continue
        own, other = (a, b) if a.author == author else (b, a)
        p = known.choice_probabilities([own.text, other.text], temperature=1.0, tie=True)
        q = known.choice_probabilities([other.text, own.text], temperature=1.0, tie=True)
        shares.append((p[0] + p[2] / 2 + q[1] + q[2] / 2) / 2)
    return float(np.mean(shares))


@pytest.fixture
def outcome(workplace):
    run = run_experiment(load_design("bias"), GIVEN)
    [results] = workplace.glob(f"mlruns/*/{run.run_id}/artifacts/results.json")
    return run.analysis, prepare(load_design("bias"), GIVEN), results


def test_each_judge_is_moved_by_what_it_was_built_to_be_moved_by(outcome):
    found, prepared, results = outcome
    items = prepared.items
    for judge in ("sim-verbose", "sim-positional", "sim-partial"):
        effect = found[f"instrument.padding.{judge} at T=1"].effect
        half = (effect.interval.high - effect.interval.low) / 2
        assert math.isclose(effect.estimate, expected_shift(judge, items), abs_tol=1.6 * half)
    claims = {(h.about.varied, h.about.judge): h.claim for h in found.headlines}
    assert claims["padding", "sim-verbose"] == "differs"
    assert claims["padding", "sim-positional"] == "equivalent"  # shown, not assumed
    assert claims["position", "sim-positional"] == "differs"
    assert claims["position", "sim-verbose"] != "differs"
    assert {claims["off topic", j] for j in ("sim-verbose", "sim-partial")} == {"differs"}

    # Own answers: a judge that favours an author, and one that does not, asked of the same author.
    assert claims["own answer", "sim-partial"] == "differs"
    assert found["instrument.own answer.sim-positional at T=1"].p_value > 0.05
    favoured = expected_share_of_own("sim-partial", items, "author-a")
    plain = expected_share_of_own("sim-partial", items, "author-a", without_favour=True)
    assert favoured - plain > 0.05
    effect = found["instrument.own answer.sim-partial at T=1"].effect
    assert effect.interval.low < favoured - plain < effect.interval.high

    # Scales are compared in points of one, and the mean stands beside the spread.
    rows = found.conditions.set_index("condition")
    scored = rows["factor_probe"].isin(["original", "scale 1-100"])
    means = rows.loc[scored, ["mean", "within_variance", "icc1_null_q95"]]
    assert (rows.loc[rows["factor_probe"] == "scale 1-100", "scale"] == "1-100").all()
    assert means["mean"].between(1, 10).all()
    assert means.notna().all().all()
    assert found["shift.scale"].rows

    # The number beside a judge is that of the claim: one quantity an effect.
    [place] = [row for row in found.rows if row.key == "position"]
    told = {(h.about.varied, h.about.stratum.split(",")[0]): h for h in found.headlines}
    assert place.estimand == told["position", "sim-positional at T=1"].estimand
    assert place.cells["sim-positional at T=1"] == told["position", "sim-positional at T=1"].size
    drawn = {row.split(".")[1] for row in found.drawing.rows}
    assert drawn == {"position", "own answer"}  # of two effects each, against one of padding

    assert "author-a" in " ".join(found.limitations)
    content = json.loads(results.read_text())
    ids = [r["id"] for r in content["results"]]
    assert len(ids) == len(set(ids))
    assert {"length", "position", "spread", "shift", "shape"} <= {i.split(".")[0] for i in ids}
    assert {"length", "spread"} <= {h.id for h in prepared.plan.hypotheses}
    words = words_of(shown_by(results.parent))
    assert "no number of repeats can be advised" not in words
    assert "Excess kurtosis" in words or "excess kurtosis" in words
    assert "100% in" not in words  # scores of 1-100 are not at the end of 1-10


def test_authors_are_known_by_the_model_and_place_is_counted_by_order():
    assert author_of_judge("GPT-4@http://x/v1", ["gpt-4"]) == "gpt-4"
    assert author_of_judge("gpt-4o", ["gpt-4"]) == ""
    ab = np.array([["a", "a"], ["tie", "a"], ["a", ""]], dtype=object)
    ba = np.array([["b", "b"], ["a", "tie"], ["", ""]], dtype=object)
    shares = position_shares(ab, ba)
    assert shares[0].tolist() == [0.0, 1.0]  # always the first
    assert shares[1].tolist() == [0.5, 0.5]
    assert np.isnan(shares[2]).all()  # one order only: quality would not cancel
    assert rescale_points(np.array([1.0, 50.5, 100.0]), Scale(low=1, high=100)).tolist() == [
        1,
        5.5,
        10,
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scales": "1-5,1-10"}, "scales"),
        ({"probes": "paddin"}, "there is no probe 'paddin'"),
        ({"own": "gpt-9=author-a"}, "'gpt-9' is not among the judges"),
        ({"own": "author-a"}, "ours=theirs"),
    ],
)
def test_wrong_input_is_one_sentence(workplace, given, said):
    with pytest.raises(InputError, match=said):
        prepare(load_design("bias"), given)


def test_unread_replies_are_shown_under_both_policies(workplace):
    given = {**GIVEN, "judges": "sim-unreadable", "own": "", "pairs": "12"}
    found = run_experiment(load_design("bias"), given).analysis
    assert (found.conditions["unread_share"] > 0).all()
    assert any("own answer" in str(text) for text in found.limitations)
    left_out = found["position.sim-unreadable at T=1"]
    neither = found["position.unread"].tests["sim-unreadable at T=1"]
    assert neither.sample.n_items >= left_out.sample.n_items
    complete = found["padding.complete.sim-unreadable at T=1"].sample
    assert complete.n_items < found["instrument.padding.sim-unreadable at T=1"].sample.n_items
