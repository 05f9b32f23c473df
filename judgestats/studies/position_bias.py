"""Position bias of pairwise judges (arXiv 2406.07791): order taken apart from repetition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from judgestats.analysis.summary_rows import ranked
from judgestats.arrays import Ints, Objects
from judgestats.errors import InputError
from judgestats.results.numbers import apa_p
from judgestats.stats.agreement.position import (
    first_position_preference,
    position_and_noise,
    swap_consistency,
)
from judgestats.stats.agreement.raw_agreement import percent_agreement
from judgestats.stats.comparison.rank_correlation import spearman_correlation
from judgestats.stats.inference.multiplicity import p_adjust
from judgestats.stats.inference.result import Estimate, Estimates, TestResult
from judgestats.studies.claims import (
    Claim,
    Options,
    Replication,
    Study,
    bounded,
    file_of,
    now,
    table_of,
    then,
)

_COLUMNS = ("bench", "judge", "rep", "cmp_index", "ans")
_STABLE = 0.85
"""What the study calls stable."""
_WON = {"a": 1.0, "b": 0.0, "tie": 0.5}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A judge on a benchmark: the answer preferred in each order, pairs x repetitions."""

    judge: str
    bench: str
    first: Objects
    second: Objects
    question: Ints
    pairs: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Judge and benchmark."""
        return f"{self.judge}, {self.bench}"


def read_cells(folder: Path) -> list[Cell]:
    """The judges and benchmarks of a folder.

    Raises
    ------
    InputError
        If there is no table of verdicts, or it is damaged.
    """
    path = file_of(folder, "repetition_verdicts.csv", study="the position bias judgments")
    frame = table_of(path, _COLUMNS)
    strange = sorted(set(frame["ans"]) - {"A", "B", "C", ""})
    if strange:
        raise InputError(f"replicate: {path.name}: {strange[0]!r} is none of A, B, C and empty.")
    parts = frame["cmp_index"].str.split(";", expand=True)
    if parts.shape[1] != 3 or parts.isna().to_numpy().any():
        raise InputError(f"replicate: {path.name}: cmp_index must be question;answer;answer.")
    low = parts[1].where(parts[1] < parts[2], parts[2])
    high = parts[2].where(parts[1] < parts[2], parts[1])
    straight = parts[1] == low
    chosen = frame["ans"].map({"A": 0, "B": 1})
    preferred = pd.Series(np.where(chosen.eq(0) == straight, "a", "b"), index=frame.index)
    preferred_model = preferred.where(chosen.notna(), frame["ans"].map({"C": "tie"}))
    table = pd.DataFrame(
        {
            "bench": frame["bench"],
            "judge": frame["judge"],
            "rep": frame["rep"],
            "pair": list(zip(parts[0], low, high, strict=True)),
            "straight": straight,
            "preferred": preferred_model.astype(object).where(preferred_model.notna(), None),
        }
    )
    cells = []
    for (bench, judge), own in table.groupby(["bench", "judge"], sort=True):
        orders = [
            own[own["straight"] == s].pivot(index="pair", columns="rep", values="preferred")
            for s in (True, False)
        ]
        pairs = sorted(set(orders[0].index) & set(orders[1].index))
        first, second = (o.loc[pairs].to_numpy(dtype=object) for o in orders)
        cells.append(
            Cell(
                judge=str(judge),
                bench=str(bench),
                first=first,
                second=second,
                question=pd.factorize(pd.Series([p[0] for p in pairs]))[0],
                pairs=tuple((p[1], p[2]) for p in pairs),
            )
        )
    return cells


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a cell shows."""

    cell: Cell
    stable: tuple[Estimate, Estimate]
    consistent: Estimate
    split: Estimates
    lean: TestResult

    @property
    def position(self) -> Estimate:
        """What order adds."""
        return self.split["position_effect"]

    @property
    def noise(self) -> Estimate:
        """Two judgments in the same order differ."""
        return self.split["repetition_noise"]

    @property
    def p(self) -> float:
        """That order adds nothing."""
        null = self.position.null
        return float("nan") if null is None else null.p_value

    @property
    def clear(self) -> bool:
        """Whether the interval lies above what is declared to matter."""
        at = self.position.interval
        return at is not None and at.low > 0


def _measured(cell: Cell, options: Options) -> Measured:
    return Measured(
        cell=cell,
        stable=(
            percent_agreement(cell.first, cluster=cell.question, level=options.level),
            percent_agreement(cell.second, cluster=cell.question, level=options.level),
        ),
        consistent=swap_consistency(
            cell.first, cell.second, cluster=cell.question, level=options.level
        ),
        split=position_and_noise(
            cell.first,
            cell.second,
            cluster=cell.question,
            level=options.level,
            n_permutations=options.n_resamples,
            seed=options.seed,
        ),
        lean=first_position_preference(
            cell.first, cell.second, cluster=cell.question, level=options.level
        ),
    )


