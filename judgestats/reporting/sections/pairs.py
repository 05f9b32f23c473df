"""Pairs with one verdict each, and systems in order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from judgestats.reporting.numbers import AddressedText, Measured, address, column, label
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.conditions import (
    MOST_ROWS,
    judge_of,
    omission_note,
    p_of,
    sample_rows,
    subject_of,
    titled,
)
from judgestats.reporting.tables import Column, Table
from judgestats.results import About, Comparison, ResultSet, quantity_of
from judgestats.results import Table as TableRecord
from judgestats.results.numbers import apa_number, with_names
from judgestats.results.records import rows_of_table
from judgestats.results.text import hangs_on


def pair_table(run: Run, *, full: bool = False) -> Table | None:
    """Every pair once: how large the difference is, its adjusted p, and one verdict.

    Parameters
    ----------
    run : Run
    full : bool
        All pairs, whatever their number, and on which items a ratio rests.
    """
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    told = {i for h in run.records.headlines for i in (h.size, *h.rests_on)}
    found = _compared(run)
    compared = sorted(  # of two sets with the same pairs the one that the answer rests on
        found, key=lambda pair: pair[1].id not in told and pair[2].id not in told
    )
    sets: dict[tuple[str, ...], set[tuple[str, str]]] = {}
    for place, whole, member in compared:
        sets.setdefault((place, *_key(run, whole, member)), set()).add((whole.hypothesis, whole.id))
    for place, whole, member in compared:
        key, alike = _key(run, whole, member), sets[place, *_key(run, whole, member)]
        if len(alike) > 1 == len({hypothesis for hypothesis, _ in alike}):
            # only their titles tell these sets apart
            key = (titled(whole, run), *key[1:])
        line = lines.setdefault(key, {"size": None, "same": None})
        if line[place] is None and not math.isnan(member.estimate):
            line[place] = member
    sized = {key[:3] for key in lines if quantity_of(key[3]).unit != "ranks"}
    sizes = {  # ranks speak only where nothing says how large a difference is
        key: line for key, line in lines.items()
        if quantity_of(key[3]).unit != "ranks" or key[:3] not in sized
    }  # fmt: skip
    rows = _one_a_pair(
        [_pair(run, key[0], line) for key, line in sizes.items() if any(line.values())]
    )
    if not rows:
        return None
    several = len({r["of"] for r in rows}) > 1
    order = [
        (quantity_of(m.estimand).heading, run.condition_name(_key(run, w, m)[0]))
        for _, w, m in found
    ]
    first_of = {pair: i for i, pair in reversed([*enumerate(order)])}
    kinds = list(dict.fromkeys(of for of, _ in order))
    rows.sort(
        key=lambda r: (
            kinds.index(r["of"]), first_of.get((r["of"], r["where"]), 0), bool(r["margin"]),
        )
    )  # fmt: skip
    for row in rows:
        of = row["of"][:1].upper() + row["of"][1:] if several else ""
        row["group"] = ": ".join(filter(None, (of, _headed(row["where"], row["margin"]))))
    if any(row["group"] for row in rows):
        for row in rows:
            row["group"] = row["group"] or "Differences"
    n_pairs = len(rows)
    if n_pairs > MOST_ROWS and not full:
        decided = [r for r in rows if r["verdict"] != "open"] or rows
        places = sample_rows(
            [r["judge"] for r in decided],
            grades=[int(r["verdict"] != "differs") for r in decided],
            within=[r["group"] for r in decided],
        )
        rows = [decided[i] for i in places]
    columns = [
        Column(key="pair", label="Pair"),
        Column(key="size", label="Size", align="right"),
        *([Column(key="depends", label="Influential item")] if full else []),
        Column(key="p", label="p, adjusted", align="right"),
        Column(key="verdict", label="Verdict"),
    ]
    columns = [c for c in columns if c.key != "hangs" or any(r["hangs"] for r in rows)]
    levels = sorted({f"{100 * r['level']:g}%" for r in rows if r["margin"]})
    is_open = any(r["verdict"] == "open" for r in rows)
    notes = [
        "Open: neither a difference nor equality is shown." * is_open,
        f"Equivalence within a margin: two one-sided tests, {' and '.join(levels)} intervals; "
        "alike: the interval is within it. All others: tests of a difference, 95% intervals."
        if levels
        else "",
        omission_note(len(rows), n_pairs, "pairs", "pairs"),
    ]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group" if any(r["group"] for r in rows) else "",
        caption="Pairs." if several else f"Pairs: {rows[0]['of']}.",
        note=" ".join(filter(None, notes)),
        label="tbl-pairs",
    )


def _compared(run: Run) -> list[tuple[str, ResultSet, Comparison]]:
    """Every pair with the set it is in, and whether it shows a size or that two are alike."""
    return [
        ("same" if member.margin is not None else "size", whole, member)
        for whole in run.with_role("primary", "secondary") if isinstance(whole, ResultSet)
        for member in run.records.members(whole)
        if isinstance(member, Comparison) and member.family != "best"
    ]  # fmt: skip


def _key(run: Run, whole: ResultSet, member: Comparison) -> tuple[str, ...]:
    """Where a pair is compared, which, and by what."""
    where = whole.about.stratum or member.about.judge
    conditions = {c.label for c in run.records.conditions}
    if whole.about == About() and not {member.a, member.b} & conditions:
        where = whole.title  # which alone says whose pairs these are
    return (where, *sorted((member.a, member.b)), member.estimand)


def _one_a_pair(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One verdict per pair and question: of several measures an equivalent one, or the first."""
    first_of: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        key = (row["hypothesis"], row["where"], row["pair"])
        first = first_of.setdefault(key, row)
        if (first["verdict"], row["verdict"]) == ("open", "alike"):
            first_of[key] = row
    return list(first_of.values())


