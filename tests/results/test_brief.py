"""The abstract of an analysis: its numbers are records' fields, its screen stays within bounds."""

from __future__ import annotations

from dataclasses import replace

from judgestats.results import (
    About,
    Comparison,
    Condition,
    Estimate,
    Headline,
    Interval,
    Results,
    Row,
    Statistic,
    brief_of,
    claim_sentence,
    distinguishable,
    format_record,
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


def test_every_cell_is_a_record_to_its_digits() -> None:
    found = results_of(3)
    brief = brief_of(found)
    for line in brief.lines:
        for cell in line.cells:
            assert (cell.number, cell.bounds) == format_record(found.get(cell.record, Estimate))
    assert brief.shared == "T=1"  # what all have in common is said once


def test_rows_that_are_called_alike_are_told_apart_by_their_coefficients() -> None:
    rows = [
        Row(key=key, ask="agrees", short="people", estimand=estimand, cells={})
        for key, estimand in (("people", "pearson_with_human"), ("accuracy", "accuracy"))
    ]
    assert [row.short for row in distinguishable(rows)] == ["Pearson's r", "accuracy"]
    assert [row.short for row in distinguishable(rows[:1])] == ["people"]


def test_a_condition_has_one_name() -> None:
    found = results_of(2)
    headline = Headline(
        id="h", hypothesis="x", claim="open", about=About(stratum="judge-1, T=1"),
        estimand="sem", rests_on=("sem.judge-1, T=1",), says="no change",
    )  # fmt: skip
    brief = brief_of(replace(found, headlines=(headline,)))
    assert [c.name for c in brief.columns] == ["judge-0", "judge-1"]
    assert claim_sentence(headline, replace(found, headlines=(headline,))) == "No change."


def pair(a: str, value: float, p: float, adjusted: float) -> Comparison:
    return Comparison(
        id=f"pairs/{a}", hypothesis="spread", role="primary", title=a, part_of="pairs",
        a=a, b="none", estimand="gmd_ratio", estimate=value, method="t",
        statistic=Statistic(symbol="t", value=2.0), p=p, p_adjusted=adjusted,
        interval=Interval(low=0.8 * value, high=1.25 * value),
    )  # fmt: skip
