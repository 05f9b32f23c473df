"""What was judged, what was not parsed, and the numbers of every condition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from judgestats.data.parse import lost_shares
from judgestats.protocols.base import Status
from judgestats.reporting.numbers import (
    DASH,
    NOTHING,
    Measured,
    column,
    integer,
    label,
    money,
    number,
)
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.conditions import (
    LOST,
    any_of,
    coefficients_of,
    condition_table,
    full_condition,
    grades_of,
    heading,
    measured,
    measures,
    omission_note,
    sample_rows,
)
from judgestats.reporting.sections.summary import summary_addresses
from judgestats.reporting.tables import Column, Markdown, Table
from judgestats.results import CONDITIONS
from judgestats.results.numbers import TARGETS

_STATUS_LABELS = {
    "ok": "read",
    "unparseable": "unparseable",
    "missing": "missing",
    "not_applicable": "not applicable",
    "ambiguous": "ambiguous",
    "refused": "refused",
    "truncated": "truncated",
    "failed": "call failed",
    "invalid_condition": "condition refused",
    "out_of_scale": "outside the scale",
}


def items(run: Run) -> Table | Markdown:
    """What was judged, by category; what differs between conditions is reported."""
    frame = run.finals
    if frame.empty:
        design = run.facts.get("design") or {}
        if design.get("streamed"):
            return Markdown(
                f"{design['items']:,} items from {design['clusters']:,} questions were judged. "
                "The judgments were counted in one pass and are not kept in the run."
            )
        return Markdown("The run holds no judgments.")
    kinds = _kinds(frame)
    columns = [Column(key="category", label="Category")]
    sets: list[tuple[str, pd.DataFrame]] = []
    for place, (called, part) in enumerate(kinds):
        sets.append((f"n{place}", part.drop_duplicates("item_id")))
        columns.append(Column(key=f"n{place}", label=called, format="integer"))
    columns.append(Column(key="clusters", label="Questions", format="integer"))
    once = frame.drop_duplicates("item_id")
    whole = {key: len(own) for key, own in sets} | {"clusters": once["cluster"].nunique()}
    sizes = _unequal(frame) if len(kinds) == 1 else ""
    groups = once["category"].replace("", "(none)") if "category" in once else None
    if groups is None or groups.nunique() < 2:
        counted = " and ".join(
            f"{whole[c.key]:,} {c.label[0].lower()}{c.label[1:]}" for c in columns[1:-1]
        )
        questions = "question" if whole["clusters"] == 1 else "questions"
        return Markdown(f"{counted} from {whole['clusters']:,} {questions} were judged. {sizes}")
    rows = []
    for name, group in once.assign(category=groups).groupby("category", sort=True):
        row: dict[str, Any] = {"category": str(name), "clusters": group["cluster"].nunique()}
        for key, own in sets:
            row[key] = int(own["item_id"].isin(set(group["item_id"])).sum())
        rows.append(row)
    rows.append({"category": "all", **whole})
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        caption=(
            "What was judged. Items of one question are not independent: intervals and tests keep "
            "them together."
        ),
        note=sizes,
        label="tbl-items",
    )


def _kinds(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The judgments by what was judged: pairs, which are named ``a|b``, and single responses."""
    if "order" not in frame or "choice" not in frame:
        return [("Items", frame)]
    decided = frame.loc[frame["choice"].astype(str).ne(""), "item_id"]
    named = frame["item_id"].astype(str).str.contains("|", regex=False)
    pairs = named & frame["item_id"].isin(decided)  # scores may have such names too
    if pairs.any() and not pairs.all():
        return [("Pairs", frame[pairs]), ("Single responses", frame[~pairs])]
    return [("Items", frame)]


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
    if frame.empty or "status" not in frame:
        counts = _counted_statuses(run)
        if counts.empty:
            return Markdown("The run holds no judgments.")
    else:
        counts = pd.crosstab(frame["condition"], frame["status"])
        counts = counts.loc[list(dict.fromkeys(frame["condition"]))]
    statuses = ["ok", *sorted(c for c in counts.columns if c != "ok")]
    if statuses == ["ok"]:
        return Markdown(
            f"All {int(counts.to_numpy().sum()):,} judgments were answered and read; none is "
            "missing from any number below."
        )
    rows: list[dict[str, Any]] = []
    for condition, line in counts.iterrows():
        total = int(line.sum())
        row: dict[str, Any] = {"condition": str(condition), "n": total}
        row |= {s: int(line.get(s, 0)) for s in statuses}
        row |= lost_shares({str(s): int(n) for s, n in line.items()})
        rows.append(row)
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(
                key="n",
                label="In the file" if run.records.kind == "audit" else "Planned",
                format="integer",
            ),
            *(
                Column(key=s, label=_STATUS_LABELS.get(s, s.replace("_", " ")), format="integer")
                for s in statuses
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


def _counted_statuses(run: Run) -> pd.DataFrame:
    """Conditions x statuses of a run that counted its judgments without keeping them."""
    table = run.conditions
    columns = {f"n_{s.value}": s.value for s in Status}
    kept = [c for c in columns if c in table]
    design = run.facts.get("design") or {}
    if not design.get("streamed") or "n_ok" not in kept:
        return pd.DataFrame()
    return table.set_index("condition")[kept].rename(columns=columns).astype(int)


_MOST_REASONS = 12


def exclusion_reasons(run: Run) -> Table | None:
    """Why judgments were not read, the commonest reasons."""
    frame = run.judgments
    if frame.empty or "status" not in frame:
        return None
    lost = frame[frame["status"] != "ok"]
    if lost.empty:
        return None
    why = lost["reason"].where(lost["reason"] != "", lost["failure"])
    counted = (
        lost.assign(why=why.where(why != "", "(no reason recorded)"))
        .groupby(["status", "why"])
        .size()
        .sort_values(ascending=False)
    )
    rows = [
        {"status": str(pair[0]), "why": str(pair[1]), "n": int(n)}
        for pair, n in zip(counted.index.tolist()[:_MOST_REASONS], counted.tolist(), strict=False)
    ]
    return Table(
        columns=(
            Column(key="status", label="Status"),
            Column(key="why", label="Reason"),
            Column(key="n", label="Judgments", format="integer"),
        ),
        rows=tuple(rows),
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
)  # fmt: skip
"""Numbers of conditions, in the order in which a full report shows them."""
_MOST_COLUMNS = 5
_SHORT = {
    "icc1": "ICC(1,1)", "vote_share": "One verdict", "grade_score": "Grade Score",
    "reliability": "Reliability",
}  # fmt: skip
"""Short names of the numbers of a condition whose null value a table shows."""
_SAME = 0.015
"""Largest difference between numbers that are reported as one."""


def condition_descriptions(run: Run) -> Table | None:
    """What describes the conditions and is not on the summary page."""
    keys = described_keys(run, summary_addresses(run))
    keys += measures(run, [k for k in LOST if k in run.conditions and any_of(run, k)])
    listed = _compared(run)
    rows = _cells(run, listed, keys)
    columns = [Column(key="what", label="Condition")]
    columns += [Column(key=k, label=heading(k), align="right") for k in keys]
    nulls, notes = _nulls(run, listed, rows)
    columns += nulls
    telling = [k for k in keys if k not in LOST] or list(LOST)
    full = [i for i, r in enumerate(rows) if any(r.get(k, NOTHING) is not NOTHING for k in telling)]
    if len(columns) < 2 or not full:
        return None
    judges = [str(listed[i][1].get("judge", "")) for i in full]
    grades = grades_of(run, [str(listed[i][1]["condition"]) for i in full])
    shown = [full[i] for i in sample_rows(judges, grades=grades, evenly=True)]
    left = omission_note(len(shown), len(run.table(CONDITIONS)), "conditions", "conditions")
    return Table(
        columns=tuple(columns),
        rows=tuple(rows[i] for i in shown),
        caption="Estimates by condition.",
        note=" ".join(filter(None, (*notes, left))),
        label="tbl-by-condition",
    )


def descriptives(run: Run) -> list[Table]:
    """Every number of every condition compared, with its interval and the null value."""
    listed = _compared(run)
    known = [k for k in (*_DETAILS, *coefficients_of(run)) if k in run.conditions]
    keys = measures(run, [*dict.fromkeys(known), *(k for k in LOST if any_of(run, k))])
    rows = _cells(run, listed, keys)
    columns: list[Column] = []
    for key in keys:
        columns.append(Column(key=key, label=heading(key), align="right"))
        nulls = [measured(run, i, key) for i, _ in listed]
        if any(m.has_chance for m in nulls):
            for cells, value in zip(rows, nulls, strict=True):
                cells[f"chance_{key}"] = value.chance_shown()
            label_ = "Null, 95th pct."
            columns.append(Column(key=f"chance_{key}", label=label_, align="right"))
    n = -(-len(columns) // _MOST_COLUMNS)
    size = -(-len(columns) // n) if n else 1
    note = omission_note(len(rows), len(run.table(CONDITIONS)), "conditions", "conditions")
    tables = []
    for place, start in enumerate(range(0, len(columns), size), start=1):
        part = columns[start : start + size]
        own = [r for r in rows if any(r.get(c.key, NOTHING) is not NOTHING for c in part)]
        tables.append(
            Table(
                columns=(Column(key="what", label="Condition"), *part),
                rows=tuple(own),
                caption=f"Estimates by condition with {100 * run.level:g}% intervals"
                + (f" ({place} of {n})." if n > 1 else "."),
                note=note,
                label="tbl-conditions" + (f"-{place}" if place > 1 else ""),
            )
        )
    return tables


def _compared(run: Run) -> list[tuple[int, dict[str, Any]]]:
    """The conditions that are compared, with their positions in the table of all."""
    compared = {str(r["condition"]) for r in run.compared}
    table = run.table(CONDITIONS)
    return [(i, r) for i, r in enumerate(table) if str(r.get("condition")) in compared]


def _cells(
    run: Run, listed: Sequence[tuple[int, dict[str, Any]]], keys: Sequence[str]
) -> list[dict[str, Any]]:
    """A row per condition, with its numbers under their keys."""
    rows: list[dict[str, Any]] = [{"what": full_condition(row, run)} for _, row in listed]
    for key in keys:
        values = [measured(run, i, key) for i, _ in listed]
        share = key in LOST
        texts = [label(run.records, m.address, share=True) for m in values] if share else []
        for cells, text in zip(rows, texts or column(values), strict=True):
            cells[key] = text
    return rows


def _nulls(
    run: Run, listed: Sequence[tuple[int, dict[str, Any]]], rows: Sequence[dict[str, Any]]
) -> tuple[list[Column], list[str]]:
    """Columns of null values, and notes where these are about the same in all rows."""
    bounds = {key: [measured(run, i, key) for i, _ in listed] for key in _SHORT}
    bounds = {k: values for k, values in bounds.items() if any(v.has_chance for v in values)}
    for key, values in bounds.items():
        for cells, value in zip(rows, values, strict=True):
            cells[f"chance_{key}"] = value.chance_shown()
    # an almost empty column tells little
    bounds = {k: v for k, v in bounds.items() if 3 * sum(m.has_chance for m in v) >= len(rows)}
    if 2 * sum(v.has_chance for values in bounds.values() for v in values) < len(rows):
        return [], []
    notes = []
    for key in [k for k, values in bounds.items() if _is_one(values)]:
        highest = max((v for v in bounds.pop(key) if v.has_chance), key=lambda v: v.chance)
        text = highest.chance_shown()
        notes.append(f"{_SHORT[key]}: null 95th percentile below {text} in every condition.")
    heads = {key: f"{_SHORT[key]}: null 95th percentile" for key in bounds}
    return [Column(key=f"chance_{k}", label=h, align="right") for k, h in heads.items()], notes


def _is_one(values: Sequence[Measured]) -> bool:
    """Whether the null value is about the same in all rows, so that a note can say it."""
    given = [v.chance for v in values if v.has_chance]
    return len(given) == len(values) and max(given) - min(given) <= _SAME


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
    if not rows:
        return None
    return condition_table(
        run,
        (
            Column(key="n", label="Selections", format="integer"),
            *(
                Column(key=f"place_{k}", label=f"Place {k}", format="coefficient:2")
                for k in range(1, 1 + sum(str(key).startswith("place_") for key in rows[0]))
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
    """Judgments per item for a target reliability, and what they cost in tokens and money."""
    table = run.conditions
    if table.empty:
        return Markdown("")
    if "factor_strategy" in table and "calls" in table:  # one call is not what a verdict costs
        return Markdown(
            "What a final verdict takes, with all the calls behind it, is in @tbl-strategies."
        )
    name = next((c for c in ("icc1", "vote_share") if c in table), "")
    # A mean of k is made of the judgments of another condition, whose price stands there.
    priced = [row for row in run.described if not number_of(row.get("k")) > 1]
    repeats = _repeats(run)
    rows = [_price_row(row, repeats.get(str(row.get("condition")), {})) for row in priced]
    any_priced = any(r["each"] > 0 or (r["each"] == 0 and not run.all_simulated) for r in rows)
    tokens = any(not math.isnan(r["tokens"]) for r in rows)
    if not name and not any_priced and not tokens:
        return Markdown(_NO_PRICE)
    columns = []
    if name:
        label = "ICC(1,1)" if name == "icc1" else "Reliability of one"
        columns.append(Column(key="single", label=label, format="coefficient:3"))
    if tokens:
        columns.append(Column(key="tokens", label="Tokens of one", format="integer"))
    if any_priced:
        columns.append(Column(key="each", label="Cost of one", format="money"))
    for target in TARGETS if name else ():
        shown = number(target, leading_zero=False)
        columns.append(Column(key=f"k{target}", label=f"Judgments for {shown}", align="right"))
        if any_priced:
            columns.append(Column(key=f"cost{target}", label="Cost an item", align="right"))
    if not name and any_priced:
        columns.append(Column(key="item", label="Cost an item here", format="money"))
    if any_priced:
        note = (
            "Unknown: the model is not in the price table. "
            if any(math.isnan(r["each"]) for r in rows)
            else ""
        )
    else:
        note = _SIMULATED_PRICE if run.all_simulated else _NO_PRICE + " "
    tail = "" if not name else "Reliability is not validity: a judge can be consistent and wrong."
    what = (
        "How many judgments per item must be averaged for a reliability of .80 and .90"
        if name == "icc1"
        else "How many verdicts an item needs for shares with a reliability of .80 and .90"
        if name
        else "What a judgment takes"
    )
    return condition_table(
        run,
        columns,
        rows,
        caption=what
        + (", and what that costs an item at the prices of this run." if any_priced else "."),
        note=(note + tail).strip(),
        label="tbl-prices",
    )


_SIMULATED_PRICE = (
    "A simulated judge has no price; the tokens (in and out) are those of its prompts and replies. "
)
_NO_PRICE = (
    "The judgments carry no cost, so no price can be given: map columns cost_usd, or tokens_in and "
    "tokens_out, to see it."
)


def _price_row(row: dict[str, Any], repeats: dict[str, Any]) -> dict[str, Any]:
    single = number_of(repeats.get("single"))
    still = number_of(row.get("constant_share")) >= 0.95 or single >= 1.0
    each = _cost_of_one(row)
    line = row | {
        "single": single,
        "each": each,
        "tokens": number_of(repeats.get("tokens")),
        "item": each * number_of(repeats.get("calls")),
    }
    for target in TARGETS:
        need = math.nan if still else number_of(repeats.get(f"needed_{round(100 * target)}"))
        line[f"k{target}"] = "no spread" if still else _needed(need)
        line[f"cost{target}"] = "" if still else _price(each, need)
    return line


def _cost_of_one(row: dict[str, Any]) -> float:
    cost, n = number_of(row.get("cost_usd")), number_of(row.get("n"))
    return cost / n if n else math.nan


def _repeats(run: Run) -> dict[str, dict[str, Any]]:
    """What repeats give, by condition, as the analysis found it."""
    return {str(row["condition"]): row for row in run.table("repeats")}


def _needed(need: float) -> str:
    if math.isnan(need):
        return DASH
    return "not reachable" if math.isinf(need) else integer(need)


def _price(each: float, need: float) -> str:
    return DASH if not math.isfinite(need) else money(each * need)
