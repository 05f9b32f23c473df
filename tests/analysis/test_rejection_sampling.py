"""Rejection sampling on judgments made by hand: known effects are found, null effects are null."""

from __future__ import annotations

import json
import math
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgestats.analysis.rejection_sampling import analyse, plan
from judgestats.data import Condition
from judgestats.errors import InputError
from judgestats.items import HumanLabel, Item, Response
from judgestats.protocols import pair_name

M = 4


def items(n: int = 24, *, labelled: bool = True, turns: int = 1) -> tuple[Item, ...]:
    """Questions whose candidates are ranked by labels; the best one stands in changing places."""
    made = []
    for i in range(n):
        rank = [(j + i) % M for j in range(M)]  # 0 is the best
        labels = tuple(
            HumanLabel(annotator="p", a=a, b=b, winner="a" if rank[a] < rank[b] else "b")
            for a, b in combinations(range(M), 2)
        )
        made.append(
            Item(
                id=f"q{i}",
                cluster=f"q{i}",
                turns=tuple(f"question {i}.{t}" for t in range(turns)),
                responses=tuple(
                    Response(turns=tuple(f"answer {r}.{t}" for t in range(turns))) for r in rank
                ),
                labels=labels if labelled else (),
            )
        )
    return tuple(made)


def verdicts(asked: tuple[Item, ...], says: Any, strategy: str = "vanilla") -> pd.DataFrame:
    """A frame in which `says(item, a, b, order)` gives the choice."""
    rows = [
        {
            "condition": f"j, T=0.5, strategy={strategy}",
            "judge": "j",
            "temperature": 0.5,
            "factor_strategy": strategy,
            "item_id": pair_name(item, pair),
            "cluster": item.cluster,
            "category": "",
            "order": order,
            "replicate": 0,
            "status": "ok" if (choice := says(item, *pair, order)) else "unparseable",
            "choice": choice,
            "cost_usd": 0.01,
        }
        for item in asked
        for pair in combinations(range(M), 2)
        for order in ("ab", "ba")
    ]
    return pd.DataFrame(rows)


def rank_of(item: Item, index: int) -> int:
    return int(item.responses[index].text.split()[1].partition(".")[0])


def perfect(item: Item, a: int, b: int, order: str) -> str:
    return "a" if rank_of(item, a) < rank_of(item, b) else "b"


def worst(item: Item, a: int, b: int, order: str) -> str:
    return "b" if rank_of(item, a) < rank_of(item, b) else "a"


def always_first(item: Item, a: int, b: int, order: str) -> str:
    return "a" if order == "ab" else "b"


def circular(item: Item, a: int, b: int, order: str) -> str:
    return "a" if (b - a) % 2 else "b"  # 0 > 1 > 2 > 0


def run(asked: tuple[Item, ...], *frames: pd.DataFrame, rule: str = "judgments") -> Any:
    frame = pd.concat(frames, ignore_index=True)
    conditions = [
        Condition(judge="j", temperature=0.5, factors={"strategy": s})
        for s in frame["factor_strategy"].unique()
    ]
    given = {"equal_points": rule, "candidates": M, "resamples": 199, "seed": 0}
    return analyse(frame, plan(given, conditions), items=asked)


def test_a_perfect_judge_and_its_opposite() -> None:
    asked = items()
    found = run(asked, verdicts(asked, perfect), verdicts(asked, worst, "cce-criticising@4"))
    rows = found.conditions.set_index("factor_strategy")
    assert rows["best_share"].tolist() == [1.0, 0.0]
    assert rows["best_at_random"].tolist() == [0.25, 0.25]
    # the best wins all three labelled comparisons, one at random half of them
    assert rows["gain"].tolist() == pytest.approx([0.5, -0.5])
    assert rows["circles"].tolist() == [0.0, 0.0]
    assert rows["undecided"].tolist() == [0.0, 0.0]
    assert rows["cost_per_chosen"].tolist() == pytest.approx([0.12, 0.12])
    [pair] = found["crowd.j at T=0.5"].rows
    assert pair.p_adjusted < 1e-6
    assert [abs(r.estimate) for r in found["gain"].rows] == pytest.approx([0.5, 0.5])


