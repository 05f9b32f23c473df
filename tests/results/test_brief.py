"""The abstract of an analysis: its numbers are records' fields, its screen stays within bounds."""

from __future__ import annotations

from judgestats.results import (
    Comparison,
    Condition,
    Estimate,
    Interval,
    Results,
    Row,
    Statistic,
)


def estimate(name: str, value: float, low: float, high: float, estimand: str) -> Estimate:
    return Estimate(
        id=name,
        hypothesis="reliability",
        role="primary",
        title=name,
        estimand=estimand,
        estimate=value,
        interval=Interval(low=low, high=high),
    )


def results_of(n: int) -> Results:
    """So many judges, each a little less reliable than the one before."""
    labels = [f"judge-{k}, T=1" for k in range(n)]
    icc = [
        estimate(f"icc.{c}", 0.95 - k / 50, 0.9 - k / 50, 0.97 - k / 50, "icc_1_1")
        for k, c in enumerate(labels)
    ]
    sem = [estimate(f"sem.{c}", 0.5, 0.412, 0.613, "sem") for c in labels]
    return Results(
        experiment="audit",
        title="my.csv",
        question="?",
        results=(*icc, *sem),
        conditions=tuple(
            Condition(label=c, judge=c.partition(",")[0], factors={"temperature": 1.0})
            for c in labels
        ),
        rows=(
            Row(
                key="reliability",
                ask="one score's reliability",
                short="reliability",
                estimand="icc_1_1",
                cells={c: f"icc.{c}" for c in labels},
            ),
            Row(
                key="sem",
                ask="SEM (SD of repeated scores)",
                short="SEM",
                estimand="sem",
                cells={c: f"sem.{c}" for c in labels},
            ),
        ),
    )


def pair(a: str, value: float, p: float, adjusted: float) -> Comparison:
    return Comparison(
        id=f"pairs/{a}", hypothesis="spread", role="primary", title=a, part_of="pairs",
        a=a, b="none", estimand="gmd_ratio", estimate=value, method="t",
        statistic=Statistic(symbol="t", value=2.0), p=p, p_adjusted=adjusted,
        interval=Interval(low=0.8 * value, high=1.25 * value),
    )  # fmt: skip
