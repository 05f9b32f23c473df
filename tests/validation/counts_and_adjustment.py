"""Rows of the validation table: paired counts, proportions, adjustment, studentised range."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from judgestats import stats
from judgestats.stats import inference
from judgestats.stats.comparison import hedges_correction
from validation.base import Case, load
from validation.paired_and_two_samples import pair
from validation.ranks import QTUKEY, bounds, pick, test_numbers

CASES: list[Case] = []


def add(statistic: str, dataset: str, key: str, ours: Callable[[], Any], **rest: Any) -> None:
    CASES.append(Case(statistic=statistic, dataset=dataset, key=key, ours=ours, **rest))


for _key in ("mcnemar_exact", "mcnemar_exact_binom"):
    add(
        "mcnemar_test",
        "mcnemar80",
        _key,
        lambda: test_numbers(stats.mcnemar_test(*pair("mcnemar80"))),
        theirs=pick("statistic", "p.value"),
    )
add(
    "mcnemar_test odds ratio",
    "mcnemar80",
    "mcnemar_exact",
    lambda: bounds(stats.mcnemar_test(*pair("mcnemar80")).effects[0]),
    theirs=lambda v: [v["estimate"], *v["conf.int"]],
)
add(
    "cochran_q_test",
    "mcnemar80",
    "cochran_q_k2",
    lambda: test_numbers(stats.cochran_q_test(load("mcnemar80"))),
    theirs=pick("Q", "p"),
)
for _key, _names in (
    ("cochran_q", ("Q", "p")),
    ("cochran_q_DescTools", ("statistic", "p.value")),
    ("cochran_q_rstatix", ("statistic", "p")),
):
    add(
        "cochran_q_test",
        "cochran40x4",
        _key,
        lambda: test_numbers(stats.cochran_q_test(load("cochran40x4"))),
        theirs=pick(*_names),
    )
add(
    "pairwise McNemar",
    "cochran40x4",
    "pairwise_mcnemar_exact_holm",
    lambda: [
        [getattr(r, field) for r in stats.cochran_q_test(load("cochran40x4")).mcnemar().rows]
        for field in ("p_value", "p_adjusted")
    ],
    theirs=pick("p", "holm"),
)
for _method in ("wilson", "clopper-pearson"):
    add(
        f"proportion {_method}",
        "cochran40x4",
        f"prop_ci_m1_{_method}",
        lambda m=_method: list(inference.proportion_limits(20, 40, method=m)),
        theirs=lambda v: np.ravel(v)[1:],
    )
for _method in ("holm", "bonferroni", "BH", "BY"):
    add(
        "p_adjust",
        "pvec",
        f"p_adjust_{_method}",
        lambda m=_method: stats.p_adjust(pd.Series(load("pvec").iloc[:, 0]), method=m),
    )
ALPHAS = (0.10, 0.05, 0.01)


def by_alpha(quantile: Callable[[float, int], float]) -> dict[str, dict[str, float]]:
    return {f"{a:.2f}": {str(k): quantile(a, k) for k in range(2, 21)} for a in ALPHAS}


add(
    "studentized_range_isf",
    "tukey",
    "qtukey_inf",
    lambda: by_alpha(lambda a, k: inference.studentized_range_isf(a, k=k)),
    tolerance=QTUKEY,
    note="R's qtukey is good to 3e-7; judged by tukey_exact_mpmath.json",
)
add(
    "nemenyi_critical_difference",
    "tukey",
    "nemenyi_q_inf",
    lambda: by_alpha(
        lambda a, k: stats.nemenyi_critical_difference(k, 1, alpha=a) / math.sqrt(k * (k + 1) / 6)
    ),
    tolerance=QTUKEY,
    note="R's qtukey is good to 3e-7",
)
add(
    "studentized_range_isf",
    "tukey",
    "qtukey_inf_large_k",
    lambda: {str(k): inference.studentized_range_isf(0.05, k=k) for k in (25, 30, 40, 50, 75, 100)},
    tolerance=QTUKEY,
    note="R's qtukey is good to 3e-7",
)
for _key, _df, _q, _k in (
    ("ptukey_inf_upper", math.inf, (0.1, 0.5, 1, 2, 3, 4, 5, 6, 8), (2, 3, 5, 8, 10, 15, 20)),
    ("ptukey_df20_upper", 20.0, (0.5, 1, 2, 3, 4, 5, 6, 8), (2, 3, 5, 8, 10, 20)),
):
    add(
        "studentized_range_sf",
        "tukey",
        _key,
        lambda d=_df, qs=_q, ks=_k: np.column_stack(
            [inference.studentized_range_sf(qs, k=k, df=d) for k in ks]
        ),
        tolerance=1e-7,
        note="R's ptukey keeps about eight digits here",
    )
add(
    "hedges_correction",
    "tukey",
    "hedges_J_exact",
    lambda: {str(m): hedges_correction(m) for m in (2, 3, 5, 8, 10, 20, 50, 100)},
)
