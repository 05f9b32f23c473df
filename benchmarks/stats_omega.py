"""Speed of the factor models beside their peers, in one run: python benchmarks/stats_omega.py

One BLAS thread for all. A peer's bootstrap is timed on fewer resamples and scaled to 1,000. R is
timed where it is installed; else its time from tests/reference/README.md is quoted as such.
"""

from __future__ import annotations

import importlib.util

import numpy as np
import pandas as pd
from timing import Row, compare, print_rows, with_r

from judgestats.stats.inference.keywords import one_blas_thread
from judgestats.stats.reliability.omega import omega_total
from judgestats.stats.reliability.one_factor import minres_one_factor, ml_one_factor
from judgestats.stats.reliability.published_omega import factor_analysis, minres_factors, oblimin

RESAMPLES = 1_000
LOOP = 50


def scores(n: int, p: int, seed: int = 0) -> np.ndarray:
    """One-factor normal scores with loadings spread from .4 to .8."""
    rng = np.random.default_rng(seed)
    lam = np.linspace(0.4, 0.8, p)
    return rng.normal(size=(n, 1)) * lam + rng.normal(size=(n, p)) * np.sqrt(1 - lam**2)


def factor_analyzer_bootstrap(x: np.ndarray, resamples: int) -> np.ndarray:
    """Omega of each resample by factor_analyzer's ML, the way a user of it would."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(resamples):
        r = np.corrcoef(x[rng.integers(len(x), size=len(x))], rowvar=False)
        loadings, _, _ = factor_analysis(r, n_factors=1, method="ml")
        true = loadings.sum() ** 2
        values.append(true / (true + (1 - loadings**2).sum()))
    return np.array(values)


def rows() -> list[Row]:
    """Every task beside its peers."""
    wide, narrow = scores(300, 100), scores(300, 6)
    r_wide, r_27 = np.corrcoef(wide, rowvar=False), np.corrcoef(scores(300, 27), rowvar=False)
    scaled = RESAMPLES / LOOP
    out: list[Row] = []

    part = compare(
        "one-factor ML, 300 x 100",
        lambda: ml_one_factor(np.corrcoef(wide, rowvar=False)[None]),
        {"factor_analyzer": lambda: factor_analysis(r_wide, n_factors=1, method="ml")},
    )
    with_r(part, "R factanal", wide, "factanal(d, 1)", quoted=0.121)
    out += part

    part = compare(
        "one-factor minres, 300 x 100",
        lambda: minres_one_factor(np.corrcoef(wide, rowvar=False)[None]),
        {"factor_analyzer": lambda: factor_analysis(r_wide, n_factors=1)},
    )
    with_r(part, "R psych::fa", wide, "psych::fa(d, 1)", quoted=0.096)
    out += part

    part = compare(
        "omega interval (bootstrap-logit), 1,000 resamples, 300 x 6",
        lambda: omega_total(narrow, model="congeneric", n_resamples=RESAMPLES),
        {"factor_analyzer loop": lambda: factor_analyzer_bootstrap(narrow, LOOP)},
        scale={"factor_analyzer loop": scaled},
    )
    loop = "replicate(1000, factanal(d[sample(300, 300, TRUE), ], 1))"
    with_r(part, "R factanal loop", narrow, loop, quoted=2.1)
    out += part

    peers = {"factor_analyzer": lambda: factor_analysis(r_27, n_factors=3, rotation="oblimin")}
    absent = {"reliabilipy": "not installed"}
    if importlib.util.find_spec("reliabilipy") is not None:
        from reliabilipy import reliability_analysis

        def reliabilipy_fit() -> None:
            reliability_analysis(correlations_matrix=pd.DataFrame(r_27)).fit()

        try:
            reliabilipy_fit()
        except TypeError:
            # factor_analyzer passes an argument that scikit-learn 1.6 renamed and 1.8 removed.
            absent = {"reliabilipy": "fails with the installed scikit-learn"}
        else:
            peers["reliabilipy"], absent = reliabilipy_fit, {}
    return out + compare(
        "3 minres factors + oblimin, 27 columns",
        lambda: oblimin(minres_factors(r_27, n_factors=3), tolerance=1e-5),
        peers,
        absent=absent,
    )


def main() -> None:
    """Print the table."""
    with one_blas_thread():
        print_rows(rows())


if __name__ == "__main__":
    main()
