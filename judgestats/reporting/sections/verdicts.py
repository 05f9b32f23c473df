"""Summary page from the verdicts: outcome and reason, requirements, figure, and care."""

from __future__ import annotations

from judgestats.reporting.display import Captioned, Markdown, Showable
from judgestats.reporting.numbers import DASH, Shown, address, name_reliability, words
from judgestats.reporting.runs import Run
from judgestats.reporting.tables import Column, Table
from judgestats.results.purposes import threshold_text
from judgestats.results.summary import brief_of
from judgestats.results.verdict import Requirement
from judgestats.results.verdict_screen import (
    facts_of,
    number_text,
    status_text,
    subject_names,
    verdict_groups,
)

_MOST_ROWS, _MOST_CARE = 12, 4


def verdict_page(run: Run, figure: Captioned | None) -> list[Showable]:
    """The first page of a run that has verdicts.

    Parameters
    ----------
    run : Run
    figure : Captioned or None
        The figure that answers.

    Returns
    -------
    list
    """
    records = run.records
    lines = []
    for word, text, outcome in verdict_groups(records):
        ends = [
            (i, v.sentence) for i, v in enumerate(records.verdicts)
            if v.outcome == outcome and v.sentence and text.endswith(v.sentence)
        ]  # fmt: skip
        if ends:  # the sentence of one verdict is a field of the record
            i, sentence = ends[0]
            told = words(records, address("", f"verdicts.{i}.sentence"))
            lines.append(f"**{word}** {name_reliability(text.removesuffix(sentence))}{told}")
        else:
            lines.append(f"**{word}** {name_reliability(text)}")
    parts: list[Showable] = [Markdown("::: {.answer}\n\n" + "\n\n".join(lines) + "\n\n:::")]
    parts.append(Markdown(name_reliability(" · ".join(facts_of(records, brief_of(records))))))
    if records.finding:
        parts.append(Markdown(words(records, address("", "finding"))))
    parts.append(requirement_table(run))
    if figure is not None:
        parts.append(figure)
    count = len(records.care[:_MOST_CARE])
    if count:
        listed = "\n".join(f"- {words(records, address('', f'care.{i}'))}" for i in range(count))
        parts.append(Markdown(f"::: {{.advice}}\n\n**Care.**\n\n{listed}\n\n:::"))
    return parts


def requirement_table(run: Run) -> Table:
    """Every requirement of every subject, what decides first: estimate, threshold, status."""
    records = run.records
    names = subject_names(records)
    listed = [
        (i, j, verdict, r)
        for i, verdict in enumerate(records.verdicts)
        for j, r in enumerate(verdict.requirements)
    ]
    order = {"fails": 0, "open": 1, "holds": 2, "not_measured": 3}
    many = len(records.verdicts) > 1
    if len(listed) > _MOST_ROWS:
        listed.sort(key=lambda row: order[row[3].status])
    left = len(listed) - _MOST_ROWS
    rows = [
        {
            "subject": names[verdict.subject.label],
            "quantity": r.label,
            "estimate": _shown(i, j, r),
            "needed": threshold_text(r),
            "status": status_text(r),
        }
        for i, j, verdict, r in listed[:_MOST_ROWS]
    ]
    columns = (
        Column(key="quantity", label="Quantity"),
        Column(key="estimate", label="Estimate\n[95% CI]", align="right"),
        Column(key="needed", label="Needed"),
        Column(key="status", label="Status"),
    )
    subject = (Column(key="subject", label="Judge"),) if many else ()
    return Table(
        columns=(*subject, *columns),
        rows=tuple(rows),
        caption="Requirements, estimates with 95% confidence intervals, and whether they hold.",
        note=f"{left} more rows are in the record." if left > 0 else "",
        label="tbl-requirements",
    )


def _shown(i: int, j: int, r: Requirement) -> Shown:
    text = number_text(r)
    if text == "-":
        return Shown(((DASH, ""),))
    number, _, bounds = text.partition(" ")
    at = f"verdicts.{i}.requirements.{j}"
    parts = [(number, address("", f"{at}.estimate"))]
    if bounds:
        low, high = bounds.strip("[]").split(", ")
        parts += [(" [", ""), (low, address("", f"{at}.low")), (", ", ""),
                  (high, address("", f"{at}.high")), ("]", "")]  # fmt: skip
    return Shown(tuple(parts))
