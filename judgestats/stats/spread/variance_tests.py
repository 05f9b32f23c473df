"""Tests of equal variances as published studies print them: descriptive, not primary.

Their size is wrong for scores with few replications, ties or cells of unequal spread (.06 to .56 at
a nominal .05); the blocked spread tests are primary. Every result carries that warning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.inference import distributions
from judgestats.stats.inference.noncentral import share_interval
from judgestats.stats.inference.result import Estimate, Interval, Note, TestResult
from judgestats.stats.layouts.formula import Missing
from judgestats.stats.layouts.groups import Groups, read_groups

_CAUTION = Note(
    code="descriptive_only",
    message=(
        "Descriptive, as published studies print it: on scores with few replications, ties or "
        "cells of unequal spread the size of this test is wrong. Use the blocked spread tests for "
        "a conclusion."
    ),
)
_WHY = "It is printed because published studies compare variances this way."


def _read(
    values: object, groups: object, names: Sequence[Any] | None, missing: Missing, where: str
) -> tuple[Groups, str]:
    """The groups, and why no test of them can be computed (or nothing)."""
    data = read_groups(values, groups, where=where, names=names, missing=missing)
    if len(data.names) < 2:
        raise InputError(
            f"{where}: at least 2 groups with values are required, got {len(data.names)}. Check "
            "the labels."
        )
    reason = ""
    if all(np.ptp(s) == 0 for s in data.split()):
        reason = "no group varies"
    return data, reason


def _result(
    data: Groups,
    *,
    name: str,
    method: str,
    statistic: float,
    statistic_name: str,
    df: dict[str, float],
    p_value: float,
    reason: str,
    effects: tuple[Estimate, ...] = (),
) -> TestResult:
    variances = {
        f"variance {g}": float(s.var(ddof=1)) if s.size > 1 else math.nan
        for g, s in zip(data.names, data.split(), strict=True)
    }
    return TestResult(
        name=name,
        method=method,
        statistic=statistic,
        statistic_name=statistic_name,
        df=MappingProxyType(df),
        p_value=p_value,
        sample=data.sample,
        null_hypothesis="the variances are equal",
        why=_WHY,
        effects=effects,
        estimates=MappingProxyType(variances),
        data_name=data.data_name,
        notes=(*data.notes, _CAUTION),
        reason=reason,
    )


def levene_test(
    values: object,
    groups: object = None,
    *,
    center: Literal["mean", "median"] = "mean",
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
    level: float = 0.95,
) -> TestResult:
    r"""Levene's test of equal variances (mean), Brown and Forsythe's (median).

    Parameters
    ----------
    values : array-like of shape (n,), mapping, list of samples, or str
        Values with their labels in `groups`; or samples; or ``"score ~ group"``.
    groups : array-like of shape (n,) or DataFrame, optional
    center : {"mean", "median"}
        Where deviations are taken from; ``median`` is Brown and Forsythe's test.
    names : sequence, optional
        Names of the samples of a list.
    missing : {"drop", "raise"}
    level : float
        Level of the effect's interval.

    Returns
    -------
    TestResult
        Effect: share of the variance of distances from the centre between the groups.

    Raises
    ------
    InputError
        If the data cannot be read as groups.

    Notes
    -----
    One-way F of :math:`|x - c_j|` on k-1 and n-k df, as ``car::leveneTest``.

    References
    ----------
    Levene (1960); Brown & Forsythe (1974), JASA 69, 364-367.

    Examples
    --------
    >>> result = levene_test([[1, 2, 3, 4], [0, 3, 6, 9], [2, 2.5, 3, 3.5]])
    >>> round(result.statistic, 4), round(result.p_value, 5)
    (6.1463, 0.02075)
    """
    where = "levene_test"
    centres: dict[str, Callable[[Floats], float]] = {
        "mean": lambda x: float(x.mean()),
        "median": lambda x: float(np.median(x)),
    }
    one_of(where, "center", center, centres)
    data, reason = _read(values, groups, names, missing, where)
    samples = data.split()
    deviations = [np.abs(s - centres[center](s)) for s in samples]
    n, k = data.values.size, len(samples)
    df1, df2 = float(k - 1), float(n - k)
    f = p = share = math.nan
    interval = None
    if not reason and df2 < 1:
        reason = "every group has one value"
    if not reason:
        grand = float(np.concatenate(deviations).mean())
        between = sum(d.size * (float(d.mean()) - grand) ** 2 for d in deviations)
        within = sum(float(np.sum((d - d.mean()) ** 2)) for d in deviations)
        share = between / (between + within) if between + within > 0 else math.nan
        if within > 1e-14 * between:
            f = (between / df1) / (within / df2)
            p = float(distributions.f.sf(f, df1, df2))
            low, high = share_interval(f, df1, df2, n, level)
            interval = Interval(low=low, high=max(high, share), level=level, method="noncentral F")
        else:
            reason = "the deviations do not vary within groups"
            share = math.nan
    label = {"mean": "Levene's test", "median": "Brown-Forsythe test"}[center]
    effect = Estimate(
        name="eta_squared_deviations",
        label="share of the deviations' variance between groups",
        estimator="eta squared of |x - centre|",
        estimate=share,
        interval=interval,
        sample=data.sample,
        reason=reason,
    )
    return _result(
        data,
        name=where if center != "median" else "brown_forsythe_test",
        method=f"{label} for homogeneity of variance (center = {center})",
        statistic=f,
        statistic_name="F",
        df={"num df": df1, "denom df": df2},
        p_value=p,
        reason=reason,
        effects=(effect,),
    )


def brown_forsythe_test(
    values: object,
    groups: object = None,
    *,
    names: Sequence[Any] | None = None,
    missing: Missing = "drop",
    level: float = 0.95,
) -> TestResult:
    """Brown and Forsythe's test: `levene_test` with deviations from the medians.

    Parameters
    ----------
    values, groups, names, missing, level
        See `levene_test`.

    Returns
    -------
    TestResult

    Raises
    ------
    InputError
        If the data cannot be read as groups.

    Examples
    --------
    >>> round(brown_forsythe_test([[1, 2, 3, 4, 9], [0, 3, 6, 9, 30]]).statistic, 4)
    1.3768
    """
    return levene_test(values, groups, center="median", names=names, missing=missing, level=level)
