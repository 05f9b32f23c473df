"""What is recommended, and why: the best itself is not said to lie below the best."""

from __future__ import annotations

import numpy as np

from judgestats.analysis.recommend import Spent, recommend_best


def advised(shift: float):
    rng = np.random.default_rng(0)
    base = rng.normal(0, 0.05, 60)
    values = {"cheap": base, "dear": base + shift + rng.normal(0, 0.01, 60)}
    spent = [{"usd": 0.1, "judgments": 1.0}, {"usd": 1.0, "judgments": 1.0}]
    given = recommend_best(
        values, np.arange(60), spent=Spent.of(spent, USD="usd", judgments="judgments"),
        margin=0.05, level=0.95, what="reliability", each="a verdict",
    )  # fmt: skip
    assert given is not None
    return given[0]


def test_the_only_best_is_called_the_best_and_no_more():
    given = advised(0.4)
    assert (given.chosen, given.tied) == ("dear", ("dear",))
    assert given.sentences == ("dear is the best in reliability.",)
    assert given.reason == "the best in reliability"


def test_a_cheaper_one_is_shown_to_lie_close_to_the_best():
    given = advised(0.02)
    assert given.chosen == "cheap"
    assert "at most .05 below the best" in given.sentences[0]
