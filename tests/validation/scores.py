"""Rows of the validation table: reliability of scores and variance components."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from judgestats.stats import (
    cronbach_alpha,
    generalizability,
    guttman_lambda2,
    icc,
    icc_forms,
    spearman_brown,
    variance_components,
)
from judgestats.stats.designs import mean_squares, prepare_scores
from judgestats.stats.reliability import VarianceComponents
from validation.base import Case, load, matrix

MATRICES = (
    "congeneric6",
    "tau8",
    "parallel20x10",
    "reverse6",
    "heywood4",
    "missing8",
    "ordinal7",
    "deterministic15x6",
    "const40x6",
    "allconst20x5",
    "dupcol90x6",
    "twoitems60",
    "shrout_fleiss",
    "nltp27x100",
    "onefactor300x100",
    "binary5",
)
WITH_ICC = (
    "tau8",
    "parallel20x10",
    "missing8",
    "deterministic15x6",
    "const40x6",
    "allconst20x5",
    "shrout_fleiss",
    "nltp27x100",
    "ordrater50x5",
)
BARE: dict[str, Any] = {"interval": "none", "n_permutations": 0}
DROPS = "psych::alpha drops the two constant columns in silence; all six are kept here"
CONSTANT = "psych drops constant columns; here their correlation is undefined"

CASES: list[Case] = []


def alpha(dataset: str, **options: Any) -> Callable[[], float]:
    return lambda: cronbach_alpha(matrix(dataset), **(BARE | options)).estimate


def alpha_interval(dataset: str, method: str) -> Callable[[], Any]:
    def ours() -> Any:
        found = cronbach_alpha(
            matrix(dataset), missing="listwise", interval=method, n_permutations=0
        ).interval
        return found if found is not None else [np.nan, np.nan]

    return ours


def ordered(*names: str) -> Callable[[Any], Any]:
    """Picks fields of R's value in our order (a data frame's column holds a list)."""
    return lambda value: [np.ravel(value[name])[0] for name in names]


for data in MATRICES:
    dropping = data == "const40x6"
    CASES += [
        Case(
            statistic="alpha, raw",
            dataset=data,
            key="alpha_raw",
            ours=alpha(data, missing="pairwise"),
            agrees=not dropping,
            note=DROPS if dropping else ("missing='pairwise'" if data == "missing8" else ""),
        ),
        Case(
            statistic="alpha, standardised",
            dataset=data,
            key="alpha_std",
            ours=alpha(data, missing="pairwise", standardized=True),
            agrees=not dropping,
            note=CONSTANT if dropping else ("missing='pairwise'" if data == "missing8" else ""),
        ),
        Case(
            statistic="alpha, raw, listwise",
            dataset=data,
            key="alpha_raw_by_hand",
            ours=alpha(data, missing="listwise"),
        ),
        Case(
            statistic="alpha, standardised, listwise",
            dataset=data,
            key="alpha_std_by_hand",
            ours=alpha(data, missing="listwise", standardized=True),
        ),
        Case(
            statistic="lambda-2, covariances",
            dataset=data,
            key="guttman_lambda2_cov",
            ours=lambda data=data: (
                guttman_lambda2(matrix(data), missing="listwise", **BARE).estimate
            ),
        ),
        Case(
            statistic="lambda-2, correlations",
            dataset=data,
            key="guttman_lambda2_cor",
            ours=lambda data=data: (
                guttman_lambda2(
                    matrix(data), missing="pairwise", standardized=True, **BARE
                ).estimate
            ),
        ),
        Case(
            statistic="Spearman-Brown of ICC(3,1)",
            dataset=data,
            key="spearman_brown_from_icc1",
            ours=lambda data=data: spearman_brown(
                icc(
                    matrix(data),
                    form="ICC(3,1)",
                    missing="listwise",
                    interval="none",
                    n_permutations=0,
                ).estimate,
                k=matrix(data).shape[1],
            ),
        ),
    ]
    width = "no interval of zero width for a perfect judge" if data == "deterministic15x6" else ""
    CASES += [
        Case(
            statistic=f"{name} interval of alpha",
            dataset=data,
            key=key,
            ours=alpha_interval(data, method),
            theirs=ordered(*fields),
            tolerance=tolerance,
            agrees=not width,
            note=width,
        )
        for name, method, key, fields, tolerance in (
            ("Feldt", "feldt", "alpha_ci_feldt", ("lower.ci", "upper.ci"), 1e-10),
            ("Feldt", "feldt", "alpha_ci_feldt_by_hand", ("lower", "upper"), 1e-10),
            ("Feldt", "feldt", "alpha_ci_psychometric", ("LCL", "UCL"), 1e-10),
            ("Bonett", "bonett", "alpha_ci_bonett_by_hand", ("lower", "upper"), 1e-10),
        )
    ]

CASES += [
    Case(
        statistic="alpha of the EM covariance",
        dataset="missing8",
        key="alpha_em_cov",
        ours=alpha("missing8", missing="em"),
        tolerance=1e-6,
        note="lavaan stops its EM near 1e-7",
    ),
    Case(
        statistic="alpha, pairwise",
        dataset="missing8",
        key="alpha_pairwise",
        ours=alpha("missing8", missing="pairwise"),
    ),
    Case(
        statistic="alpha of 0/1 columns (KR-20)",
        dataset="binary5",
        key="kr20",
        ours=alpha("binary5"),
    ),
    Case(
        statistic="alpha without reversed columns",
        dataset="reverse6",
        key="alpha_check_keys",
        path=("raw_alpha",),
        ours=alpha("reverse6"),
        agrees=False,
        note="check.keys = TRUE reverses columns 3 and 5; nothing is reversed in silence here",
    ),
]


@cache
def boot_alpha(method: str) -> Any:
    return cronbach_alpha(
        matrix("congeneric6"), interval=method, n_resamples=5000, n_permutations=0
    ).interval


CASES += [
    Case(
        statistic=f"{method} bootstrap interval of alpha",
        dataset="congeneric6",
        key="bootstrap_alpha_ci",
        path=(path,),
        ours=lambda method=method: boot_alpha(method),
        tolerance=3e-3,
        note="stochastic: 5,000 resamples each",
    )
    for method, path in (("percentile", "percent"), ("bca", "bca"))
]


for data in (
    "congeneric6",
    "tau8",
    "parallel20x10",
    "reverse6",
    "heywood4",
    "missing8",
    "ordinal7",
    "binary5",
    "shrout_fleiss",
    "dupcol90x6",
):
    CASES.append(
        Case(
            statistic="alpha's standard error (Duhachek-Iacobucci)",
            dataset=data,
            key="alpha_total_row",
            path=("ase",),
            ours=lambda data=data: (
                cronbach_alpha(matrix(data), missing="pairwise", **BARE).std_error
            ),
        )
    )


# ---------------------------------------------------------------- intraclass correlations
@cache
def forms(dataset: str) -> Any:
    return icc_forms(matrix(dataset), missing="listwise", n_permutations=0, interval="f")


ORDER = ("icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k")


def detail(dataset: str, name: str) -> Callable[[], Any]:
    return lambda: [forms(dataset)[term].details[name] for term in ORDER]


def bounds(dataset: str) -> Callable[[], Any]:
    return lambda: [
        [forms(dataset)[term].interval.low, forms(dataset)[term].interval.high] for term in ORDER
    ]


for data in (*WITH_ICC, "crossed1000x20"):
    perfect = data == "deterministic15x6"
    constant = data == "allconst20x5"
    refuses = data == "missing8"  # psych refuses rows with missing values
    CASES.append(
        Case(
            statistic="six ICCs",
            dataset=data,
            key="icc_psych_anova",
            path=("ICC",),
            ours=(lambda data=data: [forms(data)[term].estimate for term in ORDER])
            if not refuses
            else (
                lambda data=data: (
                    icc(matrix(data), form="ICC(3,1)", interval="none", n_permutations=0).estimate
                )
            ),
            undefined=constant,
            note="two-way forms give their reason"
            if refuses
            else "0/0 for equal scores; R keeps a rounding error"
            if constant
            else "",
        )
    )
    if not (perfect or constant or refuses):
        CASES += [
            Case(
                statistic="F intervals of the six ICCs",
                dataset=data,
                key="icc_psych_anova",
                ours=bounds(data),
                theirs=lambda value: np.column_stack([value["lower bound"], value["upper bound"]]),
            ),
            *(
                Case(
                    statistic=f"F tests of the six ICCs, {name}",
                    dataset=data,
                    key="icc_psych_anova",
                    path=(path,),
                    ours=detail(data, name),
                )
                for path, name in (("F", "F"), ("df1", "df1"), ("df2", "df2"), ("p", "p_value"))
            ),
        ]

IRR = {
    "icc_irr_oneway__single": "icc_1_1",
    "icc_irr_oneway__average": "icc_1_k",
    "icc_irr_twoway_consistency_single": "icc_3_1",
    "icc_irr_twoway_consistency_average": "icc_3_k",
    "icc_irr_twoway_agreement_single": "icc_2_1",
    "icc_irr_twoway_agreement_average": "icc_2_k",
}


def three_mean_squares(dataset: str) -> Any:
    ms = mean_squares(prepare_scores(matrix(dataset), where="f", missing="listwise").x)
    return [ms.items, ms.replications, ms.residual]


for data in WITH_ICC:
    for key, term in IRR.items():
        CASES.append(
            Case(
                statistic=f"{term} (irr)",
                dataset=data,
                key=key,
                path=("value",),
                ours=lambda data=data, term=term: forms(data)[term].estimate,
            )
        )
        if data in {"deterministic15x6", "allconst20x5"}:
            continue
        steps_up = term == "icc_2_k" and data != "nltp27x100"  # there the two agree to 1e-10
        CASES.append(
            Case(
                statistic=f"{term} interval (irr)",
                dataset=data,
                key=key,
                theirs=ordered("lbound", "ubound"),
                ours=lambda data=data, term=term: forms(data)[term].interval,
                agrees=not steps_up,
                note="irr recomputes the degrees of freedom; here, as in psych, the bounds of "
                "ICC(2,1) are stepped up"
                if steps_up
                else "",
            )
        )
    CASES.append(
        Case(
            statistic="mean squares",
            dataset=data,
            key="anova_mean_squares",
            theirs=ordered("MSR", "MSC", "MSE"),
            ours=lambda data=data: three_mean_squares(data),
        )
    )


# ---------------------------------------------------------------- variance components
def two_way(dataset: str, method: str = "reml", design: str = "item x replicate") -> Any:
    x = matrix(dataset)
    if method == "anova":
        x = prepare_scores(x, where="f", missing="listwise").x
    return variance_components(x, design=design, method=method)


def values(fit: VarianceComponents, *terms: str) -> list[float]:
    return [fit.variances[term] for term in terms]


for data in (*WITH_ICC, "crossed1000x20"):
    perfect = data == "deterministic15x6"
    constant = data == "allconst20x5"
    lme4_fault = "lme4 with residual 0: item variance 1.19, right is 7.54"
    equal = "all scores equal: nothing to divide" if constant else ""
    CASES += [
        Case(
            statistic="REML item x replicate",
            dataset=data,
            key="lme4_reml_item_x_rep_tight",
            theirs=ordered("item", "rep", "Residual"),
            ours=lambda data=data: values(two_way(data), "item", "replicate", "residual"),
            tolerance=1e-6,
            undefined=constant,
            agrees=not perfect,
            note=lme4_fault if perfect else equal,
        ),
        Case(
            statistic="REML item x replicate, lme4's default optimiser",
            dataset=data,
            key="lme4_reml_item_x_rep",
            theirs=ordered("item", "rep", "Residual"),
            ours=lambda data=data: values(two_way(data), "item", "replicate", "residual"),
            tolerance=5e-5,
            undefined=constant,
            agrees=not perfect,
            note=lme4_fault if perfect else equal,
        ),
        Case(
            statistic="REML replicate in item",
            dataset=data,
            key="lme4_reml_item_only",
            theirs=ordered("item", "Residual"),
            ours=lambda data=data: values(
                two_way(data, design="replicate in item"), "item", "residual"
            ),
            tolerance=5e-5,
            undefined=constant,
            agrees=not perfect,
            note=lme4_fault if perfect else equal,
        ),
        Case(
            statistic="ANOVA item x replicate",
            dataset=data,
            key="ems_item_x_rep",
            theirs=ordered("item", "replication", "residual"),
            ours=lambda data=data: values(two_way(data, "anova"), "item", "replicate", "residual"),
            undefined=constant,
            note=equal,
        ),
        Case(
            statistic="E rho2 and Phi, ANOVA truncated at 0, for k and 1",
            dataset=data,
            key="g_coefficients",
            theirs=ordered("Erho2", "Phi", "Erho2_1", "Phi_1"),
            ours=lambda data=data: [
                generalizability(two_way(data, "anova"), n={"replicate": k})[term].estimate
                for k in (matrix(data).shape[1], 1)
                for term in ("g_relative", "phi_absolute")
            ],
            undefined=constant,
            note=equal,
        ),
    ]

CASES.append(
    Case(
        statistic="ML item x replicate",
        dataset="parallel20x10",
        key="lme4_ml",
        theirs=ordered("item", "rep", "Residual"),
        ours=lambda: values(two_way("parallel20x10", "ml"), "item", "replicate", "residual"),
        tolerance=5e-6,
        note="lme4's default optimiser",
    )
)


@cache
def crossed(dataset: str, design: str, method: str = "reml", profile: bool = False) -> Any:
    d = load(dataset)
    facets = {"item": d["item"], "judge": d["rater"], "replicate": d["replication"]}
    return variance_components(
        d["score"], facets=facets, design=design, method=method, profile=profile
    )


FULL = ("item", "judge", "replicate", "item:judge", "item:replicate", "judge:replicate", "residual")
FULL_R = (
    "item",
    "rater",
    "replication",
    "item:rater",
    "item:replication",
    "rater:replication",
    "Residual",
)
THREE = "item x judge x replicate"
NESTED = "replicate in item x judge"
for data in ("crossed20x4x5", "crossed20x4x5_unbal"):
    CASES += [
        Case(
            statistic="REML item x judge x replicate",
            dataset=data,
            key="lme4_reml_full_tight",
            theirs=ordered(*FULL_R),
            ours=lambda data=data: values(crossed(data, THREE), *FULL),
            tolerance=1e-6,
        ),
        Case(
            statistic="REML criterion, item x judge x replicate",
            dataset=data,
            key="lme4_reml_full_tight",
            path=("REMLcrit",),
            ours=lambda data=data: crossed(data, THREE).criterion,
            tolerance=1e-10,
        ),
        Case(
            statistic="REML replicate in item x judge",
            dataset=data,
            key="lme4_reml_item_rater_nested_rep_tight",
            theirs=ordered("item", "rater", "item:rater", "Residual"),
            ours=lambda data=data: values(
                crossed(data, NESTED), "item", "judge", "item:judge", "residual"
            ),
            tolerance=1e-6,
        ),
        Case(
            statistic="REML criterion, replicate in item x judge",
            dataset=data,
            key="lme4_reml_item_rater_nested_rep_tight",
            path=("REMLcrit",),
            ours=lambda data=data: crossed(data, NESTED).criterion,
            tolerance=1e-10,
        ),
        Case(
            statistic="E rho2 and Phi at the observed numbers",
            dataset=data,
            key="gtheory_dstudy",
            theirs=ordered("generalizability", "dependability"),
            ours=lambda data=data: [
                generalizability(crossed(data, THREE), n={"judge": 4, "replicate": 5})[t].estimate
                for t in ("g_relative", "phi_absolute")
            ],
            tolerance=5e-5,
            agrees=data == "crossed20x4x5",
            note="gtheory takes lme4's default optimiser"
            if data == "crossed20x4x5"
            else "gtheory divides the residual by the mean number of judgments an item has (about "
            "18), not by 4 judges x 5 replicates",
        ),
        Case(
            statistic="profile intervals, replicate in item x judge",
            dataset=data,
            key="lme4_reml_item_rater_nested_rep_ci",
            theirs=lambda value: value[:4],
            ours=lambda data=data: [
                crossed(data, NESTED, profile=True).intervals[t]
                for t in ("item:judge", "item", "judge", "residual")
            ],
            tolerance=1e-4,
            note="standard deviations; lme4 interpolates its profile",
        ),
    ]
CASES += [
    Case(
        statistic="ANOVA item x judge x replicate",
        dataset="crossed20x4x5",
        key="ems_full",
        theirs=ordered(*FULL_R[:-1], "residual"),
        ours=lambda: values(crossed("crossed20x4x5", THREE, "anova"), *FULL),
    ),
    Case(
        statistic="profile intervals, item x replicate",
        dataset="parallel20x10",
        key="lme4_profile_ci",
        theirs=lambda value: value[:3],
        ours=lambda: list(
            variance_components(matrix("parallel20x10"), profile=True).intervals.values()
        ),
        tolerance=1e-4,
        note="standard deviations; lme4 interpolates its profile",
    ),
]


# ---------------------------------------------------------------- ICCs from REML components
for data in WITH_ICC:
    constant = data == "allconst20x5"
    CASES += [
        Case(
            statistic="Phi and E rho2 for 1 and k, from REML",
            dataset=data,
            key="icc_psych_lmer",
            path=("ICC",),
            theirs=lambda value: [value[j] for j in (1, 2, 4, 5)],
            ours=lambda data=data: [
                generalizability(two_way(data), n={"replicate": k})[term].estimate
                for k in (1, matrix(data).shape[1])
                for term in ("phi_absolute", "g_relative")
            ],
            tolerance=1e-4,
            undefined=constant,
            note="all scores equal: nothing to divide"
            if constant
            else "psych's ICC(2) and ICC(3) by lme4's default optimiser",
        ),
        Case(
            statistic="a component at its boundary",
            dataset=data,
            key="lme4_singular",
            ours=lambda data=data: float(
                any(n.code in {"boundary", "zero_residual"} for n in two_way(data).notes)
            ),
            note="1 = singular",
        ),
    ]
