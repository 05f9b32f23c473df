"""Tables that tools and people write: no column is taken for what it is not."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.cli import main
from judgestats.data import reading_of
from judgestats.errors import InputError

N = 36
RNG = np.random.default_rng(11)
PASSES = RNG.random(N) < 0.6
ITEMS = [f"i{i}" for i in range(N)]
WHY = "The answer matches the reference in every respect."


def counts(frame):
    return reading_of(frame)["counts"]


def test_the_words_of_a_judges_own_0_and_1_are_no_human_labels(tmp_path):
    words = np.where(PASSES, "correct", "incorrect")
    spans = {"context.span_id": ITEMS, "label": words, "score": PASSES * 1, "explanation": WHY}
    pd.DataFrame(spans).to_csv(tmp_path / "spans.csv", index=False)
    found = read_judgments(tmp_path / "spans.csv")
    assert reading_of(found)["layout"] == "phoenix-span-evaluations"
    assert (counts(found)["judgments"], counts(found)["labels"]) == (N, 0)
    table = pd.DataFrame({"id": ITEMS, "score": PASSES * 1, "label": words})
    found = read_judgments(table)
    assert (counts(found)["judgments"], counts(found)["labels"]) == (N, 0)
    assert "no human labels" in reading_of(found)["sentence"] + " ".join(found.attrs["understood"])
    # Where the verdicts of an item differ, so do their words.
    repeats = pd.DataFrame({"id": ITEMS[: N // 2] * 2, "score": PASSES * 1, "label": words})
    assert counts(read_judgments(repeats))["repeats"] == 2
    assert reading_of(read_judgments(repeats))["unused"] == {"label": "repeats the verdict"}
    # One row that differs, a mapping, or labels of a part are labels.
    differs = table.assign(label=[words[1], *words[1:]] if words[0] != words[1] else words)
    differs.loc[0, "label"] = "incorrect" if PASSES[0] else "correct"
    assert counts(read_judgments(differs))["labels"] == N
    assert counts(read_judgments(table, mapping={"label": "label"}))["labels"] == N
    part = table.assign(label=[*words[:20], *[None] * (N - 20)])
    assert counts(read_judgments(part))["labels"] == 20


def test_a_status_of_pass_and_fail_is_a_verdict():
    words = np.where(PASSES, "PASS", "FAIL")
    alone = read_judgments(pd.DataFrame({"question": ITEMS, "Status": words}))
    beside = read_judgments(pd.DataFrame({"question": ITEMS, "Status": words, "Score": PASSES * 1}))
    for found in (alone, beside):
        assert (found["choice"] == "pass").sum() == PASSES.sum()
        assert (found["status"] == "ok").all()
    replies = np.where(PASSES, "ok", "failed")
    table = pd.DataFrame({"question": ITEMS, "status": replies, "score": np.where(PASSES, 4, None)})
    assert counts(read_judgments(table))["error"] == N - PASSES.sum()


def test_people_alone_are_no_judges(workplace, capsys):
    rows = [
        {"question_id": f"q{i}", "model_a": "x", "model_b": "y", "winner": w,
         "judge": f"arena_user_{i}", "turn": 1}
        for i, w in enumerate(["model_a", "model_b", "tie"] * 20)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv("arena.csv", index=False)
    command = ["analyze", "arena.csv", "--track", "none", "--report", "none"]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "names only people" in said
    assert "52 more" in said
    printed = re.search(r"judgestats (analyze .*)$", said, re.M)[1]
    assert main(shlex.split(printed)) == 0
    assert "60 judges" in capsys.readouterr().out


STARS = {
    "full": (["★", "★★", "★★★★★"], [1, 2, 5], ()),
    "of five": (["★☆☆☆☆", "★★★☆☆", "★★★★★"], [1, 3, 5], (0, 5)),
    "emoji": (["⭐️", "⭐️ ⭐️", "⭐⭐⭐"], [1, 2, 3], ()),
    "words": (["4/5 stars", "2 / 5 stars", "1/5 star"], [4, 2, 1], (0, 5)),
    "counted": (["4 stars", "1 star", "3★"], [4, 1, 3], ()),
    "halves": (["★★½", "★★★", "★"], [2.5, 3, 1], ()),
}


@pytest.mark.parametrize("kind", STARS)
def test_stars_are_points(kind):
    words, points, scale = STARS[kind]
    table = pd.DataFrame({"item_id": ITEMS, "judge": "m", "rating": words * (N // 3)})
    found = read_judgments(table)
    assert found["score"].tolist() == points * (N // 3)
    assert tuple(found.attrs["scale"] or ()) == scale


def test_empty_stars_alone_and_words_among_numbers_are_asked_about():
    table = pd.DataFrame({"item_id": ITEMS, "judge": "m", "rating": ["☆", "☆☆", "☆☆☆"] * (N // 3)})
    with pytest.raises(InputError, match="--values"):
        read_judgments(table)
    table["rating"] = ["3", "4", "great"] * (N // 3)
    with pytest.raises(InputError, match=r"not understood: 'great' \(12\)"):
        read_judgments(table)
    assert counts(read_judgments(table, values={"great": "unparsed"}))["unparsed"] == N // 3
    found = read_judgments(table, values={"great": "5"})
    assert found["score"].tolist() == [3, 4, 5] * (N // 3)
    table["rating"] = ["3", "4", "I would rather not give this answer any score at all."] * (N // 3)
    assert counts(read_judgments(table))["unparsed"] == N // 3


def test_counts_of_a_table_of_results_are_no_verdicts(tmp_path):
    columns = ("win_rate", "n_wins", "n_draws", "num_items", "avg_length")
    table = pd.DataFrame({"model": ITEMS} | {c: RNG.integers(0, 50, N) for c in columns})
    table.to_csv(tmp_path / "board.csv", index=False)
    with pytest.raises(InputError) as asked:
        read_judgments(tmp_path / "board.csv")
    assert not re.search(r"verdict=(n_|num_|avg_)", str(asked.value))


@pytest.mark.parametrize("verdicts", [[1, 5, 3], ["pass", "fail", "pass"]])
def test_reference_answers_are_no_labels(verdicts):
    table = pd.DataFrame({"id": ITEMS, "judge": "m", "score": verdicts * (N // 3)})
    texts = [f"It is {i} because of the sum." for i in range(N)]
    numbers = [str(int(v)) for v in RNG.integers(1, 9999, N)]
    for answers in (texts, numbers):
        found = read_judgments(table.assign(ground_truth=answers))
        assert counts(found)["labels"] == 0
        assert "reference answers" in " ".join(found.attrs["understood"])
    right = verdicts[1:] + verdicts[:1]
    assert counts(read_judgments(table.assign(ground_truth=right * (N // 3))))["labels"] == N


def test_a_mapped_column_of_numbers_is_a_label():
    numbers = RNG.integers(1, 9999, N)
    table = pd.DataFrame({"id": ITEMS, "score": RNG.integers(1, 6, N), "gold": numbers})
    assert counts(read_judgments(table))["labels"] == 0
    assert counts(read_judgments(table, mapping={"label": "gold"}))["labels"] == N


def test_one_pass_takes_no_own_verdict_and_no_answer_for_a_label(workplace, capsys):
    words = np.where(PASSES, "correct", "incorrect")
    quiet = ["--stream", "yes", "--track", "none", "--report", "none"]
    table = pd.DataFrame({"item_id": ITEMS, "judge": "m", "score": PASSES * 1})
    for column, cells in (("label", words), ("gold", RNG.integers(1, 9999, N))):
        table.assign(**{column: cells}).to_parquet("rows.parquet", index=False)
        assert main(["analyze", "rows.parquet", *quiet]) == 0
        assert "Accuracy" not in capsys.readouterr().out
        assert main(["analyze", "rows.parquet", *quiet, "--full"]) == 0
        assert f"{column}: no human labels." in capsys.readouterr().out
        assert main(["analyze", "rows.parquet", *quiet, "--json"]) == 0
        assert "label" not in json.loads(capsys.readouterr().out)["reading"]["roles"]
    differs = words.copy()
    differs[0] = "incorrect" if PASSES[0] else "correct"
    table.assign(label=differs).to_parquet("rows.parquet", index=False)
    assert main(["analyze", "rows.parquet", *quiet]) == 0
    assert "Accuracy" in capsys.readouterr().out
    table.assign(score=["3", "4", "n/a"] * (N // 3)).to_parquet("rows.parquet", index=False)
    assert main(["analyze", "rows.parquet", *quiet]) == 0
    assert f"{N // 3} not applicable" in capsys.readouterr().out


def test_copies_of_some_rows_are_no_repeats():
    table = pd.DataFrame({"id": ITEMS, "judge": "m", "score": RNG.integers(1, 6, N)})
    copied = pd.concat([table, table[:12]], ignore_index=True)
    found = read_judgments(copied)
    assert (counts(found)["judgments"], counts(found)["repeats"]) == (N, 1)
    assert "12 rows judge an item again" in " ".join(found.attrs["notes"])
    again = copied.assign(score=[*table["score"], *(table["score"][:12] % 5 + 1)])
    assert counts(read_judgments(again))["repeats"] == 2
    every = pd.concat([table] * 3, ignore_index=True).sample(frac=1, random_state=1)
    assert counts(read_judgments(every))["repeats"] == 3


def test_what_stops_every_reading_is_said(tmp_path):
    columns = ("GPT Rating (1-5)", "Human Rating (1-5)")
    table = pd.DataFrame({"Ticket": ITEMS} | {c: RNG.integers(1, 6, N) for c in columns})
    table.loc[N] = ["Average", 3, 3]
    table.to_csv(tmp_path / "sheet.csv", index=False)
    with pytest.raises(InputError, match="the last row names 'Average'"):
        read_judgments(tmp_path / "sheet.csv")


def test_labels_that_are_always_the_verdict_are_the_first_care(workplace, capsys):
    words = np.where(PASSES, "pass", "fail")
    pd.DataFrame({"id": ITEMS, "verdict": words, "human_label": words}).to_csv("a.csv", index=False)
    assert main(["analyze", "a.csv", "--track", "none", "--report", "none"]) == 0
    care = capsys.readouterr().out.partition("Care  ")[2]
    assert " ".join(care.split()).startswith(
        "The labels (human_label) and the verdicts are the same"
    )
    assert "Is the label the judge's own verdict?" in " ".join(care.split())


def test_an_empty_column_of_scores_leaves_the_verdicts_to_another():
    words = np.where(PASSES, "pass", "fail")
    table = pd.DataFrame({"id": ITEMS[: N // 2] * 2, "verdict": words, "score": None})
    found = read_judgments(table)
    assert counts(found)["judgments"] == N
    assert reading_of(found)["roles"]["verdict"] == ["verdict"]
    assert list(reading_of(found)["unused"]) == ["score"]
