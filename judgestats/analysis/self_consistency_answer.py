"""What averaging buys, in headlines, a sentence and advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judgestats.analysis.aggregates import Aggregated
from judgestats.analysis.described import described
from judgestats.analysis.families import claim_of
from judgestats.analysis.outcome import NamedResult, Recommendation
from judgestats.analysis.plan import AnalysisPlan
from judgestats.analysis.recommend import Spent, recommend_best
from judgestats.analysis.worded_numbers import worded_coefficient
from judgestats.arrays import Floats
from judgestats.results import About, Claim, Headline
from judgestats.stats.inference.result import Comparisons
from judgestats.stats.spread.equivalence import EquivalenceResult


@dataclass(frozen=True, kw_only=True)
class Averaged:
    """One judge at one temperature, with everything made of its judgments."""

    where: str
    judge: str
    temperature: float
    base: Mapping[str, Any]
    scores: Floats
    made: Mapping[tuple[str, int], Aggregated]
    weighted: Aggregated | None

    @property
    def sizes(self) -> list[int]:
        """How many judgments were averaged."""
        return [k for how, k in self.made if how == "mean"]

    def credit(self, k: int, how: str = "mean") -> Floats:
        """Agreement with people, pair by pair, of an aggregate of k."""
        return self.made[how, k].credit

    def credited(self, k: int) -> str:
        """The label of the mean of k."""
        return self.made["mean", k].name


def headlines_of(
    asked: Sequence[Averaged], gains: Comparisons | None, small: EquivalenceResult | None
) -> tuple[Headline, ...]:
    """Of each judge and temperature: a gain or loss, equality within the margin, or neither."""
    if gains is None or small is None:
        return (
            Headline(
                id="headline.gain", hypothesis="gain", claim="undefined", about=About(),
                estimand="alignment_score",
                reason="Too few replications to average any: at least 3 are needed",
            ),
        )  # fmt: skip
    headlines = []
    averaged = [one for one in asked if len(one.sizes) > 1]
    for one, row, equal in zip(averaged, gains.rows, small.rows, strict=True):
        claim = claim_of(row.p_adjusted, equal.p_adjusted)
        headlines.append(
            Headline(
                id=f"headline.gain.{one.where}",
                hypothesis="gain",
                claim=claim,
                about=About(
                    judge=one.judge,
                    stratum=one.where,
                    conditions=(one.credited(1), one.credited(max(one.sizes))),
                    varied="judgments averaged",
                    factors={
                        "temperature": None if math.isnan(one.temperature) else one.temperature
                    },
                ),
                estimand="alignment_score",
                direction="higher" if row.estimate > 0 else "lower" if row.estimate < 0 else "",
                rests_on=(f"gain/{row.a}:{row.b}", f"equivalence.gain/{equal.a}:{equal.b}"),
                family="gain",
                p_adjusted=equal.p_adjusted if claim == "equivalent" else row.p_adjusted,
                p_bound=row.p_bound and claim != "equivalent",
                reason=row.reason,
                says=_SAYS[claim, claim == "differs" and row.estimate > 0],
            )
        )
    return tuple(headlines)


_SAYS: Mapping[tuple[Claim, bool], str] = {
    ("differs", True): "averaging agrees with people on more of the pairs than one judgment",
    ("differs", False): "averaging agrees with people on fewer of the pairs than one judgment",
    ("equivalent", False): "averaging is shown to change agreement with people by less than the "
    "margin",
    ("open", False): "neither a gain in agreement with people from averaging nor its absence is "
    "shown",
    ("undefined", False): "a gain from averaging could not be computed",
}


def bought(
    asked: Sequence[Averaged], panels: Sequence[str], results: Sequence[NamedResult]
) -> tuple[Headline, ...]:
    """What one judgment, the mean of all and a panel reach, in one sentence, and its price."""
    several = [one for one in asked if len(one.sizes) > 1]
    if not several:
        return ()
    k = max(max(one.sizes) for one in several)
    told = described(results)
    parts = []
    for what, ids in (("agreement with people", "alignment.{}"), ("reliability", "reliability.{}")):
        each = "; ".join(
            f"{one.where} {places}"
            for one in several
            if (places := told.numbers(ids, [one.credited(1), one.credited(max(one.sizes))]))
        )
        if what != "reliability" and (of_panel := told.each(ids, panels)):
            each += f"; {of_panel}"
        parts.append(f"{what}: {each}" if each else "")
    says = f"one judgment and the mean of {k}, which takes {k} times as much - "
    return (told.headline("bought", says + "; ".join(filter(None, parts))),)


def sentence_of(
    headlines: Sequence[Headline],
    asked: Sequence[Averaged],
    gains: Comparisons | None,
    small: EquivalenceResult | None,
) -> str:
    """Gain, shown to be small, or open: judge by judge, as the headlines claim."""
    if gains is None or small is None:
        return f"{headlines[0].reason}."
    by_name = {one.where: one for one in asked}
    margin = f"{small.margin[1]:g}"
    parts = []
    for headline, row, equal in zip(headlines, gains.rows, small.rows, strict=True):
        one = by_name[headline.about.stratum]
        if math.isnan(row.estimate):
            parts.append(f"{one.where}: agreement with people is not known ({row.reason})")
            continue
        k = max(one.sizes)
        first, last = (worded_coefficient(one.made["mean", n].row, "alignment") for n in (1, k))
        text = (
            f"{one.where}: agreement with people {first} with one judgment and {last} with the "
            f"mean of {k} (difference {row.with_bounds(bounded=True)})"
        )
        if headline.claim == "differs":
            text += ", a gain" if headline.direction == "higher" else ", a loss"
            text += f" shown to be under {margin}" if equal.p_adjusted <= small.alpha else ""
        elif headline.claim == "equivalent":
            text += f", shown to differ by less than {margin}"
        else:
            text += f", which shows neither a gain nor that there is none of {margin}"
        parts.append(text)
    return f"{'; '.join(parts)}."


def recommend(
    every: Sequence[Aggregated], questions: Any, declared: AnalysisPlan
) -> tuple[Recommendation | None, tuple[NamedResult, ...]]:
    """The cheapest way that is shown to be hardly worse than the best."""
    usable = [a for a in every if not np.isnan(a.credit).all()]
    if not usable:
        return None, ()
    given = recommend_best(
        {a.name: a.credit for a in usable}, questions,
        spent=Spent.of(
            [a.row for a in usable],
            USD="cost_per_pair", tokens="tokens_per_pair", judgments="k",
        ),
        margin=declared.margins["alignment_score"], level=declared.level,
        what="agreement with people", each="a pair",
    )  # fmt: skip
    if given is None:
        return None, ()
    best, result = given
    k = next((int(a.row["k"]) for a in usable if a.name == best.chosen), None)
    return replace(best, replicates=k), (result,)
