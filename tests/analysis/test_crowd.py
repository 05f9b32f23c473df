"""Strategies on verdicts made by hand: every figure can be counted, each temperature by itself."""

import pandas as pd
import pytest

from judgestats.analysis.crowd import analyse, plan
from judgestats.items import HumanLabel, Item, Response
from judgestats.protocols import pair_name

N = 12
PARAMETERS = {
    "strategies": ("vanilla", "cce"), "k": 4, "scaling": (0, 2, 4), "selections": (),
    "selections_at": (), "resamples": 199, "seed": 0,
}  # fmt: skip
RIGHT = {  # pairs judged right in both orders, by temperature and strategy; tokens of a verdict
    (0.0, "vanilla"): (4, 100), (0.0, "cce-criticising@2"): (10, 400),
    (0.0, "cce-criticising@4"): (11, 800), (1.0, "vanilla"): (9, 100),
    (1.0, "cce-criticising@2"): (9, 400), (1.0, "cce-criticising@4"): (9, 800),
}  # fmt: skip


def items():
    return tuple(
        Item(
            id=f"q{i}",
            cluster=f"q{i}",
            turns=("what?", "why?"),
            responses=(Response(turns=("", "one")), Response(turns=("", "two"))),
            labels=(HumanLabel(annotator="p", a=0, b=1, winner="a"),),
        )
        for i in range(N)
    )


def pipelines(asked, right=RIGHT):
    return pd.DataFrame(
        {  # one row a verdict
            "condition": f"j, T={temperature:g}, strategy={name}",
            "judge": "j", "temperature": temperature, "factor_strategy": name,
            "k": int(name[-1]) if "@" in name else 0, "item_id": pair_name(item, (0, 1)),
            "cluster": item.cluster, "category": "", "order": order, "replicate": 0,
            "status": "ok", "choice": "a" if i < n_right else "b", "explanation": "so it is",
            "wanted": 0, "used": 0, "preferred": 0, "left_out": 0, "cut": 0,
            "points": float("nan"), "calls": 1, "tokens_in": tokens - 10, "tokens_out": 10,
            "cost_usd": tokens / 1e6, "final_tokens_out": 10.0,
        }
        for (temperature, name), (n_right, tokens) in right.items()
        for i, item in enumerate(asked)
        for order in ("ab", "ba")
    )  # fmt: skip


@pytest.fixture(scope="module")
def found():
    asked = items()
    rows = pipelines(asked)
    frame = rows.assign(stage="final")
    return analyse(frame, plan(PARAMETERS, ()), items=asked, pipelines=rows)


def test_each_temperature_has_its_own_curve(found):
    assert found.curves["scaling/accuracy/j_T0"] == [(0, 4 / N), (2, 10 / N), (4, 11 / N)]
    assert found.curves["scaling/accuracy/j_T1"] == [(0, 0.75), (2, 0.75), (4, 0.75)]


def test_a_point_of_accuracy_costs_what_can_be_counted(found):
    priced = found["cost.j at T=0"].table.set_index("strategy")
    row = priced.loc["cce-criticising@4"]
    assert row["gain"] == pytest.approx(100 * 7 / N)
    assert row["tokens_per_point"] == pytest.approx(700 / (100 * 7 / N))
    assert row["usd_per_point"] == pytest.approx(700e-6 / (100 * 7 / N))
    assert row["tokens_per_point_low"] == pytest.approx(700 / row["gain_high"])
    assert row["tokens_per_point_high"] == pytest.approx(700 / row["gain_low"])
    assert found["cost.j at T=1"].table["tokens_per_point"].isna().all()


def test_an_interval_of_a_gain_excludes_zero_where_its_adjusted_p_is_small():
    """5 of 12 questions gained: rejected among a judge's gains, not among all claims."""
    asked, right = items(), dict(RIGHT)
    right |= {(0.0, "cce-criticising@2"): (9, 400), (0.0, "cce-criticising@4"): (9, 800)}
    rows = pipelines(asked, right)
    weak = analyse(rows.assign(stage="final"), plan(PARAMETERS, ()), items=asked, pipelines=rows)
    gains = weak["gain.j at T=0"].rows
    assert any(2 * row.p_value <= 0.05 < row.p_adjusted for row in gains)
    for row in gains:
        assert (row.p_adjusted <= 0.05) == (row.interval.low > 0)
        assert row.interval.family_level == 0.95


def test_q_and_mcnemar_are_those_of_whole_questions(found):
    # 7 of 12 questions change, each with both its orders and all in one direction: 2 / 2^7
    [pair] = found["strategies.pairs.j at T=0"].rows
    assert pair.p_value == pytest.approx(2 / 2**7)
    assert (pair.statistic, pair.estimate) == (-14, pytest.approx(-7 / N))
    assert found["strategies.j at T=0"].statistic == pytest.approx(14)
    assert pair.interval.low < pair.estimate < pair.interval.high < 0
