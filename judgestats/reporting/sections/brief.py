"""The body of a brief report: design, results, checks, methods, and where the rest is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from judgestats.reporting.runs import Run
from judgestats.reporting.sections.data import coefficients_of, full_condition
from judgestats.reporting.sections.estimate_tables import subject_of, titled
from judgestats.reporting.sections.measures import LOST, any_of, heading, measured, measures
from judgestats.reporting.sections.page_one import above
from judgestats.reporting.sections.pairs import p_of, pairs
from judgestats.reporting.sections.systems import systems
from judgestats.reporting.show import Markdown, Showable
from judgestats.reporting.shown import (
    NOTHING,
    Measured,
    Shown,
    address,
    column,
    count,
    label,
    words,
)
from judgestats.reporting.tables import Column, Table
from judgestats.results import (
    CONDITIONS,
    Estimate,
    Record,
    ResultSet,
    Test,
    estimand_of,
    kind_of_test,
)

__all__ = ["asked", "by_condition", "limits", "results", "setting"]

_MOST_ROWS = 24
_MOST_NUMBERS = 4
_SCORES = ("mean", "sem", "icc1", "omega")
_FEW = 12


def setting(run: Run) -> Table | None:
    """Who judged what, how often, at what price: a row each."""
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
            text = text + " from " + count(records, "facts.design.clusters") + " questions"
        add("Items", text)
    if design.get("replicates"):
        add("Judgments of each", count(records, "facts.design.replicates"))
    if design.get("scale") and "mean" in run.conditions:
        ends = [count(records, f"facts.design.scale.{i}") for i in (0, 1)]
        add("Scale", ends[0] + " to " + ends[1])
    if account.get("asked"):
        asked_, answered = (count(records, f"facts.account.{k}") for k in ("asked", "answered"))
        add("Judgments", asked_ + " asked, " + answered + " answered")
    add("Items from", str(design.get("item_source") or ""))
    if not rows:
        return None
    return Table(
        columns=(Column(key="what", label="Design"), Column(key="value", label="This run")),
        rows=tuple(rows),
        caption="What was asked of whom.",
        label="tbl-setting",
    )


def asked(run: Run) -> Table | None:
    """The hypotheses that are tested or answered, and how."""
    listed = [
        h for h in run.plan.get("hypotheses") or run.facts.get("families") or []
        if h.get("role") in {"primary", "secondary"}
    ]  # fmt: skip
    if not listed:
        return None
    return Table(
        columns=(
            Column(key="role", label="Role"),
            Column(key="question", label="Question"),
            Column(key="test", label="Answered by"),
        ),
        rows=tuple({k: str(h.get(k, "")) for k in ("role", "question", "test")} for h in listed),
        caption="The plan, as it was declared."
        if run.records.kind in {"audit", "replication"}
        else "The plan, written to the run before the first judgment was asked for.",
        label="tbl-asked",
    )


def by_condition(run: Run) -> Table | None:
    """What describes the conditions and does not stand on page one."""
    keys = _described(run, above(run))
    lost = [k for k in LOST if k in run.conditions and (k == LOST[0] or any_of(run, k))]
    keys += measures(run, lost)
    kept = {str(r["condition"]) for r in run.compared}
    listed = [(i, r) for i, r in enumerate(run.table(CONDITIONS)) if str(r["condition"]) in kept]
    rows: list[dict[str, Any]] = [{"what": full_condition(row, run)} for _, row in listed]
    for key in keys:
        values = [measured(run, i, key) for i, _ in listed]
        share = key in LOST
        texts = [label(run.records, m.at[0], share=True) for m in values] if share else []
        for cells, text in zip(rows, texts or column(values), strict=True):
            cells[key] = text
    for cells, (i, _) in zip(rows, listed, strict=True):
        bound = next((m for k in ("icc1", "vote_share", "grade_score", "reliability")
                      if math.isfinite((m := measured(run, i, k)).chance)), None)  # fmt: skip
        cells["chance"] = bound.chance_shown() if bound else NOTHING
    columns = [Column(key="what", label="Condition")]
    columns += [Column(key=k, label=heading(k), align="right") for k in keys]
    if _mostly(rows, "chance"):
        columns.append(
            Column(key="chance", label="Reliability: 95 % of chance below", align="right")
        )
    telling = [c.key for c in columns[1:] if c.key != LOST[0]] or list(LOST)
    rows = [r for r in rows if any(r[k] is not NOTHING for k in telling if k in r)]
    if len(columns) < 2 or not rows:
        return None
    more = len(rows) - _MOST_ROWS
    return Table(
        columns=tuple(columns),
        rows=tuple(rows[:_MOST_ROWS]),
        caption="By condition.",
        note="Further conditions stand in tables/conditions.csv." if more > 0 else "",
        label="tbl-by-condition",
    )


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
    return [_tests(run, tests), _estimates(run, estimates), pairs(run)]


def _spread_out(run: Run, listed: Sequence[Record]) -> list[Record]:
    out: list[Record] = []
    for record in listed:
        members = run.records.members(record) if isinstance(record, ResultSet) else (record,)
        out += members
    return out


def _question_of(run: Run, record: Record) -> str:
    for h in run.plan.get("hypotheses") or run.facts.get("families") or []:
        if str(h.get("id")) == record.hypothesis:
            return str(h.get("question", "")) or record.title
    return record.title


def _one_a_question(tests: Sequence[Test]) -> list[Test]:
    """One verdict on what was varied for a subject: of several tests of it, the primary one."""
    kept: dict[tuple[str, str, str], Test] = {}
    for test in sorted(tests, key=lambda t: t.role != "primary"):
        kept.setdefault((test.hypothesis, test.about.varied, subject_of(test) or test.title), test)
    return list(kept.values())


def _tests(run: Run, tests: Sequence[Test]) -> Table | None:
    kept = _one_a_question(tests)
    if not kept:
        return None
    rows = []
    small = {i for h in run.records.headlines if h.claim == "equivalent" for i in h.rests_on}
    times = Counter((test.hypothesis, subject_of(test)) for test in kept)
    for test in kept:
        subject = subject_of(test)
        alone = subject and times[test.hypothesis, subject] == 1
        effects = run.records.effects(test)
        level = run.records.family(test.family).level if test.family else 0.05
        field, p, bound = p_of(test)
        effect = Measured.of(effects[0]) if effects else Measured()
        otherwise = "alike" if test.id in small else "open"
        found = kind_of_test(test.test).found
        rows.append(
            {
                "group": _question_of(run, test),
                "what": run.called(subject) if alone else titled(test, run),
                "effect": effect.shown(),
                "of": estimand_of(effects[0].estimand).label if effects else "",
                "p": label(run.records, address(test.id, field), p=True, bound=bound),
                "verdict": "" if math.isnan(p) else found if p <= level else otherwise,
            }
        )
    left_out = ""
    if len(rows) > _MOST_ROWS:
        decided = [r for r in rows if r["verdict"] != "open"]
        left_out = " Tests that stay open, and further ones, stand in tables/tests.csv."
        differing = [r for r in decided if r["verdict"] not in ("", "alike")]
        rows = (decided if len(decided) <= _MOST_ROWS else differing or rows)[:_MOST_ROWS]
    rows = _by_group(rows)
    columns = [
        Column(key="what", label="Of"),
        Column(key="of", label="Effect"),
        Column(key="effect", label="Size", align="right"),
        Column(key="p", label="p, adjusted", align="right"),
        Column(key="verdict", label="Verdict"),
    ]
    if all(r["effect"] is NOTHING for r in rows):
        columns = [c for c in columns if c.key not in {"of", "effect"}]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group",
        caption="What was tested.",
        note="Open: neither shown nor ruled out." * any(r["verdict"] == "open" for r in rows)
        + " Alike: shown to lie within the declared margin."
        * any(r["verdict"] == "alike" for r in rows)
        + left_out,
        label="tbl-tests",
    )


def _estimates(run: Run, estimates: Sequence[Estimate]) -> Table | None:
    first = above(run)
    times = Counter((subject_of(e), e.estimand) for e in estimates)
    drawn = set(run.records.drawing.rows if run.records.drawing else ())
    kept = [e for e in estimates if e.id not in drawn and math.isfinite(e.estimate)]
    kept = [e for e in kept if address(e.id, "estimate") not in first]
    if systems(run) is not None:  # the table of systems holds them
        kept = [e for e in kept if e.estimand != "strength"]
    described = _numbers_of_conditions(run, first)
    kept = [e for e in kept if (subject_of(e), *_rounded(Measured.of(e))) not in described]
    if not kept:
        return None
    rows = []
    for e in kept[:_MOST_ROWS]:
        m = Measured.of(e)
        entry = estimand_of(e.estimand)
        subject = subject_of(e) or _whole_of(run, e)
        alone = subject in {"", e.title} or times[subject_of(e), e.estimand] == 1
        rows.append(
            {
                "group": _question_of(run, e),
                "what": run.called(subject) if subject else titled(e, run),
                "of": entry.label if alone else e.title.removesuffix(f" ({subject})"),
                "value": m.shown(),
                "chance": m.chance_shown(),
            }
        )
    rows = _by_group(rows)
    columns = [
        Column(key="what", label="Of"),
        Column(key="of", label="What"),
        Column(key="value", label="Estimate", align="right"),
        Column(key="chance", label="95 % of chance below", align="right"),
    ]
    few = not _mostly(rows, "chance")
    if few:
        columns.pop()
    notes = [
        "Further estimates stand in tables/estimates.csv." * (len(kept) > _MOST_ROWS),
        "What chance gives for some of them stands in tables/estimates.csv."
        * (few and any(r["chance"] is not NOTHING for r in rows)),
    ]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group",
        caption="What was estimated.",
        note=" ".join(filter(None, notes)),
        label="tbl-estimates",
    )


def _by_group(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
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
