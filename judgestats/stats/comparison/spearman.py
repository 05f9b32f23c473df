"""Spearman's rank correlation with R's p-values, an interval, and clusters."""

from __future__ import annotations

import itertools
import math
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import one_of
from judgestats.stats.comparison.matched_effects import undercoverage
from judgestats.stats.comparison.rank_pairs import (
    SIDE,
    bootstrap_interval,
    clustered_p,
    is_untied,
    read_pairs,
    refusal,
)
from judgestats.stats.comparison.wilcoxon import ALTERNATIVES, Alternative
from judgestats.stats.inference import distributions
from judgestats.stats.inference.keywords import Inference, with_keywords
from judgestats.stats.inference.result import Estimate, Interval, Note, TestResult
from judgestats.stats.inference.rounding_noise import level_ranks
from judgestats.stats.layouts.formula import Missing

SpearmanInterval = Literal["bonett-wright", "fisher", "bootstrap", "none"]


def _rho(x: Floats, y: Floats) -> float:
    a, b = level_ranks(x), level_ranks(y)
    a, b = a - a.mean(), b - b.mean()
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(np.clip(a @ b / scale, -1.0, 1.0)) if scale > 0 else math.nan


def _spearman_exact_tail(x: Floats, y: Floats, alternative: Alternative) -> float:
    """P-value over all n! arrangements of y's ranks, given the ties (n <= 9)."""
    a = level_ranks(x) * 2
    b = level_ranks(y) * 2
    distinct = np.array(list(itertools.permutations(b.tolist())))
    products = distinct @ a
    observed = float(a @ b)
    upper = float(np.mean(products >= observed - 1e-9))
    lower = float(np.mean(products <= observed + 1e-9))
    return {"greater": upper, "less": lower}.get(alternative, min(1.0, 2 * min(upper, lower)))


def _edgeworth_upper(s: float, n: int) -> float:
    """P(S >= s) for untied ranks by the Edgeworth series of algorithm AS 89, as R's prho."""
    b = 1.0 / n
    x = (6.0 * (s - 1) * b / (n**2 - 1.0) - 1.0) * math.sqrt(n - 1.0)
    y = x * x
    u = (
        x
        * b
        * (
            0.2274
            + b * (0.2531 + 0.1745 * b)
            + y
            * (
                -0.0758
                + b * (0.1033 + 0.3932 * b)
                - y
                * b
                * (0.0879 + 0.0151 * b - y * (0.0072 - 0.0831 * b + y * b * (0.0131 - 4.6e-4 * y)))
            )
        )
    )
    p = u / math.exp(y / 2) + float(distributions.norm.sf(x))
    return min(max(p, 0.0), 1.0)


def _spearman_p(
    x: Floats, y: Floats, rho: float, alternative: Alternative, exact: bool | None
) -> tuple[float, str]:
    """p-value by R's rules, and how."""
    n = x.size
    untied = is_untied(x) and is_untied(y)
    use = (untied and n < 1290) if exact is None else exact
    if use and n <= 9:
        return _spearman_exact_tail(x, y, alternative), "exact"
    if use and untied:
        # R rounds S and looks one step (2) beyond it on the other side.
        s = round((n**3 - n) * (1 - rho) / 6)
        at_least, at_most = _edgeworth_upper(s, n), 1 - _edgeworth_upper(s + 2, n)
        small = at_most if s <= (n**3 - n) / 6 else at_least
        p = {"greater": at_most, "less": at_least}.get(alternative, min(1.0, 2 * small))
        return p, "Edgeworth series"
    if abs(rho) >= 1:
        tail = 0.0 if (alternative == "two-sided" or (rho > 0) == (alternative == "greater")) else 1
        return float(tail), "t approximation"
    t = rho * math.sqrt((n - 2) / (1 - rho**2))
    if alternative == "two-sided":
        return float(2 * distributions.t.sf(abs(t), n - 2)), "t approximation"
    return float(
        distributions.t.sf(t if alternative == "greater" else -t, n - 2)
    ), "t approximation"


