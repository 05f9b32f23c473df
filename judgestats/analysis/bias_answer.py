"""What the bias experiment found, in words: moved, shown to be small, or left open."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from judgestats.analysis.bias_probes import Probed
from judgestats.analysis.families import LEVEL, claim_of, untested
from judgestats.analysis.outcome import Recommendation
from judgestats.results import About, Claim, Headline
from judgestats.results.numbers import apa_number, bounds_of, estimate_parts
from judgestats.stats.inference.adjust import Family
from judgestats.stats.inference.result import Comparison, Comparisons, Result
from judgestats.stats.spread.equivalence import EquivalenceResult

__all__ = [
    "authorship_told",
    "bias_headlines",
    "length_told",
    "place_told",
    "what_to_do",
]


def _rows_of(result: Result | None, where: str) -> list[Comparison]:
    """The rows of a family that belong to one judge at one temperature."""
    if not isinstance(result, Comparisons):
        return []
    return [r for r in result.rows if r.a.endswith(f"({where})") or f"({where}, " in r.a]


_EFFECTS = {
    "padding": ("mean_difference", "padding"),
    "position": ("first_place", "place"),
    "own": ("preference_change", "authorship"),
}
"""Hypothesis -> estimand and what is varied."""


_MOVES = {
    "padding": "adding empty words",
    "position": "the place where an answer stands",
    "own": "that an answer is the judge's own",
}
_SAYS: Mapping[Claim, str] = {
    "differs": "{} moves the judge",
    "equivalent": "{} is shown to move the judge by less than the margin",
    "open": "neither an effect nor its absence is shown: {}",
    "undefined": "could not be tested: {}",
}


def bias_headlines(
    results: Mapping[str, Result], probed_effects: Sequence[Probed]
) -> tuple[Headline, ...]:
    """Of each judge and effect: it moves the judge, is shown to be small, or is left open.

    Parameters
    ----------
    results : mapping of id to Result
        Adjusted by `jointly`.
    probed_effects : sequence of Probed

    Returns
    -------
    tuple of Headline
    """
    headlines = []
    for hypothesis, (estimand, varied) in _EFFECTS.items():
        equal_id = f"equivalence.{hypothesis}"
        for probed in probed_effects:
            p, bound, direction, rests = _test_of(results, hypothesis, probed.where)
            if not rests:
                continue
            rows = _rows_of(results.get(equal_id), probed.where)
            small = [r.p_adjusted for r in rows]
            p_small = max(small) if small and not any(map(math.isnan, small)) else math.nan
            claim = claim_of(p, p_small)
            headlines.append(
                Headline(
                    id=f"headline.{hypothesis}.{probed.where}",
                    hypothesis=hypothesis,
                    claim=claim,
                    about=About(
                        judge=probed.judge,
                        stratum=probed.where,
                        conditions=tuple(probed.conditions.values()),
                        varied=varied,
                    ),
                    estimand=estimand,
                    direction=direction if claim == "differs" else "",
                    rests_on=(*rests, *(f"{equal_id}/{r.a}:{r.b}" for r in rows)),
                    family="position.family" if hypothesis == "position" else hypothesis,
                    p_adjusted=p_small if claim == "equivalent" else p,
                    p_bound=bound and claim != "equivalent",
                    says=_SAYS[claim].format(_MOVES[hypothesis]),
                    size=f"{rests[0]}/first_position_share" if hypothesis == "position" else "",
                )
            )
    return tuple(headlines)


def _test_of(
    results: Mapping[str, Result], hypothesis: str, where: str
) -> tuple[float, bool, Literal["", "higher", "lower"], tuple[str, ...]]:
    """The p that decides, whether it is a bound, the effect's direction, ids of its tests."""
    family = results.get("position.family")
    if hypothesis == "position":
        if not isinstance(family, Family) or where not in family.p_adjusted:
            return math.nan, False, "", ()
        rows = _rows_of(results.get("position.shares"), where)
        beside = tuple(f"position.shares/{r.a}:{r.b}" for r in rows)
        ids = (f"position.shift.{where}", *beside)
        return family.p_adjusted[where], family.p_bound[where], _sign(rows), ids
    rows = _rows_of(results.get(hypothesis), where)
    usable = [r for r in rows if not math.isnan(r.p_adjusted)]
    ids = tuple(f"{hypothesis}/{r.a}:{r.b}" for r in rows)
    row = min(usable, key=lambda r: r.p_adjusted, default=None)
    return row.p_adjusted if row else math.nan, bool(row and row.p_bound), _sign(rows), ids


