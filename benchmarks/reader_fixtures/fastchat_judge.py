"""FastChat's own judging code (fastchat.llm_judge), three rounds on canned answers: see README.

FastChat asks at temperature 0 and tries 16 times; here it asks at 1, so that rounds differ, and once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import openai
from fastchat.conversation import get_conv_template

# Of the adapters of local models (which need torch) the judging code takes names only.
adapter = ModuleType("fastchat.model.model_adapter")
adapter.ANTHROPIC_MODEL_LIST = adapter.OPENAI_MODEL_LIST = ()
adapter.get_conversation_template = lambda _: get_conv_template("chatgpt")
sys.modules["fastchat.model"] = ModuleType("fastchat.model")
sys.modules["fastchat.model.model_adapter"] = adapter
from fastchat.llm_judge import common  # noqa: E402

openai.api_base, openai.api_key = sys.argv[1], "none"
JUDGE = "sim-unreadable"
common.API_MAX_RETRY, common.API_RETRY_SLEEP = 1, 0
common.OPENAI_MODEL_LIST = (JUDGE,)
ask = common.chat_completion_openai
common.chat_completion_openai = lambda model, conv, temperature, max_tokens: ask(
    model, conv, 1, max_tokens
)

SINGLE = {
    "name": "single-v1",
    "type": "single",
    "system_prompt": "You are a helpful assistant.",
    "output_format": "[[rating]]",
    "prompt_template": "[Instruction]\nPlease act as an impartial judge. Rate the response on a scale of 1 to 10 in the format: Rating: [[5]].\n\n[Question]\n{question}\n\n[The Start of Assistant's Answer]\n{answer}\n[The End of Assistant's Answer]",
}
PAIR = {
    "name": "pair-v2",
    "type": "pairwise",
    "output_format": "[[A]]",
    "system_prompt": 'Please act as an impartial judge. Output "[[A]]" if assistant A is better, "[[B]]" if assistant B is better, and "[[C]]" for a tie.',
    "prompt_template": "[User Question]\n{question}\n\n[The Start of Assistant A's Answer]\n{answer_a}\n[The End of Assistant A's Answer]\n\n[The Start of Assistant B's Answer]\n{answer_b}\n[The End of Assistant B's Answer]",
}

items = json.loads((Path(__file__).parent / "items.json").read_text())
out = Path(sys.argv[2])
for _ in range(3):
    for number, item in enumerate(items, start=81):
        question = {
            "question_id": number,
            "category": item["category"],
            "turns": [item["question"]],
        }
        answer = {
            m: {"question_id": number, "choices": [{"turns": [a]}]}
            for m, a in item["answers"].items()
        }
        for model in answer:
            match = common.MatchSingle(question, model, answer[model], common.Judge(JUDGE, SINGLE))
            common.play_a_match_single(match, str(out / f"{JUDGE}_single.jsonl"))
        one, two = "model-x", "model-y"
        pair = common.MatchPair(
            question, one, two, answer[one], answer[two], common.Judge(JUDGE, PAIR)
        )
        common.play_a_match_pair(pair, str(out / f"{JUDGE}_pair.jsonl"))
