"""Kendall's rank correlation tau-b with R's p-values, an interval, and clusters."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats
from judgestats.errors import InputError, one_of
from judgestats.stats.comparison.rank_pairs import (
    SIDE,
    bootstrap_interval,
    clustered_p,
    is_untied,
    read_pairs,
    refusal,
)
from judgestats.stats.comparison.wilcoxon import ALTERNATIVES, Alternative, normal_p
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import NULL, Inference, with_keywords
from judgestats.stats.inference.result import Estimate, Interval, Note, TestResult
from judgestats.stats.inference.rounding_noise import level_ranks
from judgestats.stats.layouts.formula import Missing

KendallInterval = Literal["asymptotic", "bootstrap", "none"]


def _tau_b(x: Floats, y: Floats) -> float:
    from scipy import stats

    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    if x.size == 2:
        # scipy's variance, which is not needed here, divides by n - 2.
        return math.copysign(1.0, float((x[1] - x[0]) * (y[1] - y[0])))
    tau = float(stats.kendalltau(x, y, method="asymptotic").statistic)
    # scipy's product of two roots can miss 1 by a rounding error.
    return math.copysign(1.0, tau) if abs(abs(tau) - 1) < 1e-12 else tau


def _tau_variance(x: Floats, y: Floats) -> float:
    """Null variance of S = concordant - discordant with ties (Kendall), as R's cor.test."""
    n = float(x.size)
    t = np.unique(x, return_counts=True)[1].astype(float)
    u = np.unique(y, return_counts=True)[1].astype(float)
    base = n * (n - 1) * (2 * n + 5)
    base -= np.sum(t * (t - 1) * (2 * t + 5)) + np.sum(u * (u - 1) * (2 * u + 5))
    pairs = np.sum(t * (t - 1)) * np.sum(u * (u - 1)) / (2 * n * (n - 1))
    triples = 0.0
    if n > 2:
        triples = np.sum(t * (t - 1) * (t - 2)) * np.sum(u * (u - 1) * (u - 2))
        triples /= 9 * n * (n - 1) * (n - 2)
    return float(base / 18 + pairs + triples)


def _tau_b_error(x: Floats, y: Floats, tau: float) -> float:
    """Asymptotic standard error of tau-b (Brown and Benedetti, 1977)."""
    n = x.size
    xs, ys = np.unique(x, return_inverse=True)[1], np.unique(y, return_inverse=True)[1]
    table = np.zeros((xs.max() + 1, ys.max() + 1))
    np.add.at(table, (xs, ys), 1.0)
    share = table / n
    # Share of cells strictly below-left and above-right (concordant), or crosswise (discordant).
    cumulative = np.zeros((share.shape[0] + 1, share.shape[1] + 1))
    cumulative[1:, 1:] = share.cumsum(0).cumsum(1)
    rows, columns = share.sum(1), share.sum(0)
    below_left = cumulative[:-1, :-1]
    below = cumulative[:-1, -1:] - cumulative[:-1, 1:]
    left = cumulative[-1:, :-1] - cumulative[1:, :-1]
    above_right = 1 - cumulative[1:, -1:] - cumulative[-1:, 1:] + cumulative[1:, 1:]
    concordant, discordant = below_left + above_right, below + left
    row_part = 1 - float(np.sum(rows**2))
    column_part = 1 - float(np.sum(columns**2))
    delta = math.sqrt(row_part * column_part)
    slope = 2 * delta * (concordant - discordant) + tau * (
        rows[:, None] * column_part + columns[None] * row_part
    )
    mean = float(np.sum(share * slope))
    variance = float(np.sum(share * slope**2)) - mean**2
    return math.sqrt(max(variance, 0.0)) / (delta**2 * math.sqrt(n))


