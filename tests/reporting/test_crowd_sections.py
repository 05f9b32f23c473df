"""Strategies in a report: figures as measured, hostile texts harmless, nothing for other runs."""

import math
from pathlib import Path

import pandas as pd
import pytest

from judgestats.analysis import table_record
from judgestats.reporting import Run, Table, null_strip, results_tables, show
from judgestats.reporting.sections import data, results, studies
from judgestats.results import CONDITIONS, Estimate, Figure, Null, Results
from judgestats.studies.paper_tables import crowd_table

NASTY = "</code></pre><script>alert(1)</script> {{< include x >}} [The End of Judgment 1]"


def run_of(*, extra=(), more=None, cost=0.04, results=(), **arrays):
    compared = ("vanilla", "cce-criticising@2")
    conditions = [
        {
            "condition": f"j, strategy={name}", "judge": "j", "factor_strategy": name, "n": 4,
            "temperature": 0.5, "n_items": 4, "points": math.nan, "calls": 3.0, "tokens": 1234.0,
            "accuracy": 0.75, "accuracy_low": 0.5, "accuracy_high": 0.9, "words": 20.0,
            "cost_usd": cost, **(more or {}),
        }
        for name in (*compared, *extra)
    ]  # fmt: skip
    table = table_record(
        pd.DataFrame(conditions), id=CONDITIONS, hypothesis=CONDITIONS, role="descriptive", title=""
    )
    figures = (Figure(id=k, estimand="", axes={}, values=v) for k, v in arrays.items())
    found = Results(
        experiment="crowd", question="", results=(table, *results), figures=tuple(figures),
        facts={"simulated": not cost},
    )  # fmt: skip
    run = Run(Path("x"), found)
    run.__dict__["plan"] = {"options": {"strategies": ",".join(compared)}}
    return run


def curve(judge, k, accuracy):
    return {
        "judge": judge, "temperature": 0.5, "k": k, "accuracy": accuracy, "accuracy_low": 0.6,
        "accuracy_high": 0.9, "words": 20.0, "final_tokens_out": 30.0, "tokens": 900.0, "used": k,
    }  # fmt: skip


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_tables_say_what_was_measured():
    table = studies.strategies(run_of())
    text = table.to_markdown().replace("\\", "")
    assert ".75 [.50, .90]" in text.replace("\u00a0", " ")
    assert "1,234" in text.replace("\u2009", ",").replace("\u202f", ",")
    assert "0.01" in text  # dollars a verdict
    rows = [
        {"judge": "j", "k": 4, "selection": "random", "verdicts": v, "accuracy": a,
         "accuracy_low": math.nan, "accuracy_high": math.nan, "preferred": 4.0, "used": 4.0}
        for v, a in (("kept", 0.5), ("removed", 0.8))
    ]  # fmt: skip
    shown = studies.selection(run_of(selection=rows)).to_markdown().replace("\\", "")
    assert ".80" in shown
    assert ".50" in shown


def test_what_a_verdict_takes_is_told_once_and_of_all_its_calls():
    run = run_of()
    assert "@tbl-strategies" in data.prices(run).text
    table = studies.strategies(run)
    assert table.label == "tbl-strategies"
    assert {c.key for c in table.columns} >= {"calls", "tokens", "usd"}
    free = run_of(cost=0.0)
    assert "usd" not in {c.key for c in studies.strategies(free).columns}
    assert "no price" in studies.strategies(free).note


def test_a_point_without_a_gain_has_no_price():
    rows = [
        {"strategy": "cce@4", "gain": 20.0, "gain_low": 10.0, "gain_high": 30.0, "tokens": 5000.0,
         "tokens_per_point": 220.0, "tokens_per_point_low": 147.0, "tokens_per_point_high": 440.0,
         "usd_per_point": 0.5},
        {"strategy": "long", "gain": 1.0, "gain_low": -4.0, "gain_high": 6.0, "tokens": 700.0,
         "tokens_per_point": None, "usd_per_point": None},
    ]  # fmt: skip
    result = table_record(
        pd.DataFrame(rows), id="cost.j", hypothesis="cost", role="descriptive", title="Price"
    )
    run = run_of(results=[result])
    priced, unpriced = studies.costs(run).cells()
    assert priced == ["cce@4", "20.00 [10.00, 30.00]", "5,000", "220 [147, 440]", "$0.50"]
    assert unpriced[-2:] == ["–", "–"]
    assert results.described(run) == []  # it is not said twice


