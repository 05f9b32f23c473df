"""What was judged and said: items, exclusions, description, reliability."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from judgestats.protocols.base import Status
from judgestats.reporting.formats import DASH, interval, is_missing, number
from judgestats.reporting.runs import Run, number_of, rows_of
from judgestats.reporting.show import Markdown
from judgestats.reporting.tables import Column, Table

__all__ = [
    "COEFFICIENTS",
    "coefficients_of",
    "descriptives",
    "exclusion_reasons",
    "exclusions",
    "items",
    "reliability",
    "short_condition",
    "verdicts",
]

_MOST_COLUMNS = 9
_MANY_CONDITIONS = 5
_STATUS_LABELS = {
    "ok": "read",
    "unparseable": "unparseable",
    "ambiguous": "ambiguous",
    "refused": "refused",
    "truncated": "truncated",
    "failed": "call failed",
    "invalid_condition": "condition refused",
    "out_of_scale": "outside the scale",
}


def items(run: Run) -> Table | Markdown:
    """Items and questions by category."""
    frame = run.judgments
    if frame.empty:
        design = run.results.get("design") or {}
        if design.get("streamed"):
            return Markdown(
                f"{design['items']:,} items from {design['clusters']:,} questions were judged. "
                "The judgments were counted in one pass and are not kept in the run."
            )
        return Markdown("The run holds no judgments.")
    once = frame.drop_duplicates("item_id")
    category = once["category"].replace("", "(none)") if "category" in once else None
    if category is None or category.nunique() < 2:
        n, clusters = len(once), once["cluster"].nunique()
        return Markdown(f"{n} items from {clusters} questions were judged.")
    grouped = once.assign(category=category).groupby("category", sort=True)
    rows = [
        {"category": str(name), "items": len(g), "clusters": g["cluster"].nunique()}
        for name, g in grouped
    ]
    rows.append({"category": "all", "items": len(once), "clusters": once["cluster"].nunique()})
    return Table(
        columns=(
            Column(key="category", label="Category"),
            Column(key="items", label="Items", format="integer"),
            Column(key="clusters", label="Questions", format="integer"),
        ),
        rows=tuple(rows),
        caption=(
            "What was judged. Items of one question are not independent: intervals and tests keep "
            "them together."
        ),
        label="tbl-items",
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
        row["unread"] = 1 - row["ok"] / total if total else math.nan
        rows.append(row)
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="n", label="Planned", format="integer"),
            *(
                Column(key=s, label=_STATUS_LABELS.get(s, s.replace("_", " ")), format="integer")
                for s in statuses
            ),
            Column(key="unread", label="Not read", format="percent"),
        ),
        rows=tuple(rows),
        caption=(
            "Judgments by condition and status. One that was not read has a status and no score; "
            "it is in no mean and no variance below."
        ),
        label="tbl-exclusions",
    )


def _counted_statuses(run: Run) -> pd.DataFrame:
    """Conditions x statuses of a run that counted its judgments without keeping them."""
    table = run.conditions
    columns = {f"n_{s.value}": s.value for s in Status}
    kept = [c for c in columns if c in table]
    design = run.results.get("design") or {}
    if not design.get("streamed") or "n_ok" not in kept:
        return pd.DataFrame()
    return table.set_index("condition")[kept].rename(columns=columns).astype(int)


def exclusion_reasons(run: Run, *, most: int = 12) -> Table | None:
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
        for pair, n in zip(counted.index.tolist()[:most], counted.tolist(), strict=False)
    ]
    return Table(
        columns=(
            Column(key="status", label="Status"),
            Column(key="why", label="Reason"),
            Column(key="n", label="Judgments", format="integer"),
        ),
        rows=tuple(rows),
        caption="Why judgments were not read"
        + (f" (the {most} commonest reasons)." if len(counted) > most else "."),
        label="tbl-reasons",
    )


def descriptives(run: Run) -> Table | Markdown:
    """Mean, spread and standard error of measurement by condition."""
    frame = run.conditions
    if frame.empty:
        return Markdown("No condition could be described.")
    if "mean" not in frame:
        return Markdown("") if coefficients_of(run) else _as_it_is(frame)
    judged = run.several_judges
    rows = []
    for row in rows_of(frame):
        rows.append(
            {
                "group": str(row.get("judge", "")) if judged else "",
                "condition": short_condition(row, run),
                "n": row.get("n_items"),
                "ok": row.get("n_ok"),
                "mean": _number(row, "mean"),
                "mean_ci": interval(_number(row, "mean_low"), _number(row, "mean_high")),
                "sd": _number(row, "sd_between"),
                "var": _number(row, "within_variance"),
                "var_ci": interval(
                    _number(row, "within_variance_low"), _number(row, "within_variance_high"),
                    digits=3,
                ),
                "sem": _number(row, "sem"),
                "constant": _number(row, "constant_share"),
            }
        )  # fmt: skip
    percent = f"{100 * run.level:g}% CI"
    columns = [
        Column(key="condition", label="Condition"),
        Column(key="n", label="Items", format="integer"),
        Column(key="ok", label="Scores", format="integer"),
        Column(key="mean", label="Mean", format="number:2"),
        Column(key="mean_ci", label=percent, align="right"),
        Column(key="sd", label="SD between items", format="number:2"),
        Column(key="var", label="Within-item variance", format="number:3"),
        Column(key="var_ci", label=percent, align="right"),
        Column(key="sem", label="SEM", format="number:2"),
        Column(key="constant", label="Items never varying", format="percent:0"),
    ]
    columns = [c for c in columns if any(not _is_empty(row[c.key]) for row in rows)]
    return Table(
        columns=tuple(columns),
        rows=tuple(rows),
        group="group" if judged else "",
        caption=(
            "Scores by condition: mean over items, spread between items, and spread of repeated "
            "judgments of the same item. SEM is the standard error of one judgment in score points."
        ),
        note=_undefined_note(rows),
        label="tbl-conditions",
    )


COEFFICIENTS = {
    "fleiss_kappa": "Fleiss' kappa of repetitions",
    "ac1": "AC1 of repetitions",
    "vote_share": "Reliability of one verdict",
    "flip_rate": "Verdict changes on asking again",
    "swap_consistency": "Same response after a swap",
    "alignment": "Agreement with people (1 / .5 / 0)",
    "accuracy": "Same verdict as people",
}
"""Columns that describe verdicts, in the order shown."""


def coefficients_of(run: Run) -> dict[str, str]:
    """The coefficients that a run of verdicts has: column and label."""
    known = {k: v for k, v in COEFFICIENTS.items() if k in run.conditions}
    scores = {"mean", "within_variance", "icc1", "omega"}
    others = [
        c for c in run.conditions.columns
        if f"{c}_low" in run.conditions and c not in known and c not in scores
    ]  # fmt: skip
    return known | {c: c.replace("_", " ") for c in others}


def verdicts(run: Run) -> Table | list[Table] | None:
    """Coefficients of verdicts by condition, with intervals; None for a run of scores."""
    names = coefficients_of(run)
    if not names:
        return None
    if len(run.conditions) > _MANY_CONDITIONS:
        return _wide_verdicts(run, names)
    rows: list[dict[str, Any]] = []
    for row in rows_of(run.conditions):
        for key, label in names.items():
            rows.append(
                {
                    "group": label,
                    "condition": str(row.get("condition", "")),
                    "n": row.get("n_items"),
                    "value": number_of(row.get(key)),
                    "ci": interval(
                        _number(row, f"{key}_low"), _number(row, f"{key}_high"), leading_zero=False
                    ),
                }
            )
    order = list(names.values())
    rows.sort(key=lambda r: order.index(r["group"]))
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="n", label="Items", format="integer"),
            Column(key="value", label="Estimate", format="coefficient:3"),
            Column(key="ci", label=f"{100 * run.level:g}% CI", align="right"),
        ),
        rows=tuple(rows),
        group="group",
        caption=(
            "Verdicts by condition: agreement of repetitions, order, and agreement with people "
            "where their verdicts are known."
        ),
        note=_undefined_note(rows),
        label="tbl-verdicts",
    )


def _wide_verdicts(run: Run, names: dict[str, str]) -> list[Table]:
    """A row a condition and a column a coefficient, four at most in a table."""
    keys = list(names)
    tables = []
    for start in range(0, len(keys), 4):
        part = keys[start : start + 4]
        rows = [
            {
                "group": str(row.get("judge", "")) if run.several_judges else "",
                "condition": short_condition(row, run),
                **{k: _with_interval(row, k) for k in part},
            }
            for row in rows_of(run.conditions)
        ]
        tables.append(
            Table(
                columns=(
                    Column(key="condition", label="Condition"),
                    *(Column(key=k, label=names[k], align="right") for k in part),
                ),
                rows=tuple(rows),
                group="group" if run.several_judges else "",
                caption=(
                    f"Verdicts by condition, with {100 * run.level:g}% intervals"
                    + (f" ({start // 4 + 1})." if len(keys) > 4 else ".")
                ),
                label="tbl-verdicts" + (f"-{start // 4 + 1}" if start else ""),
            )
        )
    return tables


def _with_interval(row: dict[str, Any], key: str) -> str:
    value = number(_number(row, key), leading_zero=False)
    bounds = interval(_number(row, f"{key}_low"), _number(row, f"{key}_high"), leading_zero=False)
    return value if bounds == DASH else f"{value} {bounds}"


def reliability(run: Run) -> Table | Markdown:
    """Reliability by condition, each beside what it would be with nothing to find."""
    frame = run.conditions
    if "icc1" not in frame:
        return Markdown("")
    judged = run.several_judges
    rows = []
    for row in rows_of(frame):
        rows.append(
            {
                "group": str(row.get("judge", "")) if judged else "",
                "condition": short_condition(row, run),
                "icc": _number(row, "icc1"),
                "icc_ci": interval(
                    _number(row, "icc1_low"), _number(row, "icc1_high"), leading_zero=False
                ),
                "icc_null": _number(row, "icc1_null_q95"),
                "omega": _number(row, "omega"),
                "omega_ci": interval(
                    _number(row, "omega_low"), _number(row, "omega_high"), leading_zero=False
                ),
                "omega_null": _number(row, "omega_null_q95"),
                "p": _number(row, "icc1_null_p"),
                "sdc": _number(row, "smallest_detectable_change"),
            }
        )  # fmt: skip
    percent = f"{100 * run.level:g}% CI"
    return Table(
        columns=(
            Column(key="condition", label="Condition"),
            Column(key="icc", label="ICC(1,1)", format="coefficient:3"),
            Column(key="icc_ci", label=percent, align="right"),
            Column(key="icc_null", label="Null, 95th pct.", format="coefficient:2"),
            Column(key="p", label="p", format="p"),
            Column(key="omega", label="Omega of the mean", format="coefficient:3"),
            Column(key="omega_ci", label=percent, align="right"),
            Column(key="omega_null", label="Null, 95th pct.", format="coefficient:2"),
            Column(key="sdc", label="Smallest change", format="number:2"),
        ),
        rows=tuple(rows),
        group="group" if judged else "",
        caption=(
            "Reliability of one judgment (ICC) and of the mean of all replications (omega, "
            "parallel model), beside the 95th percentile of what the same coefficient yields when "
            "each replication's scores are shuffled over items. Smallest change: the difference "
            "between two single judgments that exceeds their noise 95 times in 100."
        ),
        note=_undefined_note(rows),
        label="tbl-reliability",
    )


def short_condition(row: dict[str, Any], run: Run) -> str:
    """A condition's name without the judge, where a table is grouped by judge."""
    name = str(row.get("condition", ""))
    judge = str(row.get("judge", ""))
    if run.several_judges and judge and name.startswith(f"{judge}, "):
        return name[len(judge) + 2 :]
    return name


def _number(row: dict[str, Any], key: str) -> float:
    return number_of(row.get(key))


def _as_it_is(frame: pd.DataFrame) -> Table:
    """A table of conditions whose columns this module does not know, as many as fit a page."""
    kept = [c for c in frame.columns if not frame[c].isna().all()][:_MOST_COLUMNS]
    return Table.from_frame(
        frame[kept], caption="What was measured, by condition.", label="tbl-conditions"
    )


def _is_empty(value: Any) -> bool:
    return is_missing(value) or value == DASH


def _undefined_note(rows: list[dict[str, Any]]) -> str:
    missing = any(
        (isinstance(v, float) and math.isnan(v)) or v == "–" for row in rows for v in row.values()
    )
    return (
        "– undefined, with the reason among the checks (no interval where nothing varied)."
        if missing
        else ""
    )
