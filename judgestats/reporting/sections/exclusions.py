"""Judged items, unparsed replies, and disagreements."""

from __future__ import annotations

import shutil
from typing import Any

import pandas as pd

from judgestats.data.matrices import lost_shares
from judgestats.protocols.base import Status
from judgestats.reporting.display import Markdown, Showable
from judgestats.reporting.document import current_sink
from judgestats.reporting.numbers import NOTHING, Measured, Shown, address, is_missing
from judgestats.reporting.runs import Run
from judgestats.reporting.tables import Column, Table, filled
from judgestats.results import Table as TableRecord
from judgestats.results.records import rows_of_table

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
    """What was judged, by category; what differs between conditions is said."""
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
    for place, (label, part) in enumerate(kinds):
        sets.append((f"n{place}", part.drop_duplicates("item_id")))
        columns.append(Column(key=f"n{place}", label=label, format="integer"))
    columns.append(Column(key="clusters", label="Questions", format="integer"))
    once = frame.drop_duplicates("item_id")
    whole = {key: len(own) for key, own in sets} | {"clusters": once["cluster"].nunique()}
    sizes = _unequal(frame) if len(kinds) == 1 else ""
    names = once["category"].replace("", "(none)") if "category" in once else None
    if names is None or names.nunique() < 2:
        counted = " and ".join(
            f"{whole[c.key]:,} {c.label[0].lower()}{c.label[1:]}" for c in columns[1:-1]
        )
        questions = "question" if whole["clusters"] == 1 else "questions"
        return Markdown(f"{counted} from {whole['clusters']:,} {questions} were judged. {sizes}")
    rows = []
    for name, group in once.assign(category=names).groupby("category", sort=True):
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
            Column(key="unread_share", label="Not read of those answered", format="percent"),
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


_MOST = 10
_CUT = 120
_ID = "disagreements"
_FILE = "tables/disagreements.csv"
_TEXTS = ("question", "answer", "judge_says")


def disagreements(run: Run) -> list[Showable]:
    """The items on which judge and people lie furthest apart, widest gap first.

    Parameters
    ----------
    run : Run
        Its record ``disagreements`` holds the first of each condition, its tables all of them.
    """
    if _ID not in run.records or not isinstance(record := run.records[_ID], TableRecord):
        return []
    listed = sorted(enumerate(rows_of_table(record)), key=lambda r: -_gap(r[1]))
    rows = [
        {
            "condition": run.called(str(row["condition"])),
            "item": str(row["item_id"]),
            **{k: _number(row, k, i) for k in ("judge", "people")},
            **{k: _shorten_text(row.get(k)) for k in _TEXTS},
        }
        for i, row in listed[:_MOST]
    ]
    if not rows:
        return []
    columns = (
        Column(key="condition", label="Condition"),
        Column(key="item", label="Item"),
        Column(key="judge", label="Judge", align="right"),
        Column(key="people", label="People", align="right"),
        Column(key="question", label="Question"),
        Column(key="answer", label="Answer"),
        Column(key="judge_says", label="The judge says"),
    )
    table = Table(
        columns=tuple(filled(columns, rows)),
        rows=tuple(rows),
        caption="Largest disagreements of judge and human, over all conditions.",
        note="Long texts are cut." * any(r[k] for r in rows for k in _TEXTS),
        label="tbl-disagreements",
    )
    return [table, *_link(run)]


def _gap(row: dict[str, Any]) -> float:
    return 0.0 if is_missing(row["gap"]) else float(row["gap"])


def _number(row: dict[str, Any], key: str, place: int) -> Shown:
    if is_missing(row[key]):
        return NOTHING
    where = address(_ID, f"rows.{place}.{key}")
    if isinstance(row[key], str):  # a verdict in words
        return Shown(((" ".join(row[key].split()), where),))
    return Measured(value=float(row[key]), at=(where, "", "", "")).shown()


def _shorten_text(text: Any) -> str:
    words = "" if is_missing(text) else " ".join(str(text).split())
    return words if len(words) <= _CUT else words[: _CUT - 1].rstrip() + "…"


def linked(run: Run) -> bool:
    """Put the run's file of all of them beside the report, wherever that is written; if any."""
    whole = run.folder / _FILE
    if not whole.is_file():
        return False
    copy = current_sink().path(_FILE)
    if whole.resolve() != copy.resolve():
        shutil.copyfile(whole, copy)
    return True


def _link(run: Run) -> list[Markdown]:
    """Where all of them are."""
    if not linked(run):
        return []
    return [Markdown(f"::: {{.files}}\n\nAll of them: [{_FILE}]({_FILE}).\n\n:::")]
