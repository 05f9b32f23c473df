"""MLflow's `genai.evaluate` with `make_judge` asks the loopback server."""

from __future__ import annotations

import os
import sys
import tempfile
import time

url, count, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ.update(
    OPENAI_API_KEY="none",
    OPENAI_API_BASE=url,
    OPENAI_BASE_URL=url,
    MLFLOW_GENAI_EVAL_MAX_WORKERS=str(concurrency),
    MLFLOW_GENAI_EVAL_ENABLE_SCORER_TRACING="false",
    # The default pool (15 connections) makes 64 workers wait for each other without end.
    MLFLOW_SQLALCHEMYSTORE_POOL_SIZE=str(2 * concurrency),
)

import mlflow  # noqa: E402
import pandas as pd  # noqa: E402
from common import PROMPT, report  # noqa: E402
from mlflow.genai.judges import make_judge  # noqa: E402


def run(n: int) -> int:
    """Rows that got a value."""
    judge = make_judge(
        name="rating",
        instructions="Rate {{ inputs }} and {{ outputs }} from 1 to 10.",
        model="openai:/judge",
        feedback_value_type=int,
    )
    frame = pd.DataFrame(
        [{"inputs": {"q": f"{i} {PROMPT}"}, "outputs": f"answer {i}"} for i in range(n)]
    )
    done = mlflow.genai.evaluate(data=frame, scorers=[judge])
    return int(done.result_df["rating/value"].notna().sum())


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)  # artifacts go below the working folder
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.set_experiment("bench")
    run(4)
    started, cpu = time.perf_counter(), time.process_time()
    answered = run(count)
    report(started, cpu, answered, count)