def _format_value(e: Estimate) -> str:
    return e.apa().split(" = ", 1)[-1]


def _stable(cells: list[Measured]) -> Claim:
    low = [m for m in cells if min(e.estimate for e in m.stable) < _STABLE]
    values = [e.estimate for m in cells for e in m.stable]
    worst = min(cells, key=lambda m: min(e.estimate for e in m.stable))
    return Claim(
        id="stable",
        claim="Judges repeat themselves: position bias is not due to random variation.",
        published=f"repetition stability above {bounded(_STABLE, digits=2)} for capable judges",
        test_then="share of repetitions that agree with the commonest",
        test_now="agreement of two repetitions in the same order, over questions",
        reproduced=f"{bounded(min(values))} to {bounded(max(values))}",
        verdict="stands" if not low else "stands in part",
        because=f"In {len(cells) - len(low)} of {len(cells)} cells two repetitions agree in at "
        f"least {bounded(_STABLE, digits=2)} of the pairs in both orders; the least is "
        f"{bounded(min(e.estimate for e in worst.stable))} ({worst.cell.name}). What is left is "
        "noise that an agreement after the swap alone would book as bias.",
        results=tuple(
            now(f"stable.now.{m.cell.name}.{order}", f"{m.cell.name}, {order} order", e)
            for m in cells
            for order, e in zip(("one", "other"), m.stable, strict=True)
        ),
    )


def _position(cells: list[Measured]) -> Claim:
    adjusted = p_adjust([m.p for m in cells], method="holm")
    shown = [m for m, p in zip(cells, adjusted, strict=True) if p < 0.05]
    largest = max(cells, key=lambda m: m.position.estimate)
    least = min(cells, key=lambda m: m.position.estimate)
    return Claim(
        id="position",
        claim="Position bias is there in every judge.",
        published="position consistency well below repetition stability; no test",
        test_then="share of pairs with the same winner after the swap",
        test_now="disagreement that order adds to repetition, permutation within pairs, Holm over "
        "cells",
        reproduced=f"position consistency {bounded(min(m.consistent.estimate for m in cells))} to "
        f"{bounded(max(m.consistent.estimate for m in cells))}",
        verdict="stands" if len(shown) == len(cells) else "stands in part",
        because=f"Order adds to repetition in {len(shown)} of {len(cells)} cells after Holm; most "
        f"in {largest.cell.name} ({_format_value(largest.position)}), least in {least.cell.name} "
        f"({_format_value(least.position)}, {apa_p(least.p)}).",
        results=tuple(
            now(f"position.now.{m.cell.name}", f"What order adds, {m.cell.name}",
                m.position, primary=True)
            for m in cells
        ),
    )  # fmt: skip


def _inflated(cells: list[Measured]) -> Claim:
    """How much of the disagreement after a swap is noise."""
    shares = {
        m.cell.name: m.noise.estimate / m.split["order_disagreement"].estimate
        for m in cells
        if m.split["order_disagreement"].estimate > 0
    }
    half = [n for n, s in shares.items() if s > 0.5]
    return Claim(
        id="inflated",
        claim="1 minus position consistency measures position bias.",
        published="position consistency is the measure of bias",
        test_then="share of pairs whose winner changes with the order",
        test_now="share of that disagreement which repeating the same order shows as well",
        reproduced="",
        verdict="does not stand" if half else "stands in part",
        because=f"Of the disagreement between orders {100 * min(shares.values()):.0f} to "
        f"{100 * max(shares.values()):.0f} % is there without any swap "
        f"(median {100 * float(np.median(list(shares.values()))):.0f} %); in {len(half)} of "
        f"{len(shares)} cells it is more than half.",
        results=tuple(
            now(f"inflated.now.{m.cell.name}", f"Repetition noise, {m.cell.name}", m.noise)
            for m in cells
        ),
    )


def _judges(cells: list[Measured]) -> Claim:
    """Whether GPT-4 models are fairer, and whether they lean."""
    leaning = p_adjust([m.lean.p_value for m in cells], method="holm")
    sides = {
        m.cell.name: float(m.lean.effects[1].estimate)
        for m, p in zip(cells, leaning, strict=True)
        if p < 0.05
    }
    four = [m.position.estimate for m in cells if m.cell.judge.startswith("gpt-4")]
    rest = [m.position.estimate for m in cells if not m.cell.judge.startswith("gpt-4")]
    late = sum(s < 0.5 for s in sides.values())
    return Claim(
        id="lean",
        claim="Judges differ in which place they prefer.",
        published="preference fairness by judge: primacy for some, recency for others",
        test_then="preference fairness score, no test",
        test_now="share of decided verdicts for the first place, exact over questions, Holm over "
        "cells",
        reproduced="",
        verdict="stands" if 0 < late < len(sides) else "stands in part" if sides else "open",
        because=f"A side is shown in {len(sides)} of {len(cells)} cells, the second in {late}: "
        + ", ".join(f"{n} {bounded(s, digits=2)}" for n, s in sides.items())
        + f" for the first.{_families(four, rest)}",
        results=tuple(
            now(f"lean.now.{m.cell.name}", f"Which place, {m.cell.name}", m.lean) for m in cells
        ),
    )