def _sign(rows: Sequence[Comparison]) -> Literal["", "higher", "lower"]:
    if not rows or math.isnan(rows[0].estimate) or rows[0].estimate == 0:
        return ""
    return "higher" if rows[0].estimate > 0 else "lower"


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _said(
    headlines: Sequence[Headline],
    hypothesis: str,
    by: Callable[[str], str],
    equal: Result | None,
    *,
    what: str,
    unit: str,
) -> str:
    """Judges that are moved, those of which an effect is shown to be small, and the others.

    Parameters
    ----------
    headlines : sequence of Headline
    hypothesis : str
        Whose headlines are told.
    by : callable
        What moves a judge, and by how much.
    equal : Result or None
        The tests of equivalence, with the margin.
    what : str
        The effect, up to the names of those that it moves.
    unit : str
        Of the margin.
    """
    own = [h for h in headlines if h.hypothesis == hypothesis]
    of: dict[str, list[str]] = {}
    for h in own:
        name = h.about.stratum
        of.setdefault(h.claim, []).append(f"{name} ({by(name)})" if h.claim == "differs" else name)
    margin = equal.margin[1] if isinstance(equal, EquivalenceResult) else math.nan
    wording = {
        "differs": f"{what} {{}}",
        "equivalent": f"for {{}} any effect is shown to be under {apa_number(margin)} {unit}",
        "open": "for {} neither an effect nor its absence is shown",
        "undefined": "for {} nothing could be computed",
    }
    return ", ".join(text.format(_joined(of[c])) for c, text in wording.items() if c in of)


def length_told(headlines: Sequence[Headline], results: Mapping[str, Result]) -> str:
    """What padding does to scores."""
    family = results.get("padding")
    if family is None:
        return ""

    def by(where: str) -> str:
        own = [r for r in _rows_of(family, where) if r.p_adjusted < LEVEL]
        shown = [f"{r.with_bounds()}{_asked_on(r)}" for r in own]
        return f"by {_joined(shown)}, in points of a 1-10 scale"

    text = _said(
        headlines, "padding", by, results.get("equivalence.padding"),
        what="adding empty words moves the scores of", unit="points",
    )  # fmt: skip
    return f"Length: {text}"


def _asked_on(row: Comparison) -> str:
    """The scale that was asked for, where a row names it."""
    scale = row.a.rpartition(", scale ")[2].removesuffix(")")
    return f" on {scale}" if ", scale " in row.a else ""


def place_told(headlines: Sequence[Headline], results: Mapping[str, Result]) -> str:
    """Whether verdicts follow the place."""
    if not isinstance(results.get("position.family"), Family):
        return ""
    text = _said(
        headlines, "position",
        lambda where: _preferred_place(_rows_of(results.get("position.shares"), where)),
        results.get("equivalence.position"),
        what="a place is preferred by", unit="of the verdicts",
    )  # fmt: skip
    return f"place: {text}"


def _preferred_place(rows: Sequence[Comparison]) -> str:
    """Which place, and in what share of the verdicts: half of them, and half of the difference."""
    if not rows:
        return "one of them"
    lean, bounds = rows[0].estimate, bounds_of(rows[0].interval)
    low, high = bounds if lean > 0 else (-bounds[1], -bounds[0])
    number, interval = estimate_parts(*(50 + 50 * v for v in (abs(lean), low, high)), digits=0)
    place = "first" if lean > 0 else "second"
    return f"the {place} in {number} % {interval} of the verdicts".replace("  ", " ")


def authorship_told(headlines: Sequence[Headline], results: Mapping[str, Result]) -> str:
    """Whether judges prefer their own answers."""
    family = results.get("own")
    if family is None:
        return "own answers were not examined"

    def by(where: str) -> str:
        own = [r for r in _rows_of(family, where) if r.p_adjusted < LEVEL]
        shown = [f"{r.with_bounds(times=100, digits=0)} points in a hundred" for r in own]
        return f"by {_joined(shown)}"

    text = _said(
        headlines, "own", by, results.get("equivalence.own"),
        what="at equal length and people's preference the share of its own answers moves for",
        unit="of the verdicts",
    )  # fmt: skip
    return f"authorship: {text}"


_ADVICE = {
    "position": "show both orders to {} and count pairs whose orders disagree as ties",
    "padding": "compare only answers of like length with {}, or report length beside scores",
    "own": "let another judge decide on answers by the model of {}",
}


def what_to_do(headlines: Sequence[Headline]) -> Recommendation | None:
    """What the effects that were found call for; None where nothing could be tested."""
    if all(h.claim == "undefined" for h in headlines):
        return None
    advice = []
    shown = [h for h in headlines if h.claim == "differs"]
    for hypothesis, text in _ADVICE.items():
        hit = [h.about.stratum for h in shown if h.hypothesis == hypothesis]
        if hit:
            advice.append(text.format(_joined(hit)))
    if not advice:
        return Recommendation(
            sentences=(
                (
                    "No effect was found that calls for a correction; what was not shown to be "
                    "small stays open and needs more pairs."
                ),
                *untested(headlines),
            )
        )
    return Recommendation(
        sentences=(*(f"{t[0].upper()}{t[1:]}." for t in advice), *untested(headlines)),
        rests_on=tuple(h.rests_on[0] for h in shown),
    )
