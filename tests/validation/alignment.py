"""Correlation of a judge with people, beside R's tests of the same columns."""

from __future__ import annotations

from typing import Any

from judgestats.stats import human_correlation
from validation.base import Case, load

PAIRS = ("tempvar", "corr8_noties", "corr60_ties")


def _ours(dataset: str, method: str) -> Any:
    d = load(dataset)
    return human_correlation(d.iloc[:, -2], d.iloc[:, -1], method=method)


def _cases(dataset: str) -> list[Case]:
    def pearson() -> list[float]:
        out = _ours(dataset, "pearson")
        return [out.estimate, out.interval.low, out.interval.high]

    return [
        Case(
            statistic="Pearson of judge and human, Fisher interval",
            dataset=dataset,
            key="pearson",
            ours=pearson,
            theirs=lambda v: [v["estimate"], *v["conf.int"]],
        ),
        Case(
            statistic="Spearman of judge and human",
            dataset=dataset,
            key="spearman_asym",
            path=("estimate",),
            ours=lambda: _ours(dataset, "spearman").estimate,
        ),
        Case(
            statistic="Kendall of judge and human",
            dataset=dataset,
            key="kendall_tau_b_asym",
            path=("estimate",),
            ours=lambda: _ours(dataset, "kendall").estimate,
        ),
        Case(
            statistic="Spearman of judge and human, lower bound",
            dataset=dataset,
            key="spearman_ci_DescTools",
            path=("lwr.ci",),
            ours=lambda: _ours(dataset, "spearman").interval.low,
            agrees=False,
            note="DescTools takes Fisher's variance 1 / (n - 3), too short for ranks; ours is "
            "Bonett and Wright's",
        ),
    ]


CASES: list[Case] = [case for dataset in PAIRS for case in _cases(dataset)]
