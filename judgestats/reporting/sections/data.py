"""What was judged and said: items, exclusions, description, reliability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judgestats.reporting.display import Markdown
from judgestats.reporting.numbers import (
    DASH,
    UNKNOWN,
    WHY_UNKNOWN,
    interval,
    number,
    positive_interval,
)
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections import exclusions as left_out
from judgestats.reporting.tables import Column, Table, filled, is_empty

items, exclusions = left_out.items, left_out.exclusions
exclusion_reasons = left_out.exclusion_reasons

_MOST_COLUMNS = 9
_MANY_CONDITIONS = 5


def descriptives(run: Run) -> Table | Markdown:
    """Mean, spread and standard error of measurement by condition."""
    frame = run.conditions
    if frame.empty:
        return Markdown("No condition could be described.")
    if "mean" not in frame:
        return Markdown("") if coefficients_of(run) else _as_it_is(frame)
    once = "icc1" not in frame
    scored = [r for r in run.described if not math.isnan(_number(r, "mean"))]
    rows = [
        row | {
            "mean_ci": _mean_interval(row, run),
            "unanswered_share": _number(row, "unanswered_share") or math.nan,
            "variance_ci": positive_interval(
                _number(row, "within_variance_low"), _number(row, "within_variance_high"),
                estimate=_number(row, "within_variance"), digits=3,
            ),
        }
        for row in scored or run.described  # conditions of verdicts stand in a table of their own
    ]  # fmt: skip
    percent = f"{100 * run.level:g}% CI"
    lost = (
        Column(key="unread_share", label="Not read", format="percent:1"),
        Column(key="unanswered_share", label="Not answered", format="percent:1"),
    )
    columns = filled(
        [
            Column(key="n_items", label="Items", format="integer"),
            Column(key="n_ok", label="Scores", format="integer"),
            Column(key="mean", label="Mean", format="number:2"),
            Column(key="mean_ci", label=percent, align="right"),
            Column(key="sd", label="SD", format="number:2"),
            Column(key="min", label="Lowest", format="number:2"),
            Column(key="median", label="Median", format="number:2"),
            Column(key="max", label="Highest", format="number:2"),
            *(lost if once else ()),
            Column(key="sd_between", label="SD between items", format="number:2"),
            Column(key="within_variance", label="Within-item variance", format="number:3"),
            Column(key="variance_ci", label=percent, align="right"),
            Column(key="sem", label="SEM", format="number:2"),
            Column(key="constant_share", label="Items never varying", format="percent:0"),
        ],
        rows,
    )
    return condition_table(
        run,
        columns,
        rows,
        caption=(
            "Scores by condition, each item judged once: the SD holds differences between items "
            "and the judge's noise together, which only repetition can part."
            if once
            else "Scores by condition: mean over items, spread between items, and spread of "
            "repeated judgments of the same item. SEM is the SD of repeated scores of one "
            "item, in points."
        ),
        note=_undefined_note(rows, columns),
        label="tbl-conditions",
    )


def condition_table(
    run: Run,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    *,
    caption: str,
    label: str,
    note: str = "",
) -> Table:
    """A row a condition, under its judge where there are several.

    Parameters
    ----------
    run : Run
    columns : sequence of Column
        Those after the condition's name.
    rows : sequence of mapping
        Conditions as `Run.described` has them, with further cells.
    caption, label, note : str
        As for `Table`.
    """
    return Table(
        columns=(Column(key="condition", label="Condition"), *columns),
        rows=tuple(
            {
                **row,
                "group": str(row.get("judge", "")) if run.by_judge else "",
                "condition": short_condition(row, run),
            }
            for row in rows
        ),
        group="group" if run.by_judge else "",
        caption=caption,
        note=note,
        label=label,
    )


COEFFICIENTS = {
    "grade_score": "Grade Score",
    "corrected": "Grade Score, chance-corrected",
    "vote_share": "Kappa (repeats)",
    "vote_share_all": "Kappa of verdict shares",
    "vote_share_unread_a_category": "Kappa, unparsed as a category",
    "vote_share_unread_missing": "Kappa, unparsed left out",
    "fleiss_kappa": "Fleiss' kappa",
    "fleiss_kappa_unread": "Fleiss' kappa, unparsed as a category",
    "ac1": "Gwet's AC1",
    "self_agreement": "Observed agreement of repeats",
    "flip_rate": "Flip rate",
    "swap_consistency": "Order consistency",
    "first_preference": "First-position preference",
    "alignment": "Agreement with humans (1 / .5 / 0)",
    "accuracy": "Accuracy",
    "accuracy_decided": "Accuracy without ties",
    "padding_shift": "Padding shift, points of 1-10",
    "average": "Average of the sets",
    "best_share": "Best candidate chosen",
    "circles": "Intransitive triads",
    "kappa": "Cohen's kappa",
    "chosen_preferred": "Preferred answer chosen",
    "chosen_right": "Correct answer chosen",
    "unrelated_wins": "Distractor chosen",
    "as_judged": "Share judged correct",
    "as_judged_unread_not_correct": "Judged correct, unparsed as not",
    "vote_share_kappa": "Kappa (repeats), kappa estimator",
    "reliability": "Reliability",
    "alignment_unread_as_wrong": "Agreement, unparsed as wrong",
    "noise": "Repeats that differ",
}
"""Columns that describe verdicts, in the order shown."""


def coefficients_of(run: Run) -> dict[str, str]:
    """The coefficients that a run of verdicts has: column and label."""
    by_name = {k: v for k, v in COEFFICIENTS.items() if k in run.conditions}
    scores = {"mean", "within_variance", "icc1", "alpha", "omega", "pearson", "spearman", "kendall"}
    others = [
        c for c in run.conditions.columns
        if f"{c}_low" in run.conditions
        and c not in by_name
        and c not in scores
        and not str(c).startswith("accuracy_in_")
    ]  # fmt: skip
    if "factor_strategy" in run.conditions:  # how often each is right is what was asked
        by_name = {k: by_name[k] for k in (*_RIGHT, *by_name) if k in by_name}
        by_name |= {"accuracy": "Accuracy"} if "accuracy" in by_name else {}
    return by_name | {c: _heading(c) for c in others}


def _heading(column: str) -> str:
    text = column.removeprefix("factor_").removeprefix("n_").replace("_", " ")
    return text[:1].upper() + text[1:]


_RIGHT = ("accuracy", "average", "swap_consistency", "self_agreement")


def verdicts(run: Run) -> Table | list[Table] | None:
    """Coefficients of verdicts by condition, with intervals; None for a run of scores."""
    names = coefficients_of(run)
    if not names:
        return None
    if len(run.compared) > _MANY_CONDITIONS:
        return _wide_verdicts(run, names)
    rows: list[dict[str, Any]] = []
    for row in run.compared:
        if all(math.isnan(number_of(row.get(key))) for key in names):
            continue  # a condition of scores, which stands in a table of its own
        for key, label in names.items():
            if math.isnan(number_of(row.get(key))) and not row.get(f"{key}_reason"):
                continue  # not asked of this condition
            rows.append(
                {
                    "group": label,
                    # groups are coefficients here, so that only the row can say the judge
                    "condition": (
                        run.called(str(row.get("condition", "")))
                        if run.several_judges
                        else short_condition(row, run)
                    ),
                    "n": row.get("n_items"),
                    "value": number_of(row.get(key)),
                    "ci": _bounds(row, key),
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
        note=" ".join(filter(None, (_undefined_note(rows), _elsewhere(run)))),
        label="tbl-verdicts",
    )


def _wide_verdicts(run: Run, names: dict[str, str]) -> list[Table]:
    """A row a condition and a column a coefficient, four at most in a table."""
    keys = list(names)
    tables = []
    parts = -(-len(keys) // 4)
    size = -(-len(keys) // parts)  # as many in each
    for place, start in enumerate(range(0, len(keys), size)):
        part = keys[start : start + size]
        tables.append(
            condition_table(
                run,
                [Column(key=k, label=names[k], align="right") for k in part],
                [row | {k: with_bounds(row, k) for k in part} for row in run.compared],
                caption=(
                    f"Verdicts by condition, with {100 * run.level:g} % intervals"
                    + (f" ({place + 1})." if parts > 1 else ".")
                ),
                note=_elsewhere(run),
                label="tbl-verdicts" + (f"-{place + 1}" if start else ""),
            )
        )
    return tables


def _elsewhere(run: Run) -> str:
    """Where the conditions are that a table of the compared ones leaves out."""
    if len(run.compared) == len(run.described):
        return ""
    return (
        f"The strategies that are compared: {len(run.compared)} of {len(run.described)} "
        "conditions. The others follow by number of judgments and by selection; all coefficients "
        "of all conditions are in tables/conditions.csv."
    )


def with_bounds(row: Mapping[str, Any], key: str) -> str:
    """A coefficient of a row with its interval in brackets, where it has one."""
    value = number(_number(row, key), leading_zero=False)
    bounds = _bounds(row, key)
    return value if bounds == DASH else f"{value} {bounds}"


def _bounds(row: Mapping[str, Any], key: str) -> str:
    return interval(_number(row, f"{key}_low"), _number(row, f"{key}_high"), leading_zero=False)


def reliability(run: Run) -> Table | Markdown:
    """Reliability by condition, each beside what it would be with nothing to find."""
    frame = run.conditions
    if "icc1" not in frame:
        return Markdown("")
    alpha = "alpha" if "alpha" in frame else "omega"  # what runs of judgestats 0.2 call it
    rows = [
        row | {"icc1_ci": _bounds(row, "icc1"), "alpha_ci": _bounds(row, alpha)}
        for row in run.described
        # a condition without scores, or one made of others, has neither a number nor a reason
        if not math.isnan(_number(row, "icc1")) or str(row.get("icc1_reason") or "nan") != "nan"
    ]
    percent = f"{100 * run.level:g}% CI"
    columns = [
        Column(key="icc1", label="ICC(1,1)", format="coefficient:3"),
        Column(key="icc1_ci", label=percent, align="right"),
        Column(key="icc1_null_q95", label="Null, 95th pct.", format="coefficient:2"),
        Column(key="icc1_null_p", label="p", format="p"),
        Column(key=alpha, label="Cronbach's alpha", format="coefficient:3"),
        Column(key="alpha_ci", label=percent, align="right"),
        Column(key=f"{alpha}_null_q95", label="Null, 95th pct.", format="coefficient:2"),
        Column(key="smallest_detectable_change", label="Smallest change", format="number:2"),
    ]
    return condition_table(
        run,
        columns,
        rows,
        caption=(
            "Reliability of one judgment (ICC) and of the mean of all replications "
            "(Cronbach's alpha), with the 95th percentile of what the same coefficient yields "
            "when each replication's scores are shuffled over items. Smallest change: the "
            "difference between two single judgments that exceeds their noise 95 times in 100."
        ),
        note=_undefined_note(rows, columns),
        label="tbl-reliability",
    )


def full_condition(row: Mapping[str, Any], run: Run) -> str:
    """A condition's name where no heading says the judge: that of the screen, where it has one."""
    name = str(row["condition"])
    if name in run.names:
        return run.names[name]
    short = short_condition(row, run)
    if not run.several_judges:
        return short
    judge = str(row["judge"])
    own = judge.rpartition("/")[2] in name  # google/gemma names itself gemma
    return f"{judge}, {short}" if run.by_judge and not (own and short == name) else name


