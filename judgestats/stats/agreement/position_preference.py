"""Preference for a position when two options are shown in both orders."""

from __future__ import annotations

import dataclasses
import math
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.stats.agreement.swap import both_orders, clopper_pearson, order_sample
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, TestResult
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums
from judgestats.stats.layouts.count_table import counts_of_codes


@with_keywords()
def first_position_preference(
    first_order: ArrayLike, second_order: ArrayLike, **inference: Unpack[Clustered]
) -> TestResult:
    r"""Does the judge lean to the response shown first, or to the one shown second?

    Parameters
    ----------
    first_order, second_order : array-like, shape (n_items,) or (n_items, n_repetitions)
        Response preferred, ``"a"``, ``"b"`` or ``"tie"``, with a shown first and with b shown
        first; None, NaN or empty text where not read.
    cluster : array-like, shape (n_items,), optional
        Cluster of each item: clusters are then the unit of the exact test.

    Returns
    -------
    TestResult
        Exact sign test. ``effects``: the share leaning to the first position among units that
        lean at all (Clopper-Pearson), and the share of all decided verdicts for the response shown
        first (jackknife over clusters). ``details``: the counts behind them.

    Raises
    ------
    InputError
        If a verdict is none of the three or the shapes differ.

    Notes
    -----
    A unit's lean is (share of its verdicts for the first place) - (share for the second), each
    order weighing the same. Without clusters, repetitions and ties this is McNemar's exact test
    on the items whose verdict follows the order. Only items with verdicts in both orders enter,
    so that the quality of the responses cancels.

    References
    ----------
    Clopper & Pearson (1934); McNemar (1947).

    Examples
    --------
    >>> first = ["a"] * 12 + ["b"] * 3 + ["a"] * 5
    >>> second = ["b"] * 12 + ["a"] * 3 + ["a"] * 5
    >>> out = first_position_preference(first, second)
    >>> round(out.p_value, 4), out.effect.estimate, round(out.effects[1].estimate, 4)
    (0.0352, 0.8, 0.725)
    """
    where = "first_position_preference"
    a, b, both = both_orders(first_order, second_order, where)
    groups = cluster_codes(inference["cluster"], a.shape[0], where=where)
    # Counts by place (first, second, tie): in the second order, b stands first.
    ca, cb = counts_of_codes(a, 3), counts_of_codes(b, 3)[:, [1, 0, 2]]
    with np.errstate(divide="ignore", invalid="ignore"):
        places = (ca / ca.sum(axis=1, keepdims=True) + cb / cb.sum(axis=1, keepdims=True)) / 2
    places = np.where(both[:, None], places, 0.0)
    lean = np.zeros(int(groups.max()) + 1)
    np.add.at(lean, groups, places[:, 0] - places[:, 1])
    first = int(np.sum(lean > 1e-12))
    second = int(np.sum(lean < -1e-12))
    units = np.unique(groups[both]).size
    sample = order_sample(both, a, b)
    if inference["cluster"] is not None:
        sample = dataclasses.replace(sample, n_clusters=int(units))
    unit = "item" if inference["cluster"] is None else "cluster"
    share = estimate_from_sums(
        SumStatistic(per_item=lambda x: x, combine=lambda s: np.asarray(s[..., 1] / s[..., 0])),
        np.column_stack([places[:, 0] + places[:, 1], places[:, 0]]),
        name="first_position_share",
        label="Share of decided verdicts for the response shown first",
        estimator="items with both orders, orders weigh equally, ties left out",
        sample=sample,
        reason="no decided verdict",
        where=where,
        **inference,
        scale="logit",
        proportion=True,
    )
    leaning = first + second
    conditional = Estimate(
        name="first_position_preference",
        label=f"Share leaning to the first position among {unit}s that lean",
        estimate=first / leaning if leaning else math.nan,
        estimator=f"{unit}s whose verdicts follow the order",
        interval=clopper_pearson(first, leaning, level=inference["level"]) if leaning else None,
        sample=dataclasses.replace(sample, n_items=leaning),
        reason="" if leaning else f"no {unit}'s verdict follows the order",
    )
    result = TestResult(
        name=where,
        method=f"Exact sign test of position preference ({unit}s as units)",
        statistic=float(first),
        statistic_name=f"{unit}s leaning first",
        p_value=math.nan,
        sample=sample,
        null_hypothesis="the first and the second place are preferred equally often",
        alternative="one place is preferred",
        why="both orders of the same pair are compared, so the quality of the responses cancels",
        effects=(conditional, share),
        details={
            "leaning_first": first,
            "leaning_second": second,
            "no_lean": int(units) - leaning,
            "tie_share": float(places[both, 2].mean()) if both.any() else math.nan,
        },
    )
    if not both.any():
        return result.replace(statistic=math.nan, reason="no item has a verdict in both orders")
    p = distributions.sign_test(first, leaning - first)
    return result.replace(p_value=p)
