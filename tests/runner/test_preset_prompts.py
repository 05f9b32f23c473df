"""Every preset's prompts as judges get them, held to texts that people have read.

The texts stand in ``golden/prompts``, an item's own texts replaced by ⟨question⟩ and ⟨answer⟩.
``python tests/runner/test_preset_prompts.py`` writes them again after a prompt was changed;
read what has changed: a judge asked otherwise is another judge.
"""

import os
import re
from pathlib import Path

import pytest

from judgestats.runner import load_design, rendered
from judgestats.runner.prepare import prepare
from tests.runner.test_preset_cells import CELLS

GOLDEN = Path(__file__).parent / "golden" / "prompts"
KEYS = ("OPENAI", "ANTHROPIC", "MISTRAL", "GEMINI")
TO_BE_WRITTEN = re.compile(r"(\(the answer of [\w-]+, not given yet\) ?)+(\(the)?")
ON_THE_BANK = [cell for cell in CELLS if cell != ("omega", "paper")]
"""Study B's prompt is that of ``same_answers``; its items are answers that models first write."""


def prompts(name, preset):
    given = {
        "preset": preset, "dry_run": "true", "base_url": "http://localhost:8000/v1",
        "items": "bank", "limit": "3",
    }  # fmt: skip
    if name == "rejection_sampling":
        given |= {"answerers": ",".join(f"sim-answerer-{n}" for n in range(1, 7))}
    prepared = prepare(load_design(name), given)
    names = {}
    for item in prepared.questions:
        names |= {r.text.strip(): "⟨answer⟩" for r in item.responses}
        names |= dict.fromkeys(item.reference, "⟨reference⟩") | {item.question: "⟨question⟩"}
    longest = sorted(filter(None, names), key=len, reverse=True)
    parts = []
    for one in rendered(prepared):
        record = one.record()
        lines = [f"=== {record['conditions'][0]}, reply as {record['reply_mode']}"]
        for message in record["messages"]:
            text = message["content"]
            for words in longest:
                text = text.replace(words, names[words])
            text = TO_BE_WRITTEN.sub("⟨answer⟩", text)
            lines += ["", f"[{message['role']}]", text]
        parts.append("\n".join(line.rstrip() for line in "\n".join(lines).split("\n")))
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize(("name", "preset"), ON_THE_BANK)
def test_a_preset_asks_what_was_read(workplace, monkeypatch, name, preset):
    for key in KEYS:
        monkeypatch.setenv(f"{key}_API_KEY", "none")
    golden = GOLDEN / f"{name}-{preset}.txt"
    assert prompts(name, preset) == golden.read_text(encoding="utf-8")


if __name__ == "__main__":
    os.environ.update({f"{key}_API_KEY": "none" for key in KEYS})
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for cell in ON_THE_BANK:
        (GOLDEN / f"{'-'.join(cell)}.txt").write_text(prompts(*cell), encoding="utf-8")
