"""Records as sentences, prints, and APA strings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from judgestats.files.text import format_number
from judgestats.results.numbers import (
    adjusted_p,
    apa_estimate,
    apa_number,
    apa_p,
    as_sentence,
    count_noun,
)
from judgestats.results.quantities import name_of, omits_zero, symbol_of
from judgestats.results.records import (
    LOST,
    Comparison,
    Estimate,
    Record,
    ResultSet,
    Table,
    Test,
)
from judgestats.results.results import Results, csv_row

_MOST_NAMED = 6
_CORRELATIONS = frozenset({"r", "rho", "tau", "rs"})


class ResultText(NamedTuple):
    """A result as text: what was found, why this test, and what follows.

    Results that share `why` or `verdict` can say it once.
    """

    numbers: str
    why: str = ""
    verdict: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


def statistic_text(
    symbol: str,
    value: float,
    df: Mapping[str, float],
    *,
    n_items: int | None = None,
    digits: int = 2,
) -> str:
    """A statistic with its degrees of freedom; a chi-squared one with the number of items.

    Examples
    --------
    >>> statistic_text("F", 4.213, {"df": 3, "df_residual": 57})
    'F(3, 57) = 4.21'
    >>> statistic_text("Friedman chi-squared", 9.1, {"df": 3}, n_items=20)
    'χ²(3, N = 20) = 9.10'
    >>> statistic_text("V", 21.0, {}), statistic_text("rho", 0.5, {})
    ('V = 21', 'rho = .50')
    """
    squared = symbol.lower().endswith(("chi-squared", "x-squared", "χ²"))
    name = "χ²" if squared else symbol
    defined = [float(v) for v in df.values() if not math.isnan(v)]
    inside = [apa_number(v, digits=0 if v.is_integer() else 2) for v in defined]
    if squared and inside and n_items is not None:
        inside.append(f"N = {n_items}")
    whole = not defined and not squared and float(value).is_integer()
    shown = apa_number(value, digits=0 if whole else digits, bounded=name in _CORRELATIONS)
    if not name:
        return shown
    return f"{name}({', '.join(inside)}) = {shown}" if inside else f"{name} = {shown}"


def adjusted_by(method: str) -> str:
    """The name of an adjustment before ``-adjusted``."""
    return {"holm": "Holm", "bonferroni": "Bonferroni"}.get(method, method)


def words_of_test(
    *,
    method: str,
    numbers: str,
    sample: str,
    p: float,
    p_adjusted: float = math.nan,
    null_hypothesis: str = "",
    why: str = "",
    has_effect: bool = False,
) -> ResultText:
    """A test as text, its verdict by the adjusted p where there is one.

    Parameters
    ----------
    method, numbers, sample : str
        What it is, its statistic with p and effect, and what it was computed from.
    p, p_adjusted : float
    null_hypothesis, why : str
    has_effect : bool
        Whether an effect is given that can be read.
    """
    head = f"{method}: {numbers}" + (f" ({sample})." if sample else ".")
    verdict = ""
    if null_hypothesis and p > 0.05:
        verdict = f"This does not show that {null_hypothesis}; it only fails to rule it out."
    elif null_hypothesis and p_adjusted > 0.05:
        verdict = (
            f"Taken alone it speaks against the hypothesis that {null_hypothesis}; "
            "adjusted for the other tests of its family it does not."
        )
    elif null_hypothesis:
        verdict = (
            f"The data speak against the hypothesis that {null_hypothesis}; how large "
            "the departure is, and whether it matters, p does not say"
            + (": read the effect." if has_effect else ".")
        )
    return ResultText(head, as_sentence(why), verdict)


def estimate_text(
    label: str,
    value: float,
    interval: Any,
    *,
    bounded: bool = False,
    reason: str = "",
    digits: int = 2,
    lost: bool = False,
) -> str:
    """``ICC(1,1) = .81, 95% CI [.75, .87]``, or why it is undefined.

    `lost`: its interval is not estimable.
    """
    if math.isnan(value):
        return f"{label} undefined ({reason})"
    text = f"{label} = {apa_estimate(value, interval, digits=digits, bounded=bounded)}"
    return f"{text} {LOST}" if lost else text


def null_text(null: Any, p: float, smallest: float, *, bounded: bool) -> str:
    """What the same number yields under the null hypothesis, as the end of a sentence."""
    if null.reason:
        return f"; the null hypothesis cannot be tested: {null.reason}"
    mean, q95 = (apa_number(value, bounded=bounded) for value in (null.mean, null.q95))
    return (
        f"; under the null hypothesis it averages {mean} (95th percentile {q95}), "
        f"{apa_p(p, smallest=smallest)}"
    )


def pairs_text(
    method: str,
    adjust: str,
    family: str,
    rows: Sequence[tuple[str, float, str]],
    *,
    sample: str,
    largest: str = "",
    margin: str = "",
) -> str:
    """A family of comparisons as text: which pairs are distinguished, and by what.

    Parameters
    ----------
    method, adjust, family : str
    rows : sequence of (str, float, str)
        Of each pair: its names with what was found, the adjusted p, why it is undefined.
    sample : str
    largest : str
        Names of the pair that is most different, with what was found.
    margin : str
        Whether the declared margin is ruled out for it.
    """
    size = count_noun(len(rows), "comparison", "comparisons")
    head = f"{method} ({adjusted_by(adjust)}, family: {family}, {size})"
    unknown = [reason for _, p, reason in rows if math.isnan(p)]
    if unknown and len(unknown) == len(rows):
        why = next((reason for reason in unknown if reason), "undefined")
        return f"{head}: not computed ({why})."
    if unknown:
        head += f", {len(unknown)} of them not computed"
    below = [row for row, p, _ in rows if p <= 0.05]
    if not below:
        far = f". The largest difference is {largest}{margin}" if largest else ""
        return (
            f"{head}: no pair differs significantly at the .05 level, which does not show that "
            f"the conditions are equal{far} ({sample})."
        )
    named = "; ".join(below[:_MOST_NAMED])
    more = f"; and {len(below) - _MOST_NAMED} more" if len(below) > _MOST_NAMED else ""
    return f"{head}: {len(below)} significant: {named}{more} ({sample})."


FEW_CLUSTERS = 10
"""With fewer effective clusters an interval of variances was seen to cover below .93."""
_MUCH = 0.25


def hangs_on(details: Mapping[str, Any]) -> str:
    """Warning if a number depends on few clusters, on one item, or on these runs; else empty.

    Parameters
    ----------
    details : mapping
        ``effective_clusters``; ``largest_share`` and ``largest_item`` of the item that holds most,
        by name or number.

    Examples
    --------
    >>> hangs_on({"effective_clusters": 3.14, "largest_share": 0.52, "largest_item": "q7"})
    ' (3.1 effective clusters; q7 carries 52% of one side)'
    >>> hangs_on({"effective_clusters": 40.0, "largest_share": 0.06, "largest_item": "q7"})
    ''
    """
    parts = []
    if (effective := details.get("effective_clusters", math.nan)) < FEW_CLUSTERS:
        parts.append(f"{effective:.1f} effective clusters")
    if (share := details.get("largest_share", math.nan)) >= _MUCH:
        item = details["largest_item"]
        name = f"item {item}" if isinstance(item, int) else item
        parts.append(f"{name} carries {100 * share:.0f}% of one side")
    if details.get("target") == "these runs":
        parts.append("in these runs")
    return f" ({'; '.join(parts)})" if parts else ""


def furthest(estimates: Sequence[float], *, ratios: bool) -> int | None:
    """Place of the estimate furthest from no difference; None where none is known.

    Examples
    --------
    >>> furthest([0.2, -0.9, math.nan], ratios=False), furthest([0.2, 3.0], ratios=True)
    (1, 0)
    """
    far = {}
    for i, value in enumerate(estimates):
        if math.isfinite(value) and (value > 0 or not ratios):
            far[i] = abs(math.log(value)) if ratios else abs(value)
    return max(far, key=lambda i: far[i]) if far else None


def words_of(record: Record, results: Results) -> ResultText:
    """A record as text; empty if there is nothing to say beyond a table.

    Parameters
    ----------
    record : Record
    results : Results
        Holds its family, effects and members.

    Returns
    -------
    ResultText

    Examples
    --------
    >>> from judgestats.results import Family, Statistic
    >>> t = Test(id="t", hypothesis="h", role="primary", title="T", test="friedman_test",
    ...          method="F test", statistic=Statistic(symbol="F", value=1.0, df={"df": 2}),
    ...          p=0.388, p_adjusted=0.775, family="f", null_hypothesis="all are alike")
    >>> f = Family(id="f", hypothesis="h", label="f", method="holm", members=("t", "u"))
    >>> words_of(t, Results(experiment="", question="", results=(t,), families=(f,))).numbers
    'F test: F(2) = 1.00, p = .388 (Holm-adjusted over 2 tests, p = .775).'
    """
    sample = str(record.sample) if record.sample is not None else ""
    if isinstance(record, Test):
        if math.isnan(record.p):
            return ResultText(f"{record.method}: not computed ({record.reason}).")
        return words_of_test(
            method=record.method,
            numbers=apa_of(record, results),
            sample=sample,
            p=record.p,
            p_adjusted=record.p_adjusted,
            null_hypothesis=record.null_hypothesis,
            why=record.why,
            has_effect=bool(record.effects),
        )
    if isinstance(record, Estimate):
        if math.isnan(record.estimate):
            return ResultText(f"{_label(record)} is undefined: {record.reason}.")
        text, null = _estimate(record, _label(record)), record.null
        if null is not None:
            text += null_text(null, null.p, null.p_floor, bounded=omits_zero(record.estimand))
        return ResultText(text + (f" ({sample})." if sample else "."))
    if isinstance(record, (ResultSet, Table)) and record.text:
        return ResultText(record.text)
    if isinstance(record, ResultSet):
        rows = [r for r in results.members(record) if isinstance(r, Comparison)]
        if rows:
            adjust, family = (str(record.details.get(k, "")) for k in ("adjust", "family"))
            worded = [(_pair(r), r.p_adjusted if r.family else r.p, r.reason) for r in rows]
            ratios = "ratio" in rows[0].estimand
            far = furthest([r.estimate for r in rows], ratios=ratios)
            largest = "" if far is None else worded[far][0]
            margin = "" if far is None else _margin(rows[far], results)
            return ResultText(
                pairs_text(
                    record.method, adjust, family, worded,
                    sample=sample, largest=largest, margin=margin,
                )
            )  # fmt: skip
    return ResultText("")


def _margin(row: Comparison, results: Results) -> str:
    """Whether the margin declared for the pair is ruled out, as its test of equivalence says."""
    for other in results.select(Comparison):
        same = (other.estimand, {other.a, other.b}) == (row.estimand, {row.a, row.b})
        if other.margin is not None and same and other.about.stratum == row.about.stratum:
            low, high = (apa_number(v) for v in (other.margin.low, other.margin.high))
            alone = other.p <= other.margin.alpha
            joint = not other.family or other.p_adjusted <= other.margin.alpha
            out = "ruled out" if alone else "not ruled out"
            out += " for it alone, not with all comparisons together" * (alone and not joint)
            return f"; more than the declared margin ({low} to {high}) is {out}"
    return ""


def apa_of(record: Test | Estimate, results: Results) -> str:
    """A test or estimate in the style of the APA manual, the p adjusted in its family behind p."""
    if isinstance(record, Estimate):
        return _estimate(record, symbol_of(record.estimand, _label(record)))
    if math.isnan(record.p):
        return f"{record.method}: not computed ({record.reason})"
    n = record.sample.n_items if record.sample is not None else None
    s = record.statistic
    text = f"{statistic_text(s.symbol, s.value, s.df, n_items=n)}, {p_of(record, results)}"
    effects = results.effects(record)
    if effects and not math.isnan(effects[0].estimate):
        text += f", {apa_of(effects[0], results)}"
    return text


def p_of(record: Test | Comparison, results: Results) -> str:
    """``p = .388 (Holm-adjusted over 7 tests, p = .775)``: a p with that of its family."""
    text = apa_p(record.p, smallest=record.p_floor)
    if not record.family or math.isnan(record.p_adjusted):
        return text
    family = results.family(record.family)
    defined = len(family.members) - family.n_undefined
    if family.method in {"", "none"} or defined < 2:
        return text
    how = f"{adjusted_by(family.method)}-adjusted over {defined} tests"
    return f"{text} ({how}, p {adjusted_p(record)})"


def _label(record: Estimate) -> str:
    return record.label or name_of(record.estimand)


def _estimate(record: Estimate, label: str) -> str:
    bounded = omits_zero(record.estimand)
    return estimate_text(
        label, record.estimate, record.interval, bounded=bounded, reason=record.reason,
        lost=record.not_estimable,
    )  # fmt: skip


def _pair(row: Comparison) -> str:
    bounded = omits_zero(row.estimand)
    shown = apa_estimate(row.estimate, row.interval, bounded=bounded)
    shown += f" {LOST}" if row.not_estimable else ""
    p = f"adjusted p {adjusted_p(row)}" if row.family else apa_p(row.p, smallest=row.p_floor)
    return f"{row.a} against {row.b} ({name_of(row.estimand)} {shown}{hangs_on(row.details)}, {p})"


_MOST_ROWS = 40


def print_of(record: Record, results: Results) -> str:
    """A record's numbers, under the names of ``results.csv``, with its effects or members.

    Examples
    --------
    >>> from judgestats.results import Interval
    >>> e = Estimate(id="e", hypothesis="h", role="primary", title="T", estimand="icc_1_1",
    ...              estimate=0.5, interval=Interval(low=0.25, high=0.75, method="F"))
    >>> print(print_of(e, Results(experiment="", question="", results=(e,))))
       label  estimate  conf_low  conf_high conf_method
    ICC(1,1)       0.5      0.25       0.75           F
    """
    import pandas as pd

    if isinstance(record, Table):
        frame = pd.DataFrame(record.rows, columns=[column.label for column in record.columns])
    else:
        parts = results.members(record) if isinstance(record, ResultSet) else (record,)
        parts = (*parts, *results.effects(record)) if isinstance(record, Test) else parts
        rows = [
            {**csv_row(r), "label": _label(r) if isinstance(r, Estimate) else ""}
            for r in parts if isinstance(r, Estimate | Test | Comparison)
        ]  # fmt: skip
        frame = pd.DataFrame(rows).reindex(columns=_PRINTED)
    frame = frame.dropna(axis="columns", how="all")
    shown = frame.head(_MOST_ROWS).to_string(
        index=False, na_rep="", float_format=lambda value: format_number(value, digits=5)
    )
    lines = [] if frame.empty else [shown]
    if len(frame) > _MOST_ROWS:
        lines.append(f"... {len(frame) - _MOST_ROWS} more rows")
    if record.reason and math.isnan(getattr(record, "estimate", math.nan)):
        lines.append(f"undefined: {record.reason}")
    if isinstance(record, Test):
        lines += [f"{k}: {format_number(v, digits=5)}" for k, v in record.groups.items()]
    if record.sample is not None:
        lines.append(f"({record.sample})")
    return "\n".join([*lines, *(f"note: {note.message}" for note in record.notes)])


_PRINTED = (
    "label", "a", "b", "estimate", "conf_low", "conf_high", "null_mean", "null_q95", "statistic",
    "df1", "df2", "p", "p_adjusted", "conf_method",
)  # fmt: skip
