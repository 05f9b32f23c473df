"""Crowd comparison, all the way: a known gain is found, no gain is left alone, stages are kept."""

import json

import numpy as np
import pandas as pd
import pytest

from judgestats.collection import price_plan
from judgestats.errors import InputError
from judgestats.runner import load_design, run_experiment
from judgestats.runner.prepare import prepare
from judgestats.simulated.judges import truth
from judgestats.tracking import artifact_path, open_store

SMALL = {"resamples": "199", "report": "none", "concurrency": "16", "crosscheck": "no"}


def expected_right(judge, items, *, temperature, crowd):
    """The truth: how often a judge that is shown so many judgments is right, over both orders."""
    known = truth(judge)
    chances = []
    for item in items:
        for label in item.labels:
            first, second = item.responses[label.a].text, item.responses[label.b].text
            for shown in ((first, second), (second, first)):
                p = known.choice_probabilities(
                    shown, temperature=temperature, reasoning="before", crowd=crowd
                )
                winner = first if label.winner == "a" else second
                chances.append(p[shown.index(winner)])
    return float(np.mean(chances))


@pytest.fixture(scope="module")
def outcome(module_workplace):
    """One run for many questions: two judges, vanilla and a crowd of 0, 1, 2 and 4."""
    given = {
        **SMALL,
        "strategies": "vanilla,cce",
        "scaling": "0,1,2,4",
        "selections": "none",
        "pairs": "48",
        "repeats": "1",
        "key_points": "16",
    }
    design = load_design("crowd")
    prepared = prepare(design, given)
    run = run_experiment(design, given)
    dry = price_plan(
        (), stages=prepare(design, given).staging, journal=prepared.parameters["journal"]
    )
    files = artifact_path(open_store(), run.run_id)
    frame = pd.read_parquet(files / "data" / "judgments.parquet")
    pipelines = pd.read_parquet(files / "data" / "pipelines.parquet")
    results = json.loads((files / "results.json").read_text())
    prompts = sorted(p.name for p in (files / "prompts").iterdir())
    return run.analysis, prepared, frame, pipelines, results, dry, prompts


def test_accuracies_are_those_of_the_simulated_judges(outcome):
    found, prepared, *_ = outcome
    rows = found.conditions.set_index(["judge", "factor_strategy"])
    for judge in ("sim-crowd", "sim-crowd-deaf"):
        for name, crowd in (("vanilla", 0), ("cce-criticising@2", 2), ("cce-criticising@4", 4)):
            row = rows.loc[(judge, name)]
            said = expected_right(judge, prepared.items, temperature=0.5, crowd=crowd)
            assert row["accuracy_low"] - 0.04 < said < row["accuracy_high"] + 0.04, (judge, name)
    gain = expected_right("sim-crowd", prepared.items, temperature=0.5, crowd=4)
    assert gain > 0.1 + expected_right("sim-crowd", prepared.items, temperature=0.5, crowd=0)


def test_the_judge_that_a_crowd_helps_is_found_and_the_deaf_one_left_alone(outcome):
    found = outcome[0]
    assert found["strategies.sim-crowd"].p_value < 0.02
    assert found["strategies.sim-crowd-deaf"].p_value > 0.05
    [pair] = found["strategies.pairs.sim-crowd"].rows
    assert pair.p_adjusted < 0.05
    assert {pair.a, pair.b} == {"vanilla", "cce-criticising@4"}
    trend = found["scaling.accuracy.sim-crowd"]
    assert trend.p_value < 0.05
    assert trend.effects[0].estimate > 0
    assert found["scaling.accuracy.sim-crowd-deaf"].p_value > 0.05
    assert found["scaling.length.sim-crowd"].p_value < 0.02
    assert found["scaling.length.sim-crowd-deaf"].p_value > 0.02  # nothing there: .03, .49 by seed
    shown = {r.a for r in found["gain.sim-crowd"].rows if r.p_adjusted < 0.05}
    assert "cce-criticising@4" in shown
    assert not [r for r in found["gain.sim-crowd-deaf"].rows if r.p_adjusted < 0.05]
    priced = found["cost.sim-crowd"].table.set_index("strategy")["tokens_per_point"]
    assert priced["cce-criticising@4"] > 0
    assert found["cost.sim-crowd-deaf"].table["tokens_per_point"].isna().all()


