"""Acceptance of decisions by simulation, with the package's own functions.

Writes decisions.csv next to this file, one row per cell with the bound that it must keep; some
forty minutes on one core (``--replicates`` of each cell, 1,000 by default):

    python docs/simulations/decisions.py --data FOLDER
    python docs/simulations/decisions.py --parts panel change   # the rest stays as it is

A row's `value` is a share of replicates; `bound` is the limit, which it may miss by two Monte Carlo
standard errors. Without ``--data`` the public sets are left out.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from label_designs import (
    NEEDED,
    bounds,
    draws,
    needed_share,
    public_sets,
    scored_sets,
    simulated_sets,
)
from numpy.typing import ArrayLike
from scipy import special, stats
from tables import write_rows

from judgestats.decisions import (
    StoppingRule,
    automation_certificate,
    cascade_certificate,
    effective_votes,
)
from judgestats.results.verdict import Demand, decide, share_measure
from judgestats.stats import repeat_pairs
from judgestats.stats.inference.distributions import proportion_limits
from judgestats.stats.validity.calibration import error_counts, joint_share
from judgestats.stats.validity.panels import (
    effective_judges,
    effective_judges_limits,
    subset_credit,
)
from judgestats.stats.validity.sequential import certify, change_look

ROWS: list[dict[str, object]] = []


def add_row(
    part: str, cell: str, measure: str, value: float, error: float, bound: str, kept: bool,
    replicates: int, digits: int = 4,
) -> None:  # fmt: skip
    """One row of the table."""
    ROWS.append({
        "part": part, "cell": cell, "measure": measure, "value": f"{value:.{digits}f}",
        "mc_se": f"{error:.4f}", "bound": bound, "kept": kept, "replicates": replicates,
    })  # fmt: skip
    print(*ROWS[-1].values(), sep=" | ", flush=True)


def add_share(part: str, cell: str, measure: str, values: ArrayLike, bound: str) -> None:
    """A mean over replicates, its Monte Carlo error, and whether it meets its limit."""
    x = np.asarray(values, dtype=float)
    value, error = float(x.mean()), math.sqrt(max(float(x.var()), 1e-9) / x.size)
    limit = float(bound[2:])
    kept = value <= limit + 2 * error if bound.startswith("<=") else value >= limit - 2 * error
    add_row(part, cell, measure, value, error, bound, kept, x.size)


def cutoff(reps: int) -> None:
    """Certified windows: TPR .9, TNR .8."""
    delta = joint_share(0.05, 2, independent=True)
    edge = float(stats.norm.ppf(0.9) + stats.norm.ppf(0.8))
    for d in (2.0, edge, 2.6, 3.2):
        for n in (100, 200, 400):
            rng = np.random.default_rng([31, n, int(1000 * d)])
            claims, false = [], []
            for _ in range(reps):
                y = rng.random(n) < 0.6
                counts = error_counts(rng.normal(size=n) + d * y, y, delta=delta)
                low, high = counts.window(0.9, 0.8)
                said = low <= high
                t = min(max(counts.youden, low), high) if said else math.nan
                bad = said and (stats.norm.sf(t - d) < 0.9 or stats.norm.cdf(t) < 0.8)
                claims.append(said)
                false.append(bool(bad))
            cell = f"separation {d:.3f} SD, n = {n}"
            add_share("cutoff", cell, "false claim", false, "<=.05")
            if d == 3.2 and n >= 200:
                add_share("cutoff", cell, "claims", claims, ">=.80" if n == 200 else ">=.98")
    for q in (20, 40, 80):
        rng = np.random.default_rng([32, q])
        wrong = []
        for _ in range(reps):
            codes = np.repeat(np.arange(q), 5)
            y = rng.random(5 * q) < 0.6
            noise = math.sqrt(0.4) * rng.normal(size=q)[codes]
            s = noise + math.sqrt(0.6) * rng.normal(size=5 * q) + (edge - 0.001) * y
            low, high = error_counts(s, y, codes, delta=0.025).window(0.9, 0.8)
            top = edge - 0.001 - stats.norm.ppf(0.9)
            wrong.append(bool(high > top or low < stats.norm.ppf(0.8)))
        add_share("cutoff", f"clusters of 5, ICC .4, Q = {q}", "a limit is wrong", wrong, "<=.05")
    rng = np.random.default_rng(33)
    wrong = []
    cuts = np.array([-0.9, 0.1, 1.1, 2.1])
    for _ in range(reps):
        y = rng.random(300) < 0.6
        s = 1.0 + np.searchsorted(cuts, rng.normal(size=300) + edge * y)
        low, high = error_counts(s, y, delta=delta).window(0.9, 0.8)
        tpr = {g: stats.norm.sf(c - edge) for g, c in zip((2, 3, 4, 5), cuts, strict=True)}
        tnr = {g: stats.norm.cdf(c) for g, c in zip((2, 3, 4, 5), cuts, strict=True)}
        is_wrong = (high in tpr and tpr[int(high)] < 0.9) or (low in tnr and tnr[int(low)] < 0.8)
        wrong.append(bool(is_wrong))
    add_share("cutoff", "grades 1 to 5, n = 300", "a limit is wrong", wrong, "<=.05")


def confidences(name: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Confidence, and whether the verdict is wrong."""
    if name == "calibrated":
        c = 0.5 + 0.5 * rng.beta(2.5, 0.8, n)
        rate = 1 - c
    elif name == "overconfident":
        c = 0.5 + 0.5 * rng.beta(5, 0.5, n)
        rate = 0.6 * (1 - c) ** 0.5 + 0.02
    elif name == "votes of 8":
        v = rng.binomial(8, rng.beta(3, 0.45, n))
        c = np.maximum(v, 8 - v) / 8
        wrong = np.where(v == 4, rng.random(n) < 0.5, v < 4) ^ (rng.random(n) < 0.03)
        return c, wrong
    elif name == "dip at the top":
        c = rng.random(n)
        rate = np.where(c > 0.92, 0.10, np.where(c > 0.4, 0.01, 0.3))
    else:
        c, rate = rng.random(n), np.full(n, float(name.rpartition(" ")[2]))
    return c, rng.random(n) < rate


