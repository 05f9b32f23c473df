"""Pairs of conditions in brief: one verdict a pair and question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from judgestats.reporting.runs import Run
from judgestats.reporting.sections.estimate_tables import titled
from judgestats.reporting.sections.kept import MOST_ROWS, judge_of, kept, kept_note
from judgestats.reporting.shown import Measured, address, label
from judgestats.reporting.tables import Column, Table
from judgestats.results import About, Comparison, ResultSet, Test, estimand_of
from judgestats.results.naming import with_names
from judgestats.results.numbers import apa_number

__all__ = ["p_of", "pairs"]


def pairs(run: Run) -> Table | None:
    """Every pair once: how large the difference is, its adjusted p, and one verdict."""
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
    sized = {key[:3] for key in lines if estimand_of(key[3]).unit != "ranks"}
    sizes = {  # ranks speak only where nothing says how large a difference is
        key: line for key, line in lines.items()
        if estimand_of(key[3]).unit != "ranks" or key[:3] not in sized
    }  # fmt: skip
    rows = _one_a_pair(
        [_pair(run, key[0], line) for key, line in sizes.items() if any(line.values())]
    )
    if not rows:
        return None
    several = len({r["of"] for r in rows}) > 1
    order = [(estimand_of(m.estimand).label, run.called(_key(run, w, m)[0])) for _, w, m in found]
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
    if n_pairs > MOST_ROWS:
        decided = [r for r in rows if r["verdict"] != "open"] or rows
        places = kept(
            [r["judge"] for r in decided],
            grades=[int(r["verdict"] != "differs") for r in decided],
            within=[r["group"] for r in decided],
        )
        rows = [decided[i] for i in places]
    columns = [
        Column(key="pair", label="Pair"),
        Column(key="size", label="Size", align="right"),
        Column(key="p", label="p, adjusted", align="right"),
        Column(key="verdict", label="Verdict"),
    ]
    levels = sorted({f"{100 * r['level']:g} %" for r in rows if r["margin"]})
    is_open = any(r["verdict"] == "open" for r in rows)
    notes = [
        "Open: neither a difference nor equality is shown." * is_open,
        f"Equivalence within a margin: two one-sided tests, {' and '.join(levels)} intervals; "
        "alike: shown to lie within it. All others: tests of a difference, 95 % intervals."
        if levels
        else "",
        kept_note(len(rows), n_pairs, "pairs", "pairs"),
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
    """Every pair with the set it stands in, and whether it tells a size or that two are alike."""
    return [
        ("same" if member.margin is not None else "size", whole, member)
        for whole in run.of_role("primary", "secondary") if isinstance(whole, ResultSet)
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
    """One verdict on a pair and question: of several measures the first, or one shown alike."""
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
    bounded = estimand_of(pair.estimand).bounded
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
    effect = Measured.of(size)
    if estimand_of(size.estimand).unit == "ranks":
        effects = run.records.effects(size)
        effect = Measured.of(effects[0]) if effects else effect
    return {
        "hypothesis": (line["size"] or line["same"]).hypothesis,
        "where": run.called(where),
        "margin": _margin(size),
        "level": size.interval.level if size.interval else math.nan,
        "judge": judge_of(run, size),
        "pair": with_names(f"{size.a} against {size.b}", run.names),
        "of": estimand_of(size.estimand).label,
        "size": effect.shown(),
        "p": label(run.records, address(size.id, field), p=True, bound=bound),
        "verdict": "differs" if differs else "alike" if alike else "open",
    }


def p_of(record: Test | Comparison) -> tuple[str, float, bool]:
    """Field and value of the p that decides, and whether it is an upper bound."""
    if record.family and not math.isnan(record.p_adjusted):
        return "p_adjusted", record.p_adjusted, record.p_bound
    return "p", record.p, record.p <= record.p_floor
