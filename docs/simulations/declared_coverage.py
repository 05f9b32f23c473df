"""Coverage of the intervals of declared designs, further false claims, and power against 0.2.

Writes declared_coverage.csv next to this file; some 20 minutes on one core:

    python docs/simulations/declared_coverage.py                # 1,000 data sets per cell
    python docs/simulations/declared_coverage.py --sets 25      # a glance
    python docs/simulations/declared_coverage.py --earlier DIR  # with the power of version 0.2

DIR holds the package of version 0.2 (``git archive 7eeb0c65 judgestats | tar -x -C DIR``); without
it the rows of that version are kept. ``--only REGIME`` draws one regime and keeps the others.

``coverage``: of data sets with an interval, those that hold the truth. ``given``: data sets with
an interval. ``rate``: a claim is false. ``power``: a true difference is found, by this version and
by version 0.2.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from declared_design import ITEMS, NOISE, QUESTIONS, SCALE, scores
from tables import write_rows

from judgestats.stats import (
    copied_items,
    gmd_ratio,
    icc,
    labels_gained,
    leniency,
    mean_shift,
    panel_gain,
    recoding_loss,
    repeat_pairs,
    run_change,
    run_component,
)
from judgestats.stats.dispersion.condition_summary import condition_summary
from judgestats.stats.reliability import MeanSquareRatio
from judgestats.stats.robustness.levels import SHORTER

Found = dict[tuple[str, str], float]
Cell = Callable[[np.random.Generator], Found]
MANY = 40_000
"""Items of the sample that stands for the truth."""


def coverage_of(name: str, ends: object, truth: float) -> Found:
    """Whether there is an interval, and whether it holds the truth."""
    low, high = getattr(ends, "low", math.nan), getattr(ends, "high", math.nan)
    if math.isnan(low) or math.isnan(high):
        return {(name, "given"): 0.0}
    near = 1e-9 * max(abs(truth), 1.0)
    return {(name, "given"): 1.0, (name, "coverage"): float(low - near <= truth <= high + near)}


def repeats_of(kind: str, rng: np.random.Generator, items: int, repeats: int) -> np.ndarray:
    """Scores of one judge: middle of 1-10, 1-5, 95% tens, 60% tens, wild replies."""
    z, noise = rng.normal(size=(items, 1)), rng.normal(size=(items, repeats))
    if kind == "95% tens":
        levels = np.array([1.0, 5.0, 8.0, 9.0, 10.0])
        return levels[np.searchsorted([-1.9, -1.0, -0.55, 0.0], 2.33 + z + noise)]
    if kind == "60% tens":
        return np.clip(np.round(9.9 + 1.3 * z + 0.7 * noise), *SCALE)
    if kind == "1-5":
        spread = 0.6 * np.exp(0.3 * rng.normal(size=(items, 1)))
        return np.clip(np.round(3.8 + 0.8 * z + spread * noise), 1, 5)
    x = np.clip(np.round(6.5 + 1.5 * z + NOISE * noise), *SCALE)
    wild = float(kind.partition("%")[0]) / 100 if "wild" in kind else 0.0
    return np.where(rng.random(x.shape) < wild, rng.integers(1, 11, x.shape), x)


@cache
def truths(kind: str) -> dict[str, float]:
    """What the statistics of one judge's repeats estimate."""
    x = repeats_of(kind, np.random.default_rng(3), MANY, 20)
    many = repeat_pairs(x, scale=(1, 5) if kind == "1-5" else SCALE)
    shown = {"SEM": many.sem(), "core SEM": many.core_sem(), "far share": many.far_share(),
             "GMD": many.gmd(), "ICC(1,1)": many.icc()}  # fmt: skip
    return {name: limits.estimate for name, limits in shown.items()}