def test_all_stages_are_rows_of_one_frame_and_every_pipeline_has_its_verdict(outcome):
    _, prepared, frame, pipelines, *_ = outcome
    assert set(frame["stage"]) == {"final", "crowd", "removal", "points"}
    assert len(pipelines) == len(prepared.staging) == 2 * 4 * 48 * 2
    assert set(pipelines["status"]) == {"ok"}
    crowd = frame[frame["stage"] == "crowd"]
    assert set(crowd["factor_strategy"]) == {"crowd"}
    assert not crowd.duplicated(["judge", "item_id", "order", "replicate"]).any()
    four = pipelines[pipelines["k"] == 4]
    assert (four["wanted"] == 4).all()
    assert (four["used"] == 4).all()
    assert set(pipelines["order"]) == {"ab", "ba"}


def test_selections_repetitions_and_sets_are_reported(workplace):
    bank = prepare(load_design("crowd"), {**SMALL}).items
    from judgestats.items import write_items

    write_items(bank[:6], workplace / "one.jsonl")
    write_items(bank[6:12], workplace / "two.jsonl")
    given = {
        **SMALL,
        "judges": "sim-crowd",
        "items": "one.jsonl,two.jsonl",
        "strategies": "vanilla,majority,cce",
        "scaling": "none",
        "selections": "criticising,random",
        "selections_at": "2",
        "k": "2",
        "pairs": "6",
        "key_points": "0",
    }
    found = run_experiment(load_design("crowd"), given).analysis
    rows = found.conditions.set_index("factor_strategy")
    assert set(rows.index) == {
        "vanilla",
        "majority@2",
        *(f"cce-{s}{raw}@2" for s in ("criticising", "random") for raw in ("", "-raw")),
    }
    mean = rows[["accuracy_in_one", "accuracy_in_two"]].mean(axis=1)
    assert np.allclose(mean, rows["average"])
    assert found["accuracy.average.vanilla, sim-crowd"].sample.n_items == 12
    assert "repeat.vanilla, sim-crowd" in {r.id for r in found.results}
    assert "selection.k2.sim-crowd" in {r.id for r in found.results}
    [selected] = [r.result.table for r in found.described if r.id == "selection.table"]
    assert selected["verdicts"].tolist() == ["removed", "kept"] * 2


def test_a_crowd_from_a_file_is_used_and_its_absence_told(workplace):
    items = prepare(load_design("crowd"), {**SMALL, "pairs": "8"}).items
    from dataclasses import replace

    from judgestats.items import write_items

    alone = []
    with (workplace / "crowd.jsonl").open("w") as file:
        for item in items:
            [label] = item.labels[:1]
            pair = (item.responses[label.a], item.responses[label.b])
            alone.append(replace(item, responses=pair, labels=(replace(label, a=0, b=1),)))
            for i in range(4):
                row = {"item_id": item.id, "author": f"m{i}", "answer": f"{item.id} {i}"}
                file.write(json.dumps(row) + "\n")
    write_items(alone, workplace / "alone.jsonl")
    given = {**SMALL, "items": "alone.jsonl", "strategies": "vanilla,cce@8", "scaling": "none"}
    given |= {"selections": "none", "pairs": "all"}
    with pytest.raises(InputError, match="no crowd"):
        prepare(load_design("crowd"), given)
    prepared = prepare(load_design("crowd"), {**given, "answers": "crowd.jsonl"})
    assert {len(item.responses) for item in prepared.items} == {6}
    [unit, *_] = next(iter(prepared.units.values()))
    assert set(unit.shown) == {0, 1}


