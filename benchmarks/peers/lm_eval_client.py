"""lm-evaluation-harness asks the loopback server, as `local-chat-completions`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

url, count, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ.update(OPENAI_API_KEY="none", HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")

from common import PROMPT, report  # noqa: E402
from lm_eval import simple_evaluate  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

TASK = """
task: bench
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "8"
generation_kwargs: {{until: ["</s>"], do_sample: true, temperature: 0.5, max_gen_toks: 16}}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
"""


def run(n: int, folder: Path) -> int:
    """Samples answered."""
    rows = folder / f"rows-{n}.jsonl"
    rows.write_text(
        "".join(json.dumps({"prompt": f"{i} {PROMPT}"}) + "\n" for i in range(n)), encoding="utf-8"
    )
    place = folder / f"task-{n}"
    place.mkdir()
    (place / "bench.yaml").write_text(TASK.format(rows=rows), encoding="utf-8")
    done = simple_evaluate(
        model="local-chat-completions",
        model_args={
            "model": "judge",
            "base_url": f"{url}/chat/completions",
            "num_concurrent": concurrency,
            "max_retries": 1,
            "tokenized_requests": False,
        },
        tasks=["bench"],
        task_manager=TaskManager(include_path=str(place), include_defaults=False),
        apply_chat_template=True,
        log_samples=True,
        bootstrap_iters=0,
    )
    return sum(1 for s in done["samples"]["bench"] if s["resps"][0][0])


with tempfile.TemporaryDirectory() as folder:
    run(4, Path(folder))
    started, cpu = time.perf_counter(), time.process_time()
    answered = run(count, Path(folder))
    report(started, cpu, answered, count)