def short_condition(row: Mapping[str, Any], run: Run) -> str:
    """What tells a condition from the others, where the table says the judge or there is one.

    The judge is left out, a temperature that all share, and the name of the one thing that varies.
    """
    name = str(row.get("condition", ""))
    judge = str(row.get("judge", ""))
    short = run.by_judge or not run.several_judges
    if not (short and judge and name.startswith(f"{judge}, ")):
        return name
    bare = name[len(judge) + 2 :]
    factors = [str(c) for c in run.conditions.columns if str(c).startswith("factor_")]
    values = {f.removeprefix("factor_"): row.get(f) for f in factors}
    named = ", ".join(f"{key}={value}" for key, value in values.items())
    at = bare.removesuffix(f", {named}")
    if not values or at == bare:
        return bare  # made of other conditions, or varied in nothing but temperature
    shown = named if len(values) > 1 else str(next(iter(values.values())))
    one = run.conditions["temperature"].drop_duplicates().size == 1
    return shown if one else f"{at}, {shown}"


def _number(row: Mapping[str, Any], key: str) -> float:
    return number_of(row.get(key))


def _as_it_is(frame: pd.DataFrame) -> Table:
    """A table of conditions whose columns this module does not know, as many as fit a page."""
    kept = [str(c) for c in frame.columns if not frame[c].isna().all()]
    if {"condition", "judge", "temperature"} <= set(kept):
        kept.remove("condition")  # the columns beside it say the same
    shown = frame[kept[:_MOST_COLUMNS]].rename(columns=_heading)
    return Table.from_frame(shown, caption="Estimates by condition.", label="tbl-conditions")


def _mean_interval(row: Mapping[str, Any], run: Run) -> str:
    """The interval of a mean; one wider than the scale says nothing, and is not printed."""
    low, high = _number(row, "mean_low"), _number(row, "mean_high")
    if run.scale and low < run.scale[0] and high > run.scale[1]:
        return UNKNOWN
    return interval(low, high)


def _undefined_note(rows: list[dict[str, Any]], columns: Sequence[Column] = ()) -> str:
    """What a dash, or words in the place of an interval, mean in the columns shown."""
    keys = {c.key for c in columns} or {key for row in rows for key in row}
    shown = [row.get(key) for row in rows for key in keys]
    notes = []
    if any(is_empty(v) for v in shown):
        notes.append(
            "– undefined, with the reason among the checks (no interval where nothing varied)."
        )
    if any(isinstance(v, str) and UNKNOWN in v for v in shown):
        notes.append(WHY_UNKNOWN)
    return " ".join(notes)
