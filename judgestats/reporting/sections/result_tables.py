"""Results as tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Literal

import pandas as pd

from judgestats.reporting.numbers import (
    DASH,
    UNKNOWN,
    WHY_UNKNOWN,
    integer,
    interval,
    number,
    p_cell,
    positive_interval,
)
from judgestats.reporting.runs import Run
from judgestats.reporting.tables import Column, Table, filled
from judgestats.results import Comparison, Estimate, Record, Results, ResultSet, Test, quantity_of
from judgestats.results import Table as TableRecord
from judgestats.results.numbers import bounds_of
from judgestats.results.quantities import name_of
from judgestats.results.screen import size_of
from judgestats.results.text import hangs_on, statistic_text


def subject_of(record: Record) -> str:
    """What a result is about, in words: its stratum, its conditions, or its judge."""
    about = record.about
    return about.stratum or " and ".join(about.conditions) or about.judge


def titled(record: Record, run: Run) -> str:
    """A result's title, with the conditions that it names in brackets called as elsewhere."""
    title = record.title
    for label in record.about.conditions:
        title = title.replace(f"({label})", f"({run.called(label)})")
    return title


def estimates_table(
    records: Sequence[Record], *, results: Results, label: str, caption: str
) -> Table:
    """Estimates: value, interval, null reference; grouped by what they are, a row a condition."""
    rows: list[dict[str, Any]] = []
    for whole in records:
        members = results.members(whole) if isinstance(whole, ResultSet) else (whole,)
        for record in members:
            if isinstance(record, Estimate):
                rows.append(_row(record, whole))
    order = list(dict.fromkeys(row["group"] for row in rows))
    grouped = order != [_ALL] and len(order) < len(rows)
    times = Counter((row["group"], row["subject"]) for row in rows)
    for row in rows:
        alone = row["subject"] and times[row["group"], row["subject"]] == 1
        row["what"] = row["subject"] if grouped and alone else row["title"]
    if grouped:  # what holds for all conditions stands last
        order.sort(key=lambda name: name == _ALL)
        rows.sort(key=lambda row: order.index(row["group"]))
    columns = [
        Column(key="what", label="Condition" if grouped else "Result"),
        Column(key="term", label="Quantity"),
        Column(key="value", label="Estimate", align="right"),
        Column(key="ci", label="Interval", align="right"),
        Column(key="se", label="Standard error", align="right"),
        Column(key="null", label="Null mean", align="right"),
        Column(key="q95", label="Null, 95th pct.", align="right"),
        Column(key="p", label="p", format="p"),
        Column(key="n", label="Items", format="integer"),
    ]
    columns = filled(columns, rows)
    if grouped and all(row["group"] == row["term"] for row in rows):
        columns = [c for c in columns if c.key != "term"]  # the group's name says it
    columns, note = said_once(columns, rows, ("term", "n"))
    if any(c.key == "q95" for c in columns):
        note += "Null: the same computation with repeats shuffled. "
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group" if grouped else "",
        caption=f"{caption}: estimates.",
        note=note.strip(),
        label=label,
    )


_ALL = "All conditions together"


def _row(record: Estimate, whole: Record) -> dict[str, Any]:
    entry = quantity_of(record.estimand)
    zero, null = not entry.bounded, record.null
    low, high = bounds_of(record.interval)
    alone = math.isnan(low) and not math.isnan(record.std_error)
    subject = subject_of(record)
    return {
        "group": entry.heading if subject else _ALL,
        "subject": subject,
        "title": whole.title,
        "term": entry.heading,
        "value": number(record.estimate, digits=3, leading_zero=zero),
        "ci": interval(low, high, digits=3, leading_zero=zero),
        # the standard error says how sure an estimate is that has no interval
        "se": number(record.std_error, digits=4) if alone else DASH,
        "null": number(null.mean, leading_zero=zero) if null else DASH,
        "q95": number(null.q95, leading_zero=zero) if null else DASH,
        "p": p_cell(null.p, bound=null.p <= null.p_floor) if null else math.nan,
        "n": record.sample.n_items if record.sample is not None else None,
    }


