"""Rows of the validation table: rank tests of blocks and groups, variance tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from judgestats.stats import (
    friedman_test,
    kendalls_w,
    kruskal_test,
    levene_test,
    page_trend_test,
    pairwise_mann_whitney,
)
from judgestats.stats.comparison import FriedmanResult, KruskalResult
from judgestats.stats.inference import Comparisons, Estimate, TestResult, friedman_null, page_null
from validation.base import Case, load, matrix

QTUKEY = 1e-6
"""R's qtukey with infinite df is good to 3e-7 (its own documentation of eps)."""
ROOT = 1e-6
"""R finds these limits with uniroot or optim."""

CASES: list[Case] = []


def add(statistic: str, dataset: str, key: str, ours: Callable[[], Any], **rest: Any) -> None:
    CASES.append(Case(statistic=statistic, dataset=dataset, key=key, ours=ours, **rest))


def test_numbers(result: TestResult) -> list[float]:
    """Statistic and p, as R's htest holds them."""
    return [result.statistic, result.p_value]


test_numbers.__test__ = False  # pytest must not collect it


def pick(*names: str) -> Callable[[Any], Any]:
    """R's fields in our order."""
    return lambda value: [value[name] for name in names]


def triangle(found: Comparisons, field: str) -> np.ndarray:
    """Comparisons as the lower triangle that PMCMRplus and pairwise.*.test print."""
    names = list(dict.fromkeys([r.a for r in found.rows] + [r.b for r in found.rows]))
    out = np.full((len(names) - 1, len(names) - 1), np.nan)
    for row in found.rows:
        out[names.index(row.b) - 1, names.index(row.a)] = abs(getattr(row, field))
    return out


def bounds(found: Estimate) -> list[float]:
    """Estimate and both limits."""
    assert found.interval is not None
    return [found.estimate, found.interval.low, found.interval.high]


@cache
def friedman(dataset: str) -> FriedmanResult:
    return friedman_test(load(dataset))


def conover_none(found: FriedmanResult) -> Comparisons:
    return found.conover(adjust="none")


FAMILIES: tuple[tuple[str, Callable[[FriedmanResult], Comparisons], float, bool], ...] = (
    ("nemenyi", lambda f: f.nemenyi(), 1e-8, True),
    ("conover_single_step", lambda f: f.conover(adjust="single-step"), 1e-8, False),
    ("conover_none", conover_none, 1e-10, True),
    ("conover_holm", lambda f: f.conover(adjust="holm"), 1e-10, True),
    ("siegel_none", lambda f: f.siegel(adjust="none"), 1e-10, True),
    ("siegel_holm", lambda f: f.siegel(adjust="holm"), 1e-10, True),
    ("durbin_posthoc_none", conover_none, 1e-10, True),
)

