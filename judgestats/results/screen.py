"""Summary of an analysis: facts, rows, and their text on a screen."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from judgestats.deprecated import current_record
from judgestats.errors import printable
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
    Condition,
    Estimate,
    Headline,
    Record,
    ResultSet,
    Row,
    Test,
    rows_of_table,
)
from judgestats.results.results import Results
from judgestats.results.text import words_of

BOUNDS = frozenset({"sem_tail"})
"""Quantities that are limits themselves."""
NOTHING = "-"
"""The text where a number is undefined or was not asked for."""


def format_record(record: Estimate | Comparison, *, decimals: int | None = None) -> tuple[str, str]:
    """A number and its interval as they are written wherever this record is shown.

    `decimals` are those of the column that it is in.

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
    entry, (low, high) = quantity_of(record.estimand), bounds_of(record.interval)
    if entry.unit == "count":
        if math.isinf(record.estimate):
            return "not reachable", ""
        most = "(no upper limit)" if math.isinf(high) else f"(up to {high:,.0f})"
        return f"{record.estimate:,.0f}", most if high > record.estimate else ""
    if entry.unit in {"place", "labels"}:
        return f"{record.estimate:.0f}", f"[{low:.0f}, {high:.0f}]" if record.interval else ""
    if entry.unit == "USD":
        return f"${record.estimate:.4f}", ""
    if record.not_estimable or record.estimand in BOUNDS:
        number, _ = estimate_parts(
            record.estimate, math.nan, math.nan, bounded=entry.bounded, decimals=decimals
        )
        return number, "" if record.estimand in BOUNDS else LOST
    return estimate_parts(record.estimate, low, high, bounded=entry.bounded, decimals=decimals)


def record_text(record: Estimate | Comparison, *, decimals: int | None = None) -> str:
    """A record's number and its bounds in one text."""
    return " ".join(filter(None, format_record(record, decimals=decimals)))


def row_decimals(row: Row, results: Results) -> int | None:
    """The decimals of all numbers of a row of the screen."""
    numbers = [number_of(results, i) for i in row.cells.values()]
    return column_decimals((n.estimate, *bounds_of(n.interval)) for n in numbers)


def in_these_runs(record: object) -> str:
    """Text after a number that holds for these runs only; else empty.

    Parameters
    ----------
    record : object
        An estimate or a comparison, of records or of statistics.
    """
    details = getattr(record, "details", {})
    holds = "these runs" in {details.get("target"), details.get("runs")}
    return " in these runs" if holds else ""


def number_of(results: Results, result_id: str) -> Estimate | Comparison:
    """The result of this id, which is one number."""
    record = results[result_id]
    if not isinstance(record, (Estimate, Comparison)):
        raise TypeError(f"{result_id}: an estimate or a comparison was expected")
    return record


