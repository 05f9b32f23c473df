"""Coverage of the interval of the disattenuated correlation, by bootstrap method.

Run ``python docs/simulations/coverage_disattenuation.py``: it writes coverage_disattenuation.csv
beside itself (about two minutes on one core). Model: normal true scores of judge and human with
correlation .7, noise such that one judgment has the reliability given, three human raters of
reliability .5 each.
"""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path

import numpy as np

from judgestats.stats.agreement.human_correlation import disattenuated_correlation

HERE = Path(__file__).resolve().parent
TRUTH = 0.7


def draw(rng: np.random.Generator, n: int, r: int, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the judge (n x r) and of three people (n x 3)."""
    judge = rng.standard_normal((n, 1))
    human = TRUTH * judge + math.sqrt(1 - TRUTH**2) * rng.standard_normal((n, 1))
    noise = math.sqrt(1 / rho - 1)
    return judge + noise * rng.standard_normal((n, r)), human + rng.standard_normal((n, 3))


def main() -> None:
    """Write the table."""
    rows = []
    for n, r, rho in itertools.product((20, 50, 200), (3, 10), (0.3, 0.7)):
        rng = np.random.default_rng([n, r, int(10 * rho)])
        data = [draw(rng, n, r, rho) for _ in range(300)]
        for method in ("percentile", "bca"):
            found = [
                disattenuated_correlation(x, y, interval=method, n_resamples=400, seed=b)
                for b, (x, y) in enumerate(data)
            ]
            known = [e for e in found if e.interval is not None]
            inside = [e.interval.low <= TRUTH <= e.interval.high for e in known]
            rows.append(
                {
                    "n_items": n,
                    "replications": r,
                    "reliability": rho,
                    "method": method,
                    "coverage": round(float(np.mean(inside)), 4),
                    "bias": round(float(np.mean([e.estimate for e in known])) - TRUTH, 4),
                    "mean_width": round(
                        float(np.mean([e.interval.high - e.interval.low for e in known])), 4
                    ),
                    "no_interval": round(1 - len(known) / len(found), 4),
                    "data_sets": len(found),
                }
            )
    path = HERE / "coverage_disattenuation.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
