"""Other tools' logs as the tools wrote them: recognised, read, nothing lost."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

import judgestats as js
from judgestats.data import LOGS, open_log
from judgestats.errors import InputError

FIXTURES = Path(__file__).parent / "fixtures"

CASES = [
    # file, reader, rows, items, clusters, statuses
    ("inspect/model-x.eval", "inspect", 48, 6, 6, {"ok": 38, "unparseable": 6, "refused": 4}),
    ("inspect/model-y.json", "inspect", 48, 6, 6, {"ok": 34, "refused": 8, "unparseable": 6}),
    ("promptfoo/results.json", "promptfoo", 72, 12, 6, {"ok": 65, "failed": 6, "unparseable": 1}),
    ("promptfoo/promptfoo.db", "promptfoo", 72, 12, 6, {"ok": 65, "failed": 6, "unparseable": 1}),
    ("mlflow/traces.jsonl", "mlflow", 72, 12, 6, {"ok": 56, "unparseable": 10, "failed": 6}),
    ("mlflow/traces_table.json", "mlflow", 72, 12, 6, {"ok": 56, "unparseable": 10, "failed": 6}),
    (
        "mlflow/eval_results_table.json",
        "mlflow-table",
        12,
        12,
        6,
        {"ok": 8, "unparseable": 3, "failed": 1},
    ),
    ("lm_eval/samples_judge_scores_*.jsonl", "lm-eval", 36, 12, 6, {"ok": 32, "unparseable": 4}),
    ("lm_eval/samples_judge_pairs_*.jsonl", "lm-eval", 30, 6, 6, {"ok": 21, "unparseable": 9}),
    ("alpaca_eval/annotations.json", "alpaca-eval", 18, 6, 6, {"ok": 15, "unparseable": 3}),
    (
        "fastchat/*_single.jsonl",
        "fastchat",
        36,
        12,
        6,
        {"ok": 26, "unparseable": 6, "failed": 3, "refused": 1},
    ),
    ("fastchat/*_pair.jsonl", "fastchat", 36, 6, 6, {"ok": 26, "failed": 6, "unparseable": 4}),
    ("judgekeeper/runs", "judgekeeper", 36, 12, 12, {"ok": 29, "unparseable": 4, "failed": 3}),
    (
        "deepeval/test_run.json",
        "deepeval",
        36,
        12,
        6,
        {"ok": 26, "unparseable": 4, "refused": 3, "failed": 3},
    ),
    (
        "judgekeeper/records.jsonl",
        "judgekeeper-records",
        36,
        12,
        12,
        {"ok": 29, "unparseable": 7},
    ),
]


def fixture(pattern: str) -> Path:
    (path,) = FIXTURES.glob(pattern)
    return path


@pytest.mark.parametrize(("pattern", "reader", "rows", "items", "clusters", "statuses"), CASES)
def test_every_judgment_is_read_and_keeps_its_status(
    pattern, reader, rows, items, clusters, statuses
):
    found = js.read_judgments(fixture(pattern))
    assert found.attrs["reader"] == reader
    assert len(found) == rows
    assert found["item_id"].nunique() == items
    assert found["cluster"].nunique() == clusters
    assert found["status"].value_counts().to_dict() == statuses
    unread = found[found["status"] != "ok"]
    assert unread["score"].isna().all()
    assert (unread["choice"] == "").all()
    assert (unread["reason"] != "").all()


@pytest.mark.parametrize("pattern", [c[0] for c in CASES if "runs" not in c[0]])
def test_the_name_of_a_file_does_not_matter(tmp_path, pattern):
    """lm-eval names the judge in a second file, so only that column may differ."""
    source = fixture(pattern)
    if source.suffix in {".eval", ".db"}:
        renamed = tmp_path / "export.bin"
        shutil.copy(source, renamed)
    else:
        renamed = tmp_path / "export.bin.gz"
        renamed.write_bytes(gzip.compress(source.read_bytes()))
    same = ["item_id", "replicate", "order", "status", "score", "choice", "raw_text", "temperature"]
    one, two = js.read_judgments(source), js.read_judgments(renamed)
    assert one[same].equals(two[same])


def test_no_fixture_tells_where_it_was_made():
    for path in FIXTURES.rglob("*"):
        if path.is_file() and path.suffix not in {".eval", ".md"}:
            raw = path.read_bytes()
            for told in (b"127.0.0.1", b"localhost", b"/home/", b"/tmp/"):
                assert told not in raw, (path.name, told)


# ------------------------------------------------------------------ what becomes what


def test_inspect_keeps_epoch_scorer_grader_and_what_it_cost():
    found = js.read_judgments(fixture("inspect/model-x.eval"))
    assert set(found["factor_scorer"]) == {"model_graded_qa", "rating"}
    assert set(found["judge"]) == {"openai-api/local/sim-unreadable"}
    assert set(found["temperature"]) == {0.7}
    assert set(found["replicate"]) == {0, 1, 2, 3}
    assert set(found["author"]) == {"mockllm/model-x"}
    assert found["tokens_in"].gt(0).all()
    assert found["latency_s"].gt(0).all()
    graded = found[found["factor_scorer"] == "model_graded_qa"]
    assert set(graded["choice"]) == {"correct", "incorrect", ""}
    assert graded["score"].isna().all()
    rated = found[(found["factor_scorer"] == "rating") & (found["status"] == "ok")]
    assert rated["score"].between(1, 10).all()
    assert rated["raw_text"].str.startswith("Rating: [[").all()
    assert (found.loc[found["status"] != "ok", "raw_text"] != "").all()


def test_a_log_scored_again_by_our_scorer_holds_repetitions_of_each_answer():
    frame = js.read_judgments(fixture("inspect_again/again.eval"))
    scored = frame[frame["factor_scorer"] == "pointwise"]
    assert set(scored["judge"]) == {"sim-noisy"}
    assert set(scored["temperature"]) == {1.0}
    assert scored.groupby("item_id").size().to_dict() == {
        "q2/mockllm/model": 4,  # two epochs with one answer, each scored twice
        "q3/mockllm/model": 4,
        "q4/mockllm/model": 2,
        "q4/mockllm/model (answer 2)": 2,
    }
    assert frame["cluster"].nunique() == 3
    other = frame[frame["factor_scorer"] == "correctness"]
    assert set(other["judge"]) == {"sim-stated"}
    assert set(other["choice"]) == {"correct", "incorrect"}
    assert "each is a separate item" in frame.attrs["notes"][0]


def test_a_folder_of_inspect_logs_pairs_the_answerers_within_the_question():
    found = js.read_judgments(FIXTURES / "inspect")
    assert len(found) == 96
    assert found.groupby("cluster")["item_id"].nunique().eq(2).all()
    assert found["condition"].nunique() == 2


def test_promptfoo_counted_a_refused_call_as_passed_and_we_do_not():
    path = fixture("promptfoo/results.json")
    told = [
        c
        for r in json.loads(path.read_text())["results"]["results"]
        for c in r["gradingResult"]["componentResults"]
        if c.get("metadata", {}).get("http", {}).get("status") == 400
    ]
    assert len(told) == 6
    assert all(c["pass"] and c["score"] == 1 for c in told)
    found = js.read_judgments(path)
    failed = found[found["status"] == "failed"]
    assert len(failed) == 6
    assert failed["reason"].str.contains("status 400").all()
    assert set(found.loc[found["status"] == "ok", "choice"]) == {"pass", "fail"}
    assert "contains (36)" in found.attrs["notes"][0]
    assert set(found["replicate"]) == {0, 1, 2}


def test_mlflow_errors_are_the_judges_own_and_people_give_the_labels():
    """MLflow writes a judge's error as source CODE: only the name tells whose it is."""
    found = js.read_judgments(fixture("mlflow/traces.jsonl"))
    assert set(found["judge"]) == {"openai:/sim-unreadable"}
    correct = found[found["factor_scorer"] == "correct"]
    assert set(correct["label"]) == {"yes", "no"}
    assert set(correct["choice"]) == {"yes", "no", ""}
    rating = found[found["factor_scorer"] == "rating"]
    assert rating["score"].notna().sum() + (rating["status"] != "ok").sum() == 36
    assert set(found["replicate"]) == {0, 1, 2}
    assert any("short" in note for note in found.attrs["notes"])


