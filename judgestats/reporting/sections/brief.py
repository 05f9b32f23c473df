"""The body of a brief report: design, results, checks, methods, and where the rest is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from judgestats.reporting.display import Markdown, Showable
from judgestats.reporting.numbers import (
    NOTHING,
    Measured,
    Shown,
    address,
    column,
    count,
    label,
    name_reliability,
    words,
)
from judgestats.reporting.runs import Run
from judgestats.reporting.sections import closing
from judgestats.reporting.sections.data import coefficients_of, full_condition
from judgestats.reporting.sections.findings import p_of, pair_table, systems
from judgestats.reporting.sections.measures import LOST, any_of, heading, measured, measures
from judgestats.reporting.sections.result_tables import (
    MOST_ROWS,
    grades_of,
    judge_of,
    kept,
    kept_note,
    subject_of,
    titled,
)
from judgestats.reporting.sections.study_tests import study_tests
from judgestats.reporting.sections.summary_page import above
from judgestats.reporting.tables import Column, Table
from judgestats.results import (
    CONDITIONS,
    Estimate,
    Record,
    ResultSet,
    Test,
    kind_of_test,
    quantity_of,
)

_MOST_NUMBERS = 4
_SCORES = ("mean", "sem", "icc1", "alpha", "omega")
_FEW = 12


def setting(run: Run) -> Table | Markdown | None:
    """Who judged what, how often, at what price: a row each; of one thing a sentence."""
    records = run.records
    design, account = run.design, run.facts.get("account") or {}
    rows: list[dict[str, Any]] = []

    def add(what: str, value: Shown | str | None) -> None:
        if value:
            rows.append({"what": what, "value": value})

    judges = [str(j.get("name", "")) for j in run.facts.get("judges") or []]
    add("Judges", ", ".join(judges[:8]) + (", ..." if len(judges) > 8 else ""))
    if design.get("items"):
        text = count(records, "facts.design.items")
        if design.get("clusters"):
            text = text + " in " + count(records, "facts.design.clusters") + " clusters"
        add("Items", text)
    if design.get("replicates"):
        add("Repeats", count(records, "facts.design.replicates"))
    if design.get("scale") and "mean" in run.conditions:
        ends = [count(records, f"facts.design.scale.{i}") for i in (0, 1)]
        add("Scale", ends[0] + " to " + ends[1])
    if understood := str(next(iter(design.get("understood") or ()), "")):
        add("Read as", Shown(((understood, address("", "facts.design.understood.0")),)))
    if account.get("asked"):
        asked_, answered = (count(records, f"facts.account.{k}") for k in ("asked", "answered"))
        add("Judgments", asked_ + " asked, " + answered + " answered")
    add("Items from", str(design.get("item_source") or ""))
    if not rows:
        return None
    if len(rows) == 1:
        return Markdown(name_reliability(f"{rows[0]['what']}: {rows[0]['value']}."))
    return Table(
        columns=(Column(key="what", label="Design"), Column(key="value", label="This run")),
        rows=tuple(rows),
        caption="Design of the replication."
        if run.records.kind == "replication"
        else "Design of the run.",
        label="tbl-setting",
    )


def call_store(run: Run) -> Table | None:
    """The hypotheses that are tested or answered, and how; of a study its claims say it."""
    if run.facts.get("claims"):
        return None
    listed = [h for h in run.hypotheses if h.get("role") in {"primary", "secondary"}]
    if not listed:
        return None
    return Table(
        columns=(
            Column(key="role", label="Role"),
            Column(key="question", label="Question"),
            Column(key="test", label="Method"),
        ),
        rows=tuple({k: str(h.get(k, "")) for k in ("role", "question", "test")} for h in listed),
        caption="Hypotheses and tests."
        if run.records.kind in {"audit", "replication"}
        else "Hypotheses and tests, recorded before the first judgment.",
        label="tbl-asked",
    )


def by_condition(run: Run) -> Table | None:
    """What describes the conditions and does not stand on page one."""
    keys = _described(run, above(run))
    keys += measures(run, [k for k in LOST if k in run.conditions and any_of(run, k)])
    compared = {str(r["condition"]) for r in run.compared}
    table = run.table(CONDITIONS)
    listed = [(i, r) for i, r in enumerate(table) if str(r["condition"]) in compared]
    rows: list[dict[str, Any]] = [{"what": full_condition(row, run)} for _, row in listed]
    for key in keys:
        values = [measured(run, i, key) for i, _ in listed]
        share = key in LOST
        texts = [label(run.records, m.at[0], share=True) for m in values] if share else []
        for cells, text in zip(rows, texts or column(values), strict=True):
            cells[key] = text
    bounds = {key: [measured(run, i, key) for i, _ in listed] for key in _SHORT}
    bounds = {k: values for k, values in bounds.items() if any(v.has_chance for v in values)}
    for key, values in bounds.items():
        for cells, value in zip(rows, values, strict=True):
            cells[f"chance_{key}"] = value.chance_shown()
    columns = [Column(key="what", label="Condition")]
    columns += [Column(key=k, label=heading(k), align="right") for k in keys]
    # an almost empty column tells little
    bounds = {k: v for k, v in bounds.items() if 3 * sum(m.has_chance for m in v) >= len(rows)}
    chance = []
    if 2 * sum(v.has_chance for values in bounds.values() for v in values) >= len(rows):
        for key in [k for k, values in bounds.items() if _is_one(values)]:
            highest = max((v for v in bounds.pop(key) if v.has_chance), key=lambda v: v.chance)
            text = highest.chance_shown()
            chance.append(f"{_SHORT[key]}: null 95th percentile below {text} in every condition.")
        columns += [
            Column(key=f"chance_{key}", label=f"{_SHORT[key]}: null 95th percentile", align="right")
            for key in bounds
        ]
    telling = [k for k in keys if k not in LOST] or list(LOST)
    full = [i for i, r in enumerate(rows) if any(r.get(k, NOTHING) is not NOTHING for k in telling)]
    if len(columns) < 2 or not full:
        return None
    judges = [str(listed[i][1].get("judge", "")) for i in full]
    grades = grades_of(run, [str(listed[i][1]["condition"]) for i in full])
    shown = [full[i] for i in kept(judges, grades=grades, evenly=True)]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows[i] for i in shown),
        caption="Estimates by condition.",
        note=" ".join(
            filter(None, (*chance, kept_note(len(shown), len(table), "conditions", "conditions")))
        ),
        label="tbl-by-condition",
    )


_SHORT = {
    "icc1": "ICC(1,1)", "vote_share": "One verdict", "grade_score": "Grade Score",
    "reliability": "Reliability",
}  # fmt: skip
"""The numbers of a condition of which a table says what chance gives, in short."""


def _is_one(values: Sequence[Measured]) -> bool:
    """Whether what chance gives is about the same in all rows, so that a note can say it."""
    given = [v.chance for v in values if v.has_chance]
    return len(given) == len(values) and max(given) - min(given) <= _SAME


_SAME = 0.015
"""By how much numbers may differ that one number is told for."""


def _described(run: Run, on_page_one: set[str]) -> list[str]:
    """Which numbers describe the conditions, those on page one aside."""
    keys = [k for k in measures(run, _numbers(run)) if not _stands_above(run, k, on_page_one)]
    return keys[:_MOST_NUMBERS]


def _numbers(run: Run) -> list[str]:
    return [k for k in (*_SCORES, *coefficients_of(run)) if k in run.conditions]


def _mostly(rows: Sequence[dict[str, Any]], key: str) -> bool:
    """Whether at least half of the rows fill a column: an almost empty one tells little."""
    return bool(rows) and 2 * sum(r[key] is not NOTHING for r in rows) >= len(rows)


def _stands_above(run: Run, key: str, names: set[str]) -> bool:
    """Whether page one shows these numbers, of the conditions that it has room for."""
    numbers = [measured(run, i, key) for i in range(len(run.table(CONDITIONS)))]
    return any({m.at[0], str(m.shown())} & names for m in numbers if m.is_finite)


def methods(run: Run) -> Markdown:
    """The methods of what a brief report shows."""
    told = closing.methods(run, advised=False, roles=roles(run))
    return Markdown(f"::: {{.methods}}\n\n{told.text}\n\n:::" if told.text else "")


def roles(run: Run) -> tuple[str, ...]:
    """The roles of the results that a brief report shows: of a study's, what it printed too."""
    shown = ("primary", "secondary")
    return (*shown, "replicated") if run.records.kind == "replication" else shown


