"""Stored replies are read again: differences are shown, nothing is asked."""

import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.data import reread, unparsed_causes
from judgestats.errors import InputError
from judgestats.protocols import Scale
from judgestats.results import Results, write_results

TEN = Scale(1, 10)


def row(text, status, *, finish="stop", **more):
    return {
        "condition": "c",
        "item_id": "q",
        "order": "",
        "replicate": 0,
        "stage": "final",
        "transport": "answered",
        "judge": "j",
        "raw_text": text,
        "finish_reason": finish,
        "status": status,
        "score": float("nan"),
        "choice": "",
        **more,
    }


def changes(rows, scale=None):
    return reread(pd.DataFrame(rows), scale)[["before", "now"]].values.tolist()


def test_scores_pairs_selections_and_words_are_read_again():
    assert changes(
        [row("[[8]]", "ok", score=8.0), row('{"score": 1', "ok", score=1.0, finish="length")], TEN
    ) == [["1", "truncated"]]
    pairs = [
        row("[[A]]", "ok", choice="b", position="first"),
        row("<think>[[B]]</think>[[A]]", "ambiguous", position=""),
    ]
    assert changes(pairs) == [["ambiguous", "A"]]
    options = {"options": "x|y|z", "choice": "x"}
    assert changes([row("Best Response: C", "ok", position="2", **options)]) == [["2", "3"]]
    assert changes([row("It is not correct", "ok", choice="correct")]) == [
        ["correct", "unparseable"]
    ]


def test_scores_and_pairs_of_one_run_are_each_read_as_what_they_were_asked_for():
    rows = [
        row("[[A]]", "ok", choice="b", position="first", verdict_kind="choice"),
        row('{"score": 8, "choice": "A"}', "ok", score=8.0, position="", verdict_kind="score"),
        row("Score: -7", "ok", score=7.0, position="", verdict_kind="score"),
    ]
    assert changes(rows, TEN) == [["7", "out_of_scale"]]


def test_calls_that_failed_and_earlier_stages_are_left_out():
    rows = [row("[[8]]", "failed", transport="failed"), row("x", "ok", stage="plan")]
    assert reread(pd.DataFrame(rows), TEN).empty


def test_what_was_asked_for_must_be_known():
    with pytest.raises(InputError, match="cannot be inferred"):
        reread(pd.DataFrame([row("[[x]]", "unparseable")]), None)


def test_why_replies_are_unread():
    frame = pd.DataFrame(
        [row("a", "truncated", finish="length")] * 2 + [row("b", "refused"), row("c", "ok")]
    )
    assert unparsed_causes(frame, 30) == "2 of 4 cut at max_tokens=30, 1 of 4 refused"
    assert unparsed_causes(frame[frame["status"] == "ok"]) == ""


def test_the_command_shows_the_differences(tmp_path, capsys):
    (tmp_path / "data").mkdir()
    rows = [row("Score: -7", "ok", score=7.0), row("[[8]]", "ok", score=8.0)]
    pd.DataFrame(rows).to_parquet(tmp_path / "data" / "judgments.parquet")
    facts = {"design": {"scale": [1, 10]}}
    results = Results(experiment="x", question="?", results=(), facts=facts)
    write_results(tmp_path / "results.json", results)
    out = tmp_path / "found.csv"
    assert main(["reparse", str(tmp_path), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "1 differ" in shown
    assert "7 -> out_of_scale" in shown
    assert pd.read_csv(out)["now"].tolist() == ["out_of_scale"]
