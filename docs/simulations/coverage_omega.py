"""Coverage and bias of the intervals of omega total, and its value when nothing is there.

Writes coverage_omega.csv and null_omega.csv next to this file; about ten minutes on one core:

    python docs/simulations/coverage_omega.py [population ...]

Populations (R replications, one factor):

- ``parallel``: normal, single-judgment reliability .3.
- ``congeneric``: normal, standardised loadings evenly spread from .35 to .80.
- ``congeneric_ties``: the same cut into four grades holding .55, .25, .15 and .05 of the judgments,
  as an LLM judge that nearly always gives the lowest grade. The true value is that of the same
  coefficient on 400,000 items.

A method covers the truth in a share of the samples; samples without an interval (undefined) are
counted separately and count as not covered.
"""

from __future__ import annotations

import csv
import math
import sys
import zlib
from pathlib import Path

import numpy as np
from scipy import stats
from tables import write_rows

from judgestats.stats.inference.bootstrap import cluster_bootstrap
from judgestats.stats.reliability.intraclass import icc
from judgestats.stats.reliability.omega import omega_total
from judgestats.stats.reliability.omega_fit import weighted_covariances
from judgestats.stats.reliability.one_factor import fit_stack, omegas

HERE = Path(__file__).resolve().parent
CUTS = stats.norm.ppf([0.55, 0.80, 0.95])
POPULATIONS = ("parallel", "congeneric", "congeneric_ties")
LEVEL = 0.95
ANALYTIC_SAMPLES = 600
BOOTSTRAP_SAMPLES = 150
RESAMPLES = 200
ANALYTIC = {"parallel": ("f",), "congeneric": ()}
BOOTSTRAP = ("percentile", "bca", "bootstrap-logit")


def loadings(population: str, R: int) -> np.ndarray:
    """Standardised loadings of a population."""
    if population == "parallel":
        return np.full(R, math.sqrt(0.3))
    return np.linspace(0.35, 0.80, R)


