"""What is claimed of a comparison of spreads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from judgestats.analysis.families import LEVEL, claim_of
from judgestats.analysis.recording import smallest_adjusted
from judgestats.analysis.spread_comparison import FAMILY, SpreadQuestion, label_of, spread_family
from judgestats.results import About, Claim, Headline
from judgestats.results.numbers import apa_number
from judgestats.stats.inference.adjust import p_adjust
from judgestats.stats.spread.spread_between_conditions import SpreadResult


def spread_headlines(*questions: SpreadQuestion) -> tuple[Headline, ...]:
    """What is claimed of each stratum: its spread differs, is shown to be alike, or is left open.

    Parameters
    ----------
    *questions : SpreadQuestion
        As in `spread_results`, whose ids the headlines rest on.

    Returns
    -------
    tuple of Headline
        ``headline.spread.*``; the direction is that of the last condition against the first.
        Equality is adjusted over all strata, as differences are.
    """
    placed = [(q, s, s.name) for q in questions for s in q.strata]
    if not placed:
        return ()
    family = spread_family(*questions)
    alike = p_adjust([q.equivalence[name].p_all for q, _, name in placed])
    floor = smallest_adjusted(
        [t.p_floor for t in family.tests.values()],
        method=family.adjust,
    )
    headlines = []
    for (question, stratum, name), p_alike in zip(placed, alike, strict=True):
        test = question.spreads[name].blocked_f
        label = label_of(question, name, questions[1:])
        p = family.p_adjusted[label]
        claim = claim_of(p, p_alike)
        reason = test.reason
        if claim == "open" and floor > LEVEL:
            reason = f"with so few questions no p below {apa_number(floor, bounded=True)} exists"
        headlines.append(
            Headline(
                id=f"headline.{question.result_id('spread', name)}",
                hypothesis=question.id,
                claim=claim,
                about=stratum.about,
                estimand="variance_ratio",
                direction=_direction(question.spreads[name]),
                rests_on=tuple(
                    question.result_id(kind, name)
                    for kind in ("spread", "equivalence", "ratio", *_compared(question, name))
                ),
                family=FAMILY if len(placed) > 1 else "",
                p_adjusted=p_alike if claim == "equivalent" else p,
                p_bound=family.p_bound[label] and claim != "equivalent",
                reason=reason,
                says=_SAYS[claim].format(across=question.across),
            )
        )
    return tuple(headlines)


_SAYS: Mapping[Claim, str] = {
    "differs": "the scatter of repeated scores differs between {across}",
    "equivalent": "all {across} are shown to scatter alike, within the margin",
    "open": "neither a difference in scatter between {across} nor equality is shown",
    "undefined": "the scatter of {across} could not be compared",
}


def _compared(question: SpreadQuestion, name: str) -> tuple[str, ...]:
    """The ratios of what the test compares, where these are not variances."""
    first = question.id == "spread"
    return ("distance",) if first and question.spreads[name].distance_ratios is not None else ()


def mean_described(question: SpreadQuestion) -> tuple[Headline, ...]:
    """What becomes of the mean, of each stratum at the last level against the first."""
    ids: list[str] = []
    parts: list[tuple[str, str]] = []
    for stratum in question.strata:
        shifts = question.spreads[stratum.name].shifts
        rows = [r for r in shifts.rows if math.isfinite(r.estimate)] if shifts else []
        ends = {stratum.labels[0], stratum.labels[-1]}
        for row in (r for r in rows if {r.a, r.b} == ends):
            parts.append((f"{stratum.name} {{{len(ids)}}} points", f"{row.a} less that at {row.b}"))
            ids.append(f"shift.{stratum.name}/{row.a}:{row.b}")
    if not ids:
        return ()
    levels = {which for _, which in parts}
    lead = f" at {parts[0][1]}" if len(levels) == 1 else " at one temperature less that at another"
    each = "; ".join(text if len(levels) == 1 else f"{text} ({which})" for text, which in parts)
    return (
        Headline(
            id="headline.described.shift", hypothesis="shift", claim="described", about=About(),
            rests_on=tuple(ids), says=f"the mean score{lead}: {each}",
        ),
    )  # fmt: skip


def nothing_claimed(why: str) -> Headline:
    """The headline of a primary question that the conditions cannot answer."""
    return Headline(
        id="headline.spread",
        hypothesis="spread",
        claim="undefined",
        about=About(),
        estimand="variance_ratio",
        reason=why,
        says="the scatter of repeated scores was not compared",
    )


def _direction(spread: SpreadResult) -> Literal["", "higher", "lower"]:
    """Whether the last condition scatters more or less than the first."""
    if spread.summary is None:
        return ""
    low, high = (
        spread.summary[c].variance.estimate for c in (spread.conditions[0], spread.conditions[-1])
    )
    if high > low:
        return "higher"
    return "lower" if high < low else ""
