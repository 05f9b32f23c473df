"""Rows of the validation table: reliability of scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from judgestats import stats
from judgestats.stats.designs import mean_squares, prepare_scores
from validation.base import Case, matrix

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
DROPS = "psych::alpha silently drops the two constant columns; all six are kept here"
PAIRWISE = "psych silently takes pairwise covariances; items with a gap are left out here"
CONSTANT = "psych drops constant columns; here their correlation is undefined"

CASES: list[Case] = []


def alpha(dataset: str, *, standardized: bool = False) -> Callable[[], float]:
    """Alpha is omega of the parallel model."""
    return lambda: (
        stats.omega_total(matrix(dataset), standardize=standardized, interval=None).estimate
    )


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
            ours=alpha(data),
            agrees=not dropping and data != "missing8",
            note=DROPS if dropping else PAIRWISE if data == "missing8" else "",
        ),
        Case(
            statistic="alpha, standardised",
            dataset=data,
            key="alpha_std",
            ours=alpha(data, standardized=True),
            agrees=not dropping and data != "missing8",
            note=CONSTANT if dropping else PAIRWISE if data == "missing8" else "",
        ),
        Case(
            statistic="alpha, raw, listwise",
            dataset=data,
            key="alpha_raw_by_hand",
            ours=alpha(data),
        ),
        Case(
            statistic="alpha, standardised, listwise",
            dataset=data,
            key="alpha_std_by_hand",
            ours=alpha(data, standardized=True),
        ),
        Case(
            statistic="Spearman-Brown of ICC(3,1)",
            dataset=data,
            key="spearman_brown_from_icc1",
            ours=lambda data=data: stats.spearman_brown(
                stats.icc(
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

CASES += [
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
        note="check.keys = TRUE reverses columns 3 and 5; no column is reversed silently here",
    ),
]


# ---------------------------------------------------------------- intraclass correlations
@cache
def forms(dataset: str) -> Any:
    options: dict[str, Any] = {"missing": "listwise", "n_permutations": 0, "interval": "f"}
    return {
        name: stats.icc(matrix(dataset), form=f"ICC({name[4]},{name[6]})", **options)
        for name in ORDER
    }


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
                    stats.icc(
                        matrix(data), form="ICC(3,1)", interval="none", n_permutations=0
                    ).estimate
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