def test_circles_are_counted_and_equal_points_follow_the_rule() -> None:
    asked = items(12)
    found = run(asked, verdicts(asked, circular))
    assert found["circles.j, T=0.5, strategy=vanilla"].estimate == 0.5  # 2 of 4 triads
    assert found.conditions.iloc[0]["undecided"] == 1.0
    with pytest.raises(InputError, match="equal_points: must be one of"):
        run(asked, verdicts(asked, circular), rule="coin")


def test_an_unread_pair_leaves_its_question_without_a_choice() -> None:
    asked = items(10)

    def unread(item: Item, a: int, b: int, order: str) -> str:
        return "" if item.id == "q3" and (a, b) == (0, 1) else perfect(item, a, b, order)

    row = run(asked, verdicts(asked, unread)).conditions.iloc[0]
    assert (row["n_chosen"], row["incomplete"], row["best_share"]) == (9, 1, 1.0)


def test_the_chosen_responses_as_chats() -> None:
    asked = items(5, turns=2)
    found = run(asked, verdicts(asked, perfect))
    [name] = [n for n in found.files if n.endswith(".jsonl") and n != "chosen/random.jsonl"]
    lines = found.files[name].splitlines()
    assert len(lines) == 5
    assert json.loads(lines[2])["messages"] == [
        {"role": "user", "content": "question 2.0"},
        {"role": "assistant", "content": "answer 0.0"},
        {"role": "user", "content": "question 2.1"},
        {"role": "assistant", "content": "answer 0.1"},
    ]
    assert "/" not in name.removeprefix("chosen/")
    standings = found.files["chosen/standings.csv"]
    assert standings.count("True") == 5


def test_names_that_are_hostile_stay_in_their_folder() -> None:
    asked = items(3)
    frame = verdicts(asked, perfect).assign(condition="../../etc/x\n, strategy=vanilla")
    found = run(asked, frame)
    for name in found.files:
        assert name.startswith("chosen/")
        assert ".." not in name.split("/")
        assert "\n" not in name
        assert len(name.split("/")) == 2
    assert np.isfinite(found.conditions["best_share"]).all()


def test_a_gain_with_some_errors_is_shown() -> None:
    asked = items()

    def mostly(item: Item, a: int, b: int, order: str) -> str:
        return (worst if item.id in {"q3", "q7"} else perfect)(item, a, b, order)

    [gain] = run(asked, verdicts(asked, mostly))["gain"].rows
    assert abs(gain.estimate) == pytest.approx((22 * 0.5 - 2 * 0.5) / 24)
    assert gain.p_adjusted < 0.001
    assert gain.estimate_name == "rate_difference", "a share of questions, not points"


def test_strategies_that_say_the_same_are_not_told_apart() -> None:
    asked = items()
    dear = verdicts(asked, perfect, "cce-random@4").assign(cost_usd=0.1)
    found = run(asked, dear, verdicts(asked, perfect))
    [pair] = found["crowd.j at T=0.5"].rows
    assert pair.p_value == 1.0


def test_a_judge_of_places_only_chooses_at_random() -> None:
    asked = items(200)
    found = run(asked, verdicts(asked, always_first))
    row = found.conditions.iloc[0]
    assert row["undecided"] == 1.0
    assert row["best_share"] == pytest.approx(0.25, abs=0.09)
    assert abs(row["gain"]) < 0.06
    dropped = run(asked, verdicts(asked, always_first), rule="drop").conditions.iloc[0]
    assert dropped["n_chosen"] == 0
    assert math.isnan(dropped["cost_per_chosen"])


def test_without_labels_it_says_so() -> None:
    asked = items(6, labelled=False)
    found = run(asked, verdicts(asked, perfect), verdicts(asked, worst, "cce-random@4"))
    assert "best_share" not in found.conditions
    assert found.conditions["n_chosen"].tolist() == [6, 6]
    assert all(len(t.splitlines()) == 6 for n, t in found.files.items() if n.endswith(".jsonl"))
