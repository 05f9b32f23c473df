"""Tables of arXiv 2412.12509, their cells, and comparisons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgestats.analysis.best_of_n_reliability import disagreement
from judgestats.analysis.records import NamedResult
from judgestats.arrays import Floats, Objects
from judgestats.results.numbers import apa_number
from judgestats.stats.agreement.across_orders import agreement_across_judges
from judgestats.stats.agreement.chance_corrected import gwet_ac1
from judgestats.stats.agreement.raw_agreement import flip_rate
from judgestats.stats.agreement.vote_share import vote_share_reliability
from judgestats.stats.comparison.friedman import friedman_test
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.inference.estimate import Estimate
from judgestats.stats.reliability.published_omega import PublishedOmega, published_omega_2412_12509
from judgestats.studies.claims import Claim, Options, now, then
from judgestats.studies.paper_tables import PaperTable, omega_tables
from judgestats.studies.schroeder2024.answers import BENCHMARKS, cell_of, items_of

UNREAD = ("no_answer", "multiple", "")
_SHUFFLINGS = 99
"""Of the published omega, which refits a factor model each time."""
_HALF_DIGIT = 5e-4 + 1e-9


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
        return f"{self.judge.split('/')[-1]}, T={self.temperature:g}, {self.benchmark}"

    @property
    def read(self) -> Objects:
        """Letters; empty text where none was read."""
        return letters(self.verdicts)

    @property
    def matches(self) -> bool:
        """Whether the computed omega is the printed one, to the printed digits."""
        return abs(self.omega.estimate - self.printed) <= _HALF_DIGIT


def sampled_cells(cells: Sequence[Cell]) -> list[Cell]:
    """The cells in which something was drawn."""
    return [c for c in cells if c.temperature > 0]


def letters(verdicts: Objects) -> Objects:
    """Letters only; empty text where none was read."""
    return np.where(np.isin(verdicts.astype(str), UNREAD), "", verdicts)


def _printed(judge: str, temperature: float, benchmark: str) -> float:
    table = omega_tables()
    own = table[
        (table["table"] == 2)
        & (table["judge"] == judge)
        & (table["temperature"] == temperature)
        & (table["benchmark"] == benchmark)
    ]
    return float(own["value"].iloc[0]) if len(own) else math.nan


def cells_of_study(frame: pd.DataFrame, options: Options) -> list[Cell]:
    """Every judge, temperature and benchmark that the data have.

    Parameters
    ----------
    frame : DataFrame
        As `read_schroeder2024` returns it.
    options : Options

    Returns
    -------
    list of Cell
    """
    cells = []
    present = set(frame[["judge", "temperature", "benchmark"]].itertuples(index=False, name=None))
    common: dict[str, Any] = {"level": options.level}
    for judge in dict.fromkeys(frame["judge"]):
        for temperature in sorted(set(frame["temperature"]), reverse=True):
            for benchmark in BENCHMARKS.values():
                if (judge, temperature, benchmark) not in present:
                    continue
                verdicts = cell_of(frame, judge, temperature, benchmark)
                read = letters(verdicts)
                category = np.where(read == "", np.where(verdicts == "", "", "(none)"), read)
                cells.append(
                    Cell(
                        judge=str(judge),
                        temperature=float(temperature),
                        benchmark=benchmark,
                        items=items_of(frame, judge, temperature, benchmark),
                        verdicts=verdicts,
                        printed=_printed(str(judge), float(temperature), benchmark),
                        omega=published_omega_2412_12509(
                            verdicts,
                            n_permutations=min(_SHUFFLINGS, options.n_resamples),
                            seed=options.seed,
                        ),
                        one=vote_share_reliability(
                            category,
                            n_permutations=options.n_resamples,
                            seed=options.seed,
                            **common,
                        ),
                        many=vote_share_reliability(category, k=None, **common),
                        unread_missing=vote_share_reliability(read, **common),
                    )
                )
    return cells


def conditions_of(cells: Sequence[Cell]) -> pd.DataFrame:
    """One row a cell: printed and computed omega, its null, reliabilities of the same verdicts."""
    rows = []
    for c in cells:
        read = c.read
        ac1 = gwet_ac1(read, categories=list("ABCDE"))
        row: dict[str, Any] = {
            "condition": c.name,
            "judge": c.judge,
            "temperature": c.temperature,
            "factor_benchmark": c.benchmark,
            "n_items": len(c.verdicts),
            "n_replications": c.verdicts.shape[1],
            "n": c.verdicts.size,
            "n_ok": int((read != "").sum()),
            "unread_share": float((read == "").mean()),
            "printed_omega": c.printed,
            "published_omega": c.omega.estimate,
            "published_omega_null_mean": c.omega.null.mean if c.omega.null else math.nan,
            "published_omega_null_q95": c.omega.null.q95 if c.omega.null else math.nan,
            "published_alpha": c.omega.alpha,
            "matches": None if math.isnan(c.printed) else c.matches,
            "ac1": ac1.estimate,
        }
        for key, estimate in (
            ("vote_share", c.one),
            ("vote_share_all", c.many),
            ("vote_share_unread_missing", c.unread_missing),
        ):
            row[key] = estimate.estimate
            if estimate.interval:
                row[f"{key}_low"] = estimate.interval.low
                row[f"{key}_high"] = estimate.interval.high
            if estimate.null:
                row[f"{key}_null_q95"] = estimate.null.q95
        rows.append(row)
    return pd.DataFrame(rows)


PAPER_JUDGES = (
    "Nexusflow/Starling-LM-7B-beta",
    "meta-llama/Meta-Llama-3-8B-Instruct",
    "google/gemma-1.1-7b-it",
)
_PAPER_SIZES = {"BBH": (27, 100), "SQuAD": (20, 100), "MT-Bench": (8, 100)}
"""Questions and replications of a cell of the paper."""
_FEW_BEYOND = 0.2
"""Share of cells beyond their null's 95th percentile up to which the omegas are called its null."""
_STILL = 0.01
"""Share of differing pairs up to which verdicts hardly vary."""
_FIVE = ("min", "q1", "median", "q3", "max")


