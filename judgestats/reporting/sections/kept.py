"""Which rows a table keeps where it has no room for all: some of every judge, those that tell most.

What the others say stands in a file beside the report, which the table's note names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from judgestats.reporting.runs import Run
from judgestats.results import Record
from judgestats.results.answers import answers_of

__all__ = ["MOST_ROWS", "grades_of", "judge_of", "kept", "kept_note", "spaced", "told"]

MOST_ROWS = 24


def kept(
    groups: Sequence[Hashable],
    most: int = MOST_ROWS,
    *,
    grades: Sequence[float] = (),
    within: Sequence[Hashable] = (),
    evenly: bool = False,
) -> list[int]:
    """The places of so many rows, in their order, with some of each group.

    Parameters
    ----------
    groups : sequence
        The group of each row: its judge.
    most : int
    grades : sequence of float
        How little each row tells: the lowest stay. Without them rows tell alike.
    within : sequence
        What a row belongs to inside its group, a question say: of each some stay.
    evenly : bool
        As many of each group, whatever their grades; else the lowest grades of all stay first, and
        of each group at least one row.

    Examples
    --------
    >>> kept(["a"] * 4 + ["b"], 3)
    [0, 1, 4]
    >>> kept(["a", "a", "a", "b"], 3, grades=[1, 0, 0, 1])
    [1, 2, 3]
    >>> kept(["a"] * 4, 2, within=["x", "x", "y", "y"])
    [0, 2]
    >>> kept(["a", "a", "b", "b", "b"], 4, grades=[0, 0, 1, 1, 0], evenly=True)
    [0, 1, 2, 4]
    """
    n = len(groups)
    if n <= most:
        return [*range(n)]
    told = [grades[i] if grades else 0.0 for i in range(n)]
    inner: Counter[Hashable] = Counter()
    place = []
    for i in sorted(range(n), key=lambda i: (told[i], i)):
        key = (groups[i], within[i] if within else None)
        place.append((told[i], inner[key], i))
        inner[key] += 1
    turn: Counter[Hashable] = Counter()
    order = []
    for grade, _, i in sorted(place):  # the groups take turns
        before = turn[groups[i]]
        order.append((before if evenly else before > 0, grade, before, i))
        turn[groups[i]] += 1
    return sorted(i for *_, i in sorted(order)[:most])


def kept_note(shown: int, of: int, noun: str, file: str) -> str:
    """What a table that leaves rows out says of them; nothing of one that has them all.

    Examples
    --------
    >>> kept_note(24, 70, "tests", "tests")
    '24 of 70 tests; all of them in tables/tests.csv.'
    """
    return f"{shown} of {of} {noun}; all of them in tables/{file}.csv." if shown < of else ""


def judge_of(run: Run, record: Record) -> str:
    """The judge that a result is about; empty where it is about several, or none."""
    about, judges = record.about, {c.label: c.judge for c in run.records.conditions}
    if about.judge:
        return about.judge
    own = {judges[label] for label in about.conditions if label in judges}
    if len(own) == 1:
        return own.pop()
    return next((j for j in judges.values() if j and f"{about.stratum},".startswith(f"{j},")), "")


def told(run: Run) -> Iterator[str]:
    """The conditions that the answer is about, those whose numbers it tells before the others."""
    by_id = {headline.id: headline for headline in run.records.headlines}
    for answer in answers_of(run.records):
        for record in (run.records[i] for i in answer.records):
            yield from record.about.conditions
        for headline in answer.headlines:
            yield from by_id[headline].about.conditions


def grades_of(run: Run, conditions: Sequence[str]) -> list[int]:
    """How little a page says of each condition elsewhere: those advised or told stand first."""
    first = {name: i for i, name in enumerate(dict.fromkeys([*_advised(run), *told(run)]))}
    return [first.get(name, len(first)) for name in conditions]


def spaced(run: Run, conditions: Sequence[str], judges: Sequence[str]) -> list[int]:
    """Grades by which those advised stay, then of every judge the first, the last, some between.

    Parameters
    ----------
    run : Run
    conditions, judges : sequence of str
        Of each row.
    """
    advised = {*_advised(run)}
    own: dict[str, list[int]] = {}
    for i, judge in enumerate(judges):
        own.setdefault(judge, []).append(i)
    out = [0] * len(judges)
    for places in own.values():
        for grade, k in enumerate(_halved(len(places)), start=1):
            out[places[k]] = 0 if conditions[places[k]] in advised else grade
    return out


def _advised(run: Run) -> list[str]:
    advice = run.records.recommendation
    return [advice.chosen] if advice is not None and advice.chosen else []


def _halved(n: int) -> list[int]:
    """The ends of n places, then the middles of what lies between.

    Examples
    --------
    >>> _halved(7)
    [0, 6, 3, 1, 4, 2, 5]
    """
    order = [*range(n)][:1] + [*range(n)][1:][-1:]
    spans = [(0, n - 1)]
    while spans:
        low, high = spans.pop(0)
        if high - low < 2:
            continue
        middle = (low + high) // 2
        order.append(middle)
        spans += [(low, middle), (middle, high)]
    return order