def size_of(headline: Headline, results: Results) -> Estimate | Comparison | None:
    """The number that shows how large.

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
        if headline.claim == "differs":  # a pair that differs, where one does
            pairs = [r for r in pairs if r.p_adjusted <= 0.05] or pairs
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
    """A number that holds for the whole row: the null value, a ceiling, a baseline."""

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
        What a file's columns were interpreted as.
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
"""Texts of statuses without a verdict, other than unparsed."""


def _lost_counts(counts: Sequence[Mapping[str, int]]) -> list[str]:
    """Of all judgments how many were unparsed; how many were not answered or never asked, if any.

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
    """Rows with distinct labels; the coefficient is added to equal ones.

    For example, agreement with human labels is accuracy for verdicts and r for scores.

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
        Reference(words=words, record=i, number=record_text(number_of(results, i)))
        for words, i in row.beside.items()
    ]
    errors = (number_of(results, i) for i in ids if i and row.estimand in {"sem", "icc_1_1"})
    of_runs = min(map(in_these_runs, errors), default="")
    return SummaryRow(
        key=row.key,
        ask=f"{row.ask}{of_runs}",
        short=row.short,
        unit=entry.unit if entry.unit in _UNITS else "",
        cells=tuple(cells),
        note=row.note,
        beside=(*beside, *_chance([c.record for c in cells if c.record], results)),
        estimand=row.estimand,
    )


_UNITS = frozenset({"points", "squared points", "bits", "tokens", "seconds", "ranks"})
"""Units that follow a row; the others show in how its numbers are written."""


def _cell(column: str, result_id: str, results: Results, decimals: int | None) -> Cell:
    if not result_id:
        return Cell(column=column)
    record = number_of(results, result_id)
    number, bounds = format_record(record, decimals=decimals)
    return Cell(
        column=column, record=result_id, number=number, bounds=bounds, reason=record.reason
    )  # fmt: skip


def _chance(ids: Sequence[str], results: Results) -> list[Reference]:
    """The 95th percentile of the number under the null hypothesis."""
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
    return [Reference(words="null 95th percentile", record=record.id, number=text)]


HEIGHT, WIDTH = 24, 100
_LABEL = 7
_LONGEST_NAME = 40
NEXT = 3


class Span(NamedTuple):
    """A text and how it is set: ``bold``, ``dim``, ``good``, ``bad`` or plainly."""

    text: str
    style: str = ""


Lines = list[list[Span]]


def wrap_words(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters; names with hyphens and short options are not split.

    Examples
    --------
    >>> wrap_words("of sim-typical", 12)
    ['of', 'sim-typical']
    >>> wrap_words("Say --fail 'no way'.", 17)
    ['Say', "--fail 'no way'."]
    """
    joined = _SHORT_OPTION.sub(lambda found: found[0].replace(" ", _JOINT), text)
    lines = textwrap.wrap(joined, width, break_on_hyphens=False)
    return [line.replace(_JOINT, " ") for line in lines]


_SHORT_OPTION, _JOINT = re.compile(r"--[a-z-]+ '[^'\n]{1,60}'"), "\ue000"
"""What is not split over lines, and the character between its words until they are made."""


