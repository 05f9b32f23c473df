"""Kendall's tau-b and Spearman's rho with intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from judgestats.arrays import Floats, Ints
from judgestats.errors import InputError, one_of
from judgestats.results.numbers import count_noun
from judgestats.stats.comparison.effects import undercoverage
from judgestats.stats.comparison.paired import ALTERNATIVES, Alternative, normal_p
from judgestats.stats.designs.blocks import as_paired
from judgestats.stats.designs.groups import Missing, parse_formula
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_bootstrap
from judgestats.stats.inference.estimate import Estimate, Interval, Note
from judgestats.stats.inference.jackknife import jackknife_error
from judgestats.stats.inference.keywords import NULL, Inference, with_keywords
from judgestats.stats.inference.permutation import permutation_distribution
from judgestats.stats.inference.rank_distributions import level_ranks
from judgestats.stats.inference.result import TestResult

MOST_CELLS = 5_000
"""Cells of the table up to which counting is faster than sorting."""


def kendall_of_stack(drawn: Floats, fixed: Floats) -> Floats:
    """Tau-b of each row of a stack with one array; NaN where one of the two does not vary.

    Parameters
    ----------
    drawn : ndarray, shape (B, n)
    fixed : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (B,)

    Examples
    --------
    >>> x = np.array([[1.0, 2.0, 3.0, 3.0], [3.0, 2.0, 1.0, 3.0]])
    >>> kendall_of_stack(x, np.array([1.0, 2.0, 4.0, 3.0])).round(3).tolist()
    [0.913, -0.548]
    """
    x_levels, x = np.unique(drawn, return_inverse=True)
    y_levels, y = np.unique(fixed, return_inverse=True)
    x, k, m = x.reshape(drawn.shape), len(x_levels), len(y_levels)
    if k * m > MOST_CELLS:
        from scipy.stats import kendalltau

        return np.array([kendalltau(row, fixed).statistic for row in drawn])
    size, n = drawn.shape
    cells = (np.arange(size)[:, None] * k + x) * m + y
    table = np.bincount(cells.ravel(), minlength=size * k * m).reshape(size, k, m)
    # Pairs of which both differ the same way, less those that differ in opposite ways.
    above = table[:, ::-1].cumsum(axis=1)[:, ::-1] - table
    after = above[:, :, ::-1].cumsum(axis=2)[:, :, ::-1] - above
    before = above.cumsum(axis=2) - above
    difference = (table * (after - before)).sum(axis=(1, 2))
    pairs = n * (n - 1) // 2
    rows, columns = table.sum(axis=2), table.sum(axis=1)
    x_tied = (rows * (rows - 1) // 2).sum(axis=1)
    y_tied = (columns * (columns - 1) // 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = difference / np.sqrt(pairs - x_tied) / np.sqrt(pairs - y_tied)
    return np.where((x_tied == pairs) | (y_tied == pairs), np.nan, np.clip(tau, -1.0, 1.0))


SIDE = {"two-sided": "not equal to", "greater": "greater than", "less": "less than"}


def read_pairs(
    x: ArrayLike | str, y: object, cluster: object, missing: Missing, where: str
) -> tuple[Floats, Floats, Ints | None, Any, tuple[Note, ...], str]:
    """Complete pairs from arrays or ``"y ~ x"`` and a frame."""
    if isinstance(x, str):
        terms = parse_formula(x, where=where)
        if not isinstance(y, pd.DataFrame):
            raise InputError(
                f"{where}: a formula needs a pandas DataFrame as second argument, got "
                f"{type(y).__name__}. Call {where}('variance ~ temperature', frame)."
            )
        names = [terms.response, terms.factor] + ([cluster] if isinstance(cluster, str) else [])
        names += [terms.block] if terms.block else []
        lacking = [n for n in names if n not in y.columns]
        if lacking:
            raise InputError(
                f"{where}: the frame has no column {', '.join(map(repr, lacking))}; it has: "
                f"{', '.join(map(str, y.columns))}. Correct the formula or the frame."
            )
        labels = y[cluster].to_numpy() if isinstance(cluster, str) else cluster
        if terms.block and cluster is None:
            # In 'variance ~ temperature | item' the bar names the cluster.
            labels = y[terms.block].to_numpy()
        blocks = as_paired(
            y[terms.factor].to_numpy(dtype=float),
            y[terms.response].to_numpy(dtype=float),
            where=where,
            cluster=labels,
            missing=missing,
        )
        data_name = f"{terms.factor} and {terms.response}"
    else:
        blocks = as_paired(x, y, where=where, cluster=cluster, missing=missing)
        data_name = "x and y"
    notes = blocks.notes
    if blocks.sample.n_excluded:
        what = ("pair has a missing value and is", "pairs have a missing value and are")
        message = f"{count_noun(blocks.sample.n_excluded, *what)} left out."
        notes = (Note(code="missing_values", message=message),)
    first, second = blocks.scores[:, 0], blocks.scores[:, 1]
    return first, second, blocks.cluster, blocks.sample, notes, data_name


def refusal(x: Floats, y: Floats, least: int) -> str:
    """Why no rank correlation can be computed, or nothing."""
    if x.size < least:
        return f"at least {least} complete pairs are required, got {x.size}"
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return f"{'x' if np.ptp(x) == 0 else 'y'} does not vary"
    return ""


def is_untied(x: Floats) -> bool:
    """Whether no two values are equal (to 12 digits)."""
    return bool(np.unique(level_ranks(x)).size == x.size)


def clustered_p(
    x: Floats,
    y: Floats,
    cluster: Ints,
    coefficient: Callable[[Floats, Floats], float],
    batch: Callable[[Floats], Floats] | None,
    alternative: Alternative,
    n_permutations: int,
    seed: int | None,
) -> tuple[float, str, list[Note], float]:
    """P-value: y exchanged within clusters where x varies there, else a jackknife t.

    With how it was had, notes, and the smallest that it can be.
    """
    order = np.argsort(cluster, kind="stable")
    spans = np.split(x[order], np.flatnonzero(np.diff(cluster[order])) + 1)
    varies = np.array([np.ptp(s) > 0 for s in spans])
    if varies.mean() > 0.5:
        null = permutation_distribution(
            y,
            batch if batch is not None else (lambda rows: coefficient(x, rows)),
            scheme="labels",
            strata=cluster,
            n_permutations=n_permutations,
            seed=seed,
            alternative=alternative,
            vectorized=batch is not None,
        )
        how = f"{n_permutations} permutations within clusters"
        return null.null.p_value, how, [], null.null.p_smallest
    n_clusters = int(cluster.max()) + 1
    left_out = np.array([coefficient(x[cluster != g], y[cluster != g]) for g in range(n_clusters)])
    if n_clusters < 3 or not np.isfinite(left_out).all():
        message = "No p-value: the jackknife over clusters is undefined."
        return math.nan, _JACKKNIFE, [Note(code="no_p_value", message=message)], math.nan
    spread, df = jackknife_error(left_out, np.bincount(cluster))
    t = coefficient(x, y) / spread if spread > 0 else math.nan
    p = 2 * distributions.t.sf(abs(t), df)
    if alternative != "two-sided":
        p = distributions.t.sf(t if alternative == "greater" else -t, df)
    message = "x does not vary within most clusters: p is from a jackknife over clusters."
    return float(p), _JACKKNIFE, [Note(code="cluster_jackknife", message=message)], math.nan


_JACKKNIFE = "jackknife over clusters"


def bootstrap_interval(
    x: Floats,
    y: Floats,
    cluster: Ints | None,
    coefficient: Callable[[Floats, Floats], float],
    level: float,
    n_resamples: int,
    seed: int | None,
    label: str,
) -> tuple[Interval | None, list[Note]]:
    """BCa interval of a coefficient of (x, y), whole clusters resampled."""
    boot = cluster_bootstrap(
        (x, y),
        coefficient,
        cluster=cluster,
        n_resamples=n_resamples,
        level=level,
        seed=seed,
        names=(label,),
    )
    interval = boot.interval if math.isfinite(boot.interval.low) else None
    return interval, list(boot.notes)


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