def test_only_the_compared_strategies_are_described_in_full():
    names = [f"cce-random@{k}" for k in range(2, 40, 2)]
    run = run_of(extra=names)
    assert len(run.described) == 2 + len(names)
    assert [r["factor_strategy"] for r in run.compared] == ["vanilla", "cce-criticising@2"]
    [table, *_] = data.descriptives(run)
    assert len(table.rows) == 2
    assert "2 of 21 conditions" in table.note
    assert "tables/conditions.csv" in table.note


def test_sets_stand_side_by_side_with_their_average():
    row = {f"accuracy_in_{s}{e}": v for s in ("one", "two")
           for e, v in (("", 0.8), ("_low", 0.7), ("_high", 0.9))}  # fmt: skip
    table = studies.sets(run_of(more=row | {"average": 0.8}))
    assert [c.heading for c in table.columns] == ["Strategy", "one", "two", "Average"]
    assert table.cells()[0][1] == ".80 [.70, .90]"
    assert studies.sets(run_of()) is None


def test_printed_tables_stand_apart_and_lose_no_column():
    printed = [
        table_record(
            crowd_table(n).table, id=f"published.table_{n}", hypothesis="published",
            role="replicated", title=f"Table {n} as printed",
        )
        for n in (1, 2, 4)
    ]  # fmt: skip
    first, second = results_tables(run_of(), printed, label="x", caption="As printed")
    assert len(first.rows) == 16
    assert {r["result's title"] for r in second.rows} == {
        "Table 2 as printed",
        "Table 4 as printed",
    }
    assert "samples" in {c.key for c in second.columns}
    gpt = first.cells()[[r["method"] for r in first.rows].index("CCE@16")]
    assert gpt[:4] == ["GPT-4o", "CCE@16", "85.0", "70.6"]


def test_the_body_says_what_printed_tables_say_and_where_they_are():
    result = table_record(
        crowd_table(1).table, id="published", hypothesis="published", role="replicated",
        title="Table 1 as printed", text="One row differs.",
    )  # fmt: skip
    body = studies.replicated(run_of(results=[result]))
    assert "One row differs" in show(body).text
    assert [x.label for x in body if isinstance(x, Table)] == ["tbl-replicated-rows"]


def test_the_curve_is_drawn_and_told_in_words():
    rows = [curve("one", k, 0.7 + k / 20) for k in (0, 1, 2)]
    rows += [curve("two", k, 0.7) for k in (0, 1, 2)]
    figure, table = studies.scaling(run_of(scaling=rows))
    assert "one: 0.70 at 0, 0.75 at 1, 0.80 at 2" in figure.figure.alt
    assert "fig-scaling" in show(figure).text
    assert len(table.rows) == 6
    assert studies.scaling(run_of(scaling=rows[:1])) == []


def test_temperatures_stand_apart():
    rows = [
        {"judge": "j", "temperature": t, "k": 4, "selection": "random", "verdicts": "removed",
         "accuracy": a, "preferred": 4.0, "used": 4.0}
        for t, a in ((0.0, 0.5), (1.0, 0.75))
    ]  # fmt: skip
    curves = [curve("j", k, 0.7) | {"temperature": t} for t in (0.0, 1.0) for k in (0, 2)]
    run = run_of(selection=rows, scaling=curves)
    run.conditions["temperature"] = [0.0, 1.0]
    assert [r["who"] for r in studies.selection(run).rows] == ["j at T=0", "j at T=1"]
    assert [r["who"] for r in studies.strategies(run).rows] == ["j at T=0", "j at T=1"]
    figure, table = studies.scaling(run)
    assert [c.name for c in figure.figure.panels[0].curves] == ["j at T=0", "j at T=1"]
    assert len(table.rows) == 4


def test_other_experiments_show_none_of_it():
    table = table_record(
        pd.DataFrame([{"condition": "a", "judge": "j"}]),
        id=CONDITIONS, hypothesis=CONDITIONS, role="descriptive", title="",
    )  # fmt: skip
    run = Run(Path("x"), Results(experiment="", question="", results=(table,)))
    assert studies.strategies(run) is None
    assert studies.scaling(run) == []
    assert studies.selection(run) is None


def test_a_figure_that_leaves_rows_out_says_so():
    null = Null(hypothesis="", permuted="", mean=0.0, q95=0.1, p=0.01, draws=99)
    results = [
        Estimate(
            id=f"r{i}", hypothesis="r", role="primary", title=f"{i}", estimand="icc_1_1",
            estimate=0.5, null=null,
        )
        for i in range(40)
    ]  # fmt: skip
    drawn = null_strip(run_of(results=results))
    assert len(drawn.figure.rows) == 36
    assert "The first 36 of 40 are drawn" in drawn.caption
    assert "are drawn;" not in null_strip(run_of(results=results[:36])).caption