def test_lm_eval_repetitions_and_labels():
    scores = js.read_judgments(fixture("lm_eval/samples_judge_scores_*.jsonl"))
    assert set(scores["judge"]) == {"sim-unreadable"}
    assert set(scores["temperature"]) == {1.0}
    assert scores.groupby("item_id")["replicate"].nunique().eq(3).all()
    pairs = js.read_judgments(fixture("lm_eval/samples_judge_pairs_*.jsonl"))
    assert set(pairs["factor_scorer"]) == {"all", "first", "majority"}
    assert set(pairs["label"]) == {"A", "B", "C"}
    assert any("keeps one verdict of 3" in note for note in pairs.attrs["notes"])


def test_lm_eval_likelihoods_become_the_likeliest_option(tmp_path):
    record = {
        "doc_id": 3,
        "doc": {"q": "x"},
        "target": 1,
        "arguments": {},
        "resps": [[["-4.5", "False"]], [["-1.5", "True"]]],
        "filtered_resps": [[-4.5, False], [-1.5, True]],
        "filter": "none",
    }
    path = tmp_path / "samples_mcq_2026-11-22T00-00-00.jsonl"
    path.write_text(json.dumps(record) + "\n")
    found = js.read_judgments(path)
    assert found["choice"].tolist() == ["option 1"]
    assert found["label"].tolist() == ["option 1"]
    assert "likeliest" in " ".join(found.attrs["notes"])


