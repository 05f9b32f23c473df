"""Tests of equal variances as published studies print them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, too_large
from judgestats.errors import InputError, one_of
from judgestats.stats.designs.cells import cell_statistics, check_scores
from judgestats.stats.designs.score_matrix import read_groups
from judgestats.stats.inference import distributions
from judgestats.stats.inference.distributions import share_interval
from judgestats.stats.inference.result import Estimate, Interval, Note, Sample, TestResult

Centre = Literal["mean", "median"]

_CENTRES: dict[Centre, Callable[[Floats], float]] = {
    "mean": lambda x: float(x.mean()),
    "median": lambda x: float(np.median(x)),
}
_TITLES = {
    "mean": "Levene's test (distances from the mean)",
    "median": "Brown-Forsythe test (distances from the median)",
}

WRONG_SIZE = Note(
    code="published_size",
    message="Replication only: on centred judgments the size of this test is wrong for few "
    "replications, tied scores and cells of unequal spread (.01 to .8 for a nominal .05). "
    "Conclude from spread_test.",
)

OF_VARIANCES = Note(
    code="spread_of_variances",
    message="Replication only: Levene's test of a vector of variances asks whether the variances "
    "themselves vary more under one condition, not whether judgments do. Conclude from "
    "spread_test.",
)


def centred_scores(X: ArrayLike) -> Floats:
    """Scores minus their own item x condition cell's mean; never over conditions.

    Parameters
    ----------
    X : array-like, shape (N, k, R)
        Scores; NaN = missing.

    Returns
    -------
    ndarray, shape (N, k, R)
        NaN where the score is missing or alone in its cell.

    Raises
    ------
    InputError

    Examples
    --------
    >>> centred_scores([[[8, 10], [5, 5]]]).tolist()
    [[[-1.0, 1.0], [0.0, 0.0]]]
    """
    cells = cell_statistics(X)
    middle = np.where(cells.n_scores >= 2, cells.mean, np.nan)
    return np.asarray(X, dtype=float) - middle[:, :, None]


def spread_published(
    scores: ArrayLike, *, conditions: Sequence[object] | None = None
) -> TestResult:
    r"""Levene's test on scores centred by item x condition, as published studies print it.

    Parameters
    ----------
    scores : array-like, shape (N, k, R)
        Scores: items x conditions x replications, NaN = missing.
    conditions : sequence, optional

    Returns
    -------
    TestResult
        With a note that its size is wrong.

    Raises
    ------
    InputError

    Notes
    -----
    The test itself agrees with R's car::leveneTest on the centred judgments, df k - 1 and M - k
    with M judgments. Cells of one score are left out.

    Examples
    --------
    >>> import numpy as np
    >>> X = 7 + np.random.default_rng(2).normal(size=(20, 2, 5))
    >>> out = spread_published(X)
    >>> out.statistic_text(), out.notes[0].code
    ('F(1, 198) = 4.426', 'published_size')
    """
    function = "spread_published"
    scores, names = check_scores(scores, function=function, conditions=conditions, ndims=(3,))
    centred = centred_scores(scores)
    groups = [centred[:, j].ravel() for j in range(len(names))]
    groups = [g[~np.isnan(g)] for g in groups]
    cells = cell_statistics(scores, conditions=names)
    used = np.asarray(np.any(cells.n_scores >= 2, axis=1))
    return _on_groups(
        groups,
        names,
        center="mean",
        sample=cells.sample(used, reason="fewer than 2 scores in every condition"),
        name="published_levene",
        method=f"{_TITLES['mean']} on judgments centred by item x condition",
        null_hypothesis="the centred judgments vary equally under the conditions",
        notes=(WRONG_SIZE,),
    )


def levene_of_variances(
    variances: ArrayLike | Sequence[ArrayLike], *, conditions: Sequence[object] | None = None
) -> TestResult:
    r"""Levene's test applied to per-item variances: replication of published claims only.

    It compares how much the *variances* vary, unpaired. Two judges whose variances differ by a
    constant pass it. Offered because published claims of "no difference" rest on it.

    Parameters
    ----------
    variances : array-like, shape (N, k), or sequence of k vectors
        Variances of the items under each condition; vectors may differ in length.
    conditions : sequence, optional

    Returns
    -------
    TestResult
        Distances from the median, the default of scipy and car, with a note that says what it
        compares.

    Raises
    ------
    InputError

    Examples
    --------
    >>> low, high = [0.1, 0.2, 0.3, 0.4], [2.1, 2.2, 2.3, 2.4]  # every variance 2 larger
    >>> round(levene_of_variances([low, high]).p_value, 6)
    1.0
    """
    function = "levene_of_variances"
    is_table = isinstance(variances, np.ndarray) and variances.ndim == 2
    columns = list(np.asarray(variances, dtype=float).T) if is_table else list(variances)  # type: ignore[arg-type]
    groups = [np.asarray(g, dtype=float).ravel() for g in columns]
    groups = [g[~np.isnan(g)] for g in groups]
    if any(np.any((g < 0) | too_large(g)) for g in groups):
        raise InputError(
            f"{function}: variances must not be negative, infinite or "
            "beyond 1e50, got some that are. Give one "
            "vector of per-item variances for each condition."
        )
    names = tuple(str(c) for c in conditions) if conditions is not None else ()
    names = names or tuple(f"condition {j + 1}" for j in range(len(groups)))
    if len(names) != len(groups) or len(groups) < 2:
        raise InputError(
            f"{function}: needs at least 2 vectors of variances and one name for each, got "
            f"{len(groups)} and {len(names)}."
        )
    sizes = [g.size for g in groups]
    return _on_groups(
        groups,
        names,
        center="median",
        sample=Sample(n_items=max(sizes)),
        name=function,
        method=f"{_TITLES['median']} of a vector of variances",
        null_hypothesis="the variances vary equally under the conditions",
        notes=(OF_VARIANCES,),
        details={"n_variances": dict(zip(names, sizes, strict=True))},
    )


def _on_groups(
    groups: list[Floats], names: Sequence[str], *, center: Centre, **described: Any
) -> TestResult:
    """Levene's or Brown and Forsythe's test of independent groups, as a study printed it."""
    result = TestResult(
        statistic_name="F",
        df=_degrees(groups),
        alternative="some conditions vary more",
        why="the replicated study used it",
        estimates=_variances(groups, names),
        **described,
    )
    reason = _refusal(groups, center)
    if reason:
        return result.replace(reason=reason)
    between, within = _squares_of_distances(groups, center)
    statistic, p = _f(between, within, groups)
    return result.replace(statistic=statistic, p_value=p)


def _degrees(groups: Sequence[Floats]) -> dict[str, float]:
    n, k = sum(g.size for g in groups), len(groups)
    return {"num df": float(k - 1), "denom df": float(n - k)}


def _variances(groups: Sequence[Floats], names: Sequence[str]) -> dict[str, float]:
    return {
        f"variance {name}": float(np.var(g, ddof=1)) if g.size > 1 else math.nan
        for name, g in zip(names, groups, strict=True)
    }


def _squares_of_distances(groups: Sequence[Floats], center: Centre) -> tuple[float, float]:
    """Sums of squares of the distances from the groups' centres, between and within groups."""
    distances = [np.abs(g - _CENTRES[center](g)) for g in groups]
    whole = float(np.concatenate(distances).mean())
    between = sum(d.size * (float(d.mean()) - whole) ** 2 for d in distances)
    return between, sum(float(((d - d.mean()) ** 2).sum()) for d in distances)