def repeats(kind: str, items: int, n: int) -> Cell:
    """The intervals of one judge's repeats."""
    truth = truths(kind)

    def simulate(rng: np.random.Generator) -> Found:
        scale = (1, 5) if kind == "1-5" else SCALE
        pairs = repeat_pairs(repeats_of(kind, rng, items, n), scale=scale)
        found: Found = {}
        for name, limits in (
            ("SEM", pairs.sem()), ("SEM, tail bound", pairs.sem_tail()),
            ("core SEM", pairs.core_sem()), ("far share", pairs.far_share()),
            ("GMD", pairs.gmd()), ("ICC(1,1)", pairs.icc()),
            ("ICC(1,1), tail bound", pairs.icc(tail=True)),
        ):  # fmt: skip
            statistic, ends = name.partition(", tail")[0], limits
            if statistic == "ICC(1,1)" and pairs.icc_refusal:
                ends = replace(limits, low=math.nan)
            elif statistic == "ICC(1,1)" and pairs.mode_share >= 0.5:  # the lower limit alone
                ends = replace(limits, high=1.0 + 0 * limits.low)
            found |= coverage_of(name, ends, truth[statistic])
        return found

    return simulate


@cache
def run_truths(shift: float) -> tuple[float, float, float]:
    """Mean, SEM, and ICC of repeats in any run, by simulation of single repeats in own runs."""
    rng = np.random.default_rng(5)
    means = rng.normal(6.5, 1.5, size=(MANY, 1))
    noise = rng.normal(size=(MANY, 20)) + shift * rng.normal(size=(MANY, 20))
    pairs = repeat_pairs(np.clip(np.round(means + NOISE * noise), *SCALE), scale=SCALE)
    return float(pairs.mean.mean()), pairs.sem().estimate, pairs.icc().estimate


def runs(shift: float, n: int) -> Cell:
    """Means, their difference, SEM, and ICC where runs share shifts."""
    mean, sem, reliability = run_truths(shift)

    def simulate(rng: np.random.Generator) -> Found:
        x = scores(rng, 2, n, shift=shift)
        component = run_component(x)
        [row] = mean_shift(x, runs=component).rows
        found = coverage_of("difference of means", row.interval, 0.0)
        summary = condition_summary(x, conditions=["a", "b"], runs=component)
        own = component.for_judges(0)
        where = f" in {own.target}" if own.target else ""
        found |= coverage_of(f"mean{where}", summary["a"].mean.interval, mean)
        if own.is_random:
            ratio = MeanSquareRatio.from_scores(x[:, 0], None, residual=True)
            found |= coverage_of("SEM, runs random", ratio.sem_limits(), sem)
            found |= coverage_of("ICC(1,1), runs random", ratio.random_judges(), reliability)
        else:
            pairs = repeat_pairs(x[:, 0], scale=SCALE)
            if own.is_identified:
                found |= coverage_of("SEM, no run effect found", pairs.sem(), sem)
                found |= coverage_of("ICC(1,1), no run effect found", pairs.icc(), reliability)
        return found

    return simulate


def judges(n: int, *, other: bool) -> Cell:
    """ICC(2,1) of other judges, ICC(A,1) of these, where items vary unequally."""

    def simulate(rng: np.random.Generator) -> Found:
        level = 0.5 * (rng.normal(size=n) if other else np.linspace(-1, 1, n))
        spread = 0.8 * np.exp(0.7 * rng.normal(size=(ITEMS, 1)))
        x = rng.normal(size=(ITEMS, 1)) + level + spread * rng.normal(size=(ITEMS, n))
        noise = 0.64 * math.exp(2 * 0.49)
        between = 0.25 if other else float(np.var(level, ddof=1))
        truth, form = 1 / (1 + between + noise), "ICC(2,1)" if other else "ICC(A,1)"
        return coverage_of(form, icc(x, form=form, n_permutations=0).interval, truth)

    return simulate


