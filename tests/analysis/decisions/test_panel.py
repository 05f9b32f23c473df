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
