"""Summary of an analysis: its facts, and the rows of its table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from judgestats.results.numbers import (
    Column,
    apa_number,
    bounds_of,
    column_decimals,
    columns_of,
    count_noun,
    estimate_parts,
)
from judgestats.results.quantities import name_of, quantity_of
from judgestats.results.records import (
    LOST,
    Comparison,
    Estimate,
    Headline,
    ResultSet,
    Row,
    Test,
)
from judgestats.results.results import Results

NOTHING = "-"
"""What stands where a number is undefined or was not asked for."""


def format_record(record: Estimate | Comparison, *, decimals: int | None = None) -> tuple[str, str]:
    """A number and its interval as they are written wherever this record is shown.

    `decimals` are those of the column that it stands in.

    Examples
    --------
    >>> from judgestats.results import Interval
    >>> e = Estimate(id="e", hypothesis="h", role="primary", title="T", estimand="icc_1_1",
    ...              estimate=0.8134, interval=Interval(low=0.751, high=0.862))
    >>> format_record(e)
    ('.81', '[.75, .86]')
    >>> from dataclasses import replace
    >>> format_record(replace(e, estimand="k_needed", estimate=3.0,
    ...     interval=Interval(low=2.0, high=6.0)))
    ('3', '(up to 6)')
    """
    if math.isnan(record.estimate):
        return NOTHING, ""
    entry, interval = quantity_of(record.estimand), record.interval
    low, high = (interval.low, interval.high) if interval else (math.nan, math.nan)
    if entry.unit == "count":
        return _count(record.estimate), _safe(record.estimate, high)
    if entry.unit in {"place", "labels"}:
        return f"{record.estimate:.0f}", f"[{low:.0f}, {high:.0f}]" if interval else ""
    if entry.unit == "USD":
        return f"${record.estimate:.4f}", ""
    if record.not_estimable:
        number, _ = estimate_parts(
            record.estimate, math.nan, math.nan, bounded=entry.bounded, decimals=decimals
        )
        return number, LOST
    return estimate_parts(record.estimate, low, high, bounded=entry.bounded, decimals=decimals)


def row_decimals(row: Row, results: Results) -> int | None:
    """The decimals of all numbers of a row of the screen."""
    numbers = [number_of(results, i) for i in row.cells.values()]
    return column_decimals((n.estimate, *bounds_of(n.interval)) for n in numbers)


def _count(value: float) -> str:
    return "not reachable" if math.isinf(value) else f"{value:,.0f}"


def _safe(value: float, high: float) -> str:
    """The end of the interval that more judgments cover."""
    if math.isnan(high) or math.isinf(value) or high <= value:
        return ""
    return "(no upper limit)" if math.isinf(high) else f"(up to {high:,.0f})"


def number_of(results: Results, result_id: str) -> Estimate | Comparison:
    """The result of this id, which is one number."""
    record = results[result_id]
    if not isinstance(record, (Estimate, Comparison)):
        raise TypeError(f"{result_id}: an estimate or a comparison was expected")
    return record


def size_of(headline: Headline, results: Results) -> Estimate | Comparison | None:
    """The number that tells how large.

    The one that is named, else an estimate, or the effect of the test. Of a set of pairs it is the
    pair farthest from nothing; the set is the last one that shows a difference, else the first.
    """
    if headline.size:
        return number_of(results, headline.size)
    rests = [results[i] for i in headline.rests_on]
    sets = [
        [r for r in results.members(record) if isinstance(r, Comparison)]
        for record in (reversed(rests) if headline.claim == "differs" else rests)
        if isinstance(record, ResultSet)
    ]
    if headline.claim == "open":  # mean differences hang less on single items than variances do
        sets.sort(key=lambda rows: not (rows and rows[0].estimand == "gmd_ratio"))
    for members in sets:
        pairs = [r for r in members if math.isfinite(r.estimate)]
        if pairs:
            return max(pairs, key=_distance)
    for record in rests:
        if isinstance(record, (Estimate, Comparison)):
            return record
        if isinstance(record, Test) and record.effects:
            return results.effects(record)[0]
    return None


def _distance(record: Comparison) -> float:
    """How far from nothing, ratios on the log scale."""
    entry = quantity_of(record.estimand)
    if entry.is_ratio:
        return abs(math.log(record.estimate)) if record.estimate > 0 else math.inf
    return abs(record.estimate - (0.0 if math.isnan(entry.nothing) else entry.nothing))


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
    told : tuple of str
        Columns that claims are about, by their labels.
    read : tuple of str
        What a file's columns were taken for.
    """

    title: str
    facts: tuple[str, ...]
    shared: str
    columns: tuple[Column, ...]
    lines: tuple[SummaryRow, ...]
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
    labels = {column.label for column in columns}
    claims = [h for h in results.headlines if h.claim in {"differs", "equivalent"}]
    told = (c for h in claims for i in h.rests_on for c in results[i].about.conditions)
    return Summary(
        title=results.title or results.experiment.replace("_", " "),
        facts=tuple(_facts(results)),
        shared=shared,
        columns=columns,
        lines=tuple(lines),
        told=tuple(dict.fromkeys(c for c in told if c in labels)),
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
