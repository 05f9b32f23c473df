"""Correlation of scores with human scores, by level of aggregation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import (
    Bools,
    Floats,
    Ints,
    check_axes,
    check_finite,
    check_items,
    check_lengths,
)
from judgestats.errors import one_of
from judgestats.stats.comparison.rank_correlation import kendall_interval, spearman_interval
from judgestats.stats.inference import distributions
from judgestats.stats.inference.bootstrap import cluster_bootstrap, cluster_codes
from judgestats.stats.inference.estimate import Estimate, Interval, Note, Sample
from judgestats.stats.inference.jackknife import interval_of_left_out
from judgestats.stats.inference.keywords import Resampled, with_keywords
from judgestats.stats.inference.result import Estimates

CorrelationName = Literal["pearson", "spearman", "kendall"]

_LABELS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau-b"}


def _scores(values: ArrayLike, name: str, where: str) -> Floats:
    """Scores as (items, replications)."""
    x = np.asarray(values, dtype=float)
    x = x[:, None] if x.ndim == 1 else x
    check_axes(where, name, x, "items x replications", (1,))
    check_finite(where, name, x)
    return x


def _row_means(x: Floats) -> Floats:
    """Mean of the scores read, NaN where none was."""
    n = np.sum(np.isfinite(x), axis=1)
    return np.where(n > 0, np.nansum(x, axis=1) / np.maximum(n, 1), np.nan)


def correlate(x: Floats, y: Floats, method: str) -> float:
    """Correlation, NaN where one side does not vary."""
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    if method == "kendall":
        from scipy import stats

        return float(stats.kendalltau(x, y).statistic)
    if method == "spearman":
        x, y = distributions.ranks(x), distributions.ranks(y)
    return float(np.corrcoef(x, y)[0, 1])


@with_keywords()
def human_correlation(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    method: CorrelationName = "pearson",
    **inference: Unpack[Resampled],
) -> Estimate:
    r"""Correlation of a judge's scores with human ratings, item by item.

    Parameters
    ----------
    judge : array-like, shape (n_items,) or (n_items, n_replications)
        Scores; replications are averaged (those read). NaN where not read.
    human : array-like, shape (n_items,) or (n_items, n_raters)
        Ratings, averaged likewise.
    method : {"pearson", "spearman", "kendall"}

    Returns
    -------
    Estimate

    Raises
    ------
    InputError
        If the shapes differ, or the method is unknown.

    Notes
    -----
    Kendall's tau is tau-b. The interval is Fisher's z with variance 1 / (n - 3) for Pearson,
    (1 + r^2 / 2) / (n - 3) for Spearman (Bonett & Wright), of the asymptotic standard error for
    Kendall: as Brown and Benedetti (1977). With clusters it is the BCa
    cluster bootstrap. DescTools' interval for Spearman uses 1 / (n - 3), which is too short.

    References
    ----------
    Bonett & Wright (2000), Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations. Psychometrika 65, 23-28.

    Examples
    --------
    >>> judge, human = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]
    >>> [round(human_correlation(judge, human, method=m).estimate, 4)
    ...  for m in ("pearson", "spearman", "kendall")]
    [0.8286, 0.8286, 0.6]
    """
    where = "human_correlation"
    one_of(where, "method", method, _LABELS)
    x_all, y_all = _scores(judge, "judge", where), _scores(human, "human", where)
    check_items(where, judge=x_all, human=y_all)
    x, y = _row_means(x_all), _row_means(y_all)
    used = np.isfinite(x) & np.isfinite(y)
    groups = None if inference["cluster"] is None else np.asarray(inference["cluster"])[used]
    x, y = x[used], y[used]
    n, n_out = x.size, int(np.sum(~used))
    sample = Sample(
        n_items=n,
        n_clusters=None if groups is None else int(np.unique(groups.astype(str)).size),
        n_replications=x_all.shape[1],
        excluded={"no score or no rating": n_out},
    )
    estimate = correlate(x, y, method)
    result = Estimate(
        name=f"{method}_with_human",
        label=f"{_LABELS[method]} of judge and human",
        estimate=estimate,
        estimator=f"{method}, means of the replications read",
        sample=sample,
    )
    if math.isnan(estimate):
        why = "fewer than two items have both" if n < 2 else "the scores of one side do not vary"
        return result.replace(reason=why)
    if groups is None:
        return _analytic(result, x, y, method, inference["level"])
    boot = cluster_bootstrap(
        (x, y),
        lambda a, b: correlate(a, b, method),
        cluster=groups,
        n_resamples=inference["n_resamples"],
        level=inference["level"],
        method="bca",
        transform="fisher",
        seed=inference["seed"],
    )
    ok = math.isfinite(boot.interval.low)
    return result.replace(
        interval=boot.interval if ok else None, std_error=boot.std_error, notes=boot.notes
    )


def _analytic(result: Estimate, x: Floats, y: Floats, method: str, level: float) -> Estimate:
    """The interval that the test of the same correlation prints; Fisher's z for Pearson."""
    if method != "pearson":
        limits = spearman_interval if method == "spearman" else kendall_interval
        interval, found = limits(x, y, level)
        if interval is not None and not (
            math.isfinite(interval.low) and math.isfinite(interval.high)
        ):
            interval = None
        notes = tuple(found) if interval else (*found, *_no_interval("too few items"))
        return result.replace(interval=interval, notes=notes)
    r, n = result.estimate, x.size
    if n <= 3 or abs(r) >= 1 - 1e-12:
        why = "it needs more than three items" if n <= 3 else "the coefficient is at its limit"
        return result.replace(notes=_no_interval(why))
    half = float(distributions.norm.ppf((1 + level) / 2)) / math.sqrt(n - 3)
    z = math.atanh(r)
    interval = Interval(
        low=math.tanh(z - half), high=math.tanh(z + half), level=level, method="Fisher's z"
    )
    return result.replace(interval=interval)


