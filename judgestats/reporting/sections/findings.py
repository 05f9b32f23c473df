"""Findings, pairs, and systems."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from judgestats.reporting.display import Markdown, Showable, pointer
from judgestats.reporting.document import verbatim
from judgestats.reporting.numbers import Measured, Shown, address, column, label
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections import figures
from judgestats.reporting.sections.result_tables import (
    MOST_ROWS,
    judge_of,
    kept,
    kept_note,
    results_tables,
    shape_of,
    subject_of,
    titled,
)
from judgestats.reporting.tables import Column, Table
from judgestats.results import About, Comparison, Record, Results, ResultSet, Test, quantity_of
from judgestats.results import Table as TableRecord
from judgestats.results.numbers import apa_number, with_names
from judgestats.results.records import rows_of_table
from judgestats.results.text import ResultText, family_sentence, print_of, words_of
from judgestats.sinks import clean, escape_markdown


def pair_table(run: Run) -> Table | None:
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
    order = [(quantity_of(m.estimand).heading, run.called(_key(run, w, m)[0])) for _, w, m in found]
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
        "alike: shown to lie within it. All others: tests of a difference, 95% intervals."
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
    effect = Measured.of(size)
    if quantity_of(size.estimand).unit == "ranks":
        effects = run.records.effects(size)
        effect = Measured.of(effects[0]) if effects else effect
    return {
        "hypothesis": (line["size"] or line["same"]).hypothesis,
        "where": run.called(where),
        "margin": _margin(size),
        "level": size.interval.level if size.interval else math.nan,
        "judge": judge_of(run, size),
        "pair": with_names(f"{size.a} against {size.b}", run.names),
        "of": quantity_of(size.estimand).heading,
        "size": effect.shown(),
        "p": label(run.records, address(size.id, field), p=True, bound=bound),
        "verdict": "differs" if differs else "alike" if alike else "open",
    }


def p_of(record: Test | Comparison) -> tuple[str, float, bool]:
    """Field and value of the p that decides, and whether it is an upper bound."""
    if record.family and not math.isnan(record.p_adjusted):
        return "p_adjusted", record.p_adjusted, record.p_bound
    return "p", record.p, record.p <= record.p_floor


_RELIABILITIES = frozenset({"icc", "omega", "reliability"})
_MOST_SPOKEN = 6
_MOST_PRIMARY = 8
_MOST_TESTS = 12
_MOST_PRINTED = 16
_MOST_PRINTED_ROWS = 12


def primary(run: Run, *, tables_elsewhere: bool = False) -> list[Showable]:
    """Each primary result as a sentence, then all of them in one table.

    Parameters
    ----------
    run : Run
    tables_elsewhere : bool
        Reliabilities are left out of the table, since the document shows them in one of its own.
    """
    records = run.records
    listed = run.of_role("primary")
    if not listed:
        return [] if records.kind == "audit" else [Markdown("The plan names no primary result.")]
    spoken = [r for r in listed if not _only_in_family(r)]
    if len(spoken) > _MOST_PRIMARY:  # the tables say it better, and the appendix in full
        spoken = [r for r in spoken if shape_of(r, records) != "estimates"]
    tests = [r for r in spoken if isinstance(r, Test)]
    rest = ""
    if len(tests) > _MOST_TESTS:  # what is found; the table has all
        told = sorted((t for t in tests if _decides(t, records)), key=lambda t: p_of(t)[1])
        spoken = [r for r in spoken if r in told[:_MOST_TESTS] or r not in tests]
        n = min(len(told), _MOST_TESTS)
        rest = f"{n} of {len(tests)} tests are told, those that decide most; the table has all."
    # a family speaks for the tests that are listed nowhere else
    families = _families([r for r in listed if _only_in_family(r)])
    shown: list[Showable] = [
        Markdown(_sentences(spoken, records, families=families)),
        Markdown(rest),
    ]
    tabled = [r for r in listed if not (tables_elsewhere and r.hypothesis in _RELIABILITIES)]
    tables = results_tables(tabled, results=records, label="primary", caption="Primary results")
    return [*shown, pointer(tables, about="the primary results side by side"), *tables]


def _decides(test: Test, results: Results) -> bool:
    level = results.family(test.family).level if test.family else 0.05
    return p_of(test)[1] <= level


def _only_in_family(record: Record) -> bool:
    """Whether a test stands in the plan only as one of many of a family, which speaks for it."""
    return isinstance(record, Test) and record.id.startswith(f"{record.family or record.id}/")


def _families(records: Sequence[Record]) -> list[str]:
    """The families of tests, in order."""
    return list(dict.fromkeys(r.family for r in records if isinstance(r, Test) and r.family))


def secondary(run: Run, *, pairs_in: str = "") -> list[Showable]:
    """The secondary results by hypothesis: the question, what was found, tables and figures.

    Parameters
    ----------
    run : Run
    pairs_in : str
        The label of the section that shows all pairs (`pairs`); they are left out here then.
    """
    results, questions = run.records, _questions(run)
    shown: list[Showable] = []
    for name, records in _grouped(run).items():
        heading = questions.get(name) or records[0].title
        pictures = figures.of_hypothesis(run, name)
        compared = [r for r in records if shape_of(r, results) == "comparisons"]
        others = [r for r in records if r not in compared]
        shown.append(Markdown(f"## {escape_markdown(heading)}"))
        # ranks are shown by their diagram, the family's verdict and pairs as sentences
        spoken = [r for r in compared if not _ranks(r, results)][:_MOST_SPOKEN]
        shown.append(Markdown(_sentences(spoken, results, families=_families(others))))
        parts: list[Showable] = [
            *results_tables(others, results=results, label=_slug(name), caption=heading), *pictures
        ]  # fmt: skip
        if not pairs_in:
            parts += results_tables(compared, results=results, label=_slug(name), caption=heading)
        text = pointer(parts, about="these results").text
        if pairs_in and compared:
            text = f"{text} All pairs stand in @{pairs_in}.".strip()
        shown += [Markdown(text), *parts]
    return shown


def pairs(run: Run) -> list[Showable]:
    """All comparisons of pairs, a table for each hypothesis."""
    results, questions = run.records, _questions(run)
    shown: list[Showable] = []
    for name, records in _grouped(run).items():
        heading = questions.get(name) or records[0].title
        compared = [r for r in records if shape_of(r, results) == "comparisons"]
        shown += results_tables(compared, results=results, label=_slug(name), caption=heading)
    return shown


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "more"


def _ranks(record: Record, results: Results) -> bool:
    """Whether pairs are compared by their mean ranks."""
    members = results.members(record) if isinstance(record, ResultSet) else (record,)
    return isinstance(members[0], Comparison) and quantity_of(members[0].estimand).unit == "ranks"


def replicated(run: Run) -> list[Showable]:
    """What the replicated study printed, of these data and of its own: never the answer.

    Of its own long tables the text tells what is to be said, and where they are (`printed_tables`).
    """
    computed, printed = _computed_and_printed(run)
    parts: list[Showable] = []
    if computed:
        tables = _tabled(computed, run, "What the study would have printed of this run")
        tested = any(shape_of(r, run.records) in {"tests", "comparisons"} for r in computed)
        text = (
            "These are the tests that the replicated study printed, or that its text implies. They "
            "ignore the pairing of items, and some have the wrong size on such data; they are here "
            "to be compared with the published figures, not to conclude from."
            if tested
            else "These are the figures that the replicated study printed, computed from the "
            "judgments of this run. They are here to be compared with the published ones, not to "
            "conclude from."
        )
        parts += [Markdown(text), pointer(tables, about="these figures"), *tables]
    if printed:
        text = (
            "What follows are figures that the replicated study printed, of its own judges and "
            "items, and, where a line says so, the same figures of this run. They are here to be "
            "compared, not to conclude from."
        )
        sentences = [f"- {escape_markdown(r.text)}" for r in printed]
        tables = _tabled(printed, run)
        where = pointer(tables, about="these figures in full")
        parts += [Markdown(text), "\n".join(sentences), Markdown(where.text)]
        if not _is_long(printed):
            parts += tables
    if shape := figures.centred(run):
        parts += [pointer(shape, about="the shape of scores"), *shape]
    return parts


def printed_tables(run: Run) -> list[Showable]:
    """The replicated study's own tables for an appendix, where they are long."""
    _, printed = _computed_and_printed(run)
    return list(_tabled(printed, run)) if _is_long(printed) else []


