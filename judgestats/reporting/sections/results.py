"""Results as tables and sentences: tests, estimates, pairs, systems, and rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from judgestats.reporting.numbers import (
    NOTHING,
    AddressedText,
    Measured,
    address,
    column,
    is_missing,
    label,
    number,
)
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.conditions import (
    MOST_ROWS,
    judge_of,
    level_of,
    measured,
    omission_note,
    p_of,
    sample_rows,
    subject_of,
    titled,
)
from judgestats.reporting.sections.data import described_keys, every_key, numbers_of, stands_above
from judgestats.reporting.sections.summary import summary_addresses
from judgestats.reporting.tables import Column, Showable, Table
from judgestats.results import (
    CONDITIONS,
    About,
    Comparison,
    Estimate,
    Record,
    ResultSet,
    Test,
    kind_of_test,
    quantity_of,
)
from judgestats.results import Table as TableRecord
from judgestats.results.numbers import apa_number, with_names
from judgestats.results.records import rows_of_table
from judgestats.results.text import hangs_on, statistic_text


def pair_table(run: Run, *, full: bool = False) -> Table | None:
    """Every pair once: how large the difference is, its adjusted p, and one verdict.

    Parameters
    ----------
    run : Run
    full : bool
        All pairs, whatever their number, and on which items a ratio rests.
    """
    told = {i for h in run.records.headlines for i in (h.size, *h.rests_on)}
    found = _compared(run)
    sets: dict[tuple[str, ...], set[tuple[str, str]]] = {}
    for place, whole, member in found:
        sets.setdefault((place, *_key(run, whole, member)), set()).add((whole.hypothesis, whole.id))
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    for place, whole, member in found:
        key = _key(run, whole, member)
        alike = sets[place, *key]
        if len(alike) > 1 == len({hypothesis for hypothesis, _ in alike}):
            # only their titles tell these sets apart
            key = (titled(whole, run), *key[1:])
        line = lines.setdefault(key, {"size": None, "same": None})
        rests = member.id in told or whole.id in told  # of two sets the one of the answer
        if line[place] is None or (rests and not line[place][1]):
            line[place] = (member, rests)
    sized = {key[:3] for key in lines if quantity_of(key[3]).unit != "ranks"}
    rows = _one_a_pair([
        _pair(run, key[0], {place: one and one[0] for place, one in line.items()})
        for key, line in lines.items()
        # ranks speak only where nothing says how large a difference is
        if quantity_of(key[3]).unit != "ranks" or key[:3] not in sized
    ])  # fmt: skip
    if not rows:
        return None
    places = list(dict.fromkeys((r["of"], r["where"]) for r in rows))
    kinds = list(dict.fromkeys(of for of, _ in places))
    rows.sort(
        key=lambda r: (
            kinds.index(r["of"]), places.index((r["of"], r["where"])), bool(r["margin"]),
        )
    )  # fmt: skip
    several = len(kinds) > 1
    for row in rows:
        of = _capital(row["of"]) if several else ""
        row["group"] = ": ".join(filter(None, (of, _headed(row["where"], row["margin"]))))
    grouped = any(row["group"] for row in rows)
    for row in rows:
        row["group"] = row["group"] or "Differences" * grouped
    n_pairs = len(rows)
    if not full:
        rows = _sampled(rows, {"differs"})
    columns = [
        Column(key="pair", label="Pair"),
        Column(key="size", label="Size", align="right"),
        *([Column(key="hangs", label="Influential item")] if full else []),
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
        group="group" if grouped else "",
        caption="Pairs." if several else f"Pairs: {rows[0]['of']}.",
        note=" ".join(filter(None, notes)),
        label="tbl-pairs",
    )


def _sampled(rows: list[dict[str, Any]], first: set[str]) -> list[dict[str, Any]]:
    """As many rows as a brief report shows: no open ones, those with some verdicts first."""
    if len(rows) <= MOST_ROWS:
        return rows
    decided = [r for r in rows if r["verdict"] != "open"] or rows
    places = sample_rows(
        [r["judge"] for r in decided],
        grades=[int(r["verdict"] not in first) for r in decided],
        within=[r["group"] for r in decided],
    )
    return [decided[i] for i in places]


def _compared(run: Run) -> list[tuple[str, ResultSet, Comparison]]:
    """Every pair with the set it is in, and whether it shows a size or that two are alike."""
    return [
        ("same" if member.margin is not None else "size", whole, member)
        for whole in run.with_role("primary", "secondary") if isinstance(whole, ResultSet)
        for member in run.records.members(whole)
        if isinstance(member, Comparison)
        and member.family != "best" and not math.isnan(member.estimate)
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
    differs = size.margin is None and p_of(size)[1] <= level_of(size, run.records)
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
            row[f"{key}_rank"] = first if str(first) == str(last) else first + " to " + last
    return rows


def _mostly(rows: Sequence[dict[str, Any]], key: str) -> bool:
    """Whether at least half of the rows fill a column: an almost empty one tells little."""
    return bool(rows) and 2 * sum(r[key] is not NOTHING for r in rows) >= len(rows)


def roles(run: Run) -> tuple[str, ...]:
    """The roles of the results that a brief report shows: of a study's, what it printed too."""
    shown = ("primary", "secondary")
    return (*shown, "replicated") if run.records.kind == "replication" else shown


