"""Summary of an analysis, and its closing advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from judgestats.results.answers import (
    NOTHING,
    Answer,
    answers_of,
    format_record,
    number_of,
    row_decimals,
)
from judgestats.results.numbers import (
    Column,
    apa_number,
    columns_of,
    count_noun,
)
from judgestats.results.quantities import name_of, quantity_of
from judgestats.results.records import Estimate, Recommendation, Row
from judgestats.results.results import Results

_MOST_NAMES = 3
_GRAVE = (
    "crosscheck",
    "simulated",
    "incomplete",
    "other_parameters",
    "not_repeated",
    "unread",
    "unanswered",
    "far_scores",
    "few_questions",
    "no_sampling",
    "few_repeats",
)
_VALID = frozenset({"people", "accuracy", "kappa", "bias", "right", "preferred"})
"""Rows that hold verdicts to what people say."""


def recommendation_lines(results: Results, names: Mapping[str, str]) -> list[str]:
    """The recommendation with its ties, as its fields say it; `names` by the conditions' labels."""

    def condition_name(label: str) -> str:
        return names.get(label, label)

    given = results.recommendation
    if given is None:
        return []
    if given.chosen:
        each = "".join(repeat_phrase(given))
        text = ", ".join(filter(None, (condition_name(given.chosen), each)))
        use = [f"{text}: {given.reason}" if given.reason else text]
        if others := [condition_name(label) for label in given.tied if label != given.chosen]:
            use.append(f"not told from it: {_few(others)}")
        return use
    if 1 < len(given.tied) <= _MOST_NAMES:
        why = given.reason or "not told apart"
        return [f"{why[0].upper()}{why[1:]}: {_few([condition_name(t) for t in given.tied])}"]
    return list(given.sentences) or [given.text]


def repeat_phrase(given: Recommendation) -> tuple[str, str, str]:
    """How many judgments of an item to take and how to make one of them: before, number, after.

    Examples
    --------
    >>> "".join(repeat_phrase(Recommendation(text="", replicates=3)))
    'average 3 judgments'
    >>> "".join(repeat_phrase(Recommendation(text="", replicates=3, counted="choices")))
    'ask 3 times and count the choices'
    """
    if given.replicates is None or given.replicates < 2:
        return ("one judgment each" if given.replicates == 1 else ""), "", ""
    number = f"{given.replicates}"
    if given.counted:
        return "ask ", number, f" times and count the {given.counted}"
    return "average ", number, " judgments"


def _few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    return "; ".join(names[:_MOST_NAMES]) + (f"; and {more} more" if more > 0 else "")


def caveats(results: Results) -> list[str]:
    """Limitations in short, the gravest first."""
    notes = sorted(
        results.limitations,
        key=lambda n: _GRAVE.index(n.code) if n.code in _GRAVE else len(_GRAVE),
    )
    minds = [str(n.values.get("short") or n.message) for n in notes]
    keys = {row.key for row in results.rows}
    if "reliability" in keys and not keys & _VALID:
        minds.append("reliability is not validity")
    return list(dict.fromkeys(minds))


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One number of the table.

    Attributes
    ----------
    column : str
        Key of its column.
    record : str
        Id of the estimate or comparison; empty where there is none.
    number, bounds : str
        As it is written, with its interval.
    reason : str
        Why the number is undefined.
    """

    column: str
    record: str = ""
    number: str = NOTHING
    bounds: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A number that holds for the whole row: what chance gives, a ceiling, a baseline."""

    words: str
    record: str
    number: str


