"""Does a judge prefer the longer response when people's preference is held constant?"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.errors import InputError
from judgestats.stats.agreement.preference_effects import signed_regression
from judgestats.stats.inference import distributions
from judgestats.stats.inference.cluster_jackknife import t_of_clusters
from judgestats.stats.inference.keywords import Clustered, with_keywords
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Interval, Sample


@with_keywords()
def length_effect(
    preference: ArrayLike,
    human: ArrayLike,
    log_length_ratio: ArrayLike,
    **inference: Unpack[Clustered],
) -> Estimate:
    r"""Effect of length on a judge's preference, people's preference held constant by regression.

    Parameters
    ----------
    preference : array-like, shape (N,)
        Share of the judge's verdicts for response a (a tie counts half), by pair.
    human : array-like, shape (N,)
        The same for people.
    log_length_ratio : array-like, shape (N,)
        Natural logarithm of length a / length b.
    cluster : array-like, shape (N,), optional
        The question of each pair.

    Returns
    -------
    Estimate
        Change of the share for a where a is twice as long, for pairs that people like alike.
        ``details``: the regression's coefficients.

    Raises
    ------
    InputError
        If the shapes differ.

    Notes
    -----
    Least squares of preference - 1/2 on human - 1/2 and the log length ratio, *without intercept*:
    exchanging the names of a and b changes the sign of all three. Standard errors over clusters
    (sandwich, factor G / (G - 1)), t with G - 1 df; the coefficient times log 2 is reported. A
    linear model of a share: it is an average effect, not a law at the ends.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ratio, human = rng.normal(size=200), rng.choice([0, 0.5, 1], size=200)
    >>> judge = 0.5 + 0.6 * (human - 0.5) + 0.1 * ratio
    >>> round(length_effect(judge, human, ratio).estimate, 4)
    0.0693
    """
    where = "length_effect"
    y, h, x = (np.asarray(v, dtype=float) for v in (preference, human, log_length_ratio))
    if y.ndim != 1 or not y.shape == h.shape == x.shape:
        raise InputError(
            f"{where}: preference, human and log_length_ratio must be one number a pair each, got "
            f"shapes {y.shape}, {h.shape} and {x.shape}."
        )
    used = ~(np.isnan(y) | np.isnan(h) | np.isnan(x))
    codes = cluster_codes(inference["cluster"], y.size, where=where)[used]
    lost = int(np.sum(~used))
    n_clusters = int(np.unique(codes).size)
    result = Estimate(
        name=where,
        label="Change of preference for a response twice as long",
        estimator="least squares, people's preference held constant, clustered errors",
        estimate=math.nan,
        sample=Sample(
            n_items=int(used.sum()),
            n_clusters=n_clusters,
            excluded={"no verdict or label": lost},
        ),
    )
    fit = signed_regression(y[used] - 0.5, np.column_stack([h[used] - 0.5, x[used]]), codes)
    if fit.reason:
        return result.replace(
            reason="too few questions, or lengths and people's preferences do not vary"
        )
    doubling = math.log(2)
    value, se = float(fit.beta[1]) * doubling, float(fit.errors[1]) * doubling
    half = float(distributions.t.ppf((1 + inference["level"]) / 2, fit.df)) * se
    return result.replace(
        estimate=value,
        std_error=se,
        interval=Interval(
            low=value - half,
            high=value + half,
            level=inference["level"],
            method=f"sandwich over clusters, {t_of_clusters(fit.df)}",
        )
        if se > 1e-12
        else None,
        details=MappingProxyType(
            {"human": float(fit.beta[0]), "log_length": float(fit.beta[1]),
             "p_value": float(2 * distributions.t.sf(abs(value / se), fit.df)) if se > 1e-12
             else math.nan}
        ),
    )  # fmt: skip
