"""What alpha and ICC(1,1) yield under the null hypothesis, and the size of their tests.

Run ``python docs/simulations/null_scores.py``: it writes null_scores.csv next to this file in about
two minutes. Scores have no item effect: ``normal``, ``ties`` (nearly all 8 or 9), or ``unequal``
(each item has its own error variance, as a judge's items do). `permutation` shuffles each
replication's column over items; `F` is the analysis of variance's test.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tables import write_rows

from judgestats.stats.reliability.intraclass import icc

REPLICATIONS = 1000
PERMUTATIONS = 199
SEED = 20262
CUTS = np.array([-2.05, -0.1, 1.9])


def draw(kind: str, n: int, r: int, rng: np.random.Generator) -> np.ndarray:
    """Scores without an item effect."""
    x = rng.normal(size=(n, r))
    if kind == "ties":
        return 7.0 + np.searchsorted(CUTS, x)
    if kind == "unequal":
        return x * rng.choice([0.2, 1.0, 2.0], size=(n, 1))
    return x


def main() -> None:
    """Simulate, and write the table."""
    rows: list[dict[str, Any]] = []
    kinds = ("normal", "ties", "unequal")
    cells = [(k, n, r) for k in kinds for n in (20, 50, 200) for r in (3, 10)]
    for cell, (kind, n, r) in enumerate(cells):
        rng = np.random.default_rng([SEED, cell])
        found: dict[str, list[tuple[float, ...]]] = {}
        for repeat in range(REPLICATIONS):
            x = draw(kind, n, r, rng)
            for name, form in (("alpha", "ICC(3,k)"), ("ICC(1,1)", "ICC(1,1)")):
                out = icc(x, form=form, interval="none", n_permutations=PERMUTATIONS, seed=repeat)
                null = out.null
                if null is None:
                    continue
                found.setdefault(name, []).append(
                    (out.estimate, null.mean, null.q95, null.p_value, out.details["p_value"])
                )
        for name, values in found.items():
            table = np.array(values)
            rows.append(
                {
                    "scores": kind,
                    "n_items": n,
                    "n_replications": r,
                    "coefficient": name,
                    "mean_estimate": round(float(table[:, 0].mean()), 4),
                    "mean_of_null_means": round(float(table[:, 1].mean()), 4),
                    "theory_of_alpha": round(-2 / (n - 3), 4) if name == "alpha" else "",
                    "q95_of_estimates": round(float(np.quantile(table[:, 0], 0.95)), 4),
                    "mean_of_null_q95": round(float(table[:, 2].mean()), 4),
                    "size_permutation": round(float((table[:, 3] <= 0.05).mean()), 3),
                    "size_F": round(float((table[:, 4] <= 0.05).mean()), 3),
                    "size_se": round(float(np.sqrt(0.05 * 0.95 / REPLICATIONS)), 4),
                }
            )
    write_rows("null_scores.csv", rows)


if __name__ == "__main__":
    main()
