"""What is known of a condition, as numbers that know their records."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judgestats.errors import InputError
from judgestats.reporting.numbers import Measured, address, number
from judgestats.reporting.runs import Run, number_of
from judgestats.reporting.sections.data import COEFFICIENTS
from judgestats.results import CONDITIONS, Column, Estimate, Table, quantity_of

_COLUMNS = {
    "icc1": "icc_1_1",
    "omega": "omega_total",
    "within_variance": "pooled_within_variance",
    "vote_share": "vote_share_reliability",
}
"""Columns of the table of conditions under the names of the registry."""
_LABELS = {
    "icc1": "ICC(1,1)",
    "accuracy_all": "Accuracy with all repeats averaged",
    "unread_share": "Unparsed rate",
    "unanswered_share": "Failed calls",
    "mean": "Mean score",
    "pearson": "Pearson's r",
    "vote_share": "Kappa (repeats)",
    "reliability": "Reliability",
    "cost_usd": "Cost",
    "k": "Judgments averaged",
    "tokens": "Tokens per verdict",
    "tokens_per_pair": "Tokens per pair",
    "cost_per_pair": "Cost per pair",
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
_BOUNDED = frozenset(
    {
        *("alignment", "accuracy", "accuracy_all", "pearson", "printed_omega", "published_omega"),
        *("accuracy_as_counted", "accuracy_shared"),
        *("win_rate_people", "win_rate_judge"),
        *("people_who_pass", "pass_without_margin", "pass_rate"),
    }
)
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
        Of the table, as it stands in the file.
    key : str
        The column's name.
    """
    records = run.records
    values = run.table(CONDITIONS)[row]
    name = str(values.get("condition", ""))
    estimand = _COLUMNS.get(key, key)
    for condition in records.conditions:
        if condition.label == name and estimand in condition.estimates:
            return Measured.of(records.get(condition.estimates[estimand], Estimate))
    at = [f"rows.{row}.{key}{end}" for end in ("", "_low", "_high", "_null_q95")]
    numbers = [number_of(values.get(f"{key}{end}")) for end in ("", "_low", "_high", "_null_q95")]
    unit = next((c.unit for c in _columns(run) if c.key == key), "")
    return Measured(
        value=numbers[0],
        low=numbers[1],
        high=numbers[2],
        chance=numbers[3],
        bounded=_is_bounded(key, unit),
        unit=unit,
        at=(*(address(CONDITIONS, a) for a in at),),  # type: ignore[arg-type]
    )


def measures(run: Run, keys: Sequence[str]) -> list[str]:
    """Those of the columns that hold any number, in order."""
    rows = run.table(CONDITIONS)
    return [k for k in keys if any(measured(run, i, k).is_finite for i in range(len(rows)))]


def _columns(run: Run) -> tuple[Column, ...]:
    if CONDITIONS not in run.records:
        return ()
    return run.records.get(CONDITIONS, Table).columns


def _is_bounded(key: str, unit: str) -> bool:
    if unit in {"probability", "coefficient", "probability difference"} or key in COEFFICIENTS:
        return key != "padding_shift"
    try:
        return quantity_of(_COLUMNS.get(key, key)).bounded
    except InputError:
        return key in _BOUNDED or key.startswith("share of ")


def heading(key: str) -> str:
    """What a column is called."""
    if key in _LABELS:
        return _LABELS[key]
    if key in COEFFICIENTS:
        return COEFFICIENTS[key]
    try:
        text = quantity_of(_COLUMNS.get(key, key)).heading
    except InputError:
        text = key.removeprefix("factor_").replace("_", " ")
    return text[:1].upper() + text[1:]


def with_unit(run: Run, key: str) -> str:
    """What an axis is called: the name with its unit, by the registry."""
    try:
        unit = quantity_of(_COLUMNS.get(key, key)).unit
    except InputError:
        unit = next((c.unit for c in _columns(run) if c.key == key), "")
    short = in_words(unit)
    name = heading(key)
    if not short or key in _SHARES:
        return name
    return f"{name.removesuffix(')')}, {short})" if name.endswith(")") else f"{name} ({short})"


def from_zero(key: str) -> bool:
    """Whether an axis begins at 0: of what is told in the scale's points and cannot be less.

    Examples
    --------
    >>> from_zero("sem"), from_zero("icc1"), from_zero("mean")
    (True, False, False)
    """
    try:
        entry = quantity_of(_COLUMNS.get(key, key))
    except InputError:
        return False
    return entry.low == 0 and "points" in entry.unit


def in_words(unit: str) -> str:
    """A unit of the registry as an axis says it; nothing where a number has none."""
    return {
        "points": "points of the scale", "squared points": "squared points", "USD": "US dollars",
        "probability": "share", "seconds": "seconds", "tokens": "tokens", "count": "number",
    }.get(unit, "")  # fmt: skip
