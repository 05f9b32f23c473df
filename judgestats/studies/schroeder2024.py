"""The study of arXiv 2412.12509 (McDonald's omega of LLM judgments), claim by claim."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.best_of_n import disagreement
from judgestats.analysis.coefficients import factor_curve
from judgestats.analysis.records import NamedResult
from judgestats.arrays import Floats, Objects
from judgestats.results.numbers import apa_number
from judgestats.stats.agreement.kappa import gwet_ac1
from judgestats.stats.agreement.raw_agreement import flip_rate, vote_share_reliability
from judgestats.stats.comparison.matched import friedman_test
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.inference.result import Estimate
from judgestats.stats.reliability.published_omega import PublishedOmega, published_omega_2412_12509
from judgestats.studies import claims
from judgestats.studies.claims import Claim, bounded, listed
from judgestats.studies.paper_tables import PaperTable
from judgestats.studies.schroeder2024_data import (
    BBH,
    BENCHMARKS,
    FIVE,
    SQUAD,
    answers,
    application,
    is_above,
    printed_rows,
    read_verdicts,
    short_name,
)

_SHUFFLINGS = 99
"""Of the published omega, which refits a factor model each time."""
_HALF_DIGIT = 5e-4 + 1e-9
_CELL = ("judge", "temperature", "benchmark")
_SIZES = {"BBH": (27, 100), "SQuAD": (20, 100), "MT-Bench": (8, 100)}
"""Questions and replications of a cell of the paper."""
_JUDGES = (
    "Nexusflow/Starling-LM-7B-beta",
    "meta-llama/Meta-Llama-3-8B-Instruct",
    "google/gemma-1.1-7b-it",
)
_FEW_BEYOND = 0.2
"""Share of cells beyond their null's 95th percentile up to which the omegas are called its null."""
_STILL = 0.01
"""Share of differing pairs up to which verdicts hardly vary."""
_FEWEST = 3
"""Questions that a paired comparison, and temperatures that a comparison of them needs."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One judge at one temperature on one benchmark."""

    judge: str
    temperature: float
    benchmark: str
    items: tuple[str, ...]
    verdicts: Objects
    printed: float
    omega: PublishedOmega
    one: Estimate
    many: Estimate
    unread_missing: Estimate

    @property
    def name(self) -> str:
        """Readable and unique."""
        return f"{short_name(self.judge)}, T={self.temperature:g}, {self.benchmark}"

    @property
    def read(self) -> Objects:
        """Letters; empty text where none was read."""
        return _letters(self.verdicts)

    @property
    def matches(self) -> bool | None:
        """Whether the computed omega is the printed one, to its digits; None: not printed."""
        if math.isnan(self.printed):
            return None
        return abs(self.omega.estimate - self.printed) <= _HALF_DIGIT

    def disagreement(self, items: Sequence[str] | None = None) -> Floats:
        """Share of disagreeing pairs per question."""
        rows = [self.items.index(i) for i in items or self.items]
        return disagreement(_categories(self.verdicts)[rows])

    def row(self) -> dict[str, Any]:
        """Printed and computed omega, its null, and reliabilities."""
        unread = self.read == ""
        row: dict[str, Any] = {
            "condition": self.name,
            "judge": self.judge,
            "temperature": self.temperature,
            "factor_benchmark": self.benchmark,
            "n_items": len(self.verdicts),
            "n_replications": self.verdicts.shape[1],
            "n": self.verdicts.size,
            "n_ok": int((~unread).sum()),
            "unread_share": float(unread.mean()),
            "printed_omega": self.printed,
            "published_omega": self.omega.estimate,
            "published_omega_null_mean": _null(self.omega, "mean"),
            "published_omega_null_q95": _null(self.omega, "q95"),
            "published_alpha": self.omega.alpha,
            "matches": self.matches,
            "ac1": gwet_ac1(self.read, categories=list("ABCDE")).estimate,
        }
        for key, estimate in (
            ("vote_share", self.one),
            ("vote_share_all", self.many),
            ("vote_share_unread_missing", self.unread_missing),
        ):
            row[key] = estimate.estimate
            if estimate.interval:
                row[f"{key}_low"], row[f"{key}_high"] = claims.low_high(estimate)
            if estimate.null:
                row[f"{key}_null_q95"] = estimate.null.q95
        return row


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """The study's folder: its verdicts, and what they show cell by cell."""

    folder: Path
    frame: pd.DataFrame
    source: str
    cells: tuple[Cell, ...]

    @property
    def warm(self) -> list[Cell]:
        """The cells in which something was drawn."""
        return [c for c in self.cells if c.temperature > 0]

    def strata(self) -> dict[tuple[str, str], dict[float, Cell]]:
        """Judge and benchmark to temperature above 0 to cell."""
        out: dict[tuple[str, str], dict[float, Cell]] = defaultdict(dict)
        for c in sorted(self.warm, key=lambda c: c.temperature):
            out[c.judge, c.benchmark][c.temperature] = c
        return out


