"""The recorded verdicts of judgments.csv in the working folder, as judges that mistrial calls."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

RECORDED = pd.read_csv("judgments.csv")


def replay(name: str) -> Callable[[str], dict[str, bool]]:
    """A judge that gives the verdicts of one judge on an item, in the order of its runs."""
    rows = RECORDED[RECORDED["prompt"] == name].sort_values("run")
    verdicts = {item: iter(part) for item, part in rows.groupby("input")["score"]}

    def judge(outputs: str) -> dict[str, bool]:
        return {"score": bool(next(verdicts[outputs]))}

    return judge


judge_1, judge_2 = replay("judge-1"), replay("judge-2")
