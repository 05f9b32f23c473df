"""Rows of the validation table: two samples, pairs, correlations and their effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from judgestats import stats
from judgestats.stats.inference import TestResult
from validation.base import Case, load, matrix
from validation.ranks import ROOT, bounds, pick, test_numbers

CASES: list[Case] = []


def add(statistic: str, dataset: str, key: str, ours: Callable[[], Any], **rest: Any) -> None:
    CASES.append(Case(statistic=statistic, dataset=dataset, key=key, ours=ours, **rest))


def two_samples() -> tuple[np.ndarray, np.ndarray]:
    d = load("twogroups_ties")
    first, second = (d.value[d.group == g].to_numpy(float) for g in ("x", "y"))
    return first, second


TWO = "twogroups_ties"
add(
    "mann_whitney_test",
    TWO,
    "mann_whitney_asym_cc",
    lambda: test_numbers(stats.mann_whitney_test(*two_samples())),
    theirs=pick("statistic", "p.value"),
)
add(
    "Hodges-Lehmann limits of mann_whitney_test",
    TWO,
    "mann_whitney_asym_cc",
    lambda: bounds(stats.mann_whitney_test(*two_samples()).effects[1])[1:],
    theirs=lambda v: v["conf.int"],
    tolerance=ROOT,
)
add(
    "Hodges-Lehmann shift of mann_whitney_test",
    TWO,
    "hodges_lehmann_point",
    lambda: stats.mann_whitney_test(*two_samples()).effects[1].estimate,
)
for _key in ("rank_biserial", "cliffs_delta_effectsize"):
    add(
        "cliffs_delta",
        TWO,
        _key,
        lambda: stats.cliffs_delta(*two_samples()).estimate,
        path=("r_rank_biserial",),
    )
for _key, _path in (("cliffs_delta_effsize", ("estimate",)), ("cliffs_delta_by_hand", ())):
    add("cliffs_delta", TWO, _key, lambda: stats.cliffs_delta(*two_samples()).estimate, path=_path)
add(
    "cliffs_delta interval",
    TWO,
    "cliffs_delta_effsize",
    lambda: bounds(stats.cliffs_delta(*two_samples()))[1:],
    path=("ci",),
    agrees=False,
    note=(
        "effsize's row partitioning miscounts pairs: the sum of squares behind its variance "
        ".014767 is 1774.8, more than the 1470 pairs; the formula gives .015121"
    ),
)
for _key, _d, _name in (
    ("cohens_d_pooled", lambda: stats.cohens_d(*two_samples()), "Cohens_d"),
    ("hedges_g", lambda: stats.hedges_g(*two_samples()), "Hedges_g"),
):
    add(_key, TWO, _key, lambda f=_d: f().estimate, path=(_name,))
    add(
        f"{_key} interval",
        TWO,
        _key,
        lambda f=_d: bounds(f())[1:],
        theirs=pick("CI_low", "CI_high"),
        tolerance=ROOT,
        note="effectsize finds the noncentrality with optim",
    )


def pair(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    values = matrix(dataset)
    return values[:, 0], values[:, 1]


def without_zeros(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that differ, which are all that R's test uses."""
    x, y = pair(dataset)
    return x[x != y], y[x != y]


def alone(x: np.ndarray, y: np.ndarray) -> TestResult:
    """The test over clusters of one pair, which is exact given the ties."""
    return stats.wilcoxon_signed_rank(x, y, cluster=range(len(x)))


for _ds, _rule in (("paired30_noties", "exact"), ("paired45_ties", "asym_cc")):
    add(
        "wilcoxon_signed_rank",
        _ds,
        f"wilcoxon_signed_rank_{_rule}",
        lambda d=_ds: test_numbers(stats.wilcoxon_signed_rank(*without_zeros(d))),
        theirs=pick("statistic", "p.value"),
    )
    add(
        "z of wilcoxon_signed_rank",
        _ds,
        "wilcoxsign_coin_Pratt_asymptotic",
        lambda d=_ds: stats.wilcoxon_signed_rank(*pair(d)).details["z"],
        path=("Z",),
    )
    for _key, _pairs, _path in (
        ("wilcoxsign_coin_Pratt_exact", pair, "p"),
        ("wilcoxon_exactRankTests", without_zeros, "p.value"),
    ):
        add(
            "wilcoxon_signed_rank, exact over clusters of one pair",
            _ds,
            _key,
            lambda d=_ds, f=_pairs: alone(*f(d)).p_value,
            path=(_path,),
        )
    add(
        "rank-biserial r of wilcoxon_signed_rank",
        _ds,
        "rank_biserial_paired",
        lambda d=_ds: stats.wilcoxon_signed_rank(*pair(d)).effects[0].estimate,
        path=("r_rank_biserial",),
    )
    add(
        "pseudomedian of wilcoxon_signed_rank",
        _ds,
        "pseudomedian_walsh",
        lambda d=_ds: stats.wilcoxon_signed_rank(*pair(d)).effects[1].estimate,
    )
add(
    "pseudomedian of wilcoxon_signed_rank, exact limits",
    "paired30_noties",
    "wilcoxon_signed_rank_exact",
    lambda: bounds(stats.wilcoxon_signed_rank(*pair("paired30_noties")).effects[1]),
    theirs=lambda v: [v["estimate"], *v["conf.int"]],
    tolerance=ROOT,
)


def xy(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    d = load(dataset)
    columns = ("temperature", "variance") if dataset == "tempvar" else tuple(d.columns[:2])
    return d[columns[0]].to_numpy(float), d[columns[1]].to_numpy(float)


def htest(result: TestResult) -> list[float]:
    effect = result.effect
    assert effect is not None
    return [result.statistic, result.p_value, effect.estimate]


for _ds in ("tempvar", "corr8_noties", "corr60_ties"):
    add(
        "spearman_correlation",
        _ds,
        "spearman_exact",
        lambda d=_ds: htest(stats.spearman_correlation(*xy(d))),
        theirs=pick("statistic", "p.value", "estimate"),
    )
    add(
        "human_correlation interval, Kendall",
        _ds,
        "kendall_tau_b_ci",
        lambda d=_ds: bounds(stats.human_correlation(*xy(d), method="kendall")),
        theirs=pick("tau_b", "lwr.ci", "upr.ci"),
        agrees=_ds != "corr60_ties",
        note=(
            "DescTools misplaces a parenthesis in the delta method where the margins differ "
            "(standard error .094184, right .094012)"
            if _ds == "corr60_ties"
            else ""
        ),
    )
