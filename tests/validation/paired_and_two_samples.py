"""Rows of the validation table: two samples, pairs, correlations and their effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from judgestats.stats import (
    cliffs_delta,
    cohens_d,
    hedges_g,
    kendall_correlation,
    mann_whitney_test,
    spearman_correlation,
    vargha_delaney_a,
    wilcoxon_signed_rank,
)
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


RULES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("exact", {}),
    ("asym_cc", {"exact": False}),
    ("asym_nocc", {"exact": False, "correct": False}),
)
TWO = "twogroups_ties"
for _rule, _options in RULES:
    add(
        "mann_whitney_test",
        TWO,
        f"mann_whitney_{_rule}",
        lambda o=_options: test_numbers(mann_whitney_test(*two_samples(), **o)),
        theirs=pick("statistic", "p.value"),
    )
for _key, _path in (
    ("mann_whitney_exact_ties_coin", "p"),
    ("mann_whitney_exactRankTests", "p.value"),
):
    add(
        "mann_whitney_test exact given ties",
        TWO,
        _key,
        lambda: mann_whitney_test(*two_samples(), exact=True).p_value,
        path=(_path,),
    )
add(
    "Hodges-Lehmann limits of mann_whitney_test",
    TWO,
    "mann_whitney_asym_cc",
    lambda: bounds(mann_whitney_test(*two_samples()).effects[1])[1:],
    theirs=lambda v: v["conf.int"],
    tolerance=ROOT,
)
add(
    "Hodges-Lehmann shift of mann_whitney_test",
    TWO,
    "hodges_lehmann_point",
    lambda: mann_whitney_test(*two_samples()).effects[1].estimate,
)
for _key in ("rank_biserial", "cliffs_delta_effectsize"):
    add(
        "cliffs_delta",
        TWO,
        _key,
        lambda: bounds(cliffs_delta(*two_samples(), interval="fisher")),
        theirs=pick("r_rank_biserial", "CI_low", "CI_high"),
    )
for _key, _path in (("cliffs_delta_effsize", ("estimate",)), ("cliffs_delta_by_hand", ())):
    add("cliffs_delta", TWO, _key, lambda: cliffs_delta(*two_samples()).estimate, path=_path)
add(
    "cliffs_delta interval",
    TWO,
    "cliffs_delta_effsize",
    lambda: bounds(cliffs_delta(*two_samples()))[1:],
    path=("ci",),
    agrees=False,
    note=(
        "effsize's row partitioning miscounts pairs: the sum of squares behind its variance "
        ".014767 is 1774.8, more than the 1470 pairs; the formula gives .015121"
    ),
)
for _key in ("vargha_delaney_A", "vargha_delaney_A_by_hand"):
    add("vargha_delaney_a", TWO, _key, lambda: vargha_delaney_a(*two_samples()).estimate)
add(
    "vargha_delaney_a",
    TWO,
    "p_superiority_nonparametric",
    lambda: bounds(vargha_delaney_a(*two_samples(), interval="fisher")),
    theirs=pick("p_superiority", "CI_low", "CI_high"),
)
for _key, _d, _name in (
    ("cohens_d_pooled", lambda: cohens_d(*two_samples()), "Cohens_d"),
    ("cohens_d_unpooled", lambda: cohens_d(*two_samples(), pooled=False), "Cohens_d"),
    ("hedges_g", lambda: hedges_g(*two_samples()), "Hedges_g"),
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


for _ds in ("paired30_noties", "paired45_ties"):
    for _rule, _options in RULES:
        add(
            "wilcoxon_signed_rank",
            _ds,
            f"wilcoxon_signed_rank_{_rule}",
            lambda d=_ds, o=_options: test_numbers(
                wilcoxon_signed_rank(*pair(d), zeros="drop", **o)
            ),
            theirs=pick("statistic", "p.value"),
        )
    for _label, _zeros in (("Pratt", "pratt"), ("Wilcoxon", "drop")):
        for _how, _exact in (("asymptotic", False), ("exact", True)):
            add(
                "wilcoxon_signed_rank",
                _ds,
                f"wilcoxsign_coin_{_label}_{_how}",
                lambda d=_ds, z=_zeros, e=_exact: [
                    (r := wilcoxon_signed_rank(*pair(d), zeros=z, exact=e, correct=False)).details[
                        "z"
                    ],
                    r.p_value,
                ],
                theirs=pick("Z", "p"),
            )
    add(
        "wilcoxon_signed_rank exact given ties",
        _ds,
        "wilcoxon_exactRankTests",
        lambda d=_ds: test_numbers(wilcoxon_signed_rank(*pair(d), zeros="drop", exact=True)),
        theirs=pick("statistic", "p.value"),
    )
    add(
        "rank-biserial r of wilcoxon_signed_rank",
        _ds,
        "rank_biserial_paired",
        lambda d=_ds: wilcoxon_signed_rank(*pair(d)).effects[0].estimate,
        path=("r_rank_biserial",),
    )
    add(
        "pseudomedian of wilcoxon_signed_rank",
        _ds,
        "pseudomedian_walsh",
        lambda d=_ds: wilcoxon_signed_rank(*pair(d)).effects[1].estimate,
    )
add(
    "pseudomedian of wilcoxon_signed_rank, exact limits",
    "paired30_noties",
    "wilcoxon_signed_rank_exact",
    lambda: bounds(wilcoxon_signed_rank(*pair("paired30_noties")).effects[1]),
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
    for _key, _options in (("spearman_asym", {"exact": False}), ("spearman_exact", {})):
        add(
            "spearman_correlation",
            _ds,
            _key,
            lambda d=_ds, o=_options: htest(spearman_correlation(*xy(d), **o)),
            theirs=pick("statistic", "p.value", "estimate"),
        )
    add(
        "spearman_correlation interval",
        _ds,
        "spearman_ci_DescTools",
        lambda d=_ds: bounds(spearman_correlation(*xy(d), interval="fisher").effects[0]),
        theirs=pick("rho", "lwr.ci", "upr.ci"),
    )
    for _key, _options in (
        ("kendall_tau_b_asym", {"exact": False}),
        ("kendall_tau_b_asym_cc", {"exact": False, "correct": True}),
        ("kendall_exact", {}),
    ):
        add(
            "kendall_correlation",
            _ds,
            _key,
            lambda d=_ds, o=_options: htest(kendall_correlation(*xy(d), **o)),
            theirs=pick("statistic", "p.value", "estimate"),
        )
    add(
        "kendall_correlation interval",
        _ds,
        "kendall_tau_b_ci",
        lambda d=_ds: bounds(kendall_correlation(*xy(d)).effects[0]),
        theirs=pick("tau_b", "lwr.ci", "upr.ci"),
        agrees=_ds != "corr60_ties",
        note=(
            "DescTools misplaces a parenthesis in the delta method where the margins differ "
            "(standard error .094184, right .094012)"
            if _ds == "corr60_ties"
            else ""
        ),
    )