def _letters(verdicts: Objects) -> Objects:
    return np.where(np.isin(verdicts.astype(str), ("no_answer", "multiple", "")), "", verdicts)


def _categories(verdicts: Objects) -> Objects:
    """Letters, and one category for unparsed replies; empty text where there was no call."""
    read = _letters(verdicts)
    return np.where(read == "", np.where(verdicts == "", "", "(none)"), read)


def read_schroeder2024(folder: Path, options: claims.Options) -> Verdicts:
    """The verdicts of a folder, and every cell that they have, measured.

    Raises
    ------
    InputError
        As `read_verdicts`.
    """
    frame, source = read_verdicts(Path(folder))
    judges, benchmarks = list(dict.fromkeys(frame["judge"])), list(BENCHMARKS.values())
    own = {
        (str(judge), float(str(temperature)), str(benchmark)): rows
        for (judge, temperature, benchmark), rows in frame.groupby(list(_CELL))
    }
    order = sorted(own, key=lambda c: (judges.index(c[0]), -c[1], benchmarks.index(c[2])))
    cells = tuple(_measured(*cell, own[cell], options) for cell in order)
    return Verdicts(folder=Path(folder), frame=frame, source=source, cells=cells)


def _table(rows: pd.DataFrame) -> pd.DataFrame:
    """Verdicts of a cell, questions x replications; empty text where there is none."""
    wide = rows.pivot(index="item", columns="replicate", values="verdict")
    return wide.sort_index().fillna("")


def _measured(
    judge: str, temperature: float, benchmark: str, rows: pd.DataFrame, options: claims.Options
) -> Cell:
    wide = _table(rows)
    verdicts = wide.to_numpy(object)
    category = _categories(verdicts)
    printed = printed_rows(2, judge=judge, temperature=temperature, benchmark=benchmark)["value"]
    shuffled = min(_SHUFFLINGS, options.n_resamples)
    return Cell(
        judge=judge,
        temperature=temperature,
        benchmark=benchmark,
        items=tuple(wide.index),
        verdicts=verdicts,
        printed=float(printed.iloc[0]) if len(printed) else math.nan,
        omega=published_omega_2412_12509(verdicts, n_permutations=shuffled, seed=options.seed),
        one=vote_share_reliability(category, n_permutations=options.n_resamples, seed=options.seed),
        many=vote_share_reliability(category, k=None),
        unread_missing=vote_share_reliability(_letters(verdicts)),
    )


def _null(estimate: Estimate | PublishedOmega, part: str) -> float:
    return math.nan if estimate.null is None else float(getattr(estimate.null, part))


