"""Rank tests: judgestats beside scikit-posthocs, pingouin, scipy and R on the same data.

    python benchmarks/stats_ranks.py

scikit-posthocs (not a dependency: ``pip install --no-deps --target DIR scikit-posthocs`` and
``PYTHONPATH=DIR``) and R with PMCMRplus are timed where they are installed; else their times from
tests/reference/README.md are quoted as such. The gap is the largest difference of the p-values.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pingouin
from scipy import stats
from timing import Call, Row, compare, print_rows, with_r

from judgestats.stats.comparison.groups import kruskal_test, mann_whitney_test
from judgestats.stats.comparison.matched import friedman_test
from judgestats.stats.comparison.paired import wilcoxon_signed_rank
from judgestats.stats.inference.result import Comparisons


def square(found: Comparisons, names: list[str]) -> np.ndarray:
    """Adjusted p-values as the symmetric matrix that scikit-posthocs returns."""
    out = np.ones((len(names), len(names)))
    for r in found.rows:
        i, j = names.index(r.a), names.index(r.b)
        out[i, j] = out[j, i] = r.p_adjusted
    return out


def p_of(answer: Any) -> float:
    """The p-value in scipy's result, pingouin's table or ours."""
    if isinstance(answer, pd.DataFrame):
        column = next(c for c in answer.columns if c.startswith("p"))
        return float(answer[column].iloc[0])
    return float(answer.p_value if hasattr(answer, "p_value") else answer.pvalue)


def p_gap(ours: Any, theirs: Any) -> float:
    """Difference of the p-values."""
    return abs(p_of(ours) - p_of(theirs))


def rows() -> list[Row]:
    """Every test beside its peers."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    x = rng.choice([0.0, 0.5, 1.0], size=(1000, 8), p=[0.2, 0.3, 0.5]) + rng.choice([0, 1], size=8)
    names = [str(j + 1) for j in range(8)]
    value = rng.integers(1, 11, 100_000).astype(float)
    group = rng.integers(0, 6, 100_000)
    frame = pd.DataFrame({"value": value, "group": group})
    pairs = np.round(rng.normal(8, 1, size=(500, 2)))
    posthocs: Any = None
    if importlib.util.find_spec("scikit_posthocs") is not None:
        posthocs = importlib.import_module("scikit_posthocs")

    name = "scipy + scikit-posthocs"
    nemenyi: dict[str, Call] = {}
    if posthocs is not None:
        nemenyi[name] = lambda: (
            stats.friedmanchisquare(*x.T),
            posthocs.posthoc_nemenyi_friedman(x),
        )[1]
    out = compare(
        "Friedman + Nemenyi, 1,000 x 8",
        lambda: friedman_test(x).nemenyi(),
        nemenyi,
        gap=lambda a, b: float(np.max(np.abs(square(a, names) - b.to_numpy()))),
        quoted={} if nemenyi else {"scikit-posthocs (Nemenyi alone)": 0.003},
    )
    both = "{y <- as.matrix(d); friedman.test(y); PMCMRplus::frdAllPairsNemenyiTest(y)}"
    with_r(out, "R PMCMRplus", x, both, quoted=0.022)
    out += compare(
        "Friedman (ours with W, its interval), 1,000 x 8",
        lambda: friedman_test(x),
        {
            "scipy": lambda: stats.friedmanchisquare(*x.T),
            "pingouin": lambda: pingouin.friedman(pd.DataFrame(x)),
        },
        gap=p_gap,
        budget=1.5,
    )
    out += compare(
        "Kruskal-Wallis, 1e5 rows",
        lambda: kruskal_test([value[group == g] for g in range(6)]),
        {"pingouin": lambda: pingouin.kruskal(frame, dv="value", between="group")},
        gap=p_gap,
    )
    out += compare(
        "Wilcoxon (ours: two effects, intervals), 500 pairs, ties",
        lambda: wilcoxon_signed_rank(pairs),
        {
            "scipy": lambda: stats.wilcoxon(*pairs.T, correction=True),
            "pingouin": lambda: pingouin.wilcoxon(*pairs.T, correction=True),
        },
        gap=p_gap,
        budget=1.5,
    )
    out += compare(
        "Mann-Whitney (ours: two effects, intervals), 500 + 500",
        lambda: mann_whitney_test(*pairs.T),
        {"scipy": lambda: stats.mannwhitneyu(*pairs.T)},
        gap=p_gap,
        budget=1.5,
    )
    return out


def main() -> None:
    print_rows(rows())


if __name__ == "__main__":
    main()
