"""Summary page: outcome and reason, requirements or changes, figure, and care."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgestats.reporting.document import current_output
from judgestats.reporting.explorer.page import PAGE
from judgestats.reporting.numbers import (
    DASH,
    NOTHING,
    AddressedText,
    Measured,
    address,
    column,
    label,
    name_reliability,
    words,
)
from judgestats.reporting.plots import RequirementPlot, RequirementRow
from judgestats.reporting.runs import Run
from judgestats.reporting.tables import Captioned, Column, Markdown, Showable, Table
from judgestats.results import Comparison, Estimate, Results, Test, verdict_screen
from judgestats.results.purposes import decided_of, threshold_text
from judgestats.results.screen import brief_of
from judgestats.results.verdict import ORDER, Requirement, Verdict
from judgestats.sinks import escape_markdown


def summary_page(run: Run, figure: Captioned | None = None) -> list[Showable]:
    """Outcome, facts, requirements or changes, figure, and care.

    Parameters
    ----------
    run : Run
    figure : Captioned or None
        The figure that answers, where no requirement decides.
    """
    records = run.records
    if records.verdicts:
        return [*verdict_page(run, figure), warned(run), page_link()]
    found = words(records, "#finding")
    parts: list[Showable] = [Markdown(f"::: {{.answer}}\n\n{found}\n\n:::")] if found else []
    parts += [warned(run), figure]
    if records.kind == "drift":  # one verdict a change: its size beside the p of its test
        parts.append(changes(records, first="the first run", second="the second run"))
    return [*parts, page_link()]


def page_link() -> Markdown | None:
    """A link to the interactive page, in HTML, where it is next to the report."""
    if current_output().evidence is None:
        return None
    return Markdown(f'`<a href="{PAGE}">Every judgment on an interactive page</a>`{{=html}}')


def warned(run: Run) -> Markdown | None:
    """A warning where another package finds another number; None where none does."""
    found = [n.message for n in run.records.limitations if n.code == "crosscheck"]
    if not found:
        return None
    return Markdown(f"::: {{.callout-warning}}\n\n{escape_markdown(found[0])}\n\n:::")


_MOST_ROWS, _MOST_COLUMNS, _MOST_WORDS = 6, 5, 65
"""Words hold a letter; five more head the caveats and count those left out. The gravest caveat,
and next to it what would decide, have any length."""


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
    for word, text, outcome in verdict_screen.verdict_groups(records, brief=True):
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
    facts = " · ".join(verdict_screen.facts_of(records, brief_of(records)))
    parts.append(Markdown(name_reliability(facts)))
    is_open = any(v.outcome == "CANNOT_TELL" for v in records.verdicts)
    said = [*lines, facts]
    asked = [*said, records.finding, *records.care[: 1 + is_open]]
    is_caption = _word_count(asked) > _MOST_WORDS  # the finding is in the figure's caption then
    if records.finding and not is_caption:
        said.append(records.finding)
        parts.append(Markdown(words(records, address("", "finding"))))
    if any(v.requirements for v in records.verdicts):
        parts.append(requirement_table(run))
    drawn = requirement_figure(run, records.finding if is_caption else "") or figure
    if drawn is not None:
        parts.append(drawn)
    listed: list[str] = []
    for i, text in enumerate(records.care):
        said.append(text)
        if len(listed) > is_open and _word_count(said) > _MOST_WORDS:
            listed.append(f"- [{len(records.care) - i} more in the record.]{{.table-note}}")
            break
        listed.append(f"- {words(records, address('', f'care.{i}'))}")
    if listed:
        care = "\n".join(listed)
        parts.append(Markdown(f"::: {{.advice}}\n\n**Care.**\n\n{care}\n\n:::"))
    return parts


def _word_count(texts: Sequence[str]) -> int:
    return sum(any(map(str.isalpha, word)) for word in " ".join(texts).split())


def requirement_table(run: Run) -> Table:
    """Every requirement: one row each for one subject, else one column each."""
    verdicts = [v for v in run.records.verdicts if v.requirements]
    keys = list(dict.fromkeys(r.key for v in verdicts for r in v.requirements))
    caption = "Requirements, estimates with 95% confidence intervals, and whether they hold."
    if len(verdicts) > 1 and len(keys) <= _MOST_COLUMNS:
        return _subject_table(run, keys, caption)
    return _requirement_table(run, caption)


def _subject_table(run: Run, keys: Sequence[str], caption: str) -> Table:
    """A row per subject, the worst first where not all fit; a column per requirement."""
    records = run.records
    names = verdict_screen.subject_names(records)
    rows: list[dict[str, object]] = []
    heads: dict[str, str] = {}
    for i in _places_shown(records.verdicts):
        verdict = records.verdicts[i]
        row: dict[str, object] = {
            "subject": names[verdict.subject.label],
            "verdict": verdict_screen.WORDS[verdict.outcome],
        }
        for j, r in enumerate(verdict.requirements):
            heads.setdefault(r.key, f"{r.label}\n{threshold_text(r)}")
            shown, status = _requirement_text(i, j, r), _addressed_status(i, j, r)
            if not r.status == "holds" == str(status):
                shown = shown + " " + status
            row[r.key] = str(status) if r.status == "not_measured" else shown
        rows.append(row)
    measured = [k for k in keys if any(row.get(k) not in {None, "not measured"} for row in rows)]
    kinds = [verdict_screen.spanner(k) for k in keys]
    together = sorted(measured or keys, key=lambda k: kinds.index(verdict_screen.spanner(k)))
    outcomes = {str(row["verdict"]) for row in rows}
    if is_constant := len(outcomes) == 1 < len(rows):
        caption += f" All of these: {outcomes.pop()}."
    columns = (
        Column(key="subject", label="Judge"),
        *([] if is_constant else [Column(key="verdict", label="Verdict")]),
        *(
            Column(key=k, label=heads[k], align="left", spanner=verdict_screen.spanner(k))
            for k in together
        ),
    )
    left = len(records.verdicts) - len(rows)
    note = f"{left} more in the record." if left > 0 else ""
    return Table(
        columns=columns, rows=tuple(rows), caption=caption, note=note, label="tbl-requirements"
    )


def _places_shown(verdicts: Sequence[Verdict]) -> list[int]:
    """Places of the verdicts that the page shows: all in order, or the worst where too many."""
    places = [*range(len(verdicts))]
    if len(places) > _MOST_ROWS:
        places.sort(key=lambda i: ORDER.index(verdicts[i].outcome))
    return places[:_MOST_ROWS]


def _requirement_table(run: Run, caption: str) -> Table:
    """A row per requirement and subject, what decides first where not all fit."""
    records = run.records
    names = verdict_screen.subject_names(records)
    listed = [
        (i, j, verdict, r)
        for i, verdict in enumerate(records.verdicts)
        for j, r in enumerate(verdict.requirements)
    ]
    order = {"fails": 0, "open": 1, "holds": 2, "not_measured": 3}
    if len(listed) > _MOST_ROWS:
        listed.sort(key=lambda row: order[row[3].status])
    left = len(listed) - _MOST_ROWS
    rows = [
        {
            "subject": names[verdict.subject.label], "quantity": r.label,
            "estimate": _requirement_text(i, j, r), "needed": threshold_text(r),
            "status": _addressed_status(i, j, r),
        }
        for i, j, verdict, r in listed[:_MOST_ROWS]
    ]  # fmt: skip
    columns = (
        Column(key="quantity", label="Quantity"),
        Column(key="estimate", label="Estimate\n[95% CI]", align="right"),
        Column(key="needed", label="Needed"),
        Column(key="status", label="Status"),
    )
    subject = (Column(key="subject", label="Judge"),) if len(records.verdicts) > 1 else ()
    return Table(
        columns=(*subject, *columns),
        rows=tuple(rows),
        caption=caption,
        note=f"{left} more rows in the record." if left > 0 else "",
        label="tbl-requirements",
    )


def figure_below(run: Run, figure: Captioned | None) -> Captioned | None:
    """The figure that answers, where the summary page shows the requirements instead."""
    if figure is None or requirement_figure(run) is None:
        return None
    return replace(figure, label="fig-conditions")


_MOST_NAMED = 3


def requirement_figure(run: Run, finding: str = "") -> Captioned | None:
    """What decides, as a forest plot titled by the finding; None if nothing was measured.

    Parameters
    ----------
    run : Run
    finding : str
        Of the run, where the caption states it.

    Returns
    -------
    Captioned or None
        Of several subjects the deciding quantity of the worst verdict; of one subject all its
        requirements that are between 0 and 1.
    """
    records = run.records
    names = verdict_screen.subject_names(records)
    verdicts = sorted(records.verdicts, key=lambda v: ORDER.index(v.outcome))
    found = next(
        (v for v in verdicts if v.decisive and math.isfinite(v.decisive.estimate)), None
    )  # fmt: skip
    if found is None or found.decisive is None:
        return None
    key = found.decisive.key
    same = [(names[v.subject.label], r) for v in records.verdicts for r in v.requirements
            if r.key == key]  # fmt: skip
    if len(same) == 1:
        alike = found.decisive.bounded and found.decisive.direction != "within"
        shared = [r for r in found.requirements if r.bounded and r.direction != "within"]
        same = [(r.label, r) for r in (shared if alike else [found.decisive])]
    drawn = [(name, r) for name, r in same if math.isfinite(r.estimate)]
    drawn.sort(key=lambda pair: -pair[1].estimate)
    kept = [r for i in _places_shown(records.verdicts) for r in records.verdicts[i].requirements]
    shown = [pair for pair in drawn if any(pair[1] is r for r in kept)] or drawn
    quantity = decided_of(key, records)
    one = len({r.label for _, r in drawn}) == 1
    bounds = (quantity.low, quantity.high) if one else (0.0, 1.0)
    rows = tuple(
        RequirementRow(
            name=name if one else f"{name} {threshold_text(r)}", value=r.estimate, low=r.low,
            high=r.high, threshold=r.threshold, top=r.top, direction=r.direction,
            status=_status(r), text=verdict_screen.number_text(r),
        )
        for name, r in shown[:_MOST_ROWS]
    )  # fmt: skip
    left = f" {len(rows)} of {len(drawn)} are drawn." if len(rows) < len(drawn) else ""
    needed = {threshold_text(r) for _, r in drawn}
    title = " ".join(filter(None, [_figure_title(found, names, drawn if one else []), finding]))
    return Captioned(
        figure=RequirementPlot(
            rows=rows,
            x_label=drawn[0][1].label if one else "Estimate",
            bounds=bounds,
            needed=needed.pop() if one and len(needed) == 1 else "",
        ),
        label="fig-answer",
        caption=f"{title}{left} Estimates with 95% intervals; the failing side is shaded.",
    )


def _addressed_status(i: int, j: int, r: Requirement) -> AddressedText:
    """Status, with the address of the limit that it names."""
    word, named, limit = verdict_screen.status_text(r).partition(" (limit ")
    if not named:
        return AddressedText(((word, ""),))
    place = address("", f"verdicts.{i}.requirements.{j}.limit")
    return AddressedText(((f"{word}{named}", ""), (limit.removesuffix(")"), place), (")", "")))


def _status(r: Requirement) -> str:
    """Status, with the reason where there is no interval."""
    has_interval = math.isfinite(r.low) and math.isfinite(r.high)
    return verdict_screen.status_text(r) if has_interval or not r.reason else f"no CI: {r.reason}"


def _figure_title(
    found: Verdict, names: Mapping[str, str], drawn: Sequence[tuple[str, Requirement]]
) -> str:
    """The finding: of many subjects how many hold, of few the sentence of the worst."""
    if len(drawn) > _MOST_NAMED:
        states = [r.status for _, r in drawn]
        first = drawn[0][1]
        rest = [f"{states.count(s)} {word}" for s, word in (("fails", "fail"), ("open", "are open"))
                if s in states]  # fmt: skip
        held = f"{states.count('holds')} of {len(drawn)} hold {first.label} {threshold_text(first)}"
        return "; ".join(filter(None, [held, ", ".join(rest)])) + "."
    who, sentence = names[found.subject.label], found.sentence.removeprefix("it ")
    return f"{who} {sentence}" if sentence != found.sentence else f"{who}: {sentence}"


def _requirement_text(i: int, j: int, r: Requirement) -> AddressedText:
    text = verdict_screen.number_text(r)
    if text == "-":
        return AddressedText(((DASH, ""),))
    number, _, bounds = text.partition(" ")
    at = f"verdicts.{i}.requirements.{j}"
    parts = [(number, address("", f"{at}.estimate"))]
    if bounds:
        low, high = bounds.strip("[]").split(", ")
        parts += [(" [", ""), (low, address("", f"{at}.low")), (", ", ""),
                  (high, address("", f"{at}.high")), ("]", "")]  # fmt: skip
    return AddressedText(tuple(parts))


_TESTS = {"shift": "shift", "spread": "spread", "verdicts": "flips"}
"""A row of drift's screen, and the test of it, by the beginning of its id."""
_HEADS = {"shift": "Mean moved", "spread": "GMD ratio", "verdicts": "Changed"}


