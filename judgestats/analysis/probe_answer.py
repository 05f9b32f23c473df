"""What the probes found, in words: moved, shown to be small, or left open."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from judgestats.analysis.families import claim_of, direction_of
from judgestats.analysis.probe_tests import ProbedJudge, identity
from judgestats.protocols.probes import Kind, Probe
from judgestats.results import About, Claim, Headline
from judgestats.stats.inference.multiplicity import Family
from judgestats.stats.inference.result import Result, TestResult

_HYPOTHESES: Mapping[Kind, str] = {
    "fair": "moved", "scale": "scale", "attack": "attack", "control": "control"
}  # fmt: skip
_ESTIMANDS = {"scores": "probe_shift", "pairs": "preference_shift", "options": "preference_shift"}
_NO_CONTROL = "no control was passed: a judge that sees nothing is not called fair"


def claims_by_judge(
    results: Mapping[str, Result],
    small: Mapping[tuple[str, str], float],
    judges: Sequence[ProbedJudge],
    probes: Sequence[Probe],
) -> dict[str, list[Headline]]:
    """Of each judge and probe: it moves the judge, is shown not to, or is left open.

    Nothing is called shown to be small for a judge that passed no control of the same kind: of
    scores, or of comparisons.

    Parameters
    ----------
    results : mapping of id to Result
        From `judgestats.analysis.probe_tests.adjusted_together`.
    small : mapping of (probe, judge) to float
        From `judgestats.analysis.probe_tests.smallness`.
    judges : sequence of ProbedJudge
    probes : sequence of Probe

    Returns
    -------
    dict of judge to list of Headline
    """
    by_judge = {}
    for judge in judges:
        by_probe = {p: _headline(results, small, judge, p) for p in probes if p.kind in _HYPOTHESES}
        own = {p: h for p, h in by_probe.items() if h is not None}
        seen = {
            p.asks == "scores"
            for p, h in own.items()
            if p.kind == "control" and h.direction == "lower"
        }
        by_judge[judge.where] = [
            h
            if (p.asks == "scores") in seen or h.claim != "equivalent"
            else _left_open(results, judge, p) or h
            for p, h in own.items()
        ]
    return by_judge


def quantity_of(probe: Probe) -> str:
    """What a probe's size is.

    Examples
    --------
    >>> from judgestats.protocols.probes import PROBES
    >>> [quantity_of(PROBES[name]) for name in ("order", "scale 1-5", "position")]
    ['attack_success', 'rank_loss', 'preference_shift']
    """
    if probe.kind in {"attack", "scale"}:
        return "attack_success" if probe.kind == "attack" else "rank_loss"
    return _ESTIMANDS[probe.asks]


def probe_headlines(claims: Mapping[str, Sequence[Headline]]) -> tuple[Headline, ...]:
    """The headlines of all judges: what moves them, what succeeds, what they see."""
    return tuple(
        h
        for hypothesis in _HYPOTHESES.values()
        for own in claims.values()
        for h in own
        if h.hypothesis == hypothesis
    )


def _left_open(results: Mapping[str, Result], judge: ProbedJudge, probe: Probe) -> Headline | None:
    """What is said of a probe where nothing may be called small."""
    headline = _headline(results, {}, judge, probe)
    return None if headline is None else dataclasses.replace(headline, reason=_NO_CONTROL)


def _headline(
    results: Mapping[str, Result],
    small: Mapping[tuple[str, str], float],
    judge: ProbedJudge,
    probe: Probe,
) -> Headline | None:
    own, hypothesis = identity(probe, judge.where), _HYPOTHESES[probe.kind]
    test, family = results.get(own), results.get(hypothesis)
    if not isinstance(test, TestResult) or not isinstance(family, Family):
        return None
    label = f"{probe.name}, {judge.where}"
    p = family.p_adjusted.get(label, math.nan)
    estimand = quantity_of(probe)
    if probe.kind == "attack":
        # Where it succeeds less often than the same text without it, it is not successful.
        lifted = test.details["more"] > test.details["less"] or probe.against is None
        p = p if lifted or math.isnan(p) else 1.0
    p_small = (
        math.nan if probe.kind == "control" else small.get((probe.name, judge.where), math.nan)
    )
    claim = claim_of(p, p_small)
    direction = direction_of(_size_of(test, probe)) if claim == "differs" else ""
    return Headline(
        id=f"headline.{hypothesis}.{label}",
        hypothesis=hypothesis,
        claim=claim,
        about=About(
            judge=judge.judge,
            stratum=f"{judge.where}, {probe.name}",
            conditions=tuple(
                dict.fromkeys(
                    judge.conditions[v]
                    for v in (probe.baseline, probe.changed.name)
                    if v in judge.conditions
                )
            ),
            varied=probe.name,
        ),
        estimand=estimand,
        direction=direction,
        rests_on=(own,),
        family=hypothesis,
        p_adjusted=p_small if claim == "equivalent" else p,
        p_bound=family.p_bound.get(label, False) and claim != "equivalent",
        reason=test.reason,
        says=_says(claim, hypothesis, direction),
        size=f"{own}/{estimand}",
    )


def _size_of(test: TestResult, probe: Probe) -> float:
    if probe.kind == "attack" or test.effect is None:
        return 1.0
    return test.effect.estimate


_SAYS: Mapping[tuple[str, Claim], str] = {
    ("moved", "differs"): "scores shift where they should not",
    ("moved", "equivalent"): "scores shift by less than the margin",
    ("moved", "open"): "Neither an effect nor its absence is shown",
    ("scale", "differs"): "Another scale changes the order of answers",
    ("scale", "equivalent"): "Another scale is shown to keep the order of answers",
    ("scale", "open"): "Neither another order of answers nor the same is shown",
    ("attack", "differs"): "attacks succeed",
    ("attack", "equivalent"): "attacks are shown to fail",
    ("attack", "open"): "Attacks are neither shown to succeed nor to fail",
    ("control", "open"): "Worse answers are not seen to fare worse",
}


def _says(claim: Claim, hypothesis: str, direction: str) -> str:
    if (hypothesis, claim) == ("control", "differs"):
        worse = direction == "lower"
        return "Worse answers fare worse, as they should" if worse else "Worse answers fare better"
    return _SAYS.get((hypothesis, claim), "Could not be tested")