for _ds in ("friedman15x5", "friedman8x4_noties", "friedman1000x8", "friedman20x2"):
    add(
        "mean ranks",
        _ds,
        "mean_ranks",
        lambda d=_ds: dict(zip(load(d).columns, friedman(d).mean_ranks, strict=True)),
    )
    add(
        "friedman_test",
        _ds,
        "friedman",
        lambda d=_ds: test_numbers(friedman(d)),
        theirs=pick("statistic", "p.value"),
    )
    add(
        "friedman_test",
        _ds,
        "iman_davenport",
        lambda d=_ds: test_numbers(friedman(d).iman_davenport),
        theirs=pick("F", "p"),
    )
    add(
        "friedman_test",
        _ds,
        "friedman_FDist",
        lambda d=_ds: test_numbers(friedman_test(load(d), distribution="f")),
        theirs=pick("statistic", "p.value"),
    )
    for _key, _path in (
        ("kendall_w", ("value",)),
        ("kendall_w_by_hand", ()),
        ("kendall_w_effectsize", ()),
    ):
        add(
            "kendalls_w",
            _ds,
            _key,
            lambda d=_ds: kendalls_w(load(d), interval="none").estimate,
            path=_path,
        )
    for _key, _family, _tolerance, _same in FAMILIES:
        add(
            _key,
            _ds,
            _key,
            lambda d=_ds, f=_family: triangle(f(friedman(d)), "p_adjusted"),
            path=("p.value",),
            tolerance=_tolerance,
            note="R's ptukey keeps about nine digits" if _tolerance > 1e-10 else "",
        )
        if _same:
            add(
                _key,
                _ds,
                _key,
                lambda d=_ds, f=_family: triangle(f(friedman(d)), "statistic"),
                path=("statistic",),
                theirs=np.abs,
            )
    add(
        "critical difference",
        _ds,
        "nemenyi_cd_05",
        lambda d=_ds: friedman(d).critical_difference(),
        tolerance=QTUKEY,
        note="R's qtukey is good to 3e-7; judged by tukey_exact_mpmath.json",
    )
    add(
        "versus control",
        _ds,
        "demsar_control_first_holm",
        lambda d=_ds: [
            r.p_adjusted for r in friedman(d).versus(friedman(d).conditions[0], adjust="holm").rows
        ],
        path=("p.value",),
    )
    if _ds != "friedman1000x8":
        add(
            "exact_pairs",
            _ds,
            "frd_exact_none",
            lambda d=_ds: triangle(friedman(d).exact_pairs(adjust="none"), "p_value"),
            path=("p.value",),
        )

add(
    "friedman_test exact",
    "friedman8x4_noties",
    "friedman_exact",
    lambda: friedman_test(load("friedman8x4_noties"), distribution="exact").p_value,
    agrees=False,
    note=(
        "SuppDists rounds the statistic to its grid and returns P(chi2 > 6) = .106294; "
        "P(chi2 >= 6) = .109655"
    ),
)


def friedman_above(dataset: str) -> float:
    """P(chi-squared > observed) without ties, SuppDists' tail."""
    ranks = np.rint(2 * friedman(dataset).ranks).astype(np.int64)
    values, p = friedman_null(ranks)
    return float(p[values > int(np.sum(ranks.sum(axis=0) ** 2))].sum())


add(
    "friedman_test exact, P(>)",
    "friedman8x4_noties",
    "friedman_exact",
    lambda: friedman_above("friedman8x4_noties"),
)


def page_untied(dataset: str) -> float:
    """Exact p of L by the distribution of untied ranks."""
    found = page_trend_test(load(dataset))
    n, k = matrix(dataset).shape
    null = page_null(np.tile(2 * np.arange(1, k + 1), (n, 1)))
    return float(null[math.ceil(2 * found.statistic - 1e-9) :].sum())


for _ds in ("parallel20x10", "shrout_fleiss", "ordrater50x5"):
    add(
        "kendalls_w of raters",
        _ds,
        "kendall_w_raters",
        lambda d=_ds: kendalls_w(matrix(d).T, interval="none").estimate,
        path=("value",),
        note="each rater is a block: their columns are the rows of kendalls_w",
    )

for _ds in ("friedman15x5", "friedman8x4_noties", "friedman1000x8"):
    add(
        "page_trend_test L",
        _ds,
        "page",
        lambda d=_ds: page_trend_test(load(d)).statistic,
        path=("estimate",),
    )
    add(
        "page_trend_test z",
        _ds,
        "page",
        lambda d=_ds: page_trend_test(load(d)).details["z"],
        path=("statistic",),
        agrees=False,
        note="PMCMRplus::pageTest subtracts .5 from L and ignores ties in the variance",
    )