def judges_with_repeats(n: int, times: int) -> Cell:
    """ICC(A,1), the agreement in one judgment, from means of repeats of unequal variance."""

    def simulate(rng: np.random.Generator) -> Found:
        level = 0.5 * np.linspace(-1, 1, n)
        spread = 0.8 * np.exp(0.7 * rng.normal(size=(ITEMS, 1, 1)))
        own = rng.normal(size=(ITEMS, 1)) + level + 0.4 * rng.normal(size=(ITEMS, n))
        x = own[:, :, None] + spread * rng.normal(size=(ITEMS, n, times))
        noise = 0.4**2 + 0.64 * math.exp(2 * 0.49)
        truth = 1 / (1 + float(np.var(level, ddof=1)) + noise)
        found = icc(x, form="ICC(A,1)", n_permutations=0)
        return coverage_of("ICC(A,1)", found.interval, truth)

    return simulate


def ratios(times: float, *, questions: bool) -> Cell:
    """GMD ratio of two judges whose noise is in this ratio, not rounded."""
    codes = QUESTIONS if questions else np.arange(ITEMS)

    def simulate(rng: np.random.Generator) -> Found:
        spread = np.exp(0.5 * rng.normal(size=(codes.max() + 1, 1, 1)))[codes]
        x = spread * np.array([1.0, times])[:, None] * rng.normal(size=(codes.size, 2, 5))
        [row] = gmd_ratio(x, cluster=codes).rows
        return coverage_of("GMD ratio", row.interval, times)

    return simulate


def effects_of_judges(rng: np.random.Generator) -> Found:
    """Leniency of three judges that differ, repeats missing at random."""
    truth = np.array([0.3, 0.0, -0.3])
    x = rng.normal(6, 1, (ITEMS, 1, 1)) + truth[:, None] + NOISE * rng.normal(size=(ITEMS, 3, 3))
    x[rng.random(x.shape) < 0.1] = np.nan
    terms = leniency(x).terms
    inside = [coverage_of("", e.interval, t).get(("", "coverage"), 0.0)
              for e, t in zip(terms, truth, strict=True)]  # fmt: skip
    return {("leniency, all judges at once", "coverage"): float(all(inside))}


def panels(labels: int, accuracies: tuple[float, ...]) -> Cell:
    """Panel minus its best member, members right independently."""
    members = np.random.default_rng(1).random((1_000_000, len(accuracies))) < accuracies
    share = members.mean(axis=1)
    truth = float(np.mean((share > 0.5) + 0.5 * (share == 0.5))) - max(accuracies)

    def simulate(rng: np.random.Generator) -> Found:
        own = rng.random((labels, len(accuracies))) < accuracies
        right = own.mean(axis=1)
        gain = panel_gain((right > 0.5) + 0.5 * (right == 0.5), own)
        return coverage_of("panel minus its best member", gain.interval, truth)

    return simulate