def changes(results: Results, *, first: str, second: str, file: str = "") -> Table:
    """Shift of the mean, GMD ratio, verdicts changed; each with the p of its test.

    Parameters
    ----------
    results : Results
        Of `drift`.
    first, second : str
        What the runs are called.
    file : str
        The name of the results file, where several are on one page.
    """
    names = list(dict.fromkeys(name for row in results.rows for name in row.cells))
    rows: list[dict[str, Any]] = [{"condition": name} for name in names]
    columns = [Column(key="condition", label="Condition")]
    asked = [row for row in results.rows if row.key in _TESTS]

    def placed(shown: AddressedText) -> AddressedText:
        return shown.with_file(file) if file else shown

    for one in asked:
        numbers = [number_at(results, one.cells.get(name, "")) for name in names]
        for row, text in zip(rows, column(numbers), strict=True):
            row[one.key] = placed(text)
            row[f"{one.key}_p"] = placed(_p(results, f"{_TESTS[one.key]}.{row['condition']}"))
        columns += [
            Column(key=one.key, label=_HEADS[one.key], align="right"),
            Column(key=f"{one.key}_p", label="p, adjusted", align="right"),
        ]
    undefined = any(str(row.get("spread", "")) == str(NOTHING) for row in rows)
    notes = {
        "shift": f"Mean moved: {second} minus {first}, in points.",
        "spread": f"GMD ratio: mean difference of two repeats of an item in {second} over that in "
        f"{first}; its p is that of the test of spread.",
        "verdicts": "Changed: verdicts, or scores, beyond repetition.",
    }
    slug = re.sub(r"[^a-z0-9]+", "-", second.lower()).strip("-")
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        caption=" ".join(
            [
                f"{second[:1].upper()}{second[1:]} against {first}, paired by item.",
                *(notes[one.key] for one in asked),
                "p-values are adjusted in one family.",
            ]
        ),
        note="– undefined: repeated scores are all equal in one of the runs." if undefined else "",
        label=f"tbl-changes-{slug}",
    )


def number_at(results: Results, record_id: str) -> Measured:
    """The number of a record; nothing where there is none."""
    record = results[record_id] if record_id else None
    return (
        Measured.from_record(record) if isinstance(record, (Estimate, Comparison)) else Measured()
    )


def _p(results: Results, test: str) -> AddressedText:
    if test not in results:
        return NOTHING
    bound = results.get(test, Test).p_bound
    return label(results, address(test, "p_adjusted"), p=True, bound=bound)


def summary_addresses(run: Run) -> set[str]:
    """The addresses of the numbers in the summary table, and of their intervals as texts.

    An analysis may keep one number in two records: for a condition, and as a result.
    """
    if not run.records.verdicts:
        return set()
    cells = [cell for row in requirement_table(run).rows for cell in row.values()]
    shown = [cell for cell in cells if isinstance(cell, AddressedText)]
    texts = {str(cell) for cell in shown if "[" in str(cell)}
    records = {r.record for v in run.records.verdicts for r in v.requirements if r.record}
    texts |= {address(record, "estimate") for record in records}
    return texts | {where for cell in shown for _, where in cell.parts if where}
