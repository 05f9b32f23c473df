"""docs/glossary.md: the words of screens and reports, from the registry of estimands.

    python docs/build_glossary.py            # write the page
    python docs/build_glossary.py --check    # CI: it is what the registry says

What a number is stands in the registry alone; only the words of designs are told here.
"""

# ruff: noqa: E501 (sentences of the page)

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from judgestats.results.quantities import (
    UNITS,
    Estimand,
    TestKind,
    agreement,
    comparison,
    reliability,
    robustness,
    validity,
)

PAGE = Path(__file__).resolve().parent / "glossary.md"

WORDS: Mapping[str, str] = {
    "judge": "A model with its prompt, settings and way of replying. Another prompt is another judge.",
    "item": "What is judged once: an answer to a question, or a pair of answers.",
    "question, cluster": "What items share. Items of one question are not independent: they are "
    "resampled and tested together.",
    "condition": "What is compared: a judge at a temperature, with a guideline, a prompt.",
    "replicate": "One of several judgments of the same item under the same condition.",
    "unread": "A reply without a verdict. It is a status, never a number, and its share is reported.",
    "scale": "The range that scores can have, as declared or found.",
    "null, 95 % of chance results": "What the same coefficient gives where nothing is there to be "
    "found: replications shuffled over items.",
    "interval": "Where the number would lie in 95 of 100 studies like this one; over questions, not "
    "over judgments.",
    "margin": "The largest difference that does not matter, declared before the data are seen.",
    "equivalence": "A difference shown to lie inside the margin. No significant difference is not "
    "equivalence.",
    "family, Holm": "The tests that one answer claims together; their p-values are adjusted so that "
    "all its claims hold at once.",
    "headline": "A sentence that a run answers its question with, and the records that it rests on.",
    "gold, label": "The verdict that counts as right: a person's, or the data set's.",
    "ceiling": "How well one person agrees with another on the same items: what a judge can reach.",
    "screen": "What a command prints: at most 24 lines. `--full` prints everything.",
    "journal": "The file of every answered call: the same command again asks only for what is missing.",
}  # fmt: skip
"""Words of designs and screens, which no registry holds."""

ROOMS = {
    "Reliability and spread": reliability,
    "Verdicts, order and people": agreement,
    "Is the judge right": validity,
    "The judge as an instrument": robustness,
    "Comparisons and costs": comparison,
}


def row(*cells: object) -> str:
    """One line of a table."""
    return f"| {' | '.join(' '.join(str(c).split()).replace('|', '/') for c in cells)} |"


def number(value: float) -> str:
    """A bound, or nothing where there is none."""
    return f"{value:g}" if math.isfinite(value) else ""


def estimand(entry: Estimand) -> str:
    """What a number is."""
    notes = [UNITS[entry.unit]]
    if math.isfinite(entry.nothing):
        notes.append(f"{entry.nothing:g} where there is nothing")
    if entry.better in {"higher", "lower"}:
        notes.append(f"{entry.better} is better")
    elif entry.better == "nothing":
        notes.append(f"nearer to {entry.nothing:g} is better")
    name = entry.label + (f" ({entry.symbol})" if entry.symbol else "")
    return row(name, entry.meaning, "; ".join(notes), f"`{entry.key}`", f"`{entry.function}`")


def test(entry: TestKind) -> str:
    """What a test is called, and where it is computed."""
    return row(entry.label, f"`{entry.key}`", f"`{entry.function}`")


def tables() -> Iterable[str]:
    """A table for each room of the registry."""
    for title, room in ROOMS.items():
        yield f"## {title}\n"
        yield "| name | what it tells | unit | key | function |\n|---|---|---|---|---|"
        yield "\n".join(estimand(e) for e in sorted(room.ENTRIES, key=lambda e: e.label.lower()))
        yield ""


def page() -> str:
    """The whole page."""
    words = "\n".join(row(f"**{word}**", told) for word, told in WORDS.items())
    entries = sorted(comparison.TESTS_ENTRIES, key=lambda e: e.label.lower())
    return "\n".join(
        [
            "# Glossary",
            "",
            "Words of screens, pages and `results.json`, written by `docs/build_glossary.py` from the registry that names every number. *Key* is its name in `results.csv`, *function* the one of `judgestats.stats` whose documentation says how it is computed.",
            "",
            "| word | meaning |\n|---|---|",
            words,
            "",
            *tables(),
            "## Tests\n",
            "| name | key | function |\n|---|---|---|",
            "\n".join(map(test, entries)),
            "",
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
            sys.exit(
                "docs/glossary.md is not what the registry says: python docs/build_glossary.py"
            )
    else:
        PAGE.write_text(page(), encoding="utf-8")