def _spread_out(run: Run, listed: Sequence[Record]) -> list[Record]:
    out: list[Record] = []
    for record in listed:
        members = run.records.members(record) if isinstance(record, ResultSet) else (record,)
        out += members
    return out


def _question_of(run: Run, record: Record) -> str:
    asked = (h for h in run.hypotheses if str(h.get("id")) == record.hypothesis)
    return str(next(asked, {}).get("question", "")) or record.title


def _one_a_question(tests: Sequence[Test]) -> list[Test]:
    """One verdict on what was varied for a subject: of several tests of it, the primary one."""
    kept: dict[tuple[str, str, str], Test] = {}
    for test in sorted(tests, key=lambda t: t.role != "primary"):
        kept.setdefault((test.hypothesis, test.about.varied, subject_of(test) or test.title), test)
    return list(kept.values())


def _not_elsewhere(run: Run, estimates: Sequence[Estimate], *, full: bool) -> list[Estimate]:
    """The estimates that no other table of the report shows, nor the page of a brief one."""
    drawn = set(run.records.drawing.rows if run.records.drawing and not full else ())
    above = set() if full else summary_addresses(run)
    told = _numbers_of_conditions(run, above, full=full)
    ranked = systems(run) is not None  # the table of systems holds the strengths
    return [
        e for e in estimates
        if e.id not in drawn
        and math.isfinite(e.estimate)
        and address(e.id, "estimate") not in above
        and not (ranked and e.estimand == "strength")
        and (subject_of(e), *_rounded(Measured.from_record(e))) not in told
    ]  # fmt: skip


def _pivot_estimates(
    rows: Sequence[dict[str, Any]],
) -> tuple[list[Column], list[dict[str, Any]], int] | None:
    """What is estimated alike of a few, a column each; None where that saves no space."""
    subjects = list(dict.fromkeys(row["what"] for row in rows))
    cells: dict[tuple[str, str], dict[str, Measured]] = {}
    for row in rows:
        own = cells.setdefault((row["group"], row["of"]), {})
        if row["what"] in own:
            return None
        own[row["what"]] = row["number"]
    shared = all(len(own) > 1 for own in cells.values())
    if not (shared and 1 < len(subjects) <= _MOST_BESIDE):
        return None
    out = []
    for (group, of), own in cells.items():
        texts = dict(zip(own, column([*own.values()]), strict=True))
        numbers = {f"of{i}": texts.get(name, NOTHING) for i, name in enumerate(subjects)}
        out.append({"group": group, "of": of, **numbers})
    columns = [Column(key="of", label="What")]
    columns += [Column(key=f"of{i}", label=n, align="right") for i, n in enumerate(subjects)]
    return columns, out[:MOST_ROWS], len(out)


_MOST_BESIDE = 5
"""Conditions that have a column each."""