def plain_text(lines: Lines) -> str:
    """The lines without styles."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def hanging_lines(head: str, style: str, texts: Sequence[str]) -> Lines:
    """Lines indented by a head, which the first one shows."""
    blank = " " * len(head)
    return [[Span(blank if i else head, style), Span(text)] for i, text in enumerate(texts)]


def dim_lines(texts: Sequence[str]) -> Lines:
    """Dimmed lines."""
    return [[Span(text, "dim")] for text in texts]


def rest_lines(left: int, more: str) -> Lines:
    """The line on what is not shown and where it is; none if nothing is left."""
    return dim_lines([f"{left} more: {more}" if more else f"{left} more"] if left > 0 else [])


def _clean(text: str) -> str:
    return printable(text, one_line=True)


def _name(text: str, longest: int = _LONGEST_NAME) -> str:
    text = _clean(text)
    if len(text) <= longest:
        return text
    end = longest // 3  # levels differ at the end more often than in the middle
    return f"{text[: longest - end - 3]}...{text[-end:]}"


def _cell_text(cell: Cell, *, bounds: bool = True) -> str:
    return f"{cell.number} {cell.bounds}" if bounds and cell.bounds else cell.number


def condition_table(
    brief: Summary,
    width: int,
    most: int,
    more: str,
    contrast: Sequence[Sequence[str]] = (),
) -> Lines:
    """A row per condition, with as many columns as fit, the first ones with intervals.

    With a `contrast` (labels of conditions, the baseline first) only its rows are shown, as many
    per group. Too many pairs take one row each.
    """
    half = (width + 1) // 2
    names = [_name(c.name, max(16, half)) for c in brief.columns]
    places = {column.label: i for i, column in enumerate(brief.columns)}
    told = [places[label] for label in brief.told]
    own = [[places[label] for label in labels if label in places] for labels in contrast]
    flat = list(dict.fromkeys(i for labels in own for i in labels))
    if flat and len(flat) + 2 > most and all(len(labels) == 2 for labels in own):
        return _pair_table(brief, own, width, most, more)
    cut = len(names) + 1 > most or 0 < len(flat) < len(names)
    room = max(1, most - 2)
    shown: Sequence[int] = range(len(names))
    if cut and flat:
        shown = contrast_rows(own, room, told)
    elif cut:
        shown = shared_out([column.group for column in brief.columns], room, told)
    columns = [
        [(line.short, [_cell_text(c, bounds=b) for c in line.cells]) for b in (True, False)]
        for line in brief.lines
    ]
    lines = _fitting_columns(_name(brief.shared, half), names, columns, shown, width)
    more = _more(len(names) - len(shown), more)
    return [*lines, *(dim_lines([more]) if cut else [])]


def _fitting_columns(
    shared: str,
    names: Sequence[str],
    columns: Sequence[Sequence[tuple[str, Sequence[str]]]],
    shown: Sequence[int],
    width: int,
) -> Lines:
    """Rows with as many columns as fit, of each the first form (head and texts) that does."""
    used = first = max(map(len, [*names, shared])) + 2
    lines: Lines = [[Span(f"{shared:<{first}}", "dim")]]
    lines += [[Span(f"{names[i]:<{first}}")] for i in shown]
    for forms in columns:
        for head, texts in forms:
            wide = max(map(len, [head, *texts])) + 2
            if used + wide - 2 <= width:
                lines[0].append(Span(f"{head:<{wide}}", "bold"))
                for spans, i in zip(lines[1:], shown, strict=True):
                    spans.append(Span(f"{texts[i]:<{wide}}"))
                used += wide
                break
    return lines


def _pair_table(
    brief: Summary, pairs: Sequence[Sequence[int]], width: int, most: int, more: str
) -> Lines:
    """A row per pair of conditions: each number of the baseline, then of the other level."""
    named = [[brief.columns[i].name.split(", ") for i in pair] for pair in pairs]
    names = [", ".join(p for p in one if p in other) or "" for one, other in named]
    [before], [after] = ([p for p in a if p not in b] for a, b in (named[0], named[0][::-1]))
    shared = ", ".join(filter(None, [brief.shared, f"{before} → {after.rpartition('=')[2]}"]))

    def text(line: SummaryRow, pair: Sequence[int]) -> str:
        if line.cells[pair[0]].number == NOTHING:  # of the contrast itself the interval
            return _cell_text(line.cells[pair[1]])
        return " → ".join(_cell_text(line.cells[i], bounds=False) for i in pair)

    columns = [[(line.short, [text(line, pair) for pair in pairs])] for line in brief.lines]
    shown = len(names) if len(names) < most else max(1, most - 2)
    lines = _fitting_columns(shared, names, columns, range(shown), width)
    if left := 2 * (len(names) - shown):
        lines += dim_lines([_more(left, more)])
    return lines


def contrast_rows(
    groups: Sequence[Sequence[int]], most: int, told: Sequence[int] = ()
) -> list[int]:
    """At most `most` indices of groups, equally many each: its first, those told, then the next.

    What small groups leave goes to those before them.

    Examples
    --------
    >>> contrast_rows([[6, 0, 3], [13, 7, 10]], 4, told=[10])
    [6, 0, 13, 10]
    >>> contrast_rows([[6, 0, 3], [13, 7, 10]], 7)
    [6, 0, 3, 13, 7, 10]
    >>> contrast_rows([[6, 0, 3, 1], [13, 7]], 6)
    [6, 0, 3, 1, 13, 7]
    """
    used = [list(group) for group in groups][: max(1, most // 2)]
    kept: list[int] = []
    for k, group in enumerate(used):
        room = most - len(kept)
        room = max(2, room // (len(used) - k), room - sum(map(len, used[k + 1 :])))
        others = sorted(group[1:], key=lambda i: told.index(i) if i in told else len(told))
        chosen = {*group[:1], *others[: room - 1]}
        kept += [i for i in group if i in chosen]
    return kept


def shared_out(groups: Sequence[str], most: int, told: Sequence[int] = ()) -> Sequence[int]:
    """At most `most` indices, equally many per group: first, last, and some between.

    Indices in `told`, in order of priority, replace their neighbours.

    Examples
    --------
    >>> shared_out(["a"] * 5 + ["b"] * 5, 6)
    [0, 2, 4, 5, 7, 9]
    >>> shared_out(["a"] * 5 + ["b"] * 5, 6, told=[3, 1])
    [1, 3, 4, 5, 7, 9]
    >>> shared_out(["a", "b"], 6)
    [0, 1]
    """
    own: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        own.setdefault(group, []).append(i)
    kept: list[int] = [] if len(own) <= most else [*range(most)]
    for places in own.values() if not kept else ():
        room = min(most // len(own), len(places))
        kept += [places[k * (len(places) - 1) // max(1, room - 1)] for k in range(room)]
    safe: set[int] = set()
    for i in told:
        safe.add(i)
        if i in kept:
            continue
        # Each group keeps its share, where each has one.
        free = [k for k in kept if k not in safe and (len(own) > most or groups[k] == groups[i])]
        if among := [k for k in free if groups[k] == groups[i]] or free:
            kept[kept.index(min(among, key=lambda k: abs(k - i)))] = i
    return sorted(kept)


def _more(count: int, command: str) -> str:
    text = f" and {count} more condition{'s' * (count != 1)}"
    return f"{text}: {command}" if command else text


def next_line(parts: Sequence[str], width: int, most: int = NEXT) -> Lines:
    """Next steps in a few lines, the most important first; a command is never cut.

    Steps that do not fit are left out. The first step and web addresses are always kept, and the
    terminal wraps them.
    """
    lines: list[str] = []
    room = width - _LABEL
    for part in (_clean(p) for p in parts):
        if lines and len(lines[-1]) + 3 + len(part) <= room:
            lines[-1] += f" · {part}"
        elif not lines or (
            len(lines) < most and (len(part) <= room or part.startswith(("http:", "https:")))
        ):
            lines.append(part)
    return hanging_lines("Next  ", "bold", lines)


NOT_GIVEN = "–"
"""What stands for a parameter that a run does not have."""


def differing_parameters(facts: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """The parameters in which runs differ, with the text of each run.

    Parameters
    ----------
    facts : sequence of mapping
        `Results.facts` of each run; of one that recorded no parameters nothing is known.

    Returns
    -------
    dict of name to tuple of str

    Examples
    --------
    >>> one, two = {"request_seed": "default", "seed": "0"}, {"request_seed": "7", "seed": "0"}
    >>> differing_parameters([{"parameters": one}, {"parameters": two}])
    {'request_seed': ('default', '7')}
    >>> differing_parameters([{"parameters": one}, {}])
    {}
    """
    recorded = [current_record(fact.get("parameters") or {}) for fact in facts]
    if not all(recorded):
        return {}
    names = dict.fromkeys(name for own in recorded for name in own)
    texts = {name: tuple(str(own.get(name, NOT_GIVEN)) for own in recorded) for name in names}
    return {name: own for name, own in texts.items() if len(set(own)) > 1}


def describe_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[str, str]:
    """The parameters in which two runs differ: all with their texts, and in short.

    Parameters
    ----------
    first, second : mapping
        `Results.facts`.

    Returns
    -------
    (str, str)
        Empty where none differs, or one of the runs recorded none.

    Examples
    --------
    >>> describe_changes({"parameters": {"seed": "0"}}, {"parameters": {"seed": "1"}})
    ('The runs differ in the parameter seed (0 and 1).', 'the runs differ in seed (0 and 1)')
    """
    found = differing_parameters([first, second])
    if not found:
        return "", ""
    texts = [f"{name} ({one} and {two})" for name, (one, two) in found.items()]
    noun = "parameter" if len(texts) == 1 else "parameters"
    more = f" and {len(texts) - _MOST_NAMED} more parameters" if len(texts) > _MOST_NAMED else ""
    short = f"the runs differ in {', '.join(texts[:_MOST_NAMED])}{more}"
    return f"The runs differ in the {noun} {', '.join(texts)}.", short


_MOST_NAMED = 3
"""Parameters that a screen names."""


_WIDTH = 96


_CLAIM_NOTES = frozenset({"runs", "more_runs", "wider_claim"})
"""Notes that say what a claim covers, and what that costs."""


def full_text(results: Results) -> str:
    """The rows of every condition, then every result, each test explained once.

    Parameters
    ----------
    results : Results

    Returns
    -------
    str

    Examples
    --------
    >>> from judgestats.results import Estimate
    >>> e = Estimate(id="mean.a", hypothesis="mean", role="primary", title="Mean (a)",
    ...              estimand="mean", estimate=7.5)
    >>> print(full_text(Results(experiment="x", question="How high?", results=(e,))))
    x
    <BLANKLINE>
    How high?
    <BLANKLINE>
    Mean (a):
      mean score = 7.50.
    <BLANKLINE>
    """
    brief = brief_of(results)
    names = {column.label: column.name for column in brief.columns}
    lines = [
        " · ".join((brief.title, *brief.facts)),
        *brief.read,
        "",
        *wrapped(results.question),
    ]
    if brief.lines:
        lines += ["", f"Conditions{f' ({brief.shared})' if brief.shared else ''}:"]
        lines += [text for line in brief.lines for text in _answer_lines(line, names)]
    lines.append("")
    shown = {cell.record for line in brief.lines for cell in line.cells}
    why: dict[str, int] = {}
    heads = {i for h in results.headlines for i in h.rests_on}
    for record in results.select(Record, top=True):
        if record.role in {"replicated", "descriptive"} and record.id not in heads:
            continue
        if record.id in shown and isinstance(record, Estimate):
            continue
        worded = words_of(record, results)
        if not worded.numbers:
            continue
        mark = ""
        if worded.why:
            mark = f" [{why.setdefault(worded.why, len(why) + 1)}]"
        lines += [f"{record.title}:", *wrapped(worded.numbers + mark, indent="  ")]
        within = results.members(record) if isinstance(record, ResultSet) else ()
        said = (n.message for r in (record, *within) for n in r.notes if n.code in _CLAIM_NOTES)
        lines += [t for text in said for t in wrapped(text, indent="  ")]
    if why:
        lines += ["", *(t for k, n in why.items() for t in wrapped(f"[{n}] {k}"))]
    for one in results.decisions:
        lines += ["", *(printable(str(line), one_line=True) for line in one.get("screen", ()))]
    if results.limitations:
        lines += ["", "Limits of these data:"]
        lines += [t for n in results.limitations for t in wrapped(f"- {n.message}")]
    return "\n".join([*lines, ""])


def _answer_lines(line: SummaryRow, names: dict[str, str]) -> Iterator[str]:
    """A question, and each condition's answer below it."""
    yield f"  {' '.join(filter(None, (line.ask, line.unit, line.note)))}"
    wide = max((len(names[c.column]) for c in line.cells), default=0)
    for cell in line.cells:
        if cell.record:
            text = " ".join(filter(None, (cell.number, cell.bounds)))
            why = f" ({cell.reason})" if cell.reason else ""
            yield f"    {names[cell.column]:<{wide}}  {text}{why}"
    if line.beside:
        yield f"    ({', '.join(f'{b.words} {b.number}' for b in line.beside)})"


