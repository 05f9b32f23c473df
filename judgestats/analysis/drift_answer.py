"""What drift claims: a headline a test, and one sentence made from the headlines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from judgestats.analysis.drift_tests import SAME
from judgestats.analysis.families import claim_of
from judgestats.analysis.limits import Limit
from judgestats.analysis.outcome import NamedResult
from judgestats.results import Claim, Headline
from judgestats.results.numbers import adjusted_p, apa_number, estimate_parts, with_bounds
from judgestats.stats.inference.adjust import Family
from judgestats.stats.inference.result import (
    Comparison,
    Comparisons,
    Estimate,
    Sample,
    TestResult,
)

_ESTIMANDS = {
    "shift": "change_of_scores",
    "flips": "change_of_verdicts",
    "spread": "distance_ratio_mean",
}
_ASPECTS = {"shift": "mean score", "spread": "spread of repeated scores", "flips": "verdicts"}
_SAYS: Mapping[Claim, str] = {
    "differs": "the judge has changed: {}",
    "open": "no change is shown: {}",
    "undefined": "not tested: {}",
}
_HERE = (
    "the judge has changed on these items (the interval, over questions, leaves others open): {}"
)
"""Where p, of exchanging replications within these items, and the interval answer otherwise."""
_FEWER = "no change is shown: {}, of which fewer differ than repetition explains"
"""Where the interval of a share of changes lies below 0: no number tells a change."""
UNREAD = "no verdict in one of the runs"
"""The reason under which `run_change` counts the items that it leaves out."""


def drift_headlines(tests: Sequence[NamedResult], family: Family) -> tuple[Headline, ...]:
    """One headline a test: something changed, no change is shown, or it could not be tested.

    Parameters
    ----------
    tests : sequence of NamedResult
        ``shift.*``, ``spread.*`` and ``flips.*`` with the ``distance.*`` beside them.
    family : Family
        Of all tests.

    Returns
    -------
    tuple of Headline
        Not to have found a change is not to have shown that there is none: nothing is claimed to be
        equivalent. The test's details hold what is ruled out.
    """
    headlines: list[Headline] = []
    same: set[str] = set()
    for named in tests:
        kind, _, name = named.id.partition(".")
        if not isinstance(named.result, TestResult):
            continue
        p = family.p_adjusted[named.id]
        claim: Claim = claim_of(p, math.nan)
        effect = _effect(named, tests)
        if named.result.reason == SAME:
            if named.about.stratum not in same:
                headlines.append(_same(named))
            same.add(named.about.stratum)
            continue
        fewer = claim == "open" and _fewer(kind, effect)
        says = _HERE if _of_items(claim, kind, effect) else _FEWER if fewer else _SAYS[claim]
        headlines.append(
            Headline(
                id=f"headline.{named.id}",
                hypothesis=kind,
                claim=claim,
                about=named.about,
                estimand="" if fewer else _ESTIMANDS[kind],
                direction=_direction(kind, effect),
                rests_on=(
                    named.id,
                    *(r.id for r in tests if kind == "spread" and r.id == f"distance.{name}"),
                ),
                family="drift.family",
                p_adjusted=p,
                p_bound=family.p_bound[named.id],
                reason=named.result.reason,
                says=says.format(_ASPECTS[kind]),
            )
        )
    return tuple(headlines)


def _same(named: NamedResult) -> Headline:
    """That nothing was tested of a condition, since both runs said the same."""
    return Headline(
        id=f"headline.{named.id}",
        hypothesis=named.id.partition(".")[0],
        claim="open",
        about=named.about,
        rests_on=(named.id,),
        reason=SAME,
        says=SAME,
    )


def _fewer(kind: str, effect: Estimate | Comparison | None) -> bool:
    """Whether verdicts differ less between the runs than within them, as repetition cannot."""
    interval = effect.interval if kind == "flips" and effect is not None else None
    return interval is not None and interval.high < 0


def _effect(named: NamedResult, tests: Sequence[NamedResult]) -> Estimate | Comparison | None:
    """The size of the change that a test is about: its own effect, or the ratio of distances."""
    kind, _, name = named.id.partition(".")
    if kind != "spread":
        return named.result.effect if isinstance(named.result, TestResult) else None
    ratio = next((r.result for r in tests if r.id == f"distance.{name}"), None)
    return ratio.rows[0] if isinstance(ratio, Comparisons) else None


def _of_items(claim: Claim, kind: str, effect: Estimate | Comparison | None) -> bool:
    """Whether a change is shown of these items alone: the interval over questions holds none."""
    if claim != "differs" or kind == "spread" or effect is None or effect.interval is None:
        return False
    return effect.interval.low <= 0 <= effect.interval.high


def _direction(kind: str, effect: Estimate | Comparison | None) -> Literal["", "higher", "lower"]:
    """Of the second run against the first; verdicts have no order."""
    nothing = 1.0 if kind == "spread" else 0.0
    if effect is None or kind == "flips":
        return ""
    if effect.estimate > nothing:
        return "higher"
    return "lower" if effect.estimate < nothing else ""


def drift_sentence(
    headlines: Sequence[Headline], tests: Sequence[NamedResult], counts: Mapping[str, int]
) -> str:
    """The answer in one sentence.

    Parameters
    ----------
    headlines : sequence of Headline
    tests : sequence of NamedResult
        What they rest on.
    counts : mapping
        Items ``matched``, and ``only_first`` and ``only_second`` left out.

    Returns
    -------
    str
        What changed, by how much; what did not show a change, and which changes are ruled out;
        which items it stands on.
    """
    by_id = {r.id: r for r in tests}
    resting = [by_id[h.rests_on[0]] for h in headlines]
    changed = [h for h in headlines if h.claim == "differs"]
    same = [h for h in headlines if h.reason == SAME]
    still = [h for h in headlines if h.claim == "open" and h not in same]
    parts = []
    if changed:
        what = ", ".join(_changed(h, by_id[h.rests_on[0]], tests) for h in changed)
        parts.append(f"the judge has changed: {what}")
    if still:
        smallest = adjusted_p(min(still, key=lambda h: h.p_adjusted))
        beside = " beside it" if changed else ""
        parts.append(f"no change is shown{beside} {_where(still)} (smallest adjusted p {smallest})")
        if ruled := list(_ruled_out([by_id[h.rests_on[0]] for h in still], tests)):
            parts.append(f"ruled out there: {_listed(ruled)}")
    if same:
        parts.append(f"{SAME} ({', '.join(h.about.stratum for h in same)})")
    if len(same) < len(headlines) and _once(resting):
        parts.append(
            "each run judged once, so that at most the direction of a shift can be told, not "
            "whether single judgments or their spread changed beyond repetition"
        )
    else:
        parts += _untested([h for h in headlines if h.claim == "undefined"])
    parts.append(_counted(counts, resting))
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _untested(headlines: Sequence[Headline]) -> Iterator[str]:
    """What could not be tested, and why; one reason stands for all that share it."""
    by_reason: dict[str, list[str]] = {}
    for headline in headlines:
        by_reason.setdefault(headline.reason, []).append(_ASPECTS[headline.hypothesis])
    for reason, aspects in by_reason.items():
        yield f"not tested: {_listed(list(dict.fromkeys(aspects)))}, since {reason}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _where(headlines: Sequence[Headline]) -> str:
    names = list(dict.fromkeys(h.about.stratum for h in headlines))
    what = _listed(list(dict.fromkeys(_ASPECTS[h.hypothesis] for h in headlines)))
    return f"for {names[0] if len(names) == 1 else f'any of {len(names)} conditions'} in {what}"


def _changed(headline: Headline, named: NamedResult, tests: Sequence[NamedResult]) -> str:
    """One change with its size, interval and p."""
    effect = _effect(named, tests)
    size = ""
    if effect is not None and not math.isnan(effect.estimate):
        low, high = (
            (effect.interval.low, effect.interval.high) if effect.interval else (math.nan, math.nan)
        )
        if headline.hypothesis == "flips":
            share = [100 * v for v in (effect.estimate, low, high)]
            number, interval = estimate_parts(*share, digits=1)
            size = f"{number} % more differ than between repetitions {interval}".rstrip()
        elif headline.hypothesis == "spread":
            size = (
                "mean distance of scores from their item's mean multiplied by "
                f"{with_bounds(effect.estimate, low, high)}"
            )
        else:
            size = f"moved by {with_bounds(effect.estimate, low, high)} points"
        if _of_items("differs", headline.hypothesis, effect):
            size += " on these items (the interval, over questions, leaves others open)"
    what = _ASPECTS[headline.hypothesis]
    return (
        f"{headline.about.stratum}, {what}{': ' * bool(size)}{size} "
        f"(adjusted p {adjusted_p(headline)})"
    )


def _ruled_out(open_tests: Sequence[NamedResult], tests: Sequence[NamedResult]) -> Iterator[str]:
    """By aspect, the changes outside every interval; none where one has no interval."""
    by_kind: dict[str, list[Estimate | Comparison | None]] = {}
    for named in open_tests:
        by_kind.setdefault(named.id.partition(".")[0], []).append(_effect(named, tests))
    for kind, effects in by_kind.items():
        intervals = [e.interval for e in effects if e is not None and e.interval is not None]
        if len(intervals) < len(effects):
            continue
        low, high = min(i.low for i in intervals), max(i.high for i in intervals)
        if not low < high < math.inf:
            continue
        if kind == "shift":
            yield f"shifts of the mean above {apa_number(max(-low, high))} points"
        elif kind == "flips":
            yield f"changes of more than {apa_number(100 * high, digits=1)} % of verdicts"
        else:
            yield (
                f"a mean distance of scores from their item's mean below {apa_number(low)} or "
                f"above {apa_number(high)} times the first"
            )


def _once(tests: Sequence[NamedResult]) -> bool:
    """Whether no run judged anything twice."""
    return all(_sample(t).n_replications_max in {None, 1} for t in tests)


def _sample(named: NamedResult) -> Sample:
    if not isinstance(named.result, TestResult):
        raise TypeError(f"{named.id} is no test")
    return named.result.sample


def left_out_items(counts: Mapping[str, int]) -> tuple[Limit, ...]:
    """That items of one run have no counterpart in the other.

    Examples
    --------
    >>> left_out_items({"matched": 5, "only_first": 27, "only_second": 0})[0].short
    '27 of 32 items left out'
    """
    lost = counts["only_first"] + counts["only_second"]
    if not lost:
        return ()
    each = [
        f"{counts[key]} of the {counts[key] + counts['matched']} items of the {which} run"
        for key, which in (("only_first", "first"), ("only_second", "second"))
        if counts[key]
    ]
    text = f"Only items of both runs are compared: {' and '.join(each)} stand in that run alone."
    short = f"{lost} of {lost + counts['matched']} items left out"
    return (Limit(text, code="items_left_out", short=short),)


def _counted(counts: Mapping[str, int], tests: Sequence[NamedResult]) -> str:
    """The items compared, those without a counterpart, those unread in one of the runs."""
    lost = [
        f"{counts[key]} only in the {which} run left out"
        for key, which in (("only_first", "first"), ("only_second", "second"))
        if counts[key]
    ]
    unread = max(_sample(t).excluded.get(UNREAD, 0) for t in tests)
    if unread:
        lost.append(f"up to {unread} of them without a verdict in one")
    text = f"compared by item on the {counts['matched']} items that both runs judged"
    return f"{text} ({', '.join(lost)})" if lost else text
