"""Files in the layouts that their tools document, written here: small, and true to the layout."""

import json

import pandas as pd
import pytest

from judgestats import read_judgments
from judgestats.errors import InputError


def written(tmp_path, name, value):
    path = tmp_path / name
    lines = "".join(json.dumps(v) + "\n" for v in value) if name.endswith("l") else None
    path.write_text(lines or json.dumps(value))
    return path


def judgebench(first, second):
    return {
        "pair_id": f"p-{first}-{second}",
        "original_id": "q1",
        "source": "mmlu-pro-law",
        "response_model": "gpt-4o",
        "label": "A>B",
        "judge_name": "vanilla",
        "judgments": [
            None if d == "failed" else {"judgment": {"response": "Output (a)"}, "decision": d}
            for d in (first, second)
        ],
    }


def test_judgebench_turns_the_second_order_back(tmp_path):
    records = [judgebench("A>B", "B>A"), judgebench("B>A", "A>B"), judgebench(None, "failed")]
    name = "dataset=judgebench,response_model=gpt-4o,judge_name=vanilla,judge_model=o1.jsonl"
    found = read_judgments(written(tmp_path, name, records))
    assert found.attrs["reader"] == "judgebench"
    assert set(found["judge"]) == {"o1"}
    assert found["choice"].tolist() == ["a", "a", "b", "b", "", ""]
    assert found["order"].tolist() == ["ab", "ba"] * 3
    assert found["status"].tolist()[4:] == ["unparseable", "failed"]
    assert set(found["label"]) == {"a"}


def test_repeated_scores_of_rewardbench_2_are_recognised(tmp_path):
    record = {
        "id": "7",
        "subset": "Math",
        "k": 2,
        "nano_scores": [[7, None], [2, 3]],
        "nano_errors": [[None, "timeout"], [None, None]],
        "cost": {"nano_input_tokens": 8},
    }
    found = read_judgments(written(tmp_path, "base_t0.7.jsonl", [record]))
    assert found.attrs["reader"] == "rewardbench2-k8"
    assert found["status"].tolist() == ["ok", "failed", "ok", "ok"]
    assert found["reason"].tolist()[1] == "timeout"
    assert set(found["tokens_in"]) == {2}
    broken = written(tmp_path, "broken.jsonl", [record, {**record, "nano_scores": [7]}])
    with pytest.raises(InputError, match="line 2: nano_scores is not a list of each response's"):
        read_judgments(broken)


def test_rewardbench_results_are_preferences_for_the_chosen(tmp_path):
    scores = {
        "id": [1, 2, 3, 4],
        "subset": ["hep-go", "hep-go", "refusals-offensive", "xstest-should-refuse"],
        "results": [1, 0, 0.5, None],
        "model": "org/judge",
        "model_type": "Generative RM",
    }
    found = read_judgments(written(tmp_path, "judge.json", scores))
    assert found.attrs["reader"] == "rewardbench"
    assert found["choice"].tolist() == ["a", "b", "tie", ""]
    assert found["category"].nunique() == 3
    with pytest.raises(InputError, match="lists of one length"):
        read_judgments(written(tmp_path, "cut.json", scores | {"results": [1]}))


def choice(name, value):
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [value]}}


def rating(name, value):
    return {"from_name": name, "to_name": "text", "type": "rating", "value": {"rating": value}}


def test_label_studio_predictions_are_judged_by_peoples_annotations(tmp_path):
    tasks = [
        {
            "id": i,
            "data": {"text": f"answer {i}"},
            "annotations": [
                {"id": 10 * i + k, "completed_by": k, "result": [choice("good", said)]}
                for k, said in enumerate(("yes", "yes", "no"))
            ],
            "predictions": [
                {"model_version": "judge-1", "result": [choice("good", "no" if i else "yes")]}
            ],
        }
        for i in range(3)
    ]
    found = read_judgments(written(tmp_path, "export.json", tasks))
    assert found.attrs["reader"] == "label-studio"
    assert found["choice"].tolist() == ["yes", "no", "no"]
    assert set(found["label"]) == {"yes"}
    for task in tasks:
        task["predictions"] = []
    with pytest.raises(InputError, match="no predictions of a model"):
        read_judgments(written(tmp_path, "people.json", tasks))


@pytest.mark.parametrize("snake", [False, True])
def test_deepeval_scores_are_by_metric_and_errors_are_failed_calls(tmp_path, snake):
    def metric(name, score, error=None):
        keys = {"name": name, "score": score, "success": True, "threshold": 0.5, "reason": "so",
                "evaluationModel": "gpt-4o", "error": error, "evaluationCost": 0.001}  # fmt: skip
        return {("evaluation_model" if snake and k == "evaluationModel" else k): v
                for k, v in keys.items()}  # fmt: skip

    names = ("test_cases", "actual_output", "metrics_data") if snake else (
        "testCases", "actualOutput", "metricsData"
    )  # fmt: skip
    cases = [
        {"name": f"c{i}", "input": f"why {i}?", names[1]: "because",
         names[2]: [metric("Faithfulness", 0.1 * i), metric("Bias", None, "timeout")]}
        for i in range(4)
    ]  # fmt: skip
    document = {names[0]: cases} if snake else {"testRunData": {names[0]: cases}}
    found = read_judgments(written(tmp_path, "run.json", document))
    assert found.attrs["reader"] == "deepeval"
    assert set(found["judge"]) == {"gpt-4o"}
    faithful = found[found["factor_scorer"] == "Faithfulness"]
    assert faithful["score"].tolist() == pytest.approx([0, 0.1, 0.2, 0.3])
    assert set(found.loc[found["factor_scorer"] == "Bias", "status"]) == {"failed"}


def test_ragas_metrics_are_criteria(tmp_path):
    frame = pd.DataFrame(
        {
            "user_input": ["Why?", "How?", "Who?"],
            "retrieved_contexts": ["['a', 'b']"] * 3,
            "response": ["So.", "Thus.", "They."],
            "reference": ["x", "y", "z"],
            "faithfulness": [0.5, 1.0, None],
            "answer_relevancy": [0.91, 0.85, 0.2],
        }
    )
    frame.to_csv(tmp_path / "ragas.csv", index=False)
    found = read_judgments(tmp_path / "ragas.csv")
    assert set(found["condition"]) == {
        "judge, criterion=faithfulness", "judge, criterion=answer_relevancy"
    }  # fmt: skip
    assert found["status"].eq("ok").sum() == 5
    assert found["item_id"].nunique() == 3


def test_the_layout_of_mt_benchs_human_judgments(tmp_path):
    """lmsys publishes people's and GPT-4's judgments in one layout; a judge may be a list."""
    rows = [
        {"question_id": q, "model_a": "x", "model_b": "y", "winner": w, "judge": j,
         "conversation_a": [{"role": "user", "content": "?"}],
         "conversation_b": [{"role": "user", "content": "?"}], "turn": t}
        for q in (81, 82) for t in (1, 2)
        for j, w in (("expert_1", "model_a"), ("author_2", "tie"), (["gpt-4", "v2"], "model_b"))
    ]  # fmt: skip
    found = read_judgments(written(tmp_path, "mt.jsonl", rows))
    assert found["item_id"].nunique() == 4
    assert found["judge"].nunique() == 3
    assert set(found["choice"]) == {"a", "b", "tie"}