def table_2(cells: Sequence[Cell]) -> Claim:
    """The published omegas, and what the same procedure gives when nothing is there."""
    usable = [c for c in cells if not math.isnan(c.printed)]
    wrong = [c for c in usable if not c.matches]
    text = "; ".join(_mismatch(c, usable) for c in wrong)
    warm = sampled_cells(cells)
    verdict, because = _compare_null(warm)
    printed = omega_tables().query("table == 2 and temperature > 0")["value"]
    results: list[NamedResult] = [
        then("table2.then.cells", "Table 2, cell by cell", _cell_table(cells, usable, text))
    ]
    results += [then(f"table2.then.{c.name}", f"Published omega, {c.name}", c.omega) for c in cells]
    for key, title, role, of in (
        ("now", "Reliability of one verdict", True, [c.one for c in cells]),
        ("now.all", "Reliability of all votes", False, [c.many for c in cells]),
        ("now.missing", "Unread left out", False, [c.unread_missing for c in cells]),
    ):
        results += [
            now(f"table2.{key}.{c.name}", f"{title}, {c.name}", estimate, primary=role)
            for c, estimate in zip(cells, of, strict=True)
        ]
    low, high = printed.min(), printed.max()
    return Claim(
        id="table2",
        claim=f"The judges' reliability is {apa_number(low, bounded=True)} to "
        f"{apa_number(high, bounded=True)} at T > 0 (McDonald's omega).",
        published=(f"Table 2: omega {_coefficient(low)} to {_coefficient(high)} at T > 0"),
        test_then="omega total of absolute correlations, letters coded 1-5, questions as "
        "indicators and replications as cases",
        reproduced=_reproduced(usable, wrong, text),
        test_now="the same number after shuffling each question's replications (its null); beside "
        "it the vote-share reliability of one verdict, which gives letters no order",
        verdict=verdict,
        because=because,
        results=tuple(results),
    )


def _reproduced(cells: Sequence[Cell], wrong: Sequence[Cell], text: str) -> str:
    if not cells:
        return "no cell of the folder is one of Table 2: its judges or temperatures are others"
    return (
        f"{len(cells) - len(wrong)} of {len(cells)} printed cells of the judges in this folder "
        f"to the printed digits{f'; not: {text}' if wrong else ''}"
    )


def _mismatch(cell: Cell, cells: Sequence[Cell]) -> str:
    """A cell that does not match, and why, as far as the folder can tell."""
    head = f"{cell.name}: printed {f'{cell.printed:g}'.removeprefix('0')}, "
    if math.isnan(cell.omega.estimate):
        return f"{head}undefined here ({cell.omega.reason})"
    head += f"computed {apa_number(cell.omega.estimate, digits=4, bounded=True)}"
    questions, replications = cell.verdicts.shape
    paper = _PAPER_SIZES[cell.benchmark]
    if (questions, replications) != paper:
        return (
            f"{head} (the folder has {questions} questions and {replications} replications, the "
            f"paper {paper[0]} and {paper[1]}: other verdicts)"
        )
    own = [c for c in cells if c.judge == cell.judge and c is not cell]
    same = sum(c.matches for c in own)
    if own and same >= len(own) / 2:
        return (
            f"{head} ({same} of the judge's {len(own)} other cells match, so these are the paper's "
            "verdicts and the printed value is most likely a misprint; the alpha of the same "
            f"procedure, {apa_number(cell.omega.alpha, digits=4, bounded=True)}, is not it either)"
            if not math.isclose(cell.omega.alpha, cell.printed, abs_tol=5e-4)
            else f"{head} (the printed value is the alpha of the same procedure)"
        )
    return f"{head} (few of the judge's other cells match: the verdicts are not the paper's)"