def _but(title: str, said: str) -> str:
    """A title without what the next column says."""
    rest = title.removeprefix(f"{said}, ") if said else title
    return _capital(rest) if rest != title else title


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sort_groups(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a question together, questions in the order in which they first stand."""
    order = list(dict.fromkeys(row["group"] for row in rows))
    return sorted(rows, key=lambda row: order.index(row["group"]))


def _whole_of(run: Run, record: Record) -> str:
    """What the set that a result is part of is about, or called."""
    if record.part_of not in run.records:
        return ""
    whole = run.records[record.part_of]
    return subject_of(whole) or whole.title


def _numbers_of_conditions(
    run: Run, on_page_one: set[str], *, full: bool
) -> set[tuple[str, float, float, float]]:
    """Numbers of conditions that are shown, by condition; of a single one also without its name.

    An analysis may keep one number in two records: of a condition, and as a separate result.
    """
    out = set()
    conditions = run.table(CONDITIONS)
    keys = [k for k in numbers_of(run) if full or stands_above(run, k, on_page_one)]
    keys += every_key(run) if full else described_keys(run, on_page_one)
    for i, row in enumerate(conditions):
        for key in keys:
            number = measured(run, i, key)
            if number.is_finite:
                names = {str(row.get("condition")), *[""] * (len(conditions) == 1)}
                out |= {(name, *_rounded(number)) for name in names}
    return out


def _rounded(number: Measured) -> tuple[float, float, float]:
    low, high = (-1.0 if math.isnan(end) else round(end, 12) for end in (number.low, number.high))
    return round(number.value, 12), low, high


def results(run: Run, *, full: bool = False) -> list[Showable]:
    """Primary and secondary results: tests, estimates, pairs.

    Parameters
    ----------
    run : Run
    full : bool
        All of them, with statistics; else those that no other table of a brief report shows.
    """
    if run.records.kind == "drift" and not full:  # page one has them
        return []
    listed = run.with_role("primary", "secondary")
    of_conditions = _on_conditions(run)
    tests = [r for r in listed if isinstance(r, Test)]
    estimates = [
        r for r in _spread_out(run, listed) if isinstance(r, Estimate) and r.id not in of_conditions
    ]
    estimates = _not_elsewhere(run, estimates, full=full)
    tables: list[Showable] = [
        table_of_tests(run, tests, full=full),
        estimates_table(run, estimates, full=full),
        pair_table(run, full=full),
    ]
    if full:
        rows = [r for r in listed if isinstance(r, TableRecord) and "disagreements" not in r.id]
        tables += rows_tables(rows, label="tbl-rows", caption="Results")
    return tables


def _on_conditions(run: Run) -> set[str]:
    return {e for c in run.records.conditions for e in c.estimates.values()}


def results_tables(run: Run, records: Sequence[Record], *, label: str, caption: str) -> list[Table]:
    """Any results as tables, one for each shape: tests, estimates and pairs, rows.

    Parameters
    ----------
    run : Run
    records : sequence of Record
    label : str
        Of the tables, after ``tbl-``.
    caption : str
    """
    members = _spread_out(run, records)
    tests = [r for r in members if isinstance(r, Test)]
    sizes = [r for r in members if isinstance(r, (Estimate, Comparison))]
    rows = [r for r in members if isinstance(r, TableRecord)]
    base = caption.rstrip("?. ")
    made = [
        table_of_tests(run, tests, full=True, label=f"tbl-{label}-tests", caption=f"{base}."),
        estimates_table(
            run, sizes, full=True, label=f"tbl-{label}-estimates", caption=f"{base} (estimates)."
        ),
    ]
    tables = [table for table in made if table is not None]
    return tables + rows_tables(rows, label=f"tbl-{label}-rows", caption=base)


def table_of_tests(
    run: Run,
    tests: Sequence[Test],
    *,
    full: bool = False,
    label: str = "tbl-tests",
    caption: str = "Tests, with effect sizes.",
) -> Table | None:
    """Tests under their questions: effect with interval, adjusted p, and one verdict."""
    single = list(tests) if full else _one_a_question(tests)
    if not single:
        return None
    small = {i for h in run.records.headlines if h.claim == "equivalent" for i in h.rests_on}
    times = Counter((test.hypothesis, subject_of(test)) for test in single)
    rows = [_test_row(run, test, times, small) for test in single]
    n_tests = len(rows)
    if not full:
        rows = _sampled(rows, {r["verdict"] for r in rows} - {"", "alike", "open"})
    rows = _sort_groups(rows)
    columns = [
        Column(key="what", label="Of"),
        *([Column(key="statistic", label="Statistic", align="right")] if full else []),
        Column(key="of", label="Effect"),
        Column(key="effect", label="Size", align="right"),
        *([Column(key="plain_p", label="p", align="right")] if full else []),
        Column(key="p", label="p, adjusted", align="right"),
        Column(key="verdict", label="Verdict"),
    ]
    if all(r["effect"] is NOTHING for r in rows):
        columns = [c for c in columns if c.key not in {"of", "effect"}]
    if full and not any(test.family for test in single):
        columns = [c for c in columns if c.key != "plain_p"]
    methods = dict.fromkeys(f"{t.method} ({t.sample.n_items} items)" if t.sample else t.method
                            for t in single)  # fmt: skip
    notes = [
        "Open: neither shown nor ruled out." * any(r["verdict"] == "open" for r in rows),
        "Alike: p is that of a difference; by tests of equivalence all pairs are within the margin."
        * any(r["verdict"] == "alike" for r in rows),
        f"Methods: {'; '.join(methods)}." if full else "",
        _SMALLEST if full and any(test.p <= test.p_floor for test in single) else "",
        omission_note(len(rows), n_tests, "tests", "tests"),
    ]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group",
        caption=caption,
        note=" ".join(filter(None, notes)),
        label=label,
    )


_SMALLEST = (
    "A p-value from permutations cannot be smaller than 1 / (their number + 1): with 999 of them "
    "the smallest is .001."
)


def _test_row(
    run: Run, test: Test, times: Counter[tuple[str, str]], small: set[str]
) -> dict[str, Any]:
    subject = subject_of(test)
    alone = subject and times[test.hypothesis, subject] == 1
    effects = run.records.effects(test)
    field, p, bound = p_of(test)
    effect = Measured.from_record(effects[0]) if effects else Measured()
    of = _capital(quantity_of(effects[0].estimand).heading) if effects else ""
    otherwise = "alike" if test.id in small else "open"
    s = test.statistic
    return {
        "group": _question_of(run, test),
        "judge": judge_of(run, test),
        "what": run.condition_name(subject) if alone else _but(titled(test, run), of),
        "statistic": "" if math.isnan(s.value) else statistic_text(s.symbol, s.value, s.df),
        "effect": effect.text(),
        "of": of,
        "plain_p": label(run.records, address(test.id, "p"), p=True, bound=test.p <= test.p_floor),
        "p": label(run.records, address(test.id, field), p=True, bound=bound),
        "verdict": ""
        if math.isnan(p)
        else kind_of_test(test.test).found
        if p <= level_of(test, run.records)
        else otherwise,
    }


def estimates_table(
    run: Run,
    estimates: Sequence[Estimate | Comparison],
    *,
    full: bool = False,
    label: str = "tbl-estimates",
    caption: str = "What was estimated.",
) -> Table | None:
    """Estimates under their questions, side by side where few are estimated alike."""
    if not estimates:
        return None
    times = Counter((subject_of(e), e.estimand) for e in run.records.select(Estimate))
    rows = []
    for e in estimates:
        m = Measured.from_record(e)
        quantity = quantity_of(e.estimand).heading
        subject = subject_of(e) or _whole_of(run, e)
        pair = f": {e.a} against {e.b}" if isinstance(e, Comparison) else ""
        alone = subject in {"", e.title} or times[subject_of(e), e.estimand] == 1
        rows.append(
            {
                "group": _question_of(run, e),
                "judge": judge_of(run, e),
                "what": (run.condition_name(subject) if subject else titled(e, run))
                + with_names(pair, run.names),
                "of": _capital(quantity if alone else e.title.removesuffix(f" ({subject})")),
                "number": m,
                "value": m.text(),
                "chance": m.chance_shown(),
            }
        )
    rows = _sort_groups(rows)
    beside = None if _mostly(rows, "chance") or full else _pivot_estimates(rows)
    if beside is not None:
        columns, shown, n = beside
    else:
        columns = [
            Column(key="what", label="Of"),
            Column(key="of", label="What"),
            Column(key="value", label="Estimate", align="right"),
            Column(key="chance", label="95% of chance below", align="right"),
        ]
        within = [(row["group"], row["what"]) for row in rows]
        most = len(rows) if full else MOST_ROWS
        places = sample_rows([row["judge"] for row in rows], most, within=within)
        shown, n = [rows[i] for i in places], len(rows)
        if not (_mostly(shown, "chance") or (full and any(r["chance"] != NOTHING for r in rows))):
            columns.pop()
        for key in ("what", "of") if len(rows) > 1 else ():
            if len({row[key] for row in rows}) == 1:  # the caption says it once
                caption = f"{caption.rstrip('.')}: {rows[0][key]}."
                columns = [c for c in columns if c.key != key]
                break
    with_chance = any(r["chance"] is not NOTHING for r in rows)
    notes = [
        omission_note(len(shown), n, "estimates", "estimates"),
        "Null values of some of them are in tables/estimates.csv."
        * (with_chance and "chance" not in [c.key for c in columns]),
    ]
    return Table(
        columns=tuple(columns),
        rows=tuple(shown),
        group="group",
        caption=caption,
        note=" ".join(filter(None, notes)),
        label=label,
    )


def described(run: Run) -> list[Table]:
    """The descriptive results, which test nothing, those of conditions left out."""
    elsewhere = _on_conditions(run)
    declared = {h.get("id") for h in run.hypotheses}
    listed = [
        r for r in _spread_out(run, run.with_role("descriptive"))
        if r.id not in elsewhere and (not isinstance(r, TableRecord) or r.hypothesis in declared)
    ]  # fmt: skip
    return results_tables(run, listed, label="descriptive", caption="Descriptive results")


_MOST_KEYS = 9


def rows_tables(records: Sequence[TableRecord], *, label: str, caption: str) -> list[Table]:
    """Rows of any other kind, as they are: one table for each set of columns, at most nine.

    Results with the same columns (e.g. one per judge) are in one table, each under its title.
    """
    alike: dict[tuple[str, ...], list[TableRecord]] = {}
    for record in records:
        if record.rows:
            alike.setdefault(tuple(c.key for c in record.columns), []).append(record)
    out = []
    for number_, (keys, group) in enumerate(alike.items(), start=1):
        frame = pd.DataFrame(
            [
                dict(zip(keys, row, strict=True)) | {_TITLE: r.title, _PLACE: (r.id, i)}
                for r in group for i, row in enumerate(r.rows)
            ]
        )  # fmt: skip
        frame = _with_intervals(frame).drop(columns=_PLACE)
        kept = [c for c in frame.columns if c != _TITLE and not frame[c].isna().all()]
        kept = kept[:_MOST_KEYS]
        several = len(group) > 1
        titles = group[0].title if len(group) == 1 else ""  # of several each heads its rows
        head = "" if titles.lower().startswith(caption.lower()) else f"{caption}: "
        out.append(
            Table.from_frame(
                frame[[*kept, *([_TITLE] if several else [])]],
                caption=f"{head}{titles}." if titles else f"{caption}.",
                label=label + (f"-{number_}" if len(alike) > 1 else ""),
                group=_TITLE if several else "",
                note=" ".join(
                    f"{r.title}: {r.text}" if several else r.text for r in group if r.text
                ),
            )
        )
    return out


def _with_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with an interval instead of its ends, its level and the standard error."""
    ends = ("conf_low", "conf_high")
    if not {*ends} <= {*frame.columns}:
        return frame
    at = list(frame.columns).index(ends[0])
    texts = [_bounds(*row) for row in zip(*(frame[c] for c in (*ends, _PLACE)), strict=True)]
    out = frame.drop(
        columns=[*ends, *({"conf_level", "conf_method", "std_error"} & {*frame.columns})]
    )
    out.insert(min(at, len(out.columns)), "interval", texts)
    return out


def _bounds(low: float, high: float, at: tuple[str, int]) -> AddressedText:
    """An interval, each end with its address."""
    if is_missing(low) or is_missing(high):
        return NOTHING
    first, last = (address(at[0], f"rows.{at[1]}.{end}") for end in ("conf_low", "conf_high"))
    ends = ((number(low), first), (", ", ""), (number(high), last))
    return AddressedText((("[", ""), *ends, ("]", "")))


_TITLE, _PLACE = "result's title", "record and row"
"""Columns that group rows and say where they are: no result has one of this name."""
