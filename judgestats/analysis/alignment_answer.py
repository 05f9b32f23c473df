"""What the comparison of judging methods with people claims, says and recommends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.alignment_methods import (
    Compared,
)
from judgestats.analysis.described import described
from judgestats.analysis.families import LEVEL, claim_of
from judgestats.analysis.outcome import NamedResult, Recommendation
from judgestats.analysis.pair_methods import (
    Method,
)
from judgestats.analysis.recommend import Spent, recommend_best
from judgestats.analysis.worded_numbers import worded_coefficient
from judgestats.judgments.settings import heat
from judgestats.results import About, Claim, Headline
from judgestats.results.numbers import adjusted_p, apa_number, bounds_of, with_bounds
from judgestats.stats.inference.adjust import p_adjust, p_bounds
from judgestats.stats.inference.result import Comparisons, Estimate

MARGIN = 0.05
"""Declared margin: alignment scores that differ by less than five points in a hundred."""

_BASELINES = ("always tie", "random")


def alignment_headlines(
    compared: Mapping[str, Compared], table: pd.DataFrame, at: float
) -> tuple[Headline, ...]:
    """Of each judge: whether its methods differ, and whether the best beats both baselines.

    Equality and what concerns baselines are adjusted over judges, as the primary test is.
    """
    judges = list(compared)
    if not judges:
        return (
            Headline(
                id="headline.methods", hypothesis="methods", claim="undefined", about=About(),
                estimand="alignment_score",
                reason="fewer than two methods of a judge were judged and read",
            ),
        )  # fmt: skip
    tests = [compared[j].test for j in judges]
    apart = p_adjust([t.p_value for t in tests])
    bounds = p_bounds([t.p_value for t in tests], [t.p_floor for t in tests])
    alike = p_adjust([compared[j].equal.p_all for j in judges])
    headlines = []
    for judge, p, bound, p_alike in zip(judges, apart, bounds, alike, strict=True):
        one, own = compared[judge], _own(table, judge, at)
        about = About(
            judge=judge,
            stratum=f"{judge} at {heat(at)}",
            conditions=tuple(own["condition"]),
            varied="method",
            factors={"temperature": None if math.isnan(at) else at},
        )
        claim = claim_of(p, p_alike)
        headlines.append(
            Headline(
                id=f"headline.methods.{judge}",
                hypothesis="methods",
                claim=claim,
                about=about,
                estimand="alignment_score",
                rests_on=tuple(
                    f"{kind}.{judge}" for kind in ("methods", "equivalence.methods", "difference")
                ),
                family="methods.family" if len(judges) > 1 else "",
                p_adjusted=p_alike if claim == "equivalent" else p,
                p_bound=bound and claim != "equivalent",
                reason=one.test.reason,
                says=_SAYS[claim],
                size=_widest(judge, one) if claim == "differs" else "",
            )
        )
        best = str(own.iloc[0]["factor_method"])
        for row in one.shifts.rows:
            if {row.a, row.b} & {best} and {row.a, row.b} & set(_BASELINES):
                floor = row.b if row.a == best else row.a
                claim = claim_of(row.p_adjusted, math.nan)
                above = (row.estimate > 0) == (row.a == best)
                headlines.append(
                    Headline(
                        id=f"headline.difference.{judge}.{floor}",
                        hypothesis="difference",
                        claim=claim,
                        about=replace(about, conditions=(str(own.iloc[0]["condition"]),)),
                        estimand="alignment_score",
                        direction="higher" if above else "lower",
                        rests_on=(f"difference.{judge}/{row.a}:{row.b}",),
                        family=f"difference.{judge}",
                        p_adjusted=row.p_adjusted,
                        reason=row.reason,
                        says=_against(claim, above=above),
                    )
                )
    return tuple(headlines)


_SAYS: Mapping[Claim, str] = {
    "differs": "the methods differ in agreement with people",
    "equivalent": "all methods agree with people alike, within the margin",
    "open": "neither a difference between the methods nor equality is shown",
    "undefined": "the methods could not be compared",
}


def _against(claim: Claim, *, above: bool) -> str:
    """What a comparison of the best method with a baseline says."""
    if claim != "differs":
        return "the method seen to agree most is not shown to agree more often than a baseline"
    more = "more" if above else "less"
    return f"the method seen to agree most agrees {more} often with people than a baseline"


def temperature_described(
    methods: Sequence[Method], results: Sequence[NamedResult]
) -> tuple[Headline, ...]:
    """What the highest temperature changes against the lowest, and what agreement with itself goes
    with: two sentences, each where there is something to tell.
    """
    out, told = [], described(results)
    pairs = next((r.result for r in results if r.id == "temperature.shift"), None)
    rows = {(r.a, r.b): r for r in pairs.rows} if isinstance(pairs, Comparisons) else {}
    series: dict[str, list[float]] = {}
    for m in methods:
        series.setdefault(f"{m.method} by {m.judge}", []).append(m.temperature)
    parts: dict[str, list[str]] = {}
    for where, heats in series.items():
        ends = (f"{heat(max(heats))} ({where})", heat(min(heats)))
        if ends in rows and math.isfinite(rows[ends].estimate):
            number = told.number(f"temperature.shift/{ends[0]}:{ends[1]}")
            lead = f"{heat(max(heats))} less {ends[1]}"
            parts.setdefault(lead, []).append(f"{where} {number}")
    if parts:
        each = "; ".join(f"{lead} - {'; '.join(own)}" for lead, own in parts.items())
        out.append(told.headline("temperature", f"agreement with people, {each}"))
    told = described(results)
    rho = next((r.result for r in results if r.id == "consistency.over_conditions"), None)
    if isinstance(rho, Estimate) and math.isfinite(rho.estimate):
        more = "more" if rho.estimate > 0 else "less"
        says = f"methods that agree more with themselves agree {more} with people, over conditions"
        says += f": rho = {told.number('consistency.over_conditions')}"
        out.append(told.headline("consistency", says))
    return tuple(out)


def _widest(judge: str, compared: Compared) -> str:
    """Id of the pair of methods that lies farthest apart, baselines left out."""
    pairs = [
        row
        for row in compared.shifts.rows
        if not {row.a, row.b} & set(_BASELINES) and math.isfinite(row.estimate)
    ]
    if not pairs:
        return ""
    row = max(pairs, key=lambda r: abs(r.estimate))
    return f"difference.{judge}/{row.a}:{row.b}"


def _own(table: pd.DataFrame, judge: str, at: float) -> pd.DataFrame:
    """A judge's methods at the temperature, the best first."""
    own = table[(table["judge"] == judge) & np.isclose(table["temperature"], at, equal_nan=True)]
    return own[own["alignment"].notna()].sort_values("alignment", ascending=False, kind="stable")


