"""Exports of other tools, each read without options and compared with values by two other codes."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.cli import main
from judgestats.errors import InputError

FOLDER = Path(__file__).parent / "fixtures" / "exports"
EXPECTED = {
    f["file"]: f
    for f in json.loads((FOLDER / "expected.json").read_text())["files"]
    if (FOLDER / f["file"]).exists()
}
MEASURES = {
    "pass_rate": lambda rows: (rows["choice"] == "pass").mean(),
    "mean": lambda rows: rows["score"].mean(),
    "agreement": lambda rows: (rows["choice"] == rows["label"])[rows["label"] != ""].mean(),
    "win_rate": lambda rows: rows["choice"].map({"a": 1, "b": 0, "tie": 0.5}).mean(),
}


def statistics(frame, expected):
    """Each known statistic of a frame, next to its expected value."""
    for one in expected["statistics"]:
        rows = frame[frame["status"] == "ok"]
        if "factor_criterion" in rows and one.get("criterion"):
            rows = rows[rows["factor_criterion"] == one["criterion"]]
        if "author" in rows and one.get("system"):
            rows = rows[rows["author"] == one["system"]]
        if one["name"] in MEASURES:
            yield MEASURES[one["name"]](rows), one["value"]


@pytest.mark.parametrize("name", EXPECTED)
def test_an_export_is_read_without_options(name):
    frame, expected = read_judgments(FOLDER / name), EXPECTED[name]
    counts = expected["counts"]
    assert frame.attrs["reader"] == expected["layout"]
    assert frame["item_id"].nunique() == counts["items"]
    assert (frame["status"] == "ok").sum() == counts["judgments"]
    if "clusters" in counts:
        assert frame["cluster"].nunique() == counts["clusters"]
    labels = int((frame["label"] != "").sum()) if "label" in frame else 0
    assert labels * counts.get("human_raters", 1) == counts["labels"]
    for ours, theirs in statistics(frame, expected):
        assert ours == pytest.approx(theirs, abs=6e-5)
        assert not any(ours == pytest.approx(v, abs=1e-4) for v in expected["never"])


@pytest.mark.parametrize("name", ["langfuse_scores.csv", "trulens_records.csv"])
def test_a_frame_is_read_as_its_file_in_any_order_of_rows_and_columns(name):
    with (FOLDER / name).open(newline="") as stream:
        table = pd.DataFrame(csv.DictReader(stream))
    mixed = table.sample(frac=1, random_state=3)[sorted(table.columns)]
    keys = ["condition", "item_id", "score", "choice"]
    of_file = read_judgments(FOLDER / name)[keys]
    of_frame = read_judgments(mixed)[keys]
    pd.testing.assert_frame_equal(
        of_frame.sort_values(keys).reset_index(drop=True),
        of_file.sort_values(keys).reset_index(drop=True),
        check_dtype=False,
    )


def test_rows_of_nobody_known_are_asked_for_with_a_command_that_works(workplace, capsys):
    text = (FOLDER / "langfuse_scores.csv").read_text().replace(",EVAL,", ",API,")
    Path("scores.csv").write_text(text)
    assert main(["analyze", "scores.csv", "--track", "none", "--report", "none"]) == 2
    asked = capsys.readouterr().err
    assert "source = 'API'" in asked
    line = next(line for line in asked.splitlines() if "judgestats analyze" in line)
    command = shlex.split(line[line.index("judgestats analyze") :].partition("    ")[0])
    assert main([*command[1:], "--track", "none", "--report", "none"]) == 0
    stated = read_judgments("scores.csv", judge_rows="source=API", human="source=ANNOTATION")
    expected = EXPECTED["langfuse_scores.csv"]
    assert [a for a, _ in statistics(stated, expected)] == pytest.approx(
        [b for _, b in statistics(stated, expected)], abs=6e-5
    )


def test_an_export_of_people_alone_is_refused(tmp_path):
    records = [
        {"key": "k", "run_id": f"r{i}", "score": i % 2, "feedback_source": {"type": "app"}}
        for i in range(6)
    ]
    path = tmp_path / "feedback.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    with pytest.raises(InputError, match="no judge's rows"):
        read_judgments(path)


def test_a_named_layout_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="does not look like Langfuse scores"):
        read_judgments(FOLDER / "giskard_rag_report.jsonl", reader="langfuse-scores")


@pytest.mark.parametrize("levels", [(0, 0.25, 0.5, 0.75, 1), ("0", "0.5", "1")])
def test_fractions_from_0_to_1_are_scores(levels):
    rows = [{"item": f"i{k}", "score": levels[k % len(levels)]} for k in range(20)]
    assert set(read_judgments(rows)["verdict_kind"]) == {"score"}
