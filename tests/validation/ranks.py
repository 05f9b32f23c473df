"""Rows of the validation table: rank tests of blocks and groups, variance tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from judgestats import stats
from judgestats.stats.comparison import FriedmanResult
from judgestats.stats.inference import Comparisons, Estimate, TestResult, page_null
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
    return stats.friedman_test(load(dataset))


def samples(dataset: str) -> dict[str, np.ndarray]:
    """The values of each group of a data set."""
    data = load(dataset)
    return {str(g): v.to_numpy(float) for g, v in data.groupby("group", sort=False)["value"]}


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
        lambda d=_ds: test_numbers(friedman(d).iman_davenport),
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
            lambda d=_ds: friedman(d).effects[0].estimate,
            path=_path,
        )
    add(
        "nemenyi",
        _ds,
        "nemenyi",
        lambda d=_ds: triangle(friedman(d).nemenyi(), "p_adjusted"),
        path=("p.value",),
        tolerance=1e-8,
        note="R's ptukey keeps about nine digits",
    )
    add(
        "nemenyi",
        _ds,
        "nemenyi",
        lambda d=_ds: triangle(friedman(d).nemenyi(), "statistic"),
        path=("statistic",),
        theirs=np.abs,
    )
    add(
        "critical difference",
        _ds,
        "nemenyi_cd_05",
        lambda d=_ds: friedman(d).nemenyi().details["critical_difference"],
        tolerance=QTUKEY,
        note="R's qtukey is good to 3e-7; judged by tukey_exact_mpmath.json",
    )


def page_untied(dataset: str) -> float:
    """Exact p of L by the distribution of untied ranks."""
    found = stats.page_trend_test(load(dataset))
    n, k = matrix(dataset).shape
    null = page_null(np.tile(2 * np.arange(1, k + 1), (n, 1)))
    return float(null[math.ceil(2 * found.statistic - 1e-9) :].sum())


for _ds in ("parallel20x10", "shrout_fleiss", "ordrater50x5"):
    add(
        "kendalls_w of raters",
        _ds,
        "kendall_w_raters",
        lambda d=_ds: stats.friedman_test(matrix(d).T).effects[0].estimate,
        path=("value",),
        note="each rater is a block: their columns are the rows of friedman_test",
    )

for _ds in ("friedman15x5", "friedman8x4_noties", "friedman1000x8"):
    add(
        "page_trend_test L",
        _ds,
        "page",
        lambda d=_ds: stats.page_trend_test(load(d)).statistic,
        path=("estimate",),
    )
    add(
        "page_trend_test z",
        _ds,
        "page",
        lambda d=_ds: stats.page_trend_test(load(d)).details["z"],
        path=("statistic",),
        agrees=False,
        note="PMCMRplus::pageTest subtracts .5 from L and ignores ties in the variance",
    )
add(
    "page_trend_test exact",
    "friedman8x4_noties",
    "page_DescTools",
    lambda: test_numbers(stats.page_trend_test(load("friedman8x4_noties"))),
    theirs=pick("statistic", "p.value"),
)
add(
    "page_trend_test exact",
    "friedman15x5",
    "page_DescTools",
    lambda: stats.page_trend_test(load("friedman15x5")).p_value,
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
    found = stats.levene_test(samples(dataset), center=center)
    return [*found.df.values(), *test_numbers(found)]


for _ds in ("varianceGroups", "varianceGroupsInt", "kgroups"):
    for _key, _center in CENTRES:
        add("levene_test", _ds, _key, lambda d=_ds, c=_center: levene(d, c), theirs=table_row)
    add(
        "group variances",
        _ds,
        "group_variances",
        lambda d=_ds: list(stats.levene_test(samples(d)).estimates.values()),
        theirs=lambda v: list(v.values()),
    )


@cache
def kruskal(dataset: str) -> TestResult:
    return stats.kruskal_test(samples(dataset))


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
    add(
        "pairwise_mann_whitney",
        _ds,
        "pairwise_mwu_holm",
        lambda d=_ds: triangle(stats.pairwise_mann_whitney(samples(d)), "p_adjusted"),
    )
