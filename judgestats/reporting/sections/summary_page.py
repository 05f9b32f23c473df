"""Summary page of a report, with its answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from judgestats.reporting.display import Captioned, Markdown, Showable
from judgestats.reporting.numbers import (
    NOTHING,
    Measured,
    Shown,
    address,
    column,
    count,
    label,
    name_reliability,
    resolve,
    words,
)
from judgestats.reporting.runs import Run
from judgestats.reporting.runs import number_of as runs_number_of
from judgestats.reporting.sections.data import full_condition
from judgestats.reporting.sections.figures import answer_figure, is_drawn
from judgestats.reporting.sections.measures import heading, measured, measures
from judgestats.reporting.sections.methods import warned
from judgestats.reporting.sections.result_tables import kept, kept_note, spaced
from judgestats.reporting.sections.verdicts import requirement_table, verdict_page
from judgestats.reporting.tables import Column, Table
from judgestats.results import CONDITIONS, Comparison, Estimate, Results, Row, Test
from judgestats.results.answers import LOST, Answer, decimals_of, format_record, number_of
from judgestats.results.numbers import adjusted_p
from judgestats.results.summary import brief_of, distinguishable, repeat_phrase

_MOST = 4
"""Answers that page one has room for: the tables tell all."""
_P = re.compile(r"\bp (= )?$")


def answers(run: Run) -> Markdown:
    """The answer in a sentence a claim, as the screen says it; else the run's own sentence."""
    texts = sentences(run.records) or [words(run.records, "#answer")]
    return Markdown("::: {.answer}\n\n" + "\n\n".join(texts) + "\n\n:::")


def answer_texts(run: Run) -> list[str]:
    """What `answers` says, a text each."""
    claims = [answer.text for answer in _first(run.records)]
    return claims or [run.records.answer]


def sentences(results: Results, file: str = "") -> list[str]:
    """What is claimed, a sentence each, as Markdown.

    Parameters
    ----------
    results : Results
    file : str
        The name of the results file, where several stand on one page.
    """
    return [
        words(results, "#answer")
        if not answer.headlines and answer.text == results.answer
        else _marked(answer, results, file)
        for answer in _first(results)
    ]


def _first(results: Results) -> Sequence[Answer]:
    """The answers that page one has room for; that of all claims of a study takes none of it."""
    return brief_of(results).answers[: _MOST + (results.kind == "replication")]


def _marked(answer: Answer, results: Results, file: str) -> str:
    """The sentence; each number a span with its record, what stands between them a label."""
    out, at = [], 0
    for start, end, number in sorted(_numbers(answer, results), key=lambda n: n[0]):
        if start >= at:
            placed = number.within(file) if file else number
            # "p = " stays with its number
            before = _P.sub(lambda match: match[0].replace(" ", "\u00a0"), answer.text[at:start])
            out += [name_reliability(before), placed.markdown]
            at = end
    return "".join([*out, name_reliability(f"{answer.text[at:].rstrip('.')}.")])


