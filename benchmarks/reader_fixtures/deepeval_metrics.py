"""DeepEval's G-Eval and answer relevancy on canned answers: `python deepeval_metrics.py URL OUT`.

With DeepEval installed and serve.py behind URL. The judge's scores come from the simulated server; this
model only turns them into the JSON that DeepEval asks for, and leaves what could not be read as it is.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

os.environ.update(
    DEEPEVAL_TELEMETRY_OPT_OUT="YES",
    DEEPEVAL_UPDATE_WARNING_OPT_IN="NO",
    DEEPEVAL_NO_INSPECT_PROMPT="1",
    DEEPEVAL_FILE_SYSTEM="READ_ONLY",
)
from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import ExactMatchMetric, GEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, SingleTurnParams
from openai import OpenAI

url, out = sys.argv[1], Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)
items = json.loads((Path(__file__).parent / "items.json").read_text())


class Judge(DeepEvalBaseLLM):
    """A simulated judge behind an OpenAI-compatible server, asked for 0 to 10."""

    def load_model(self):
        return OpenAI(base_url=url, api_key="none", max_retries=0)

    def get_model_name(self):
        return "sim-unreadable"

    def generate(self, prompt, schema=None, **_):
        answer = re.search(r"Actual Output:?\s*(.*?)\n\s*\n", prompt, re.S)
        question = re.search(r"Input:?\s*(.*?)\n\s*\n", prompt, re.S)
        asked = (
            f"[Question]\n{question.group(1) if question else ''}\n\n[The Start of Answer]\n"
            f"{answer.group(1) if answer else ''}\n[The End of Answer]\n\nRate the answer from 0 to "
            "10.\nWrite the score as: Score: [[number]]."
        )
        reply = self.model.chat.completions.create(
            model="sim-unreadable", temperature=1, messages=[{"role": "user", "content": asked}]
        )
        text = reply.choices[0].message.content
        found = re.search(r"\[\[(\d+)\]\]", text)
        said = json.dumps({"score": int(found.group(1)), "reason": "As scored."}) if found else text
        return schema.model_validate_json(said) if schema else said

    async def a_generate(self, prompt, schema=None, **_):
        return self.generate(prompt, schema)


def metrics():
    shown = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]
    steps = ["Judge whether the actual output answers the input."]
    return [
        GEval(name="Helpfulness", evaluation_params=shown, evaluation_steps=steps, model=Judge()),
        ExactMatchMetric(),
    ]


cases = [
    LLMTestCase(
        name=f"{i['id']}-{m}", input=i["question"], actual_output=a, expected_output=i["reference"]
    )
    for i in items
    for m, a in i["answers"].items()
] * 3
evaluate(
    cases,
    metrics(),
    async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(
        results_folder=str(out), show_indicator=False, print_results=False, inspect_after_run=False
    ),
    cache_config=CacheConfig(write_cache=False),
    error_config=ErrorConfig(ignore_errors=True),
)
