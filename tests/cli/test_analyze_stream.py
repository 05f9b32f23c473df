"""`judgestats analyze FOLDER`: streamed by itself, the same run as any other."""

import numpy as np
import pandas as pd
import pytest

from judgestats.cli import main
from judgestats.reporting import load_run
from judgestats.reporting.sections import data


@pytest.fixture
def folder(workplace):
    rng = np.random.default_rng(1)
    rows = [
        {"item": f"i{i}", "judge": j, "trial": r, "score": float(rng.integers(1, 6) + i % 3)}
        for i in range(12)
        for j in ("A", "B")
        for r in range(3)
    ]
    parts = workplace / "parts"
    parts.mkdir()
    pd.DataFrame(rows).to_parquet(parts / "a.parquet", index=False)
    return parts


def test_a_folder_is_streamed(folder, capsys) -> None:
    words = ["analyze", str(folder), "--resamples", "99", "--report", "none", "--all"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "Counted 72 judgments of 12 items in 12 clusters by 2 judges in one pass" in said
    assert "null references" in " ".join(said.split())
    (found,) = folder.parent.glob("mlruns/*/*/artifacts/results.json")
    run = load_run(found.parent)
    assert run.design["streamed"] is True
    assert list(run.conditions["n_ok"]) == [36, 36]
    assert "12 items from 12 questions were judged" in str(data.items(run))
    assert "All 72 judgments were answered and read" in str(data.exclusions(run))


def test_a_file_is_streamed_when_asked_and_only_if_it_is_parquet_or_csv(folder, capsys) -> None:
    text = folder.parent / "x.jsonl"
    text.write_text('{"item": "a", "score": 1}\n')
    assert main(["analyze", str(text), "--stream"]) == 2
    assert "--stream reads Parquet" in capsys.readouterr().err
    assert main(["analyze", str(folder), "--reader", "rewardbench2-k8"]) == 2
    assert "only --reader table can be streamed" in capsys.readouterr().err
    assert main(["analyze", str(folder), "--stream", "no"]) == 2
    assert "is a folder" in capsys.readouterr().err
    assert main(["analyze", str(folder), "--stream", "perhaps"]) == 2
    assert "invalid choice" in capsys.readouterr().err


@pytest.fixture
def labelled(workplace):
    """Verdicts and scores of 60 items, the first 40 labelled, as Parquet and as one frame."""
    rng = np.random.default_rng(7)
    parts = workplace / "labelled"
    parts.mkdir()
    rows = [
        {"item": f"i{i:02}", "judge": j, "trial": r,
         "score": float(np.clip(rng.integers(1, 4) + i % 6, 1, 9)),
         "label": str(1 + (i * 7) % 9) if i < 40 else None}
        for i in range(60) for j in ("A", "B") for r in range(3)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    frame[::2].to_parquet(parts / "a.parquet", index=False)
    frame[1::2].to_parquet(parts / "b.parquet", index=False)
    return parts, frame


@pytest.mark.parametrize(
    ("kind", "apart"), [("score", True), ("pass-fail", False)], ids=["a second file", "a column"]
)
def test_people_agree_with_a_stream_as_with_the_same_judgments_in_memory(labelled, kind, apart):
    parts, frame = labelled
    options = ["--resamples", "99", "--report", "none", "--crosscheck", "no"]
    if kind == "pass-fail":
        label = frame["label"].astype(float)
        frame = frame.assign(
            passed=frame["score"] > 4, label=(label > 4).astype(object).where(label.notna(), None)
        ).drop(columns="score")
        for name, half in (("a", frame[::2]), ("b", frame[1::2])):
            half.to_parquet(parts / f"{name}.parquet", index=False)
    if apart:
        own = frame[["item", "label"]].dropna().drop_duplicates()
        own.to_csv(parts.parent / "people.csv", index=False)
        frame = frame.drop(columns="label")
        for name, half in (("a", frame[::2]), ("b", frame[1::2])):
            half.to_parquet(parts / f"{name}.parquet", index=False)
        options += ["--labels", str(parts.parent / "people.csv")]
    frame.to_csv(parts.parent / "whole.csv", index=False)
    streamed, whole = (people_of(words + options, parts.parent) for words in (
        ["analyze", str(parts)], ["analyze", str(parts.parent / "whole.csv")]
    ))  # fmt: skip
    assert streamed
    assert len(streamed) == 2
    for row, told in streamed.items():
        assert told == pytest.approx(whole[row])


def people_of(words, place):
    """Estimates on people by result, of the run that a command leaves."""
    before = set(place.rglob("results.json"))
    assert main(words) == 0
    (found,) = set(place.rglob("results.json")) - before
    table = load_run(found.parent).conditions.set_index("condition")
    wanted = [c for c in ("pearson", "kendall", "accuracy", "sensitivity", "specificity")
              if c in table]  # fmt: skip
    return {name: table.loc[name, wanted].astype(float).tolist() for name in table.index}
