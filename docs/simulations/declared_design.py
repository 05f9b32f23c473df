"""False claims under the regimes in which intervals over items alone fail.

Writes declared_design.csv next to this file; some ten minutes on one core:

    python docs/simulations/declared_design.py            # 400 data sets per cell
    python docs/simulations/declared_design.py --sets 25   # a glance

Judges are equal, or the two runs of drift are. Scores are 1-10 with noise of SD .7 within 40 items.
Each cell counts data sets. ``rate``: a claim is false. ``coverage``: an interval holds the truth.
``power``: a true difference is found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

import numpy as np
from tables import write_rows

from judgestats.stats import (
    copied_items,
    gmd_ratio,
    leniency,
    mean_shift,
    panel_gain,
    repeat_pairs,
    run_change,
    run_component,
)

SCALE = (1, 10)
ITEMS, NOISE = 40, 0.7
QUESTIONS = np.repeat(np.arange(12), [1, 1, 1, 2, 2, 3, 4, 6, 8, 12, 20, 40])
SHIFTS = (0.0, 0.1, 0.2, 0.25 / 0.7, 0.4)
Rates = dict[tuple[str, str], float]


def scores(
    rng: np.random.Generator,
    judges: int,
    repeats: int,
    *,
    items: int = ITEMS,
    shift: float = 0.0,
    wild: float = 0.0,
) -> np.ndarray:
    """Items x equal judges x repeats; shifts of runs in units of the noise."""
    means = rng.normal(6.5, 1.5, size=(items, 1, 1))
    runs = shift * rng.normal(size=(1, judges, repeats))
    noise = rng.normal(size=(items, judges, repeats))
    x = np.clip(np.round(means + NOISE * (runs + noise)), *SCALE)
    return np.where(rng.random(x.shape) < wild, 1.0, x)


def claims_of(x: np.ndarray, cluster: np.ndarray | None = None) -> Rates:
    """Whether equal judges are claimed to differ, and in what."""
    runs = run_component(x, cluster=cluster)
    rows = mean_shift(x, runs=runs, cluster=cluster).rows
    told = [r for r in rows if r.p_adjusted <= 0.05]
    of_runs = [r for r in told if r.details.get("target") == "these runs"]
    found = {
        ("means of the judges", "rate"): float(len(told) > len(of_runs)),
        ("means in these runs", "rate"): float(bool(of_runs)),
    }
    target = any(r.details.get("target") == "these runs" for r in rows)
    terms = leniency(x, runs=runs, cluster=cluster).terms
    lenient = any(
        e.interval is not None and not e.interval.low <= 0 <= e.interval.high for e in terms
    )
    found["leniency in these runs" if target else "leniency", "rate"] = float(lenient)
    ratios = [r for r in gmd_ratio(x, runs=runs, cluster=cluster).rows if r.p_adjusted <= 0.05]
    in_runs = [r for r in ratios if r.details["target"] == "these runs"]
    found["GMD ratio", "rate"] = float(len(ratios) > len(in_runs))
    found["GMD ratio in these runs", "rate"] = float(bool(in_runs))
    return found


def batches(shift: float, judges: int, repeats: int) -> Callable[[np.random.Generator], Rates]:
    """Repeats of one run share a shift."""
    return lambda rng: claims_of(scores(rng, judges, repeats, shift=shift))


def twice(judges: int, repeats: int, *, joined: bool) -> Callable[[np.random.Generator], Rates]:
    """Every item occurs twice, with the same replies."""

    def draw(rng: np.random.Generator) -> Rates:
        x = np.repeat(scores(rng, judges, repeats, items=ITEMS // 2), 2, axis=0)
        item, cell, run = (a.ravel() for a in np.indices(x.shape))
        if not joined:
            return claims_of(x)
        found = copied_items(x.ravel(), item.astype(str), run, cell=cell)
        codes = np.arange(len(x))
        for group in found.details["groups"] if found.details["shown"] else ():
            members = np.array(group, dtype=int)
            codes[members] = members.min()
        return claims_of(x, codes) | {("copies found", "power"): float(found.details["shown"])}

    return draw


def wild_replies(wild: float, repeats: int) -> Callable[[np.random.Generator], Rates]:
    """Some replies are canned: plain interval of the SEM, and tail bound."""
    many = np.random.default_rng(3)
    truth = repeat_pairs(scores(many, 1, 10, items=40_000, wild=wild)[:, 0], scale=SCALE).sem()

    def draw(rng: np.random.Generator) -> Rates:
        x = scores(rng, 2, repeats, wild=wild)
        pairs = repeat_pairs(x[:, 0], scale=SCALE)
        plain, tail = pairs.sem(), pairs.sem_tail()
        return {
            ("SEM, plain", "coverage"): float(plain.low <= truth.estimate <= plain.high),
            ("SEM, tail bound", "coverage"): float(tail.low <= truth.estimate <= tail.high),
            **claims_of(x),
        }

    return draw


def equal_members(labels: int, judges: int) -> Callable[[np.random.Generator], Rates]:
    """A panel whose members are two alike, and worse ones."""

    def draw(rng: np.random.Generator) -> Rates:
        right = rng.random((labels, 1)) < 0.85
        members = np.repeat(right, judges, axis=1)
        members[:, 2:] = rng.random((labels, judges - 2)) < 0.75
        panel = (members.mean(axis=1) > 0.5) + 0.5 * (members.mean(axis=1) == 0.5)
        gain = panel_gain(panel, members).interval
        alike = rng.random((labels, 2)) < 0.85
        pair = panel_gain(alike.mean(axis=1), alike).interval
        # Two alike decide three: the panel is its best member, and two that tie are their mean.
        return {
            ("panel better, two alike", "rate"): float(gain is not None and gain.low > 0),
            ("panel better, pair of equals", "rate"): float(pair is not None and pair.low > 0),
        }

    return draw


def unchanged_runs(noise: float, target: str) -> Callable[[np.random.Generator], Rates]:
    """The same judge on 12 questions of 1 to 40 items, noise of question x run."""

    def draw(rng: np.random.Generator) -> Rates:
        means = rng.normal(6.5, 1.5, size=(QUESTIONS.size, 1))
        sides = []
        for _ in range(2):
            of_question = noise * rng.normal(size=QUESTIONS[-1] + 1)[QUESTIONS][:, None]
            drift = NOISE * (of_question + rng.normal(size=(QUESTIONS.size, 3)))
            sides.append(np.clip(np.round(means + drift), *SCALE))
        found = run_change(*sides, kind="scores", target=target, cluster=QUESTIONS)
        return {(f"differ, {target}", "rate"): float(found.p_value <= 0.05)}

    return draw


def batched_sides(
    repeats: int, shift: float, change: float
) -> Callable[[np.random.Generator], Rates]:
    """Two runs of drift whose repeats share a shift, and a change in points of every item."""

    def draw(rng: np.random.Generator) -> Rates:
        x = scores(rng, 2, repeats, shift=shift)
        x[:, 1] = np.clip(np.round(x[:, 1] + change * (rng.random((ITEMS, repeats)) < 0.5)), *SCALE)
        runs = run_component(x)
        [row] = mean_shift(x, runs=runs).rows
        differs = run_change(x[:, 0], x[:, 1], kind="scores").p_value <= 0.05
        beyond = differs and not runs.target and row.p_value <= 0.05
        measure = "power" if change else "rate"
        return {
            ("differ in these runs", measure): float(differs and not beyond),
            ("differ", measure): float(beyond),
        }

    return draw


def real_difference(clustered: bool, shift: float) -> Callable[[np.random.Generator], Rates]:
    """Interleaved repeats of judges that differ: with and without the design of runs."""
    cluster = np.arange(ITEMS) // 5 if clustered else None

    def draw(rng: np.random.Generator) -> Rates:
        x = scores(rng, 2, 5)
        x[:, 1] = np.clip(np.round(x[:, 1] + shift * (rng.random((ITEMS, 5)) < 0.5)), *SCALE)
        declared = run_component(x, cluster=cluster, interleaved=True)
        found = {}
        for name, runs in (("interleaved", declared), ("items only", None)):
            [row] = mean_shift(x, runs=runs, cluster=cluster).rows
            found[f"means, {name}", "power"] = float(row.p_adjusted <= 0.05)
        noisy = run_component(x, cluster=cluster)
        [row] = mean_shift(x, runs=noisy, cluster=cluster).rows
        found["means, runs unknown", "power"] = float(row.p_adjusted <= 0.05)
        return found

    return draw


def regimes() -> Iterator[tuple[str, str, Callable[[np.random.Generator], Rates]]]:
    """Name and cell of every regime."""
    for judges in (2, 3):
        for repeats in (2, 3, 5, 10):
            for shift in SHIFTS:
                cell = f"{judges} judges x {repeats}, SD {shift:.2f}"
                yield "runs share a shift", cell, batches(shift, judges, repeats)
    for judges, repeats in ((3, 4), (2, 3)):
        for joined in (True, False):
            cell = f"{judges} judges x {repeats}, {'joined' if joined else 'kept as items'}"
            yield "every item twice", cell, twice(judges, repeats, joined=joined)
    for wild in (0.01, 0.03):
        for repeats in (3, 5):
            yield "wild replies", f"{wild:.0%}, {repeats} repeats", wild_replies(wild, repeats)
    for labels in (60, 300):
        yield "panel", f"{labels} labels, 3 members", equal_members(labels, 3)
    for noise in (0.0, 0.3):
        for target in ("new items", "these items"):
            cell = f"12 questions of 1-40, question x run {noise:.1f}, {target}"
            yield "drift", cell, unchanged_runs(noise, target)
    for clustered in (False, True):
        for shift in (0.25, 0.5):
            cell = f"{'8 x 5' if clustered else '40 x 1'}, difference {shift / 2:.2f} points"
            yield "interleaved", cell, real_difference(clustered, shift)
    for repeats in (2, 3, 5, 10):
        for shift, change in ((0.0, 0.0), (0.4, 0.0), (0.0, 0.5)):
            cell = f"{repeats} repeats a side, SD {shift:.1f}, change {change / 2:.2f} points"
            yield "sides share a shift", cell, batched_sides(repeats, shift, change)


def rates(sets: int, *, only: str = "") -> list[dict[str, object]]:
    """A row per regime, cell, and claim."""
    rows: list[dict[str, object]] = []
    for place, (regime, cell, drawn) in enumerate(regimes()):
        if only and only not in regime:
            continue
        found = [drawn(np.random.default_rng([20261129, place, seed])) for seed in range(sets)]
        for claim, measure in dict.fromkeys(key for one in found for key in one):
            values = [one[claim, measure] for one in found if (claim, measure) in one]
            rows.append(
                {
                    "regime": regime,
                    "cell": cell,
                    "claim": claim,
                    "measure": measure,
                    "value": float(np.mean(values)),
                    "data_sets": len(values),
                }
            )
    return rows


def main() -> None:
    """Simulate every regime and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args(sys.argv[1:])
    rows = rates(chosen.sets, only=chosen.only)
    if chosen.sets >= 400 and not chosen.only:
        write_rows("declared_design.csv", rows)
    for row in rows:
        print(*row.values(), sep="\t")


if __name__ == "__main__":
    main()
