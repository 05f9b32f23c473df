"""Tests of equal variances as published studies print them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, too_large
from judgestats.errors import InputError, one_of
from judgestats.stats.designs.cells import cell_statistics, check_scores
from judgestats.stats.designs.groups import Groups, Missing, read_groups
from judgestats.stats.inference import distributions
from judgestats.stats.inference.distributions import share_interval
from judgestats.stats.inference.estimate import Estimate, Interval, Note, Sample
from judgestats.stats.inference.rank_distributions import level_ranks, noise_free_difference
from judgestats.stats.inference.result import TestResult

PublishedTest = Literal["levene", "brown-forsythe", "fligner", "bartlett"]

TESTS: tuple[str, ...] = get_args(PublishedTest)

_TITLES = {
    "levene": ("Levene's test (distances from the mean)", "F"),
    "brown-forsythe": ("Brown-Forsythe test (distances from the median)", "F"),
    "fligner": ("Fligner-Killeen test (median)", "chi-squared"),
    "bartlett": ("Bartlett's test", "K-squared"),
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


def centred_scores(X: ArrayLike, *, center: str = "mean") -> Floats:
    """Scores minus their own item x condition cell's mean or median; never over conditions.

    Parameters
    ----------
    X : array-like, shape (N, k, R)
        Scores; NaN = missing.
    center : {"mean", "median"}

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
    one_of("centred_scores", "center", center, ("mean", "median"), advice="Use 'mean'.")
    cells = cell_statistics(X)
    middle = cells.mean if center == "mean" else cells.median
    middle = np.where(cells.n_scores >= 2, middle, np.nan)
    return np.asarray(X, dtype=float) - middle[:, :, None]


def spread_published(
    scores: ArrayLike,
    *,
    conditions: Sequence[object] | None = None,
    tests: Sequence[PublishedTest] = ("levene", "brown-forsythe", "fligner", "bartlett"),
    center: str = "mean",
) -> tuple[TestResult, ...]:
    r"""Levene, Brown-Forsythe, Fligner and Bartlett on scores centred by item x condition.

    Parameters
    ----------
    scores : array-like, shape (N, k, R)
        Scores: items x conditions x replications, NaN = missing.
    conditions : sequence, optional
    tests : sequence of {"levene", "brown-forsythe", "fligner", "bartlett"}
    center : {"mean", "median"}
        What each cell is centred by, before the judgments of a condition are pooled.

    Returns
    -------
    tuple of TestResult
        In the order asked for, each with a note that its size is wrong.

    Raises
    ------
    InputError

    Notes
    -----
    The tests themselves agree with R (car::leveneTest, stats::bartlett.test, and fligner.test but
    for distances that differ in the last digit only, which are ties here) on the centred judgments,
    df k - 1 and M - k with M judgments. Cells of one score are left out.

    Examples
    --------
    >>> import numpy as np
    >>> X = 7 + np.random.default_rng(2).normal(size=(20, 2, 5))
    >>> out = spread_published(X, tests=["levene"])[0]
    >>> out.statistic_text(), out.notes[0].code
    ('F(1, 198) = 4.426', 'published_size')
    """
    function = "spread_published"
    scores, names = check_scores(scores, function=function, conditions=conditions, ndims=(3,))
    unknown = [t for t in tests if t not in TESTS]
    if unknown:
        raise InputError(
            f"{function}: tests must be among {', '.join(TESTS)}, got {unknown[0]!r}. "
            "Choose from these."
        )
    centred = centred_scores(scores, center=center)
    groups = [centred[:, j].ravel() for j in range(len(names))]
    groups = [g[~np.isnan(g)] for g in groups]
    cells = cell_statistics(scores, conditions=names)
    used = np.asarray(np.any(cells.n_scores >= 2, axis=1))
    sample = cells.sample(used, reason="fewer than 2 scores in every condition")
    return tuple(
        _on_groups(groups, names, test, sample).replace(notes=(WRONG_SIZE,)) for test in tests
    )


