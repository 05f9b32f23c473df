"""Dawid and Skene's model: with labels only, and contradicted where judges err together."""

from __future__ import annotations

import numpy as np
import pytest

from judgestats.errors import InputError
from judgestats.stats import dawid_skene

N = 800


def judged(rates, *, seed=1, together=0.0):
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.6
    right = rng.random((N, len(rates))) < rates
    hard = rng.random(N) < together
    right[hard, 1:] = False  # all but the first fall for the same trap
    right[hard, 0] = True
    return y, np.where(right, y[:, None], ~y[:, None])


def test_accuracies_are_recovered_with_few_labels():
    y, votes = judged([0.9, 0.8, 0.65, 0.7])
    votes = votes.astype(object)
    votes[::9, 2] = None
    gold = np.where(np.arange(N) < 50, y, np.nan)
    out = dawid_skene(votes, gold, names=list("abcd"), n_resamples=49)
    for true, row in zip([0.9, 0.8, 0.65, 0.7], out.rows.to_dict("records"), strict=True):
        assert row["accuracy_low"] - 0.02 < true < row["accuracy_high"] + 0.02
    assert not out.notes
    assert np.mean((out.posterior > 0.5) == y) > 0.9


@pytest.mark.parametrize("few", [10, "one kind"])
def test_no_accuracy_without_a_gold_subset(few):
    y, votes = judged([0.9, 0.8, 0.7])
    kept = np.arange(N) < 10 if few == 10 else y & (np.cumsum(y) < 60)
    out = dawid_skene(votes, np.where(kept, y, np.nan), names=list("abc"))
    assert out.rows.empty
    assert "needed" in out.sentence()


def test_judges_that_err_together_are_contradicted_by_the_labels():
    y, votes = judged([0.95, 0.9, 0.9, 0.9], together=0.35)
    gold = np.where(np.arange(N) < 60, y, np.nan)
    out = dawid_skene(votes, gold, names=list("abcd"), n_resamples=19)
    [note] = out.notes
    assert note.code == "model_contradicted"
    best = out.rows.set_index("judge")
    assert best["accuracy"].idxmax() != "a"  # the best judge is not called that ...
    assert best["gold_accuracy"].idxmax() == "a"  # ... which the labels tell


def test_equal_verdicts_without_variation_and_bad_input():
    y = np.r_[np.ones(30), np.zeros(30)]
    out = dawid_skene(np.column_stack([y, y]), y, names=["a", "b"], n_resamples=9)
    assert out.rows["accuracy"].min() > 0.97
    with pytest.raises(InputError, match="two judges"):
        dawid_skene(y[:, None], y, names=["a"])