def test_fastchat_pairs_have_both_orders_and_name_the_response():
    found = js.read_judgments(fixture("fastchat/*_pair.jsonl"))
    assert found["order"].value_counts().to_dict() == {"ab": 18, "ba": 18}
    raw = found[(found["order"] == "ba") & (found["raw_text"] == "[[A]]")]
    assert set(raw["choice"]) == {"b"}  # shown second, placed first
    failed = found[found["status"] == "failed"]
    assert set(failed["raw_text"]) == {"$ERROR$"}


def test_fastchat_minus_one_is_no_score():
    found = js.read_judgments(fixture("fastchat/*_single.jsonl"))
    assert found["score"].min() >= 1
    assert found.attrs["scale"] == (1.0, 10.0)


def test_alpaca_preferences_name_the_output_and_weights_become_scores(tmp_path):
    path = fixture("alpaca_eval/annotations.json")
    found = js.read_judgments(path)
    assert set(found["choice"]) == {"a", "b", ""}
    assert found["item_id"].str.contains("model-y vs model-x").all()
    weighted = json.loads(path.read_text())[:2]
    weighted[0]["preference"], weighted[1]["preference"] = 1.25, 2.0
    other = tmp_path / "weighted.json"
    other.write_text(json.dumps(weighted))
    assert js.read_judgments(other)["score"].tolist() == [0.25, 1.0]


def test_judgekeeper_runs_are_replicates_with_labels():
    found = js.read_judgments(fixture("judgekeeper/runs"))
    assert set(found["replicate"]) == {0, 1, 2}
    assert set(found["label"]) == {"pass", "fail"}
    assert found["prompt_sha"].str.len().eq(12).all()
    failed = found[found["status"] == "failed"]
    assert set(failed["reason"]) == {"exit 1: HTTP 400"}


# ------------------------------------------------------------------ the audit of each


AUDITED = [
    "inspect/model-x.eval",
    "promptfoo/results.json",
    "mlflow/traces.jsonl",
    "lm_eval/samples_judge_pairs_*.jsonl",
    "alpaca_eval/annotations.json",
    "fastchat/*_single.jsonl",
    "fastchat/*_pair.jsonl",
    "judgekeeper/runs",
]


@pytest.mark.parametrize("pattern", AUDITED)
def test_each_log_can_be_audited(pattern):
    found = js.audit(js.read_judgments(fixture(pattern)), n_resamples=99)
    assert found.headlines
    assert len(found.conditions) >= 1
    assert any("were not parsed" in text for text in found.limitations)


def test_scores_and_verdicts_of_one_log_are_both_audited():
    found = js.audit(js.read_judgments(FIXTURES / "inspect"), n_resamples=99)
    ids = [r.id for r in found.analysis.results]
    assert any(i.startswith("reliability.icc1.") and "rating" in i for i in ids)
    assert any(i.startswith("reliability.fleiss_kappa.") and "model_graded_qa" in i for i in ids)
    assert len(found.conditions) == 2


def test_agreement_with_people_in_their_own_words():
    found = js.audit(js.read_judgments(fixture("judgekeeper/runs")), n_resamples=99)
    results = {r.id.split(".sim")[0]: r.result for r in found.analysis.results}
    frame = js.read_judgments(fixture("judgekeeper/runs"))
    read = frame[frame["status"] == "ok"]
    assert results["people.accuracy"].estimate == pytest.approx(
        (read["choice"] == read["label"]).mean()
    )
    assert "people.alignment" not in results


def test_a_table_judged_once_says_what_is_missing():
    found = js.audit(js.read_judgments(fixture("mlflow/eval_results_table.json")), n_resamples=99)
    assert any(limit.code == "not_repeated" for limit in found.limitations)
    assert "icc1" not in found.conditions


# ------------------------------------------------------------------ folders and wrong input


def test_the_same_evaluation_in_two_forms_is_counted_once():
    found = js.read_judgments(FIXTURES / "promptfoo")
    assert len(found) == 72
    assert any("same judgments" in note for note in found.attrs["notes"])


def test_two_tools_in_one_folder_have_to_be_told_apart():
    with pytest.raises(InputError, match="several tools"):
        js.read_judgments(FIXTURES / "judgekeeper")
    found = js.read_judgments(FIXTURES / "judgekeeper", reader="judgekeeper")
    assert len(found) == 36


def test_links_in_a_folder_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    shutil.copy(fixture("fastchat/*_single.jsonl"), outside / "x.jsonl")
    (inside / "x.jsonl").symlink_to(outside / "x.jsonl")
    (inside / "more").symlink_to(outside)
    with pytest.raises(InputError, match="none of its 0 files"):
        js.read_judgments(inside)


