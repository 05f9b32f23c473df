"""Runs that 0.1.0 made are read, or refused by name."""

from pathlib import Path

import pandas as pd
import pytest

from judgestats import data
from judgestats.errors import InputError
from judgestats.protocols import Status
from judgestats.tracking import run_judgments

RUN = Path(__file__).parents[1] / "made_by_0_1_0" / "run"
FILE = RUN / "data" / "judgments.parquet"


def test_judgments_of_0_1_0_are_read_whole():
    before = pd.read_parquet(FILE)
    frame = data.validate_parsed(data.read_frame(FILE))
    assert tuple(frame.columns)[: len(data.PARSED_COLUMNS)] == data.PARSED_COLUMNS
    assert data.setting_sent(frame["sent"], "temperature") == before["temperature_sent"].tolist()
    assert data.setting_sent(frame["sent"], "seed") == before["seed_sent"].tolist()
    assert set(frame["verdict_kind"]) == {"score"}
    for name in set(before.columns) & set(frame.columns):
        pd.testing.assert_series_equal(before[name], frame[name], check_dtype=False)
    assert len(run_judgments(str(RUN))) == len(before)


def test_what_is_no_frame_is_named(tmp_path):
    wrong = tmp_path / "judgments.parquet"
    pd.DataFrame({"x": [1]}).to_parquet(wrong)
    with pytest.raises(InputError, match="it lacks condition, judge"):
        data.read_frame(wrong)
    wrong.write_bytes(FILE.read_bytes()[:3000])
    with pytest.raises(InputError, match="Only a finished run holds judgments"):
        data.read_frame(wrong)


def test_four_things_can_become_of_a_judgment():
    assert set(data.BECAME) == set(Status)
    assert data.BECAME[Status.INVALID] == "never asked"
    assert data.BECAME[Status.FAILED] == "not answered"
    assert data.BECAME[Status.REFUSED] == data.BECAME[Status.TRUNCATED] == "unparsed"


def test_schemas_refuse_what_does_not_fit():
    frame = data.read_frame(FILE)
    with pytest.raises(InputError, match="verdict_kind: must be one of"):
        data.validate_parsed(frame.assign(verdict_kind="opinion"))
    with pytest.raises(InputError, match="tokens_reasoning"):
        data.validate_raw(frame.assign(tokens_reasoning=-1.0))
    with pytest.raises(InputError, match="lacks the column sent"):
        data.validate_raw(frame.drop(columns="sent"))
    assert data.brought_up(frame) is frame


def test_pipelines_are_checked_before_they_are_written():
    text = ("condition", "judge", "item_id", "cluster", "category", "order", "choice", "position")
    row = {
        **dict.fromkeys(text, "a"),
        **dict.fromkeys(("explanation", "reason"), ""),
        **dict.fromkeys(("k", "replicate", "wanted", "used", "preferred"), 1),
        **dict.fromkeys(("left_out", "cut", "calls"), 1),
        **dict.fromkeys(("temperature", "tokens_in", "tokens_out", "cost_usd"), 1.0),
        "final_tokens_out": 2.0,
        "status": "ok",
    }
    table = pd.DataFrame([row, {**row, "replicate": 2}])
    assert len(data.validate_pipelines(table)) == 2
    with pytest.raises(InputError, match="calls: must not be negative"):
        data.validate_pipelines(table.assign(calls=-1))
    with pytest.raises(InputError, match=r"the same \(condition, item, order, replicate\)"):
        data.validate_pipelines(table.assign(replicate=1))


def test_answers_are_checked_before_they_are_written():
    row = {
        **dict.fromkeys(("item_id", "author", "model", "answerer"), "a"),
        **dict.fromkeys(("reason", "model_reported", "asked_at"), ""),
        **dict.fromkeys(("temperature", "tokens_out", "cost_usd"), 1.0),
        "answer": "", "turns": ["first", ""], "sample": 1, "status": "ok", "cached": False,
    }  # fmt: skip
    table = pd.DataFrame([row, {**row, "author": "b"}])
    assert data.validate_answers(table)["turns"].tolist() == [["first", ""]] * 2
    with pytest.raises(InputError, match="turns: must be a list of the answers to all turns"):
        data.validate_answers(table.assign(turns="first"))
    with pytest.raises(InputError, match=r"the same \(item, author\)"):
        data.validate_answers(table.assign(author="b"))