_PRINTED_COLUMNS = {
    "judge": "judge",
    "temperature": "temperature",
    "factor_benchmark": "benchmark",
    "printed_omega": "printed",
    "published_omega": "computed",
    "matches": "matches",
    "published_omega_null_mean": "null_mean",
    "published_omega_null_q95": "null_q95",
    "p_value": "p_value",
    "vote_share": "one_verdict",
    "vote_share_null_q95": "one_verdict_null_q95",
    "vote_share_all": "all_votes",
    "vote_share_unread_missing": "one_verdict_unread_missing",
}


def _table_2(data: Verdicts, _: claims.Options) -> claims.Finding:
    """The published omegas, and the same procedure under its permutation null."""
    usable = [c for c in data.cells if c.matches is not None]
    wrong = [c for c in usable if not c.matches]
    text = "; ".join(_mismatch(c, usable) for c in wrong)
    verdict, because = _null_verdict(data.warm)
    found = (
        f"{len(usable) - len(wrong)} of {len(usable)} printed cells of the judges in this folder "
        f"to the printed digits{f'; not: {text}' if wrong else ''}"
        if usable
        else "no cell of the folder is one of Table 2: its judges or temperatures are others"
    )
    end = f"Cells that do not match: {text}." if text else "Every printed cell matches."
    rows = pd.DataFrame(c.row() | {"p_value": _null(c.omega, "p_value")} for c in data.cells)
    table = PaperTable(
        source="arXiv 2412.12509, Table 2",
        table=rows.reindex(columns=list(_PRINTED_COLUMNS)).rename(columns=_PRINTED_COLUMNS),
        caption="Printed and computed omegas, the null of the same procedure (shuffled "
        "replications), and vote-share reliabilities of the same verdicts. "
        f"{end if usable else 'None of these cells is printed in the paper.'}",
    )

    def of(part: str) -> dict[str, Any]:
        return {c.name: getattr(c, part) for c in data.cells}

    return claims.Finding(
        reproduced=found,
        verdict=verdict,
        because=because,
        results=[
            *claims.then("Table 2, cell by cell", table, "cells"),
            *claims.then("Published omega", of("omega")),
            *claims.now("Vote-share reliability", of("one"), primary=True),
            *claims.now("Vote-share reliability of all repeats", of("many"), "all"),
            *claims.now("Unparsed left out", of("unread_missing"), "missing"),
        ],
    )


def _mismatch(cell: Cell, cells: Sequence[Cell]) -> str:
    """A cell that does not match, and why, as far as the folder can tell."""
    head = f"{cell.name}: printed {f'{cell.printed:g}'.removeprefix('0')}, "
    if math.isnan(cell.omega.estimate):
        return f"{head}undefined here ({cell.omega.reason})"
    head += f"computed {bounded(cell.omega.estimate, digits=4)}"
    questions, replications = cell.verdicts.shape
    paper = _SIZES[cell.benchmark]
    if (questions, replications) != paper:
        return (
            f"{head} (the folder has {questions} questions and {replications} replications, the "
            f"paper {paper[0]} and {paper[1]}: other verdicts)"
        )
    own = [c for c in cells if c.judge == cell.judge and c is not cell]
    same = sum(bool(c.matches) for c in own)
    if not own or same < len(own) / 2:
        return f"{head} (few of the judge's other cells match: the verdicts are not the paper's)"
    if math.isclose(cell.omega.alpha, cell.printed, abs_tol=5e-4):
        return f"{head} (the printed value is the alpha of the same procedure)"
    return (
        f"{head} ({same} of the judge's {len(own)} other cells match, so these are the paper's "
        "verdicts and the printed value is most likely a misprint; the alpha of the same "
        f"procedure, {bounded(cell.omega.alpha, digits=4)}, is not it either)"
    )


