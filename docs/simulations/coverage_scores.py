"""Coverage of the 95% intervals of alpha, ICC(1,1) and ICC(3,1), and their bias.

Run ``python docs/simulations/coverage_scores.py``: it writes coverage_scores.csv next to this file
in a few minutes. The defaults of `omega_total` and `icc` follow from the table.

Scores are item + error (true ICC .5), in three kinds: ``normal``, ``ties``, and ``clusters``.
``ties`` is cut so that nearly all scores are 8 or 9 (the errors then differ by item, as a judge's
do). ``clusters`` has four answers to each question, 40% of the item variance between questions,
normal.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats
from tables import write_rows

from judgestats.stats.designs.score_matrix import MeanSquares, mean_squares
from judgestats.stats.inference.bootstrap import cluster_bootstrap
from judgestats.stats.reliability.intraclass import icc

REPLICATIONS = 1000
RESAMPLES = 999
SEED = 20261
COEFFICIENTS = ("alpha", "ICC(1,1)", "ICC(3,1)")
CUTS = np.array([-2.9, -0.1, 2.6])  # standard deviations 1.41: 2 % score 7, 45 % 8, 50 % 9, 3 % 10


def draw(kind: str, n: int, r: int, rng: np.random.Generator) -> tuple[np.ndarray, Any]:
    """One data set, and its clusters."""
    cluster = None
    if kind == "clusters":
        cluster = np.repeat(np.arange(n // 4), 4)
        item = rng.normal(0, math.sqrt(0.4), n // 4)[cluster] + rng.normal(0, math.sqrt(0.6), n)
    else:
        item = rng.normal(size=n)
    x = item[:, None] + rng.normal(size=(n, r))
    return (7.0 + np.searchsorted(CUTS, x) if kind == "ties" else x), cluster


def truth(kind: str) -> float:
    """ICC of one judgment in the population (exact for normal scores, by quadrature for ties)."""
    if kind != "ties":
        return 0.5
    nodes, weights = np.polynomial.hermite_e.hermegauss(201)
    weights = weights / weights.sum()
    below = stats.norm.cdf(CUTS[:, None] - nodes)  # P(score <= 7, 8, 9 | item)
    mean = 10 - below.sum(axis=0)
    # E s^2 from the tail sums: s = 10 - number of cuts above the latent score.
    count = below  # P(at least 1, 2, 3 cuts above), largest cut first
    ordered = count[::-1]
    second = (ordered * (2 * np.arange(1, 4) - 1)[:, None]).sum(axis=0)
    inside = second - ordered.sum(axis=0) ** 2
    between = float(weights @ mean**2 - (weights @ mean) ** 2)
    return between / (between + float(weights @ inside))


def resampled_mean_squares(x: np.ndarray, weights: np.ndarray) -> MeanSquares:
    """Mean squares of resamples of the items of a complete layout, from item counts (B, n)."""
    k = x.shape[1]
    x = x - x.mean()
    rows = x.mean(axis=1)
    deviations = x - rows[:, None]
    n = weights.sum(axis=1)
    between = k * (weights @ rows**2 - n * (weights @ rows / n) ** 2)
    inside = weights @ (deviations**2).sum(axis=1)
    shifts = n * ((weights @ deviations / n[:, None]) ** 2).sum(axis=1)
    return MeanSquares(
        items=between / (n - 1),
        replications=shifts / (k - 1),
        residual=(inside - shifts) / ((n - 1) * (k - 1)),
        within=inside / (n * (k - 1)),
        n=n,
        k=float(k),
        df_within=n * (k - 1),
    )


def joint(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Alpha, ICC(1,1), ICC(3,1) of every resample."""
    ms = resampled_mean_squares(x, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = (ms.items - ms.residual) / ms.items
        one = (ms.items - ms.within) / (ms.items + (ms.k - 1) * ms.within)
        three = (ms.items - ms.residual) / (ms.items + (ms.k - 1) * ms.residual)
    return np.column_stack([alpha, one, three])


def bonett(alpha: float, n: int, r: int) -> tuple[float, float]:
    """Bonett's interval."""
    z = stats.norm.ppf(0.975) * math.sqrt(2 * r / ((r - 1) * (n - 2)))
    return 1 - math.exp(math.log1p(-alpha) + z), 1 - math.exp(math.log1p(-alpha) - z)


def intervals(x: np.ndarray, cluster: Any, seed: int) -> dict[tuple[str, str], tuple[float, float]]:
    """Every interval of one data set."""
    out: dict[tuple[str, str], tuple[float, float]] = {}
    forms = {"alpha": "ICC(3,k)", "ICC(1,1)": "ICC(1,1)", "ICC(3,1)": "ICC(3,1)"}
    for name, form in forms.items():
        found = icc(x, form=form, interval="f", n_permutations=0).interval
        out[name, "F"] = (found.low, found.high) if found else (math.nan, math.nan)
    for name, form in forms.items():
        found = icc(x, form=form, interval="auto", cluster=cluster, n_permutations=0).interval
        out[name, "jackknife"] = (found.low, found.high) if found else (math.nan, math.nan)
    boot = cluster_bootstrap(
        x,
        joint,
        cluster=cluster,
        n_resamples=RESAMPLES,
        method="bca",
        transform="log_complement",
        seed=seed,
        vectorized=True,
    )
    ms = mean_squares(x)
    out["alpha", "Bonett"] = bonett(float(1 - ms.residual / ms.items), *x.shape)
    for j, name in enumerate(COEFFICIENTS):
        out[name, "BCa"] = (boot.intervals[j].low, boot.intervals[j].high)
        values = boot.distribution[:, j]
        values = values[np.isfinite(values)]
        low, high = np.quantile(values, [0.025, 0.975])
        out[name, "percentile"] = (float(low), float(high))
        z = 1.96 * np.std(np.log1p(-values[values < 1]), ddof=1)
        centre = math.log1p(-boot.estimates[j])
        out[name, "normal, log(1 - x)"] = (
            1 - math.exp(centre + z),
            1 - math.exp(centre - z),
        )
    return out


def main() -> None:
    """Simulate, and write the table."""
    cells = [(kind, n, r) for kind in ("normal", "ties") for n in (20, 50, 200) for r in (3, 10)]
    cells += [("clusters", n, r) for n in (40, 80, 200) for r in (3, 10)]
    rows: list[dict[str, Any]] = []
    for cell, (kind, n, r) in enumerate(cells):
        rng = np.random.default_rng([SEED, cell])
        single = truth(kind)
        true = {"alpha": r * single / (1 + (r - 1) * single), "ICC(1,1)": single}
        true["ICC(3,1)"] = single
        estimates: dict[str, list[float]] = {name: [] for name in COEFFICIENTS}
        inside: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for repeat in range(REPLICATIONS):
            x, cluster = draw(kind, n, r, rng)
            values = joint(x, np.ones((1, n)))[0]
            for name, value in zip(COEFFICIENTS, values, strict=True):
                estimates[name].append(float(value))
            for key, bounds in intervals(x, cluster, repeat).items():
                inside.setdefault(key, []).append(bounds)
        for (name, method), found in sorted(inside.items()):
            bounds = np.array(found)
            hit = (bounds[:, 0] <= true[name]) & (true[name] <= bounds[:, 1])
            coverage = float(hit.mean())
            rows.append(
                {
                    "scores": kind,
                    "n_items": n,
                    "n_replications": r,
                    "coefficient": name,
                    "method": method,
                    "truth": round(true[name], 4),
                    "bias": round(float(np.mean(estimates[name])) - true[name], 4),
                    "coverage": round(coverage, 3),
                    "coverage_se": round(math.sqrt(coverage * (1 - coverage) / len(hit)), 4),
                    "below": round(float((bounds[:, 1] < true[name]).mean()), 3),
                    "above": round(float((bounds[:, 0] > true[name]).mean()), 3),
                    "mean_width": round(float(np.nanmean(bounds[:, 1] - bounds[:, 0])), 4),
                }
            )
    write_rows("coverage_scores.csv", rows)


if __name__ == "__main__":
    main()
