"""What the procedure of arXiv 2412.12509 gives under the null hypothesis.

Writes published_null.csv next to this file (about two minutes):

    python docs/simulations/published_null.py

Rows with ``data = noise`` hold verdicts drawn uniformly and independently: omega and alpha average
what the paper's table prints for real judges. The other rows take the public verdicts of the
paper's two judges (../shared/data/schroeder2024 next to the project; left out where it is absent)
and shuffle each question's replications: the table stays as it is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from tables import write_rows

from judgestats.stats.reliability.published_omega import PublishedOmega, published_omega_2412_12509

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "shared" / "data" / "schroeder2024"
MEAN_ABS_R = 0.8 / np.sqrt(100)  # of two independent columns of 100 cases
PERMUTATIONS = 199


def row(result: PublishedOmega, **where: object) -> dict[str, object]:
    """One line of the table."""
    null, alpha_null = result.null, result.alpha_null
    return {
        **where,
        "n_rest": result.n_rest,
        "n_constant": result.n_constant,
        "n_dropped": result.n_dropped,
        "omega": f"{result.estimate:.4f}",
        "null_mean": f"{null.mean:.4f}",
        "null_q95": f"{null.q95:.4f}",
        "p_value": f"{null.p_value:.3f}",
        "alpha": f"{result.alpha:.4f}",
        "alpha_null_mean": f"{alpha_null.mean:.4f}",
        "permutations": null.n_permutations,
    }


def noise_rows() -> list[dict[str, object]]:
    """Null of pure noise for the sizes of the paper's three benchmarks."""
    rows = []
    for benchmark, p in (("BBH", 27), ("SQuAD", 20), ("MT-Bench", 8)):
        noise = np.random.default_rng(p).integers(1, 6, size=(p, 100))
        result = published_omega_2412_12509(noise, n_permutations=999)
        theory = p * MEAN_ABS_R / (1 + (p - 1) * MEAN_ABS_R)
        line = row(result, data="noise", judge="", temperature="", benchmark=benchmark, printed="")
        rows.append(line | {"alpha_theory": f"{theory:.3f}"})
    return rows


def judge_rows() -> list[dict[str, object]]:
    """Every cell whose verdicts are public: printed, recomputed, and its null."""
    if not (DATA / "verdicts.csv.gz").exists():
        return []
    verdicts = pd.read_csv(DATA / "verdicts.csv.gz")
    printed = pd.read_csv(DATA / "published_omega.csv").set_index(["judge", "temperature"])
    rows = []
    cells = verdicts.groupby(["judge", "temperature", "benchmark"], sort=False)
    for (judge, temperature, benchmark), cell in cells:
        table = cell.pivot_table(
            index="item", columns="replicate", values="verdict", aggfunc="first"
        )
        result = published_omega_2412_12509(table.to_numpy(), n_permutations=PERMUTATIONS)
        line = row(
            result,
            data="schroeder2024",
            judge=judge,
            temperature=temperature,
            benchmark=benchmark,
            printed=printed.loc[(judge, temperature), benchmark],
        )
        rows.append(line | {"alpha_theory": ""})
    return rows


def main() -> None:
    """Write the table."""
    rows = noise_rows() + judge_rows()
    write_rows("published_null.csv", rows)


if __name__ == "__main__":
    main()
