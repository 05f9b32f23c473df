"""Rows of the validation table: omega and one-factor models."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from judgestats.stats import omega_total
from judgestats.stats.reliability import OmegaEstimate, covariances_of_stack, minres_one_factor
from validation.base import Case, matrix, reference

COMPLETE = ("congeneric6", "tau8", "parallel20x10", "reverse6", "ordinal7", "shrout_fleiss")
FITTED = (*COMPLETE, "missing8", "onefactor300x100", "binary5")
SINGULAR = ("nltp27x100", "dupcol90x6", "deterministic15x6")
CONSTANT = ("const40x6", "allconst20x5")
PROPER = tuple(d for d in FITTED if d != "missing8")


@cache
def omega(dataset: str, **options: Any) -> OmegaEstimate:
    return omega_total(matrix(dataset), interval=None, **options)


def congeneric(dataset: str, **options: Any) -> OmegaEstimate:
    return omega(dataset, model="congeneric", **options)


def complete(dataset: str) -> np.ndarray:
    X = matrix(dataset)
    return X[~np.isnan(X).any(axis=1)]


def pairwise_correlations(dataset: str) -> np.ndarray:
    import pandas as pd

    return pd.DataFrame(matrix(dataset)).corr().to_numpy()


def signed(loadings: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """The sign of a factor is free; R's choice is taken."""
    return loadings * np.sign(loadings @ theirs)


def loadings_of(dataset: str, key: str, result: Callable[[], OmegaEstimate]) -> Callable[[], Any]:
    return lambda: signed(result().loadings, np.array(reference(dataset, key, "loadings")))


def rescaled(dataset: str) -> float:
    """Factor from the N - 1 covariance of ours to lavaan's N divisor, for loadings."""
    n = len(complete(dataset))
    return float(np.sqrt((n - 1) / n))


def minres_cases() -> list[Case]:
    rows = []
    for d in (*FITTED, "heywood4", *SINGULAR):

        def fit(d: str = d) -> OmegaEstimate:
            return congeneric(d, estimator="minres", standardize=True, lower=None)

        def tight(d: str = d) -> np.ndarray:
            return minres_one_factor(pairwise_correlations(d)[None], lower=None).loadings[0]

        rows.append(
            Case(
                statistic="minres loadings (no bound)",
                dataset=d,
                key="uls_1f_tight",
                path=("loadings",),
                ours=lambda d=d, tight=tight: signed(
                    tight(), np.array(reference(d, "uls_1f_tight", "loadings"))
                ),
                tolerance=1e-6,
                note="correlations, pairwise where missing; R's gradient ends at 1e-7, ours 1e-11",
            )
        )
        if d == "missing8":
            continue
        for ours, theirs in (
            ("model", "omega_model_total"),
            ("observed", "omega_observed_total"),
            ("residual", "omega_1_minus_u2_over_total"),
        ):
            rows.append(
                Case(
                    statistic=f"omega, minres, denominator {ours}",
                    dataset=d,
                    key="uls_1f_tight",
                    path=(theirs,),
                    ours=lambda fit=fit, ours=ours: fit().omegas[ours],
                    tolerance=1e-6,
                    note="standardised columns, unbounded uniquenesses",
                )
            )
    for d in PROPER:
        for path, ours in (("omega_tot", "residual"), ("omega_h", "observed")):
            rows.append(
                Case(
                    statistic=f"omega, minres, denominator {ours}",
                    dataset=d,
                    key="omega_1f",
                    path=(path,),
                    ours=lambda d=d, ours=ours: congeneric(
                        d, estimator="minres", standardize=True
                    ).omegas[ours],
                    tolerance=2e-6,
                    note="psych::omega with one factor; its search stops near 1e-6",
                )
            )
        rows.append(
            Case(
                statistic="minres loadings",
                dataset=d,
                key="fa_minres_1f",
                path=("loadings",),
                ours=loadings_of(
                    d,
                    "fa_minres_1f",
                    lambda d=d: congeneric(d, estimator="minres", standardize=True),
                ),
                tolerance=2e-5,
                note="psych::fa stops at about 1e-5",
            )
        )
    rows.append(
        Case(
            statistic="minres uniquenesses",
            dataset="heywood4",
            key="fa_minres_1f",
            path=("uniqueness",),
            ours=lambda: congeneric("heywood4", estimator="minres", standardize=True).uniquenesses,
            tolerance=1e-3,
            agrees=False,
            note="psych bounds the search's uniquenesses, then reports 1 - communality (-.042); "
            "ours keeps every uniqueness at or above the bound",
        )
    )
    return rows