def _null_verdict(warm: Sequence[Cell]) -> tuple[str, str]:
    """Compare the omegas above T = 0 with their null: verdict and reason."""
    if not warm:
        return "open", "The folder holds no temperature above 0."
    tested = [
        (c.omega.estimate, c.omega.null)
        for c in warm
        if c.omega.null is not None and math.isfinite(c.omega.estimate)
    ]
    if not tested:
        return "open", f"The published omega is undefined in all {len(warm)} cells at T > 0."
    n = len(tested)
    beyond = sum(value > null.q95 for value, null in tested)
    apart = float(np.mean([abs(value - null.mean) for value, null in tested]))
    counted = (
        f"{beyond} of {n} cells at T > 0 exceed the 95th percentile of their null ("
        f"{apa_number(0.05 * n, digits=1)} are expected by chance). The mean distance from the "
        f"mean of the null is {apa_number(apart, bounded=True)}. "
    )
    ones = [c.one.estimate for c in warm if math.isfinite(c.one.estimate)]
    nulls = [c.one.null.q95 for c in warm if c.one.null is not None]
    limit = f" Null 95th percentile: at most {bounded(max(nulls))}." if nulls else ""
    label_free = (
        "The vote-share reliability, which ignores the order of letters, is "
        f"{bounded(min(ones))} to {bounded(max(ones))}.{limit}"
        if ones
        else "The vote-share reliability is undefined: no two questions differ."
    )
    if beyond / n <= _FEW_BEYOND:
        return "does not stand", (
            f"Shuffled data give nearly the same omegas. {counted}These omegas are mostly sampling "
            f"error of absolute correlations, not the reliability of a judge. {label_free}"
        )
    return "stands in part", (
        f"{counted}In those cells verdicts on different questions correlate over replications. "
        f"That is not how often a judge repeats its verdict. {label_free}"
    )


def _zero_temperature(data: Verdicts, _: claims.Options) -> claims.Finding | str:
    """Perfect reliability at T = 0."""
    cold = [c for c in data.cells if c.temperature == 0]
    if not cold:
        return "no verdicts at T = 0"
    flips = {c.name: flip_rate(c.verdicts) for c in cold}
    worst = max((f.estimate for f in flips.values() if math.isfinite(f.estimate)), default=None)
    if worst is None:
        return "nothing was repeated at T = 0"
    omegas = [c.omega.estimate for c in cold if math.isfinite(c.omega.estimate)]
    ends = dict.fromkeys(bounded(of(omegas)) for of in (min, max) if omegas)
    share = f"{100 * worst:.3g}% of pairs"
    still = (
        f"Repetitions differ in at most {share}, so the verdicts hardly vary."
        if worst
        else "No two repetitions differ."
    )
    return claims.Finding(
        reproduced=f"omega {' to '.join(ends) or 'undefined'} in {len(cold)} cells",
        verdict="stands in part" if worst <= _STILL else "does not stand",
        because=f"{still} At T = 0 sampling is off, so every repeat is the same draw. This shows "
        "neither agreement under another wording nor accuracy."
        if worst <= _STILL
        else f"Repetitions at T = 0 differ in up to {share}.",
        results=claims.now("Repetitions that differ", flips, primary=True),
    )


def _best_temperature(data: Verdicts, options: claims.Options) -> claims.Finding | str:
    """The best temperature depends on judge and task."""
    strata = {k: v for k, v in data.strata().items() if len(v) >= _FEWEST}
    if not strata:
        return "fewer than three temperatures above 0"
    tests: dict[str, Any] = {}
    tops: list[str] = []
    shown: set[float] = set()
    coldest = 0
    for (judge, benchmark), at in strata.items():
        table = np.column_stack([c.disagreement() for c in at.values()])
        test = friedman_test(
            table,
            names=[f"T={t:g}" for t in at],
            n_permutations=options.n_resamples,
            seed=options.seed,
        )
        tests[f"{short_name(judge)}, {benchmark}"] = test
        least = list(at)[int(np.argmin(np.nanmean(table, axis=0)))]
        coldest += least == min(at)
        shown |= {least} if test.p_value < 0.05 else set()
        omegas = {c.omega.estimate: t for t, c in reversed(at.items())
                  if math.isfinite(c.omega.estimate)}  # fmt: skip
        tops += [f"T={omegas[max(omegas)]:g}"] if omegas else []
    n, differ = len(strata), sum(test.p_value < 0.05 for test in tests.values())
    varies = "stands in part" if len(shown) > 1 else "open"  # an untested minimum may be chance
    return claims.Finding(
        reproduced=f"largest omega above 0 at {', '.join(tops) or 'no temperature: undefined'}",
        verdict="does not stand" if coldest == n else varies,
        because=f"In {coldest} of {n} pairs of judge and benchmark, repeats disagree least at "
        f"the lowest temperature above 0. The temperatures differ significantly in {differ} of "
        f"{n} (.05, unadjusted).",
        results=claims.now("Disagreement by temperature", tests),
    )


