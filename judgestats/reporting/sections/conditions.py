"""Names of conditions and results, their numbers, and which rows a table keeps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from judgestats.errors import InputError
from judgestats.reporting.numbers import Measured, address, number
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.tables import Column, Table, filled
from judgestats.results import (
    CONDITIONS,
    Comparison,
    Estimate,
    Record,
    Results,
    Test,
    quantity_of,
)
from judgestats.results import Table as TableRecord
from judgestats.results.quantities import Quantity
from judgestats.results.screen import size_of

_COLUMNS = {
    "icc1": "icc_1_1",
    "omega": "omega_total",
    "within_variance": "pooled_within_variance",
    "vote_share": "vote_share_reliability",
}
"""Columns of the table of conditions under the names of the registry."""
_LABELS = {
    "accuracy_all": "Accuracy with all repeats averaged",
    "unanswered_share": "Failed calls",
    "sd": "SD",
    "min": "Lowest",
    "max": "Highest",
    "n_items": "Items",
    "n_ok": "Scores",
    "within_variance": "Within-item variance",
    "constant_share": "Items that never vary",
    "smallest_detectable_change": "Smallest detectable change",
    "llm_score": "Places (LLM score)",
    "choice_score": "Options (choice score)",
    "harmonic_of_means": "Their harmonic mean",
    "chance": "Grade Score by chance",
    "chosen_preferred_by_chance": "Preferred answer, at random",
    "pearson": "Pearson's r",
    "k": "Judgments averaged",
    "tokens": "Tokens per verdict",
    "printed_omega": "Omega as printed",
    "published_omega": "Omega, recomputed",
    "published_omega_null_mean": "Omega, repeats shuffled",
    "accuracy_as_counted": "Accuracy, ties as errors",
    "accuracy_shared": "Accuracy, ties shared",
    "people_who_pass": "Annotators the judge may replace",
    "pass_without_margin": "... with no margin",
    "win_rate_people": "Win rate (human)",
    "win_rate_judge": "Win rate (judge)",
}
_SHARES = frozenset({"unread_share", "unanswered_share", "tie_share"})
_BOUNDED = {
    *("alignment", "accuracy", "accuracy_all", "pearson", "printed_omega", "published_omega"),
    *("accuracy_as_counted", "accuracy_shared"),
    *("win_rate_people", "win_rate_judge"),
    *("people_who_pass", "pass_without_margin", "pass_rate"),
}
LOST = ("unread_share", "unanswered_share")
"""Shares of judgments without a verdict: a reply that could not be read, and no reply."""


def extremes_title(what: str, names: Sequence[str], values: Sequence[float]) -> str:
    """A figure's title as a finding: which of the rows drawn are highest and lowest.

    Conditions at T = 0 repeat one draw and are named only where there are no others.

    Parameters
    ----------
    what : str
        The quantity.
    names : sequence of str
    values : sequence of float

    Examples
    --------
    >>> extremes_title("ICC(1,1)", ["a", "b"], [.94, .81])
    'ICC(1,1) is highest for a and lowest for b.'
    >>> extremes_title("ICC(1,1)", ["a"], [.94])
    'ICC(1,1) is 0.94 for a.'
    """
    known = [(v, n) for v, n in zip(values, names, strict=True) if math.isfinite(v)]
    known = [(v, n) for v, n in known if not n.endswith("T=0")] or known
    if not known:
        return f"{what} has no estimate."
    (low, lowest), (high, highest) = min(known), max(known)
    if len(known) == 1:
        return f"{what} is {number(high)} for {highest}."
    if low == high:
        return f"{what} is {number(high)} in every row."
    return f"{what} is highest for {highest} and lowest for {lowest}."


def any_of(run: Run, key: str) -> bool:
    """Whether a share is more than 0 anywhere."""
    return any(measured(run, i, key).value > 0 for i in range(len(run.table(CONDITIONS))))


def measured(run: Run, row: int, key: str) -> Measured:
    """A column of the table of conditions, with its interval, in one row; as its own record says.

    Parameters
    ----------
    run : Run
    row : int
        Of the table, as it is in the file.
    key : str
        The column's name.
    """
    records = run.records
    values = run.table(CONDITIONS)[row]
    name = str(values.get("condition", ""))
    estimand = _COLUMNS.get(key, key)
    for condition in records.conditions:
        if condition.label == name and estimand in condition.estimates:
            return Measured.from_record(records.get(condition.estimates[estimand], Estimate))
    return number_in({**values, "at": (CONDITIONS, row)}, key, _unit(run, key))


def measures(run: Run, keys: Sequence[str]) -> list[str]:
    """Those of the columns that hold any number, in order."""
    rows = run.table(CONDITIONS)
    return [k for k in keys if any(measured(run, i, k).is_finite for i in range(len(rows)))]


def _declared(key: str) -> Quantity | None:
    """The declaration of a column of the table of conditions; None of one that has none."""
    try:
        return quantity_of(_COLUMNS.get(key, key))
    except InputError:
        return None


def _unit(run: Run, key: str) -> str:
    """The unit of a column, by its table."""
    if CONDITIONS not in run.records:
        return ""
    columns = run.records.get(CONDITIONS, TableRecord).columns
    return next((c.unit for c in columns if c.key == key), "")


def _is_bounded(key: str, unit: str = "") -> bool:
    if unit in {"probability", "coefficient", "probability difference"} or key in COEFFICIENTS:
        return True
    if (entry := _declared(key)) is not None:
        return entry.bounded
    return key in _BOUNDED or key.startswith(("share of ", "accuracy_in_"))


def heading(key: str) -> str:
    """What a column is called."""
    if label := _LABELS.get(key) or COEFFICIENTS.get(key):
        return label
    entry = _declared(key)
    text = entry.heading if entry else key.removeprefix("factor_").replace("_", " ")
    return text[:1].upper() + text[1:]


def with_unit(run: Run, key: str) -> str:
    """What an axis is called: the name with its unit, by the registry."""
    entry = _declared(key)
    short = unit_label(entry.unit if entry else _unit(run, key))
    name = heading(key)
    if not short or key in _SHARES:
        return name
    return f"{name.removesuffix(')')}, {short})" if name.endswith(")") else f"{name} ({short})"


def from_zero(key: str) -> bool:
    """Whether an axis begins at 0: for quantities in points that cannot be negative.

    Examples
    --------
    >>> from_zero("sem"), from_zero("icc1"), from_zero("mean")
    (True, False, False)
    """
    entry = _declared(key)
    return entry is not None and entry.low == 0 and "points" in entry.unit


def unit_label(unit: str) -> str:
    """A unit of the registry as an axis says it; nothing where a number has none."""
    return {
        "points": "points of the scale", "squared points": "squared points", "USD": "US dollars",
        "probability": "share", "seconds": "seconds", "tokens": "tokens", "count": "number",
    }.get(unit, "")  # fmt: skip


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
    "always_same": "Majority baseline",
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
    return by_name | {str(c): heading(str(c)) for c in others}


_RIGHT = ("accuracy", "average", "swap_consistency", "self_agreement")


def condition_table(
    run: Run,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    *,
    caption: str,
    label: str,
    note: str = "",
) -> Table | None:
    """A row per condition, under its judge where there are several; None without any number.

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
    named = [
        {
            **row,
            "group": str(row.get("judge", "")),
            "condition": run.own_names.get(str(row["condition"]), row["condition"]),
        }
        for row in rows
    ]
    return grouped_table(
        (Column(key="condition", label="Condition"), *columns),
        named,
        group="group" if run.is_grouped else "",
        caption=caption,
        label=label,
        note=note,
    )


