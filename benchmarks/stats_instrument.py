"""Speed of the measurement models on thousands of items: python benchmarks/stats_instrument.py"""

from __future__ import annotations

import numpy as np
from timing import Row, compare, print_rows

from judgestats.stats.models.bradley_terry import bradley_terry

N_ITEMS = 4_000


def rows(n: int = N_ITEMS) -> list[Row]:
    """Five systems in `n` pairs."""
    rng = np.random.default_rng(0)
    question = np.array([f"q{i // 4}" for i in range(n)])
    pair = np.array([(i, j) for i in range(5) for j in range(5) if i != j])[np.arange(n) % 20]
    ahead = (pair[:, 1] - pair[:, 0]) * 0.4 + 0.3 + rng.logistic(size=n)
    verdict = np.where(np.abs(ahead) < 0.4, "tie", np.where(ahead > 0, "a", "b"))
    names = np.array(list("vwxyz"))
    return [
        *compare(
            f"Davidson with order, {n:,} pairs",
            lambda: bradley_terry(
                verdict, system_a=names[pair[:, 0]], system_b=names[pair[:, 1]],
                cluster=question,
            ),
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    print_rows(rows())