def draw(population: str, N: int, R: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a sample of N items."""
    lam = loadings(population, R)
    X = rng.standard_normal((N, 1)) * lam + rng.standard_normal((N, R)) * np.sqrt(1 - lam**2)
    return np.searchsorted(CUTS, X).astype(float) if population.endswith("ties") else X


def truth(population: str, model: str, R: int) -> float:
    """Compute the population value of the coefficient."""
    lam = loadings(population, R)
    if population.endswith("ties"):
        S = np.cov(draw(population, 400_000, R, np.random.default_rng(7)), rowvar=False)
    else:
        S = np.outer(lam, lam) + np.diag(1 - lam**2)
    if model == "parallel":
        return R / (R - 1) * (1 - np.trace(S) / S.sum())
    solution = fit_stack(S[None], model="congeneric", estimator="ml", lower=0.005)
    return float(omegas(solution.loadings[0], solution.uniquenesses[0], S)["model"])


def analytic(X: np.ndarray, method: str) -> tuple[float, float, float]:
    """Estimate and analytic interval of one sample."""
    result = icc(X, form="ICC(3,k)", interval=method, level=LEVEL, n_permutations=0)
    if result.interval is None:
        return result.estimate, math.nan, math.nan
    return result.estimate, result.interval.low, result.interval.high


def bootstrap(X: np.ndarray, model: str, seed: int) -> dict[str, tuple[float, float, float]]:
    """All bootstrap intervals from one set of resamples."""
    start = None
    if model == "congeneric":
        first = omega_total(X, model=model, interval=None)
        if math.isnan(first.estimate):
            return dict.fromkeys(BOOTSTRAP, (math.nan,) * 3)
        start = (first.loadings, first.uniquenesses)

    def statistic(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        S = weighted_covariances(x, weights)
        if model == "parallel":
            total = S.sum((1, 2))
            R = x.shape[1]
            return R / (R - 1) * (1 - np.einsum("bii->b", S) / total)
        fit = fit_stack(S, model="congeneric", estimator="ml", lower=0.005, start=start)
        value = omegas(fit.loadings, fit.uniquenesses, S)["model"]
        return np.where(fit.converged, value, np.nan)

    boot = cluster_bootstrap(
        X, statistic, n_resamples=RESAMPLES, seed=seed, method="bca", vectorized=True, level=LEVEL
    )
    estimate, values = boot.estimate, boot.distribution[np.isfinite(boot.distribution)]
    found = {"bca": (estimate, boot.interval.low, boot.interval.high)}
    if values.size < RESAMPLES / 2:
        nothing = (estimate, math.nan, math.nan)
        return {**found, "percentile": nothing, "bootstrap-logit": nothing}
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    found["percentile"] = (estimate, float(low), float(high))
    z = stats.norm.ppf((1 + LEVEL) / 2)
    if model == "parallel":
        centre, spread = -math.log1p(-estimate), np.std(-np.log1p(-values), ddof=1)
        ends = [1 - math.exp(-(centre - z * spread)), 1 - math.exp(-(centre + z * spread))]
    else:
        spread = np.std(np.log(values) - np.log1p(-values), ddof=1)
        centre = math.log(estimate / (1 - estimate))
        ends = [1 / (1 + math.exp(-(centre + s * z * spread))) for s in (-1, 1)]
    found["bootstrap-logit"] = (estimate, ends[0], ends[1])
    return found


def rows_of(population: str, N: int, R: int, model: str) -> list[dict[str, object]]:
    """One cell of the table: every method on the same samples."""
    true = truth(population, model, R)
    collected: dict[str, list[tuple[float, float, float]]] = {}
    rng = np.random.default_rng([zlib.crc32(population.encode()), N, R])
    for sample in range(ANALYTIC_SAMPLES):
        X = draw(population, N, R, rng)
        for method in ANALYTIC[model]:
            collected.setdefault(method, []).append(analytic(X, method))
        if sample < BOOTSTRAP_SAMPLES:
            for method, found in bootstrap(X, model, sample).items():
                collected.setdefault(method, []).append(found)
    rows = []
    for method, values in collected.items():
        estimate, low, high = np.array(values).T
        defined = np.isfinite(low) & np.isfinite(high)
        covered = defined & (low <= true) & (true <= high)
        rows.append(
            {
                "population": population,
                "N": N,
                "R": R,
                "model": model,
                "method": method,
                "true": f"{true:.4f}",
                "bias": f"{np.nanmean(estimate) - true:.4f}",
                "coverage": f"{covered.mean():.3f}",
                "coverage_of_defined": f"{covered[defined].mean():.3f}",
                "mean_width": f"{(high - low)[defined].mean():.3f}",
                "undefined": f"{1 - defined.mean():.3f}",
                "samples": len(values),
            }
        )
    return rows


def null_rows() -> list[dict[str, object]]:
    """Mean and 95th percentile of each coefficient on scores without an item effect."""
    rows = []
    for N in (20, 50, 200):
        for R in (3, 10):
            rng = np.random.default_rng([1, N, R])
            size = 4000
            X = rng.standard_normal((size, N, R))
            X -= X.mean(1, keepdims=True)
            S = X.transpose(0, 2, 1) @ X / (N - 1)
            values = {
                "parallel (alpha)": R / (R - 1) * (1 - np.einsum("bii->b", S) / S.sum((1, 2)))
            }
            for estimator, lower in (("ml", 0.005), ("minres", 0.0)):
                fit = fit_stack(S, model="congeneric", estimator=estimator, lower=lower)
                omega = omegas(fit.loadings, fit.uniquenesses, S)["model"]
                values[f"congeneric {estimator}"] = omega[fit.converged]
            for name, value in values.items():
                rows.append(
                    {
                        "N": N,
                        "R": R,
                        "coefficient": name,
                        "mean": f"{value.mean():.4f}",
                        "q95": f"{np.quantile(value, 0.95):.4f}",
                        "theory": f"{-2 / (N - 3):.4f}" if name.startswith("parallel") else "",
                        "samples": value.size,
                    }
                )
    return rows


def main(populations: list[str]) -> None:
    """Run both tables, saving after every cell; cells have their own seeds and may be run alone."""
    rows: list[dict[str, object]] = []
    file = HERE / "coverage_omega.csv"
    if set(populations) == set(POPULATIONS):
        write_rows("null_omega.csv", null_rows())
    elif file.exists():
        with file.open(encoding="utf-8") as lines:
            rows += [r for r in csv.DictReader(lines) if r["population"] not in populations]
    for population in populations:
        for N in (20, 50, 200):
            for R in (3, 10):
                for model in ("parallel", "congeneric"):
                    rows += rows_of(population, N, R, model)
                    write_rows("coverage_omega.csv", rows)


if __name__ == "__main__":
    main(sys.argv[1:] or list(POPULATIONS))
