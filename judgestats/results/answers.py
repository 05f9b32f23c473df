"""What an analysis claims, a sentence a claim, made from its headlines."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgestats.results.numbers import (
    MINUS,
    adjusted_p,
    bounds_of,
    column_decimals,
    estimate_parts,
    short_names,
    with_names,
)
from judgestats.results.quantities import QUANTITIES, name_of, quantity_of
from judgestats.results.records import LOST, Comparison, Estimate, Headline, ResultSet, Row, Test
from judgestats.results.results import Results
from judgestats.results.text import hangs_on

__all__ = [
    "LOST",
    "NOTHING",
    "Answer",
    "answers_of",
    "decimals_of",
    "number_of",
    "row_decimals",
    "format_record",
]

QUESTIONS = "in effect {:.1f} questions"
"""How an answer tells that few clusters tell a ratio."""

NOTHING = "-"
"""What stands where a number is undefined or was not asked for."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is claimed, and of whom.

    Attributes
    ----------
    claim : str
    text : str
        The sentence.
    headlines : tuple of str
        Ids of those that it tells.
    records : tuple of str
        Ids of the results whose numbers stand in it.
    """

    claim: str
    text: str
    headlines: tuple[str, ...] = ()
    records: tuple[str, ...] = ()


def format_record(record: Estimate | Comparison, *, decimals: int | None = None) -> tuple[str, str]:
    """A number and its interval as they are written wherever this record is shown.

    `decimals` are those of the column that it stands in.

    Examples
    --------
    >>> from judgestats.results import Interval
    >>> e = Estimate(id="e", hypothesis="h", role="primary", title="T", estimand="icc_1_1",
    ...              estimate=0.8134, interval=Interval(low=0.751, high=0.862))
    >>> format_record(e)
    ('.81', '[.75, .86]')
    >>> from dataclasses import replace
    >>> format_record(replace(e, estimand="k_needed", estimate=3.0,
    ...     interval=Interval(low=2.0, high=6.0)))
    ('3', '(up to 6)')
    """
    if math.isnan(record.estimate):
        return NOTHING, ""
    entry, interval = quantity_of(record.estimand), record.interval
    low, high = (interval.low, interval.high) if interval else (math.nan, math.nan)
    if entry.unit == "count":
        return _count(record.estimate), _safe(record.estimate, high)
    if entry.unit in {"place", "labels"}:
        return f"{record.estimate:.0f}", f"[{low:.0f}, {high:.0f}]" if interval else ""
    if entry.unit == "USD":
        return f"${record.estimate:.4f}", ""
    if record.not_estimable:
        number, _ = estimate_parts(
            record.estimate, math.nan, math.nan, bounded=entry.bounded, decimals=decimals
        )
        return number, LOST
    return estimate_parts(record.estimate, low, high, bounded=entry.bounded, decimals=decimals)


def row_decimals(row: Row, results: Results) -> int | None:
    """The decimals of all numbers of a row of the screen."""
    numbers = [number_of(results, i) for i in row.cells.values()]
    return column_decimals((n.estimate, *bounds_of(n.interval)) for n in numbers)


def decimals_of(results: Results) -> dict[str, int | None]:
    """The decimals of every number that a row of the screen shows, by the result's id."""
    return {
        i: decimals
        for row in results.rows
        for decimals in [row_decimals(row, results)]
        for i in row.cells.values()
    }


def _count(value: float) -> str:
    return "not reachable" if math.isinf(value) else f"{value:,.0f}"


def _safe(value: float, high: float) -> str:
    """The end of the interval that more judgments cover."""
    if math.isnan(high) or math.isinf(value) or high <= value:
        return ""
    return "(no upper limit)" if math.isinf(high) else f"(up to {high:,.0f})"


def number_of(results: Results, result_id: str) -> Estimate | Comparison:
    """The result of this id, which is one number."""
    record = results[result_id]
    if not isinstance(record, (Estimate, Comparison)):
        raise TypeError(f"{result_id}: an estimate or a comparison was expected")
    return record


_CLAIMS: Mapping[str, str] = {
    "differs": "a difference is shown: {}",
    "equivalent": "shown to be alike within the margin: {}",
    "open": "no difference is shown: {}",
    "described": "described: {}",
    "undefined": "could not be computed: {}",
}
_NAMED = 3
"""Subjects of one claim that are named; of more the number is told, but not of a single one."""
_OF_PLACE = re.compile(r"position_(\d+)_share")
_PLACE = re.compile(r"\{(\d+)\}")