add(
    "page_trend_test exact",
    "friedman8x4_noties",
    "page_DescTools",
    lambda: test_numbers(page_trend_test(load("friedman8x4_noties"), exact=True)),
    theirs=pick("statistic", "p.value"),
)
add(
    "page_trend_test exact",
    "friedman15x5",
    "page_DescTools",
    lambda: page_trend_test(load("friedman15x5"), exact=True).p_value,
    path=("p.value",),
    agrees=False,
    note="DescTools takes ranks as untied; ours is exact given the ties",
)
add(
    "page_trend_test exact, untied ranks",
    "friedman15x5",
    "page_DescTools",
    lambda: page_untied("friedman15x5"),
    path=("p.value",),
)

CENTRES = (
    ("levene_mean", "mean"),
    ("brown_forsythe_median", "median"),
)


def table_row(value: Any) -> list[float]:
    """Df, F and p of car's analysis of variance table."""
    return [value["Df"][0], value["Df"][1], value["F value"][0], value["Pr(>F)"][0]]


def levene(dataset: str, center: Any) -> list[float]:
    found = levene_test("value ~ group", load(dataset), center=center)
    return [*found.df.values(), *test_numbers(found)]


for _ds in ("varianceGroups", "varianceGroupsInt", "kgroups"):
    for _key, _center in CENTRES:
        add("levene_test", _ds, _key, lambda d=_ds, c=_center: levene(d, c), theirs=table_row)
    add(
        "group variances",
        _ds,
        "group_variances",
        lambda d=_ds: list(levene_test("value ~ group", load(d)).estimates.values()),
        theirs=lambda v: list(v.values()),
    )


@cache
def kruskal(dataset: str) -> KruskalResult:
    return kruskal_test("value ~ group", load(dataset))


KRUSKAL: tuple[tuple[str, Callable[[KruskalResult], Comparisons], float], ...] = (
    ("dunn_none", lambda k: k.dunn(adjust="none"), 1e-10),
    ("dunn_holm", lambda k: k.dunn(adjust="holm"), 1e-10),
    ("dunn_bonferroni", lambda k: k.dunn(adjust="bonferroni"), 1e-10),
    ("conover_kw_holm", lambda k: k.conover(adjust="holm"), 1e-10),
    ("nemenyi_kw_tukey", lambda k: k.nemenyi(), 1e-8),
)

for _ds in ("varianceGroupsInt", "kgroups"):
    add(
        "kruskal_test",
        _ds,
        "kruskal",
        lambda d=_ds: test_numbers(kruskal(d)),
        theirs=pick("statistic", "p.value"),
    )
    add(
        "epsilon_squared", _ds, "rank_epsilon_squared", lambda d=_ds: kruskal(d).effects[0].estimate
    )
    add(
        "eta_squared_ranks",
        _ds,
        "rank_eta_squared",
        lambda d=_ds: kruskal(d).effects[1].estimate,
        agrees=_ds == "kgroups",
        note="effectsize cuts at 0, ours does not" if _ds != "kgroups" else "",
    )
    add(
        "eta_squared_ranks",
        _ds,
        "kruskal_effsize_rstatix",
        lambda d=_ds: kruskal(d).effects[1].estimate,
    )
    for _key, _kw, _tolerance in KRUSKAL:
        for _part, _field in (("p.value", "p_adjusted"), ("statistic", "statistic")):
            add(
                _key,
                _ds,
                _key,
                lambda d=_ds, f=_kw, a=_field: triangle(f(kruskal(d)), a),
                path=(_part,),
                theirs=np.abs,
                tolerance=_tolerance,
                note="R's ptukey keeps about nine digits" if _tolerance > 1e-10 else "",
            )
    add(
        "dunn",
        _ds,
        "dunn_rstatix_holm",
        lambda d=_ds: [r.p_adjusted for r in kruskal(d).dunn(adjust="holm").rows],
        path=("p.adj",),
    )
    add(
        "pairwise_mann_whitney",
        _ds,
        "pairwise_mwu_holm",
        lambda d=_ds: triangle(
            pairwise_mann_whitney("value ~ group", load(d), exact=False), "p_adjusted"
        ),
    )
