"""What the bias experiment found, in words: moved, shown to be small, or left open."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from judgestats.analysis.bias_probes import Probed
from judgestats.analysis.outcome import Recommendation
from judgestats.results.numbers import apa_number, bounds_of, estimate_parts
from judgestats.stats.inference.adjust import Family
from judgestats.stats.inference.result import Comparison, Comparisons, Result
from judgestats.stats.spread.equivalence import EquivalenceResult

__all__ = ["authorship_told", "length_told", "place_told", "what_to_do"]

_LEVEL = 0.05


def _rows_of(result: Result | None, where: str) -> list[Comparison]:
    """The rows of a family that belong to one judge at one temperature."""
    if not isinstance(result, Comparisons):
        return []
    return [r for r in result.rows if r.a.endswith(f"({where})") or f"({where}, " in r.a]


def _small(result: Result | None, where: str) -> bool:
    if not isinstance(result, EquivalenceResult):
        return False
    own = _rows_of(result, where)
    return bool(own) and all(r.p_value <= result.alpha for r in own)


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


def _said(
    found: Sequence[Probed],
    equal: Result | None,
    told: Callable[[str], str | None],
    *,
    what: str,
    unit: str,
) -> str:
    """Judges that are moved, those of which an effect is shown to be small, and the others.

    Parameters
    ----------
    found : sequence of Probed
    equal : Result or None
        The tests of equivalence; without them nothing is shown to be small.
    told : callable
        What moves the judge at a place: an empty text where nothing is shown to, None where the
        question was not asked.
    what : str
        The effect, up to the names of those that it moves.
    unit : str
        Of the margin.
    """
    said = {p.where: told(p.where) for p in found}
    moved = {where: by for where, by in said.items() if by}
    still = [where for where, by in said.items() if by == ""]
    small = [where for where in still if _small(equal, where)]
    margin = equal.margin[1] if isinstance(equal, EquivalenceResult) else math.nan
    return _verdicts(
        moved, small, [where for where in still if where not in small],
        what=what, margin=f"{apa_number(margin)} {unit}",
    )  # fmt: skip


def length_told(results: Mapping[str, Result], found: Sequence[Probed]) -> str:
    """What padding does to scores."""
    family = results.get("padding")
    if family is None:
        return ""

    def told(where: str) -> str | None:
        own = _rows_of(family, where)
        shown = [f"{r.told()}{_asked_on(r)}" for r in own if r.p_adjusted < _LEVEL]
        points = f"by {_joined(shown)}, in points of a 1-10 scale" if shown else ""
        return points if own else None

    text = _said(
        found, results.get("equivalence.padding"), told,
        what="adding empty words moves the scores of", unit="points",
    )  # fmt: skip
    return f"Length: {text}"


def _asked_on(row: Comparison) -> str:
    """The scale that was asked for, where a row names it."""
    scale = row.a.rpartition(", scale ")[2].removesuffix(")")
    return f" on {scale}" if ", scale " in row.a else ""


def place_told(results: Mapping[str, Result], found: Sequence[Probed]) -> str:
    """Whether verdicts follow the place."""
    family, shares = results.get("position.family"), results.get("position.shares")
    if not isinstance(family, Family):
        return ""

    def told(where: str) -> str | None:
        if where not in family.p_adjusted:
            return None
        return (
            _preferred_place(_rows_of(shares, where)) if family.p_adjusted[where] < _LEVEL else ""
        )

    text = _said(
        found, results.get("equivalence.position"), told,
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


def authorship_told(results: Mapping[str, Result], found: Sequence[Probed]) -> str:
    """Whether judges prefer their own answers."""
    family = results.get("own")
    if family is None:
        return "own answers were not examined"

    def told(where: str) -> str | None:
        own = _rows_of(family, where)
        shown = [
            f"{r.told(times=100, digits=0)} points in a hundred" for r in own
            if r.p_adjusted < _LEVEL
        ]  # fmt: skip
        by = f"by {_joined(shown)}" if shown else ""
        return by if own else None

    text = _said(
        found, results.get("equivalence.own"), told,
        what="at equal length and people's preference the share of its own answers moves for",
        unit="of the verdicts",
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
            if any(r.p_adjusted < _LEVEL for r in _rows_of(results.get(name), p.where))
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