def levene_of_variances(
    variances: ArrayLike | Sequence[ArrayLike],
    *,
    conditions: Sequence[object] | None = None,
    center: Literal["mean", "median"] = "median",
) -> TestResult:
    r"""Levene's test applied to per-item variances: replication of published claims only.

    It compares how much the *variances* vary, unpaired. Two judges whose variances differ by a
    constant pass it. Offered because published claims of "no difference" rest on it.

    Parameters
    ----------
    variances : array-like, shape (N, k), or sequence of k vectors
        Variances of the items under each condition; vectors may differ in length.
    conditions : sequence, optional
    center : {"mean", "median"}
        Classical Levene (mean) or Brown-Forsythe (median, the default of scipy and car).

    Returns
    -------
    TestResult
        With a note that says what it compares.

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
    one_of(function, "center", center, ("mean", "median"))
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
    test = "levene" if center == "mean" else "brown-forsythe"
    result = _on_groups(groups, names, test, Sample(n_items=max(sizes)))
    return result.replace(
        name=function,
        method=f"{_TITLES[test][0]} of a vector of variances",
        null_hypothesis="the variances vary equally under the conditions",
        notes=(OF_VARIANCES,),
        details=MappingProxyType({"n_variances": dict(zip(names, sizes, strict=True))}),
    )


def _on_groups(
    groups: list[Floats], names: tuple[str, ...], test: str, sample: Sample
) -> TestResult:
    """One test of equal spread of independent groups."""
    title, symbol = _TITLES[test]
    k, total = len(groups), sum(g.size for g in groups)
    df = {"num df": float(k - 1), "denom df": float(total - k)}
    if test in {"fligner", "bartlett"}:
        df = {"df": float(k - 1)}
    result = TestResult(
        name=f"published_{test.replace('-', '_')}",
        method=f"{title} on judgments centred by item x condition",
        statistic=np.nan,
        statistic_name=symbol,
        p_value=np.nan,
        df=MappingProxyType(df),
        null_hypothesis="the centred judgments vary equally under the conditions",
        alternative="some conditions vary more",
        why="the replicated study used it",
        sample=sample,
        estimates=MappingProxyType(
            {
                f"variance {name}": float(np.var(g, ddof=1)) if g.size > 1 else np.nan
                for name, g in zip(names, groups, strict=True)
            }
        ),
    )
    reason = _refusal(groups, test)
    if reason:
        return result.replace(reason=reason)
    if test == "fligner":
        statistic, p = _fligner(groups)
        return result.replace(statistic=statistic, p_value=p)
    if test == "bartlett":
        statistic, p = _bartlett(groups)
    else:
        statistic, p = _levene(groups, np.mean if test == "levene" else np.median)
    return result.replace(statistic=statistic, p_value=p)


def _bartlett(groups: list[Floats]) -> tuple[float, float]:
    """Bartlett's chi-squared, and its p."""
    df = np.array([g.size - 1.0 for g in groups])
    variances = np.array([np.var(g, ddof=1) for g in groups])
    pooled = math.log(float(df @ variances / df.sum()))
    scale = 1 + (float((1 / df).sum()) - 1 / df.sum()) / (3 * (df.size - 1))
    # Equal variances give 0 up to rounding.
    statistic = max(0.0, (df.sum() * pooled - float(df @ np.log(variances))) / scale)
    return statistic, float(distributions.chi2.sf(statistic, df.size - 1))


def _levene(
    groups: list[Floats], centre: Callable[[Floats], np.floating[Any]]
) -> tuple[float, float]:
    """F of the distances from each group's centre, and its p."""
    distances = [np.abs(g - centre(g)) for g in groups]
    n, k = sum(d.size for d in distances), len(distances)
    whole = sum(float(d.sum()) for d in distances) / n
    between = sum(d.size * float(d.mean() - whole) ** 2 for d in distances)
    within = sum(float(((d - d.mean()) ** 2).sum()) for d in distances)
    statistic = (n - k) * between / ((k - 1) * within)
    return statistic, float(distributions.f.sf(statistic, k - 1, n - k))


def _fligner(groups: list[Floats]) -> tuple[float, float]:
    """Fligner and Killeen's chi-squared, and its p.

    As R's fligner.test, but distances that are equal on paper and differ in the last digit are
    tied (R and scipy rank the noise; centred scores always have it).
    """
    distances = [np.abs(noise_free_difference(g, np.full(g.size, np.median(g)))) for g in groups]
    ranks = level_ranks(np.concatenate(distances))
    a = np.asarray(distributions.norm.ppf((1 + ranks / (ranks.size + 1)) / 2))
    ends = np.cumsum([g.size for g in groups])[:-1]
    between = sum(part.size * (part.mean() - a.mean()) ** 2 for part in np.split(a, ends))
    statistic = float(between / np.var(a, ddof=1))
    return statistic, float(distributions.chi2.sf(statistic, len(groups) - 1))


def _refusal(groups: list[Floats], test: str) -> str:
    """Why the test is undefined, or nothing."""
    if len(groups) < 2:
        return "one condition has nothing to be compared with"
    if min(g.size for g in groups) < 2:
        return "a condition holds fewer than 2 values"
    constant = [np.ptp(g) == 0 for g in groups]
    if all(constant):
        return "no value differs from its condition's others"
    if test == "bartlett" and any(constant):
        return "a condition has variance 0, whose logarithm is undefined"
    middle = np.mean if test == "levene" else np.median
    distances = [np.abs(g - middle(g)) for g in groups]
    if test != "bartlett" and all(np.ptp(d) <= 1e-12 * (1 + d.max()) for d in distances):
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
_WHY = "It is printed because published studies compare variances this way."


def _check_groups(
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
    if all(np.ptp(s) == 0 for s in data.group_values()):
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
        for g, s in zip(data.names, data.group_values(), strict=True)
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
    data, reason = _check_groups(values, groups, names, missing, where)
    samples = data.group_values()
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