def _headed(where: str, margin: str) -> str:
    """The heading of some pairs: tests of equivalence stand apart from those of a difference.

    Examples
    --------
    >>> _headed("judge a", "within .05"), _headed("", "within .05"), _headed("judge a", "")
    ('judge a: equivalence within .05', 'Equivalence within .05', 'judge a')
    >>> _headed("Equivalence of temperatures", "within .05")
    'Equivalence of temperatures, within .05'
    """
    if not margin or not where:
        return f"Equivalence {margin}" if margin else where
    return f"{where}{',' if where.startswith('Equivalence') else ': equivalence'} {margin}"


def _margin(pair: Comparison) -> str:
    """What counts as equivalent; empty of a pair that is tested for a difference."""
    if pair.margin is None:
        return ""
    bounded = quantity_of(pair.estimand).bounded
    low, high = (apa_number(v, bounded=bounded) for v in (pair.margin.low, pair.margin.high))
    return f"within {high}" if pair.margin.low == -pair.margin.high else f"within {low} to {high}"


def _pair(run: Run, where: str, line: dict[str, Any]) -> dict[str, Any]:
    """Its difference where that is tested, unless only the test of equivalence says something."""
    size, same = line["size"] or line["same"], line["same"]
    level = run.records.family(size.family).level if size.family else 0.05
    differs = size.margin is None and p_of(size)[1] <= level
    alike = same is not None and p_of(same)[1] <= same.margin.alpha and not differs
    if alike:
        size = same
    field, _, bound = p_of(size)
    effect = Measured.from_record(size)
    if quantity_of(size.estimand).unit == "ranks":
        effects = run.records.effects(size)
        effect = Measured.from_record(effects[0]) if effects else effect
    return {
        "hypothesis": (line["size"] or line["same"]).hypothesis,
        "where": run.condition_name(where),
        "margin": _margin(size),
        "level": size.interval.level if size.interval else math.nan,
        "judge": judge_of(run, size),
        "pair": with_names(f"{size.a} against {size.b}", run.names),
        "of": quantity_of(size.estimand).heading,
        "size": effect.text(),
        "hangs": hangs_on(size.details).strip(" ()"),
        "p": label(run.records, address(size.id, field), p=True, bound=bound),
        "verdict": "differs" if differs else "alike" if alike else "open",
    }


_ORDERS = (
    ("strength", "Strength (log odds)", "low", "high", ("best_rank", "worst_rank")),
    ("points", "Points by scores", "points_low", "points_high",
     ("best_rank_points", "worst_rank_points")),
)  # fmt: skip


def systems(run: Run) -> Table | None:
    """A row per system, the strongest by pairwise verdicts first; None where no order was made."""
    boards = [
        r for r in run.records.results
        if isinstance(r, TableRecord) and {"system", "strength"} <= {c.key for c in r.columns}
    ]  # fmt: skip
    rows: list[dict[str, Any]] = []
    for board in boards:
        rows += _board_rows(run, board)
    if not rows:
        return None
    columns = [Column(key="system", label="System")]
    for key, name, *_ in _ORDERS:
        if any(key in row for row in rows):
            columns.append(Column(key=key, label=name, align="right"))
            columns.append(Column(key=f"{key}_rank", label="Rank", align="right"))
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group" if len(boards) > 1 else "",
        caption="Systems in order of the verdicts on pairs, from their mean. The intervals of "
        "ranks hold for all systems at once.",
        label="tbl-systems",
    )


def _board_rows(run: Run, board: TableRecord) -> list[dict[str, Any]]:
    values = rows_of_table(board)
    rows: list[dict[str, Any]] = [
        {"group": subject_of(board), "system": str(v["system"])} for v in values
    ]

    def cell_address(i: int, key: str) -> str:
        return address(board.id, f"rows.{i}.{key}")

    for key, _, low, high, (best, worst) in _ORDERS:
        if key not in {c.key for c in board.columns}:
            continue
        numbers = [
            Measured(
                value=number_of(v[key]), low=number_of(v[low]), high=number_of(v[high]),
                at=(cell_address(i, key), cell_address(i, low), cell_address(i, high), ""),
            )
            for i, v in enumerate(values)
        ]  # fmt: skip
        for i, (row, shown) in enumerate(zip(rows, column(numbers), strict=True)):
            row[key] = shown
            first, last = (label(run.records, cell_address(i, c)) for c in (best, worst))
            row[f"{key}_rank"] = first if str(first) == str(last) else _to(first, last)
    return rows


def _to(first: AddressedText, last: AddressedText) -> AddressedText:
    return first + " to " + last
