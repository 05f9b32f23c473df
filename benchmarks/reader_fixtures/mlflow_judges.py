"""MLflow's own judges on canned answers: `python mlflow_judges.py URL OUT` (judgestats' environment).

Writes traces with assessments (mlflow.genai.evaluate with make_judge, three evaluations, then people's
labels), and the table of the older mlflow.models.evaluate with a graded metric.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ.update(
    OPENAI_API_KEY="none",
    OPENAI_BASE_URL=sys.argv[1],
    OPENAI_API_BASE=sys.argv[1],
    MLFLOW_GENAI_EVAL_MAX_WORKERS="2",
    MLFLOW_GENAI_EVAL_ENABLE_SCORER_TRACING="false",
)
import mlflow
import pandas as pd
from mlflow.entities import AssessmentSource, AssessmentSourceType

out = Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)
mlflow.set_tracking_uri(f"sqlite:///{out}/mlflow.db")
mlflow.set_experiment("fixture")
items = json.loads((Path(__file__).parent / "items.json").read_text())
rows = [
    {
        "item": i["id"],
        "model": m,
        "human": i["human"][m],
        "inputs": {"question": i["question"]},
        "outputs": a,
    }
    for i in items
    for m, a in i["answers"].items()
]


def scorers():
    """A judge of 1-10, one of yes / no, and a rule in code."""
    from typing import Literal

    from mlflow.genai.judges import make_judge
    from mlflow.genai.scorers import scorer

    marks = (
        "[Question]\n{{ inputs }}\n\n[The Start of Answer]\n{{ outputs }}\n[The End of Answer]\n\n"
    )
    rating = make_judge(
        name="rating",
        instructions=marks + "Rate the response on a scale of 1 to 10.",
        model="openai:/sim-unreadable",
        feedback_value_type=int,
    )
    correct = make_judge(
        name="correct",
        instructions=marks + "Is the answer correct?",
        model="openai:/sim-unreadable",
        feedback_value_type=Literal["yes", "no"],
    )

    @scorer
    def short(outputs) -> bool:
        return len(outputs) < 60

    return [rating, correct, short]


data = [{"inputs": r["inputs"], "outputs": r["outputs"]} for r in rows]
for _ in range(3):
    mlflow.genai.evaluate(data=data, scorers=scorers())
people = {r["outputs"]: r["human"] for r in rows}
traces = mlflow.search_traces(return_type="list")
for trace in traces:
    mlflow.log_feedback(
        trace_id=trace.info.trace_id,
        name="correct",
        value="yes" if people[json.loads(trace.data.response)] == "pass" else "no",
        source=AssessmentSource(source_type=AssessmentSourceType.HUMAN, source_id="person-1"),
    )
traces = mlflow.search_traces(return_type="list")
(out / "traces.jsonl").write_text("".join(t.to_json() + "\n" for t in traces))
mlflow.search_traces().to_json(out / "traces_table.json", orient="records", default_handler=str)

graded = mlflow.metrics.genai.make_genai_metric_from_prompt(
    name="clarity",
    judge_prompt="[Question]\n{inputs}\n\n[The Start of Answer]\n{predictions}\n[The End of Answer]\n\nRate the clarity on a scale of 1 to 10.",
    model="openai:/sim-unreadable",
)
frame = pd.DataFrame(
    {
        "inputs": [r["inputs"]["question"] for r in rows],
        "predictions": [r["outputs"] for r in rows],
        "model": [r["model"] for r in rows],
    }
)
with mlflow.start_run() as run:
    found = mlflow.models.evaluate(data=frame, predictions="predictions", extra_metrics=[graded])
    print([a.path for a in mlflow.MlflowClient().list_artifacts(run.info.run_id)])
    print(
        mlflow.artifacts.download_artifacts(
            run_id=run.info.run_id, artifact_path="eval_results_table.json", dst_path=str(out)
        )
    )