SHARES: dict[str, tuple[float, float, float]] = {
    "calibrated": (0.092, 0.189, 0.387),
    "overconfident": (0.005, 0.010, 0.029),
    "votes of 8": (0.138, 0.209, 0.413),
    "no information, error .052": (0.013, 0.008, 0.003),
    "no information, error .10": (0.0, 0.0, 0.0),
    "dip at the top": (0.154, 0.146, 0.363),
}
"""Shares certified with 300, 600 and 1,200 labels in the study that chose the method."""


def automation(reps: int) -> None:
    """Certified shares with an error above 5%."""
    for name, known in SHARES.items():
        c, e = confidences(name, np.random.default_rng(5), 1_000_000)
        order = np.argsort(-c, kind="stable")
        sorted_c, rate = c[order], np.cumsum(e[order]) / np.arange(1, c.size + 1)
        distinct = np.unique(c)
        ranks = np.quantile(c, 1 - np.arange(1, 21) / 20)
        tested = distinct[::-1] if distinct.size <= 25 else ranks
        for n, before in zip((300, 600, 1200), known, strict=True):
            rng = np.random.default_rng([34, n])
            false, shares = [], []
            for _ in range(reps):
                own, wrong = confidences(name, rng, n)
                made = certify(own, wrong, tested, error=0.05, delta=0.05)
                k = 0
                if made.passed is not None:
                    k = int(np.searchsorted(-sorted_c, -made.threshold, "right"))
                truth = rate[k - 1] if k else 0.0
                if name.startswith("no information"):
                    truth = float(name.rpartition(" ")[2]) if k else 0.0
                false.append(bool(truth > 0.051))
                shares.append(k / c.size)
            add_share("automation", f"{name}, n = {n}", "error above 5%", false, "<=.05")
            least = max(before - 0.03, 0.0)
            add_share("automation", f"{name}, n = {n}", "share certified", shares, f">={least:.3f}")
    rng = np.random.default_rng(35)
    false = {"pass": [], "fail": []}
    for _ in range(reps):
        verdict = rng.random(1500) >= 0.1
        c = rng.random(1500)
        wrong = rng.random(1500) < np.where(verdict, 0.01 + 0.1 * (1 - c), 0.0505)
        for word, own in (("pass", verdict), ("fail", ~verdict)):
            made = certify(c[own], wrong[own], np.arange(0.95, -0.01, -0.05), error=0.05,
                           delta=joint_share(0.05, 2, independent=True))  # fmt: skip
            t = max(made.threshold, 0.0) if made.passed else math.inf
            mean = 0.01 + 0.1 * (1 - (1 + t) / 2) if word == "pass" else 0.0505
            false[word].append(bool(made.passed) and mean > 0.05)
    for word, hits in false.items():
        add_share("automation", "per class, 10% fails", f"false {word} above 5%", hits, "<=.05")
    classes(reps)
    losses(reps)