def said_once(
    columns: Sequence[Column], rows: Sequence[dict[str, Any]], keys: Sequence[str]
) -> tuple[list[Column], str]:
    """The columns without those that say the same in every row, and the note that says it once."""
    kept, note = list(columns), ""
    for key in keys:
        column = next((c for c in kept if c.key == key), None)
        values = {str(row[key]) for row in rows}
        if column is not None and len(values) == 1 and len(rows) > 1:
            kept.remove(column)
            note += f"{column.heading}: {values.pop()}. "
    return kept, note


Shape = Literal["tests", "comparisons", "estimates", "rows"]


def shape_of(record: Record, results: Results) -> Shape:
    """Which table a result belongs to; a set goes where its members go."""
    if isinstance(record, ResultSet):
        members = results.members(record)
        return shape_of(members[0], results) if members else "estimates"
    if isinstance(record, Test):
        return "tests"
    if isinstance(record, Comparison):
        return "comparisons"
    return "estimates" if isinstance(record, Estimate) else "rows"


def results_tables(
    records: Sequence[Record], *, results: Results, label: str, caption: str
) -> list[Table]:
    """Results as tables, one for each shape: tests, pairs, estimates, rows."""
    base = caption.rstrip("?. ")
    shapes = {r.id: shape_of(r, results) for r in records}
    tests = [r for r in records if isinstance(r, Test)]
    sets = [r for r in records if shapes[r.id] == "comparisons"]
    estimates = [r for r in records if shapes[r.id] == "estimates"]
    rows = [r for r in records if isinstance(r, TableRecord)]
    out: list[Table] = []
    if tests:
        out.append(tests_table(tests, results=results, label=f"tbl-{label}-tests", caption=base))
    if sets:
        out.append(
            comparisons_table(sets, results=results, label=f"tbl-{label}-comparisons", caption=base)
        )
    if estimates:
        out.append(
            estimates_table(
                estimates, results=results, label=f"tbl-{label}-estimates", caption=base
            )
        )
    return out + rows_tables(rows, label=f"tbl-{label}-rows", caption=base)


def tests_table(tests: Sequence[Test], *, results: Results, label: str, caption: str) -> Table:
    """Tests: each with its own statistic, df, p, adjusted p, effect with interval.

    What is the same in all rows (the test, the effect, the number of items) is said once, under
    the table; so is a common title, where each row has a subject of its own.
    """
    subjects = [subject_of(t) for t in tests]
    own = len(set(subjects)) == len(tests) > 1 and all(subjects)
    alike = own and len({(t.hypothesis, t.test, t.method) for t in tests}) == 1
    rows: list[dict[str, Any]] = []
    for test, subject in zip(tests, subjects, strict=True):
        effects = results.effects(test)
        effect = effects[0] if effects else None
        bounded = effect is not None and quantity_of(effect.estimand).bounded
        bounds = bounds_of(effect.interval if effect else None)
        n = test.sample.n_items if test.sample is not None else None
        s = test.statistic
        has_value = not math.isnan(s.value)
        rows.append(
            {
                "what": subject if alike else test.title,
                "test": test.method,
                "statistic": statistic_text(s.symbol, s.value, s.df) if has_value else DASH,
                "p": p_cell(test.p, bound=test.p <= test.p_floor),
                "p_adjusted": p_cell(test.p_adjusted, bound=test.p_bound),
                "effect": name_of(effect.estimand) if effect else "",
                "value": number(effect.estimate, leading_zero=not bounded) if effect else DASH,
                "ci": interval(*bounds, leading_zero=not bounded),
                "n": integer(math.nan if n is None else n),
            }
        )
    columns = [
        Column(key="what", label="Result"),
        Column(key="test", label="Test"),
        Column(key="statistic", label="Statistic", align="right"),
        Column(key="p", label="p", format="p"),
        Column(key="p_adjusted", label="p, adjusted", format="p"),
        Column(key="effect", label="Effect"),
        Column(key="value", label="Value", align="right"),
        Column(key="ci", label="Interval", align="right"),
        Column(key="n", label="Items", align="right"),
    ]
    if all(math.isnan(row["p_adjusted"]) for row in rows):
        columns = [c for c in columns if c.key != "p_adjusted"]
    if all(row["value"] == DASH for row in rows):
        columns = [c for c in columns if c.key not in {"effect", "value", "ci"}]
    columns, note = said_once(columns, rows, ("test", "effect", "n"))
    if any(test.p <= test.p_floor for test in tests):
        note += _SMALLEST
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        caption=f"{caption}: tests.",
        note=note.strip(),
        label=label,
    )


