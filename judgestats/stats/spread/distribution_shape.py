"""Shape of the distribution of repeated scores: is it normal, skewed, flat?"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.errors import InputError
from judgestats.results.numbers import counted
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Note, Sample, TestResult
from judgestats.stats.inference.sum_statistics import SumStatistic, estimate_from_sums
from judgestats.stats.layouts.cell_statistics import cell_statistics
from judgestats.stats.spread.spread_published import centred_scores

_LEAST = 20  # D'Agostino's approximation of the kurtosis' distribution
_DISCRETE = Note(
    code="discrete_scores",
    message=(
        "Scores are whole numbers, which a normal variable never is: with many judgments the test "
        "rejects normality whatever the judge does. Read skewness and kurtosis."
    ),
)
_POOLED = Note(
    code="pooled_items",
    message=(
        "Items of unequal spread are pooled: a mixture of normal distributions has a positive "
        "excess kurtosis."
    ),
)


def _powers(x: NDArray[Any]) -> NDArray[Any]:
    """Number of scores and sums of second to fourth powers, by item."""
    filled = np.where(np.isnan(x), 0.0, x)
    return np.stack(
        [np.sum(~np.isnan(x), axis=-1), *((filled**p).sum(axis=-1) for p in (2, 3, 4))], axis=-1
    ).astype(float)


def _skewness(s: NDArray[Any]) -> NDArray[Any]:
    return np.asarray((s[..., 2] / s[..., 0]) / (s[..., 1] / s[..., 0]) ** 1.5)


def _excess_kurtosis(s: NDArray[Any]) -> NDArray[Any]:
    return np.asarray((s[..., 3] / s[..., 0]) / (s[..., 1] / s[..., 0]) ** 2 - 3)


@with_keywords()
def normality_test(scores: ArrayLike, **inference: Unpack[Clustered]) -> TestResult:
    r"""Are repeated scores, centred by item, normally distributed; and how do they depart?

    Parameters
    ----------
    scores : array-like, shape (N, R)
        Items x replications, NaN = missing. Items with fewer than two scores are left out.
    cluster : array-like, shape (N,), optional
        Clusters of the items, for the intervals.

    Returns
    -------
    TestResult
        ``effects``: excess kurtosis (0 for a normal distribution, -1.2 for a flat one) and
        skewness, with jackknife intervals over clusters.

    Raises
    ------
    InputError
        If the scores are not a matrix.

    Notes
    -----
    D'Agostino and Pearson's :math:`K^2` as ``scipy.stats.normaltest``, on the pooled scores less
    their item's mean; it treats them as independent. Moments are :math:`g_1 = m_3 / m_2^{3/2}`,
    :math:`g_2 = m_4 / m_2^2 - 3`, not corrected for bias (e1071, type 1). The mean of R scores is
    subtracted, which draws the kurtosis of few replications to 0.

    References
    ----------
    D'Agostino & Pearson (1973), Tests for departure from normality. Biometrika 60, 613-622.

    Examples
    --------
    >>> import numpy as np
    >>> flat = np.random.default_rng(0).integers(1, 11, size=(40, 50))
    >>> out = normality_test(flat)
    >>> out.p_value < 0.001, round(out.effects[0].estimate, 1)
    (True, -1.2)
    """
    from scipy import stats

    where = "normality_test"
    x = np.asarray(scores, dtype=float)
    centred = centred_scores(x[:, None, :] if x.ndim == 2 else x)[:, 0, :]
    cells = cell_statistics(x[:, None, :])
    used = cells.n_scores[:, 0] >= 2
    codes = cluster_codes(inference["cluster"], x.shape[0], where=where)[used]
    sample = cells.sample(used, reason="fewer than 2 scores")
    values = centred[used][~np.isnan(centred[used])]
    reason = ""
    if values.size < _LEAST:
        reason = (
            f"{counted(values.size, 'score is', 'scores are')} too few (at least {_LEAST} are "
            "needed)"
        )
    elif np.ptp(values) == 0:
        reason = "no score differs from the others of its item"
    effects: list[Estimate] = []
    for name, label, combine in (
        ("excess_kurtosis", "Excess kurtosis (0 if normal)", _excess_kurtosis),
        ("skewness", "Skewness (0 if symmetric)", _skewness),
    ):
        effects.append(
            estimate_from_sums(
                SumStatistic(per_item=_powers, combine=combine),
                centred[used],
                name=name,
                label=label,
                estimator="moments of scores centred by item",
                sample=sample,
                reason=reason or "no score differs from the others of its item",
                where=where,
                cluster=codes,
                level=inference["level"],
                scale="identity",
            )
        )
    k2, p = (np.nan, np.nan) if reason else map(float, stats.normaltest(values))
    return TestResult(
        name=where,
        method="D'Agostino-Pearson test of normality on scores centred by item",
        statistic=k2,
        statistic_name="K2",
        df=MappingProxyType({"df": 2.0}),
        p_value=p,
        null_hypothesis="scores of an item are normally distributed",
        alternative="skewness or kurtosis differ from a normal distribution's",
        why="It asks whether repeated scores look normal.",
        effects=tuple(effects),
        sample=sample,
        notes=(_DISCRETE, _POOLED),
        reason=reason,
    )


@with_keywords()
def kurtosis_change(
    before: ArrayLike, after: ArrayLike, **inference: Unpack[Clustered]
) -> Estimate:
    r"""Change of the excess kurtosis of repeated scores between two conditions, paired by item.

    Parameters
    ----------
    before, after : array-like, shape (N, R)
        Scores of the same items under two conditions, NaN = missing; R may differ.

    Returns
    -------
    Estimate
        After minus before: negative where the distribution became flatter.

    Raises
    ------
    InputError
        If the scores are not matrices of as many items.

    Notes
    -----
    Excess kurtosis as in `normality_test`, on scores less their item's mean; the jackknife leaves
    an item out of both conditions at once.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> peaked, flat = rng.laplace(size=(40, 50)), rng.uniform(size=(40, 50))
    >>> change = kurtosis_change(peaked, flat)
    >>> change.estimate < -3, change.interval.high < 0
    (True, True)
    """
    where = "kurtosis_change"
    x, y = (np.asarray(v, dtype=float) for v in (before, after))
    if x.ndim != 2 or y.ndim != 2 or x.shape[0] != y.shape[0]:
        raise InputError(
            f"{where}: before and after must be items x replications of the same items, got shapes "
            f"{x.shape} and {y.shape}."
        )
    parts = [centred_scores(v[:, None, :])[:, 0, :] for v in (x, y)]
    used = np.all([np.sum(~np.isnan(v), axis=1) >= 2 for v in (x, y)], axis=0)
    sums = np.concatenate([_powers(v[used]) for v in parts], axis=-1)
    vary = bool(sums.size) and bool(np.all(sums.sum(axis=0)[[1, 5]] > 0))
    lost = int(np.sum(~used))
    return estimate_from_sums(
        SumStatistic(
            per_item=lambda s: s,
            combine=lambda s: np.asarray(
                _excess_kurtosis(s[..., 4:]) - _excess_kurtosis(s[..., :4])
            ),
        ),
        sums if vary else np.full((max(len(sums), 1), 8), np.nan),
        name="kurtosis_change",
        label="Change of the excess kurtosis",
        estimator="moments of scores centred by item, paired",
        sample=Sample(
            n_items=int(used.sum()),
            excluded={"fewer than 2 scores": lost},
        ),
        reason="" if vary else "the scores of an item never differ under one of the conditions",
        where=where,
        cluster=cluster_codes(inference["cluster"], x.shape[0], where=where)[used]
        if vary
        else None,
        level=inference["level"],
        scale="identity",
    )
