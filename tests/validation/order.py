"""Exact intervals and tests of order beside R."""

from __future__ import annotations

import numpy as np

from judgestats.stats import first_position_preference, swap_consistency
from judgestats.stats.agreement import clopper_pearson
from validation.base import Case, load


def _orders() -> tuple[np.ndarray, np.ndarray]:
    """The 80 pairs of mcnemar80 as verdicts in two orders.

    A 0/1 pair becomes a verdict that follows the first place, a 1/0 pair the second.
    """
    d = load("mcnemar80").to_numpy()
    return np.where(d[:, 0] == 0, "a", "b"), np.where(d[:, 1] == 0, "a", "b")


def _preference() -> list[float]:
    test = first_position_preference(*_orders())
    interval = test.effects[0].interval
    return [test.p_value, test.effects[0].estimate, interval.low, interval.high]


def _m1() -> list[float]:
    wins = load("cochran40x4").m1.to_numpy()
    out = swap_consistency(np.where(wins == 1, "a", "b"), np.full(40, "a"))
    return [out.estimate, out.interval.low, out.interval.high]


CASES: list[Case] = [
    Case(
        statistic="preference for a place (exact), share and interval",
        dataset="mcnemar80",
        key="mcnemar_exact_binom",
        ours=_preference,
        theirs=lambda v: [v["p.value"], v["estimate"], *v["conf.int"]],
        note="verdicts that follow the order are the discordant pairs",
    ),
    Case(
        statistic="preference for a place (exact)",
        dataset="mcnemar80",
        key="mcnemar_exact",
        path=("p.value",),
        ours=lambda: _preference()[0],
    ),
    Case(
        statistic="swap consistency, exact interval",
        dataset="cochran40x4",
        key="prop_ci_m1_clopper-pearson",
        ours=_m1,
        theirs=lambda v: np.ravel(v).tolist(),
    ),
    Case(
        statistic="Clopper-Pearson",
        dataset="cochran40x4",
        key="prop_ci_m1_clopper-pearson",
        ours=lambda: [clopper_pearson(20, 40).low, clopper_pearson(20, 40).high],
        theirs=lambda v: np.ravel(v)[1:].tolist(),
    ),
]