def classes(reps: int) -> None:
    """Certificates of both classes at once, whose errors are just above 5% at every confidence."""
    for kind, passes, size in (
        ("continuous", 0.5, 1), ("continuous", 0.9, 1), ("continuous", 0.97, 1),
        ("three values", 0.9, 1), ("continuous", 0.9, 5), ("three values", 0.5, 5),
    ):  # fmt: skip
        for n in (400, 1500):
            rng = np.random.default_rng([48, n, int(100 * passes), size, len(kind)])
            codes, false = np.repeat(np.arange((n + 2000) // size), size), []
            for _ in range(reps):
                shared = rng.normal(size=codes.max() + 1)[codes]
                own = rng.normal(size=codes.size)
                z = math.sqrt(0.4) * shared + math.sqrt(0.6) * own if size > 1 else own
                verdict = rng.random(codes.size) < passes
                sure = rng.random(codes.size)
                if kind == "three values":
                    sure = np.where(sure < 0.4, 1.0, np.where(sure < 0.7, 0.9, 0.5))
                label = (verdict ^ (special.ndtr(z) < 0.0505)).astype(float)
                label[n:] = math.nan
                made = automation_certificate(
                    verdict, sure, label, cluster=codes, per_class=True, labels_drawn="random",
                    advice=False,
                )  # fmt: skip
                false.append(made.certified)
            cell = f"both classes, {passes:.0%} passes, {kind}, n = {n}"
            cell += f", clusters of {size}" if size > 1 else ""
            add_share("automation", cell, "a class above 5%", false, "<=.05")


LOSSES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "uniform": lambda rng, n: 0.1002 * rng.random(n),
    "rare and large": lambda rng, n: np.where(rng.random(n) < 0.1002, rng.random(n), 0.0),
    "small, rarely 1": lambda rng, n: np.where(rng.random(n) < 0.0201, 1.0, 0.0612 * rng.random(n)),
}
"""Score errors with a mean just above .05."""


def losses(reps: int) -> None:
    """Score errors by betting, where confidence is uninformative and the mean is just too large."""
    tested = np.arange(0.95, -0.01, -0.05)
    for kind, draw in LOSSES.items():
        for n in (300, 600, 1200):
            rng = np.random.default_rng([46, n, len(kind)])
            false = [
                certify(rng.random(n), draw(rng, n), tested, error=0.05, delta=0.05).place >= 0
                for _ in range(reps)
            ]
            cell = f"score errors, {kind}, n = {n}"
            add_share("automation", cell, "error above 5%", false, "<=.05")
    for q in (40, 100):
        rng = np.random.default_rng([47, q])
        codes, false = np.repeat(np.arange(q), 5), []
        for _ in range(reps):
            z = math.sqrt(0.4) * rng.normal(size=q)[codes] + math.sqrt(0.6) * rng.normal(size=5 * q)
            x = np.where(special.ndtr(z) < 0.1002, rng.random(5 * q), 0.0)
            made = certify(rng.random(5 * q), x, tested, error=0.05, delta=0.05, codes=codes)
            false.append(made.place >= 0)
        cell = f"score errors, clusters of 5, ICC .4, Q = {q}"
        add_share("automation", cell, "error above 5%", false, "<=.05")


def cascade(reps: int) -> None:
    """Two judges by price, calibrated on what reaches each stage; or tuned and tested by halves."""

    def draw(rng: np.random.Generator, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
        z = rng.normal(size=n)
        out = []
        for a in (2.4, 4.0):
            wrong = rng.random(n) < special.expit(1.8 * z - a)
            out.append((special.expit(np.abs(a - 1.8 * z + 0.8 * rng.normal(size=n))), wrong))
        return out

    (c1, e1), (c2, e2) = draw(np.random.default_rng(9), 100_000)
    for strict, sizes in ((False, (1000, 2000)), (True, (1000,))):
        for n in sizes:
            rng = np.random.default_rng([36, n])
            late, whole, alone = [], [], []
            labelled = np.where(np.arange(n + 2000) < n, 0.0, np.nan)
            for _ in range(reps):
                (a, x), (b, y) = draw(rng, labelled.size)
                made = cascade_certificate(
                    {"cheap": x, "dear": y}, {"cheap": a, "dear": b}, labelled, error=0.1,
                    prices={"cheap": 1, "dear": 10, "human": 100}, labels_drawn="random",
                    strict=strict,
                )  # fmt: skip
                at = [np.nan_to_num(one.threshold, nan=math.inf) for one in made.stages]
                s1 = c1 >= at[0]
                s2 = ~s1 & (c2 >= at[1])
                late.append(s2.any() and e2[s2].mean() > 0.1)
                errors, decided = (e1 & s1).sum() + (e2 & s2).sum(), s1.sum() + s2.sum()
                whole.append(errors > 0.1 * decided)
                alone.append(decided / s1.size)
            cell = f"{'tuned and tested by halves, ' if strict else ''}n = {n}"
            if not strict:
                add_share("cascade", cell, "stage 2 error above 10%", late, "<=.05")
            add_share("cascade", cell, "overall error above 10%", whole, "<=.05")
            if not strict:
                add_share("cascade", cell, "share decided alone", alone,
                    ">=.76" if n == 1000 else ">=.81")  # fmt: skip

    crossed(reps)
    costs(reps)


def costs(reps: int) -> None:
    """Cost of the policy, where humans decide many items, few, or none of those seen."""

    def draw(
        rng: np.random.Generator, codes: np.ndarray, hard: Sequence[float], levels: int
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        z = rng.normal(size=codes.size)
        if codes.max() + 1 < codes.size:
            shared = rng.normal(size=codes.max() + 1)[codes]
            z = math.sqrt(0.4) * shared + math.sqrt(0.6) * z
        sure, wrong = [], []
        for a in hard:
            wrong.append(rng.random(codes.size) < special.expit(1.8 * z - a))
            c = special.expit(np.abs(a - 1.8 * z + 0.8 * rng.normal(size=codes.size)))
            sure.append(np.ceil(levels * c) / levels if levels else c)
        return sure, wrong

    for name, hard, human, levels, size in (
        ("many to humans", (2.4, 4.0), 100.0, 0, 1), ("few", (2.4, 6.0), 100.0, 0, 1),
        ("few", (2.4, 6.0), 1000.0, 0, 1), ("nearly none", (4.5, 6.0), 1000.0, 0, 1),
        ("few, 6 values", (2.4, 6.0), 100.0, 6, 1), ("many to humans", (2.4, 4.0), 100.0, 0, 5),
        ("few", (2.4, 6.0), 100.0, 0, 5), ("few", (2.4, 6.0), 1000.0, 0, 5),
    ):  # fmt: skip
        every = np.repeat(np.arange(200_000 // size), size)
        sure, _ = draw(np.random.default_rng(52), every, hard, levels)
        codes = np.repeat(np.arange(1500 // size), size)
        label = np.where(np.arange(1500) < 500, 0.0, math.nan)
        rng = np.random.default_rng([53, int(human), size])
        hits, zero = [], []
        for _ in range(reps):
            c, x = draw(rng, codes, hard, levels)
            made = cascade_certificate(
                {"cheap": x[0], "dear": x[1]}, {"cheap": c[0], "dear": c[1]}, label,
                prices={"cheap": 1, "dear": 10, "human": human}, cluster=codes, error=0.1,
                labels_drawn="random",
            )  # fmt: skip
            at = [np.nan_to_num(one.threshold, nan=math.inf) for one in made.stages]
            late = sure[0] < at[0]
            truth = 1 + 10 * late.mean() + human * (late & (sure[1] < at[1])).mean()
            hits.append(made.cost.low <= truth <= made.cost.high)
            zero.append(sum(one.share for one in made.stages) == 1)
        cell = f"{name}, price of humans {human:g}, n = 500"
        cell += f", clusters of {size}" if size > 1 else ""
        cell += f"; all decided in {np.mean(zero):.2f}"
        add_share("cascade", cell, "interval holds the cost", hits, ">=.93")


def crossed(reps: int) -> None:
    """Later judges err only where the first is correct, so its stage leaves flattering labels."""

    def draw(
        rng: np.random.Generator, codes: np.ndarray, judges: int, levels: int
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        z = math.sqrt(0.4) * rng.normal(size=codes.max() + 1)[codes]
        first = rng.random((judges, codes.size))
        sure = list(np.ceil(levels * first) / levels) if levels else list(first)
        own = special.ndtr(z + math.sqrt(0.6) * rng.normal(size=codes.size))
        wrong = [own < np.where(first[0] > 0.5, 0.03, 0.3)]
        for _ in range(judges - 1):
            wrong.append(~wrong[0] & (rng.random(codes.size) < 0.101 / 0.7))
        return sure, wrong

    for judges, size, levels, n in (
        (2, 1, 0, 300), (2, 1, 0, 1000), (2, 1, 6, 1000), (2, 5, 0, 1000), (3, 1, 0, 1000),
        (3, 5, 6, 1000),
    ):  # fmt: skip
        names = ["cheap", "middle", "dear"][-judges:]
        every = np.repeat(np.arange(200_000 // size), size)
        sure, wrong = draw(np.random.default_rng(49), every, judges, levels)
        codes = np.repeat(np.arange((n + 2000) // size), size)
        rng = np.random.default_rng([50, judges, size, levels, n])
        false = []
        for _ in range(reps):
            c, x = draw(rng, codes, judges, levels)
            made = cascade_certificate(
                dict(zip(names, x, strict=True)), dict(zip(names, c, strict=True)),
                np.where(np.arange(codes.size) < n, 0.0, math.nan), cluster=codes, error=0.1,
                prices={name: 10.0**j for j, name in enumerate([*names, "human"])},
                labels_drawn="random",
            )  # fmt: skip
            rest, bad = np.full(every.size, True), False
            for stage, own, error in zip(made.stages, sure, wrong, strict=True):
                held = rest & (own >= np.nan_to_num(stage.threshold, nan=math.inf))
                bad |= bool(held.any() and error[held].mean() > 0.1002)
                rest &= ~held
            held = sure[-1] >= np.nan_to_num(made.last.threshold, nan=math.inf)
            false.append(bad or (held.any() and wrong[-1][held].mean() > 0.1002))
        cell = f"later judges err where the first is correct, {judges} judges, n = {n}"
        cell += (f", {levels} values" if levels else "") + (f", clusters of {size}" * (size > 1))
        add_share("cascade", cell, "any stage or the last judge above 10%", false, "<=.05")


PANELS: dict[str, tuple[list[float], float]] = {
    "9 alike, error .2": ([0.2] * 9, 0.75),
    "5 unlike": ([0.1, 0.15, 0.2, 0.25, 0.3], 0.5),
    "3 independent": ([0.2] * 3, 0.0),
    "9 alike, error .05": ([0.05] * 9, 0.6),
    "2 near copies": ([0.2] * 2, 0.999),
}
"""Error rates, and the correlation of what they share."""


def panel(reps: int) -> None:
    """Coverage of effective votes."""

    def draw(rng: np.random.Generator, n: int, p: list[float], r: float) -> np.ndarray:
        shared = math.sqrt(r) * rng.normal(size=(n, 1))
        own = math.sqrt(1 - r) * rng.normal(size=(n, len(p)))
        return (shared + own < stats.norm.ppf(p)).astype(float)

    for name, (p, r) in PANELS.items():
        every = draw(np.random.default_rng(11), 400_000, p, r)
        truth, k = effective_judges(every), len(p)
        whole = subset_credit(every, k).mean()
        losses = {f"judge {j + 1}": whole - subset_credit(np.delete(every, j, 1), k - 1).mean()
                  for j in range(k)}  # fmt: skip
        for n in (20, 40, 60, 100, 300):
            rng = np.random.default_rng([37, n, len(p)])
            hits, over, few, low = [], [], [], []
            while len(hits) < reps:
                e = draw(rng, n, p, r)
                if e.mean(axis=1).var() > 0 and e.sum() >= 3:
                    made = effective_votes(e, np.zeros(n), labels_drawn="random")
                    hits.append(made.n_eff.low <= truth <= made.n_eff.high)
                    over.append(truth < made.n_eff.low)
                    few.append(any(c.code == "few_errors" for c in made.caveats))
                    low.append(any(d.limit < losses[d.judge] for d in made.droppable))
            rare = name.endswith(".05")
            add_share("panel", f"{name}, {n} labels", "coverage", hits, ">=.92")
            add_share("panel", f"{name}, {n} labels", "lower limit too high", over, "<=.04")
            if k > 2:
                add_share("panel", f"{name}, {n} labels", "a limit of loss too low", low, "<=.05")
            if rare and n < 300:
                add_share("panel", f"{name}, {n} labels", "few_errors raised", few, ">=.95")
    copies(reps)
    parts = np.sqrt([0.35, 0.25, 0.4])

    def clustered(rng: np.random.Generator, q: int) -> tuple[np.ndarray, np.ndarray]:
        codes = np.repeat(np.arange(q), 4)
        of_cluster, of_item = rng.normal(size=(q, 1))[codes], rng.normal(size=(4 * q, 1))
        own = rng.normal(size=(4 * q, 5))
        latent = parts[0] * of_cluster + parts[1] * of_item + parts[2] * own
        return (latent < stats.norm.ppf(0.2)).astype(float), codes

    truth = effective_judges(clustered(np.random.default_rng(15), 100_000)[0])
    for q in (20, 50):
        rng = np.random.default_rng([44, q])
        hits = []
        for _ in range(reps):
            e, codes = clustered(rng, q)
            if e.mean(axis=1).var() > 0 and e.sum() >= 3:
                made = effective_votes(e, np.zeros(4 * q), cluster=codes, labels_drawn="random")
                hits.append(made.n_eff.low <= truth <= made.n_eff.high)
        bound = ">=.92" if q == 50 else ">=.90"
        add_share("panel", f"5 judges, {q} clusters of 4", "coverage", hits, bound)


def copies(reps: int) -> None:
    """Coverage of effective votes of judges whose scores rarely differ."""

    def draw(rng: np.random.Generator, n: int, k: int, rate: float, how: str) -> np.ndarray:
        label = rng.integers(1, 11, n).astype(float)[:, None]
        shared = np.clip(np.round(label + 1.5 * rng.normal(size=(n, 1))), 1, 10)
        own = {
            "a point": np.clip(shared + rng.choice([-1, 1], (n, k)), 1, 10),
            "a new score": np.clip(np.round(label + 1.5 * rng.normal(size=(n, k))), 1, 10),
            "an unrelated score": rng.integers(1, 11, (n, k)).astype(float),
            "a little": shared + 0.05 * rng.normal(size=(n, k)),
        }[how]
        return np.column_stack([label, np.where(rng.random((n, k)) < rate, own, shared)])

    for how, rate in (
        ("a point", 0.01), ("a new score", 0.01), ("a new score", 0.003),
        ("an unrelated score", 0.01), ("an unrelated score", 0.003), ("a little", 1.0),
    ):  # fmt: skip
        for k in (2, 5):
            every = draw(np.random.default_rng(54), 400_000, k, rate, how)
            truth = effective_judges(every[:, 1:] - every[:, :1])
            for n in (60, 100, 300):
                rng = np.random.default_rng([55, n, k])
                hits = []
                for _ in range(reps):
                    x = draw(rng, n, k, rate, how)
                    errors, step = x[:, 1:] - x[:, :1], 2 * float(x[:, 1:].var(axis=0).mean())
                    low, high = effective_judges_limits(errors, step=step)
                    hits.append(low <= truth <= high)
                cell = f"{k} copies of scores, {how} apart on {rate:.1%}, {n} labels"
                add_share("panel", cell, "coverage", hits, ">=.92")


def change(reps: int) -> None:
    """Alarms of judge and system over 40 periods, with a change after the 10th."""
    level, periods = math.log(2 / 0.05), 40
    cases = (
        ("nothing changes", 200, 3, 0.0, 0.0), ("nothing changes", 200, 1, 0.0, 0.0),
        ("nothing changes", 100, 3, 0.0, 0.0), ("nothing changes", 100, 1, 0.0, 0.0),
        ("judge -.2", 200, 3, 0.2, 0.0),
        ("system -.2", 200, 3, 0.0, 0.2),
    )  # fmt: skip
    share = np.random.default_rng(51).beta(0.9, 0.35, 1_000_000)
    moved = float((np.clip(share - 0.2, 0, 1) - share).mean())
    for name, anchors, repeats, judge, system in cases:
        rng = np.random.default_rng([38, anchors, repeats, int(10 * judge), int(10 * system)])
        said: dict[str, list[bool]] = {"judge": [], "system": []}
        covers, holds_zero = [], []
        for _ in range(reps):
            p = rng.beta(0.9, 0.35, anchors)
            base = rng.binomial(repeats, p) / repeats
            old = float((rng.random(2000) < rng.beta(0.9, 0.35, 2000)).mean())
            n, total = np.zeros((periods, anchors)), np.zeros((periods, anchors))
            z = np.zeros(periods)
            raised = {"judge": False, "system": False}
            covers.append(True)
            holds_zero.append(False)
            for t in range(periods):
                by = (judge, system) if t >= 10 else (0.0, 0.0)
                i = rng.choice(anchors, 20, replace=False)
                n[t, i] = 1
                total[t, i] = rng.random(20) < np.clip(p[i] - by[0], 0, 1)
                q = np.clip(np.clip(rng.beta(0.9, 0.35, 60) - by[1], 0, 1) - by[0], 0, 1)
                z[t] = (rng.random(60) < q).sum()
                if all(raised.values()):
                    break
                before = dict(raised)
                look = change_look(
                    n[: t + 1], total[: t + 1], base, np.full(anchors, float(repeats)),
                    np.full(t + 1, 60.0), z[: t + 1], None, (old, old * (1 - old) / 2000),
                )  # fmt: skip
                for who, one in (("judge", look.judge), ("system", look.system)):
                    raised[who] |= one.log_e >= level and abs(one.shift[0]) >= 0.02
                    if raised[who] and not before[who] and by[who == "system"]:
                        _, low, high = one.step(level)
                        late = (t + 1 - max(one.since - 1, 10)) / (t + 2 - one.since)
                        covers[-1] = low <= late * moved <= high
                        holds_zero[-1] = low <= 0 <= high
            for who, hit in raised.items():
                said[who].append(hit)
        cell = f"{name}; {anchors} anchors x {repeats}"
        for who, size in (("judge", judge), ("system", system)):
            bound = "<=.025" if not size else ">=.99" if who == "judge" else ">=.97"
            add_share("change", cell, f"says {who}", said[who], bound)
        if judge or system:
            add_share("change", cell, "interval at the alarm holds the change", covers, ">=.95")
            add_share("change", cell, "interval at the alarm holds 0", holds_zero, "<=.0")

    gradual(reps, level)


def gradual(reps: int, level: float) -> None:
    """Interval of a judge's change by -.2 that takes several periods, at one look after it."""
    share = np.random.default_rng(51).beta(0.9, 0.35, 200_000)
    for ramp, periods in ((10, 20), (10, 30), (30, 40)):
        sizes = 0.2 * np.clip((np.arange(periods) - 9) / ramp, 0, 1)
        moved = np.array([(np.clip(share - one, 0, 1) - share).mean() for one in sizes])
        rng = np.random.default_rng([56, ramp, periods])
        wrong, raised = [], []
        for _ in range(reps):
            p = rng.beta(0.9, 0.35, 200)
            n = np.array([rng.permutation(200) < 20 for _ in range(periods)], dtype=float)
            total = n * (rng.random(n.shape) < np.clip(p - sizes[:, None], 0, 1))
            none = np.zeros(periods)
            base = rng.binomial(3, p) / 3
            look = change_look(n, total, base, np.full(200, 3.0), none, none, None, (0.7, 1e-4))
            _, low, high = look.judge.step(level)
            mean = moved[look.judge.since - 1 :].mean()
            raised.append(look.judge.log_e >= level)
            wrong.append(raised[-1] and not low <= mean <= high)
        cell = f"judge -.2 within {ramp} periods; look after {periods} periods"
        cell += f", alarms in {np.mean(raised):.2f}"
        add_share("change", cell, "its interval lacks the mean change", wrong, "<=.025")


def labels(reps: int, folder: Path | None) -> None:
    """Four simulated judges and public sets: coverage, labels needed, and bounds as printed."""
    sets = (*simulated_sets(), *(public_sets(folder) if folder else ()), *scored_sets(folder))
    for found in sets:
        printed, defined = bounds(found)
        for name, value in printed.items():
            near = abs(value - defined[name]) <= 1e-8
            add_row("labels", found.name, f"printed bound: {name}", value, 0.0,
                f"{defined[name]:.8f} +- 1e-8", near, found.human.size, digits=8)  # fmt: skip
        n, *known = NEEDED.get(found.name, (200, math.nan, math.nan))
        for (design, every), before in zip(draws(found, n, reps).items(), known, strict=True):
            cell = f"{found.name}, {n} labels, {design}"
            made = every[~np.isnan(every[:, 0])]
            truth = found.human.mean()
            covers = (made[:, 1] <= truth) & (truth <= made[:, 2])
            add_share("labels", cell, "coverage", covers, ">=.92")
            share = needed_share(made[:, 0], n, found.human)
            error = share * math.sqrt(2 / len(made))
            near = math.isnan(before) or abs(share - before) <= 0.08 + 2 * error
            add_row("labels", cell, "labels needed, share of people only", share, error,
                "" if math.isnan(before) else f"{before:.3f} +- .08", near, len(made))  # fmt: skip


def stopping(reps: int) -> None:
    """Coverage at a stop on the width, and false claims at a stop on the answer."""
    for name, between, within, k, width in (
        ("icc_1_1", 3.0, 1.0, 3, 0.10), ("icc_1_1", math.sqrt(7 / 3), 1.0, 3, 0.15),
        ("icc_1_1", math.sqrt(7 / 3), 1.0, 3, 0.10), ("sem", math.sqrt(2), 1.0, 3, 0.3),
        ("sem", math.sqrt(2), 1.0, 2, 0.2),
    ):  # fmt: skip
        truth = between**2 / (between**2 + within**2) if name == "icc_1_1" else within
        for first in (10, 20):
            rng = np.random.default_rng([40, k, round(100 * width), first])
            hits, used = [], []
            for _ in range(reps):
                x = between * rng.normal(size=(600, 1)) + within * rng.normal(size=(600, k))
                rule = StoppingRule.parse(f"{name}:width<={width}", max_items=600, first=first)
                for n in rule.planned:
                    pairs = repeat_pairs(x[:n], scale=(-40.0, 40.0))
                    made = pairs.icc() if name == "icc_1_1" else pairs.sem()
                    rule = rule.look(n, made.estimate, made.low, made.high)
                    if rule.reached:
                        break
                hits.append(made.low <= truth <= made.high)
                used.append(rule.items)
            cell = f"{name} {truth:.2f}, {k} repeats, width {width:g}, first look at {first}"
            add_share("stopping", f"{cell}; {np.mean(used):.0f} items", "coverage", hits, ">=.93")
    for share, width in ((0.9, 0.1), (0.5, 0.1), (0.97, 0.05)):
        for first in (20, 40):
            rng = np.random.default_rng([41, int(100 * share), first])
            hits, used = [], []
            for _ in range(reps):
                passes = np.cumsum(rng.random(2000) < share)
                rule = StoppingRule.parse(f"pass_rate:width<={width}", max_items=2000, first=first)
                for n in rule.planned:
                    x = int(passes[n - 1])
                    low, high = proportion_limits(x, n, level=0.95, method="wilson")
                    rule = rule.look(n, x / n, low, high)
                    if rule.reached:
                        break
                hits.append(low <= share <= high)
                used.append(rule.items)
            cell = f"pass rate {share}, width {width:g}, first look at {first}"
            add_share("stopping", f"{cell}; {np.mean(used):.0f} items", "coverage", hits, ">=.93")
    for bounded in (True, False):
        for looks in (5, 20):
            for shift in (0.0, 0.2, 0.3, 0.5):
                differences(looks, shift, reps, bounded)
            for share in (0.8, 0.9, 0.65):
                verdicts(looks, share, reps, bounded)


SEQUENCE = ", no maximum stated"


def differences(looks: int, shift: float, reps: int, bounded: bool) -> None:
    """``--until 'difference!=0'`` on paired scores of SD 1, at most 400 items."""
    rng = np.random.default_rng([42, looks, int(10 * shift)])
    said, items = [], []
    for _ in range(reps):
        d = shift + rng.normal(size=400)
        step = 400 // looks
        rule = StoppingRule.parse(
            "difference!=0", max_items=400, first=step, step=step, is_bounded=bounded
        )
        for n in rule.planned:
            half = float(special.stdtrit(n - 1, (1 + rule.next_level) / 2)) * d[:n].std(ddof=1)
            mean, half = float(d[:n].mean()), half / math.sqrt(n)
            rule = rule.look(n, mean, mean - half, mean + half, at_bound=True)
            if rule.reached:
                break
        said.append(rule.reached)
        items.append(rule.items)
    cell = f"difference {shift} SD, {looks} looks; {np.mean(items):.0f} of 400 items"
    cell += "" if bounded else SEQUENCE
    bound = {0.0: "<=.05", 0.2: ">=.95" if bounded else ">=.80"}.get(shift, ">=.99")
    add_share("stopping", cell, "finds a difference", said, bound)


def verdicts(looks: int, share: float, reps: int, bounded: bool) -> None:
    """``--until verdict`` on a share that must be .80 or more, at most 400 items."""
    rng = np.random.default_rng([43, looks, int(100 * share)])
    demand = Demand(key="tpr", threshold=0.8, direction="min")
    said: dict[str, list[bool]] = {"USE": [], "DO_NOT_USE": []}
    items = []
    for _ in range(reps):
        right = (rng.random(400) < share).astype(float)
        step = 400 // looks
        rule = StoppingRule.parse(
            "verdict", max_items=400, first=step, step=step, is_bounded=bounded
        )
        for n in rule.planned:
            made = share_measure("tpr", right[:n].tolist(), range(n))
            outcome = decide([(demand, made)], error=rule.next_error).outcome
            rule = rule.decide(n, outcome != "CANNOT_TELL")
            if rule.reached:
                break
        for word, hits in said.items():
            hits.append(outcome == word)
        items.append(rule.items)
    cell = f"verdict, share {share} against .8, {looks} looks; {np.mean(items):.0f} of 400 items"
    cell += "" if bounded else SEQUENCE
    for word, hits in said.items():
        false = share <= 0.8 if word == "USE" else share >= 0.8
        add_share("stopping", cell, word, hits, "<=.05" if false else ">=.90")


PARTS = ("cutoff", "automation", "cascade", "panel", "change", "labels", "stopping")


def main(parts: Sequence[str], replicates: int, folder: Path | None) -> list[dict[str, object]]:
    """Cells of some parts; rows of the other parts stay as they are."""
    out = Path(__file__).with_name("decisions.csv")
    kept: list[dict[str, object]] = []
    if out.exists() and set(parts) != set(PARTS):
        with out.open(encoding="utf-8", newline="") as file:
            kept = [dict(row) for row in csv.DictReader(file) if row["part"] not in parts]
    for part in parts:
        if part == "labels":
            labels(replicates, folder)
        else:
            globals()[part](replicates)
    return sorted([*kept, *ROWS], key=lambda row: PARTS.index(str(row["part"])))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--data", type=Path, help="folder of the public sets of label_designs.py")
    given = parser.parse_args()
    write_rows("decisions.csv", main(given.parts, given.replicates, given.data))