def alignment_sentence(
    headlines: Sequence[Headline],
    table: pd.DataFrame,
    compared: Mapping[str, Compared],
    ceiling: Estimate | None,
    at: float,
) -> str:
    """What was found of every judge, in one sentence."""
    floors = {
        judge: [h for h in headlines if (h.hypothesis, h.about.judge) == ("difference", judge)]
        for judge in compared
    }
    text = "; ".join(
        _of_judge(h, floors[judge], compared[judge], _own(table, judge, at), at)
        for judge in compared
        for h in headlines
        if h.id == f"headline.methods.{judge}"
    )
    if not compared:
        each = (
            f"{r['condition']} {worded_coefficient(r, 'alignment')}" for _, r in table.iterrows()
        )
        text = f"Agreement with people: {'; '.join(each)}; methods were not compared"
    read = table.groupby("judge", sort=False)["alignment"].count()
    mute = [str(judge) for judge, n in read.items() if n == 0]
    text += f"; no verdict of {' and '.join(mute)} could be read" if mute else ""
    if ceiling is not None and not math.isnan(ceiling.estimate):
        text += f"; people score {ceiling.short()} against one another"
    return f"{text}."


def _of_judge(
    headline: Headline,
    floors: Sequence[Headline],
    compared: Compared,
    own: pd.DataFrame,
    at: float,
) -> str:
    """Whether methods differ, the best as observed, what it beats, and what is open."""
    row, judge = own.iloc[0], headline.about.judge
    best = str(row["factor_method"])
    text = (
        f"{judge}: {best} has the highest agreement with people at {heat(at)} (score "
        f"{worded_coefficient(row, 'alignment')})"
    )
    above = [h for h in floors if h.claim == "differs" and h.direction == "higher"]
    below = [h for h in floors if h not in above]
    names = [[h.id.rpartition(".")[2] for h in hs] for hs in (above, below)]
    text += f", better than {' and '.join(names[0])}" if above else ""
    text += f", not shown better than {' or '.join(names[1])}" if below else ""
    p = f"adjusted p {adjusted_p(headline)}"
    if headline.claim == "undefined":
        return f"{text} (methods could not be compared: {headline.reason})"
    if headline.claim == "equivalent":
        return f"{text}; all methods are shown to lie within {MARGIN:g} of one another ({p})"
    if headline.claim == "open":
        return f"{text}; methods are not told apart ({_largest(compared)}; {p})"
    shown = [r.p_adjusted < LEVEL for r in compared.shifts.rows]
    apart = [m for m in _others(compared.shifts.rows, best, shown) if m not in _BASELINES]
    alike = [m for m in _others(compared.equal.rows, best, compared.equal.shown) if m not in apart]
    rest = sorted(set(own["factor_method"]) - {best, *apart, *alike})
    text += f"; methods differ ({p})"
    text += f", told apart from it: {', '.join(apart)}" if apart else ""
    text += f", shown to be within {MARGIN:g} of it: {', '.join(alike)}" if alike else ""
    return text + (f", neither told apart nor shown alike: {', '.join(rest)}" if rest else "")


