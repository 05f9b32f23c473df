"""Judge and people: disagreements, confusion matrices, agreement, and stated confidences."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any

from judgestats.reporting import numbers, plots
from judgestats.reporting.document import current_output
from judgestats.reporting.runs import Run
from judgestats.reporting.sections.conditions import condition_table, measured
from judgestats.reporting.tables import Captioned, Column, Markdown, Showable, Table, filled
from judgestats.results import Estimate
from judgestats.results import Table as TableRecord
from judgestats.results.records import rows_of_table
from judgestats.sinks import shorten

_MOST = 10
_CUT = 120
_ID = "disagreements"
_FILE = "tables/disagreements.csv"
_TEXTS = ("question", "answer", "judge_says")


def disagreements(run: Run) -> list[Showable]:
    """The items on which judge and human raters differ most, widest gap first.

    Parameters
    ----------
    run : Run
        Its record ``disagreements`` holds the first of each condition, its tables all of them.
    """
    if _ID not in run.records or not isinstance(record := run.records[_ID], TableRecord):
        return []
    listed = sorted(enumerate(rows_of_table(record)), key=lambda r: -_gap(r[1]))
    rates = any(e.estimand == "sensitivity" for e in run.records.select(Estimate))
    words = {0.0: "fail", 1.0: "pass"} if rates and "mean" not in run.conditions else {}
    rows = [
        {
            "condition": run.condition_name(str(row["condition"])),
            "item": numbers.AddressedText(
                ((str(row["item_id"]), numbers.address(_ID, f"rows.{i}.item_id")),)
            ),
            **{k: _number(row, k, i, words) for k in ("judge", "people")},
            **{
                k: shorten("" if numbers.is_missing(row.get(k)) else row[k], limit=_CUT)
                for k in _TEXTS
            },
        }
        for i, row in listed[:_MOST]
    ]
    if not rows:
        return []
    columns = (
        Column(key="condition", label="Condition"),
        Column(key="item", label="Item"),
        Column(key="judge", label="Judge", align="right"),
        Column(key="people", label="Human label", align="right"),
        Column(key="question", label="Question"),
        Column(key="answer", label="Answer"),
        Column(key="judge_says", label="The judge says"),
    )
    table = Table(
        columns=tuple(filled(columns, rows)),
        rows=tuple(rows),
        caption="Largest disagreements of judge and human, over all conditions.",
        note="Long texts are cut." * any(r[k] for r in rows for k in _TEXTS),
        label="tbl-disagreements",
    )
    where = f"::: {{.files}}\n\nAll of them: [{_FILE}]({_FILE}).\n\n:::"
    return [table, *([Markdown(where)] if linked(run) else [])]


def _gap(row: dict[str, Any]) -> float:
    return 0.0 if numbers.is_missing(row["gap"]) else float(row["gap"])


def _number(
    row: dict[str, Any], key: str, place: int, words: Mapping[float, str]
) -> numbers.AddressedText:
    """A score, a verdict as text, or the share of passes over repeats."""
    if numbers.is_missing(row[key]):
        return numbers.NOTHING
    where = numbers.address(_ID, f"rows.{place}.{key}")
    if isinstance(row[key], str):  # a verdict in words
        return numbers.AddressedText(((" ".join(row[key].split()), where),))
    if row[key] in words:
        return numbers.AddressedText(((words[row[key]], where),))
    return numbers.Measured(value=float(row[key]), at=(where, "", "", "")).text()


def linked(run: Run) -> bool:
    """Put the run's file of all of them next to the report, wherever that is written; if any."""
    whole = run.folder / _FILE
    if not whole.is_file():
        return False
    copy = current_output().path(_FILE)
    if whole.resolve() != copy.resolve():
        shutil.copyfile(whole, copy)
    return True


