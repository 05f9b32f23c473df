"""What was judged, what was not parsed, and the numbers of every condition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.data.parse import lost_shares
from judgestats.reporting.numbers import (
    NOTHING,
    AddressedText,
    Measured,
    column,
    label,
    number,
)
from judgestats.reporting.runs import Run, number_of, rows_of
from judgestats.reporting.sections.conditions import (
    LOST,
    any_of,
    coefficients_of,
    condition_table,
    grades_of,
    heading,
    measured,
    measures,
    omission_note,
    sample_rows,
)
from judgestats.reporting.sections.summary import summary_addresses
from judgestats.reporting.tables import Column, Markdown, Table
from judgestats.results import CONDITIONS, Estimate
from judgestats.results.numbers import TARGETS

_STATUS_LABELS = {
    "ok": "read",
    "failed": "call failed",
    "invalid_condition": "condition refused",
    "out_of_scale": "outside the scale",
}


def items(run: Run) -> Table | Markdown:
    """Items by category, and whether conditions differ in them; how many is in the design."""
    frame, design = run.finals, run.design
    if frame.empty and design.get("streamed"):
        return Markdown(
            f"{design['items']:,} items from {design['clusters']:,} questions were judged. "
            "The judgments were counted in one pass and are not kept in the run."
        )
    if frame.empty:
        return Markdown("The run holds no judgments.")
    kinds = _kinds(frame)
    note = "" if "Pairs" in set(kinds) else _unequal(frame)
    once = frame.assign(kind=kinds).drop_duplicates("item_id")
    if "category" not in once or once["category"].nunique() < 2:
        return Markdown(note)
    counted = pd.crosstab(once["category"].replace("", "(none)"), once["kind"])
    counted["Questions"] = once.groupby(once["category"].replace("", "(none)"))["cluster"].nunique()
    counted.loc["all"] = [*counted.iloc[:, :-1].sum(), once["cluster"].nunique()]
    return Table.from_frame(
        counted.rename_axis("Category").reset_index(),
        caption="What was judged. Items of one question are not independent: intervals and tests "
        "keep them together.",
        note=note,
        label="tbl-items",
    )


def _kinds(frame: pd.DataFrame) -> pd.Series:
    """What each judgment is of: pairs, which are named ``a|b``, single responses, or items."""
    if not {"order", "choice"} <= {*frame.columns}:
        return pd.Series("Items", index=frame.index)
    decided = frame.loc[frame["choice"].astype(str).ne(""), "item_id"]
    named = frame["item_id"].astype(str).str.contains("|", regex=False)
    pairs = named & frame["item_id"].isin(decided)  # scores may have such names too
    mixed = {True: "Pairs", False: "Single responses"}
    return pairs.map(mixed if pairs.nunique() == 2 else dict.fromkeys(mixed, "Items"))


def _unequal(frame: pd.DataFrame) -> str:
    """Whether all conditions judged the same items, as a sentence where they did not."""
    sets = [frozenset(g["item_id"]) for _, g in frame.groupby("condition", sort=False)]
    if len(set(sets)) < 2:
        return ""
    shared = frozenset.intersection(*sets)
    sizes = sorted({len(s) for s in sets})
    counted = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    return (
        f"The conditions did not judge the same items: each judged {counted} of them, and "
        f"{len(shared):,} were judged under all. Comparisons use the items that the compared "
        "conditions share."
    )


def exclusions(run: Run) -> Table | Markdown:
    """Judgments by condition and status; a judgment that was not read is never a number."""
    frame = run.judgments
    counts = {c.label: dict(c.counts) for c in run.records.conditions if c.counts and not c.derived}
    if "status" in frame:  # of verdicts the records count the parsed ones only
        groups = frame.groupby("condition", sort=False)["status"]
        counts = {
            str(name): {"asked": len(own), **{str(s): n for s, n in own.value_counts().items()}}
            for name, own in groups
        }
    if not counts:
        return Markdown("The run holds no judgments.")
    lost = {s for own in counts.values() for s, n in own.items() if n and s not in {"ok", "asked"}}
    if not lost:
        n = sum(own.get("ok", 0) for own in counts.values())
        return Markdown(
            f"All {n:,} judgments were answered and read; none is missing from any number below."
        )
    statuses = ["ok", *sorted(lost)]
    rows = [
        {"condition": name, **own, **lost_shares({s: own.get(s, 0) for s in statuses})}
        for name, own in counts.items()
    ]
    asked = "In the file" if run.records.kind == "audit" else "Planned"
    labels = {s: _STATUS_LABELS.get(s, s.replace("_", " ")) for s in statuses}
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            *(
                Column(key=k, label=v, format="integer")
                for k, v in ({"asked": asked} | labels).items()
            ),
            Column(key="unread_share", label="Unparsed, of replies", format="percent"),
        ),
        rows=tuple(rows),
        caption=(
            "Judgments by condition and status. One that was not read, not answered or never asked "
            "has a status and no score; it is in no mean and no variance below."
        ),
        label="tbl-exclusions",
    )


_MOST_REASONS = 12


def exclusion_reasons(run: Run) -> Table | None:
    """Why judgments were not read, the commonest reasons."""
    frame = run.judgments
    lost = frame[frame["status"] != "ok"] if "status" in frame else frame
    if lost.empty:
        return None
    why = lost["reason"].where(lost["reason"] != "", lost["failure"])
    counted = (
        lost.assign(why=why.where(why != "", "(no reason recorded)"))
        .groupby(["status", "why"], as_index=False)
        .size()
        .sort_values("size", ascending=False, kind="stable")
    )
    return Table(
        columns=(
            Column(key="status", label="Status"),
            Column(key="why", label="Reason"),
            Column(key="size", label="Judgments", format="integer"),
        ),
        rows=tuple(rows_of(counted[:_MOST_REASONS])),
        caption="Reasons of unparsed judgments"
        + (f" (the {_MOST_REASONS} commonest reasons)." if len(counted) > _MOST_REASONS else "."),
        label="tbl-reasons",
    )


_MOST_NUMBERS = 4
_SCORES = ("mean", "sem", "icc1", "alpha", "omega")
_DETAILS = (
    "n_items", "n_ok", "mean", "sd", "min", "median", "max", "sd_between", "within_variance", "sem",
    "smallest_detectable_change", "constant_share", "icc1", "alpha", "omega",
    "llm_score", "choice_score", "harmonic_of_means", "grade_score", "corrected", "chance",
    "chosen_preferred_by_chance",
)  # fmt: skip
"""Numbers of conditions, in the order in which a full report shows them."""
_MOST_COLUMNS = 5
_NULLS = ("icc1", "vote_share", "grade_score", "reliability")
"""Numbers whose null value a brief report shows."""
_SAME = 0.015
"""Largest difference between null values that are reported as one."""


def condition_descriptions(run: Run) -> Table | None:
    """What describes the conditions and is not on the summary page, of a few of them."""
    keys = described_keys(run, summary_addresses(run)) + [k for k in LOST if any_of(run, k)]
    columns, rows, notes = _described(run, keys, _NULLS, {})
    telling = [c.key for c in columns if c.key not in LOST] or LOST
    told = [r for r in rows if any(r.get(k, NOTHING) is not NOTHING for k in telling)]
    if not columns or not told:
        return None
    grades = grades_of(run, [r["condition"] for r in told])
    shown = [told[i] for i in sample_rows([r["judge"] for r in told], grades=grades, evenly=True)]
    left = omission_note(len(shown), len(run.table(CONDITIONS)), "conditions", "conditions")
    return Table(
        columns=(Column(key="what", label="Condition"), *columns),
        rows=tuple(shown),
        caption="Estimates by condition.",
        note=" ".join(filter(None, (*notes, left))),
        label="tbl-by-condition",
    )


def descriptives(run: Run) -> list[Table]:
    """Every number of every condition compared, with its interval and the null value."""
    keys = [*every_key(run), *(k for k in LOST if any_of(run, k))]
    numbers = {e.id.partition(".")[2]: e for e in run.records.select(Estimate)}
    columns, rows, notes = _described(run, keys, keys, numbers)
    left = omission_note(len(rows), len(run.table(CONDITIONS)), "conditions", "conditions")
    n = -(-len(columns) // _MOST_COLUMNS)
    size = -(-len(columns) // n) if n else 1
    tables = []
    for place, start in enumerate(range(0, len(columns), size), start=1):
        part = columns[start : start + size]
        own = [r for r in rows if any(r.get(c.key, NOTHING) is not NOTHING for c in part)]
        tables.append(
            Table(
                columns=(Column(key="what", label="Condition"), *part),
                rows=tuple(own),
                caption=f"Estimates by condition with {100 * run.level:g}% CI"
                + (f" ({place} of {n})." if n > 1 else "."),
                note=" ".join(filter(None, (*(notes if place == n else ()), left))),
                label="tbl-conditions" + (f"-{place}" if place > 1 else ""),
            )
        )
    return tables


def every_key(run: Run) -> list[str]:
    """All numbers that describe the conditions, in their order."""
    keys = dict.fromkeys(k for k in (*_DETAILS, *coefficients_of(run)) if k in run.conditions)
    return measures(run, [*keys])


def _described(
    run: Run,
    keys: Sequence[str],
    nulls: Sequence[str],
    numbers: Mapping[str, Estimate],
) -> tuple[list[Column], list[dict[str, Any]], list[str]]:
    """Columns and rows of numbers of the conditions compared.

    A null value that is about the same in all rows is a note instead of a column. It may be with
    an estimate, by the column and the condition.
    """
    compared = {str(r["condition"]) for r in run.compared}
    listed = [(i, r) for i, r in enumerate(run.table(CONDITIONS)) if r.get("condition") in compared]
    rows: list[dict[str, Any]] = [
        {
            "what": run.condition_name(str(row["condition"])),
            "judge": str(row.get("judge", "")),
            "condition": str(row["condition"]),
        }
        for _, row in listed
    ]
    columns: list[Column] = []
    notes = []

    def add(key: str, name: str, texts: Sequence[AddressedText]) -> None:
        columns.append(Column(key=key, label=name, align="right"))
        for row, text in zip(rows, texts, strict=True):
            row[key] = text

    for key in dict.fromkeys([*keys, *nulls]):
        values, name = [measured(run, i, key) for i, _ in listed], heading(key)
        if key in LOST:
            add(key, name, [label(run.records, m.address, share=True) for m in values])
        elif key in keys:
            add(key, name, column(values))
        own = [numbers.get(f"{key}.{row['condition']}") for row in rows]
        values = [
            v if v.has_chance or e is None or e.estimate != v.value else Measured.from_record(e)
            for v, e in zip(values, own, strict=True)
        ]
        known = [v for v in values if v.has_chance] if key in nulls else []
        if not known or 3 * len(known) < len(rows):  # an almost empty column tells little
            continue
        highest, lowest = (pick(known, key=lambda v: v.chance) for pick in (max, min))
        if len(known) == len(rows) and highest.chance - lowest.chance <= _SAME:
            text = highest.chance_shown()
            notes.append(f"{name}: null 95th percentile below {text} in every condition.")
        else:
            add(
                f"chance_{key}", f"{name}: null 95th percentile", [v.chance_shown() for v in values]
            )
    return columns, rows, notes


def described_keys(run: Run, on_page_one: set[str]) -> list[str]:
    """Which numbers describe the conditions, those on the summary page aside."""
    keys = [k for k in measures(run, numbers_of(run)) if not stands_above(run, k, on_page_one)]
    return list({heading(k): k for k in keys}.values())[:_MOST_NUMBERS]


def numbers_of(run: Run) -> list[str]:
    """Numbers that describe the conditions of this run."""
    return [k for k in (*_SCORES, *coefficients_of(run)) if k in run.conditions]


def stands_above(run: Run, key: str, names: set[str]) -> bool:
    """Whether the summary page shows these numbers, of the conditions that it has space for."""
    if any(f".{key}." in name for name in names):  # the record of a requirement
        return True
    numbers = [measured(run, i, key) for i in range(len(run.table(CONDITIONS)))]
    return any({m.address, str(m.text())} & names for m in numbers if m.is_finite)


def position_shares(run: Run) -> Table | None:
    """Share of each position, over the items with the most common number of options."""
    described = {str(row.get("condition", "")): row for row in run.described}
    rows = [
        described.get(str(shares["condition"]), {}) | shares
        for shares in run.table("places.selections")
    ]
    places = sum(str(key).startswith("place_") for key in rows[0]) if rows else 0
    return condition_table(
        run,
        (
            Column(key="n", label="Selections", format="integer"),
            *(
                Column(key=f"place_{k}", label=f"Place {k}", format="coefficient:2")
                for k in range(1, 1 + places)
            ),
        ),
        rows,
        caption=(
            "Share of the selections at each position, over the items with the most common "
            "number of options. Every option was at every position once, so a judge that follows "
            "content selects all positions equally often."
        ),
        label="tbl-places",
    )


def prices(run: Run) -> Table | Markdown:
    """What a judgment takes, and how many per item for a target reliability, at their cost."""
    table = run.conditions
    if "factor_strategy" in table and "calls" in table:  # one call is not what a verdict costs
        return Markdown(
            "What a final verdict takes, with all calls behind it, is in tables/conditions.csv: "
            "calls, tokens, and cost_usd."
        )
    repeats = {str(row["condition"]): row for row in run.table("repeats")}
    rows = [
        _price_row(run, row | repeats.get(str(row["condition"]), {}))
        for row in run.described
        # A mean of k is made of the judgments of another condition, whose price stands there.
        if not number_of(row.get("k")) > 1
    ]
    columns = [
        Column(key="single", label=heading("icc1" if "icc1" in table else "vote_share"),
               format="coefficient:3"),
        Column(key="tokens", label="Tokens per judgment", format="integer"),
        Column(key="each", label="Cost per judgment", format="money"),
    ]  # fmt: skip
    for target in TARGETS:
        shown = number(target, leading_zero=False)
        columns += [
            Column(key=f"k{target}", label=f"Judgments for {shown}", align="right"),
            Column(key=f"cost{target}", label="Cost per item", format="money"),
        ]
    reliable = any(not math.isnan(row["single"]) for row in rows)
    if not reliable:
        columns.append(Column(key="item", label="Cost per item here", format="money"))
    notes = [
        _SIMULATED_PRICE * run.all_simulated,
        _NO_PRICE * (not run.all_simulated and all(math.isnan(row["each"]) for row in rows)),
        "Reliability is not validity: a judge can be consistent and wrong." * reliable,
    ]
    many = ", and how many an item needs for a reliability of .80 and .90" * reliable
    made = condition_table(
        run, columns, rows, caption=f"What a judgment takes{many}.",
        note=" ".join(filter(None, notes)), label="tbl-prices",
    )  # fmt: skip
    return made or Markdown(_NO_PRICE)


_SIMULATED_PRICE = (
    "A simulated judge has no price; the tokens (in and out) are those of its prompts and replies."
)
_NO_PRICE = (
    "The judgments carry no cost, so no price can be given: map columns cost_usd, or tokens_in and "
    "tokens_out, to see it."
)


def _price_row(run: Run, row: dict[str, Any]) -> dict[str, Any]:
    single, n = number_of(row.get("single")), number_of(row.get("n"))
    still = number_of(row.get("constant_share")) >= 0.95 or single >= 1.0
    each = number_of(row.get("cost_usd")) / n if n else math.nan
    if run.all_simulated and not each:
        each = math.nan
    line = row | {"single": single, "each": each, "item": each * number_of(row.get("calls"))}
    for target in TARGETS:
        need = number_of(row.get(f"needed_{round(100 * target)}"))
        line[f"k{target}"] = "no spread" if still else Measured(value=need, unit="count").text()
        line[f"cost{target}"] = each * need if math.isfinite(need) and not still else math.nan
    return line