def _numbers(answer: Answer, results: Results) -> Iterator[tuple[int, int, Shown]]:
    """Where each number stands in the sentence, in the order of its records and claims."""
    at = 0
    decimals = decimals_of(results)
    claimed = {f"p {adjusted_p(h)}" for h in results.headlines if h.id in answer.headlines}
    for record in (number_of(results, i) for i in answer.records):
        number, bounds = format_record(record, decimals=decimals.get(record.id))
        whole = f"{number} {bounds}" if bounds.startswith("[") else number
        start = answer.text.find(whole, at)
        if start < 0 or not math.isfinite(record.estimate):
            continue
        at = start + len(whole)
        parts = [(number, address(record.id, "estimate"))]
        if bounds == LOST:
            parts.append((f" {LOST}", ""))
        elif bounds.startswith("["):
            low, high = bounds.strip("[]").split(", ")
            parts += [(" [", ""), (low, address(record.id, "interval.low")), (", ", ""),
                      (high, address(record.id, "interval.high")), ("]", "")]  # fmt: skip
        yield start, at, Shown(tuple(parts))
        if isinstance(record, Comparison) and not math.isnan(record.p_adjusted):
            whole = f"p {adjusted_p(record)}"  # a pair's own, where the claim's is another
            if whole in claimed or (start := answer.text.find(whole, at)) < 0:
                continue
            at = start + len(whole)
            p = whole.removeprefix("p ").removeprefix("= ").replace(" ", "\u00a0")
            yield (
                at - len(whole.removeprefix("p ").removeprefix("= ")),
                at,
                Shown(((p, address(record.id, "p_adjusted")),)),
            )
    at = 0
    places = {headline.id: i for i, headline in enumerate(results.headlines)}
    for i in (places[h] for h in answer.headlines):
        whole = f"p {adjusted_p(results.headlines[i])}"
        number = whole.removeprefix("p ").removeprefix("= ")
        start = answer.text.find(whole, at)
        if start >= 0 and math.isfinite(results.headlines[i].p_adjusted):
            at = start + len(whole)
            where = address("", f"headlines.{i}.p_adjusted")
            yield at - len(number), at, Shown(((number.replace(" ", "\u00a0"), where),))


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
        The name of the results file, where several stand on one page.
    """
    names = list(dict.fromkeys(name for row in results.rows for name in row.cells))
    rows: list[dict[str, Any]] = [{"condition": name} for name in names]
    columns = [Column(key="condition", label="Condition")]
    asked = [row for row in results.rows if row.key in _TESTS]

    def placed(shown: Shown) -> Shown:
        return shown.within(file) if file else shown

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
    return Measured.of(record) if isinstance(record, (Estimate, Comparison)) else Measured()


def _p(results: Results, test: str) -> Shown:
    if test not in results:
        return NOTHING
    bound = results.get(test, Test).p_bound
    return label(results, address(test, "p_adjusted"), p=True, bound=bound)


_MOST_ROWS, _FEWEST_ROWS = 18, 4
_FEW_DRAWN = 8
"""Rows of a figure beside a long text."""
_BODY, _ROW = 7.9, 0.165
"""Inches of page one below its title and without the heading of its table, and of a row."""
_LINE, _LETTERS, _APART = 0.19, 100, 0.1
"""Inches of a line of text, its letters, and the space between paragraphs."""
_SMALL, _SMALL_LETTERS = 0.165, 125
"""The same of a caption."""
_QUESTIONS: dict[str, tuple[str, ...]] = {
    "Steady?": ("sem", "icc1", "vote_share", "reliability", "self_agreement"),
    "Right?": ("pearson", "alignment", "accuracy", "chosen_preferred", "chosen_right"),
    "True?": (),
    "Fair?": (
        "corrected",
        "swap_consistency",
        "first_preference",
        "padding_shift",
        "unrelated_wins",
    ),
}
"""What answers each question where an analysis does not say it itself; what people would give all
is only said where labels correct something."""
_MOST_OF_ONE = 2
_ASKED = {"steady": "Steady?", "right": "Right?", "true": "True?", "fair": "Fair?"}
_KEYS = {
    "sem": "steady", "reliability": "steady", "flips": "steady", "again": "steady",
    "people": "right", "accuracy": "right", "right": "right", "preferred": "right",
    "correct": "right", "best": "right", "kappa": "right",
    "truth": "true",
    "swap": "fair", "padding": "fair", "position": "fair", "grade": "fair", "lenient": "fair",
    "fair": "fair", "corrected": "fair", "unrelated": "fair", "bias": "fair",
}  # fmt: skip
"""Which of the questions a row of the screen answers."""


def page_one(run: Run) -> list[Showable]:
    """Sentence, figure, recommendation, questions."""
    records = run.records
    if records.verdicts:
        return [*verdict_page(run, _figure(run)), warned(run) or ""]
    parts: list[Showable] = [answers(run)]
    parts.append(warned(run))
    figure = _figure(run)
    parts.append(figure)
    advice = records.recommendation
    if advice is not None and advice.text:
        parts.append(Markdown(_advised(run)))
    if records.kind == "drift":  # one verdict a change: its size beside the p of its test
        return [*parts, changes(records, first="the first run", second="the second run")]
    return [*parts, questions(run, most=_row_limit(run, figure))]


def above(run: Run) -> set[str]:
    """The addresses of the numbers that page one's table shows, and those with intervals as texts.

    An analysis may keep one number in two records: for a condition, and as a result.
    """
    if run.records.verdicts:
        keys_above: Table | None = requirement_table(run)
    else:
        keys_above = questions(run, most=_row_limit(run, _figure(run)))
    cells = [cell for row in (keys_above.rows if keys_above else ()) for cell in row.values()]
    shown = [cell for cell in cells if isinstance(cell, Shown)]
    texts = {str(cell) for cell in shown if "[" in str(cell)}
    records = {r.record for v in run.records.verdicts for r in v.requirements if r.record}
    records |= {f"condition.sem.{c.label}" for c in run.records.conditions if run.records.verdicts}
    texts |= {address(record, "estimate") for record in records}
    return texts | {where for cell in shown for _, where in cell.parts if where}


def advises_repeats(run: Run) -> bool:
    """Whether what to do names a number of judgments."""
    advice = run.records.recommendation
    return advice is not None and bool(advice.replicates)


def _figure(run: Run) -> Captioned | None:
    """The figure that answers, of fewer rows where it would drive the table off the page."""
    figure, table = answer_figure(run), questions(run)
    least = min(_FEWEST_ROWS, len(table.rows)) if table is not None else 0
    if figure is None or _rows(run, figure) >= least:
        return figure
    return answer_figure(run, most=_FEW_DRAWN) or figure


def _row_limit(run: Run, figure: Captioned | None) -> int:
    """Rows that page one has room for; where those are too few the table stands on page two."""
    rows = _rows(run, figure)
    return min(rows, _MOST_ROWS) if rows >= _FEWEST_ROWS else _MOST_ROWS


def _rows(run: Run, figure: Captioned | None) -> int:
    """Rows of the table for which there is room below a figure."""
    advice = run.records.recommendation
    texts = [*answer_texts(run), advice.text if advice is not None else ""]
    high = sum(_LINE * math.ceil(len(t) / _LETTERS) + _APART for t in texts if t)
    if figure is not None:
        lines = math.ceil(len(figure.caption) / _SMALL_LETTERS)
        high += figure.figure.size[1] + _SMALL * lines + 3 * _APART
    return int((_BODY - high) / _ROW)


def _advised(run: Run) -> str:
    """What to do, as the screen says it; what of the advice names no condition stands behind."""
    records = run.records
    advice = records.recommendation
    if advice is None:
        return ""
    text = words(records, "#recommendation.text")
    if advice.chosen:
        before, number, after = repeat_phrase(advice)
        each = f", {before}" if before else ""
        if number:
            each += f"{count(records, 'recommendation.replicates').markdown}{after}"
        reason = words(records, "#recommendation.reason")
        text = (
            f"{name_reliability(run.called(advice.chosen))}{each}"
            + (f": {reason}" if reason else "")
            + "."
        )
        for i, sentence in enumerate(advice.sentences):
            if not any(name in sentence for name in {advice.chosen, *run.names.values()}):
                text += f" {words(records, address('', f'recommendation.sentences.{i}'))}"
    tied = [name for name in advice.tied if name != advice.chosen]
    told = not advice.chosen and all(run.called(name) in advice.text for name in tied)
    if 0 < len(tied) < _MOST_TIED and not told:
        first = "Tied with it" if advice.chosen else "Tied"
        text += f" {first}: {'; '.join(name_reliability(run.called(name)) for name in tied)}."
    return f"::: {{.advice}}\n\n**Use.** {text}\n\n:::"


_MOST_TIED = 6
"""Conditions that are not told apart and are named."""


def questions(run: Run, *, most: int = _MOST_ROWS) -> Table | None:
    """The four questions, a row a condition: steady, right, fair, at what price.

    Parameters
    ----------
    run : Run
    most : int
        Rows; further conditions are named to stand elsewhere.
    """
    listed = [(i, r) for i, r in enumerate(run.table(CONDITIONS))]
    compared = {str(r["condition"]) for r in run.compared}
    drawing = run.records.drawing
    listed = [
        (i, r)
        for i, r in listed
        if str(r.get("condition")) in compared and (drawing is None or is_drawn(r, drawing))
    ]
    if not listed:
        return None
    columns, cells = _answer_columns(run, listed)
    price, name = _price(run, listed) if len(cells) == len(listed) else ([], "")
    if price:
        columns.append(Column(key="price", label=f"Price?\n{name}", align="right"))
        for row, shown in zip(cells, price, strict=True):
            row["price"] = shown
    if len(columns) < 2:
        return None
    examined = [*(q for q, keys in _QUESTIONS.items() if keys), "Price?"]
    missing = [
        q for q in examined
        if not any(q in c.label for c in columns)
        and not measures(run, _QUESTIONS.get(q, ()))  # a table of conditions tells it
        and not (q == "Price?" and _price(run, listed)[0])
    ]  # fmt: skip
    notes = []
    if missing:
        asked = ", ".join(m.rstrip("?").lower() for m in missing)
        notes.append(f"Not examined by this run: {asked}.")
    if _are_designed(run):
        notes.append("“People” are the bundled bank's designed labels, which nobody gave.")
    judges = {c.label: c.judge for c in run.records.conditions}
    names = [str(r["condition"]) for _, r in listed]
    groups = [judges.get(name, "") for name in names]
    grades = spaced(run, names, groups)
    if len(names) != len(cells):  # of judges, say, rather than of conditions
        groups, grades = [""] * len(cells), []
    places = kept(groups, most, grades=grades, evenly=True)
    of = len(run.table(CONDITIONS)) if len(names) == len(cells) else len(cells)
    if short := kept_note(len(places), of, "conditions", "conditions"):
        notes.append(short)
    return Table(
        columns=tuple(columns),
        rows=tuple(cells[i] for i in places),
        caption="Can it be trusted, and at what price? Estimates with intervals.",
        note=" ".join(notes),
        label="tbl-questions",
    )


def _are_designed(run: Run) -> bool:
    """Whether the labels that pages call people's are those of the bundled bank's design."""
    own = str((run.plan.get("options") or {}).get("labels") or "designed")
    bank = run.design.get("item_source") == "bank" and own == "designed"
    coded = any(note.code == "designed_labels" for note in run.records.limitations)
    drawing = run.records.drawing
    texts = [drawing.caption if drawing else "", *answer_texts(run)]
    texts += [row.ask for row in run.records.rows]
    return coded or (bank and any("people" in text for text in texts))


def _answer_columns(
    run: Run, listed: list[tuple[int, dict[str, Any]]]
) -> tuple[list[Column], list[dict[str, Any]]]:
    """The columns of what is steady, right and fair, and their cells."""
    columns = [Column(key="what", label="Condition")]
    cells: list[dict[str, Any]] = [{"what": full_condition(r, run)} for _, r in listed]
    rows = run.records.rows
    named = [str(r["condition"]) for _, r in listed]
    answered = list(dict.fromkeys(name for row in rows for name in row.cells))
    if rows and not set(answered) & set(named):  # of judges, say, rather than of conditions
        named, cells = answered, [{"what": name} for name in answered]
    by_condition = len(cells) == len(listed)
    for question, keys in _QUESTIONS.items():
        answering = _answering(question, rows)
        for row in answering[:_MOST_OF_ONE]:
            values = [_row_value(run, row, name) for name in named]
            _add(columns, cells, f"{question}\n{row.short}", values)
        if not answering and by_condition:  # no row of the screen tells it, a condition may
            for key in measures(run, keys)[:_MOST_OF_ONE]:
                values = [measured(run, i, key) for i, _ in listed]
                _add(columns, cells, f"{question}\n{heading(key)}", values)
    return columns, cells


def _answering(question: str, rows: Sequence[Row]) -> list[Row]:
    """The rows that answer a question; of two with the same words the first, so that others fit.

    Scores and verdicts that agree with people are of different conditions: both stay.
    """
    stems = [_KEYS.get(row.key.partition("_")[0], "") for row in rows]
    asked = [row for row, stem in zip(rows, stems, strict=True) if _ASKED.get(stem) == question]
    again = {
        row.key
        for i, row in enumerate(asked)
        if any(row.ask == r.ask and set(row.cells) <= set(r.cells) for r in asked[:i])
    }
    wanted = {row.key for row in asked} - again
    return [row for row in distinguishable(rows) if row.key in wanted]


def _row_value(run: Run, row: Row, condition: str) -> Measured:
    record = run.records[row.cells[condition]] if condition in row.cells else None
    return Measured.of(record) if isinstance(record, (Estimate, Comparison)) else Measured()


def _add(
    columns: list[Column], cells: list[dict[str, Any]], label: str, values: list[Measured]
) -> None:
    if any(v.is_finite or math.isinf(v.value) for v in values):
        key = f"c{len(columns)}"
        columns.append(Column(key=key, label=label, align="right"))
        for row, text in zip(cells, column(values), strict=True):
            row[key] = text


def _price(run: Run, listed: list[tuple[int, dict[str, Any]]]) -> tuple[list[Shown], str]:
    """Money of all judgments of a condition, or their tokens where money is not known."""
    records = run.records
    if not run.all_simulated and any(runs_number_of(r.get("cost_usd")) > 0 for _, r in listed):
        return [measured(run, i, "cost_usd").shown() for i, _ in listed], "US dollars, in all"
    of_several = measures(run, ("tokens", "tokens_per_pair"))  # calls
    if of_several:
        key = of_several[0]
        taken = [measured(run, i, key) for i, _ in listed]
        shown = [Shown(((f"{m.value:,.0f}", m.at[0]),)) if m.is_finite else NOTHING for m in taken]
        return shown, "tokens per verdict" if key == "tokens" else "tokens per pair"
    repeats = {str(r["condition"]): i for i, r in enumerate(run.table("repeats"))}
    if not repeats:
        return [], ""
    out = []
    for _, row in listed:
        place = repeats.get(str(row["condition"]))
        where = address("repeats", f"rows.{place}.tokens")
        value = runs_number_of(resolve(records, where)) if place is not None else math.nan
        out.append(Shown(((f"{value:,.0f}", where),)) if math.isfinite(value) else NOTHING)
    return (out, "tokens per judgment") if any(s is not NOTHING for s in out) else ([], "")