def _ranked(data: Verdicts, _: claims.Options) -> claims.Finding | str:
    """Reliability ranks judges opposite to the arena."""
    by = data.strata()
    results: list[NamedResult] = []
    better = worse = 0
    *arena, last = _JUDGES
    for other, benchmark in ((j, b) for j in arena for b in BENCHMARKS.values()):
        one, two = by.get((last, benchmark), {}), by.get((other, benchmark), {})
        for t in sorted(set(one) & set(two)):
            shared = sorted(set(one[t].items) & set(two[t].items))
            if len(shared) < _FEWEST:
                continue
            x, y = (at[t].disagreement(shared) for at in (one, two))
            test = wilcoxon_signed_rank(x, y, names=["Gemma", short_name(other)])
            results += claims.now(
                "Gemma against", {f"{short_name(other)}, T={t:g}, {benchmark}": test}
            )
            if test.p_value < 0.05:
                steadier = float(np.nanmean(x) - np.nanmean(y)) < 0
                better, worse = better + steadier, worse + (not steadier)
    if not results:
        return "Gemma and a judge ranked above it, on the same questions, are not both there"
    partly = "stands in part" if better and not worse else "open"
    return claims.Finding(
        verdict="does not stand" if worse and worse >= better else partly,
        because=f"Gemma is significantly more consistent in {better} of {len(results)} comparisons "
        f"(.05, unadjusted), and less consistent in {worse}. Consistency says nothing about "
        "accuracy, and three judges are too few for a rank correlation.",
        results=results,
    )


def _benchmarks(data: Verdicts, _: claims.Options) -> claims.Finding | str:
    """SQuAD is judged less reliably than BBH."""
    by: dict[tuple[str, float], dict[str, Cell]] = defaultdict(dict)
    for c in data.warm:
        by[c.judge, c.temperature][c.benchmark] = c
    pairs = [(v[BBH], v[SQUAD]) for v in by.values() if {BBH, SQUAD} <= set(v)]
    if not pairs:
        return "BBH and SQuAD are not both there"
    n = len(pairs)
    lower_then = sum(s.omega.estimate < b.omega.estimate for b, s in pairs)
    lower_null = sum(_null(s.omega, "mean") < _null(b.omega, "mean") for b, s in pairs)
    lower_now = sum(s.one.estimate < b.one.estimate for b, s in pairs)
    lower = sum(is_above(b.one, s.one) for b, s in pairs)
    higher = sum(is_above(s.one, b.one) for b, s in pairs)
    [(squad, bbh), *others] = {(len(s.verdicts), len(b.verdicts)) for b, s in pairs}
    fewer = ""
    if squad < bbh and not others:
        fewer = f" (SQuAD has {squad} questions, BBH {bbh}, and fewer questions lower the null)"
    return claims.Finding(
        reproduced=f"omega lower on SQuAD in {lower_then} of {n} cells",
        verdict="stands" if lower == n else "does not stand" if higher > lower else "open",
        because=f"The null of the published omega is itself lower on SQuAD in {lower_null} of {n} "
        f"cells{fewer}. The vote-share reliability is lower on SQuAD in {lower_now} of {n} cells, "
        f"with intervals that do not overlap in {lower}. It is higher with such intervals in "
        f"{higher}. The verdicts do not show which answers are more accurate.",
        results=claims.now(
            "Vote-share reliability", {c.name: c.one for pair in pairs for c in pair}
        ),
    )