@dataclass(frozen=True, kw_only=True)
class SummaryRow:
    """A question, answered for every column."""

    key: str
    ask: str
    short: str
    unit: str
    cells: tuple[Cell, ...]
    note: str = ""
    beside: tuple[Reference, ...] = ()
    estimand: str = ""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The abstract of one analysis.

    Attributes
    ----------
    title : str
        What was judged, or the experiment.
    facts : tuple of str
        Judges, items, repeats, what was not read, the scale.
    shared : str
        What all columns have in common.
    columns : tuple of Column
    lines : tuple of SummaryRow
    answers : tuple of Answer
    use, mind : tuple of str
        What to do; what to keep in mind, the gravest first.
    told : tuple of str
        Columns that USE advises and whose numbers the answers tell, by their labels.
    read : tuple of str
        What a file's columns were taken for.
    """

    title: str
    facts: tuple[str, ...]
    shared: str
    columns: tuple[Column, ...]
    lines: tuple[SummaryRow, ...]
    answers: tuple[Answer, ...]
    use: tuple[str, ...]
    mind: tuple[str, ...]
    told: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


def brief_of(results: Results) -> Summary:
    """The abstract of an analysis.

    Parameters
    ----------
    results : Results

    Returns
    -------
    Summary
    """
    shared, columns = columns_of(results)
    lines = [_line(row, columns, results) for row in distinguishable(results.rows)]
    answers = _answers(results, columns, lines)
    labels = {column.label for column in columns}
    chosen = results.recommendation.chosen if results.recommendation else ""
    numbered = (c for a in answers for i in a.records for c in results[i].about.conditions)
    return Summary(
        title=results.title or results.experiment.replace("_", " "),
        facts=tuple(_facts(results)),
        shared=shared,
        columns=columns,
        lines=tuple(lines),
        answers=tuple(answers),
        use=tuple(recommendation_lines(results, {c.label: c.name for c in columns})),
        mind=tuple(caveats(results)),
        told=tuple(dict.fromkeys(c for c in (chosen, *numbered) if c in labels)),
        read=tuple(map(str, (results.facts.get("design") or {}).get("understood") or ())),
    )


def _facts(results: Results) -> list[str]:
    """Judges x items x repeats, what was not read, and the scale."""
    design = results.facts.get("design") or {}
    judges = list(dict.fromkeys(c.judge for c in results.conditions if c.judge and not c.derived))
    sizes = [count_noun(len(judges), "judge", "judges")] if judges else []
    items, repeats = _sizes(results)
    if items := _whole(design.get("items")) or items:
        clusters = _whole(design.get("clusters"))
        within = f" ({count_noun(clusters, 'cluster', 'clusters')})" if 0 < clusters < items else ""
        sizes.append(count_noun(items, "item", "items") + within)
    if repeats := _whole(design.get("replicates")) or repeats:
        sizes.append(count_noun(repeats, "repeat", "repeats"))
    facts = [" × ".join(sizes)] if sizes else []
    facts += _lost_counts([c.counts for c in results.conditions if not c.derived])
    scale = design.get("scale")
    scored = any(quantity_of(row.estimand).unit == "points" for row in results.rows)
    if scored and isinstance(scale, (list, tuple)) and len(scale) == 2:
        assumed = (
            f" (assumed; --scale {float(scale[0]):g}-{float(scale[1]):g})"
            if design.get("scale_assumed")
            else ""
        )
        facts.append(f"scale {float(scale[0]):g}–{float(scale[1]):g}{assumed}")
    account = results.facts.get("account") or {}
    if account.get("requests") is not None:
        spent = float(account.get("cost_usd") or 0.0) + float(account.get("cost_in_vain_usd") or 0)
        unknown = bool(account.get("cost_unknown"))
        estimated = float(account.get("cost_estimated_usd") or 0.0)
        cost = f"${spent:.4f}" if spent else "no cost"
        if unknown and estimated:
            cost = f"cost about ${spent + estimated:.4f}, partly estimated"
        elif unknown and not spent:
            cost = "cost unknown"
        facts.append(cost)
    return facts


_NOT_UNREAD = {
    "failed": "not answered",
    "invalid_condition": "never asked",
    "not_applicable": "not applicable",
}
"""What became of judgments without a verdict that are not unread."""


def _lost_counts(counts: Sequence[Mapping[str, int]]) -> list[str]:
    """Of all judgments how many were unread; how many were not answered or never asked, if any.

    Examples
    --------
    >>> _lost_counts([{"asked": 9, "ok": 5, "truncated": 1, "failed": 1, "invalid_condition": 2}])
    ['1 of 9 unparsed, 1 not answered, 2 never asked']
    >>> _lost_counts([{"asked": 9, "ok": 9}])
    []
    """
    total = sum(c.get("asked", 0) for c in counts)
    if not total:
        return []
    gone = {words: sum(c.get(s, 0) for c in counts) for s, words in _NOT_UNREAD.items()}
    unread = total - sum(c.get("ok", 0) for c in counts) - sum(gone.values())
    first = [f"{unread:,} of {total:,} unparsed"] if unread else []
    listed = [*first, *(f"{n:,} {words}" for words, n in gone.items() if n)]
    return [", ".join(listed)] if listed else []


def _sizes(results: Results) -> tuple[int, int]:
    """Items and repeats by the samples of what the rows show, where no design tells them."""
    records = [results[i] for row in results.rows for i in row.cells.values()]
    samples = [r.sample for r in records if r.sample is not None]
    items = max((s.n_items for s in samples), default=0)
    return items, max((s.n_replications_max or s.n_replications or 0 for s in samples), default=0)


def _whole(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) and math.isfinite(value) else 0


def distinguishable(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows of which no two are called alike: their coefficients tell those apart that were.

    Verdicts and scores, say, both agree with people, the ones by accuracy, the others by r.

    Examples
    --------
    >>> rows = [Row(key=e, ask="agrees", short="people", estimand=e, cells={})
    ...         for e in ("pearson_with_human", "accuracy")]
    >>> [(r.short, r.ask) for r in distinguishable(rows)]
    [("Pearson's r", "agrees, Pearson's r"), ('accuracy', 'agrees, accuracy')]
    """
    shorts = [row.short or row.ask for row in rows]
    asks = [row.ask for row in rows]
    return tuple(
        replace(
            row,
            short=short if shorts.count(short) == 1 else name_of(row.estimand),
            ask=row.ask if asks.count(row.ask) == 1 else f"{row.ask}, {name_of(row.estimand)}",
            note=row.note if asks.count(row.ask) == 1 else "",
        )
        for row, short in zip(rows, shorts, strict=True)
    )


