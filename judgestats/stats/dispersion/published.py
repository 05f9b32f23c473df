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
    message="Replication only: on centred judgments the size of this test is wrong (.01 to .8 for "
    "a nominal .05). Conclude from spread_test.",
)

OF_VARIANCES = Note(
    code="spread_of_variances",
    message="Replication only: it asks whether variances vary more under one condition, not "
    "whether judgments do. Conclude from spread_test.",
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
            f"{function}: variances must not be negative, infinite or beyond 1e50, got some."
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
    groups: list[Floats],
    names: Sequence[str],
    *,
    center: Centre,
    least: int = 2,
    alternative: str = "some conditions vary more",
    why: str = "the replicated study used it",
    **described: Any,
) -> TestResult:
    """Levene's or Brown and Forsythe's test of independent groups of `least` values each."""
    sizes = [g.size for g in groups]
    df = {"num df": float(len(sizes) - 1), "denom df": float(sum(sizes) - len(sizes))}
    variances = [float(np.var(g, ddof=1)) if g.size > 1 else math.nan for g in groups]
    estimates = {f"variance {name}": v for name, v in zip(names, variances, strict=True)}
    result = TestResult(
        statistic_name="F",
        df=df,
        alternative=alternative,
        why=why,
        estimates=estimates,
        **described,
    )
    if len(groups) < 2:
        return result.replace(reason="one condition has nothing to be compared with")
    if min(sizes) < least or df["denom df"] < 1:
        return result.replace(reason="a condition holds fewer than 2 values")
    if all(np.ptp(g) == 0 for g in groups):
        return result.replace(reason="no value differs from its condition's others")
    distances = [np.abs(g - _CENTRES[center](g)) for g in groups]
    if all(np.ptp(d) <= 1e-12 * (1 + d.max()) for d in distances):
        reason = "all distances within a condition are equal, which leaves no residual"
        return result.replace(reason=reason)
    whole = float(np.concatenate(distances).mean())
    between = sum(d.size * (float(d.mean()) - whole) ** 2 for d in distances)
    within = sum(float(((d - d.mean()) ** 2).sum()) for d in distances)
    f = between / df["num df"] / (within / df["denom df"])
    return result.replace(statistic=f, p_value=float(distributions.f.sf(f, *df.values())))


_CAUTION = Note(
    code="descriptive_only",
    message="Descriptive: on few replications, ties or cells of unequal spread the size of this "
    "test is wrong. Use the blocked spread tests for a conclusion.",
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
    result = _on_groups(
        list(data.samples),
        data.names,
        center=center,
        least=1,
        alternative="",
        why="It is printed because published studies compare variances this way.",
        name=where if center != "median" else "brown_forsythe_test",
        method=f"{_TITLES[center].partition(' (')[0]} for homogeneity of variance "
        f"(center = {center})",
        sample=data.sample,
        null_hypothesis="the variances are equal",
        data_name="samples",
        notes=(*data.notes, _CAUTION),
    )
    effect = Estimate(
        name="eta_squared_deviations",
        label="share of the deviations' variance between groups",
        estimator="eta squared of |x - centre|",
        sample=data.sample,
        reason=result.reason,
    )
    if not result.reason:
        df1, df2 = result.df.values()
        explained = result.statistic * df1
        share = explained / (explained + df2)
        low, high = share_interval(result.statistic, df1, df2, data.sample.n_items, level)
        limits = Interval(low=low, high=max(high, share), level=level, method="noncentral F")
        effect = effect.replace(estimate=share, interval=limits)
    return result.replace(effects=(effect,))


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
