"""arXiv 2412.12509: its claims, each with the study's own number and the called-for one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from judgestats.analysis.best_of_n_reliability import disagreement
from judgestats.analysis.outcome import NamedResult
from judgestats.analysis.paper_tables import PaperTable
from judgestats.analysis.replications.claims import Claim, Options, not_examined, now, then
from judgestats.analysis.replications.schroeder2024_cells import Cell, Objects
from judgestats.judgments.studies.schroeder2024 import BENCHMARKS, cell_of
from judgestats.stats.between_judges import agreement_across_judges
from judgestats.stats.friedman import friedman_test
from judgestats.stats.raw_agreement import flip_rate
from judgestats.stats.result import Estimate, format_number, format_p
from judgestats.stats.wilcoxon import wilcoxon_signed_rank

__all__ = [
    "at_zero",
    "benchmarks_compared",
    "judges_ranked",
    "table_1",
    "table_2",
    "temperatures",
    "without_data",
]

_KNOWN_MISPRINT = {
    ("google/gemma-1.1-7b-it", 1.0, "SQuAD"): (
        "the paper prints .64; the authors' own verdicts give .660 (.6595), and .6124 by their "
        "alpha, so .64 is neither: most likely a misprint"
    )
}
_STILL = 0.01
"""Share of differing pairs up to which verdicts hardly vary."""
_ARENA = ("Nexusflow/Starling-LM-7B-beta", "meta-llama/Meta-Llama-3-8B-Instruct")
_ARENA_LAST = "google/gemma-1.1-7b-it"


def _warm(cells: Sequence[Cell]) -> list[Cell]:
    return [c for c in cells if c.temperature > 0]


def table_2(cells: Sequence[Cell]) -> Claim:
    """The published omegas, and what the same procedure gives when nothing is there."""
    known = [c for c in cells if not math.isnan(c.printed)]
    wrong = [c for c in known if not c.matches]
    warm = _warm(cells)
    beyond = [c for c in warm if c.omega.null is not None and c.omega.estimate > c.omega.null.q95]
    apart = [
        abs(c.omega.estimate - c.omega.null.mean)
        for c in warm
        if c.omega.null is not None and math.isfinite(c.omega.estimate)
    ]
    told = "; ".join(
        f"{c.name}: printed {c.printed:g}, computed {c.omega.estimate:.4f}"
        + (
            f" ({_KNOWN_MISPRINT[c.judge, c.temperature, c.benchmark]})"
            if (c.judge, c.temperature, c.benchmark) in _KNOWN_MISPRINT
            else " (the verdicts in this folder are not those of the paper)"
        )
        for c in wrong
    )
    results: list[NamedResult] = [
        then("table2.then.cells", "Table 2, cell by cell", _cell_table(cells, told))
    ]
    results += [then(f"table2.then.{c.name}", f"Published omega, {c.name}", c.omega) for c in cells]
    results += [
        now(f"table2.now.{c.name}", f"Reliability of one verdict, {c.name}", c.one, primary=True)
        for c in cells
    ]
    results += [
        now(f"table2.now.all.{c.name}", f"Reliability of all votes, {c.name}", c.many)
        for c in cells
    ]
    results += [
        now(f"table2.now.missing.{c.name}", f"Unread left out, {c.name}", c.unread_missing)
        for c in cells
    ]
    share = len(beyond) / len(warm) if warm else math.nan
    ones = [c.one.estimate for c in warm if math.isfinite(c.one.estimate)]
    verdict = "does not stand" if share <= 0.2 else "stands in part"
    return Claim(
        id="table2",
        claim="The judges' reliability is .42 to .80 at T > 0 (McDonald's omega).",
        published="Table 2: omega .421 to .803 at T > 0",
        test_then=(
            "omega total of absolute correlations, letters coded 1-5, questions as indicators and "
            "replications as cases"
        ),
        reproduced=(
            f"{len(known) - len(wrong)} of {len(known)} printed cells of the judges in this folder "
            f"to the printed digits{f'; not: {told}' if wrong else ''}"
        ),
        test_now=(
            "the same number after shuffling each question's replications (its null); beside it "
            "the vote-share reliability of one verdict, which gives letters no order"
        ),
        verdict=verdict if warm else "open",
        because=(
            f"Shuffled replications give the same table: only {len(beyond)} of {len(warm)} cells "
            f"at T > 0 exceed the 95th percentile of their null, and the cells lie "
            f"{format_number(float(np.mean(apart)), digits=2)} from its mean on average. The "
            "published omega is the sampling error of absolute correlations, not the reliability "
            "of a judge. One verdict's reliability is "
            f"{format_number(min(ones), digits=3)} to {format_number(max(ones), digits=3)} by a "
            "coefficient whose null is near 0."
            if warm and ones
            else "The folder holds no temperature above 0."
        ),
        results=tuple(results),
    )


def _cell_table(cells: Sequence[Cell], told: str) -> PaperTable:
    rows = [
        {
            "judge": c.judge,
            "temperature": c.temperature,
            "benchmark": c.benchmark,
            "printed": c.printed,
            "computed": c.omega.estimate,
            "matches": c.matches,
            "null_mean": c.omega.null.mean if c.omega.null else math.nan,
            "null_q95": c.omega.null.q95 if c.omega.null else math.nan,
            "p_value": c.omega.null.p_value if c.omega.null else math.nan,
            "one_verdict": c.one.estimate,
            "one_verdict_null_q95": c.one.null.q95 if c.one.null else math.nan,
            "all_votes": c.many.estimate,
            "one_verdict_unread_missing": c.unread_missing.estimate,
        }
        for c in cells
    ]
    return PaperTable(
        source="arXiv 2412.12509, Table 2",
        table=pd.DataFrame(rows),
        said=(
            "Printed and computed omegas, what the same procedure gives when replications are "
            "shuffled, and label-free reliabilities of the same verdicts. "
            + (f"Cells that do not match: {told}." if told else "Every printed cell matches.")
        ),
    )


def at_zero(cells: Sequence[Cell]) -> Claim:
    """Perfect reliability at T = 0."""
    about = {
        "claim": "At T = 0 reliability is perfect.",
        "published": "Table 2: omega 1 at T = 0",
        "test_then": "the same omega; a table without any variance counts as 1 by rule",
    }
    test_now = "share of pairs of repetitions that differ at T = 0"
    cold = [c for c in cells if c.temperature == 0]
    if not cold:
        return not_examined("at_zero", test_now=test_now, missing="no verdicts at T = 0", **about)
    flips = {c.name: flip_rate(c.verdicts) for c in cold}
    worst = max(float(f.estimate) for f in flips.values())
    return Claim(
        id="at_zero",
        **about,
        test_now=test_now,
        reproduced=(
            f"omega {min(c.omega.estimate for c in cold):g} to "
            f"{max(c.omega.estimate for c in cold):g} in {len(cold)} cells"
        ),
        verdict="stands in part" if worst <= _STILL else "does not stand",
        because=(
            f"Repetitions differ in at most {100 * worst:.3g} % of pairs, so the verdicts hardly "
            "vary. But one draw is repeated: this says that sampling was switched off, not that "
            "the judge would agree with itself if asked differently, or is right."
            if worst <= _STILL
            else f"Repetitions at T = 0 differ in up to {100 * worst:.3g} % of pairs."
        ),
        results=tuple(
            now(f"at_zero.now.{name}", f"Repetitions that differ, {name}", f, primary=True)
            for name, f in flips.items()
        ),
    )


def _by(cells: Sequence[Cell]) -> dict[tuple[str, str], dict[float, Cell]]:
    """Judge and benchmark to temperature to cell, T > 0."""
    out: dict[tuple[str, str], dict[float, Cell]] = {}
    for c in sorted(_warm(cells), key=lambda c: c.temperature):
        out.setdefault((c.judge, c.benchmark), {})[c.temperature] = c
    return out


def _own_category(cell: Cell) -> Objects:
    return np.where(cell.read == "", np.where(cell.verdicts == "", "", "(none)"), cell.read)


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
    coldest, falling, tops = 0, 0, []
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
        means = np.nanmean(table, axis=0)
        coldest += int(np.argmin(means)) == 0
        falling += test.p_value < 1 - options.level
        tops.append(f"T={max(at, key=lambda t, a=at: a[t].omega.estimate):g}")  # type: ignore[misc]
    n = len(strata)
    return Claim(
        id="temperature",
        **about,
        reproduced=f"largest omega above 0 at {', '.join(tops)}",
        verdict="does not stand" if coldest == n else "stands in part",
        because=(
            f"In {coldest} of {n} pairs of judge and benchmark repetitions disagree least at the "
            f"lowest temperature above 0; the temperatures differ at the .05 level in {falling} of "
            f"{n} (unadjusted)."
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
    better: list[str] = []
    worse: list[str] = []
    for other in _ARENA:
        for benchmark in BENCHMARKS.values():
            one, two = by.get((_ARENA_LAST, benchmark), {}), by.get((other, benchmark), {})
            for t in sorted(set(one) & set(two)):
                name = f"{other.split('/')[-1]}, T={t:g}, {benchmark}"
                x, y = (disagreement(_own_category(at[t])) for at in (one, two))
                test = wilcoxon_signed_rank(
                    x, y, names=["Gemma", other.split("/")[-1]], level=options.level
                )
                results.append(now(f"judges.now.{name}", f"Gemma against {name}", test))
                shift = float(np.nanmean(x) - np.nanmean(y))
                if test.p_value < 1 - options.level:
                    (better if shift < 0 else worse).append(f"{name} (p {format_p(test.p_value)})")
    if not results:
        return not_examined("judges", missing="fewer than two judges", **about)
    n = len(results)
    decided = "stands in part" if better and not worse else "open"
    if worse and len(worse) >= len(better):
        decided = "does not stand"
    return Claim(
        id="judges",
        **about,
        verdict=decided,
        because=(
            f"In {len(better)} of {n} comparisons Gemma repeats itself more consistently at the "
            f".05 level (unadjusted), in {len(worse)} less. That it repeats itself says nothing "
            "of whether it is right, and three judges are too few to speak of a rank correlation."
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
    for c in _warm(cells):
        by.setdefault((c.judge, c.temperature), {})[c.benchmark] = c
    pairs = [(v["BBH"], v["SQuAD"]) for v in by.values() if {"BBH", "SQuAD"} <= set(v)]
    if not pairs:
        return not_examined("benchmarks", missing="BBH and SQuAD are not both there", **about)
    lower_then = sum(s.omega.estimate < b.omega.estimate for b, s in pairs)
    # The null alone: 20 questions score less than 27, whatever the judge does.
    lower_null = sum(
        s.omega.null.mean < b.omega.null.mean
        for b, s in pairs
        if s.omega.null is not None and b.omega.null is not None
    )
    lower_now = sum(s.one.estimate < b.one.estimate for b, s in pairs)
    apart = sum(_apart(b.one, s.one) for b, s in pairs)
    results = [
        now(f"benchmarks.now.{c.name}", f"Reliability of one verdict, {c.name}", c.one)
        for pair in pairs
        for c in pair
    ]
    n = len(pairs)
    return Claim(
        id="benchmarks",
        **about,
        reproduced=f"omega lower on SQuAD in {lower_then} of {n} cells",
        verdict="stands" if apart == n else "open",
        because=(
            f"The null of the published omega is itself lower on SQuAD in {lower_null} of {n} "
            f"cells: it has {len(pairs[0][1].verdicts)} questions and BBH "
            f"{len(pairs[0][0].verdicts)}. One verdict's reliability is lower on SQuAD in "
            f"{lower_now} of {n}, with intervals that do not overlap in {apart}. Accuracy of the "
            "answers is not in the folder."
        ),
        results=tuple(results),
    )


def _apart(first: Estimate, second: Estimate) -> bool:
    """Whether the second lies below the first with intervals that do not overlap."""
    a, b = first.interval, second.interval
    return a is not None and b is not None and b.high < a.low


def table_1(frame: pd.DataFrame, options: Options) -> Claim:
    """Agreement of the three judges."""
    about = {
        "claim": "The three judges agree moderately: .433 of the pairs in the median replication.",
        "published": ".167 / .395 / .433 / .469 / 1 (BBH, T = .25; Table 1)",
        "test_then": "share of pairs of judges that agree, five numbers",
        "test_now": "the same share over questions, with an interval over questions",
    }
    own = frame[(frame["temperature"] == 0.25) & (frame["benchmark"] == "BBH")]
    judges = list(dict.fromkeys(own["judge"]))
    if len(judges) < 3:
        missing = (
            f"verdicts of {len(judges)} of the three judges are in the folder, and the table is "
            "over all three"
        )
        return not_examined("table1", missing=missing, **about)
    shared = set.intersection(*(set(own.loc[own["judge"] == j, "item"]) for j in judges))
    kept = own[own["item"].isin(shared)]
    tables = [cell_of(kept, j, 0.25, "BBH") for j in judges]
    width = min(t.shape[1] for t in tables)
    result = agreement_across_judges(np.stack([t[:, :width] for t in tables]), level=options.level)
    five = _five(result.details["five_numbers"])
    items = _five(result.details["five_numbers_items"])
    printed = ".167 / .395 / .433 / .469 / 1"
    return Claim(
        id="table1",
        **about,
        reproduced=f"over replications {five}; over questions {items} (printed: {printed})",
        verdict="stands in part",
        because=(
            f"{result.sentence()} The five numbers are over {width} replications or over "
            f"{len(shared)} questions; the paper does not say which."
        ),
        results=(
            now("table1.now", "Agreement of the judges, BBH, T = 0.25", result, primary=True),
        ),
    )


def _five(numbers: Mapping[str, float]) -> str:
    return " / ".join(format_number(float(v), digits=3) for v in numbers.values())


def without_data() -> tuple[Claim, ...]:
    """Claims for which no data are public."""
    return (
        not_examined(
            "head_to_tail",
            claim="Accuracy on Head-to-Tail as judged hardly varies between judges.",
            published="Tables 5 and 6: A_LM .0395-.0396, omega about .99",
            test_then="mean over replications with its standard error; omega",
            test_now="`head_to_tail`: accuracy as judged with an interval over questions",
            missing="the authors' verdicts on Head-to-Tail are not public",
        ),
        not_examined(
            "answers",
            claim="Of five answers to SQuAD nearly all are right, of BBH hardly any.",
            published="Table 4: median 5 of 5 on SQuAD, 0 of 5 on BBH",
            test_then="counts of right answers",
            test_now="`omega`: share of answers that name the target",
            missing="the answers are not in the folder",
        ),
    )
