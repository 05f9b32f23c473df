"""What a figure marks as told apart is what the adjusted test of the pair says."""

from __future__ import annotations

import pytest

from judgestats.reporting import verdict_of
from judgestats.results import Comparison, Family, Interval, Margin, Results, Statistic

WIDE = Interval(low=1.05, high=1.9)


def _pair(kind: str, p: float, p_adjusted: float, *, interval=WIDE, margin=None) -> Comparison:
    return Comparison(
        id=f"{kind}/a:b", hypothesis=kind, role="secondary", title="a and b", a="a", b="b",
        estimand="variance_ratio", estimate=1.4, method="t",
        statistic=Statistic(symbol="t", value=2.0),
        p=p, p_adjusted=p_adjusted, family=kind, interval=interval, margin=margin,
    )  # fmt: skip


def _found(*pairs: Comparison) -> Results:
    families = tuple(
        Family(id=p.family, hypothesis=p.family, label="f", method="holm", members=(p.id,))
        for p in pairs
    )
    return Results(experiment="x", question="", results=pairs, families=families)


@pytest.mark.parametrize(("p_adjusted", "said"), [(0.08, "undecided"), (0.03, "different")])
def test_an_interval_that_leaves_out_one_is_no_verdict(p_adjusted, said):
    pair = _pair("ratio", 0.02, p_adjusted)
    assert verdict_of(pair, _found(pair)) == said


def test_alike_only_where_the_adjusted_test_of_equivalence_says_so():
    inside = Interval(low=0.9, high=1.2, level=0.9)
    margin = Margin(low=0.67, high=1.5, estimand="variance_ratio", alpha=0.05)
    ratio = _pair("ratio", 0.02, 0.03)
    alone = _pair("equivalence", 0.03, 0.09, interval=inside, margin=margin)
    assert verdict_of(alone, _found(alone)) == "undecided"
    assert verdict_of(alone, _found(ratio, alone)) == "different"
    together = _pair("equivalence", 0.01, 0.03, interval=inside, margin=margin)
    assert verdict_of(together, _found(ratio, together)) == "equivalent"
