"""What the probes found, in words: moved, shown to be small, or left open."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from judgestats.analysis.families import claim_of, direction_of
from judgestats.analysis.outcome import Recommendation
from judgestats.analysis.probe_tests import ProbedJudge
from judgestats.protocols.probes import PROBES, Probe
from judgestats.results import About, Claim, Headline
from judgestats.results.numbers import apa_number
from judgestats.stats.inference.adjust import Family, p_adjust
from judgestats.stats.inference.result import Comparison, Comparisons, Result, TestResult

__all__ = ["claims_by_judge", "probe_headlines", "probe_sentence", "what_to_do"]

_IDS = {"fair": "moved", "control": "control"}
_ORDER = ("moved", "attack", "control")
_NO_CONTROL = "no control was passed: a judge that sees nothing is not called fair"


def probe_headlines(
    results: Mapping[str, Result], judges: Sequence[ProbedJudge], probes: Sequence[Probe]
) -> tuple[Headline, ...]:
    """Of each judge and probe: it moves the judge, is shown not to, or is left open.

    Nothing is called shown to be small for a judge that passed no control.

    Parameters
    ----------
    results : mapping of id to Result
        Adjusted by `jointly`.
    judges : sequence of ProbedJudge
    probes : sequence of Probe

    Returns
    -------
    tuple of Headline
    """
    found = claims_by_judge(results, judges, probes)
    return tuple(
        h for kind in _ORDER for own in found.values() for h in own if h.hypothesis == kind
    )


def claims_by_judge(
    results: Mapping[str, Result], judges: Sequence[ProbedJudge], probes: Sequence[Probe]
) -> dict[str, list[Headline]]:
    """What `probe_headlines` gives, by judge and temperature."""
    fails = _failures(results)
    found = {}
    for judge in judges:
        own = [h for p in probes if (h := _headline(results, fails, judge, p)) is not None]
        sees = any(h.hypothesis == "control" and h.direction == "lower" for h in own)
        found[judge.where] = [
            h if sees or h.claim != "equivalent" else _left_open(h, judge.where) for h in own
        ]
    return found


def _left_open(headline: Headline, where: str) -> Headline:
    return dataclasses.replace(
        headline, claim="open", reason=_NO_CONTROL, says=_says("open", headline.hypothesis, where)
    )


def _row(result: Result | None, probe: Probe, where: str) -> Comparison | None:
    rows = result.rows if isinstance(result, Comparisons) else ()
    return next((r for r in rows if r.a == f"{probe.changed.name} ({where})"), None)


def _failures(results: Mapping[str, Result]) -> dict[str, float]:
    """Adjusted p of attacks that succeed on fewer questions than tolerated."""
    family = results.get("attack")
    if not isinstance(family, Family):
        return {}
    p = [float(t.details["p_fails"]) for t in family.tests.values()]
    return dict(zip(family.tests, p_adjust(p).tolist(), strict=True))


def _headline(
    results: Mapping[str, Result], fails: Mapping[str, float], judge: ProbedJudge, probe: Probe
) -> Headline | None:
    if probe.kind == "reference":
        return None
    label = f"{probe.name}, {judge.where}"
    about = About(
        judge=judge.judge,
        stratum=probe.name,
        conditions=tuple(
            judge.conditions[v]
            for v in (probe.baseline, probe.changed.name)
            if v in judge.conditions
        ),
        varied=probe.name,
    )
    if probe.kind == "attack":
        return _of_attack(results, fails, judge, probe, about)
    identity = _IDS[probe.kind]
    row = _row(results.get(identity), probe, judge.where)
    if row is None:
        return None
    fair = probe.kind == "fair"
    small = _row(results.get("equivalence.fair"), probe, judge.where) if fair else None
    p_small = small.p_adjusted if small else math.nan
    claim = claim_of(row.p_adjusted, p_small)
    rests = [f"{identity}/{row.a}:{row.b}"]
    if small:
        rests.append(f"equivalence.fair/{small.a}:{small.b}")
    return Headline(
        id=f"headline.{identity}.{label}",
        hypothesis=identity,
        claim=claim,
        about=about,
        estimand="mean_difference",
        direction=direction_of(row.estimate) if claim == "differs" else "",
        rests_on=tuple(rests),
        family=identity,
        p_adjusted=p_small if claim == "equivalent" else row.p_adjusted,
        p_bound=row.p_bound and claim != "equivalent",
        reason=row.reason,
        says=_says(claim, identity, judge.where),
        size=rests[0],
    )


def _of_attack(
    results: Mapping[str, Result],
    fails: Mapping[str, float],
    judge: ProbedJudge,
    probe: Probe,
    about: About,
) -> Headline | None:
    label = f"{probe.name}.{judge.where}"
    family, test = results.get("attack"), results.get(f"attack.{label}")
    if not isinstance(family, Family) or not isinstance(test, TestResult):
        return None
    p = family.p_adjusted.get(label, math.nan)
    # Where it succeeds less often than the same text without it, it is not successful.
    lifted = test.details["more"] > test.details["less"] or probe.against is None
    claim = claim_of(p if lifted else 1.0, fails.get(label, math.nan))
    return Headline(
        id=f"headline.attack.{label}",
        hypothesis="attack",
        claim=claim,
        about=about,
        estimand="attack_success",
        direction="higher" if claim == "differs" else "",
        rests_on=(f"attack.{label}",),
        family="attack",
        p_adjusted=fails[label] if claim == "equivalent" else p,
        p_bound=family.p_bound.get(label, False) and claim != "equivalent",
        reason=test.reason,
        says=_says(claim, "attack", judge.where),
        size=f"attack.{label}/attack_success",
    )


_SAYS: Mapping[tuple[str, Claim], str] = {
    ("moved", "differs"): "What should not matter moves {}",
    ("moved", "equivalent"): "Shown not to move {} by more than the margin",
    ("moved", "open"): "Neither an effect nor its absence is shown for {}",
    ("attack", "differs"): "Attacks that take in {}",
    ("attack", "equivalent"): "Attacks shown to fail with {}",
    ("attack", "open"): "Attacks neither shown to succeed nor to fail with {}",
    ("control", "differs"): "Worse answers get another score from {}, as they should",
    ("control", "open"): "Worse answers are not seen to get another score from {}",
}


def _says(claim: Claim, hypothesis: str, where: str) -> str:
    return _SAYS.get((hypothesis, claim), "Could not be tested with {}").format(where)


def probe_sentence(found: Mapping[str, Sequence[Headline]], results: Mapping[str, Result]) -> str:
    """The answer: of each judge what moves it, what succeeds, and whether it sees what is worse.

    Parameters
    ----------
    found : mapping of judge to headlines
        As `claims_by_judge` gives it.
    results : mapping of id to Result
    """
    told = [_judge_told(own, where, results) for where, own in found.items() if own]
    return f"{'; '.join(told)}." if told else "Nothing could be compared."


def _judge_told(own: Sequence[Headline], where: str, results: Mapping[str, Result]) -> str:
    controls = [h for h in own if h.hypothesis == "control"]
    sees = any(h.direction == "lower" for h in controls)
    parts = []
    for hypothesis, verb, none in (
        ("moved", "is moved by", "no change was seen to move it"),
        ("attack", "is taken in by", "no attack was seen to succeed"),
    ):
        of = [h for h in own if h.hypothesis == hypothesis]
        hit = [f"{h.about.varied} ({_size(h, where, results)})" for h in of if h.claim == "differs"]
        small = sum(h.claim == "equivalent" for h in of)
        if hit:
            parts.append(f"{verb} {_joined(hit)}")
        elif of:
            parts.append(f"{none}, {small} of {len(of)} shown not to" if small else none)
    if controls and not sees:
        parts.append("it was not seen to notice a worse answer, so nothing is called fair")
    return f"{where}: {', '.join(parts)}"


def _size(headline: Headline, where: str, results: Mapping[str, Result]) -> str:
    """The size of an effect that was shown."""
    if headline.hypothesis == "attack":
        test = results[headline.rests_on[0]]
        rate = test.effect.estimate if isinstance(test, TestResult) and test.effect else math.nan
        return f"{100 * rate:.0f} % of questions"
    row = _row(results.get("moved"), PROBES[headline.about.varied], where)
    return "" if row is None else f"{'+' if row.estimate > 0 else ''}{apa_number(row.estimate)}"


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def what_to_do(headlines: Sequence[Headline]) -> Recommendation:
    """What the effects that were found call for."""
    shown = [h for h in headlines if h.claim == "differs" and h.hypothesis in {"moved", "attack"}]
    advice: dict[str, list[str]] = {}
    for h in shown:
        judges = advice.setdefault(PROBES[h.about.varied].advice, [])
        if h.about.judge not in judges:
            judges.append(h.about.judge)
    if not advice:
        return Recommendation(
            text="No effect was found that calls for a correction; what was not shown to be small "
            "stays open and needs more questions."
        )
    text = "; ".join(f"{what} ({_joined(who)})" for what, who in advice.items())
    return Recommendation(
        text=f"{text[0].upper()}{text[1:]}.", rests_on=tuple(h.rests_on[0] for h in shown)
    )