def _table_1(data: Verdicts, options: claims.Options) -> claims.Finding | str:
    """Agreement of the three judges."""
    own = data.frame.query("temperature == 0.25 and benchmark == @BBH")
    by = dict(iter(own.groupby("judge")))
    there = len(set(_JUDGES) & set(by))
    if there < len(_JUDGES):
        return (
            f"verdicts of {there} of the three judges on BBH at T = 0.25 are in the folder, "
            "and the table is over all three"
        )
    tables = [_table(by[judge]) for judge in _JUDGES]
    result, over = claims.judges_agreement(
        tables, n_permutations=options.n_resamples, seed=options.seed
    )
    rows = printed_rows(1).set_index("statistic")["value"]
    printed = [float(rows[f"irr_{name}"]) for name in FIVE]
    ways = [w for w, five in over.items() if np.allclose(five, printed, rtol=0, atol=_HALF_DIGIT)]
    low, high = claims.low_high(result)
    inside = low <= printed[2] <= high
    text = f"The five printed numbers are those over {''.join(ways[:1])}."
    if not ways:
        text = (
            f"The printed numbers match neither {' nor '.join(over)}. The paper does not say what "
            "they summarise. The printed median is "
            f"{'inside' if inside else 'outside'} the interval of the share over all."
        )
    verdict = "stands" if ways else "stands in part" if inside else "does not stand"
    if result.null is not None and not result.estimate > result.null.q95:
        verdict = "open" if verdict != "does not stand" else verdict
        text += " Unrelated judges with the same shares of letters would agree as often."
    shown = {f"over {what}": " / ".join(map(bounded, five)) for what, five in over.items()}
    return claims.Finding(
        reproduced=f"{listed(shown)} (printed: {' / '.join(map(bounded, printed))})",
        verdict=verdict,
        because=f"{result.sentence()} {text}",
        results=claims.now("Agreement of the judges, BBH, T = 0.25", result, primary=True),
    )


def _limitations(data: Verdicts) -> list[str]:
    """Printed cells that the folder lacks: all cells of a judge, and single cells of others."""
    printed = printed_rows(2)
    names = list(dict.fromkeys(printed["judge"]))
    there = {c.judge for c in data.cells}
    absent = [j for j in names if j not in there]
    others = sorted(there - set(names))
    expected = int(printed["judge"].isin(there).sum())
    n_printed = sum(c.matches is not None for c in data.cells)
    unread = max((float((c.read == "").mean()) for c in data.cells), default=0.0)
    cells = "its cells" if len(absent) == 1 else "their cells"
    found = {
        f"Verdicts of {', '.join(absent)} are not in the folder: {cells} of Table 2, and Table 1, "
        "cannot be examined.": absent,
        f"The folder has {n_printed} of the {expected} printed cells of its judges.": (
            n_printed < expected
        ),
        f"{', '.join(others)}: not judges of the paper; nothing is printed of them.": others,
    }
    return [
        *(text for text, holds in found.items() if holds),
        (
            f"Up to {100 * unread:.3g}% of the replies of a cell are unparsed. They are one "
            "category here, as in the paper. The reliability without them is listed next to it."
        ),
        (
            "All questions show the five systems in one order, so position and system are "
            "confounded: an omega cannot distinguish a preferred letter from a preferred system."
        ),
        "Comparisons by p-value are unadjusted and exploratory: the study declared no test.",
    ]