def grouped_table(
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    *,
    group: str,
    caption: str,
    label: str,
    note: str = "",
) -> Table | None:
    """Rows under their groups; None where only the first column says something.

    A number next to the ends of its interval has them in brackets. Columns that say nothing are
    left out.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of mapping
    group, caption, label, note : str
        As for `Table`.
    """
    made = [
        {**r, **{c.key: number_in(r, c.key).text() for c in columns if f"{c.key}_low" in r}}
        for r in rows
    ]
    kept = tuple(filled(columns, made))
    if len(kept) < 2:
        return None
    return Table(
        columns=kept, rows=tuple(made), group=group, caption=caption, note=note, label=label
    )


def number_in(row: Mapping[str, Any], key: str, unit: str = "") -> Measured:
    """A number of a row with the ends of its interval and its null value, next to it.

    ``at`` of the row, if any, is its table and its index in that table.
    """
    ends = [f"{key}{end}" for end in ("", "_low", "_high", "_null_q95")]
    value, low, high, chance = (number_of(row.get(end)) for end in ends)
    table, place = row.get("at") or ("", 0)
    first, second, third, fourth = (
        address(table, f"rows.{place}.{end}") if table else "" for end in ends
    )
    return Measured(
        value=value, low=low, high=high, chance=chance, bounded=_is_bounded(key, unit), unit=unit,
        at=(first, second, third, fourth),
    )  # fmt: skip


