"""LLMasJudge: the claims on alignment with people."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from judgestats.analysis.outcome import NamedResult
from judgestats.results.numbers import apa_number, bounds_of, with_bounds
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.friedman_result import FriedmanResult
from judgestats.stats.inference.result import Note, format_p
from judgestats.stats.spread.equivalence import equivalence_of_means
from judgestats.stats.spread.mean_shift import mean_shift
from judgestats.studies.claims import Claim, Options, not_examined, now, then
from judgestats.studies.llmasjudge.data import LLMasJudgeData

MARGIN = 0.05
"""Declared margin: a difference of alignment scores below five points in a hundred."""
_BASELINES = ("always tie", "random")
_UNCLUSTERED = Note(
    code="no_clusters",
    message=(
        "The file does not say which pairs belong to one question; pairs of a question share "
        "answers, so p-values and intervals are too small by an unknown amount."
    ),
)


def _friedman(
    table: np.ndarray[tuple[int, int], np.dtype[np.float64]], names: list[str], options: Options
) -> FriedmanResult:
    return friedman_test(table, names=names, level=options.level, seed=options.seed)


def _noted(result: FriedmanResult) -> FriedmanResult:
    import dataclasses

    return dataclasses.replace(result, notes=(*result.notes, _UNCLUSTERED))


def _of_one_length(
    arrays: Mapping[str, np.ndarray[tuple[int], np.dtype[np.float64]]],
) -> tuple[dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]], list[str]]:
    """The arrays of the commonest length (the longer one at a tie), and the names of the others."""
    sizes = [v.size for v in arrays.values()]
    usual = max(set(sizes), key=lambda n: (sizes.count(n), n))
    kept = {k: v for k, v in arrays.items() if v.size == usual}
    return kept, [f"{k} ({v.size})" for k, v in arrays.items() if v.size != usual]


def alignment_methods(data: LLMasJudgeData, options: Options) -> Claim:
    """All methods beat the baselines; reasoning does worse."""
    about = {
        "claim": (
            "All methods agree with people better than random and always-tie; those that reason do "
            "worse than the others."
        ),
        "published": "Friedman and Nemenyi, p < .05",
        "test_then": "Friedman's test over methods, pairs as blocks, then Nemenyi",
        "test_now": (
            "the same blocks; differences of the mean score with interval, Holm, since Friedman "
            "ranks a score of three values with many ties (clusters of a question are not in the "
            "file)"
        ),
    }
    if not data.alignment:
        return not_examined("alignment_methods", missing="no alignment scores", **about)
    kept, left = _of_one_length(data.alignment)
    if len(kept) < 2 or not any(base in kept for base in _BASELINES):
        return not_examined(
            "alignment_methods",
            missing="no two methods with as many pairs as a baseline",
            **about,
        )
    names = list(kept)
    table = np.column_stack(list(kept.values()))
    old = _friedman(table, names, options)
    pairs = mean_shift(table, conditions=names, level=options.level)
    results: list[NamedResult] = [
        then("alignment_methods.then", "Alignment of methods, Friedman", old),
        then("alignment_methods.then.nemenyi", "Pairs of methods, Nemenyi", old.nemenyi()),
        now("alignment_methods.now", "Differences of alignment scores", pairs, primary=True),
        now("alignment_methods.now.friedman", "Alignment of methods", _noted(old)),
    ]
    # Each row as method minus other, whichever of them the family names first.
    shift = {(r.a, r.b): (r.estimate, r.p_adjusted, *bounds_of(r.interval)) for r in pairs.rows}
    shift |= {(b, a): (-e, p, -high, -low) for (a, b), (e, p, low, high) in list(shift.items())}
    real = [n for n in names if n not in _BASELINES]
    beaten = [
        shift[m, base][0] > 0 and shift[m, base][1] < 0.05
        for m in real
        for base in _BASELINES
        if base in names
    ]
    lost = [
        shift[m, base][0] < 0 and shift[m, base][1] < 0.05
        for m in real
        for base in _BASELINES
        if base in names
    ]
    worse = []
    for reasoned, plain in (
        ("pointwise, before", "pointwise"),
        ("pairwise, reasoning", "pairwise"),
    ):
        if reasoned in names and plain in names:
            estimate, p, *bounds = shift[reasoned, plain]
            text = with_bounds(estimate, *bounds, bounded=True)
            worse.append((estimate < 0 and p < 0.05, reasoned, plain, estimate, p, text))
    # Two parts: every method beats both baselines; reasoning does worse.
    better = [w[3] > 0 and w[4] < 0.05 for w in worse]
    if all(beaten) and worse and all(w[0] for w in worse):
        verdict = "stands"
    elif all(beaten) or (worse and all(w[0] for w in worse)):
        verdict = "stands in part"
    else:
        verdict = "does not stand" if any(lost) or any(better) else "open"
    nemenyi = old.nemenyi()
    pairs_then = {frozenset((r.a, r.b)): r.p_value for r in nemenyi.rows}
    printed = "; ".join(
        f"{r} against {p} p {format_p(pairs_then[frozenset((r, p))])}" for _, r, p, *_ in worse
    )
    differences = "; ".join(
        f"{r} minus {p} = {text}, adjusted p {format_p(q)}" for _, r, p, _, q, text in worse
    )
    means = ", ".join(
        f"{n} {apa_number(float(np.nanmean(v)), digits=3, bounded=True)}" for n, v in kept.items()
    )
    out = f" Of another length, not comparable by pair: {', '.join(left)}." if left else ""
    return Claim(
        id="alignment_methods",
        verdict=verdict,
        reproduced=f"{old.statistic_text()}, p {format_p(old.p_value)}; Nemenyi: {printed}",
        because=(
            f"{sum(beaten)} of {len(beaten)} comparisons with the baselines stand; {differences}. "
            f"Scores: {means}.{out}"
        ),
        results=tuple(results),
        **about,
    )


def alignment_temperature(data: LLMasJudgeData, options: Options, *, level: str) -> Claim:
    """Temperature matters with reasoning, not without."""
    identity = f"alignment_temperature_{level}"
    reasoned = level == "before"
    about = {
        "claim": "With reasoning, temperature changes the agreement with people."
        if reasoned
        else "Without reasoning, temperature does not change the agreement with people.",
        "published": "Friedman, p < .001" if reasoned else "Friedman, p > .1",
        "test_then": "Friedman's test over temperatures, pairs as blocks",
        "test_now": "the same, with mean differences"
        + (
            ""
            if reasoned
            else f"; no change needs every difference of mean scores within {MARGIN} (two "
            "one-sided tests)"
        ),
    }
    cells = data.alignment_temperatures.get(level, {})
    if len(cells) < 2 or len({v.size for v in cells.values()}) > 1:
        missing = "no alignment by temperature" if not cells else "arrays of unequal length"
        return not_examined(identity, missing=missing, **about)
    names = [f"T={t:g}" for t in sorted(cells)]
    table = np.column_stack([cells[t] for t in sorted(cells)])
    old = _friedman(table, names, options)
    shifts = mean_shift(table, conditions=names, level=options.level)
    equal = equivalence_of_means(table, margin=MARGIN, conditions=names)
    if reasoned:
        verdict = "stands" if old.p_value < 0.05 else "open"
    elif equal.all_shown:
        verdict = "stands"
    else:
        verdict = "does not stand" if old.p_value < 0.05 else "open"
    means = ", ".join(
        f"{n} {apa_number(m, digits=3, bounded=True)}"
        for n, m in zip(names, np.nanmean(table, axis=0), strict=True)
    )
    return Claim(
        id=identity,
        verdict=verdict,
        reproduced=f"{old.statistic_text()}, p {format_p(old.p_value)}",
        because=(
            f"Friedman p {format_p(old.p_value)}; all differences within {MARGIN}: "
            f"{'shown' if equal.all_shown else 'not shown'}. Scores: {means}."
        ),
        results=(
            then(f"{identity}.then", "Alignment by temperature, Friedman", old),
            now(f"{identity}.now", "Alignment by temperature", _noted(old), primary=True),
            now(f"{identity}.now.pairs", "Differences of alignment scores", shifts),
            now(f"{identity}.now.equivalence", "Equivalence of alignment scores", equal),
        ),
        **about,
    )


def more_trials(data: LLMasJudgeData, options: Options) -> Claim:
    """Averaging ten judgments does not help."""
    about = {
        "claim": "More trials do not help the agreement with people.",
        "published": "a remark in the conclusion",
        "test_then": "none of its own (Nemenyi of ten averaged trials against one)",
        "test_now": (
            "difference of the mean alignment score with interval, paired by pair; that it does "
            f"not help needs the difference below {MARGIN}"
        ),
    }
    one, ten = (data.alignment.get(n) for n in ("pointwise", "pointwise, mean of 10"))
    if one is None or ten is None or one.size != ten.size:
        return not_examined("more_trials", missing="no alignment scores of ten trials", **about)
    names = ["one trial", "mean of 10"]
    table = np.column_stack([one, ten])
    shift = mean_shift(table, conditions=names, level=options.level)
    equal = equivalence_of_means(table, margin=MARGIN, conditions=names)
    row = shift.rows[0]
    helps = not math.isnan(row.p_value) and row.p_value < 0.05 and row.estimate > 0
    verdict = "stands" if equal.all_shown else "does not stand" if helps else "open"
    return Claim(
        id="more_trials",
        verdict=verdict,
        reproduced="no number was published",
        because=(
            f"Mean of 10 minus one trial = {row.with_bounds(bounded=True)}, "
            f"p {format_p(row.p_value)}; difference within {MARGIN}: "
            f"{'shown' if equal.all_shown else 'not shown'}."
        ),
        results=(
            now("more_trials.now", "Ten trials against one", shift, primary=True),
            now("more_trials.now.equivalence", "Equivalence of ten trials and one", equal),
        ),
        **about,
    )