STUDY = claims.Study(
    name="schroeder2024",
    title="McDonald's omega of LLM judgments",
    source="arXiv 2412.12509",
    layout="`verdicts.csv.gz`, or the authors' JSON files",
    heading="McDonald's omega of LLM judgments (arXiv 2412.12509), re-examined",
    question="Do the published omegas measure the reliability of the judges, and how reliable are "
    "the same verdicts when the order of letters is ignored?",
    read=read_schroeder2024,
    claims=(
        Claim("table2", "The judges' reliability is .42 to .80 at T > 0 (McDonald's omega).",
            published="Table 2: omega .421 to .803 at T > 0",
            test_then="omega total of absolute correlations, letters coded 1-5, questions as "
                "indicators and replications as cases",
            test_now="the same number after shuffling each question's replications (its null), and "
                "the vote-share reliability, which ignores the order of letters",
            evaluate=_table_2),
        Claim("at_zero", "At T = 0 reliability is perfect.", published="Table 2: omega 1 at T = 0",
            test_then="the same omega; a table without any variance counts as 1 by rule",
            test_now="share of pairs of repetitions that differ at T = 0",
            evaluate=_zero_temperature),
        Claim("temperature", "Which temperature is best depends on judge and task.",
            published="the largest omega of a row of Table 2 is at different temperatures",
            test_then="none: the largest omega above T = 0 is read off",
            test_now="Friedman's test over temperatures above 0 on each question's share of "
                "disagreeing pairs, questions as blocks; vote-share reliability by temperature",
            evaluate=_best_temperature),
        Claim("judges", "Reliability ranks the judges opposite to their arena rank.",
            published="omegas of Table 2: Gemma highest, Starling (first in the arena) lower",
            test_then="none: omegas are compared by eye",
            test_now="Wilcoxon's test on each question's share of disagreeing pairs, Gemma against "
                "the better-ranked judge, paired by question", evaluate=_ranked),
        Claim("benchmarks",
            "Answers to SQuAD are more accurate than those to BBH, yet judged less reliably.",
            published="Table 2: omega lower on SQuAD than on BBH",
            test_then="none: omegas are compared by eye",
            test_now="vote-share reliability with an interval over questions, by benchmark",
            evaluate=_benchmarks),
        Claim("table1",
            "The three judges agree moderately: .433 of the pairs in the median replication.",
            published=".167 / .395 / .433 / .469 / 1.000 (BBH, T = .25; Table 1)",
            test_then="share of pairs of judges that agree, five numbers",
            test_now="the same share with an interval over questions, and its null (unrelated "
                "judges with the same shares of letters)", evaluate=_table_1),
        Claim("head_to_tail", "Accuracy on Head-to-Tail as judged hardly varies between judges.",
            published="Tables 5 and 6: A_LM .0395-.0396 (standard error .0003-.0004), omega about "
                ".99",
            test_then="mean over questions and replications, an empty reply counted as incorrect; "
                "its standard error over replications",
            test_now="accuracy as judged with an interval over questions, empty replies left out; "
                "vote-share reliability and the correlation of the judges' shares by question",
            evaluate=lambda data, options: application(data.folder, options)),
        Claim("answers", "Of five answers nearly all are correct on SQuAD, and hardly any on BBH.",
            published="Table 4: BBH 0 / 0 / 0 / 1 / 2; SQuAD 3 / 5 / 5 / 5 / 5",
            test_then="correct answers of five per question, counted by a script; five numbers",
            test_now="share of answers that contain the true answer as words, with interval",
            evaluate=lambda data, options: answers(data.folder, options)),
    ),
    conditions=lambda data, _: pd.DataFrame(cell.row() for cell in data.cells),
    drawing=factor_curve(
        "temperature",
        "published_omega",
        "published_omega_null_mean",
        "vote_share",
        only={"benchmark": ("BBH",)},
        caption="BBH: omega recomputed as in the study, the mean of its null (each question's "
        "replications shuffled), and the vote-share reliability, which ignores the order of "
        "letters.",
    ),
    data_source=lambda data: data.source,
    limitations=_limitations,
)  # fmt: skip
