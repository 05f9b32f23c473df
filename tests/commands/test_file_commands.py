"""`doctor FILE` and `demo`: what a file holds and can answer, and the answer on recorded data."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis import answerable
from judgestats.cli import main
from judgestats.data import demo_file
from judgestats.data.readers import read_judgments


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    rows = {
        "id": np.repeat(range(40), 3),
        "passed": rng.integers(0, 2, 120),
        "latency": rng.random(120),
    }
    pd.DataFrame(rows).to_csv(tmp_path / "pf.csv", index=False)
    pd.DataFrame({"id": range(30), "label": rng.integers(0, 2, 30)}).to_csv(
        tmp_path / "people.csv", index=False
    )
    return tmp_path


def test_doctor_says_what_a_file_holds_and_can_answer_and_writes_nothing(folder, capsys):
    before = sorted(folder.iterdir())
    assert main(["doctor", "pf.csv", "--labels", "people.csv"]) == 0
    said = capsys.readouterr().out
    assert "verdict = `passed`: pass / fail, 1 = pass" in said
    assert "latency  numbers    100%     120  measure" in said
    assert said.startswith("READY  for Rates, Flip rate, Agreement with labels; not for Comparison")
    assert re.search(r"^Flip rate +yes, 40 items judged 3 times", said, re.M)
    assert re.search(r"^Agreement with labels +yes, 30 labels", said, re.M)
    assert re.search(r"^Comparison of judges +no, one judge", said, re.M)
    assert "10 of 40 items have no label in people.csv: 30, 31, 32, 33, 34 and others." in said
    assert said.splitlines()[-1] == "Next  judgestats analyze pf.csv --labels people.csv"
    assert sorted(folder.iterdir()) == before


REASONS = {
    "names": (
        {"item_id": "i", "judge": "g", "score": 3, "human_score": 4}, (),
        {"item_id": "by name", "score": "by name", "human_score": "by name"},
    ),
    "structure": (
        {"ticket_id": "i", "model": "m", "answer": "a", "llm_rating": 3, "expert_2": 4}, (),
        {"ticket_id": "the only id", "model": "by name, varies within items",
         "llm_rating": "named after a judge", "expert_2": "human labels in the verdict's words"},
    ),
    "options": (
        {"key": "i", "worth": 3, "prompt": "p"},
        ("--map", "item=key,score=worth", "--factor", "prompt"),
        {"key": "stated", "worth": "stated", "prompt": "stated"},
    ),
    "columns of criteria": (
        {"query": "q", "tone": 3, "clarity": 4}, (),
        {"query": "unique question", "tone": "by the names of columns"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REASONS)
def test_doctor_shows_why_a_column_has_its_role(case, folder, capsys):
    columns, options, reasons = REASONS[case]
    rows = []
    for i in range(40):
        own = {"i": f"i{i // 2}", "m": "xy"[i % 2], "a": f"{'xy'[i % 2]} says {i // 2}",
               "p": "uv"[i % 2], "q": f"what is {i}?", 3: 1 + i * 7 % 5,
               4: 1 + i // 2 * 3 % 5}  # fmt: skip
        rows.append({column: own.get(held, held) for column, held in columns.items()})
    pd.DataFrame(rows).to_csv(folder / "t.csv", index=False)
    assert main(["doctor", "t.csv", *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["reading"]
    assert {c: found["reasons"][c] for c in reasons} == reasons
    assert set(found["reasons"]) == {c for held in found["roles"].values() for c in held}
    main(["doctor", "t.csv", *options])
    screen = capsys.readouterr().out
    assert len(screen.splitlines()) <= 20
    for column, why in reasons.items():
        assert re.search(rf"^{column} .* \({re.escape(why)}\) ", screen, re.M)


def test_doctor_says_what_a_log_was_understood_as(capsys):
    path = Path(__file__).parents[1] / "data" / "fixtures" / "deepeval" / "test_run.json"
    assert main(["doctor", str(path)]) == 0
    said = capsys.readouterr().out
    assert (
        "log of deepeval: item = input / output; cluster: the input; judge = sim-unreadable; "
        in said
    )


def test_doctor_shows_the_columns_of_a_file_that_it_cannot_read(folder, capsys):
    (folder / "wide.csv").write_text(
        "id,gpt,claude,annotator1\n1,3,4,5\n2,4,4,4\n3,5,3,5\n4,3,3,4\n"
    )
    assert main(["doctor", "wide.csv"]) == 1
    said = capsys.readouterr().out
    assert "claude      numbers    100%" in said
    assert "--wide judge=gpt,claude --wide person=annotator1" in said
    suggested = ["--wide", "judge=gpt,claude", "--wide", "person=annotator1"]
    assert main(["doctor", "wide.csv", *suggested]) == 0


def test_demo_answers_without_mlflow_and_with_little_data():
    assert demo_file().stat().st_size < 200_000
    assert "Permission is hereby granted" in (demo_file().parent / "LICENSE").read_text()
    code = (
        "import sys; from judgestats.cli import main; code = main(['demo']); "
        "assert not {'mlflow', 'openai'} & set(sys.modules); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "gpt-5.4-nano" in done.stdout
    assert "judgestats analyze my.csv" in done.stdout


@pytest.mark.parametrize(("names", "answered"), [("xyz", True), ("xy", False)])
def test_a_doctor_says_whether_systems_can_be_put_in_order(names, answered):
    pairs = [(a, b) for a in names for b in names if a < b]
    rows = [
        {"item": f"q{i}-{a}{b}", "model_a": a, "model_b": b, "winner": "a" if i % 3 else "b"}
        for i in range(6)
        for a, b in pairs
    ]
    found = {q.asked: q for q in answerable(read_judgments(rows))}
    assert found["Ranking of systems"].answered is answered
    assert ("3 systems or more" in found["Ranking of systems"].needs) is not answered