def _computed_and_printed(run: Run) -> tuple[list[Record], list[TableRecord]]:
    """Replicated results on the judgments of this run, and tables copied from print."""
    listed = run.of_role("replicated")
    printed = [r for r in listed if isinstance(r, TableRecord)]
    return [r for r in listed if not isinstance(r, TableRecord)], printed


def _is_long(printed: Sequence[TableRecord]) -> bool:
    return sum(len(r.rows) for r in printed) > _MOST_PRINTED_ROWS


def _tabled(
    records: Sequence[Record], run: Run, caption: str = "As the study printed"
) -> Sequence[Showable]:
    return results_tables(records, results=run.records, label="replicated", caption=caption)


def replicated_section(run: Run) -> list[Showable]:
    """The replicated results with their heading, or nothing at all."""
    shown = replicated(run)
    return (
        [Markdown("# As the replicated study printed it {#sec-replicated}"), *shown]
        if shown
        else []
    )


def descriptive(run: Run) -> list[Showable]:
    """The descriptive results, which test nothing: tables only, those the text shows left out."""
    shown_above = set(_RELIABILITIES) if "icc1" in run.conditions else set()
    if "factor_strategy" in run.conditions:
        shown_above = {"cost"}
    listed = [r for r in run.of_role("descriptive") if r.hypothesis not in shown_above]
    return list(
        results_tables(
            listed, results=run.records, label="descriptive", caption="Descriptive results"
        )
    )