@with_keywords(permutations=NULL)
def kendall_correlation(
    x: ArrayLike | str,
    y: object = None,
    *,
    alternative: Alternative = "two-sided",
    exact: bool | None = None,
    correct: bool = False,
    interval: KendallInterval | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Inference],
) -> TestResult:
    r"""Kendall's rank correlation tau-b.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Paired values; or ``"y ~ x"`` (``"variance ~ temperature | item"``: clustered by item) and a
        frame.
    alternative : {"two-sided", "greater", "less"}
    exact : bool, optional
        Default R's rule: exact below 50 pairs without ties, else normal with the tie-corrected
        variance. True with ties is refused.
    correct : bool
        Continuity correction of the normal approximation (R's default is none).
    interval : {"asymptotic", "bootstrap", "none"}, optional
        ``asymptotic`` (default): tau-b plus and minus its standard error, Brown and Benedetti's;
        ``bootstrap``: BCa over clusters (default with `cluster`).
    missing : {"drop", "raise"}

    Returns
    -------
    TestResult
        Statistic T (concordant pairs) where exact, else z, as R; effect tau-b.

    Raises
    ------
    InputError
        If the data cannot be read as pairs, or the exact p is asked for with ties.

    Notes
    -----
    The coefficient and the exact distribution are scipy's; which p is exact follows R (scipy's rule
    is another). The standard error is the delta method's; DescTools 0.99.59 misplaces a parenthesis
    in it and differs where the margins are not uniform (corr60_ties .09418, right .09401).

    References
    ----------
    Kendall (1938), Biometrika 30, 81-93; Brown & Benedetti (1977), JASA 72, 309-315.

    Examples
    --------
    >>> result = kendall_correlation([1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 7, 5, 6])
    >>> round(result.effect.estimate, 4), round(result.p_value, 5)
    (0.619, 0.06905)
    """
    from scipy import stats

    where = "kendall_correlation"
    one_of(where, "alternative", alternative, ALTERNATIVES)
    one_of(where, "interval", interval, (None, "asymptotic", "bootstrap", "none"))
    first, second, codes, sample, notes, data_name = read_pairs(
        x, y, inference["cluster"], missing, where
    )
    n = first.size
    reason = refusal(first, second, 2)
    a, b = level_ranks(first), level_ranks(second)
    untied = not reason and is_untied(first) and is_untied(second)
    if exact and not untied and not reason:
        raise InputError(
            f"{where}: exact=True is for values without ties, and there are ties. Use exact=False."
        )
    details: dict[str, Any] = {"untied": untied}
    tau = math.nan if reason else _tau_b(a, b)
    statistic, symbol, p, how = math.nan, "z", math.nan, ""
    more = list(notes)
    if not reason:
        ties = [np.unique(v, return_counts=True)[1].astype(float) for v in (a, b)]
        pairs = n * (n - 1) / 2
        scale = math.sqrt(math.prod(pairs - float(np.sum(t * (t - 1))) / 2 for t in ties))
        s = tau * scale
        if codes is not None:
            p, how, extra, floor = clustered_p(
                a,
                b,
                codes,
                _tau_b,
                None,
                alternative,
                inference["n_permutations"],
                inference["seed"],
            )
            more += extra
            details["p_floor"] = floor
            statistic = s / math.sqrt(_tau_variance(a, b))
        elif (untied and n < 50) if exact is None else exact:
            outcome = stats.kendalltau(a, b, method="exact", alternative=alternative)
            statistic, symbol, how = float(round((tau + 1) * pairs / 2)), "T", "exact"
            p = float(outcome.pvalue)
        else:
            moved = math.copysign(max(abs(s) - 1, 0.0), s) if correct else s
            statistic = moved / math.sqrt(_tau_variance(a, b))
            p, how = normal_p(statistic, alternative), "normal"
    chosen = interval or ("asymptotic" if codes is None else "bootstrap")
    limits: Interval | None = None
    effect_notes: list[Note] = []
    if not reason and chosen == "asymptotic":
        se = _tau_b_error(a, b, tau)
        if se > 0:
            half = float(distributions.norm.isf((1 - inference["level"]) / 2)) * se
            limits = Interval(
                low=max(tau - half, -1.0),
                high=min(tau + half, 1.0),
                level=inference["level"],
                method="asymptotic standard error",
            )
        else:
            message = "No interval: the ranks agree perfectly."
            effect_notes.append(Note(code="no_interval", message=message))
    elif not reason and chosen == "bootstrap":
        limits, effect_notes = bootstrap_interval(
            a,
            b,
            codes,
            _tau_b,
            inference["level"],
            inference["n_resamples"],
            inference["seed"],
            "tau",
        )
    return TestResult(
        name=where,
        method=f"Kendall's rank correlation tau{f' ({how})' if how else ''}",
        statistic=statistic,
        statistic_name=symbol,
        p_value=p,
        sample=sample,
        null_hypothesis="the two are unrelated",
        alternative=f"true tau is {SIDE[alternative]} 0",
        why="Rank correlation was used because a monotone relation, not a straight one, is asked.",
        effects=(
            Estimate(
                name="kendall_tau_b",
                label="Kendall's tau-b",
                estimator="tau-b",
                estimate=tau,
                interval=limits,
                sample=sample,
                notes=tuple(effect_notes),
                reason=reason,
            ),
        ),
        data_name=data_name,
        notes=tuple(more),
        reason=reason,
        details=MappingProxyType(details),
    )