def results(run: Run) -> list[Showable]:
    """Primary and secondary results, a table each of tests and of estimates; then the pairs."""
    if run.records.kind == "drift":  # page one has them
        return []
    listed = run.of_role("primary", "secondary")
    shown_above = {e for c in run.records.conditions for e in c.estimates.values()}
    tests = [r for r in listed if isinstance(r, Test)]
    estimates = [
        r for r in _spread_out(run, listed) if isinstance(r, Estimate) and r.id not in shown_above
    ]
    return [_tests(run, tests), study_tests(run), _estimates(run, estimates), pair_table(run)]


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


def _tests(run: Run, tests: Sequence[Test]) -> Table | None:
    single = _one_a_question(tests)
    if not single:
        return None
    rows = []
    small = {i for h in run.records.headlines if h.claim == "equivalent" for i in h.rests_on}
    times = Counter((test.hypothesis, subject_of(test)) for test in single)
    for test in single:
        subject = subject_of(test)
        alone = subject and times[test.hypothesis, subject] == 1
        effects = run.records.effects(test)
        level = run.records.family(test.family).level if test.family else 0.05
        field, p, bound = p_of(test)
        effect = Measured.of(effects[0]) if effects else Measured()
        of = _capital(quantity_of(effects[0].estimand).heading) if effects else ""
        otherwise = "alike" if test.id in small else "open"
        found = kind_of_test(test.test).found
        rows.append(
            {
                "group": _question_of(run, test),
                "judge": judge_of(run, test),
                "what": run.called(subject) if alone else _but(titled(test, run), of),
                "effect": effect.shown(),
                "of": of,
                "p": label(run.records, address(test.id, field), p=True, bound=bound),
                "verdict": "" if math.isnan(p) else found if p <= level else otherwise,
            }
        )
    n_tests = len(rows)
    if n_tests > MOST_ROWS:
        decided = [r for r in rows if r["verdict"] != "open"] or rows
        places = kept(
            [r["judge"] for r in decided],
            grades=[int(r["verdict"] in {"", "alike", "open"}) for r in decided],
            within=[r["group"] for r in decided],
        )
        rows = [decided[i] for i in places]
    rows = _sort_groups(rows)
    columns = [
        Column(key="what", label="Of"),
        Column(key="of", label="Effect"),
        Column(key="effect", label="Size", align="right"),
        Column(key="p", label="p, adjusted", align="right"),
        Column(key="verdict", label="Verdict"),
    ]
    if all(r["effect"] is NOTHING for r in rows):
        columns = [c for c in columns if c.key not in {"of", "effect"}]
    notes = [
        "Open: neither shown nor ruled out." * any(r["verdict"] == "open" for r in rows),
        "Alike: p is that of a difference; by tests of equivalence all pairs lie within the margin."
        * any(r["verdict"] == "alike" for r in rows),
        kept_note(len(rows), n_tests, "tests", "tests"),
    ]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group",
        caption="Tests, with effect sizes.",
        note=" ".join(filter(None, notes)),
        label="tbl-tests",
    )


