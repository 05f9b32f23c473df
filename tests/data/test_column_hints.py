"""Files without a column of verdicts: understood by their columns' names, or told what to say."""

import json
import re

import pandas as pd
import pytest

import judgestats as js
from judgestats.cli import main
from judgestats.data.readers.row_checks import OpenQuestionError
from judgestats.errors import InputError

IDS = [f"q{i}" for i in range(24)]
SCORES = {j: [(i * k) % 9 + 1 for i in range(24)] for j, k in (("gpt", 3), ("claude", 5))}
SUGGESTED = {
    "judges beside people": {"id": IDS, **SCORES, "human_score": SCORES["gpt"]},
    "two orders": {"id": IDS, "winner_orig": ["1", "2"] * 12, "winner_swap": ["1", "2", "2"] * 8},
    "lists": {"id": IDS, "scores": ["[7, 8]"] * 24},
    "letters": {"id": IDS, "verdicts": [f"{i:06b}x" for i in range(24)]},
    "a label only": {"id": IDS, "label": SCORES["gpt"]},
    "replies": {"id": IDS, "reply": [f"Reasoning.\nScore: {s}" for s in SCORES["gpt"]]},
    "pairwise replies": {"id": IDS, "raw": ["It is [[A]]", "So [[B]]"] * 12},
    "question and answer": {"prompt": ["Why?", "How?"] * 12, "response": IDS,
                            "score": SCORES["gpt"]},
    "a rater's scores": {"id": IDS, "model_score": SCORES["claude"], "annotator": SCORES["gpt"]},
    "several people": {"id": IDS, "annotator1": ["1", "2"] * 12, "annotator2": ["2"] * 24,
                       "gpt35": ["1", "2"] * 12, "pandalm": ["1", "2", "2"] * 8},
}  # fmt: skip


@pytest.mark.parametrize("columns", SUGGESTED.values(), ids=SUGGESTED)
def test_the_options_that_a_question_names_read_the_file(tmp_path, capsys, columns) -> None:
    file = tmp_path / "j.csv"
    pd.DataFrame(columns).to_csv(file, index=False)
    with pytest.raises(OpenQuestionError) as asked:
        js.read_judgments(file)
    assert 1 <= len(asked.value.answers) <= 3
    for answer in asked.value.answers:
        assert main(["doctor", str(file), *answer.options.words()]) == 0
        told = re.search(r"([\d,]+) judgments =", capsys.readouterr().out)
        assert told
        assert int(told[1]) >= 24


def test_columns_of_runs_are_repetitions() -> None:
    frame = js.read_judgments(
        pd.DataFrame({"id": IDS, "run_1": [1, 0] * 12, "run_2": [1] * 24, "human": [1, 0] * 12})
    )
    assert frame.groupby("item_id")["replicate"].nunique().eq(2).all()
    assert set(frame["choice"]) == {"pass", "fail"}
    assert "one column per repeat (run_1, run_2)" in frame.attrs["understood"][1]


def test_letters_of_a_text_are_verdicts(tmp_path) -> None:
    (tmp_path / "j.csv").write_text("id,verdicts\na,0110\nb,11_1\nc,0000\n")
    frame = js.read_judgments(tmp_path / "j.csv", explode=["verdicts"])
    assert frame.groupby("item_id")["choice"].agg(list).to_dict() == {
        "a": ["fail", "pass", "pass", "fail"],
        "b": ["pass", "pass", "", "pass"],
        "c": ["fail"] * 4,
    }


def test_ids_that_join_a_question_and_two_models_are_pairs_in_two_orders() -> None:
    rows = [
        {"cmp": f"{q};{a};{b}", "judge": "J", "ans": "A" if a == "x" else "B"}
        for q in range(12)
        for a, b in (("x", "y"), ("y", "x"))
    ]
    frame = js.read_judgments(pd.DataFrame(rows), mapping={"item_id": "cmp"})
    assert frame["item_id"].nunique() == 12
    assert frame["order"].value_counts().to_dict() == {"ab": 12, "ba": 12}
    assert set(frame["choice"]) == {"a"}  # the same response, wherever it stood
    assert set(frame["system_a"]) == {"x"}