def _compare_null(warm: Sequence[Cell]) -> tuple[str, str]:
    """What becomes of the omegas above T = 0 beside their null: verdict and reason."""
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
        f"{beyond} of {n} cells at T > 0 exceed the 95th percentile of their null (5 % of them, "
        f"{apa_number(0.05 * n, digits=1)}, would by chance), and the cells lie "
        f"{apa_number(apart, bounded=True)} from its mean on average. "
    )
    label_free = _label_free(warm)
    if beyond / n <= _FEW_BEYOND:
        return "does not stand", (
            f"Where shuffling leaves nothing to be found the procedure gives much the same: "
            f"{counted}These omegas are mostly the sampling error of absolute correlations, not "
            f"the reliability of a judge. {label_free}"
        )
    return "stands in part", (
        f"{counted}There verdicts on different questions move together over replications, which "
        f"is not how often a judge repeats itself. {label_free}"
    )


def _label_free(warm: Sequence[Cell]) -> str:
    ones = [c.one.estimate for c in warm if math.isfinite(c.one.estimate)]
    if not ones:
        return "The reliability of one verdict is undefined: no two questions differ."
    nulls = [c.one.null.q95 for c in warm if c.one.null is not None]
    beside = f"; the 95th percentiles of its null reach {_coefficient(max(nulls))}" if nulls else ""
    return (
        f"The reliability of one verdict, which gives letters no order, is "
        f"{_coefficient(min(ones))} to {_coefficient(max(ones))}{beside}."
    )