def _f(between: float, within: float, groups: Sequence[Floats]) -> tuple[float, float]:
    """F and its p."""
    df1, df2 = _degrees(groups).values()
    f = (between / df1) / (within / df2)
    return f, float(distributions.f.sf(f, df1, df2))


def _refusal(groups: list[Floats], center: Centre) -> str:
    """Why the test is undefined, or nothing."""
    if len(groups) < 2:
        return "one condition has nothing to be compared with"
    if min(g.size for g in groups) < 2:
        return "a condition holds fewer than 2 values"
    if all(np.ptp(g) == 0 for g in groups):
        return "no value differs from its condition's others"
    distances = [np.abs(g - _CENTRES[center](g)) for g in groups]
    if all(np.ptp(d) <= 1e-12 * (1 + d.max()) for d in distances):
        return "all distances within a condition are equal, which leaves no residual"
    return ""


_CAUTION = Note(
    code="descriptive_only",
    message=(
        "Descriptive, as published studies print it: on scores with few replications, ties or "
        "cells of unequal spread the size of this test is wrong. Use the blocked spread tests for "
        "a conclusion."
    ),
)


def levene_test(
    values: object,
    *,
    center: Centre = "mean",
    names: Sequence[Any] | None = None,
    level: float = 0.95,
) -> TestResult:
    r"""Levene's test of equal variances (mean), Brown and Forsythe's (median).

    Parameters
    ----------
    values : mapping, or list of samples
        Name -> sample, or one sample per group. Missing values are left out and counted.
    center : {"mean", "median"}
        Where deviations are taken from; ``median`` is Brown and Forsythe's test.
    names : sequence, optional
        Names of the samples of a list.
    level : float
        Level of the effect's interval.

    Returns
    -------
    TestResult
        Effect: share of the variance of distances from the centre between the groups.

    Raises
    ------
    InputError
        If the data cannot be interpreted as groups.

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
    one_of(where, "center", center, _CENTRES)
    data = read_groups(values, where=where, names=names)
    samples = list(data.samples)
    df = _degrees(samples)
    between, within = _squares_of_distances(samples, center)
    reason = ""
    if all(np.ptp(s) == 0 for s in samples):
        reason = "no group varies"
    elif df["denom df"] < 1:
        reason = "every group has one value"
    elif not within > 1e-14 * between:
        reason = "the deviations do not vary within groups"
    f = p = share = math.nan
    interval = None
    if not reason:
        share = between / (between + within)
        f, p = _f(between, within, samples)
        low, high = share_interval(f, df["num df"], df["denom df"], data.sample.n_items, level)
        interval = Interval(low=low, high=max(high, share), level=level, method="noncentral F")
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
    return TestResult(
        name=where if center != "median" else "brown_forsythe_test",
        method=f"{label} for homogeneity of variance (center = {center})",
        statistic=f,
        statistic_name="F",
        df=df,
        p_value=p,
        sample=data.sample,
        null_hypothesis="the variances are equal",
        why="It is printed because published studies compare variances this way.",
        effects=(effect,),
        estimates=_variances(samples, data.names),
        data_name="samples",
        notes=(*data.notes, _CAUTION),
        reason=reason,
    )


def brown_forsythe_test(
    values: object,
    *,
    names: Sequence[Any] | None = None,
    level: float = 0.95,
) -> TestResult:
    """Brown and Forsythe's test: `levene_test` with deviations from the medians.

    Parameters
    ----------
    values, names, level
        See `levene_test`.

    Returns
    -------
    TestResult

    Raises
    ------
    InputError
        If the data cannot be interpreted as groups.

    Examples
    --------
    >>> round(brown_forsythe_test([[1, 2, 3, 4, 9], [0, 3, 6, 9, 30]]).statistic, 4)
    1.3768
    """
    return levene_test(values, center="median", names=names, level=level)