@with_keywords()
def spearman_correlation(
    x: ArrayLike | str,
    y: object = None,
    *,
    alternative: Alternative = "two-sided",
    exact: bool | None = None,
    interval: SpearmanInterval | None = None,
    missing: Missing = "drop",
    **inference: Unpack[Inference],
) -> TestResult:
    r"""Spearman's rank correlation: do two quantities rise together?

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Paired values; or ``"y ~ x"`` (``"variance ~ temperature | item"``: clustered by item) and a
        frame.
    alternative : {"two-sided", "greater", "less"}
    exact : bool, optional
        Default R's rule: exact below 10 pairs and an Edgeworth series below 1290, without ties;
        with ties a t approximation. True with ties enumerates given the ties (up to 9 pairs).
    interval : {"bonett-wright", "fisher", "bootstrap", "none"}, optional
        ``bonett-wright`` (default): Fisher's z with variance (1 + rho^2 / 2) / (n - 3); ``fisher``:
        1 / (n - 3), as DescTools (too short for large rho); ``bootstrap``: BCa over clusters
        (default with `cluster`).
    cluster : array-like of shape (n,) or str, optional
        Cluster of each pair. p: y exchanged within clusters where x varies within them, otherwise a
        jackknife t over clusters.
    missing : {"drop", "raise"}

    Returns
    -------
    TestResult
        Statistic S as R's ``cor.test``; effect rho with its interval.

    Raises
    ------
    InputError
        If the data cannot be read as pairs.

    Notes
    -----
    :math:`S = (n^3 - n)(1 - \rho)/6`. scipy's ``spearmanr`` always uses the t approximation.

    References
    ----------
    Spearman (1904); Best & Roberts (1975), algorithm AS 89; Bonett & Wright (2000),
    Psychometrika 65, 23-28.

    Examples
    --------
    >>> result = spearman_correlation([1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 7, 5, 6])
    >>> round(result.effect.estimate, 4), round(result.p_value, 5)
    (0.8214, 0.03413)
    """
    where = "spearman_correlation"
    one_of(where, "alternative", alternative, ALTERNATIVES)
    one_of(where, "interval", interval, (None, "bonett-wright", "fisher", "bootstrap", "none"))
    first, second, codes, sample, notes, data_name = read_pairs(
        x, y, inference["cluster"], missing, where
    )
    n = first.size
    reason = refusal(first, second, 3)
    rho = math.nan if reason else _rho(first, second)
    p, how, estimate, more = math.nan, "", None, list(notes)
    details: dict[str, Any] = {}
    if not reason and codes is not None:
        centred = level_ranks(first) - (n + 1) / 2
        p, how, extra, floor = _spearman_cluster_p(
            first,
            second,
            codes,
            centred,
            alternative,
            inference["n_permutations"],
            inference["seed"],
        )
        more += extra
        details["p_floor"] = floor
    elif not reason:
        p, how = _spearman_p(first, second, rho, alternative, exact)
    chosen = interval or ("bonett-wright" if codes is None else "bootstrap")
    effect_notes: list[Note] = []
    if not reason and chosen in {"bonett-wright", "fisher"}:
        estimate, effect_notes = _z_interval(rho, n, inference["level"], chosen)
    elif not reason and chosen == "bootstrap":
        estimate, effect_notes = bootstrap_interval(
            first,
            second,
            codes,
            _rho,
            inference["level"],
            inference["n_resamples"],
            inference["seed"],
            "rho",
        )
    return TestResult(
        name=where,
        method=f"Spearman's rank correlation rho{f' ({how})' if how else ''}",
        statistic=math.nan if reason else (n**3 - n) * (1 - rho) / 6,
        statistic_name="S",
        p_value=p,
        sample=sample,
        null_hypothesis="the two are unrelated",
        alternative=f"true rho is {SIDE[alternative]} 0",
        why="Rank correlation was used because a monotone relation, not a straight one, is asked.",
        effects=(
            Estimate(
                name="spearman_rho",
                label="Spearman's rho",
                estimator="Pearson correlation of average ranks",
                estimate=rho,
                interval=estimate,
                sample=sample,
                notes=tuple(effect_notes),
                reason=reason,
            ),
        ),
        data_name=data_name,
        notes=tuple(more),
        reason=reason,
        details=details,
    )


def _spearman_cluster_p(
    x: Floats,
    y: Floats,
    cluster: Ints,
    centred: Floats,
    alternative: Alternative,
    n_permutations: int,
    seed: int | None,
) -> tuple[float, str, list[Note], float]:
    """Exchanging y moves its ranks along, so that the null needs one product per permutation."""
    ranks = level_ranks(y)
    scale = math.sqrt(float(centred @ centred) * float(np.sum((ranks - ranks.mean()) ** 2)))

    def batch(rows: Floats) -> Floats:
        return np.asarray(rows @ centred / scale, dtype=float)

    return clustered_p(x, ranks, cluster, _rho, batch, alternative, n_permutations, seed)


def _z_interval(rho: float, n: int, level: float, kind: str) -> tuple[Interval | None, list[Note]]:
    """Fisher's z interval of a rank correlation."""
    if n < 4 or abs(rho) >= 1:
        why = "at least 4 pairs are required" if n < 4 else "the ranks agree perfectly"
        return None, [Note(code="no_interval", message=f"No interval: {why}.")]
    share = 1 + rho**2 / 2 if kind == "bonett-wright" else 1.0
    half = float(distributions.norm.isf((1 - level) / 2)) * math.sqrt(share / (n - 3))
    z = math.atanh(rho)
    method = "Fisher z" + (", Bonett-Wright variance" if kind == "bonett-wright" else "")
    interval = Interval(
        low=math.tanh(z - half), high=math.tanh(z + half), level=level, method=method
    )
    short = kind == "fisher" and abs(rho) > 0.4
    return interval, undercoverage("Fisher's z with variance 1 / (n - 3)", short)