def _cell_table(cells: Sequence[Cell], printed_cells: Sequence[Cell], text: str) -> PaperTable:
    rows = [
        {
            "judge": c.judge,
            "temperature": c.temperature,
            "benchmark": c.benchmark,
            "printed": c.printed,
            "computed": c.omega.estimate,
            "matches": None if math.isnan(c.printed) else c.matches,
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
    end = f"Cells that do not match: {text}." if text else "Every printed cell matches."
    if not printed_cells:
        end = "None of these cells is printed in the paper."
    return PaperTable(
        source="arXiv 2412.12509, Table 2",
        table=pd.DataFrame(rows),
        caption="Printed and computed omegas, what the same procedure gives when replications are "
        f"shuffled, and label-free reliabilities of the same verdicts. {end}",
    )


def zero_temperature_claim(cells: Sequence[Cell]) -> Claim:
    """Perfect reliability at T = 0."""
    about = Claim(
        id="at_zero",
        claim="At T = 0 reliability is perfect.",
        published="Table 2: omega 1 at T = 0",
        test_then="the same omega; a table without any variance counts as 1 by rule",
        test_now="share of pairs of repetitions that differ at T = 0",
    )
    cold = [c for c in cells if c.temperature == 0]
    if not cold:
        return about.not_examined("no verdicts at T = 0")
    flips = {c.name: flip_rate(c.verdicts) for c in cold}
    shares = [float(f.estimate) for f in flips.values() if math.isfinite(f.estimate)]
    if not shares:
        return about.not_examined("nothing was repeated at T = 0")
    worst = max(shares)
    omegas = [c.omega.estimate for c in cold if math.isfinite(c.omega.estimate)]
    ends = dict.fromkeys(_coefficient(v) for v in (min(omegas), max(omegas))) if omegas else ()
    span = " to ".join(ends) or "undefined"
    return about.examined(
        reproduced=f"omega {span} in {len(cold)} cells",
        verdict="stands in part" if worst <= _STILL else "does not stand",
        because=f"{_repeat_sentence(worst)} But one draw is repeated: this says that sampling was "
        "switched "
        "off, not that the judge would agree with itself if asked differently, or is right."
        if worst <= _STILL
        else f"Repetitions at T = 0 differ in up to {100 * worst:.3g} % of pairs.",
        results=tuple(
            now(f"at_zero.now.{name}", f"Repetitions that differ, {name}", f, primary=True)
            for name, f in flips.items()
        ),
    )


def _repeat_sentence(worst: float) -> str:
    if worst == 0:
        return "No two repetitions differ."
    return (
        f"Repetitions differ in at most {100 * worst:.3g} % of pairs, so the verdicts hardly vary."
    )


def table_1(frame: pd.DataFrame, options: Options) -> Claim:
    """Agreement of the three judges."""
    printed = _printed_five()
    printed_text = " / ".join(_coefficient(v) for v in printed)
    about = Claim(
        id="table1",
        claim="The three judges agree moderately: "
        f"{_coefficient(printed[2])} of the pairs in the median replication.",
        published=f"{printed_text} (BBH, T = .25; Table 1)",
        test_then="share of pairs of judges that agree, five numbers",
        test_now="the same share over questions, with an interval over questions, beside what "
        "unrelated judges of the same habits would share",
    )
    own = frame[(frame["temperature"] == 0.25) & (frame["benchmark"] == "BBH")]
    judges = [j for j in PAPER_JUDGES if j in set(own["judge"])]
    if len(judges) < len(PAPER_JUDGES):
        missing = (
            f"verdicts of {len(judges)} of the three judges on BBH at T = 0.25 are in the folder, "
            "and the table is over all three"
        )
        return about.not_examined(missing)
    shared = set.intersection(*(set(own.loc[own["judge"] == j, "item"]) for j in judges))
    kept = own[own["item"].isin(shared)]
    tables = [cell_of(kept, j, 0.25, "BBH") for j in judges]
    width = min(t.shape[1] for t in tables)
    result = agreement_across_judges(
        np.stack([t[:, :width] for t in tables]),
        level=options.level,
        n_permutations=options.n_resamples,
        seed=options.seed,
    )
    over = {
        f"{width} replications": result.details["five_numbers"],
        f"{len(shared)} questions": result.details["five_numbers_items"],
    }
    verdict, because = _compare_table_1(result, over, printed)
    return about.examined(
        reproduced="; ".join(f"over {what} {_five(numbers)}" for what, numbers in over.items())
        + f" (printed: {printed_text})",
        verdict=verdict,
        because=because,
        results=(
            now("table1.now", "Agreement of the judges, BBH, T = 0.25", result, primary=True),
        ),
    )


def _printed_five() -> list[float]:
    rows = omega_tables().query("table == 1").set_index("statistic")["value"]
    return [float(rows[f"irr_{name}"]) for name in _FIVE]


def _compare_table_1(
    result: Estimate, over: Mapping[str, Mapping[str, float]], printed: Sequence[float]
) -> tuple[str, str]:
    """Whether the printed five numbers are found, and what the judges share at all."""
    ways = [
        what
        for what, numbers in over.items()
        if all(
            abs(float(numbers[name]) - value) <= 5e-4 + 1e-9
            for name, value in zip(_FIVE, printed, strict=True)
        )
    ]
    median, interval = printed[2], result.interval
    inside = interval is not None and interval.low <= median <= interval.high
    if ways:
        text = f"The five printed numbers are those over {ways[0]}."
    else:
        text = (
            f"The printed numbers are found neither over {' nor over '.join(over)}; the paper does "
            "not say over which they are. The printed median lies "
            f"{'inside' if inside else 'outside'} the interval of the share over all."
        )
    verdict = "stands" if ways else "stands in part" if inside else "does not stand"
    if result.null is not None and not result.estimate > result.null.q95:
        verdict = "open" if verdict != "does not stand" else verdict
        text += " Unrelated judges of the same habits would share as much."
    return verdict, f"{result.sentence()} {text}"


def _five(numbers: Mapping[str, float]) -> str:
    return " / ".join(_coefficient(float(v)) for v in numbers.values())


def _coefficient(value: float) -> str:
    """As the paper prints its coefficients: three decimals."""
    return apa_number(value, digits=3, bounded=True)


_ARENA, _ARENA_LAST = PAPER_JUDGES[:2], PAPER_JUDGES[2]
_FEWEST = 3
"""Questions that a paired comparison needs."""


def _index_cells(cells: Sequence[Cell]) -> dict[tuple[str, str], dict[float, Cell]]:
    """Judge and benchmark to temperature to cell, T > 0."""
    out: dict[tuple[str, str], dict[float, Cell]] = {}
    for c in sorted(sampled_cells(cells), key=lambda c: c.temperature):
        out.setdefault((c.judge, c.benchmark), {})[c.temperature] = c
    return out


def _own_category(cell: Cell) -> Objects:
    return np.where(cell.read == "", np.where(cell.verdicts == "", "", "(none)"), cell.read)


def _disagreement_on(items: Sequence[str], cell: Cell) -> Floats:
    rows = [cell.items.index(item) for item in items]
    return disagreement(_own_category(cell)[rows])


def temperatures(cells: Sequence[Cell], options: Options) -> Claim:
    """The best temperature depends on judge and task."""
    about = Claim(
        id="temperature",
        claim="Which temperature is best depends on judge and task.",
        published="the largest omega of a row of Table 2 is at different temperatures",
        test_then="none: the largest omega above T = 0 is read off",
        test_now="Friedman's test over temperatures above 0 on each question's share of "
        "disagreeing pairs, questions as blocks; reliability of one verdict by temperature",
    )
    strata = {k: v for k, v in _index_cells(cells).items() if len(v) > 2}
    if not strata:
        return about.not_examined("fewer than three temperatures above 0")
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
    return about.examined(
        reproduced=f"largest omega above 0 at {', '.join(tops) or 'no temperature: undefined'}",
        verdict=verdict,
        because=f"In {coldest} of {n} pairs of judge and benchmark repetitions disagree least at "
        "the lowest temperature above 0; the temperatures differ at the "
        f"{apa_number(1 - options.level, bounded=True)} level in {len(shown)} of {n} (unadjusted).",
        results=tuple(results),
    )


def judges_ranked(cells: Sequence[Cell], options: Options) -> Claim:
    """Reliability ranks judges opposite to the arena."""
    about = Claim(
        id="judges",
        claim="Reliability ranks the judges opposite to their arena rank.",
        published="omegas of Table 2: Gemma highest, Starling (first in the arena) lower",
        test_then="none: omegas are compared by eye",
        test_now="Wilcoxon's test on each question's share of disagreeing pairs, Gemma against the "
        "better-ranked judge, paired by question",
    )
    by = _index_cells(cells)
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
        return about.not_examined(missing)
    n = len(results)
    decided = "stands in part" if better and not worse else "open"
    if worse and worse >= better:
        decided = "does not stand"
    return about.examined(
        verdict=decided,
        because=f"In {better} of {n} comparisons Gemma repeats itself more consistently at the "
        f"{apa_number(1 - options.level, bounded=True)} level (unadjusted), in {worse} less. "
        "That it repeats itself says nothing of whether it is right, and three judges are too "
        "few to speak of a rank correlation.",
        results=tuple(results),
    )


def benchmarks_compared(cells: Sequence[Cell]) -> Claim:
    """SQuAD is judged less reliably than BBH."""
    about = Claim(
        id="benchmarks",
        claim="Answers to SQuAD are more accurate than those to BBH, yet judged less reliably.",
        published="Table 2: omega lower on SQuAD than on BBH",
        test_then="none: omegas are compared by eye",
        test_now="reliability of one verdict with interval over questions, by benchmark",
    )
    by: dict[tuple[str, float], dict[str, Cell]] = {}
    for c in sampled_cells(cells):
        by.setdefault((c.judge, c.temperature), {})[c.benchmark] = c
    pairs = [(v["BBH"], v["SQuAD"]) for v in by.values() if {"BBH", "SQuAD"} <= set(v)]
    if not pairs:
        return about.not_examined("BBH and SQuAD are not both there")
    lower_then = sum(s.omega.estimate < b.omega.estimate for b, s in pairs)
    lower_null = sum(
        s.omega.null.mean < b.omega.null.mean
        for b, s in pairs
        if s.omega.null is not None and b.omega.null is not None
    )
    lower_now = sum(s.one.estimate < b.one.estimate for b, s in pairs)
    lower, higher = (
        sum(_is_lower(*(c.one for c in (pair if way else pair[::-1]))) for pair in pairs)
        for way in (True, False)
    )
    n = len(pairs)
    verdict = "stands" if lower == n else "does not stand" if higher > lower else "open"
    return about.examined(
        reproduced=f"omega lower on SQuAD in {lower_then} of {n} cells",
        verdict=verdict,
        because=f"The null of the published omega is itself lower on SQuAD in {lower_null} of {n} "
        f"cells{_fewer_questions(pairs)}. One verdict's reliability is lower on SQuAD in "
        f"{lower_now} of {n}, with intervals that do not overlap in {lower}, and higher with such "
        f"intervals in {higher}. Whether the answers are more accurate the verdicts cannot say.",
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


def _is_lower(first: Estimate, second: Estimate) -> bool:
    """Whether the second lies below the first with intervals that do not overlap."""
    a, b = first.interval, second.interval
    return a is not None and b is not None and b.high < a.low
