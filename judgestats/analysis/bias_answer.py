"""What the bias experiment found, in words: moved, shown to be small, or left open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from judgestats.analysis.bias_probes import Probed
from judgestats.analysis.outcome import Recommendation
from judgestats.stats.adjust import Family
from judgestats.stats.equivalence import EquivalenceResult
from judgestats.stats.result import Comparison, Comparisons, Result, format_number

__all__ = ["authorship_told", "length_told", "place_told", "what_to_do"]

_LEVEL = 0.05


def _rows_of(result: Result | None, where: str) -> list[tuple[int, Comparison]]:
    """The rows of a family that belong to one judge at one temperature."""
    if not isinstance(result, Comparisons):
        return []
    return [
        (i, r)
        for i, r in enumerate(result.rows)
        if r.a.endswith(f"({where})") or f"({where}, " in r.a
    ]


def _small(result: Result | None, where: str) -> bool:
    if not isinstance(result, EquivalenceResult):
        return False
    own = _rows_of(result, where)
    return bool(own) and all(r.p_value <= result.alpha for _, r in own)


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _verdicts(
    moved: Mapping[str, str], small: Sequence[str], open_: Sequence[str], *, what: str, margin: str
) -> str:
    """``Padding moves A (...), is shown to move B by less than ..., and is open for C``."""
    said = []
    if moved:
        said.append(f"{what} {_joined([f'{w} ({by})' for w, by in moved.items()])}")
    if small:
        said.append(f"for {_joined(small)} any effect is shown to be under {margin}")
    if open_:
        said.append(f"for {_joined(open_)} neither an effect nor its absence is shown")
    return ", ".join(said)


def length_told(results: Mapping[str, Result], found: Sequence[Probed]) -> str:
    """What padding does to scores."""
    family, equal = results.get("padding"), results.get("equivalence.padding")
    if family is None:
        return ""
    moved, small, open_ = {}, [], []
    for p in found:
        own = _rows_of(family, p.where)
        if not own:
            continue
        told = [r.estimate for _, r in own if r.p_adjusted < _LEVEL]
        if told:
            moved[p.where] = _points(told)
        elif _small(equal, p.where):
            small.append(p.where)
        else:
            open_.append(p.where)
    margin = equal.margin[1] if isinstance(equal, EquivalenceResult) else math.nan
    text = _verdicts(
        moved, small, open_, what="adding empty words moves the scores of",
        margin=f"{format_number(margin, digits=2)} points",
    )  # fmt: skip
    return f"Length: {text}"


def _points(estimates: Sequence[float]) -> str:
    low, high = min(estimates), max(estimates)
    one = format_number(low, digits=2)
    several = f"{one} to {format_number(high, digits=2)}" if len(estimates) > 1 else one
    return f"by {several} points of a 1-10 scale"


def place_told(results: Mapping[str, Result], found: Sequence[Probed]) -> str:
    """Whether verdicts follow the place."""
    family, shares = results.get("position.family"), results.get("position.shares")
    if not isinstance(family, Family):
        return ""
    equal = results.get("equivalence.position")
    moved, small, open_ = {}, [], []
    for p in found:
        if p.where not in family.p_adjusted:
            continue
        if family.p_adjusted[p.where] < _LEVEL:
            rows = _rows_of(shares, p.where)
            lean = rows[0][1].estimate if rows else math.nan
            place = "first" if lean > 0 else "second"
            moved[p.where] = f"the {place} in {50 + 50 * abs(lean):.0f} % of the verdicts"
        elif _small(equal, p.where):
            small.append(p.where)
        else:
            open_.append(p.where)
    margin = equal.margin[1] if isinstance(equal, EquivalenceResult) else math.nan
    text = _verdicts(
        moved, small, open_, what="a place is preferred by",
        margin=f"{format_number(margin, digits=2)} of the verdicts",
    )  # fmt: skip
    return f"place: {text}"


def authorship_told(results: Mapping[str, Result], found: Sequence[Probed]) -> str:
    """Whether judges prefer their own answers."""
    family, equal = results.get("own"), results.get("equivalence.own")
    if family is None:
        return "own answers were not examined"
    moved, small, open_ = {}, [], []
    for p in found:
        for _, row in _rows_of(family, p.where):
            if row.p_adjusted < _LEVEL:
                way = "more" if row.estimate > 0 else "less"
                moved[p.where] = f"{100 * abs(row.estimate):.0f} % of the verdicts {way}"
            elif _small(equal, p.where):
                small.append(p.where)
            else:
                open_.append(p.where)
    margin = equal.margin[1] if isinstance(equal, EquivalenceResult) else math.nan
    text = _verdicts(
        moved, small, open_,
        what="at equal length and people's preference its own answers are preferred by",
        margin=f"{format_number(margin, digits=2)} of the verdicts",
    )  # fmt: skip
    return f"authorship: {text}"


def what_to_do(results: Mapping[str, Result], found: Sequence[Probed]) -> Recommendation:
    """What the effects that were found call for."""
    advice = []
    place = results.get("position.family")
    if isinstance(place, Family):
        leaning = [k for k, p in place.p_adjusted.items() if p < _LEVEL]
        if leaning:
            advice.append(
                f"show both orders to {_joined(leaning)} and count pairs whose orders disagree as "
                "ties"
            )
    for name, text in (
        ("padding", "compare only answers of like length with {}, or report length beside scores"),
        ("own", "let another judge decide on answers by the model of {}"),
    ):
        hit = [
            p.where
            for p in found
            if any(r.p_adjusted < _LEVEL for _, r in _rows_of(results.get(name), p.where))
        ]
        if hit:
            advice.append(text.format(_joined(hit)))
    if not advice:
        return Recommendation(
            text="No effect was found that calls for a correction; what was not shown to be small "
            "stays open and needs more pairs."
        )
    text = "; ".join(advice)
    return Recommendation(text=f"{text[0].upper()}{text[1:]}.")
