"""One spelling everywhere: hints as the user typed, and the nearest known name for a wrong one."""

import pytest

from judgestats.cli import main
from judgestats.terminal import spelled_for


@pytest.fixture(autouse=True)
def plain(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_RUN_ID", raising=False)
    yield
    spelled_for("", [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rum", "temperature"], "Did you mean run?"),
        (["run", "temprature"], "Did you mean temperature?"),
        (["run", "temperature", "--replicate", "3"], "Did you mean --repeats?"),
        (["run", "temperature", "-P", "replicate=3"], "Did you mean --repeats?"),
        (["run", "temperature", "--judges", "sim-typica"], "Did you mean sim-typical?"),
        (["run", "temperature", "--report", "htm"], "Did you mean html?"),
        (["run", "temperature", "--mode", "bath"], "Did you mean batch?"),
        (["report", "x", "--too", "html"], "Did you mean --to?"),
        (["items", "fech", "x"], "Did you mean fetch?"),
        (["export", "x", "--to", "out"], "required: --out"),
        (["run", "temperature", "--temperatures", "1"], "as in --temperatures 0,0.5,1"),
        (["run", "temperature", "-P", "limit"], "expected --name value or -P name=value"),
        (["--nonsense"], "unrecognized arguments"),
    ],
)
def test_wrong_names_are_met_with_the_right_ones(words, said, capsys):
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_under_mlflow_hints_are_mlflows(monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_RUN_ID", "0" * 32)
    assert main(["run", "temperature", "--temperatures", "1"]) == 2
    assert "as in -P temperatures=0,0.5,1." in capsys.readouterr().err
    assert main(["run", "temperature", "--replicate", "1"]) == 2
    assert "Did you mean repeats?" in capsys.readouterr().err