def test_an_unknown_file_is_told_what_is_understood(tmp_path):
    path = tmp_path / "strange.json"
    path.write_text('{"hello": [1, 2]}')
    with pytest.raises(
        InputError, match=r"(?s)no column names items\. The file has: hello.*hello\[\] +1, 2"
    ):
        js.read_judgments(path)
    with pytest.raises(InputError, match="does not look like what the reader inspect reads"):
        js.read_judgments(path, reader="inspect")
    with pytest.raises(InputError, match="unknown reader 'pickle'"):
        js.read_judgments(path, reader="pickle")


def test_every_reader_says_what_it_reads():
    assert all(len(reader.about) > 20 for reader in LOGS.values())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_one_reader_alone_fits_a_log(case):
    for path in filter(Path.is_file, sorted(FIXTURES.glob(case[0]))):
        log = open_log(path)
        assert [name for name, reader in LOGS.items() if reader.fits(log)] == [case[1]]


def test_every_reader_is_shown_a_file_of_its_tool():
    """A new reader is its file and its fixture (docs/contributing.md)."""
    documented = Path(__file__).with_name("test_documented_layouts.py").read_text(encoding="utf-8")
    shown = {case[1] for case in CASES}
    missing = [n for n in LOGS if n not in shown and f'"{n}"' not in documented]
    assert not missing, f"add a fixture to tests/data/fixtures and its row to CASES: {missing}"


@pytest.mark.parametrize(("good", "bad"), [(1, 0), (1.0, 0.0), (True, False), ("C", "I")])
def test_grades_of_0_and_1_are_pass_and_fail(tmp_path, good, bad):
    """However a tool writes a pass, the audit is the same; other grades are scores."""
    samples = [
        {"id": i, "epoch": e + 1, "scores": {
            "right": {"value": good if (i * 7 + e * e) % 3 else bad},
            "share": {"value": (i + e) % 3 / 2},
        }}
        for i in range(12) for e in range(3)
    ]  # fmt: skip
    scorers = [{"name": "right"}, {"name": "share"}]
    header = {"task": "t", "model": "m", "scorers": scorers}
    path = tmp_path / "log.json"
    path.write_text(
        json.dumps({"version": 2, "status": "success", "eval": header, "samples": samples})
    )
    found = js.read_judgments(path)
    right = found[found["factor_scorer"] == "right"]
    assert right["score"].isna().all()
    assert found.loc[found["factor_scorer"] == "share", "score"].isin([0, 0.5, 1]).all()
    audited = js.audit(found, n_resamples=99)
    rates = audited.conditions.set_index("condition")["pass_rate"].dropna()
    expected = sum(s["scores"]["right"]["value"] == good for s in samples) / len(samples)
    assert rates.tolist() == pytest.approx([expected])
    if type(good) in {int, float}:
        assert any("0 and 1 only: pass / fail" in n for n in found.attrs["notes"])
        assert js.read_judgments(path, kind="score")["score"].notna().all()


def test_deepeval_tells_what_a_judge_said_from_rules_and_failed_calls():
    found = js.read_judgments(fixture("deepeval/test_run.json"))
    assert set(found["judge"]) == {"sim-unreadable"}
    assert found.attrs["notes"] == ["Metrics without a judge were left out: Exact Match."]
    assert found.attrs["scale"] == (0, 1)
    failed = found[found["status"] == "failed"]
    assert failed["reason"].str.contains("Error code: 400").all()
    assert found.loc[found["status"] == "refused", "raw_text"].str.startswith("I'm sorry").all()


@pytest.mark.parametrize("pattern", [c[0] for c in CASES])
def test_one_sentence_says_what_a_log_was_understood_as(pattern):
    (said,) = js.read_judgments(fixture(pattern)).attrs["understood"]
    assert said.startswith("log of ")
    assert "item = " in said
    assert "judge = " in said
    assert " repeat" in said


@pytest.mark.parametrize("name", ["scores.csv", "scores.jsonl"])
def test_ragas_results_are_a_table_of_criteria(name):
    """A missing score is a failed call or an unreadable reply: ragas does not say which."""
    found = js.read_judgments(FIXTURES / "ragas" / name)
    assert len(found) == 72
    assert found["item_id"].nunique() == 12
    assert set(found["condition"]) == {"judge, criterion=correct", "judge, criterion=helpful"}
    assert set(found["replicate"]) == {0, 1, 2}
    correct = found[found["factor_criterion"] == "correct"]
    assert set(correct["choice"]) <= {"pass", "fail", ""}
    helpful = found[found["factor_criterion"] == "helpful"]
    assert helpful["score"].dropna().between(1, 5).all()
    assert found["status"].value_counts().to_dict() == {"ok": 58, "missing": 14}
