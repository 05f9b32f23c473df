"""Exports of other tools, each read without options and compared with values by two other codes."""

import csv
import json
import os
import random
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.cli import main
from judgestats.data import EXPORTS, reading_of
from judgestats.errors import InputError

FUZZ = int(os.environ.get("JUDGESTATS_FUZZ", "1"))  # how many times as many examples
FOLDER = Path(__file__).parent / "fixtures" / "exports"
EXPECTED = {
    f["file"]: f
    for f in json.loads((FOLDER / "expected.json").read_text())["files"]
    if (FOLDER / f["file"]).exists()
}
KEYS = {
    "fastchat": ["judge", "judgment", "score", "turn", "g1_winner", "g2_winner", "model_1"],
    "inspect": ["eval", "samples", "output", "completion", "epoch", "scorers"],
    "mlflow": ["info", "assessments", "source"],
    "promptfoo": ["results", "gradingResult", "componentResults", "assertion", "type", "pass"],
    "label-studio": ["data", "annotations", "predictions", "from_name", "was_cancelled"],
    "lm-eval": ["doc", "resps", "filtered_resps", "filter", "target"],
    "alpaca-eval": ["output_1", "output_2", "dataset"],
}
"""Keys that readers of logs look at beside those of roles."""
LABELS = ("human_label", "scores", "human_Factuality", "quality.responses.status")
PASSES = {"pass", "yes", "correct", "good"}
MEASURES = {
    "pass_rate": lambda rows: rows["choice"].str.lower().isin(PASSES).mean(),
    "mean": lambda rows: rows["score"].mean(),
    "agreement": lambda rows: (rows["choice"] == rows["label"])[rows["label"] != ""].mean(),
    "win_rate": lambda rows: rows["choice"].map({"a": 1, "b": 0, "tie": 0.5}).mean(),
}


def statistics(frame, expected):
    """Each known statistic of a frame, next to its expected value."""
    for one in expected["statistics"]:
        rows = frame[frame["status"] == "ok"]
        if "criterion" in rows and one.get("criterion"):
            rows = rows[rows["criterion"] == one["criterion"]]
        if "author" in rows and one.get("system"):
            rows = rows[rows["author"] == one["system"]]
        if one["name"] in MEASURES:
            value = MEASURES[one["name"]](rows)
            yield 1 - value if frame.attrs.get("tested") == "b" else value, one["value"]


@pytest.mark.parametrize("value", [[1, 2], []])
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("langsmith_feedback.jsonl", ("run_id",)),
        ("langsmith_feedback.jsonl", ("feedback_source", "type")),
        ("argilla_records.json", ("id",)),
        ("argilla_records.json", ("quality.responses", 0)),
        ("arena_hard.jsonl", ("games", 0)),
    ],
)
def test_a_list_where_an_export_holds_one_value_is_read_or_refused(name, path, value, tmp_path):
    text = (FOLDER / name).read_text()
    lines = name.endswith(".jsonl")
    records = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    inner = records[0]
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    file = tmp_path / name
    file.write_text("\n".join(map(json.dumps, records)) if lines else json.dumps(records))
    rows, refusal = 0, ""
    try:
        rows = len(read_judgments(file))
    except InputError as error:
        refusal = str(error)
    assert rows or str(file) in refusal


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


def mixed(value, rng):
    """Nested records with the keys of each object in another order."""
    if isinstance(value, list):
        return [mixed(v, rng) for v in value]
    if not isinstance(value, dict):
        return value
    return {k: mixed(value[k], rng) for k in rng.sample(list(value), len(value))}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_order_of_keys_and_rows_changes_no_count(name, tmp_path):
    rng = random.Random(3)
    document = mixed(load(name), rng)
    if not name.endswith(".json"):
        rng.shuffle(document)
    file = written(document, name, tmp_path)
    assert (
        reading_of(read_judgments(file))["counts"]
        == reading_of(read_judgments(FOLDER / name))["counts"]
    )


def test_rows_of_unknown_raters_are_asked_for_with_a_command_that_works(workplace, capsys):
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


def test_an_export_of_human_rows_alone_is_refused(tmp_path):
    records = [
        {"key": "k", "run_id": f"r{i}", "score": i % 2, "feedback_source": {"type": "app"}}
        for i in range(6)
    ]
    path = tmp_path / "feedback.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    with pytest.raises(InputError, match="no judge rows"):
        read_judgments(path)


def test_a_named_layout_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="does not look like Langfuse scores"):
        read_judgments(FOLDER / "giskard_rag_report.jsonl", reader="langfuse-scores")


