"""Unread and unanswered are told apart wherever they are counted or printed."""

import json

import pandas as pd
import pytest

from judgestats.cli import main

REPLIES = 40


@pytest.fixture
def table(tmp_path):
    """Scores of one judge twice: a tenth unread in one condition, a quarter unanswered in both."""
    rows = []
    for condition in ("calm", "warm"):
        for i in range(REPLIES):
            status = "failed" if i % 4 == 0 else "ok"
            if condition == "warm" and i % 10 == 1:
                status = "unparseable"
            for replicate in range(2):
                rows.append(
                    {
                        "judge": "j", "condition": condition, "item_id": f"q{i}",
                        "cluster": f"q{i}", "replicate": replicate, "status": status,
                        "score": (i * 7 + replicate) % 10 + 1 if status == "ok" else None,
                    }
                )  # fmt: skip
    file = tmp_path / "judged.parquet"
    pd.DataFrame(rows).to_parquet(file)
    return file


def read(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("stream", ["no", "yes"])
def test_both_shares_stand_in_tables_metrics_limits_and_lines(table, workplace, capsys, stream):
    words = ["analyze", str(table), "--stream", stream, "--report", "none"]
    assert (
        main([*words, "--resamples", "99", "--scale", "1-10", "--factor", "condition", "--all"])
        == 0
    )
    (out,) = {file.parent for file in workplace.rglob("results.json")}
    told = capsys.readouterr().out
    assert "8 unparseable; 40 not answered" in told
    assert "8 of 160 unparsed, 40 not answered" in told
    found = read(out)
    (conditions,) = [r for r in found["results"] if r.get("id") == "conditions"]
    keys = [column["key"] for column in conditions["columns"]]
    listed = [dict(zip(keys, row, strict=True)) for row in conditions["rows"]]
    rows = {row["condition"]: row for row in listed}
    unread = {name: row["unread_share"] for name, row in rows.items()}
    assert unread == pytest.approx({n: 8 / 60 if "warm" in n else 0 for n in unread})
    assert {row["unanswered_share"] for row in rows.values()} == {0.25}
    assert found["metrics"]["quality/unread_share"] == pytest.approx(8 / 120)
    assert found["metrics"]["quality/unanswered_share"] == pytest.approx(0.25)
    by_condition = [m["quality/unanswered_share"] for m in found["condition_metrics"].values()]
    assert by_condition == [0.25, 0.25]
    codes = {note["code"] for note in found["limitations"]}
    assert {"unread", "unanswered"} <= codes
    assert main(["check", str(out), "--require", "quality/unread_share<=.5"]) == 0
    assert "Not required: up to 25% of the judgments of a condition were not answered" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main(["check", str(out), "--require", "quality/unanswered_share<=.1"]) == 1
    assert "Not required" not in capsys.readouterr().out