def wrapped(text: str, *, indent: str = "") -> list[str]:
    """Text in lines of at most 96 columns, the further ones set in."""
    return textwrap.wrap(
        text, width=_WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


_MODELS = ("congeneric", "tau-equivalent")
_PARALLEL = "omega = alpha under the parallel model"


class ReliabilityRow(NamedTuple):
    """One coefficient of one condition, under its own key and no other's.

    Attributes
    ----------
    key : str
        ``omega_total``, ``alpha``, ``vote_share_reliability`` (of one choice), ``vote_share_all``
        (of the shares of all repeats) or ``omega_published``.
    label : str
    condition : str
    part : str
        The benchmark of ``omega_published``; else empty.
    estimate, low, high : float
        With the ends of its 95% interval; NaN where there is none.
    null : float
        95th percentile where items do not matter (permutations); NaN where it was not computed.
    crosscheck : mapping or None
        Another package's `value`, its `code`, and whether it `agrees`; None where none was asked.
    """

    key: str
    label: str
    condition: str
    part: str
    estimate: float
    low: float
    high: float
    null: float
    crosscheck: Mapping[str, Any] | None


def reliability_rows(results: Results) -> tuple[ReliabilityRow, ...]:
    """Omega, alpha and vote share of every condition, as far as they were estimated.

    Omega under the parallel model equals alpha: it is one row, under the key of alpha.

    Parameters
    ----------
    results : Results

    Returns
    -------
    tuple of ReliabilityRow
    """
    checked = {
        row["result"]: {"code": row["package"], "value": row["theirs"], "agrees": row["agrees"]}
        for row in (rows_of_table(results["crosscheck"]) if "crosscheck" in results else ())
        if not row["reason"]
    }
    return tuple(
        row for c in results.conditions for row in _reliability_rows(results, c.label, checked)
    )


def _reliability_rows(
    results: Results, label: str, checked: Mapping[str, Mapping[str, Any]]
) -> Iterator[ReliabilityRow]:
    wanted = [
        *(("omega_total", f"McDonald's omega ({m})", f"reliability.omega_{m}") for m in _MODELS),
        ("alpha", "Cronbach's alpha", "reliability.alpha"),
        *(
            ("omega_total", f"McDonald's omega of right choices ({m})", f"repetition.omega_{m}")
            for m in _MODELS
        ),
        ("alpha", f"Right choices: {_PARALLEL}", "repetition.omega"),
        ("vote_share_reliability", "Vote-share reliability, one choice", "reliability.one"),
        ("vote_share_all", "Vote-share reliability, all repeats", "reliability.all"),
    ]
    has_omega = any(results.estimate(f"reliability.omega_{m}.{label}") for m in _MODELS)
    found: list[tuple[str, str, str, Estimate | None]] = []
    for key, name, begun in wanted:
        is_both = begun == "reliability.alpha" and not has_omega
        title = f"{name} ({_PARALLEL})" if is_both else name
        found.append((key, title, "", results.estimate(f"{begun}.{label}")))
    begun = "published.omega."
    for record in results.select(Estimate, role="replicated", top=True):
        where = record.id.removeprefix(begun).removesuffix(f".{label}")
        if record.id == f"{begun}{where}.{label}":
            found.append(("omega_published", f"Omega as published, {where}", where, record))
    for key, title, part, one in found:
        if one is not None and not math.isnan(one.estimate):
            low, high = bounds_of(one.interval)
            null = math.nan if one.null is None else one.null.q95
            check = None if part else checked.get(one.id)
            yield ReliabilityRow(key, title, label, part, one.estimate, low, high, null, check)


def reliability_lines(results: Results) -> Lines:
    """The coefficients of one condition, for the screen of ``omega`` and of an audit with omega.

    The condition is that of the first judge with the temperature nearest to .5. At T = 0 the same
    draw is repeated, which is not a reliability.

    Parameters
    ----------
    results : Results

    Returns
    -------
    list of list of Span
        Empty where no omega was asked for.
    """
    rows = reliability_rows(results)
    if results.experiment != "omega" and not any(r.key == "omega_total" for r in rows):
        return []
    measured = {row.condition for row in rows}
    heated = [c for c in results.conditions if c.label in measured and _heat(c) != 0]
    if not heated:
        return []
    chosen = min(heated, key=lambda c: abs(_heat(c) - 0.5)).label
    shown = [row for row in rows if row.condition == chosen]
    wide = max(len(row.label) for row in shown) + 2
    basis = "omega and alpha: mean of all repeats"
    lines: Lines = [[], [Span(f"Reliability, {chosen}", "bold"), Span(f" ({basis})", "dim")]]
    for row in shown:
        point, interval = estimate_parts(row.estimate, row.low, row.high, digits=3, bounded=True)
        null = f"Null 95th percentile {apa_number(row.null, bounded=True)}"
        parts = (point, interval, "" if math.isnan(row.null) else f" {null}")
        lines.append([Span(f"{row.label:<{wide}}{' '.join(filter(None, parts))}")])
    return lines


def _heat(condition: Condition) -> float:
    value = condition.factors.get("temperature")
    return float(value) if isinstance(value, int | float) else 0.5