def paths(value, path=()):
    """Every key of nested records, as a path; lists are walked through."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, path)


def without(value, path):
    """A copy of nested records without one key."""
    if isinstance(value, list):
        return [without(v, path) for v in value]
    if not isinstance(value, dict):
        return value
    if len(path) == 1:
        return {k: v for k, v in value.items() if k != path[0]}
    return {k: without(v, path[1:]) if k == path[0] else v for k, v in value.items()}


def measured(frame):
    """Items, and of each criterion the verdicts, pass rate, and mean; labels apart."""
    rows = frame[frame["status"] == "ok"]
    by = rows.groupby(rows.get("factor_criterion", lambda _: ""))
    shares = {c: (len(g), (g["choice"] == "pass").mean(), g["score"].sum()) for c, g in by}
    labels = int((rows["label"] != "").sum()) if "label" in rows else 0
    return frame["item_id"].nunique(), shares, labels


def load(name):
    if name.endswith(".csv"):
        with (FOLDER / name).open(newline="") as stream:
            return list(csv.DictReader(stream))
    text = (FOLDER / name).read_text()
    return list(map(json.loads, text.splitlines())) if name.endswith("l") else json.loads(text)


def spelled(path):
    """A key as roles and signatures spell it, without the marks of lists and of patterns."""
    return re.sub(r"\[\]|\\\\|\\", "", path)


def written(document, name, folder):
    """The file of some records, as the export has it."""
    file = folder / name
    if name.endswith(".csv"):
        pd.DataFrame(document).to_csv(file, index=False)
    elif name.endswith("l"):
        file.write_text("\n".join(map(json.dumps, document)))
    else:
        file.write_text(json.dumps(document))
    return file


@pytest.mark.fuzz
@pytest.mark.parametrize("name", EXPECTED)
def test_an_export_without_one_column_is_read_alike_or_refused(name, tmp_path):
    """Of a key that a role or the signature of the layout names, of all with `make fuzz`."""
    document = load(name)
    if name.startswith("biggen"):  # an object of records
        document = list(document.values())
    whole = read_judgments(FOLDER / name)
    items, shares, labels = measured(whole)
    known = set(shares.values())
    layout = EXPORTS.get(whole.attrs["reader"])
    named = [p for own in reading_of(whole)["roles"].values() for p in own]
    named += layout.signature if layout else KEYS.get(whole.attrs["reader"], ())
    serving = "\n".join(map(spelled, named))
    serving_paths = [path for path in dict.fromkeys(paths(document)) if path[-1] in serving]
    for path in random.Random(name).sample(serving_paths, min(FUZZ, len(serving_paths))):
        try:
            frame = read_judgments(written(without(document, path), name, tmp_path))
        except InputError:
            continue
        got, told = measured(frame), " ".join(frame.attrs["notes"])
        assert got[0] == items or "are not in the log" in told, path
        assert set(got[1].values()) <= known or not sum(n for n, *_ in got[1].values()), path
        of_labels = {"datasource_item", "quality.responses", *LABELS} & set(path)
        of_labels |= {"annotations"} & set(path)
        lost = of_labels or len(got[1]) < len(shares) or "No human label" in told
        assert got[2] == labels or lost or "predictions" in path, path


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_scores_of_which_a_low_one_is_good_need_words(tmp_path, direction):
    records = [
        {"context.span_id": f"s{i}",
         "toxicity_score": {"kind": "llm", "direction": direction, "score": i % 2}}
        for i in range(12)
    ]  # fmt: skip
    path = tmp_path / "evals.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    if direction == "maximize":
        assert read_judgments(path)["choice"].eq("pass").sum() == 6
        return
    with pytest.raises(InputError, match="a low score is good"):
        read_judgments(path)
    stated = read_judgments(path, values={"0": "pass", "1": "fail"}).sort_values("item_id")
    assert stated.set_index("item_id")["choice"].to_dict()["s1"] == "fail"


def test_a_criterion_with_the_name_of_a_human_is_a_label():
    rows = [
        {"example_id": f"e{i}", "id": f"r{i}", "feedback.tone": i % 2, "feedback.expert_tone": 1}
        for i in range(10)
    ]
    frame = read_judgments(rows)
    assert len(frame) == 10
    assert set(frame["label"]) == {"pass"}
    rows = [{**row, "feedback.human_style": 0, "feedback.depth": 1} for row in rows]
    with pytest.raises(InputError, match="human_style"):
        read_judgments(rows)


def test_letters_of_an_evals_log_are_choices_and_no_preferences(tmp_path):
    path = tmp_path / "events.jsonl"
    events = [
        {"run_id": "r", "sample_id": f"s{i}", "type": "metrics", "data": {"choice": "ABC"[i % 3]}}
        for i in range(30)
    ]
    path.write_text("\n".join(map(json.dumps, events)))
    frame = read_judgments(path)
    assert set(frame["verdict_kind"]) == {"choice"}
    assert frame["choice"].str.lower().value_counts().to_dict() == {"a": 10, "b": 10, "c": 10}


def test_columns_of_several_names_are_no_export():
    rows = [
        {"item": f"i{k}", "product category": "a", "total score": k % 5, "model reasoning": "long",
         "verdict": "pass" if k % 3 else "fail"}
        for k in range(12)
    ]  # fmt: skip
    frame = read_judgments(rows)
    assert frame.attrs["reader"] == "table"
    assert set(frame["choice"]) == {"pass", "fail"}


def test_ids_of_a_table_stay_as_they_are_written(tmp_path):
    path = tmp_path / "scores.csv"
    pd.DataFrame({
        "traceId": ["007", "008", "009"], "source": "EVAL", "name": "c", "dataType": "NUMERIC",
        "value": [1, 3, 5],
    }).to_csv(path, index=False)  # fmt: skip
    assert read_judgments(path)["item_id"].tolist() == ["007", "008", "009"]


def test_rows_without_a_rater_are_refused():
    rows = [
        {"traceId": f"t{i}", "source": "EVAL" if i else "", "name": "c", "dataType": "NUMERIC",
         "value": i}
        for i in range(8)
    ]  # fmt: skip
    with pytest.raises(InputError, match="no source"):
        read_judgments(rows)


@pytest.mark.parametrize("levels", [(0, 0.25, 0.5, 0.75, 1), ("0", "0.5", "1")])
def test_fractions_from_0_to_1_are_scores(levels):
    rows = [{"item": f"i{k}", "score": levels[k % len(levels)]} for k in range(20)]
    assert set(read_judgments(rows)["verdict_kind"]) == {"score"}


def verdict(i, *words):
    return words[i * i % 7 % len(words)]


OTHERS = {
    "exported scores": (
        "langfuse-export",
        [
            {"id": f"x{i}{s}", "trace_id": f"t{i}", "name": "good", "source": s,
             "data_type": "BOOLEAN", "string_value": str(bool(i % 3)), "value": float(i % 3 > 0)}
            for i in range(20) for s in ("EVAL", "ANNOTATION")[: 1 + i % 2]
        ],
        {"items": 20, "judgments": 20, "labels": 10},
    ),
    "traces with scores": (
        "langfuse-traces",
        [
            {"id": f"t{i}", "scores": [
                {"traceId": f"t{i}", "name": "good", "source": s, "value": i % 5}
                for s in ("EVAL", "ANNOTATION")[: 1 + i % 2]
            ]}
            for i in range(20)
        ],
        {"items": 20, "judgments": 20, "labels": 10},
    ),
    "evaluated spans": (
        "phoenix-spans",
        [
            {"context.span_id": f"s{i}", "attributes.input.value": f"q{i}",
             **{f"eval.{c}.label": verdict(i + k, "correct", "incorrect")
                for k, c in enumerate(("QA", "RAG"))}}
            for i in range(20)
        ],
        {"items": 20, "criteria": 2, "judgments": 40},
    ),
    "classifications": (
        "phoenix-classifications",
        [
            {"context.span_id": f"s{i}", "label": verdict(i, "correct", "incorrect") if i else None,
             "exceptions": "[]", "execution_status": "COMPLETED" if i else "FAILED"}
            for i in range(20)
        ],
        {"items": 20, "judgments": 19, "error": 1},
    ),
    "assessments in a column": (
        "mlflow-traces",
        [
            {"trace_id": f"t{i}", "assessments": json.dumps([
                {"assessment_name": "good", "source": {"source_type": s, "source_id": "x"},
                 "feedback": {"value": verdict(i, "yes", "no")}}
                for s in ("LLM_JUDGE", "HUMAN")[: 1 + i % 2]
            ])}
            for i in range(20)
        ],
        {"items": 20, "judgments": 20, "labels": 10},
    ),
    "ratings of agents": (
        "databricks-evaluation",
        [
            {"request_id": f"r{i}", "response/overall_assessment/rating": "yes",
             "response/llm_judged/correctness/rating": verdict(i, "yes", "no"),
             "response/llm_judged/relevance/rating": verdict(i + 1, "yes", "no")}
            for i in range(20)
        ],
        {"items": 20, "criteria": 2, "judgments": 40},
    ),
    "metrics with explanations": (
        "metric-table",
        [
            {"prompt": f"p{i}", "response": f"a{i}", "rouge/score": i / 20,
             "x/score": 1 + i % 4, "y/score": 1 + i % 3, "x/explanation": "a", "y/explanation": "b"}
            for i in range(20)
        ],
        {"items": 20, "criteria": 2, "judgments": 40},
    ),
    "choices of candidates": (
        "vertex-pairwise",
        [
            {"prompt": f"p{i}", "quality/explanation": "so",
             "quality/pairwise_choice": verdict(i, "BASELINE", "CANDIDATE", "TIE")}
            for i in range(20)
        ],
        {"items": 20, "judgments": 20},
    ),
    "samples of a log": (
        "inspect-samples",
        [
            {"sample_id": f"u{i}", "id": i // 2, "epoch": 1 + i % 2, "model": "m",
             "score_rubric": verdict(i, "C", "I")}
            for i in range(20)
        ],
        {"items": 20, "clusters": 10, "judgments": 20},
    ),
    "evaluations by evaluator": (
        "llama-index",
        {
            name: [
                {"query": f"q{i}", "response": f"a{i}", "passing": i % 3 > k, "score": i % 3 > k}
                for i in range(20)
            ]
            for k, name in enumerate(("faithful", "relevant"))
        },
        {"items": 20, "criteria": 2, "judgments": 40},
    ),
    "rows in flat keys": (
        "azure-ai-evaluation",
        [
            {"inputs.query": f"q{i}", "outputs.x.x": 1 + i % 5, "outputs.x.gpt_x": 1 + i % 5,
             "outputs.y.y": 1 + i % 4, "outputs.y.y_reason": "so"}
            for i in range(20)
        ],
        {"items": 20, "criteria": 2, "judgments": 40},
    ),
    "an envelope": (
        "braintrust-experiment",
        {"events": [
            {"id": f"i{i}", "root_span_id": f"s{i}", "span_attributes": {"type": "eval"},
             "scores": {"Factuality": i % 2, "Tone": i % 3 / 2}}
            for i in range(20)
        ], "cursor": None},
        {"items": 20, "criteria": 2, "judgments": 40},
    ),
    "scores by models": (
        "helm",
        {"request_states": [
            {"instance": {"id": f"id{i}"}, "request": {"model": "x"},
             "annotations": {"safe": {"gpt_score": i % 5, "claude_score": i % 4}}}
            for i in range(20)
        ]},
        {"items": 20, "criteria": 1, "judges": 2, "judgments": 40},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHERS)
def test_other_exports_of_these_tools_are_read_without_options(case, tmp_path):
    layout, document, counts = OTHERS[case]
    (tmp_path / "f.json").write_text(json.dumps(document))
    files = [tmp_path / "f.json"]
    if isinstance(document, list):
        pd.DataFrame(document).to_parquet(tmp_path / "f.parquet")
        files.append(tmp_path / "f.parquet")
    for file in files:
        reading = reading_of(read_judgments(file))
        assert reading["layout"] == layout
        assert {key: reading["counts"][key] for key in counts} == counts


def test_a_constant_is_no_metric_of_ragas(tmp_path):
    rows = [
        {"user_input": f"q{i}", "response": f"a{i}", "version": 3, "n": i, "faithfulness": i / 20}
        for i in range(20)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "r.csv")
    assert reading_of(read_judgments(tmp_path / "r.csv"))["counts"]["judgments"] == 20


def scores(group):
    return [
        {"id": f"{group}{i}", "traceId": f"t{i}", "name": "good", "source": "EVAL",
         "dataType": "NUMERIC", "value": i % 5}
        for i in range(20)
    ]  # fmt: skip


def test_two_lists_of_an_envelope_are_not_pooled(tmp_path):
    groups = {name: scores(name) for name in ("control", "treatment")}
    (tmp_path / "f.json").write_text(json.dumps(groups))
    with pytest.raises(InputError):
        read_judgments(tmp_path / "f.json")


@pytest.mark.parametrize("design", ["model", "question_id"])
def test_rows_of_metrics_that_models_or_ids_share_are_no_items(design, tmp_path):
    rows = [{design: f"m{i % 2}", "x/score": 1 + i % 5, "x/explanation": "so"} for i in range(20)]
    pd.DataFrame(rows).to_csv(tmp_path / "f.csv", index=False)
    with pytest.raises(InputError):
        read_judgments(tmp_path / "f.csv")


@pytest.mark.parametrize("name", ["alpaca_eval_annotations.json", "otel_logs.jsonl"])
def test_parquet_is_read_as_the_records_that_it_holds(name, tmp_path):
    pd.DataFrame(load(name)).to_parquet(tmp_path / "rows.parquet")
    found, of_file = (reading_of(read_judgments(f)) for f in
                      (tmp_path / "rows.parquet", FOLDER / name))  # fmt: skip
    assert found == of_file


def test_rows_that_options_leave_out_count_no_criterion():
    for name, n in (("correctness", 1), ("correctness,helpfulness", 2)):
        frame = read_judgments(FOLDER / "langfuse_scores.csv", rows=(f"name={name}",))
        assert reading_of(frame)["counts"]["criteria"] == n
