"""What is recommended, and why: the best itself is not said to lie below the best."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import judgestats as js
from judgestats.analysis import Costs, recommend_best
from judgestats.results import brief_of
from judgestats.stats.comparison import BestConditions


def advised(shift: float):
    rng = np.random.default_rng(0)
    base = rng.normal(0, 0.05, 60)
    values = {"cheap": base, "dear": base + shift + rng.normal(0, 0.01, 60)}
    spent = [{"usd": 0.1, "judgments": 1.0}, {"usd": 1.0, "judgments": 1.0}]
    given = recommend_best(
        values, np.arange(60), spent=Costs.from_rows(spent, USD="usd", judgments="judgments"),
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
    assert "the cheapest ($0.1000 a verdict)" in given.sentences[0]


def test_few_that_may_all_be_the_best_are_named():
    given = advised(0.0)
    assert set(given.tied) == {"cheap", "dear"}
    assert given.sentences[1].startswith("The best in reliability is among ")


def test_the_one_close_to_the_best_is_not_called_the_cheapest_of_one():
    base = np.random.default_rng(0).normal(0, 0.05, 60)
    values = {"near": base, "near too": base + 0.3 * np.resize([1.0, -1.0], 60), "far": base - 1.0}
    spent = Costs(amounts=(328.0, 284.0, 284.0), unit="tokens")
    given = recommend_best(
        values, np.arange(60), spent=spent, margin=0.2, level=0.95, what="agreement",
        each="a verdict",
    )  # fmt: skip
    assert given is not None
    assert given[0].chosen == "near too"
    assert "the cheapest (284 tokens a verdict)" in given[0].sentences[0]
    alone = recommend_best(
        values, np.arange(60), spent=spent, margin=0.05, level=0.95, what="agreement",
        each="a verdict",
    )  # fmt: skip
    assert alone is not None
    assert "cheapest" not in alone[0].text


def test_the_cheapest_counts_what_is_sent_and_what_is_written():
    rng = np.random.default_rng(3)
    rows = [
        {
            "judge": judge, "temperature": 1.0, "item_id": f"i{i}", "cluster": f"i{i}",
            "replicate": r, "score": 2.0 + i % 8 + rng.normal(0, 0.1), "status": "ok",
            "tokens_in": sent, "tokens_out": wrote,
        }
        for judge, sent, wrote in (("short question", 280.0, 11.0), ("long question", 729.0, 4.0))
        for i in range(48)
        for r in range(5)
    ]  # fmt: skip
    advice = js.audit(pd.DataFrame(rows), n_resamples=99).analysis.recommendation
    assert advice is not None
    assert advice.chosen.startswith("short question")
    assert "the cheapest (291 tokens a judgment)" in advice.text


def test_many_that_may_be_the_best_are_named_by_those_that_are_not():
    rng = np.random.default_rng(1)
    values = {f"c{k}": rng.normal(0, 1, 40) - 9 * (k == 7) for k in range(8)}
    given = recommend_best(
        values, np.arange(40) // 2, spent=Costs(amounts=(1.0,) * 8, unit="judgments"), margin=0.01,
        level=0.95, what="reliability of one judgment above T = 0", each="a judgment",
    )  # fmt: skip
    assert given is not None
    assert given[0].text.startswith(
        "The best in reliability of one judgment above T = 0 may be any but c7: these are not told "
        "apart at this size by comparisons with the best over 8 conditions; "
    )
    # Questions are what is drawn, two items each here.
    [needed] = re.findall(r"; ([\d,]+) questions would decide", given[0].text)
    best = given[1].result
    assert isinstance(best, BestConditions)
    assert best.n_items_needed is not None
    assert int(needed.replace(",", "")) == -(-best.n_items_needed // 2)


def test_conditions_at_zero_are_said_to_be_no_candidates():
    rng = np.random.default_rng(3)
    rows = [
        {
            "judge": "j", "temperature": t, "item_id": f"i{i}", "cluster": f"i{i}", "replicate": r,
            "score": 2.0 + i % 8 + t * rng.normal(0, 0.3), "status": "ok",
        }
        for t in (0.0, 0.5, 2.0)
        for i in range(48)
        for r in range(5)
    ]  # fmt: skip
    for kept, above in ((rows, True), ([r for r in rows if r["temperature"]], False)):
        advice = js.audit(pd.DataFrame(kept), n_resamples=99).analysis.recommendation
        assert advice is not None
        assert ("above T = 0" in advice.text) == above


@pytest.mark.parametrize("judges", [1, 12])
def test_none_of_judges_that_draw_at_random_is_recommended(judges):
    rng = np.random.default_rng(1)
    rows = [
        {
            "judge": f"j{j}", "temperature": 1.0, "item_id": f"i{i}", "cluster": f"i{i}",
            "replicate": r, "score": float(rng.integers(1, 11)), "status": "ok",
        }
        for j in range(judges)
        for i in range(30)
        for r in range(4)
    ]  # fmt: skip
    found = js.audit(pd.DataFrame(rows), n_resamples=99)
    advice = found.analysis.recommendation
    assert advice is not None
    assert (advice.chosen, advice.tied, advice.replicates) == ("", (), None)
    assert "no reliability is shown to be better than chance" in advice.text
    told = {c.number for line in brief_of(found.records()).lines for c in line.cells}
    assert "none" not in told  # repeats: zero would be read
    assert judges == 1 or "not reachable" in told
