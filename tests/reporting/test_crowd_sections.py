"""Strategies in a report: figures as measured, hostile texts harmless, nothing for other runs."""

import math
from pathlib import Path

import pandas as pd
import pytest

from judgestats.analysis import table_record
from judgestats.reporting import Run, results_tables
from judgestats.reporting.sections import data, results
from judgestats.results import CONDITIONS, Results
from judgestats.studies.paper_tables import crowd_table

NASTY = "</code></pre><script>alert(1)</script> {{< include x >}} [The End of Judgment 1]"


def run_of(*, extra=(), more=None, cost=0.04, results=()):
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
    found = Results(
        experiment="crowd", question="", results=(table, *results),
        facts={"simulated": not cost},
    )  # fmt: skip
    run = Run(Path("x"), found)
    run.__dict__["plan"] = {"options": {"strategies": ",".join(compared)}}
    return run


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_tables_of_the_curve_and_of_prices_stand_among_the_descriptive_results():
    curve = [
        {"condition": f"j, strategy={name}", "k": k, "accuracy": 0.7, "tokens": 900.0}
        for k, name in enumerate(("vanilla", "cce-criticising@2"))
    ]
    price = [{"strategy": "cce@4", "gain": 20.0, "tokens_per_point": 220.0}]
    tables = [
        table_record(
            pd.DataFrame(rows), id=key, hypothesis=key.partition(".")[0], role="descriptive",
            title=key,
        )
        for key, rows in (("scaling.table", curve), ("cost.j", price))
    ]  # fmt: skip
    run = run_of(results=tables)
    run.__dict__["plan"] |= {"hypotheses": [{"id": "scaling"}, {"id": "cost"}]}
    shown = [table.to_markdown() for table in results.described(run)]
    assert len(shown) == 2
    assert "220" in shown[1]
    assert "tables/conditions.csv" in data.prices(run).text


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
