"""What every experiment on the spread of scores shares: strata, comparisons, results, plan texts.

An experiment varies one thing (temperature, judge, guideline, reasoning) and compares its levels
within *strata*: the conditions that agree in everything else. All levels of a stratum judge the
same items, so every comparison is paired by item.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd

from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.scores import ScoreConditions, score_conditions
from judgestats.analysis.strata import Stratum
from judgestats.judgments.shapes import ScoreArray, score_array
from judgestats.results import About, Claim, Headline
from judgestats.stats.inference.adjust import Family, adjust_family
from judgestats.stats.inference.result import Result
from judgestats.stats.spread.equivalence import EquivalenceResult, equivalence_of_spread
from judgestats.stats.spread.spread_between_conditions import SpreadResult, spread_test

__all__ = [
    "compare_spread",
    "described_scores",
    "equivalence_in",
    "equivalence_results",
    "secondary",
    "spread_family",
    "spread_headlines",
    "spread_metrics",
    "spread_results",
    "unread_share",
]


def described_scores(
    frame: pd.DataFrame, declared: AnalysisPlan
) -> tuple[pd.DataFrame, ScoreArray, ScoreConditions]:
    """The judgments that were asked, the same as an array, and the description of each condition.

    Conditions that a judge refuses (``invalid_condition``) are left out of all three.
    """
    frame = frame[frame["status"] != "invalid_condition"]
    array = score_array(frame)
    described = score_conditions(
        frame,
        array,
        level=declared.level,
        n_permutations=declared.n_resamples,
        seed=declared.seed,
    )
    return frame, array, described


def compare_spread(
    array: ScoreArray,
    strata: Sequence[Stratum],
    declared: AnalysisPlan,
    *,
    reference: str | None = None,
) -> dict[str, SpreadResult]:
    """`spread_test` in every stratum, by its name.

    Parameters
    ----------
    array : ScoreArray
    strata : sequence of Stratum
        With `at`, the levels are ordered and trends are tested.
    declared : AnalysisPlan
    reference : str, optional
        The level that ratios and shifts refer to; every pair by default.
    """
    return {
        s.name: spread_test(
            s.scores(array),
            conditions=s.labels,
            cluster=array.clusters,
            ordered=list(s.at) if s.at is not None else False,
            reference=reference if reference in s.labels else None,
            level=declared.level,
            n_permutations=declared.n_resamples,
            n_resamples=declared.n_resamples,
            seed=declared.seed,
        )
        for s in strata
    }


def spread_family(found: Mapping[str, SpreadResult], *, across: str, each: str) -> Family:
    """The primary tests of all strata, adjusted together."""
    return adjust_family(
        {name: s.blocked_f for name, s in found.items()},
        family=f"spread across {across}, one test per {each}",
        method="holm",
    )


def secondary(
    identity: str,
    title: str,
    result: Result,
    *,
    headline: bool = False,
    family: str = "",
    hypothesis: str = "",
    stratum: Stratum | None = None,
) -> NamedResult:
    """A named result of the role ``secondary``, about a stratum where one is given."""
    return NamedResult(
        hypothesis=hypothesis,
        about=stratum.about if stratum else About(),
        levels=stratum.levels if stratum else {},
        id=identity,
        title=title,
        role="secondary",
        result=result,
        headline=headline,
        family=family,
    )


def spread_results(
    found: Mapping[str, SpreadResult],
    *,
    across: str,
    each: str,
    strata: Sequence[Stratum] = (),
) -> list[NamedResult]:
    """Every result of the comparisons of spread, named and with its role.

    Parameters
    ----------
    found : mapping of stratum to SpreadResult
    across : str
        What is compared, in the plural: ``temperatures``.
    each : str
        What a stratum is: ``judge``.
    strata : sequence of Stratum
        What the results are about.

    Returns
    -------
    list of NamedResult
        ``spread.*`` (primary), ``trend.*``, ``ranks.*``, ``posthoc.*``, ``ratio.*``, ``shift.*``.
    """
    family = f"spread across {across}"
    of = {s.name: s for s in strata}
    results = [
        NamedResult(
            id=f"spread.{name}",
            title=f"Spread across {across}, {name}",
            role="primary",
            result=result.blocked_f,
            family=family,
            headline=True,
            about=of[name].about if name in of else About(),
        )
        for name, result in found.items()
    ]
    if len(found) > 1:
        results.append(
            NamedResult(
                id="spread.family",
                title=f"Spread across {across}, adjusted over {each}s",
                role="primary",
                result=spread_family(found, across=across, each=each),
                family=family,
                headline=True,
            )
        )
    for name, result in found.items():
        stratum = of.get(name)
        for test in result.trend:
            results.append(
                secondary(
                    f"trend.{test.name}.{name}",
                    f"Trend of spread, {name}",
                    test,
                    headline="page" in test.name,
                    stratum=stratum,
                )
            )
        ranks = [("ranks", "Ranks of spread", result.rank_test)]
        if result.iman_davenport is not None:
            ranks.append(("ranks_f", "Ranks of spread, F", result.iman_davenport))
        results += [
            secondary(
                f"{kind}.{name}", f"{title}, {name}", test, hypothesis="spread", stratum=stratum
            )
            for kind, title, test in ranks
        ]
        results += [
            secondary(
                f"posthoc.{pairs.name}.{name}",
                f"Which {across}, {name}",
                pairs,
                hypothesis="spread",
                stratum=stratum,
            )
            for pairs in result.post_hoc
        ]
        results.append(
            secondary(
                f"ratio.{name}", f"Ratios of variances, {name}", result.ratios, stratum=stratum
            )
        )
        if result.shifts is not None:
            results.append(
                secondary(
                    f"shift.{name}",
                    f"Shifts of the mean, {name}",
                    result.shifts,
                    headline=True,
                    stratum=stratum,
                )
            )
    return results


def equivalence_in(
    array: ScoreArray,
    strata: Sequence[Stratum],
    declared: AnalysisPlan,
    *,
    reference: str | None = None,
) -> dict[str, EquivalenceResult]:
    """Two one-sided tests of every pair in every stratum, against the declared margin."""
    return {
        s.name: equivalence_of_spread(
            s.scores(array),
            conditions=s.labels,
            cluster=array.clusters,
            margin=declared.margins["variance_ratio"],
            reference=reference if reference in s.labels else None,
        )
        for s in strata
    }


def equivalence_results(
    found: Mapping[str, EquivalenceResult],
    *,
    headline: bool = False,
    strata: Sequence[Stratum] = (),
) -> list[NamedResult]:
    """The tests of equivalence as named results."""
    of = {s.name: s for s in strata}
    return [
        secondary(
            f"equivalence.{name}",
            f"Equivalence of spread, {name}",
            result,
            headline=headline,
            stratum=of.get(name),
        )
        for name, result in found.items()
    ]


def spread_headlines(
    found: Mapping[str, SpreadResult],
    equivalence: Mapping[str, EquivalenceResult],
    *,
    across: str,
    each: str,
    strata: Sequence[Stratum],
) -> tuple[Headline, ...]:
    """What is claimed of each stratum: its spread differs, is shown to be alike, or is left open.

    Parameters
    ----------
    found : mapping of stratum to SpreadResult
    equivalence : mapping of stratum to EquivalenceResult
        Of every pair, since equality is claimed of all.
    across, each : str
        As in `spread_results`, whose ids the headlines rest on.
    strata : sequence of Stratum

    Returns
    -------
    tuple of Headline
        ``headline.spread.*``; the direction is that of the last condition against the first.
    """
    if not found:
        return ()
    adjusted = spread_family(found, across=across, each=each).p_adjusted
    headlines = []
    for stratum in (s for s in strata if s.name in found):
        name, p = stratum.name, adjusted[stratum.name]
        alike = name in equivalence and equivalence[name].all_shown
        headlines.append(
            Headline(
                id=f"headline.spread.{name}",
                hypothesis="spread",
                claim=_claim(p, alike=alike),
                about=stratum.about,
                estimand="variance_ratio",
                direction=_direction(found[name]),
                rests_on=(
                    f"spread.{name}",
                    *((f"equivalence.{name}",) if name in equivalence else ()),
                    f"ratio.{name}",
                ),
                family="spread.family" if len(found) > 1 else "",
                p_adjusted=p,
                reason=found[name].blocked_f.reason,
            )
        )
    return tuple(headlines)


def _claim(p: float, *, alike: bool) -> Claim:
    if p < 0.05:
        return "differs"
    if alike:
        return "equivalent"
    return "undefined" if math.isnan(p) else "open"


def _direction(found: SpreadResult) -> Literal["", "higher", "lower"]:
    """Whether the last condition scatters more or less than the first."""
    if found.summary is None:
        return ""
    low, high = (
        found.summary[c].variance.estimate for c in (found.conditions[0], found.conditions[-1])
    )
    if high > low:
        return "higher"
    return "lower" if high < low else ""


def unread_share(cells: pd.DataFrame) -> float:
    """Share of all judgments that could not be read."""
    return float((cells["unread_share"] * cells["n"]).sum() / cells["n"].sum())


def spread_metrics(found: Mapping[str, SpreadResult], cells: pd.DataFrame) -> dict[str, float]:
    """For the MLflow UI: the primary p of each stratum and what could not be read."""
    out = {f"spread/p_value/{name}": s.p_value for name, s in found.items()}
    out["quality/unread_share"] = unread_share(cells)
    return out