def _estimates(run: Run, estimates: Sequence[Estimate]) -> Table | None:
    listed = _not_elsewhere(run, estimates)
    if not listed:
        return None
    times = Counter((subject_of(e), e.estimand) for e in estimates)
    rows = []
    for e in listed:
        m = Measured.of(e)
        entry = quantity_of(e.estimand)
        subject = subject_of(e) or _whole_of(run, e)
        alone = subject in {"", e.title} or times[subject_of(e), e.estimand] == 1
        rows.append(
            {
                "group": _question_of(run, e),
                "judge": judge_of(run, e),
                "what": run.called(subject) if subject else titled(e, run),
                "of": _capital(entry.heading if alone else e.title.removesuffix(f" ({subject})")),
                "number": m,
                "value": m.shown(),
                "chance": m.chance_shown(),
            }
        )
    rows, caption = _sort_groups(rows), "What was estimated."
    beside = None if _mostly(rows, "chance") else _pivot_estimates(rows)
    if beside is not None:
        columns, shown, n = beside
    else:
        columns = [
            Column(key="what", label="Of"),
            Column(key="of", label="What"),
            Column(key="value", label="Estimate", align="right"),
            Column(key="chance", label="95 % of chance below", align="right"),
        ]
        within = [(row["group"], row["what"]) for row in rows]
        places = kept([row["judge"] for row in rows], within=within)
        shown, n = [rows[i] for i in places], len(rows)
        if not _mostly(shown, "chance"):
            columns.pop()
        for key in ("what", "of") if len(rows) > 1 else ():
            if len({row[key] for row in rows}) == 1:  # the caption says it once
                caption = f"What was estimated: {rows[0][key]}."
                columns = [c for c in columns if c.key != key]
                break
    with_chance = any(r["chance"] is not NOTHING for r in rows)
    notes = [
        kept_note(len(shown), n, "estimates", "estimates"),
        "What chance gives for some of them stands in tables/estimates.csv."
        * (with_chance and "chance" not in [c.key for c in columns]),
    ]
    return Table(
        columns=tuple(columns),
        rows=tuple(shown),
        group="group",
        caption=caption,
        note=" ".join(filter(None, notes)),
        label="tbl-estimates",
    )


