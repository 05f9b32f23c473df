"""At which level does a judge agree with people: answers to one question, or whole systems?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgestats.arrays import Bools, Floats, Ints, too_large
from judgestats.errors import InputError, one_of
from judgestats.stats.agreement.human_correlation import CorrelationName, correlate
from judgestats.stats.inference.estimate_set import Estimates
from judgestats.stats.inference.jackknife import interval_of_left_out
from judgestats.stats.inference.resampling import cluster_codes
from judgestats.stats.inference.result import Estimate, Sample


def correlation_by_level(
    judge: ArrayLike,
    human: ArrayLike,
    *,
    source: ArrayLike,
    system: ArrayLike,
    method: CorrelationName = "pearson",
    level: float = 0.95,
) -> Estimates:
    r"""Correlation with people pooled, within questions, and between systems.

    Parameters
    ----------
    judge, human : array-like, shape (n_items,)
        Scores and ratings (means where repeated); NaN where missing.
    source : array-like, shape (n_items,)
        What each item answers (the question), the cluster of every interval.
    system : array-like, shape (n_items,)
        Who wrote each item.
    method : {"pearson", "spearman", "kendall"}
    level : float

    Returns
    -------
    Estimates
        Terms ``pooled`` (all items), ``within_source`` (the mean over questions of the correlation
        of their items), ``between_systems`` (of the systems' mean score and mean rating).
        ``details``: ``n_sources_used``, ``n_systems``.

    Raises
    ------
    InputError
        If the lengths differ or the method is unknown.

    Notes
    -----
    A judge can rank systems well and answers to one question badly, or the other way round; the
    pooled coefficient mixes both with differences between questions. Within questions those whose
    scores or ratings do not vary have no correlation and are left out, counted. Intervals leave one
    question out at a time (the clustered engine; on Fisher's scale for pooled and between systems).
    The systems are taken as given: the interval says how the coefficient would vary over
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
    one_of(where, "method", method, ("pearson", "spearman", "kendall"))
    if x.ndim != 1 or x.shape != y.shape or x.size == 0:
        raise InputError(
            f"{where}: judge and human must be one number for each item, got shapes {x.shape} and "
            f"{y.shape}. Average repetitions first."
        )
    if too_large(x).any() or too_large(y).any():
        raise InputError(
            f"{where}: scores must be finite or NaN, got one infinite or beyond 1e50. Drop it."
        )
    sources = cluster_codes(source, x.size, where=where)
    systems = cluster_codes(system, x.size, where=where)
    used = np.isfinite(x) & np.isfinite(y)
    lost = int(np.sum(~used))
    x, y, sources, systems = x[used], y[used], sources[used], systems[used]
    sources = np.unique(sources, return_inverse=True)[1]
    sizes = np.bincount(sources)
    sample = Sample(
        n_items=x.size,
        n_clusters=sizes.size,
        excluded={"no score or no rating": lost},
    )
    inside = np.array(
        [correlate(x[sources == g], y[sources == g], method) for g in range(sizes.size)]
    )
    usable = np.isfinite(inside)
    terms = []
    for name, label in (
        ("pooled", "Correlation with people, all items"),
        ("between_systems", "Correlation with people between systems' means"),
    ):
        between = name == "between_systems"

        def value(keep: Bools, *, between: bool = between) -> float:
            if between:
                return _between(x[keep], y[keep], systems[keep], method)
            return correlate(x[keep], y[keep], method)

        everything = np.ones(x.size, dtype=bool)
        left_out = np.array([value(sources != g) for g in range(sizes.size)])
        terms.append(
            _term(name, label, value(everything), left_out, sizes, sample, method, level, "fisher")
        )
    mean = float(inside[usable].mean()) if usable.any() else math.nan
    total, count = inside[usable].sum(), int(usable.sum())
    left_out = (total - inside[usable]) / (count - 1) if count > 1 else np.empty(0)
    within = _term(
        "within_source",
        "Correlation with people within questions (mean)",
        mean,
        left_out,
        np.ones(count),
        sample,
        method,
        level,
        "identity",
    )
    return Estimates(
        name=where,
        label="Correlation with people by level",
        terms=(terms[0], within, terms[1]),
        sample=sample,
        details={"n_sources_used": count, "n_systems": int(np.unique(systems).size)},
    )


def _between(x: Floats, y: Floats, systems: Ints, method: str) -> float:
    """Correlation of the systems' means."""
    codes = np.unique(systems, return_inverse=True)[1]
    n = np.bincount(codes)
    return correlate(np.bincount(codes, x) / n, np.bincount(codes, y) / n, method)


def _term(
    name: str,
    label: str,
    value: float,
    left_out: Floats,
    sizes: NDArray[np.number],
    sample: Sample,
    method: str,
    level: float,
    transform: str,
) -> Estimate:
    """One level's coefficient with its jackknife interval over questions."""
    result = Estimate(name=name, label=label, estimate=value, estimator=method, sample=sample)
    if math.isnan(value):
        return result.replace(reason="scores or ratings do not vary at this level")
    out = interval_of_left_out(value, left_out, sizes=sizes, level=level, transform=transform)
    defined = math.isfinite(out.interval.low)
    return result.replace(interval=out.interval if defined else None, notes=out.notes)
