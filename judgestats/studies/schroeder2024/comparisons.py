"""arXiv 2412.12509: its claims about temperatures, judges and benchmarks, tested as comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from judgestats.analysis.best_of_n_reliability import disagreement
from judgestats.analysis.outcome import NamedResult
from judgestats.arrays import Floats, Objects
from judgestats.results.numbers import apa_number
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.wilcoxon import wilcoxon_signed_rank
from judgestats.stats.inference.result import Estimate
from judgestats.studies.claims import Claim, Options, not_examined, now
from judgestats.studies.schroeder2024.cells import Cell, above_zero
from judgestats.studies.schroeder2024.data import BENCHMARKS
from judgestats.studies.schroeder2024.tables import PAPER_JUDGES

_ARENA, _ARENA_LAST = PAPER_JUDGES[:2], PAPER_JUDGES[2]
_FEWEST = 3
"""Questions that a paired comparison needs."""


def _by(cells: Sequence[Cell]) -> dict[tuple[str, str], dict[float, Cell]]:
    """Judge and benchmark to temperature to cell, T > 0."""
    out: dict[tuple[str, str], dict[float, Cell]] = {}
    for c in sorted(above_zero(cells), key=lambda c: c.temperature):
        out.setdefault((c.judge, c.benchmark), {})[c.temperature] = c
    return out


def _own_category(cell: Cell) -> Objects:
    return np.where(cell.read == "", np.where(cell.verdicts == "", "", "(none)"), cell.read)


def _disagreement_on(items: Sequence[str], cell: Cell) -> Floats:
    rows = [cell.items.index(item) for item in items]
    return disagreement(_own_category(cell)[rows])


def temperatures(cells: Sequence[Cell], options: Options) -> Claim:
    """The best temperature depends on judge and task."""
    about = {
        "claim": "Which temperature is best depends on judge and task.",
        "published": "the largest omega of a row of Table 2 is at different temperatures",
        "test_then": "none: the largest omega above T = 0 is read off",
        "test_now": (
            "Friedman's test over temperatures above 0 on each question's share of disagreeing "
            "pairs, questions as blocks; reliability of one verdict by temperature"
        ),
    }
    strata = {k: v for k, v in _by(cells).items() if len(v) > 2}
    if not strata:
        return not_examined("temperature", missing="fewer than three temperatures above 0", **about)
    results: list[NamedResult] = []
    tops, steadiest, shown = [], [], []
    for (judge, benchmark), at in strata.items():
        name = f"{judge.split('/')[-1]}, {benchmark}"
        table = np.column_stack([disagreement(_own_category(c)) for c in at.values()])
        test = friedman_test(
            table,
            names=[f"T={t:g}" for t in at],
            level=options.level,
            n_permutations=options.n_resamples,
            seed=options.seed,
        )
        results.append(now(f"temperature.now.{name}", f"Disagreement by temperature, {name}", test))
        least = list(at)[int(np.argmin(np.nanmean(table, axis=0)))]
        steadiest.append(least)
        if test.p_value < 1 - options.level:
            shown.append(least)
        omegas = {t: c.omega.estimate for t, c in at.items() if math.isfinite(c.omega.estimate)}
        if omegas:
            tops.append(f"T={max(omegas, key=lambda t, o=omegas: o[t]):g}")  # type: ignore[misc]
    n = len(strata)
    coldest = sum(least == min(at) for least, at in zip(steadiest, strata.values(), strict=True))
    if coldest == n:
        verdict = "does not stand"
    else:  # a place of the minimum that no test shows may be chance
        verdict = "stands in part" if len(set(shown)) > 1 else "open"
    return Claim(
        id="temperature",
        **about,
        reproduced=f"largest omega above 0 at {', '.join(tops) or 'no temperature: undefined'}",
        verdict=verdict,
        because=(
            f"In {coldest} of {n} pairs of judge and benchmark repetitions disagree least at the "
            f"lowest temperature above 0; the temperatures differ at the "
            f"{apa_number(1 - options.level, bounded=True)} level in {len(shown)} of {n} "
            "(unadjusted)."
        ),
        results=tuple(results),
    )


def judges_ranked(cells: Sequence[Cell], options: Options) -> Claim:
    """Reliability ranks judges opposite to the arena."""
    about = {
        "claim": "Reliability ranks the judges opposite to their arena rank.",
        "published": "omegas of Table 2: Gemma highest, Starling (first in the arena) lower",
        "test_then": "none: omegas are compared by eye",
        "test_now": (
            "Wilcoxon's test on each question's share of disagreeing pairs, Gemma against the "
            "better-ranked judge, paired by question"
        ),
    }
    by = _by(cells)
    results: list[NamedResult] = []
    better = worse = 0
    for other in _ARENA:
        for benchmark in BENCHMARKS.values():
            one, two = by.get((_ARENA_LAST, benchmark), {}), by.get((other, benchmark), {})
            for t in sorted(set(one) & set(two)):
                shared = sorted(set(one[t].items) & set(two[t].items))
                if len(shared) < _FEWEST:
                    continue
                name = f"{other.split('/')[-1]}, T={t:g}, {benchmark}"
                x, y = (_disagreement_on(shared, at[t]) for at in (one, two))
                test = wilcoxon_signed_rank(
                    x, y, names=["Gemma", other.split("/")[-1]], level=options.level
                )
                results.append(now(f"judges.now.{name}", f"Gemma against {name}", test))
                if test.p_value < 1 - options.level:
                    steadier = float(np.nanmean(x) - np.nanmean(y)) < 0
                    better, worse = better + steadier, worse + (not steadier)
    if not results:
        missing = "Gemma and a judge ranked above it, on the same questions, are not both there"
        return not_examined("judges", missing=missing, **about)
    n = len(results)
    decided = "stands in part" if better and not worse else "open"
    if worse and worse >= better:
        decided = "does not stand"
    return Claim(
        id="judges",
        **about,
        verdict=decided,
        because=(
            f"In {better} of {n} comparisons Gemma repeats itself more consistently at the "
            f"{apa_number(1 - options.level, bounded=True)} level (unadjusted), in {worse} less. "
            "That it repeats itself says nothing of whether it is right, and three judges are too "
            "few to speak of a rank correlation."
        ),
        results=tuple(results),
    )


def benchmarks_compared(cells: Sequence[Cell]) -> Claim:
    """SQuAD is judged less reliably than BBH."""
    about = {
        "claim": "Answers to SQuAD are more accurate than those to BBH, yet judged less reliably.",
        "published": "Table 2: omega lower on SQuAD than on BBH",
        "test_then": "none: omegas are compared by eye",
        "test_now": "reliability of one verdict with interval over questions, by benchmark",
    }
    by: dict[tuple[str, float], dict[str, Cell]] = {}
    for c in above_zero(cells):
        by.setdefault((c.judge, c.temperature), {})[c.benchmark] = c
    pairs = [(v["BBH"], v["SQuAD"]) for v in by.values() if {"BBH", "SQuAD"} <= set(v)]
    if not pairs:
        return not_examined("benchmarks", missing="BBH and SQuAD are not both there", **about)
    lower_then = sum(s.omega.estimate < b.omega.estimate for b, s in pairs)
    lower_null = sum(
        s.omega.null.mean < b.omega.null.mean
        for b, s in pairs
        if s.omega.null is not None and b.omega.null is not None
    )
    lower_now = sum(s.one.estimate < b.one.estimate for b, s in pairs)
    lower, higher = (
        sum(_apart(*(c.one for c in (pair if way else pair[::-1]))) for pair in pairs)
        for way in (True, False)
    )
    n = len(pairs)
    verdict = "stands" if lower == n else "does not stand" if higher > lower else "open"
    return Claim(
        id="benchmarks",
        **about,
        reproduced=f"omega lower on SQuAD in {lower_then} of {n} cells",
        verdict=verdict,
        because=(
            f"The null of the published omega is itself lower on SQuAD in {lower_null} of {n} "
            f"cells{_fewer_questions(pairs)}. One verdict's reliability is lower on SQuAD in "
            f"{lower_now} of {n}, with intervals that do not overlap in {lower}, and higher with "
            f"such intervals in {higher}. Whether the answers are more accurate the verdicts "
            "cannot say."
        ),
        results=tuple(
            now(f"benchmarks.now.{c.name}", f"Reliability of one verdict, {c.name}", c.one)
            for pair in pairs
            for c in pair
        ),
    )


def _fewer_questions(pairs: Sequence[tuple[Cell, Cell]]) -> str:
    """That the null follows the number of questions, where SQuAD has fewer of them."""
    sizes = {(len(s.verdicts), len(b.verdicts)) for b, s in pairs}
    if len(sizes) > 1 or not all(s < b for s, b in sizes):
        return ""
    [(squad, bbh)] = sizes
    return f": it has {squad} questions and BBH {bbh}, and fewer questions score less by chance"


def _apart(first: Estimate, second: Estimate) -> bool:
    """Whether the second lies below the first with intervals that do not overlap."""
    a, b = first.interval, second.interval
    return a is not None and b is not None and b.high < a.low
