"""Acceptance of decisions by simulation, with the package's own functions.

Writes decisions.csv next to this file, one row per cell with the bound that it must keep. It takes
some fifteen minutes on one core (``--replicates`` of each cell, 1,000 by default):

    python docs/simulations/decisions.py

A row's `value` is a share of replicates; `bound` is the limit, which a false claim may exceed by
two Monte Carlo standard errors. A few cells have fewer replicates, as `replicates` says.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy import special, stats
from tables import write_rows

from judgestats.decisions import StoppingRule
from judgestats.stats import icc, repeat_pairs
from judgestats.stats.validity.cutoffs import error_counts, joint_share
from judgestats.stats.validity.label_gain import label_strata, stratified_rate
from judgestats.stats.validity.label_plan import allocate_labels
from judgestats.stats.validity.panels import effective_judges, effective_judges_limits
from judgestats.stats.validity.sequential import certify, change_look

ROWS: list[dict[str, object]] = []


def add_share(part: str, cell: str, measure: str, hits: list[bool], bound: str) -> None:
    """A share of replicates, its Monte Carlo error, and whether it keeps its bound."""
    x = np.asarray(hits, dtype=float)
    value, error = float(x.mean()), math.sqrt(max(x.mean() * (1 - x.mean()), 1e-9) / x.size)
    limit = float(bound[2:])
    kept = value <= limit + 2 * error if bound.startswith("<=") else value >= limit - 2 * error
    ROWS.append({
        "part": part, "cell": cell, "measure": measure, "value": f"{value:.4f}",
        "mc_se": f"{error:.4f}", "bound": bound, "kept": kept, "replicates": x.size,
    })  # fmt: skip
    print(*ROWS[-1].values(), sep=" | ", flush=True)


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


SHARES = {
    ("calibrated", 600): 0.19, ("calibrated", 1200): 0.39, ("votes of 8", 600): 0.21,
    ("votes of 8", 1200): 0.41, ("overconfident", 600): 0.01, ("overconfident", 1200): 0.03,
    ("dip at the top", 600): 0.15, ("dip at the top", 1200): 0.36,
}  # fmt: skip
"""Shares certified in the simulation that the method was chosen by."""


def automation(reps: int) -> None:
    """Certified shares with an error above 5%."""
    names = ("calibrated", "overconfident", "votes of 8", "no information, error .052",
             "no information, error .10", "dip at the top")  # fmt: skip
    for name in names:
        c, e = confidences(name, np.random.default_rng(5), 1_000_000)
        order = np.argsort(-c, kind="stable")
        sorted_c, rate = c[order], np.cumsum(e[order]) / np.arange(1, c.size + 1)
        distinct = np.unique(c)
        ranks = np.quantile(c, 1 - np.arange(1, 21) / 20)
        tested = distinct[::-1] if distinct.size <= 25 else ranks
        for n in (300, 600, 1200):
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
            if (name, n) in SHARES:
                least = SHARES[name, n] - 0.03
                ROWS.append({
                    "part": "automation", "cell": f"{name}, n = {n}", "measure": "share certified",
                    "value": f"{np.mean(shares):.4f}", "bound": f">={least:.2f}",
                    "mc_se": f"{np.std(shares) / math.sqrt(reps):.4f}",
                    "kept": bool(np.mean(shares) >= least), "replicates": reps,
                })  # fmt: skip
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


def cascade(reps: int) -> None:
    """Two judges by price, calibrated on what reaches each stage."""

    def draw(rng: np.random.Generator, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
        z = rng.normal(size=n)
        out = []
        for a in (2.4, 4.0):
            wrong = rng.random(n) < special.expit(1.8 * z - a)
            out.append((special.expit(np.abs(a - 1.8 * z + 0.8 * rng.normal(size=n))), wrong))
        return out

    (c1, e1), (c2, e2) = draw(np.random.default_rng(9), 100_000)
    first, second = (np.quantile(c, 1 - np.arange(1, 21) / 20) for c in (c1, c2))
    for n in (1000, 2000):
        rng = np.random.default_rng([36, n])
        late, whole = [], []
        for _ in range(reps):
            (a, x), (b, y) = draw(rng, n)
            one = certify(a, x, first, error=0.1, delta=0.0125).threshold
            rest = a < one
            two = certify(b[rest], y[rest], second, error=0.1, delta=0.0125).threshold
            s1 = c1 >= one
            s2 = ~s1 & (c2 >= two)
            errors = int((e1 & s1).sum() + (e2 & s2).sum())
            late.append(bool(e2[s2].mean() > 0.1) if s2.any() else False)
            whole.append(bool(errors / max(int(s1.sum() + s2.sum()), 1) > 0.1))
        add_share("cascade", f"n = {n}", "stage 2 error above 10%", late, "<=.05")
        add_share("cascade", f"n = {n}", "overall error above 10%", whole, "<=.05")


def panel(reps: int) -> None:
    """Coverage of effective votes."""

    def draw(rng: np.random.Generator, n: int, p: list[float], r: float) -> np.ndarray:
        shared = math.sqrt(r) * rng.normal(size=(n, 1))
        own = math.sqrt(1 - r) * rng.normal(size=(n, len(p)))
        return (shared + own < stats.norm.ppf(p)).astype(float)

    for name, p, r in (
        ("9 alike, error .2", [0.2] * 9, 0.75), ("5 unlike", [0.1, 0.15, 0.2, 0.25, 0.3], 0.5),
        ("3 independent", [0.2] * 3, 0.0), ("9 alike, error .05", [0.05] * 9, 0.6),
    ):  # fmt: skip
        truth = effective_judges(draw(np.random.default_rng(11), 400_000, p, r))
        for n in (60, 100, 300):
            rng = np.random.default_rng([37, n, len(p)])
            hits = []
            for _ in range(reps):
                e = draw(rng, n, p, r)
                if e.mean(axis=1).var() > 0 and e.sum() >= 3:
                    low, high = effective_judges_limits(e)
                    hits.append(low <= truth <= high)
            rare = name.endswith(".05")
            bound = ">=.92" if (n >= 100 and not rare) or n == 300 else ">=.80"
            add_share("panel", f"{name}, {n} labels", "coverage", hits, bound)


def change(reps: int) -> None:
    """Alarms of judge and system over 40 periods, with a change after the 10th."""
    level, periods = math.log(2 / 0.05), 40
    cases = (
        ("nothing changes", 200, 3, 0.0, 0.0), ("nothing changes", 200, 1, 0.0, 0.0),
        ("nothing changes", 100, 3, 0.0, 0.0), ("judge -.2", 200, 3, 0.2, 0.0),
        ("system -.2", 200, 3, 0.0, 0.2),
    )  # fmt: skip
    for name, anchors, repeats, judge, system in cases:
        rng = np.random.default_rng([38, anchors, repeats, int(10 * judge), int(10 * system)])
        said: dict[str, list[bool]] = {"judge": [], "system": []}
        for _ in range(reps):
            p = rng.beta(0.9, 0.35, anchors)
            base = rng.binomial(repeats, p) / repeats
            old = float((rng.random(2000) < rng.beta(0.9, 0.35, 2000)).mean())
            n, total = np.zeros((periods, anchors)), np.zeros((periods, anchors))
            z = np.zeros(periods)
            raised = {"judge": False, "system": False}
            for t in range(periods):
                by = (judge, system) if t >= 10 else (0.0, 0.0)
                i = rng.choice(anchors, 20, replace=False)
                n[t, i] = 1
                total[t, i] = rng.random(20) < np.clip(p[i] - by[0], 0, 1)
                q = np.clip(np.clip(rng.beta(0.9, 0.35, 60) - by[1], 0, 1) - by[0], 0, 1)
                z[t] = (rng.random(60) < q).sum()
                if all(raised.values()):
                    break
                look = change_look(
                    n[: t + 1], total[: t + 1], base, np.full(anchors, float(repeats)),
                    np.full(t + 1, 60.0), z[: t + 1], None, (old, old * (1 - old) / 2000),
                )  # fmt: skip
                raised["judge"] |= look.log_e_judge >= level and abs(look.judge) >= 0.02
                raised["system"] |= look.log_e_system >= level and abs(look.system) >= 0.02
            for who, hit in raised.items():
                said[who].append(hit)
        cell = f"{name}; {anchors} anchors x {repeats}"
        for who, moved in (("judge", judge), ("system", system)):
            bound = "<=.025" if not moved else ">=.99" if who == "judge" else ">=.97"
            add_share("change", cell, f"says {who}", said[who], bound)


def labels(reps: int) -> None:
    """Coverage of the stratified rate after four adaptive batches."""
    for name, se, sp, kind in (
        ("even errors", 0.9, 0.8, 0), ("doubtful third", 0.9, 0.8, 1), ("weak", 0.7, 0.7, 2),
        ("strong", 0.97, 0.95, 1),
    ):  # fmt: skip
        rng = np.random.default_rng(23)
        y = rng.random(3000) < {"weak": 0.6, "strong": 0.8}.get(name, 0.7)
        c = rng.random(3000)
        times = {0: np.ones(3000), 1: np.where(c < 1 / 3, 2.6, np.where(c < 2 / 3, 0.3, 0.1)),
                 2: np.where(c < 0.5, 1.4, 0.6)}[kind]  # fmt: skip
        f = y ^ (rng.random(3000) < np.minimum(np.where(y, 1 - se, 1 - sp) * times, 0.5))
        h = label_strata(f.astype(float), c)
        sizes = np.bincount(h)
        shares = sizes / sizes.sum()
        hits = []
        for r in range(reps):
            draw = np.random.default_rng([39, r])
            order = [draw.permutation(np.flatnonzero(h == k)) for k in range(sizes.size)]
            have = np.zeros(sizes.size, dtype=int)
            for batch in range(1, 5):
                passes = np.array([int(y[o[:k]].sum()) for o, k in zip(order, have, strict=True)])
                smooth = (passes + 1) / (have + 2)
                spread = np.sqrt(smooth * (1 - smooth)) if batch > 1 else np.ones(sizes.size)
                least = np.maximum(have, np.minimum(8, sizes))
                have = np.maximum(have, allocate_labels(
                    max(50 * batch, int(least.sum())), shares.tolist(), spread.tolist(),
                    available=sizes.tolist(), least=least.tolist(),
                ))  # fmt: skip
            passes = np.array([int(y[o[:k]].sum()) for o, k in zip(order, have, strict=True)])
            _, low, high = stratified_rate(sizes, have, passes)
            hits.append(bool(low <= y.mean() <= high))
        add_share("labels", f"{name}, 200 labels", "coverage", hits, ">=.92")


def stopping(reps: int) -> None:
    """Coverage at a stop on the width, and false differences at a stop on the answer."""
    truth_icc, truth_sem = 0.8, 0.5
    for name, width, truth in (("icc_1_1", 0.15, truth_icc), ("sem", 0.12, truth_sem)):
        rng = np.random.default_rng([40, len(name)])
        hits = []
        for _ in range(reps):
            x = 2 * truth_sem * rng.normal(size=(300, 1)) + truth_sem * rng.normal(size=(300, 3))
            rule = StoppingRule.parse(f"{name}:width<={width}", max_items=300)
            for n in rule.planned:
                if name == "icc_1_1":
                    made = icc(x[:n], form="ICC(1,1)", n_permutations=0)
                    ends = made.interval
                else:
                    ends = made = repeat_pairs(x[:n]).sem()
                low, high = (ends.low, ends.high) if ends else (math.nan, math.nan)
                rule = rule.look(n, made.estimate, low, high)
                if rule.reached:
                    break
            hits.append(low <= truth <= high)
        add_share(
            "stopping", f"{name}, width {width}, at most 300 items", "coverage", hits, ">=.93"
        )
    for share in (0.5, 0.9):
        rng = np.random.default_rng([41, int(10 * share)])
        hits = []
        for _ in range(reps):
            x = rng.random(600) < share
            rule = StoppingRule.parse("pass_rate:width<=.15", max_items=600)
            for n in rule.planned:
                k = int(x[:n].sum())
                low = stats.beta.ppf(0.025, k, n - k + 1) if k else 0.0
                high = stats.beta.ppf(0.975, k + 1, n - k) if k < n else 1.0
                rule = rule.look(n, k / n, float(low), float(high))
                if rule.reached:
                    break
            hits.append(bool(low <= share <= high))
        add_share("stopping", f"pass rate {share}, width .15", "coverage", hits, ">=.93")
    for looks in (5, 20):
        for shift in (0.0, 0.3):
            rng = np.random.default_rng([42, looks, int(10 * shift)])
            said, items = [], []
            for _ in range(reps):
                d = shift + rng.normal(size=400)
                rule = StoppingRule.parse("difference!=0", max_items=400, first=400 // looks,
                                          step=400 // looks)  # fmt: skip
                for n in rule.planned:
                    t = float(stats.t.ppf((1 + rule.next_level) / 2, n - 1))
                    half = t * d[:n].std(ddof=1) / math.sqrt(n)
                    rule = rule.look(n, d[:n].mean(), d[:n].mean() - half, d[:n].mean() + half,
                                     at_bound=True)  # fmt: skip
                    if rule.reached:
                        break
                said.append(rule.reached)
                items.append(rule.items)
            cell = f"difference {shift} SD, {looks} looks, {np.mean(items):.0f} items on average"
            add_share("stopping", cell, "finds a difference", said, ">=.99" if shift else "<=.05")


def main(replicates: int) -> list[dict[str, object]]:
    """All cells; those that cost most with half the replicates."""
    for part in (cutoff, automation, panel):
        part(replicates)
    cascade(max(replicates // 2, 1))
    labels(max(replicates // 2, 1))
    change(max(replicates // 2, 1))
    stopping(max(replicates // 2, 1))
    return ROWS


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicates", type=int, default=1000)
    write_rows("decisions.csv", main(parser.parse_args().replicates))
