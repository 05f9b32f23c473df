"""Models answer first, then judges choose: one run, journal, budget and file."""

import json

import pandas as pd
import pytest

from judgestats.errors import BudgetError, InputError, JudgeError
from judgestats.runner import load_design, run_experiment
from judgestats.runner.prepare import prepare
from judgestats.simulated import Faults, SimulatedServer, run_server, simulated_answerer
from tests.batch_server import BatchFaults, BatchServer
from tests.runner.report_cells import shown_by, words_of

FIVE = ",".join(f"sim-answerer-{n}" for n in (2, 4, 6, 8, 10))


@pytest.fixture
def given(workplace):
    squad = [
        {
            "title": f"Article {a}",
            "paragraphs": [
                {
                    "context": f"Town {a} has {a}00 houses.",
                    "qas": [
                        {
                            "id": f"s{a}",
                            "question": f"How many houses has town {a}?",
                            "answers": [{"text": f"{a}00", "answer_start": 11}],
                        }
                    ],
                }
            ],
        }
        for a in range(1, 7)
    ]
    (workplace / "squad.json").write_text(json.dumps({"version": "1.1", "data": squad}))
    bbh = [{"input": f"Is {i} even?", "target": "yes" if i % 2 else "no"} for i in range(6)]
    (workplace / "parity.json").write_text(json.dumps({"examples": bbh}))
    return {
        "resamples": "99",
        "report": "none",
        "items": "bbh:parity.json,squad:squad.json",
        "judges": "sim-discerning",
        "temperatures": "0.5",
        "repeats": "3",
        "answerers": FIVE,
        "top_k": "50",
    }


def artifacts(workplace, outcome):
    [folder] = workplace.glob(f"mlruns/*/{outcome.run_id}/artifacts")
    return folder, json.loads((folder / "results.json").read_text())["facts"]


def test_models_answer_and_their_file_can_be_used_again(workplace, given):
    design = load_design("omega")
    first = run_experiment(design, given)
    folder, results = artifacts(workplace, first)
    answers = folder / "data" / "answers.jsonl"
    rows = [json.loads(line) for line in answers.read_text().splitlines()]
    assert len(rows) == 12 * 5
    assert {r["author"] for r in rows} == set(FIVE.split(","))
    assert results["answers"]["account"]["answered"] == 60
    assert results["answers"]["temperatures"] == [0.75]
    assert results["answers"]["settings"]["top_k"] == 50
    sha = results["answers"]["prompt_sha"]
    assert "step by step" in (folder / "prompts" / f"{sha}.txt").read_text()
    assert any("are simulated" in text for text in first.analysis.limitations)
    skills = {n: simulated_answerer(n).skill for n in FIVE.split(",")}
    chosen = pd.read_parquet(folder / "data" / "judgments.parquet")["choice"].map(skills)
    assert chosen.mean() > sum(skills.values()) / 5 + 0.1  # judges choose the stronger models
    said = words_of(shown_by(folder))
    assert "The answers were given in this run by sim\\-answerer\\-2" in said

    reused = {k: v for k, v in given.items() if k != "answerers"} | {"answers": str(answers)}
    _, from_file = artifacts(workplace, run_experiment(design, reused))
    assert from_file["account"]["requests"] == 0  # the very same judgments
    assert "answers" not in from_file


def test_a_dry_run_prices_answers_and_judgments_and_sends_nothing(workplace, given, capsys):
    run_experiment(load_design("omega"), {**given, "dry_run": "true"})
    said = capsys.readouterr().out
    assert "60 requests" in said.replace("total: ", "")
    assert "counted as 300 tokens" in said
    assert "Nothing was sent" in said
    assert not (workplace / ".judgestats").exists()
    run_experiment(load_design("omega"), {**given, "dry_run": "true", "answer_max_tokens": "150"})
    assert "counted as 150 tokens" in capsys.readouterr().out


def test_answers_and_judgments_go_through_batches_without_what_the_server_refuses(
    workplace, given, quick_batches
):
    server = BatchServer(BatchFaults(refuse_field="top_k", batch_looks=1))
    with run_server(server) as url:
        outcome = run_experiment(
            load_design("omega"),
            {
                **given,
                "items": "squad:squad.json",
                "judges": f"sim-discerning@{url}",
                "answerers": f"sim-answerer-2@{url},sim-answerer-8@{url}",
                "repeats": "2",
                "mode": "batch",
            },
        )
    _, results = artifacts(workplace, outcome)
    # One answer of each model is asked online first, and again without top_k.
    assert results["answers"]["account"]["requests"] == 12 + 2
    assert results["answers"]["account"]["answered"] == 12
    said = [t for t in outcome.analysis.limitations if "asked without top_k" in t]
    assert [t.partition(":")[0] for t in said] == ["Answers", "Answers", "Judgments"]


def test_a_budget_counts_answers_and_judgments_together(workplace, given):
    design = load_design("omega")
    with pytest.raises(BudgetError, match="There are no judgments yet"):
        run_experiment(design, {**given, "max_requests": "20"})
    outcome = run_experiment(design, {**given, "max_requests": "50"})
    _, results = artifacts(workplace, outcome)
    assert results["answers"]["account"]["requests"] == 40
    assert results["account"]["requests"] == 10
    assert not results["complete"]


def test_questions_that_a_model_does_not_answer_are_left_out_and_told(workplace, given):
    refuses = SimulatedServer(Faults(refuse_temperature=True))
    why = r"only 0 of 12 questions.*does not support 0.75"
    with run_server(refuses) as url, pytest.raises(JudgeError, match=why):
        run_experiment(
            load_design("omega"),
            {**given, "answerers": f"sim-answerer-1@{url},sim-answerer-2"},
        )


def test_wrong_input_is_told_before_anything_is_sent(workplace, given):
    design = load_design("omega")
    (workplace / "a.jsonl").write_text('{"item_id": "s1", "author": "m", "answer": "x"}\n')
    for wrong, said in (
        ({"answers": "a.jsonl"}, "not from both"),
        ({"answerers": "sim-typical"}, "no simulated answerer"),
        ({"answerers": FIVE + ",sim-answerer-2"}, "more than once"),
        ({"answerers": "sim-answerer-1"}, "needs at least two"),
        ({"answer_prompt": "nowhere.txt"}, "no file 'nowhere.txt'"),
        ({"answer_temperatures": "3"}, "out of range"),
        ({"top_k": "0"}, "at least 1"),
        ({"answerers": ""}, "answerers=MODEL"),
    ):
        with pytest.raises(InputError, match=said):
            prepare(design, {**given, **wrong})


def test_a_presets_answerers_give_way_to_a_file(workplace, given):
    (workplace / "a.jsonl").write_text(
        "\n".join(
            json.dumps({"item_id": f"s{i}", "author": f"m{j}", "answer": f"{j}"})
            for i in range(1, 7)
            for j in range(5)
        )
    )
    paper = {
        "preset": "paper",
        "items": "squad:squad.json",
        "base_url": "http://localhost:8000/v1",
    }
    design = load_design("omega")
    assert len(prepare(design, paper).answering.answerers) == 5
    assert prepare(design, {**paper, "answers": "a.jsonl"}).answering is None