_COUNTED = (
    ("pass", ("tp", "fn", "tied_positive", "unread_positive")),
    ("fail", ("fp", "tn", "tied_negative", "unread_negative")),
)
"""Human labels, and the counts of judges' verdicts on items with that label."""


def confusion(run: Run) -> Table | None:
    """Labelled items by human label and majority verdict, a confusion matrix per condition."""
    heads = ("pass", "fail", "tie", "unparsed")
    rows = []
    for record in run.records.select(Estimate):
        if record.estimand != "sensitivity" or "tp" not in record.details:
            continue
        for label_, keys in _COUNTED:
            cells: dict[str, Any] = {
                head: numbers.label(run.records, numbers.address(record.id, f"details.{key}"))
                for head, key in zip(heads, keys, strict=True)
            }
            condition = run.condition_name(" and ".join(record.about.conditions))
            rows.append({"condition": condition, "label": label_, **cells})
    if not rows:
        return None
    shown = [h for h in heads if h in {"pass", "fail"} or any(str(r[h]) != "0" for r in rows)]
    return Table(
        columns=(
            Column(key="label", label="Human label"),
            *(Column(key=h, label=f"Judge: {h}", align="right") for h in shown),
        ),
        rows=tuple(rows),
        group="condition",
        caption="Confusion matrix: labelled items by human label and majority verdict.",
        note="TPR is the first row's share of pass, TNR the second row's share of fail.",
        label="tbl-confusion",
    )


def costs(run: Run) -> Table | None:
    """What a score or verdict is made of, what that costs, and what it gives."""
    table = run.conditions
    asked = "k" if "k" in table else "judgments_per_pair"
    if asked not in table or "alignment" not in table:
        return None
    of_answers = asked == "k"
    columns = [
        Column(key=asked, label=f"Judgments per {'answer' if of_answers else 'pair'}",
               format="number:2"),
        Column(key="cost_usd" if of_answers else "cost_per_pair", label="Cost", format="money"),
        Column(key="reliability", label="Reliability", format="coefficient:3"),
        Column(key="tie_share", label="Ties", format="percent:0"),
        Column(key="same_and_wrong", label="Same every time, and wrong", format="percent:0"),
        Column(key="agreement", label="Agreement with humans", align="right"),
    ]  # fmt: skip
    return condition_table(
        run,
        columns,
        [r | {"agreement": measured(run, r["at"][1], "alignment").text()} for r in run.described],
        caption="What each condition asks for, what that costs "
        f"({'all answers' if of_answers else 'a pair'}), and what it gives.",
        label="tbl-costs",
    )


_MOST_CURVES = 6


def confidences(run: Run) -> list[Showable]:
    """How often each judge was right by its stated confidence, and the calibration error as text.

    Parameters
    ----------
    run : Run
        Its tables ``people.reliability_diagram.CONDITION`` hold the bins.
    """
    diagrams = [
        r for r in run.records.select(TableRecord) if r.id.startswith("people.reliability_diagram.")
    ]
    curves = tuple(_curve(r) for r in diagrams[:_MOST_CURVES] if r.rows)
    if not curves:
        return []
    text = " ".join(f"{c.name}: {r.text}" for c, r in zip(curves, diagrams, strict=False))
    return [
        Captioned(
            figure=plots.Curves(
                panels=(plots.CurvePanel(y_label="Accuracy", curves=curves, diagonal=True),),
                x_label="Stated confidence",
            ),
            label="fig-confidences",
            caption="A calibrated judge is on the dashed line. Accuracy by stated confidence, in "
            "bins with intervals.",
        ),
        text,
    ]


def _curve(record: TableRecord) -> plots.Curve:
    return plots.Curve(
        name=", ".join(record.about.conditions),
        points=tuple(
            plots.Point(
                x=float(row["confidence"]), value=float(row["share"]),
                low=float(row["conf_low"]), high=float(row["conf_high"]),
            )
            for row in rows_of_table(record)
        ),
    )  # fmt: skip