def subject_of(record: Record) -> str:
    """What a result is about, as text: its stratum, its conditions, or its judge."""
    about = record.about
    return about.stratum or " and ".join(about.conditions) or about.judge


def titled(record: Record, run: Run) -> str:
    """A result's title, with the conditions that it names in brackets called as elsewhere."""
    title = record.title
    for label in record.about.conditions:
        title = title.replace(f"({label})", f"({run.condition_name(label)})")
    return title


MOST_ROWS = 24


def sample_rows(
    groups: Sequence[Hashable],
    most: int = MOST_ROWS,
    *,
    grades: Sequence[float] = (),
    within: Sequence[Hashable] = (),
    evenly: bool = False,
) -> list[int]:
    """The places of this many rows, in their order, with some of each group.

    Parameters
    ----------
    groups : sequence
        The group of each row: its judge.
    most : int
    grades : sequence of float
        How little each row tells: the lowest stay. Without them rows tell alike.
    within : sequence
        What a row belongs to inside its group, a question say: of each some stay.
    evenly : bool
        As many of each group, whatever their grades; else the lowest grades of all stay first, and
        of each group at least one row.

    Examples
    --------
    >>> sample_rows(["a"] * 4 + ["b"], 3)
    [0, 1, 4]
    >>> sample_rows(["a", "a", "a", "b"], 3, grades=[1, 0, 0, 1])
    [1, 2, 3]
    >>> sample_rows(["a"] * 4, 2, within=["x", "x", "y", "y"])
    [0, 2]
    >>> sample_rows(["a", "a", "b", "b", "b"], 4, grades=[0, 0, 1, 1, 0], evenly=True)
    [0, 1, 2, 4]
    """
    n = len(groups)
    if n <= most:
        return [*range(n)]
    told = [grades[i] if grades else 0.0 for i in range(n)]
    inner: Counter[Hashable] = Counter()
    place = []
    for i in sorted(range(n), key=lambda i: (told[i], i)):
        key = (groups[i], within[i] if within else None)
        place.append((told[i], inner[key], i))
        inner[key] += 1
    turn: Counter[Hashable] = Counter()
    order = []
    for grade, _, i in sorted(place):  # the groups take turns
        before = turn[groups[i]]
        order.append((before if evenly else before > 0, grade, before, i))
        turn[groups[i]] += 1
    return sorted(i for *_, i in sorted(order)[:most])


def omission_note(shown: int, of: int, noun: str, file: str) -> str:
    """What a table that leaves rows out says of them; nothing of one that has them all.

    Examples
    --------
    >>> omission_note(24, 70, "tests", "tests")
    '24 of 70 tests; all of them in tables/tests.csv.'
    """
    return f"{shown} of {of} {noun}; all of them in tables/{file}.csv." if shown < of else ""


def judge_of(run: Run, record: Record) -> str:
    """The judge that a result is about; empty where it is about several, or none."""
    about, judges = record.about, {c.label: c.judge for c in run.records.conditions}
    if about.judge:
        return about.judge
    own = {judges[label] for label in about.conditions if label in judges}
    if len(own) == 1:
        return own.pop()
    return next((j for j in judges.values() if j and f"{about.stratum},".startswith(f"{j},")), "")


def answer_conditions(run: Run) -> Iterator[str]:
    """The conditions that the answer is about, those whose numbers it tells before the others."""
    claims = ("differs", "equivalent", "open")
    for headline in sorted(
        (h for h in run.records.headlines if h.claim in claims), key=lambda h: claims.index(h.claim)
    ):
        if (size := size_of(headline, run.records)) is not None:
            yield from size.about.conditions
        yield from headline.about.conditions


def grades_of(run: Run, conditions: Sequence[str]) -> list[int]:
    """How little a page says of each condition elsewhere: the recommended are first."""
    first = {name: i for i, name in enumerate(dict.fromkeys(answer_conditions(run)))}
    return [first.get(name, len(first)) for name in conditions]


def p_of(record: Test | Comparison) -> tuple[str, float, bool]:
    """Field and value of the p that decides, and whether it is an upper bound."""
    if record.family and not math.isnan(record.p_adjusted):
        return "p_adjusted", record.p_adjusted, record.p_bound
    return "p", record.p, record.p <= record.p_floor


def level_of(record: Test | Comparison, results: Results) -> float:
    """The level of a test: that of its family, where it has one."""
    return results.family(record.family).level if record.family else 0.05