def ml_cases() -> list[Case]:
    rows = []
    for d in (*FITTED, "heywood4"):
        for key, lower, tolerance in (
            ("factanal_1f_tight", 1e-6, 5e-7),
            ("factanal_1f", 0.005, 2e-5),
        ):

            def fit(d: str = d, lower: float = lower) -> OmegaEstimate:
                return congeneric(d, standardize=True, lower=lower)

            rows += [
                Case(
                    statistic=f"ML loadings, uniqueness >= {lower:g}",
                    dataset=d,
                    key=key,
                    path=("loadings",),
                    ours=loadings_of(d, key, fit),
                    tolerance=tolerance,
                ),
                Case(
                    statistic=f"ML uniquenesses, uniqueness >= {lower:g}",
                    dataset=d,
                    key=key,
                    path=("uniqueness",),
                    ours=lambda fit=fit: fit().uniquenesses,
                    tolerance=tolerance,
                    note="" if key.endswith("tight") else "factanal's default stops near 1e-5",
                ),
                Case(
                    statistic=f"omega, ML, standardised, uniqueness >= {lower:g}",
                    dataset=d,
                    key=key,
                    path=("omega",),
                    ours=lambda fit=fit: fit().estimate,
                    tolerance=1e-6,
                ),
            ]
        rows += [
            Case(
                statistic="chi-square, Bartlett-corrected",
                dataset=d,
                key="factanal_1f",
                path=("STATISTIC",),
                ours=lambda d=d: congeneric(d, standardize=True).fit.chi2_bartlett,
                tolerance=1e-6,
            ),
            Case(
                statistic="p of the corrected chi-square",
                dataset=d,
                key="factanal_1f",
                path=("PVAL",),
                ours=lambda d=d: congeneric(d, standardize=True).fit.p_bartlett,
                tolerance=1e-6,
            ),
        ]
    for d in PROPER:
        rows.append(
            Case(
                statistic="ML loadings",
                dataset=d,
                key="fa_ml_1f",
                path=("loadings",),
                ours=loadings_of(d, "fa_ml_1f", lambda d=d: congeneric(d, standardize=True)),
                tolerance=5e-5,
                note="psych::fa stops at about 1e-5",
            )
        )
    for d in (*FITTED, "heywood4"):
        for part, scale in (("loadings", 1), ("uniqueness", 2)):
            field = "loadings" if part == "loadings" else "uniquenesses"
            rows.append(
                Case(
                    statistic=f"ML {field}, covariance, no bound",
                    dataset=d,
                    key="cfa_ml_1f",
                    path=(part,),
                    ours=lambda d=d, field=field, scale=scale: (
                        getattr(congeneric(d, lower=None), field)
                        * rescaled(d) ** scale
                        * (
                            np.sign(np.array(reference(d, "cfa_ml_1f", "loadings")).sum())
                            if field == "loadings"
                            else 1.0
                        )
                    ),
                    tolerance=2e-5,
                    note="lavaan's covariance has divisor N and its search stops near 1e-6",
                )
            )
        for ours, theirs in (("model", "omega_model_total"), ("observed", "omega_observed_total")):
            rows.append(
                Case(
                    statistic=f"omega, ML, denominator {ours}",
                    dataset=d,
                    key="cfa_ml_1f",
                    path=(theirs,),
                    ours=lambda d=d, ours=ours: congeneric(d, lower=None).omegas[ours],
                    tolerance=5e-6 if d == "onefactor300x100" else 1e-6,
                    note="raw scores, unbounded uniquenesses; lavaan stops early at 100 columns",
                )
            )
        for ours, theirs in (
            ("chi2", "chisq"),
            ("df", "df"),
            ("p_value", "pvalue"),
            ("cfi", "cfi"),
            ("tli", "tli"),
            ("rmsea", "rmsea"),
            ("srmr", "srmr"),
        ):
            rows.append(
                Case(
                    statistic=f"one-factor fit, {ours}",
                    dataset=d,
                    key="cfa_ml_1f",
                    path=("fit", theirs),
                    ours=lambda d=d, ours=ours: getattr(congeneric(d, lower=None).fit, ours),
                    tolerance=1e-6,
                    note="lavaan's conventions: N F, N in RMSEA",
                )
            )
        for ours, theirs in (("model", "omega_model_var"), ("observed", "omega_obs_var")):
            rows.append(
                Case(
                    statistic=f"omega, ML, denominator {ours}",
                    dataset=d,
                    key="compRelSEM_omega",
                    path=(theirs,),
                    ours=lambda d=d, ours=ours: congeneric(d, lower=None).omegas[ours],
                    tolerance=5e-6 if d == "onefactor300x100" else 1e-6,
                )
            )
        rows.append(
            Case(
                statistic="omega, parallel (raw alpha)",
                dataset=d,
                key="compRelSEM_omega",
                path=("alpha",),
                ours=lambda d=d: omega(d).estimate,
                tolerance=1e-7,
                note="lavaan's sample covariance is good to 1e-8",
            )
        )
    rows += [
        Case(
            statistic="omega, ML, uniqueness >= 0",
            dataset="heywood4",
            key="cfa_ml_1f_bounded",
            path=("omega_model_total",),
            ours=lambda: congeneric("heywood4", lower=1e-9).estimate,
            tolerance=1e-5,
            note="lavaan's bound is exactly 0, ours a billionth of the variance",
        ),
        Case(
            statistic="chi-square, uniqueness >= 0",
            dataset="heywood4",
            key="cfa_ml_1f_bounded",
            path=("chisq",),
            ours=lambda: congeneric("heywood4", lower=1e-9).fit.chi2,
            tolerance=1e-5,
        ),
        Case(
            statistic="chi-square, psych on an improper solution",
            dataset="heywood4",
            key="fa_ml_1f",
            path=("STATISTIC",),
            ours=lambda: congeneric("heywood4", standardize=True).fit.chi2_bartlett,
            tolerance=1e-3,
            note="both bound the uniqueness at .005",
        ),
    ]
    return rows


