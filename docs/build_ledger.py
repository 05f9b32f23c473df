"""The page of verdict cards, docs/ledger.md, from docs/ledger.json.

    python docs/build_ledger.py              # write the page from the kept cards
    python docs/build_ledger.py --check      # CI: the page is what the cards say
    python docs/build_ledger.py --data DIR   # audit the recorded judgments first

Every row is a card that `judgestats` made; nothing is typed. DIR holds the published data sets.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

import judgestats as js
from judgestats.data.demo import demo_judgments
from judgestats.results.gate import judge_card
from judgestats.results.verdict_screen import WORDS

DOCS = Path(__file__).resolve().parent
PAGE, CARDS = DOCS / "ledger.md", DOCS / "ledger.json"
REWARD = "RewardBench 2, recorded by Composo, MIT"
LLMBAR = "LLMBar (arXiv 2310.07641), Princeton NLP, MIT"
ARENA = "Arena pairs, Chen Lab, MIT"
HEAD = """# Ledger of judges

What a good and a bad judge look like: verdicts of `judgestats analyze` on published judgments,
with the defaults of each purpose. The deciding number is the one nearest to its threshold.
[What the outcomes mean](verdict.md).

| data set | judge | items | labels | verdict | deciding number |
|---|---|---|---|---|---|
"""


def audits(data: Path) -> list[tuple[str, Any]]:
    """Name and audit of every data set that is here."""
    made = [
        (REWARD, js.audit(demo_judgments())),
        (LLMBAR, js.audit(DOCS / "data" / "votes.csv", labels=DOCS / "data" / "votes_labels.csv")),
    ]
    return made + [
        (f"{ARENA}: {file.stem.replace('_vs_', ' vs. ').replace('_', ', judge ')}", js.audit(file))
        for file in sorted((data / "arena_pairs").glob("*.json"))
    ]


def cards(data: Path) -> list[dict[str, Any]]:
    """One card per data set and judge."""
    today = date.today().isoformat()
    return [
        {"set": name} | judge_card(audit.run.records, verdict.subject.name, date=today)
        | {"deciding": verdict.deciding}
        for name, audit in audits(data)
        for verdict in audit.run.records.verdicts
        if verdict.purpose != "panel"
    ]  # fmt: skip


def page(kept: list[dict[str, Any]]) -> str:
    """The table, the best outcomes first."""
    order = list(WORDS)
    rows = []
    for card in sorted(kept, key=lambda c: (c["set"], order.index(c["verdict"]["outcome"]))):
        numbers = {n["key"]: n for n in card["numbers"]}
        number = numbers.get(card["deciding"])
        shown = f"{number['name']} {number['text']}" if number else "-"
        rows.append(
            f"| {card['set']} | {card['judge']} | {card['data']['items']:,} | "
            f"{card['data']['labels'] or '-'} | {WORDS[card['verdict']['outcome']]} | {shown} |"
        )
    version = {f"judgestats {c['judgestats']}, {c['date']}" for c in kept}
    return HEAD + "\n".join(rows) + f"\n\nMade with {', '.join(sorted(version))}.\n"


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    if given.data:
        CARDS.write_text(json.dumps(cards(given.data), indent=1) + "\n", "utf-8")
    text = page(json.loads(CARDS.read_text("utf-8")))
    if given.check and PAGE.read_text("utf-8") != text:
        print("docs/ledger.md is not what docs/ledger.json says: python docs/build_ledger.py")
        return 1
    if not given.check:
        PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