def _questions(run: Run) -> dict[str, str]:
    return {str(h["id"]): str(h.get("question", "")) for h in run.hypotheses if h.get("id")}


def _grouped(run: Run) -> dict[str, list[Record]]:
    """The secondary results by the hypothesis they answer, in order."""
    groups: dict[str, list[Record]] = {}
    for record in run.of_role("secondary"):
        groups.setdefault(record.hypothesis, []).append(record)
    return groups


def _sentences(records: Sequence[Record], results: Results, *, families: Sequence[str] = ()) -> str:
    """Results as sentences; a reason or verdict that several share is said once, at the end."""
    worded = [(r, w) for r in records if str(w := words_of(r, results))]
    common = _common([w for _, w in worded])
    lines = []
    for record, words in worded:
        own = ResultText(words.numbers, *("" if part in common else part for part in words[1:]))
        lines.append(f"- **{escape_markdown(record.title)}.** {sentence(str(own))}")
    lines += [f"- {sentence(family_sentence(family, results))}" for family in families]
    end = " ".join(common)
    return "\n".join([*lines, *(["", sentence(end)] if end else [])])


def _common(worded: Sequence[ResultText]) -> list[str]:
    """The reason and verdict that all of several results share."""
    if len(worded) < 2:
        return []
    kept = [set(parts) for parts in zip(*(w[1:] for w in worded), strict=True)]
    return [parts.pop() for parts in kept if len(parts) == 1 and "" not in parts]


_SIGN = re.compile(
    r"(?<![\w*\\])(F|H|L|M|N|SD|U|V|W|d|g|p|r|t|z)(?= \\[=<>] |\\\([\d., N\\=]+\\\) \\[=<>] )"
)


def sentence(text: object) -> str:
    """A result's sentence as Markdown: ends in a full stop, sentences begin with a capital.

    Letters that stand for a statistic are set in italics, as the APA manual asks.

    Examples
    --------
    >>> print(sentence("t(3) = 2.10, p < .001"))
    *t*\\(3\\) \\= 2\\.10\\, *p* \\< \\.001\\.
    """
    plain = " ".join(clean(text).split())
    plain = re.sub(r"(?<=\.\s)[a-z](?=[a-z]* )", lambda m: m.group(0).upper(), plain)
    if plain and plain[-1] not in ".!?":
        plain += "."
    return _SIGN.sub(r"*\1*", escape_markdown(plain))


def prints(run: Run, *roles: str) -> Markdown:
    """The results of some roles, printed in full as in a terminal."""
    listed = run.of_role(*roles)
    parts = [
        f"**{escape_markdown(r.title)}**\n\n" + verbatim(print_of(r, run.records))
        for r in listed[:_MOST_PRINTED]
    ]
    if len(listed) > _MOST_PRINTED:
        parts.append(f"{len(listed) - _MOST_PRINTED} further results stand in `results.json`.")
    return Markdown("\n\n".join(parts))


_ORDERS = (
    ("strength", "Strength (log odds)", "low", "high", ("best_rank", "worst_rank")),
    ("points", "Points by scores", "points_low", "points_high",
     ("best_rank_points", "worst_rank_points")),
)  # fmt: skip


def systems(run: Run) -> Table | None:
    """A row a system, the strongest by pairwise verdicts first; None where no order was made."""
    boards = [
        r for r in run.records.results
        if isinstance(r, TableRecord) and {"system", "strength"} <= {c.key for c in r.columns}
    ]  # fmt: skip
    rows: list[dict[str, Any]] = []
    for board in boards:
        rows += _rows(run, board)
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


def _rows(run: Run, board: TableRecord) -> list[dict[str, Any]]:
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


def _to(first: Shown, last: Shown) -> Shown:
    return first + " to " + last