def answers_of(results: Results) -> list[Answer]:
    """The headlines that claim something, those alike in one sentence, differences first.

    Parameters
    ----------
    results : Results

    Returns
    -------
    list of Answer
        Empty where nothing is claimed: what is only described stands in the table, unless its
        headline says what to say of it.
    """
    groups: dict[tuple[str, str, str], list[Headline]] = {}
    for claim in _CLAIMS:
        for headline in results.headlines:
            if headline.claim == claim and (claim != "described" or headline.says):
                says, subject = _filled(headline, results)[0], _subject(headline)
                says = says.removesuffix(f", {subject}").removesuffix(f": {subject}")
                apart = "" if headline.says else headline.hypothesis
                groups.setdefault((claim, says, apart), []).append(headline)
    answers = [_answer(claim, says, group, results) for (claim, says, _), group in groups.items()]
    if results.kind != "experiment" or not results.headlines:
        return answers
    first = results.headlines[0].hypothesis  # what was asked first is answered first
    asked = [k for k, group in enumerate(groups.values()) if group[0].hypothesis == first]
    return [*(answers[k] for k in asked[:1]), *(a for k, a in enumerate(answers)
                                                if k not in asked[:1])]  # fmt: skip


def _subject(headline: Headline) -> str:
    """Whom a claim is about, as its own words end where they name it."""
    about = headline.about
    one = about.conditions[0] if len(about.conditions) == 1 else ""
    names = [name for name in (about.stratum, about.judge, one, *about.conditions[:1]) if name]
    named = [name for name in names if headline.says.endswith(f", {name}")]
    if about.varied and headline.says.endswith(f": {about.varied}"):  # what a study claims
        return about.varied
    return (named or [about.stratum or about.judge or one])[0]


def _says(headline: Headline) -> str:
    what = name_of(headline.estimand) if headline.estimand else headline.hypothesis
    return headline.says or _CLAIMS[headline.claim].format(what)


def _filled(headline: Headline, results: Results) -> tuple[str, tuple[str, ...]]:
    """The claim's words with the numbers that a description names, and the results' ids."""
    if headline.claim != "described":
        return _says(headline), ()
    decimals, ids = decimals_of(results), []

    def number(place: re.Match[str]) -> str:
        if int(place[1]) >= len(headline.rests_on):
            return place[0]
        record = number_of(results, headline.rests_on[int(place[1])])
        ids.append(record.id)
        return " ".join(filter(None, format_record(record, decimals=decimals.get(record.id))))

    says = with_names(_says(headline), short_names(results))
    return _PLACE.sub(number, says), tuple(ids)


def _answer(claim: str, says: str, headlines: Sequence[Headline], results: Results) -> Answer:
    """One claim, of the subjects whose p is smallest first."""
    alike = [h for h in results.headlines if h.hypothesis == headlines[0].hypothesis]
    if len(judges := {h.about.judge for h in headlines}) == 1:
        alike = [h for h in alike if h.about.judge in judges]
    if claim == "undefined":  # nothing is missing of the hypothesis' other numbers
        alike = [h for h in alike if h.estimand == headlines[0].estimand]
    of = len(alike)
    ordered = _sort_headlines(headlines)
    subjects = [_subject(h) for h in ordered]
    if len(set(subjects)) < len(subjects):  # one judge under several conditions
        own = [h.about.conditions for h in ordered]
        subjects = [c[0] if len(c) == 1 else s for c, s in zip(own, subjects, strict=True)]
    names = short_names(results)
    subjects = [names.get(subject, subject).rstrip(".") for subject in subjects]
    parts: list[tuple[str, str]] = []
    records: list[str] = [*_filled(headlines[0], results)[1]]
    plain = results.kind == "replication"  # claims of a study: all are told
    most = len(ordered) if plain or len(ordered) == _NAMED + 1 else _NAMED
    for headline, subject in zip(ordered[:most], subjects, strict=False):
        numbers, size = _numbers(headline, results)
        records += [size] if size else []
        same = claim == "undefined" and bool(parts) and parts[-1][1] == numbers
        before = parts.pop()[0] if same else ""  # one reason, told once
        if subject and parts and parts[-1][0] == subject and numbers:  # its second number
            numbers = f"{parts.pop()[1]}; {numbers}"
        parts.append(("; ".join(filter(None, (before, subject))), numbers))
    sentences = [f"{s} ({numbers})" if s and numbers else s or numbers for s, numbers in parts]
    more = len(ordered) - most
    text = says if more <= 0 else f"{says}, for {len(ordered)} of {of}"
    if any(sentences):
        unnamed = len(parts) == 1 and not parts[0][0] and parts[0][1].startswith("p ")
        joint = ", " if unnamed else " - " if ": " in says else ": "
        text += f"{joint}{'; '.join(filter(None, sentences))}"
        text += f"; and {more} more" if more > 0 else ""
    return Answer(
        claim=claim,
        text=f"{text[0].upper()}{text[1:]}",
        headlines=tuple(h.id for h in ordered),
        records=tuple(records),
    )