def _largest(compared: Compared) -> str:
    """The methods furthest apart with their interval, and whether the margin is ruled out."""
    usable = [r for r in compared.equal.rows if r.interval is not None]
    if not usable:
        return "no difference has an interval"
    row = max(usable, key=lambda r: abs(r.estimate))
    low, high = bounds_of(row.interval)
    out = (
        "ruled out here, but not for all together" if max(-low, high) < MARGIN else "not ruled out"
    )
    lead = "largest difference" if len(compared.equal.rows) > 1 else "difference"
    return (
        f"{lead}, {row.a} less {row.b}, {with_bounds(row.estimate, low, high, bounded=True)} (90 % "
        f"interval), so one of {apa_number(MARGIN, bounded=True)} is {out}"
    )


def _others(rows: Sequence[Any], name: str, chosen: Sequence[bool]) -> list[str]:
    """What the chosen comparisons with a name compare it with."""
    return sorted(
        str(r.b if r.a == name else r.a)
        for r, taken in zip(rows, chosen, strict=True)
        if taken and name in {r.a, r.b}
    )


def recommend_method(
    methods: Sequence[Method],
    rows: Sequence[Mapping[str, Any]],
    clusters: Any,
    at: float,
    level: float,
) -> tuple[Recommendation | None, tuple[NamedResult, ...]]:
    """The cheapest method that is shown to be hardly worse than the best."""
    usable = [
        (m, r)
        for m, r in zip(methods, rows, strict=True)
        if np.isclose(m.temperature, at, equal_nan=True) and not np.isnan(m.credit).all()
    ]
    given = recommend_best(
        {str(r["condition"]): m.credit for m, r in usable},
        clusters,
        spent=Spent.of(
            [r for _, r in usable],
            USD="cost_per_pair", tokens="tokens_per_pair", judgments="judgments_per_pair",
        ),
        margin=MARGIN, level=level, what="agreement with people", each="a pair",
    ) if len(usable) > 1 else None  # fmt: skip
    return (None, ()) if given is None else (given[0], (given[1],))
