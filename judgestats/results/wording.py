"""How a test, an estimate, a sample or a family is put into words: plain values in, text out.

Statistics and records are worded by the same functions, so that what a function prints and what is
made from its record agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from judgestats.results.numbers import apa_estimate, apa_number, apa_p, as_sentence, counted
from judgestats.results.parts import LOST

_MOST_NAMED = 6
_MOST_OF_A_FAMILY = 8
_CORRELATIONS = frozenset({"r", "rho", "tau", "rs"})
_CONTROLS = {
    "BH": "false discovery rate",
    "BY": "false discovery rate under any dependence",
    "none": "nothing (unadjusted)",
}


class Worded(NamedTuple):
    """A result in words: what was found, why this test, and what follows.

    Results that share `why` or `verdict` can say it once.
    """

    numbers: str
    why: str = ""
    verdict: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


def sample_text(sample: Any) -> str:
    """``30 items, 10 clusters, 5 replications``: what a number was computed from."""

    def some(number: int, noun: str) -> str:
        return f"{number} {noun}" + ("" if number == 1 else "s")

    parts = [some(sample.n_items, "item")]
    if sample.n_clusters is not None and sample.n_clusters != sample.n_items:
        parts.append(some(sample.n_clusters, "cluster"))
    if sample.n_replications is not None:
        top = sample.n_replications_max
        span = f"{sample.n_replications}-{top}" if top and top != sample.n_replications else ""
        noun = sample.repeated
        parts.append(f"{span} {noun}s" if span else some(sample.n_replications, noun))
    if sample.n_excluded:
        why = "; ".join(f"{k}: {v}" for k, v in sample.excluded.items())
        parts.append(f"{sample.n_excluded} excluded" + (f" ({why})" if why else ""))
    return ", ".join(parts)


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
    return {"holm": "Holm", "bonferroni": "Bonferroni", "hommel": "Hommel"}.get(method, method)


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
) -> Worded:
    """A test in words, its verdict by the adjusted p where there is one.

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
    if null_hypothesis and p >= 0.05:
        verdict = f"This does not show that {null_hypothesis}; it only fails to rule it out."
    elif null_hypothesis and p_adjusted >= 0.05:
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
    return Worded(head, as_sentence(why), verdict)


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


def null_text(
    mean: float,
    q95: float,
    p: float,
    *,
    bounded: bool,
    reason: str = "",
    smallest: float = 0.0,
) -> str:
    """What the same number yields when there is nothing to find, as the end of a sentence."""
    if reason:
        return f"; whether this is more than nothing cannot be tested: {reason}"
    return (
        f"; with nothing to find it would average {apa_number(mean, bounded=bounded)} "
        f"(95th percentile {apa_number(q95, bounded=bounded)}), {apa_p(p, smallest=smallest)}"
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
    """A family of comparisons in words: which pairs are told apart, and by what.

    Parameters
    ----------
    method, adjust, family : str
    rows : sequence of (str, float, str)
        Of each pair: its names with what was found, the adjusted p, why it is undefined.
    sample : str
    largest : str
        Names of the pair that lies furthest apart, with what was found.
    margin : str
        Whether the declared margin is ruled out for it.
    """
    size = counted(len(rows), "comparison", "comparisons")
    head = f"{method} ({adjusted_by(adjust)}, family: {family}, {size})"
    unknown = [reason for _, p, reason in rows if math.isnan(p)]
    if unknown and len(unknown) == len(rows):
        why = next((reason for reason in unknown if reason), "undefined")
        return f"{head}: not computed ({why})."
    if unknown:
        head += f", {len(unknown)} of them not computed"
    below = [row for row, p, _ in rows if p < 0.05]
    if not below:
        far = f"; furthest apart {largest}{margin}" if largest else ""
        return (
            f"{head}: no pair is told apart at the .05 level, which does not show that the "
            f"conditions are equal{far} ({sample})."
        )
    named = "; ".join(below[:_MOST_NAMED])
    more = f"; and {len(below) - _MOST_NAMED} more" if len(below) > _MOST_NAMED else ""
    return f"{head}: {len(below)} told apart: {named}{more} ({sample})."


FEW_CLUSTERS = 10
"""With fewer effective clusters an interval of variances was seen to cover below .93."""
_MUCH = 0.25


def hangs_on(details: Mapping[str, Any], *, clusters: str = "{:.1f} effective clusters") -> str:
    """On how few clusters, and how much on one item, a ratio of spreads hangs; empty where not.

    Parameters
    ----------
    details : mapping
        ``effective_clusters``; ``largest_share`` and ``largest_item`` of the item that holds most,
        by name or number.
    clusters : str
        How few clusters are told.

    Examples
    --------
    >>> hangs_on({"effective_clusters": 3.14, "largest_share": 0.52, "largest_item": "q7"})
    ' (3.1 effective clusters; q7 alone holds 52 % of one side)'
    >>> hangs_on({"effective_clusters": 40.0, "largest_share": 0.06, "largest_item": "q7"})
    ''
    """
    parts = []
    if (effective := details.get("effective_clusters", math.nan)) < FEW_CLUSTERS:
        parts.append(clusters.format(effective))
    if (share := details.get("largest_share", math.nan)) >= _MUCH:
        item = details["largest_item"]
        name = f"item {item}" if isinstance(item, int) else item
        parts.append(f"{name} alone holds {100 * share:.0f} % of one side")
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


def family_text(name: str, adjust: str, tests: Mapping[str, tuple[float, str]]) -> str:
    """Which tests of a family stand after adjustment: by label their adjusted p, and as told."""
    stands = [k for k, (p, _) in tests.items() if p < 0.05]
    controls = _CONTROLS.get(adjust, "chance of any false claim in the family")
    head = f"Family '{name}' ({len(tests)} tests, {adjust}, which controls the {controls})"
    if not stands:
        return (
            f"{head}: no test stands at the .05 level, which does not show that nothing is there."
        )
    named = stands if len(stands) <= _MOST_OF_A_FAMILY else stands[: _MOST_OF_A_FAMILY - 1]
    each = "; ".join(f"{k} (adjusted p {tests[k][1]})" for k in named)
    more = len(stands) - len(named)
    also = f"; and {more} more, in the table of the family" if more else ""
    verb = "stands" if len(stands) == 1 else "stand"
    return f"{head}: {len(stands)} {verb} at the .05 level: {each}{also}."
