"""Labels next: reference values, known chances, refusals, and the command."""

from __future__ import annotations

from pathlib import Path

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
    least = np.maximum(have, 8).tolist()
    spread = np.sqrt(strata.pass_variances(have, passes))
    wanted = stats.allocate_labels(120, sizes / 1000, spread, available=sizes.tolist(), least=least)
    labels, sums = counted(h, y, D["batch"].isin([1, 2]).to_numpy())
    variances = strata.pass_variances(labels, sums)
    random, best = strata.label_bounds(sizes / 1000, np.bincount(h, y) / sizes)
    of_verdict = strata.label_bounds(
        *np.array([[(f == v).mean(), y[f == v].mean()] for v in (0, 1)]).T
    )
    agree("dec_labels", {
        "stratum_sizes": sizes, "labels_batch_1": have, "passes_batch_1": passes,
        "neyman_next": wanted, "one_minus_r2": random, "neyman_bound": best,
        "estimate": strata.stratified_mean(sizes, labels, sums / labels, variances),
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
    assert done.screen()[0].startswith("READY  Bound: ")
    said = " ".join(" ".join(done.screen()).split())
    assert "(no CI: estimated from 200 labels). Human pass rate" in said
    assert f", 95% CI [{done.estimate.low:.3f}".replace("[0.", "[.") in said


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
    assert first.bound.assumed["0.9"] == pytest.approx(1 - np.corrcoef(f, f)[0, 1], abs=1)


def test_the_command_writes_batches_until_the_width(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = {1: "pass", 0: "fail"}
    table = D[["item", "confidence"]].assign(verdict=D["verdict"].map(words), answer="text")
    table.to_csv("judged.csv", index=False)
    command = ["labels", "next", "judged.csv", "--budget", "200"]
    assert main([*command, "--out", "first.csv", "--text", "answer"]) == 0
    said = capsys.readouterr().out
    assert "labels collect first.csv, then this command with --labels first.csv and ano" in said
    first = pd.read_csv("first.csv", dtype=str, keep_default_na=False)
    assert list(first) == ["item_id", "chance", "answer", "annotator", "label"]
    truth = D.set_index(D["item"].astype(str))["label"].map(words)
    labelled = first.assign(label=truth[first["item_id"]].to_numpy(), annotator="a")
    labelled.to_csv("labels.csv", index=False)
    assert main([*command, "--labels", "labels.csv", "--out", "second.csv"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("READY  Bound: ")
    assert "Batch 2 of 4: 50 items" in out
    second = pd.read_csv("second.csv", dtype=str, keep_default_na=False)
    assert second["label"].ne("").tolist() == [True] * 50 + [False] * 50
    assert second["item_id"].nunique() == 100
    assert main([*command, "--labels", "second.csv", "--out", "again.csv"]) == 0
    assert Path("again.csv").read_text() == Path("second.csv").read_text()
    for number in (2, 3, 4):
        done = second.assign(label=truth[second["item_id"]].to_numpy(), annotator="a")
        done.to_csv("labels-now.csv", index=False)
        assert main([*command, "--labels", "labels-now.csv"]) == 0
        if number < 4:
            second = pd.read_csv(f"labels-next-{number + 1}.csv", dtype=str, keep_default_na=False)
    assert "All 200 labels of the budget are given." in capsys.readouterr().out
    assert main([*command, "--labels", "labels.csv", "--until", "width<=.5"]) == 0
    assert "no more labels are needed" in capsys.readouterr().out
    labelled.drop(columns="chance").to_csv("without.csv", index=False)
    assert main([*command, "--labels", "without.csv"]) == 2
    assert "no column chance" in capsys.readouterr().err
    labelled.assign(chance=0.3).to_csv("edited.csv", index=False)
    assert main([*command, "--labels", "edited.csv"]) == 2
    assert "column chance is not" in capsys.readouterr().err
    assert main([*command, "--until", "width<=0"]) == 2


def scored(rng, n=600):
    human = np.clip(np.round(rng.normal(6, 2, n)), 1, 10)
    return np.clip(np.round(human + rng.normal(0, 1.2, n)), 1, 10), human


def test_scores_take_strata_of_the_score_and_a_mean_with_its_interval():
    score, human = scored(np.random.default_rng(4))
    labels = np.full(600, np.nan)
    for _ in range(4):
        made = next_labels(score, None, labels, budget=160, seed=2)
        labels[list(made.chosen)] = human[list(made.chosen)]
    done = next_labels(score, None, labels, budget=160, seed=2)
    assert (done.quantity, done.n_labels, done.chosen) == ("mean_score", 160, ())
    assert done.estimate.low <= human.mean() <= done.estimate.high
    assert {s.name.split()[0] for s in done.strata} == {"low", "middle", "high"}
    assert all(s.passes is None and s.sd > 0 for s in done.strata)
    every = next_labels(score, None, human, budget=600)
    r2 = np.corrcoef(score, human)[0, 1] ** 2
    assert every.bound.verdict == pytest.approx(1 - r2, abs=1e-12)
    assert every.bound.neyman <= every.bound.strata < 1
    first = next_labels(score, budget=160)
    assert first.bound.assumed == pytest.approx({"0.5": 0.75, "0.7": 0.51, "0.9": 0.19})


def test_two_prior_labels_at_the_pilot_sd_widen_a_stratum_of_equal_labels():
    score, human = np.repeat([2.0, 9.0], 100), np.repeat([2.0, 9.0], 100)
    labels = np.full(200, np.nan)
    first = next_labels(score, None, labels, budget=64)
    labels[list(first.chosen)] = human[list(first.chosen)]
    made = next_labels(score, None, labels, budget=64)
    pilot = labels[list(first.chosen)].std(ddof=1)
    for stratum in made.strata:
        assert stratum.sd == pytest.approx(pilot * np.sqrt(2 / (stratum.labels + 1)))
    alike = np.where(np.isnan(labels), np.nan, 5.0)
    same = next_labels(score, None, alike, budget=64)
    assert (same.certified, same.reason) == (False, "labels do not vary")


def test_before_the_first_label_the_bound_is_stated_by_tpr_and_tnr():
    rng = np.random.default_rng(5)
    y = rng.random(200_000) < 0.6
    v = np.where(rng.random(y.size) < 0.9, y, ~y).astype(float)
    made = next_labels(v, budget=200)
    assert made.bound.assumed["0.9"] == pytest.approx(1 - np.corrcoef(v, y)[0, 1] ** 2, abs=0.01)
    assert "no bound can be estimated" in made.screen()[0]
    assert (
        "0.8" not in next_labels((rng.random(500) < 0.95).astype(float), budget=200).bound.assumed
    )


def test_the_command_takes_scores_of_judge_and_people(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    score, human = scored(np.random.default_rng(6))
    pd.DataFrame({"item": range(600), "score": score.astype(int)}).to_csv("s.csv", index=False)
    assert main(["labels", "next", "s.csv", "--budget", "100", "--out", "b.csv"]) == 0
    assert "--choices 1,2,3,4,5,6,7,8,9,10" in capsys.readouterr().out
    batch = pd.read_csv("b.csv", dtype=str, keep_default_na=False)
    batch["label"] = human[batch["item_id"].astype(int)].astype(int)
    batch.to_csv("l.csv", index=False)
    command = ["labels", "next", "s.csv", "--budget", "100", "--labels", "l.csv"]
    assert main([*command, "--until", "width<=8"]) == 0
    assert "Human mean score" in capsys.readouterr().out
    for value, code in (("3", 0), ("9", 1)):
        assert main([*command, "--until", "width<=8", "--require", f"mean_score>={value}"]) == code
    assert "a requirement fails" in capsys.readouterr().out
    assert main([*command, "--out", "c.csv", "--require", "tpr=.9"]) == 2
    assert "It has pass_rate, mean_score" in capsys.readouterr().err
    assert not Path("c.csv").exists()
    batch.assign(label=np.where(batch["label"] >= 6, "pass", "fail")).to_csv("l.csv", index=False)
    assert main([*command, "--until", "width<=8"]) == 2
    assert "below 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [(["gut", "schlecht"], "--values 'gut=WHAT"), (["a", "b"], "judgestats analyze j.csv")],
)
def test_verdicts_in_other_words_are_refused_with_the_way_on(
    tmp_path, capsys, monkeypatch, words, said
):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"item": range(90), "verdict": words[:1] * 60 + words[1:] * 30}).to_csv(
        "j.csv", index=False
    )
    for command in (["labels", "next"], ["decide", "automate"]):
        assert main([*command, "j.csv"]) == 2
        assert said in capsys.readouterr().err


def test_printed_commands_quote_names_with_spaces(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"item": range(40), "verdict": ["pass", "fail"] * 20}
    pd.DataFrame(rows).to_csv("my j.csv", index=False)
    assert main(["decide", "automate", "my j.csv"]) == 2
    assert "judgestats labels plan 'my j.csv' --labels 40" in capsys.readouterr().err
    assert main(["labels", "plan", "my j.csv", "--labels", "9", "--out", "my l.csv"]) == 0
    assert "Next  judgestats labels collect 'my l.csv'" in capsys.readouterr().out


def test_items_without_confidence_are_the_least_sure():
    rng = np.random.default_rng(3)
    verdict = np.ones(300)
    sure = np.where(np.arange(300) < 100, np.nan, 0.5 + rng.random(300) / 2)
    made = next_labels(verdict, sure, budget=60)
    assert [one.size for one in made.strata] == [100, 100, 100]


def test_analyze_proposes_to_choose_items_where_that_saves_labels(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    n, words = 2000, np.array(["fail", "pass"])
    y, sure = rng.random(n) < 0.6, rng.random(n)
    for doubtful, proposed in (((0.001, 0.4), True), ((0.2, 0.2), False)):
        v = np.where(rng.random(n) < np.where(sure > 0.4, *doubtful), ~y, y)
        label = np.where(np.arange(n) < 600, words[y.astype(int)], "")
        pd.DataFrame({
            "item": range(n), "verdict": words[v.astype(int)], "confidence": sure, "label": label,
        }).to_csv("j.csv", index=False)  # fmt: skip
        command = ["analyze", "j.csv", "--track", "none", "--report", "none"]
        assert main([*command, "--labels-drawn", "random", "--all"]) in {0, 1, 3}
        whole = capsys.readouterr().out
        said = " ".join(whole.split())
        assert ("LABELS Choosing the items saves at most" in said) is proposed
        assert ("(no CI: estimated from 600 labels)" in said) is proposed
        assert ("For a new sample: judgestats labels next FILE" in said) is proposed
        assert "\nAUTOMATE  " in whole
    assert main(["labels", "next", "j.csv", "--budget", "100"]) == 2
    assert "leave labels out: --ignore label." in capsys.readouterr().err
    assert main(["labels", "next", "j.csv", "--budget", "100", "--ignore", "label"]) == 0