def _sort_headlines(headlines: Sequence[Headline]) -> list[Headline]:
    """The smallest p first; where p are alike, one of each judge before the second of any."""
    seen: dict[str, int] = {}
    ranked = []
    for headline in headlines:
        judge = headline.about.judge
        seen[judge] = seen.get(judge, 0) + 1
        p = headline.p_adjusted
        place = (True, 0.0, 0) if math.isnan(p) else (False, p, seen[judge])
        ranked.append((place, headline))
    return [headline for _, headline in sorted(ranked, key=lambda pair: pair[0])]


def _numbers(headline: Headline, results: Results) -> tuple[str, str]:
    """Size, p and reason of a claim, and the id of the result that tells the size.

    Of a claim about several the farthest pair tells the size; where its p is another, it follows
    the claim's as a statement of its own, with its p where that says something else.
    """
    parts: list[str] = []
    sized = bool(headline.estimand or headline.size)  # a claim of a study is no one number's
    size = size_of(headline, results) if sized and headline.claim != "described" else None
    if size is not None and math.isfinite(size.estimate):
        number = " ".join(
            filter(None, format_record(size, decimals=decimals_of(results).get(size.id)))
        )
        before, after = _levels(size, unit := _unit(size, headline), short_names(results))
        before = before or _effect(size, headline)
        rests = hangs_on(size.details, clusters=QUESTIONS)
        parts.append(f"{before}{number}{unit}{after}{rests}")
    else:
        size = None
    which, other = _pair_of_all(headline, size, results)
    if other:
        parts.append(f"p {adjusted_p(other)}")
    claim = [] if math.isnan(headline.p_adjusted) else [f"p {adjusted_p(headline)}"]
    if headline.claim == "open" and _is_smallest_p(headline, results):
        claim.append("no smaller p can be had from these data")
    if not which:
        parts += claim
    if isinstance(size, Comparison) and _lost_by_adjusting(size, results):
        parts.append("interval not adjusted")
    if headline.claim == "open" and size is not None:
        parts += _ruled_out(size)
    if headline.reason and (
        headline.claim == "undefined" or (headline.claim == "open" and sized and size is None)
    ):
        verdict = headline.says.removesuffix(f": {headline.about.varied}")
        parts.append(headline.reason.removeprefix(f"{verdict}: "))
    text = ", ".join(parts)
    if which:
        text = f"{', '.join(claim)}; {which}: {text}"
    return text, size.id if size is not None else ""


def _pair_of_all(
    headline: Headline, size: Estimate | Comparison | None, results: Results
) -> tuple[str, Comparison | None]:
    """What the pair is called that tells the size of a claim about all, whose p is another.

    The pair again where its verdict is another too: then its p is told.
    """
    if not (isinstance(size, Comparison) and size.part_of in headline.rests_on):
        return "", None
    if headline.size or math.isnan(headline.p_adjusted) or math.isnan(size.p_adjusted):
        return "", None
    level = _level(size, results)
    other = (size.p_adjusted <= level) != (headline.p_adjusted <= level)
    if len(results.get(size.part_of, ResultSet).members) > 1:
        apart = adjusted_p(size) != adjusted_p(headline)
        return ("farthest apart" if apart else ""), (size if other else None)
    return ("the pair" if other else ""), (size if other else None)


