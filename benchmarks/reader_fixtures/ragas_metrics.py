"""ragas' aspect critic and criteria score on canned answers: `python ragas_metrics.py URL OUT`.

With ragas installed and serve.py behind URL. The judge's scores come from the simulated server; this
model only turns them into the JSON that ragas asks for, and leaves what could not be read as it is.
"""

# ruff: noqa: E402 (a module that is missing is put there first)
from __future__ import annotations

import json
import os
import re
import sys
import types
from pathlib import Path

os.environ["RAGAS_DO_NOT_TRACK"] = "true"
# ragas 0.4.3 imports a module that langchain-community 0.4 no longer has, and does not use it here.
missing = types.ModuleType("langchain_community.chat_models.vertexai")
missing.ChatVertexAI = type("ChatVertexAI", (), {})
sys.modules["langchain_community.chat_models.vertexai"] = missing

from langchain_core.outputs import Generation, LLMResult
from openai import OpenAI
from ragas import EvaluationDataset, RunConfig, evaluate
from ragas.llms.base import BaseRagasLLM
from ragas.metrics import AspectCritic, SimpleCriteriaScore

url, out = sys.argv[1], Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)
items = json.loads((Path(__file__).parent / "items.json").read_text())


class Judge(BaseRagasLLM):
    """A simulated judge behind an OpenAI-compatible server, asked for 1 to 5."""

    def is_finished(self, response):
        return True

    def generate_text(self, prompt, n=1, temperature=0.01, stop=None, callbacks=None):
        said = prompt.to_string()
        given = re.findall(r'\{[^{}]*"user_input"[^{}]*\}', said)
        if not given:  # asked to repair a reply that was no JSON
            return LLMResult(generations=[[Generation(text="I have nothing to add.")]])
        shown = json.loads(given[-1])
        asked = (
            f"[Question]\n{shown['user_input']}\n\n[The Start of Answer]\n{shown['response']}\n"
            "[The End of Answer]\n\nRate the answer from 1 to 5.\nWrite the score as: Score: "
            "[[number]]."
        )
        client = OpenAI(base_url=url, api_key="none", max_retries=0)
        reply = client.chat.completions.create(
            model="sim-unreadable", temperature=1, messages=[{"role": "user", "content": asked}]
        )
        text = reply.choices[0].message.content
        found = re.search(r"\[\[(\d+)\]\]", text)
        if found:
            score = int(found.group(1))
            verdict = {"score": score} if '"score"' in said else {"verdict": int(score > 3)}
            text = json.dumps({"reason": "As scored.", **verdict})
        return LLMResult(generations=[[Generation(text=text)]])

    async def agenerate_text(self, prompt, n=1, temperature=0.01, stop=None, callbacks=None):
        return self.generate_text(prompt)


rows = [
    {"user_input": i["question"], "response": a, "reference": i["reference"]}
    for i in items
    for a in i["answers"].values()
] * 3
metrics = [
    AspectCritic(name="correct", definition="Is the response correct?"),
    SimpleCriteriaScore(name="helpful", definition="Score 1 to 5 by helpfulness."),
]
found = evaluate(
    EvaluationDataset.from_list(rows),
    metrics=metrics,
    llm=Judge(),
    run_config=RunConfig(max_retries=1, max_workers=1, timeout=60),
    raise_exceptions=False,
    show_progress=False,
)
table = found.to_pandas()
table.to_csv(out / "scores.csv", index=False)
table.to_json(out / "scores.jsonl", orient="records", lines=True)