def test_models_write_the_crowd_and_labels_stay(workplace):
    given = {
        **SMALL,
        "judges": "sim-crowd",
        "pairs": "4",
        "strategies": "vanilla,cce@8",
        "scaling": "none",
        "selections": "none",
        "repeats": "1",
        "key_points": "0",
        "answerers": "sim-answerer-1,sim-answerer-11",
        "answer_temperatures": "0.2,1",
    }
    design = load_design("crowd")
    planned = prepare(design, given)
    run = run_experiment(design, given)
    assert run.analysis.conditions["n"].tolist() == [8, 8]
    rows = run.analysis.conditions.set_index("factor_strategy")
    assert rows.loc["cce-criticising@8", "used"] == 8
    files = artifact_path(open_store(), run.run_id) / "data"
    answers = [json.loads(line) for line in (files / "answers.jsonl").read_text().splitlines()]
    assert len(answers) == 4 * 4
    judged = pd.read_parquet(files / "judgments.parquet")
    assert judged["item_id"].str.contains("sim-answerer-11, T=1").any()
    assert len(planned.items) == 4
    assert all(item.labels for item in planned.items)


def test_one_model_removes_verdicts_and_one_counts_points_for_all_judges(workplace):
    given = {
        **SMALL, "judges": "sim-crowd,sim-crowd-deaf", "pairs": "4", "strategies": "vanilla,cce@2",
        "scaling": "none", "selections": "none", "repeats": "1", "key_points": "1",
        "remover": "sim-typical", "points_judge": "sim-crowd",
    }  # fmt: skip
    run = run_experiment(load_design("crowd"), given)
    files = artifact_path(open_store(), run.run_id)
    frame = pd.read_parquet(files / "data" / "judgments.parquet")
    assert set(frame["status"]) == {"ok"}
    by_stage = frame.groupby("stage")["judge"].unique().map(set)
    assert by_stage["removal"] == {"sim-typical"}
    assert by_stage["points"] == {"sim-crowd"}
    assert by_stage["final"] == by_stage["crowd"] == {"sim-crowd", "sim-crowd-deaf"}
    removed = frame[frame["stage"] == "removal"]
    assert set(removed["factor_strategy"]) == {"crowd of sim-crowd", "crowd of sim-crowd-deaf"}
    pipelines = pd.read_parquet(files / "data" / "pipelines.parquet")
    assert set(pipelines["judge"]) == {"sim-crowd", "sim-crowd-deaf"}
    assert pipelines["points"].gt(0).all()
    assert set(run.analysis.conditions["judge"]) == {"sim-crowd", "sim-crowd-deaf"}
    facts = json.loads((files / "results.json").read_text())["facts"]
    assert [(j["stage"], j["name"]) for j in facts["stage_judges"]] == [
        ("removal", "sim-typical"),
        ("points", "sim-crowd"),
    ]
    assert [j["name"] for j in facts["judges"]] == ["sim-crowd", "sim-crowd-deaf"]


def test_a_limit_holds_for_each_set(workplace):
    given = {**SMALL, "pairs": "all", "scaling": "none", "selections": "none"}
    items = prepare(load_design("crowd"), {**given, "limit": "3"}).items
    assert len({item.cluster for item in items}) == 3


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("answers", "nofile", "there is no file 'nofile'"),
        ("strategies", "vanilla,best", "none called"),
        ("scaling", "0,3", "even numbers"),
        ("selections", "loud", "not one of"),
        ("orders", "sideways", "must be one of"),
        ("raised", "0.5,1", "one temperature"),
        ("items", "nowhere.jsonl", "nowhere"),
        ("repeats", "0", "from 1 to"),
    ],
)
def test_wrong_values_are_told_in_one_sentence(workplace, name, value, said):
    with pytest.raises(InputError, match=said):
        prepare(load_design("crowd"), {**SMALL, name: value})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"points_judge": "sim-crowd", "key_points": "0"}, "points_judge: .* Say key_points=4"),
        ({"remover": "sim-typical", "strategies": "vanilla,cce-raw"}, "remover: .* as cce"),
        ({"prompts": "plan=plan.txt"}, "no plan stage, so that plan.txt would not be sent"),
    ],
)
def test_a_model_or_prompt_for_no_stage_is_refused(workplace, given, said):
    (workplace / "plan.txt").write_text("{question}")
    alone = {"strategies": "vanilla,cce", "scaling": "none", "selections": "none"}
    with pytest.raises(InputError, match=said):
        prepare(load_design("crowd"), {**SMALL, **alone, **given})