def _no_interval(why: str) -> tuple[Note, ...]:
    return (Note(code="no_interval", message=f"No interval: {why}."),)


def correlation_by_level(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    source: ArrayLike,
    system: ArrayLike,
    level: float = 0.95,
) -> Estimates:
    r"""Correlation with human labels pooled, within questions, and between systems.

    Parameters
    ----------
    judge, human : array-like, shape (n_items,)
        Scores and ratings (means where repeated); NaN where missing.
    source : array-like, shape (n_items,)
        What each item answers (the question), the cluster of every interval.
    system : array-like, shape (n_items,)
        Who wrote each item.
    level : float

    Returns
    -------
    Estimates
        Pearson's r in the terms ``pooled`` (all items), ``within_source`` (the mean over questions
        of the correlation of their items), ``between_systems`` (of the systems' mean score and mean
        rating).
        ``details``: ``n_sources_used``, ``n_systems``.

    Raises
    ------
    InputError
        If the lengths differ.

    Notes
    -----
    A judge can rank systems well and answers to one question badly, or the other way round; the
    pooled coefficient mixes both with differences between questions. Within questions those whose
    scores or ratings do not vary have no correlation and are left out, counted. Intervals leave one
    question out at a time (the clustered engine; on Fisher's scale for pooled and between systems).
    The systems are treated as given: the interval says how the coefficient would vary over
    questions, not over systems.

    References
    ----------
    Deutsch, Dror & Roth (2021), A Statistical Analysis of Summarization Evaluation Metrics using
    Resampling Methods. TACL 9, 1132-1146 (system and input level).

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> question, system = np.repeat(np.arange(30), 5), np.tile(np.arange(5), 30)
    >>> people = system + rng.normal(size=150)
    >>> judge = system + rng.normal(size=150)
    >>> out = correlation_by_level(judge, people, source=question, system=system)
    >>> [round(t.estimate, 2) for t in out.terms]
    [0.68, 0.76, 0.99]
    """
    where = "correlation_by_level"
    x, y = np.asarray(judge, dtype=float), np.asarray(human, dtype=float)
    check_lengths(where, least=1, judge=x, human=y)
    check_finite(where, "scores", x, y)
    sources = cluster_codes(source, x.size, where=where)
    systems = cluster_codes(system, x.size, where=where)
    used = np.isfinite(x) & np.isfinite(y)
    sample = Sample.from_mask(used, "no score or no rating", sources)
    x, y, sources, systems = x[used], y[used], sources[used], systems[used]
    sources = np.unique(sources, return_inverse=True)[1]
    sizes = np.bincount(sources)
    inside = np.array(
        [correlate(x[sources == g], y[sources == g], "pearson") for g in range(sizes.size)]
    )
    usable = np.isfinite(inside)

    def term(name: str, label: str, value: Callable[[Bools], float]) -> Estimate:
        left_out = np.array([value(sources != g) for g in range(sizes.size)])
        everything = value(np.ones(x.size, dtype=bool))
        return _term(name, label, everything, left_out, sizes, sample, level, "fisher")

    pooled = term(
        "pooled",
        "Correlation with human labels, all items",
        lambda keep: correlate(x[keep], y[keep], "pearson"),
    )
    between = term(
        "between_systems",
        "Correlation with human labels between systems' means",
        lambda keep: _system_correlation(x[keep], y[keep], systems[keep]),
    )
    mean = float(inside[usable].mean()) if usable.any() else math.nan
    total, count = inside[usable].sum(), int(usable.sum())
    left_out = (total - inside[usable]) / (count - 1) if count > 1 else np.empty(0)
    within = _term(
        "within_source",
        "Correlation with human labels within questions (mean)",
        mean,
        left_out,
        np.ones(count),
        sample,
        level,
        "identity",
    )
    return Estimates(
        name=where,
        label="Correlation with human labels by level",
        terms=(pooled, within, between),
        sample=sample,
        details={"n_sources_used": count, "n_systems": int(np.unique(systems).size)},
    )


def _system_correlation(x: Floats, y: Floats, systems: Ints) -> float:
    """Correlation of the systems' means."""
    codes = np.unique(systems, return_inverse=True)[1]
    n = np.bincount(codes)
    return correlate(np.bincount(codes, x) / n, np.bincount(codes, y) / n, "pearson")


def _term(
    name: str,
    label: str,
    value: float,
    left_out: Floats,
    sizes: NDArray[np.number],
    sample: Sample,
    level: float,
    transform: str,
) -> Estimate:
    """One level's coefficient with its jackknife interval over questions."""
    result = Estimate(name=name, label=label, estimate=value, estimator="pearson", sample=sample)
    if math.isnan(value):
        return result.replace(reason="scores or ratings do not vary at this level")
    out = interval_of_left_out(value, left_out, sizes=sizes, level=level, transform=transform)
    defined = math.isfinite(out.interval.low)
    return result.replace(interval=out.interval if defined else None, notes=out.notes)