def test_all_people_of_a_wide_table_of_labels_are_taken() -> None:
    judged = pd.DataFrame({"id": IDS, "passed": [True, False] * 12})
    labels = pd.DataFrame({"id": IDS, "ann": ["yes", "no"] * 12, "bob": ["yes"] * 24,
                           "length": range(24)})  # fmt: skip
    frame = js.read_judgments(judged, labels=labels)
    assert {c for c in frame if c.startswith("label_")} == {"label_ann", "label_bob"}
    assert "of 2 raters (ann, bob)" in frame.attrs["understood"][1]


def test_objects_are_no_verdicts_and_the_path_into_them_is_told(tmp_path) -> None:
    file = tmp_path / "j.jsonl"
    rows = [{"id": i, "judgment": {"rating": i % 5 + 1}} for i in range(20)]
    file.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match=r"--map verdict=judgment\.rating"):
        js.read_judgments(file)


def test_what_is_said_of_a_kind_does_not_hang_on_the_rows_order() -> None:
    rows = pd.DataFrame({"id": range(6), "winner": [0, 2, 1] * 2})
    said = {js.read_judgments(rows[::way]).attrs["understood"][0] for way in (1, -1)}
    assert said == {"verdict = `winner`: a preference, 1 = a, 2 = b, 0 = tie."}


def _executed(path):
    """The frame that the first way of a question reads."""
    with pytest.raises(OpenQuestionError) as asked:
        js.read_judgments(path)
    return js.read_judgments(path, **asked.value.answers[0].options.set_options())


@pytest.mark.parametrize("systems", [1, 2])
def test_outputs_that_begin_with_their_verdict_have_a_way_on(systems, tmp_path) -> None:
    outputs = [f"[PASS] {i}" if i % 3 else f"[FAIL] not {i}\n---\n[x]" for i in range(30)]
    table = pd.DataFrame({"topic": [f"topic {i}" for i in range(30)]})
    for place in range(systems):
        table[f"[tool:model-{place}] Answer: {{{{topic}}}}"] = [*outputs[:-1], "[ERROR] timeout"]
    table.to_csv(tmp_path / "out.csv", index=False)
    frame = _executed(tmp_path / "out.csv")
    assert len(frame) == 30 * systems
    assert frame["choice"].value_counts().to_dict() == {
        "pass": 19 * systems, "fail": 10 * systems, "": systems
    }  # fmt: skip
    assert set(frame.loc[frame["choice"] == "", "status"]) == {"failed"}


@pytest.mark.parametrize("levels", [("a", "b"), ("gpt-4o", "claude")])
def test_the_column_that_varies_in_the_same_way_within_each_item_holds_no_verdict(levels) -> None:
    rows = [
        {"id": f"f{i}", "richter": judge, "urteil": ["gut", "schlecht"][(i * k) % 3 > 0]}
        for i in range(30) for k, judge in enumerate(levels, start=1)
    ]  # fmt: skip
    with pytest.raises(InputError, match="'urteil' holds words that are not understood"):
        js.read_judgments(rows)
    stated = {"values": {"gut": "pass", "schlecht": "fail"}, "mapping": {"verdict": "urteil"}}
    frame = js.read_judgments(rows, **stated, factors=("richter",))
    assert frame["condition"].nunique() == 2
    assert frame["item_id"].nunique() == 30


def test_two_unknown_words_are_asked_for_and_may_be_stated_as_levels() -> None:
    rows = [{"item": f"f{i}", "verdict": ["upper", "lower"][i % 3 > 0]} for i in range(30)]
    with pytest.raises(InputError, match=r"--values 'lower=WHAT,upper=WHAT'.*--kind category"):
        js.read_judgments(rows)
    assert set(js.read_judgments(rows, kind="category")["choice"]) == {"upper", "lower"}
    read = js.read_judgments(rows, values={"upper": "pass", "lower": "fail"})
    assert read["choice"].value_counts().to_dict() == {"fail": 20, "pass": 10}


