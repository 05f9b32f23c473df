"""Coverage, bias and null behaviour of the intervals of nominal agreement coefficients.

Run ``python docs/simulations/coverage_verdicts.py``: it writes coverage_verdicts.csv and
null_verdicts.csv next to this file (about twenty minutes on one core).

Model: item i draws its verdict probabilities from a Dirichlet distribution with mean `base` and
concentration A; its R verdicts are independent draws, of which a share may not be read. Then
Fleiss' kappa and the vote-share single-judgment reliability are 1 / (A + 1) in the population (0:
all items have the probabilities `base`), and raw agreement, AC1 and alpha follow in closed form, so
that coverage is of the truth, not of an average estimate. The scale log_complement, -log(1 - x),
was the default before log_ratio.
"""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path

import numpy as np

from judgestats.stats.agreement.kappa import (
    agreement_statistic,
    chance_fleiss,
    chance_gwet,
    least_against_even_chance,
    least_fleiss_kappa,
    least_vote_share,
)
from judgestats.stats.agreement.raw_agreement import (
    mean_over_items,
    pair_statistic,
    pairs_that_agree,
)
from judgestats.stats.inference.result import Sample
from judgestats.stats.inference.sum_statistics import estimate_from_sums

HERE = Path(__file__).resolve().parent
SHAPES = {"even3": (1 / 3, 1 / 3, 1 / 3), "skew": (0.9, 0.1), "rare": (0.97, 0.03)}
METHODS = (
    ("jackknife", "log_ratio"),
    ("jackknife", "log_complement"),
    ("jackknife", "identity"),
    ("linearised", "log_ratio"),
    ("linearised", "identity"),
    ("bca", "identity"),
    ("percentile", "identity"),
)


def coefficients():
    """Name -> (statistic, scale of its bounded version)."""
    return {
        "fleiss_kappa": agreement_statistic(chance_fleiss),
        "gwet_ac1": agreement_statistic(chance_gwet),
        "vote_share_anova": pair_statistic("anova"),
        "percent_agreement": mean_over_items(pairs_that_agree),
    }


def least(coefficient, counts):
    """The least value that counts of this shape can give."""
    r, q = counts.sum(axis=1), counts.shape[1]
    if coefficient == "fleiss_kappa":
        return least_fleiss_kappa(r)
    if coefficient == "vote_share_anova":
        return least_vote_share(r, estimator="anova")
    return least_against_even_chance(r, n_categories=q) if coefficient == "gwet_ac1" else 0.0


def truth(base, rho):
    """Population value of each coefficient."""
    p = np.array(base)
    pa = rho + (1 - rho) * np.sum(p**2)
    pe = np.sum(p * (1 - p)) / (p.size - 1)
    return {
        "fleiss_kappa": rho,
        "vote_share_anova": rho,
        "gwet_ac1": (pa - pe) / (1 - pe),
        "percent_agreement": pa,
    }


def draw(rng, base, rho, n, r, unread):
    """One count table."""
    pi = np.tile(base, (n, 1))
    if rho:
        pi = rng.dirichlet(np.array(base) * (1 / rho - 1), size=n)
    made = rng.binomial(r, 1 - unread, size=n) if unread else r
    return rng.multinomial(made, pi).astype(float)


def simulate(name, rho, n, r, unread, *, n_data, n_boot):
    """Rows of the coverage table for one setting."""
    base = SHAPES[name]
    rng = np.random.default_rng([n, r, int(100 * rho), len(base), int(100 * unread)])
    true, stats_ = truth(base, rho), coefficients()
    hits: dict[tuple[str, str, str], list[tuple[int, int, float]]] = {}
    values: dict[str, list[float]] = {k: [] for k in stats_}
    for b in range(n_data):
        counts = draw(rng, base, rho, n, r, unread)
        for coefficient, statistic in stats_.items():
            for method, scale in METHODS:
                if method in {"bca", "percentile"} and b >= n_boot:
                    continue
                bounded = coefficient == "percent_agreement" and scale != "identity"
                if bounded and scale == "log_complement":
                    continue
                on = "logit" if bounded else scale
                out = estimate_from_sums(
                    statistic,
                    counts,
                    name="x",
                    label="x",
                    estimator="",
                    sample=Sample(n_items=n),
                    reason="undefined",
                    where="simulate",
                    interval=method,
                    scale=on,
                    least=least(coefficient, counts),
                    n_resamples=500,
                    seed=b,
                    proportion=coefficient == "percent_agreement",
                )
                if (method, scale) == METHODS[0]:
                    values[coefficient].append(out.estimate)
                i = out.interval
                below = int(i is not None and true[coefficient] < i.low)
                above = int(i is not None and true[coefficient] > i.high)
                width = i.high - i.low if i is not None else math.nan
                hits.setdefault((coefficient, method, on), []).append((below, above, width))
    rows = []
    for (coefficient, method, scale), seen in hits.items():
        table = np.array(seen)
        known = ~np.isnan(table[:, 2])
        estimates = np.array(values[coefficient])
        covered = 1 - table[known, 0].mean() - table[known, 1].mean() if known.any() else math.nan
        rows.append(
            {
                "prevalence": name,
                "true_kappa": rho,
                "n_items": n,
                "replications": r,
                "unread": unread,
                "coefficient": coefficient,
                "truth": round(true[coefficient], 4),
                "bias": round(float(np.nanmean(estimates) - true[coefficient]), 4),
                "undefined": round(float(np.mean(np.isnan(estimates))), 4),
                "method": method,
                "scale": scale,
                "coverage": round(float(covered), 4),
                "miss_low": round(float(table[known, 1].mean()), 4),
                "miss_high": round(float(table[known, 0].mean()), 4),
                "no_interval": round(float(1 - known.mean()), 4),
                "mean_width": round(float(np.mean(table[known, 2])), 4),
                "data_sets": len(seen),
            }
        )
    return rows


def null_rows(*, n_data):
    """Mean, 95th percentile and size of kappa where the item does not matter."""
    rows = []
    for name, n, r in itertools.product(("even3", "skew"), (20, 50, 200), (3, 10)):
        base = SHAPES[name]
        rng = np.random.default_rng([n, r, 7])
        counts = rng.multinomial(r, base, size=(n_data, n)).astype(float)
        for coefficient, statistic in coefficients().items():
            v = statistic.value(counts)
            rows.append(
                {
                    "prevalence": name,
                    "n_items": n,
                    "replications": r,
                    "coefficient": coefficient,
                    "null_mean": round(float(np.nanmean(v)), 4),
                    "null_q95": round(float(np.nanquantile(v, 0.95)), 4),
                    "data_sets": n_data,
                }
            )
    return rows


def write(path, rows):
    """A CSV of the rows."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def main():
    """Both tables."""
    rows = []
    for name, rho, n, r in itertools.product(SHAPES, (0, 0.3, 0.6, 0.9), (20, 50, 200), (3, 10)):
        rows += simulate(name, rho, n, r, 0, n_data=500, n_boot=200 if n <= 50 else 0)
    for name, rho, n in itertools.product(SHAPES, (0, 0.3, 0.6, 0.9), (20, 50)):
        rows += simulate(name, rho, n, 10, 0.4, n_data=500, n_boot=0)
    write(HERE / "coverage_verdicts.csv", rows)
    write(HERE / "null_verdicts.csv", null_rows(n_data=4000))


if __name__ == "__main__":
    main()
