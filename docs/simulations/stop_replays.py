"""Stops on the width replayed on recorded scores: what they save, and whether intervals hold.

Writes stop_replays.csv next to this file; a quarter of a minute on one core:

    python docs/simulations/stop_replays.py FOLDER   # the public sets of label_designs.py

Each replay takes one response of each question in random order, and looks as ``run --until
icc_1_1:width<=.05 --max-items 1000`` does. Coverage is that of the ICC of all responses.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from label_designs import JUDGES, response_scores
from tables import write_rows

from judgestats.decisions import StoppingRule
from judgestats.stats import repeat_pairs

ITEMS, RULE = 1000, "icc_1_1:width<=.05"
SCALE = (1.0, 10.0)


def replay(by_question: list[list[list[float]]], rng: np.random.Generator) -> StoppingRule:
    """The rule at its stop, on one order of the items."""
    x = np.array([rows[rng.integers(len(rows))] for rows in by_question])
    x = rng.permutation(x)[:ITEMS]
    rule = StoppingRule.parse(RULE, max_items=ITEMS)
    for n in rule.planned:
        made = repeat_pairs(x[:n], scale=SCALE).icc()
        rule = rule.look(n, made.estimate, made.low, made.high)
        if rule.reached:
            break
    return rule


def main(folder: Path, replays: int) -> list[dict[str, object]]:
    """One row per judge of RewardBench 2, with eight repeats per response."""
    rows: list[dict[str, object]] = []
    for judge in JUDGES:
        rng = np.random.default_rng(45)
        questions: dict[int, list[list[float]]] = {}
        for question, _, scores in response_scores(folder, judge):
            if len(scores) == 8:
                questions.setdefault(question, []).append(scores)
        whole = np.array([row for own in questions.values() for row in own])
        truth = repeat_pairs(whole, scale=SCALE).icc().estimate
        stops = [replay(list(questions.values()), rng) for _ in range(replays)]
        holds = [one.looks[-1].low <= truth <= one.looks[-1].high for one in stops]
        rows.append({
            "judge": judge, "icc_of_all": f"{truth:.3f}", "rule": RULE, "max_items": ITEMS,
            "mean_items": f"{np.mean([one.items for one in stops]):.0f}",
            "saved_share": f"{np.mean([1 - one.items / ITEMS for one in stops]):.3f}",
            "coverage": f"{np.mean(holds):.3f}", "replays": replays,
        })  # fmt: skip
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--replays", type=int, default=200)
    given = parser.parse_args()
    write_rows("stop_replays.csv", main(given.folder, given.replays))