def _families(four: list[float], rest: list[float]) -> str:
    """What order adds, GPT-4 models beside the others, where both were asked."""
    if not four or not rest:
        return ""
    return (
        f" What order adds is {bounded(float(np.mean(four)))} on average for GPT-4 models and "
        f"{bounded(float(np.mean(rest)))} for the others."
    )


def _gap(cells: list[Measured], options: Options) -> Claim:
    """Whether near pairs are judged by position."""
    gaps, moved = _gaps_and_moves(cells)
    test = spearman_correlation(gaps, moved, level=options.level)
    return Claim(
        id="gap",
        claim="Position bias is strong where the two answers are about equally good.",
        published="position consistency falls as the quality gap closes",
        test_then="regression on the gap between answerers' overall win rates",
        test_now="rank correlation, over pairs of answerers, of the gap between overall win rates "
        "with the share of verdicts that follow the order",
        reproduced="",
        verdict="stands" if test.p_value < 0.05 and test.statistic is not None and _r(test) < 0
        else "open",
        because=f"{test.apa()} over {len(gaps)} pairs of answerers and benchmarks. The gap is "
        "estimated from the same verdicts, as in the study, which ties it to consistency.",
        results=(then("gap.then", "Gap and share that follows the order", test),),
    )  # fmt: skip


def _r(test: TestResult) -> float:
    return float(test.effects[0].estimate)


def _gaps_and_moves(cells: list[Measured]) -> tuple[list[float], list[float]]:
    """A pair of answerers on a benchmark: distance of win rates, share that follows order."""
    wins: dict[tuple[str, str], list[float]] = {}
    follow: dict[tuple[str, str, str], list[float]] = {}
    for m in cells:
        cell = m.cell
        for i, (a, b) in enumerate(cell.pairs):
            both = [*cell.first[i], *cell.second[i]]
            won = [_WON[v] for v in both if v in _WON]
            if not won:
                continue
            wins.setdefault((cell.bench, a), []).append(float(np.mean(won)))
            wins.setdefault((cell.bench, b), []).append(1 - float(np.mean(won)))
            changed = [
                x != y for x in cell.first[i] for y in cell.second[i] if x in _WON and y in _WON
            ]
            if changed:
                follow.setdefault((cell.bench, a, b), []).append(float(np.mean(changed)))
    rate = {k: float(np.mean(v)) for k, v in wins.items()}
    gaps = [abs(rate[bench, a] - rate[bench, b]) for bench, a, b in follow]
    return gaps, [float(np.mean(v)) for v in follow.values()]


def examine(folder: Path, options: Options) -> Replication:
    """Every claim of the study, on the verdicts of a folder.

    Parameters
    ----------
    folder : Path
        With ``repetition_verdicts.csv`` (``.gz``): bench, judge, rep, cmp_index
        (question;answer;answer as shown) and ans (A, B, C for a tie, empty where unread).
    options : Options

    Returns
    -------
    Replication
    """
    cells = [_measured(cell, options) for cell in read_cells(folder)]
    return Replication(
        study="position_bias",
        title="Position bias of nine judges (arXiv 2406.07791), re-examined",
        question="How much does the order of two answers change, beyond what asking again changes?",
        claims=(
            _stable(cells),
            _position(cells),
            _inflated(cells),
            _judges(cells),
            _gap(cells, options),
        ),
        conditions=pd.DataFrame([_row(m) for m in cells]),
        drawing=ranked(
            "position_effect",
            "repetition_noise",
            caption="Disagreement that order adds, and that asking again in the same order shows, "
            "by judge and benchmark.",
        ),
        data_source="the study's verdicts: both orders, three repetitions",
        limitations=(
            "24 and 18 questions: intervals are over questions, the study's sets are larger.",
        ),
    )


def _row(m: Measured) -> Mapping[str, object]:
    cells: dict[str, object] = {
        "condition": m.cell.name,
        "judge": m.cell.judge,
        "factor_bench": m.cell.bench,
        "n_items": len(m.cell.pairs),
    }
    for name, e in (
        ("position_effect", m.position),
        ("repetition_noise", m.noise),
        ("swap_consistency", m.consistent),
    ):
        at = e.interval
        cells |= {
            name: e.estimate,
            f"{name}_low": at.low if at else np.nan,
            f"{name}_high": at.high if at else np.nan,
        }
    return cells


STUDY = Study(
    name="position_bias",
    title="Position apart from noise",
    source="arXiv 2406.07791; github.com/Slimshilin/Position-Bias-Analyzer",
    layout="`repetition_verdicts.csv.gz`: bench, judge, rep, cmp_index, task, ans",
    examine=examine,
)