@pytest.mark.parametrize("name", ["annotator", "reviewer", "manual_label", "doctor", "human"])
@pytest.mark.parametrize("words", [("ok", "not ok"), ("good", "bad"), (True, False)])
def test_people_may_say_pass_and_fail_in_other_words_than_the_judge(name, words) -> None:
    said = {"id": IDS, "llm_judge": ["good", "good", "bad"] * 8, name: [*words] * 12}
    frame = js.read_judgments(pd.DataFrame(said))
    assert frame.attrs["roles"]["label"] == [name]
    assert frame["label"].tolist() == ["pass", "fail"] * 12


@pytest.mark.parametrize("levels", [["ann", "bob"], [101, 102], [1, 2, 30]])
def test_a_column_that_names_raters_holds_no_labels(levels) -> None:
    names = (levels * 12)[:24]
    frame = js.read_judgments(
        pd.DataFrame({"id": IDS, "llm_score": SCORES["gpt"], "reviewer": names})
    )
    assert "label" not in frame.attrs["roles"]


def test_numbers_of_judge_next_to_those_of_people_are_its_scores(tmp_path) -> None:
    table = pd.DataFrame({"id": IDS, "judge": SCORES["claude"], "expert": SCORES["gpt"]})
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(OpenQuestionError) as asked:
        js.read_judgments(tmp_path / "t.csv")
    [answer] = asked.value.answers
    assert answer.options.mapping == {"verdict": "judge"}
    frame = js.read_judgments(table)
    assert frame["score"].tolist() == SCORES["claude"]
    assert frame["label"].tolist() == list(map(str, SCORES["gpt"]))


def test_who_gave_the_labels_is_asked_where_a_judge_gave_the_verdict() -> None:
    said = {"id": IDS, "llm_score": SCORES["claude"], "annotator": ["ann", "bob"] * 12,
            "annotator_score": SCORES["gpt"]}  # fmt: skip
    with pytest.raises(OpenQuestionError) as asked:
        js.read_judgments(pd.DataFrame(said))
    roles = [answer.options.mapping for answer in asked.value.answers]
    assert [role["rater"] for role in roles if "rater" in role] == ["annotator"]
    assert [role["judge"] for role in roles if "judge" in role] == ["annotator"]
    judges = pd.DataFrame(said | {"annotator": ["gpt-4o", "claude-3"] * 12})
    assert js.read_judgments(judges).attrs["roles"]["judge"] == ["annotator"]


@pytest.mark.parametrize("factor", [0.1, 1, 2, 11])
def test_labels_on_another_scale_are_refused(factor) -> None:
    said = {"id": IDS, "llm_score": [factor * v for v in SCORES["claude"]],
            "human_score": SCORES["gpt"]}  # fmt: skip
    if factor in {1, 2}:  # a judge may use twice the range of people
        assert "label" in js.read_judgments(pd.DataFrame(said))
        return
    with pytest.raises(InputError, match=r"different scales\. .*--ignore human_score\."):
        js.read_judgments(pd.DataFrame(said))
    assert "label" not in js.read_judgments(pd.DataFrame(said), ignore=("human_score",))


def test_one_pass_refuses_labels_on_another_scale_too(tmp_path, capsys) -> None:
    said = {"id": IDS, "score": [10 * v for v in SCORES["claude"]], "human": SCORES["gpt"]}
    pd.DataFrame(said).to_parquet(tmp_path / "t.parquet", index=False)
    words = ["analyze", str(tmp_path / "t.parquet"), "--track", "none", "--report", "none"]
    assert main([*words, "--stream", "yes"]) == 2
    assert "are on different scales" in capsys.readouterr().err
    assert main([*words, "--stream", "yes", "--ignore", "human", "--resamples", "99"]) == 0


@pytest.mark.parametrize("name", ["annotator", "manual_label", "human"])
def test_an_unknown_word_of_people_is_asked_about_and_never_loses_their_labels(name) -> None:
    said = {"id": IDS, "llm_judge": ["good", "good", "bad"] * 8, name: ["ok", "not ok", "so"] * 8}
    with pytest.raises(InputError, match=rf"{name}' holds words that are not understood.*'so' \(8"):
        js.read_judgments(pd.DataFrame(said))
