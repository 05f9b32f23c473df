"""Records printed as R prints results."""

from __future__ import annotations

import math
from collections.abc import Iterator

from judgestats.results.estimands import name_of
from judgestats.results.numbers import format_number, printed_p
from judgestats.results.parts import Interval
from judgestats.results.records import Comparison, Estimate, Record, ResultSet, Table, Test
from judgestats.results.results import Results
from judgestats.results.wording import sample_text

_MOST_ROWS = 40


def print_of(record: Record, results: Results) -> str:
    """A record as R would print it, with its effects or members.

    Examples
    --------
    >>> e = Estimate(id="e", hypothesis="h", role="primary", title="T", estimand="icc_1_1",
    ...              estimate=0.5, interval=Interval(low=0.25, high=0.75, method="F"))
    >>> print(print_of(e, Results(experiment="", question="", results=(e,))))
    ICC(1,1) = 0.5
    95 percent confidence interval: [0.25, 0.75] (F)
    """
    lines: list[str] = []
    match record:
        case Test():
            lines += _test(record, results)
        case Estimate():
            lines += _estimate(record)
        case ResultSet():
            lines += [record.method, "", *_rows(results.members(record))]
        case Table():
            head = [column.label for column in record.columns]
            lines += _columns([head, *([_cell(v) for v in row] for row in record.rows)])
        case _:
            lines += _rows([record])
    if record.reason:
        lines.append(f"undefined: {record.reason}")
    if record.sample is not None:
        lines.append(f"({sample_text(record.sample)})")
    return "\n".join([*lines, *(f"note: {note.message}" for note in record.notes)])


def _test(record: Test, results: Results) -> Iterator[str]:
    yield from (record.method, "")
    if record.data_name:
        yield f"data:  {record.data_name}"
    parts = [f"{record.statistic.symbol} = {format_number(record.statistic.value, digits=5)}"]
    parts += [f"{k} = {format_number(v, digits=5)}" for k, v in record.statistic.df.items()]
    parts.append(f"p-value {printed_p(record.p, smallest=record.p_floor)}")
    if not math.isnan(record.p_adjusted):
        parts.append(f"adjusted {_adjusted(record)}")
    yield ", ".join(parts)
    if record.alternative:
        yield f"alternative hypothesis: {record.alternative}"
    for effect in results.effects(record):
        yield from _estimate(effect)
    if record.groups:
        yield "sample estimates:"
        width = max(len(k) for k in record.groups)
        for level, value in record.groups.items():
            yield f"  {level:<{width}}  {format_number(value, digits=5)}"


def _adjusted(record: Test | Comparison) -> str:
    p = record.p_adjusted
    return printed_p(p, smallest=p if record.p_bound else 0.0)


def _estimate(record: Estimate) -> Iterator[str]:
    yield f"{record.label or name_of(record.estimand)} = {format_number(record.estimate, digits=5)}"
    if record.interval is not None:
        method = f" ({record.interval.method})" if record.interval.method else ""
        level = f"{100 * record.interval.level:g}"
        yield f"{level} percent confidence interval: {_bounds(record.interval)}{method}"
    if record.null is not None:
        null = record.null
        if null.reason:
            yield f"null ({null.hypothesis}): says nothing, {null.reason}"
        else:
            yield (
                f"null ({null.hypothesis}): mean {format_number(null.mean)}, 95th percentile "
                f"{format_number(null.q95)}, p {printed_p(null.p, smallest=null.p_floor)} "
                f"({null.draws} {'draws' if null.drawn else 'permutations'} of {null.permuted})"
            )


def _bounds(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f"[{format_number(interval.low)}, {format_number(interval.high)}]"


def _rows(records: tuple[Record, ...] | list[Record]) -> list[str]:
    """Members as a table: pairs with p and adjusted p, estimates with their intervals."""
    pairs = [r for r in records if isinstance(r, Comparison)]
    if pairs:
        rows = [["pair", "estimate", "interval", "statistic", "p", "p adjusted"]]
        for r in pairs:
            p = (printed_p(r.p, smallest=r.p_floor), _adjusted(r))
            shown = [format_number(r.statistic.value), *(text.removeprefix("= ") for text in p)]
            rows.append([f"{r.a} - {r.b}", format_number(r.estimate), _bounds(r.interval), *shown])
    else:
        rows = [["estimate of", "estimate", "interval"]]
        for record in records:
            if isinstance(record, Estimate):
                name = record.label or name_of(record.estimand)
                rows.append([name, format_number(record.estimate), _bounds(record.interval)])
    return _columns(rows)


def _cell(value: object) -> str:
    return format_number(value) if isinstance(value, float) else "" if value is None else str(value)


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = [
        "  ".join(
            text.ljust(w) if j == 0 else text.rjust(w)
            for j, (text, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows[: _MOST_ROWS + 1]
    ]
    left = len(rows) - 1 - _MOST_ROWS
    return [*lines, f"... {left} more rows"] if left > 0 else lines
