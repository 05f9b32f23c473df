"""Speed of the measurement models on thousands of items: python benchmarks/stats_instrument.py"""

from __future__ import annotations

import numpy as np
from timing import Row, compare, print_rows

from judgestats.stats.models.bradley_terry import bradley_terry
from judgestats.stats.models.many_facet import many_facet

N_ITEMS = 4_000


def rows(n: int = N_ITEMS) -> list[Row]:
    """Five judges' scores of `n` answers on five points; five systems in `n` pairs."""
    rng = np.random.default_rng(0)
    shown = rng.normal(size=(n, 1)) - np.linspace(-0.8, 0.8, 5) + rng.logistic(0, 0.6, (n, 5))
    scores = 1.0 + np.digitize(shown, [-1.5, -0.5, 0.5, 1.5])
    answer = np.repeat([f"a{i}" for i in range(n)], 5)
    judge = np.tile([f"j{k}" for k in range(5)], n)
    question = np.array([f"q{i // 4}" for i in range(n)])
    pair = np.array([(i, j) for i in range(5) for j in range(5) if i != j])[np.arange(n) % 20]
    ahead = (pair[:, 1] - pair[:, 0]) * 0.4 + 0.3 + rng.logistic(size=n)
    verdict = np.where(np.abs(ahead) < 0.4, "tie", np.where(ahead > 0, "a", "b"))
    names = np.array(list("vwxyz"))
    return [
        *compare(
            f"many-facet rating scale, {n:,} x 5",
            lambda: many_facet(
                scores.ravel(), answer=answer, facets={"judge": judge},
                cluster=np.repeat(question, 5),
            ),
        ),
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
