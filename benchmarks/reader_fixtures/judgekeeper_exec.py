"""A judge for judgekeeper's --exec: one item on standard input, the reply on standard output, 1 on failure.

judgekeeper's own OpenAI runner stops at the first failed call; --exec records it.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request

item = json.load(sys.stdin)
prompt = (
    f"Is the response correct?\n\n# Instruction\n{item['input']}\n\n# Response\n{item['output']}\n\n"
    "End with exactly one line, either `Verdict: pass` or `Verdict: fail`."
)
body = {
    "model": "sim-unreadable",
    "temperature": 1,
    "messages": [{"role": "user", "content": prompt}],
}
request = urllib.request.Request(
    os.environ["JUDGE_URL"] + "/chat/completions",
    json.dumps(body).encode(),
    {"content-type": "application/json"},
)
try:
    with urllib.request.urlopen(request, timeout=30) as reply:
        text = json.load(reply)["choices"][0]["message"]["content"]
except urllib.error.HTTPError as error:
    sys.exit(f"HTTP {error.code}")
verdict = text.rsplit("Verdict:", 1)
print(json.dumps({"verdict": verdict[1].strip() if len(verdict) == 2 else "", "rationale": text}))