def gains(labels: int, *, passes: bool) -> Cell:
    """Labels gained by a judge of 1,000 items."""

    def pair(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        human = rng.normal(size=n)
        judge = human + rng.normal(size=n)
        return (judge > -1.0, human > -0.7) if passes else (judge, human)

    r = np.corrcoef(*(v.astype(float) for v in pair(np.random.default_rng(2), 1_000_000)))[0, 1]
    truth = labels * (1 / (1 - r**2 * (1 - labels / 1000)) - 1)

    def simulate(rng: np.random.Generator) -> Found:
        judge, human = (v.astype(float) for v in pair(rng, 1000))
        human[labels:] = np.nan
        return coverage_of("labels gained", labels_gained(judge, human).interval, truth)

    return simulate


def shorter(items: int, n: int) -> Cell:
    """Loss by neighbours in pairs, and the share of claims that five levels suffice."""
    big = recoding_loss(repeats_of("mid", np.random.default_rng(4), MANY, 10))

    def simulate(rng: np.random.Generator) -> Found:
        loss = recoding_loss(repeats_of("mid", rng, items, n))
        told = any(note.code == SHORTER for note in loss.notes)
        found = coverage_of("loss by a shorter scale", loss.interval, big.estimate)
        return found | {("a shorter scale would do", "rate"): float(told and big.estimate > 0.05)}

    return simulate


def no_copies(judges_: int, n: int, shift: float) -> Cell:
    """Items that are not copies."""

    def simulate(rng: np.random.Generator) -> Found:
        x = scores(rng, judges_, n, shift=shift)
        item, cell, run = (a.ravel() for a in np.indices(x.shape))
        found = copied_items(x.ravel(), item.astype(str), run, cell=cell)
        return {("copies", "rate"): float(found.details["shown"])}

    return simulate


def drift_of_means(*, questions: bool) -> Cell:
    """Change between two runs on items like these, item x run noise included."""
    codes = QUESTIONS if questions else np.arange(ITEMS)

    def simulate(rng: np.random.Generator) -> Found:
        common = 0.3 * NOISE * rng.normal(size=(2, codes.max() + 1, 1))
        sides = [common[s][codes] + NOISE * rng.normal(size=(codes.size, 3)) for s in (0, 1)]
        sides[1] += 0.2
        found = run_change(*sides, kind="scores", cluster=codes)
        return coverage_of("change of the mean, new items", found.effect.interval, 0.2)

    return simulate


_EARLIER = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from judgestats.stats import mean_shift, run_change, spread_test
data = np.load(sys.argv[2])
x, codes = data["x"], data["codes"]
p = lambda found: float(found.rows[0].p_value)
out = [(p(mean_shift(one, cluster=codes)),
        float(spread_test(one, cluster=codes, n_resamples=99, n_permutations=999).p_value),
        float(run_change(one[:, 0], one[:, 1], kind="scores", cluster=codes,
                         n_permutations=199).p_value)) for one in x]
print(json.dumps(out))
"""
CLAIMS = ("means differ", "one varies more", "changed, new items", "changed, these items")


def difference(rng: np.random.Generator) -> np.ndarray:
    """Two judges whose interleaved repeats differ in mean and spread."""
    means = rng.normal(6.5, 1.5, size=(ITEMS, 1, 1))
    spread = NOISE * np.array([1.0, 1.3])[:, None]
    x = means + np.array([0.0, 0.2])[:, None] + spread * rng.normal(size=(ITEMS, 2, 5))
    return np.clip(np.round(x), *SCALE)


def powers(clustered: bool, sets: int, earlier: str) -> Iterator[tuple[str, str, float]]:
    """Claim, version, and power; those of version 0.2 only with its tree."""
    codes = np.arange(ITEMS) // 5 if clustered else np.arange(ITEMS)
    samples = [difference(np.random.default_rng([20261129, 900, s])) for s in range(sets)]
    found = []
    for x in samples:
        declared = run_component(x, cluster=codes, interleaved=True)
        [mean] = mean_shift(x, runs=declared, cluster=codes).rows
        [ratio] = gmd_ratio(x, runs=declared, cluster=codes).rows
        sides = {"before": x[:, 0], "after": x[:, 1], "kind": "scores", "cluster": codes}
        change, here = run_change(**sides), run_change(**sides, target="these items")
        found.append((mean.p_value, ratio.p_value, change.p_value, here.p_value))
    yield from zip(CLAIMS, ["this version"] * 4, np.mean(np.array(found) <= 0.05, axis=0).tolist(),
                   strict=True)  # fmt: skip
    if earlier:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.npz"
            np.savez(path, x=np.array(samples), codes=codes)
            done = subprocess.run(
                [sys.executable, "-c", _EARLIER, earlier, str(path)], check=True, cwd=folder,
                stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        p = np.array(json.loads(done.stdout))[:, [0, 1, 2, 2]]  # of changes, these items alone
        yield from zip(CLAIMS, ["version 0.2"] * 4, np.mean(p <= 0.05, axis=0).tolist(),
                       strict=True)  # fmt: skip


def regimes() -> Iterator[tuple[str, str, Cell]]:
    """Name and cell of every regime."""
    for kind in ("mid", "1-5", "60% tens", "95% tens", "1% wild", "3% wild"):
        for items, n in ((40, 3), (40, 5), (100, 3)):
            yield "repeats", f"{kind}, {items} x {n}", repeats(kind, items, n)
    for shift in (0.0, 0.2, 0.4):
        for n in (3, 5, 10):
            yield "runs", f"SD {shift:.1f}, 2 judges x {n}", runs(shift, n)
    for n, other in ((3, True), (5, True), (2, False), (3, False), (5, False)):
        yield "judges", f"{n} {'of many' if other else 'these'}", judges(n, other=other)
    for times in (1.0, 1.4):
        for questions in (False, True):
            where = "12 questions of 1-40" if questions else f"{ITEMS} items"
            yield "dispersion", f"ratio {times}, {where}", ratios(times, questions=questions)
    yield "leniency", "3 judges x 3, 10% missing", effects_of_judges
    for labels in (60, 300):
        for members in ((0.8, 0.8), (0.85, 0.85, 0.75), (0.8, 0.8, 0.8, 0.8, 0.8)):
            yield "panel", f"{labels} labels, {members}", panels(labels, members)
    for labels in (30, 100):
        for passes in (False, True):
            kind = "pass / fail" if passes else "scores"
            yield "labels", f"{labels} of 1,000, {kind}", gains(labels, passes=passes)
    for items, n in ((60, 3), (200, 3)):
        yield "shorter scale", f"{items} x {n}", shorter(items, n)
    for judges_, n in ((1, 5), (2, 3), (3, 4)):
        for shift in (0.0, 0.4):
            yield "no copies", f"{judges_} x {n}, SD {shift}", no_copies(judges_, n, shift)
    for questions in (False, True):
        where = "12 questions of 1-40" if questions else f"{ITEMS} items"
        yield "drift", where, drift_of_means(questions=questions)
    for n, times in ((2, 3), (3, 2), (3, 5), (5, 3)):
        yield "judges with repeats", f"{n} these x {times}", judges_with_repeats(n, times)


def rates(sets: int, *, only: str = "", earlier: str = "") -> list[dict[str, object]]:
    """A row per regime, cell, and statistic."""
    rows: list[dict[str, object]] = []

    def add(regime: str, cell: str, what: str, measure: str, values: list[float]) -> None:
        mean = round(float(np.mean(values)), 4)
        rows.append({"regime": regime, "cell": cell, "statistic": what, "measure": measure,
                     "value": mean, "data_sets": len(values)})  # fmt: skip

    for place, (regime, cell, simulate) in enumerate(regimes()):
        if only and only not in regime:
            continue
        found = [simulate(np.random.default_rng([20261130, place, seed])) for seed in range(sets)]
        for what, measure in dict.fromkeys(key for one in found for key in one):
            values = [one[what, measure] for one in found if (what, measure) in one]
            add(regime, cell, what, measure, values)
        print(regime, cell, file=sys.stderr, flush=True)
    for clustered in (False, True):
        if only and only not in "interleaved":
            continue
        cell = "8 x 5" if clustered else f"{ITEMS} x 1"
        n = min(sets, 400)
        for claim, version, power in powers(clustered, n, earlier):
            rows.append({"regime": "interleaved", "cell": cell, "statistic": f"{claim}, {version}",
                         "measure": "power", "value": round(power, 4), "data_sets": n})  # fmt: skip
    return rows


def main() -> None:
    """Simulate every regime and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--only", default="")
    parser.add_argument("--earlier", default="")
    chosen = parser.parse_args(sys.argv[1:])
    rows = rates(chosen.sets, only=chosen.only, earlier=chosen.earlier)
    path = Path(__file__).with_name("declared_coverage.csv")
    if chosen.sets >= 1000 and path.exists():
        with path.open(encoding="utf-8") as file:
            known = list(csv.DictReader(file))
        made = {row["regime"] for row in rows}
        kept = [r for r in known if r["regime"] not in made or
                ("version 0.2" in r["statistic"] and not chosen.earlier)]  # fmt: skip
        order = list(dict.fromkeys([*(r["regime"] for r in known), *made]))
        rows = sorted([*kept, *rows], key=lambda r: order.index(r["regime"]))
    if chosen.sets >= 1000:
        write_rows("declared_coverage.csv", rows)
    for row in rows:
        print(*row.values(), sep="\t")


if __name__ == "__main__":
    main()
