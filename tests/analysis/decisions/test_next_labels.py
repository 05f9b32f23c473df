"""Labels next: reference values, known chances, refusals, and the command."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgestats import stats
from judgestats.cli import main
from judgestats.decisions import next_labels
from judgestats.errors import InputError
from judgestats.stats.validity import label_plan as strata
from tests.analysis.decisions.reference import agree, data

D = data("dec_labels")


def columns():
    return (D[c].to_numpy(float) for c in ("verdict", "confidence", "label"))


def counted(h, y, kept):
    return [np.bincount(h[kept], w, minlength=6).astype(int) for w in (None, y[kept])]


def test_reference_values():
    f, c, y = columns()
    h = strata.label_strata(f, c)
    sizes = np.bincount(h)
    have, passes = counted(h, y, D["batch"].to_numpy() == 1)
    smooth = (passes + 1) / (have + 2)
    least = np.maximum(have, 8).tolist()
    wanted = stats.allocate_labels(
        120, sizes / 1000, np.sqrt(smooth * (1 - smooth)), available=sizes.tolist(), least=least
    )
    random, best = strata.label_bounds(sizes / 1000, np.bincount(h, y) / sizes)
    of_verdict = strata.label_bounds(
        *np.array([[(f == v).mean(), y[f == v].mean()] for v in (0, 1)]).T
    )
    agree("dec_labels", {
        "stratum_sizes": sizes, "labels_batch_1": have, "passes_batch_1": passes,
        "neyman_next": wanted, "one_minus_r2": random, "neyman_bound": best,
        "estimate": strata.stratified_rate(
            sizes, *counted(h, y, D["batch"].isin([1, 2]).to_numpy())
        ),
        "one_minus_r2_verdict": of_verdict[0],
    })  # fmt: skip


def test_batches_follow_one_order_and_their_estimate_covers():
    f, c, y = columns()
    labels = np.full(1000, np.nan)
    seen: set[int] = set()
    for batch in (1, 2, 3, 4):
        made = next_labels(f, c, labels, budget=200, seed=3)
        assert made.batch == batch
        assert not seen & set(made.chosen)
        seen |= set(made.chosen)
        assert all(0 < p <= 1 for p in made.chance)
        labels[list(made.chosen)] = y[list(made.chosen)]
    done = next_labels(f, c, labels, budget=200, seed=3)
    assert (done.n_labels, done.chosen) == (200, ())
    assert done.estimate.low <= y.mean() <= done.estimate.high
    assert done.bound.neyman <= done.bound.strata <= done.bound.verdict + 0.05
    assert done.screen()[0].startswith("LABELS  Bound: ")


@pytest.mark.parametrize("budget", [101, 203, 999])
def test_a_budget_that_four_does_not_divide_is_spent_in_four_batches(budget):
    f, c, y = columns()
    labels = np.full(1000, np.nan)
    for batch in (1, 2, 3, 4):
        made = next_labels(f, c, labels, budget=budget)
        assert made.batch == batch
        labels[list(made.chosen)] = y[list(made.chosen)]
    assert np.isfinite(labels).sum() == budget
    assert next_labels(f, c, labels, budget=budget).chosen == ()


def test_raters_who_tie_leave_the_order_as_it_is():
    f, c, y = columns()
    first = next_labels(f, c, budget=200)
    labels = np.full((1000, 2), np.nan)
    labels[list(first.chosen)] = y[list(first.chosen), None]
    tied = list(first.chosen[:5])
    labels[tied] = [0.0, 1.0]
    made = next_labels(f, c, labels, budget=200)
    assert (made.n_ties, made.n_labels) == (5, 45)
    assert not set(made.chosen) & set(first.chosen)


def test_chances_edited_by_hand_are_refused():
    f, c, y = columns()
    first = next_labels(f, c, budget=200)
    labels, chance = (np.full(1000, np.nan) for _ in range(2))
    place = list(first.chosen)
    labels[place], chance[place] = y[place], first.chance
    assert next_labels(f, c, labels, budget=200, chance=chance).batch == 2
    chance[place[0]] = 0.5
    with pytest.raises(InputError, match="column chance is not what labels next wrote"):
        next_labels(f, c, labels, budget=200, chance=chance)


def test_refusals():
    f, c, y = columns()
    by_hand = np.where(np.arange(1000) < 60, y, np.nan)
    with pytest.raises(InputError, match="have no label, so chances are not known"):
        next_labels(f, c, by_hand, budget=200)
    with pytest.raises(InputError, match="between 48"):
        next_labels(f, c, budget=20)
    with pytest.raises(InputError, match=r"more than 3 items.*labels plan"):
        next_labels(f, c, budget=200, cluster=np.arange(1000) // 5)
    first = next_labels(f, c, budget=200)
    assert not first.certified
    assert np.isnan(first.bound.strata)
    assert "known after the first batch" in first.screen()[0]


def test_the_command_writes_batches_until_the_width(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = {1: "pass", 0: "fail"}
    table = D[["item", "confidence"]].assign(verdict=D["verdict"].map(words), answer="text")
    table.to_csv("judged.csv", index=False)
    command = ["labels", "next", "judged.csv", "--budget", "200"]
    assert main([*command, "--out", "first.csv", "--text", "answer"]) == 0
    assert "labels collect first.csv" in capsys.readouterr().out
    first = pd.read_csv("first.csv", dtype=str, keep_default_na=False)
    assert list(first) == ["item_id", "chance", "answer", "annotator", "label"]
    truth = D.set_index(D["item"].astype(str))["label"].map(words)
    labelled = first.assign(label=truth[first["item_id"]].to_numpy(), annotator="a")
    labelled.to_csv("labels.csv", index=False)
    assert main([*command, "--labels", "labels.csv", "--out", "second.csv"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("LABELS  Bound: ")
    assert "Batch 2 of 4: 50 items" in out
    assert main([*command, "--labels", "labels.csv", "--until", "width<=.5"]) == 0
    assert "no more labels are needed" in capsys.readouterr().out
    labelled.drop(columns="chance").to_csv("without.csv", index=False)
    assert main([*command, "--labels", "without.csv"]) == 2
    assert "no column chance" in capsys.readouterr().err
    labelled.assign(chance=0.3).to_csv("edited.csv", index=False)
    assert main([*command, "--labels", "edited.csv"]) == 2
    assert "column chance is not" in capsys.readouterr().err
    assert main([*command, "--until", "width<=0"]) == 2