def parallel_cases() -> list[Case]:
    rows = []
    for d in (*COMPLETE, "heywood4", "binary5", "dupcol90x6", "twoitems60", "const40x6"):
        rows += [
            Case(
                statistic="omega, parallel (raw alpha)",
                dataset=d,
                key="alpha_raw_by_hand",
                ours=lambda d=d: omega(d).estimate,
            ),
            Case(
                statistic="omega, parallel, standardised (standardised alpha)",
                dataset=d,
                key="alpha_std_by_hand",
                ours=lambda d=d: omega(d, standardize=True).estimate,
                undefined=d == "const40x6",
            ),
        ]
    rows.append(
        Case(
            statistic="mean of k from the parallel model",
            dataset="parallel20x10",
            key="spearman_brown_from_icc1",
            ours=lambda: omega("parallel20x10").mean_of_all,
            note="the key's name says ICC(1); its value is Spearman-Brown of ICC(3,1)",
        )
    )
    return rows


def refusal_cases() -> list[Case]:
    """What R refuses is NaN with a reason here."""
    rows = []
    for d in (*SINGULAR, *CONSTANT):
        for key, options in (
            ("fa_ml_1f", {"standardize": True}),
            ("factanal_1f", {"standardize": True}),
            ("cfa_ml_1f", {}),
        ):
            rows.append(
                Case(
                    statistic="omega, ML (refused)",
                    dataset=d,
                    key=key,
                    ours=lambda d=d, options=options: congeneric(d, **options).estimate,
                    undefined=True,
                    note="singular covariance: NaN with the reason, the parallel model offered",
                )
            )
    for d in CONSTANT:
        for key in ("fa_minres_1f", "uls_1f_tight", "omega_1f"):
            rows.append(
                Case(
                    statistic="omega, minres (refused)",
                    dataset=d,
                    key=key,
                    ours=lambda d=d: congeneric(d, estimator="minres", standardize=True).estimate,
                    undefined=True,
                    note="constant columns have no correlation",
                )
            )
    rows.append(
        Case(
            statistic="omega, ML (refused)",
            dataset="twoitems60",
            key="factanal_1f",
            ours=lambda: congeneric("twoitems60").estimate,
            undefined=True,
            note="two columns do not identify a congeneric model",
        )
    )
    rows.append(
        Case(
            statistic="omega, parallel, standardised",
            dataset="twoitems60",
            key="omega_1f",
            path=("omega_tot",),
            ours=lambda: omega("twoitems60", standardize=True).estimate,
            tolerance=1e-9,
            note="psych sets two equal loadings: the parallel model of the correlation",
        )
    )
    rows.append(
        Case(
            statistic="omega, ML",
            dataset="twoitems60",
            key="cfa_ml_1f",
            path=("omega_model_total",),
            ours=lambda: omega("twoitems60").estimate,
            tolerance=1e-6,
            agrees=False,
            note="lavaan stops anywhere on a flat likelihood (df = -1); ours is the parallel omega",
        )
    )
    rows.append(
        Case(
            statistic="omega, minres, denominator residual",
            dataset="deterministic15x6",
            key="omega_1f",
            path=("omega_tot",),
            ours=lambda: congeneric(
                "deterministic15x6", estimator="minres", standardize=True
            ).omegas["residual"],
            tolerance=1e-6,
            agrees=False,
            note="psych smooths the singular matrix first; perfect agreement is exactly 1",
        )
    )
    return rows


def eigenvalue_cases() -> list[Case]:
    return [
        Case(
            statistic="eigenvalues of the correlation matrix",
            dataset=d,
            key="eigenvalues_cor",
            ours=lambda d=d: np.linalg.eigvalsh(_correlation(d))[::-1],
            tolerance=1e-9,
        )
        for d in ("congeneric6", "parallel20x10", "nltp27x100")
    ]


def _correlation(dataset: str) -> np.ndarray:
    S = covariances_of_stack(complete(dataset)[None])[0]
    return S / np.sqrt(np.outer(np.diag(S), np.diag(S)))


CASES: list[Case] = [
    *minres_cases(),
    *ml_cases(),
    *parallel_cases(),
    *refusal_cases(),
    *eigenvalue_cases(),
]