_SMALLEST = (
    "A p-value from permutations cannot be smaller than 1 / (their number + 1): with 999 of them "
    "the smallest is .001. "
)


def comparisons_table(
    sets: Sequence[Record], *, results: Results, label: str, caption: str
) -> Table:
    """Pairs: estimate with interval, statistic, p before and after adjustment."""
    pairs = [
        (whole, row)
        for whole in sets
        for row in (results.members(whole) if isinstance(whole, ResultSet) else (whole,))
        if isinstance(row, Comparison)
    ]
    methods = list(dict.fromkeys(row.method for _, row in pairs))
    rows: list[dict[str, Any]] = [
        {
            "group": f"{whole.title}: {row.method}" if len(methods) > 1 else whole.title,
            "pair": f"{row.a} against {row.b}",
            "estimate": row.estimate,
            "ci": _pair_interval(row),
            "hangs": hangs_on(row.details).strip(" ()"),
            "statistic": row.statistic.value,
            "p": p_cell(row.p, bound=row.p <= row.p_floor),
            "p_adjusted": p_cell(row.p_adjusted, bound=row.p_bound),
        }
        for whole, row in pairs
    ]
    reasons = list(dict.fromkeys(row.reason for _, row in pairs if row.reason))
    names = list(dict.fromkeys(name_of(row.estimand) for _, row in pairs))
    why = f" Undefined (–): {'; '.join(reasons)}." if reasons else ""
    unknown = f" {WHY_UNKNOWN}" if any(UNKNOWN in row["ci"] for row in rows) else ""
    columns = [
        Column(key="pair", label="Pair"),
        Column(key="estimate", label="Estimate", format="number:3"),
        Column(key="ci", label="Interval", align="right"),
        Column(key="hangs", label="Influential item"),
        Column(key="statistic", label="Statistic", format="number:2"),
        Column(key="p", label="p", format="p"),
        Column(key="p_adjusted", label="p, adjusted", format="p"),
    ]
    if all(row["ci"] == DASH for row in rows):
        columns = [c for c in columns if c.key != "ci"]
    if not any(row["hangs"] for row in rows):
        columns = [c for c in columns if c.key != "hangs"]
    if not any(row.family for _, row in pairs):
        columns = [c for c in columns if c.key != "p_adjusted"]
    elif all(row["p"] == row["p_adjusted"] or math.isnan(row["p"]) for row in rows):
        columns = [c for c in columns if c.key != "p"]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group",
        caption=f"{caption}: pairs.",
        note=f"Estimate: {'; '.join(names)}. Method: {'; '.join(methods)}.{why}{unknown}",
        label=label,
    )


def _pair_interval(row: Comparison) -> str:
    """A comparison's interval; ratios may have an end that is not determined."""
    low, high = bounds_of(row.interval)
    if quantity_of(row.estimand).is_ratio:
        return positive_interval(low, high, estimate=row.estimate)
    return interval(low, high)


_MOST_COLUMNS = 9


def rows_tables(records: Sequence[TableRecord], *, label: str, caption: str) -> list[Table]:
    """Rows of any other kind, as they are: one table for each set of columns, at most nine.

    Results with the same columns (one a judge, say) stand in one table, each under its title.
    """
    alike: dict[tuple[str, ...], list[TableRecord]] = {}
    for record in records:
        if record.rows:
            alike.setdefault(tuple(c.key for c in record.columns), []).append(record)
    out = []
    for number_, (keys, group) in enumerate(alike.items(), start=1):
        frame = pd.DataFrame(
            [dict(zip(keys, row, strict=True)) | {_TITLE: r.title} for r in group for row in r.rows]
        )
        frame = _with_intervals(frame)
        kept = [c for c in frame.columns if c != _TITLE and not frame[c].isna().all()]
        kept = kept[:_MOST_COLUMNS]
        several = len(group) > 1
        titles = group[0].title if len(group) == 1 else ""  # of several each heads its rows
        head = "" if titles.lower().startswith(caption.lower()) else f"{caption}: "
        out.append(
            Table.from_frame(
                frame[[*kept, *([_TITLE] if several else [])]],
                caption=f"{head}{titles}." if titles else f"{caption}.",
                label=label + (f"-{number_}" if len(alike) > 1 else ""),
                group=_TITLE if several else "",
            )
        )
    return out