def _not_elsewhere(run: Run, estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates that neither page one nor another table of the report shows."""
    first = above(run)
    drawn = set(run.records.drawing.rows if run.records.drawing else ())
    left = [e for e in estimates if e.id not in drawn and math.isfinite(e.estimate)]
    left = [e for e in left if address(e.id, "estimate") not in first]
    if systems(run) is not None:  # the table of systems holds them
        left = [e for e in left if e.estimand != "strength"]
    described = _numbers_of_conditions(run, first)
    return [e for e in left if (subject_of(e), *_rounded(Measured.of(e))) not in described]


def _pivot_estimates(
    rows: Sequence[dict[str, Any]],
) -> tuple[list[Column], list[dict[str, Any]], int] | None:
    """What is estimated alike of a few, a column each; None where that saves no room."""
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


def _numbers_of_conditions(run: Run, on_page_one: set[str]) -> set[tuple[str, float, float, float]]:
    """Numbers of conditions that are shown, by condition, and once more without its name.

    An analysis may keep one number in two records: of a condition, and as a result of its own.
    """
    out = set()
    keys = [k for k in _numbers(run) if _stands_above(run, k, on_page_one)]
    keys += _described(run, on_page_one)
    for i, row in enumerate(run.table(CONDITIONS)):
        for key in keys:
            number = measured(run, i, key)
            if number.is_finite:
                numbers = _rounded(number)
                out |= {(str(row.get("condition")), *numbers), ("", *numbers)}
    return out


def _rounded(number: Measured) -> tuple[float, float, float]:
    low, high = (-1.0 if math.isnan(end) else round(end, 12) for end in (number.low, number.high))
    return round(number.value, 12), low, high


def limits(run: Run) -> Markdown:
    """What is to be minded, each as its record says it."""
    records = run.records
    listed = [
        words(records, address("", f"limitations.{i}.message"))
        for i in range(len(records.limitations))
    ]
    if not listed:
        return Markdown("The data gave cause for no limitation beyond those of the design.")
    shown = listed[:_FEW]
    return Markdown("\n".join(f"- {text}" for text in shown))
