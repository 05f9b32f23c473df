"""`judgestats export` on a real (simulated) run, as a user types it."""

import json

import pytest

from judgestats.cli import main
from judgestats.runner import load_design, run_experiment


@pytest.fixture
def run_id(workplace):
    given = {
        "judges": "sim-typical",
        "methods": "pairwise-before,pointwise",
        "series": "pointwise",
        "temperatures": "0.5",
        "repeats": "2",
        "pairs": "24",
        "resamples": "99",
        "report": "none",
    }
    return run_experiment(load_design("alignment"), given).run_id


def test_a_run_becomes_training_data(run_id, workplace, capsys):
    capsys.readouterr()
    assert main(["export", run_id, "--out", "out", "--correct", "--validation", "0.2"]) == 0
    said = capsys.readouterr().out
    assert "SIMULATED" in said
    assert "left out, not correct" in said
    assert "left out, no verdict on a pair" in said  # pointwise scores
    for name in ("train.jsonl", "validation.jsonl"):
        for line in (workplace / "out" / name).read_text().splitlines():
            roles = [m["role"] for m in json.loads(line)["messages"]]
            assert roles == ["system", "user", "assistant"]
    assert main(["export", run_id, "--out", "out"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main(["export", run_id, "--out", "cce", "--mode", "cce"]) == 2
    assert "another strategy" in capsys.readouterr().err
    assert not (workplace / "cce").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export", "x"], "--out"),
        (["export", "0" * 32, "--out", "out"], "there is no run"),
        (["export", "x", "--out", "out", "--mode", "best"], "invalid choice"),
    ],
)
def test_wrong_words(words, said, workplace, capsys):
    assert main(words) == 2
    assert said in capsys.readouterr().err
    assert not (workplace / "out").exists()
