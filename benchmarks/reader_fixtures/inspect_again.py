"""A log of judgestats' own scorer, scored again: `python inspect_again.py again.eval` (see README)."""

from __future__ import annotations

import sys
import tempfile

from inspect_ai import Task, eval, score  # noqa: A004
from inspect_ai.dataset import Sample
from inspect_ai.log import write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from judgestats.inspect_ai import scorer

# The second epoch answers the last question otherwise.
ANSWERS = ["It is 4.", "It is 6.", "It is 8.", "It is 4.", "It is 6.", "It is 9."]
outputs = [ModelOutput.from_content("mockllm/model", text) for text in ANSWERS]
for output in outputs:
    output.usage = ModelUsage(input_tokens=3, output_tokens=4, total_tokens=7)
samples = [Sample(id=f"q{i}", input=f"What is {i}+{i}?", target=f"{2 * i}") for i in (2, 3, 4)]
noisy = {"judge": "sim-noisy", "scale": "1-5", "temperature": 1.0}
with tempfile.TemporaryDirectory() as logs:
    [log] = eval(
        Task(dataset=samples, solver=generate(), scorer=scorer(**noisy), epochs=2),
        model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=logs,
        max_samples=1,
    )
    for scorers in ([scorer(**noisy)], [scorer("sim-stated", protocol="correctness")]):
        log = score(log, scorers, action="append")
for sample in log.samples:  # the reader looks at scores and answers
    sample.events, sample.timelines = [], None
write_eval_log(log, sys.argv[1])
