"""Records as sentences and APA strings: each with its own symbol, df, p and adjusted p."""

from __future__ import annotations

import math

from judgestats.results.estimands import name_of, symbol_of, without_zero
from judgestats.results.numbers import adjusted_p, apa_estimate, apa_number, apa_p
from judgestats.results.parts import LOST
from judgestats.results.records import Comparison, Estimate, Record, ResultSet, Table, Test
from judgestats.results.results import Results
from judgestats.results.wording import (
    Worded,
    adjusted_by,
    estimate_text,
    family_text,
    furthest,
    hangs_on,
    null_text,
    pairs_text,
    sample_text,
    statistic_text,
    words_of_test,
)


def words_of(record: Record, results: Results) -> Worded:
    """A record in words; empty where there is nothing to say beyond a table.

    Parameters
    ----------
    record : Record
    results : Results
        Holds its family, effects and members.

    Returns
    -------
    Worded

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
    sample = sample_text(record.sample) if record.sample is not None else ""
    if isinstance(record, Test):
        if math.isnan(record.p):
            return Worded(f"{record.method}: not computed ({record.reason}).")
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
            return Worded(f"{_label(record)} is undefined: {record.reason}.")
        text, null = _estimate(record, _label(record)), record.null
        if null is not None:
            bounded = without_zero(record.estimand)
            text += null_text(
                null.mean, null.q95, null.p,
                bounded=bounded, reason=null.reason, smallest=null.p_floor,
            )  # fmt: skip
        return Worded(text + (f" ({sample})." if sample else "."))
    if isinstance(record, (ResultSet, Table)) and record.text:
        return Worded(record.text)
    if isinstance(record, ResultSet):
        rows = [r for r in results.members(record) if isinstance(r, Comparison)]
        if rows:
            adjust, family = (str(record.details.get(k, "")) for k in ("adjust", "family"))
            worded = [(_pair(r), r.p_adjusted if r.family else r.p, r.reason) for r in rows]
            ratios = "ratio" in rows[0].estimand
            far = furthest([r.estimate for r in rows], ratios=ratios)
            largest = "" if far is None else worded[far][0]
            margin = "" if far is None else _margin(rows[far], results)
            return Worded(
                pairs_text(
                    record.method, adjust, family, worded,
                    sample=sample, largest=largest, margin=margin,
                )
            )  # fmt: skip
    return Worded("")


def _margin(row: Comparison, results: Results) -> str:
    """Whether the margin declared for the pair is ruled out, as its test of equivalence says."""
    for other in results.results:
        same = isinstance(other, Comparison) and other.margin is not None and (
            other.estimand == row.estimand
            and {other.a, other.b} == {row.a, row.b}
            and other.about.stratum == row.about.stratum
        )  # fmt: skip
        if isinstance(other, Comparison) and other.margin is not None and same:
            low, high = (apa_number(v) for v in (other.margin.low, other.margin.high))
            alone = other.p <= other.margin.alpha
            joint = not other.family or other.p_adjusted <= other.margin.alpha
            out = "ruled out" if alone and joint else (
                "ruled out for it alone, not with all comparisons together" if alone
                else "not ruled out"
            )  # fmt: skip
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
    """``p = .388 (Holm-adjusted over 7 tests, p = .775)``: a p with that of its own family."""
    text = apa_p(record.p, smallest=record.p_floor)
    if not record.family or math.isnan(record.p_adjusted):
        return text
    family = results.family(record.family)
    defined = len(family.members) - family.n_undefined
    if family.method in {"", "none"} or defined < 2:
        return text
    how = f"{adjusted_by(family.method)}-adjusted over {defined} tests"
    return f"{text} ({how}, p {adjusted_p(record)})"


def family_sentence(family_id: str, results: Results) -> str:
    """Which tests of a family stand after adjustment, by their titles."""
    family = results.family(family_id)
    p = {}
    for record in results.members(family):
        if isinstance(record, (Test, Comparison)):
            p_values = (record.p_adjusted, adjusted_p(record))
            p[record.title if record.title not in p else record.id] = p_values
    return family_text(family.label, family.method, p)


def _label(record: Estimate) -> str:
    return record.label or name_of(record.estimand)


def _estimate(record: Estimate, label: str) -> str:
    bounded = without_zero(record.estimand)
    return estimate_text(
        label, record.estimate, record.interval, bounded=bounded, reason=record.reason,
        lost=record.not_estimable,
    )  # fmt: skip


def _pair(row: Comparison) -> str:
    bounded = without_zero(row.estimand)
    shown = apa_estimate(row.estimate, row.interval, bounded=bounded)
    shown += f" {LOST}" if row.not_estimable else ""
    p = f"adjusted p {adjusted_p(row)}" if row.family else apa_p(row.p, smallest=row.p_floor)
    return f"{row.a} against {row.b} ({name_of(row.estimand)} {shown}{hangs_on(row.details)}, {p})"