def _with_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with an interval in place of its ends, its level and the standard error."""
    ends = ("conf_low", "conf_high")
    if not {*ends} <= {*frame.columns}:
        return frame
    at = list(frame.columns).index(ends[0])
    texts = [interval(low, high) for low, high in zip(*(frame[c] for c in ends), strict=True)]
    out = frame.drop(
        columns=[*ends, *({"conf_level", "conf_method", "std_error"} & {*frame.columns})]
    )
    out.insert(min(at, len(out.columns)), "interval", texts)
    return out


_TITLE = "result's title"
"""Of the column that groups rows: no result has one of this name."""


MOST_ROWS = 24


def kept(
    groups: Sequence[Hashable],
    most: int = MOST_ROWS,
    *,
    grades: Sequence[float] = (),
    within: Sequence[Hashable] = (),
    evenly: bool = False,
) -> list[int]:
    """The places of so many rows, in their order, with some of each group.

    Parameters
    ----------
    groups : sequence
        The group of each row: its judge.
    most : int
    grades : sequence of float
        How little each row tells: the lowest stay. Without them rows tell alike.
    within : sequence
        What a row belongs to inside its group, a question say: of each some stay.
    evenly : bool
        As many of each group, whatever their grades; else the lowest grades of all stay first, and
        of each group at least one row.

    Examples
    --------
    >>> kept(["a"] * 4 + ["b"], 3)
    [0, 1, 4]
    >>> kept(["a", "a", "a", "b"], 3, grades=[1, 0, 0, 1])
    [1, 2, 3]
    >>> kept(["a"] * 4, 2, within=["x", "x", "y", "y"])
    [0, 2]
    >>> kept(["a", "a", "b", "b", "b"], 4, grades=[0, 0, 1, 1, 0], evenly=True)
    [0, 1, 2, 4]
    """
    n = len(groups)
    if n <= most:
        return [*range(n)]
    told = [grades[i] if grades else 0.0 for i in range(n)]
    inner: Counter[Hashable] = Counter()
    place = []
    for i in sorted(range(n), key=lambda i: (told[i], i)):
        key = (groups[i], within[i] if within else None)
        place.append((told[i], inner[key], i))
        inner[key] += 1
    turn: Counter[Hashable] = Counter()
    order = []
    for grade, _, i in sorted(place):  # the groups take turns
        before = turn[groups[i]]
        order.append((before if evenly else before > 0, grade, before, i))
        turn[groups[i]] += 1
    return sorted(i for *_, i in sorted(order)[:most])


def kept_note(shown: int, of: int, noun: str, file: str) -> str:
    """What a table that leaves rows out says of them; nothing of one that has them all.

    Examples
    --------
    >>> kept_note(24, 70, "tests", "tests")
    '24 of 70 tests; all of them in tables/tests.csv.'
    """
    return f"{shown} of {of} {noun}; all of them in tables/{file}.csv." if shown < of else ""


def judge_of(run: Run, record: Record) -> str:
    """The judge that a result is about; empty where it is about several, or none."""
    about, judges = record.about, {c.label: c.judge for c in run.records.conditions}
    if about.judge:
        return about.judge
    own = {judges[label] for label in about.conditions if label in judges}
    if len(own) == 1:
        return own.pop()
    return next((j for j in judges.values() if j and f"{about.stratum},".startswith(f"{j},")), "")


def told(run: Run) -> Iterator[str]:
    """The conditions that the answer is about, those whose numbers it tells before the others."""
    claims = ("differs", "equivalent", "open")
    for headline in sorted(
        (h for h in run.records.headlines if h.claim in claims), key=lambda h: claims.index(h.claim)
    ):
        if (size := size_of(headline, run.records)) is not None:
            yield from size.about.conditions
        yield from headline.about.conditions


def grades_of(run: Run, conditions: Sequence[str]) -> list[int]:
    """How little a page says of each condition elsewhere: those advised or told stand first."""
    first = {name: i for i, name in enumerate(dict.fromkeys(told(run)))}
    return [first.get(name, len(first)) for name in conditions]
