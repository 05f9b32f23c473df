"""The tables that a brief report leaves out, as CSV beside it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from judgestats.reporting.runs import Run
from judgestats.reporting.sections.disagreements import linked
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table
from judgestats.results import CONDITIONS, Comparison, Estimate, Test
from judgestats.results import Table as TableRecord

__all__ = ["files"]

_CSV = {
    "tests": "every test, with statistic, degrees of freedom, p and adjusted p",
    "pairs": "every pair, with interval, p and adjusted p",
    "estimates": "every estimate, with interval and what chance gives",
    "conditions": "everything that describes the conditions, at full precision",
    "flagged_without": "results with and without the texts that address the judge",
    "disagreements": "every item on which judge and people differ, the widest gap first",
}


def files(run: Run) -> Markdown:
    """The tables that the report leaves out, as CSV beside it, with links."""
    folder = Path("tables")
    folder.mkdir(exist_ok=True)
    made = {name: text for name, text in _written(run).items() if text}
    for name, text in made.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    there = ["disagreements"] if linked(run) else []
    there += ["flagged_without"] if run.table("flagged_without") else []
    here = [*made, *there]
    lines = [f"- [tables/{n}.csv](tables/{n}.csv): {_CSV[n]}" for n in here]
    lines.append("- results.json: all records; `judgestats report RUN --detail full` shows them.")
    return Markdown("::: {.files}\n\n" + "\n".join(lines) + "\n\n:::")


def _written(run: Run) -> dict[str, str]:
    out = {"tests": "", "pairs": "", "estimates": "", "conditions": ""}
    kinds: dict[str, list[dict[str, Any]]] = {k: [] for k in out}
    for record in run.records.results:
        common = {
            "id": record.id, "hypothesis": record.hypothesis, "role": record.role,
            "title": record.title,
        }  # fmt: skip
        interval = getattr(record, "interval", None)
        ends = {"low": interval.low, "high": interval.high} if interval else {}
        if isinstance(record, Test):
            kinds["tests"].append(
                common | {
                    "method": record.method, "statistic": record.statistic.symbol,
                    "value": record.statistic.value,
                    "df": "; ".join(f"{k} {v:g}" for k, v in record.statistic.df.items()),
                    "p": record.p, "p_adjusted": record.p_adjusted,
                }
            )  # fmt: skip
        elif isinstance(record, Comparison):
            kinds["pairs"].append(
                common | {
                    "a": record.a, "b": record.b, "estimand": record.estimand,
                    "estimate": record.estimate, "low": math.nan, "high": math.nan, **ends,
                    "p": record.p, "p_adjusted": record.p_adjusted,
                }
            )  # fmt: skip
        elif isinstance(record, Estimate):
            null = record.null
            kinds["estimates"].append(
                common | {
                    "estimand": record.estimand, "estimate": record.estimate, "low": math.nan,
                    "high": math.nan, **ends, "chance_mean": null.mean if null else math.nan,
                    "chance_95": null.q95 if null else math.nan,
                }
            )  # fmt: skip
        elif isinstance(record, TableRecord) and record.id == CONDITIONS:
            kinds["conditions"] = run.table(CONDITIONS)
    for name, rows in kinds.items():
        if rows:
            columns = tuple(Column(key=k) for k in rows[0])
            out[name] = Table(columns=columns, rows=tuple(rows)).to_csv()
    return out
