"""Effective votes of a panel: reference values, edges, and the command."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.cli import main
from judgestats.decisions import effective_votes
from judgestats.errors import InputError
from judgestats.stats.validity import panels as kernel
from tests.analysis.decisions.reference import agree, data

NAMES = [f"j{i}" for i in range(1, 10)]


def test_reference_values():
    d = data("dec_panel")
    votes, y = d[NAMES].to_numpy(), d["label"].to_numpy()
    alone = effective_votes(votes, y, names=NAMES)
    joint = effective_votes(votes, y, names=NAMES, cluster=d["cluster"])
    by_k = {s.k: s.estimate for s in joint.accuracy_by_size if not s.model}
    errors = (votes[~np.isnan(y)] != y[~np.isnan(y), None]).astype(float)
    rate, rho = errors.mean(), alone.mean_correlation
    share, v = errors.mean(axis=0), kernel.vote_variance(votes)
    loss = {one.judge: one.loss for one in alone.droppable}
    agree("dec_panel", {
        "n_eff": alone.n_eff.estimate, "mean_correlation": rho,
        "limits": [alone.n_eff.low, alone.n_eff.high],
        "limits_clusters": [joint.n_eff.low, joint.n_eff.high],
        "error_rates": list(alone.error_rates.values()), "majority_accuracy": by_k[9],
        "vote_variance": v, "least_mean_error": alone.least_mean_error,
        "mean_disagreement": 2 * alone.least_mean_error,
        "n_eff_all_items": (share * (1 - share)).mean() / (rate * (1 - rate) - v),
        **{f"n_eff_if_accuracy_{a}": alone.assumed[a] for a in ("0.7", "0.8", "0.9")},
        **{f"beta_binomial_{n}": kernel.modelled_accuracy(rate, rho, n) for n in (3, 5, 9, 25)},
        **{f"majority_of_{n}": by_k[n] for n in (1, 3, 5, 7, 9)},
        "majority_if_independent": alone.accuracy_if_independent,
        "n_eff_without": [kernel.effective_judges(np.delete(errors, j, axis=1)) for j in range(9)],
        "majority_without": [by_k[9] - loss[name] for name in NAMES],
    })  # fmt: skip
    assert next(s for s in alone.accuracy_by_size if s.model).k == 25


def test_without_labels_nothing_is_said_of_accuracy():
    d = data("dec_panel")
    made = effective_votes(d[NAMES].to_numpy(), names=NAMES)
    assert (made.certified, made.n_eff.source) == (False, "assumed")
    assert np.isnan(made.n_eff.estimate)
    assert made.to_dict()["n_eff"]["estimate"] is None
    assert "accuracy is not measured" in made.screen()[0]
    apart = effective_votes(np.tile([1.0, 0.0], (50, 1)))
    assert np.isnan(list(apart.assumed.values())).all()
    assert "More disagreement" in " ".join(" ".join(apart.screen()).split())


def test_a_judge_that_adds_nothing_can_go_the_dearest_first():
    rng = np.random.default_rng(1)
    y = rng.random(4000) < 0.5
    votes = np.column_stack([np.where(rng.random(4000) < 0.1, ~y, y) for _ in range(3)])
    votes = np.column_stack([votes, votes[:, 0], votes[:, 0]])
    made = effective_votes(votes, y, names=list("abcde"), prices={"d": 9, "e": 5})
    gone = [one.judge for one in made.droppable if one.droppable]
    assert gone[:2] == ["d", "e"]
    assert {pair[:2] for pair in made.copies} == {("a", "d"), ("a", "e"), ("d", "e")}


def test_edges():
    y = np.arange(60) % 2
    with pytest.raises(InputError, match="two judges"):
        effective_votes(y[:, None], y)
    with pytest.raises(InputError, match="names must differ"):
        effective_votes(np.column_stack([y, y]), y, names=["a", "a"])
    right = effective_votes(np.column_stack([y, y]), y)
    assert "no shared item was judged wrongly" in right.reason
    assert not right.certified
    opposed = np.column_stack([np.where(np.arange(60) < 20, 1 - y, y),
                               np.where(np.arange(60) >= 40, 1 - y, y)])  # fmt: skip
    assert effective_votes(opposed, y).n_eff.estimate > 2
    few = effective_votes(np.where(np.arange(60)[:, None] < [5, 7], 1 - y[:, None], y[:, None]), y)
    assert [c.code for c in few.caveats] == ["labels_drawn_unknown", "few_errors"]
    lost = opposed.astype(float)
    lost[:6, 0] = np.nan
    assert effective_votes(lost, y).n_labels == 54
    wrong = (opposed != y[:, None]).astype(float)
    scores = effective_votes(y[:, None] * 3.0 + wrong, y * 3.0, scores=True)
    assert scores.n_eff.estimate == pytest.approx(effective_votes(opposed, y).n_eff.estimate)
    assert scores.accuracy_by_size == ()


def test_what_is_not_defined_has_a_reason():
    votes = np.column_stack([np.arange(40) % 2, 1 - np.arange(40) % 2])
    assert "the same on every item" in effective_votes(votes, np.ones(40)).reason
    empty = np.column_stack([votes, np.full(40, np.nan)])
    assert "3 judges: no item was judged by every judge." in str(
        effective_votes(empty, np.ones(40))
    )
    alike = effective_votes(np.repeat(votes[:, :1], 3, axis=1), np.ones(40))
    assert "Near copies: judge 1 and judge 2 (error correlation 1.00)" in " ".join(
        alike.sentences()
    )


@pytest.fixture
def files(tmp_path):
    d = data("dec_panel")
    words = {1: "pass", 0: "fail"}
    long = d.melt(["item", "cluster"], NAMES, var_name="judge", value_name="verdict")
    long["verdict"] = long["verdict"].map(words)
    known = d[d["label"].notna()]
    file, labels = tmp_path / "votes.csv", tmp_path / "labels.csv"
    long.to_csv(file, index=False)
    pd.DataFrame({"item": known["item"], "label": known["label"].map(words)}).to_csv(
        labels, index=False
    )
    return str(file), str(labels)


def test_the_command_and_the_gate(files, capsys):
    file, labels = files
    words = ["decide", "panel", file, "--labels", labels]
    assert main([*words, "--require", "n_eff>=1.5"]) == 0
    assert "9 judges have 2.0 effective votes, 95% CI [1.7, 2.3]" in capsys.readouterr().out
    assert main([*words, "--require", "n_eff>=4"]) == 1
    assert main([*words, "--require", "n_eff>=2"]) == 3
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["kind"] == "panel"
    assert record["judges"] == NAMES
    assert main(["decide", "panel", file]) == 0
    out = capsys.readouterr().out
    assert "without labels" in out
    assert f"judgestats labels plan {file}" in out
    assert main(["decide", "panel", file, "--require", "n_eff>=4"]) == 3
    capsys.readouterr()
    assert main([*words, "--price", "j77=3"]) == 2
    assert "no judge is called 'j77'" in capsys.readouterr().err
    for drawn, why in (("by-verdict", "bias error rates"), ("stratified", "in each stratum")):
        assert main([*words, "--labels-drawn", drawn]) == 2
        assert why in capsys.readouterr().err
    gate = js.check(file, labels=labels, require={"n_eff": 4}, n_resamples=99)
    assert gate.exit_code == 1


def test_scores_of_judges_err_like_fewer_judges(tmp_path, capsys):
    rng = np.random.default_rng(9)
    human = rng.integers(2, 9, 300).astype(float)
    shared = rng.normal(size=300)
    scores = human[:, None] + shared[:, None] + rng.normal(size=(300, 3))
    file = tmp_path / "s.csv"
    pd.concat([
        pd.DataFrame({"item": range(300), "judge": f"j{k}", "score": scores[:, k].round(2),
                      "human_score": human})
        for k in range(3)
    ]).to_csv(file, index=False)  # fmt: skip
    assert main(["decide", "panel", str(file), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    direct = effective_votes(scores.round(2), human, scores=True)
    assert made["n_eff"]["estimate"] == pytest.approx(direct.n_eff.estimate)
    assert 1.2 < made["n_eff"]["estimate"] < 1.9
    assert made["accuracy_by_size"] == []
    [shown] = js.check(file, require={"n_eff": 1.2}, n_resamples=99).results.decisions
    assert (shown["kind"], shown["n_eff"]) == ("panel", made["n_eff"])
    assert main(["analyze", str(file), "--track", "none", "--report", "none"]) == 0
    assert "\n".join(made["screen"]) in capsys.readouterr().out
    with pytest.raises(InputError, match="need human scores"):
        effective_votes(scores, scores=True)


@pytest.mark.parametrize("k", [2, 3, 7])
def test_judges_of_whom_one_errs_on_every_item_have_no_effective_votes(k):
    errors = np.eye(k)[np.arange(60) % k]
    made = effective_votes(1 - errors, np.ones(60), labels_drawn="random")
    assert not made.certified
    assert made.reason == "the mean error is the same on every item: n_eff is not defined"


def test_near_copies_have_limits_that_allow_for_items_not_seen():
    rng = np.random.default_rng(6)
    hits, widths = [], []
    truth = 1.032  # two judges, error .2, apart on 2% of the items
    for _ in range(300):
        shared = rng.random(100) < 0.2
        e = shared[:, None] ^ (rng.random((100, 2)) < 0.01)
        made = effective_votes(e, np.zeros(100), labels_drawn="random")
        hits.append(made.n_eff.low <= truth <= made.n_eff.high)
        widths.append(made.n_eff.high - made.n_eff.low)
    assert np.mean(hits) >= 0.93
    assert min(widths) > 0.02
    scores = rng.normal(size=(60, 1)) + np.zeros(2)
    same = effective_votes(scores, np.zeros(60), labels_drawn="random", scores=True)
    assert same.n_eff.low == 1 < same.n_eff.high < 1.25
    assert effective_votes(
        np.ones((60, 2)), scores[:, 0], labels_drawn="random", scores=True
    ).certified
    for errors in (np.tile([0.0, 1.0], (30, 1)), np.eye(2)[np.arange(30) % 2]):
        assert np.isnan(kernel.effective_judges_limits(errors)).all()


def test_no_judge_is_dropped_because_few_items_were_labelled():
    rng = np.random.default_rng(7)
    false = 0
    for _ in range(100):
        e = rng.random((40, 3)) < 0.05  # without one of three the loss is .04
        if e.any():
            made = effective_votes(e, np.zeros(40), labels_drawn="random")
            false += any(one.droppable for one in made.droppable)
    assert false <= 5


def test_few_errors_lower_the_limit_by_a_shared_one_that_was_not_seen():
    rng = np.random.default_rng(4)
    errors = (rng.random((40, 5)) < 0.1).astype(float)
    low, high = kernel.effective_judges_limits(errors)
    more = kernel.effective_judges(np.vstack([errors, np.ones((1, 5))]))
    assert 1 <= low < more < kernel.effective_judges(errors) < high
    made = effective_votes(errors, np.zeros(40), labels_drawn="random")
    assert "allows for one more in which all judges err" in made.caveats[0].text
    once = kernel.effective_judges_limits(np.tile(errors, (10, 1)))
    copied = kernel.effective_judges_limits(np.tile(errors, (10, 1)), np.tile(np.arange(40), 10))
    assert copied == pytest.approx(kernel.effective_judges_limits(errors), abs=0.15)
    assert once[0] > copied[0]
