"""Cascade: what it counts as unparsed, and where confidence and chances of labels are from."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.decisions import cascade_certificate

WORDS = np.array(["fail", "pass"])
PRICES = {"cheap": 1, "dear": 10, "human": 200}


def judged(seed=1, n=3000, labelled=900):
    """Verdicts and confidences of two judges, of which one in twenty is unparsed, and labels."""
    rng = np.random.default_rng(seed)
    y, out = rng.random(n) < 0.6, {}
    for name, rates in (("cheap", (0.01, 0.35)), ("dear", (0.01, 0.1))):
        sure = rng.random(n)
        v = np.where(rng.random(n) < np.where(sure > 0.5, *rates), ~y, y).astype(float)
        out[name] = np.where(rng.random(n) < 0.05, np.nan, v), 0.5 + sure / 2
    return out, np.where(np.arange(n) < labelled, y.astype(float), np.nan)


def made_of(judges, labels, **more):
    return cascade_certificate(
        {j: v for j, (v, _) in judges.items()}, {j: c for j, (_, c) in judges.items()}, labels,
        prices=PRICES, error=0.1, labels_drawn="random", **more,
    )  # fmt: skip


def test_verdicts_are_unparsed_where_an_item_reaches_their_judge():
    judges, labels = judged()
    made = made_of(judges, labels)
    lost = {j: np.isnan(v) for j, (v, _) in judges.items()}
    cheap, dear = made.stages
    later = ~(judges["cheap"][1] >= cheap.threshold) | lost["cheap"]
    assert (cheap.unparsed, dear.unparsed) == (lost["cheap"].sum(), (lost["dear"] & later).sum())
    assert made.n_unparsed == (lost["cheap"] | (lost["dear"] & later)).sum()
    routes = np.array(made.routes)
    assert not (routes[lost["cheap"]] == "cheap").any()
    assert set(routes[lost["cheap"] & lost["dear"]]) == {"human"}
    asked = np.where(later, judges["dear"][0], np.nan)
    partial = made_of(judges | {"dear": (asked, judges["dear"][1])}, labels)
    assert partial.n_unparsed == made.n_unparsed


def test_a_tie_of_repeats_is_never_decided():
    judges, labels = judged()
    v, sure = judges["cheap"]
    other = np.where(np.arange(v.size) % 3 == 0, 1 - v, v)
    made = made_of(judges | {"cheap": (np.column_stack([v, other]), sure)}, labels)
    assert set(np.array(made.routes)[::3]) <= {"dear", "human"}


def long_table(judges, labels, name):
    """Rows of both judges with labels next to verdicts."""
    words = {1.0: "pass", 0.0: "fail"}
    rows = [
        pd.DataFrame({
            "item": np.arange(labels.size), "judge": j,
            "verdict": pd.Series(v).map(words).fillna(""), name: c,
            "label": pd.Series(labels).map(words).fillna(""),
        })
        for j, (v, c) in judges.items()
    ]  # fmt: skip
    return pd.concat(rows)


@pytest.mark.parametrize(("column", "source"), [("logprob", "logprob"), ("confidence", "mapped")])
def test_the_record_states_where_each_judge_has_its_confidence_from(
    tmp_path, capsys, column, source
):
    judges, labels = judged()
    table = long_table(judges, labels, column)
    if column == "logprob":
        table[column] = np.log(table[column])
    table.to_csv(tmp_path / "in.csv", index=False)
    price = ",".join(f"{k}={v}" for k, v in PRICES.items())
    command = ["decide", "automate", str(tmp_path / "in.csv"), "--price", price, "--error", ".1"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["share"] == pytest.approx(made_of(judges, labels).share, abs=1e-9)
    assert found["n_unparsed"] == made_of(judges, labels).n_unparsed > 0
    assert [s["confidence_source"] for s in found["stages"]] == [source] * 2
    table.loc[table["judge"] == "dear", column] = np.nan
    table.to_csv(tmp_path / "in.csv", index=False)
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [s["confidence_source"] for s in found["stages"]] == [source, ""]
    caveat = next(c for c in found["caveats"] if c["code"] == "no_confidence")
    assert caveat["about"] == "dear"


def one_table(rng, n=2000):
    y, sure = rng.random(n) < 0.6, rng.random(n)
    v = np.where(rng.random(n) < np.where(sure > 0.5, 0.01, 0.4), ~y, y)
    return pd.DataFrame({
        "item": np.arange(n), "verdict": WORDS[v.astype(int)], "logprob": np.log(0.5 + sure / 2),
        "label": WORDS[y.astype(int)],
    })  # fmt: skip


def by_verdict(table):
    """Labels of 250 passes and 400 fails, with the chance of each, in the judge's own file."""
    passes = table["verdict"] == "pass"
    chance = np.where(passes, 250 / passes.sum(), 400 / (~passes).sum())
    rank = table.groupby("verdict").cumcount()
    drawn = rank < np.where(passes, 250, 400)
    return table.assign(chance=pd.Series(chance).where(drawn), label=table["label"].where(drawn))