def _level(pair: Comparison, results: Results) -> float:
    return next((f.level for f in results.families if f.id == pair.family), 0.05)


def _lost_by_adjusting(pair: Comparison, results: Results) -> bool:
    """Whether a pair differs by its own p, as its interval has it, but not by the adjusted one."""
    return pair.margin is None and pair.p <= _level(pair, results) < pair.p_adjusted


def _is_smallest_p(headline: Headline, results: Results) -> bool:
    """Whether the test behind a claim has the smallest p that its method can give."""
    test = results[headline.rests_on[0]] if headline.rests_on else None
    return isinstance(test, (Test, Comparison)) and test.p <= test.p_floor * (1 + 1e-9)


def _ruled_out(record: Estimate | Comparison) -> list[str]:
    """Which differences of scores the interval leaves out, to the digits that it has."""
    interval, entry = record.interval, quantity_of(record.estimand)
    if interval is None or entry.unit != "points" or not math.isfinite(interval.high):
        return []
    most = max(interval.high, -interval.low)
    number, _ = estimate_parts(most, interval.low, interval.high, bounded=entry.bounded)
    return [f"more than {number} is ruled out"]


def _levels(record: Estimate | Comparison, unit: str, names: Mapping[str, str]) -> tuple[str, str]:
    """What is compared, before the number and after it, where its levels must be named.

    Not the subject with its opposite.
    """
    if not (isinstance(record, Comparison) and record.part_of and "(" not in record.a):
        return "", ""
    a, b = (names.get(level, level) for level in (record.a, record.b))
    if not (quantity_of(record.estimand).is_ratio and unit):
        ratio = quantity_of(record.estimand).is_ratio
        return f"{a} {'/' if ratio else MINUS} {b} ", ""
    if record.estimand == "gmd_ratio":
        return f"two repeats of {a} differ ", f" as those of {b}"
    of = " of" if record.estimand in _TIMES else " that of"
    return f"{a} has ", f"{of} {b}"


def _effect(record: Estimate | Comparison, headline: Headline) -> str:
    """What a number is called that tells the size of a test rather than what the claim is about."""
    entry = quantity_of(record.estimand)
    if place := _OF_PLACE.fullmatch(record.estimand):
        return f"share of place {place[1]}: "
    if record.estimand == headline.estimand or entry.unit != "coefficient":
        return ""
    return f"{entry.symbol} = " if entry.symbol else f"{entry.heading} "


def _unit(record: Estimate | Comparison, headline: Headline) -> str:
    """The unit behind a size: points only where the claim is about scores."""
    entry = quantity_of(record.estimand)
    subject = QUANTITIES.get(headline.estimand)
    if subject is not None and subject.unit == "probability":
        return ""
    if entry.unit == "ratio":
        return _TIMES.get(entry.key, " times")
    return " points" if entry.unit == "points" else ""


_TIMES = {
    "variance_ratio": " times the variance",
    "gmd_ratio": " times as much",
}


def size_of(headline: Headline, results: Results) -> Estimate | Comparison | None:
    """The number that tells how large.

    The one that is named; of a set of pairs (where a difference is shown the last one it rests
    on, else the first) the pair farthest from nothing; an estimate, or the effect of the test.
    """
    if headline.size:
        return number_of(results, headline.size)
    rests = [results[i] for i in headline.rests_on]
    sets = [
        [r for r in results.members(record) if isinstance(r, Comparison)]
        for record in (reversed(rests) if headline.claim == "differs" else rests)
        if isinstance(record, ResultSet)
    ]
    if headline.claim == "open":  # mean differences hang less on single items than variances do
        sets.sort(key=lambda rows: not (rows and rows[0].estimand == "gmd_ratio"))
    for members in sets:
        pairs = [r for r in members if math.isfinite(r.estimate)]
        if pairs:
            return max(pairs, key=_distance)
    for record in rests:
        if isinstance(record, (Estimate, Comparison)):
            return record
        if isinstance(record, Test) and record.effects:
            return results.effects(record)[0]
    return None


def _distance(record: Comparison) -> float:
    """How far from nothing, ratios on the log scale."""
    entry = quantity_of(record.estimand)
    if entry.is_ratio:
        return abs(math.log(record.estimate)) if record.estimate > 0 else math.inf
    return abs(record.estimate - (0.0 if math.isnan(entry.nothing) else entry.nothing))