def _line(row: Row, columns: Sequence[Column], results: Results) -> SummaryRow:
    entry = quantity_of(row.estimand)
    ids = [row.cells.get(c.label, "") for c in columns]
    decimals = row_decimals(row, results)
    cells = [_cell(c.label, i, results, decimals) for c, i in zip(columns, ids, strict=True)]
    beside = [
        Reference(
            words=words,
            record=i,
            number=" ".join(filter(None, format_record(number_of(results, i)))),
        )
        for words, i in row.beside.items()
    ]
    return SummaryRow(
        key=row.key,
        ask=row.ask,
        short=row.short,
        unit=entry.unit if entry.unit in _UNITS else "",
        cells=tuple(cells),
        note=row.note,
        beside=(*beside, *_chance([c.record for c in cells if c.record], results)),
        estimand=row.estimand,
    )


_UNITS = frozenset({"points", "squared points", "bits", "tokens", "seconds", "ranks"})
"""Units that stand behind a row; the others show in how its numbers are written."""


def _cell(column: str, result_id: str, results: Results, decimals: int | None) -> Cell:
    if not result_id:
        return Cell(column=column)
    record = number_of(results, result_id)
    number, bounds = format_record(record, decimals=decimals)
    return Cell(
        column=column, record=result_id, number=number, bounds=bounds, reason=record.reason
    )  # fmt: skip


def _chance(ids: Sequence[str], results: Results) -> list[Reference]:
    """Below what the same number lies in 95 % of the cases in which there is nothing to find."""
    nulls = [
        (record.null.q95, record)
        for record in (number_of(results, i) for i in ids)
        if isinstance(record, Estimate)
        and record.null
        and not math.isnan(record.null.q95)
        and quantity_of(record.estimand).better == "higher"
    ]
    if not nulls:
        return []
    q95, record = max(nulls, key=lambda pair: pair[0])
    text = apa_number(q95, bounded=quantity_of(record.estimand).bounded)
    return [Reference(words="95 % of chance results: below", record=record.id, number=text)]


def _answers(
    results: Results, columns: Sequence[Column], lines: Sequence[SummaryRow]
) -> list[Answer]:
    """What is claimed; where nothing is but that something has no value, first what was found."""
    claimed = answers_of(results)
    if results.kind == "replication" and results.answer:  # how many stand, before which
        return [Answer(claim="described", text=results.answer), *claimed]
    if any(answer.claim != "undefined" for answer in claimed):
        return claimed
    described = _range(columns, lines, results)
    return [a for a in described if not claimed or a.claim != "undefined"] + claimed


def _range(
    columns: Sequence[Column], lines: Sequence[SummaryRow], results: Results
) -> list[Answer]:
    """From where to where the first row reaches, where nothing is claimed of it."""
    if not lines:
        return []
    line, names = lines[0], {c.label: c.name for c in columns}
    usable = [c for c in line.cells if c.record and c.number != NOTHING]
    if not usable:
        why = next((c.reason for c in line.cells if c.reason), "")
        text = f"{line.ask}: could not be computed" + (f" ({why})" if why else "")
        return [Answer(claim="undefined", text=text)]
    criteria = {c.label: c.criterion for c in results.conditions}
    if len(usable) < 2 or len({criteria.get(c.column, "") for c in usable}) > 1:
        return []  # criteria are not compared
    usable.sort(key=lambda c: number_of(results, c.record).estimate)
    low, high = usable[0], usable[-1]
    parts = [
        f"{names[c.column]} ({' '.join(filter(None, (c.number, c.bounds)))})" for c in (low, high)
    ]
    ask = f"{line.ask[0].upper()}{line.ask[1:]}"
    text = f"{ask}: from {parts[0]} to {parts[1]}; whether they differ is not claimed"
    return [Answer(claim="described", text=text, records=(low.record, high.record))]