@pytest.mark.parametrize("apart", [False, True])
def test_chances_next_to_labels_count_in_the_judged_file_too(tmp_path, capsys, apart):
    table = by_verdict(one_table(np.random.default_rng(3)))
    file, labels = tmp_path / "f.csv", tmp_path / "l.csv"
    more = []
    if apart:
        own = table[table["label"].notna()]
        own[["item", "chance", "label"]].to_csv(labels, index=False)
        table, more = table.drop(columns=["chance", "label"]), ["--labels", str(labels)]
    table.to_csv(file, index=False)
    assert main(["decide", "automate", str(file), *more, "--error", ".1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["by_class"]
    assert not any(c["code"] == "labels_drawn_unknown" for c in found["caveats"])
    assert main(["analyze", str(file), *more, "--track", "none", "--report", "none"]) in {0, 1, 3}
    assert "cannot be relied on" not in "".join(capsys.readouterr())
    scores = table.assign(score=np.where(table["verdict"] == "pass", 8, 3))
    scores.drop(columns=["verdict", "logprob"]).to_csv(file, index=False)
    assert main(["decide", "cutoff", str(file), *more]) == 2
    assert "Draw them at random: judgestats labels plan" in capsys.readouterr().err


def test_chances_that_differ_within_a_verdict_allow_no_certificate(tmp_path, capsys):
    table = one_table(np.random.default_rng(3))
    sure = np.exp(table["logprob"]) > 0.75
    kept = table.assign(chance=np.where(sure, 0.2, 0.6), label=table["label"].where(sure))
    kept.to_csv(tmp_path / "f.csv", index=False)
    for drawn in ([], ["--labels-drawn", "random"]):
        assert main(["decide", "automate", str(tmp_path / "f.csv"), "--error", ".1", *drawn]) == 2
        assert "other chances within a verdict" in capsys.readouterr().err


def test_a_column_chance_that_is_no_chance_is_refused_or_mapped(tmp_path, capsys):
    table = one_table(np.random.default_rng(4)).rename(columns={"logprob": "chance"})
    table.to_csv(tmp_path / "f.csv", index=False)
    command = ["decide", "automate", str(tmp_path / "f.csv"), "--error", ".1"]
    assert main(command) == 2
    assert "--map confidence=chance" in capsys.readouterr().err
    assert main([*command, "--map", "confidence=chance", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["confidence_source"], found["by_class"]) == ("logprob", False)
    table.drop(columns="label").to_csv(tmp_path / "f.csv", index=False)
    table[["item", "label"]].to_csv(tmp_path / "l.csv", index=False)
    assert main([*command, "--labels", str(tmp_path / "l.csv")]) == 2
    assert "no confidence" in capsys.readouterr().err


def test_a_confidence_next_to_scores_goes_before_the_distance_to_the_cutoff(tmp_path, capsys):
    table = one_table(np.random.default_rng(5))
    rng = np.random.default_rng(6)
    score = np.where(
        table["verdict"] == "pass", rng.integers(6, 11, 2000), rng.integers(1, 6, 2000)
    )
    file = tmp_path / "f.csv"
    table.drop(columns="verdict").assign(score=score).to_csv(file, index=False)
    command = ["decide", "automate", str(file), "--cutoff", "6", "--error", ".1", "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["confidence_source"], found["certified"]) == ("logprob", True)
    assert main([*command, "--ignore", "logprob"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["confidence_source"], found["certified"]) == ("cutoff", False)
    assert all(not step["command"] for step in found["next"] if step["if_true"] is None)
