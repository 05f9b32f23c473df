"""Nominal agreement: time linear in items, side by side with the packages installed.

Run ``python benchmarks/stats_verdicts.py``. Every pair of rows computes the same number on the same
data: the run stops where they differ.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss
from timing import Call, Row, compare, print_rows

from judgestats.stats.agreement.kappa import cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha
from judgestats.stats.agreement.raw_agreement import vote_share_reliability
from judgestats.stats.designs.count_table import count_table

LETTERS = np.array(list("ABCDE"), dtype=object)
SIZES = (1_000, 10_000, 100_000)


def draw(n: int, r: int) -> np.ndarray:
    """Codes of n items judged r times."""
    rng = np.random.default_rng(1)
    shares = rng.dirichlet([1.0, 1.0, 0.5, 0.3, 0.2], size=n)
    return (rng.random((n, r, 1)) > shares.cumsum(axis=1)[:, None, :]).sum(axis=2).clip(0, 4)


def linear() -> list[Row]:
    """Microseconds per item by number of items: level when time is linear (once out of cache)."""
    tables = {n: count_table(draw(n, 10)) for n in SIZES}
    letters = {n: LETTERS[draw(n, 10)] for n in SIZES}
    functions: dict[str, tuple[Callable[[Any], Any], dict[int, Any]]] = {
        "counting letters": (count_table, letters),
        "fleiss_kappa": (fleiss_kappa, tables),
        "gwet_ac1": (gwet_ac1, tables),
        "krippendorff_alpha": (krippendorff_alpha, tables),
        "vote_share_reliability": (vote_share_reliability, tables),
    }
    out = []
    for name, (function, data) in functions.items():
        row: Row = {"coefficient": name}
        for n in SIZES:
            timed = compare(name, lambda n=n, f=function, d=data: f(d[n]), budget=0.7)
            row[n] = timed[0]["ours"] / n * 1e6
        out.append(row)
    return out


def same(ours: float, theirs: float) -> float:
    """The difference of two answers that must be one."""
    gap = abs(float(ours) - float(theirs))
    if gap > 1e-9:
        raise SystemExit(f"a peer gives another number ({theirs} instead of {ours})")
    return gap


def rows() -> list[Row]:
    """Every coefficient beside the packages that have it."""
    codes = draw(5_000, 10)
    table = count_table(codes)
    gaps = codes.astype(float)
    gaps[np.random.default_rng(2).random(gaps.shape) < 0.1] = math.nan

    def point(function: Callable[..., Any], data: Any, **options: Any) -> float:
        return float(function(data, interval="none", **options).estimate)

    out = compare(
        "Fleiss' kappa, 5,000 x 10, from codes",
        lambda: point(fleiss_kappa, codes),
        {"statsmodels": lambda: statsmodels_fleiss(aggregate_raters(codes)[0])},
        gap=same,
    )
    out += compare(
        "Fleiss' kappa, 5,000 x 10, from counts",
        lambda: point(fleiss_kappa, table),
        {"statsmodels": lambda: statsmodels_fleiss(table.counts)},
        gap=same,
    )
    for metric in ("nominal", "interval"):
        out += compare(
            f"Krippendorff's alpha ({metric}), 5,000 x 10, 10% missing",
            lambda m=metric: point(krippendorff_alpha, gaps, metric=m),
            {
                "krippendorff": lambda m=metric: krippendorff.alpha(
                    reliability_data=gaps.T, level_of_measurement=m
                )
            },
            gap=same,
        )
    out += compare(
        "Cohen's kappa, 5,000 pairs",
        lambda: float(cohen_kappa(codes[:, 0], codes[:, 1], interval="none").estimate),
        {"scikit-learn": lambda: cohen_kappa_score(codes[:, 0], codes[:, 1])},
        gap=same,
    )
    gwet: dict[str, Call] = {}
    if importlib.util.find_spec("irrCAC") is not None:
        from irrCAC.raw import CAC

        frame = pd.DataFrame(codes)
        gwet["irrCAC"] = lambda: CAC(frame).gwet()["est"]["coefficient_value"]
    out += compare(
        "Gwet's AC1 with interval, 5,000 x 10",
        lambda: float(gwet_ac1(codes).estimate),
        gwet,
        gap=lambda a, b: abs(a - float(b)),  # irrCAC rounds to five decimals
        absent={} if gwet else {"irrCAC": "not installed"},
    )
    out += compare(
        "Fleiss' kappa, 1,000-resample BCa interval, 5,000 items",
        lambda: fleiss_kappa(table, interval="bca", n_resamples=1_000),
        repeats=3,
    )
    small = count_table(codes[:80])
    out += compare(
        "Fleiss' kappa, 9,999 permutations, 80 x 10",
        lambda: fleiss_kappa(small, n_permutations=9_999),
        repeats=3,
    )
    return out


def print_linear(found: list[Row]) -> None:
    """Microseconds per item."""
    print("Microseconds per item, 10 replications; coefficients from the count table with interval")
    print(f"{'':24}" + "".join(f"{n:>12,}" for n in SIZES))
    for row in found:
        print(f"{row['coefficient']:24}" + "".join(f"{row[n]:12.2f}" for n in SIZES))


def main() -> None:
    """Print both tables."""
    print_linear(linear())
    print_rows(rows())


if __name__ == "__main__":
    main()
