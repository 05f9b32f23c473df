"""What can be held without torch: messages, files, settings, and coverage with a made-up model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgestats import training
from judgestats.cli import main
from judgestats.errors import InputError
from judgestats.items import Item, Response

TRAINING = "python -m judgestats.training"

CHAT = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "[[A]]"}]}


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "transformers", "trl", "datasets"):
        monkeypatch.setitem(sys.modules, name, None)  # an import of it fails


def test_importing_judgestats_needs_no_extra(missing: None) -> None:
    assert training.need("train", "json")[0] is json
    with pytest.raises(InputError, match=r"needs torch.*pip install 'judgestats\[coverage\]'"):
        training.CoverageModel("./x")
    with pytest.raises(InputError, match=r"needs transformers.*judgestats\[train\]"):
        training.load("./x", kind="AutoModelForCausalLM", extra="train")


def test_the_commands_name_the_extra(
    missing: None, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = workplace / "data"
    data.mkdir()
    (data / "train.jsonl").write_text(json.dumps(CHAT) + "\n")
    assert main(["train", "data", "--model", "m", "--out", "out"], program=TRAINING) == 2
    assert "pip install 'judgestats[train]'" in capsys.readouterr().err
    assert not (workplace / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train"], "--model"),
        (["train", "x", "--model", "m", "--out", "o", "--epochs", "0"], "epochs must be"),
        (["train", "x", "--model", "m", "--out", "o", "--learning-rate", "nan"], "learning-rate"),
        (["coverage", "0" * 32, "--model", "m"], "there is no run"),
    ],
)
def test_wrong_words(
    words: list[str], said: str, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words, program=TRAINING) == 2
    assert said in capsys.readouterr().err


def test_settings() -> None:
    assert training.TrainingSettings().epochs == 1.0
    with pytest.raises(InputError, match="max_length must be a number above 0, got 0"):
        training.TrainingSettings(max_length=0)


def test_chats_are_read_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(CHAT) + "\n")
    assert training.read_chats(path) == [CHAT["messages"]]


@pytest.mark.parametrize(
    "line",
    [
        {"messages": []},
        {"messages": "x"},
        {"messages": [{"role": "user", "content": "q"}]},
        {"messages": [{"role": "tool", "content": "q"}, CHAT["messages"][1]]},
        {"messages": [{"role": "user", "content": 3}, CHAT["messages"][1]]},
        {"messages": [*CHAT["messages"], {"role": "user", "content": "more"}]},
        {"prompt": "q", "completion": "a"},
    ],
)
def test_other_lines_are_refused(line: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(CHAT) + "\n" + json.dumps(line) + "\n")
    with pytest.raises(InputError, match="line 2: expected messages"):
        training.read_chats(path)


values = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@given(values)
def test_no_line_crashes(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.mktemp("chats") / "train.jsonl"
    path.write_text(json.dumps({"messages": value}) + "\n")
    with pytest.raises(InputError):
        training.read_chats(path)


class Shared:
    """Says what share of the target's words the text names."""

    def __call__(self, target: str, reading: str) -> float:
        words = target.split()
        return sum(w in reading.split() for w in words) / len(words) if reading else float("nan")


def frame(n: int) -> tuple[pd.DataFrame, tuple[Item, ...]]:
    items = tuple(
        Item(
            id=f"q{i}",
            cluster=f"q{i}",
            turns=("?",),
            responses=(Response(turns=(f"x{i} y{i}",)), Response(turns=(f"z{i} w{i}",))),
        )
        for i in range(n)
    )
    rows = [
        {
            "condition": "c",
            "item_id": f"q{i}/0|1",
            "order": "ab",
            "replicate": 0,
            "stage": stage,
            "cluster": f"q{i}",
            "explanation": f"x{i} and z{i}" if stage == "final" else "y",
        }
        for i in range(n)
        for stage in ("crowd", "final")
    ]
    return pd.DataFrame(rows), items


def test_coverage_beside_that_of_an_unrelated_explanation() -> None:
    judged, items = frame(8)
    table = training.coverage_table(judged, items, Shared())  # type: ignore[arg-type]
    assert table["coverage"].tolist() == [0.5] * 8
    assert table["unrelated"].tolist() == [0.0] * 8  # never its own question's
    [(own, unrelated)] = training.covered(table).values()
    assert (own.estimate, unrelated.estimate) == (0.5, 0.0)


def test_coverage_needs_explanations() -> None:
    judged, items = frame(3)
    with pytest.raises(InputError, match="no final judgment on a pair has an explanation"):
        training.coverage_table(judged.assign(explanation=" "), items, Shared())  # type: ignore[arg-type]
    one, alone = frame(1)
    assert training.coverage_table(one, alone, Shared())["unrelated"].isna().all()  # type: ignore[arg-type]
