"""Rejection sampling, all the way, on simulated judges."""

import json

import pandas as pd
import pytest

from judgestats.errors import InputError
from judgestats.runner import load_design, run_experiment
from judgestats.runner.prepare import prepare
from judgestats.tracking import run_folder

SMALL = {
    "resamples": "99",
    "report": "none",
    "judges": "sim-crowd",
    "limit": "6",
    "crosscheck": "no",
}


def test_the_run_and_its_files(workplace, capsys):
    given = {**SMALL, "candidates": "3", "k": "2"}
    run = run_experiment(load_design("rejection_sampling"), given)
    rows = run.analysis.conditions.set_index("factor_strategy")
    assert list(rows.index) == ["vanilla", "cce-criticising@2"]
    assert (rows["best_share"] > rows["best_at_random"]).all()
    folder, _ = run_folder(run.run_id, workplace / "scratch")
    asked = prepare(load_design("rejection_sampling"), given).items
    answers = {item.turns[0]: {r.turns for r in item.responses} for item in asked}
    files = sorted((folder / "chosen").glob("*.jsonl"))
    assert len(files) == 3
    drawn = (folder / "chosen" / "random.jsonl").read_text().splitlines()
    assert len(drawn) == len(asked) == 6
    authors = pd.read_csv(folder / "chosen" / "authors.csv")
    by_condition = authors.groupby("condition").apply(
        lambda own: (own["share_won"] * own["responses"]).sum() / own["responses"].sum()
    )
    assert by_condition.to_numpy() == pytest.approx(0.5)  # what one wins another loses
    for path in files:
        for line in path.read_text().splitlines():
            messages = json.loads(line)["messages"]
            said = tuple(m["content"] for m in messages if m["role"] == "assistant")
            question = messages[0]["content"]
            assert any(said in turns for q, turns in answers.items() if q in question)
    pipelines = pd.read_parquet(folder / "data" / "pipelines.parquet")
    calls = pipelines.groupby("factor_strategy")["calls"].mean()
    assert calls["vanilla"] == 1
    assert calls["cce-criticising@2"] == 5  # two against the third, two removals, the verdict
    assert (folder / "chosen" / "standings.csv").read_text().count("\n") > 18


def test_wrong_words(workplace):
    design = load_design("rejection_sampling")
    with pytest.raises(InputError, match="no question has 9 responses"):
        prepare(design, {**SMALL, "candidates": "9"})
    with pytest.raises(InputError, match="have no crowd"):
        prepare(design, {**SMALL, "candidates": "2"})
    with pytest.raises(InputError, match="equal_points: must be one of"):
        prepare(design, {**SMALL, "equal_points": "coin"})
    with pytest.raises(InputError, match="there is none called"):
        prepare(design, {**SMALL, "strategies": "guess"})
    alone = prepare(design, {**SMALL, "candidates": "2", "strategies": "vanilla"})
    assert {len(item.responses) for item in alone.items} == {2}
